//! Maximum likelihood: the largest Σ y log p + (1 - y) log(1 - p), a draw counting half of either side.

use evalcurve_calibration::logistic::Logistic;

use super::score_row::{ScoreRow, Term};

/// Loss of one score and its first two derivatives in the logit z, where the curve is at z.
///
/// With k = W + D/2 and m = L + D/2: loss -k log p - m log(1-p), derivative m p - k (1-p), second (k+m) p (1-p).
/// The loss is convex, so there is one minimum at most.
pub(crate) fn term(z: f64, row: &ScoreRow) -> Term {
    let Logistic { p, q, minus_log_p, minus_log_q } = Logistic::at(z);
    let (k, m) = (row.wins + 0.5 * row.draws, row.losses + 0.5 * row.draws);
    Term { loss: k * minus_log_p + m * minus_log_q, first: m * p - k * q, second: (k + m) * p * q }
}

/// d loss/dz of one sample is (p - y) times this.
pub(crate) fn weight(_p: f64, _q: f64) -> f64 {
    1.0
}
