//! Votes and voters.

use serde::{Deserialize, Serialize};

use evalcurve_calibration::{Calibration, Score};

/// A move as a number that the caller assigns: equal moves have equal numbers, and nothing else matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Move(pub u32);

/// How a score that is not exact bounds the true score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Bound {
    /// `lowerbound`: the true score is this or more.
    Lower,
    /// `upperbound`: the true score is this or less.
    Upper,
}

/// The move that one voter would play in a position, with its score in the view of the side to move.
///
/// In a slice of votes, `None` is an abstention.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Vote<'a> {
    pub best: Move,
    /// Its score; `None` if the engine gave none, as for a move from its book.
    pub score: Option<Score>,
    /// Whether the score is only a bound.
    pub bound: Option<Bound>,
    /// The best moves with their scores, best first, as from MultiPV; may be empty.
    pub list: &'a [(Move, Score)],
    /// Scores of moves of other voters, from a second round of searches; may be empty.
    pub judged: &'a [(Move, Score)],
    /// Its move after a longer search of the position, which a budget gives to one voter.
    pub deeper: Option<Move>,
    /// The win rate in 0..=1 if the caller knows it; otherwise it comes from the voter's calibration.
    pub win_rate: Option<f64>,
    /// The standardised score if the caller knows it; otherwise it comes from the voter's calibration.
    pub standardized: Option<f64>,
}

impl Vote<'_> {
    /// A vote with an exact score.
    pub fn new(best: Move, score: Score) -> Self {
        Self { score: Some(score), ..Self::without_score(best) }
    }

    /// A vote with nothing but a move.
    pub fn without_score(best: Move) -> Self {
        Self {
            best,
            score: None,
            bound: None,
            list: &[],
            judged: &[],
            deeper: None,
            win_rate: None,
            standardized: None,
        }
    }
}

/// The role of a voter in its council.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Role {
    #[default]
    Member,
    /// Votes, and its move decides ties; at most one.
    Leader,
    /// Scores the moves of two advisers under 3-Hirn; votes under every other rule.
    Chooser,
}

/// A voter: everything that stays the same during a game.
#[derive(Debug, Clone, Copy)]
pub struct Voter<'a> {
    /// Its name, for explanations.
    pub name: &'a str,
    pub role: Role,
    /// Its weight, 0 or more; `None` for [`Definition::weight`](super::Definition::weight) of the rule.
    pub weight: Option<f64>,
    /// Its weights in later phases of a game, by rising ply; before the first of them `weight` counts.
    pub phases: &'a [PhaseWeight],
    /// Turns its scores into win rates. Without it, rules that compare win rates skip its votes, unless the votes bring
    /// their own win rates.
    pub calibration: Option<&'a Calibration>,
    /// The noise s: the standard deviation of its logit around the true one; `None` for
    /// [`Options::noise`](super::Options).
    pub noise: Option<f64>,
    /// Its rating in Elo points.
    pub strength: Option<f64>,
    /// Its votes bring their own win rates, so that it needs no calibration.
    pub brings_win_rates: bool,
}

impl<'a> Voter<'a> {
    /// A member with nothing but a name.
    pub fn member(name: &'a str) -> Self {
        Self {
            name,
            role: Role::Member,
            weight: None,
            phases: &[],
            calibration: None,
            noise: None,
            strength: None,
            brings_win_rates: false,
        }
    }

    /// A leader with nothing but a name.
    pub fn leader(name: &'a str) -> Self {
        Self { role: Role::Leader, ..Self::member(name) }
    }

    /// The voter with the weight that it has for the move of this number.
    #[must_use]
    pub fn at(self, ply: Option<u32>) -> Self {
        let phase = self.phases.iter().rfind(|phase| ply.is_some_and(|ply| phase.from_ply <= ply));
        Self { weight: phase.map_or(self.weight, |phase| Some(phase.weight)), phases: &[], ..self }
    }
}

/// The weight of a voter from a ply on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PhaseWeight {
    /// The number of the first move that it counts for, from the start of the game.
    pub from_ply: u32,
    /// The weight, 0 or more.
    pub weight: f64,
}

/// The rank of a score for the side to move, larger is better. A shorter win is better, as is a longer loss; a mate of
/// unknown length ranks last among wins or losses.
pub(super) fn rank(score: Score) -> (u8, f64) {
    match score {
        Score::Mate { wins: true, plies } => (2, plies.map_or(f64::NEG_INFINITY, |p| -f64::from(p))),
        Score::Cp(cp) => (1, cp),
        Score::Mate { wins: false, plies } => (0, plies.map_or(f64::NEG_INFINITY, f64::from)),
    }
}

/// Whether the first score is better than the second; false if either is NaN.
pub(super) fn better(a: Score, b: Score) -> bool {
    rank(a).partial_cmp(&rank(b)) == Some(std::cmp::Ordering::Greater)
}
