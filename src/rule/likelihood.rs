//! The optimal consultation (最善合議): the move that explains all votes best (LFICS, 合議の効能, 2016-12, appendix).
//!
//! Model: the best move is worth A, every other A - d, and voter i sees each with normal noise of standard deviation s_i.
//! A vote for move B with value V has the likelihood F = Gx Ey where B is the best move and F = Gy Ex where it is not,
//! with x = (V - A)/s, y = x + d/s, Gx = exp(-x²/2) and Ex = erf(x/√2) + 1. Values are logits of win rates.

use super::vote::Move;

/// ln Φ(x), the logarithm of the normal distribution, without underflow.
#[inline]
pub fn ln_normal(x: f64) -> f64 {
    if x > -20.0 {
        libm::log(0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2))
    } else {
        // Abramowitz and Stegun 26.2.12; right to 1e-11 from here on, and erfc underflows at -38
        let r = 1.0 / (x * x);
        let series = 1.0 - r * (1.0 - 3.0 * r * (1.0 - 5.0 * r * (1.0 - 7.0 * r * (1.0 - 9.0 * r))));
        -0.5 * x * x - libm::log(-x) - HALF_LN_TAU + libm::log(series)
    }
}

/// ln √(2π).
const HALF_LN_TAU: f64 = 0.918_938_533_204_672_7;

/// How much likelier, as a logarithm, a vote with this value is where its move is the best than where it is not:
/// ln(Gx Ey / Gy Ex).
///
/// `best` is A, `gap` is d, `noise` is s, all in the unit of the value; `noise` above 0.
#[inline]
pub fn log_ratio(value: f64, best: f64, gap: f64, noise: f64) -> f64 {
    let x = (value - best) / noise;
    let step = gap / noise;
    let y = x + step;
    // (y² - x²)/2 without cancellation
    step * (x + 0.5 * step) + ln_normal(y) - ln_normal(x)
}

/// A ≈ (k - 1)/k d + mean V, with k different moves among the votes; NaN without votes.
#[inline(always)]
pub fn estimated_best(moves: &[Move], values: &[f64], gap: f64) -> f64 {
    let first = |i: usize| moves[..i].iter().fold(true, |new, earlier| new & (*earlier != moves[i]));
    let k = (0..moves.len()).map(|i| u32::from(first(i))).sum::<u32>();
    let k = f64::from(k);
    (k - 1.0) / k * gap + values.iter().sum::<f64>() / values.len() as f64
}

/// For each voter the log likelihood of all votes if its move is the best, up to a constant that all share.
///
/// `ratios` are the voters' [`log_ratio`]s: the sum of those who have the move is what it gains over being no
/// candidate at all.
#[inline(always)]
pub fn log_likelihood(moves: &[Move], ratios: &[f64], likelihoods: &mut [f64]) {
    super::tally::support(moves, ratios, likelihoods);
}
