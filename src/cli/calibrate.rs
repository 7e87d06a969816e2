//! `evalcurve calibrate`

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::builder::ArgPredicate;

use super::load::{Loaded, load};
use super::options::{FitArgs, InputArgs, TellArgs};
use super::{Done, terminal};
use crate::calibrate::{CalibrateOptions, EngineResult, calibrate};
use crate::calibration::{Calibration, file_stems};
use crate::plot::PlotOptions;
use crate::report::{figures, json, text};
use crate::sample::table;
use crate::validate::Choice;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve calibrate games/ --out calibrations
  evalcurve calibrate floodgate-2016.tar.zst --min-samples 300 --samples samples.parquet
  evalcurve calibrate \"wdoor*.csa\" --alias \"Gikou_* = Gikou\" --mate-threshold auto
  evalcurve calibrate samples-*.parquet --model least-squares --json
  evalcurve calibrate floodgate-2016.tar.zst --model auto

Writes OUT/ENGINE.json, a calibration file an engine, and plots as SVG and PNG. `evalcurve winrate` uses the files.")]
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
        // neither the files nor the table hold them
        options.bands = 0;
    }
    if let Some(samples) = args.samples.as_ref().filter(|s| !table::is_table(s)) {
        bail!("{}: a sample table ends in .parquet or .csv", samples.display());
    }
    if let Some(samples) = &args.samples {
        check_replace(samples, args.force)?;
    }
    let mut loaded = load(&args.input, args.fit.material(), args.tell.quiet)?;
    if loaded.collected.report.has_packed() {
        options.filters.push(format!("packed-every {}", args.input.packed_every));
    }
    let choice = args.fit.choose(&mut loaded.collected.table, &mut options);
    let results = calibrate(&mut loaded.collected.table, &options);
    let written = write_calibrations(&results, &args.out, args.force)?;
    if let Some(samples) = &args.samples {
        make_parent(samples)?;
        table::write(&loaded.collected.table, samples, args.input.threads())?;
    }
    let plots = if args.no_plots { None } else { Some(draw(args, &results, &options)?) };

    if args.tell.json {
        let engines = results.iter().zip(&written).map(|(r, path)| json::engine(r, path.as_deref())).collect();
        terminal::print(&json::document(&loaded.collected.report, &options, choice.as_ref(), &loaded.notes, engines))?;
    } else if !args.tell.quiet {
        terminal::print(&summary(&loaded, &results, &options, choice.as_ref()))?;
        let count = written.iter().flatten().count();
        let files = if count == 1 { "file" } else { "files" };
        let mut line = if count > 0 {
            format!("\nwritten {count} calibration {files} to {}", args.out.display())
        } else {
            "\nno calibration file is written".to_owned()
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
        loaded.tell(args.tell.quiet);
        tell_warnings(&results, args.tell.quiet);
    }
    Ok(if written.iter().any(Option::is_some) { Done::Yes } else { nothing(&results) })
}

/// Nothing was calibrated: says so, since a quiet success would be believed.
pub(super) fn nothing(results: &[EngineResult]) -> Done {
    if results.is_empty() {
        terminal::error("no engine has a single sample; `evalcurve inspect` shows why games were skipped");
    } else {
        terminal::error("no engine could be calibrated; the table says why for each");
    }
    Done::Nothing
}

/// The table of all engines, with what was read above it.
pub(super) fn summary(
    loaded: &Loaded,
    results: &[EngineResult],
    options: &CalibrateOptions,
    choice: Option<&Choice>,
) -> String {
    let mut out = text::reading(&loaded.collected.report);
    out += &text::samples(
        &loaded.collected.report,
        loaded.collected.table.samples.len() as u64,
        results.len(),
        &options.sampling,
    );
    if results.is_empty() {
        return out;
    }
    out += &terminal::heading(&text::head());
    out.push('\n');
    let few = |r: &&EngineResult| r.fitted < options.min_samples;
    for result in results.iter().filter(|r| !few(r)) {
        out += &text::engine(result, options.model);
    }
    let too_few: Vec<&EngineResult> = results.iter().filter(few).collect();
    if !too_few.is_empty() {
        out += &format!(
            "{} engines with fewer than {} samples are not calibrated (--min-samples): ",
            too_few.len(),
            options.min_samples
        );
        let names: Vec<String> =
            too_few.iter().take(8).map(|r| format!("{} {}", text::printable(&r.name), r.fitted)).collect();
        out += &names.join(", ");
        out += if too_few.len() > 8 { ", …\n" } else { "\n" };
    }
    if let Some(choice) = choice {
        out.push('\n');
        out += &text::choice(choice);
    }
    if let Some(lines) = text::proper_scores(results) {
        out.push('\n');
        out += &lines;
    }
    if let Some(line) = text::standardization(results, options.model) {
        out.push('\n');
        out += &line;
    }
    out
}

/// The warnings of engines, on standard error.
pub(super) fn tell_warnings(results: &[EngineResult], quiet: bool) {
    if quiet {
        return;
    }
    for result in results {
        for warning in &result.warnings {
            terminal::warning(&format!("{}: {}", result.name, warning.text));
        }
    }
}

/// Writes a file an engine; the paths stand in the order of the results, `None` where there is no calibration.
fn write_calibrations(results: &[EngineResult], out: &Path, force: bool) -> anyhow::Result<Vec<Option<String>>> {
    fs::create_dir_all(out).with_context(|| format!("{}: cannot make the folder", out.display()))?;
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

/// Refuses to replace a file unless `force` says so.
pub(super) fn check_replace(path: &Path, force: bool) -> anyhow::Result<()> {
    if path.exists() && !force {
        bail!("{}: the file exists; give another name, or replace it with --force", path.display());
    }
    Ok(())
}

/// Makes the folder that a file goes into.
pub(super) fn make_parent(path: &Path) -> anyhow::Result<()> {
    match path.parent().filter(|p| !p.as_os_str().is_empty()) {
        Some(parent) => {
            fs::create_dir_all(parent).with_context(|| format!("{}: cannot make the folder", parent.display()))
        }
        None => Ok(()),
    }
}

fn draw(args: &Args, results: &[EngineResult], options: &CalibrateOptions) -> anyhow::Result<(PathBuf, usize)> {
    let folder = args.plots.clone().unwrap_or_else(|| args.out.join("plots"));
    fs::create_dir_all(&folder).with_context(|| format!("{}: cannot make the folder", folder.display()))?;
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
