//! Tables as text: a short one of at most 100 columns, and a wide one of about 145.

use std::collections::BTreeMap;
use std::fmt::Write;

use unicode_width::UnicodeWidthStr;

use super::columns::Columns;
pub use super::reading::{no_sample_note, packed_notes, reading, samples, tables_without_games};
use super::verdict::{Verdict, rounded_up};
use crate::calibrate::{EngineResult, Validated};
use crate::judge::evaluation::Evaluation;
use evalcurve_fit::calibration::{Calibration, Reading};
use evalcurve_fit::fit::{Fit, FitError, Method, Model, ModelFit, ModelKind};
use evalcurve_fit::validate::{Choice, Estimate};
use evalcurve_records::sample::ReadReport;
use evalcurve_records::sample::collect::kind_words;
use evalcurve_words::language::{Language, ToText};
use evalcurve_words::say;
pub use evalcurve_words::text::{number, signed, thousands};

/// The width of the wide table.
pub const WIDE: usize = 150;

/// Where a row goes on.
const INDENT: usize = 4;

/// The first names of a list, and how many more there are.
pub fn first_of(names: &[&str], most: usize, language: Language) -> String {
    let (named, more) = names.split_at(names.len().min(most));
    let more = match more.len() {
        0 => String::new(),
        n => say!(language, " and {n} more"),
    };
    named.join(", ") + &more
}

/// The width of an engine's name, in columns.
const NAME: usize = 24;

/// The planner computes the games needed to know w1 to plus or minus this share.
pub const PLANNED_SHARE: f64 = 0.05;

/// Shown where there is no value.
pub const DASH: &str = "–";

/// `0.087 [0.080, 0.094]`
pub fn with_interval(value: f64, (low, high): (f64, f64), decimals: usize) -> String {
    format!("{} [{}, {}]", number(value, decimals), number(low, decimals), number(high, decimals))
}

/// The same with [`DASH`] in place of an interval that is not known.
pub fn with_known_interval(value: f64, interval: Option<(f64, f64)>, decimals: usize) -> String {
    let unknown = || format!("{} [{DASH}]", number(value, decimals));
    interval.map_or_else(unknown, |ends| with_interval(value, ends, decimals))
}

/// An estimate with its interval.
pub fn estimate(e: &Estimate, decimals: usize) -> String {
    with_known_interval(e.value, e.interval.map(|[low, high]| (low, high)), decimals)
}

/// A p value with three decimals.
pub fn p_value(p: f64) -> String {
    if p < 0.001 { "< 0.001".to_owned() } else { format!("{p:.3}") }
}

/// The name of a model in reports.
pub fn model_name(kind: ModelKind, language: Language) -> &'static str {
    language.word(kind.label())
}

/// The width of a text in terminal columns: two for kana, kanji and full-width forms.
pub fn columns(text: &str) -> usize {
    text.width()
}

/// Text of a record that is safe in a terminal: characters that could move the cursor, change colours or hide text
/// become U+FFFD.
pub fn printable(text: &str) -> String {
    evalcurve_words::text::printable(text, '\u{fffd}')
}

/// A name padded or shortened to exactly `width` columns; a longer one loses its middle.
pub fn fit_name(name: &str, width: usize) -> String {
    fn fitting(chars: impl Iterator<Item = char>, most: usize) -> String {
        let mut used = 0;
        let fits = |c: &char| {
            used += columns(c.encode_utf8(&mut [0; 4]));
            used <= most
        };
        chars.take_while(fits).collect()
    }
    let mut shown = printable(name);
    if columns(&shown) > width {
        let tail: String = fitting(shown.chars().rev(), (width - 1) / 3).chars().rev().collect();
        shown = format!("{}…{tail}", fitting(shown.chars(), width - 1 - columns(&tail)));
    }
    let pad = width.saturating_sub(columns(&shown));
    shown + &" ".repeat(pad)
}

/// A text at the right of so many columns.
pub fn right(text: &str, width: usize) -> String {
    format!("{}{text}", " ".repeat(width.saturating_sub(columns(text))))
}

