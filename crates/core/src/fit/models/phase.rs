//! A slope that depends on the ply: logit p = (w1 + u (ply - m)) x - w2.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::form::{Form, InvalidParameter};
use super::formula::Formula;
use super::kind::{Definition, Fitter, ModelFit, Needs};
use super::wdl::StageUnit;
use super::{Model, ModelKind};
use crate::fit::case::{Case, Situation, central_range};
use crate::fit::linear::{Row, regress};
use crate::fit::objective::SCORE_SCALE;
use crate::fit::{FitError, FitOptions, Sigmoid, check_cases};

pub(super) static PHASE: Definition = Definition {
    name: "phase",
    label: "slope by ply",
    summary: "The sigmoid whose slope depends on the ply",
    form: Some(Phase::name),
    rank: 4,
    needs: Needs { ply: true, ..Needs::NONE },
    fit: Fitter::Each(fit),
    ..Definition::BASELINE
};

/// Plies in one unit of the search, so that its parameters are of the order of one.
const PLY_SCALE: f64 = 100.0;

/// p(x, ply) = 1/(1 + exp(-(w1 + w1_per_ply (ply - middle_ply)) x + w2)). Plies outside `from_ply` to `to_ply` count as
/// the nearer of the two.
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

impl Form for Phase {
    fn name() -> &'static str {
        "phase"
    }

    fn logit(&self, score_cp: f64, situation: &Situation) -> f64 {
        self.sigmoid(situation.ply).logit(score_cp)
    }

    fn score(&self, win_rate: f64, situation: &Situation) -> Option<f64> {
        self.sigmoid(situation.ply).score(win_rate)
    }

    fn fitted_range(&self) -> Option<(StageUnit, [u32; 2])> {
        Some((StageUnit::Ply, [self.from_ply, self.to_ply]))
    }

    fn size() -> usize {
        3
    }

    fn parameters(&self) -> Vec<(&'static str, f64)> {
        vec![("w1", self.w1), ("w2", self.w2), ("w1_per_ply", self.w1_per_ply)]
    }

    fn logit_gradient(&self, score_cp: f64, situation: &Situation) -> Option<Vec<f64>> {
        Some(vec![score_cp, -1.0, score_cp * self.distance(situation.ply)])
    }

    fn formula(&self) -> Option<Formula> {
        let number = |name, value| (name, vec![value]);
        Some(Formula {
            stage: Some(StageUnit::Ply),
            constants: vec![
                number("W1", self.w1),
                number("W1_PER_PLY", self.w1_per_ply),
                number("MIDDLE_PLY", self.middle_ply),
                number("FROM_PLY", f64::from(self.from_ply)),
                number("TO_PLY", f64::from(self.to_ply)),
            ],
            steps: vec![
                ("slope", "W1 + W1_PER_PLY * (max(FROM_PLY, min(TO_PLY, ply)) - MIDDLE_PLY)"),
                ("win_rate", "1.0 / (1.0 + exp(min(700.0, -slope * score_cp)))"),
            ],
        })
    }

    fn check(&self) -> Result<(), InvalidParameter> {
        InvalidParameter::unless_ascending(("from_ply", self.from_ply), ("to_ply", self.to_ply))?;
        InvalidParameter::unless_positive("w1", self.w1)?;
        if [self.from_ply, self.to_ply].iter().any(|ply| self.sigmoid(Some(*ply)).w1 <= 0.0) {
            let problem = "the slope is not positive between from_ply and to_ply";
            return Err(InvalidParameter::new("w1_per_ply", problem));
        }
        Ok(())
    }
}

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
    let covariance = fit.covariance_of([Some(0), Some(1), Some(2)], scale);
    let cases: Vec<Case> = known.iter().map(|k| k.0).collect();
    ModelFit::new(kind, Model::Phase(model), covariance, &cases, fit.mean_loss)
}
