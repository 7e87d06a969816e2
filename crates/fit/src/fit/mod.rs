//! Fits of the win rate curve p(x) = 1/(1 + exp(-w1 x + w2)) to samples: least squares and maximum likelihood,
//! with covariances and a bootstrap that treat the samples of a game as one cluster.

mod bootstrap;
mod case;
mod counts;
mod covariance;
mod error;
mod influence;
pub mod inverted;
mod lapse;
mod least_squares;
mod likelihood;
mod linear;
mod models;
mod objective;
mod options;
mod plain;
mod planner;
pub mod played_on;
mod pool;
mod score_row;
mod search;
mod start;
mod state;
pub(crate) mod symmetric;
mod wald;
mod warm;

#[cfg(test)]
pub(crate) mod oracle;
#[cfg(test)]
mod tests;

pub use bootstrap::{Bootstrap, BootstrapOptions, GameBootstrap, percentile_interval};
pub use case::{Case, Cases, Part, median_size};
pub use counts::{Observation, ScoreCount, ScoreCounts, count_games};
pub use error::FitError;
pub use evalcurve_calibration::model::*;
pub use evalcurve_calibration::{CP_PER_LOGIT, GamesNeeded, Reading, SharedPosition, Situation, StageUnit};
pub use influence::Influence;
pub use linear::{LinearRow, LinearRows, Regression, regress, regress_any};
pub(crate) use models::fit_engines_near;
pub use models::{
    Alone, LapseTest, ModelFit, Strengths, WdlCount, contradictions, drawn, fit_engines, fit_model, fit_wdl_counts,
    lapse_test, unexplained,
};
pub use options::{DEFAULT_MIN_SAMPLES, FitOptions, MIN_GAMES};
pub use plain::{ByMethod, Fit, FitData, PointFit, fit, fit_counts};
pub(crate) use pool::pooled;
pub use pool::{Pool, pool_adjacent_violators};
pub use state::{FitState, GameSums, StateError};
pub use symmetric::{Cholesky, Square, add_squares, add_times, dot, inverse_form, solve};
pub use wald::{Wald, wald};
