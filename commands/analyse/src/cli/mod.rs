//! The commands on the command line.

pub mod analyse;
pub mod analyse_games;
pub mod serve_page;

use evalcurve_app::cli::messages::known;
use evalcurve_app::cli::{Command, Flat};
use evalcurve_engine::EngineError;

use crate::AnalyseError;

/// The commands of this use.
pub const FLAT: Flat = Flat {
    commands: &[Command::of::<analyse::Args>(), Command::of::<serve_page::Args>()],
    japanese: crate::JAPANESE,
    errors: &[known::<AnalyseError>, known::<EngineError>],
    schemas: &[],
};
