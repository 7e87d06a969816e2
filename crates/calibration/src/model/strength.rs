//! The win rate by score and rating difference: logit p = w1 x - w2 + w3 d.
//!
//! Where engines of different strength meet, w2 of the plain sigmoid measures mostly the opponents. Here d, the rating
//! difference in logits, explains that part, and w2 is the offset between equals.

use serde::{Deserialize, Serialize};

use super::definition::{Definition, Needs};
use super::form::{Form, InvalidParameter};
use super::formula::Formula;
use crate::sigmoid::Sigmoid;
use crate::situation::Situation;

pub(super) static STRENGTH: Definition = Definition {
    name: "strength",
    label: "with the rating difference",
    summary: "The sigmoid with the rating difference, one w3 for all engines",
    rank: Some(2),
    knows_players: true,
    needs: Needs { rating: true, ..Needs::NONE },
    ..Definition::BASELINE
};

/// p(x, d) = 1/(1 + exp(-w1 x + w2 - w3 d)) with d = (own - opponent's rating)·ln 10/400. All engines that are
/// calibrated together share w3.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Strength {
    /// Slope, per centipawn.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub w1: f64,
    /// Offset between equals, in logits; the sign of Takeuchi 2018.
    pub w2: f64,
    /// What a logit of rating difference adds to the logit of the win rate: 1 where the score does not reflect it. The
    /// same for all engines that are calibrated together.
    pub w3: f64,
}

impl Strength {
    /// The sigmoid at a rating difference d in logits.
    pub fn sigmoid(&self, strength: f64) -> Sigmoid {
        Sigmoid { w1: self.w1, w2: self.w2 - self.w3 * strength }
    }
}

impl Form for Strength {
    fn logit(&self, score_cp: f64, situation: &Situation) -> f64 {
        self.sigmoid(situation.strength.unwrap_or(0.0)).logit(score_cp)
    }

    fn score(&self, win_rate: f64, situation: &Situation) -> Option<f64> {
        self.sigmoid(situation.strength.unwrap_or(0.0)).score(win_rate)
    }

    fn parameters(&self) -> Vec<(&'static str, f64)> {
        vec![("w1", self.w1), ("w2", self.w2), ("w3", self.w3)]
    }

    fn logit_gradient(&self, score_cp: f64, situation: &Situation) -> Option<Vec<f64>> {
        Some(vec![score_cp, -1.0, situation.strength.unwrap_or(0.0)])
    }

    fn sigmoid(&self) -> Option<Sigmoid> {
        Some(Strength::sigmoid(self, 0.0))
    }

    fn formula(&self) -> Option<Formula> {
        Some(Formula::sigmoid(self.w1))
    }

    fn check(&self) -> Result<(), InvalidParameter> {
        InvalidParameter::unless_positive("w1", self.w1)
    }
}
