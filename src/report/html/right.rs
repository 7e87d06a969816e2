//! The section on proper scores out of sample.

use maud::{Markup, html};

use super::Page;
use super::markup::{Table, h3, p, soft};
use crate::calibrate::EngineResult;
use crate::diagnose::ModelScores;
use crate::diagnose::declared::DeclaredScores;
use crate::plot::{PlotError, reliability};
use crate::report::text::{DASH, estimate, model_name, number, or_dash, thousands};
use crate::say;
use crate::validate::{Estimate, ModelKind, Scores};

pub(super) fn section(page: &Page<'_>) -> Result<Markup, PlotError> {
    let drawn = page.engine_by_engine(|rank, index| {
        let Some(Some(found)) = page.diagnosis.reliability.get(index) else { return Ok(None) };
        reliability(&page.diagnosis.results[index].name, rank, found, &page.plots()).map(Some)
    })?;
    Ok(html! {
        (p(say!(
            page.language,
            "Games are dealt into {} folds, and every model forecasts the results of games that it was not fitted to. \
             Log loss is the mean of -ln of the win rate given to what happened: less is better, and a coin has ln 2 \
             = 0.693.",
            page.diagnosis.base.folds
        )))
        (models(page))
        (soft(page.word(
            "Where the rating difference helps, results depend on the opponent as much as on the score: compare \
             engines by the strength-adjusted model if your engines met opponents of different strength.",
        )))
        (h3(page.word("Engine by engine")))
        (p(page.word(
            "The Brier score is miscalibration (what a better curve would gain) minus discrimination (what the scores \
             reveal) plus uncertainty (what results vary). The slope of the results on the forecast logit is 1 where \
             forecasts are right; below 1 they are too bold, above 1 too timid. An intercept below 0 means that they \
             are too hopeful. Miscalibration and discrimination can only err upwards; their intervals correct for \
             that and may lie below the number.",
        )))
        (engines(page))
        @if !page.diagnosis.declared.is_empty() {
            (h3(page.word("Declared wins, draws and losses")))
            (p(page.word(
                "Some engines print their own rates of wins, draws and losses. They are scored like the calibration, \
                 on the samples that have them: the win rate is the wins and half of the draws. The calibration \
                 forecasts games that it was not fitted to. A difference above 0 means that the calibration is \
                 better. Declared rates are between equals, and the calibration knows how strong the opponents of \
                 these records were: against weaker ones the intercept is above 0. A slope below 1 has no such \
                 excuse: these rates are too bold.",
            )))
            (declared(page))
        }
        @if !drawn.0.is_empty() {
            (soft(page.word(
                "Where the line leaves the band, forecasts of that size are wrong beyond chance.",
            )))
        }
        (drawn)
    })
}

/// The log loss of every model over all engines, the best first.
fn models(page: &Page<'_>) -> Markup {
    let (chosen, language) = (page.options.model, page.language);
    let name = move |kind: ModelKind| model_name(kind, language);
    let mut models: Vec<&ModelScores> = page.diagnosis.models.iter().collect();
    let loss = |m: &ModelScores| m.log_loss.as_ref().map_or(f64::INFINITY, |e| e.value);
    models.sort_by(|a, b| loss(a).total_cmp(&loss(b)));
    let reason = |m: &&ModelScores| {
        let why = m.log_loss.as_ref().err()?.text(language);
        Some(format!("{}: {why}.", name(m.kind)))
    };
    let failed: Vec<String> = models.iter().filter_map(reason).collect();
    let scored = models.into_iter().filter_map(|m| Some((m, m.log_loss.as_ref().ok()?)));
    let caption = say!(language, "all engines together; {} is what this run calibrates with", name(chosen));
    let table = Table::new(language, caption, scored)
        .text(page.word("model"), move |(m, _)| name(m.kind).to_owned())
        .number(page.word("samples"), |(m, _)| thousands(m.samples))
        .number(page.word("log loss"), |(_, loss)| estimate(loss, 4))
        .number(page.word("against the chosen one"), |(m, _)| {
            or_dash(m.behind_chosen.filter(|_| m.kind != chosen), |e| signed(&e))
        })
        .best(|(m, _)| m.kind == chosen);
    html! {
        (table)
        @if !failed.is_empty() {
            (soft(say!(
                language,
                "Not scored, because not every engine has a fit. {}",
                failed.join(" ")
            )))
        }
    }
}

