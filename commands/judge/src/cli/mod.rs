//! The commands on the command line.

pub mod compare;
pub mod evaluate;
pub mod thresholds;

use evalcurve_app::cli::{Command, Flat};

/// The commands of this use.
pub const FLAT: Flat = Flat {
    commands: &[Command::of::<evaluate::Args>(), Command::of::<compare::Args>(), Command::of::<thresholds::Args>()],
    japanese: crate::JAPANESE,
    errors: &[],
    schemas: &[],
};
