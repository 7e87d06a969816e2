//! What defines a rule: the trait that every file in `rules` implements, and the types that it works on.

use super::decide::Ballot;
use super::decision::{Decision, Reason};
use super::vote::{Move, Role, Voter};

/// A rule. To add one, write a file in `rules` that implements this trait, and add its line to the list in
/// `rules/mod.rs`.
///
/// Most rules define [`Self::values`]: one value per vote, the largest of which wins. A council calls it with the votes
/// of one position; a simulation calls the same function for many positions. A rule that looks at more than one number
/// per vote overrides [`Self::decide`] instead and sets `lists` or `chooser` in [`Self::NEEDS`], so that simulations
/// refuse it.
pub trait Definition: Sized {
    /// The name in configurations, options and vote logs.
    const NAME: &'static str;
    /// Which move wins, as the end of "adopts …".
    const SUMMARY: &'static str;
    /// The value of voter i's vote. `docs/rules.md` explains the symbols.
    const FORMULA: &'static str;
    /// Where the rule comes from.
    const SOURCE: &'static str;
    /// What the rule needs beyond moves. A vote that lacks it takes no part.
    const NEEDS: Needs;
    /// Whether announced mates outrank the rule by default: true for rules that look for the best score, false for
    /// those that count votes, trust one voter, or look for the smallest score.
    const MATES: bool;
    /// Whether the rule only compares win rates with each other. A simulation then passes logits in their place, which
    /// have the same order and need no exponential function.
    const WIN_RATE_ORDER_ONLY: bool = false;

    /// The weight of a vote, from the weight that the voter was given and its role.
    #[inline(always)]
    fn weight(given: Option<f64>, role: Role) -> f64 {
        let _ = (given, role);
        1.0
    }

    /// Writes the value of each vote; NaN for a vote that has none.
    ///
    /// Simulations call this in their innermost loop: no allocation, and no branch that depends on the votes.
    #[inline(always)]
    fn values(votes: &Columns<'_>, values: &mut [f64]) {
        let _ = votes;
        values.fill(f64::NAN);
    }

    /// Decides the votes of one position. By default the vote with the largest of [`Self::values`] wins, or the
    /// majority if no vote has a value.
    fn decide(ballot: &Ballot<'_>) -> Decision {
        ballot.by_value::<Self>(Reason::LargestValue)
    }

    /// Whether the outstanding votes can no longer change the decision, so that a council may stop early.
    fn is_settled(pending: &Pending<'_>) -> bool {
        let _ = pending;
        false
    }
}

/// What a rule needs beyond the moves voted for. Each of the first eight is a column of [`Columns`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Needs {
    /// Scores.
    pub scores: bool,
    /// Standardised scores.
    pub standardized: bool,
    /// Calibrated win rates.
    pub win_rates: bool,
    /// Logits of win rates.
    pub logits: bool,
    /// Standard errors of logits.
    pub standard_errors: bool,
    /// Log likelihood ratios. They depend on the logits, the noise and the gap.
    pub log_ratios: bool,
    /// Ratings.
    pub ratings: bool,
    /// What every voter thinks of every move that was voted for: a second round of searches.
    pub judged: bool,
    /// The voters' lists of moves (MultiPV).
    pub lists: bool,
    /// One voter with the role of chooser, and two advisers.
    pub chooser: bool,
}

impl Needs {
    /// Nothing but moves.
    pub(crate) const NOTHING: Self = Self {
        scores: false,
        standardized: false,
        win_rates: false,
        logits: false,
        standard_errors: false,
        log_ratios: false,
        ratings: false,
        judged: false,
        lists: false,
        chooser: false,
    };

    /// Whether one move and its value per voter are enough, so that the rule can be simulated.
    pub const fn can_be_simulated(self) -> bool {
        !self.lists && !self.chooser
    }

    /// Whether win rates are needed in any form, so that voters need calibrations.
    pub(crate) const fn any_win_rate(self) -> bool {
        self.win_rates || self.logits || self.standard_errors || self.log_ratios || self.judged
    }
}

/// The votes of one position as columns with one entry per vote, in the order of the voters. Voters that abstain are
/// left out, and a column that the rule does not need is empty.
#[derive(Debug, Clone, Copy)]
pub struct Columns<'a> {
    /// The moves voted for.
    pub moves: &'a [Move],
    /// The weights that [`Definition::weight`] gives.
    pub weights: &'a [f64],
    /// Scores in centipawns; a mate is infinite.
    pub scores: &'a [f64],
    /// Scores in standard deviations from the voter's mean.
    pub standardized: &'a [f64],
    /// Win rates in 0..=1.
    pub win_rates: &'a [f64],
    /// Logits of the win rates.
    pub logits: &'a [f64],
    /// Standard errors of the logits: noise of the voter and error of its calibration.
    pub standard_errors: &'a [f64],
    /// Log likelihood ratio of each vote if its move is the best; see
    /// [`log_ratio`](super::likelihood::log_ratio).
    pub log_ratios: &'a [f64],
    /// Ratings.
    pub ratings: &'a [f64],
    /// Mean logit of the move of each vote over all voters.
    pub judged: &'a [f64],
    /// How many standard errors to subtract, from [`Options::caution`](super::Options).
    pub caution: f64,
}

/// A decision that some voters have not yet voted on.
#[derive(Debug, Clone, Copy)]
pub struct Pending<'a> {
    /// All voters.
    pub voters: &'a [Voter<'a>],
    /// The votes so far, one per voter.
    pub votes: &'a [Option<Move>],
    /// The voters that may still vote.
    pub outstanding: &'a [usize],
    /// The move that the votes so far choose.
    pub chosen: Move,
    /// The voter that carries it.
    pub carried_by: Option<usize>,
}

impl Pending<'_> {
    /// Whether the weight of the chosen move exceeds that of any other move and all outstanding votes together.
    pub(crate) fn has_unbeatable_support(&self, weight: impl Fn(Option<f64>, Role) -> f64) -> bool {
        let of = |i: usize| self.voters.get(i).map_or(0.0, |v| weight(v.weight, v.role));
        let support = |m: Move| -> f64 { (0..self.votes.len()).filter(|&i| self.votes[i] == Some(m)).map(of).sum() };
        let others = self.votes.iter().flatten().filter(|&&m| m != self.chosen);
        let second = others.map(|&m| support(m)).fold(0.0, f64::max);
        let to_come: f64 = self.outstanding.iter().map(|&i| of(i)).sum();
        support(self.chosen) > second + to_come
    }
}

/// A function over the type of a rule, for [`Rule::visit`](super::Rule::visit).
pub trait Visitor {
    /// What the function returns.
    type Output;

    /// Calls the function for the rule `R`.
    fn visit<R: Definition>(self) -> Self::Output;
}
