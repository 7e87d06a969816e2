//! Transforms fitted out of sample: each without one fold of the games, for the values of that fold.

use std::sync::Arc;

use rayon::prelude::*;

use super::Transform;
use crate::fit::{FitOptions, ModelFit, Reading, Sigmoid};
use crate::language::Text;
use crate::standardize::{MismatchRow, Standardization};
use crate::validate::{Case, EngineCases, FoldOptions, Situation, fit_engines, fold_of};

/// A transform fitted to one engine.
enum Scale {
    Raw,
    Standardized(Standardization),
    Model(Box<ModelFit>),
}

/// A transform fitted to each engine without each fold.
pub(super) struct Scales {
    pub transform: Transform,
    /// by fold, by engine
    fits: Arc<Vec<Vec<Result<Scale, Text>>>>,
}

/// The transform of each engine without each fold.
fn fits(
    transform: Transform,
    engines: &[&EngineCases],
    fit: &FitOptions,
    folds: &FoldOptions,
) -> Vec<Vec<Result<Scale, Text>>> {
    let one = |out: u64| -> Vec<Result<Scale, Text>> {
        let keep = |e: &&EngineCases| -> Vec<Case> {
            e.cases.iter().filter(|c| fold_of(c.game, folds) != out).copied().collect()
        };
        let used: Vec<Vec<Case>> = engines.iter().map(keep).collect();
        match transform.kind() {
            None if transform == Transform::Raw => used.iter().map(|_| Ok(Scale::Raw)).collect(),
            None => used
                .iter()
                .map(|cases| {
                    let standard = Standardization::from_scores(cases.iter().map(|c| c.score_cp));
                    standard.map(Scale::Standardized).map_err(|e| e.words())
                })
                .collect(),
            Some(kind) => {
                let slices: Vec<&[Case]> = used.iter().map(Vec::as_slice).collect();
                // an engine with enough samples is fitted even if it has fewer without a fold
                let options = FitOptions { min_samples: 0, ..*fit };
                fit_engines(kind, &slices, &options)
                    .into_iter()
                    .map(|fit| fit.map(|f| Scale::Model(Box::new(f))).map_err(|e| e.words()))
                    .collect()
            }
        }
    };
    (0..folds.folds).into_par_iter().map(one).collect()
}

impl Scales {
    /// Fits a transform to each engine without each fold.
    pub fn new(transform: Transform, engines: &[&EngineCases], fit: &FitOptions, folds: &FoldOptions) -> Self {
        Self { transform, fits: Arc::new(fits(transform, engines, fit, folds)) }
    }

    /// The same fits for a transform that uses them, too.
    pub fn with(&self, transform: Transform) -> Self {
        Self { transform, fits: Arc::clone(&self.fits) }
    }

    /// The reason why an engine has no values.
    pub fn error(&self, engine: usize) -> Option<Text> {
        self.fits.iter().find_map(|fits| fits.get(engine)?.as_ref().err().cloned())
    }

    /// The values of all samples of some engines, each by the fit without the fold of the sample.
    pub fn rows(&self, engines: &[&EngineCases], used: &[usize], folds: &FoldOptions) -> Vec<MismatchRow> {
        let value = |scale: &Scale, case: &Case| -> (f64, f64) {
            let (x, y) = (f64::from(case.score_cp), case.outcome.value());
            let fit = match scale {
                Scale::Raw => return (x, y),
                Scale::Standardized(standard) => return (standard.z(x), y),
                Scale::Model(fit) => fit,
            };
            // the logit distinguishes values whose win rates round to 0 or 1
            let equal = match self.transform {
                Transform::Strength => fit.model.logit(x, &Situation { strength: Some(0.0), ..case.situation }),
                Transform::Equal | Transform::RawAgainstEquals => fit.model.equal_logit(x, &Situation::default()),
                _ => return (fit.model.logit(x, &case.situation), y),
            };
            let expected = Sigmoid::STANDARD.win_rate(fit.logit(Reading::Field, x, &case.situation));
            let result = y - (expected - Sigmoid::STANDARD.win_rate(equal));
            (if self.transform == Transform::RawAgainstEquals { x } else { equal }, result)
        };
        let row = |(engine, &e): (usize, &usize)| {
            engines[e].cases.iter().map(move |case| {
                let fits = self.fits.get(fold_of(case.game, folds) as usize).and_then(|f| f.get(e));
                let (value, result) = match fits {
                    Some(Ok(scale)) => value(scale, case),
                    // engines without a fit were left out before; a NaN leaves the row out
                    _ => (f64::NAN, 0.0),
                };
                MismatchRow { engine, value, result }
            })
        };
        used.iter().enumerate().flat_map(row).collect()
    }
}
