//! `evalcurve fit`

use super::calibrate::{nothing, summary, tell_warnings};
use super::load::load;
use super::options::{FitArgs, InputArgs, TellArgs};
use super::{Done, terminal};
use crate::calibrate::calibrate;
use crate::report::json;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve fit samples.parquet
  evalcurve fit samples.parquet --mate-policy keep --engine nanopery --json

The table that `calibrate` prints, and nothing is written. Its last column plans: so many more games like these bring the
95% interval of w1 to ±5%. With --json, intervals by bootstrap over games (--bands) stand beside the others. w1 and w2 are those of 1 / (1 + exp(-w1 x + w2)).")]
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
        // the table does not show them
        options.bands = 0;
    }
    let mut loaded = load(&args.input, args.fit.material(), args.tell.quiet)?;
    let choice = args.fit.choose(&mut loaded.collected.table, &mut options);
    let results = calibrate(&mut loaded.collected.table, &options);
    if args.tell.json {
        let engines = results.iter().map(|r| json::engine(r, None)).collect();
        terminal::print(&json::document(&loaded.collected.report, &options, choice.as_ref(), &loaded.notes, engines))?;
    } else {
        if !args.tell.quiet {
            terminal::print(&summary(&loaded, &results, &options, choice.as_ref()))?;
        }
        loaded.tell(args.tell.quiet);
        tell_warnings(&results, args.tell.quiet);
    }
    Ok(if results.iter().any(|r| r.calibration.is_some()) { Done::Yes } else { nothing(&results) })
}
