//! Results for machines.

use serde_json::{Map, Value, json};

use crate::calibrate::{CalibrateOptions, EngineResult};
use crate::diagnose::{Diagnosis, EngineScores, ModelScores};
use crate::fit::{Fit, FitError, GameBootstrap, Method};
use crate::sample::ReadReport;
use crate::standardize::Standardization;
use crate::validate::Estimate;

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

/// Nine significant digits for every number inside that is not whole.
fn rounded(value: Value) -> Value {
    match value {
        Value::Number(n) if n.is_f64() => n.as_f64().map_or(Value::Null, number),
        Value::Array(list) => list.into_iter().map(rounded).collect(),
        Value::Object(map) => map.into_iter().map(|(k, v)| (k, rounded(v))).collect(),
        other => other,
    }
}

/// Any part of a result; what cannot be told becomes `null`.
fn part(value: &impl serde::Serialize) -> Value {
    serde_json::to_value(value).map_or(Value::Null, rounded)
}

fn estimate(e: &Estimate) -> Value {
    json!({ "value": number(e.value), "interval": e.interval.map(|[low, high]| pair((low, high))) })
}

fn model_scores(m: &ModelScores) -> Value {
    json!({
        "model": m.kind.as_str(),
        "samples": m.samples,
        "log_loss": m.log_loss.as_ref().ok().map(estimate),
        "behind_chosen": m.behind_chosen.as_ref().map(estimate),
        "error": m.log_loss.as_ref().err(),
    })
}

fn engine_scores(e: &EngineScores) -> Value {
    let scores = match &e.scores {
        Err(why) => return json!({ "engine": e.engine, "error": why }),
        Ok(scores) => scores,
    };
    let parts = &scores.decomposition;
    json!({
        "engine": e.engine,
        "samples": scores.samples,
        "games": scores.games,
        "log_loss": estimate(&scores.log_loss),
        "brier": estimate(&scores.brier),
        "miscalibration": estimate(&parts.miscalibration),
        "discrimination": estimate(&parts.discrimination),
        "uncertainty": estimate(&parts.uncertainty),
        "slope": scores.slope.as_ref().map(estimate),
        "intercept": scores.intercept.as_ref().map(estimate),
        "calibration_error": estimate(&scores.ece),
        "spiegelhalter_z": scores.spiegelhalter.map(|s| number(s.z)),
        "spiegelhalter_z_clustered": scores.spiegelhalter.map(|s| number(s.z_clustered)),
        "reliability": e.reliability.as_ref().map(|r| r.pools.iter().map(|p| json!({
            "from": number(p.from), "to": number(p.to), "win_rate": number(p.win_rate), "samples": p.samples,
        })).collect::<Vec<_>>()),
    })
}

/// The bootstrap of one engine: intervals of w1 and w2 by both methods.
fn bootstrap(name: &str, bootstrap: &GameBootstrap) -> Value {
    let of = |method: Method| {
        let curves = bootstrap.fit(method).ok()?;
        Some(json!({
            "w1_interval": curves.interval(0.95, |s| s.w1).map(pair),
            "w2_interval": curves.interval(0.95, |s| s.w2).map(pair),
            "failed": curves.failed,
        }))
    };
    json!({
        "engine": name,
        "least_squares": of(Method::LeastSquares),
        "maximum_likelihood": of(Method::MaximumLikelihood),
    })
}

/// The whole diagnosis, the same as the page.
pub fn diagnosis(found: &Diagnosis, report: &ReadReport, options: &CalibrateOptions, notes: &[String]) -> String {
    let (games, files, problems) = reading(report);
    let bootstraps: Vec<Value> = found
        .results
        .iter()
        .zip(&found.bootstraps)
        .filter_map(|(r, b)| Some(bootstrap(&r.name, b.as_ref()?)))
        .collect();
    let needed: Vec<Value> = found
        .results
        .iter()
        .filter_map(|r| Some(json!({ "engine": r.name, "w1": part(&r.fit(options.model).ok()?.games_needed(0.05)?) })))
        .collect();
    let document = json!({
        "format": "evalcurve-diagnosis",
        "version": 1,
        "tool_version": env!("CARGO_PKG_VERSION"),
        "base": part(&found.base),
        "games": games,
        "files": files,
        "scores_read": { "scored": report.scores, "book_moves": report.book_moves },
        "verdict": part(&super::verdict::lines(found, options.model)),
        "model": options.model.as_str(),
        "engines": found.results.iter().map(|r| engine(r, None)).collect::<Vec<_>>(),
        "sure": { "bootstrap": bootstraps, "games_needed": needed },
        "right": {
            "models": found.models.iter().map(model_scores).collect::<Vec<_>>(),
            "engines": found.scores.iter().map(engine_scores).collect::<Vec<_>>(),
        },
        "scale": { "mismatch": part(&found.mismatch), "pairwise": part(&found.pairwise) },
        "differ": part(&found.influence),
        "splits": part(&found.splits),
        "problems": problems,
        "notes": notes,
    });
    // a map of values always serialises
    serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
}

/// The whole document of a command that reads games.
pub fn document(report: &ReadReport, options: &CalibrateOptions, notes: &[String], engines: Vec<Value>) -> String {
    let (games, files, problems) = reading(report);
    let mut document = Map::new();
    document.insert("games".to_owned(), games);
    document.insert("files".to_owned(), files);
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
