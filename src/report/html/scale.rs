//! One scale? The mismatch of every transform, engine against engine, and tests of equal curves.

use maud::{Markup, html};

use super::Page;
use super::markup::{Table, figure, figures, folded, h3, p, soft};
use crate::diagnose::mismatch::{CellPoint, ScaleMismatch, TransformMismatch};
use crate::diagnose::pairwise::{Pair, Pairwise};
use crate::diagnose::regression::Wald;
use crate::plot::{EngineSeries, Figure, Forest, ForestMark, ForestRow, PlotError, Point, forest, pooled_curves};
use crate::report::text::{number, or_dash, p_value, thousands, with_interval};

/// The number of engines in the table of pairs.
const IN_TABLE: usize = 10;
/// The number of engines in the figures of equal values.
const IN_FIGURE: usize = 8;

pub(super) fn section(page: &Page<'_>) -> Result<Markup, PlotError> {
    let mismatch = page.diagnosis.mismatch.as_ref().map(|found| mismatch(page, found)).transpose()?;
    Ok(html! {
        (p(
            "A council that takes the largest value compares values of different engines, so equal values should mean \
             equal win rates. The scale mismatch M is how far an engine's win rate at a value is from that of all \
             engines at it (root mean square over 20 bins of the pooled values, sampling noise taken out). 0 is a \
             common scale; 0.09 means that equal values differ by about 9 points of win rate.",
        ))
        @match mismatch {
            Some(found) => (found),
            None => (p("Fewer than two engines with a fit in every fold: there is nothing to compare.")),
        }
        @if let Some(pairs) = &page.diagnosis.pairwise { (equivalents(page, pairs)) (tests(pairs)) }
    })
}

fn mismatch(page: &Page<'_>, found: &ScaleMismatch) -> Result<Markup, PlotError> {
    let thousand = |(low, high): (f64, f64)| (1000.0 * low, 1000.0 * high);
    let caption = format!(
        "{} engines, {} samples, {} games; out of sample ({} folds), {} resamples of the games; best first",
        found.engines.len(),
        thousands(found.samples),
        thousands(found.games),
        found.folds,
        thousands(u64::from(found.resamples))
    );
    let table = Table::new(caption, found.transforms.iter().enumerate())
        .text("scale", |(_, t)| t.transform.words().to_owned())
        .number("samples", |(_, t)| thousands(t.samples))
        .number("M", |(_, t)| with_interval(t.m, t.m_interval, 3))
        .number("M² · 1000", move |(_, t)| with_interval(1000.0 * t.m_squared, thousand(t.m_squared_interval), 2))
        .number("M² · 1000 above the best", move |(_, t)| {
            or_dash(t.above_best, |(v, i)| with_interval(1000.0 * v, thousand(i), 2))
        })
        .best(|(rank, _)| *rank == 0);
    let row = |t: &TransformMismatch| ForestRow {
        label: t.transform.words().to_owned(),
        marks: vec![Some(ForestMark { value: t.m_squared, low: t.m_squared_interval.0, high: t.m_squared_interval.1 })],
    };
    let bars = Forest {
        title: "Scale mismatch M²".to_owned(),
        caption: format!("{} engines · 0: equal values mean equal win rates", found.engines.len()),
        axis: "M² (square of a win rate)".to_owned(),
        rows: found.transforms.iter().map(row).collect(),
        references: vec![(0.0, None)],
        ..Forest::default()
    };
    let bars = forest(&bars, &page.plots())?;
    let drawn: Vec<Markup> = found
        .transforms
        .iter()
        .map(|transform| Ok(figure(&at_equal_values(page, found, transform)?)))
        .collect::<Result<_, PlotError>>()?;
    Ok(html! {
        (table)
        (soft(
            "M² is corrected for noise and may therefore be negative: then no mismatch is seen. Strength-adjusted: \
             the win rate against equals, results taken relative to each game's own rating difference. Isotonic \
             regression needs many samples; with few, its steps are noise.",
        ))
        (advice(found))
        (figures(&[figure(&bars)]))
        (h3("All engines at equal values"))
        (soft(
            "On a common scale these lines coincide. The axis is the same for all scales: the share of all samples \
             with a lower value.",
        ))
        (figures(&drawn))
        @if found.engines.len() > IN_FIGURE {
            (soft(format!("The {IN_FIGURE} engines with the most samples of {}.", found.engines.len())))
        }
        (left_out(found))
    })
}

/// The largest engines' mean results at equal values of one transform.
fn at_equal_values(page: &Page<'_>, found: &ScaleMismatch, transform: &TransformMismatch) -> Result<Figure, PlotError> {
    let size = |e: usize| transform.curves[e].iter().map(|p| p.count).sum::<u64>();
    let point = |p: &CellPoint| {
        let (low, high) = p.interval;
        Point { x: p.quantile, win_rate: p.result.clamp(0.0, 1.0), low, high, count: p.count }
    };
    let series = |e: usize| EngineSeries {
        curve: transform.curves[e].iter().map(point).collect(),
        samples: size(e),
        ..EngineSeries::new(found.engines[e].clone(), page.color(&found.engines[e]))
    };
    let mut order: Vec<usize> = (0..found.engines.len().min(transform.curves.len())).collect();
    order.sort_by_key(|&e| (std::cmp::Reverse(size(e)), e));
    let series: Vec<EngineSeries> = order.into_iter().take(IN_FIGURE).map(series).collect();
    pooled_curves(&series, transform.transform.words(), &page.plots())
}

