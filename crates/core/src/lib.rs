//! The part of evalcurve that a GUI or an engine can embed: evaluation curves, fits, calibration files and the rules by
//! which a council decides. It contains no readers of game records, no archives, no tables and no figures.

pub mod calibration;
pub mod curve;
pub mod fen;
pub mod fit;
pub mod language;
pub mod normal;
mod parallel;
pub mod random;
pub mod rating;
pub mod rule;
pub mod standardize;
pub mod text;
pub mod validate;
pub mod whole_file;

pub use evalcurve_calibration::{logistic, types};
