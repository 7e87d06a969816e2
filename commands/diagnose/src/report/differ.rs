//! Do least squares and maximum likelihood differ?

use evalcurve_app::report::model::{Block, Table, p};
use evalcurve_app::report::text::{estimate, number, or_dash, thousands};
use evalcurve_figures::PlotError;
use evalcurve_words::{key, say};
use serde_json::json;

use super::{Report, Section};
use crate::two_fits::TwoFits;

pub(super) const SECTION: Section = Section {
    id: "differ",
    words: key!("Two fits?"),
    title: key!("Do the two fits differ?"),
    answers,
    values: |report| Some(json!(report.diagnosis.two_fits)),
    body,
};

fn answers(report: &Report<'_>) -> Vec<String> {
    let (fits, language) = (&report.diagnosis.two_fits, report.language);
    if fits.is_empty() {
        return Vec::new();
    }
    let apart: Vec<&TwoFits> = fits.iter().filter(|f| f.differ).collect();
    let mut text =
        say!(language, "least squares and maximum likelihood are apart for {} of {} engines", apart.len(), fits.len());
    if let Some(widest) = apart.iter().max_by(|a, b| a.gap().total_cmp(&b.gap())) {
        text += &say!(language, "; the furthest apart is {} (ratio {})", widest.engine, estimate(&widest.ratio, 2));
        if let Some(score) = contradicted(widest) {
            text += &say!(language, ", and the largest score that a result contradicts is {score}");
        }
    }
    vec![text]
}

/// The largest score that a result contradicts, with the place of its game.
fn contradicted(fits: &TwoFits) -> Option<String> {
    let found = fits.contradiction.as_ref()?;
    // the path of the folder or archive would fill the page
    let file = found.source.rsplit(['/', '\\']).next().unwrap_or_default();
    // positions of tables may have no line
    let line = if found.line > 0 { format!(":{}", found.line) } else { String::new() };
    Some(format!("{:+} ({file}{line})", found.score_cp))
}

fn body(report: &Report<'_>) -> Result<Vec<Block>, PlotError> {
    let mut order: Vec<&TwoFits> = report.diagnosis.two_fits.iter().collect();
    if order.is_empty() {
        return Ok(vec![p(report.word("No engine has both fits."))]);
    }
    // the widest gaps first
    order.sort_by(|a, b| b.differ.cmp(&a.differ).then(b.gap().total_cmp(&a.gap())).then(a.engine.cmp(&b.engine)));
    let caption = report.word("ratio of the slopes, least squares to maximum likelihood");
    let table = Table::new(report.language, caption, order)
        .text(report.word("engine"), |f| f.engine.clone())
        .number(report.word("samples"), |f| thousands(f.samples))
        .number(report.word("least squares w1 · 1000"), |f| number(1000.0 * f.least_squares, 3))
        .number(report.word("maximum likelihood w1 · 1000"), |f| number(1000.0 * f.maximum_likelihood, 3))
        .number(report.word("ratio"), |f| estimate(&f.ratio, 2))
        .number(report.word("largest score that a result contradicts"), |f| or_dash(contradicted(f), |score| score))
        .prose(report.word("why"), |f| f.cause.as_ref().map_or_else(String::new, |t| t.text(report.language)));
    Ok(vec![
        p(report.word(
            "Least squares forgives a few samples that are far off; maximum likelihood is governed by large scores \
             that contradict the result. Where their slopes differ, look at these games first.",
        )),
        table.into(),
    ])
}
