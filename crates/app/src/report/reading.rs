//! What was read, as text: files, games and samples, and notes about them.

use std::collections::BTreeMap;

use evalcurve_records::record::SkipReason;
use evalcurve_records::sample::{PositionCount, ReadReport, SamplingOptions};
use evalcurve_words::language::{Language, Text};
use evalcurve_words::{key, say, text};

use super::text::{LABEL, NO_BREAK, accounts, counts, files, fit_name, label, thousands};

/// Counts of files and games, which add up.
pub fn reading(report: &ReadReport, language: Language) -> String {
    let line = |english, text: String| format!("{}{text}\n", label(language, english));
    let games = accounts(report.games_read, "", report.games_used, &report.games_skipped, language);
    let games = in_items(&games, language);
    let mut out = line(key!("games"), games);
    if let Some(copies) = report.games_skipped.get(SkipReason::SameMoves.as_str()) {
        let (copies, read) = (thousands(*copies), thousands(report.games_read));
        let text = say!(language, "{copies} of {read} games are copies of others (same moves); counted once");
        out += &line(key!("copies"), text);
    }
    for (format, count) in &report.positions {
        let (name, what) = match *format {
            "table" => (language.word("table"), language.word(" rows")),
            format => (format, language.word(" positions")),
        };
        let accounts = accounts(count.read, what, count.used, &count.skipped, language);
        out += &format!("{}{accounts}\n", fit_name(name, LABEL));
    }
    out += &files(report, "", language).map_or_else(String::new, |files| line(key!("files"), files));
    if !report.oddities.is_empty() {
        let odd = counts(&report.oddities, language);
        let text = say!(language, "{odd} (the rest of these games is read)");
        out += &line(key!("odd"), text);
    }
    if report.verified > 0 {
        let games = thousands(report.verified);
        let text = say!(language, "{games} games agree with the csa crate");
        out += &line(key!("moves"), text);
    }
    out
}

/// The text with no line end between a reason and its count.
fn in_items(text: &str, language: Language) -> String {
    let Some((before, items)) = text.split_once(['(', '(']) else { return text.to_owned() };
    let open = &text[before.len()..text.len() - items.len()];
    let separator = language.word(", ");
    let items: Vec<String> = items.split(separator).map(|item| item.replace(' ', &NO_BREAK.to_string())).collect();
    format!("{before}{open}{}", items.join(separator))
}

/// The number of samples, and how they were drawn.
pub fn samples(
    report: &ReadReport,
    samples: u64,
    engines: usize,
    sampling: &SamplingOptions,
    language: Language,
) -> String {
    let mut drawn = Vec::new();
    let packed: u64 = report.packed().map(PositionCount::scored).sum();
    if report.positions.is_empty() || report.scores > packed {
        let (window, from) = (sampling.window, sampling.from_ply);
        drawn.push(match window {
            // what this does to intervals, as more samples seem to promise narrower ones
            1 => {
                say!(language, "every scored one from ply {from} on (those of a game are alike: intervals count games)")
            }
            _ => say!(language, "one per window of {} plies and side from ply {} on", window, from),
        });
    }
    if report.has_packed() {
        let every = sampling.packed_every;
        drawn.push(say!(language, "one of every {every} positions of training data"));
    }
    if report.positions.contains_key("table") {
        drawn.push(say!(language, "every row of tables"));
    }
    let (drawn, samples, seed) = (drawn.join(language.word(", ")), thousands(samples), sampling.seed);
    let text = say!(language, "{samples} of {engines} engines, {drawn}, seed {seed}");
    format!("{}{text}\n\n", label(language, "samples"))
}

/// The note for tables without a column of games.
pub fn tables_without_games(files: &[String]) -> Option<Text> {
    let first = files.first()?;
    let others = match files.len() - 1 {
        0 => Text::default(),
        n => text!(" and {n} other files"),
    };
    Some(text!(
        "{first}{others}: no column 'game' (`column` game=NAME); every row counts as a game, so intervals are too \
         narrow"
    ))
}

/// If fewer positions of training data are drawn, a note recommends drawing more.
const FEW_DRAWN: u64 = 1_000;

/// Why there is no sample, by the reason for which most games or positions were skipped, and what to do.
pub fn no_sample_note(report: &ReadReport, from_ply: u32) -> Option<Text> {
    let mut skipped: BTreeMap<&str, u64> = BTreeMap::new();
    let of_positions = report.positions.values().flat_map(|count| &count.skipped);
    of_positions.chain(&report.games_skipped).for_each(|(reason, n)| *skipped.entry(reason).or_default() += n);
    let most = skipped.iter().max_by_key(|(_, n)| **n).and_then(|(reason, _)| reason.parse().ok());
    match most {
        Some(SkipReason::NoScores) => Some(text!(
            "these games have no scores that are read; let an engine score them: `evalcurve analyse GAMES `engine` \
                 \"COMMAND nodes=20k\"`; docs/formats.md shows the comments that hold scores"
        )),
        Some(SkipReason::NoScoresInWindows) => Some(text!(
            "all scores of these games are before ply {from_ply}, where sampling begins; `from-ply` begins it earlier"
        )),
        Some(SkipReason::Filtered) => {
            Some(text!("no sample passes the filters, such as `where`, `engine` and `terminations`"))
        }
        Some(SkipReason::UnknownResult) => {
            Some(text!("these games have no result; a win rate needs games with results"))
        }
        // the others are reported where they are found
        Some(_) => None,
        None if report.files_read == 0 && report.files_refused.is_empty() && report.positions.is_empty() => {
            Some(text!("there is no file in these folders"))
        }
        None => None,
    }
}

/// The notes for training data: what was drawn, and how reliable the intervals are.
pub fn packed_notes(report: &ReadReport, every: u32) -> Vec<Text> {
    if !report.has_packed() {
        return Vec::new();
    }
    let mut notes = vec![text!(
        "training data holds single positions: one of every {every} was drawn (`window`); `from-ply` does not \
         apply"
    )];
    let used: u64 = report.packed().map(|count| count.used).sum();
    let left: u64 = report.packed().filter_map(|count| count.skipped.get(SkipReason::NotDrawn.as_str())).sum();
    if used < FEW_DRAWN && left > 0 {
        notes.push(text!(
            "only {used} of {} positions were drawn: a smaller `window` draws more, 1 draws all",
            thousands(used + left)
        ));
    }
    for (format, note) in [
        (
            "hcpe",
            text!(
                "HCPE does not mark where a game begins: every record counts as a game, so intervals are too narrow \
                 where several records are from one game"
            ),
        ),
        (
            "psv",
            text!(
                "PSV does not mark where a game begins: a game is assumed to continue while the ply grows and the \
                 winner stays the same; in a shuffled file intervals are too narrow"
            ),
        ),
    ] {
        if report.positions.get(format).is_some_and(|count| count.used > 0) {
            notes.push(note);
        }
    }
    notes
}
