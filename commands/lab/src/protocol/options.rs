//! What a server is told, what it waits for, and why it ends.

use std::io;
use std::net::TcpStream;
use std::path::PathBuf;

use evalcurve_engine::board::Game;
use evalcurve_engine::usi::{FromGui, Protocol, ReadLine};
use evalcurve_words::language::Text;
use evalcurve_words::text;
use thiserror::Error;

/// Where a server listens and whom it admits. The comments of the fields are the help of the command.
#[derive(Debug, Clone, clap::Args)]
pub struct ServeOptions {
    /// Address and port; addresses that other machines can reach require a password
    // port 0 selects a free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:4081")]
    pub listen: String,

    /// The game of `position startpos`: shogi, minishogi, or other-usi, whose moves are not checked
    #[arg(long, default_value = "shogi", value_parser = game)]
    pub game: Game,

    /// The only login name to accept [default: any]
    #[arg(long)]
    pub name: Option<String>,

    /// A file with the password in its first line
    #[arg(long, value_name = "FILE")]
    pub password_file: Option<PathBuf>,

    /// How long isready waits for a login
    #[arg(long, value_name = "MS", default_value_t = 30_000)]
    pub login_ms: u64,

    /// Time for an answer if go gives none (infinite, depth, nodes)
    #[arg(long, value_name = "MS", default_value_t = 10_000)]
    pub answer_ms: u64,

    /// How late an answer may be before the program is dropped
    #[arg(long, value_name = "MS", default_value_t = 2_000)]
    pub grace_ms: u64,

    /// Let the program use its book
    #[arg(long)]
    pub book: bool,

    /// The password; required on every address except those of this machine.
    #[arg(skip)]
    pub password: Option<String>,
}

fn game(name: &str) -> Result<Game, Text> {
    let game: Option<Game> = name.parse().ok();
    game.filter(|game| game.protocol() == Protocol::Usi).ok_or_else(|| text!("write shogi, minishogi or other-usi"))
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
