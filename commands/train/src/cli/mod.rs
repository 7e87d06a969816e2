//! The commands on the command line.

pub mod rescale;

use evalcurve_app::cli::{Command, Flat};

/// The commands of this use.
pub const FLAT: Flat =
    Flat { commands: &[Command::of::<rescale::Args>()], japanese: crate::JAPANESE, errors: &[], schemas: &[] };
