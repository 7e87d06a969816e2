//! The sequential probability ratio test of two Elo differences, over games or over pairs of games.
//!
//! The test uses the generalised log-likelihood ratio, as fishtest does. For each hypothesis it takes the multinomial
//! distribution with the mean (or mean over standard deviation) of the hypothesis that gives the observed frequencies
//! the largest likelihood; empty cells get 0.001 of a trial. The bounds are those of Wald (*Sequential tests of
//! statistical hypotheses*, 1945). Van den Bergh derives both (*A practical introduction to the GSPRT* and *Normalized
//! Elo*, the mathematical notes of fishtest).

use strum::{EnumString, VariantNames};
use thiserror::Error;

use super::counts::{Points, Wdl};
use super::elo::{NORMALIZED_ELO_PER_DEVIATION, rate_of_elo};

/// The meaning of an Elo difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Deserialize, EnumString, VariantNames)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum EloModel {
    /// A win rate of 1/(1 + 10^(-elo/400)).
    #[default]
    Logistic,
    /// (rate - ½)/σ · 800/ln 10, where σ is the standard deviation of a game.
    Normalized,
    /// BayesElo: wins at 1/(1 + 10^((d - elo)/400)) and losses at 1/(1 + 10^((d + elo)/400)), where d is the draw Elo
    /// of the games so far.
    Bayesian,
}

/// The two hypotheses and the error rates. The fields are the keys in the file of a tournament.
#[derive(Debug, Clone, Copy, PartialEq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SprtOptions {
    /// Elo difference of the null hypothesis (not better).
    pub elo0: f64,
    /// Elo difference of the alternative (better).
    pub elo1: f64,
    /// Probability of accepting `elo1` if `elo0` is true.
    #[serde(default = "five_percent")]
    pub alpha: f64,
    /// Probability of accepting `elo0` if `elo1` is true.
    #[serde(default = "five_percent")]
    pub beta: f64,
    /// The scale of `elo0` and `elo1`.
    #[serde(default)]
    pub model: EloModel,
}

fn five_percent() -> f64 {
    0.05
}

impl SprtOptions {
    /// A test with error rates of 5% and logistic Elo.
    pub fn new(elo0: f64, elo1: f64) -> Self {
        Self { elo0, elo1, alpha: 0.05, beta: 0.05, model: EloModel::Logistic }
    }

    /// Checks the hypotheses and the error rates.
    ///
    /// # Errors
    /// [`SprtError::Bounds`] or [`SprtError::ErrorRate`].
    pub fn check(&self) -> Result<(), SprtError> {
        let Self { elo0, elo1, alpha, beta, .. } = *self;
        if !(elo0 < elo1 && elo0 >= -4000.0 && elo1 <= 4000.0) {
            return Err(SprtError::Bounds { elo0, elo1 });
        }
        match [alpha, beta].into_iter().find(|rate| !(*rate > 0.0 && *rate < 0.5)) {
            Some(rate) => Err(SprtError::ErrorRate(rate)),
            None => Ok(()),
        }
    }
}

/// The decision of the test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Decision {
    /// Accept `elo0`: not better.
    AcceptH0,
    /// Accept `elo1`: better.
    AcceptH1,
    /// Play on.
    Continue,
}

/// The state of a test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sprt {
    /// Log-likelihood ratio in nats; positive in favour of `elo1`.
    pub llr: f64,
    /// ln(β/(1 - α)): at or below it `elo0` is accepted.
    pub lower: f64,
    /// ln((1 - β)/α): at or above it `elo1` is accepted.
    pub upper: f64,
    pub decision: Decision,
}

/// Why a test is impossible.
#[derive(Debug, Clone, Copy, PartialEq, Error, evalcurve_words::language::ToText)]
pub enum SprtError {
    /// The hypotheses are not in order.
    #[error("SPRT bounds {elo0} and {elo1}: the first must be less than the second, and both within ±4000")]
    Bounds { elo0: f64, elo1: f64 },
    /// An error rate is out of range.
    #[error("SPRT error rate {0}: alpha and beta must be above 0 and below 0.5")]
    ErrorRate(f64),
    #[error("no games: an SPRT needs at least one")]
    NoGames,
    /// The wins, draws and losses of pairs are not known.
    #[error("bounds of Bayesian Elo need wins, draws and losses: five counts of pairs do not say how many are draws")]
    NoDraws,
    /// The maximisation of the likelihood did not converge.
    #[error("the SPRT's likelihood could not be maximised for Elo {elo}: choose bounds nearer to 0")]
    NotConverged { elo: f64 },
}

/// The count of an empty cell, as in fishtest.
const EMPTY_CELL: f64 = 1e-3;

