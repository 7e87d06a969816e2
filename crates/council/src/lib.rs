//! The council: a USI or UCI engine that consists of several engines.
//!
//! [`Config::read`] reads the configuration. [`run`] is the engine: USI or UCI on its input and output, the members as
//! child processes, and decisions by [`rule`](evalcurve_core::rule) with the win rates of
//! [`calibration`](evalcurve_core::calibration). Programs that use the TCP protocol of
//! Hanawa & Ito 2009 connect through [`protocol`]. A match runner drives its engines as [`Player`]s.

pub mod board;
mod check;
mod clock;
mod config;
mod config_file;
mod decide;
mod follow_up;
mod held;
mod info_lines;
mod lock;
mod member;
mod options;
mod output;
mod player;
pub mod protocol;
mod proxy;
mod queue;
mod search;
mod session;
mod task;
mod trial;
pub mod usi;
mod vote_log;

pub use board::{Board, Game};
pub use check::{Finding, Grade, check};
pub use config::{CHESS_SCALE_CP, Config, EngineConfig, Late, Limit, Resign, TimeControl, TimePolicy, read_later};
pub use config_file::{ConfigError, ConfigText, Document};
pub use player::{Failure, Player};
pub use proxy::{Proxy, ProxyError, Rewriter};
pub use session::run;
pub use task::SearchResult;
pub use trial::{Trial, time_per_move, try_limits};

use thiserror::Error;

/// Why a session cannot continue.
#[derive(Debug, Error, evalcurve_core::language::ToText)]
pub enum SessionError {
    /// The log cannot be opened or written.
    #[error("{path}: cannot {action} the vote log: {source}; {remedy}")]
    Log {
        path: String,
        /// `open` or `write`.
        action: &'static str,
        remedy: &'static str,
        source: std::io::Error,
    },
    /// The output for the GUI cannot be written.
    #[error("cannot write to standard output: {source}; start the council from a program that reads it")]
    Output { source: std::io::Error },
}

impl SessionError {
    fn log(path: &std::path::Path, action: &'static str, source: std::io::Error) -> Self {
        let remedy = match action {
            "open" => "create its folder or give another file",
            _ => "free space on the disk or give another file",
        };
        Self::Log { path: path.display().to_string(), action, remedy, source }
    }
}
