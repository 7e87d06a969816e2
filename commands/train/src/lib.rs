//! Writes training data with its scores on a stated scale: `rescale`.

#[cfg(feature = "cli")]
pub mod cli;
mod packed;
mod rescale;
mod tables;

pub use rescale::{Rescale, Rescaled, RescaledFile, Stage, Teacher};

/// The Japanese of the texts of this use.
pub const JAPANESE: &str = include_str!("ja.json");