/// A text in the middle of so many columns.
pub fn centred(text: &str, width: usize) -> String {
    let free = width.saturating_sub(columns(text));
    format!("{}{text}{}", " ".repeat(free / 2), " ".repeat(free - free / 2))
}

/// A value as text, or `missing`.
pub fn shown_or<T>(missing: &str, value: Option<T>, show: impl Fn(T) -> String) -> String {
    value.map_or_else(|| missing.to_owned(), show)
}

/// A value as text, or [`DASH`].
pub fn or_dash<T>(value: Option<T>, show: impl Fn(T) -> String) -> String {
    shown_or(DASH, value, show)
}

/// Counts per word, the largest first: `550 abnormal, 4 no scores`.
pub fn counts(counts: &BTreeMap<&'static str, u64>, language: Language) -> String {
    let mut list: Vec<(&str, u64)> = counts.iter().map(|(k, n)| (*k, *n)).collect();
    list.sort_by_key(|(k, n)| (std::cmp::Reverse(*n), *k));
    let one = |(kind, n): &(&str, u64)| {
        let (n, words) = (thousands(*n), kind_words(kind));
        say!(language, "{n} {words}")
    };
    list.iter().map(one).collect::<Vec<_>>().join(language.word(", "))
}

/// `12 games read = 10 used + 2 skipped (2 abnormal)`, with ` games` as `what`.
pub fn accounts(read: u64, what: &str, used: u64, skipped: &BTreeMap<&'static str, u64>, language: Language) -> String {
    let total = skipped.values().sum();
    let (read, used, left) = (thousands(read), thousands(used), thousands(total));
    let reasons = match counts(skipped, language) {
        counts if total > 0 => say!(language, " ({counts})"),
        _ => String::new(),
    };
    say!(language, "{read}{what} read = {used} used + {left} skipped{reasons}")
}

/// `3 files with games; passed over: 2 unknown format`, with ` files` as `what`; `None` if no file was read.
pub fn files(report: &ReadReport, what: &str, language: Language) -> Option<String> {
    let refused = counts(&report.files_refused, language);
    let refused = match &refused[..] {
        "" => String::new(),
        _ => say!(language, "; passed over: {refused}"),
    };
    let any = report.files_read > 0 || !refused.is_empty();
    let count = thousands(report.files_read);
    any.then(|| say!(language, "{count}{what} with games{refused}"))
}

/// Columns of the label of a line.
pub const LABEL: usize = 8;

/// The label of a line, in a column of its own.
pub fn label(language: Language, english: &str) -> String {
    fit_name(language.word(english), LABEL)
}

/// As [`estimate`], with ASCII minus signs, for the terminal.
fn plain_estimate(e: &Estimate, decimals: usize) -> String {
    estimate(e, decimals).replace('−', "-")
}

/// The columns of one fit, of which the last has no width.
fn fit_columns(language: Language) -> Columns<'static, Fit> {
    Columns::new()
        .left("w1 · 1000 [95%]", 21, |fit: &Fit| plain_estimate(&fit.w1().times(1000.0), 3))
        .left("w2 [95%]", 22, |fit| plain_estimate(&fit.w2(), 2))
        .left("1/w1 [95%]", 14, |fit| estimate(&fit.constant(), 0))
        .left(language.word("w1 ±5% needs"), 0, move |fit| {
            or_dash(fit.games_needed(PLANNED_SHARE), |needed| match needed.more {
                0 => say!(language, "reached"),
                more => {
                    let games = thousands(rounded_up(more));
                    say!(language, "+{games} games")
                }
            })
        })
}

