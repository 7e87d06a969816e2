//! Places in a figure where numbers can be read on a page.

use std::fmt::Write;

use evalcurve_words::text::{number, thousands};

use super::svg::Escaped;
use super::{Language, Point, Spot, font};

/// Size of the words.
const SIZE: f64 = 12.5;
/// Radius within which a spot reacts.
const REACH: f64 = 9.0;

/// `score −300`
pub(super) fn at_score(score: f64, language: Language) -> String {
    format!("{} {}", language.word("score"), number(score, 0))
}

/// The numbers of a point of a curve: `score 300: win rate 68.1% [63.0, 72.4], n = 120`. `at` says where it is, and
/// `rate` what kind of win rate it has.
pub(super) fn reading(p: &Point, at: &str, rate: &str) -> String {
    // near 0% and 100% a decimal more tells the ends apart
    let decimals = if (0.01..=0.99).contains(&p.win_rate) { 1 } else { 2 };
    let percent = |rate: f64| format!("{:.decimals$}", 100.0 * rate);
    let ends = if p.low < p.high { format!(" [{}, {}]", percent(p.low), percent(p.high)) } else { String::new() };
    let count = if p.count > 0 { format!(", n = {}", thousands(p.count)) } else { String::new() };
    format!("{at}: {rate} {}%{ends}{count}", percent(p.win_rate))
}

/// Places of a fitted curve to read it at, at each tenth of the axis.
pub(super) fn readings(path: &[Point], limit: f64) -> Vec<Point> {
    let at = |k: i32| {
        let x = limit * f64::from(k) / 5.0;
        let nearest = path.iter().min_by(|a, b| (a.x - x).abs().total_cmp(&(b.x - x).abs()));
        nearest.copied()
    };
    let mut all: Vec<Point> = (-5..=5).filter_map(at).collect();
    all.dedup();
    all
}

/// The SVG `body`, which lacks its end, with the spots. The spots come after all that is drawn, so that words cover it.
pub(super) fn draw(body: &str, spots: &[Spot]) -> String {
    let mut out = format!("{body}<g class=\"spots\" font-size=\"{SIZE}\">\n");
    let right = spots.iter().map(|spot| spot.x).fold(0.0, f64::max) + 12.0;
    for spot in spots {
        let width = font::width(&spot.words, SIZE) + 14.0;
        // words are above the spot, and further left of it the further right it is, so that they stay in the figure
        let (left, baseline) = ((spot.x - width * spot.x / right).max(2.0), (spot.y - 17.0).max(20.0));
        // writing to a string does not fail
        let _ = writeln!(
            out,
            "<g tabindex=\"0\" role=\"img\" aria-label=\"{words}\"><circle cx=\"{:.0}\" cy=\"{:.0}\" r=\"{REACH}\"/>\
             <text x=\"{:.0}\" y=\"{baseline:.0}\">{words}</text></g>",
            spot.x,
            spot.y,
            left + 7.0,
            words = Escaped(&spot.words),
        );
    }
    out + "</g></svg>\n"
}
