//! `evalcurve curve`

use std::path::PathBuf;

use serde_json::{Value, json};

use super::calibrate::{check_replace, make_parent};
use super::engines::nothing;
use super::load::{Loaded, load};
use super::options::{FitArgs, InputArgs, TellArgs};
use super::{Done, terminal};
use crate::calibrate::{CalibrateOptions, calibrate, mark_mates};
use crate::curve::{BinCount, CurvePoint};
use crate::diagnose::split::{Split, SplitCurves, split_curves};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve curve samples.parquet > curves.csv
  evalcurve curve games/ --engine \"Gikou*\" --bin 100 --min-bin 20 --json

  evalcurve curve games/ --by phase --by color > split.csv
      curves of parts; on standard error whether they differ and what shift would make them one
  evalcurve curve games/ --by \"opponent = Gikou* and ply >= 90\" --json

Columns: engine, bin (number k of the bin [k·BIN, (k+1)·BIN)), mean score in it, wins, draws, losses, win rate with
draws half, its 95% Wilson interval (which takes samples as independent), and its 95% interval by bootstrap over games
(--bands). With --by: engine, split and group first, and no bootstrap.")]
pub(super) struct Args {
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    fit: FitArgs,

    /// Split by phase, color, rating-gap, opponent, time-control, or by a condition ("ply >= 90 and color = black");
    /// may be repeated
    #[arg(long, value_name = "HOW", value_parser = Split::parse, help_heading = "Splitting")]
    by: Vec<Split>,

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
    let mut loaded = load(&args.input, args.fit.material(), args.tell.quiet)?;
    if !args.by.is_empty() {
        return split(args, &mut loaded, &options);
    }
    let results = calibrate(&mut loaded.collected.table, &options);
    let mut csv = String::from("engine,bin,mean_score,wins,draws,losses,win_rate,low,high,band_low,band_high\n");
    let mut engines = Vec::new();
    for result in &results {
        let mut points = Vec::new();
        for point in result.curve.points(options.min_bin) {
            let count = result.curve.bins().get(&point.bin).copied().unwrap_or_default();
            let band = result.bootstrap.as_ref().and_then(|b| b.bin_interval(point.bin, 0.95));
            let cells = band.map_or_else(|| ",".to_owned(), |(low, high)| format!("{low:.6},{high:.6}"));
            csv += &format!("{},{},{cells}\n", quoted(&result.name), csv_row(&point, &count));
            let mut object = json_point(&point, &count);
            object["band"] = band.map_or(Value::Null, |(low, high)| json!([low, high]));
            points.push(object);
        }
        engines.push(json!({ "name": result.name, "bin_cp": options.bin_cp, "points": points }));
    }
    let text = if args.tell.json { format!("{:#}\n", json!({ "engines": engines })) } else { csv };
    put(args, &text)?;
    loaded.tell(args.tell.quiet);
    Ok(if results.is_empty() { nothing(&results) } else { Done::Yes })
}

/// The curves of parts of the samples.
fn split(args: &Args, loaded: &mut Loaded, options: &CalibrateOptions) -> anyhow::Result<Done> {
    mark_mates(&mut loaded.collected.table, &options.thresholds);
    let splits = split_curves(&loaded.collected.table, &args.by, options);
    let mut csv = String::from("engine,split,group,bin,mean_score,wins,draws,losses,win_rate,low,high\n");
    let mut documents = Vec::new();
    for split in &splits {
        let mut document = serde_json::to_value(split)?;
        document["sentence"] = json!(split.sentence());
        for (i, group) in split.groups.iter().enumerate() {
            let count = |bin: i32| group.curve.bins().get(&bin).copied().unwrap_or_default();
            let points = group.curve.points(options.min_bin);
            let head = [&split.engine, &split.by, &group.label].map(|text| quoted(text)).join(",");
            points.iter().for_each(|p| csv += &format!("{head},{}\n", csv_row(p, &count(p.bin))));
            document["groups"][i]["points"] = points.iter().map(|p| json_point(p, &count(p.bin))).collect();
        }
        documents.push(document);
    }
    let text = if args.tell.json { format!("{:#}\n", json!({ "splits": documents })) } else { csv };
    put(args, &text)?;
    loaded.tell(args.tell.quiet);
    if !args.tell.json {
        tell_splits(&splits, args.tell.quiet);
    }
    if splits.is_empty() {
        terminal::error("no engine has enough samples to be split (--min-samples)");
        return Ok(Done::Nothing);
    }
    Ok(Done::Yes)
}

/// Whether the curves split, on standard error.
pub(super) fn tell_splits(splits: &[SplitCurves], quiet: bool) {
    for split in splits.iter().filter(|_| !quiet) {
        terminal::note(&split.sentence());
    }
}

fn put(args: &Args, text: &str) -> anyhow::Result<()> {
    match &args.out {
        Some(out) => {
            make_parent(out)?;
            Ok(crate::whole_file::write(out, text.as_bytes())?)
        }
        None => terminal::print(text),
    }
}

/// A cell of CSV.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

fn csv_row(point: &CurvePoint, count: &BinCount) -> String {
    format!(
        "{},{:.3},{},{},{},{:.6},{:.6},{:.6}",
        point.bin, point.x, count.wins, count.draws, count.losses, point.win_rate, point.low, point.high
    )
}

fn json_point(point: &CurvePoint, count: &BinCount) -> Value {
    json!({
        "bin": point.bin, "mean_score": point.x, "wins": count.wins, "draws": count.draws,
        "losses": count.losses, "win_rate": point.win_rate, "low": point.low, "high": point.high,
    })
}
