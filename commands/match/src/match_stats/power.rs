//! The power of a test between two win rates, and the number of games for a given power.

use evalcurve_fit::normal;
use thiserror::Error;

/// Two win rates to distinguish by a two-sided test.
///
/// Both systems play n games against the same opponents. The power is Φ[(|p₁ - p₂| - z √(2 v̄/n)) / √((v₁ + v₂)/n)]
/// plus the same for the other tail. v = p(1 - p) - d/4 is the variance of the points of a game with a share d of
/// draws, and v̄ is that at the mean rate. Without draws this is the usual formula for two proportions (Fleiss,
/// *Statistical Methods for Rates and Proportions*, 1981, chapter 3).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PowerQuestion {
    /// The win rate of the first system, with a draw as half a win.
    pub first: f64,
    /// The win rate of the second system; ½ for a match between one system and one opponent.
    pub second: f64,
    /// Share of drawn games.
    pub draws: f64,
    /// Level of the two-sided test, divided by the number of comparisons.
    pub level: f64,
    /// Whether `second` is known (½ in a match) instead of estimated from games.
    pub known_second: bool,
}

/// Why a question has no answer.
#[derive(Debug, Clone, Copy, PartialEq, Error, evalcurve_words::language::ToText)]
pub enum PowerError {
    /// A win rate is not between 0 and 1.
    #[error("win rate {0}: give a number between 0 and 1, for example 0.427")]
    Rate(f64),
    /// The win rates are equal.
    #[error("both win rates are {0}: no number of games distinguishes them")]
    Equal(f64),
    /// The share of draws is impossible with the win rates.
    #[error("share of draws {draws}: with a win rate of {rate} it is between 0 and {most:.3}")]
    Draws { draws: f64, rate: f64, most: f64 },
    /// A level or a power is not between 0 and 1.
    #[error("{what} {value}: give a number between 0 and 1, both excluded")]
    Probability { what: &'static str, value: f64 },
}

/// A valid question.
#[derive(Debug, Clone, Copy)]
struct Checked {
    difference: f64,
    /// Variance of the difference times n, and the same under equal rates.
    variance: f64,
    null_variance: f64,
    z: f64,
}

impl PowerQuestion {
    fn check(&self) -> Result<Checked, PowerError> {
        for rate in [self.first, self.second] {
            if !(rate > 0.0 && rate < 1.0) {
                return Err(PowerError::Rate(rate));
            }
            let most = 2.0 * rate.min(1.0 - rate);
            if !(0.0..most).contains(&self.draws) {
                return Err(PowerError::Draws { draws: self.draws, rate, most });
            }
        }
        let difference = (self.first - self.second).abs();
        if difference == 0.0 {
            return Err(PowerError::Equal(self.first));
        }
        let level = PowerError::Probability { what: "level", value: self.level };
        let z = -normal::quantile(self.level / 2.0).filter(|_| self.level < 1.0).ok_or(level)?;
        let variance = |p: f64| p * (1.0 - p) - self.draws / 4.0;
        let (variance, null_variance) = if self.known_second {
            (variance(self.first), variance(self.second))
        } else {
            let mean = 0.5 * (self.first + self.second);
            (variance(self.first) + variance(self.second), 2.0 * variance(mean))
        };
        Ok(Checked { difference, variance, null_variance, z })
    }

    /// The probability that a test over `games` games of each system detects the difference.
    ///
    /// # Errors
    /// [`PowerError`] for impossible rates, draws or level.
    pub fn power(&self, games: u64) -> Result<f64, PowerError> {
        Ok(self.check()?.power(games))
    }

    /// The fewest games of each system that detect the difference with probability `power`.
    ///
    /// # Errors
    /// [`PowerError`] for impossible rates, draws, level or power.
    pub fn games(&self, power: f64) -> Result<u64, PowerError> {
        let checked = self.check()?;
        if !(power > 0.0 && power < 1.0) {
            return Err(PowerError::Probability { what: "power", value: power });
        }
        // power grows with the games; more than 2^52 are never needed
        let (mut low, mut high) = (0u64, 1u64);
        while checked.power(high) < power && high < 1 << 52 {
            (low, high) = (high, high * 2);
        }
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if checked.power(middle) < power {
                low = middle;
            } else {
                high = middle;
            }
        }
        Ok(high)
    }
}

impl Checked {
    fn power(&self, games: u64) -> f64 {
        if games == 0 {
            return 0.0;
        }
        let n = games as f64;
        let reach = self.z * (self.null_variance / n).sqrt();
        let error = (self.variance / n).sqrt();
        normal::cdf((self.difference - reach) / error) + normal::cdf((-self.difference - reach) / error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(first: f64, second: f64) -> PowerQuestion {
        PowerQuestion { first, second, draws: 0.0, level: 0.05, known_second: false }
    }

    #[test]
    fn a_thousand_games_find_the_difference_of_table_4_with_59_percent() {
        // Takeuchi 2018, table 4: .427 against .379 in 1,000 games each
        let question = asked(0.427, 0.379);
        assert_eq!(format!("{:.2}", question.power(1000).unwrap()), "0.59");
        let needed = question.games(0.8).unwrap();
        assert!(question.power(needed).unwrap() >= 0.8 && question.power(needed - 1).unwrap() < 0.8);
        assert!((1600..1700).contains(&needed), "{needed}");
    }

    #[test]
    fn draws_help_and_corrections_cost() {
        let question = asked(0.55, 0.5);
        let power = |q: PowerQuestion| q.power(500).unwrap();
        assert!(power(PowerQuestion { draws: 0.5, ..question }) > power(question));
        assert!(power(PowerQuestion { level: 0.05 / 3.0, ..question }) < power(question));
        assert!(power(PowerQuestion { known_second: true, ..question }) > power(question));
        // with hardly any difference, the power is the level
        assert!((power(asked(0.5, 0.5 + 1e-9)) - 0.05).abs() < 1e-6);
    }

    #[test]
    fn impossible_questions_are_refused() {
        let refused = |q: PowerQuestion| q.power(10).unwrap_err().to_string();
        assert!(refused(asked(1.2, 0.5)).contains("1.2"));
        assert!(refused(asked(0.5, 0.5)).contains("no number of games"));
        assert!(refused(PowerQuestion { draws: 0.9, ..asked(0.4, 0.5) }).contains("0.800"));
        assert!(refused(PowerQuestion { level: 1.0, ..asked(0.4, 0.5) }).contains("level"));
        assert!(asked(0.4, 0.5).games(1.0).is_err());
    }
}
