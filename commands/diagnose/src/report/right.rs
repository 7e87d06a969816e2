//! The section on proper scores out of sample.

use evalcurve_app::calibrate::EngineResult;
use evalcurve_app::report::model::{Block, Table, h3, p, soft};
use evalcurve_app::report::text::{DASH, estimate, model_name, number, or_dash, thousands};
use evalcurve_figures::{PlotError, reliability};
use evalcurve_fit::validate::{Estimate, ModelKind, Reliability, Scores};
use evalcurve_words::language::Language;
use evalcurve_words::{key, say};
use serde_json::{Value, json};

use super::{Report, Section};
use crate::ModelScores;
use crate::declared::DeclaredScores;

pub(super) const SECTION: Section = Section {
    id: "right",
    words: key!("Is it right?"),
    title: key!("Is it right?"),
    answers: |report| [forecasts(report), declared(report)].into_iter().flatten().collect(),
    values,
    body,
};

/// How good the forecasts are.
fn forecasts(report: &Report<'_>) -> Option<String> {
    let (diagnosis, language) = (report.diagnosis, report.language);
    let of = |kind: ModelKind| diagnosis.models.iter().find(|m| m.kind == kind);
    let loss = |kind: ModelKind| of(kind)?.log_loss.as_ref().ok().copied();
    let chosen = diagnosis.base.model;
    let own = estimate(&loss(chosen)?, 3);
    let mut text = say!(language, "log loss on unseen games {own}");
    if let Some(alone) = loss(ModelKind::MaximumLikelihood).filter(|_| chosen.knows_players()) {
        let alone = number(alone.value, 3);
        text += &say!(language, ", by the score alone {alone}");
    }
    let value = |kind| Some(number(loss(kind)?.value, 3));
    if let Some(shared) = value(ModelKind::Shared600) {
        text += &say!(language, ", with the shared 600 {shared}");
    }
    if let Some(shared) = value(ModelKind::Lichess) {
        text += &say!(language, ", with lichess's curve {shared}");
    }
    let best = diagnosis.models.iter().filter_map(|m| Some((m, m.log_loss.as_ref().ok()?.value)));
    if let Some((best, value)) = best.min_by(|a, b| a.1.total_cmp(&b.1)).filter(|b| b.0.kind != chosen) {
        let (value, name) = (number(value, 3), model_name(best.kind, language));
        text += &say!(language, "; the best is {value} ({name})");
    }
    let judged = diagnosis.results.iter().filter_map(|r| r.validated.as_ref()?.scores.slope?.interval);
    let (wrong, all) = judged.fold((0, 0), |(w, a), [low, high]| (w + u32::from(low > 1.0 || high < 1.0), a + 1));
    if all > 0 {
        text += &say!(language, "; calibration slope off 1 for {wrong} of {all} engines");
    }
    Some(text)
}

/// What the rates are worth that engines declare: the engine with the most samples, and how many there are.
fn declared(report: &Report<'_>) -> Option<String> {
    let (all, language) = (&report.diagnosis.declared, report.language);
    let largest = all.iter().max_by_key(|d| (d.declared.samples, std::cmp::Reverse(&d.engine)))?;
    let of = |better: Option<bool>| all.iter().filter(|d| d.calibration_is_better() == better).count();
    let words = declared_words(largest, language);
    let mut text = say!(language, "W/D/L that {0} declares: {1}", largest.engine, words);
    if all.len() > 1 {
        text += &say!(
            language,
            "; of {} engines that declare W/D/L, the calibration is better for {}, W/D/L for {}",
            all.len(),
            of(Some(true)),
            of(Some(false))
        );
    }
    Some(text)
}

