//! Tables as text, about 145 columns wide.

use std::collections::BTreeMap;
use std::fmt::Write;

use unicode_width::UnicodeWidthStr;

use super::verdict::Line;
use crate::calibrate::{EngineResult, Validated};
use crate::curve::Z_95;
use crate::fit::{Fit, Method, Model, ModelFit, ModelKind};
use crate::record::SkipReason;
use crate::sample::{ReadReport, SamplingOptions};
pub use crate::text::thousands;
use crate::validate::{Choice, Estimate};

/// The width of an engine's name, in columns.
const NAME: usize = 24;

/// The planner computes the games needed to know w1 to plus or minus this share.
pub const PLANNED_SHARE: f64 = 0.05;

/// Shown where there is no value.
pub const DASH: &str = "–";

/// A number with a real minus sign; `-0.0` is 0.
pub fn number(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let digits = text.trim_start_matches('-');
    let zero = digits.chars().all(|c| matches!(c, '0' | '.'));
    if zero { digits.to_owned() } else { text.replace('-', "−") }
}

/// `0.087 [0.080, 0.094]`
pub fn with_interval(value: f64, (low, high): (f64, f64), decimals: usize) -> String {
    format!("{} [{}, {}]", number(value, decimals), number(low, decimals), number(high, decimals))
}

/// A p value with three decimals.
pub fn p_value(p: f64) -> String {
    if p < 0.001 { "< 0.001".to_owned() } else { format!("{p:.3}") }
}

/// The width of a text in terminal columns: two for kana, kanji and full-width forms.
pub(super) fn columns(text: &str) -> usize {
    text.width()
}

/// Text of a record that is safe in a terminal: characters that could move the cursor, change colours or hide text
/// become U+FFFD.
pub fn printable(text: &str) -> String {
    crate::text::printable(text, '\u{fffd}')
}

/// A name padded or shortened to exactly `width` columns; a longer one loses its middle.
pub fn fit_name(name: &str, width: usize) -> String {
    let mut shown = printable(name);
    if columns(&shown) > width {
        let chars: Vec<char> = shown.chars().collect();
        let most = (width - 1) / 3;
        let mut tail = Vec::new();
        let mut used = 0;
        for &c in chars.iter().rev() {
            let w = columns(&c.to_string());
            if used + w > most {
                break;
            }
            used += w;
            tail.push(c);
        }
        let mut head = String::new();
        let mut left = width - 1 - used;
        for &c in &chars {
            let w = columns(&c.to_string());
            if w > left {
                break;
            }
            left -= w;
            head.push(c);
        }
        shown = format!("{head}…{}", tail.into_iter().rev().collect::<String>());
    }
    let pad = width.saturating_sub(columns(&shown));
    shown + &" ".repeat(pad)
}

/// Counts per word, the largest first: `550 abnormal, 4 no scores`.
pub fn counts(counts: &BTreeMap<&'static str, u64>) -> String {
    let mut list: Vec<(&str, u64)> = counts.iter().map(|(k, n)| (*k, *n)).collect();
    list.sort_by_key(|(k, n)| (std::cmp::Reverse(*n), *k));
    list.iter().map(|(k, n)| format!("{} {}", thousands(*n), k.replace('_', " "))).collect::<Vec<_>>().join(", ")
}

/// Counts of files and games, which add up.
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
        let _ = writeln!(out, "odd     {} (these games are still used)", counts(&report.oddities));
    }
    if report.verified > 0 {
        let _ = writeln!(out, "moves   {} games agree with the csa crate", thousands(report.verified));
    }
    out
}

/// The number of samples, and how they were drawn.
pub fn samples(report: &ReadReport, samples: u64, engines: usize, sampling: &SamplingOptions) -> String {
    let mut drawn = Vec::new();
    let packed: u64 = report.packed().map(|count| count.read).sum();
    if report.positions.is_empty() || report.scores > packed {
        let (window, from) = (sampling.window, sampling.from_ply);
        drawn.push(format!("one per window of {window} plies and side from ply {from} on"));
    }
    if report.has_packed() {
        drawn.push(format!("one of every {} positions of training data", sampling.packed_every));
    }
    if report.positions.contains_key("table") {
        drawn.push("every row of tables".to_owned());
    }
    let drawn = drawn.join(", ");
    format!("samples {} of {engines} engines, {drawn}, seed {}\n\n", thousands(samples), sampling.seed)
}

/// The note for tables without a column of games.
pub fn tables_without_games(files: &[String]) -> Option<String> {
    let first = files.first()?;
    let others = if files.len() > 1 { format!(" and {} other files", files.len() - 1) } else { String::new() };
    Some(format!(
        "{first}{others}: no column 'game' (--column game=NAME); every row counts as a game, so \
         intervals are too narrow"
    ))
}

/// If fewer positions of training data are drawn, a note recommends drawing more.
const FEW_DRAWN: u64 = 1_000;

