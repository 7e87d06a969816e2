//! The section on proper scores out of sample.

use super::markup::{Column, DASH, Table, figure, figures, folded, h3, number, p, soft};
use super::{Page, UNFOLDED, engine_line};
use crate::plot::{PlotError, reliability};
use crate::report::text::thousands;
use crate::report::verdict::estimate;
use crate::validate::Estimate;

pub(super) fn section(page: &Page<'_>) -> Result<String, PlotError> {
    let base = &page.diagnosis.base;
    let chosen = page.options.model;
    let mut out = p(&format!(
        "Games are assigned to {} folds; every model forecasts the results of games that it was not fitted to. Log loss \
         is the mean of -ln of the probability given to the outcome: less is better, and always forecasting 50% gives ln 2 = 0.693.",
        base.folds
    ));
    let mut models: Vec<_> = page.diagnosis.models.iter().collect();
    let loss = |m: &crate::diagnose::ModelScores| m.log_loss.as_ref().map_or(f64::INFINITY, |e| e.value);
    models.sort_by(|a, b| loss(a).total_cmp(&loss(b)));
    let caption = format!("all engines together; {} is what this run calibrates with", chosen.label());
    let mut table = Table::new(
        &caption,
        &[
            ("model", Column::Text),
            ("samples", Column::Number),
            ("log loss", Column::Number),
            ("against the chosen one", Column::Number),
        ],
    );
    let mut failed = Vec::new();
    for model in models {
        match &model.log_loss {
            Err(why) => failed.push(format!("{}: {why}.", model.kind.label())),
            Ok(loss) => {
                let cells = [
                    model.kind.label().to_owned(),
                    thousands(model.samples),
                    estimate(loss, 4),
                    model.behind_chosen.map_or(DASH.to_owned(), |e| signed(&e)),
                ];
                if model.kind == chosen { table.best_row(cells) } else { table.row(cells) }
            }
        }
    }
    out += &table.html();
    if !failed.is_empty() {
        out += &soft(&format!("Not scored, since not every engine has a fit. {}", failed.join(" ")));
    }
    out += &soft(
        "Where the rating difference helps, results depend on the opponent as much as on the score: compare engines by \
         the strength-adjusted model if your engines met opponents of different strength.",
    );

    out += &h3("Engine by engine");
    out += &p(
        "The Brier score is miscalibration (what a better curve would gain) minus discrimination (the information in \
         the scores) plus uncertainty (the variance of the results). The slope of the results on the forecast logit is 1 where forecasts are \
         right; below 1 they are too bold, above 1 too timid. An intercept below 0 means too optimistic. Miscalibration and \
         discrimination can only err upwards; their intervals take that out and may lie below the number.",
    );
    let mut table = Table::new(
        "forecasts of unseen games by the chosen model",
        &[
            ("engine", Column::Text),
            ("samples", Column::Number),
            ("log loss", Column::Number),
            ("slope", Column::Number),
            ("intercept", Column::Number),
            ("calibration error", Column::Number),
            ("Spiegelhalter z", Column::Number),
            ("Brier", Column::Number),
            ("miscalibration", Column::Number),
            ("discrimination", Column::Number),
            ("uncertainty", Column::Number),
        ],
    );
    let optional = |e: Option<Estimate>, decimals| e.map_or(DASH.to_owned(), |e| estimate(&e, decimals));
    for result in page.diagnosis.results.iter().filter(|r| r.calibration.is_some()) {
        let Some(validated) = &result.validated else {
            table.row([result.name.as_str(), DASH]);
            continue;
        };
        let scores = &validated.scores;
        let parts = &scores.decomposition;
        table.row([
            result.name.clone(),
            thousands(scores.samples),
            estimate(&scores.log_loss, 3),
            optional(scores.slope, 2),
            optional(scores.intercept, 2),
            estimate(&scores.ece, 3),
            scores.spiegelhalter.map_or(DASH.to_owned(), |s| number(s.z_clustered, 2)),
            estimate(&scores.brier, 3),
            estimate(&parts.miscalibration, 4),
            estimate(&parts.discrimination, 3),
            estimate(&parts.uncertainty, 3),
        ]);
    }
    out += &table.html();

    let (mut shown, mut rest) = (Vec::new(), Vec::new());
    for (rank, index) in page.by_size().into_iter().enumerate() {
        let result = &page.diagnosis.results[index];
        let Some(Some(found)) = page.diagnosis.reliability.get(index) else { continue };
        let drawn = figure(&reliability(&result.name, rank, found, &page.plots())?);
        if rank < UNFOLDED {
            shown.push(drawn);
        } else {
            rest.push(folded(&result.name, &engine_line(result), &figures(&[drawn])));
        }
    }
    if !shown.is_empty() {
        out += &soft("Where the line leaves the band, forecasts of that size are wrong beyond chance.");
    }
    out += &figures(&shown);
    out += &rest.concat();
    Ok(out)
}

/// `+0.0123 [+0.0100, +0.0150]`
fn signed(e: &Estimate) -> String {
    let one = |v: f64| if v > 0.0 { format!("+{}", number(v, 4)) } else { number(v, 4) };
    match e.interval {
        Some([low, high]) => format!("{} [{}, {}]", one(e.value), one(low), one(high)),
        None => one(e.value),
    }
}
