//! `evalcurve calibrate`

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::builder::ArgPredicate;

use super::engines::{Engines, nothing};
use super::load::load;
use super::options::{FitArgs, InputArgs, TellArgs};
use super::{Done, terminal};
use crate::calibrate::{CalibrateOptions, EngineResult};
use crate::calibration::{Calibration, file_stems};
use crate::plot::PlotOptions;
use crate::report::figures;
use crate::table;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve calibrate games/ --out calibrations
  evalcurve calibrate floodgate-2016.tar.zst --min-samples 300 --samples samples.parquet
  evalcurve calibrate \"wdoor*.csa\" --alias \"Gikou_* = Gikou\" --mate-threshold auto
  evalcurve calibrate samples-*.parquet --model least-squares --json
  evalcurve calibrate floodgate-2016.tar.zst --model auto

Writes OUT/ENGINE.json, one calibration file per engine, and plots as SVG and PNG. `evalcurve winrate` reads
the files.")]
pub(super) struct Args {
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    fit: FitArgs,

    /// Folder for the calibration files
    #[arg(long, short, value_name = "FOLDER", default_value = "evalcurve-out", help_heading = "Output")]
    out: PathBuf,

    /// Folder for the plots [default: OUT/plots]
    #[arg(long, value_name = "FOLDER", help_heading = "Output")]
    plots: Option<PathBuf>,

    /// Draw no plots
    #[arg(long, default_value_if("plots", ArgPredicate::IsPresent, "false"), help_heading = "Output")]
    no_plots: bool,

    /// Write the sample table too, as Parquet or CSV
    #[arg(long, value_name = "FILE.parquet|.csv", help_heading = "Output")]
    samples: Option<PathBuf>,

    /// Replace files that evalcurve did not write
    #[arg(long, help_heading = "Output")]
    force: bool,

    #[command(flatten)]
    tell: TellArgs,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Done> {
    let mut options = args.fit.calibrate_options(&args.input);
    if args.no_plots && !args.tell.json {
        // neither the files nor the table show them
        options.bands = 0;
    }
    if let Some(samples) = args.samples.as_ref().filter(|s| !table::is_table(s)) {
        bail!("{}: the name of a sample table must end in .parquet or .csv", samples.display());
    }
    if let Some(samples) = &args.samples {
        check_replace(samples, args.force)?;
    }
    let loaded = load(&args.input, args.fit.material(), args.tell.quiet)?;
    if loaded.collected.report.has_packed() {
        options.filters.push(format!("packed-every {}", args.input.packed_every));
    }
    let engines = Engines::chosen(loaded, options, &args.fit);
    let written = write_calibrations(&engines.results, &args.out, args.force)?;
    if let Some(samples) = &args.samples {
        make_parent(samples)?;
        table::write(&engines.loaded.collected.table, samples, args.input.threads())?;
    }
    let plots = if args.no_plots { None } else { Some(draw(args, &engines.results, &engines.options)?) };

    if args.tell.json {
        terminal::print(&engines.document(&written))?;
    } else if !args.tell.quiet {
        terminal::print(&engines.summary())?;
        let count = written.iter().flatten().count();
        let files = if count == 1 { "file" } else { "files" };
        let mut line = if count > 0 {
            format!("\nwritten {count} calibration {files} to {}", args.out.display())
        } else {
            "\nno calibration file written".to_owned()
        };
        if let Some((folder, plots)) = plots {
            let figures = if plots == 1 { "plot" } else { "plots" };
            line += &format!(", {plots} {figures} to {}", folder.display());
        }
        if let Some(samples) = &args.samples {
            line += &format!(", the samples to {}", samples.display());
        }
        terminal::print(&(line + "\n"))?;
    }
    if !args.tell.json {
        engines.tell(args.tell.quiet);
    }
    Ok(if written.iter().any(Option::is_some) { Done::Yes } else { nothing(&engines.results) })
}

/// Writes one file per engine. Returns the paths in the order of the results, `None` for a result without calibration.
fn write_calibrations(results: &[EngineResult], out: &Path, force: bool) -> anyhow::Result<Vec<Option<String>>> {
    fs::create_dir_all(out).with_context(|| format!("{}: cannot create the folder", out.display()))?;
    let names: Vec<&str> = results.iter().map(|r| r.name.as_str()).collect();
    let mut written = Vec::with_capacity(results.len());
    for (stem, result) in file_stems(&names).into_iter().zip(results) {
        let Some(calibration) = &result.calibration else {
            written.push(None);
            continue;
        };
        let path = out.join(format!("{stem}.json"));
        if path.exists() && Calibration::read(&path).is_err() {
            check_replace(&path, force)?;
        }
        calibration.write(&path)?;
        written.push(Some(path.to_string_lossy().replace('\\', "/")));
    }
    Ok(written)
}

/// Refuses to replace an existing file without `force`.
pub(super) fn check_replace(path: &Path, force: bool) -> anyhow::Result<()> {
    if path.exists() && !force {
        bail!("{}: the file exists; choose another name, or replace it with --force", path.display());
    }
    Ok(())
}

/// Creates the parent folder of a file.
pub(super) fn make_parent(path: &Path) -> anyhow::Result<()> {
    match path.parent().filter(|p| !p.as_os_str().is_empty()) {
        Some(parent) => {
            fs::create_dir_all(parent).with_context(|| format!("{}: cannot create the folder", parent.display()))
        }
        None => Ok(()),
    }
}

fn draw(args: &Args, results: &[EngineResult], options: &CalibrateOptions) -> anyhow::Result<(PathBuf, usize)> {
    let folder = args.plots.clone().unwrap_or_else(|| args.out.join("plots"));
    fs::create_dir_all(&folder).with_context(|| format!("{}: cannot create the folder", folder.display()))?;
    let series: Vec<_> = results
        .iter()
        .filter(|r| r.fitted >= options.min_samples)
        .enumerate()
        .map(|(color, r)| figures::series_of_result(r, color, options.min_bin))
        .collect();
    if series.is_empty() {
        return Ok((folder, 0));
    }
    let files = figures::write(&series, options.model, &folder, &PlotOptions::default())?;
    Ok((folder, files.len()))
}
