//! What a decision takes beside the votes, and whether a rule can work with it.

use super::kind::{Rule, TieRule};
use super::vote::{Move, Role, Voter};
use crate::calibration::Score;

/// What a decision takes beside rule, voters and votes.
#[derive(Debug, Clone, Copy)]
pub struct Options<'a> {
    /// How ties are broken.
    pub tie: TieRule,
    /// Whether announced mates stand above the rule; `None`: [`Rule::mates_by_default`].
    pub mates: Option<bool>,
    /// d: how much better the best move is than the others, in logits, above 0. For [`Rule::Optimal`], and for moves that
    /// are missing from a list in the pools.
    pub gap: f64,
    /// s: the noise of a voter that has none of its own, in logits, above 0.
    pub noise: f64,
    /// A: the logit of the best move for [`Rule::Optimal`], where it is known; `None`: estimated from the votes.
    pub best: Option<f64>,
    /// How many standard errors [`Rule::CorrectedOptimistic`] takes off a logit, 0 or more.
    pub caution: f64,
    /// Seed of drawn ties.
    pub seed: u64,
    /// What makes this position's draw its own; see [`tally::draw_key`](super::tally::draw_key).
    pub draw_key: u64,
    /// Moves searched on request: by the strongest voter for a tie, by the chooser for 3-Hirn.
    /// See [`Decision::needs_search`](super::Decision::needs_search).
    pub searched: &'a [(Move, Score)],
}

impl Default for Options<'_> {
    /// Ties to the leader; d = 0.3 and s = 2 d (the figure of LFICS 2016-12 with equal voters).
    fn default() -> Self {
        Self {
            tie: TieRule::Leader,
            mates: None,
            gap: 0.3,
            noise: 0.6,
            best: None,
            caution: 2.0,
            seed: 0,
            draw_key: 0,
            searched: &[],
        }
    }
}

/// Why a rule cannot decide, or could never decide with these voters.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RuleError {
    /// All abstained.
    #[error("nobody voted; play a move of your own, or ask the voters again")]
    NobodyVoted,
    /// The slices do not fit.
    #[error("{votes} votes for {voters} voters; give one a voter, None for whoever abstains")]
    Lengths {
        /// Voters given.
        voters: usize,
        /// Votes given.
        votes: usize,
    },
    /// A number is out of its range.
    #[error("{what} is {value}; give {range}")]
    Range {
        /// Which number.
        what: String,
        /// Its value.
        value: f64,
        /// What it may be.
        range: &'static str,
    },
    /// A rule needs what no voter, or a named one, has.
    #[error("rule {rule}: {problem}; {remedy}")]
    Needs {
        /// The rule.
        rule: Rule,
        /// What is missing.
        problem: String,
        /// What to do about it.
        remedy: &'static str,
    },
}

/// Checks once, before the first decision, that the rule can work with these voters.
///
/// # Errors
/// A weight, noise or option out of range; two leaders; no win rates for a rule that compares them; no standardisation, no
/// rating, no chooser where the rule or the tie rule needs one.
pub fn check(rule: Rule, voters: &[Voter<'_>], options: &Options<'_>) -> Result<(), RuleError> {
    let range = |what: String, value: f64, good: bool, range| {
        if good { Ok(()) } else { Err(RuleError::Range { what, value, range }) }
    };
    for voter in voters {
        let of = |what| format!("the {what} of {}", voter.name);
        if let Some(w) = voter.weight {
            range(of("weight"), w, w >= 0.0 && w.is_finite(), "a number from 0")?;
        }
        if let Some(s) = voter.noise {
            range(of("noise"), s, s > 0.0 && s.is_finite(), "a number above 0, in logits")?;
        }
        if let Some(r) = voter.strength {
            range(of("strength"), r, r.is_finite(), "a rating in Elo points")?;
        }
    }
    let Options { gap, noise, caution, .. } = *options;
    range("the gap d".into(), gap, gap > 0.0 && gap.is_finite(), "a number above 0, in logits")?;
    range("the noise s".into(), noise, noise > 0.0 && noise.is_finite(), "a number above 0, in logits")?;
    range("the caution".into(), caution, caution >= 0.0 && caution.is_finite(), "a number from 0")?;

    let needs = |problem: &str, remedy| Err(RuleError::Needs { rule, problem: problem.to_owned(), remedy });
    let count = |role| voters.iter().filter(|v| v.role == role).count();
    if count(Role::Leader) > 1 {
        return needs("two voters are the leader", "make one of them a member");
    }
    if rule == Rule::ThreeHirn && (count(Role::Chooser) != 1 || voters.len() < 3) {
        return needs("it takes one chooser and two advisers", "give one voter the role chooser");
    }
    if rule == Rule::StandardizedOptimistic
        && !voters.iter().any(|v| v.calibration.is_some_and(|c| c.standardization.is_some()))
    {
        return needs("no voter has a calibration with mean and sd", "calibrate the engines, or take another rule");
    }
    let rated = voters.iter().any(|v| v.strength.is_some());
    if matches!(rule, Rule::Strongest | Rule::StrengthPool) && !rated {
        return needs("no voter has a rating", "give the voters their strength in Elo points");
    }
    if options.tie == TieRule::Strongest && !rated {
        return needs(
            "no voter has a rating for the tie rule strongest",
            "give the voters their strength, or take leader",
        );
    }
    Ok(())
}
