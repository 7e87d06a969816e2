//! The best rising curve of any form: isotonic regression by pooling adjacent violators (PAV; Ayer,
//! Brunk, Ewing, Reid and Silverman, Annals of Mathematical Statistics 1955).

use serde::{Deserialize, Serialize};

use super::definition::Definition;
use super::form::{Form, InvalidParameter};
use crate::logistic::logit;
use crate::situation::Situation;

pub(super) static ISOTONIC: Definition = Definition {
    name: "isotonic",
    label: "isotonic",
    summary: "The rising curve of any form",
    rank: Some(8),
    ..Definition::BASELINE
};

/// A rising curve through points, straight between them and flat beyond the outermost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Isotonic {
    /// (score in centipawns, win rate in (0, 1)): scores ascend, win rates do not fall.
    #[cfg_attr(test, schemars(with = "Vec<[f64; 2]>", length(min = 2)))]
    pub points: Vec<(f64, f64)>,
}

impl Isotonic {
    /// The win rate of a score in centipawns.
    pub fn win_rate(&self, score_cp: f64) -> f64 {
        if score_cp.is_nan() {
            return f64::NAN;
        }
        let after = self.points.partition_point(|p| p.0 < score_cp);
        match (after.checked_sub(1).and_then(|i| self.points.get(i)), self.points.get(after)) {
            (Some(&(x0, p0)), Some(&(x1, p1))) => p0 + (p1 - p0) * ((score_cp - x0) / (x1 - x0)),
            (Some(&(_, p)), None) | (None, Some(&(_, p))) => p,
            (None, None) => f64::NAN,
        }
    }

    /// The score with this win rate, the middle of several; `None` beyond the range of the curve.
    pub fn score(&self, win_rate: f64) -> Option<f64> {
        let low = self.points.partition_point(|p| p.1 < win_rate);
        let high = self.points.partition_point(|p| p.1 <= win_rate);
        if low < high {
            return Some(0.5 * (self.points.get(low)?.0 + self.points.get(high - 1)?.0));
        }
        let (&(x0, p0), &(x1, p1)) = (self.points.get(low.checked_sub(1)?)?, self.points.get(low)?);
        Some(x0 + (x1 - x0) * ((win_rate - p0) / (p1 - p0)))
    }
}

impl Form for Isotonic {
    fn logit(&self, score_cp: f64, _: &Situation) -> f64 {
        logit(Isotonic::win_rate(self, score_cp))
    }

    // not through the logit, which would change the last bits
    fn win_rate(&self, score_cp: f64, _: &Situation) -> f64 {
        Isotonic::win_rate(self, score_cp)
    }

    fn score(&self, win_rate: f64, _: &Situation) -> Option<f64> {
        Isotonic::score(self, win_rate)
    }

    fn parameters(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }

    fn check(&self) -> Result<(), InvalidParameter> {
        let rising = self.points.windows(2).all(|w| w[0].0 < w[1].0 && w[0].1 <= w[1].1);
        let within = self.points.iter().all(|(_, p)| *p > 0.0 && *p < 1.0);
        if self.points.len() < 2 || !rising || !within {
            let problem = "two points or more are expected, scores ascending, win rates in (0, 1) not falling";
            return Err(InvalidParameter::new("points", problem));
        }
        Ok(())
    }
}
