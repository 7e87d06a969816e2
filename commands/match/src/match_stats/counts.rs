//! Counts of results.

use std::fmt;
use std::ops::AddAssign;
use std::str::FromStr;

use evalcurve_calibration::types::Outcome;
use evalcurve_fit::curve::{Z_95, wilson};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Wins, draws and losses of one player.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
pub struct Wdl {
    /// Games won.
    pub wins: u64,
    /// Games drawn.
    pub draws: u64,
    /// Games lost.
    pub losses: u64,
}

/// A text that is not a result.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("'{0}' is not a result: write wins, draws and losses as 423-8-569, or five counts of pairs as 2-10-30-12-1")]
pub struct ResultError(pub String);

impl Wdl {
    /// Makes counts, in the order in which results are written.
    pub fn new(wins: u64, draws: u64, losses: u64) -> Self {
        Self { wins, draws, losses }
    }

    pub fn games(&self) -> u64 {
        self.wins.saturating_add(self.draws).saturating_add(self.losses)
    }

    /// Points, with half a point per draw.
    pub fn points(&self) -> f64 {
        self.wins as f64 + 0.5 * self.draws as f64
    }

    /// Win rate from 0 to 1, with a draw as half a win; `None` without games.
    pub fn rate(&self) -> Option<f64> {
        (self.games() > 0).then(|| self.points() / self.games() as f64)
    }

    /// 95% Wilson interval of the win rate; conservative with draws (see [`wilson`]).
    pub fn wilson(&self) -> (f64, f64) {
        wilson(self.points(), self.games() as f64, Z_95)
    }

    /// Counts one game.
    pub fn add(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Win => self.wins += 1,
            Outcome::Draw => self.draws += 1,
            Outcome::Loss => self.losses += 1,
        }
    }

    /// The same games in the view of the other player.
    pub fn reversed(&self) -> Self {
        Self { wins: self.losses, draws: self.draws, losses: self.wins }
    }
}

impl AddAssign for Wdl {
    fn add_assign(&mut self, other: Self) {
        self.wins += other.wins;
        self.draws += other.draws;
        self.losses += other.losses;
    }
}

impl fmt::Display for Wdl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-{}", self.wins, self.draws, self.losses)
    }
}

/// Parses `N` numbers between dashes, each small enough that sums cannot overflow.
fn numbers<const N: usize>(text: &str) -> Result<[u64; N], ResultError> {
    let refuse = || ResultError(text.to_owned());
    let mut out = [0; N];
    let mut parts = text.trim().split('-');
    for slot in &mut out {
        let part = parts.next().map(str::trim).filter(|p| p.bytes().all(|b| b.is_ascii_digit())).ok_or_else(refuse)?;
        *slot = part.parse().ok().filter(|n| *n <= 1 << 48).ok_or_else(refuse)?;
    }
    if parts.next().is_some() { Err(refuse()) } else { Ok(out) }
}

impl FromStr for Wdl {
    type Err = ResultError;

    /// `wins-draws-losses`.
    fn from_str(text: &str) -> Result<Self, ResultError> {
        numbers::<3>(text).map(|[wins, draws, losses]| Self { wins, draws, losses })
    }
}

/// Pairs of games that began from one opening with colours swapped, by the points made in the two games.
///
/// The games of a pair are not independent: an opening that favours Black gives each player one easy game. Pairs are
/// independent, so that their variance is right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
pub struct Pentanomial {
    /// Pairs with 0, ½, 1, 1½ and 2 points.
    pub counts: [u64; 5],
}

impl Pentanomial {
    /// Makes counts by points, fewest first, as fishtest and fastchess write them.
    pub fn new(counts: [u64; 5]) -> Self {
        Self { counts }
    }

    /// Number of pairs; the number of games is twice as large.
    pub fn pairs(&self) -> u64 {
        self.counts.iter().fold(0, |sum, n| sum.saturating_add(*n))
    }

    /// Counts a pair of outcomes of one player.
    pub fn add(&mut self, first: Outcome, second: Outcome) {
        // 0, ½ and 1 as 0, 1 and 2
        self.counts[first as usize + second as usize] += 1;
    }

    /// The same pairs in the view of the other player.
    pub fn reversed(&self) -> Self {
        let mut counts = self.counts;
        counts.reverse();
        Self { counts }
    }
}

impl AddAssign for Pentanomial {
    fn add_assign(&mut self, other: Self) {
        self.counts.iter_mut().zip(other.counts).for_each(|(a, b)| *a += b);
    }
}

impl FromStr for Pentanomial {
    type Err = ResultError;

    /// Five counts between dashes, pairs with fewest points first.
    fn from_str(text: &str) -> Result<Self, ResultError> {
        numbers::<5>(text).map(Self::new)
    }
}

/// Independent trials by the share of points won in each: games (0, ½, 1) or pairs of games (0, ¼, ½, ¾, 1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Points {
    counts: Vec<u64>,
    /// The games, where they are known.
    pub(super) games: Option<Wdl>,
}

impl From<Wdl> for Points {
    fn from(games: Wdl) -> Self {
        Self { counts: vec![games.losses, games.draws, games.wins], games: Some(games) }
    }
}

impl From<Pentanomial> for Points {
    fn from(pairs: Pentanomial) -> Self {
        Self { counts: pairs.counts.to_vec(), games: None }
    }
}

