//! Matches: engines and councils play each other ([`play`]), and what their results, or those of records, say of their
//! strengths ([`match_stats`]).

pub mod match_stats;
#[cfg(feature = "play")]
pub mod play;

#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "cli")]
mod command;
#[cfg(feature = "cli")]
pub mod report;

#[cfg(feature = "cli")]
pub use command::{MatchResults, MatchStats};
#[cfg(feature = "play")]
pub use play::*;

/// The Japanese of the texts of this use.
pub const JAPANESE: &str = include_str!("ja.json");
