//! Tables for people, about 145 columns wide.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::calibrate::EngineResult;
use crate::fit::{Fit, Method};
use crate::sample::{ReadReport, SamplingOptions};

/// Columns that an engine's name gets.
const NAME: usize = 24;

/// The planner tells the games that bring the interval of w1 to plus or minus this share of it.
pub const PLANNED_SHARE: f64 = 0.05;

/// A number with commas between thousands.
pub fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Terminal columns of a text: two for kana, kanji and full-width forms.
pub(super) fn columns(text: &str) -> usize {
    text.chars().map(|c| if is_wide(c) { 2 } else { 1 }).sum()
}

fn is_wide(c: char) -> bool {
    matches!(c, '\u{1100}'..='\u{115f}' | '\u{2e80}'..='\u{a4cf}' | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe6f}' | '\u{ff00}'..='\u{ff60}' | '\u{ffe0}'..='\u{ffe6}' | '\u{20000}'..='\u{3fffd}')
}

/// A text of a record as a terminal may see it: control characters, which could move the cursor or change colours,
/// become U+FFFD.
pub fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// A name in exactly `width` columns; a longer one loses its middle.
pub fn fit_name(name: &str, width: usize) -> String {
    let mut shown = printable(name);
    if columns(&shown) > width {
        let chars: Vec<char> = shown.chars().collect();
        let tail_room = (width - 1) / 3;
        let mut tail = Vec::new();
        let mut used = 0;
        for &c in chars.iter().rev() {
            let w = columns(&c.to_string());
            if used + w > tail_room {
                break;
            }
            used += w;
            tail.push(c);
        }
        let mut head = String::new();
        let mut room = width - 1 - used;
        for &c in &chars {
            let w = columns(&c.to_string());
            if w > room {
                break;
            }
            room -= w;
            head.push(c);
        }
        shown = format!("{head}…{}", tail.into_iter().rev().collect::<String>());
    }
    let pad = width.saturating_sub(columns(&shown));
    shown + &" ".repeat(pad)
}

/// Counts by word: `550 abnormal, 4 no scores`.
pub fn counts(counts: &BTreeMap<&'static str, u64>) -> String {
    let mut list: Vec<(&str, u64)> = counts.iter().map(|(k, n)| (*k, *n)).collect();
    list.sort_by_key(|(k, n)| (std::cmp::Reverse(*n), *k));
    list.iter().map(|(k, n)| format!("{} {}", thousands(*n), k.replace('_', " "))).collect::<Vec<_>>().join(", ")
}

/// Files and games, in two lines that add up.
pub fn reading(report: &ReadReport) -> String {
    let skipped: u64 = report.games_skipped.values().sum();
    let mut out = format!(
        "games   {} read = {} used + {} skipped",
        thousands(report.games_read),
        thousands(report.games_used),
        thousands(skipped)
    );
    if skipped > 0 {
        let _ = write!(out, " ({})", counts(&report.games_skipped));
    }
    out.push('\n');
    for (format, count) in &report.positions {
        let skipped: u64 = count.skipped.values().sum();
        let _ = write!(
            out,
            "{format:<7} {} {} read = {} used + {} skipped",
            thousands(count.read),
            if *format == "table" { "rows" } else { "positions" },
            thousands(count.used),
            thousands(skipped)
        );
        if skipped > 0 {
            let _ = write!(out, " ({})", counts(&count.skipped));
        }
        out.push('\n');
    }
    if report.files_read > 0 || !report.files_refused.is_empty() {
        let _ = write!(out, "files   {} with games", thousands(report.files_read));
        if !report.files_refused.is_empty() {
            let _ = write!(out, "; passed over: {}", counts(&report.files_refused));
        }
        out.push('\n');
    }
    if !report.oddities.is_empty() {
        let _ = writeln!(out, "odd     {} (the games are used all the same)", counts(&report.oddities));
    }
    if report.verified > 0 {
        let _ = writeln!(out, "moves   {} games agree with the csa crate", thousands(report.verified));
    }
    out
}

