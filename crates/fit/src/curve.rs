//! Evaluation curves: the mean result of the positions whose score lies in a bin.
//!
//! Scores and outcomes are in the view of the side to move. The curve is that of Takeuchi, Kaneko,
//! Yamaguchi and Kawai, *Visualization and adjustment of evaluation functions based on evaluation
//! values and win probability* (AAAI 2007). A curve consists of integer counts, so that it does
//! not depend on the order of the samples.

use std::collections::BTreeMap;

pub use evalcurve_calibration::quantile::Z_95;
use serde::{Deserialize, Serialize};

use evalcurve_calibration::types::Outcome;

/// The usual width of a bin in centipawns (Takeuchi 2018, figure 2).
pub const DEFAULT_BIN_CP: u32 = 200;

/// The usual least number of samples in a bin that is plotted.
pub const DEFAULT_MIN_COUNT: u64 = 50;

/// What a bin holds: counts of outcomes, and the sum of the scores in centipawns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BinCount {
    /// Samples whose side to move won.
    pub wins: u64,
    /// Samples of drawn games.
    pub draws: u64,
    /// Samples whose side to move lost.
    pub losses: u64,
    /// Sum of the scores, centipawns.
    pub score_sum: i64,
}

impl BinCount {
    /// Counts one sample.
    pub fn add(&mut self, score_cp: i32, outcome: Outcome) {
        match outcome {
            Outcome::Win => self.wins += 1,
            Outcome::Draw => self.draws += 1,
            Outcome::Loss => self.losses += 1,
        }
        self.score_sum = self.score_sum.saturating_add(i64::from(score_cp));
    }

    /// Adds the counts of another part of the same bin.
    pub fn merge(&mut self, other: &Self) {
        // saturating, since counts may come from a file that anyone wrote
        self.wins = self.wins.saturating_add(other.wins);
        self.draws = self.draws.saturating_add(other.draws);
        self.losses = self.losses.saturating_add(other.losses);
        self.score_sum = self.score_sum.saturating_add(other.score_sum);
    }

    /// Number of samples.
    pub fn total(&self) -> u64 {
        self.wins.saturating_add(self.draws).saturating_add(self.losses)
    }

    /// Mean result (W + D/2)/n, `None` in an empty bin.
    pub fn win_rate(&self) -> Option<f64> {
        let n = self.total();
        (n > 0).then(|| (self.wins as f64 + 0.5 * self.draws as f64) / n as f64)
    }

    /// Mean score in centipawns, `None` in an empty bin.
    pub fn mean_score(&self) -> Option<f64> {
        let n = self.total();
        (n > 0).then(|| self.score_sum as f64 / n as f64)
    }

    /// The point of this bin with its 95% Wilson interval, `None` in an empty bin.
    pub(crate) fn point(&self, bin: i32, x: impl FnOnce(f64) -> f64) -> Option<CurvePoint> {
        let (mean, win_rate) = (self.mean_score()?, self.win_rate()?);
        let n = self.total() as f64;
        let (low, high) = wilson(self.wins as f64 + 0.5 * self.draws as f64, n, Z_95);
        Some(CurvePoint { x: x(mean), win_rate, low, high, count: self.total(), bin })
    }
}

/// One plotted point of an evaluation curve.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// Mean score of the samples in the bin: centipawns, or units of z on a standardised curve.
    pub x: f64,
    /// Mean result (W + D/2)/n, in [0, 1].
    pub win_rate: f64,
    /// Lower end of the 95% Wilson interval of `win_rate`.
    pub low: f64,
    /// Upper end of the 95% Wilson interval of `win_rate`.
    pub high: f64,
    /// Number of samples in the bin.
    pub count: u64,
    /// Index of the bin: it covers [bin · width, (bin + 1) · width).
    pub bin: i32,
}

/// Win, draw and loss counts by bins of the score in centipawns; bin k covers [width·k, width·(k+1)).
///
/// Counts are integers, so that the order of the samples does not matter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvaluationCurve {
    bin_cp: u32,
    bins: BTreeMap<i32, BinCount>,
}

impl EvaluationCurve {
    /// An empty curve with bins of `bin_cp` centipawns; a width of 0 is taken as 1.
    pub fn new(bin_cp: u32) -> Self {
        Self { bin_cp: bin_cp.max(1), bins: BTreeMap::new() }
    }

    /// A curve of counts made before, for instance read from a file; empty bins are left out.
    pub fn from_counts(bin_cp: u32, counts: impl IntoIterator<Item = (i32, BinCount)>) -> Self {
        let mut curve = Self::new(bin_cp);
        for (bin, count) in counts {
            if count.total() > 0 {
                curve.bins.entry(bin).or_default().merge(&count);
            }
        }
        curve
    }

