//! The council: an engine for a GUI, made of several engines.
//!
//! [`Config::read`] reads what it is made of, [`run`] is the engine: USI or UCI on its input and output, members as child
//! processes, votes decided by [`rule`](evalcurve_core::rule) with the win rates of [`calibration`](evalcurve_core::calibration). Every kind of
//! member stands behind [`member::Member`], so that the session knows none of them. Programs that speak the council's
//! TCP protocol of Hanawa & Ito 2009 come in through [`protocol`].

pub mod board;
mod check;
mod clock;
mod config;
mod config_file;
mod decide;
mod deliberate;
mod engine;
pub mod member;
mod opinion;
mod options;
pub mod protocol;
mod say;
mod second;
mod session;
pub mod usi;
mod votes;

pub use board::{Board, Game};
pub use check::{Finding, Grade, check};
pub use config::{Config, EngineConfig, Late, Limit, Resign, TimePolicy};
pub use config_file::ConfigError;
pub use session::run;

use thiserror::Error;

/// Why a session cannot go on.
#[derive(Debug, Error)]
pub enum SessionError {
    /// The log cannot be opened.
    #[error("{path}: cannot open the vote log: {source}; make its folder or give another file")]
    Log {
        /// The file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// The GUI cannot be written to.
    #[error("cannot write to standard output: {source}; start the council from a program that reads it")]
    Output {
        /// Why.
        source: std::io::Error,
    },
}
