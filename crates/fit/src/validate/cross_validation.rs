//! Models fitted without one fold of the games, fold after fold.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::clusters::Estimate;
use super::folds::{FoldOptions, fold_of};
use super::forecast::{EngineCases, Forecast, ValidateError};
use super::scores::mean_log_loss;
use crate::fit::{Case, FitError, FitOptions, ModelFit, ModelKind, Part, Reading, Situation, fit_engines_near};
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
    /// the place of each engine among those that were fitted
    engines: Vec<Result<usize, ValidateError>>,
    /// the fits without each fold
    fits: Vec<Vec<Result<ModelFit, FitError>>>,
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
        let new = || Arc::new(FoldFits::new(kind, None, self.engines, near, &self.folds, &self.options));
        Arc::clone(self.fits.entry(kind).or_insert_with(new))
    }

    /// Fits a model of your own in each fold: `fit` gets the samples of an engine outside of it.
    /// [`Self::forecasts`] and [`choose_model`](super::choose_model) then know its kind.
    pub fn add(&mut self, kind: ModelKind, fit: impl Fn(&[Case], &FitOptions) -> Result<ModelFit, FitError> + Sync) {
        let fits = FoldFits::new(kind, Some(&fit), self.engines, &[], &self.folds, &self.options);
        self.fits.insert(kind, Arc::new(fits));
    }

    /// Forecasts of every sample of every engine, each by the model fitted to all games but those of the sample's fold.
    /// The forecasts of an engine are in the order of its cases.
    pub fn forecasts(&mut self, kind: ModelKind) -> Vec<Result<Vec<Forecast>, ValidateError>> {
        let fits = self.fits(kind);
        parallel::map(self.engines.len(), |e| fits.forecasts(e, &self.engines[e]))
    }

    /// The same between equals, as win rates are printed: whatever the players are, and without what they think too
    /// well of their own moves.
    pub fn equal_forecasts(&mut self, kind: ModelKind) -> Vec<Result<Vec<Forecast>, ValidateError>> {
        let fits = self.fits(kind);
        let equal = |fit: &ModelFit, case: &Case| {
            let Situation { ply, material, rating, seconds, .. } = case.situation;
            let equals = Situation { ply, material, rating, seconds, ..Situation::default() };
            fit.model.logit_in(Reading::Equal, f64::from(case.score_cp), &equals)
        };
        parallel::map(self.engines.len(), |e| fits.forecasts_by(e, &self.engines[e], equal))
    }

    /// The mean log loss of the forecasts for each engine that has them. Fits that are not there yet are not kept.
    pub fn log_losses(&self, kind: ModelKind) -> Vec<Option<Estimate>> {
        let new = || Arc::new(FoldFits::new(kind, None, self.engines, &[], &self.folds, &self.options));
        let fits = self.fits.get(&kind).cloned().unwrap_or_else(new);
        parallel::map(self.engines.len(), |e| mean_log_loss(&fits.forecasts(e, &self.engines[e]).ok()?))
    }
}

/// Fits a model of the caller's to the samples of an engine.
type OwnFit<'a> = &'a (dyn Fn(&[Case], &FitOptions) -> Result<ModelFit, FitError> + Sync);

impl FoldFits {
    fn new(
        kind: ModelKind,
        own: Option<OwnFit<'_>>,
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
        let fold = |case: Case| fold_of(case.game, folds) as u32;
        let fold_of_each: Vec<Vec<u32>> = fitted.iter().map(|e| engines[*e].cases.iter().map(fold).collect()).collect();
        let without = |out: usize, near: &[Option<&ModelFit>]| {
            let kept = fitted.iter().zip(&fold_of_each);
            let kept: Vec<Part<'_>> = kept.map(|(e, of)| Part::without(&engines[*e].cases, of, out as u32)).collect();
            match own {
                Some(fit) => parallel::map(kept.len(), |e| fit(&kept[e].cases(), &any_size)),
                None => fit_engines_near(kind, &kept, near, &any_size),
            }
        };
        let mut fits = Vec::new();
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
            fits = first.into_iter().chain(others).collect();
        }
        let mut places = 0..;
        let place = |engine: &EngineCases| {
            enough(engine)?;
            let place = places.next().ok_or(ValidateError::Empty)?;
            let error = |(of_fold, fold): (&Vec<Result<ModelFit, FitError>>, u64)| {
                let source = *of_fold.get(place)?.as_ref().err()?;
                Some(ValidateError::Fold { fold, folds: folds.folds, source })
            };
            fits.iter().zip(1..).find_map(error).map_or(Ok(place), Err)
        };
        let engines = engines.iter().map(place).collect();
        Self { folds: *folds, engines, fits }
    }

    /// Why an engine has no fit without some fold.
    pub fn error(&self, engine: usize) -> Option<ValidateError> {
        self.engines.get(engine)?.as_ref().err().copied()
    }

    /// The fit of an engine without the fold of a game; `None` if the engine has an error.
    pub fn without(&self, game: u64, engine: usize) -> Option<&ModelFit> {
        let place = *self.engines.get(engine)?.as_ref().ok()?;
        self.fits.get(fold_of(game, &self.folds) as usize)?.get(place)?.as_ref().ok()
    }

    /// The forecasts of [`CrossValidation::forecasts`] for the engine at this place.
    ///
    /// # Errors
    /// Why it has no fit without some fold.
    pub fn forecasts(&self, place: usize, engine: &EngineCases) -> Result<Vec<Forecast>, ValidateError> {
        let field = |fit: &ModelFit, case: &Case| fit.logit(Reading::Field, f64::from(case.score_cp), &case.situation);
        self.forecasts_by(place, engine, field)
    }

    fn forecasts_by(
        &self,
        place: usize,
        engine: &EngineCases,
        logit: impl Fn(&ModelFit, &Case) -> f64,
    ) -> Result<Vec<Forecast>, ValidateError> {
        if let Some(error) = self.error(place) {
            return Err(error);
        }
        let forecast = |case: Case| {
            let fit = self.without(case.game, place)?;
            Some(Forecast { game: case.game, logit: logit(fit, &case), outcome: case.outcome })
        };
        engine.cases.iter().map(forecast).collect::<Option<_>>().ok_or(ValidateError::Empty)
    }
}
