//! Why do least squares and maximum likelihood differ? What moves both slopes.

use super::markup::{Column, DASH, Table, figure, figures, folded, number, p, soft, with_interval};
use super::{Page, UNFOLDED};
use crate::calibration::MatePolicy;
use crate::diagnose::influence::{BothFits, Estimate, InfluenceTable, Kind, Row, Slope};
use crate::plot::{Forest, ForestMark, ForestRow, PlotError, forest};
use crate::report::text::thousands;

/// Engines on the figure of all.
const IN_FIGURE: usize = 30;

pub(super) fn section(page: &Page<'_>) -> Result<String, PlotError> {
    let tables = &page.diagnosis.influence;
    if tables.is_empty() {
        return Ok(p("No engine has both fits."));
    }
    let mut out = p(
        "Least squares forgives a few samples that are far off; maximum likelihood is ruled by large scores that \
         contradict the result. Where their slopes differ, leaving out one group of samples after the other shows which \
         of them do it.",
    );
    let mut order: Vec<&InfluenceTable> = tables.iter().collect();
    // those worth a look first: the widest gaps, then those that mates would move
    let rank = |t: &InfluenceTable| (!t.differ, !t.mates_matter);
    order.sort_by(|a, b| rank(a).cmp(&rank(b)).then(b.gap().total_cmp(&a.gap())).then(a.engine.cmp(&b.engine)));

    let excluded = page.options.mate_policy == MatePolicy::Exclude;
    let mut table = Table::new(
        "ratio of the slopes, least squares to maximum likelihood",
        &[
            ("engine", Column::Text),
            ("samples", Column::Number),
            ("ratio", Column::Number),
            (if excluded { "ratio with mates kept" } else { "ratio without mates" }, Column::Number),
            ("in words", Column::Prose),
        ],
    );
    let ratio =
        |fits: &BothFits| fits.ratio.as_ref().map_or(DASH.to_owned(), |r| with_interval(r.value, (r.low, r.high), 2));
    let with_mates = |t: &InfluenceTable| t.rows.iter().find(|r| r.kind == Kind::Mates).map(|r| r.fits.clone());
    for t in &order {
        table.row([
            t.engine.clone(),
            thousands(t.all.samples),
            ratio(&t.all),
            with_mates(t).map_or("no mates".to_owned(), |f| ratio(&f)),
            t.verdict.clone(),
        ]);
    }
    out += &table.html();

    let mark = |e: &Estimate| ForestMark { value: e.value, low: e.low, high: e.high };
    let row = |t: &&InfluenceTable| ForestRow {
        label: t.engine.clone(),
        marks: vec![t.all.ratio.as_ref().map(mark), with_mates(t).and_then(|f| f.ratio).as_ref().map(mark)],
    };
    let overview = Forest {
        title: "Slope by least squares / slope by maximum likelihood".to_owned(),
        caption: format!(
            "{} of {} engines, the most apart first · 1: the fits agree",
            order.len().min(IN_FIGURE),
            order.len()
        ),
        axis: "ratio of the slopes w1".to_owned(),
        series: vec!["as fitted".to_owned(), if excluded { "with mates kept" } else { "without mates" }.to_owned()],
        rows: order.iter().take(IN_FIGURE).map(row).collect(),
        references: vec![(1.0, None)],
        limits: Some((0.4, 3.1)),
        notes: Vec::new(),
    };
    if let Ok(drawn) = forest(&overview, &page.plots()) {
        out += &figures(&[figure(&drawn)]);
    }
    out += &soft(
        "Groups are left out one at a time. Mates, where the fits leave them out already, are put in instead. A change \
         is a factor on the slope; its interval takes into account that both fits share their games.",
    );
    for (i, t) in order.iter().enumerate() {
        let body = engine(page, t)?;
        let rest = if t.differ { "the fits are apart" } else { "the fits are not apart" };
        let folded = folded(&t.engine, rest, &body);
        // what is worth a look stands open
        let open = i < UNFOLDED && (t.differ || t.mates_matter);
        out += &if open { folded.replacen("<details>", "<details open=\"open\">", 1) } else { folded };
    }
    Ok(out)
}

