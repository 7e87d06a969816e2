//! Reports of a model estimated from the votes of a council.

use std::fmt::Write;

use serde_json::{Value, json};

use super::simulation;
use super::text::{fit_name, thousands};
use crate::theory::estimate::{Estimate, Estimated};
use crate::theory::simulate::{Model, Simulation};

/// Columns of a name.
const NAME: usize = 24;

/// Tables of engines, pairs, and the simulation of the estimated model.
pub fn text(names: &[String], found: &Estimate, model: &Model, simulated: &Simulation) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "{} positions used; {} candidates; values are logits of win rates, ± standard error",
        thousands(found.positions as u64),
        found.candidates
    );
    let shown = |e: Estimated| format!("{:>7.3} ± {:.3}", e.value, e.standard_error);
    let _ = writeln!(out, "\n{:<NAME$} {}", "gap of the best move", shown(found.gap));
    for (name, noise) in names.iter().zip(&found.noise) {
        let _ = writeln!(out, "{} {}", fit_name(&format!("noise of {name}"), NAME), shown(*noise));
    }
    let _ = writeln!(
        out,
        "\n{:<49} {:>9}  {:>9}  {:>9}   synchronisation",
        "engines", "same move", "expected", "same vote"
    );
    for p in &found.pairs {
        let name = |i: usize| names.get(i).map_or_else(String::new, |n| fit_name(n, NAME));
        let share = |n: u64| n as f64 / p.positions as f64;
        let (first, second) = (name(p.first), name(p.second));
        let (agreed, copied) = (share(p.agreed), share(p.copied));
        let _ = writeln!(
            out,
            "{first} {second} {agreed:>9.4}  {:>9.4}  {copied:>9.4}   {}",
            p.expected,
            shown(p.synchronisation)
        );
    }
    let _ = writeln!(out, "\nSimulation of this model:\n");
    out + &simulation::text(model, simulated)
}

/// The estimate as JSON.
pub fn document(names: &[String], found: &Estimate, model: &Model, simulated: &Simulation) -> Value {
    let number = |e: Estimated| json!({ "value": e.value, "standard_error": e.standard_error });
    json!({
        "positions": found.positions,
        "candidates": found.candidates,
        "log_likelihoods": found.tried.iter().map(|(n, l)| json!({ "candidates": n, "log_likelihood": l })).collect::<Vec<_>>(),
        "gap": number(found.gap),
        "engines": names.iter().zip(&found.noise).map(|(n, s)| json!({ "name": n, "noise": number(*s) })).collect::<Vec<_>>(),
        "pairs": found.pairs.iter().map(|p| json!({
            "engines": [names.get(p.first), names.get(p.second)],
            "positions": p.positions,
            "agreed": p.agreed,
            "copied": p.copied,
            "expected_agreement": p.expected,
            "synchronisation": number(p.synchronisation),
        })).collect::<Vec<_>>(),
        "simulation": simulation::document(model, simulated),
    })
}
