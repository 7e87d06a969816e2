//! Is a calibration right, how certain is it, and do engines share a scale? `diagnose`.
//!
//! [`mismatch`] measures how far equal scores are from equal win rates, [`pairwise`] translates scores between engines
//! and tests whether their curves are equal, and [`two_fits`] compares least squares with maximum likelihood.
//! [`diagnose`] runs all of them.

#[cfg(feature = "cli")]
pub mod cli;
mod command;
pub mod declared;
pub mod headline;
pub mod judge_figures;
pub mod judges;
pub mod mismatch;
pub mod page;
pub mod pairwise;
#[cfg(test)]
mod pairwise_oracle;
pub mod report;
pub mod two_fits;
mod whole;

pub use command::{Diagnose, Diagnosed};
pub use whole::{Base, Diagnosis, ModelScores, diagnose};

/// The Japanese of the texts of this use.
pub const JAPANESE: &str = include_str!("ja.json");
