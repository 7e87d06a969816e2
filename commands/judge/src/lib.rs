//! Judges calibrations on games that they were not made from: `evaluate`, `compare`, `thresholds`.

pub mod adjudication;
pub mod certified;
#[cfg(feature = "cli")]
pub mod cli;
pub mod drift;
mod evaluate;
mod forecasts;
mod moved;
mod thresholds;

pub use evaluate::Evaluate;
pub use forecasts::{Difference, JudgeForecasts, JudgedForecasts, JudgedModel};
pub use moved::Compare;
pub use thresholds::{
    Adjudicated, AdjudicationRule, Bias, Certificate, CertifiedRule, DEFAULT_DRAW_FROM, Losing, Thresholds,
};

/// The Japanese of the texts of this use.
pub const JAPANESE: &str = include_str!("ja.json");
