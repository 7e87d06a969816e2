//! The win rate curve p(x) = 1/(1 + exp(-w1 x + w2)).

use serde::{Deserialize, Serialize};

use crate::logistic::{logistic, logit};

/// Centipawns per logit that shogi programs share: they convert win rates by 1/(1 + exp(-x/600)), as Ponanza did.
pub const CP_PER_LOGIT: f64 = 600.0;

/// p = 1/(1 + exp(-w1 x + w2)) of a score x in centipawns.
///
/// The sign of `w2` is that of Takeuchi 2018, section 4.2.1: a positive `w2` means a win rate below one half at
/// score 0. Score and win rate are in the view of the side to move.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Sigmoid {
    /// Slope, per centipawn.
    #[cfg_attr(test, schemars(extend("exclusiveMinimum" = 0)))]
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