/// How many samples there are, and how they were drawn.
pub fn samples(report: &ReadReport, samples: u64, engines: usize, sampling: &SamplingOptions) -> String {
    let mut drawn = Vec::new();
    let packed: u64 = report.positions.iter().filter(|(f, _)| **f != "table").map(|(_, count)| count.read).sum();
    if report.positions.is_empty() || report.scores > packed {
        let (window, from) = (sampling.window, sampling.from_ply);
        drawn.push(format!("one a window of {window} plies and side from ply {from} on"));
    }
    if report.has_packed() {
        drawn.push(format!("of training data one of every {}", sampling.packed_every));
    }
    if report.positions.contains_key("table") {
        drawn.push("of tables every row".to_owned());
    }
    let drawn = drawn.join(", ");
    format!("samples {} of {engines} engines, {drawn}, seed {}\n\n", thousands(samples), sampling.seed)
}

/// What a user of tables without games should know.
pub fn tables_without_games(files: &[String]) -> Option<String> {
    let first = files.first()?;
    let others = if files.len() > 1 { format!(" and {} other files", files.len() - 1) } else { String::new() };
    Some(format!(
        "{first}{others}: no column 'game' (--column game=NAME); every row counts as a game, intervals are too narrow"
    ))
}

/// What a user of training data should know: what was drawn, and how far intervals can be believed.
pub fn packed_notes(report: &ReadReport, every: u32) -> Vec<String> {
    if !report.has_packed() {
        return Vec::new();
    }
    let mut notes = vec![format!(
        "training data holds single positions: one of every {every} was drawn (--packed-every), --window and --from-ply do not \
         apply to it"
    )];
    if report.positions.get("hcpe").is_some_and(|count| count.used > 0) {
        notes.push(
            "HCPE does not tell where a game begins: every record counts as a game, and intervals are too narrow where \
             several are of one"
                .to_owned(),
        );
    }
    if report.positions.get("psv").is_some_and(|count| count.used > 0) {
        notes.push(
            "PSV does not tell where a game begins: one is taken to go on while the ply grows and the winner stays; in a \
             shuffled file intervals are too narrow"
                .to_owned(),
        );
    }
    notes
}

fn interval(value: f64, (low, high): (f64, f64), scale: f64, decimals: usize) -> String {
    format!("{:.decimals$} [{:.decimals$}, {:.decimals$}]", value * scale, low * scale, high * scale)
}

fn fit_columns(fit: &Fit) -> String {
    let ponanza = match fit.interval_ponanza() {
        Some((low, high)) => format!("{:.0} [{low:.0}, {high:.0}]", fit.sigmoid.ponanza_constant()),
        None => format!("{:.0} [?]", fit.sigmoid.ponanza_constant()),
    };
    let planned = match fit.games_needed(PLANNED_SHARE) {
        Some(needed) if needed.more == 0 => "reached".to_owned(),
        Some(needed) => format!("+{} games", thousands(round(needed.more))),
        None => "?".to_owned(),
    };
    format!(
        "{:<21} {:<22} {:<14} {planned}",
        interval(fit.sigmoid.w1, fit.interval_w1(), 1000.0, 3),
        interval(fit.sigmoid.w2, fit.interval_w2(), 1.0, 2),
        ponanza
    )
}

/// Two significant digits, since an estimate of games is no better.
fn round(n: u64) -> u64 {
    let unit = 10_u64.pow(n.max(1).ilog10().saturating_sub(1));
    n.div_ceil(unit) * unit
}

