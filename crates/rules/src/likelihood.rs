//! The optimal rule (最善合議): the move that makes all votes likeliest (LFICS, 合議の効能, 2016-12, appendix).
//!
//! Model: the best move is worth A, every other A - d, and voter i sees each with normal noise of standard deviation
//! s_i. A vote for move B with value V has the likelihood F = Gx Ey if B is the best move and F = Gy Ex if it is not,
//! with x = (V - A)/s, y = x + d/s, Gx = exp(-x²/2) and Ex = erf(x/√2) + 1. Values are logits of win rates.

use evalcurve_calibration::normal::ln_cdf;

use super::vote::Move;

/// The log likelihood ratio ln(Gx Ey / Gy Ex) of a vote with this value: its move is the best, against it is not.
///
/// `best` is A, `gap` is d and `noise` is s, all in the unit of the value; `noise` is above 0.
#[inline]
pub fn log_ratio(value: f64, best: f64, gap: f64, noise: f64) -> f64 {
    let x = (value - best) / noise;
    let step = gap / noise;
    let y = x + step;
    // (y² - x²)/2 without cancellation
    step * (x + 0.5 * step) + ln_cdf(y) - ln_cdf(x)
}

/// A ≈ (k - 1)/k d + mean V, with k different moves among the votes; NaN without votes.
#[inline(always)]
pub fn estimated_best(moves: &[Move], values: &[f64], gap: f64) -> f64 {
    let first = |i: usize| moves[..i].iter().fold(true, |new, earlier| new & (*earlier != moves[i]));
    let k = (0..moves.len()).map(|i| u32::from(first(i))).sum::<u32>();
    let k = f64::from(k);
    (k - 1.0) / k * gap + values.iter().sum::<f64>() / values.len() as f64
}

/// For each voter the log likelihood of all votes if its move is the best, up to a common constant.
///
/// `ratios` are the [`log_ratio`]s of the votes. The log likelihood of a move is the sum over the votes for it.
#[inline(always)]
pub fn log_likelihood(moves: &[Move], ratios: &[f64], likelihoods: &mut [f64]) {
    super::tally::support(moves, ratios, likelihoods);
}
