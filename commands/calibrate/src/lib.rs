//! From game records to one calibration per engine: `calibrate`, `constant`, `inspect`, `sample`, `plot`.

#[cfg(feature = "cli")]
pub mod cli;
mod constants;
mod curves;
pub mod drawings;
mod people_figures;
#[cfg(feature = "cli")]
mod small_plot;
pub mod wdl_figures;

pub use constants::{Constant, EngineConstant};
pub use curves::{Curve, Curves};

/// The Japanese of the texts of this use.
pub const JAPANESE: &str = include_str!("ja.json");
