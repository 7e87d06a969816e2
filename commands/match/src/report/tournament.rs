//! The results of a tournament as text and JSON.

use evalcurve_words::language::Language;
use evalcurve_words::say;
use serde_json::{Value, json};

use super::matches;
use crate::match_stats::summary::totals;
use crate::match_stats::{Entry, Match, RatingGroup, Summary, rating_list, summarize};
use crate::play::Idle;
use crate::{Format, Standings, Tournament};

/// The statistics of a tournament.
#[derive(Debug, Clone, PartialEq)]
pub struct Results {
    /// One row per encounter, compared if the engines met the same opponent.
    pub encounters: Summary,
    /// One row per engine that met several opponents.
    pub totals: Summary,
    /// All engines on one scale, if any met several opponents.
    pub ratings: Vec<RatingGroup>,
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
    let rated = if of_all.is_empty() { &[] } else { &matches[..] };
    let ratings = rating_list(&rated.iter().collect::<Vec<_>>(), &[]).unwrap_or_default();
    Results { encounters, totals: summarize(&of_all, None), ratings }
}

/// A head, one line per encounter, and one per engine over all its opponents, who are not the same: so all are rated.
pub fn rows(results: &Results, width: usize, language: Language) -> String {
    matches::table(&results.encounters, &results.totals, width, language)
        + &matches::ratings(&results.ratings, width, language)
}

/// The table in a narrow window, with the state of the sequential test.
pub fn short_rows(tournament: &Tournament, standings: &Standings, width: usize, language: Language) -> String {
    let results = results(tournament, standings);
    let rows = results.encounters.rows.iter().chain(&results.totals.rows);
    let mut text: String = rows.map(|row| matches::short_row(row, width, language)).collect();
    let Some(options) = tournament.sprt else { return text };
    for encounter in &standings.encounters {
        let Match { player, opponent, .. } = &encounter.results;
        let Some(test) = encounter.sprt else { continue };
        let result = matches::sprt_result(&test, encounter.decided_after, &options, language);
        let words = format!("SPRT {player} – {opponent}: {result}");
        text += &matches::parts_in(&words.split("; ").map(str::to_owned).collect::<Vec<_>>(), width);
    }
    text
}

/// The sequential tests, and the tests between engines that met the same opponent.
pub fn tests(
    tournament: &Tournament,
    standings: &Standings,
    results: &Results,
    level: f64,
    width: usize,
    language: Language,
) -> String {
    let mut text = String::new();
    if let Some(options) = tournament.sprt {
        text += &format!("\n{}", matches::sprt_head(&options, language));
        for encounter in &standings.encounters {
            let Match { player, opponent, .. } = &encounter.results;
            let Some(test) = encounter.sprt else { continue };
            let result = matches::sprt_result(&test, encounter.decided_after, &options, language);
            text += &say!(language, "  {player} against {opponent}: {result}\n");
        }
    }
    for encounter in &standings.encounters {
        let Match { player, opponent, .. } = &encounter.results;
        text += &match encounter.idle() {
            Some(Idle::Twins { pairs }) => say!(
                language,
                "{player} against {opponent}: both games of all {pairs} pairs have the same moves, which tells \
                 nothing: these are one engine, or they do not obey their limits\n"
            ),
            Some(Idle::Replays { pairs }) => say!(
                language,
                "{player} against {opponent}: {pairs} pairs repeat earlier ones move by move and do not count: give \
                 more openings\n"
            ),
            None => continue,
        };
    }
    let comparisons = matches::comparisons(&results.encounters, level, width, language);
    if comparisons.is_empty() { text } else { format!("{text}\n{comparisons}") }
}

/// The engines that lost games by faults of their own; empty if there are none.
pub fn faults(tournament: &Tournament, standings: &Standings, language: Language) -> String {
    let mut text = String::new();
    for (engine, faults) in tournament.engines.iter().zip(&standings.faults).filter(|(_, f)| f.total() > 0) {
        let counts = [
            (faults.crashes, say!(language, "{} by a crash", faults.crashes)),
            (faults.time, say!(language, "{} on time", faults.time)),
            (faults.illegal, say!(language, "{} by an illegal move", faults.illegal)),
        ];
        let words: Vec<String> = counts.into_iter().filter(|(n, _)| *n > 0).map(|(_, words)| words).collect();
        let (name, words) = (&engine.name, words.join(language.word(", ")));
        text += &say!(language, "{name} lost {words}\n");
    }
    text
}

/// The results as JSON.
pub fn document(tournament: &Tournament, standings: &Standings, results: &Results, level: f64) -> Value {
    let mut document = Value::Object(matches::document(&results.encounters, level));
    document["totals"] = Value::Object(matches::document(&results.totals, level))["systems"].take();
    document["ratings"] = matches::ratings_document(&results.ratings);
    document["games"] =
        json!({ "played": standings.games, "planned": (!tournament.is_unbounded()).then_some(standings.planned) });
    let names = || tournament.engines.iter().map(|engine| engine.name.clone());
    let seconds = standings.thinking_ms.iter().map(|ms| json!(*ms as f64 / 1000.0));
    document["thinking_seconds"] = names().zip(seconds).collect();
    let cpu_seconds = standings.cpu_ms.iter().map(|ms| json!(ms.map(|ms| ms as f64 / 1000.0)));
    document["processor_seconds"] = names().zip(cpu_seconds).collect();
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
                "idle": encounter.idle().map(|idle| match idle {
                    Idle::Twins { pairs } => json!({ "same_game_pairs": pairs }),
                    Idle::Replays { pairs } => json!({ "repeated_pairs": pairs }),
                }),
            }))
        })
        .collect();
    document
}