/// The columns of the short table in so many columns of the terminal: the constant, and how far it can be trusted.
pub fn verdicts(width: usize, language: Language) -> Columns<'static, EngineResult> {
    let narrow = width < 100;
    let constant = |r: &EngineResult| or_dash(r.calibration.as_ref().and_then(constant), |words| words);
    let loss = |r: &EngineResult| or_dash(r.validated.as_ref(), |v| format!("{:.3}", v.scores.log_loss.value));
    Columns::new()
        .name(language.word("engine"), if narrow { 20 } else { 28 }, |r: &EngineResult| r.name.clone())
        .right(language.word("games"), 6, |r| thousands(r.games))
        .right(language.word("fitted"), 7, |r| thousands(r.fitted))
        .gap(2)
        .left("1/w1 [95%]", 18, constant)
        .gap(1)
        .when(!narrow, |columns| columns.right(language.word("log loss"), 8, loss))
        .gap(2)
        .left(language.word("verdict"), 0, move |r: &EngineResult| verdict_words(r, language))
}

/// The constant 1/w1 of a calibration with its 95% interval, `411 [372, 459]`; `None` for a model without one.
pub fn constant(calibration: &Calibration) -> Option<String> {
    let constant = calibration.constant()?;
    Some(estimate(&constant, 0))
}

/// One engine in the short table of so many columns of the terminal.
pub fn verdict(columns: &Columns<'_, EngineResult>, result: &EngineResult, width: usize) -> String {
    // the reason, or what to do, is a sentence
    wrap(columns.row(result).trim_end(), width, INDENT)
}

/// Whether a result is good, and what to do if it is not.
fn verdict_words(result: &EngineResult, language: Language) -> String {
    match &result.calibration {
        Some(calibration) => Verdict::of(calibration).advice(calibration, Some(result.games), language),
        None => {
            let why = result.error.as_ref().map_or_else(String::new, |why| why.text(language));
            say!(language, "not calibrated: {why}")
        }
    }
}

/// The columns of an engine, before those of its fits.
fn engine_columns(language: Language) -> Columns<'static, EngineResult> {
    Columns::new()
        .name(language.word("engine"), NAME, |r: &EngineResult| r.name.clone())
        .right(language.word("games"), 6, |r| thousands(r.games))
        .right(language.word("samples"), 7, |r| thousands(r.samples))
        .right(language.word("mates"), 5, |r| thousands(r.mates.beyond))
        .right(language.word("win %"), 5, |r| or_dash(r.win_rate(), |p| format!("{:.1}", p * 100.0)))
        .right(language.word("mean"), 6, |r| or_dash(r.standardization, |s| signed(s.mean, 0)))
        .right("sd", 5, |r| or_dash(r.standardization, |s| format!("{:.0}", s.sd)))
}

/// The header of [`engine`]'s lines.
pub fn head(language: Language) -> String {
    let fit = language.word("fit ");
    format!("{}  {fit} {}", engine_columns(language).head(), fit_columns(language).head())
}

/// One engine in two lines, one per method, the chosen one (`*`) first; another chosen model adds a third.
pub fn engine(result: &EngineResult, model: ModelKind, language: Language) -> String {
    let start = engine_columns(language).row(result) + "  ";
    let (chosen, other) = match model.method().unwrap_or(Method::MaximumLikelihood) {
        Method::MaximumLikelihood => (Method::MaximumLikelihood, Method::LeastSquares),
        Method::LeastSquares => (Method::LeastSquares, Method::MaximumLikelihood),
    };
    if let (Err(a), Err(b)) = (result.fit(chosen), result.fit(other))
        && a == b
    {
        let why = a.to_text();
        return start + &say!(language, "not calibrated: {}\n", why.text(language));
    }
    let not_fitted = |error: &FitError| say!(language, "not fitted: {}", error.to_text().text(language));
    let cell = |method| result.fit(method).map_or_else(not_fitted, |fit| fit_columns(language).row(fit));
    let star = if model.method().is_some() { "*" } else { " " };
    let indent = " ".repeat(columns(&start));
    let mut out = format!("{start}{}{star} {}\n", chosen.short(), cell(chosen));
    let _ = writeln!(out, "{indent}{}  {}", other.short(), cell(other));
    if let Some(fit) = result.models.get(&model) {
        let cell = fit.as_ref().map_or_else(not_fitted, |fit| model_parameters(fit, language));
        out += &wrap(&format!("{indent}{model}* {cell}"), WIDE, columns(&indent) + INDENT);
    }
    out
}