    /// The counts by index of the bin, lowest scores first.
    pub fn bins(&self) -> &BTreeMap<i32, BinCount> {
        &self.bins
    }

    /// The bin of a score. Division rounds down, so that -1 lies in bin -1 and not in bin 0.
    pub(crate) fn bin_of(&self, score_cp: i32) -> i32 {
        // the quotient of an i32 by at least 1 is an i32
        i64::from(score_cp).div_euclid(i64::from(self.bin_cp.max(1))) as i32
    }

    /// Counts one sample: a score and the outcome, both in the view of the side to move.
    pub fn add(&mut self, score_cp: i32, outcome: Outcome) {
        self.bins.entry(self.bin_of(score_cp)).or_default().add(score_cp, outcome);
    }

    /// Number of samples.
    pub fn total(&self) -> u64 {
        self.bins.values().map(BinCount::total).fold(0, u64::saturating_add)
    }

    /// The points of all bins with `min_count` samples or more, lowest scores first; x in centipawns.
    pub fn points(&self, min_count: u64) -> Vec<CurvePoint> {
        points(&self.bins, min_count, |mean| mean)
    }

    /// The points of [`Self::points`] with the counts of their bins.
    pub fn counted_points(&self, min_count: u64) -> impl Iterator<Item = (CurvePoint, BinCount)> {
        let count = |bin: i32| self.bins.get(&bin).copied().unwrap_or_default();
        self.points(min_count).into_iter().map(move |point| (point, count(point.bin)))
    }

    /// Centre of each bin in centipawns and its number of samples, lowest scores first.
    pub fn histogram(&self) -> Vec<(f64, u64)> {
        self.bins.iter().map(|(&k, c)| ((f64::from(k) + 0.5) * f64::from(self.bin_cp), c.total())).collect()
    }
}

/// The most points of [`quantile_points`].
const MOST_QUANTILES: u64 = 20;

/// The points of an evaluation curve whose bins hold about the same number of samples, at least `min_count`, lowest
/// scores first; x in centipawns. Bins of one width leave an engine with few samples few points, all near score 0.
///
/// Samples of the same score share a bin.
pub fn quantile_points(samples: impl IntoIterator<Item = (i32, Outcome)>, min_count: u64) -> Vec<CurvePoint> {
    let mut samples: Vec<(i32, Outcome)> = samples.into_iter().collect();
    samples.sort_by_key(|sample| sample.0);
    let count = samples.len();
    let wanted = (count as u64 / min_count.max(1)).min(MOST_QUANTILES) as usize;
    let mut points = Vec::with_capacity(wanted);
    let mut from = 0;
    for k in 1..=wanted {
        let last = samples.get((k * count / wanted).saturating_sub(1)).map(|s| s.0);
        let to = samples.partition_point(|s| last.is_some_and(|last| s.0 <= last));
        let mut bin = BinCount::default();
        samples[from.min(to)..to].iter().for_each(|&(score, outcome)| bin.add(score, outcome));
        points.extend(bin.point(points.len() as i32, |mean| mean));
        from = from.max(to);
    }
    points
}

/// Points of the bins with `min_count` samples or more; `x` turns a mean score into the abscissa.
pub(crate) fn points(bins: &BTreeMap<i32, BinCount>, min_count: u64, x: impl Fn(f64) -> f64) -> Vec<CurvePoint> {
    bins.iter().filter(|(_, c)| c.total() >= min_count).filter_map(|(&bin, c)| c.point(bin, &x)).collect()
}

