//! One scale? The mismatch of every transform, engine against engine, and tests of equal curves.

use super::Page;
use super::markup::{Column, DASH, Table, figure, figures, folded, h3, number, p, p_value, soft, with_interval};
use crate::diagnose::mismatch::{ScaleMismatch, TransformMismatch};
use crate::diagnose::pairwise::Pairwise;
use crate::diagnose::regression::Wald;
use crate::plot::{EngineSeries, Forest, ForestMark, ForestRow, PlotError, Point, forest, pooled_curves};
use crate::report::text::thousands;

/// Engines in the table of one against another.
const IN_TABLE: usize = 10;
/// Engines with a curve on the figures of equal values.
const IN_FIGURE: usize = 8;

pub(super) fn section(page: &Page<'_>) -> Result<String, PlotError> {
    let mut out = p(
        "A council that takes the largest value compares values of different engines, so equal values should mean equal \
         win rates. The scale mismatch M is how far an engine's win rate at a value is from that of all engines at it \
         (root mean square over 20 bins of the pooled values, sampling noise taken out). 0 is a common scale; 0.09 \
         means that equal values differ by about 9 points of win rate.",
    );
    match &page.diagnosis.mismatch {
        Some(found) => out += &mismatch(page, found)?,
        None => out += &p("Fewer than two engines with a fit in every fold: there is nothing to compare."),
    }
    if let Some(pairs) = &page.diagnosis.pairwise {
        out += &pairwise(pairs);
    }
    Ok(out)
}

fn mismatch(page: &Page<'_>, found: &ScaleMismatch) -> Result<String, PlotError> {
    let mut table = Table::new(
        &format!(
            "{} engines, {} samples, {} games; out of sample ({} folds), {} resamples of the games; best first",
            found.engines.len(),
            thousands(found.samples),
            thousands(found.games),
            found.folds,
            thousands(u64::from(found.resamples))
        ),
        &[
            ("scale", Column::Text),
            ("samples", Column::Number),
            ("M", Column::Number),
            ("M² · 1000", Column::Number),
            ("M² · 1000 above the best", Column::Number),
        ],
    );
    let thousand = |(low, high): (f64, f64)| (1000.0 * low, 1000.0 * high);
    for (rank, t) in found.transforms.iter().enumerate() {
        let cells = [
            t.transform.words().to_owned(),
            thousands(t.samples),
            with_interval(t.m, t.m_interval, 3),
            with_interval(1000.0 * t.m_squared, thousand(t.m_squared_interval), 2),
            t.above_best.map_or(DASH.to_owned(), |(v, i)| with_interval(1000.0 * v, thousand(i), 2)),
        ];
        if rank == 0 { table.best_row(cells) } else { table.row(cells) }
    }
    let mut out = table.html();
    out += &soft(
        "M² has its noise taken out and may therefore be negative: then no mismatch is seen. Strength-adjusted: the win \
         rate against equals, results taken relative to each game's own rating difference. Isotonic regression needs \
         many samples; with few, its steps are noise.",
    );
    out += &advice(found);
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
    out += &figures(&[figure(&forest(&bars, &page.plots())?)]);

    out += &h3("All engines at equal values");
    out += &soft(
        "On a common scale these lines lie on each other. The axis is the same for all scales: the share of all samples \
         with a lower value.",
    );
    let mut drawn = Vec::new();
    for transform in &found.transforms {
        let size = |e: usize| transform.curves[e].iter().map(|p| p.count).sum::<u64>();
        let mut order: Vec<usize> = (0..found.engines.len().min(transform.curves.len())).collect();
        order.sort_by_key(|&e| (std::cmp::Reverse(size(e)), e));
        let series: Vec<EngineSeries> = order
            .into_iter()
            .take(IN_FIGURE)
            .map(|e| EngineSeries {
                curve: transform.curves[e].iter().map(point).collect(),
                samples: size(e),
                ..EngineSeries::new(found.engines[e].clone(), page.color(&found.engines[e]))
            })
            .collect();
        drawn.push(figure(&pooled_curves(&series, transform.transform.words(), &page.plots())?));
    }
    out += &figures(&drawn);
    if found.engines.len() > IN_FIGURE {
        out += &soft(&format!("The {IN_FIGURE} engines with the most samples of {}.", found.engines.len()));
    }
    let mut aside = Table::new("", &[("left out", Column::Text), ("why", Column::Prose)]);
    found.transforms_left_out.iter().for_each(|(t, why)| aside.row([t.words(), why]));
    found.left_out.iter().for_each(|(engine, why)| aside.row([engine, why]));
    let count = found.transforms_left_out.len() + found.left_out.len();
    if found.too_few > 0 {
        out += &soft(&format!("{} engines with too few samples take no part.", found.too_few));
    }
    if count > 0 {
        out += &folded(&format!("{count} left out of this comparison"), "and why", &aside.html());
    }
    Ok(out)
}

