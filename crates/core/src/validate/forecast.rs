//! Forecasts of results by models that have not seen the game.

use rayon::prelude::*;

use super::folds::{FoldOptions, fold_of};
use crate::fit::{
    Case, FitError, FitOptions, LinearRow, Model, ModelFit, ModelKind, Sigmoid, fit_model, fit_strength_shared, regress,
};
use crate::standardize::Standardization;
use crate::types::Outcome;

/// The samples of one engine.
#[derive(Debug, Clone, PartialEq)]
pub struct EngineCases {
    /// Its name.
    pub name: String,
    /// Its samples, in any order.
    pub cases: Vec<Case>,
}

/// Why a model has no forecasts.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ValidateError {
    /// Cross-validation needs two folds.
    #[error("{folds} fold(s), a model is judged on games that it has not seen: give 2 or more")]
    TooFewFolds {
        /// Number of folds.
        folds: u64,
    },
    /// Without one fold the samples give no fit.
    #[error("without fold {fold} of {folds}: {source}")]
    Fold {
        /// The fold that was left out, from 1.
        fold: u64,
        /// Number of folds.
        folds: u64,
        /// Why.
        source: FitError,
    },
    /// Nothing to score.
    #[error("no samples to score: add games or widen the filters")]
    Empty,
}

/// What a model said of a sample before it knew, and what happened.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Forecast {
    /// Identity of the game.
    pub game: u64,
    /// The model's log odds of winning: finite where a win rate would round to 0 or 1.
    pub logit: f64,
    /// The outcome, for the side to move.
    pub outcome: Outcome,
}

impl Forecast {
    /// The forecast win rate, in [0, 1].
    pub fn win_rate(&self) -> f64 {
        Sigmoid { w1: 1.0, w2: 0.0 }.win_rate(self.logit)
    }
}

/// Fits a model to each engine; the kinds that need all engines are fitted to all of them at once. An engine without
/// a fit does not stop the others.
pub fn fit_engines(kind: ModelKind, engines: &[&[Case]], options: &FitOptions) -> Vec<Result<ModelFit, FitError>> {
    match kind {
        ModelKind::SharedZ => fit_shared_z(engines, options),
        ModelKind::StrengthShared => fit_strength_shared(engines, options),
        _ => engines.par_iter().map(|cases| fit_model(kind, cases, options)).collect(),
    }
}

/// Standardises each engine's scores and fits one sigmoid, by maximum likelihood, to all of them.
fn fit_shared_z(engines: &[&[Case]], options: &FitOptions) -> Vec<Result<ModelFit, FitError>> {
    // the constant is fitted for its checks of the samples, and for what it says of them
    let checked: Vec<Result<(ModelFit, Standardization), FitError>> = engines
        .iter()
        .map(|cases| {
            let fit = fit_model(ModelKind::Constant, cases, options)?;
            let standard = Standardization::from_scores(cases.iter().map(|c| c.score_cp))
                .map_err(|_| FitError::TooFewSamples { have: cases.len() as u64, need: 2 })?;
            Ok((fit, standard))
        })
        .collect();
    let row = |standard: &Standardization, case: &Case| LinearRow {
        game: case.game,
        result: case.outcome.value(),
        features: [(0, standard.z(f64::from(case.score_cp))), (1, -1.0)],
    };
    let rows: Vec<LinearRow<2>> = engines
        .iter()
        .zip(&checked)
        .filter_map(|(cases, checked)| Some((cases, &checked.as_ref().ok()?.1)))
        .flat_map(|(cases, standard)| cases.iter().map(move |case| row(standard, case)))
        .collect();
    let fitted =
        if rows.is_empty() { Err(FitError::TooFewSamples { have: 0, need: 2 }) } else { regress(&rows, &[0.0; 2]) };
    checked
        .into_iter()
        .zip(engines)
        .map(|(checked, cases)| {
            let (fit, standard) = checked?;
            let shared = fitted.as_ref().map_err(|e| *e)?;
            let (s1, s2) = (shared.at[0], shared.at[1]);
            if s1 <= 0.0 {
                return Err(FitError::SlopeNotPositive { w1: s1 / standard.sd });
            }
            // s1 (x - mean)/sd - s2
            let sigmoid = Sigmoid { w1: s1 / standard.sd, w2: s2 + s1 * standard.mean / standard.sd };
            let loss = |c: &Case| {
                let (x, y) = (f64::from(c.score_cp), c.outcome.value());
                -y * sigmoid.log_win_rate(x) - (1.0 - y) * sigmoid.log_loss_rate(x)
            };
            let mean_loss = cases.iter().map(loss).sum::<f64>() / cases.len() as f64;
            Ok(ModelFit { kind: ModelKind::SharedZ, model: Model::Sigmoid(sigmoid), mean_loss, ..fit })
        })
        .collect()
}

/// Forecasts of every sample of every engine, each by the model fitted to all games but those of the sample's fold.
/// The forecasts of an engine stand in the order of its cases.
///
/// The numbers are the same on any number of threads.
pub fn out_of_sample(
    kind: ModelKind,
    engines: &[EngineCases],
    folds: &FoldOptions,
    options: &FitOptions,
) -> Vec<Result<Vec<Forecast>, ValidateError>> {
    if folds.folds < 2 {
        return engines.iter().map(|_| Err(ValidateError::TooFewFolds { folds: folds.folds })).collect();
    }
    let fold: Vec<Vec<u64>> =
        engines.iter().map(|e| e.cases.iter().map(|c| fold_of(c.game, folds)).collect()).collect();
    // who had enough samples for a fit keeps it when a fold is missing
    let options = FitOptions { min_samples: 0, ..*options };
    let models: Vec<Vec<Result<ModelFit, FitError>>> = (0..folds.folds)
        .into_par_iter()
        .map(|out| {
            let kept: Vec<Vec<Case>> = engines
                .iter()
                .zip(&fold)
                .map(|(e, fold)| e.cases.iter().zip(fold).filter(|(_, f)| **f != out).map(|(c, _)| *c).collect())
                .collect();
            let kept: Vec<&[Case]> = kept.iter().map(Vec::as_slice).collect();
            fit_engines(kind, &kept, &options)
        })
        .collect();
    engines
        .iter()
        .zip(&fold)
        .enumerate()
        .map(|(e, (engine, fold))| {
            if engine.cases.is_empty() {
                return Err(ValidateError::Empty);
            }
            let models: Vec<&Model> = models
                .iter()
                .zip(1..)
                .map(|(fits, fold)| match fits.get(e) {
                    Some(Ok(fit)) => Ok(&fit.model),
                    Some(Err(source)) => Err(ValidateError::Fold { fold, folds: folds.folds, source: *source }),
                    None => Err(ValidateError::Empty),
                })
                .collect::<Result<_, _>>()?;
            let forecast = |(case, fold): (&Case, &u64)| {
                let model = models.get(*fold as usize)?;
                let logit = model.logit(f64::from(case.score_cp), &case.situation);
                Some(Forecast { game: case.game, logit, outcome: case.outcome })
            };
            engine.cases.iter().zip(fold).map(forecast).collect::<Option<_>>().ok_or(ValidateError::Empty)
        })
        .collect()
}
