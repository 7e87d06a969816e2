//! `evalcurve fit`

use std::path::PathBuf;

use anyhow::bail;

use super::Done;
use super::engines::{Engines, nothing};
use super::files::{check_replace, make_parent};
use super::load::load;
use super::options::{InputArgs, OutputArgs, TableArgs};
use crate::calibrate::forecasts;
use crate::table;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve fit samples.parquet
  evalcurve fit samples.parquet --mate-policy keep --engine nanopery --json
  evalcurve fit games/ --forecasts forecasts.csv
      also writes the forecast of each sample by a model that was fitted without its game, for other tools

Prints the table of `calibrate` without writing files. With --json, the output also has bootstrap intervals over games \
(--bands). w1 and w2 are the parameters of 1 / (1 + exp(-w1 x + w2)).")]
pub(super) struct Args {
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    table: TableArgs,
    /// Write the out-of-sample forecasts of the model, one row per fitted sample, .parquet or .csv
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    forecasts: Option<PathBuf>,

    /// Replace an existing file
    #[arg(long, help_heading = "Output", requires = "forecasts", hide_short_help = true)]
    force: bool,

    #[command(flatten)]
    output: OutputArgs,
}

impl Args {
    /// What is read, and how.
    pub(super) fn input(&self) -> &InputArgs {
        &self.input
    }
}

pub(super) fn run(args: &Args) -> anyhow::Result<Done> {
    let mut options = args.input.calibrate_options();
    if !args.output.json {
        // the table does not show bootstrap intervals
        options.bands = 0;
    }
    if let Some(path) = &args.forecasts {
        if !table::is_table(path) {
            bail!("{}: the name of a table of forecasts must end in .parquet or .csv", path.display());
        }
        check_replace(path, args.force)?;
    }
    let engines = Engines::chosen(load(&args.input, args.output.quiet)?, options, &args.input);
    let language = args.input.language.chosen();
    if let Some(path) = &args.forecasts {
        let samples = &engines.loaded.collected.table;
        make_parent(path)?;
        table::write_forecasts(samples, &forecasts(samples, &engines.options), path, args.input.threads())?;
    }
    engines.print(&args.output, &[], language, || engines.summary(&args.table, language))?;
    let calibrated = engines.results.iter().any(|r| r.calibration.is_some());
    Ok(if calibrated { Done::Yes } else { nothing(&engines.results, language) })
}
