//! What several commands judge calibrations with.
//!
//! [`drift`] compares two versions of a calibration, [`evaluation`] judges one on new games, [`judges`] compares
//! engines that scored the same positions, and [`split`] tests whether a score has the same meaning in all situations.

pub mod drift;
pub mod evaluation;
pub mod judges;
#[cfg(test)]
mod oracle;
pub mod regression;
pub mod split;

use std::collections::BTreeMap;

use evalcurve_words::language::Text;
use serde::{Serialize, Serializer};

/// Serialises a value, or in its place an object whose `error` says why there is none.
///
/// # Errors
/// Those of the serializer.
pub fn value_or_error<T: Serialize, S: Serializer>(result: &Result<T, Text>, serializer: S) -> Result<S::Ok, S::Error> {
    match result {
        Ok(value) => value.serialize(serializer),
        Err(error) => BTreeMap::from([("error", error)]).serialize(serializer),
    }
}
