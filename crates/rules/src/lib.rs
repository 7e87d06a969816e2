//! Rules that decide the votes of several engines: votes in, one move out. No files, no clocks.
//!
//! ```
//! use evalcurve_calibration::{Calibration, Score};
//! use evalcurve_rules::{Move, Options, Rule, Vote, Voter, check, decide};
//!
//! # use evalcurve_calibration::{FittedModel, Method};
//! # let zshogi = Calibration::from_model("zshogi", Method::LeastSquares, FittedModel::sigmoid(0.003, 0.0));
//! # /*
//! let zshogi = Calibration::read("zshogi.json")?; // `evalcurve calibrate` writes it
//! # */
//! let voters = ["A", "B", "C"].map(|name| Voter { calibration: Some(&zshogi), ..Voter::member(name) });
//! check(&Rule::MeanWinRate, &voters, &Options::default())?; // once for each council
//! let (best, other) = (Move(0), Move(1)); // any number for each move
//! let votes = [(best, 80.0), (other, 30.0), (other, 120.0)].map(|(m, cp)| Some(Vote::new(m, Score::Cp(cp))));
//! let decision = decide(&Rule::MeanWinRate, &voters, &votes, &Options::default())?;
//! assert_eq!(decision.chosen, other);
//! println!("{}", decision.explain(&voters, &votes, |m| ["7g7f", "2g2f"][m.0 as usize].to_owned()).summary());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Setup: `cargo add evalcurve-rules evalcurve-calibration`. It has no features.
//!
//! [`decide`] is what a council calls. It takes the [`Voter`]s, their [`Vote`]s and a rule, and returns a [`Decision`]
//! that can explain itself. The rule is a [`Rule`] of the list, or your own: a type that implements [`DecisionRule`],
//! or a closure by [`by_value`]. A `None` among the votes is an abstention. [`log`] has the file of such decisions,
//! [`replay`](replay::replay()) decides a log by other rules, and [`weights`] keeps what was learned.
//!
//! A rule of the list is a file in [`rules`] that implements [`Definition`]; its arithmetic works on plain slices
//! without allocation, so that simulations call the same functions. Every rule assigns a value to each vote and adopts
//! the vote with the largest: v = V w and C(p) = AI_r(v)(p) for the majority (Sato, *An Analysis of Voting Algorithm in
//! Games*, 2013, eq. 2.27 and 2.33), the score itself for optimism.

mod decide;
mod decision;
mod definition;
pub mod likelihood;
pub mod log;
mod measured;
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
pub use definition::{Ballot, Columns, DecisionRule, Definition, Judge, Needs, Pending, Visitor, by_value};
pub use options::{Options, RuleError, Stakes, TieRule};
pub use rules::Rule;
pub use vote::{Bound, Move, PhaseWeight, Role, Vote, Voter};
