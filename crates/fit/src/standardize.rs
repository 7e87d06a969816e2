//! Standardised scores z = (x - mean)/sd, and their evaluation curves.

use std::collections::BTreeMap;

pub use evalcurve_calibration::file::Standardization;
use evalcurve_calibration::types::Outcome;
use evalcurve_words::language::ToText;
use serde::{Deserialize, Serialize};

use crate::curve::{self, BinCount, CurvePoint};

/// Bins per unit of z: a bin is 0.1 wide.
const BINS_PER_UNIT: f64 = 10.0;

/// Exact sums of scores, from which mean and standard deviation follow in any order of the samples.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ScoreMoments {
    samples: u64,
    sum: i128,
    sum_squares: i128,
}

impl ScoreMoments {
    /// Adds one score in centipawns.
    pub fn add(&mut self, score_cp: i32) {
        self.add_many(score_cp, 1);
    }

    /// Adds `count` samples of the same score in centipawns.
    pub(crate) fn add_many(&mut self, score_cp: i32, count: u64) {
        let (x, n) = (i128::from(score_cp), i128::from(count));
        self.samples += count;
        self.sum += n * x;
        self.sum_squares += n * x * x;
    }

    /// Mean and standard deviation (ddof 1) of the scores.
    ///
    /// # Errors
    /// Fewer than two samples, or all scores equal.
    pub fn standardization(&self) -> Result<Standardization, StandardizeError> {
        if self.samples < 2 {
            return Err(StandardizeError::TooFewSamples { have: self.samples });
        }
        let n = i128::from(self.samples);
        // n Σx² - (Σx)² in integers: no cancellation; beyond i128 (10¹⁸ samples) in floating point
        let scatter = match (n.checked_mul(self.sum_squares), self.sum.checked_mul(self.sum)) {
            (Some(a), Some(b)) => (a - b) as f64,
            _ => n as f64 * self.sum_squares as f64 - self.sum as f64 * self.sum as f64,
        };
        let mean = self.sum as f64 / n as f64;
        if scatter <= 0.0 {
            return Err(StandardizeError::AllScoresEqual { score_cp: mean, samples: self.samples });
        }
        let sd = (scatter / (n as f64 * (n - 1) as f64)).sqrt();
        Ok(Standardization { mean, sd, samples: self.samples })
    }
}

impl FromIterator<i32> for ScoreMoments {
    fn from_iter<T: IntoIterator<Item = i32>>(scores: T) -> Self {
        let mut moments = Self::default();
        scores.into_iter().for_each(|score| moments.add(score));
        moments
    }
}

/// Why scores cannot be standardised.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error, ToText)]
#[non_exhaustive]
pub enum StandardizeError {
    /// A standard deviation needs two samples.
    #[error("{have} sample(s), a standard deviation needs 2 or more: add games")]
    TooFewSamples { have: u64 },
    /// The standard deviation is 0.
    #[error("all {samples} scores are {score_cp} centipawns, so their standard deviation is 0: check the scores")]
    AllScoresEqual { score_cp: f64, samples: u64 },
}

/// Mean and standard deviation of scores in centipawns; the order of the scores does not matter.
///
/// # Errors
/// Fewer than two scores, or all scores equal.
pub fn standardization(scores: impl IntoIterator<Item = i32>) -> Result<Standardization, StandardizeError> {
    scores.into_iter().collect::<ScoreMoments>().standardization()
}

/// An evaluation curve over standardised scores, with bins of 0.1 in z and integer counts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StandardizedCurve {
    standardization: Standardization,
    bins: BTreeMap<i32, BinCount>,
}

impl StandardizedCurve {
    /// An empty curve on the scale of `standardization`.
    pub fn new(standardization: Standardization) -> Self {
        Self { standardization, bins: BTreeMap::new() }
    }

    /// Counts one sample: score in centipawns and outcome, both in the view of the side to move.
    pub fn add(&mut self, score_cp: i32, outcome: Outcome) {
        let z = self.standardization.z(f64::from(score_cp));
        // `as` saturates: a z beyond ±2·10⁸ falls into the outermost bin
        let bin = (z * BINS_PER_UNIT).floor() as i32;
        self.bins.entry(bin).or_default().add(score_cp, outcome);
    }

    /// The points of all bins with `min_count` samples or more, lowest first; x in units of z.
    pub fn points(&self, min_count: u64) -> Vec<CurvePoint> {
        curve::points(&self.bins, min_count, |mean| self.standardization.z(mean))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_and_deviation_are_exact() {
        // numpy: np.mean, np.std(ddof=1)
        let s = standardization([-300, 100, 250, 32_000, -1_148_897]).unwrap();
        assert!((s.mean - -223_369.4).abs() < 1e-9);
        assert!((s.sd - 517_571.018_032_1).abs() < 1e-4, "{}", s.sd);
        assert_eq!(s.z(s.mean), 0.0);
        assert!((s.z(s.mean + s.sd) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn errors_are_reached() {
        assert_eq!(standardization([5]), Err(StandardizeError::TooFewSamples { have: 1 }));
        assert_eq!(standardization([7, 7, 7]), Err(StandardizeError::AllScoresEqual { score_cp: 7.0, samples: 3 }));
    }

    #[test]
    fn extreme_scores_do_not_overflow() {
        let mut moments = ScoreMoments::default();
        moments.add_many(i32::MIN, 2_000_000_000);
        moments.add_many(i32::MAX, 2_000_000_000);
        let s = moments.standardization().unwrap();
        assert!((s.mean - -0.5).abs() < 1e-9 && (s.sd / 2_147_483_647.5 - 1.0).abs() < 1e-9);
    }

    #[test]
    fn standardized_bins_are_tenths() {
        let scale = Standardization { mean: 100.0, sd: 1000.0, samples: 10 };
        let mut curve = StandardizedCurve::new(scale);
        for (score, outcome) in [(100, Outcome::Win), (199, Outcome::Draw), (99, Outcome::Loss), (200, Outcome::Win)] {
            curve.add(score, outcome);
        }
        assert_eq!(curve.bins.keys().copied().collect::<Vec<_>>(), [-1, 0, 1]);
        let points = curve.points(2);
        assert_eq!((points[0].win_rate, points[0].count), (0.75, 2));
        assert!((points[0].x - 0.0495).abs() < 1e-12);
    }
}
