//! Figures of a calibration that separates wins, draws and losses: the shares by score, and a and b by stage.

use std::path::{Path, PathBuf};

use super::figures::{FigureError, save};
use crate::calibration::{Calibration, Estimate, Situation, WdlEstimate, file_stems};
use crate::fit::{StageUnit, Wdl};
use crate::plot::{Figure, PlotError, PlotOptions, RateChart, RateLine, rate_chart};
use crate::say;

/// Points of a line.
const POINTS: usize = 240;

/// Every how many points a bar is drawn.
const BAR_EVERY: usize = 20;

/// A line through values with their standard errors.
fn line(name: &str, color: usize, (low, high): (f64, f64), value: impl Fn(f64) -> (f64, f64)) -> RateLine {
    let point = |i: usize| {
        let x = low + (high - low) * i as f64 / POINTS as f64;
        let (value, error) = value(x);
        (x, value, error)
    };
    RateLine { name: name.to_owned(), color, points: (0..=POINTS).map(point).collect() }
}

/// The standard error of a share, back from its interval, which is computed on the logit.
fn share_error(share: Estimate, quantile: f64) -> f64 {
    let logit = |p: f64| libm::log(p) - libm::log1p(-p);
    let half = share.interval.map_or(0.0, |[low, high]| 0.5 * (logit(high) - logit(low)));
    let error = half / quantile * share.value * (1.0 - share.value);
    // a bar of two errors does not leave 0 to 1
    if error.is_finite() && 2.0 * error < share.value.min(1.0 - share.value) { error } else { 0.0 }
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
            let Some(found) = calibration.wdl(x, &situation).map(pick) else { return (f64::NAN, 0.0) };
            let has_bar = ((x + range) / step).round() as usize % BAR_EVERY == BAR_EVERY / 2;
            (found.value, if has_bar { share_error(found, calibration.quantile()) } else { 0.0 })
        }
    };
    let chart = RateChart {
        title: say!(language, "{}: wins, draws and losses", "{}: 勝ち、引き分け、負け", calibration.engine.name),
        caption: say!(
            language,
            "at {} {}; bars: two standard errors, where these stay within 0 and 1",
            "{} {} で。棒: 標準誤差の 2 倍(0 から 1 に収まる所)",
            wdl.stage.as_str(),
            wdl.stage.target()
        ),
        x_name: language.choose("score (centipawns, side to move)", "評価値(手番側から見た値)").to_owned(),
        y_name: language.choose("share", "割合").to_owned(),
        lines: vec![
            line(language.choose("win", "勝ち"), 0, (-range, range), share(|w| w.win)),
            line(language.choose("draw", "引き分け"), 1, (-range, range), share(|w| w.draw)),
            line(language.choose("loss", "負け"), 2, (-range, range), share(|w| w.loss)),
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
            (value.unwrap_or(f64::NAN), 0.0)
        }
    };
    let range = (f64::from(wdl.from_stage), f64::from(wdl.to_stage));
    let language = options.language;
    let (upper, lower) = (language.choose(", upper end", " 上端"), language.choose(", lower end", " 下端"));
    let ends = [("", None), (upper, Some(1)), (lower, Some(0))];
    let lines = |name: &str, color: usize, pick: fn((Estimate, Estimate)) -> Estimate| {
        ends.map(|(end, index)| line(&format!("{name}{end}"), color, range, of(pick, index)))
    };
    let with_values = |line: &RateLine| line.points.iter().any(|p| p.1.is_finite());
    let chart = RateChart {
        title: say!(language, "{}: a and b by {}", "{}: {} ごとの a と b", calibration.engine.name, wdl.stage.as_str()),
        caption: language
            .choose(
                "a: the score that wins half of the games; b: the spread; with the ends of their 95% intervals",
                "a: 半分の対局に勝つ評価値。b: 広がり。95% 区間の両端つき",
            )
            .to_owned(),
        x_name: wdl.stage.as_str().to_owned(),
        y_name: language.choose("centipawns", "センチポーン").to_owned(),
        lines: [lines("a", 0, |both| both.0), lines("b", 1, |both| both.1)]
            .concat()
            .into_iter()
            .filter(with_values)
            .collect(),
        notes: Vec::new(),
    };
    rate_chart(&chart, options)
}

/// Writes both figures of each calibration that separates draws, as ENGINE-wdl and ENGINE-wdl-parameters, and with
/// `data` their numbers as CSV.
///
/// # Errors
/// [`FigureError`] for a figure that could not be drawn, or cannot be written.
pub fn write(
    calibrations: &[Calibration],
    folder: &Path,
    options: &PlotOptions,
    data: bool,
) -> Result<Vec<PathBuf>, FigureError> {
    let names: Vec<&str> = calibrations.iter().map(|c| c.engine.name.as_str()).collect();
    let mut written = Vec::new();
    for (stem, calibration) in file_stems(&names).into_iter().zip(calibrations) {
        let Some(wdl) = calibration.wdl_model() else { continue };
        written.push(save(shares(calibration, wdl, options), folder, &format!("{stem}-wdl"), data)?);
        written.push(save(parameters(calibration, wdl, options), folder, &format!("{stem}-wdl-parameters"), data)?);
    }
    Ok(written)
}
