//! The best rising curve of any form: isotonic regression by pooling adjacent violators (PAV; Ayer,
//! Brunk, Ewing, Reid and Silverman, Annals of Mathematical Statistics 1955).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::form::{Form, InvalidParameter, logit_of};
use super::kind::{Definition, Fitter, ModelFit};
use super::{Model, ModelKind};
use crate::fit::case::{Case, Situation};
use crate::fit::{FitError, FitOptions, ScoreCount, ScoreCounts, check_cases};

pub(super) static ISOTONIC: Definition = Definition {
    name: "isotonic",
    label: "isotonic",
    summary: "The rising curve of any form",
    form: Some(Isotonic::name),
    rank: 8,
    fit: Fitter::Each(fit),
    ..Definition::BASELINE
};

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
    fn name() -> &'static str {
        "isotonic"
    }

    fn logit(&self, score_cp: f64, _: &Situation) -> f64 {
        logit_of(Isotonic::win_rate(self, score_cp))
    }

    // not through the logit, which would change the last bits
    fn win_rate(&self, score_cp: f64, _: &Situation) -> f64 {
        Isotonic::win_rate(self, score_cp)
    }

    fn score(&self, win_rate: f64, _: &Situation) -> Option<f64> {
        Isotonic::score(self, win_rate)
    }

    fn size() -> usize {
        0
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

/// Fits the rising curve of least squares, which is that of maximum likelihood too.
///
/// The points are the ends of the pools, as in scikit-learn's `IsotonicRegression`. A pool of wins or losses alone
/// would give an upset probability 0: its rate is (k + ½)/(n + 1) instead, but never beyond the rate of its neighbour.
fn fit(kind: ModelKind, cases: &[Case], options: &FitOptions) -> Result<ModelFit, FitError> {
    check_cases(cases, options.min_samples)?;
    let observations: Vec<_> = cases.iter().map(Case::observation).collect();
    let counts = ScoreCounts::from_observations(&observations);
    let model = isotonic(&counts).ok_or(FitError::SlopeNotPositive { w1: 0.0 })?;
    let loss = |c: &ScoreCount| {
        let p = Isotonic::win_rate(&model, f64::from(c.score_cp));
        let k = c.wins as f64 + 0.5 * c.draws as f64;
        -(k * libm::log(p) + (c.total() as f64 - k) * libm::log(1.0 - p))
    };
    let mean_loss = counts.rows().iter().map(loss).sum::<f64>() / counts.samples() as f64;
    ModelFit::new(kind, Model::Isotonic(model), None, cases, mean_loss)
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
