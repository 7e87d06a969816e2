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
use crate::logistic::Logistic;
use crate::sigmoid::Sigmoid;
use crate::situation::{Reading, Situation};

pub(super) static JOINT: Definition = Definition {
    name: "joint",
    label: "all engines together",
    summary: "All engines together, on one scale, with the strengths of their players: for councils and comparisons",
    form: Some(Joint::name),
    rank: 3,
    lapses: true,
    knows_players: true,
    ..Definition::BASELINE
};

/// p(x) = `lapse` + (1 - 2 `lapse`) / (1 + exp(-w1 x)) between equals. In the games of the fit it is the mean of
/// `lapse`
/// + (1 - 2 `lapse`) / (1 + exp(-w1 x + w2 - a)) over the opponents, a being the numbers of `opponents`.
///
/// w2 holds two things: the advantage of the opponents, and `optimism`. Between equals neither remains: engines that
/// look at one position would otherwise be forecast by who looks at it, not by what it is worth.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
    /// How much weaker than the mean the opponents were, in logits: the means of equal parts of the samples, ascending.
    /// Empty if all were alike.
    pub opponents: Vec<f64>,
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

    /// The logit of the mean win rate over the opponents, with its derivatives by w2 (but for the sign) and the lapse.
    fn over_opponents(&self, score_cp: f64) -> [f64; 3] {
        let z = self.w1 * score_cp - self.w2;
        if self.opponents.is_empty() {
            let [by_z, low, high] = logit_gradient(z, self.lapses());
            return [logit_with(z, self.lapses()), by_z, low + high];
        }
        let (mut p, mut q, mut by) = (0.0, 0.0, 0.0);
        for advantage in &self.opponents {
            let at = Logistic::at(z + advantage);
            (p, q, by) = (p + at.p, q + at.q, by + at.p * at.q);
        }
        let [p, q, by] = [p, q, by].map(|sum| sum / self.opponents.len() as f64);
        let slope = 1.0 - 2.0 * self.lapse;
        let [win, loss] = [p, q].map(|share| (self.lapse + slope * share).max(f64::MIN_POSITIVE));
        let both = 1.0 / win + 1.0 / loss;
        [libm::log(win) - libm::log(loss), slope * by * both, (q - p) * both]
    }

    /// The logit before lapses at a known rating difference, against players of the strength that the opponents had.
    fn at_difference(&self, score_cp: f64, d: f64) -> f64 {
        self.w1 * score_cp + self.w3 * d + self.strength - self.optimism
    }
}

impl Form for Joint {
    fn name() -> &'static str {
        "joint"
    }

    fn logit(&self, score_cp: f64, situation: &Situation) -> f64 {
        match situation.strength {
            Some(d) => logit_with(self.at_difference(score_cp, d), self.lapses()),
            None => self.over_opponents(score_cp)[0],
        }
    }

    fn equal_logit(&self, score_cp: f64, situation: &Situation) -> f64 {
        logit_with(self.w1 * score_cp + self.w3 * situation.strength.unwrap_or(0.0), self.lapses())
    }

    fn size() -> usize {
        6
    }

    fn parameters(&self) -> Vec<(&'static str, f64)> {
        vec![
            ("w1", self.w1),
            ("w2", self.w2),
            ("w3", self.w3),
            ("lapse", self.lapse),
            ("optimism", self.optimism),
            ("strength", self.strength),
        ]
    }

    fn logit_gradient(&self, score_cp: f64, situation: &Situation) -> Option<Vec<f64>> {
        Some(match situation.strength {
            Some(d) => {
                let [z, low, high] = logit_gradient(self.at_difference(score_cp, d), self.lapses());
                vec![z * score_cp, 0.0, z * d, low + high, -z, z]
            }
            None => {
                let [_, z, lapse] = self.over_opponents(score_cp);
                vec![z * score_cp, -z, 0.0, lapse, 0.0, 0.0]
            }
        })
    }

    fn equal_gradient(&self, score_cp: f64, situation: &Situation) -> Option<Vec<f64>> {
        let strength = situation.strength.unwrap_or(0.0);
        let [z, low, high] = logit_gradient(self.w1 * score_cp + self.w3 * strength, self.lapses());
        Some(vec![z * score_cp, 0.0, z * strength, low + high, 0.0, 0.0])
    }

    fn sigmoid(&self) -> Option<Sigmoid> {
        Some(Sigmoid { w1: self.w1, w2: self.w2 })
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
        InvalidParameter::unless_positive("w1", self.w1)
    }
}