/// The head of [`engine`]'s lines.
pub fn head() -> String {
    format!(
        "{} {:>6} {:>7} {:>5} {:>5} {:>6} {:>5}  {:<4} {:<21} {:<22} {:<14} {}",
        fit_name("engine", NAME),
        "games",
        "samples",
        "mates",
        "win %",
        "mean",
        "sd",
        "fit",
        "w1 · 1000 [95%]",
        "w2 [95%]",
        "1/w1 [95%]",
        "w1 ±5% needs"
    )
}

/// One engine in two lines, one a method, the chosen one (`*`) first.
pub fn engine(result: &EngineResult, chosen: Method) -> String {
    let dash = || "–".to_owned();
    let mut out = format!(
        "{} {:>6} {:>7} {:>5} {:>5} {:>6} {:>5}  ",
        fit_name(&result.name, NAME),
        thousands(result.games),
        thousands(result.samples),
        thousands(result.mates.beyond),
        result.win_rate().map_or_else(dash, |p| format!("{:.1}", p * 100.0)),
        result.standardization.map_or_else(dash, |s| format!("{:+.0}", s.mean)),
        result.standardization.map_or_else(dash, |s| format!("{:.0}", s.sd)),
    );
    let indent = columns(&out);
    let word = |method| match method {
        Method::MaximumLikelihood => "MLE",
        Method::LeastSquares => "LSE",
    };
    let other = match chosen {
        Method::MaximumLikelihood => Method::LeastSquares,
        Method::LeastSquares => Method::MaximumLikelihood,
    };
    match (result.fit(chosen), result.fit(other)) {
        (Err(a), Err(b)) if a == b => {
            let _ = writeln!(out, "not calibrated: {a}");
        }
        both => {
            let cell = |fit: Result<&Fit, &crate::fit::FitError>| match fit {
                Ok(fit) => fit_columns(fit),
                Err(error) => format!("not fitted: {error}"),
            };
            let _ = writeln!(out, "{}* {}", word(chosen), cell(both.0));
            let _ = writeln!(out, "{}{}  {}", " ".repeat(indent), word(other), cell(both.1));
        }
    }
    out
}

/// What standardisation would say: an average score (z = 0) should mean the same win rate for all. Told where the
/// lowest and the highest of them have 95% intervals that do not meet.
pub fn standardization(results: &[EngineResult], chosen: Method) -> Option<String> {
    struct AtMean<'a> {
        name: &'a str,
        rate: f64,
        interval: (f64, f64),
    }
    let rates: Vec<AtMean<'_>> = results
        .iter()
        .filter_map(|r| {
            let mean = r.standardization?.mean;
            let rate = r.fit(chosen).ok()?.sigmoid.win_rate(mean);
            let interval = r.calibration.as_ref()?.win_rate_interval(mean)?;
            Some(AtMean { name: &r.name, rate, interval })
        })
        .collect();
    let low = rates.iter().min_by(|a, b| a.rate.total_cmp(&b.rate))?;
    let high = rates.iter().max_by(|a, b| a.rate.total_cmp(&b.rate))?;
    (low.interval.1 < high.interval.0).then(|| {
        let one = |r: &AtMean<'_>| {
            format!("{:.3} [{:.3}, {:.3}] for {}", r.rate, r.interval.0, r.interval.1, printable(r.name))
        };
        format!("standardised scores are no common scale: at z = 0 the win rate is {} and {}\n", one(low), one(high))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_take_exactly_their_columns() {
        for name in
            ["a", "技巧", "SILENT_MAJORITY-1.2_6950X_SY1010", "非常に長い名前の将棋プログラムその二", "a\u{1b}[31m"]
        {
            let shown = fit_name(name, 24);
            assert_eq!(columns(&shown), 24, "{shown}");
            assert!(!shown.contains('\u{1b}'));
        }
        assert!(fit_name("SILENT_MAJORITY-1.2_6950X_SY1010", 24).ends_with("_SY1010"));
    }

    #[test]
    fn thousands_are_cut() {
        assert_eq!((thousands(7).as_str(), thousands(1_148_897).as_str()), ("7", "1,148,897"));
    }
}
