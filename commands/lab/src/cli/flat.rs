//! The commands of this use.

use evalcurve_app::cli::messages::known;
use evalcurve_app::cli::{Command, Flat};

use super::{serve, simulate, theory};
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
