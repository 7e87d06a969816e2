//! Numbers with their 95% intervals.

use std::fmt::{Display, Formatter, Result};

use serde::{Deserialize, Serialize};

use crate::quantile::Z_95;

/// A number with its 95% interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Estimate {
    /// The number.
    pub value: f64,
    /// Lower and upper end, in that order.
    pub interval: Option<[f64; 2]>,
}

impl Estimate {
    /// An estimate with its normal interval; without one where the standard error is not known, or is 0 because all
    /// games agree.
    pub fn normal(value: f64, standard_error: Option<f64>) -> Self {
        let known = standard_error.filter(|s| s.is_finite() && *s > 0.0);
        Self { value, interval: known.map(|s| [value - Z_95 * s, value + Z_95 * s]) }
    }

    /// The estimate of a number that lies from 0 to `most`. An interval that leaves this range, or that has no width,
    /// is left out: there are too few games for it.
    pub fn possible(self, most: f64) -> Self {
        let is_possible = |[low, high]: &[f64; 2]| *low >= 0.0 && *high <= most && low < high;
        Self { interval: self.interval.filter(is_possible), ..self }
    }

    /// The estimate in a smaller unit.
    pub fn times(self, factor: f64) -> Self {
        let interval = self.interval.map(|ends| ends.map(|end| end * factor));
        Self { value: self.value * factor, interval }
    }

    /// The standard error that a normal interval was made from.
    pub fn standard_error(&self) -> Option<f64> {
        self.interval.map(|[low, high]| (high - low) / (2.0 * Z_95))
    }
}

/// `{:.0}` writes `326 [308, 346]`.
impl Display for Estimate {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        self.value.fmt(f)?;
        for (before, end) in [" [", ", "].iter().zip(self.interval.iter().flatten()) {
            f.write_str(before)?;
            end.fmt(f)?;
        }
        f.write_str(if self.interval.is_some() { "]" } else { "" })
    }
}
