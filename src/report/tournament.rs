//! The results of a tournament as text and JSON.

use std::fmt::Write;

use serde_json::{Value, json};

use super::matches;
use crate::match_stats::summary::totals;
use crate::match_stats::{Decision, Entry, Match, SprtOptions, Summary, summarize};
use crate::play::{Format, Standings, Tournament};

/// The statistics of a tournament.
#[derive(Debug, Clone, PartialEq)]
pub struct Results {
    /// One row per encounter, compared if the engines met the same opponent.
    pub encounters: Summary,
    /// One row per engine that met several opponents.
    pub totals: Summary,
}

/// Computes the statistics. In a gauntlet, every engine is shown in its own view against the first.
pub fn results(tournament: &Tournament, standings: &Standings) -> Results {
    let gauntlet = tournament.format == Format::Gauntlet && tournament.engines.len() > 2;
    let played = standings.encounters.iter().map(|e| &e.results).filter(|m| m.games.games() > 0);
    let matches: Vec<Match> = played.map(|m| if gauntlet { m.reversed() } else { m.clone() }).collect();
    let entries: Vec<Entry> = matches.iter().map(Entry::from).collect();
    let encounters = summarize(&entries, None);
    let both: Vec<Match> = matches.iter().flat_map(|m| [m.clone(), m.reversed()]).collect();
    let encounters = if gauntlet { encounters.compared() } else { encounters };
    let of_all = if gauntlet { Vec::new() } else { totals(&both) };
    Results { encounters, totals: summarize(&of_all, None) }
}

/// The header of [`rows`].
pub fn head() -> String {
    matches::head()
}

/// One line per encounter, and one per engine over all its opponents.
pub fn rows(results: &Results) -> String {
    let mut text = matches::rows(&results.encounters);
    if !results.totals.rows.is_empty() {
        text += &format!("over all opponents\n{}", matches::rows(&results.totals));
    }
    text
}

/// The sequential tests, and the tests between engines that met the same opponent.
pub fn tests(tournament: &Tournament, standings: &Standings, results: &Results, level: f64) -> String {
    let mut text = String::new();
    if let Some(options) = tournament.sprt.map(SprtOptions::from) {
        let (elo0, elo1) = (options.elo0, options.elo1);
        let _ = writeln!(text, "\nSPRT of {elo0} against {elo1} Elo, alpha {}, beta {}", options.alpha, options.beta);
        for encounter in &standings.encounters {
            let Match { player, opponent, .. } = &encounter.results;
            let Some(test) = encounter.sprt else { continue };
            let decision = match (test.decision, encounter.decided_after) {
                (Decision::AcceptH0, Some(pair)) => format!("H0 accepted after {pair} pairs: {elo0} or less"),
                (Decision::AcceptH1, Some(pair)) => format!("H1 accepted after {pair} pairs: {elo1} or more"),
                _ => "undecided".to_owned(),
            };
            let _ = writeln!(
                text,
                "  {player} against {opponent}: LLR {:.3} in ({:.3}, {:.3}); {decision}",
                test.llr, test.lower, test.upper
            );
        }
    }
    let comparisons = matches::comparisons(&results.encounters, level);
    if comparisons.is_empty() { text } else { format!("{text}\n{comparisons}") }
}

/// The engines that lost games by faults of their own; empty if there are none.
pub fn faults(tournament: &Tournament, standings: &Standings) -> String {
    let mut text = String::new();
    for (engine, faults) in tournament.engines.iter().zip(&standings.faults).filter(|(_, f)| f.total() > 0) {
        let counts = [(faults.crashes, "by a crash"), (faults.time, "on time"), (faults.illegal, "by an illegal move")];
        let words: Vec<String> = counts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
        let _ = writeln!(text, "{} lost {}", engine.name, words.join(", "));
    }
    text
}

/// The results as JSON.
pub fn document(tournament: &Tournament, standings: &Standings, results: &Results, level: f64) -> Value {
    let mut document = Value::Object(matches::document(&results.encounters, level));
    document["totals"] = Value::Object(matches::document(&results.totals, level))["systems"].take();
    document["games"] = json!({ "played": standings.games, "planned": standings.planned });
    let names = || tournament.engines.iter().map(|engine| engine.name.clone());
    let seconds = standings.thinking_ms.iter().map(|ms| json!(*ms as f64 / 1000.0));
    document["thinking_seconds"] = names().zip(seconds).collect();
    document["faults"] = names().zip(&standings.faults).map(|(name, faults)| (name, json!(faults))).collect();
    document["sprt"] = standings
        .encounters
        .iter()
        .filter_map(|encounter| {
            let test = encounter.sprt?;
            let Match { player, opponent, .. } = &encounter.results;
            Some(json!({
                "player": player, "opponent": opponent, "llr": test.llr, "lower": test.lower, "upper": test.upper,
                "decision": <&str>::from(test.decision), "decided_after_pairs": encounter.decided_after,
            }))
        })
        .collect();
    document
}
