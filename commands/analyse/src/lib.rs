//! Lets engines search positions of games that they did not play.
//!
//! [`Search`] has the options, and [`Search::run`] searches positions in their order with every engine, on several
//! processes of each. The answers up to a position depend neither on the number of processes nor on kills in between,
//! if the limit of an engine is a number of nodes or a depth: every search begins as a new game, and an engine is given
//! up by its answers in the order of the positions. [`annotate`] writes scores into the text of games.

pub mod annotate;
mod answer;
#[cfg(feature = "cli")]
pub mod checked;
#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "cli")]
pub mod games;
mod journal;
#[cfg(feature = "cli")]
pub mod page;
#[cfg(feature = "cli")]
pub mod review;
mod run;
#[cfg(feature = "cli")]
mod scored;

pub use answer::{Answer, Failed, Reason, Scored, Value};
pub use evalcurve_engine::usi::Position;
pub use journal::JournalError;
pub use run::{AnalyseError, GivenUp, Outcome, Search, Searched, Status};
#[cfg(feature = "cli")]
pub use scored::{Analyse, Analysis, Counts, Running};

/// The Japanese of the texts of this use.
pub const JAPANESE: &str = include_str!("ja.json");
