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
mod info_lines;
mod member;
mod options;
mod output;
mod player;
pub mod protocol;
mod proxy;
mod search;
mod session;
mod task;
pub mod usi;
mod vote_log;

pub use board::{Board, Game};
pub use check::{Finding, Grade, check};
pub use config::{Config, EngineConfig, Late, Limit, Resign, TimeControl, TimePolicy};
pub use config_file::{ConfigError, ConfigText};
pub use player::{Failure, Player};
pub use proxy::{Proxy, ProxyError, Rewriter};
pub use session::run;
pub use task::SearchResult;

use thiserror::Error;

/// Why a session cannot continue.
#[derive(Debug, Error)]
pub enum SessionError {
    /// The log cannot be opened.
    #[error("{path}: cannot open the vote log: {source}; create its folder or give another file")]
    Log {
        /// The file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// The output for the GUI cannot be written.
    #[error("cannot write to standard output: {source}; start the council from a program that reads it")]
    Output {
        /// Why.
        source: std::io::Error,
    },
}
