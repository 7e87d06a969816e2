//! Draws figures as SVG and PNG: evaluation curves, fitted sigmoids, histograms, match results.
//!
//! The figures follow those of Takeuchi (2018, "異種プログラム間における楽観合議について"). plotters draws each
//! figure once, as SVG; the PNG is a rendering of that SVG. Nothing depends on the machine: text is measured and drawn
//! with an embedded font, which includes Japanese, and the same input gives the same bytes.
//!
//! Scores are in centipawns, from the view of the engine that gave them. This crate only lays out and draws: curves,
//! fits and counts are plain numbers computed elsewhere.
//!
//! ```
//! use evalcurve_figures::{EngineSeries, FittedCurve, PlotOptions, Point, curve_with_fits};
//!
//! let mut engine = EngineSeries::new("技巧", 0);
//! engine.curve = vec![
//!     Point { x: -500.0, win_rate: 0.3, low: 0.25, high: 0.35, count: 300 },
//!     Point { x: 480.0, win_rate: 0.71, low: 0.66, high: 0.76, count: 310 },
//! ];
//! let sigmoid = |x: f64| 1.0 / (1.0 + (-0.0018 * x).exp());
//! engine.fits = vec![FittedCurve::sample("least squares", "w1 = 0.0018", |x| (sigmoid(x), None))];
//! let figure = curve_with_fits(&engine, &PlotOptions::default())?;
//! assert!(figure.svg().contains("技巧"));
//! # Ok::<(), evalcurve_figures::PlotError>(())
//! ```

mod chart;
mod figures;
mod fit_figure;
mod font;
mod forest;
mod histogram;
mod labels;
mod limits;
mod lines;
mod notes;
mod outlines;
mod palette;
mod panels;
mod raster;
mod rates;
mod reliability;
mod spots;
mod svg;
mod unit;

use thiserror::Error;

pub use self::figures::{curves, pooled_curves, sigmoids, split_curves, standardized_curves};
pub use self::fit_figure::curve_with_fits;
pub use self::forest::{Forest, ForestMark, ForestRow, forest};
pub use self::histogram::histograms;
pub use self::lines::{RateChart, RateLine, rate_chart};
pub use self::outlines::letter;
pub use self::palette::{PALETTE, Stroke, color, contrast, dashed};
pub use self::rates::{RateBar, RateWords, ShareGroups, rate_bars, share_bars};
pub use self::reliability::reliability;
pub use self::svg::Escaped;
pub use evalcurve_words::language::Language;

/// What a figure is drawn with, for figures that one use has to itself.
pub mod drawing {
    pub use crate::chart::{
        AXIS, Area, AxisSpec, Canvas, GREY, LABEL_SIZE, Pen, ROW, SOFT_TEXT, TEXT, Words, frame, pale, sheet, stroke,
    };
    pub use crate::font::width;
    pub use crate::labels::{Entry, Names, named_lines};
    pub use plotters::style::{Color, RGBColor};
}

/// A point of an evaluation curve, with its 95% interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Mean score of the bin: centipawns, or standard deviations on a standardised curve.
    pub x: f64,
    /// Mean result of the bin, 0 to 1.
    pub win_rate: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// Positions in the bin.
    pub count: u64,
}

/// A fitted curve from scores to win rates, with its 95% band.
#[derive(Debug, Clone, PartialEq)]
pub struct FittedCurve {
    /// The name in the legend, such as `least squares`.
    pub name: String,
    /// Its parameters, in the legend after the name.
    pub parameters: String,
    /// The curve in ascending x; where `low` is not below `high` it has no band.
    pub path: Vec<Point>,
}

/// Half the number of segments of a sampled curve.
const CURVE_STEPS: i32 = 100;
/// Scores at which curves end, centipawns.
const CURVE_END: f64 = 10_000.0;
/// How much closer the scores are at 0 than at the ends.
const CURVE_STRETCH: f64 = 5.0;

