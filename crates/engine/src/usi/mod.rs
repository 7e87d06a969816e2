//! USI and UCI: their messages as types, and an engine as a child process.
//!
//! USI (shogi) and UCI (chess) are one protocol with two vocabularies; [`Protocol`] selects one. [`FromEngine`] is a
//! line from an engine, [`FromGui`] a line from a GUI. Parsing never fails: a line that cannot be parsed is `Other`.
//! [`Process`] is a running engine: lines in, lines out, with limits on what it can do to its caller.

mod go;
mod info;
mod lines;
mod message;
mod option;
mod process;
mod processor_time;
mod running;
mod words;

pub use go::{Clock, Go};
pub use info::Info;
pub use lines::{LineReader, MAX_LINE_BYTES, ReadLine};
pub use message::{BestMove, FromEngine, FromGui, Position, set_option};
pub use option::{OptionKind, OptionSpec};
pub use process::{
    EngineOutput, Launch, Owned, Process, SpawnError, Streams, stop_engines_on_signals, stop_engines_on_signals_and,
};
#[cfg(unix)]
pub use process::{before_signals_end, is_ignored};
pub use processor_time::{Processes, QuietClock};
pub use running::engines_are_stopping;
pub(crate) use words::first_word;

use serde::Deserialize;

/// The vocabulary that an engine or a GUI uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// Shogi: `usi`, `usiok`, `usinewgame`, `sfen`.
    #[default]
    Usi,
    /// Chess: `uci`, `uciok`, `ucinewgame`, `fen`.
    Uci,
}

impl Protocol {
    fn word(self, usi: &'static str, uci: &'static str) -> &'static str {
        match self {
            Self::Usi => usi,
            Self::Uci => uci,
        }
    }

    /// That of the other game.
    pub fn other(self) -> Self {
        match self {
            Self::Usi => Self::Uci,
            Self::Uci => Self::Usi,
        }
    }

    /// The greeting: `usi` or `uci`.
    pub fn greeting(self) -> &'static str {
        self.word("usi", "uci")
    }

    /// The last line of the answer to the greeting.
    pub fn greeting_done(self) -> &'static str {
        self.word("usiok", "uciok")
    }

    /// The line that announces a new game.
    pub fn new_game(self) -> &'static str {
        self.word("usinewgame", "ucinewgame")
    }

    /// The move to send if there is none to play.
    pub fn no_move(self) -> &'static str {
        self.word("resign", "(none)")
    }
}
