//! Figures of calibrations that know more than the score. Of one that separates wins, draws and losses: the shares by
//! score, a and b by stage, the scores of equal shares by stage, and what was seen against what was fitted.

use std::sync::Arc;

use evalcurve_app::calibrate::{CalibrateOptions, EngineResult, cases};
use evalcurve_calibration::logistic::logit;
use evalcurve_calibration::types::Outcome;
use evalcurve_figures::{Figure, PlotError, PlotOptions, RateChart, RateLine, rate_chart};
use evalcurve_fit::calibration::{Calibration, Estimate, Reading, Situation, WdlEstimate, file_stems};
use evalcurve_fit::curve::{Z_95, wilson};
use evalcurve_fit::fit::{Case, Model, StageUnit, Wdl, WdlRates};
use evalcurve_fit::validate::mean_by_game;
use evalcurve_records::sample::SampleTable;
use evalcurve_words::language::Language;
use evalcurve_words::say;

use super::drawings::Drawing;
use super::people_figures;

/// Points of a line.
const POINTS: usize = 240;

/// Every how many points a bar is drawn.
const BAR_EVERY: usize = 20;

/// A line through values with the ends of their intervals.
pub fn line(
    name: &str,
    color: usize,
    (low, high): (f64, f64),
    value: impl Fn(f64) -> (f64, Option<[f64; 2]>),
) -> RateLine {
    let point = |i: usize| {
        let x = low + (high - low) * i as f64 / POINTS as f64;
        let (value, ends) = value(x);
        (x, value, ends)
    };
    RateLine { name: name.to_owned(), color, points: (0..=POINTS).map(point).collect(), seen: Vec::new() }
}

fn at(unit: StageUnit, stage: f64) -> Situation {
    let stage = Some(stage.round() as u32);
    match unit {
        StageUnit::Ply => Situation { ply: stage, ..Situation::default() },
        StageUnit::Material => Situation { material: stage, ..Situation::default() },
    }
}

/// Wins, draws and losses by score at the stage to which a and b refer.
fn shares(calibration: &Calibration, wdl: &Wdl, options: &PlotOptions) -> Result<Figure, PlotError> {
    let language = options.language;
    let situation = at(wdl.stage, wdl.stage.target());
    let (a, b) = wdl.a_and_b(wdl.stage.target());
    let range = (a + 6.0 * b).min(options.score_limit_cp.unwrap_or(f64::INFINITY));
    let step = 2.0 * range / POINTS as f64;
    let share = |pick: fn(WdlEstimate) -> Estimate| {
        move |x: f64| {
            let Some(found) = calibration.wdl(Reading::Equal, x, &situation).map(pick) else { return (f64::NAN, None) };
            let has_bar = ((x + range) / step).round() as usize % BAR_EVERY == BAR_EVERY / 2;
            (found.value, found.interval.filter(|_| has_bar))
        }
    };
    let chart = RateChart {
        title: say!(language, "{}: wins, draws and losses", calibration.engine.name),
        caption: say!(language, "at {} {}; bars: 95% intervals", stage_name(wdl.stage, language), wdl.stage.target()),
        x_name: score_axis(language),
        y_name: say!(language, "share"),
        lines: vec![
            line(language.word("win"), 0, (-range, range), share(|w| w.win)),
            line(language.word("draw"), 1, (-range, range), share(|w| w.draw)),
            line(language.word("loss"), 2, (-range, range), share(|w| w.loss)),
        ],
        notes: Vec::new(),
    };
    rate_chart(&chart, options)
}

/// a and b by stage.
fn parameters(calibration: &Calibration, wdl: &Wdl, options: &PlotOptions) -> Result<Figure, PlotError> {
    let of = |pick: fn((Estimate, Estimate)) -> Estimate, end: Option<usize>| {
        move |stage: f64| {
            let found = calibration.a_and_b(stage).map(pick);
            let value = found.and_then(|e| end.map_or(Some(e.value), |end| e.interval.map(|ends| ends[end])));
            (value.unwrap_or(f64::NAN), None)
        }
    };
    let range = (f64::from(wdl.from_stage), f64::from(wdl.to_stage));
    let language = options.language;
    let (upper, lower) = (language.word(", upper end"), language.word(", lower end"));
    let ends = [("", None), (upper, Some(1)), (lower, Some(0))];
    let lines = |name: &str, color: usize, pick: fn((Estimate, Estimate)) -> Estimate| {
        ends.map(|(end, index)| line(&format!("{name}{end}"), color, range, of(pick, index)))
    };
    let with_values = |line: &RateLine| line.points.iter().any(|p| p.1.is_finite());
    let chart = RateChart {
        title: say!(language, "{}: a and b by {}", calibration.engine.name, stage_name(wdl.stage, language)),
        caption: say!(
            language,
            "a: the score that wins half of the games; b: the spread; with the ends of their 95% intervals"
        ),
        x_name: stage_name(wdl.stage, language).to_owned(),
        y_name: say!(language, "centipawns"),
        lines: [lines("a", 0, |both| both.0), lines("b", 1, |both| both.1)]
            .concat()
            .into_iter()
            .filter(with_values)
            .collect(),
        notes: Vec::new(),
    };
    rate_chart(&chart, options)
}

