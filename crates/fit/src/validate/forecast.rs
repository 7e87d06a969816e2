//! Forecasts of results by models that were not fitted to the game.

use evalcurve_calibration::types::Outcome;
use evalcurve_words::language::ToText;

use crate::fit::{Cases, FitError, Sigmoid};
use crate::vector::{BLOCK, Logistics};

/// The samples of one engine.
#[derive(Debug, Clone)]
pub struct EngineCases {
    pub name: String,
    /// Its samples, in any order.
    pub cases: Cases,
}

/// Why a model has no forecasts.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error, ToText)]
#[non_exhaustive]
pub enum ValidateError {
    /// Cross-validation needs two folds.
    #[error("{folds} fold(s), a model is scored on games that it was not fitted to: give 2 or more")]
    TooFewFolds { folds: u64 },
    /// The samples give no fit.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// Without one fold the samples give no fit.
    #[error("without fold {fold} of {folds}: {source}")]
    Fold {
        /// The fold that was left out, from 1.
        fold: u64,
        folds: u64,
        source: FitError,
    },
    /// Nothing to score.
    #[error("no samples to score: add games or widen the filters")]
    Empty,
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

/// The win rate of each forecast.
pub(super) fn rates(forecasts: &[Forecast]) -> Vec<f64> {
    blocks(forecasts, |block, _, _, rates| rates.copy_from_slice(&block.p[..rates.len()]))
}

/// The negative log likelihood of each result in nats, a draw half of either side.
pub(super) fn log_losses(forecasts: &[Forecast]) -> Vec<f64> {
    blocks(forecasts, |block, z, results, losses| block.losses(z, results, losses))
}

/// A number of each forecast, from its logit and its result.
fn blocks(forecasts: &[Forecast], of: impl Fn(&mut Logistics, &[f64], &[f64], &mut [f64])) -> Vec<f64> {
    let (mut block, mut all) = (Logistics::new(), vec![0.0; forecasts.len()]);
    let (mut z, mut results) = ([0.0; BLOCK], [0.0; BLOCK]);
    for (forecasts, out) in forecasts.chunks(BLOCK).zip(all.chunks_mut(BLOCK)) {
        let n = forecasts.len();
        for (i, forecast) in forecasts.iter().enumerate() {
            (z[i], results[i]) = (forecast.logit, forecast.outcome.value());
        }
        block.at(&z[..n]);
        of(&mut block, &z[..n], &results[..n], out);
    }
    all
}
