//! The council: a USI or UCI engine that consists of several engines.
//!
//! [`Config::read`] reads the configuration. [`run`] is the engine: USI or UCI on its input and output, the members as
//! child processes, and decisions by [`rule`](evalcurve_rules) with the win rates of
//! [`evalcurve_calibration`].

#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "engine")]
mod engine;
mod learn;
mod noise;
mod preference;
mod replay;
pub mod votes;
pub mod weights;

#[cfg(feature = "engine")]
pub use engine::*;
pub use learn::{LearnOptions, Learned, LearnedMember, LearnedRule, learn};
pub use replay::{Replay, learned_document, replay_document};

/// The Japanese of the texts of this use.
pub const JAPANESE: &str = include_str!("ja.json");
