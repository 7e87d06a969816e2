//! Models fitted without one fold of the games, fold after fold.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::folds::{FoldOptions, fold_of};
use super::forecast::{EngineCases, Forecast, ValidateError};
use crate::fit::{Case, FitError, FitOptions, ModelFit, ModelKind, Reading, fit_engines_near};
use crate::parallel;

/// From so many samples on the folds are fitted one after the other.
const MANY: usize = 1 << 20;

/// Models of any kind on the same engines and folds. Each kind is fitted when it is first asked for, and only once.
///
/// An engine needs `min_samples` of the options in all, and is then fitted even if it has fewer without a fold. Other
/// engines take no part, also not in models that are fitted to all engines at once.
///
/// The numbers are the same on any number of threads.
#[derive(Debug)]
pub struct CrossValidation<'a> {
    engines: &'a [EngineCases],
    folds: FoldOptions,
    options: FitOptions,
    fits: BTreeMap<ModelKind, Arc<FoldFits>>,
}

/// One kind of model, fitted to each engine without each fold of the games; made by [`CrossValidation::fits`].
#[derive(Debug)]
pub struct FoldFits {
    folds: FoldOptions,
    /// the fits of each engine, by fold
    engines: Vec<Result<Vec<ModelFit>, ValidateError>>,
}

impl<'a> CrossValidation<'a> {
    /// Nothing is fitted yet.
    pub fn new(engines: &'a [EngineCases], folds: FoldOptions, options: FitOptions) -> Self {
        Self { engines, folds, options, fits: BTreeMap::new() }
    }

    /// The engines, in the order of all results.
    pub fn engines(&self) -> &'a [EngineCases] {
        self.engines
    }

    pub fn folds(&self) -> &FoldOptions {
        &self.folds
    }

    /// Whether an engine has the samples that it needs.
    pub fn has_enough(&self, engine: &EngineCases) -> bool {
        engine.cases.len() as u64 >= self.options.min_samples
    }

    /// The fits of a model.
    pub fn fits(&mut self, kind: ModelKind) -> Arc<FoldFits> {
        self.fits_near(kind, &[])
    }

    /// The same, quicker with fits to all samples, in the order of the engines; they may be missing.
    pub fn fits_near(&mut self, kind: ModelKind, near: &[Option<&ModelFit>]) -> Arc<FoldFits> {
        let new = || Arc::new(FoldFits::new(kind, self.engines, near, &self.folds, &self.options));
        Arc::clone(self.fits.entry(kind).or_insert_with(new))
    }

    /// Forecasts of every sample of every engine, each by the model fitted to all games but those of the sample's fold.
    /// The forecasts of an engine are in the order of its cases.
    pub fn forecasts(&mut self, kind: ModelKind) -> Vec<Result<Vec<Forecast>, ValidateError>> {
        let fits = self.fits(kind);
        parallel::map(self.engines.len(), |e| fits.forecasts(e, &self.engines[e]))
    }
}

impl FoldFits {
    fn new(
        kind: ModelKind,
        engines: &[EngineCases],
        near: &[Option<&ModelFit>],
        folds: &FoldOptions,
        options: &FitOptions,
    ) -> Self {
        let enough = |engine: &EngineCases| match engine.cases.len() as u64 {
            0 => Err(ValidateError::Empty),
            _ if folds.folds < 2 => Err(ValidateError::TooFewFolds { folds: folds.folds }),
            have if have < options.min_samples => {
                Err(ValidateError::Fit(FitError::TooFewSamples { have, need: options.min_samples }))
            }
            _ => Ok(()),
        };
        let fitted: Vec<usize> = (0..engines.len()).filter(|e| enough(&engines[*e]).is_ok()).collect();
        let any_size = FitOptions { min_samples: 0, forecasts_only: true, ..*options };
        let without = |out: usize, near: &[Option<&ModelFit>]| {
            let keep = |e: &usize| -> Vec<Case> {
                engines[*e].cases.iter().filter(|case| fold_of(case.game, folds) != out as u64).copied().collect()
            };
            let kept: Vec<Vec<Case>> = fitted.iter().map(keep).collect();
            let kept: Vec<&[Case]> = kept.iter().map(Vec::as_slice).collect();
            fit_engines_near(kind, &kept, near, &any_size)
        };
        let mut by_fold = Vec::new();
        if !fitted.is_empty() {
            // where no fits are given, the other searches begin where the first one ended
            let first = near.is_empty().then(|| without(0, &[]));
            let near: Vec<Option<&ModelFit>> = match &first {
                Some(first) => first.iter().map(|fit| fit.as_ref().ok()).collect(),
                None => fitted.iter().map(|e| near.get(*e).copied().flatten()).collect(),
            };
            let begun = usize::from(first.is_some());
            let rest = |out: usize| without(out + begun, &near);
            let count = folds.folds as usize - begun;
            // one after the other where that saves memory, and a fold has work for all threads
            let others: Vec<Vec<_>> = match fitted.iter().map(|e| engines[*e].cases.len()).sum::<usize>() {
                MANY.. => (0..count).map(rest).collect(),
                _ => parallel::map(count, rest),
            };
            by_fold = first.into_iter().chain(others).map(Vec::into_iter).collect();
        }
        let fits = |engine: &EngineCases| -> Result<Vec<ModelFit>, ValidateError> {
            enough(engine)?;
            // one of every fold, also if one of them is an error
            let fits: Vec<Option<Result<ModelFit, FitError>>> = by_fold.iter_mut().map(Iterator::next).collect();
            let fit = |(fit, fold): (Option<Result<ModelFit, FitError>>, u64)| match fit {
                Some(fit) => fit.map_err(|source| ValidateError::Fold { fold, folds: folds.folds, source }),
                None => Err(ValidateError::Empty),
            };
            fits.into_iter().zip(1..).map(fit).collect()
        };
        Self { folds: *folds, engines: engines.iter().map(fits).collect() }
    }

    /// Why an engine has no fit without some fold.
    pub fn error(&self, engine: usize) -> Option<ValidateError> {
        self.engines.get(engine)?.as_ref().err().copied()
    }

    /// The fit of an engine without the fold of a game; `None` if the engine has an error.
    pub fn without(&self, game: u64, engine: usize) -> Option<&ModelFit> {
        self.engines.get(engine)?.as_ref().ok()?.get(fold_of(game, &self.folds) as usize)
    }

    /// The forecasts of [`CrossValidation::forecasts`] for the engine at this place.
    fn forecasts(&self, place: usize, engine: &EngineCases) -> Result<Vec<Forecast>, ValidateError> {
        if let Some(error) = self.error(place) {
            return Err(error);
        }
        let forecast = |case: &Case| {
            let fit = self.without(case.game, place)?;
            let logit = fit.logit(Reading::Field, f64::from(case.score_cp), &case.situation);
            Some(Forecast { game: case.game, logit, outcome: case.outcome })
        };
        engine.cases.iter().map(forecast).collect::<Option<_>>().ok_or(ValidateError::Empty)
    }
}
