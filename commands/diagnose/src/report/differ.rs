//! Why do least squares and maximum likelihood differ? The samples that move both slopes.

use evalcurve_app::report::model::{Block, Table, folded, p, soft};
use evalcurve_app::report::text::{number, or_dash, thousands, with_interval};
use evalcurve_calibration::types::Termination;
use evalcurve_figures::{Figure, Forest, ForestMark, ForestRow, PlotError, forest};
use evalcurve_fit::calibration::MatePolicy;
use evalcurve_words::language::{Text, ToText};
use evalcurve_words::{key, say};
use serde_json::json;

use super::{Report, Section, UNFOLDED};
use crate::influence::{BothFits, Estimate, InfluenceTable, Kind, NamedGame, Row, Slope};

pub(super) const SECTION: Section = Section {
    id: "differ",
    words: key!("Two fits?"),
    title: key!("Why do the two fits differ?"),
    answers,
    values: |report| Some(json!(report.diagnosis.influence)),
    body,
};

/// The number of engines in the figure of all.
const IN_FIGURE: usize = 30;

fn answers(report: &Report<'_>) -> Vec<String> {
    let (tables, language) = (&report.diagnosis.influence, report.language);
    if tables.is_empty() {
        return Vec::new();
    }
    let apart: Vec<_> = tables.iter().filter(|t| t.differ).collect();
    let mut text = say!(
        language,
        "least squares and maximum likelihood are apart for {} of {} engines",
        apart.len(),
        tables.len()
    );
    let widest = apart.iter().max_by(|a, b| a.gap().total_cmp(&b.gap()));
    if let Some(t) = widest {
        let ratio = t.all.ratio.map(|r| with_interval(r.value, (r.low, r.high), 2));
        let ratio = ratio.map_or_else(String::new, |ratio| say!(language, " (ratio {ratio})"));
        text += &say!(language, "; the furthest apart is {}{ratio}", t.engine);
        let row = t.driver.and_then(|i| t.rows.get(i));
        text += &match row.map(|row| (row.group, row.label.text(language))) {
            Some((1, label)) => say!(language, ", by 1 sample: {label}"),
            Some((group, label)) => say!(language, ", by {group} samples: {label}"),
            None => say!(language, ", not by a single group: a sigmoid does not fit it well"),
        };
    }
    let moved = tables.iter().filter(|t| t.mates_matter).count();
    if moved > 0 {
        text += &say!(language, "; with mates kept they would differ for {moved}");
    }
    vec![text]
}

fn body(report: &Report<'_>) -> Result<Vec<Block>, PlotError> {
    let tables = &report.diagnosis.influence;
    if tables.is_empty() {
        return Ok(vec![p(report.word("No engine has both fits."))]);
    }
    let mut order: Vec<&InfluenceTable> = tables.iter().collect();
    // the engines that need attention first: the widest gaps, then those that mates would move
    let rank = |t: &InfluenceTable| (!t.differ, !t.mates_matter);
    order.sort_by(|a, b| rank(a).cmp(&rank(b)).then(b.gap().total_cmp(&a.gap())).then(a.engine.cmp(&b.engine)));
    let excluded = report.options.mate_policy == MatePolicy::Exclude;
    let other = match excluded {
        true => report.word("with mates kept"),
        false => report.word("without mates"),
    };
    let language = report.language;
    let no_mates = report.word("no mates");
    let with_interval = |fits: &BothFits| estimate(&fits.ratio);
    let caption = report.word("ratio of the slopes, least squares to maximum likelihood");
    let table = Table::new(language, caption, order.iter().copied())
        .text(report.word("engine"), |t| t.engine.clone())
        .number(report.word("samples"), |t| thousands(t.all.samples))
        .number(report.word("ratio"), |t| with_interval(&t.all))
        .number(&say!(language, "ratio {other}"), |t| with_mates(t).map_or(no_mates.to_owned(), with_interval))
        .prose(report.word("in words"), |t| t.verdict.text(language).to_owned());
    let mut out = vec![
        p(report.word(
            "Least squares forgives a few samples that are far off; maximum likelihood is governed by large scores \
             that contradict the result. Where their slopes differ, leaving out one group of samples after the other \
             shows which of them causes it.",
        )),
        table.into(),
    ];
    out.extend(overview(report, &order, other).ok().map(|drawn| Block::Figures(vec![drawn])));
    out.push(soft(report.word(
        "Groups are left out one at a time. Mates, where the fits leave them out already, are put in instead. A \
         change is a factor on the slope; its interval takes into account that both fits share their games. Lapses \
         are results that follow no score (model lapse); a group with a larger part of them than of the samples is \
         where to look for lost connections, losses on time and games that were cut.",
    )));
    for (i, t) in order.iter().enumerate() {
        let rest = match t.differ {
            true => report.word("the fits are apart"),
            false => report.word("the fits are not apart"),
        };
        let open = i < UNFOLDED && (t.differ || t.mates_matter);
        out.push(folded(&t.engine, rest, open, engine(report, t)?));
    }
    Ok(out)
}