/// The scores of the chosen model for every engine.
fn engines<'a>(page: &Page<'a>) -> Table<'a, (&'a EngineResult, Option<&'a Scores>)> {
    type Row<'a> = (&'a EngineResult, Option<&'a Scores>);
    fn cell<'a>(show: impl Fn(&Scores) -> Option<String> + 'a) -> impl Fn(&Row<'_>) -> String + 'a {
        move |(_, scores)| or_dash(scores.and_then(&show), |shown| shown)
    }
    let calibrated = page.results_by_size().into_iter().filter(|r| r.calibration.is_some());
    Table::new(
        page.language,
        page.word("forecasts of unseen games by the chosen model"),
        calibrated.map(|r| (r, r.validated.as_ref().map(|v| &v.scores))),
    )
    .text(page.word("engine"), |(r, _)| r.name.clone())
    .number(page.word("samples"), cell(|s| Some(thousands(s.samples))))
    .number(page.word("log loss"), cell(|s| Some(estimate(&s.log_loss, 3))))
    .number(page.word("slope"), cell(|s| Some(estimate(&s.slope?, 2))))
    .number(page.word("intercept"), cell(|s| Some(estimate(&s.intercept?, 2))))
    .number(page.word("calibration error"), cell(|s| Some(estimate(&s.ece, 3))))
    .number(page.word("Spiegelhalter z"), cell(|s| Some(number(s.spiegelhalter?.z_clustered, 2))))
    .number("Brier", cell(|s| Some(estimate(&s.brier, 3))))
    .number(page.word("miscalibration"), cell(|s| Some(estimate(&s.decomposition.miscalibration, 4))))
    .number(page.word("discrimination"), cell(|s| Some(estimate(&s.decomposition.discrimination, 3))))
    .number(page.word("uncertainty"), cell(|s| Some(estimate(&s.decomposition.uncertainty, 3))))
}

/// The rates that engines declare beside their calibrations.
fn declared<'a>(page: &Page<'a>) -> Table<'a, &'a DeclaredScores> {
    Table::new(
        page.language,
        page.word("declared rates and the chosen model on the same samples"),
        page.diagnosis.declared.iter(),
    )
    .text(page.word("engine"), |d| d.engine.clone())
    .number(page.word("samples"), |d| thousands(d.declared.samples))
    .number(page.word("log loss declared"), |d| estimate(&d.declared.log_loss, 4))
    .number(page.word("calibrated"), |d| estimate(&d.calibrated.log_loss, 4))
    .number(page.word("difference"), |d| signed(&d.difference))
    .number(page.word("Brier declared"), |d| estimate(&d.declared.brier, 4))
    .number(page.word("calibrated"), |d| estimate(&d.calibrated.brier, 4))
    .number(page.word("slope declared"), |d| or_dash(d.declared.slope, |e| estimate(&e, 2)))
    .number(page.word("intercept declared"), |d| or_dash(d.declared.intercept, |e| estimate(&e, 2)))
    .number(page.word("miscalibration declared"), |d| estimate(&d.declared.decomposition.miscalibration, 4))
    .number(page.word("draws declared − seen"), |d| signed(&d.draws))
    .number(page.word("draws seen"), |d| number(d.draws_seen, 3))
}

/// `+0.0123 [+0.0100, +0.0150]`
fn signed(e: &Estimate) -> String {
    let one = |v: f64| if v > 0.0 { format!("+{}", number(v, 4)) } else { number(v, 4) };
    match e.interval {
        Some([low, high]) => format!("{} [{}, {}]", one(e.value), one(low), one(high)),
        None => format!("{} [{DASH}]", one(e.value)),
    }
}
