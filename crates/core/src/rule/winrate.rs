//! Win rates on the scale where noise is even: logits, and their lower bounds.

/// Logits are kept within this, a win rate of 0.99995: beyond it a single certain voter would rule every mean.
const LIMIT: f64 = 10.0;

/// The log odds of a win rate in 0..=1, within -10 to 10.
#[inline]
pub fn logit(win_rate: f64) -> f64 {
    (libm::log(win_rate) - libm::log1p(-win_rate)).clamp(-LIMIT, LIMIT)
}

/// The win rate with these log odds.
#[inline]
pub fn win_rate(logit: f64) -> f64 {
    1.0 / (1.0 + libm::exp(-logit))
}

/// A logit less `caution` standard errors: √(s² + e²) with the noise s of the voter and the standard error e of its
/// calibration there.
///
/// The largest of several noisy values is too large on average, and the more so the noisier its voter (the winner's
/// curse). A voter that votes for the largest of its own noisy values adds as much again. Both grow with the standard error.
#[inline]
pub fn lower_bound(logit: f64, noise: f64, calibration_error: f64, caution: f64) -> f64 {
    logit - caution * (noise * noise + calibration_error * calibration_error).sqrt()
}
