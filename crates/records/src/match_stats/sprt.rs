//! The sequential probability ratio test of two Elo differences, over games or over pairs of games.
//!
//! The generalised log-likelihood ratio, as fishtest computes it: for each hypothesis the multinomial distribution that
//! has the hypothesis' mean (or mean over standard deviation) and is nearest to the observed frequencies by maximum
//! likelihood; empty cells are given 0.001 of a trial. Wald's bounds (Wald, *Sequential tests of statistical
//! hypotheses*, 1945). Van den Bergh, *A practical introduction to the GSPRT* and *Normalized Elo* (fishtest's
//! mathematical notes) derive both.

use thiserror::Error;

use super::counts::Points;
use super::elo::{NORMALIZED_ELO_PER_DEVIATION, rate_of_elo};

/// What an Elo difference means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EloModel {
    /// A win rate of 1/(1 + 10^(-elo/400)).
    #[default]
    Logistic,
    /// (rate - ½)/σ · 800/ln 10 with σ the standard deviation of a game.
    Normalized,
}

/// The two hypotheses and how often the test may err.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SprtOptions {
    /// Elo difference that is not worth having.
    pub elo0: f64,
    /// Elo difference that is.
    pub elo1: f64,
    /// Probability of taking `elo0` for `elo1`.
    pub alpha: f64,
    /// Probability of taking `elo1` for `elo0`.
    pub beta: f64,
    /// The scale of the two.
    pub model: EloModel,
}

impl SprtOptions {
    /// Both errors at 5%, logistic Elo.
    pub fn new(elo0: f64, elo1: f64) -> Self {
        Self { elo0, elo1, alpha: 0.05, beta: 0.05, model: EloModel::Logistic }
    }
}

/// What the test says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// `elo0`: not better.
    AcceptH0,
    /// `elo1`: better.
    AcceptH1,
    /// Play on.
    Continue,
}

/// A test as it stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sprt {
    /// Log-likelihood ratio, in nats; above 0 for `elo1`.
    pub llr: f64,
    /// ln(β/(1 - α)): at or below it `elo0` is accepted.
    pub lower: f64,
    /// ln((1 - β)/α): at or above it `elo1` is accepted.
    pub upper: f64,
    /// What follows.
    pub decision: Decision,
}

/// A test that cannot be made.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
pub enum SprtError {
    /// The hypotheses are not in order.
    #[error("SPRT bounds {elo0} and {elo1}: the first must be less than the second, and both within ±4000")]
    Bounds {
        /// As given.
        elo0: f64,
        /// As given.
        elo1: f64,
    },
    /// An error rate that is none.
    #[error("SPRT error rate {0}: alpha and beta are above 0 and below 0.5")]
    ErrorRate(f64),
    /// No games.
    #[error("no games: an SPRT needs one at least")]
    NoGames,
    /// The likelihood has no maximum in reach.
    #[error("the SPRT's likelihood could not be maximised for Elo {elo}: choose bounds nearer to 0")]
    NotConverged {
        /// The hypothesis.
        elo: f64,
    },
}

/// What fishtest gives an empty cell.
const EMPTY_CELL: f64 = 1e-3;

/// The test over the games or pairs seen so far.
///
/// The error rates hold if the test is made after every trial (or batch) and the match ends when it decides.
///
/// # Errors
/// [`SprtError`] for options that cannot be, no games, or a likelihood without maximum.
pub fn sprt(points: &Points, options: &SprtOptions) -> Result<Sprt, SprtError> {
    let SprtOptions { elo0, elo1, alpha, beta, model } = *options;
    if !(elo0 < elo1 && elo0 >= -4000.0 && elo1 <= 4000.0) {
        return Err(SprtError::Bounds { elo0, elo1 });
    }
    for rate in [alpha, beta] {
        if !(rate > 0.0 && rate < 0.5) {
            return Err(SprtError::ErrorRate(rate));
        }
    }
    if points.trials() == 0 {
        return Err(SprtError::NoGames);
    }
    let counts: Vec<f64> = points.counts().iter().map(|&n| if n == 0 { EMPTY_CELL } else { n as f64 }).collect();
    let total: f64 = counts.iter().sum();
    let observed: Vec<(f64, f64)> = counts.iter().enumerate().map(|(i, n)| (points.value(i), n / total)).collect();
    let fitted = |elo: f64| {
        let fitted = match model {
            EloModel::Logistic => with_mean(&observed, rate_of_elo(elo)),
            EloModel::Normalized => {
                let a_game = elo / NORMALIZED_ELO_PER_DEVIATION;
                with_t_value(&observed, a_game * (points.games_a_trial() as f64).sqrt())
            }
        };
        fitted.ok_or(SprtError::NotConverged { elo })
    };
    let (p0, p1) = (fitted(elo0)?, fitted(elo1)?);
    let terms = counts.iter().zip(p0.iter().zip(&p1));
    let llr: f64 = terms.map(|(n, (p0, p1))| n * (libm::log(*p1) - libm::log(*p0))).sum();
    let (lower, upper) = (libm::log(beta / (1.0 - alpha)), libm::log((1.0 - beta) / alpha));
    let decision = if llr >= upper {
        Decision::AcceptH1
    } else if llr <= lower {
        Decision::AcceptH0
    } else {
        Decision::Continue
    };
    Ok(Sprt { llr, lower, upper, decision })
}

