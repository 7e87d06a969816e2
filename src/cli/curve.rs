//! `evalcurve curve`

use std::path::PathBuf;

use serde_json::json;

use super::calibrate::{check_replace, make_parent, nothing};
use super::load::load;
use super::options::{FitArgs, InputArgs, TellArgs};
use super::{Done, terminal};
use crate::calibrate::{CalibrateOptions, calibrate};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve curve samples.parquet > curves.csv
  evalcurve curve games/ --engine \"Gikou*\" --bin 100 --min-bin 20 --json

Columns: engine, bin (number k of the bin [k·BIN, (k+1)·BIN)), mean score in it, wins, draws, losses, win rate with
draws half, and its 95% Wilson interval.")]
pub(super) struct Args {
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    fit: FitArgs,

    /// Write to this file instead of standard output
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    out: Option<PathBuf>,

    /// Replace an existing file
    #[arg(long, help_heading = "Output")]
    force: bool,

    #[command(flatten)]
    tell: TellArgs,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Done> {
    if let Some(out) = &args.out {
        check_replace(out, args.force)?;
    }
    // nothing here tells how a model did
    let options = CalibrateOptions { folds: None, ..args.fit.calibrate_options(&args.input) };
    let mut loaded = load(&args.input, args.tell.quiet)?;
    let results = calibrate(&mut loaded.collected.table, &options);
    let mut csv = String::from("engine,bin,mean_score,wins,draws,losses,win_rate,low,high\n");
    let mut engines = Vec::new();
    for result in &results {
        let mut points = Vec::new();
        for point in result.curve.points(options.min_bin) {
            let count = result.curve.bins().get(&point.bin).copied().unwrap_or_default();
            let name = if result.name.contains([',', '"', '\n', '\r']) {
                format!("\"{}\"", result.name.replace('"', "\"\""))
            } else {
                result.name.clone()
            };
            csv += &format!(
                "{name},{},{:.3},{},{},{},{:.6},{:.6},{:.6}\n",
                point.bin, point.x, count.wins, count.draws, count.losses, point.win_rate, point.low, point.high
            );
            points.push(json!({
                "bin": point.bin, "mean_score": point.x, "wins": count.wins, "draws": count.draws,
                "losses": count.losses, "win_rate": point.win_rate, "low": point.low, "high": point.high,
            }));
        }
        engines.push(json!({ "name": result.name, "bin_cp": options.bin_cp, "points": points }));
    }
    let text = if args.tell.json { format!("{:#}\n", json!({ "engines": engines })) } else { csv };
    match &args.out {
        Some(out) => {
            make_parent(out)?;
            crate::whole_file::write(out, text.as_bytes())?;
        }
        None => terminal::print(&text)?,
    }
    loaded.tell(args.tell.quiet);
    Ok(if results.is_empty() { nothing(&results) } else { Done::Yes })
}