/// The parameters of a model other than the plain sigmoid with 95% intervals, slopes times 1,000.
fn model_parameters(fit: &ModelFit, language: Language) -> String {
    if let Model::Isotonic(curve) = &fit.model {
        let count = curve.points.len();
        return say!(language, "{count} points");
    }
    let intervals = fit.intervals();
    let one = |(i, (name, value)): (usize, (&str, f64))| {
        // slopes are per centipawn
        let (scale, unit) = match name {
            "w1" | "field_w1" => (1e3, " · 1000"),
            "w1_per_ply" => (1e6, " · 10⁶"),
            _ => (1.0, ""),
        };
        let shown = match intervals.as_ref().and_then(|all| all.get(i)) {
            Some(ends) => estimate(&Estimate { value, interval: ends.map(<[f64; 2]>::from) }.times(scale), 2),
            None => number(value * scale, 2),
        };
        format!("{name}{unit} {}", shown.replace('−', "-")).replace(' ', &NO_BREAK.to_string())
    };
    let parameters = fit.model.parameters().into_iter().enumerate();
    // a parameter that the data do not have, such as w3 without ratings
    let had = |(i, (_, value)): &(usize, (&str, f64))| {
        *value != 0.0 || intervals.as_ref().and_then(|all| all.get(*i)) != Some(&Some((0.0, 0.0)))
    };
    parameters.filter(had).map(one).collect::<Vec<_>>().join(", ")
}

/// The scores of the chosen model on unseen games, one line per engine; `None` if no engine was scored.
pub fn proper_scores(results: &[&EngineResult], language: Language) -> Option<String> {
    type Row<'a> = (&'a str, &'a Validated);
    let judged: Vec<Row<'_>> = results.iter().filter_map(|r| Some((r.name.as_str(), r.validated.as_ref()?))).collect();
    let baseline = |kind| move |(_, v): &Row<'_>| or_dash(v.baselines.get(&kind), |e| format!("{:.3}", e.value));
    let mut table = Columns::new()
        .name(language.word("engine"), NAME, |(name, _): &Row<'_>| (*name).to_owned())
        .left(language.word("log loss [95%]"), 22, |(_, v)| plain_estimate(&v.scores.log_loss, 3))
        .right(language.word("constant"), 8, baseline(ModelKind::Constant));
    // those of the game
    let fixed = [("600", ModelKind::Shared600), ("756", ModelKind::Dlshogi756), ("lichess", ModelKind::Lichess)];
    for (head, kind) in fixed {
        if judged.iter().any(|(_, v)| v.baselines.contains_key(&kind)) {
            table = table.right(head, head.len().max(6), baseline(kind));
        }
    }
    let table = table
        .right("z", 6, baseline(ModelKind::SharedZ))
        .gap(2)
        .left(language.word("slope [95%]"), 20, |(_, v)| or_dash(v.scores.slope, |e| plain_estimate(&e, 2)))
        .gap(1)
        .left(language.word("intercept [95%]"), 20, |(_, v)| or_dash(v.scores.intercept, |e| plain_estimate(&e, 2)))
        .left("ECE [95%]", 0, |(_, v)| plain_estimate(&v.scores.ece, 3));
    let folds = judged.first()?.1.folds;
    let title = say!(language, "out of sample, {folds} folds over games; log loss in nats, less is better\n");
    Some(title + &table.table(judged))
}

/// The columns of calibrations that were judged on new games, in at most `width` columns.
pub fn evaluations<'a>(width: usize, language: Language) -> Columns<'a, &'a Evaluation> {
    let wide = width >= 110;
    let (name, gap) = if wide { (NAME, 2) } else { (10, 1) };
    Columns::new()
        .name(language.word("engine"), name, |e: &&Evaluation| e.name.clone())
        .right(language.word("samples"), 8, |e| thousands(e.judged.scores.samples))
        .right(language.word("games"), 7, |e| thousands(e.judged.scores.games))
        .gap(gap)
        .left(language.word("log loss [95%]"), 20, |e| estimate(&e.judged.scores.log_loss, 3))
        .left(language.word("scale [95%]"), 17, |e| or_dash(e.judged.scale, |e| estimate(&e, 2)))
        .when(wide, |table| {
            table.left(language.word("shift [95%]"), 20, |e| or_dash(e.judged.shift, |e| estimate(&e, 2)))
        })
        .left(language.word("verdict"), 0, move |e| e.verdict(language).to_owned())
}

