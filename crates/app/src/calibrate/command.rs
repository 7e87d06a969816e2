//! Calibrates engines, and draws their samples.

use evalcurve_fit::calibration::Calibration;
use evalcurve_fit::validate::{Choice, CrossValidation, FoldOptions};
use evalcurve_records::sample::SampleTable;
use evalcurve_words::text;
use serde_json::{Value, json};

use crate::calibrate::mates::Threshold;
use crate::calibrate::{
    CalibrateOptions, EngineForecasts, EngineResult, calibrate, calibrate_cases, cases, forecasts, mark_mates,
};
use crate::judge::judges::{Conflicts, conflicts};
use crate::report::json;
use crate::{Error, Fitting, Input, Outcome, Progress, Reading, keep_engines, load, load_part, on_threads};

/// Calibrates the engines of records and tables.
///
/// The constants of one scale depend on all engines that are fitted with them. So all are fitted, and
/// [`Filters::engine`](crate::Filters::engine) chooses among the results.
#[derive(Debug, Clone, Default)]
pub struct Calibrate {
    pub reading: Reading,
    /// How engines are fitted.
    pub fitting: Fitting,
}

/// Calibrated engines.
#[derive(Debug, Clone)]
pub struct Calibrated {
    /// The samples of all engines.
    pub table: SampleTable,
    /// The results of the chosen engines, by name.
    pub results: Vec<EngineResult>,
    /// How they were calibrated.
    pub options: CalibrateOptions,
    /// How the model was chosen, if none was named.
    pub choice: Option<Choice>,
}

impl Calibrate {
    /// Reads and calibrates.
    ///
    /// # Errors
    /// [`Error`] if the input cannot be read, or no engine has the chosen name.
    pub fn run(&self, input: &Input, progress: &Progress) -> Result<Outcome<Calibrated>, Error> {
        on_threads(self.reading.threads, || {
            let (mut loaded, mut options) = self.load(input, progress)?;
            let choice = self.fitting.choose(&mut loaded.value, &mut options);
            let mut results = calibrate(&mut loaded.value, &options);
            loaded.notes.extend(keep_engines(&mut results, &self.reading.filters.engine, |r| &r.name)?);
            Ok(loaded.map(|table| Calibrated { table, results, options, choice }))
        })?
    }

    /// The options of the library's steps for this input.
    pub fn options(&self, input: &Input) -> CalibrateOptions {
        self.fitting.options(&self.reading, input)
    }

    /// Reads the samples of all engines.
    fn load(&self, input: &Input, progress: &Progress) -> Result<(Outcome<SampleTable>, CalibrateOptions), Error> {
        let mut reading = self.reading.clone();
        reading.filters.engine.clear();
        let loaded = load(&reading, &self.fitting, input, progress)?;
        let mut options = self.fitting.options(&reading, input);
        if loaded.report.has_packed() {
            options.filters.push(format!("one of {} positions of training data", options.sampling.packed_every));
        }
        Ok((loaded, options))
    }
}

impl Outcome<Calibrated> {
    /// The JSON document. `written` has the calibration files in the order of the results; it is empty if none were
    /// written.
    pub fn document(&self, written: &[Option<String>]) -> Value {
        let file = |i: usize| written.get(i).and_then(Option::as_deref);
        let engines = self.value.results.iter().enumerate().map(|(i, r)| json::engine(r, file(i))).collect();
        json::document(&self.report, &self.value.options, self.value.choice.as_ref(), &self.notes, engines)
    }
}

/// Forecasts the result of each sample by a model that was fitted without its game.
#[derive(Debug, Clone, Default)]
pub struct Forecasts(pub Calibrate);

