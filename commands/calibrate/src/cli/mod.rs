//! The commands on the command line.

pub mod calibrate;
pub mod constant;
pub mod inspect;
pub mod plot;
mod points;
pub mod sample;

use evalcurve_app::cli::{Command, Flat};

/// The commands of this use.
pub const FLAT: Flat = Flat {
    commands: &[
        Command::of::<calibrate::Args>(),
        Command::of::<constant::Args>(),
        Command::of::<inspect::Args>(),
        Command::of::<sample::Args>(),
        Command::of::<plot::Args>(),
    ],
    japanese: crate::JAPANESE,
    errors: &[],
    schemas: &[],
};
