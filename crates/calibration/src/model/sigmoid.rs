//! The win rate curve p(x) = 1/(1 + exp(-w1 x + w2)), fitted by least squares or by maximum likelihood.

use serde::{Deserialize, Serialize};

use super::definition::Definition;
use super::form::{Form, InvalidParameter};
use super::formula::Formula;
use crate::logistic::{logistic, logit};
use crate::situation::Situation;

pub(super) static LEAST_SQUARES: Definition = Definition {
    name: "least_squares",
    aliases: &["lse"],
    label: "sigmoid by least squares",
    summary: "The sigmoid by least squares: forgives a few scores that are far off",
    form: Some(Sigmoid::name),
    rank: 1,
    ..Definition::BASELINE
};

pub(super) static MAXIMUM_LIKELIHOOD: Definition = Definition {
    name: "maximum_likelihood",
    aliases: &["mle"],
    label: "sigmoid by maximum likelihood",
    summary: "The sigmoid by maximum likelihood: precise where scores are right, sensitive to large wrong ones",
    form: Some(Sigmoid::name),
    rank: 1,
    ..Definition::BASELINE
};

/// What the fit of a plain sigmoid minimises (Takeuchi 2018, section 4.2.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// The least Σ (p(x) - y)²: forgives a few scores that are far off.
    LeastSquares,
    /// The largest Σ y log p(x) + (1 - y) log(1 - p(x)): sensitive to large scores that contradict the result.
    MaximumLikelihood,
}

impl Method {
    /// Both methods, in the order of declaration.
    pub const ALL: [Self; 2] = [Self::LeastSquares, Self::MaximumLikelihood];

    /// The short name in tables: `LSE` or `MLE`.
    pub fn short(self) -> &'static str {
        match self {
            Self::LeastSquares => "LSE",
            Self::MaximumLikelihood => "MLE",
        }
    }

    /// The name of the model in files: `least_squares` or `maximum_likelihood`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::LeastSquares => LEAST_SQUARES.name,
            Self::MaximumLikelihood => MAXIMUM_LIKELIHOOD.name,
        }
    }
}

impl std::fmt::Display for Method {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Centipawns per logit that shogi programs share: they convert win rates by 1/(1 + exp(-x/600)), as Ponanza did.
pub const CP_PER_LOGIT: f64 = 600.0;

/// A win rate curve over scores in centipawns: p(x) = 1/(1 + exp(-w1 x + w2)).
///
/// The sign of `w2` is that of Takeuchi 2018, section 4.2.1: a positive `w2` means a win rate below one half at
/// score 0. Score and win rate are in the view of the side to move.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Sigmoid {
    /// Slope, per centipawn.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub w1: f64,
    /// Offset, in logits: the win rate at score 0 is 1/(1 + exp(w2)).
    pub w2: f64,
}

impl Sigmoid {
    /// Turns log odds into win rates: w1 = 1, w2 = 0.
    pub const STANDARD: Self = Self { w1: 1.0, w2: 0.0 };

    /// The log odds w1 x - w2 of a score in centipawns.
    pub fn logit(&self, score_cp: f64) -> f64 {
        self.w1 * score_cp - self.w2
    }

    /// The win rate of a score in centipawns, in [0, 1].
    pub fn win_rate(&self, score_cp: f64) -> f64 {
        logistic(self.logit(score_cp))
    }

    /// The score in centipawns with that win rate; `None` for win rates outside (0, 1) and for a slope of 0.
    pub fn score(&self, win_rate: f64) -> Option<f64> {
        if !(win_rate > 0.0 && win_rate < 1.0) {
            return None;
        }
        let score = (logit(win_rate) + self.w2) / self.w1;
        score.is_finite().then_some(score)
    }

    /// 1/w1 in centipawns, the constant that shogi programmers know as 600 (from the program Ponanza).
    pub fn ponanza_constant(&self) -> f64 {
        1.0 / self.w1
    }
}

