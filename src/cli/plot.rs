//! `evalcurve plot`

use std::path::PathBuf;

use anyhow::bail;

use super::curve::note_splits;
use super::files::{calibration, list_plots, make_folder};
use super::load::load;
use super::options::{InputArgs, OutputArgs};
use super::{Done, terminal};
use crate::calibrate::{CalibrateOptions, calibrate, mark_mates};
use crate::calibration::Reading;
use crate::diagnose::split::{Split, split_curves};
use crate::plot::PlotOptions;
use crate::record::find::expand_globs;
use crate::report::figures;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve plot data/published/*.json --field --out figure-1
      the published sigmoids of three engines (Takeuchi 2018, figure 1)
  evalcurve plot samples.parquet --min-bin 20 --out plots
  evalcurve plot old/Gikou.json new/Gikou.json
  evalcurve plot games/ --by phase --by \"opponent = Gikou*\"
      curves of parts of the samples: does a score mean the same in every phase?

Draws every figure that the inputs allow: curves need counts, which published coefficients do not have.")]
pub(super) struct Args {
    #[command(flatten)]
    input: InputArgs,

    /// Split by phase, color, rating-gap, opponent, time-control, or by a condition ("ply >= 90 and color = black");
    /// may be repeated
    #[arg(long, value_name = "HOW", value_parser = Split::parse, help_heading = "Splitting")]
    by: Vec<Split>,

    /// Folder for the plots
    #[arg(long, short, value_name = "FOLDER", default_value = "evalcurve-plots", help_heading = "Output")]
    out: PathBuf,

    /// Draw the sigmoids against the opponents of the records, not between equals
    #[arg(long, help_heading = "Output")]
    field: bool,

    /// Draw scores from -CP to CP centipawns
    #[arg(long, value_name = "CP", default_value_t = 3000, value_parser = clap::value_parser!(u32).range(1..),
          help_heading = "Output")]
    score_limit: u32,

    #[command(flatten)]
    output: OutputArgs,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Done> {
    // no output depends on out-of-sample scores
    let options = CalibrateOptions { folds: None, ..args.input.calibrate_options() };
    let is_file = |p: &PathBuf| p.extension().is_some_and(|e| e.eq_ignore_ascii_case("json"));
    let paths = expand_globs(&args.input.paths)?;
    let files = paths.iter().filter(|p| is_file(p)).count();
    let plot_options = PlotOptions { score_limit_cp: f64::from(args.score_limit), ..PlotOptions::default() };
    if !args.by.is_empty() {
        if files > 0 {
            bail!("a calibration file has no samples to split: give records or a sample table to --by");
        }
        let mut loaded = load(&args.input, args.output.quiet)?;
        mark_mates(&mut loaded.collected.table, &options.thresholds);
        let splits = split_curves(&loaded.collected.table, &args.by, &options);
        loaded.warn(args.output.quiet);
        note_splits(&splits, args.output.is_quiet());
        make_folder(&args.out)?;
        let written = figures::write_splits(&splits, options.min_bin, &args.out, &plot_options)?;
        return report(args, &written);
    }
    let series: Vec<_> = if files == 0 {
        let mut loaded = load(&args.input, args.output.quiet)?;
        let results = calibrate(&mut loaded.collected.table, &options);
        loaded.warn(args.output.quiet);
        let enough = results.iter().filter(|r| r.has_enough(&options)).enumerate();
        enough.map(|(color, r)| figures::series_of_result(r, color, options.min_bin)).collect()
    } else if files < paths.len() {
        bail!("cannot draw calibration files (.json) and records together; calibrate the records first");
    } else {
        let mut series = Vec::new();
        for (color, path) in paths.iter().enumerate() {
            series.push(figures::series_of_calibration(&calibration(path)?, color, options.min_bin));
        }
        series
    };
    if series.is_empty() {
        return report(args, &[]);
    }
    make_folder(&args.out)?;
    let reading = if args.field { Reading::Field } else { Reading::Equal };
    let written = figures::write(&series, reading, &args.out, &plot_options)?;
    report(args, &written)
}

/// Lists the files written.
fn report(args: &Args, written: &[PathBuf]) -> anyhow::Result<Done> {
    if written.is_empty() {
        terminal::error("nothing to draw: no engine has enough samples (--min-samples)");
        return Ok(Done::Nothing);
    }
    list_plots(&args.output, written, " and .png", None)
}
