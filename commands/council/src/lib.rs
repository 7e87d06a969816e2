//! The council: a USI or UCI engine that consists of several engines.
//!
//! [`Config::read`] reads the configuration. [`run`] is the engine: USI or UCI on its input and output, the members as
//! child processes, and decisions by [`rule`](evalcurve_rules) with the win rates of
//! [`evalcurve_calibration`].

#[cfg(feature = "engine")]
mod check;
#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "engine")]
mod clock;
#[cfg(feature = "engine")]
mod config;
#[cfg(feature = "engine")]
mod config_file;
#[cfg(feature = "engine")]
mod decide;
#[cfg(feature = "engine")]
mod follow_up;
#[cfg(feature = "engine")]
mod held;
mod learn;
#[cfg(feature = "engine")]
mod meter;
mod noise;
#[cfg(feature = "engine")]
mod options;
#[cfg(feature = "engine")]
mod output;
mod preference;
mod replay;
#[cfg(feature = "engine")]
mod search;
#[cfg(feature = "engine")]
mod session;
#[cfg(feature = "engine")]
mod vote_log;
pub mod votes;
#[cfg(feature = "engine")]
mod voting;
pub mod weights;

#[cfg(feature = "engine")]
pub use check::{Finding, Grade, check};
#[cfg(feature = "engine")]
pub use config::{Config, Late, Resign, TimePolicy};
pub use learn::{LearnOptions, Learned, LearnedMember, LearnedRule, learn};
pub use replay::{Replay, learned_document, replay_document};
#[cfg(feature = "engine")]
pub use session::run;
#[cfg(feature = "engine")]
pub use voting::vote;

#[cfg(feature = "engine")]
use thiserror::Error;

/// Why a session cannot continue.
#[cfg(feature = "engine")]
#[derive(Debug, Error, evalcurve_words::language::ToText)]
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

#[cfg(feature = "engine")]
impl SessionError {
    fn log(path: &std::path::Path, action: &'static str, source: std::io::Error) -> Self {
        let remedy = match action {
            "open" => "create its folder or give another file",
            _ => "free space on the disk or give another file",
        };
        Self::Log { path: path.display().to_string(), action, remedy, source }
    }
}

/// The Japanese of the texts of this use.
pub const JAPANESE: &str = include_str!("ja.json");
