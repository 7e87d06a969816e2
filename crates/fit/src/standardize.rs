//! Standardised scores z = (x - mean)/sd, their evaluation curves, and how well a scale compares engines.

use std::collections::BTreeMap;

use evalcurve_calibration::types::Outcome;
use evalcurve_words::language::ToText;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::curve::{self, BinCount, CurvePoint};

/// Bins per unit of z: a bin is 0.1 wide.
const BINS_PER_UNIT: f64 = 10.0;

/// Number of quantile bins of the pooled values in [`scale_mismatch`].
const QUANTILE_BINS: usize = 20;

/// Cells of an engine with fewer samples than this are left out of [`scale_mismatch`].
pub const MIN_CELL: u64 = 5;

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

/// Mean and standard deviation of an engine's scores, in centipawns.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Standardization {
    /// Mean score, centipawns.
    pub mean: f64,
    /// Standard deviation with ddof 1, centipawns; greater than 0.
    pub sd: f64,
    pub samples: u64,
}

impl Standardization {
    /// Mean and standard deviation of scores in centipawns; the order of the scores does not matter.
    ///
    /// # Errors
    /// Fewer than two scores, or all scores equal.
    pub fn from_scores(scores: impl IntoIterator<Item = i32>) -> Result<Self, StandardizeError> {
        scores.into_iter().collect::<ScoreMoments>().standardization()
    }

    /// The standardised score (x - mean)/sd, in standard deviations.
    pub fn z(&self, score_cp: f64) -> f64 {
        (score_cp - self.mean) / self.sd
    }
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

/// One sample for [`scale_mismatch`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MismatchRow {
    /// Which engine gave the score; any numbering.
    pub engine: usize,
    /// The score on the scale under test (a transform of centipawns). Rows with NaN are left out.
    pub value: f64,
    /// The result for the engine: 1, 0.5 or 0, or relative to an expectation.
    pub result: f64,
}

/// How far equal values on a common scale are from meaning equal results.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Mismatch {
    /// M², unbiased and therefore negative at times; square of a result.
    pub m_squared: f64,
    /// √max(0, M²), in units of the result.
    pub m: f64,
    /// Number of quantile bins with at least one cell.
    pub bins_used: usize,
    /// Number of samples N in the cells used.
    pub samples: u64,
}

/// The scale mismatch M² of a transform over engines; `None` where no engine has 5 samples in any bin.
///
/// The pooled values are cut into 20 quantile bins t; cells (engine e, bin t) with fewer than 5 samples are left
/// out; ȳ_e and ȳ are the mean results of cell and bin, n_e and n their counts, N the total after that, s² the
/// bin's sample variance (ddof 1):
///
/// M² = Σ_t n/N Σ_e n_e/n [ (ȳ_e - ȳ)² - s²(1/n_e - 1/n) ].
///
/// The term of s² subtracts what sampling alone adds, so that M² is 0 on average where the scale is good.
/// Equal values always share a bin, with the edges of `pandas.qcut`; the order of the rows does not matter.
pub fn scale_mismatch(rows: &[MismatchRow]) -> Option<Mismatch> {
    let sorted = sorted(rows);
    let edges = edges_of_sorted(&sorted);

    let (mut weighted, mut samples, mut bins_used) = (0.0, 0u64, 0);
    let mut rest = sorted.as_slice();
    for t in 0..QUANTILE_BINS {
        // bin t ends with the last value that its upper edge does not lie below
        let end = edges.get(t).map_or(rest.len(), |edge| rest.partition_point(|r| r.value <= *edge));
        let (bin, tail) = rest.split_at(end);
        rest = tail;
        if let Some((n, spread)) = bin_mismatch(bin) {
            weighted += n as f64 * spread;
            samples += n;
            bins_used += 1;
        }
    }
    if samples == 0 {
        return None;
    }
    let m_squared = weighted / samples as f64;
    Some(Mismatch { m_squared, m: m_squared.max(0.0).sqrt(), bins_used, samples })
}

/// The upper edges of all quantile bins but the last, in which [`scale_mismatch`] sorts the rows: bin t holds the
/// values that lie above edge t - 1 and not above edge t.
pub fn quantile_edges(rows: &[MismatchRow]) -> Vec<f64> {
    edges_of_sorted(&sorted(rows))
}

/// The rows with a value, sorted by all columns, so that the order of sums does not depend on the order of the input.
fn sorted(rows: &[MismatchRow]) -> Vec<MismatchRow> {
    let mut sorted: Vec<MismatchRow> = rows.iter().filter(|r| !r.value.is_nan()).copied().collect();
    sorted.par_sort_unstable_by(|a, b| {
        a.value.total_cmp(&b.value).then(a.engine.cmp(&b.engine)).then(a.result.total_cmp(&b.result))
    });
    sorted
}

fn edges_of_sorted(sorted: &[MismatchRow]) -> Vec<f64> {
    let last = sorted.len().saturating_sub(1);
    (1..QUANTILE_BINS).filter_map(|j| Some(sorted.get(j * last / QUANTILE_BINS)?.value)).collect()
}

