//! A simulation as JSON.

use serde_json::{Value, json};

use super::{Model, Rate, Simulation};

/// The simulation as JSON.
pub fn document(model: &Model, found: &Simulation) -> Value {
    let engines = model.engines.iter().zip(&found.engines).enumerate();
    let pair = |(i, j, r): &(usize, usize, Rate)| json!({ "engines": [i + 1, j + 1], "same_move": rate(*r) });
    json!({
        "model": {
            "candidates": model.candidates,
            "gap": model.gap,
            "level": model.level,
            "spread": model.spread,
            "caution": model.caution,
            "calibration": model.calibration.to_string(),
            "synchronisations": model.synchronisations.iter().map(|s| json!({
                "of": s.of + 1, "follower": s.follower + 1, "probability": s.probability
            })).collect::<Vec<_>>(),
        },
        "trials": found.options.trials,
        "seed": found.options.seed,
        "engines": engines.map(|(i, (e, r))| json!({
            "engine": i + 1,
            "noise": e.noise,
            "gain": e.gain,
            "offset": e.offset,
            "calibration_error": e.calibration_error,
            "shift_error": e.shift_error,
            "weight": e.weight,
            "best_move": rate(*r),
        })).collect::<Vec<_>>(),
        "strongest": found.strongest + 1,
        "agreement": found.agreement.iter().map(pair).collect::<Vec<_>>(),
        "unanimous": rate(found.unanimous),
        "rules": found.rules.iter().map(|r| json!({
            "rule": r.contender.rule.as_str(),
            "tie": r.contender.tie,
            "best_known": r.contender.best_known,
            "name": r.contender.name(),
            "best_move": rate(r.best_move),
            "gain": r.gain,
            "gain_standard_error": r.gain_error,
        })).collect::<Vec<_>>(),
    })
}

/// A rate with its standard error.
fn rate(rate: Rate) -> Value {
    json!({ "rate": rate.value(), "standard_error": rate.standard_error(), "hits": rate.hits })
}