impl Points {
    /// The same pairs, whose games are known.
    #[must_use]
    pub fn of_games(self, games: Option<Wdl>) -> Self {
        Self { games, ..self }
    }

    /// Counts by points, fewest first: three of games or five of pairs.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// The share of points of the outcome with this index.
    pub fn value(&self, index: usize) -> f64 {
        index as f64 / (self.counts.len() - 1) as f64
    }

    /// Games per trial: 1, or 2 for pairs.
    pub(crate) fn games_per_trial(&self) -> u64 {
        if self.counts.len() == 5 { 2 } else { 1 }
    }

    pub fn trials(&self) -> u64 {
        self.counts.iter().fold(0, |sum, n| sum.saturating_add(*n))
    }

    pub fn games(&self) -> u64 {
        self.trials().saturating_mul(self.games_per_trial())
    }

    /// Mean and variance (divided by the number of trials) of the share of points per trial; `None` without trials.
    pub fn moments(&self) -> Option<(f64, f64)> {
        let n = self.trials() as f64;
        if n == 0.0 {
            return None;
        }
        let sum = |term: &dyn Fn(f64) -> f64| -> f64 {
            self.counts.iter().enumerate().map(|(i, &count)| count as f64 * term(self.value(i))).sum()
        };
        let mean = sum(&|v| v) / n;
        Some((mean, sum(&|v| (v - mean) * (v - mean)) / n))
    }

    /// Σ (x - ½) / √Σ (x - ½)² over the trials: a standard normal number if both players are equally strong; `None` if
    /// each trial is even. For games it is (W - L)/√(W + L).
    pub fn z(&self) -> Option<f64> {
        let deviations = || self.counts.iter().enumerate().map(|(i, &count)| (count as f64, self.value(i) - 0.5));
        let squares: f64 = deviations().map(|(n, d)| n * d * d).sum();
        (squares > 0.0).then(|| deviations().map(|(n, d)| n * d).sum::<f64>() / squares.sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Wdl {
        /// The win rate as papers print it: rounded to `decimals`, halves up, in exact arithmetic (145 of 400 is
        /// .363, not .362). `None` without games or with more than 9 decimals.
        pub(crate) fn printed_rate(&self, decimals: u32) -> Option<String> {
            if self.games() == 0 || decimals > 9 {
                return None;
            }
            let (half_points, half_games) =
                (2 * u128::from(self.wins) + u128::from(self.draws), 2 * u128::from(self.games()));
            let scale = 10u128.pow(decimals);
            let rounded = (2 * half_points * scale + half_games) / (2 * half_games);
            let fraction = format!("{:0width$}", rounded % scale, width = decimals as usize);
            Some(if decimals == 0 { rounded.to_string() } else { format!("{}.{fraction}", rounded / scale) })
        }
    }

    #[test]
    fn rates_count_draws_half_and_round_as_printed() {
        let games = Wdl::new(145, 0, 255);
        assert_eq!(games.rate(), Some(0.3625));
        assert_eq!(games.printed_rate(3).as_deref(), Some("0.363"));
        assert_eq!(Wdl::new(423, 8, 569).printed_rate(3).as_deref(), Some("0.427"));
        assert_eq!(Wdl::new(685, 9, 306).printed_rate(4).as_deref(), Some("0.6895"));
        assert_eq!(Wdl::new(3, 0, 0).printed_rate(2).as_deref(), Some("1.00"));
        assert_eq!(Wdl::new(1, 1, 0).printed_rate(0).as_deref(), Some("1"));
        assert_eq!(Wdl::default().printed_rate(3), None);
        assert_eq!(Wdl::default().rate(), None);
        assert_eq!(Wdl::default().wilson(), (0.0, 1.0));
    }

    #[test]
    fn results_are_read_and_refused() {
        assert_eq!("423-8-569".parse(), Ok(Wdl::new(423, 8, 569)));
        assert_eq!("1-2-3-4-5".parse(), Ok(Pentanomial::new([1, 2, 3, 4, 5])));
        for bad in ["", "1-2", "1-2-3-4", "a-b-c", "1--3", "-1-2-3", "1-2-99999999999999999999", "+1-2-3"] {
            let error = bad.parse::<Wdl>().unwrap_err();
            assert!(error.to_string().contains("423-8-569"), "{bad}");
        }
        assert_eq!(Wdl::new(1, 2, 3).to_string(), "1-2-3");
    }

    #[test]
    fn pairs_hold_the_points_of_two_games() {
        let mut pairs = Pentanomial::default();
        for (a, b) in [(Outcome::Win, Outcome::Loss), (Outcome::Draw, Outcome::Draw), (Outcome::Win, Outcome::Draw)] {
            pairs.add(a, b);
        }
        assert_eq!(pairs.counts, [0, 0, 2, 1, 0]);
        assert_eq!(pairs.reversed().counts, [0, 1, 2, 0, 0]);
        let points = Points::from(pairs);
        assert_eq!((points.trials(), points.games()), (3, 6));
        let (mean, variance) = points.moments().unwrap();
        assert!((mean - 3.5 / 6.0).abs() < 1e-15 && (variance - 1.0 / 72.0).abs() < 1e-15);
    }

    #[test]
    fn z_of_games_is_wins_less_losses() {
        let z = Points::from(Wdl::new(20, 7, 9)).z().unwrap();
        assert!((z - 11.0 / 29f64.sqrt()).abs() < 1e-14);
        assert_eq!(Points::from(Wdl::new(0, 5, 0)).z(), None);
    }
}
