//! The commands on the command line.

pub mod export;
pub mod proxy;
pub mod winrate;

use evalcurve_app::cli::messages::known;
use evalcurve_app::cli::{Command, Flat};
use evalcurve_fit::calibration::NormalizationError;

use crate::{ExportError, ProxyError};

/// The commands of this use.
pub const FLAT: Flat = Flat {
    commands: &[Command::of::<winrate::Args>(), Command::of::<export::Args>(), Command::of::<proxy::Args>()],
    japanese: crate::JAPANESE,
    errors: &[known::<ExportError>, known::<NormalizationError>, known::<ProxyError>],
    schemas: &[],
};
