//! The options of a decision, and why they do not fit.

use evalcurve_calibration::{Reading, Score, Situation};
use serde::{Deserialize, Serialize};

use super::vote::Move;

/// Which of several moves with the same value wins.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Default,
    Serialize,
    Deserialize,
    strum::Display,
    strum::EnumString,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum TieRule {
    /// The leader's move if it is among them, else that of the first voter in order.
    #[default]
    Leader,
    /// One of them, drawn from [`Options::seed`] and [`Options::draw_key`].
    Draw,
    /// The one that the strongest voter scores highest (Sato 2013, eq. 2.35).
    Strongest,
}

impl TieRule {
    /// All tie rules, in the order of declaration.
    pub const ALL: &[Self] = <Self as strum::VariantArray>::VARIANTS;
}

/// What a budget spends more time on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Stakes {
    /// Votes that agree are final if their mean win rate is at least this, or at most 1 minus this; 0.5: always.
    pub agreed: f64,
    /// The same for votes that differ: the majority then decides; above 1: never.
    pub decided: f64,
    /// The second round judges the moves whose own voters see them within this of the best, in logits; 0: none.
    pub close: f64,
    /// If the best move leads the next by less than this, in logits, one member searches on; 0: none does.
    pub doubt: f64,
}

impl Default for Stakes {
    fn default() -> Self {
        Self { agreed: 0.5, decided: 0.9, close: 1.0, doubt: 0.0 }
    }
}

/// The options of a decision.
#[derive(Debug, Clone, Copy)]
pub struct Options<'a> {
    /// How ties are broken.
    pub tie: TieRule,
    /// Whether announced mates outrank the rule; `None` for [`Rule::mates_by_default`](super::Rule::mates_by_default).
    pub mates: Option<bool>,
    /// d, how much better the best move is than the others, in logits, above 0. The optimal rule uses it, and the pools
    /// use it for moves that are missing from a list.
    pub gap: f64,
    /// s, the noise of a voter without its own value, in logits, above 0.
    pub noise: f64,
    /// A, the logit of the best move for the optimal rule; `None` to estimate it from the votes.
    pub best: Option<f64>,
    /// How many standard errors the corrected-optimistic rule subtracts from a logit, 0 or more.
    pub caution: f64,
    /// The most moves that a second round of searches judges, 2 or more: each costs every voter a search.
    pub most_judged: usize,
    /// What [`Budget`](super::rules::Budget) spends more time on.
    pub stakes: Stakes,
    /// What is known of the position: the ply, the material, and the rating difference of the council and its opponent.
    pub situation: Situation,
    /// How win rates are read; [`Reading::Equal`] unless an old log is replayed.
    pub reading: Reading,
    /// Seed of drawn ties.
    pub seed: u64,
    /// The key of this position's draw; equal keys and seeds draw equal moves.
    pub draw_key: u64,
    /// Moves searched on request: by the strongest voter for a tie, by the chooser for 3-Hirn.
    /// See [`Decision::needs_search`](super::Decision::needs_search).
    pub searched: &'a [(Move, Score)],
}

impl Default for Options<'_> {
    /// Ties go to the leader; d = 0.3 and s = 2 d (the values of LFICS 2016-12 for equal voters).
    fn default() -> Self {
        Self {
            tie: TieRule::Leader,
            mates: None,
            gap: 0.3,
            noise: 0.6,
            best: None,
            caution: 2.0,
            most_judged: 3,
            stakes: Stakes::default(),
            situation: Situation::default(),
            reading: Reading::Equal,
            seed: 0,
            draw_key: 0,
            searched: &[],
        }
    }
}

/// Why a rule cannot decide.
#[derive(Debug, Clone, PartialEq, thiserror::Error, evalcurve_words::language::ToText)]
#[non_exhaustive]
pub enum RuleError {
    /// Every voter abstained.
    #[error("no voter voted; choose a move yourself, or ask the voters again")]
    NoVotes,
    /// The slices differ in length.
    #[error("{votes} votes for {voters} voters; give one per voter, None for an abstention")]
    Lengths { voters: usize, votes: usize },
    /// A number is out of range.
    #[error("{what} is {value}; give {range}")]
    Range {
        what: String,
        /// Its key in a configuration.
        key: &'static str,
        /// The place of the voter that it belongs to.
        voter: Option<usize>,
        value: f64,
        range: &'static str,
    },
    /// No voter has what the rule needs.
    #[error("rule {rule}: {problem}; {remedy}")]
    Needs { rule: &'static str, problem: String, remedy: &'static str },
}