impl FittedCurve {
    /// Samples a curve at scores from -10,000 to 10,000, more closely near 0. `at` returns the win rate and the ends of
    /// its band; points with a win rate that is not finite are left out.
    pub fn sample(
        name: impl Into<String>,
        parameters: impl Into<String>,
        at: impl Fn(f64) -> (f64, Option<(f64, f64)>),
    ) -> Self {
        let point = |k: i32| {
            let stretched = libm::sinh(CURVE_STRETCH * f64::from(k) / f64::from(CURVE_STEPS));
            let x = CURVE_END * stretched / libm::sinh(CURVE_STRETCH);
            let (win_rate, band) = at(x);
            let (low, high) = band.unwrap_or((win_rate, win_rate));
            Point { x, win_rate, low, high, count: 0 }
        };
        let finite = |p: &Point| p.win_rate.is_finite() && p.low.is_finite() && p.high.is_finite();
        let path = (-CURVE_STEPS..=CURVE_STEPS).map(point).filter(finite).collect();
        Self { name: name.into(), parameters: parameters.into(), path }
    }

    /// The part of the curve within plus and minus `limit`, up to the limits.
    fn within(&self, limit: f64) -> Vec<Point> {
        let mut path: Vec<Point> = Vec::new();
        for pair in self.path.windows(2) {
            let [a, b] = pair else { continue };
            let cut = |x: f64| {
                let share = (x - a.x) / (b.x - a.x);
                let mix = |a: f64, b: f64| a + share * (b - a);
                let (low, high) = (mix(a.low, b.low), mix(a.high, b.high));
                Point { x, win_rate: mix(a.win_rate, b.win_rate), low, high, count: 0 }
            };
            if a.x < -limit && b.x > -limit {
                path.push(cut(-limit));
            } else if a.x.abs() <= limit {
                path.push(*a);
            }
            if a.x < limit && b.x > limit {
                path.push(cut(limit));
            }
        }
        path.extend(self.path.last().filter(|p| p.x.abs() <= limit));
        path
    }

    /// The band within plus and minus `limit`; empty without one.
    fn band(&self, limit: f64) -> Vec<Range> {
        let range = |p: Point| Range { x: p.x, low: p.low, high: p.high };
        self.within(limit).into_iter().filter(|p| p.low < p.high).map(range).collect()
    }
}

/// A range of win rates at one score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    /// The score, centipawns.
    pub x: f64,
    /// Lower end, a win rate.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// How the positions of an evaluation curve are put into bins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Bins {
    #[default]
    Width,
    /// Bins of about the same number of positions.
    Quantile,
}

/// The data that the figures show for one engine.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EngineSeries {
    /// The displayed name.
    pub name: String,
    /// Index for [`color`]: an engine has the same colour in all figures.
    pub color: usize,
    /// The evaluation curve, over centipawns.
    pub curve: Vec<Point>,
    /// The evaluation curve over standardised scores.
    pub standardized: Vec<Point>,
    /// Curves fitted to the samples, thus against the opponents that the engine met.
    pub fits: Vec<FittedCurve>,
    /// The curve of the calibration against the opponents that the engine met.
    pub field: Option<FittedCurve>,
    /// The same between players of equal strength, which can be compared with that of other engines.
    pub equal: Option<FittedCurve>,
    /// Bands of the points of the evaluation curve, by bootstrap over games; empty if there are none.
    pub bands: Vec<Range>,
    /// Positions per bin: the centre of the bin in centipawns, and the count. All bins have the same width; empty ones
    /// may be absent.
    pub histogram: Vec<(f64, u64)>,
    /// Total number of sampled positions.
    pub samples: u64,
    /// What the bins of the curve have in common: a width in centipawns, or about the same number of positions.
    pub bins: Bins,
    /// The engine's constant in words, under its name in small multiples.
    pub constant: String,
    /// A note on this engine, for example why a fit is absent.
    pub note: Option<String>,
}

impl EngineSeries {
    /// An engine without data.
    pub fn new(name: impl Into<String>, color: usize) -> Self {
        Self { name: name.into(), color, ..Self::default() }
    }
}

