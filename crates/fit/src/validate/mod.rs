//! Out-of-sample forecasts of models, and their proper scores.
//!
//! Games are assigned to folds by their identity ([`fold_of`]). Every model is fitted without one fold and forecasts
//! that fold's results, fold after fold ([`CrossValidation`]); baselines go the same way, so that all are compared on
//! the same samples.
//!
//! ```
//! use evalcurve_fit::fit::{Case, Cases, FitOptions, ModelKind, Situation};
//! use evalcurve_calibration::types::Outcome;
//! use evalcurve_fit::validate::{CrossValidation, EngineCases, FoldOptions};
//!
//! // the higher score wins three times out of four
//! let cases: Cases = (0..400u64)
//!     .map(|i| {
//!         let score_cp = if i % 2 == 0 { 400 } else { -400 };
//!         let outcome = if (i % 2 == 0) == (i % 8 < 6) { Outcome::Win } else { Outcome::Loss };
//!         Case { game: i / 2, score_cp, outcome, situation: Situation::default() }
//!     })
//!     .collect();
//! let engines = [EngineCases { name: "example".to_owned(), cases }];
//! let mut validation = CrossValidation::new(&engines, FoldOptions::default(), FitOptions::default());
//! for forecasts in validation.forecasts(ModelKind::MaximumLikelihood) {
//!     let forecasts = forecasts?; // in the order of the cases
//!     assert!((forecasts[0].win_rate() - 0.75).abs() < 0.1);
//! }
//! # Ok::<(), evalcurve_fit::validate::ValidateError>(())
//! ```

mod choose;
mod clusters;
mod corp;
mod cross_validation;
mod folds;
mod forecast;
mod holm;
mod scores;
mod shape;

#[cfg(test)]
mod oracle;
#[cfg(test)]
mod tests;

pub use crate::fit::{Case, Cases, Model, ModelFit, ModelKind, SharedPosition, Situation, fit_engines};
pub use choose::{Candidate, Choice, choose_model};
pub use clusters::{Estimate, mean_by_game};
pub use corp::{BandPoint, Decomposition, Reliability, ReliabilityPool, brier, reliability};
pub use cross_validation::{CrossValidation, FoldFits};
pub use folds::{DEFAULT_FOLDS, FoldOptions, fold_of};
pub use forecast::{EngineCases, Forecast, ValidateError};
pub use holm::{holm, significant};
pub use scores::{ScoreOptions, Scores, Spiegelhalter, log_loss_difference, mean_log_loss, recalibrate_from, scores};
pub use shape::{BY_CHANCE, Misfit, misfit};
