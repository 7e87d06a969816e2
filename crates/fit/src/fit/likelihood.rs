//! Maximum likelihood: the largest Σ y log p + (1 - y) log(1 - p), a draw counting half of either side.

use super::score_row::{ScoreRow, Term};

/// Loss of one score and its first two derivatives in the logit, where the curve is at p = 1 - q. `loss` is the mean
/// over its samples.
///
/// With k = W + D/2 and m = L + D/2: loss -k log p - m log(1-p), derivative m p - k (1-p), second (k+m) p (1-p).
/// The loss is convex, so there is one minimum at most.
pub(crate) fn term(p: f64, q: f64, loss: f64, row: &ScoreRow) -> Term {
    let (k, m) = (row.wins + 0.5 * row.draws, row.losses + 0.5 * row.draws);
    Term { loss: (k + m) * loss, first: m * p - k * q, second: (k + m) * p * q }
}

/// d loss/dz of one sample is (p - y) times this.
pub(crate) fn weight(_p: f64, _q: f64) -> f64 {
    1.0
}
