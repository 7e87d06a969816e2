//! Judges calibrations: how precise, how accurate, how comparable.

use evalcurve_app::judge::split::Split;
use evalcurve_app::{Error, Fitting, Input, Outcome, Progress, Reading, load, on_threads};
use evalcurve_words::language::Language;

use crate::report::Report;
use crate::{DiagnoseOptions, Diagnosis, diagnose};

/// Reports how precise, how accurate and how comparable the scores of engines are.
#[derive(Debug, Clone, Default)]
pub struct Diagnose {
    pub reading: Reading,
    /// How engines are fitted.
    pub fitting: Fitting,
    /// The score to translate between engines, in centipawns; `None` for 200.
    pub score_cp: Option<f64>,
    /// How curves are split; empty for phase, colour and rating gap.
    pub splits: Vec<Split>,
}

/// A diagnosis with its options.
#[derive(Debug)]
pub struct Diagnosed {
    /// What was found.
    pub diagnosis: Diagnosis,
    pub options: DiagnoseOptions,
}

impl Diagnose {
    /// Reads and examines.
    ///
    /// # Errors
    /// [`Error`] if the input cannot be read.
    pub fn run(&self, input: &Input, progress: &Progress) -> Result<Outcome<Diagnosed>, Error> {
        on_threads(self.reading.threads, || {
            let mut loaded = load(&self.reading, &self.fitting, input, progress)?;
            let mut calibrate = self.fitting.options(&self.reading, input);
            self.fitting.choose(&mut loaded.value, &mut calibrate);
            let defaults = DiagnoseOptions::default();
            let options = DiagnoseOptions {
                calibrate,
                score_cp: self.score_cp.unwrap_or(defaults.score_cp),
                splits: if self.splits.is_empty() { defaults.splits } else { self.splits.clone() },
            };
            let diagnosis = diagnose(&mut loaded.value, &options);
            Ok(loaded.map(|_| Diagnosed { diagnosis, options }))
        })?
    }
}

impl Diagnosed {
    /// The report of an outcome in a language, as text, JSON and a page.
    pub fn report(found: &Outcome<Self>, language: Language) -> Report<'_> {
        let Self { diagnosis, options } = &found.value;
        Report { diagnosis, options: &options.calibrate, reading: &found.report, notes: &found.notes, language }
    }
}
