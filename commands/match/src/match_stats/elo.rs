//! Elo, its interval, and the likelihood of superiority.

use evalcurve_fit::curve::{Z_95, wilson};
use evalcurve_fit::normal;
use evalcurve_fit::rating::ELO_PER_LOGIT;

use super::counts::Points;

/// Normalised Elo per standard deviation of a game: 800/ln 10.
pub(crate) const NORMALIZED_ELO_PER_DEVIATION: f64 = 2.0 * ELO_PER_LOGIT;

/// The Elo difference for a win rate, -400 log10(1/rate - 1); `None` unless 0 < rate < 1.
pub fn elo_of_rate(rate: f64) -> Option<f64> {
    (rate > 0.0 && rate < 1.0).then(|| -400.0 * libm::log10(1.0 / rate - 1.0) + 0.0)
}

/// The win rate at an Elo difference, 1/(1 + 10^(-elo/400)).
pub fn rate_of_elo(elo: f64) -> f64 {
    1.0 / (1.0 + libm::pow(10.0, -elo / 400.0))
}

/// The strength of a player according to results.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Strength {
    pub games: u64,
    /// Win rate from 0 to 1, with a draw as half a win.
    pub rate: f64,
    /// 95% interval of the win rate: rate ± 1.96 √(variance/n) with the observed variance of games or pairs, as in
    /// fishtest. If all trials had the same outcome, this variance is 0 and the interval is Wilson's.
    pub rate_interval: (f64, f64),
    /// Elo difference to the opponents; `None` (infinite) if all points were won or all lost.
    pub elo: Option<f64>,
    /// The ends of `rate_interval` in Elo; `None` if an end is infinite.
    pub elo_interval: (Option<f64>, Option<f64>),
    /// Normalised Elo, (rate - ½)/σ · 800/ln 10, where σ is the standard deviation of a game (for pairs, √2 times that
    /// of the mean of a pair). It determines the length of an SPRT for any share of draws. `None` if σ is 0.
    pub normalized_elo: Option<f64>,
    /// Its 95% interval, that of the win rate in the same unit, as fastchess has it.
    pub normalized_elo_interval: Option<(f64, f64)>,
    /// Likelihood of superiority, Φ(z) with z from [`Points::z`]: Φ((W - L)/√(W + L)) for games. `None` if all trials
    /// are even.
    pub los: Option<f64>,
}

/// Computes win rate, Elo, intervals and likelihood of superiority; `None` without games.
pub fn strength(points: &Points) -> Option<Strength> {
    let (rate, variance) = points.moments()?;
    let n = points.trials() as f64;
    let rate_interval = if variance > 0.0 {
        let half = Z_95 * (variance / n).sqrt();
        (rate - half, rate + half)
    } else {
        wilson(rate * n, n, Z_95)
    };
    let deviation = (variance * points.games_per_trial() as f64).sqrt();
    let normalized = |rate: f64| (rate - 0.5) / deviation * NORMALIZED_ELO_PER_DEVIATION;
    Some(Strength {
        games: points.games(),
        rate,
        rate_interval: (rate_interval.0.max(0.0), rate_interval.1.min(1.0)),
        elo: elo_of_rate(rate),
        elo_interval: (elo_of_rate(rate_interval.0), elo_of_rate(rate_interval.1)),
        normalized_elo: (variance > 0.0).then(|| normalized(rate)),
        normalized_elo_interval: (variance > 0.0).then(|| (normalized(rate_interval.0), normalized(rate_interval.1))),
        los: points.z().map(normal::cdf),
    })
}

#[cfg(test)]
mod tests {
    use super::super::counts::{Pentanomial, Wdl};
    use super::*;

    #[test]
    fn elo_and_rate_are_inverse() {
        assert_eq!(elo_of_rate(0.5), Some(0.0));
        // 400 log10(3), as every table of Elo expectations has it
        assert!((elo_of_rate(0.75).unwrap() - 190.848_501_887_864_97).abs() < 1e-9);
        for elo in [-700.0, -3.5, 0.0, 12.0, 400.0] {
            assert!((elo_of_rate(rate_of_elo(elo)).unwrap() - elo).abs() < 1e-9);
        }
        assert_eq!(elo_of_rate(0.0), None);
        assert_eq!(elo_of_rate(1.0), None);
        assert_eq!(elo_of_rate(f64::NAN), None);
    }

    #[test]
    fn one_sided_matches_have_open_ends() {
        let won = strength(&Wdl::new(10, 0, 0).into()).unwrap();
        assert_eq!((won.elo, won.elo_interval.1), (None, None));
        // Wilson's lower end of 10 of 10 is 0.7225
        assert!((won.elo_interval.0.unwrap() - elo_of_rate(0.722_467_200_137_107_4).unwrap()).abs() < 1e-6);
        assert!(won.los.unwrap() > 0.999);
        let even = strength(&Wdl::new(0, 10, 0).into()).unwrap();
        assert_eq!((even.elo, even.los, even.normalized_elo), (Some(0.0), None, None));
        assert!(even.rate_interval.0 < 0.3 && even.rate_interval.1 > 0.7, "no certainty from ten draws");
        assert_eq!(strength(&Wdl::default().into()), None);
    }

    #[test]
    fn pairs_narrow_or_widen_the_interval() {
        // each opening decides both games: pairs are all even, single games look random
        let games = strength(&Wdl::new(51, 0, 49).into()).unwrap();
        let pairs = strength(&Pentanomial::new([0, 0, 49, 0, 1]).into()).unwrap();
        assert_eq!(games.rate, pairs.rate);
        let width = |s: &Strength| s.rate_interval.1 - s.rate_interval.0;
        assert!(width(&pairs) < 0.3 * width(&games));
    }
}
