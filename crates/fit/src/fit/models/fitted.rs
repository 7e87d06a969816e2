//! A model with the parameters that a fit found.

use std::sync::Arc;

use evalcurve_calibration::logistic::{log_loss, share_interval};
use evalcurve_calibration::quantile::quantile_95;
use evalcurve_calibration::{FittedModel, Model, ModelKind, Reading, Situation};

use super::strengths::{Alone, Strengths};
use crate::fit::case::Case;
use crate::fit::counts::count_games;
use crate::fit::error::FitError;
use crate::fit::options::MIN_GAMES;

/// A model fitted to the samples of one engine.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelFit {
    /// The model of the list that was fitted.
    pub kind: ModelKind,
    /// The model with its parameters.
    pub model: Model,
    /// Covariance of [`Model::parameters`], clustered by game; `None` for models without.
    pub covariance: Option<Vec<Vec<f64>>>,
    pub samples: u64,
    /// Games of those samples.
    pub games: u64,
    /// Mean negative log likelihood per sample in nats; for least squares the mean squared error.
    pub mean_loss: f64,
    /// The strengths of the players, where the model was fitted with them.
    pub strengths: Option<Arc<Strengths>>,
    /// What the engine says without the others, where it was fitted with others.
    pub alone: Option<Alone>,
}

impl ModelFit {
    /// The log odds of winning in a reading, in a situation of the same players: as [`Model::logit`] and
    /// [`Model::equal_logit`], with the players' strengths where these were fitted.
    pub fn logit(&self, reading: Reading, score_cp: f64, situation: &Situation) -> f64 {
        match (&self.strengths, &self.model) {
            (Some(s), Model::Joint(joint)) => joint.against(reading, score_cp, s.advantage(situation)),
            _ => self.model.logit_in(reading, score_cp, situation),
        }
    }

    /// `games` has the game of each sample.
    pub(super) fn new(
        kind: ModelKind,
        model: Model,
        covariance: Option<Vec<Vec<f64>>>,
        games: impl IntoIterator<Item = u64>,
        mean_loss: f64,
    ) -> Result<Self, FitError> {
        let games: Vec<u64> = games.into_iter().collect();
        let samples = games.len() as u64;
        let games = count_games(games);
        if games < MIN_GAMES {
            return Err(FitError::TooFewGames { have: games, need: MIN_GAMES });
        }
        Ok(Self { kind, model, covariance, samples, games, mean_loss, strengths: None, alone: None })
    }

    /// A model with parameters for these samples, whose loss is its mean log loss. The covariance is that of
    /// [`Model::parameters`], if there is one.
    ///
    /// # Errors
    /// [`FitError::TooFewGames`].
    pub fn of_cases(
        kind: ModelKind,
        model: Model,
        covariance: Option<Vec<Vec<f64>>>,
        cases: &[Case],
    ) -> Result<Self, FitError> {
        let mean_loss = mean_log_loss(&model, cases);
        Self::new(kind, model, covariance, games_of(cases), mean_loss)
    }

    /// 95% intervals of [`Model::parameters`], clustered by game; `None` for models without a covariance. That of a
    /// share of lapses is made on the logit, so that it lies between 0 and 1; `None` where it would say nothing.
    pub fn intervals(&self) -> Option<Vec<Option<(f64, f64)>>> {
        let quantile = quantile_95(self.games);
        let around = |((name, value), error): ((&str, f64), f64)| {
            let half = quantile * error;
            if !name.starts_with("lapse") || half == 0.0 {
                return Some((value - half, value + half));
            }
            let half = half / (value * (1.0 - value));
            (half < WIDEST_LOGIT).then(|| share_interval(value, half).into())
        };
        Some(self.model.parameters().into_iter().zip(self.standard_errors()?).map(around).collect())
    }

    /// Standard errors of [`Model::parameters`], clustered by game.
    pub fn standard_errors(&self) -> Option<Vec<f64>> {
        self.covariance
            .as_ref()
            .map(|v| v.iter().enumerate().filter_map(|(i, row)| Some(row.get(i)?.max(0.0).sqrt())).collect())
    }
}

/// An interval of a share that reaches further than this on the logit says nothing.
const WIDEST_LOGIT: f64 = 4.0;

/// Mean negative log likelihood of the outcomes, a draw half of either side.
pub(super) fn mean_log_loss(model: &Model, cases: &[Case]) -> f64 {
    let loss = |c: &Case| log_loss(model.logit(f64::from(c.score_cp), &c.situation), c.outcome.value());
    cases.iter().map(loss).sum::<f64>() / cases.len() as f64
}

/// The game of each case.
pub(super) fn games_of(cases: &[Case]) -> impl Iterator<Item = u64> {
    cases.iter().map(|case| case.game)
}

impl From<ModelFit> for FittedModel {
    fn from(fit: ModelFit) -> Self {
        Self { model: fit.model, covariance: fit.covariance, samples: Some(fit.samples), games: Some(fit.games) }
    }
}
