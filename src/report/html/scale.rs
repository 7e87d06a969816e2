//! One scale? The mismatch of every transform, engine against engine, and tests of equal curves.

use maud::{Markup, html};

use super::Page;
use super::markup::{Table, figures, folded, h3, p, soft};
use crate::diagnose::mismatch::{CellPoint, ScaleMismatch, Transform, TransformMismatch};
use crate::diagnose::pairwise::{Pair, Pairwise};
use crate::diagnose::regression::Wald;
use crate::language::Text;
use crate::plot::{EngineSeries, Figure, Forest, ForestMark, ForestRow, PlotError, Point, forest, pooled_curves};
use crate::report::text::{model_name, number, or_dash, p_value, thousands, with_interval, with_known_interval};
use crate::say;

/// The number of engines in the table of pairs.
const IN_TABLE: usize = 10;
/// The number of engines in the figures of equal values.
const IN_FIGURE: usize = 8;

pub(super) fn section(page: &Page<'_>) -> Result<Markup, PlotError> {
    let mismatch = page.diagnosis.mismatch.as_ref().map(|found| mismatch(page, found)).transpose()?;
    Ok(html! {
        (p(page.word(
            "A council that takes the largest value compares values of different engines, so equal values should mean \
             equal win rates. The scale mismatch M is how far an engine's win rate at a value is from that of all \
             engines at it (root mean square over 20 bins of the pooled values, sampling noise taken out). 0 is a \
             common scale; 0.09 means that equal values differ by about 9 points of win rate.",
        )))
        @match mismatch {
            Some(found) => (found),
            None => (p(page.word(
                "Fewer than two engines with a fit in every fold: there is nothing to compare.",
            ))),
        }
        @if let Some(pairs) = &page.diagnosis.pairwise { (equivalents(page, pairs)) (tests(page, pairs)) }
    })
}

