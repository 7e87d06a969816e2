//! Fits of the win rate curve p(x) = 1/(1 + exp(-w1 x + w2)) to samples: least squares and maximum likelihood,
//! with covariances and a bootstrap that treat the samples of a game as one cluster.
//!
//! ```
//! use evalcurve_fit::fit::{FitOptions, Method, Observation, fit};
//! use evalcurve_calibration::types::Outcome;
//!
//! // two samples of each of 200 games; the higher score wins three times out of four
//! let observations: Vec<Observation> = (0..400u64)
//!     .map(|i| {
//!         let score_cp = if i % 2 == 0 { 400 } else { -400 };
//!         let outcome = if (i % 2 == 0) == (i % 8 < 6) { Outcome::Win } else { Outcome::Loss };
//!         Observation { game: i / 2, score_cp, outcome }
//!     })
//!     .collect();
//! let fit = fit(Method::MaximumLikelihood, &observations, &FitOptions::default())?;
//! assert!((fit.sigmoid.win_rate(400.0) - 0.75).abs() < 1e-9);
//! # Ok::<(), evalcurve_fit::fit::FitError>(())
//! ```

mod bootstrap;
mod case;
mod counts;
mod covariance;
mod error;
mod influence;
mod lapse;
mod least_squares;
mod likelihood;
mod linear;
mod models;
mod objective;
mod options;
mod plain;
mod planner;
mod pool;
mod score_row;
mod search;
mod start;
mod state;
pub(crate) mod symmetric;
mod warm;

#[cfg(test)]
mod oracle;
#[cfg(test)]
mod tests;

pub use bootstrap::{BandPoint, Bootstrap, BootstrapOptions, GameBootstrap, bootstrap, percentile_interval};
pub use case::{Case, median_size};
pub(crate) use case::{Part, engines_by_number};
pub use counts::{Observation, ScoreCount, ScoreCounts};
pub use error::FitError;
pub use evalcurve_calibration::model::*;
pub use evalcurve_calibration::{CP_PER_LOGIT, GamesNeeded, Reading, SharedPosition, Situation, StageUnit};
pub use influence::{Influence, standard_error_of_difference};
pub use linear::{LinearRow, Regression, regress};
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
pub use symmetric::{Cholesky, Square, add_times, inverse_form, solve};
