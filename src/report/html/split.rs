//! Does a score always mean the same? Curves of parts of the samples.

use maud::{Markup, html};

use super::Page;
use super::markup::{Table, figures, folded, p, soft};
use crate::diagnose::split::{Group, SplitCurves, SplitTest};
use crate::plot::PlotError;
use crate::report::figures::split_figure;
use crate::report::text::{DASH, number, or_dash, p_value, thousands, with_interval};
use crate::say;

/// The number of split curves that are drawn, those with the strongest evidence first.
const DRAWN: usize = 8;
/// A group is part of an engine's samples, so its bins may be smaller than those of the engine's curve.
const SMALL_BIN: u64 = 20;

pub(super) fn section(page: &Page<'_>) -> Result<Markup, PlotError> {
    let all = &page.diagnosis.splits;
    let tested = all.iter().filter(|s| s.test.is_ok()).count();
    let mut order: Vec<&SplitCurves> = all.iter().filter(|s| s.splits).collect();
    let statistic = |s: &SplitCurves| s.test.as_ref().map_or(0.0, |t| t.any.statistic / f64::from(t.any.df.max(1)));
    order.sort_by(|a, b| statistic(b).total_cmp(&statistic(a)));
    // a group without a plotted bin and without a fit has nothing to draw
    let draw = |split: &&SplitCurves| split_figure(split, page.options.min_bin.min(SMALL_BIN), &page.plots()).ok();
    let drawn: Vec<Markup> = order.iter().take(DRAWN).filter_map(draw).map(|plot| page.figure(&plot)).collect();
    let sentences: Vec<Markup> = all.iter().filter(|s| !s.splits).map(|s| soft(s.sentence(page.language))).collect();
    Ok(html! {
        (p(page.word(
            "Where an engine's curve splits by phase, colour or opponent, equal scores mean different win rates in \
             these parts: its evaluation, or the model, misses a feature (Takeuchi, Kaneko, Yamaguchi and Kawai, AAAI \
             2007). The shift is what that feature is worth: centipawns that, added to the scores, make the curve \
             that of the first group.",
        )))
        (p(say!(
            page.language,
            "{} of {tested} curves split (Wald test clustered by game, corrected by Holm for all of them).",
            order.len()
        )))
        (groups(page, &order))
        (figures(&drawn))
        @if !sentences.is_empty() {
            (folded(
                say!(
                    page.language,
                    "{} that do not split or could not be tested",
                    sentences.len()
                ),
                "",
                false,
                html! { @for sentence in &sentences { (sentence) } },
            ))
        }
    })
}

/// The groups of split curves; the row of the first group names the curve and its test.
fn groups<'a>(page: &Page<'_>, order: &[&'a SplitCurves]) -> Table<'a, (&'a Group, Option<&'a SplitCurves>)> {
    type Row<'a> = (&'a Group, Option<&'a SplitCurves>);
    fn first<'a>(show: impl Fn(&SplitCurves) -> String + 'a) -> impl Fn(&Row<'_>) -> String + 'a {
        move |(_, split)| split.map_or_else(String::new, &show)
    }
    fn tested(show: impl Fn(&SplitTest) -> String) -> impl Fn(&SplitCurves) -> String {
        move |split| split.test.as_ref().map_or_else(|_| String::new(), &show)
    }
    let rows = order.iter().flat_map(|s| s.groups.iter().enumerate().map(|(i, group)| (group, (i == 0).then_some(*s))));
    let language = page.language;
    let reference = language.word("0 (reference)");
    Table::new(language, "", rows)
        .text(language.word("engine"), first(|s| s.engine.clone()))
        .text(language.word("by"), first(move |s| s.by_words(language).to_owned()))
        .text(language.word("group"), move |(group, _)| group.label.text(language).to_owned())
        .number(language.word("samples"), |(group, _)| thousands(group.samples))
        .number("w1 · 1000", |(group, _)| or_dash(group.sigmoid, |s| number(1000.0 * s.w1, 3)))
        .number(language.word("shift (cp)"), move |(group, split)| match group.shift {
            Some(s) => with_interval(s.cp, (s.low, s.high), 0),
            None if split.is_some() => reference.to_owned(),
            None => DASH.to_owned(),
        })
        .number(language.word("p corrected"), first(tested(|t| p_value(t.corrected_p))))
        .number(language.word("p of equal slopes"), first(tested(|t| p_value(t.slopes.p))))
}
