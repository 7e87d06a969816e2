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
pub use journal::JournalError;
pub use run::{Analyse, AnalyseError, Outcome, Searched, Status};

use evalcurve_council::usi;

/// A position to search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position {
    /// The start of the game and the moves to the position.
    pub at: usi::Position,
}

impl Position {
    /// A number for the start and the moves.
    fn key(&self) -> u64 {
        let start = self.at.start.iter().flat_map(|text| text.bytes());
        let moves = self.at.moves.iter().flat_map(|text| text.bytes().chain([b' ']));
        digest(start.chain([b'|']).chain(moves))
    }
}

/// A number for these bytes.
fn digest(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0, |hash, byte| evalcurve_core::random::mix(hash ^ (u64::from(byte) + 1)))
}
