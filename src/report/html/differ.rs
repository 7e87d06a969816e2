//! Why do least squares and maximum likelihood differ? The samples that move both slopes.

use maud::{Markup, html};

use super::markup::{Table, figures, folded, p, soft};
use super::{Page, UNFOLDED};
use crate::calibration::MatePolicy;
use crate::diagnose::influence::{BothFits, Estimate, InfluenceTable, Kind, NamedGame, Row, Slope};
use crate::language::{Text, ToText};
use crate::plot::{Figure, Forest, ForestMark, ForestRow, PlotError, forest};
use crate::report::text::{number, or_dash, thousands, with_interval};
use crate::say;
use crate::types::Termination;

/// The number of engines in the figure of all.
const IN_FIGURE: usize = 30;

pub(super) fn section(page: &Page<'_>) -> Result<Markup, PlotError> {
    let tables = &page.diagnosis.influence;
    if tables.is_empty() {
        return Ok(p(page.word("No engine has both fits.")));
    }
    let mut order: Vec<&InfluenceTable> = tables.iter().collect();
    // the engines that need attention first: the widest gaps, then those that mates would move
    let rank = |t: &InfluenceTable| (!t.differ, !t.mates_matter);
    order.sort_by(|a, b| rank(a).cmp(&rank(b)).then(b.gap().total_cmp(&a.gap())).then(a.engine.cmp(&b.engine)));
    let bodies: Vec<Markup> = order.iter().map(|t| engine(page, t)).collect::<Result<_, _>>()?;
    let excluded = page.options.mate_policy == MatePolicy::Exclude;
    let other = match excluded {
        true => page.word("with mates kept"),
        false => page.word("without mates"),
    };
    let language = page.language;
    let no_mates = page.word("no mates");
    let with_interval = |fits: &BothFits| estimate(&fits.ratio);
    let caption = page.word("ratio of the slopes, least squares to maximum likelihood");
    let table = Table::new(language, caption, order.iter().copied())
        .text(page.word("engine"), |t| t.engine.clone())
        .number(page.word("samples"), |t| thousands(t.all.samples))
        .number(page.word("ratio"), move |t| with_interval(&t.all))
        .number(&say!(language, "ratio {other}"), move |t| with_mates(t).map_or(no_mates.to_owned(), with_interval))
        .prose(page.word("in words"), move |t| t.verdict.text(language).to_owned());
    Ok(html! {
        (p(page.word(
            "Least squares forgives a few samples that are far off; maximum likelihood is governed by large scores \
             that contradict the result. Where their slopes differ, leaving out one group of samples after the other \
             shows which of them causes it.",
        )))
        (table)
        @if let Ok(drawn) = overview(page, &order, other) { (figures(&[page.figure(&drawn)])) }
        (soft(page.word(
            "Groups are left out one at a time. Mates, where the fits leave them out already, are put in instead. A \
             change is a factor on the slope; its interval takes into account that both fits share their games. \
             Lapses are results that follow no score (model lapse); a group with a larger part of them than of the \
             samples is where to look for lost connections, losses on time and games that were cut.",
        )))
        @for (i, (t, body)) in order.iter().zip(&bodies).enumerate() {
            (folded(
                &t.engine,
                match t.differ {
                    true => page.word("the fits are apart"),
                    false => page.word("the fits are not apart"),
                },
                i < UNFOLDED && (t.differ || t.mates_matter),
                body,
            ))
        }
    })
}

/// The fits with mates treated the other way.
fn with_mates(t: &InfluenceTable) -> Option<&BothFits> {
    t.rows.iter().find(|r| r.kind == Kind::Mates).map(|r| &r.fits)
}

/// The ratios of all engines.
fn overview(page: &Page<'_>, order: &[&InfluenceTable], other: &str) -> Result<Figure, PlotError> {
    let mark = |e: &Estimate| ForestMark { value: e.value, low: e.low, high: e.high };
    let ratio = |fits: &BothFits| fits.ratio.as_ref().map(mark);
    let row = |t: &&InfluenceTable| ForestRow {
        label: t.engine.clone(),
        marks: vec![ratio(&t.all), with_mates(t).and_then(ratio)],
    };
    let (shown, all) = (order.len().min(IN_FIGURE), order.len());
    let plot = Forest {
        title: page.word("Slope by least squares / slope by maximum likelihood").to_owned(),
        caption: say!(page.language, "{} of {} engines, the most apart first · 1: the fits agree", shown, all),
        axis: page.word("ratio of the slopes w1").to_owned(),
        series: vec![page.word("as fitted").to_owned(), other.to_owned()],
        rows: order.iter().take(IN_FIGURE).map(row).collect(),
        references: vec![(1.0, None)],
        limits: Some((0.4, 3.1)),
        notes: Vec::new(),
    };
    forest(&plot, &page.plots())
}

fn estimate(e: &Option<Estimate>) -> String {
    or_dash(e.as_ref(), |e| with_interval(e.value, (e.low, e.high), 2))
}

fn slope(page: &Page<'_>, slope: &Result<Slope, Text>) -> String {
    match slope {
        Ok(s) => with_interval(1000.0 * s.w1, (1000.0 * s.low, 1000.0 * s.high), 3),
        Err(_) => page.word("not fitted").to_owned(),
    }
}