/// The scores of the candidates of `--model auto`, one line per model, the chosen one with `*`, baselines last.
pub fn choice(choice: &Choice, language: Language) -> String {
    let mut out = say!(
        language,
        "model {}, the simplest within one standard error of the best; log loss out of sample over all engines, in \
         nats\n{} {} minus the best's [95%]\n",
        choice.kind.as_str(),
        fit_name(language.word("  model"), 20),
        fit_name(language.word("log loss [95%]"), 24)
    );
    for candidate in &choice.candidates {
        let star = if candidate.kind == choice.kind { "*" } else { " " };
        let difference = candidate.behind_best.as_ref().filter(|d| d.value != 0.0);
        let scores = match (&candidate.log_loss, difference) {
            (Err(why), _) => say!(language, "not considered: {}", printable(&why.text(language))),
            (Ok(loss), None) => plain_estimate(loss, 4),
            (Ok(loss), Some(difference)) => {
                format!("{:<24} {}", plain_estimate(loss, 4), plain_estimate(difference, 4))
            }
        };
        let _ = writeln!(out, "{star} {:<18} {scores}", candidate.kind.as_str());
    }
    out
}

/// Share of draws at score 0 from which a table of them is shown.
const DRAWS_SHOWN: f64 = 0.1;

/// a, b and the draws at score 0 of the models that separate draws, at the stage to which Stockfish's constants refer;
/// `None` if there are none.
pub fn wdl(results: &[&EngineResult], width: usize, language: Language) -> Option<String> {
    type Row<'a> = (&'a Calibration, (Estimate, Estimate), Estimate);
    let row = |c: &'_ Calibration| {
        let stage = c.wdl_constants()?.stage;
        let draws = c.wdl(Reading::Equal, 0.0, &stage.at_target())?.draw;
        let matters = c.wdl_model().is_some() || draws.value >= DRAWS_SHOWN;
        let row = (c.a_and_b(stage.target())?, draws);
        matters.then_some(row)
    };
    let calibrations = results.iter().filter_map(|r| r.calibration.as_ref());
    let rows: Vec<Row<'_>> = calibrations.filter_map(|c| row(c).map(|(pawn, draws)| (c, pawn, draws))).collect();
    let columns = Columns::new()
        .name(language.word("engine"), NAME, |(c, ..): &Row<'_>| c.engine.name.clone())
        .left("a [95%]", 21, |(_, (a, _), _)| plain_estimate(a, 1))
        .left("b [95%]", 21, |(_, (_, b), _)| plain_estimate(b, 1))
        .left(language.word("draws at score 0 [95%]"), 22, |(.., draws)| estimate(draws, 3))
        .within(width, &[]);
    let title = match rows.first()?.0.wdl_model().map(|wdl| wdl.stage) {
        Some(unit) => {
            let stage = unit.target();
            say!(
                language,
                "at {} {stage}: a is the score that wins half of the games (the normalised pawn value), b the spread\n",
                language.word(unit.as_str())
            )
        }
        None => say!(language, "between equals: a is the score that wins half of the games, b the spread\n"),
    };
    Some(title + &columns.table(rows))
}

