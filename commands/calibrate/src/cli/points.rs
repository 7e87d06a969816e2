//! `evalcurve plot --points`: the points of the curves as numbers.

use evalcurve_app::Outcome;
use evalcurve_app::calibrate::CalibrateOptions;
use evalcurve_app::cli::engines::nothing;
use evalcurve_app::cli::{Done, progress, terminal};
use evalcurve_app::judge::split::SplitCurves;
use evalcurve_fit::curve::{BinCount, CurvePoint};
use evalcurve_words::language::Language;
use evalcurve_words::say;
use evalcurve_words::text::printable_json;
use serde_json::{Value, json};

use super::plot::Args;
use crate::Curves;

/// Prints the curves of engines.
pub(super) fn print(args: &Args) -> anyhow::Result<Done> {
    let Args { curve, output, .. } = args;
    let command = curve.command();
    let found = progress::shown(output.quiet, |progress| command.run(&curve.input.input(), progress))?;
    let language = curve.input.language.chosen();
    if !curve.by.is_empty() {
        return split(args, &found);
    }
    let Curves { results, options, .. } = &found.value;
    let mut csv = csv::Writer::from_writer(Vec::new());
    csv.write_record(["engine"].iter().chain(&POINT).chain(&["band_low", "band_high"]))?;
    let mut engines = Vec::new();
    for result in results {
        let mut points = Vec::new();
        for (point, count) in result.curve.counted_points(options.min_bin) {
            let band = result.bootstrap.as_ref().and_then(|b| b.bins.get(&point.bin).copied());
            let ends = [band.map(|b| b.0), band.map(|b| b.1)];
            let ends = ends.map(|end| end.map_or_else(String::new, |end| format!("{end:.6}")));
            csv.write_record([result.name.clone()].into_iter().chain(cells(&point, &count)).chain(ends))?;
            let mut object = json_point(&point, &count);
            object["band"] = band.map_or(Value::Null, |(low, high)| json!([low, high]));
            points.push(object);
        }
        engines.push(json!({ "name": result.name, "bin_cp": options.bin_cp, "points": points }));
    }
    let empty = engines.iter().all(|engine: &Value| has_no_point(engine));
    put(args, csv, &json!({ "engines": engines }))?;
    terminal::tell(&found, output.quiet, language);
    if empty && !results.is_empty() {
        note_no_bin(args, options);
    }
    Ok(if results.is_empty() { nothing(results.iter(), language) } else { Done::Yes })
}

/// Prints the curves of groups of samples.
fn split(args: &Args, found: &Outcome<Curves>) -> anyhow::Result<Done> {
    let Curves { splits, options, .. } = &found.value;
    let language = args.curve.input.language.chosen();
    let mut csv = csv::Writer::from_writer(Vec::new());
    csv.write_record(["engine", "split", "group"].iter().chain(&POINT))?;
    let mut documents = Vec::new();
    for split in splits {
        let mut document = serde_json::to_value(split)?;
        document["sentence"] = json!(split.sentence(Language::English));
        for (i, group) in split.groups.iter().enumerate() {
            let mut points = Vec::new();
            for (point, count) in group.curve.counted_points(options.min_bin) {
                let names = [split.engine.clone(), split.by.clone(), group.label.to_string()];
                csv.write_record(names.into_iter().chain(cells(&point, &count)))?;
                points.push(json_point(&point, &count));
            }
            document["groups"][i]["points"] = points.into();
        }
        documents.push(document);
    }
    let groups = documents.iter().flat_map(|document| document["groups"].as_array()).flatten();
    let empty = groups.into_iter().all(has_no_point);
    put(args, csv, &json!({ "splits": documents }))?;
    terminal::tell(found, args.output.quiet, language);
    note_splits(splits, args.output.is_quiet(), language);
    if empty && !splits.is_empty() {
        note_no_bin(args, options);
    }
    if splits.is_empty() {
        terminal::error(language.word("no engine has enough samples to be split (--min-samples)"));
        return Ok(Done::Nothing);
    }
    Ok(Done::Yes)
}

/// Whether the object of a curve holds no points.
fn has_no_point(curve: &Value) -> bool {
    curve["points"].as_array().is_none_or(Vec::is_empty)
}

/// Says why curves have no points although their engines have samples.
fn note_no_bin(args: &Args, options: &CalibrateOptions) {
    let (width, fewest) = (options.bin_cp, options.min_bin);
    if !args.output.quiet {
        terminal::note(&say!(
            args.curve.input.language.chosen(),
            "no bin of {width} cp has {fewest} samples (--bin, --min-bin)"
        ));
    }
}

/// Prints whether the curves split to standard error.
pub(super) fn note_splits(splits: &[SplitCurves], quiet: bool, language: Language) {
    for split in splits.iter().filter(|_| !quiet) {
        terminal::note(&split.sentence(language));
    }
}

/// Writes the CSV table or, with `--json`, the document.
fn put(args: &Args, csv: csv::Writer<Vec<u8>>, document: &Value) -> anyhow::Result<()> {
    let text = match args.output.json {
        true => printable_json(&format!("{document:#}\n")),
        false => String::from_utf8(csv.into_inner()?)?,
    };
    terminal::print(&text)
}

/// The columns of [`cells`].
const POINT: [&str; 8] = ["bin", "mean_score", "wins", "draws", "losses", "win_rate", "low", "high"];

fn cells(point: &CurvePoint, count: &BinCount) -> [String; 8] {
    let rate = |rate: f64| format!("{rate:.6}");
    [
        point.bin.to_string(),
        format!("{:.3}", point.x),
        count.wins.to_string(),
        count.draws.to_string(),
        count.losses.to_string(),
        rate(point.win_rate),
        rate(point.low),
        rate(point.high),
    ]
}

fn json_point(point: &CurvePoint, count: &BinCount) -> Value {
    json!({
        "bin": point.bin, "mean_score": point.x, "wins": count.wins, "draws": count.draws,
        "losses": count.losses, "win_rate": point.win_rate, "low": point.low, "high": point.high,
    })
}
