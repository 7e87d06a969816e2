//! Figures of a calibration for games of people: win rates by score for players of several ratings, and the scale by
//! rating and time control.

use evalcurve_figures::{Figure, PlotError, PlotOptions, RateChart, RateLine, rate_chart};
use evalcurve_fit::calibration::{Calibration, Reading, Score, Situation, control_seconds};
use evalcurve_fit::fit::People;
use evalcurve_words::{key, say};

use super::drawings::Drawing;
use super::wdl_figures::{line, score_axis};

/// How many ratings have a line.
const RATINGS: usize = 5;

/// Scores are drawn to the one with this many logits for players of the middle rating.
const LOGITS: f64 = 4.0;

/// Bars of a line.
const BARS: usize = 5;

/// A line through values with some intervals. Those of the next line stand beside them.
fn with_intervals(
    name: &str,
    (at, lines): (usize, usize),
    range: (f64, f64),
    value: impl Fn(f64) -> (f64, Option<[f64; 2]>),
) -> RateLine {
    let place = |bar: usize| {
        let share = (bar as f64 + (at as f64 + 0.5) / lines as f64) / BARS as f64;
        range.0 + share * (range.1 - range.0)
    };
    let bar = |x: f64| {
        let (value, ends) = value(x);
        Some((x, value, ends?))
    };
    RateLine { seen: (0..BARS).map(place).filter_map(bar).collect(), ..line(name, at, range, |x| (value(x).0, None)) }
}

/// Win rates by score, a line for each of some ratings.
fn rates(calibration: &Calibration, people: &People, options: &PlotOptions) -> Result<Figure, PlotError> {
    let language = options.language;
    let range = (LOGITS / people.w1).min(options.score_limit_cp.unwrap_or(f64::INFINITY));
    let of_rating = |at: usize| {
        let share = at as f64 / (RATINGS - 1) as f64;
        // whole numbers that lie within the range
        let rating = (people.rating.from + share * (people.rating.to - people.rating.from)).round();
        let situation = Situation { rating: Some(rating), ..Situation::default() };
        let rate = |x: f64| {
            let ends = calibration.interval(Reading::Equal, Score::Cp(x), &situation).map(|(low, high)| [low, high]);
            (calibration.win_rate_in(Reading::Equal, Score::Cp(x), &situation), ends)
        };
        with_intervals(&format!("{rating:.0}"), (at, RATINGS), (-range, range), rate)
    };
    let chart = RateChart {
        title: say!(language, "{}: win rates by rating", calibration.engine.name),
        caption: say!(language, "between players of the rating beside the line; bars: 95% intervals"),
        x_name: score_axis(language),
        y_name: say!(language, "win rate"),
        lines: (0..RATINGS).rev().map(of_rating).collect(),
        notes: Vec::new(),
    };
    rate_chart(&chart, options)
}

/// The scale by rating, a line for each time control.
fn scale(calibration: &Calibration, people: &People, options: &PlotOptions) -> Result<Figure, PlotError> {
    let language = options.language;
    let known = |word: &&str| {
        let seconds = control_seconds(word);
        seconds.zip(people.seconds).is_some_and(|(seconds, span)| span.contains(seconds))
    };
    let words = [key!("bullet"), key!("blitz"), key!("rapid"), key!("classical")].into_iter().filter(known);
    let mut controls: Vec<(&str, Option<f64>)> =
        words.map(|word| (language.word(word), control_seconds(word))).collect();
    if controls.is_empty() {
        controls.push(("", None));
    }
    let of_control = |(at, (name, seconds)): (usize, &(&str, Option<f64>))| {
        let value = |rating: f64| {
            let situation = Situation { rating: Some(rating), seconds: *seconds, ..Situation::default() };
            let scale = 1.0 / people.sigmoid(&situation).w1;
            // the logit of the scale is 1, so that its error is that of the logarithm of the scale
            let half = calibration.logit_error(Reading::Equal, scale, &situation).map(|e| calibration.quantile() * e);
            (scale, half.map(|half| [scale * libm::exp(-half), scale * libm::exp(half)]))
        };
        with_intervals(name, (at, controls.len()), (people.rating.from, people.rating.to), value)
    };
    let chart = RateChart {
        title: say!(language, "{}: the scale by rating", calibration.engine.name),
        caption: say!(
            language,
            "centipawns of one logit, 1/w1: the fewer, the more a lead is worth; bars: 95% intervals"
        ),
        x_name: say!(language, "rating of both players"),
        y_name: say!(language, "centipawns"),
        lines: controls.iter().enumerate().map(of_control).collect(),
        notes: Vec::new(),
    };
    rate_chart(&chart, options)
}

/// ENGINE-people and ENGINE-people-scale.
pub(crate) fn drawings<'a>(stem: &str, calibration: &'a Calibration, people: &'a People) -> [Drawing<'a>; 2] {
    let engine = Some(calibration.engine.name.as_str());
    [
        Drawing::new(format!("{stem}-people"), engine, move |options| rates(calibration, people, options)),
        Drawing::new(format!("{stem}-people-scale"), engine, move |options| scale(calibration, people, options)),
    ]
}
