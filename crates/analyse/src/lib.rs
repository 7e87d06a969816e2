//! Lets engines search positions of games that they did not play.
//!
//! [`Analyse`] has the options, and [`Analyse::run`] searches positions in their order with every engine, on several
//! processes of each. The answers up to a position depend neither on the number of processes nor on kills in between,
//! if the limit of an engine is a number of nodes or a depth: every search begins as a new game, and an engine is given
//! up by its answers in the order of the positions.

mod answer;
mod engine;
mod journal;
mod run;

pub use answer::{Answer, Failed, Reason, Scored, Value};
pub use engine::{EngineError, parse_engine, parse_limit, words};
pub use evalcurve_council::usi::Position;
pub use journal::JournalError;
pub use run::{Analyse, AnalyseError, Outcome, Searched, Status};