/// The name of the axis of scores.
pub fn score_axis(language: Language) -> String {
    say!(language, "score (centipawns, side to move)")
}

/// The name of the axis of stages.
fn stage_name(unit: StageUnit, language: Language) -> &'static str {
    match unit {
        StageUnit::Ply => language.word("ply"),
        StageUnit::Material => language.word("material"),
    }
}

/// The shares whose scores are drawn by stage.
const LEVELS: [f64; 5] = [0.95, 0.75, 0.5, 0.25, 0.05];

/// The scores at which wins, or losses, have equal shares at every stage.
fn contours(calibration: &Calibration, wdl: &Wdl, options: &PlotOptions) -> Result<Figure, PlotError> {
    let range = (f64::from(wdl.from_stage), f64::from(wdl.to_stage));
    let contour = |word: &str, color: usize, sign: f64, share: f64| {
        let score = |stage: f64| {
            let (a, b) = wdl.a_and_b(stage);
            (sign * (a + b * logit(share)), None)
        };
        line(&format!("{word} {:.0}%", 100.0 * share), color, range, score)
    };
    let language = options.language;
    let wins = LEVELS.map(|share| contour(language.word("win"), 0, 1.0, share));
    let losses = LEVELS.map(|share| contour(language.word("loss"), 2, -1.0, share));
    let chart = RateChart {
        title: say!(language, "{}: scores of equal shares", calibration.engine.name),
        caption: say!(
            language,
            "on a line, wins or losses have the share beside it; between the lines of 50%, draws prevail"
        ),
        x_name: stage_name(wdl.stage, language).to_owned(),
        y_name: score_axis(language),
        lines: wins.into_iter().chain(losses.into_iter().rev()).collect(),
        notes: Vec::new(),
    };
    rate_chart(&chart, options)
}

/// Parts of the samples by stage.
const PARTS: usize = 3;
/// Bins of the scores of a part.
const BINS: usize = 24;
/// A bin with fewer samples is not drawn.
const FEWEST: usize = 20;

/// The mean score of samples, and the share of them with an outcome, with its interval clustered by game; `None` for
/// too few.
fn seen_share(inside: &[&Case], outcome: Outcome) -> Option<(f64, f64, [f64; 2])> {
    let mut values: Vec<(u64, f64)> =
        inside.iter().map(|c| (c.game, f64::from(u8::from(c.outcome == outcome)))).collect();
    values.sort_by_key(|(game, _)| *game);
    let share = mean_by_game(&values).filter(|_| values.len() >= FEWEST)?;
    let score = inside.iter().map(|c| f64::from(c.score_cp)).sum::<f64>() / inside.len() as f64;
    let p = share.value;
    // as many independent samples as would give the clustered standard error; without one, the games
    let games = values.chunk_by(|x, y| x.0 == y.0).count() as f64;
    let independent = share.standard_error().filter(|e| *e > 0.0).map_or(games, |e| p * (1.0 - p) / (e * e));
    let n = independent.clamp(1.0, values.len() as f64);
    let (low, high) = wilson(p * n, n, Z_95);
    Some((score, p, [low, high]))
}