/// Size and range of a figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlotOptions {
    /// Width in pixels, 450 to 8000.
    pub width: u32,
    /// Height in pixels, 360 to 8000.
    pub height: u32,
    /// The score axis runs from minus to plus this, in centipawns; by default as far as the data.
    pub score_limit_cp: Option<f64>,
    /// The axis of standardised scores runs at most from minus to plus this, in standard deviations.
    pub z_limit: f64,
    /// Pixels of the PNG per pixel of the SVG, 0.1 to 8; see [`Figure::scale`].
    pub scale: f32,
    /// The language of titles, captions, axes and notes.
    pub language: Language,
    /// Points of a line that are no further than this from the line between the others are left out, in pixels. 0 keeps
    /// all points; a small number makes files smaller.
    pub tolerance: f64,
}

impl Default for PlotOptions {
    fn default() -> Self {
        Self {
            width: 1000,
            height: 640,
            score_limit_cp: None,
            z_limit: 3.0,
            scale: 1.0,
            language: Language::English,
            tolerance: 0.0,
        }
    }
}

impl PlotOptions {
    /// Whether figures can be drawn with them.
    ///
    /// # Errors
    /// A size, a limit or a scale out of range.
    pub fn check(&self) -> Result<(), PlotError> {
        let within = |option, value: f64, (low, high): (f64, f64), remedy| match (low..=high).contains(&value) {
            true => Ok(()),
            false => Err(PlotError::Option { option, value: value.to_string(), remedy }),
        };
        within("width", f64::from(self.width), (450.0, 8000.0), "450 to 8000 pixels")?;
        within("height", f64::from(self.height), (360.0, 8000.0), "360 to 8000 pixels")?;
        within("score limit", self.score_limit_cp.unwrap_or(1.0), (1.0, 1e7), "1 to 10000000 centipawns")?;
        within("z limit", self.z_limit, (0.1, 1000.0), "0.1 to 1000 standard deviations")?;
        raster::check_scale(self.scale)
    }
}

/// The numbers of a figure, as a table.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Data {
    /// Names of the columns.
    pub head: Vec<&'static str>,
    rows: Vec<Vec<String>>,
    /// engine, series and points: words only where somebody wants to read them
    curves: Vec<(String, String, Vec<Point>)>,
}

impl Data {
    /// A table of curves: engine, series, score, win rate, interval, positions.
    pub fn curves() -> Self {
        Self { head: vec!["engine", "series", "x", "win_rate", "low", "high", "count"], ..Self::default() }
    }

    /// The cells of each row.
    pub fn rows(&self) -> impl Iterator<Item = Vec<String>> {
        let points = self.curves.iter().flat_map(|(engine, series, points)| {
            points.iter().map(move |p| {
                let cell = |shown: bool, text: String| if shown { text } else { String::new() };
                let [low, high] = [p.low, p.high].map(|end| cell(p.low < p.high, format!("{end:.6}")));
                let [x, win_rate] = [format!("{:.3}", p.x), format!("{:.6}", p.win_rate)];
                vec![engine.clone(), series.clone(), x, win_rate, low, high, cell(p.count > 0, p.count.to_string())]
            })
        });
        self.rows.iter().cloned().chain(points)
    }

    /// The table as CSV.
    pub fn to_csv(&self) -> String {
        let line = |cells: &mut dyn Iterator<Item = &str>| {
            let quoted = cells.map(|cell| match cell.contains([',', '"', '\n', '\r']) {
                true => format!("\"{}\"", cell.replace('"', "\"\"")),
                false => cell.to_owned(),
            });
            quoted.collect::<Vec<_>>().join(",") + "\n"
        };
        let head = line(&mut self.head.iter().copied());
        let rows = self.rows().map(|row| line(&mut row.iter().map(String::as_str)));
        std::iter::once(head).chain(rows).collect()
    }

    /// Adds a curve. Points without an interval or a count have empty cells.
    pub fn curve(&mut self, engine: &str, series: &str, points: &[Point]) {
        self.curves.push((engine.to_owned(), series.to_owned(), points.to_vec()));
    }
}

