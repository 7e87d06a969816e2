//! The diagnosis for machines.

use serde_json::{Value, json};

use super::json::{engine, estimate, number, pair, reading};
use crate::calibrate::CalibrateOptions;
use crate::diagnose::{Diagnosis, ModelScores};
use crate::fit::{GameBootstrap, Method};
use crate::sample::ReadReport;
use crate::validate::{Reliability, ReliabilityPool};

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

fn model_scores(m: &ModelScores) -> Value {
    json!({
        "model": m.kind.as_str(),
        "samples": m.samples,
        "log_loss": m.log_loss.as_ref().ok().map(estimate),
        "behind_chosen": m.behind_chosen.as_ref().map(estimate),
        "error": m.log_loss.as_ref().err(),
    })
}

fn reliability(engine: &str, found: &Reliability) -> Value {
    let pool = |p: &ReliabilityPool| {
        json!({
            "from": number(p.from), "to": number(p.to), "win_rate": number(p.win_rate), "samples": p.samples,
        })
    };
    json!({ "engine": engine, "pools": found.pools.iter().map(pool).collect::<Vec<_>>() })
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
pub fn document(found: &Diagnosis, report: &ReadReport, options: &CalibrateOptions, notes: &[String]) -> String {
    let (games, files, problems) = reading(report);
    let bootstraps: Vec<Value> =
        found.results.iter().filter_map(|r| Some(bootstrap(&r.name, r.bootstrap.as_ref()?))).collect();
    let reliabilities: Vec<Value> = found
        .results
        .iter()
        .zip(&found.reliability)
        .filter_map(|(r, diagram)| Some(reliability(&r.name, diagram.as_ref()?)))
        .collect();
    let needed: Vec<Value> = found
        .results
        .iter()
        .filter_map(|r| Some(json!({ "engine": r.name, "w1": part(&r.fit(found.method).ok()?.games_needed(0.05)?) })))
        .collect();
    let document = json!({
        "format": "evalcurve-diagnosis",
        "version": 1,
        "tool_version": env!("CARGO_PKG_VERSION"),
        "base": part(&found.base),
        "games": games,
        "files": files,
        "scores_read": { "scored": report.scores, "book_moves": report.book_moves },
        "verdict": part(&super::verdict::lines(found)),
        "model": options.model.as_str(),
        "method": found.method.as_str(),
        "engines": found.results.iter().map(|r| engine(r, None)).collect::<Vec<_>>(),
        "sure": { "bootstrap": bootstraps, "games_needed": needed },
        "right": {
            "models": found.models.iter().map(model_scores).collect::<Vec<_>>(),
            "reliability": reliabilities,
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
