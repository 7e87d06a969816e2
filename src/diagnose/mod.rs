//! Is a calibration right, how sure is it, and do engines share a scale? Questions to the sample table and to
//! calibration files.
//!
//! [`mismatch`] tells how far equal scores are from equal win rates, [`pairwise`] translates scores between engines and
//! tests whether their curves are one, [`influence`] shows which samples make the two fits differ, and [`split`] whether
//! a score means the same in all circumstances; [`diagnose`] asks all of them. [`drift`] compares two versions of a
//! calibration.

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