/// Samples n of a bin's cells and Σ_e n_e/n [ (ȳ_e - ȳ)² - s²(1/n_e - 1/n) ].
fn bin_mismatch(bin: &[MismatchRow]) -> Option<(u64, f64)> {
    // per engine: count, Σy
    let mut cells: BTreeMap<usize, (u64, f64)> = BTreeMap::new();
    for row in bin {
        let cell = cells.entry(row.engine).or_default();
        cell.0 += 1;
        cell.1 += row.result;
    }
    cells.retain(|_, cell| cell.0 >= MIN_CELL);
    let n: u64 = cells.values().map(|c| c.0).sum();
    if n == 0 {
        return None;
    }
    let count = n as f64;
    let mean = cells.values().map(|c| c.1).sum::<f64>() / count;
    let scatter: f64 =
        bin.iter().filter(|r| cells.contains_key(&r.engine)).map(|r| (r.result - mean) * (r.result - mean)).sum();
    let variance = scatter / (count - 1.0);
    let spread = cells
        .values()
        .map(|&(cell, sum)| {
            let cell = cell as f64;
            let gap = sum / cell - mean;
            cell / count * (gap * gap - variance * (1.0 / cell - 1.0 / count))
        })
        .sum();
    Some((n, spread))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use evalcurve_words::random;

    #[test]
    fn mean_and_deviation_are_exact() {
        // numpy: np.mean, np.std(ddof=1)
        let s = Standardization::from_scores([-300, 100, 250, 32_000, -1_148_897]).unwrap();
        assert!((s.mean - -223_369.4).abs() < 1e-9);
        assert!((s.sd - 517_571.018_032_1).abs() < 1e-4, "{}", s.sd);
        assert_eq!(s.z(s.mean), 0.0);
        assert!((s.z(s.mean + s.sd) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn errors_are_reached() {
        assert_eq!(Standardization::from_scores([5]), Err(StandardizeError::TooFewSamples { have: 1 }));
        assert_eq!(
            Standardization::from_scores([7, 7, 7]),
            Err(StandardizeError::AllScoresEqual { score_cp: 7.0, samples: 3 })
        );
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

    /// Two engines with p = logistic(value) and p = logistic(value - shift), by inversion of a counter-based draw.
    fn two_engines(shift: f64) -> Vec<MismatchRow> {
        (0..20_000u64)
            .map(|i| {
                let engine = (i % 2) as usize;
                let value = 4.0 * random::unit(&[1, i]) - 2.0;
                let p = 1.0 / (1.0 + libm::exp(-(value - shift * engine as f64)));
                let result = f64::from(u8::from(random::unit(&[2, i]) < p));
                MismatchRow { engine, value, result }
            })
            .collect()
    }

    #[test]
    fn mismatch_is_near_zero_on_a_good_scale_and_large_on_a_bad_one() {
        let good = scale_mismatch(&two_engines(0.0)).unwrap();
        assert_eq!((good.bins_used, good.samples), (20, 20_000));
        assert!(good.m_squared.abs() < 2e-4, "{good:?}");
        // the means differ by about 0.2 in the middle, so each is 0.1 off the pooled mean
        let bad = scale_mismatch(&two_engines(1.0)).unwrap();
        assert!((0.08..0.12).contains(&bad.m), "{bad:?}");
    }

    #[test]
    fn mismatch_of_a_worked_example() {
        // one bin only, since all values are equal; engine 0: 4 of 5, engine 1: 2 of 5, engine 2 too small
        let row = |engine, result| MismatchRow { engine, value: 3.0, result };
        let mut rows: Vec<_> = [1.0, 1.0, 1.0, 1.0, 0.0].into_iter().map(|y| row(0, y)).collect();
        rows.extend([1.0, 1.0, 0.0, 0.0, 0.0].into_iter().map(|y| row(1, y)));
        rows.push(row(2, 1.0));
        rows.push(MismatchRow { engine: 0, value: f64::NAN, result: 1.0 });
        let m = scale_mismatch(&rows).unwrap();
        // ȳ = 0.6, s² = 2.4/9, M² = 0.04 - s²(1/5 - 1/10)
        assert!((m.m_squared - (0.04 - 2.4 / 9.0 * 0.1)).abs() < 1e-15);
        assert_eq!((m.bins_used, m.samples), (1, 10));
        assert_eq!(scale_mismatch(&[]), None);
        assert_eq!(scale_mismatch(&rows[..3]), None);
    }

    proptest! {
        #[test]
        fn mismatch_does_not_depend_on_the_order(
            rows in prop::collection::vec((0usize..3, -5i32..5, 0u8..3), 1..300), seed in any::<u64>(),
        ) {
            let rows: Vec<_> = rows.into_iter().map(|(engine, v, y)| MismatchRow {
                engine, value: f64::from(v) * 0.1, result: f64::from(y) * 0.5,
            }).collect();
            let mut keyed: Vec<_> = rows.iter().copied().enumerate().collect();
            keyed.sort_by_key(|(i, _)| random::bits(&[seed, *i as u64]));
            let shuffled: Vec<_> = keyed.into_iter().map(|(_, r)| r).collect();
            prop_assert_eq!(scale_mismatch(&rows), scale_mismatch(&shuffled));
        }
    }
}
