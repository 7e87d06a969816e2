//! The council as an engine: its configuration, its members, and the session with a GUI.

mod check;
mod clock;
mod config;
mod config_file;
mod decide;
mod follow_up;
mod held;
mod meter;
mod options;
mod output;
mod search;
mod session;
mod vote_log;
mod voting;

use thiserror::Error;

pub use check::{Finding, Grade, check};
pub use config::{Config, Late, Resign, TimePolicy};
pub use session::run;
pub use voting::vote;

/// Why a session cannot continue.
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

impl SessionError {
    fn log(path: &std::path::Path, action: &'static str, source: std::io::Error) -> Self {
        let remedy = match action {
            "open" => "create its folder or give another file",
            _ => "free space on the disk or give another file",
        };
        Self::Log { path: path.display().to_string(), action, remedy, source }
    }
}
