//! The commands on the command line.

pub mod diagnose;

use evalcurve_app::cli::{Command, Flat};

/// The commands of this use.
pub const FLAT: Flat = Flat {
    commands: &[Command::of::<diagnose::Args>()],
    japanese: crate::JAPANESE,
    errors: &[],
    schemas: &[("diagnosis", crate::report::SCHEMA)],
};
