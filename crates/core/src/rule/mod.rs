//! Every way to decide a vote: what several engines would play in, one move out. Pure: no files, no clocks.
//!
//! [`decide`] is what a council calls: it takes the [`Voter`]s, their [`Vote`]s and a [`Rule`], and gives a
//! [`Decision`] that can say why. Its arithmetic stands in [`tally`] and [`likelihood`], as functions over plain
//! slices that allocate nothing; simulations call those.
//!
//! Every rule gives each voter a value, and the voter with the largest is adopted: v = V w and C(p) = AI_r(v)(p) for the
//! majority (Sato, *An Analysis of Voting Algorithm in Games*, 2013, eq. 2.27 and 2.33), the score itself for optimism.
//!
//! ```
//! use evalcurve_core::calibration::Score;
//! use evalcurve_core::rule::{Move, Options, Rule, Vote, Voter, decide};
//!
//! let voters = [Voter::leader("A"), Voter::member("B"), Voter::member("C")];
//! let vote = |best, cp| Some(Vote::new(Move(best), Score::Cp(cp)));
//! let votes = [vote(1, 80.0), vote(2, 30.0), vote(2, 120.0)];
//! let decision = decide(Rule::Majority, &voters, &votes, &Options::default()).unwrap();
//! assert_eq!(decision.chosen, Move(2));
//! assert_eq!(decision.agreeing, [1, 2]);
//! ```

mod decide;
mod decision;
mod kind;
pub mod likelihood;
pub mod log;
mod measured;
pub mod noise;
mod options;
pub mod pool;
pub mod replay;
pub mod tally;
#[cfg(test)]
mod tests;
mod vote;
pub mod winrate;

pub use decide::{LEADER_WEIGHT, decide};
pub use decision::{Decision, Explanation, Reason, TieBroken, VoteExplained};
pub use kind::{Rule, TieRule};
pub use options::{Options, RuleError, check};
pub use vote::{Bound, Move, Role, Vote, Voter};
