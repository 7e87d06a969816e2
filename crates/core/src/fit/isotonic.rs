//! The rising curve that fits best, without any form: isotonic regression by pooling adjacent violators (PAV; Ayer,
//! Brunk, Ewing, Reid and Silverman, Annals of Mathematical Statistics 1955).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::case::Case;
use super::model::{Model, ModelKind};
use super::{FitError, FitOptions, ModelFit, ScoreCounts, check_cases};

/// A pool of neighbouring values and the mean of what was pooled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pool {
    /// Index of the first pooled value.
    pub first: usize,
    /// Index of the last one.
    pub last: usize,
    /// Sum of the weights.
    pub weight: f64,
    /// Weighted mean.
    pub mean: f64,
}

/// The non-decreasing sequence of least Σ weight (fit - mean)², as pools of equal fit. `(sum, weight)` of each
/// value in ascending order of the values; weights must not be 0.
pub fn pool_adjacent_violators(values: impl IntoIterator<Item = (f64, f64)>) -> Vec<Pool> {
    // sums, not means, so that pools of results are exact
    let mut pools: Vec<(usize, usize, f64, f64)> = Vec::new();
    for (i, (sum, weight)) in values.into_iter().enumerate() {
        let mut here = (i, i, sum, weight);
        while let Some(&(first, _, before, mass)) = pools.last() {
            // before/mass >= here/weight, without division
            if before * here.3 < here.2 * mass {
                break;
            }
            here = (first, here.1, before + here.2, mass + here.3);
            pools.pop();
        }
        pools.push(here);
    }
    let pool = |(first, last, sum, weight): (usize, usize, f64, f64)| Pool { first, last, weight, mean: sum / weight };
    pools.into_iter().map(pool).collect()
}

/// A rising curve through points, straight between them and flat beyond the outermost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Isotonic {
    /// (score in centipawns, win rate in (0, 1)): scores ascend, win rates do not fall.
    #[schemars(with = "Vec<[f64; 2]>", length(min = 2))]
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

    /// The score that has this win rate, the middle of all that have; `None` beyond the range of the curve.
    pub fn score(&self, win_rate: f64) -> Option<f64> {
        let low = self.points.partition_point(|p| p.1 < win_rate);
        let high = self.points.partition_point(|p| p.1 <= win_rate);
        if low < high {
            // points that have it: from the first to the last
            return Some(0.5 * (self.points.get(low)?.0 + self.points.get(high - 1)?.0));
        }
        let (&(x0, p0), &(x1, p1)) = (self.points.get(low.checked_sub(1)?)?, self.points.get(low)?);
        Some(x0 + (x1 - x0) * ((win_rate - p0) / (p1 - p0)))
    }
}

/// Fits the rising curve of least squares, which is that of maximum likelihood too.
///
/// The points are the ends of the pools, as in scikit-learn's `IsotonicRegression`. A pool of wins or losses alone
/// would call the next upset impossible: its rate is taken as (k + ½)/(n + 1), but never beyond that of its neighbour.
///
/// # Errors
/// [`FitError`] for samples that determine no curve; [`FitError::SlopeNotPositive`] where all ends in one pool.
pub fn fit_isotonic(cases: &[Case], options: &FitOptions) -> Result<ModelFit, FitError> {
    check_cases(cases, options.min_samples)?;
    let observations: Vec<_> = cases.iter().map(Case::observation).collect();
    let counts = ScoreCounts::from_observations(&observations);
    let model = isotonic(&counts).ok_or(FitError::SlopeNotPositive { w1: 0.0 })?;
    let loss = |c: &super::ScoreCount| {
        let p = model.win_rate(f64::from(c.score_cp));
        let k = c.wins as f64 + 0.5 * c.draws as f64;
        -(k * libm::log(p) + (c.total() as f64 - k) * libm::log(1.0 - p))
    };
    let mean_loss = counts.rows().iter().map(loss).sum::<f64>() / counts.samples() as f64;
    ModelFit::new(ModelKind::Isotonic, Model::Isotonic(model), None, cases, mean_loss)
}

fn isotonic(counts: &ScoreCounts) -> Option<Isotonic> {
    let rows = counts.rows();
    let pools = pool_adjacent_violators(rows.iter().map(|r| (r.wins as f64 + 0.5 * r.draws as f64, r.total() as f64)));
    if pools.len() < 2 {
        return None;
    }
    let mut rates: Vec<f64> = pools.iter().map(|p| p.mean).collect();
    let last = rates.len() - 1;
    if rates[0] <= 0.0 {
        let next = if last > 1 || rates[1] < 1.0 { rates[1] } else { 0.5 };
        rates[0] = (0.5 / (pools[0].weight + 1.0)).min(next);
    }
    if rates[last] >= 1.0 {
        rates[last] = (1.0 - 0.5 / (pools[last].weight + 1.0)).max(rates[last - 1]);
    }
    let mut points = Vec::with_capacity(2 * pools.len());
    for (pool, rate) in pools.iter().zip(rates) {
        let (first, end) = (f64::from(rows.get(pool.first)?.score_cp), f64::from(rows.get(pool.last)?.score_cp));
        points.push((first, rate));
        if end > first {
            points.push((end, rate));
        }
    }
    Some(Isotonic { points })
}