/// The fits with mates treated the other way.
fn with_mates(t: &InfluenceTable) -> Option<&BothFits> {
    t.rows.iter().find(|r| r.kind == Kind::Mates).map(|r| &r.fits)
}

/// The ratios of all engines.
fn overview(report: &Report<'_>, order: &[&InfluenceTable], other: &str) -> Result<Figure, PlotError> {
    let mark = |e: &Estimate| ForestMark { value: e.value, low: e.low, high: e.high };
    let ratio = |fits: &BothFits| fits.ratio.as_ref().map(mark);
    let row = |t: &&InfluenceTable| ForestRow {
        label: t.engine.clone(),
        marks: vec![ratio(&t.all), with_mates(t).and_then(ratio)],
    };
    let (shown, all) = (order.len().min(IN_FIGURE), order.len());
    let plot = Forest {
        title: report.word("Slope by least squares / slope by maximum likelihood").to_owned(),
        caption: say!(report.language, "{} of {} engines, the most apart first · 1: the fits agree", shown, all),
        axis: report.word("ratio of the slopes w1").to_owned(),
        series: vec![report.word("as fitted").to_owned(), other.to_owned()],
        rows: order.iter().take(IN_FIGURE).map(row).collect(),
        references: vec![(1.0, None)],
        limits: Some((0.4, 3.1)),
        notes: Vec::new(),
    };
    forest(&plot, &report.plots())
}

fn estimate(e: &Option<Estimate>) -> String {
    or_dash(e.as_ref(), |e| with_interval(e.value, (e.low, e.high), 2))
}

fn slope(report: &Report<'_>, slope: &Result<Slope, Text>) -> String {
    match slope {
        Ok(s) => with_interval(1000.0 * s.w1, (1000.0 * s.low, 1000.0 * s.high), 3),
        Err(_) => report.word("not fitted").to_owned(),
    }
}

fn label(report: &Report<'_>, row: &Row) -> String {
    format!("{} {}", if row.added { "+" } else { "−" }, row.label.text(report.language))
}

/// The label of the fits of all samples.
fn all(report: &Report<'_>) -> String {
    report.word("all that are fitted").to_owned()
}

