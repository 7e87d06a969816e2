//! What several commands judge calibrations with.
//!
//! [`evaluation`] judges a calibration on new games, [`judges`] compares engines that scored the same positions, and
//! [`split`] tests whether a score has the same meaning in all situations.

pub mod evaluation;
pub mod judges;
#[cfg(test)]
mod oracle;
pub mod split;

use std::collections::BTreeMap;

use evalcurve_words::language::Text;
use serde::{Serialize, Serializer};

/// Whether the scale moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The change is within the tolerance.
    Within,
    /// The change is beyond the tolerance and significant: its interval excludes 0.
    Moved,
    /// There are too few games to tell: the change is beyond the tolerance and its interval includes 0, or it is within
    /// the tolerance and its interval is not.
    Unclear,
}

impl Verdict {
    /// Of the logarithm of a ratio with its interval, and the largest that is tolerated.
    pub fn of(log_ratio: f64, ends: Option<(f64, f64)>, limit: f64) -> Self {
        match (log_ratio.abs() > limit, ends) {
            (true, Some((low, high))) if low <= 0.0 && 0.0 <= high => Self::Unclear,
            (true, _) => Self::Moved,
            (false, Some((low, high))) if low < -limit || high > limit => Self::Unclear,
            (false, _) => Self::Within,
        }
    }
}

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
