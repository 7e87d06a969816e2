//! A vote, and whoever gives it.

use crate::calibration::{Calibration, Score};

/// A move as a number that the caller gives: equal moves have equal numbers, and nothing else matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Move(pub u32);

/// What an engine said of a score that is not exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// `lowerbound`: the true score is this or more.
    Lower,
    /// `upperbound`: the true score is this or less.
    Upper,
}

/// What one voter would play in a position, and how good it thinks that is. All scores in the view of the mover.
///
/// Whoever abstains has no vote: `None` in the slice of votes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Vote<'a> {
    /// The move voted for.
    pub best: Move,
    /// Its score; `None` where the engine gave none, as for a move from its book.
    pub score: Option<Score>,
    /// Whether the score is a bound only.
    pub bound: Option<Bound>,
    /// The best moves with their scores, best first, as MultiPV gives them; may be empty.
    pub list: &'a [(Move, Score)],
    /// The win rate in 0..=1 where the caller knows it; else it comes from the voter's calibration.
    pub win_rate: Option<f64>,
    /// The standardised score where the caller knows it; else it comes from the voter's calibration.
    pub standardized: Option<f64>,
}

impl Vote<'_> {
    /// An exact score for a move.
    pub fn new(best: Move, score: Score) -> Self {
        Self { score: Some(score), ..Self::without_score(best) }
    }

    /// A move alone.
    pub fn without_score(best: Move) -> Self {
        Self { best, score: None, bound: None, list: &[], win_rate: None, standardized: None }
    }
}

/// What a voter is to its council.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Role {
    /// Votes.
    #[default]
    Member,
    /// Votes, and its move decides ties; one at most.
    Leader,
    /// Scores the moves of two advisers under [`Rule::ThreeHirn`](super::Rule::ThreeHirn); votes under every other rule.
    Chooser,
}

impl Role {
    /// All roles, in the order of declaration.
    pub const ALL: [Self; 3] = [Self::Member, Self::Leader, Self::Chooser];

    /// The name in configurations and logs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Member => "member",
            Self::Leader => "leader",
            Self::Chooser => "chooser",
        }
    }

    /// The role of that name, `None` where none has it.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == name)
    }
}

/// A voter: what stays the same over a game.
#[derive(Debug, Clone, Copy)]
pub struct Voter<'a> {
    /// Its name, for explanations.
    pub name: &'a str,
    /// Its role.
    pub role: Role,
    /// Its weight, not negative. `None`: 1, and 1.5 for the leader of a weighted majority (Sato 2013, section 2.1).
    pub weight: Option<f64>,
    /// What turns its scores into win rates; without it the rules over win rates pass over its votes, unless those
    /// bring win rates of their own.
    pub calibration: Option<&'a Calibration>,
    /// The standard deviation s of its logit around the true one, in logits; `None`: [`Options::noise`](super::Options).
    pub noise: Option<f64>,
    /// Its rating in Elo points.
    pub strength: Option<f64>,
}

impl<'a> Voter<'a> {
    /// A member of whom nothing but the name is known.
    pub fn member(name: &'a str) -> Self {
        Self { name, role: Role::Member, weight: None, calibration: None, noise: None, strength: None }
    }

    /// A leader of whom nothing else is known.
    pub fn leader(name: &'a str) -> Self {
        Self { role: Role::Leader, ..Self::member(name) }
    }
}

/// Where a score stands among others: the larger the better for the mover. A win announced with fewer plies is better,
/// a loss with more; a mate of unknown length comes last among its like.
pub(super) fn rank(score: Score) -> (u8, f64) {
    match score {
        Score::Mate { wins: true, plies } => (2, plies.map_or(f64::NEG_INFINITY, |p| -f64::from(p))),
        Score::Cp(cp) => (1, cp),
        Score::Mate { wins: false, plies } => (0, plies.map_or(f64::NEG_INFINITY, f64::from)),
    }
}

/// Whether the first score is better than the second. NaN is better than nothing.
pub(super) fn better(a: Score, b: Score) -> bool {
    rank(a).partial_cmp(&rank(b)) == Some(std::cmp::Ordering::Greater)
}