/// Tests the games or pairs played so far.
///
/// The error rates hold if the test is made after each trial (or batch) and the match ends when it decides.
///
/// # Errors
/// [`SprtError`] for impossible options, no games, or a likelihood without a maximum.
pub fn sprt(points: &Points, options: &SprtOptions) -> Result<Sprt, SprtError> {
    options.check()?;
    let SprtOptions { elo0, elo1, alpha, beta, model } = *options;
    if points.trials() == 0 {
        return Err(SprtError::NoGames);
    }
    let counts: Vec<f64> = points.counts().iter().map(|&n| if n == 0 { EMPTY_CELL } else { n as f64 }).collect();
    let total: f64 = counts.iter().sum();
    let observed: Vec<(f64, f64)> = counts.iter().enumerate().map(|(i, n)| (points.value(i), n / total)).collect();
    let draw_elo = match model {
        EloModel::Bayesian => draw_elo(points.games.ok_or(SprtError::NoDraws)?),
        EloModel::Logistic | EloModel::Normalized => None,
    };
    let fitted = |elo: f64| {
        let fitted = match model {
            // without a win or a loss, both hypotheses fit alike
            EloModel::Bayesian => with_mean(&observed, draw_elo.map_or(0.5, |of_draws| bayesian_rate(elo, of_draws))),
            EloModel::Logistic => with_mean(&observed, rate_of_elo(elo)),
            EloModel::Normalized => {
                let per_game = elo / NORMALIZED_ELO_PER_DEVIATION;
                with_t_value(&observed, per_game * (points.games_per_trial() as f64).sqrt())
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

/// The Elo by which wins of both sides are rarer for draws (Coulom's drawelo); `None` without a win or a loss.
fn draw_elo(games: Wdl) -> Option<f64> {
    let [wins, draws, losses] =
        [games.wins, games.draws, games.losses].map(|n| if n == 0 { EMPTY_CELL } else { n as f64 });
    let all = wins + draws + losses;
    let is_known = games.wins > 0 && games.losses > 0;
    is_known.then(|| 200.0 * libm::log10((all - losses) / losses * ((all - wins) / wins)))
}

/// The win rate of a difference in BayesElo.
fn bayesian_rate(elo: f64, draw_elo: f64) -> f64 {
    let [wins, losses] = [elo - draw_elo, -elo - draw_elo].map(rate_of_elo);
    0.5 * (1.0 + wins - losses)
}

/// The root x of Σ p a/(1 + x a) = 0 between the poles; `None` unless there are positive and negative `a`.
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

/// The probabilities p/(1 + x a) that maximise the likelihood under Σ p a/(1 + x a) = 0, where `a` is a function of the
/// value.
fn tilted(observed: &[(f64, f64)], a: impl Fn(f64) -> f64) -> Option<Vec<f64>> {
    let terms: Vec<(f64, f64)> = observed.iter().map(|&(value, p)| (a(value), p)).collect();
    let x = secular(&terms)?;
    Some(terms.iter().map(|(a, p)| p / (1.0 + x * a)).collect())
}

/// The probabilities with this mean that maximise the likelihood of the observed frequencies.
fn with_mean(observed: &[(f64, f64)], mean: f64) -> Option<Vec<f64>> {
    tilted(observed, |value| value - mean)
}

/// The probabilities with (mean - ½)/σ = t that maximise the likelihood of the observed frequencies, by fixed-point
/// iteration.
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
        let next = tilted(observed, tilt)?;
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

    /// fastchess's `getLLR(win, draw, loss)` with `model=bayesian`, computed by its own code, which solves to 0.001.
    #[test]
    fn bayesian_bounds_are_those_of_fastchess() {
        let llr = |games: Wdl| {
            let options = SprtOptions { model: EloModel::Bayesian, ..SprtOptions::new(0.0, 5.0) };
            sprt(&Points::from(games), &options).map(|test| test.llr)
        };
        for (games, expected) in [
            (Wdl::new(100, 300, 80), 0.417_447),
            (Wdl::new(1_000, 2_000, 1_050), -1.548_213),
            (Wdl::new(5, 0, 3), 0.027_957),
            (Wdl::new(5, 7, 0), 0.0),
        ] {
            let found = llr(games).unwrap();
            assert!((found - expected).abs() < 5e-4, "{games:?}: {found}, and {expected} there");
        }
        // of pairs, the draws must be known
        let pairs = Points::from(crate::match_stats::Pentanomial::new([1, 2, 3, 4, 5]));
        let options = SprtOptions { model: EloModel::Bayesian, ..SprtOptions::new(0.0, 5.0) };
        assert_eq!(sprt(&pairs, &options), Err(SprtError::NoDraws));
        assert!(sprt(&pairs.of_games(Some(Wdl::new(12, 10, 8))), &options).is_ok());
    }

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
