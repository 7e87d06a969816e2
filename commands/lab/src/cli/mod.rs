//! The commands on the command line.

pub mod serve;
pub mod simulate;
pub mod theory;
pub mod theory_estimate;
pub mod theory_playout;
pub mod theory_plurality;

use evalcurve_app::cli::messages::known;
use evalcurve_app::cli::{Command, Flat};

use crate::protocol::{JoinError, ServeError};

/// The commands of this use.
pub const FLAT: Flat = Flat {
    commands: &[
        Command::of::<serve::ServeArgs>(),
        Command::of::<serve::JoinArgs>(),
        Command::of::<simulate::Args>(),
        Command::of::<theory::Args>(),
    ],
    japanese: crate::JAPANESE,
    errors: &[known::<JoinError>, known::<ServeError>],
    schemas: &[],
};