fn point(p: &crate::diagnose::mismatch::CellPoint) -> Point {
    let (low, high) = p.interval;
    Point { x: p.quantile, win_rate: p.result.clamp(0.0, 1.0), low, high, count: p.count }
}

/// What to do.
fn advice(found: &ScaleMismatch) -> String {
    let Some(best) = found.transforms.first() else { return String::new() };
    let bad: Vec<&str> = found
        .transforms
        .iter()
        .filter(|t| t.m_squared_interval.0 > 0.0 && t.m > 0.03)
        .map(|t| t.transform.words())
        .collect();
    let mut text = if bad.is_empty() {
        "What to do: no scale is worse than 0.03 beyond chance; any of these will do on such samples.".to_owned()
    } else {
        format!("What to do: do not compare {} between these engines.", bad.join(" or "))
    };
    let as_good: Vec<&str> = found
        .transforms
        .iter()
        .skip(1)
        .filter(|t| t.above_best.is_some_and(|(_, (low, _))| low <= 0.0))
        .map(|t| t.transform.words())
        .collect();
    text += &format!(" Best here: {}", best.transform.words());
    if !as_good.is_empty() {
        text += &format!("; not told apart from it: {}", as_good.join(", "));
    }
    p(&(text + "."))
}

fn test(words: &str, test: Option<Wald>) -> String {
    match test {
        Some(t) => format!("{words}: χ² {}, df {}, p {}", number(t.statistic, 1), t.df, p_value(t.p)),
        None => format!("{words}: too few games for a test"),
    }
}

fn pairwise(pairs: &Pairwise) -> String {
    let largest = pairs.largest(IN_TABLE);
    let score = number(pairs.score_cp, 0);
    let mut out = h3(&format!("A score of {score} elsewhere"));
    out += &p(&format!(
        "Row A, column B: the score at which B's win rate is that of A at {score}. Fits by {}; engines meet in the same \
         games, so all are one model whose covariance is clustered by game across engines.",
        pairs.method.as_str().replace('_', " ")
    ));
    let names: Vec<&str> = largest.iter().map(|&e| pairs.engines[e].as_str()).collect();
    let mut head = vec![("A", Column::Text), ("samples", Column::Number)];
    head.extend(names.iter().map(|n| (*n, Column::Number)));
    let caption = if pairs.engines.len() > IN_TABLE {
        format!(
            "the {IN_TABLE} engines with the most samples of {}; the JSON beside this page has all",
            pairs.engines.len()
        )
    } else {
        format!("{} games", thousands(pairs.games))
    };
    let mut table = Table::new(&caption, &head);
    for &a in &largest {
        let mut cells = vec![pairs.engines[a].clone(), thousands(pairs.samples[a])];
        cells.extend(largest.iter().map(|&b| {
            let e = pairs.equivalents[a][b];
            if a == b { score.clone() } else { with_interval(e.score_cp, (e.low, e.high), 0) }
        }));
        table.row(cells);
    }
    out += &table.html();

    out += &h3("Are the curves one?");
    let total: u64 = pairs.samples.iter().sum();
    out += &p(&format!(
        "All {} engines, {} samples of {} games. {}. {}. A small p says that engines differ by more than chance; how \
         much, M and the table above tell.",
        pairs.engines.len(),
        thousands(total),
        thousands(pairs.games),
        test("Equal slopes w1", pairs.equal_slopes),
        test("Equal curves (w1, w2)", pairs.equal_curves)
    ));
    let apart = pairs.pairs.iter().filter(|p| p.p_corrected < 0.05).count();
    let mut table = Table::new(
        "Wald tests clustered by game; corrected by Holm for all pairs",
        &[
            ("A", Column::Text),
            ("B", Column::Text),
            ("samples", Column::Number),
            ("χ² of equal w1", Column::Number),
            ("p", Column::Number),
            ("χ² of equal (w1, w2)", Column::Number),
            ("p", Column::Number),
            ("p corrected", Column::Number),
        ],
    );
    let mut shown: Vec<_> =
        pairs.pairs.iter().filter(|p| largest.contains(&p.first) && largest.contains(&p.second)).collect();
    shown.sort_by(|a, b| b.equal_curves.statistic.total_cmp(&a.equal_curves.statistic));
    for pair in shown {
        table.row([
            pairs.engines[pair.first].clone(),
            pairs.engines[pair.second].clone(),
            thousands(pair.samples),
            number(pair.equal_slopes.statistic, 1),
            p_value(pair.equal_slopes.p),
            number(pair.equal_curves.statistic, 1),
            p_value(pair.equal_curves.p),
            p_value(pair.p_corrected),
        ]);
    }
    let line = format!("{apart} of {} pairs have different curves after correction", pairs.pairs.len());
    out += &folded(&line, "the pairs in the table above", &table.html());
    out
}
