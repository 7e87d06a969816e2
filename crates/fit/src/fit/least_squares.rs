//! Least squares: the smallest Σ (p - y)², y being 1, 0.5 or 0.

use super::score_row::{ScoreRow, Term};

/// Loss of one score and its first two derivatives in the logit, where the curve is at p.
///
/// With q = 1 - p and r = Σ (p - y) = m p - k q: loss W q² + D (p-½)² + L p², derivative 2 p q r, second
/// 2 (p q)² n + 2 p q (q - p) r. The last part, the residual term, may be negative: the loss is not convex.
pub(crate) fn term(p: f64, q: f64, row: &ScoreRow) -> Term {
    let (k, m) = (row.wins + 0.5 * row.draws, row.losses + 0.5 * row.draws);
    let half = 0.5 * (p - q);
    let (residual, slope) = (m * p - k * q, p * q);
    Term {
        loss: row.wins * q * q + row.draws * half * half + row.losses * p * p,
        first: 2.0 * slope * residual,
        second: 2.0 * slope * (slope * (k + m) + (q - p) * residual),
    }
}

/// d loss/dz of one sample is (p - y) times this.
pub(crate) fn weight(p: f64, q: f64) -> f64 {
    2.0 * p * q
}
