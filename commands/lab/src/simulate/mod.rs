//! Simulated councils: the model of LFICS ("合議の効能", 2016-12).
//!
//! A position has n candidate moves; the best is worth A, the others A - d. Engine i sees each with normal noise of
//! standard deviation s_i, votes for the best it sees, and reports the value it sees. The simulation counts how often
//! each rule finds the best move. The rules are those of [`evalcurve_rules`], by the functions that councils
//! decide with.
//!
//! ```
//! use evalcurve_lab::simulate::{Contender, Model, RunOptions, simulate};
//!
//! let model = Model::lfics(&[1.0, 1.5, 1.5], 2, 1.0);
//! let options = RunOptions { trials: 100_000, seed: 1, threads: None };
//! let found = simulate(&model, &Contender::lfics(), options)?;
//! let leader = &found.rules[0];
//! assert_eq!(leader.contender.name(), "majority, ties to the leader");
//! assert!((leader.best_move.value() - 0.794).abs() < 0.01);
//! # Ok::<(), evalcurve_lab::simulate::ModelError>(())
//! ```

mod document;
#[cfg(feature = "program")]
mod exact;
mod model;
mod ratio;
mod run;
#[cfg(feature = "program")]
pub mod sweep;
mod votes;

pub use self::document::document;
#[cfg(feature = "program")]
pub use self::exact::{agreement_rate, best_move_rate};
pub use self::model::{CalibrationOf, Contender, Engine, MOST_ENGINES, Model, ModelError, Synchronisation};
#[cfg(feature = "program")]
pub(crate) use self::run::votes;
pub use self::run::{Ballot, Rate, RuleResult, RunOptions, Simulation, simulate};

#[cfg(feature = "program")]
#[cfg(test)]
mod tests;
