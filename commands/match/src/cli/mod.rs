//! The commands on the command line.

pub mod judged;
pub mod match_stats;
pub mod pays;
pub mod play;
pub mod play_words;

use evalcurve_app::cli::messages::known;
use evalcurve_app::cli::{Command, Flat};

use crate::PlayError;

/// The commands of this use.
pub const FLAT: Flat = Flat {
    commands: &[
        Command { reword: Some(play_words::joined), ..Command::of::<play::Args>() },
        Command::of::<match_stats::Args>(),
    ],
    japanese: crate::JAPANESE,
    errors: &[known::<PlayError>],
    schemas: &[],
};
