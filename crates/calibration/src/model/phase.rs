//! A slope that depends on the ply: logit p = (w1 + u (ply - m)) x - w2.

use serde::{Deserialize, Serialize};

use super::definition::{Definition, Needs};
use super::form::{Form, InvalidParameter};
use super::formula::Formula;
use crate::sigmoid::Sigmoid;
use crate::situation::{Situation, StageUnit};

pub(super) static PHASE: Definition = Definition {
    name: "phase",
    label: "slope by ply",
    summary: "The sigmoid whose slope depends on the ply",
    rank: Some(4),
    needs: Needs { ply: true, ..Needs::NONE },
    ..Definition::BASELINE
};

/// p(x, ply) = 1/(1 + exp(-(w1 + w1_per_ply (ply - middle_ply)) x + w2)). Plies outside `from_ply` to `to_ply` count as
/// the nearer of the two.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// Slope at the middle ply, per centipawn.
    #[cfg_attr(test, schemars(extend("exclusiveMinimum" = 0)))]
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
    fn logit(&self, score_cp: f64, situation: &Situation) -> f64 {
        self.sigmoid(situation.ply).logit(score_cp)
    }

    fn score(&self, win_rate: f64, situation: &Situation) -> Option<f64> {
        self.sigmoid(situation.ply).score(win_rate)
    }

    fn fitted_range(&self) -> Option<(StageUnit, [u32; 2])> {
        Some((StageUnit::Ply, [self.from_ply, self.to_ply]))
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
            arguments: vec![StageUnit::Ply.as_str()],
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
