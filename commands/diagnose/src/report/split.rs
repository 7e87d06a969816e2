//! Does a score always mean the same? Curves of parts of the samples.

use evalcurve_app::judge::split::{Group, SplitCurves, SplitTest};
use evalcurve_app::report::figures::split_figure;
use evalcurve_app::report::model::{Block, Table, folded, p, soft};
use evalcurve_app::report::text::{DASH, number, or_dash, p_value, thousands, with_interval};
use evalcurve_figures::PlotError;
use evalcurve_words::{key, say};
use serde_json::json;

use super::{Report, Section};

pub(super) const SECTION: Section = Section {
    id: "splits",
    words: key!("Split curves"),
    title: key!("Does a score always mean the same?"),
    answers,
    values: |report| Some(json!(report.diagnosis.splits)),
    body,
};

/// The number of split curves that are drawn, those with the strongest evidence first.
const DRAWN: usize = 8;
/// A group is part of an engine's samples, so its bins may be smaller than those of the engine's curve.
const SMALL_BIN: u64 = 20;

fn answers(report: &Report<'_>) -> Vec<String> {
    let (all, language) = (&report.diagnosis.splits, report.language);
    let tested = all.iter().filter(|s| s.test.is_ok()).count();
    if tested == 0 {
        return Vec::new();
    }
    let split: Vec<_> = all.iter().filter(|s| s.splits).collect();
    let mut text = say!(language, "{} of {tested} curves split after correction", split.len());
    if !split.is_empty() {
        let mut by: Vec<(&str, usize)> = Vec::new();
        for s in &split {
            let words = s.by_words(language);
            match by.iter_mut().find(|b| b.0 == words) {
                Some(b) => b.1 += 1,
                None => by.push((words, 1)),
            }
        }
        let by: Vec<String> = by.into_iter().map(|(by, n)| say!(language, "{n} by {by}")).collect();
        text += &format!(": {}", by.join(language.word(", ")));
    }
    vec![text]
}

fn body(report: &Report<'_>) -> Result<Vec<Block>, PlotError> {
    let all = &report.diagnosis.splits;
    let tested = all.iter().filter(|s| s.test.is_ok()).count();
    let mut order: Vec<&SplitCurves> = all.iter().filter(|s| s.splits).collect();
    let statistic = |s: &SplitCurves| s.test.as_ref().map_or(0.0, |t| t.any.statistic / f64::from(t.any.df.max(1)));
    order.sort_by(|a, b| statistic(b).total_cmp(&statistic(a)));
    // a group without a plotted bin and without a fit has nothing to draw
    let draw = |split: &&SplitCurves| split_figure(split, report.options.min_bin.min(SMALL_BIN), &report.plots()).ok();
    let sentences: Vec<Block> = all.iter().filter(|s| !s.splits).map(|s| soft(s.sentence(report.language))).collect();
    let mut out = vec![
        p(report.word(
            "Where an engine's curve splits by phase, colour or opponent, equal scores mean different win rates in \
             these parts: its evaluation, or the model, misses a feature (Takeuchi, Kaneko, Yamaguchi and Kawai, AAAI \
             2007). The shift is what that feature is worth: centipawns that, added to the scores, make the curve \
             that of the first group.",
        )),
        p(say!(
            report.language,
            "{} of {tested} curves split (Wald test clustered by game, corrected by Holm for all of them).",
            order.len()
        )),
        groups(report, &order),
        Block::Figures(order.iter().take(DRAWN).filter_map(draw).collect()),
    ];
    if !sentences.is_empty() {
        let title = say!(report.language, "{} that do not split or could not be tested", sentences.len());
        out.push(folded(title, "", false, sentences));
    }
    Ok(out)
}

/// The groups of split curves; the row of the first group names the curve and its test.
fn groups(report: &Report<'_>, order: &[&SplitCurves]) -> Block {
    type Row<'a> = (&'a Group, Option<&'a SplitCurves>);
    fn first(show: impl Fn(&SplitCurves) -> String) -> impl Fn(&Row<'_>) -> String {
        move |(_, split)| split.map_or_else(String::new, &show)
    }
    fn tested(show: impl Fn(&SplitTest) -> String) -> impl Fn(&SplitCurves) -> String {
        move |split| split.test.as_ref().map_or_else(|_| String::new(), &show)
    }
    let rows = order.iter().flat_map(|s| s.groups.iter().enumerate().map(|(i, group)| (group, (i == 0).then_some(*s))));
    let language = report.language;
    Table::new(language, "", rows)
        .text(language.word("engine"), first(|s| s.engine.clone()))
        .text(language.word("by"), first(|s| s.by_words(language).to_owned()))
        .text(language.word("group"), |(group, _)| group.label.text(language).to_owned())
        .number(language.word("samples"), |(group, _)| thousands(group.samples))
        .number("w1 · 1000", |(group, _)| or_dash(group.sigmoid, |s| number(1000.0 * s.w1, 3)))
        .number(language.word("shift (cp)"), |(group, split)| match group.shift {
            Some(s) => with_interval(s.cp, (s.low, s.high), 0),
            None if split.is_some() => say!(language, "0 (reference)"),
            None => DASH.to_owned(),
        })
        .number(language.word("p corrected"), first(tested(|t| p_value(t.corrected_p))))
        .number(language.word("p of equal slopes"), first(tested(|t| p_value(t.slopes.p))))
        .into()
}
