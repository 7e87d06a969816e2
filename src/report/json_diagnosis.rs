//! The diagnosis as JSON.

use serde_json::{Value, json};

use super::json::{engine, reading, to_text};
use crate::calibrate::CalibrateOptions;
use crate::diagnose::{Diagnosis, ModelScores};
use crate::fit::{GameBootstrap, Method};
use crate::sample::ReadReport;
use crate::validate::{Reliability, ReliabilityPool};

fn model_scores(m: &ModelScores) -> Value {
    json!({
        "model": m.kind.as_str(),
        "samples": m.samples,
        "log_loss": m.log_loss.as_ref().ok(),
        "behind_chosen": m.behind_chosen,
        "error": m.log_loss.as_ref().err(),
    })
}

fn reliability(engine: &str, found: &Reliability) -> Value {
    let pool =
        |p: &ReliabilityPool| json!({ "from": p.from, "to": p.to, "win_rate": p.win_rate, "samples": p.samples });
    json!({ "engine": engine, "pools": found.pools.iter().map(pool).collect::<Vec<_>>() })
}

/// The bootstrap of one engine: intervals of w1 and w2 by both methods.
fn bootstrap(name: &str, bootstrap: &GameBootstrap) -> Value {
    let of = |method: Method| {
        let curves = bootstrap.fit(method).ok()?;
        Some(json!({
            "w1_interval": curves.interval(0.95, |s| s.w1),
            "w2_interval": curves.interval(0.95, |s| s.w2),
            "failed": curves.failed,
        }))
    };
    json!({
        "engine": name,
        "least_squares": of(Method::LeastSquares),
        "maximum_likelihood": of(Method::MaximumLikelihood),
    })
}

/// The whole diagnosis, with the same contents as the page.
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
        .filter_map(|r| Some(json!({ "engine": r.name, "w1": r.fit(found.method).ok()?.games_needed(0.05)? })))
        .collect();
    let document = json!({
        "format": "evalcurve-diagnosis",
        "version": 1,
        "tool_version": env!("CARGO_PKG_VERSION"),
        "base": found.base,
        "games": games,
        "files": files,
        "scores_read": { "scored": report.scores, "book_moves": report.book_moves },
        "verdict": super::verdict::lines(found),
        "model": options.model.as_str(),
        "method": found.method.as_str(),
        "engines": found.results.iter().map(|r| engine(r, None)).collect::<Vec<_>>(),
        "sure": { "bootstrap": bootstraps, "games_needed": needed },
        "right": {
            "models": found.models.iter().map(model_scores).collect::<Vec<_>>(),
            "reliability": reliabilities,
        },
        "scale": { "mismatch": found.mismatch, "pairwise": found.pairwise },
        "differ": found.influence,
        "splits": found.splits,
        "problems": problems,
        "notes": notes,
    });
    to_text(document)
}
