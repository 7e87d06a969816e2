//! The two-parameter sigmoid of Takeuchi 2018, section 3.

/// Win rate 1 / (1 + exp(-w1 x + w2)) of a score x in centipawns, the view of the side to move.
///
/// Takeuchi, 異種プログラム間における楽観合議について, 2018, section 3.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sigmoid {
    /// Slope per centipawn; positive.
    pub w1: f64,
    /// Offset of the logit: the win rate at score 0 is 1 / (1 + exp(w2)).
    pub w2: f64,
}

impl Sigmoid {
    /// The win rate in 0..=1 of a score in centipawns; NaN for NaN alone.
    pub fn win_rate(&self, score_cp: f64) -> f64 {
        let logit = self.w1 * score_cp - self.w2;
        if logit >= 0.0 {
            1.0 / (1.0 + libm::exp(-logit))
        } else {
            let e = libm::exp(logit);
            e / (1.0 + e)
        }
    }

    /// The score in centipawns of a win rate; `None` unless 0 < `win_rate` < 1.
    pub fn score(&self, win_rate: f64) -> Option<f64> {
        (win_rate > 0.0 && win_rate < 1.0)
            .then(|| (libm::log(win_rate) - libm::log1p(-win_rate) + self.w2) / self.w1)
            .filter(|score| score.is_finite())
    }
}
