//! Results for machines.

use serde_json::{Map, Value, json};

use crate::calibrate::{CalibrateOptions, EngineResult};
use crate::fit::{Fit, FitError, Method};
use crate::sample::ReadReport;
use crate::standardize::Standardization;

/// Nine significant digits, as in the calibration file.
fn number(x: f64) -> Value {
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

fn fit(fit: Result<&Fit, &FitError>) -> Value {
    match fit {
        Err(error) => json!({ "error": error.to_string() }),
        Ok(fit) => {
            let [[a, b], [c, d]] = fit.covariance;
            json!({
                "w1": number(fit.sigmoid.w1),
                "w2": number(fit.sigmoid.w2),
                "covariance": [[number(a), number(b)], [number(c), number(d)]],
                "w1_interval": pair(fit.interval_w1()),
                "w2_interval": pair(fit.interval_w2()),
                "ponanza": number(fit.sigmoid.ponanza_constant()),
                "ponanza_interval": fit.interval_ponanza().map(pair),
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
        "least_squares": fit(result.fit(Method::LeastSquares)),
        "maximum_likelihood": fit(result.fit(Method::MaximumLikelihood)),
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
    document.insert("engines".to_owned(), Value::Array(engines));
    document.insert("problems".to_owned(), problems);
    document.insert("notes".to_owned(), json!(notes));
    // a map of values always serialises
    let text = serde_json::to_string_pretty(&Value::Object(document)).unwrap_or_default();
    text + "\n"
}