impl Form for Sigmoid {
    fn name() -> &'static str {
        "sigmoid"
    }

    fn logit(&self, score_cp: f64, _: &Situation) -> f64 {
        Sigmoid::logit(self, score_cp)
    }

    fn score(&self, win_rate: f64, _: &Situation) -> Option<f64> {
        Sigmoid::score(self, win_rate)
    }

    fn size() -> usize {
        2
    }

    fn parameters(&self) -> Vec<(&'static str, f64)> {
        vec![("w1", self.w1), ("w2", self.w2)]
    }

    fn logit_gradient(&self, score_cp: f64, _: &Situation) -> Option<Vec<f64>> {
        Some(vec![score_cp, -1.0])
    }

    fn sigmoid(&self) -> Option<Sigmoid> {
        Some(*self)
    }

    fn formula(&self) -> Option<Formula> {
        Some(Formula::sigmoid(self.w1))
    }

    fn check(&self) -> Result<(), InvalidParameter> {
        InvalidParameter::unless_positive("w1", self.w1)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::logistic::Logistic;

    const TAKEUCHI: Sigmoid = Sigmoid { w1: 0.002895, w2: 0.1613 };

    /// ln p(x) and ln(1 - p(x)).
    fn logarithms(score_cp: f64) -> (f64, f64) {
        let at = Logistic::at(TAKEUCHI.logit(score_cp));
        (-at.minus_log_p, -at.minus_log_q)
    }

    #[test]
    fn known_values() {
        // YaneuraOu by least squares, Takeuchi 2018, table 2: Python, 1/(1+math.exp(-0.002895*x+0.1613))
        assert!((TAKEUCHI.win_rate(0.0) - 0.459_762_203_403_018_77).abs() < 1e-15, "{}", TAKEUCHI.win_rate(0.0));
        assert_eq!(Sigmoid { w1: 1.0 / 600.0, w2: 0.0 }.win_rate(0.0), 0.5);
        assert!((TAKEUCHI.ponanza_constant() - 345.423_143_350_604_5).abs() < 1e-9);
    }

    #[test]
    fn extreme_scores_stay_finite() {
        for x in [1_148_897.0, -1_148_897.0, f64::from(i32::MAX), f64::from(i32::MIN)] {
            let p = TAKEUCHI.win_rate(x);
            assert!((0.0..=1.0).contains(&p));
            let (win, loss) = logarithms(x);
            assert!(win.is_finite() && loss.is_finite() && win <= 0.0 && loss <= 0.0, "{x}: {win} {loss}");
        }
        assert!((logarithms(-1_148_897.0).0 - (-0.002895 * 1_148_897.0 - 0.1613)).abs() < 1e-9);
        assert!((logarithms(1_148_897.0).1 + (0.002895 * 1_148_897.0 - 0.1613)).abs() < 1e-9);
    }

    #[test]
    fn win_rates_without_a_score_are_none() {
        for p in [0.0, 1.0, -0.1, 1.1, f64::NAN] {
            assert_eq!(TAKEUCHI.score(p), None);
        }
        assert_eq!(Sigmoid { w1: 0.0, w2: 0.0 }.score(0.7), None);
    }

    proptest! {
        #[test]
        fn score_inverts_win_rate(x in -3000.0f64..3000.0) {
            let back = TAKEUCHI.score(TAKEUCHI.win_rate(x)).unwrap();
            prop_assert!((back - x).abs() < 1e-6, "{x} {back}");
        }

        #[test]
        fn logarithms_agree_with_the_rate(x in -5000.0f64..5000.0) {
            let p = TAKEUCHI.win_rate(x);
            prop_assert!((libm::exp(logarithms(x).0) - p).abs() < 1e-14);
            prop_assert!((libm::exp(logarithms(x).1) - (1.0 - p)).abs() < 1e-14);
        }
    }
}
