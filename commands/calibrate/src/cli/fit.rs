//! `evalcurve fit`

use std::path::PathBuf;

use anyhow::bail;
use evalcurve_app::Calibrate;
use evalcurve_app::calibrate::{forecasts, write_forecasts};
use evalcurve_app::cli::engines::{Engines, nothing};
use evalcurve_app::cli::files::{check_replace, make_parent};
use evalcurve_app::cli::options::{InputArgs, OutputArgs, TableArgs};
use evalcurve_app::cli::{Done, Heading, Program, Subcommand};
use evalcurve_tables as table;
use evalcurve_words::{key, text};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve fit samples.parquet
  evalcurve fit samples.parquet --mate-policy keep --engine nanopery --json
  evalcurve fit games/ --forecasts forecasts.csv
      also writes the forecast of each sample by a model that was fitted without its game, for other tools

Prints the table of `calibrate` without writing files. With --json, the output also has bootstrap intervals over games \
(--bands). w1 and w2 are the parameters of 1 / (1 + exp(-w1 x + w2)).")]
pub struct Args {
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
    /// The command.
    pub fn command(&self) -> Calibrate {
        self.input.calibrate()
    }
}

impl Subcommand for Args {
    const NAME: &'static str = "fit";
    const ABOUT: &'static str = key!("Print the table of `calibrate` without writing files");
    const HEADING: Heading = Heading::Calibrate;

    fn run(&self, _: &Program) -> anyhow::Result<Done> {
        run(self)
    }
}

fn run(args: &Args) -> anyhow::Result<Done> {
    let mut command = args.command();
    if !args.output.json {
        // the table does not show bootstrap intervals
        command.fitting.bands = 0;
    }
    if let Some(path) = &args.forecasts {
        if !table::is_table(path) {
            bail!(text!("{}: the name of a table of forecasts must end in .parquet or .csv", path.display()));
        }
        check_replace(path, args.force)?;
    }
    let engines = Engines::calibrated(&command, &args.input.input(), args.output.quiet)?;
    let found = &engines.0.value;
    let language = args.input.language.chosen();
    if let Some(path) = &args.forecasts {
        let mut all = forecasts(&found.table, &found.options);
        all.retain(|engine| found.results.iter().any(|result| result.name == engine.name));
        make_parent(path)?;
        write_forecasts(&found.table, &all, path, rayon::current_num_threads())?;
    }
    engines.print(&args.output, &[], language, || engines.summary(&args.table, language))?;
    let calibrated = found.results.iter().any(|r| r.calibration.is_some());
    Ok(if calibrated { Done::Yes } else { nothing(found.results.iter(), language) })
}
