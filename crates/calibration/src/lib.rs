//! Win rates from engine scores: reads a calibration file and returns the win rate of a score, its interval and its
//! inverse. This is all that a GUI or an engine needs to embed; it fits nothing.
//!
//! ```
//! use evalcurve_calibration::{Calibration, ErrorKind, Situation};
//!
//! # let file = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/zshogi.json");
//! # /*
//! let file = "zshogi.json"; // `evalcurve calibrate` writes it
//! # */
//! let engine = Calibration::read(file)?;
//! let p = engine.estimate(300.0); // between equals, in the view of the side to move
//! println!("{p:.3}"); // 0.539 [0.532, 0.547]
//! # assert_eq!(format!("{:.4}", p.value), "0.5392");
//! # assert!(p.interval.is_some_and(|[low, high]| low < p.value && p.value < high));
//! let later = engine.at(Situation::new().ply(80));
//! println!("{:.3} {:?}", later.estimate(-50).value, later.wdl(-50)); // wins, draws and losses
//! println!("{:?}", later.score(0.75)); // the score that wins three games of four
//! assert_eq!(engine.estimate(30_000).value, 1.0); // from the file's mate threshold on, a score is a mate
//! assert!(engine.estimate(f64::NAN).value.is_nan()); // a broken score has no win rate
//! if Calibration::read("none.json").is_err_and(|error| error.kind() == ErrorKind::NewerVersion) {
//!     println!("update this program");
//! }
//! # Ok::<(), evalcurve_calibration::CalibrationError>(())
//! ```
//!
//! [`Calibration`] is the file and its questions, [`Estimate`] a number with its 95% interval. In a
//! [`Situation`] the ply, the material and the ratings are known; [`At::in_the_field`] reads the file against the
//! opponents of its games in place of equal ones. [`Calibration::unknown`] is what only a later version can read.
//! An [`OwnModel`] is a model of your program that files hold under its name.
//!
//! Setup: `cargo add evalcurve-calibration`. [`SCHEMA`] is the JSON Schema of the file.

mod at;
mod bounded;
mod check;
mod control;
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
pub mod normal;
pub mod quantile;
mod read;
mod sigmoid;
mod situation;
pub mod types;
mod unknown;
mod wdl;
mod win_rate;
pub mod write;

#[cfg(test)]
mod tests;

pub use at::At;
pub use bounded::read_bounded;
pub use control::control_seconds;
pub use error::{CalibrationError, ErrorKind};
pub use estimate::Estimate;
pub use file::{Calibration, FittedModel};
pub use games_needed::GamesNeeded;
pub use located::plain_types;
pub use model::*;
pub use sigmoid::CP_PER_LOGIT;
pub use situation::{ELO_PER_LOGIT, LOGITS_PER_ELO, RATINGS, Reading, SharedPosition, Situation, StageUnit};
pub use types::{Color, Declared, Outcome, Termination};

/// The JSON Schema (draft 2020-12) of the calibration file, version 1, as indented text.
///
/// It refuses everything that a schema can refuse. Only [`Calibration::read`] checks that bins ascend, that the chosen
/// model is one of `models` and that a covariance is symmetric and positive.
pub const SCHEMA: &str = include_str!("schema.json");
pub use unknown::Unknown;
pub use wdl::{PawnValue, WdlEstimate, permille};
pub use win_rate::Score;