fn label(page: &Page<'_>, row: &Row) -> String {
    format!("{} {}", if row.added { "+" } else { "−" }, row.label.text(page.language))
}

/// The label of the fits of all samples.
fn all(page: &Page<'_>) -> String {
    page.word("all that are fitted").to_owned()
}

fn engine(page: &Page<'_>, t: &InfluenceTable) -> Result<Markup, PlotError> {
    // the first row has all samples, each other row one group more or less
    let rows = std::iter::once((None, None)).chain(t.rows.iter().enumerate().map(|(i, r)| (Some(i), Some(r))));
    fn fits<'a>(t: &'a InfluenceTable, row: Option<&'a Row>) -> &'a BothFits {
        row.map_or(&t.all, |r| &r.fits)
    }
    let language = page.language;
    let caption = page.word("− without these samples, + with them");
    let table = Table::new(language, caption, rows)
        .text(page.word("samples"), |(_, row)| row.map_or_else(|| all(page), |row| label(page, row)))
        .number(page.word("in the group"), |(_, row)| thousands(row.map_or(t.all.samples, |r| r.group)))
        .number(page.word("fitted"), |(_, row)| thousands(fits(t, *row).samples))
        .number(page.word("least squares w1 · 1000"), |(_, row)| slope(page, &fits(t, *row).least_squares))
        .number(page.word("× change"), |(_, row)| or_dash(*row, |r| estimate(&r.least_squares_change)))
        .number(page.word("maximum likelihood w1 · 1000"), |(_, row)| slope(page, &fits(t, *row).maximum_likelihood))
        .number(page.word("× change"), |(_, row)| or_dash(*row, |r| estimate(&r.maximum_likelihood_change)))
        .number(page.word("ratio"), |(_, row)| or_dash(fits(t, *row).ratio.as_ref(), |r| number(r.value, 2)))
        .number(page.word("of the lapses"), move |(_, row)| match row {
            None => or_dash(t.lapses, |l| say!(language, "{:.1}% of all", 100.0 * l)),
            Some(row) => or_dash(row.lapses, |l| format!("{:.0}%", 100.0 * l)),
        })
        .best(|(i, _)| i.is_some() && t.driver == *i);
    let drawn = forest(&slopes(page, t), &page.plots())?;
    let empty: Vec<String> = t.empty.iter().map(|label| label.text(language)).collect();
    Ok(html! {
        (p(t.verdict.text(language)))
        (table)
        @if !empty.is_empty() {
            (soft(say!(language, "No samples of this sort: {}.", empty.join("; "))))
        }
        (figures(&[page.figure(&drawn)]))
        (games(page, &t.games))
    })
}

/// The slopes with each group left out or added.
fn slopes(page: &Page<'_>, t: &InfluenceTable) -> Forest {
    let mark = |s: &Result<Slope, Text>| {
        s.as_ref().ok().map(|s| ForestMark { value: 1000.0 * s.w1, low: 1000.0 * s.low, high: 1000.0 * s.high })
    };
    let row = |label: String, fits: &BothFits| ForestRow {
        label,
        marks: vec![mark(&fits.least_squares), mark(&fits.maximum_likelihood)],
    };
    let at = |s: &Result<Slope, Text>, i| s.as_ref().ok().map(|s| (1000.0 * s.w1, Some(i)));
    let all = std::iter::once(row(all(page), &t.all));
    Forest {
        title: say!(page.language, "{}: what moves the slopes", t.engine),
        caption: say!(
            page.language,
            "{} samples · 95% intervals · dashed: all that are fitted",
            thousands(t.all.samples)
        ),
        axis: page.word("w1 · 1000 (per centipawn)").to_owned(),
        series: vec![page.word("least squares").to_owned(), page.word("maximum likelihood").to_owned()],
        rows: all.chain(t.rows.iter().map(|r| row(label(page, r), &r.fits))).collect(),
        references: [at(&t.all.least_squares, 0), at(&t.all.maximum_likelihood, 1)].into_iter().flatten().collect(),
        limits: None,
        notes: Vec::new(),
    }
}

fn games<'a>(page: &Page<'_>, games: &'a [NamedGame]) -> Table<'a, &'a NamedGame> {
    let language = page.language;
    let caption = language.word("the games that move the ratio most, by a first-order estimate");
    Table::new(language, caption, games)
        // the path of the folder or archive would fill the page
        .text(language.word("game"), |game| game.source.rsplit(['/', '\\']).next().unwrap_or_default().to_owned())
        .number(language.word("line"), |game| thousands(game.line))
        .text(language.word("ended by"), move |game| match game.termination.parse::<Termination>() {
            Ok(termination) => termination.to_text().text(language),
            Err(_) => game.termination.replace('_', " "),
        })
        .number(language.word("result"), |game| number(game.result, 1))
        .text(language.word("scores sampled"), |game| {
            game.scores_cp.iter().map(|s| format!("{s:+}")).collect::<Vec<_>>().join(", ")
        })
        .number(language.word("ratio without it"), |game| format!("× {}", number(libm::exp(game.pull), 3)))
}