fn slope(slope: &Result<Slope, String>) -> String {
    match slope {
        Ok(s) => with_interval(1000.0 * s.w1, (1000.0 * s.low, 1000.0 * s.high), 3),
        Err(_) => "not fitted".to_owned(),
    }
}

fn label(row: &Row) -> String {
    if row.added { format!("+ {}", row.label) } else { format!("− {}", row.label) }
}

fn engine(page: &Page<'_>, t: &InfluenceTable) -> Result<String, PlotError> {
    let mut out = p(&t.verdict);
    let mut table = Table::new(
        "− without these samples, + with them",
        &[
            ("samples", Column::Text),
            ("in the group", Column::Number),
            ("fitted", Column::Number),
            ("LSE w1 · 1000", Column::Number),
            ("× change", Column::Number),
            ("MLE w1 · 1000", Column::Number),
            ("× change", Column::Number),
            ("ratio", Column::Number),
        ],
    );
    let change =
        |e: &Option<Estimate>| e.as_ref().map_or(DASH.to_owned(), |e| with_interval(e.value, (e.low, e.high), 2));
    let ratio = |fits: &BothFits| fits.ratio.as_ref().map_or(DASH.to_owned(), |r| number(r.value, 2));
    table.row([
        "all that are fitted".to_owned(),
        thousands(t.all.samples),
        thousands(t.all.samples),
        slope(&t.all.least_squares),
        DASH.to_owned(),
        slope(&t.all.maximum_likelihood),
        DASH.to_owned(),
        ratio(&t.all),
    ]);
    for (i, row) in t.rows.iter().enumerate() {
        let cells = [
            label(row),
            thousands(row.group),
            thousands(row.fits.samples),
            slope(&row.fits.least_squares),
            change(&row.least_squares_change),
            slope(&row.fits.maximum_likelihood),
            change(&row.maximum_likelihood_change),
            ratio(&row.fits),
        ];
        if t.driver == Some(i) { table.best_row(cells) } else { table.row(cells) }
    }
    out += &table.html();
    if !t.empty.is_empty() {
        out += &soft(&format!("No samples of this sort: {}.", t.empty.join("; ")));
    }
    let mark = |s: &Result<Slope, String>| {
        s.as_ref().ok().map(|s| ForestMark { value: 1000.0 * s.w1, low: 1000.0 * s.low, high: 1000.0 * s.high })
    };
    let marks = |fits: &BothFits| vec![mark(&fits.least_squares), mark(&fits.maximum_likelihood)];
    let mut rows = vec![ForestRow { label: "all that are fitted".to_owned(), marks: marks(&t.all) }];
    rows.extend(t.rows.iter().map(|r| ForestRow { label: label(r), marks: marks(&r.fits) }));
    let at = |s: &Result<Slope, String>, i| s.as_ref().ok().map(|s| (1000.0 * s.w1, Some(i)));
    let plot = Forest {
        title: format!("{}: what moves the slopes", t.engine),
        caption: format!("{} samples · 95% intervals · dashed: all that are fitted", thousands(t.all.samples)),
        axis: "w1 · 1000 (per centipawn)".to_owned(),
        series: vec!["least squares".to_owned(), "maximum likelihood".to_owned()],
        rows,
        references: [at(&t.all.least_squares, 0), at(&t.all.maximum_likelihood, 1)].into_iter().flatten().collect(),
        limits: None,
        notes: Vec::new(),
    };
    out += &figures(&[figure(&forest(&plot, &page.plots())?)]);
    if !t.games.is_empty() {
        let mut table = Table::new(
            "the games that move the ratio most, as far as a first-order estimate tells",
            &[
                ("game", Column::Text),
                ("line", Column::Number),
                ("ended by", Column::Text),
                ("result", Column::Number),
                ("scores sampled", Column::Text),
                ("ratio without it", Column::Number),
            ],
        );
        for game in &t.games {
            let scores: Vec<String> = game.scores_cp.iter().map(|s| format!("{s:+}")).collect();
            table.row([
                // folders and archives would fill the page
                game.source.rsplit(['/', '\\']).next().unwrap_or_default().to_owned(),
                thousands(game.line),
                game.termination.replace('_', " "),
                number(game.result, 1),
                scores.join(", "),
                format!("× {}", number(libm::exp(game.pull), 3)),
            ]);
        }
        out += &table.html();
    }
    Ok(out)
}
