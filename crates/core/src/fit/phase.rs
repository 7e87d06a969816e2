//! A slope that depends on the ply: logit p = (w1 + u (ply - m)) x - w2.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::case::Case;
use super::linear::{Row, regress};
use super::model::{Model, ModelKind};
use super::sigmoid::Sigmoid;
use super::solve::SCORE_SCALE;
use super::{FitError, FitOptions, ModelFit, check_cases};

/// Plies in one unit of the search, so that its parameters are of the order of one.
const PLY_SCALE: f64 = 100.0;

/// Share of the plies on either side that count as the outermost within: a few endless games do not bend the line.
const OUTER: f64 = 0.01;

/// p(x, ply) = 1/(1 + exp(-(w1 + w1_per_ply (ply - middle_ply)) x + w2)), plies beyond `from_ply` and `to_ply` counted as these.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// Slope at the middle ply, per centipawn.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub w1: f64,
    /// Offset, in logits; the sign of Takeuchi 2018.
    pub w2: f64,
    /// Change of the slope per ply.
    pub w1_per_ply: f64,
    /// The mean ply of the fitted samples, which replaces an unknown one.
    pub middle_ply: f64,
    /// Earlier plies count as this one (1% of the samples lie before it).
    pub from_ply: u32,
    /// Later plies count as this one (1% of the samples lie after it).
    pub to_ply: u32,
}

impl Phase {
    /// The sigmoid at a ply; at the middle where it is not known.
    pub fn sigmoid(&self, ply: Option<u32>) -> Sigmoid {
        Sigmoid { w1: self.w1 + self.w1_per_ply * self.distance(ply), w2: self.w2 }
    }

    /// Plies from the middle.
    pub fn distance(&self, ply: Option<u32>) -> f64 {
        // not `clamp`, which panics where a caller made from_ply the larger
        ply.map_or(0.0, |ply| f64::from(ply.max(self.from_ply).min(self.to_ply)) - self.middle_ply)
    }
}

/// Fits w1, w2 and the change of w1 with the ply by maximum likelihood over the cases whose ply is known.
///
/// # Errors
/// Every [`FitError`]; [`FitError::SlopeNotPositive`] also where the slope falls to 0 within the range of plies.
pub fn fit_phase(cases: &[Case], options: &FitOptions) -> Result<ModelFit, FitError> {
    let known: Vec<(Case, u32)> = cases.iter().filter_map(|c| Some((*c, c.situation.ply?))).collect();
    let mut plies: Vec<u32> = known.iter().map(|k| k.1).collect();
    plies.sort_unstable();
    check_cases(known.iter().map(|(c, _)| c), options.min_samples)?;
    let outer = (plies.len() as f64 * OUTER) as usize;
    let (Some(&from_ply), Some(&to_ply)) = (plies.get(outer), plies.get(plies.len() - 1 - outer)) else {
        return Err(FitError::TooFewSamples { have: 0, need: options.min_samples });
    };
    if from_ply == to_ply {
        return Err(FitError::OnePly { ply: from_ply, samples: plies.len() as u64 });
    }
    let within = |ply: u32| f64::from(ply.clamp(from_ply, to_ply));
    let middle_ply = known.iter().map(|k| within(k.1)).sum::<f64>() / known.len() as f64;
    let rows: Vec<Row<3>> = known
        .iter()
        .map(|(case, ply)| {
            let x = f64::from(case.score_cp) / SCORE_SCALE;
            Row {
                game: case.game,
                result: case.outcome.value(),
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
        if w1 <= 0.0 {
            return Err(FitError::SlopeNotPositive { w1 });
        }
    }
    let covariance = fit.covariance.as_ref().map(|v| {
        let entry = |i: usize, j: usize| v.at(i.max(j), i.min(j)) / (scale[i] * scale[j]);
        (0..3).map(|i| (0..3).map(|j| entry(i, j)).collect()).collect()
    });
    let cases: Vec<Case> = known.iter().map(|k| k.0).collect();
    ModelFit::new(ModelKind::Phase, Model::Phase(model), covariance, &cases, fit.mean_loss)
}
