//! Beta calibration of the sigmoid (Kull, Silva Filho and Flach, *Beyond sigmoids*, Electronic Journal of Statistics
//! 2017): logit p = a ln s - b ln(1 - s) + c with s the win rate of the plain sigmoid.
//!
//! With a = b it is a sigmoid again; a above b makes the curve steeper where the engine is losing.

use serde::{Deserialize, Serialize};

use super::definition::Definition;
use super::form::{Form, InvalidParameter};
use super::formula::Formula;
use crate::logistic::Logistic;
use crate::sigmoid::Sigmoid;
use crate::situation::Situation;

pub(super) static BETA: Definition = Definition {
    name: "beta",
    label: "beta calibration",
    summary: "Beta calibration of the sigmoid: other slopes for winning and losing scores",
    rank: Some(5),
    ..Definition::BASELINE
};

/// p(x) = 1/(1 + 1/(eᶜ sᵃ/(1-s)ᵇ)) with s the win rate of the base sigmoid, which is fitted by maximum likelihood.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Beta {
    /// Slope of the base sigmoid, per centipawn.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub base_w1: f64,
    /// Offset of the base sigmoid, in logits.
    pub base_w2: f64,
    /// Weight of ln s; 0 or more.
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub a: f64,
    /// Weight of -ln(1 - s); 0 or more.
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub b: f64,
    /// Offset, in logits.
    pub c: f64,
}

impl Beta {
    /// (ln s, -ln(1-s), 1), which a, b and c multiply.
    pub fn features(&self, score_cp: f64) -> [f64; 3] {
        let at = Logistic::at(Sigmoid { w1: self.base_w1, w2: self.base_w2 }.logit(score_cp));
        [-at.minus_log_p, at.minus_log_q, 1.0]
    }
}

impl Form for Beta {
    fn logit(&self, score_cp: f64, _: &Situation) -> f64 {
        let [ln_s, minus_ln_rest, _] = self.features(score_cp);
        self.a * ln_s + self.b * minus_ln_rest + self.c
    }

    fn parameters(&self) -> Vec<(&'static str, f64)> {
        vec![("a", self.a), ("b", self.b), ("c", self.c)]
    }

    fn logit_gradient(&self, score_cp: f64, _: &Situation) -> Option<Vec<f64>> {
        Some(self.features(score_cp).to_vec())
    }

    fn formula(&self) -> Option<Formula> {
        // the odd part of a ln s - b ln(1 - s) + c, with s = 1/(1 + exp(-z)) at the score and at its mirror image
        Some(Formula::of_score(
            [("BASE_W1", self.base_w1), ("BASE_W2", self.base_w2), ("A", self.a), ("B", self.b)],
            &[
                ("z", "max(-700.0, min(700.0, BASE_W1 * score_cp - BASE_W2))"),
                ("mirror", "max(-700.0, min(700.0, -BASE_W1 * score_cp - BASE_W2))"),
                ("by_a", "log1p(exp(-mirror)) - log1p(exp(-z))"),
                ("by_b", "log1p(exp(z)) - log1p(exp(mirror))"),
                ("win_rate", "1.0 / (1.0 + exp(min(700.0, -0.5 * (A * by_a + B * by_b))))"),
            ],
        ))
    }

    fn check(&self) -> Result<(), InvalidParameter> {
        for (field, weight) in [("a", self.a), ("b", self.b)] {
            if weight < 0.0 {
                return Err(InvalidParameter::new(field, format!("expected a number from 0, found {weight}")));
            }
        }
        if self.a + self.b <= 0.0 {
            return Err(InvalidParameter::new("a", "a and b are both 0, so that the score would not matter"));
        }
        InvalidParameter::unless_positive("base_w1", self.base_w1)
    }
}
