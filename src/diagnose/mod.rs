//! Is a calibration right, how certain is it, and do engines share a scale? Diagnostics of the sample table and of
//! calibration files.
//!
//! [`mismatch`] measures how far equal scores are from equal win rates, [`pairwise`] translates scores between engines
//! and tests whether their curves are equal, [`judges`] ranks engines that scored the same positions, [`influence`]
//! shows which samples make the two fits differ, and [`split`] whether a score has the same meaning in all situations.
//! [`diagnose`] runs all of them. [`drift`] compares two versions of a calibration, and [`evaluation`] judges one on
//! new games.

pub mod adjudication;
pub mod certified;
pub mod declared;
pub mod drift;
pub mod evaluation;
pub mod influence;
pub mod judges;
pub mod mismatch;
pub mod pairwise;
pub mod regression;
pub mod split;
mod whole;

pub use whole::{Base, DiagnoseOptions, Diagnosis, ModelScores, diagnose};

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use crate::language::Text;

/// Serialises a value, or in its place an object whose `error` says why there is none.
fn value_or_error<T: Serialize, S: Serializer>(result: &Result<T, Text>, serializer: S) -> Result<S::Ok, S::Error> {
    match result {
        Ok(value) => value.serialize(serializer),
        Err(error) => BTreeMap::from([("error", error)]).serialize(serializer),
    }
}

#[cfg(test)]
mod oracle;
#[cfg(test)]
mod pairwise_oracle;
