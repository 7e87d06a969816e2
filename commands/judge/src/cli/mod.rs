//! The commands on the command line.

pub mod compare;
pub mod evaluate;
pub mod thresholds;

use evalcurve_app::cli::{Command, Flat};
use evalcurve_words::language::Text;
use evalcurve_words::text;

/// The commands of this use.
pub const FLAT: Flat = Flat {
    commands: &[Command::of::<evaluate::Args>(), Command::of::<compare::Args>(), Command::of::<thresholds::Args>()],
    japanese: crate::JAPANESE,
    errors: &[],
    schemas: &[],
};

/// A number of percent, with or without its sign.
fn percents(value: &str) -> Result<f64, Text> {
    let number = value.trim().trim_end_matches(['%', '％']).trim().parse::<f64>().ok();
    number.ok_or_else(|| text!("'{value}' is no percentage; write for example 10 or 10%"))
}
