//! Forecasts of results by models that were not fitted to the game.

use super::folds::{FoldOptions, fold_of};
use crate::fit::{Case, FitError, FitOptions, ModelFit, ModelKind, Reading, Sigmoid, fit_engines};
use crate::language::Text;
use crate::parallel;
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
    #[error("{folds} fold(s), a model is scored on games that it was not fitted to: give 2 or more")]
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

impl ValidateError {
    /// The message in every language.
    pub fn words(&self) -> Text {
        let japanese = match self {
            Self::TooFewFolds { folds } => {
                format!("分割 {folds}: モデルは当てはめに使っていない対局で採点します。2 以上にしてください")
            }
            Self::Fold { fold, folds, source } => {
                format!("{folds} 分割のうち {fold} を除くと: {}", source.words().japanese)
            }
            Self::Empty => "採点する標本がありません: 対局を増やすか、条件を緩めてください".to_owned(),
        };
        Text { english: self.to_string(), japanese }
    }
}

/// A model's forecast of a sample that it was not fitted to, and the outcome.
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
        Sigmoid::STANDARD.win_rate(self.logit)
    }
}

/// Forecasts of every sample of every engine, each by the model fitted to all games but those of the sample's fold.
/// The forecasts of an engine are in the order of its cases.
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
    // an engine with enough samples is fitted also when one fold is left out
    let options = FitOptions { min_samples: 0, ..*options };
    let models: Vec<Vec<Result<ModelFit, FitError>>> = parallel::map(folds.folds as usize, |out| {
        let kept: Vec<Vec<Case>> = engines
            .iter()
            .zip(&fold)
            .map(|(e, fold)| e.cases.iter().zip(fold).filter(|(_, f)| **f != out as u64).map(|(c, _)| *c).collect())
            .collect();
        let kept: Vec<&[Case]> = kept.iter().map(Vec::as_slice).collect();
        fit_engines(kind, &kept, &options)
    });
    engines
        .iter()
        .zip(&fold)
        .enumerate()
        .map(|(e, (engine, fold))| {
            if engine.cases.is_empty() {
                return Err(ValidateError::Empty);
            }
            let models: Vec<&ModelFit> = models
                .iter()
                .zip(1..)
                .map(|(fits, fold)| match fits.get(e) {
                    Some(Ok(fit)) => Ok(fit),
                    Some(Err(source)) => Err(ValidateError::Fold { fold, folds: folds.folds, source: *source }),
                    None => Err(ValidateError::Empty),
                })
                .collect::<Result<_, _>>()?;
            let forecast = |(case, fold): (&Case, &u64)| {
                let model = models.get(*fold as usize)?;
                let logit = model.logit(Reading::Field, f64::from(case.score_cp), &case.situation);
                Some(Forecast { game: case.game, logit, outcome: case.outcome })
            };
            engine.cases.iter().zip(fold).map(forecast).collect::<Option<_>>().ok_or(ValidateError::Empty)
        })
        .collect()
}