fn engine(report: &Report<'_>, t: &InfluenceTable) -> Result<Vec<Block>, PlotError> {
    // the first row has all samples, each other row one group more or less
    let rows = std::iter::once((None, None)).chain(t.rows.iter().enumerate().map(|(i, r)| (Some(i), Some(r))));
    fn fits<'a>(t: &'a InfluenceTable, row: Option<&'a Row>) -> &'a BothFits {
        row.map_or(&t.all, |r| &r.fits)
    }
    let language = report.language;
    let caption = report.word("− without these samples, + with them");
    let table = Table::new(language, caption, rows)
        .text(report.word("samples"), |(_, row)| row.map_or_else(|| all(report), |row| label(report, row)))
        .number(report.word("in the group"), |(_, row)| thousands(row.map_or(t.all.samples, |r| r.group)))
        .number(report.word("fitted"), |(_, row)| thousands(fits(t, *row).samples))
        .number(report.word("least squares w1 · 1000"), |(_, row)| slope(report, &fits(t, *row).least_squares))
        .number(report.word("× change"), |(_, row)| or_dash(*row, |r| estimate(&r.least_squares_change)))
        .number(report.word("maximum likelihood w1 · 1000"), |(_, row)| {
            slope(report, &fits(t, *row).maximum_likelihood)
        })
        .number(report.word("× change"), |(_, row)| or_dash(*row, |r| estimate(&r.maximum_likelihood_change)))
        .number(report.word("ratio"), |(_, row)| or_dash(fits(t, *row).ratio.as_ref(), |r| number(r.value, 2)))
        .number(report.word("of the lapses"), |(_, row)| match row {
            None => or_dash(t.lapses, |l| say!(language, "{:.1}% of all", 100.0 * l)),
            Some(row) => or_dash(row.lapses, |l| format!("{:.0}%", 100.0 * l)),
        })
        .best(|(i, _)| i.is_some() && t.driver == *i);
    let mut out = vec![p(t.verdict.text(language)), table.into()];
    let empty: Vec<String> = t.empty.iter().map(|label| label.text(language)).collect();
    if !empty.is_empty() {
        out.push(soft(say!(language, "No samples of this sort: {}.", empty.join("; "))));
    }
    out.push(Block::Figures(vec![forest(&slopes(report, t), &report.plots())?]));
    out.push(games(report, &t.games));
    Ok(out)
}

/// The slopes with each group left out or added.
fn slopes(report: &Report<'_>, t: &InfluenceTable) -> Forest {
    let mark = |s: &Result<Slope, Text>| {
        s.as_ref().ok().map(|s| ForestMark { value: 1000.0 * s.w1, low: 1000.0 * s.low, high: 1000.0 * s.high })
    };
    let row = |label: String, fits: &BothFits| ForestRow {
        label,
        marks: vec![mark(&fits.least_squares), mark(&fits.maximum_likelihood)],
    };
    let at = |s: &Result<Slope, Text>, i| s.as_ref().ok().map(|s| (1000.0 * s.w1, Some(i)));
    let all = std::iter::once(row(all(report), &t.all));
    Forest {
        title: say!(report.language, "{}: what moves the slopes", t.engine),
        caption: say!(
            report.language,
            "{} samples · 95% intervals · dashed: all that are fitted",
            thousands(t.all.samples)
        ),
        axis: report.word("w1 · 1000 (per centipawn)").to_owned(),
        series: vec![report.word("least squares").to_owned(), report.word("maximum likelihood").to_owned()],
        rows: all.chain(t.rows.iter().map(|r| row(label(report, r), &r.fits))).collect(),
        references: [at(&t.all.least_squares, 0), at(&t.all.maximum_likelihood, 1)].into_iter().flatten().collect(),
        limits: None,
        notes: Vec::new(),
    }
}

fn games(report: &Report<'_>, games: &[NamedGame]) -> Block {
    let language = report.language;
    let caption = language.word("the games that move the ratio most, by a first-order estimate");
    Table::new(language, caption, games)
        // the path of the folder or archive would fill the page
        .text(language.word("game"), |game| game.source.rsplit(['/', '\\']).next().unwrap_or_default().to_owned())
        .number(language.word("line"), |game| thousands(game.line))
        .text(language.word("ended by"), |game| match game.termination.parse::<Termination>() {
            Ok(termination) => termination.to_text().text(language),
            Err(_) => game.termination.replace('_', " "),
        })
        .number(language.word("result"), |game| number(game.result, 1))
        .text(language.word("scores sampled"), |game| {
            game.scores_cp.iter().map(|s| format!("{s:+}")).collect::<Vec<_>>().join(", ")
        })
        .number(language.word("ratio without it"), |game| format!("× {}", number(libm::exp(game.pull), 3)))
        .into()
}