/// The notes for training data: what was drawn, and how reliable the intervals are.
pub fn packed_notes(report: &ReadReport, every: u32) -> Vec<String> {
    if !report.has_packed() {
        return Vec::new();
    }
    let mut notes = vec![format!(
        "training data holds single positions: one of every {every} was drawn (--packed-every); --window and \
         --from-ply do not apply"
    )];
    let used: u64 = report.packed().map(|count| count.used).sum();
    let left: u64 = report.packed().filter_map(|count| count.skipped.get(SkipReason::NotDrawn.as_str())).sum();
    if used < FEW_DRAWN && left > 0 {
        notes.push(format!(
            "only {used} of {} positions were drawn: a smaller --packed-every draws more, 1 draws all",
            thousands(used + left)
        ));
    }
    if report.positions.get("hcpe").is_some_and(|count| count.used > 0) {
        notes.push(
            "HCPE does not mark where a game begins: every record counts as a game, so intervals are too narrow where \
             several records are from one game"
                .to_owned(),
        );
    }
    if report.positions.get("psv").is_some_and(|count| count.used > 0) {
        notes.push(
            "PSV does not mark where a game begins: a game is assumed to continue while the ply grows and the winner \
             stays the same; in a shuffled file intervals are too narrow"
                .to_owned(),
        );
    }
    notes
}

fn interval(value: f64, (low, high): (f64, f64), scale: f64, decimals: usize) -> String {
    let [value, low, high] = [value, low, high].map(|x| {
        let shown = format!("{:.decimals$}", x * scale);
        // no minus sign before a number that rounds to 0
        if shown.bytes().any(|b| (b'1'..=b'9').contains(&b)) { shown } else { shown.replace('-', "") }
    });
    format!("{value} [{low}, {high}]")
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

/// Rounds up to two significant digits, the precision of the estimate.
fn round(n: u64) -> u64 {
    let unit = 10_u64.pow(n.max(1).ilog10().saturating_sub(1));
    n.div_ceil(unit) * unit
}

/// The header of [`engine`]'s lines.
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

/// One engine in two lines, one per method, the chosen one (`*`) first; another chosen model adds a third.
pub fn engine(result: &EngineResult, model: ModelKind) -> String {
    let chosen = model.method().unwrap_or(Method::MaximumLikelihood);
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
            let star = if model.method().is_some() { "*" } else { " " };
            let _ = writeln!(out, "{}{star} {}", chosen.short(), cell(both.0));
            let _ = writeln!(out, "{}{}  {}", " ".repeat(indent), other.short(), cell(both.1));
            if let Some(fit) = result.models.get(&model) {
                let cell = match fit {
                    Ok(fit) => model_parameters(fit),
                    Err(error) => format!("not fitted: {error}"),
                };
                let _ = writeln!(out, "{}{model}* {cell}", " ".repeat(indent));
            }
        }
    }
    out
}

/// The parameters of a model other than the plain sigmoid with 95% intervals, slopes times 1,000.
fn model_parameters(fit: &ModelFit) -> String {
    if let Model::Isotonic(curve) = &fit.model {
        return format!("{} points", curve.points.len());
    }
    let errors = fit.standard_errors();
    let one = |(i, (name, value)): (usize, (&str, f64))| {
        // slopes are per centipawn
        let (scale, unit) = match name {
            "w1" => (1e3, " · 1000"),
            "w1_per_ply" => (1e6, " · 10⁶"),
            _ => (1.0, ""),
        };
        match errors.as_ref().and_then(|e| e.get(i)) {
            Some(e) => {
                format!("{name}{unit} {}", interval(value, (value - Z_95 * e, value + Z_95 * e), scale, 2))
            }
            None => format!("{name}{unit} {:.2}", value * scale),
        }
    };
    fit.model.parameters().into_iter().enumerate().map(one).collect::<Vec<_>>().join(", ")
}

/// The scores of the chosen model on unseen games, one line per engine; `None` if no engine was scored.
pub fn proper_scores(results: &[EngineResult]) -> Option<String> {
    let judged: Vec<(&EngineResult, &Validated)> =
        results.iter().filter_map(|r| Some((r, r.validated.as_ref()?))).collect();
    let folds = judged.first()?.1.folds;
    let mut out = format!(
        "out of sample, {folds} folds over games; log loss in nats, less is better\n\
         {} {:<22} {:>8} {:>6} {:>6} {:>6}  {:<20} {:<20} {}\n",
        fit_name("engine", NAME),
        "log loss [95%]",
        "constant",
        "600",
        "756",
        "z",
        "slope [95%]",
        "intercept [95%]",
        "ECE [95%]"
    );
    let with = |e: Option<Estimate>, decimals: usize| {
        e.map_or_else(
            || "–".to_owned(),
            |e| match e.interval {
                Some([low, high]) => interval(e.value, (low, high), 1.0, decimals),
                None => format!("{:.decimals$}", e.value),
            },
        )
    };
    for (result, v) in judged {
        let baseline =
            |kind| v.baselines.get(&kind).map_or_else(|| "–".to_owned(), |e: &Estimate| format!("{:.3}", e.value));
        let _ = writeln!(
            out,
            "{} {:<22} {:>8} {:>6} {:>6} {:>6}  {:<20} {:<20} {}",
            fit_name(&result.name, NAME),
            with(Some(v.scores.log_loss), 3),
            baseline(ModelKind::Constant),
            baseline(ModelKind::Shared600),
            baseline(ModelKind::Dlshogi756),
            baseline(ModelKind::SharedZ),
            with(v.scores.slope, 2),
            with(v.scores.intercept, 2),
            with(Some(v.scores.ece), 3)
        );
    }
    Some(out)
}

