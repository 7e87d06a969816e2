//! The room of engines: what USI and UCI say, as types, and a child process that says it.
//!
//! USI (shogi) and UCI (chess) are one protocol in two sets of words; [`Protocol`] knows which. [`FromEngine`] is what an
//! engine says, [`FromGui`] what a GUI says. Reading never fails: what makes no sense is `Other`.
//! `Process` (feature `council`) is an engine that runs: lines in, lines out, with limits on what it may do to its caller.

mod go;
mod info;
mod lines;
mod message;
mod option;

mod process;

pub use go::{Clock, Go};
pub use info::{Info, SaidScore};
pub use lines::{Line, LineReader, MAX_LINE_BYTES};

pub(crate) use message::SetOption;
pub use message::{BestMove, FromEngine, FromGui, Position, Start};
pub use option::{OptionKind, OptionSpec};

pub use process::{Closed, Heard, Launch, Process, SpawnError};

/// Which words are spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// Shogi: `usi`, `usiok`, `usinewgame`, `sfen`.
    Usi,
    /// Chess: `uci`, `uciok`, `ucinewgame`, `fen`.
    Uci,
}

impl Protocol {
    /// The greeting: `usi` or `uci`.
    pub fn greeting(self) -> &'static str {
        match self {
            Self::Usi => "usi",
            Self::Uci => "uci",
        }
    }

    /// What answers the greeting.
    pub fn greeting_done(self) -> &'static str {
        match self {
            Self::Usi => "usiok",
            Self::Uci => "uciok",
        }
    }

    /// What announces a new game.
    pub fn new_game(self) -> &'static str {
        match self {
            Self::Usi => "usinewgame",
            Self::Uci => "ucinewgame",
        }
    }

    /// What stands for no move where there is none to play.
    pub fn no_move(self) -> &'static str {
        match self {
            Self::Usi => "resign",
            Self::Uci => "(none)",
        }
    }
}