/// The Wilson score interval of a proportion: (low, high) in [0, 1]; (0, 1) where `n` is 0.
///
/// centre ± half = [p̂ + z²/2n ± z √(p̂(1-p̂)/n + z²/4n²)] / (1 + z²/n) (Wilson, *Probable inference, the law of
/// succession, and statistical inference*, JASA 1927). `successes` may be a half integer, with draws counted
/// half; the interval is then conservative. Samples of one game are not independent, which this interval assumes.
pub fn wilson(successes: f64, n: f64, z: f64) -> (f64, f64) {
    if n.is_nan() || n <= 0.0 {
        return (0.0, 1.0);
    }
    let p = (successes / n).clamp(0.0, 1.0);
    let z2 = z * z;
    let denominator = 1.0 + z2 / n;
    let centre = (p + z2 / (2.0 * n)) / denominator;
    let half = z.abs() * (p * (1.0 - p) / n + z2 / (4.0 * n * n)).sqrt() / denominator;
    // at p = 0 and p = 1 one end is exact, up to rounding
    let low = if p == 0.0 { 0.0 } else { (centre - half).max(0.0) };
    let high = if p == 1.0 { 1.0 } else { (centre + half).min(1.0) };
    (low, high)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn outcome(i: u8) -> Outcome {
        [Outcome::Loss, Outcome::Draw, Outcome::Win][usize::from(i % 3)]
    }

    #[test]
    fn quantiles_hold_all_samples_and_keep_equal_scores_together() {
        let samples = || (0..690).map(|i: i32| ((i * 37) % 691 - 345, outcome((i % 3) as u8)));
        let points = quantile_points(samples(), 50);
        assert_eq!(points.len(), 13);
        assert_eq!(points.iter().map(|p| p.count).sum::<u64>(), 690);
        assert!(points.iter().all(|p| p.count >= 50) && points.windows(2).all(|w| w[0].x < w[1].x));
        // one score cannot be divided
        let equal = quantile_points((0..100).map(|_| (0, Outcome::Win)), 10);
        assert_eq!(equal.iter().map(|p| p.count).collect::<Vec<_>>(), [100]);
        assert!(quantile_points(samples().take(40), 50).is_empty());
        assert_eq!(quantile_points(samples(), 0).len(), 20);
    }

    #[test]
    fn bins_are_half_open_for_both_signs() {
        let curve = EvaluationCurve::new(200);
        let expected = [
            (0, 0),
            (199, 0),
            (200, 1),
            (-1, -1),
            (-200, -1),
            (-201, -2),
            (-400, -2),
            (i32::MAX, 10_737_418),
            (i32::MIN, -10_737_419),
        ];
        for (score, bin) in expected {
            assert_eq!(curve.bin_of(score), bin, "{score}");
        }
        assert_eq!(EvaluationCurve::new(1).bin_of(i32::MIN), i32::MIN);
        assert_eq!(EvaluationCurve::new(u32::MAX).bin_of(-5), -1);
    }

    #[test]
    fn points_hold_mean_score_and_mean_result() {
        let mut curve = EvaluationCurve::new(DEFAULT_BIN_CP);
        for (score, outcome) in
            [(10, Outcome::Win), (30, Outcome::Draw), (110, Outcome::Win), (190, Outcome::Loss), (-150, Outcome::Loss)]
        {
            curve.add(score, outcome);
        }
        assert_eq!(curve.total(), 5);
        let points = curve.points(2);
        assert_eq!(points.len(), 1);
        assert_eq!((points[0].x, points[0].win_rate, points[0].count, points[0].bin), (85.0, 0.625, 4, 0));
        assert!(points[0].low < 0.625 && 0.625 < points[0].high);
        assert_eq!(curve.histogram(), vec![(-100.0, 1), (100.0, 4)]);
        assert_eq!(curve.points(1)[0].x, -150.0);
    }

    #[test]
    fn wilson_agrees_with_statsmodels() {
        // statsmodels.stats.proportion.proportion_confint(k, n, method="wilson")
        for (k, n, low, high) in [
            (427.0, 1000.0, 0.396_679_110_499, 0.457_879_596_238),
            (0.0, 10.0, 0.0, 0.277_532_799_862),
            (50.0, 50.0, 0.928_652_400_867, 1.0),
        ] {
            let (l, h) = wilson(k, n, Z_95);
            assert!((l - low).abs() < 1e-9 && (h - high).abs() < 1e-9, "{k}/{n}: {l} {h}");
        }
        assert_eq!(wilson(0.0, 0.0, Z_95), (0.0, 1.0));
    }

    #[test]
    fn curves_survive_json() {
        let mut curve = EvaluationCurve::new(200);
        curve.add(-1, Outcome::Draw);
        let text = serde_json::to_string(&curve).unwrap();
        assert_eq!(serde_json::from_str::<EvaluationCurve>(&text).unwrap(), curve);
        assert_eq!(EvaluationCurve::from_counts(200, curve.bins().clone()), curve);
    }

    proptest! {
        #[test]
        fn the_order_of_the_samples_does_not_matter(
            rows in prop::collection::vec((any::<i32>(), 0u8..3), 0..200), bin in 1u32..1000,
        ) {
            let count = |rows: &mut dyn Iterator<Item = &(i32, u8)>| {
                let mut curve = EvaluationCurve::new(bin);
                rows.for_each(|&(s, o)| curve.add(s, outcome(o)));
                curve
            };
            prop_assert_eq!(count(&mut rows.iter()), count(&mut rows.iter().rev()));
        }

        #[test]
        fn the_mean_score_lies_in_its_bin(rows in prop::collection::vec(any::<i32>(), 1..100), bin in 1u32..5000) {
            let mut curve = EvaluationCurve::new(bin);
            rows.iter().for_each(|&s| curve.add(s, Outcome::Win));
            for p in curve.points(1) {
                let low = f64::from(p.bin) * f64::from(bin);
                prop_assert!(low <= p.x && p.x < low + f64::from(bin));
            }
        }
    }
}
