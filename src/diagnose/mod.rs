//! Is a calibration right, how certain is it, and do engines share a scale? Diagnostics of the sample table and of
//! calibration files.
//!
//! [`mismatch`] measures how far equal scores are from equal win rates, [`pairwise`] translates scores between engines
//! and tests whether their curves are equal, [`influence`] shows which samples make the two fits differ, and [`split`]
//! whether a score has the same meaning in all situations. [`diagnose`] runs all of them. [`drift`] compares two
//! versions of a calibration.

pub mod adjudication;
pub mod declared;
pub mod drift;
pub mod influence;
pub mod mismatch;
pub mod pairwise;
pub mod regression;
pub mod split;
mod whole;

pub use whole::{Base, DiagnoseOptions, Diagnosis, ModelScores, diagnose};

#[cfg(test)]
mod oracle;
#[cfg(test)]
mod pairwise_oracle;