/// A place in a figure with the numbers that can be read there.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Spot {
    /// Pixels from the left.
    pub x: f64,
    /// Pixels from the top.
    pub y: f64,
    /// The numbers in words.
    pub words: String,
}

impl Spot {
    fn new((x, y): (f64, f64), words: String) -> Self {
        Self { x, y, words }
    }
}

/// The SVG of a figure as a PNG file, with `scale` pixels per pixel of the SVG.
///
/// # Errors
/// As [`Figure::png`].
pub fn png(svg: &str, scale: f32) -> Result<Vec<u8>, PlotError> {
    raster::png(svg, scale)
}

/// A drawn figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    svg: String,
    data: Data,
    spots: Vec<Spot>,
    title: String,
    scale: f32,
}

impl Figure {
    /// The figure as an SVG file.
    pub fn svg(&self) -> &str {
        &self.svg
    }

    /// The title as the figure shows it.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The numbers that the figure shows; empty for figures of other numbers than curves and counts.
    pub fn data(&self) -> &Data {
        &self.data
    }

    /// The title with [`Self::data`].
    pub fn into_numbers(self) -> (String, Data) {
        (self.title, self.data)
    }

    /// The SVG for a page, with the places where numbers can be read. Each is an element of the group `spots`; the
    /// style sheet of the page shows its text while the pointer is on it or it has the focus. Attributes that most
    /// elements have are left to that sheet: `svg { fill: #222; stroke-linejoin: round }`,
    /// `polyline { fill: none }`.
    pub fn svg_for_page(&self) -> String {
        let svg = match self.svg.trim_end().strip_suffix("</svg>").filter(|_| !self.spots.is_empty()) {
            Some(body) => spots::draw(body, &self.spots),
            None => self.svg.clone(),
        };
        let lines = svg.replace("<polyline fill=\"none\" stroke-linejoin=\"round\"", "<polyline");
        lines.replace(" fill=\"#222222\">", ">")
    }

    /// The figure with the places where its numbers can be read.
    fn with_spots(self, spots: Vec<Spot>) -> Self {
        Self { spots, ..self }
    }

    /// The figure with its numbers.
    pub fn with_data(self, data: Data) -> Self {
        Self { data, ..self }
    }

    /// The scale given in the options, for [`Figure::png`].
    pub fn scale(&self) -> f32 {
        self.scale
    }

    /// The figure as a PNG file with `scale` pixels per pixel of the SVG.
    ///
    /// # Errors
    /// A scale outside 0.1 to 8, or an image of more than 128 million pixels.
    pub fn png(&self, scale: f32) -> Result<Vec<u8>, PlotError> {
        raster::png(&self.svg, scale)
    }
}

/// Why a figure could not be drawn.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PlotError {
    #[error("no engine to plot: give at least one")]
    NoEngines,
    /// No engine has the data that the figure shows.
    #[error("nothing to draw: no engine of {engines} has {what} within {range}")]
    Nothing {
        /// The number of engines given.
        engines: usize,
        /// What the figure would show.
        what: &'static str,
        /// The range of the horizontal axis.
        range: String,
    },
    /// An option is out of range.
    #[error("{option} {value} of a plot is out of range: use {remedy}")]
    Option {
        option: &'static str,
        value: String,
        /// What to use instead.
        remedy: &'static str,
    },
    /// The embedded font could not be read.
    #[error("the embedded font could not be read: the program was built from a damaged source tree")]
    Font,
    /// plotters could not draw.
    #[error("the plot could not be drawn: {0}")]
    Draw(String),
    /// The SVG could not be rasterised.
    #[error("the plot could not be rasterised: {0}")]
    Raster(String),
}

impl PlotError {
    /// So many engines, panels or series were given, but nothing of them lies within the axes.
    pub fn nothing(engines: usize, what: &'static str, range: impl Into<String>) -> Self {
        Self::Nothing { engines, what, range: range.into() }
    }
}

#[cfg(test)]
mod tests;
