//! The fit of beta calibration: the sigmoid, and a regression on top of it.

use evalcurve_calibration::{Beta, Method, Model, ModelKind};

use super::fitted::{ModelFit, games_of};
use super::fitter::Fitter;
use crate::fit::case::Case;
use crate::fit::counts::ScoreCounts;
use crate::fit::error::FitError;
use crate::fit::linear::{LinearRow, regress};
use crate::fit::options::FitOptions;
use crate::fit::plain::fit_counts;

pub(super) const FIT: Fitter = Fitter::Each(fit);

/// Fits the sigmoid by maximum likelihood, and a, b and c on top of it. A negative a or b, which would make the curve
/// fall, is fixed at 0 as the authors do, and its covariance is 0.
///
/// The covariance is that of (a, b, c) with the sigmoid taken as known.
fn fit(kind: ModelKind, cases: &[Case], options: &FitOptions) -> Result<ModelFit, FitError> {
    let observations: Vec<_> = cases.iter().map(Case::observation).collect();
    let base = fit_counts(Method::MaximumLikelihood, &ScoreCounts::from_observations(&observations), options)?.sigmoid;
    let unit = Beta { base_w1: base.w1, base_w2: base.w2, a: 1.0, b: 1.0, c: 0.0 };
    let features: Vec<[f64; 3]> = cases.iter().map(|c| unit.features(f64::from(c.score_cp))).collect();
    let regress_on = |active: &[usize]| match *active {
        [i, j, k] => regress(&rows(cases, &features, [i, j, k]), &[1.0, 1.0, 0.0]),
        [i, j] => regress(&rows(cases, &features, [i, j]), &[1.0, 0.0]),
        _ => Err(FitError::SlopeNotPositive { w1: 0.0 }),
    };
    let mut active = vec![0, 1, 2];
    let mut found = regress_on(&active)?;
    // the more negative one goes first; both cannot
    while let Some(worst) =
        (0..active.len() - 1).filter(|&i| found.at[i] < 0.0).min_by(|a, b| found.at[*a].total_cmp(&found.at[*b]))
    {
        active.remove(worst);
        found = regress_on(&active)?;
    }
    let place = |i: usize| active.iter().position(|&a| a == i);
    let at = |i: usize| place(i).map_or(0.0, |p| found.at[p]);
    let model = Beta { a: at(0), b: at(1), c: at(2), ..unit };
    let covariance = found.covariance_of([0, 1, 2].map(place), [1.0; 3]);
    ModelFit::new(kind, Model::Beta(model), covariance, games_of(cases), found.mean_loss)
}

fn rows<const N: usize>(cases: &[Case], features: &[[f64; 3]], active: [usize; N]) -> Vec<LinearRow<[(u32, f64); N]>> {
    let row = |(case, f): (&Case, &[f64; 3])| {
        let mut used = [(0, 0.0); N];
        used.iter_mut().zip(active).enumerate().for_each(|(i, (slot, a))| *slot = (i as u32, f[a]));
        LinearRow { game: case.game, result: case.outcome.value(), offset: 0.0, features: used }
    };
    cases.iter().zip(features).map(row).collect()
}
