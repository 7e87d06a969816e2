//! `evalcurve fit`

use super::engines::{Engines, nothing};
use super::load::load;
use super::options::{FitArgs, InputArgs, TellArgs};
use super::{Done, terminal};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve fit samples.parquet
  evalcurve fit samples.parquet --mate-policy keep --engine nanopery --json

Prints the table of `calibrate` without writing files. Its last column is the number of further games like these that
narrow the 95% interval of w1 to ±5%. With --json, the output also has bootstrap intervals over games (--bands).
w1 and w2 are the parameters of 1 / (1 + exp(-w1 x + w2)).")]
pub(super) struct Args {
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    fit: FitArgs,
    #[command(flatten)]
    tell: TellArgs,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Done> {
    let mut options = args.fit.calibrate_options(&args.input);
    if !args.tell.json {
        // the table does not show bootstrap intervals
        options.bands = 0;
    }
    let loaded = load(&args.input, args.fit.material(), args.tell.quiet)?;
    let engines = Engines::chosen(loaded, options, &args.fit);
    if args.tell.json {
        terminal::print(&engines.document(&[]))?;
    } else {
        if !args.tell.quiet {
            terminal::print(&engines.summary())?;
        }
        engines.tell(args.tell.quiet);
    }
    let calibrated = engines.results.iter().any(|r| r.calibration.is_some());
    Ok(if calibrated { Done::Yes } else { nothing(&engines.results) })
}
