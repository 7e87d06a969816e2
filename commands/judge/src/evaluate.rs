//! Judges calibrations on games that they were not made from.

use std::collections::BTreeSet;

use evalcurve_app::judge::evaluation::{Evaluation, evaluate};
use evalcurve_app::report::json::{about_records, rounded};
use evalcurve_app::{Error, Fitting, Input, Outcome, Progress, Reading, load, on_threads, unmatched};
use evalcurve_fit::calibration::Calibration;
use evalcurve_fit::validate::{ScoreOptions, ValidateError};
use evalcurve_records::sample::SampleTable;
use evalcurve_words::language::{Language, Text, ToText};
use evalcurve_words::{key, text};
use serde_json::{Value, json};

/// Judges calibrations on the games of the input. The options of mates are those of the calibrations.
#[derive(Debug, Clone, Default)]
pub struct Evaluate {
    pub reading: Reading,
    /// Of these options, the number of resamples counts.
    pub fitting: Fitting,
    /// The calibrations, each with its name in messages.
    pub calibrations: Vec<(String, Calibration)>,
}

impl Evaluate {
    /// Reads and judges.
    ///
    /// # Errors
    /// [`Error`] if the input cannot be read or has no samples of an engine.
    pub fn run(&self, input: &Input, progress: &Progress) -> Result<Outcome<Vec<Evaluation>>, Error> {
        if self.calibrations.is_empty() {
            return Err(text!("no calibration: give the file of an engine, ENGINE.json, before the games").into());
        }
        if input.sources.is_empty() {
            return Err(text!("no games: give records or a sample table after the calibration").into());
        }
        on_threads(self.reading.threads, || {
            // what a model needs to be read is counted without being asked for
            let material = self.calibrations.iter().any(|(_, c)| c.model.kind.needs().material);
            let reading = Reading { material: self.reading.material || material, ..self.reading.clone() };
            let mut loaded = load(&reading, &self.fitting, input, progress)?;
            let options = ScoreOptions { seed: self.seed(), resamples: self.fitting.bands.max(1) };
            let counted = loaded.value.samples.iter().any(|sample| sample.material.is_some());
            let mut judge = |(name, calibration): &(String, Calibration)| {
                if calibration.model.kind.needs().material && !counted {
                    let text = text!(
                        "its model, {}, goes by the material, which these samples do not have: take PGN records, or a \
                         table with the column material",
                        calibration.model.kind
                    );
                    return Err(text.about(&Text::same(name)));
                }
                let found = evaluate(calibration, &mut loaded.value, &options);
                found.map_err(|error| why(&loaded.value, calibration, error).about(&Text::same(name)))
            };
            let found = self.calibrations.iter().map(&mut judge).collect::<Result<Vec<_>, _>>()?;
            for ((file, _), _) in self.calibrations.iter().zip(&found).filter(|(_, found)| found.own_samples) {
                loaded.notes.push(text!(
                    "{file} was made from these very samples, so that it looks better than it is: take other games"
                ));
            }
            Ok(loaded.map(|_| found))
        })?
    }

    fn seed(&self) -> u64 {
        self.reading.sampling().seed
    }

    /// The JSON document of what was found.
    pub fn document(&self, found: &Outcome<Vec<Evaluation>>) -> Value {
        let engine = |((file, _), found): (&(String, Calibration), &Evaluation)| {
            let mut value = json!(found);
            value["calibration"] = file.as_str().into();
            value["verdict"] = found.verdict(Language::English).into();
            value["reliability"] = json!(found.judged.reliability.pools);
            value
        };
        let engines: Vec<Value> = self.calibrations.iter().zip(&found.value).map(engine).collect();
        let more = json!({ "format": "evalcurve-evaluation", "version": 1, "seed": self.seed(), "engines": engines });
        rounded(about_records(&found.report, &found.notes, more))
    }
}

/// Why a calibration cannot be judged.
fn why(table: &SampleTable, calibration: &Calibration, error: ValidateError) -> Text {
    let name = &calibration.engine.name;
    let engines = table.engines();
    let names: BTreeSet<&str> = engines.iter().map(|id| table.names.get(*id)).collect();
    match unmatched(key!("engine of the games"), name, &names) {
        Some(mut nearest) => {
            nearest.push(&text!("; rename the engine with `alias` 'NAME IN THE GAMES = NAME IN THE FILE'"));
            nearest
        }
        None if error == ValidateError::Empty => text!("no samples of {name}"),
        None => error.to_text(),
    }
}
