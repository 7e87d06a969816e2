//! One scale for all engines: logit p = w1 x + w3 d + a, with a the difference of the players' strengths.
//!
//! The plain sigmoid's w2 holds the opponents that an engine met. Here the players' strengths are fitted together with
//! the slopes, so that the opponents are in the strengths and the score between equals has no offset: a position that
//! is worth x to one side is worth -x to the other. Slopes of engines with few games lean on those of the others (a
//! normal prior on ln w1), and on positions that two engines scored one after the other, which compare their scales
//! directly.

use serde::{Deserialize, Serialize};

use super::definition::Definition;
use super::form::{Form, InvalidParameter};
use super::formula::Formula;
use super::lapse::{check_lapse, logit_gradient, logit_with};
use crate::sigmoid::Sigmoid;
use crate::situation::{Reading, Situation};

pub(super) static JOINT: Definition = Definition {
    name: "joint",
    label: "joint",
    summary: "All engines on one scale, with the strengths of their players: for councils and comparisons",
    form: Some(Joint::name),
    rank: 3,
    lapses: true,
    knows_players: true,
    one_scale: true,
    ..Definition::BASELINE
};

/// p(x) = `lapse` + (1 - 2 `lapse`) / (1 + exp(-w1 x + w2)) in the games of the fit, and between equals without w2.
///
/// w2 holds two things: the advantage of the opponents, and `optimism`. Between equals neither remains: engines that
/// look at one position would otherwise be forecast by who looks at it, not by what it is worth.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Joint {
    /// Slope, per centipawn.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub w1: f64,
    /// Mean advantage of the opponents in the games of the fit plus `optimism`, in logits; 0 between equals.
    pub w2: f64,
    /// What a logit of rating difference adds to the logit of the win rate.
    pub w3: f64,
    /// Share of games won, and of games lost, whatever the score; the same for all engines.
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub lapse: f64,
    /// By how much scores promise more than the results against known opponents hold, in logits; the same for all
    /// engines.
    pub optimism: f64,
}

impl Joint {
    fn lapses(&self) -> [f64; 2] {
        [self.lapse; 2]
    }

    /// The logit at a known advantage in logits (rating difference and strengths of the players), in a reading.
    pub fn against(&self, reading: Reading, score_cp: f64, advantage: f64) -> f64 {
        let optimism = match reading {
            Reading::Field => self.optimism,
            Reading::Equal => 0.0,
        };
        logit_with(self.w1 * score_cp + advantage - optimism, self.lapses())
    }

    /// The logit before lapses. A known rating difference takes the place of the mean over the games of the fit.
    fn inner(&self, score_cp: f64, situation: &Situation) -> f64 {
        self.w1 * score_cp + situation.strength.map_or(-self.w2, |d| self.w3 * d - self.optimism)
    }
}

impl Form for Joint {
    fn name() -> &'static str {
        "joint"
    }

    fn logit(&self, score_cp: f64, situation: &Situation) -> f64 {
        logit_with(self.inner(score_cp, situation), self.lapses())
    }

    fn equal_logit(&self, score_cp: f64, situation: &Situation) -> f64 {
        logit_with(self.w1 * score_cp + self.w3 * situation.strength.unwrap_or(0.0), self.lapses())
    }

    fn size() -> usize {
        5
    }

    fn parameters(&self) -> Vec<(&'static str, f64)> {
        vec![("w1", self.w1), ("w2", self.w2), ("w3", self.w3), ("lapse", self.lapse), ("optimism", self.optimism)]
    }

    fn logit_gradient(&self, score_cp: f64, situation: &Situation) -> Option<Vec<f64>> {
        let [z, low, high] = logit_gradient(self.inner(score_cp, situation), self.lapses());
        let (of_w2, of_w3, of_optimism) = situation.strength.map_or((-z, 0.0, 0.0), |d| (0.0, z * d, -z));
        Some(vec![z * score_cp, of_w2, of_w3, low + high, of_optimism])
    }

    fn equal_gradient(&self, score_cp: f64, situation: &Situation) -> Option<Vec<f64>> {
        let strength = situation.strength.unwrap_or(0.0);
        let [z, low, high] = logit_gradient(self.w1 * score_cp + self.w3 * strength, self.lapses());
        Some(vec![z * score_cp, 0.0, z * strength, low + high, 0.0])
    }

    fn sigmoid(&self) -> Option<Sigmoid> {
        Some(Sigmoid { w1: self.w1, w2: self.w2 })
    }

    fn formula(&self) -> Option<Formula> {
        Some(Formula::lapse(self.w1, self.lapse))
    }

    fn check(&self) -> Result<(), InvalidParameter> {
        check_lapse(self.lapse)?;
        InvalidParameter::unless_positive("w1", self.w1)
    }
}
