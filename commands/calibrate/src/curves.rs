//! Evaluation curves, whole or split.

use evalcurve_app::calibrate::{CalibrateOptions, EngineResult, mark_mates};
use evalcurve_app::judge::split::{Split, SplitCurves, split_curves};
use evalcurve_app::{Calibrate, Calibrated, Error, Fitting, Input, Outcome, Progress, Reading, load, on_threads};
use evalcurve_fit::fit::ModelKind;
use evalcurve_records::sample::SampleTable;

/// Counts the evaluation curves of engines.
#[derive(Debug, Clone, Default)]
pub struct Curve {
    pub reading: Reading,
    /// Bins, mates, and the number of resamples.
    pub fitting: Fitting,
    /// How curves are split; empty for whole curves.
    pub splits: Vec<Split>,
}

/// Evaluation curves.
#[derive(Debug, Clone)]
pub struct Curves {
    pub table: SampleTable,
    /// The engines with their curves and fits, if they are not split.
    pub results: Vec<EngineResult>,
    /// The curves of groups of samples, if they are.
    pub splits: Vec<SplitCurves>,
    /// How they were counted.
    pub options: CalibrateOptions,
}

impl Curve {
    /// Reads and counts.
    ///
    /// # Errors
    /// As [`Calibrate::run`].
    pub fn run(&self, input: &Input, progress: &Progress) -> Result<Outcome<Curves>, Error> {
        if self.splits.is_empty() {
            // neither scores out of sample nor a model of all engines is needed
            let fitting = Fitting { folds: None, model: Some(ModelKind::MaximumLikelihood), ..self.fitting.clone() };
            let found = Calibrate { reading: self.reading.clone(), fitting }.run(input, progress)?;
            return Ok(found.map(|Calibrated { table, results, options, .. }| Curves {
                table,
                results,
                splits: Vec::new(),
                options,
            }));
        }
        on_threads(self.reading.threads, || {
            let mut loaded = load(&self.reading, &self.fitting, input, progress)?;
            let options = self.fitting.options(&self.reading, input);
            mark_mates(&mut loaded.value, &options.thresholds);
            let splits = split_curves(&loaded.value, &self.splits, &options);
            Ok(loaded.map(|table| Curves { table, results: Vec::new(), splits, options }))
        })?
    }
}
