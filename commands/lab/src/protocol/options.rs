//! What a server is told, what it waits for, and why it ends.

use std::io;
use std::net::TcpStream;

use evalcurve_engine::board::Game;
use evalcurve_engine::usi::{FromGui, ReadLine};
use thiserror::Error;

/// Where a server listens and whom it admits.
#[derive(Debug, Clone)]
pub struct ServeOptions {
    /// Address and port; port 0 selects a free one.
    pub listen: String,
    /// The game of `position startpos`: shogi, 5x5 shogi, or another one on the board of shogi.
    pub game: Game,
    /// The only name that may log in; `None`: any.
    pub name: Option<String>,
    /// The password; required on every address except those of this machine.
    pub password: Option<String>,
    /// How long `isready` waits for a login.
    pub login_ms: u64,
    /// Time for an answer if `go` gives none (`infinite`, `depth`, `nodes`).
    pub answer_ms: u64,
    /// How late an answer may be before the program is dropped.
    pub grace_ms: u64,
    /// Whether the program may use its book.
    pub book: bool,
}

/// Why a server ended before `quit`.
#[derive(Debug, Error, evalcurve_words::language::ToText)]
pub enum ServeError {
    /// The address is invalid or cannot be used.
    #[error("cannot listen on '{address}': {source}; give ADDRESS:PORT, for example 127.0.0.1:4081")]
    Listen {
        address: String,
        #[source]
        source: io::Error,
    },
    /// Other machines could log in without a password.
    #[error("'{0}' can be reached from other machines: give a password with `password-file`, or listen on 127.0.0.1")]
    NoPassword(String),
    /// No program logged in.
    #[error("no program logged in within {0} ms; start the program, or allow more with `login-ms`")]
    NoLogin(u64),
    /// The program does not answer.
    #[error("'{name}' did not answer within {ms} ms and was dropped")]
    Stalled {
        name: String,
        /// The time that it was allowed.
        ms: u64,
    },
    /// The program has left.
    #[error("'{name}' left: {why}")]
    Left { name: String, why: String },
    /// The game is chess, or the GUI uses UCI.
    #[error("the protocol is for shogi: use USI, not UCI")]
    NotUsi,
    /// The answer cannot be written.
    #[error("cannot write to standard output: {0}")]
    Output(#[from] io::Error),
}

/// What a server waits for.
pub(super) enum Event {
    Gui(FromGui),
    /// The bytes of a line of the GUI that was not read.
    TooLong(u64),
    GuiClosed,
    LoggedIn {
        connection: usize,
        name: String,
        stream: TcpStream,
    },
    Line {
        connection: usize,
        line: ReadLine,
    },
    Left {
        connection: usize,
        why: String,
    },
}
