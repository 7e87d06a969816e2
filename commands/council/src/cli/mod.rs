//! The commands on the command line.

pub mod council;
pub mod council_prepare;
pub mod replay;
mod trial;

use evalcurve_app::cli::messages::known;
use evalcurve_app::cli::{Command, Flat};
use evalcurve_engine::ConfigError;
use evalcurve_rules::RuleError;
use evalcurve_rules::replay::ReplayError;

use crate::SessionError;

/// The commands of this use.
pub const FLAT: Flat = Flat {
    commands: &[Command::of::<council::Args>(), Command::of::<replay::Args>()],
    japanese: crate::JAPANESE,
    errors: &[known::<ConfigError>, known::<SessionError>, known::<RuleError>, known::<ReplayError>],
    schemas: &[],
};
