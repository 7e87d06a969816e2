//! The fit of the sigmoid with the rating difference: one w3 for all engines.

use evalcurve_calibration::{Model, ModelKind, Strength};

use super::fitted::{ModelFit, games_of, mean_log_loss};
use super::fitter::Fitter;
use crate::fit::case::{Case, Part};
use crate::fit::error::FitError;
use crate::fit::linear::{LinearRow, regress};
use crate::fit::objective::SCORE_SCALE;
use crate::fit::options::FitOptions;
use crate::fit::plain::check_cases;

pub(super) const FIT: Fitter = Fitter::All(fit);

/// The cases whose rating difference is known, as long as there are enough and they differ.
fn rated(cases: Part<'_>, options: &FitOptions) -> Result<Vec<(Case, f64)>, FitError> {
    let rated: Vec<(Case, f64)> =
        cases.iter().filter_map(|c| Some((*c, c.situation.strength.filter(|d| d.is_finite())?))).collect();
    let need = options.min_samples.max(4);
    if (rated.len() as u64) < need {
        return Err(FitError::TooFewRated { have: rated.len() as u64, need });
    }
    let first = rated.first().map_or(0.0, |r| r.1);
    if rated.iter().all(|(_, d)| *d == first) {
        return Err(FitError::OneStrength { samples: rated.len() as u64 });
    }
    check_cases(rated.iter().map(|(c, _)| c), options.min_samples)?;
    Ok(rated)
}

/// Fits w1 and w2 of each engine and one w3 for all of them by maximum likelihood over the cases whose rating
/// difference is known.
fn fit(kind: ModelKind, engines: &[Part<'_>], options: &FitOptions) -> Vec<Result<ModelFit, FitError>> {
    let taken: Vec<Result<Vec<(Case, f64)>, FitError>> = engines.iter().map(|cases| rated(*cases, options)).collect();
    let members: Vec<&Vec<(Case, f64)>> = taken.iter().filter_map(|t| t.as_ref().ok()).collect();
    let last = 2 * members.len() as u32;
    let rows: Vec<LinearRow<[(u32, f64); 3]>> = members
        .iter()
        .enumerate()
        .flat_map(|(e, cases)| {
            let e = 2 * e as u32;
            cases.iter().map(move |(case, d)| LinearRow {
                game: case.game,
                result: case.outcome.value(),
                offset: 0.0,
                features: [(e, f64::from(case.score_cp) / SCORE_SCALE), (e + 1, -1.0), (last, *d)],
            })
        })
        .collect();
    // all engines are one regression, so all fail together
    let fitted = regress(&rows, &vec![0.0; last as usize + 1]);
    let mut member = 0;
    taken
        .iter()
        .map(|cases| {
            let cases = cases.as_ref().map_err(|e| *e)?;
            let e = 2 * member;
            member += 1;
            let fit = fitted.as_ref().map_err(|e| *e)?;
            let model = Strength { w1: fit.at[e] / SCORE_SCALE, w2: fit.at[e + 1], w3: fit.at[last as usize] };
            if model.w1 <= 0.0 {
                return Err(FitError::SlopeNotPositive { w1: model.w1 });
            }
            let covariance = fit.covariance_of([Some(e), Some(e + 1), Some(last as usize)], [SCORE_SCALE, 1.0, 1.0]);
            let cases: Vec<Case> = cases.iter().map(|(c, _)| *c).collect();
            let model = Model::Strength(model);
            // the loss of this engine alone, also in a shared fit
            let mean_loss = mean_log_loss(&model, &cases);
            ModelFit::new(kind, model, covariance, games_of(&cases), mean_loss)
        })
        .collect()
}