/// The share of an outcome that was seen and that was fitted, by score, in parts of about the same number of samples by
/// stage.
fn seen_and_fitted(
    calibration: &Calibration,
    wdl: &Wdl,
    cases: &[Case],
    outcome: Outcome,
    options: &PlotOptions,
) -> Result<Figure, PlotError> {
    let language = options.language;
    let (a, b) = wdl.a_and_b(wdl.stage.target());
    let range = (a + 6.0 * b).min(options.score_limit_cp.unwrap_or(f64::INFINITY));
    let mut cases: Vec<&Case> = cases.iter().filter(|c| f64::from(c.score_cp).abs() <= range).collect();
    // stable: the order of equal stages is that of the samples
    cases.sort_by(|x, y| wdl.stage_of(&x.situation).total_cmp(&wdl.stage_of(&y.situation)));
    let of = |rates: WdlRates| match outcome {
        Outcome::Win => rates.win,
        Outcome::Draw => rates.draw,
        Outcome::Loss => rates.loss,
    };
    let part = |(color, part): (usize, &[&Case])| {
        let stages: Vec<f64> = part.iter().map(|c| wdl.stage_of(&c.situation)).collect();
        let (first, last) = (stages.first().copied().unwrap_or(0.0), stages.last().copied().unwrap_or(0.0));
        // the stages of the samples, each once with its number
        let counts: Vec<(f64, usize)> = stages.chunk_by(|x, y| x == y).map(|c| (c[0], c.len())).collect();
        let fitted = |x: f64| {
            let of = |&(stage, count): &(f64, usize)| count as f64 * of(wdl.rates(x, &at(wdl.stage, stage)));
            (counts.iter().map(of).sum::<f64>() / stages.len() as f64, None)
        };
        let bin = |c: &Case| (((f64::from(c.score_cp) + range) / (2.0 * range) * BINS as f64) as usize).min(BINS - 1);
        let seen = |of_bin: usize| {
            let inside: Vec<&Case> = part.iter().copied().filter(|c| bin(c) == of_bin).collect();
            seen_share(&inside, outcome)
        };
        let stage = stage_name(wdl.stage, language);
        let name = say!(language, "{stage} {first:.0} to {last:.0}");
        RateLine { seen: (0..BINS).filter_map(seen).collect(), ..line(&name, color, (-range, range), fitted) }
    };
    let word = match outcome {
        Outcome::Win => language.word("wins"),
        Outcome::Draw => language.word("draws"),
        Outcome::Loss => language.word("losses"),
    };
    let size = cases.len().div_ceil(PARTS).max(1);
    let chart = RateChart {
        title: say!(language, "{}: {word} seen and fitted", calibration.engine.name),
        caption: say!(language, "lines: fitted; discs: seen, with 95% intervals clustered by game"),
        x_name: score_axis(language),
        y_name: say!(language, "share of {word}"),
        lines: cases.chunks(size).enumerate().map(part).collect(),
        notes: vec![say!(language, "{} samples in {PARTS} parts; bins with {FEWEST} samples or more", cases.len())],
    };
    rate_chart(&chart, options)
}

/// The figures of each calibration for games of people, and of each that separates draws: ENGINE-wdl,
/// ENGINE-wdl-parameters and ENGINE-wdl-contours; with the samples it was fitted to also ENGINE-wdl-wins and
/// ENGINE-wdl-draws.
pub fn drawings<'a>(calibrations: impl IntoIterator<Item = (&'a Calibration, Vec<Case>)>) -> Vec<Drawing<'a>> {
    let calibrations: Vec<(&Calibration, Vec<Case>)> = calibrations.into_iter().collect();
    let names: Vec<&str> = calibrations.iter().map(|(c, _)| c.engine.name.as_str()).collect();
    let mut all = Vec::new();
    for (stem, (calibration, cases)) in file_stems(&names).into_iter().zip(calibrations) {
        if let Model::People(people) = &calibration.model.model {
            all.extend(people_figures::drawings(&stem, calibration, people));
        }
        let Some(wdl) = calibration.wdl_model() else { continue };
        let (engine, name) = (Some(calibration.engine.name.as_str()), |word: &str| format!("{stem}-{word}"));
        all.push(Drawing::new(name("wdl"), engine, move |options| shares(calibration, wdl, options)));
        all.push(Drawing::new(name("wdl-parameters"), engine, move |options| parameters(calibration, wdl, options)));
        all.push(Drawing::new(name("wdl-contours"), engine, move |options| contours(calibration, wdl, options)));
        if cases.is_empty() {
            continue;
        }
        let cases: Arc<[Case]> = cases.into();
        for (outcome, word) in [(Outcome::Win, "wdl-wins"), (Outcome::Draw, "wdl-draws")] {
            let cases = cases.clone();
            let draw = move |options: &PlotOptions| seen_and_fitted(calibration, wdl, &cases, outcome, options);
            all.push(Drawing::new(name(word), engine, draw));
        }
    }
    all
}

/// [`drawings()`] of results with the samples that they were fitted to.
pub fn drawings_of_results<'a>(
    results: impl IntoIterator<Item = &'a EngineResult>,
    table: &SampleTable,
    options: &CalibrateOptions,
) -> Vec<Drawing<'a>> {
    let with_figures = |c: &Calibration| c.wdl_model().is_some() || matches!(c.model.model, Model::People(_));
    let has_figures = |result: &&EngineResult| result.calibration.as_ref().is_some_and(with_figures);
    let results: Vec<&EngineResult> = results.into_iter().filter(has_figures).collect();
    if results.is_empty() {
        return Vec::new();
    }
    let cases = cases(table, options.mate_policy, options.clip_cp);
    let of = |name: &str| cases.iter().find(|e| e.name == name).map(|e| e.cases.iter().collect());
    drawings(results.iter().filter_map(|r| Some((r.calibration.as_ref()?, of(&r.name).unwrap_or_default()))))
}