/// Whether standardised scores are a common scale: an average score (z = 0) should mean the same win rate for all
/// engines. Returns a message if the 95% intervals of the lowest and the highest win rate do not overlap.
pub fn standardization(results: &[EngineResult], chosen: ModelKind, language: Language) -> Option<String> {
    // the plain sigmoid, whose w2 reflects the opponents as the mean does
    let method = chosen.method().unwrap_or(Method::MaximumLikelihood);
    let at_mean = |r: &EngineResult| {
        let rate = r.fit(method).ok()?.in_these_games(r.standardization?.mean);
        Some((rate.value, rate.interval?.into(), printable(&r.name)))
    };
    let rates: Vec<(f64, (f64, f64), String)> = results.iter().filter_map(at_mean).collect();
    let low = rates.iter().min_by(|a, b| a.0.total_cmp(&b.0))?;
    let high = rates.iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
    let one = |(rate, (low, high), name): &(f64, (f64, f64), String)| {
        say!(language, "{rate:.3} [{low:.3}, {high:.3}] for {name}")
    };
    (low.1.1 < high.1.0).then(|| {
        let (low, high) = (one(low), one(high));
        say!(language, "standardised scores are not a common scale: at z = 0 the win rate is {low} and {high}\n")
    })
}

/// A line with what it is about.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Line {
    /// The question in one to three words; empty if the line goes on with the answer before it.
    pub question: &'static str,
    pub answer: String,
}

/// Lines of question and answer; the answers are wrapped in their own column.
pub fn answers(lines: &[Line], width: usize) -> String {
    let margin = lines.iter().map(|l| columns(l.question)).max().unwrap_or(0) + 2;
    let available = width.saturating_sub(margin).max(30);
    let mut out = String::new();
    for line in lines {
        let answer = printable(&line.answer);
        for (i, part) in parts(&answer, available, available).into_iter().enumerate() {
            out += &format!("{}{part}\n", fit_name(if i == 0 { line.question } else { "" }, margin));
        }
    }
    out
}

/// Breaks lines at spaces where they are wider than the terminal. What is left of a line begins below its text: after
/// `margin` columns.
pub fn wrap(text: &str, width: usize, margin: usize) -> String {
    let pad = format!("\n{}", " ".repeat(margin));
    let wrapped = |line: &str| parts(line, width, width.saturating_sub(margin)).join(&pad) + "\n";
    text.lines().map(wrapped).collect::<String>().replace(NO_BREAK, " ")
}

/// A blank at which [`wrap`] breaks no line.
pub const NO_BREAK: char = '\u{a0}';

/// The parts of a line, the first of at most `first` columns and the others of at most `rest`. A word is not broken; a
/// Japanese comma ends one.
fn parts(line: &str, first: usize, rest: usize) -> Vec<String> {
    let mut parts = vec![String::new()];
    let words = line.split(' ').enumerate().flat_map(|(i, word)| {
        let pieces = word.split_inclusive('、').enumerate().map(move |(j, piece)| (i > 0 && j == 0, piece));
        pieces.chain(word.is_empty().then_some((i > 0, "")))
    });
    for (i, (after_blank, word)) in words.enumerate() {
        let most = if parts.len() == 1 { first } else { rest };
        match parts.last_mut() {
            Some(part) if i == 0 || columns(part) + usize::from(after_blank) + columns(word) <= most => {
                part.push_str(if after_blank { " " } else { "" });
                part.push_str(word);
            }
            _ => parts.push(word.to_owned()),
        }
    }
    parts
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
    fn lines_are_broken_at_spaces() {
        assert_eq!(wrap("games   1 read = 1 used\n\nfiles\n", 16, 8), "games   1 read =\n        1 used\n\nfiles\n");
        assert_eq!(wrap("a incomprehensibilities", 8, 2), "a\n  incomprehensibilities\n");
        assert_eq!(wrap("除外 2(異常、中断 1)", 14, 2), "除外 2(異常、\n  中断 1)\n");
        assert_eq!(wrap("a 2\u{a0}no scores", 5, 0), "a\n2 no\nscores\n");
    }

    #[test]
    fn answers_are_aligned() {
        let line = |question, answer: &str| Line { question, answer: answer.to_owned() };
        let out = answers(&[line("Sure?", "one two three four five six seven eight"), line("", "x\u{7}")], 40);
        assert_eq!(out, "Sure?  one two three four five six seven\n       eight\n       x\u{fffd}\n");
    }

    #[test]
    fn numbers_read_well() {
        assert_eq!(with_interval(0.5, (-1.0, 2.0), 1), "0.5 [−1.0, 2.0]");
    }
}
