//! Win rates from engine scores: reads a calibration file and returns the win rate of a score, its interval and its
//! inverse. This is all that a GUI or an engine needs to embed; it fits nothing.
//!
//! ```
//! use evalcurve_calibration::{Calibration, Reading, Score, Situation};
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/published/gikou.json");
//! # /*
//! let path = "gikou.json";
//! # */
//! let gikou = Calibration::read(path)?;
//! let rate = gikou.win_rate(gikou.classify(300.0)); // from the file's mate threshold on, a score is a mate
//! let even = gikou.score(Reading::Equal, 0.5, &Situation::default());
//! let mate = gikou.win_rate(Score::Mate { wins: true, plies: Some(5) });
//! # assert_eq!((format!("{rate:.4}"), even.map(f64::round), mate), ("0.6857".to_owned(), Some(0.0), 1.0));
//! # Ok::<(), evalcurve_calibration::CalibrationError>(())
//! ```
//!
//! The feature `schema` adds the JSON Schema of the file.

mod bounded;
mod check;
mod control;
#[cfg(feature = "schema")]
mod document;
pub mod draws;
mod error;
mod estimate;
mod evidence;
pub mod file;
mod fitted;
mod games_needed;
mod located;
pub mod logistic;
mod maps;
pub mod model;
pub mod quantile;
mod read;
#[cfg(feature = "schema")]
mod schema;
mod sigmoid;
mod situation;
pub mod types;
mod wdl;
mod win_rate;
pub mod write;

#[cfg(test)]
mod tests;

pub use bounded::read_bounded;
pub use control::control_seconds;
#[cfg(feature = "schema")]
pub use document::schema;
pub use error::CalibrationError;
pub use estimate::Estimate;
pub use file::{Calibration, FittedModel, FittedSigmoid};
pub use games_needed::GamesNeeded;
pub use located::plain_types;
pub use model::*;
pub use sigmoid::CP_PER_LOGIT;
pub use situation::{ELO_PER_LOGIT, LOGITS_PER_ELO, Reading, SharedPosition, Situation, StageUnit};
pub use types::{Color, Declared, Outcome, Termination};
pub use wdl::{PawnValue, WdlEstimate, permille};
pub use win_rate::Score;
