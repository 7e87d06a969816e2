//! The diagnosis as JSON.

use serde_json::{Value, json};

use super::json::{about_records, engine, rounded};
use super::verdict::WANTED;
use crate::calibrate::{CalibrateOptions, EngineResult};
use crate::diagnose::{Diagnosis, ModelScores};
use crate::fit::Method;
use crate::language::{Language, Text};
use crate::sample::ReadReport;
use crate::validate::Reliability;

/// The JSON Schema (draft 2020-12) of the [`document`].
pub const SCHEMA: &str = include_str!("diagnosis.schema.json");

fn model_scores(m: &ModelScores) -> Value {
    json!({
        "model": m.kind.as_str(),
        "samples": m.samples,
        "log_loss": m.log_loss.as_ref().ok(),
        "behind_chosen": m.behind_chosen,
        "error": m.log_loss.as_ref().err(),
    })
}

/// The bootstrap of one engine: intervals of w1 and w2 by both methods.
fn bootstrap(result: &EngineResult) -> Option<Value> {
    let bootstrap = result.bootstrap.as_ref()?;
    let of = |method: Method| {
        let curves = bootstrap.fit(method).ok()?;
        let (w1, w2) = (curves.interval(0.95, |s| s.w1), curves.interval(0.95, |s| s.w2));
        Some(json!({ "w1_interval": w1, "w2_interval": w2, "failed": curves.failed }))
    };
    let (squares, likelihood) = (of(Method::LeastSquares), of(Method::MaximumLikelihood));
    Some(json!({ "engine": result.name, "least_squares": squares, "maximum_likelihood": likelihood }))
}

/// The whole diagnosis, with the same contents as the page.
pub fn document(found: &Diagnosis, report: &ReadReport, options: &CalibrateOptions, notes: &[Text]) -> Value {
    let results = &found.results;
    let needed =
        |r: &EngineResult| Some(json!({ "engine": r.name, "w1": r.calibration.as_ref()?.games_needed(WANTED)? }));
    let reliability = |(r, diagram): (&EngineResult, &Option<Reliability>)| {
        Some(json!({ "engine": r.name, "pools": diagram.as_ref()?.pools }))
    };
    let more = json!({
        "format": "evalcurve-diagnosis",
        "version": 2,
        "tool_version": env!("CARGO_PKG_VERSION"),
        "base": found.base,
        "scores_read": { "scored": report.scores, "book_moves": report.book_moves },
        "verdict": super::verdict::with_questions(found, Language::English),
        "model": options.model.as_str(),
        "method": found.method.as_str(),
        "engines": results.iter().map(|r| engine(r, None)).collect::<Vec<_>>(),
        "sure": {
            "bootstrap": results.iter().filter_map(bootstrap).collect::<Vec<_>>(),
            "games_needed": results.iter().filter_map(needed).collect::<Vec<_>>(),
        },
        "right": {
            "models": found.models.iter().map(model_scores).collect::<Vec<_>>(),
            "declared": found.declared,
            "reliability": results.iter().zip(&found.reliability).filter_map(reliability).collect::<Vec<_>>(),
        },
        "scale": { "mismatch": found.mismatch, "pairwise": found.pairwise },
        "differ": found.influence,
        "splits": found.splits,
    });
    rounded(about_records(report, notes, more))
}
