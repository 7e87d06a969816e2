//! Is this calibration right, and do these engines share a scale?
//!
//! [`mismatch`] tells how far equal scores are from equal win rates, [`pairwise`] translates scores between engines and
//! tests whether their curves are one, and [`influence`] shows which samples make the two fits differ. [`diagnose`]
//! asks all of them.

pub mod chi_squared;
pub mod influence;
pub mod mismatch;
pub mod pairwise;
mod whole;

pub use whole::{Base, DiagnoseOptions, Diagnosis, diagnose};
