//! Results for machines.

use serde_json::{Map, Value, json};

use crate::calibrate::{CalibrateOptions, EngineResult};
use crate::fit::{Method, Sigmoid};
use crate::sample::ReadReport;
use crate::standardize::Standardization;

use super::text;

/// Of intervals by bootstrap.
const LEVEL: f64 = 0.95;

/// Nine significant digits, as in the calibration file.
pub(super) fn number(x: f64) -> Value {
    let rounded = format!("{x:.8e}").parse::<f64>().unwrap_or(x);
    serde_json::Number::from_f64(rounded + 0.0).map_or(Value::Null, Value::Number)
}

/// Files and games: `{"read", "used", "skipped": {REASON: n}}` and what stands beside them.
pub fn reading(report: &ReadReport) -> (Value, Value, Value) {
    let games = json!({
        "read": report.games_read,
        "used": report.games_used,
        "skipped": report.games_skipped,
    });
    let files = json!({ "read": report.files_read, "refused": report.files_refused });
    let problems: Vec<Value> = report
        .problems
        .iter()
        .map(|p| json!({ "source": p.source, "line": p.line, "kind": p.kind, "value": p.value }))
        .collect();
    (games, files, Value::Array(problems))
}

/// Positions of training data by format: `{"psv": {"read", "used", "skipped": {REASON: n}}}`.
pub fn positions(report: &ReadReport) -> Value {
    let one = |(format, count): (&&str, &crate::sample::PositionCount)| {
        ((*format).to_owned(), json!({ "read": count.read, "used": count.used, "skipped": count.skipped }))
    };
    Value::Object(report.positions.iter().map(one).collect())
}

fn pair((low, high): (f64, f64)) -> Value {
    json!([number(low), number(high)])
}

fn fit(result: &EngineResult, method: Method) -> Value {
    match result.fit(method) {
        Err(error) => json!({ "error": error.to_string() }),
        Ok(fit) => {
            let [[a, b], [c, d]] = fit.covariance;
            let resampled = result.bootstrap.as_ref().and_then(|b| b.fit(method).ok());
            let by_bootstrap = |of: &dyn Fn(&Sigmoid) -> f64| resampled.and_then(|b| b.interval(LEVEL, of)).map(pair);
            json!({
                "w1": number(fit.sigmoid.w1),
                "w2": number(fit.sigmoid.w2),
                "covariance": [[number(a), number(b)], [number(c), number(d)]],
                "w1_interval": pair(fit.interval_w1()),
                "w2_interval": pair(fit.interval_w2()),
                "ponanza": number(fit.sigmoid.ponanza_constant()),
                "ponanza_interval": fit.interval_ponanza().map(pair),
                "bootstrap": resampled.map(|b| json!({
                    "resamples": b.sigmoids.len(),
                    "failed": b.failed,
                    "w1_interval": by_bootstrap(&|s| s.w1),
                    "w2_interval": by_bootstrap(&|s| s.w2),
                })),
                "games_for_5_percent": fit.games_needed(text::PLANNED_SHARE).map(|g| json!({ "games": g.games, "more": g.more })),
                "samples": fit.samples,
                "games": fit.games,
                "passes": fit.passes,
            })
        }
    }
}

fn standardization(s: Option<Standardization>) -> Value {
    s.map_or(Value::Null, |s| json!({ "mean": number(s.mean), "sd": number(s.sd), "samples": s.samples }))
}

/// One engine. `calibration` is the path of its file, where one was written.
pub fn engine(result: &EngineResult, calibration: Option<&str>) -> Value {
    let [wins, draws, losses] = result.outcomes;
    let mates = &result.mates;
    json!({
        "name": result.name,
        "games": result.games,
        "samples": result.samples,
        "mates": mates.beyond,
        "fitted": result.fitted,
        "wins": wins,
        "draws": draws,
        "losses": losses,
        "win_rate": result.win_rate().map(number),
        "mate_threshold": mates.threshold_cp,
        "wrong_sided_mates": mates.wrong_sided,
        "largest_cp_left": mates.largest_cp_left,
        "least_squares": fit(result, Method::LeastSquares),
        "maximum_likelihood": fit(result, Method::MaximumLikelihood),
        "standardization": standardization(result.standardization),
        "standardization_with_mates": standardization(result.standardization_with_mates),
        "calibration": calibration,
        "warnings": result.warnings,
        "error": result.error,
    })
}

/// The whole document of a command that reads games.
pub fn document(report: &ReadReport, options: &CalibrateOptions, notes: &[String], engines: Vec<Value>) -> String {
    let (games, files, problems) = reading(report);
    let mut document = Map::new();
    document.insert("games".to_owned(), games);
    document.insert("files".to_owned(), files);
    document.insert("positions".to_owned(), positions(report));
    document.insert("scores".to_owned(), json!({ "scored": report.scores, "book_moves": report.book_moves }));
    document.insert("seed".to_owned(), json!(options.sampling.seed));
    document.insert("model".to_owned(), json!(options.model.as_str()));
    document.insert("resamples".to_owned(), json!(options.bands));
    document.insert("engines".to_owned(), Value::Array(engines));
    document.insert("problems".to_owned(), problems);
    document.insert("notes".to_owned(), json!(notes));
    // a map of values always serialises
    let text = serde_json::to_string_pretty(&Value::Object(document)).unwrap_or_default();
    text + "\n"
}
