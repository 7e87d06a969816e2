//! Results for machines.

use serde_json::{Map, Value, json};

use crate::calibrate::{CalibrateOptions, EngineResult, Validated};
use crate::calibration::nine_digits;
use crate::fit::{FitError, Method, Model, ModelFit, Sigmoid};
use crate::sample::ReadReport;
use crate::standardize::Standardization;
use crate::validate::{Candidate, Choice, Estimate};

use super::text;

/// Of intervals by bootstrap.
const LEVEL: f64 = 0.95;

/// Nine significant digits, as in the calibration file.
pub(super) fn number(x: f64) -> Value {
    serde_json::Number::from_f64(nine_digits(x)).map_or(Value::Null, Value::Number)
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

pub(super) fn pair((low, high): (f64, f64)) -> Value {
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

/// A number with its 95% interval.
pub(super) fn estimate(e: &Estimate) -> Value {
    json!({ "value": number(e.value), "interval": e.interval.map(|[low, high]| [number(low), number(high)]) })
}

/// A model that is no plain sigmoid.
fn model(fit: &Result<ModelFit, FitError>) -> Value {
    let fit = match fit {
        Err(error) => return json!({ "error": error.to_string() }),
        Ok(fit) => fit,
    };
    let mut out = Map::new();
    for (name, value) in fit.model.parameters() {
        out.insert(name.to_owned(), number(value));
    }
    if let Model::Isotonic(curve) = &fit.model {
        out.insert("points".to_owned(), curve.points.iter().map(|(x, p)| json!([number(*x), number(*p)])).collect());
    }
    let errors = fit.standard_errors().map(|e| e.into_iter().map(number).collect::<Vec<_>>());
    out.insert("standard_errors".to_owned(), json!(errors));
    out.insert("samples".to_owned(), json!(fit.samples));
    out.insert("games".to_owned(), json!(fit.games));
    Value::Object(out)
}

/// How the chosen model did out of sample.
pub(super) fn validated(v: &Validated) -> Value {
    let (s, d) = (&v.scores, &v.scores.decomposition);
    let baselines: Map<String, Value> =
        v.baselines.iter().map(|(kind, e)| (kind.as_str().to_owned(), estimate(e))).collect();
    json!({
        "folds": v.folds,
        "samples": s.samples,
        "games": s.games,
        "log_loss": estimate(&s.log_loss),
        "brier": estimate(&s.brier),
        "miscalibration": estimate(&d.miscalibration),
        "discrimination": estimate(&d.discrimination),
        "uncertainty": estimate(&d.uncertainty),
        "slope": s.slope.as_ref().map(estimate),
        "intercept": s.intercept.as_ref().map(estimate),
        "ece": estimate(&s.ece),
        "spiegelhalter": s.spiegelhalter.map(|s| json!({ "z": number(s.z), "z_clustered": number(s.z_clustered) })),
        "baselines": baselines,
    })
}

/// The candidates of `--model auto`.
fn choice(choice: &Choice) -> Value {
    let one = |c: &Candidate| {
        json!({
            "model": c.kind.as_str(),
            "log_loss": c.log_loss.as_ref().ok().map(estimate),
            "behind_best": c.behind_best.as_ref().map(estimate),
            "not_considered": c.log_loss.as_ref().err(),
        })
    };
    json!({ "model": choice.kind.as_str(), "candidates": choice.candidates.iter().map(one).collect::<Vec<_>>() })
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
        "models": result.models.iter().map(|(kind, fit)| (kind.as_str().to_owned(), model(fit))).collect::<Map<_, _>>(),
        "proper_scores": result.validated.as_ref().map(validated),
        "standardization": standardization(result.standardization),
        "standardization_with_mates": standardization(result.standardization_with_mates),
        "calibration": calibration,
        "warnings": result.warnings,
        "error": result.error,
    })
}

/// The whole document of a command that reads games. `chosen` is how `--model auto` chose.
pub fn document(
    report: &ReadReport,
    options: &CalibrateOptions,
    chosen: Option<&Choice>,
    notes: &[String],
    engines: Vec<Value>,
) -> String {
    let (games, files, problems) = reading(report);
    let mut document = Map::new();
    document.insert("games".to_owned(), games);
    document.insert("files".to_owned(), files);
    document.insert("positions".to_owned(), positions(report));
    document.insert("scores".to_owned(), json!({ "scored": report.scores, "book_moves": report.book_moves }));
    document.insert("seed".to_owned(), json!(options.sampling.seed));
    document.insert("model".to_owned(), json!(options.model.as_str()));
    if let Some(choice) = chosen {
        document.insert("choice".to_owned(), self::choice(choice));
    }
    document.insert("resamples".to_owned(), json!(options.bands));
    document.insert("engines".to_owned(), Value::Array(engines));
    document.insert("problems".to_owned(), problems);
    document.insert("notes".to_owned(), json!(notes));
    // a map of values always serialises
    let text = serde_json::to_string_pretty(&Value::Object(document)).unwrap_or_default();
    text + "\n"
}
