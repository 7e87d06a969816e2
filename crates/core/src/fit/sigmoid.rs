//! The win rate curve p(x) = 1/(1 + exp(-w1 x + w2)).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Centipawns per logit that shogi programs share: they convert win rates by 1/(1 + exp(-x/600)), as Ponanza did.
pub const CP_PER_LOGIT: f64 = 600.0;

/// A win rate curve over scores in centipawns: p(x) = 1/(1 + exp(-w1 x + w2)).
///
/// The sign of `w2` is that of Takeuchi 2018, section 4.2.1: a positive `w2` means a win rate below one half at
/// score 0. Score and win rate are in the view of the side to move.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sigmoid {
    /// Slope, per centipawn.
    #[schemars(extend("exclusiveMinimum" = 0))]
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
        Logistic::at(self.logit(score_cp)).p
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

/// The logistic function at z and all that fits need of it, from one `exp`, without overflow.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Logistic {
    /// 1/(1 + exp(-z)).
    pub p: f64,
    /// 1 - p, without cancellation.
    pub q: f64,
    /// -ln p.
    pub minus_log_p: f64,
    /// -ln(1 - p).
    pub minus_log_q: f64,
}

/// ln(p / (1 - p)) of a share in (0, 1).
pub(crate) fn logit(share: f64) -> f64 {
    libm::log(share) - libm::log1p(-share)
}

/// The interval of a share from its half on the logit: it lies between 0 and 1.
pub(crate) fn share_interval(share: f64, half: f64) -> [f64; 2] {
    [logit(share) - half, logit(share) + half].map(|z| Logistic::at(z).p)
}

impl Logistic {
    pub fn at(z: f64) -> Self {
        // exp(-|z|) lies in [0, 1]: large scores underflow to 0, which is right, and never overflow
        let e = libm::exp(-z.abs());
        let near = 1.0 / (1.0 + e);
        let far = e * near;
        let log = libm::log1p(e);
        if z >= 0.0 {
            Self { p: near, q: far, minus_log_p: log, minus_log_q: z + log }
        } else {
            Self { p: far, q: near, minus_log_p: log - z, minus_log_q: log }
        }
    }
}

/// Negative log likelihood in nats of a result (1, 0.5 or 0) at a logit; a draw counts half of either side.
pub(crate) fn log_loss(logit: f64, result: f64) -> f64 {
    let at = Logistic::at(logit);
    result * at.minus_log_p + (1.0 - result) * at.minus_log_q
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

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
