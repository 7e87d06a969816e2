//! Rules that decide the votes of several engines: votes in, one move out. No files, no clocks.
//!
//! [`decide`] is what a council calls. It takes the [`Voter`]s, their [`Vote`]s and a [`Rule`], and returns a
//! [`Decision`] that can explain itself. A rule is a file in [`rules`] that implements [`Definition`]; its arithmetic
//! works on plain slices without allocation, so that simulations call the same functions.
//!
//! Every rule assigns a value to each vote and adopts the vote with the largest: v = V w and C(p) = AI_r(v)(p) for the
//! majority (Sato, *An Analysis of Voting Algorithm in Games*, 2013, eq. 2.27 and 2.33), the score itself for optimism.
//!
//! ```
//! use evalcurve_calibration::Score;
//! use evalcurve_rules::{Move, Options, Rule, Vote, Voter, decide};
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
mod definition;
pub mod likelihood;
pub mod log;
mod measured;
pub mod noise;
mod options;
pub mod pool;
pub mod replay;
pub mod rules;
pub mod tally;
#[cfg(test)]
mod tests;
mod vote;
pub mod weights;
pub mod win_rate;

pub use decide::{check, decide};
pub use decision::{Decision, Explanation, Reason, TieBroken, VoteExplained};
pub use definition::{Columns, Definition, Needs, Pending, Visitor};
pub use options::{Options, RuleError, Stakes, TieRule};
pub use rules::Rule;
pub use vote::{Bound, Move, PhaseWeight, Role, Vote, Voter};