/// What is not part of the comparison, and why.
fn left_out(found: &ScaleMismatch) -> Markup {
    let transforms = found.transforms_left_out.iter().map(|(t, why)| (t.words(), why));
    let rows: Vec<(&str, &String)> =
        transforms.chain(found.left_out.iter().map(|(e, why)| (e.as_str(), why))).collect();
    let count = rows.len();
    let table =
        Table::new("", rows).text("left out", |(what, _)| (*what).to_owned()).prose("why", |(_, why)| (*why).clone());
    html! {
        @if found.too_few > 0 {
            (soft(format!("{} engines with too few samples take no part.", found.too_few)))
        }
        @if count > 0 {
            (folded(format!("{count} left out of this comparison"), "and why", false, table))
        }
    }
}

/// What to do about the mismatch.
fn advice(found: &ScaleMismatch) -> Markup {
    let names = |chosen: &dyn Fn(&&TransformMismatch) -> bool, skip: usize| -> Vec<&'static str> {
        found.transforms.iter().skip(skip).filter(chosen).map(|t| t.transform.words()).collect()
    };
    let Some(best) = found.transforms.first() else { return Markup::default() };
    let bad = names(&|t| t.m_squared_interval.0 > 0.0 && t.m > 0.03, 0);
    let as_good = names(&|t| t.above_best.is_some_and(|(_, (low, _))| low <= 0.0), 1);
    let mut text = if bad.is_empty() {
        "What to do: no scale is worse than 0.03 beyond chance; use any of these on such samples.".to_owned()
    } else {
        format!("What to do: do not compare {} between these engines.", bad.join(" or "))
    };
    text += &format!(" Best here: {}", best.transform.words());
    if !as_good.is_empty() {
        text += &format!("; not distinguishable from it: {}", as_good.join(", "));
    }
    p(text + ".")
}

/// Which score of one engine is as good as a given score of another.
fn equivalents(page: &Page<'_>, pairs: &Pairwise) -> Markup {
    let largest = pairs.largest(IN_TABLE);
    let score = number(pairs.score_cp, 0);
    let caption = if pairs.engines.len() > IN_TABLE {
        format!(
            "the {IN_TABLE} engines with the most samples of {}; the JSON beside this page has all",
            pairs.engines.len()
        )
    } else {
        format!("{} games", thousands(pairs.games))
    };
    let mut table = Table::new(caption, largest.iter().copied())
        .text("A", |&a| pairs.engines[a].clone())
        .number("samples", |&a| thousands(pairs.samples[a]));
    for &b in &largest {
        let score = &score;
        table = table.number(&pairs.engines[b], move |&a| {
            let e = pairs.equivalents[a][b];
            if a == b { score.clone() } else { or_dash(e, |e| with_interval(e.score_cp, (e.low, e.high), 0)) }
        });
    }
    html! {
        (h3(format!("A score of {score} elsewhere")))
        (p(format!(
            "Row A, column B: the score at which B's win rate between equals is that of A at {score}, by the chosen \
             model ({}).",
            page.diagnosis.base.model.label()
        )))
        (table)
    }
}

/// Tests of equal curves, of all engines and of each pair.
fn tests(pairs: &Pairwise) -> Markup {
    let test = |words: &str, test: Option<Wald>| match test {
        Some(t) => format!("{words}: χ² {}, df {}, p {}", number(t.statistic, 1), t.df, p_value(t.p)),
        None => format!("{words}: too few games for a test"),
    };
    let largest = pairs.largest(IN_TABLE);
    let apart = pairs.pairs.iter().filter(|p| p.p_corrected < 0.05).count();
    let mut shown: Vec<&Pair> =
        pairs.pairs.iter().filter(|p| largest.contains(&p.first) && largest.contains(&p.second)).collect();
    shown.sort_by(|a, b| b.equal_curves.statistic.total_cmp(&a.equal_curves.statistic));
    let table = Table::new("Wald tests clustered by game; corrected by Holm for all pairs", shown)
        .text("A", |pair| pairs.engines[pair.first].clone())
        .text("B", |pair| pairs.engines[pair.second].clone())
        .number("samples", |pair| thousands(pair.samples))
        .number("χ² of equal w1", |pair| number(pair.equal_slopes.statistic, 1))
        .number("p", |pair| p_value(pair.equal_slopes.p))
        .number("χ² of equal (w1, w2)", |pair| number(pair.equal_curves.statistic, 1))
        .number("p", |pair| p_value(pair.equal_curves.p))
        .number("p corrected", |pair| p_value(pair.p_corrected));
    html! {
        (h3("Are the curves one?"))
        (p(format!(
            "All {} engines, {} samples of {} games. {}. {}. A small p means that engines differ by more than chance; \
             M and the table above show by how much.",
            pairs.engines.len(),
            thousands(pairs.samples.iter().sum()),
            thousands(pairs.games),
            test("Equal slopes w1", pairs.equal_slopes),
            test("Equal curves (w1, w2)", pairs.equal_curves)
        )))
        (folded(
            format!("{apart} of {} pairs have different curves after correction", pairs.pairs.len()),
            "the pairs in the table above",
            false,
            table,
        ))
    }
}