impl Forecasts {
    /// Reads, fits and forecasts.
    ///
    /// # Errors
    /// As [`Calibrate::run`].
    pub fn run(
        &self,
        input: &Input,
        progress: &Progress,
    ) -> Result<Outcome<(SampleTable, Vec<EngineForecasts>)>, Error> {
        let Calibrate { reading, fitting } = &self.0;
        on_threads(reading.threads, || {
            let (mut loaded, mut options) = self.0.load(input, progress)?;
            mark_mates(&mut loaded.value, &options.thresholds);
            fitting.choose(&mut loaded.value, &mut options);
            let mut found = forecasts(&loaded.value, &options);
            loaded.notes.extend(keep_engines(&mut found, &reading.filters.engine, |engine| &engine.name)?);
            Ok(loaded.map(|table| (table, found)))
        })?
    }
}

/// Learns from positions that several engines scored, with the results of their games, whom to believe.
#[derive(Debug, Clone, Default)]
pub struct Judge(pub Calibrate);

/// What engines that scored the same positions are worth.
#[derive(Debug, Clone, Default)]
pub struct Judged {
    /// The calibrations of the engines.
    pub calibrations: Vec<Calibration>,
    /// Which of two was right where they differed.
    pub conflicts: Vec<Conflicts>,
}

impl Judge {
    /// Reads, calibrates, and compares the forecasts of every two engines with the results. Each forecast is by a fit
    /// without the game.
    ///
    /// # Errors
    /// As [`Calibrate::run`], and if no two engines scored the same positions.
    pub fn run(&self, input: &Input, progress: &Progress) -> Result<Outcome<Judged>, Error> {
        on_threads(self.0.reading.threads, || {
            let (mut loaded, mut options) = self.0.load(input, progress)?;
            self.0.fitting.choose(&mut loaded.value, &mut options);
            let mates = mark_mates(&mut loaded.value, &options.thresholds);
            let table = &loaded.value;
            let cases = cases(table, options.mate_policy, options.clip_cp);
            let folds = FoldOptions { seed: options.sampling.seed, ..FoldOptions::default() };
            let mut validation = CrossValidation::new(&cases, folds, options.fit_options(table));
            let results = calibrate_cases(table, mates, &cases, Some(&mut validation), &options);
            // pages print win rates between equals, and whom to believe is decided by what they print
            let conflicts = conflicts(&cases, &validation.equal_forecasts(options.model));
            if conflicts.is_empty() {
                return Err(text!(
                    "no two engines scored the same positions: take a table that `analyse` wrote with several engines"
                )
                .into());
            }
            let calibrations = results.into_iter().filter_map(|result| result.calibration).collect();
            Ok(loaded.map(|_| Judged { calibrations, conflicts }))
        })?
    }
}

/// Draws the sample table.
#[derive(Debug, Clone, Default)]
pub struct Sample {
    pub reading: Reading,
    /// What marks mates, and which model the samples are for.
    pub fitting: Fitting,
    /// The games are a part of all: nothing in the samples depends on the other parts, so that the tables of all parts
    /// have the samples of the whole. Ratings are those of the records.
    pub of_part: bool,
}

impl Sample {
    /// Reads and draws.
    ///
    /// # Errors
    /// [`Error`] if the input cannot be read, and for mate thresholds that are to be found in a part of the samples.
    pub fn run(&self, input: &Input, progress: &Progress) -> Result<Outcome<SampleTable>, Error> {
        let is_auto = |(_, threshold): &(_, Threshold)| *threshold == Threshold::Auto;
        if self.of_part && self.fitting.mate_threshold.iter().any(is_auto) {
            return Err(
                text!("the threshold auto is found in the samples of all parts; give it where all are read").into()
            );
        }
        on_threads(self.reading.threads, || {
            let read = if self.of_part { load_part } else { load };
            let mut loaded = read(&self.reading, &self.fitting, input, progress)?;
            mark_mates(&mut loaded.value, &self.fitting.thresholds());
            Ok(loaded)
        })?
    }
}

impl Outcome<SampleTable> {
    /// The JSON document, with these further fields.
    pub fn document(&self, more: Value) -> Value {
        let mut document =
            json::about_records(&self.report, &self.notes, json!({ "positions": self.report.positions }));
        if let (Value::Object(all), Value::Object(more)) = (&mut document, more) {
            all.extend(more);
        }
        document
    }
}
