//! Win rates as logits, the scale on which noise is even, and lower bounds of them.

use evalcurve_calibration::logistic;

/// Largest absolute logit, a win rate of 0.99995. Beyond it, one voter that is certain would dominate every mean.
const LIMIT: f64 = 10.0;

/// The logit of a win rate in 0..=1, within -10 to 10.
#[inline]
pub fn logit(win_rate: f64) -> f64 {
    logistic::logit(win_rate).clamp(-LIMIT, LIMIT)
}

/// The win rate with this logit.
#[inline]
pub fn win_rate(logit: f64) -> f64 {
    logistic::logistic(logit)
}

/// The standard error √(s² + e²) of a logit, from the noise s of the voter and the standard error e of its calibration.
#[inline]
pub fn standard_error(noise: f64, calibration_error: f64) -> f64 {
    (noise * noise + calibration_error * calibration_error).sqrt()
}

/// A logit minus `caution` standard errors.
///
/// The largest of several noisy values is too large on average, the more so the noisier its voter is (the winner's
/// curse). Each vote is itself the largest of its voter's noisy values. Both biases grow with the standard error.
#[inline(always)]
pub(crate) fn lower_bound(logit: f64, standard_error: f64, caution: f64) -> f64 {
    logit - caution * standard_error
}
