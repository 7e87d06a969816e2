//! The fit of the rising curve of any form.

use evalcurve_calibration::{Isotonic, Model, ModelKind};

use super::fitted::{ModelFit, games_of};
use super::fitter::Fitter;
use crate::fit::case::Case;
use crate::fit::counts::{ScoreCount, ScoreCounts};
use crate::fit::error::FitError;
use crate::fit::options::FitOptions;
use crate::fit::plain::check_cases;
use crate::fit::pool::pool_adjacent_violators;

pub(super) const FIT: Fitter = Fitter::Each(fit);

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
    ModelFit::new(kind, Model::Isotonic(model), None, games_of(cases), mean_loss)
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
