//! `evalcurve plot`

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use super::curve::tell_splits;
use super::load::load;
use super::options::{FitArgs, InputArgs, TellArgs};
use super::{Done, terminal};
use crate::calibrate::{CalibrateOptions, calibrate, mark_mates};
use crate::calibration::Calibration;
use crate::diagnose::split::{Split, split_curves};
use crate::plot::PlotOptions;
use crate::record::find::expand_globs;
use crate::report::figures;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve plot data/published/*.json --model least-squares --out figure-1
      the published sigmoids of three engines (Takeuchi 2018, figure 1)
  evalcurve plot samples.parquet --min-bin 20 --out plots
  evalcurve plot old/Gikou.json new/Gikou.json
  evalcurve plot games/ --by phase --by \"opponent = Gikou*\"
      curves of parts of the samples: does a score mean the same in every phase?

Draws every figure that the inputs allow: curves need counts, which published coefficients do not have.")]
pub(super) struct Args {
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    fit: FitArgs,

    /// Split by phase, color, rating-gap, opponent, time-control, or by a condition ("ply >= 90 and color = black");
    /// may be repeated
    #[arg(long, value_name = "HOW", value_parser = Split::parse, help_heading = "Splitting")]
    by: Vec<Split>,

    /// Folder for the plots
    #[arg(long, short, value_name = "FOLDER", default_value = "evalcurve-plots", help_heading = "Output")]
    out: PathBuf,

    /// Draw scores from -CP to CP centipawns
    #[arg(long, value_name = "CP", default_value_t = 3000, value_parser = clap::value_parser!(u32).range(1..),
          help_heading = "Output")]
    score_limit: u32,

    #[command(flatten)]
    tell: TellArgs,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Done> {
    // no output depends on out-of-sample scores
    let options = CalibrateOptions { folds: None, ..args.fit.calibrate_options(&args.input) };
    let is_file = |p: &PathBuf| p.extension().is_some_and(|e| e.eq_ignore_ascii_case("json"));
    let paths = expand_globs(&args.input.paths)?;
    let files = paths.iter().filter(|p| is_file(p)).count();
    let plot_options = PlotOptions { score_limit_cp: f64::from(args.score_limit), ..PlotOptions::default() };
    if !args.by.is_empty() {
        if files > 0 {
            bail!("a calibration file has no samples to split: give records or a sample table to --by");
        }
        let mut loaded = load(&args.input, args.fit.material(), args.tell.quiet)?;
        mark_mates(&mut loaded.collected.table, &options.thresholds);
        let splits = split_curves(&loaded.collected.table, &args.by, &options);
        loaded.tell(args.tell.quiet);
        tell_splits(&splits, args.tell.quiet || args.tell.json);
        create_folder(&args.out)?;
        let written = figures::write_splits(&splits, options.min_bin, &args.out, &plot_options)?;
        return report(args, &written);
    }
    let series: Vec<_> = if files == 0 {
        let mut loaded = load(&args.input, args.fit.material(), args.tell.quiet)?;
        let results = calibrate(&mut loaded.collected.table, &options);
        loaded.tell(args.tell.quiet);
        let enough = results.iter().filter(|r| r.fitted >= options.min_samples).enumerate();
        enough.map(|(color, r)| figures::series_of_result(r, color, options.min_bin)).collect()
    } else if files < paths.len() {
        bail!("cannot draw calibration files (.json) and records together; calibrate the records first");
    } else {
        let mut series = Vec::new();
        for (color, path) in paths.iter().enumerate() {
            series.push(figures::series_of_calibration(&Calibration::read(path)?, color, options.min_bin));
        }
        series
    };
    if series.is_empty() {
        return report(args, &[]);
    }
    create_folder(&args.out)?;
    let written = figures::write(&series, options.model, &args.out, &plot_options)?;
    report(args, &written)
}

fn create_folder(folder: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("{}: cannot create the folder", folder.display()))
}

/// Lists the files written.
fn report(args: &Args, written: &[PathBuf]) -> anyhow::Result<Done> {
    if written.is_empty() {
        terminal::error("nothing to draw: no engine has enough samples (--min-samples)");
        return Ok(Done::Nothing);
    }
    let shown = |p: &PathBuf| p.to_string_lossy().replace('\\', "/");
    if args.tell.json {
        let document = serde_json::json!({ "plots": written.iter().map(shown).collect::<Vec<_>>() });
        terminal::print(&format!("{document:#}\n"))?;
    } else if !args.tell.quiet {
        let lines: String = written.iter().map(|p| format!("{} and .png\n", shown(p))).collect();
        terminal::print(&lines)?;
    }
    Ok(Done::Yes)
}
