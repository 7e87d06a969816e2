//! Reports of a model estimated from the votes of a council.

use std::fmt::Write;

use evalcurve_app::report::columns::Columns;
use evalcurve_app::report::text::{fit_name, thousands};
use evalcurve_words::language::Language;
use evalcurve_words::say;
use serde_json::{Value, json};

use super::simulation;
use crate::estimate::{Estimate, Estimated, Pair};
use crate::simulate::{self, Model, Simulation};

/// Columns of a name.
const NAME: usize = 24;

/// Tables of engines, pairs, and the simulation of the estimated model.
pub fn text(names: &[String], found: &Estimate, model: &Model, simulated: &Simulation, language: Language) -> String {
    let mut out = String::new();
    out += &say!(
        language,
        "{} positions used; {} candidates; values are logits of win rates, ± standard error\n",
        thousands(found.positions as u64),
        found.candidates
    );
    let shown = |e: Estimated| format!("{:>7.3} ± {:.3}", e.value, e.standard_error);
    let _ = writeln!(out, "\n{} {}", fit_name(language.word("gap of the best move"), NAME), shown(found.gap));
    for (name, noise) in names.iter().zip(&found.noise) {
        let _ = writeln!(out, "{} {}", fit_name(&say!(language, "noise of {name}"), NAME), shown(*noise));
    }
    let name = |i: usize| names.get(i).cloned().unwrap_or_default();
    let share = |n: u64, p: &Pair| format!("{:.4}", n as f64 / p.positions as f64);
    let pairs = Columns::new()
        .name(language.word("engines"), NAME, |p: &&Pair| name(p.first))
        .name("", NAME, |p| name(p.second))
        .right(language.word("same move"), 9, |p| share(p.agreed, p))
        .gap(2)
        .right(language.word("expected"), 9, |p| format!("{:.4}", p.expected))
        .right(language.word("same vote"), 9, |p| share(p.copied, p))
        .gap(3)
        .left(language.word("synchronisation"), 0, |p| shown(p.synchronisation));
    out += &format!("\n{}", pairs.table(&found.pairs));
    out += language.word("\nSimulation of this model:\n\n");
    out + &simulation::text(model, simulated, language)
}

/// The estimate as JSON.
pub fn document(names: &[String], found: &Estimate, model: &Model, simulated: &Simulation) -> Value {
    let tried = |(n, l): &(usize, f64)| json!({ "candidates": n, "log_likelihood": l });
    let number = |e: Estimated| json!({ "value": e.value, "standard_error": e.standard_error });
    let engine = |(name, noise): (&String, &Estimated)| json!({ "name": name, "noise": number(*noise) });
    json!({
        "positions": found.positions,
        "candidates": found.candidates,
        "log_likelihoods": found.tried.iter().map(tried).collect::<Vec<_>>(),
        "gap": number(found.gap),
        "engines": names.iter().zip(&found.noise).map(engine).collect::<Vec<_>>(),
        "pairs": found.pairs.iter().map(|p| json!({
            "engines": [names.get(p.first), names.get(p.second)],
            "positions": p.positions,
            "agreed": p.agreed,
            "copied": p.copied,
            "expected_agreement": p.expected,
            "synchronisation": number(p.synchronisation),
        })).collect::<Vec<_>>(),
        "simulation": simulate::document(model, simulated),
    })
}