/// The root x of Σ p a/(1 + x a) = 0 between the poles; `None` unless some `a` lie on both sides of 0.
fn secular(terms: &[(f64, f64)]) -> Option<f64> {
    let least = terms.iter().map(|t| t.0).fold(f64::INFINITY, f64::min);
    let most = terms.iter().map(|t| t.0).fold(f64::NEG_INFINITY, f64::max);
    if !(least < 0.0 && most > 0.0) {
        return None;
    }
    // the sum falls from +∞ at -1/most to -∞ at -1/least
    let (mut low, mut high) = (-1.0 / most, -1.0 / least);
    for _ in 0..200 {
        let x = 0.5 * (low + high);
        if terms.iter().map(|(a, p)| p * a / (1.0 + x * a)).sum::<f64>() > 0.0 {
            low = x;
        } else {
            high = x;
        }
    }
    Some(0.5 * (low + high))
}

/// The probabilities with that mean that make the observed frequencies most likely.
fn with_mean(observed: &[(f64, f64)], mean: f64) -> Option<Vec<f64>> {
    let terms: Vec<(f64, f64)> = observed.iter().map(|&(value, p)| (value - mean, p)).collect();
    let x = secular(&terms)?;
    Some(terms.iter().map(|(a, p)| p / (1.0 + x * a)).collect())
}

/// The probabilities with (mean - ½)/σ = t that make the observed frequencies most likely, by fixed point iteration.
fn with_t_value(observed: &[(f64, f64)], t: f64) -> Option<Vec<f64>> {
    let mut fitted = vec![1.0 / observed.len() as f64; observed.len()];
    for _ in 0..100 {
        let mean: f64 = observed.iter().zip(&fitted).map(|((value, _), p)| value * p).sum();
        let variance: f64 =
            observed.iter().zip(&fitted).map(|((value, _), p)| p * (value - mean) * (value - mean)).sum();
        let sigma = variance.sqrt();
        if sigma.is_nan() || sigma <= 0.0 {
            return None;
        }
        let tilt = |value: f64| {
            let off = (mean - value) / sigma;
            value - 0.5 - t * sigma * (1.0 + off * off) / 2.0
        };
        let terms: Vec<(f64, f64)> = observed.iter().map(|&(value, p)| (tilt(value), p)).collect();
        let x = secular(&terms)?;
        let next: Vec<f64> = terms.iter().map(|(a, p)| p / (1.0 + x * a)).collect();
        let moved = next.iter().zip(&fitted).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        fitted = next;
        if moved < 1e-12 {
            return Some(fitted);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::counts::{Pentanomial, Wdl};
    use super::*;

    #[test]
    fn walds_bounds() {
        let test = sprt(&Wdl::new(10, 5, 9).into(), &SprtOptions::new(0.0, 5.0)).unwrap();
        assert!((test.upper - 19f64.ln()).abs() < 1e-12 && (test.lower + 19f64.ln()).abs() < 1e-12);
        assert_eq!(test.decision, Decision::Continue);
    }

    #[test]
    fn clear_results_are_decided() {
        let options = SprtOptions::new(0.0, 10.0);
        let decision = |points: Points| sprt(&points, &options).unwrap().decision;
        assert_eq!(decision(Wdl::new(3000, 100, 2000).into()), Decision::AcceptH1);
        assert_eq!(decision(Wdl::new(2000, 100, 3000).into()), Decision::AcceptH0);
        assert_eq!(decision(Pentanomial::new([10, 100, 500, 300, 80]).into()), Decision::AcceptH1);
    }

    #[test]
    fn swapping_players_and_hypotheses_turns_the_sign() {
        let pairs = Pentanomial::new([12, 90, 300, 120, 20]);
        for model in [EloModel::Logistic, EloModel::Normalized] {
            let llr = |points: Points, elo0, elo1| {
                sprt(&points, &SprtOptions { model, ..SprtOptions::new(elo0, elo1) }).unwrap().llr
            };
            let (there, back) = (llr(pairs.into(), -2.0, 7.0), llr(pairs.reversed().into(), -7.0, 2.0));
            assert!((there + back).abs() < 1e-8, "{there} {back}");
        }
    }

    #[test]
    fn what_cannot_be_tested_is_refused() {
        let games = Points::from(Wdl::new(1, 1, 1));
        assert!(matches!(sprt(&games, &SprtOptions::new(5.0, 0.0)), Err(SprtError::Bounds { .. })));
        assert!(matches!(sprt(&games, &SprtOptions::new(f64::NAN, 0.0)), Err(SprtError::Bounds { .. })));
        let wrong = SprtOptions { alpha: 0.5, ..SprtOptions::new(0.0, 5.0) };
        assert_eq!(sprt(&games, &wrong), Err(SprtError::ErrorRate(0.5)));
        assert_eq!(sprt(&Wdl::default().into(), &SprtOptions::new(0.0, 5.0)), Err(SprtError::NoGames));
    }
}
