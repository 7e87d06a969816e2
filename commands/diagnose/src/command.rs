//! Judges calibrations: how precise, how accurate, how comparable.

use evalcurve_app::calibrate::CalibrateOptions;
use evalcurve_app::judge::split::Split;
use evalcurve_app::{Error, Fitting, Input, Outcome, Progress, Reading, load, on_threads};
use evalcurve_words::language::Language;

use crate::report::Report;
use crate::{Diagnosis, diagnose};

/// The score that is translated between engines if none is given, in centipawns.
const DEFAULT_SCORE_CP: f64 = 200.0;

/// How curves are split if nothing is given.
static DEFAULT_SPLITS: [Split; 3] = [Split::Phase, Split::Color, Split::RatingGap];

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

/// A diagnosis.
#[derive(Debug)]
pub struct Diagnosed {
    /// What was found.
    pub diagnosis: Diagnosis,
    /// How the engines were calibrated.
    pub options: CalibrateOptions,
}

impl Diagnose {
    /// Reads and examines.
    ///
    /// # Errors
    /// [`Error`] if the input cannot be read.
    pub fn run(&self, input: &Input, progress: &Progress) -> Result<Outcome<Diagnosed>, Error> {
        on_threads(self.reading.threads, || {
            let mut loaded = load(&self.reading, &self.fitting, input, progress)?;
            let mut options = self.fitting.options(&self.reading, input);
            self.fitting.choose(&mut loaded.value, &mut options);
            let score_cp = self.score_cp.unwrap_or(DEFAULT_SCORE_CP);
            let splits = if self.splits.is_empty() { &DEFAULT_SPLITS[..] } else { &self.splits };
            let diagnosis = diagnose(&mut loaded.value, &options, score_cp, splits);
            Ok(loaded.map(|_| Diagnosed { diagnosis, options }))
        })?
    }
}

impl Diagnosed {
    /// The report of an outcome in a language, as text, JSON and a page.
    pub fn report(found: &Outcome<Self>, language: Language) -> Report<'_> {
        let Self { diagnosis, options } = &found.value;
        Report { diagnosis, options, reading: &found.report, notes: &found.notes, language }
    }
}