/// `log loss 0.412 [0.401, 0.423], slope …, by its calibration 0.398 […]: the calibration is better (difference …); …`
fn declared_words(found: &DeclaredScores, language: Language) -> String {
    let better = match found.calibration_is_better() {
        Some(true) => language.word("the calibration is better"),
        Some(false) => language.word("W/D/L is better"),
        None => language.word("no difference seen"),
    };
    let slope =
        found.declared.slope.map_or_else(String::new, |slope| say!(language, ", slope {}", estimate(&slope, 2)));
    say!(
        language,
        "log loss {}{slope}, by its calibration {}: {better} (difference {}); draws {:.1}% declared, {:.1}% seen",
        estimate(&found.declared.log_loss, 3),
        estimate(&found.calibrated.log_loss, 3),
        estimate(&found.difference, 4),
        100.0 * (found.draws.value + found.draws_seen),
        100.0 * found.draws_seen
    )
}

fn values(report: &Report<'_>) -> Option<Value> {
    let found = report.diagnosis;
    let reliability = |(r, diagram): (&EngineResult, &Option<Reliability>)| {
        Some(json!({ "engine": r.name, "pools": diagram.as_ref()?.pools }))
    };
    let model = |m: &ModelScores| {
        json!({
            "model": m.kind.as_str(),
            "samples": m.samples,
            "log_loss": m.log_loss.as_ref().ok(),
            "behind_chosen": m.behind_chosen,
            "error": m.log_loss.as_ref().err(),
        })
    };
    Some(json!({
        "models": found.models.iter().map(model).collect::<Vec<_>>(),
        "declared": found.declared,
        "reliability": found.results.iter().zip(&found.reliability).filter_map(reliability).collect::<Vec<_>>(),
    }))
}

fn body(report: &Report<'_>) -> Result<Vec<Block>, PlotError> {
    let mut out = vec![p(say!(
        report.language,
        "Games are dealt into {} folds, and every model forecasts the results of games that it was not fitted to. \
         Log loss is the mean of -ln of the win rate given to what happened: less is better, and a coin has ln 2 = \
         0.693.",
        report.diagnosis.base.folds
    ))];
    out.extend(models(report));
    out.extend([
        soft(report.word(
            "Where the rating difference helps, results depend on the opponent as much as on the score: compare \
             engines by `model` joint if your engines met opponents of different strength.",
        )),
        h3(report.word("Engine by engine")),
        p(report.word(
            "The Brier score is miscalibration (what a better curve would gain) minus discrimination (what the scores \
             reveal) plus uncertainty (what results vary). The slope of the results on the forecast logit is 1 where \
             forecasts are right; below 1 they are too bold, above 1 too timid. An intercept below 0 means that they \
             are too hopeful. Miscalibration and discrimination can only err upwards; their intervals correct for \
             that and may lie below the number.",
        )),
        engines(report),
    ]);
    if !report.diagnosis.declared.is_empty() {
        out.extend([
            h3(report.word("Declared wins, draws and losses")),
            p(report.word(
                "Some engines print their own rates of wins, draws and losses. They are scored like the calibration, \
                 on the samples that have them: the win rate is the wins and half of the draws. The calibration \
                 forecasts games that it was not fitted to. A difference above 0 means that the calibration is \
                 better. Declared rates are between equals, and the calibration knows how strong the opponents of \
                 these records were: against weaker ones the intercept is above 0. A slope below 1 has no such \
                 excuse: these rates are too bold.",
            )),
            declared_rates(report),
        ]);
    }
    let drawn = report.engine_by_engine(|rank, index| {
        let Some(Some(found)) = report.diagnosis.reliability.get(index) else { return Ok(None) };
        reliability(&report.diagnosis.results[index].name, rank, found, true, &report.plots()).map(Some)
    })?;
    if !drawn.is_empty() {
        out.push(soft(report.word("Where the line leaves the band, forecasts of that size are wrong beyond chance.")));
    }
    out.extend(drawn);
    Ok(out)
}