/// The scores of the candidates of `--model auto`, one line per model, the chosen one with `*`, baselines last.
pub fn choice(choice: &Choice) -> String {
    let mut out = format!(
        "model {}, the simplest within one standard error of the best; log loss out of sample over all \
         engines, in nats\n\
         {:<20} {:<24} minus the best's [95%]\n",
        choice.kind, "  model", "log loss [95%]"
    );
    let with =
        |e: &Estimate| e.interval.map_or_else(|| format!("{:.4}", e.value), |[l, h]| interval(e.value, (l, h), 1.0, 4));
    for candidate in &choice.candidates {
        let star = if candidate.kind == choice.kind { "*" } else { " " };
        let scores = match (&candidate.log_loss, &candidate.behind_best) {
            (Err(why), _) => format!("not considered: {}", printable(why)),
            (Ok(loss), None) => with(loss),
            (Ok(loss), Some(d)) if d.value == 0.0 => with(loss),
            (Ok(loss), Some(behind)) => format!("{:<24} {}", with(loss), with(behind)),
        };
        let _ = writeln!(out, "{star} {:<18} {scores}", candidate.kind.as_str());
    }
    out
}

/// Whether standardised scores are a common scale: an average score (z = 0) should mean the same win rate for all
/// engines. Returns a message if the 95% intervals of the lowest and the highest win rate do not overlap.
pub fn standardization(results: &[EngineResult], chosen: ModelKind) -> Option<String> {
    struct AtMean<'a> {
        name: &'a str,
        rate: f64,
        interval: (f64, f64),
    }
    let rates: Vec<AtMean<'_>> = results
        .iter()
        .filter_map(|r| {
            let mean = r.standardization?.mean;
            // the plain sigmoid, whose w2 reflects the opponents as the mean does
            let fit = r.fit(chosen.method().unwrap_or(Method::MaximumLikelihood)).ok()?;
            let rate = fit.sigmoid.win_rate(mean);
            let interval = fit.interval_win_rate(mean);
            Some(AtMean { name: &r.name, rate, interval })
        })
        .collect();
    let low = rates.iter().min_by(|a, b| a.rate.total_cmp(&b.rate))?;
    let high = rates.iter().max_by(|a, b| a.rate.total_cmp(&b.rate))?;
    (low.interval.1 < high.interval.0).then(|| {
        let one = |r: &AtMean<'_>| {
            format!("{:.3} [{:.3}, {:.3}] for {}", r.rate, r.interval.0, r.interval.1, printable(r.name))
        };
        format!("standardised scores are not a common scale: at z = 0 the win rate is {} and {}\n", one(low), one(high))
    })
}

/// Lines of question and answer; the answers are wrapped in their own column.
pub fn answers(lines: &[Line], width: usize) -> String {
    let margin = lines.iter().map(|l| columns(l.question)).max().unwrap_or(0) + 2;
    let available = width.saturating_sub(margin).max(30);
    let mut out = String::new();
    for line in lines {
        out += &fit_name(line.question, margin);
        let mut used = 0;
        for word in line.answer.split(' ') {
            let word = printable(word);
            let wide = columns(&word);
            if used > 0 && used + 1 + wide > available {
                out.push('\n');
                out += &" ".repeat(margin);
                used = 0;
            }
            if used > 0 {
                out.push(' ');
                used += 1;
            }
            out += &word;
            used += wide;
        }
        out.push('\n');
    }
    out
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
    fn answers_are_aligned() {
        let line = |question, answer: &str| Line { question, answer: answer.to_owned() };
        let out = answers(&[line("Sure?", "one two three four five six seven eight"), line("", "x\u{7}")], 40);
        assert_eq!(out, "Sure?  one two three four five six seven\n       eight\n       x\u{fffd}\n");
    }

    #[test]
    fn numbers_read_well() {
        assert_eq!(number(-0.0001, 3), "0.000");
        assert_eq!(number(-1.25, 1), "−1.2");
        assert_eq!(with_interval(0.5, (-1.0, 2.0), 1), "0.5 [−1.0, 2.0]");
    }
}
