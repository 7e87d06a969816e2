//! One scale for all engines: logit p = w1 x + w3 d + a, with a the difference of the players' strengths.
//!
//! The plain sigmoid's w2 holds the opponents that an engine met. Here the players' strengths are fitted together with
//! the slopes, so that the opponents are in the strengths and the score between equals has no offset: a position that
//! is worth x to one side is worth -x to the other. Engines that met, directly or by way of others, share the
//! strengths,
//! the optimism and the lapses; each slope is its own and has no prior.

use serde::{Deserialize, Serialize};

use super::definition::Definition;
use super::form::{Form, InvalidParameter};
use super::formula::Formula;
use super::lapse::{check_lapse, logit_gradient, logit_with};
use crate::sigmoid::Sigmoid;
use crate::situation::{Reading, Situation};

pub(super) static JOINT: Definition = Definition {
    name: "joint",
    label: "all engines together",
    summary: "All engines together, on one scale, with the strengths of their players: for councils and comparisons",
    rank: Some(3),
    lapses: true,
    knows_players: true,
    ..Definition::BASELINE
};

/// p = lapse + (1 - 2 lapse) / (1 + exp(-z)) with z = w1 x between equals, z = `field_w1` x - w2 against the opponents
/// of the fit, and z = w1 x + w3 d + strength - optimism against them at a known rating difference d. Engines that are
/// fitted together share w3, lapse and optimism.
///
/// Between equals w2 does not remain: engines that look at one position would otherwise be forecast by who looks at it,
/// not by what it is worth. The slope in the field is another one, because who meets weak opponents has high scores.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Joint {
    /// Slope, per centipawn.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub w1: f64,
    /// Offset against the opponents of the fit, in logits: at score 0 the logit there is -w2.
    pub w2: f64,
    /// What a logit of rating difference adds to the logit of the win rate.
    pub w3: f64,
    /// Share of games won, and of games lost, whatever the score; the same for all engines.
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub lapse: f64,
    /// The part of twice `lapse` that is games drawn at any score, each half won and half lost; the rest is decided
    /// games that follow no score. The same for all engines.
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub drawn: f64,
    /// By how much scores promise more than the results against known opponents hold, in logits; the same for all
    /// engines of the fit.
    pub optimism: f64,
    /// How much stronger the engine is than its opponents beyond what the ratings say, in logits, mean over the
    /// samples.
    pub strength: f64,
    /// Slope against the opponents of the fit, per centipawn.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub field_w1: f64,
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

    /// The logit before lapses in the field: against the opponents of the fit, or at a known rating difference against
    /// players of their strength.
    fn in_field(&self, score_cp: f64, situation: &Situation) -> f64 {
        match situation.strength {
            Some(d) => self.w1 * score_cp + self.w3 * d + self.strength - self.optimism,
            None => self.field_w1 * score_cp - self.w2,
        }
    }
}

impl Form for Joint {
    fn logit(&self, score_cp: f64, situation: &Situation) -> f64 {
        logit_with(self.in_field(score_cp, situation), self.lapses())
    }

    fn equal_logit(&self, score_cp: f64, situation: &Situation) -> f64 {
        logit_with(self.w1 * score_cp + self.w3 * situation.strength.unwrap_or(0.0), self.lapses())
    }

    fn parameters(&self) -> Vec<(&'static str, f64)> {
        vec![
            ("w1", self.w1),
            ("w2", self.w2),
            ("w3", self.w3),
            ("lapse", self.lapse),
            ("optimism", self.optimism),
            ("strength", self.strength),
            ("field_w1", self.field_w1),
        ]
    }

    fn logit_gradient(&self, score_cp: f64, situation: &Situation) -> Option<Vec<f64>> {
        let [z, low, high] = logit_gradient(self.in_field(score_cp, situation), self.lapses());
        let lapse = low + high;
        Some(match situation.strength {
            Some(d) => vec![z * score_cp, 0.0, z * d, lapse, -z, z, 0.0],
            None => vec![0.0, -z, 0.0, lapse, 0.0, 0.0, z * score_cp],
        })
    }

    fn equal_gradient(&self, score_cp: f64, situation: &Situation) -> Option<Vec<f64>> {
        let strength = situation.strength.unwrap_or(0.0);
        let [z, low, high] = logit_gradient(self.w1 * score_cp + self.w3 * strength, self.lapses());
        Some(vec![z * score_cp, 0.0, z * strength, low + high, 0.0, 0.0, 0.0])
    }

    fn sigmoid(&self) -> Option<Sigmoid> {
        Some(Sigmoid { w1: self.w1, w2: 0.0 })
    }

    fn formula(&self) -> Option<Formula> {
        Some(Formula::lapse(self.w1, self.lapse))
    }

    fn check(&self) -> Result<(), InvalidParameter> {
        check_lapse(self.lapse)?;
        // both are rounded in files
        if !(0.0..=2.0 * self.lapse + 1e-8).contains(&self.drawn) {
            let problem = format!("expected a share from 0 to twice lapse, found {}", self.drawn);
            return Err(InvalidParameter::new("drawn", problem));
        }
        InvalidParameter::unless_positive("field_w1", self.field_w1)?;
        InvalidParameter::unless_positive("w1", self.w1)
    }
}