/// The log loss of every model over all engines, the best first.
fn models(report: &Report<'_>) -> Vec<Block> {
    let (chosen, language) = (report.options.model, report.language);
    let name = move |kind: ModelKind| model_name(kind, language);
    let mut models: Vec<&ModelScores> = report.diagnosis.models.iter().collect();
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
        .text(report.word("model"), |(m, _)| name(m.kind).to_owned())
        .number(report.word("samples"), |(m, _)| thousands(m.samples))
        .number(report.word("log loss"), |(_, loss)| estimate(loss, 4))
        .number(report.word("against the chosen one"), |(m, _)| {
            or_dash(m.behind_chosen.filter(|_| m.kind != chosen), |e| signed(&e))
        })
        .best(|(m, _)| m.kind == chosen);
    let mut out = vec![table.into()];
    if !failed.is_empty() {
        let failed = failed.join(" ");
        out.push(soft(say!(language, "Not scored, because not every engine has a fit. {}", failed)));
    }
    out
}

/// The scores of the chosen model for every engine.
fn engines(report: &Report<'_>) -> Block {
    type Row<'a> = (&'a EngineResult, Option<&'a Scores>);
    fn cell(show: impl Fn(&Scores) -> Option<String>) -> impl Fn(&Row<'_>) -> String {
        move |(_, scores)| or_dash(scores.and_then(&show), |shown| shown)
    }
    let calibrated = report.results_by_size().into_iter().filter(|r| r.calibration.is_some());
    Table::new(
        report.language,
        report.word("forecasts of unseen games by the chosen model"),
        calibrated.map(|r| (r, r.validated.as_ref().map(|v| &v.scores))),
    )
    .text(report.word("engine"), |(r, _)| r.name.clone())
    .number(report.word("samples"), cell(|s| Some(thousands(s.samples))))
    .number(report.word("log loss"), cell(|s| Some(estimate(&s.log_loss, 3))))
    .number(report.word("slope"), cell(|s| Some(estimate(&s.slope?, 2))))
    .number(report.word("intercept"), cell(|s| Some(estimate(&s.intercept?, 2))))
    .number(report.word("calibration error"), cell(|s| Some(estimate(&s.ece, 3))))
    .number(report.word("Spiegelhalter z"), cell(|s| Some(number(s.spiegelhalter?.z_clustered, 2))))
    .number("Brier", cell(|s| Some(estimate(&s.brier, 3))))
    .number(report.word("miscalibration"), cell(|s| Some(estimate(&s.decomposition.miscalibration, 4))))
    .number(report.word("discrimination"), cell(|s| Some(estimate(&s.decomposition.discrimination, 3))))
    .number(report.word("uncertainty"), cell(|s| Some(estimate(&s.decomposition.uncertainty, 3))))
    .into()
}

/// The rates that engines declare beside their calibrations.
fn declared_rates(report: &Report<'_>) -> Block {
    Table::new(
        report.language,
        report.word("declared rates and the chosen model on the same samples"),
        report.diagnosis.declared.iter(),
    )
    .text(report.word("engine"), |d| d.engine.clone())
    .number(report.word("samples"), |d| thousands(d.declared.samples))
    .number(report.word("log loss declared"), |d| estimate(&d.declared.log_loss, 4))
    .number(report.word("calibrated"), |d| estimate(&d.calibrated.log_loss, 4))
    .number(report.word("difference"), |d| signed(&d.difference))
    .number(report.word("Brier declared"), |d| estimate(&d.declared.brier, 4))
    .number(report.word("calibrated"), |d| estimate(&d.calibrated.brier, 4))
    .number(report.word("slope declared"), |d| or_dash(d.declared.slope, |e| estimate(&e, 2)))
    .number(report.word("intercept declared"), |d| or_dash(d.declared.intercept, |e| estimate(&e, 2)))
    .number(report.word("miscalibration declared"), |d| estimate(&d.declared.decomposition.miscalibration, 4))
    .number(report.word("draws declared − seen"), |d| signed(&d.draws))
    .number(report.word("draws seen"), |d| number(d.draws_seen, 3))
    .into()
}

/// `+0.0123 [+0.0100, +0.0150]`
fn signed(e: &Estimate) -> String {
    let one = |v: f64| if v > 0.0 { format!("+{}", number(v, 4)) } else { number(v, 4) };
    match e.interval {
        Some([low, high]) => format!("{} [{}, {}]", one(e.value), one(low), one(high)),
        None => format!("{} [{DASH}]", one(e.value)),
    }
}
