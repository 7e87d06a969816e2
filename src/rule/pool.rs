//! Pools of win rates.

/// Logits are kept within this, a win rate of 0.99995: beyond it a single certain voter would rule every mean.
const LIMIT: f64 = 10.0;

/// The log odds of a win rate in 0..=1, within -10 to 10.
#[inline]
pub fn logit(win_rate: f64) -> f64 {
    (libm::log(win_rate) - libm::log1p(-win_rate)).clamp(-LIMIT, LIMIT)
}
