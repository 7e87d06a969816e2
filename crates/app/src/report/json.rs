//! Results as JSON.
//!
//! The documents are built from values as computed; [`rounded`] rounds every number once, at the end.

use evalcurve_fit::calibration::nine_digits;
use evalcurve_fit::fit::{FitError, Method, Model, ModelFit, Sigmoid};
use evalcurve_fit::validate::{Candidate, Choice};
use evalcurve_records::sample::ReadReport;
use evalcurve_words::language::{Language, Text};
use serde_json::{Map, Value, json};

use super::text;
use super::verdict::Verdict;
use crate::calibrate::{CalibrateOptions, EngineResult, Validated};

/// A document with its numbers rounded to nine significant digits, as in the calibration file; `null` for a number that
/// is not finite.
pub fn rounded(mut value: Value) -> Value {
    round(&mut value);
    value
}

fn round(value: &mut Value) {
    match value {
        Value::Number(n) if n.is_f64() => *value = n.as_f64().map(nine_digits).into(),
        Value::Array(list) => list.iter_mut().for_each(round),
        Value::Object(map) => map.values_mut().for_each(round),
        _ => {}
    }
}

/// A document about records: `more`, with the counts of games and files, the problems of reading, and the notes.
pub fn about_records(report: &ReadReport, notes: &[Text], more: Value) -> Value {
    let mut document = json!({
        "games": { "read": report.games_read, "used": report.games_used, "skipped": report.games_skipped },
        "files": { "read": report.files_read, "refused": report.files_refused },
        "problems": report.problems,
        "notes": notes,
    });
    if let (Value::Object(all), Value::Object(more)) = (&mut document, more) {
        all.extend(more);
    }
    document
}

fn fit(result: &EngineResult, method: Method) -> Value {
    let fit = match result.fit(method) {
        Ok(fit) => fit,
        Err(error) => return json!({ "error": error.to_string() }),
    };
    let resampled = result.bootstrap.as_ref().and_then(|b| b.fit(method));
    let needed = fit.games_needed(text::PLANNED_SHARE);
    let (w1, w2, constant) = (fit.w1(), fit.w2(), fit.constant());
    let interval = |of: &dyn Fn(&Sigmoid) -> f64| resampled.and_then(|b| b.interval(of));
    json!({
        "w1": w1.value,
        "w2": w2.value,
        "covariance": fit.covariance,
        "w1_interval": w1.interval,
        "w2_interval": w2.interval,
        "ponanza": constant.value,
        "ponanza_interval": constant.interval,
        "bootstrap": resampled.map(|b| json!({
            "resamples": b.sigmoids.len(),
            "failed": b.failed,
            "w1_interval": interval(&|s| s.w1),
            "w2_interval": interval(&|s| s.w2),
        })),
        "games_for_5_percent": needed.map(|g| json!({ "games": g.games, "more": g.more })),
        "samples": fit.samples,
        "games": fit.games,
        "passes": fit.passes,
    })
}

/// A model other than the plain sigmoid.
fn model(fit: &Result<Box<ModelFit>, FitError>) -> Value {
    let fit = match fit {
        Err(error) => return json!({ "error": error.to_string() }),
        Ok(fit) => fit,
    };
    let errors = fit.standard_errors();
    let mut out = json!({ "standard_errors": errors, "samples": fit.samples, "games": fit.games });
    for (name, value) in fit.model.parameters() {
        out[name] = value.into();
    }
    if let Model::Isotonic(curve) = &fit.model {
        out["points"] = json!(curve.points);
    }
    out
}

/// The scores of the chosen model out of sample.
fn validated(v: &Validated) -> Value {
    let mut out = json!(v.scores);
    out["folds"] = v.folds.into();
    out["baselines"] = json!(v.baselines);
    out
}

/// The candidates of `--model auto`.
fn choice(choice: &Choice) -> Value {
    let one = |c: &Candidate| {
        json!({
            "model": c.kind.as_str(),
            "log_loss": c.log_loss.as_ref().ok(),
            "behind_best": c.behind_best,
            "not_considered": c.log_loss.as_ref().err(),
        })
    };
    json!({ "model": choice.kind.as_str(), "candidates": choice.candidates.iter().map(one).collect::<Vec<_>>() })
}

/// One engine. `calibration` is the path of its file, if one was written.
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
        "win_rate": result.win_rate(),
        "mate_threshold": mates.threshold_cp,
        "wrong_sided_mates": mates.wrong_sided,
        "largest_cp_left": mates.largest_cp_left,
        "cut": mates.cut.map(|cut| json!({ "cp": cut.cp, "samples": cut.samples })),
        "signs": result.signs.as_ref().map(|(signs, games)| json!({
            "games": signs.games,
            "share": signs.share,
            "interval": signs.interval,
            "inverted": games,
        })),
        "adjudicated": result.adjudicated,
        "least_squares": fit(result, Method::LeastSquares),
        "maximum_likelihood": fit(result, Method::MaximumLikelihood),
        "models": result.models.iter().map(|(kind, fit)| (kind.as_str().to_owned(), model(fit))).collect::<Map<_, _>>(),
        "proper_scores": result.validated.as_ref().map(validated),
        "standardization": result.standardization,
        "standardization_with_mates": result.standardization_with_mates,
        "constant": result.calibration.as_ref().and_then(|calibration| calibration.constant()),
        "verdict": Verdict::of_result(result).map(|verdict| verdict.word(Language::English)),
        "calibration": calibration,
        "warnings": result.warnings,
        "error": result.error,
    })
}

/// The document of a command that reads games. `chosen` is the choice of `--model auto`.
pub fn document(
    report: &ReadReport,
    options: &CalibrateOptions,
    chosen: Option<&Choice>,
    notes: &[Text],
    engines: Vec<Value>,
) -> Value {
    let mut more = json!({
        "positions": report.positions,
        "scores": { "scored": report.scores, "book_moves": report.book_moves, "unread": report.unread },
        "seed": options.sampling.seed,
        "model": options.model.as_str(),
        "resamples": options.bands,
        "engines": engines,
    });
    if let Some(chosen) = chosen {
        more["choice"] = choice(chosen);
    }
    rounded(about_records(report, notes, more))
}
