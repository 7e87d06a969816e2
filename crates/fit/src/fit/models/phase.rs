//! The fit of the slope that depends on the ply.

use evalcurve_calibration::{Model, ModelKind, Phase};

use super::fitted::ModelFit;
use super::fitter::Fitter;
use crate::fit::case::{Case, central_range};
use crate::fit::error::FitError;
use crate::fit::linear::{LinearRow, LinearRows, regress};
use crate::fit::objective::SCORE_SCALE;
use crate::fit::options::FitOptions;
use crate::fit::plain::check_cases;

pub(super) const FIT: Fitter = Fitter::Each(fit);

/// Plies in one unit of the search, so that its parameters are of the order of one.
const PLY_SCALE: f64 = 100.0;

/// Fits w1, w2 and the change of w1 with the ply by maximum likelihood over the cases whose ply is known. The slope
/// must be positive in the whole range of plies.
fn fit(kind: ModelKind, cases: &[Case], options: &FitOptions) -> Result<ModelFit, FitError> {
    let known: Vec<(Case, u32)> = cases.iter().filter_map(|c| Some((*c, c.situation.ply?))).collect();
    check_cases(known.iter().map(|(c, _)| c), options.min_samples)?;
    let Some((from_ply, to_ply)) = central_range(known.iter().map(|k| k.1)) else {
        return Err(FitError::TooFewSamples { have: 0, need: options.min_samples });
    };
    if from_ply == to_ply {
        return Err(FitError::OnePly { ply: from_ply, samples: known.len() as u64 });
    }
    let within = |ply: u32| f64::from(ply.clamp(from_ply, to_ply));
    let middle_ply = known.iter().map(|k| within(k.1)).sum::<f64>() / known.len() as f64;
    let rows: LinearRows = known
        .iter()
        .map(|(case, ply)| {
            let x = f64::from(case.score_cp) / SCORE_SCALE;
            LinearRow {
                game: case.game,
                result: case.outcome.value(),
                offset: 0.0,
                features: [(0, x), (1, -1.0), (2, x * (within(*ply) - middle_ply) / PLY_SCALE)],
            }
        })
        .collect();
    let fit = regress(&rows, &[0.0; 3])?;
    let scale = [SCORE_SCALE, 1.0, SCORE_SCALE * PLY_SCALE];
    let model = Phase {
        w1: fit.at[0] / scale[0],
        w2: fit.at[1],
        w1_per_ply: fit.at[2] / scale[2],
        middle_ply,
        from_ply,
        to_ply,
    };
    for ply in [None, Some(from_ply), Some(to_ply)] {
        let w1 = model.sigmoid(ply).w1;
        // the nine digits of a file must not carry it to 0
        if w1 <= 1e-6 * model.w1.abs() {
            return Err(FitError::SlopeNotPositive { w1 });
        }
    }
    let covariance = fit.covariance_of([Some(0), Some(1), Some(2)], scale);
    ModelFit::new(kind, Model::Phase(model), covariance, known.iter().map(|k| k.0.game), fit.mean_loss)
}
