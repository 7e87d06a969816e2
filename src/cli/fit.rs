//! `evalcurve fit`

use super::Done;
use super::engines::{Engines, nothing};
use super::load::load;
use super::options::{InputArgs, OutputArgs, TableArgs};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve fit samples.parquet
  evalcurve fit samples.parquet --mate-policy keep --engine nanopery --json

Prints the table of `calibrate` without writing files. With --json, the output also has bootstrap intervals over games \
(--bands). w1 and w2 are the parameters of 1 / (1 + exp(-w1 x + w2)).")]
pub(super) struct Args {
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    table: TableArgs,
    #[command(flatten)]
    output: OutputArgs,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Done> {
    let mut options = args.input.calibrate_options();
    if !args.output.json {
        // the table does not show bootstrap intervals
        options.bands = 0;
    }
    let engines = Engines::chosen(load(&args.input, args.output.quiet)?, options, &args.input);
    let language = args.table.language.chosen();
    engines.print(&args.output, &[], language, || engines.summary(&args.table))?;
    let calibrated = engines.results.iter().any(|r| r.calibration.is_some());
    Ok(if calibrated { Done::Yes } else { nothing(&engines.results, language) })
}
