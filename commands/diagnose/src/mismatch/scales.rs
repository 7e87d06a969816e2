//! Transforms fitted out of sample: each without one fold of the games, for the values of that fold.

use std::sync::Arc;

use evalcurve_fit::fit::{ModelFit, Reading, Sigmoid};
use evalcurve_fit::standardize::{Standardization, standardization};
use evalcurve_fit::validate::{Case, CrossValidation, EngineCases, FoldFits, FoldOptions, Situation, fold_of};
use evalcurve_words::language::{Text, ToText};

use super::Transform;
use super::rows::MismatchRow;

/// A transform fitted to each engine without each fold.
pub(super) struct Scales {
    pub transform: Transform,
    fits: Fits,
}

enum Fits {
    /// Nothing to fit.
    Raw,
    /// By engine, by fold.
    Standardized(FoldOptions, Vec<Result<Vec<Standardization>, Text>>),
    Model(Arc<FoldFits>),
}

/// The mean and deviation of an engine's scores without each fold.
fn standardizations(engine: &EngineCases, folds: &FoldOptions) -> Result<Vec<Standardization>, Text> {
    let without = |out: u64| {
        let kept = engine.cases.iter().filter(|case| fold_of(case.game, folds) != out);
        standardization(kept.map(|case| case.score_cp)).map_err(|e| e.to_text())
    };
    (0..folds.folds).map(without).collect()
}

impl Scales {
    /// Fits a transform to each engine without each fold.
    pub(crate) fn new(transform: Transform, validation: &mut CrossValidation<'_>) -> Self {
        let fits = match transform.kind() {
            Some(kind) => Fits::Model(validation.fits(kind)),
            None if transform == Transform::Raw => Fits::Raw,
            None => {
                let folds = *validation.folds();
                let of = |engine: &EngineCases| standardizations(engine, &folds);
                Fits::Standardized(folds, validation.engines().iter().map(of).collect())
            }
        };
        Self { transform, fits }
    }

    /// The reason why an engine has no values.
    pub(crate) fn error(&self, engine: usize) -> Option<Text> {
        match &self.fits {
            Fits::Raw => None,
            Fits::Standardized(_, engines) => engines.get(engine)?.as_ref().err().cloned(),
            Fits::Model(fits) => fits.error(engine).map(|e| e.to_text()),
        }
    }

    /// The values of all samples of some engines, each by the fit without the fold of the sample.
    pub(crate) fn rows(&self, engines: &[EngineCases], used: &[usize]) -> Vec<MismatchRow> {
        let row = |(engine, &e): (usize, &usize)| {
            engines[e].cases.iter().map(move |case| {
                // engines without a fit were left out before, so that there is a value
                let (value, result) = self.value(e, &case).unwrap_or_default();
                MismatchRow { engine, value, result }
            })
        };
        used.iter().enumerate().flat_map(row).collect()
    }

    /// The value of a sample of an engine, and its result, from which its opponents may be taken out.
    fn value(&self, engine: usize, case: &Case) -> Option<(f64, f64)> {
        let (x, y) = (f64::from(case.score_cp), case.outcome.value());
        let fits = match &self.fits {
            Fits::Raw => return Some((x, y)),
            Fits::Standardized(folds, engines) => {
                let standard = engines.get(engine)?.as_ref().ok()?.get(fold_of(case.game, folds) as usize)?;
                return Some((standard.z(x), y));
            }
            Fits::Model(fits) => fits,
        };
        let fit: &ModelFit = fits.without(case.game, engine)?;
        // the logit distinguishes values whose win rates round to 0 or 1
        let equal = match self.transform {
            Transform::Equal | Transform::RawAgainstEquals => fit.model.equal_logit(x, &Situation::default()),
            _ => return Some((fit.model.logit(x, &case.situation), y)),
        };
        let expected = Sigmoid::STANDARD.win_rate(fit.logit(Reading::Field, x, &case.situation));
        let result = y - (expected - Sigmoid::STANDARD.win_rate(equal));
        Some((if self.transform == Transform::RawAgainstEquals { x } else { equal }, result))
    }
}