fn mismatch(page: &Page<'_>, found: &ScaleMismatch) -> Result<Markup, PlotError> {
    let thousand = |(low, high): (f64, f64)| (1000.0 * low, 1000.0 * high);
    let language = page.language;
    let caption = say!(
        language,
        "{} engines, {} samples, {} games; out of sample ({} folds), {} resamples of the games; best first",
        found.engines.len(),
        thousands(found.samples),
        thousands(found.games),
        found.folds,
        thousands(u64::from(found.resamples))
    );
    let table = Table::new(language, caption, found.transforms.iter().enumerate())
        .text(page.word("scale"), move |(_, t)| t.transform.words().text(language))
        .number(page.word("samples"), |(_, t)| thousands(t.samples))
        .number(page.word("mismatch M"), |(_, t)| with_known_interval(t.m, t.m_interval, 3))
        .number("M² · 1000", move |(_, t)| with_interval(1000.0 * t.m_squared, thousand(t.m_squared_interval), 2))
        .number(page.word("M² · 1000 above the best"), move |(_, t)| {
            or_dash(t.above_best, |(v, i)| with_interval(1000.0 * v, thousand(i), 2))
        })
        .best(|(rank, _)| *rank == 0);
    let row = |t: &TransformMismatch| ForestRow {
        label: t.transform.words().text(language),
        marks: vec![Some(ForestMark { value: t.m_squared, low: t.m_squared_interval.0, high: t.m_squared_interval.1 })],
    };
    let bars = Forest {
        title: page.word("Scale mismatch M²").to_owned(),
        caption: say!(language, "{} engines · 0: equal values mean equal win rates", found.engines.len()),
        axis: page.word("M² (square of a win rate)").to_owned(),
        rows: found.transforms.iter().map(row).collect(),
        references: vec![(0.0, None)],
        ..Forest::default()
    };
    let bars = forest(&bars, &page.plots())?;
    let drawn: Vec<Markup> = found
        .transforms
        .iter()
        .map(|transform| Ok(page.figure(&at_equal_values(page, found, transform)?)))
        .collect::<Result<_, PlotError>>()?;
    Ok(html! {
        (table)
        (soft(page.word(
            "M² is corrected for noise and may therefore be negative: then no mismatch is seen. Field win rates are \
             those against the opponents that each engine met, and the results at raw scores contain these, too. \
             Where they are taken out, or between equals, the results are without what the opponents explain, so only \
             the scale is left. Isotonic regression needs many samples; with few, its steps are noise.",
        )))
        (advice(page, found))
        (figures(&[page.figure(&bars)]))
        (h3(page.word("All engines at equal values")))
        (soft(page.word(
            "On a common scale these lines coincide. The axis is the same for all scales: the share of all samples \
             with a lower value.",
        )))
        (figures(&drawn))
        @if found.engines.len() > IN_FIGURE {
            (soft(say!(
                language,
                "The {} engines with the most samples of {}.",
                IN_FIGURE,
                found.engines.len()
            )))
        }
        (left_out(page, found))
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
    pooled_curves(&series, &transform.transform.words().text(page.language), &page.plots())
}

/// What is not part of the comparison, and why.
fn left_out(page: &Page<'_>, found: &ScaleMismatch) -> Markup {
    let language = page.language;
    let transforms = found.transforms_left_out.iter().map(|(t, why)| (t.words().text(language), why));
    let rows: Vec<(String, &Text)> = transforms.chain(found.left_out.iter().map(|(e, why)| (e.clone(), why))).collect();
    let count = rows.len();
    let table = Table::new(language, "", rows)
        .text(page.word("left out"), |(what, _)| what.clone())
        .prose(page.word("why"), move |(_, why)| why.text(language).to_owned());
    html! {
        @if found.too_few > 0 {
            (soft(say!(
                language,
                "{} engines with too few samples take no part.",
                found.too_few
            )))
        }
        @if count > 0 {
            (folded(
                say!(language, "{count} left out of this comparison"),
                page.word("and why"),
                false,
                table,
            ))
        }
    }
}

/// What to do about the mismatch.
fn advice(page: &Page<'_>, found: &ScaleMismatch) -> Markup {
    let language = page.language;
    let name = |t: &TransformMismatch| t.transform.words().text(language);
    let has_equal = found.transforms.iter().any(|t| t.transform == Transform::RawAgainstEquals);
    // raw scores contain the opponents where nothing takes these out
    let comparable = |t: &&TransformMismatch| match t.transform {
        Transform::Raw => !has_equal,
        transform => !transform.is_field(),
    };
    let Some(best) = found.transforms.iter().find(comparable) else { return Markup::default() };
    let is_bad = |t: &&TransformMismatch| t.m_squared_interval.0 > 0.0 && t.m > 0.03;
    let bad: Vec<String> = found.transforms.iter().filter(comparable).filter(is_bad).map(name).collect();
    let mut text = if bad.is_empty() {
        page.word("What to do: no scale is worse than 0.03 beyond chance.").to_owned()
    } else {
        let bad = bad.join(page.word(" or "));
        say!(language, "What to do: do not compare {bad} between these engines.")
    };
    let m = with_known_interval(best.m, best.m_interval, 3);
    text += &say!(language, " Best here: {} ({m})", name(best));
    text += page.word(
        ". Field win rates can each be right and are not to be compared all the same: they contain the opponents.",
    );
    p(text)
}

/// Which score of one engine is as good as a given score of another.
fn equivalents(page: &Page<'_>, pairs: &Pairwise) -> Markup {
    let (largest, language) = (pairs.largest(IN_TABLE), page.language);
    let score = number(pairs.score_cp, 0);
    let caption = if pairs.engines.len() > IN_TABLE {
        say!(
            language,
            "the {} engines with the most samples of {}; the JSON beside this page has all",
            IN_TABLE,
            pairs.engines.len()
        )
    } else {
        say!(language, "{} games", thousands(pairs.games))
    };
    let mut table = Table::new(language, caption, largest.iter().copied())
        .text("A", |&a| pairs.engines[a].clone())
        .number(page.word("samples"), |&a| thousands(pairs.samples[a]));
    for &b in &largest {
        let score = &score;
        table = table.number(&pairs.engines[b], move |&a| {
            let e = pairs.equivalents[a][b];
            if a == b { score.clone() } else { or_dash(e, |e| with_interval(e.score_cp, (e.low, e.high), 0)) }
        });
    }
    html! {
        (h3(say!(language, "A score of {score} elsewhere")))
        (p(say!(
            language,
            "Row A, column B: the score at which B's win rate between equals is that of A at {score}, by the chosen \
             model ({}).",
            model_name(page.diagnosis.base.model, language)
        )))
        (table)
    }
}

/// Tests of equal curves, of all engines and of each pair.
fn tests(page: &Page<'_>, pairs: &Pairwise) -> Markup {
    let language = page.language;
    let test = |words: &str, test: Option<Wald>| match test {
        Some(t) => {
            let (statistic, p) = (number(t.statistic, 1), p_value(t.p));
            say!(language, "{words}: χ² {statistic}, df {}, p {p}", t.df)
        }
        None => say!(language, "{words}: too few games for a test"),
    };
    let largest = pairs.largest(IN_TABLE);
    let mut shown: Vec<&Pair> =
        pairs.pairs.iter().filter(|p| largest.contains(&p.first) && largest.contains(&p.second)).collect();
    shown.sort_by(|a, b| a.p_corrected.total_cmp(&b.p_corrected));
    let caption = page.word(
        "Wald tests of the plain sigmoids, clustered by game; the last column compares the constants of the chosen \
         model, corrected by Holm for all pairs",
    );
    let table = Table::new(language, caption, shown)
        .text("A", |pair| pairs.engines[pair.first].clone())
        .text("B", |pair| pairs.engines[pair.second].clone())
        .number(page.word("samples"), |pair| thousands(pair.samples))
        .number(page.word("χ² of equal w1"), |pair| number(pair.equal_slopes.statistic, 1))
        .number("p", |pair| p_value(pair.equal_slopes.p))
        .number(page.word("χ² of equal (w1, w2)"), |pair| number(pair.equal_curves.statistic, 1))
        .number("p", |pair| p_value(pair.equal_curves.p))
        .number(page.word("p of one scale"), |pair| p_value(pair.p_corrected));
    html! {
        (h3(page.word("Are the curves one?")))
        @if pairs.left_out > 0 {
            (soft(say!(
                language,
                "The {} engines with the most samples are compared; {} others are not.",
                pairs.engines.len(),
                pairs.left_out
            )))
        }
        (p(say!(
            language,
            "{} engines, {} samples of {} games. {}. {}. A small p means that engines differ by more than chance; \
             M and the table above show by how much.",
            pairs.engines.len(),
            thousands(pairs.samples.iter().sum()),
            thousands(pairs.games),
            test(page.word("Equal slopes w1"), pairs.equal_slopes),
            test(page.word("Equal curves (w1, w2)"), pairs.equal_curves)
        )))
        (folded(
            say!(
                language,
                "the scales of {} of {} pairs differ after correction",
                pairs.apart(),
                pairs.pairs.len()
            ),
            page.word("the pairs in the table above"),
            false,
            table,
        ))
    }
}
