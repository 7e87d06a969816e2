//! The layout of a figure: title, caption and notes around frames with axes.

use std::fmt::Display;
use std::ops::Range;

use plotters::chart::{ChartBuilder, ChartContext, LabelAreaPosition};
use plotters::coord::Shift;
use plotters::coord::cartesian::Cartesian2d;
use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};
use plotters::drawing::{DrawingArea, IntoDrawingArea};
use plotters::element::{Circle, PathElement, Polygon, Rectangle, Text};
use plotters::series::LineSeries;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, RGBColor, ShapeStyle, TRANSPARENT, TextStyle};

use super::palette::{Stroke, color};
use super::svg::{self, Dash, SvgBackend};
use super::unit::{UNIT, unit, unit_size};
use super::{Data, Figure, Language, PlotError, PlotOptions, font};

pub const TEXT: RGBColor = RGBColor(0x22, 0x22, 0x22);
pub const SOFT_TEXT: RGBColor = RGBColor(0x66, 0x66, 0x66);
pub const GREY: RGBColor = RGBColor(0xBB, 0xBB, 0xBB);
pub(super) const GRID: RGBColor = RGBColor(0xEA, 0xEA, 0xEA);
pub const AXIS: RGBColor = RGBColor(0x55, 0x55, 0x55);
const EMPHASIS: RGBColor = RGBColor(0xA8, 0xA8, 0xA8);

/// Size of names beside lines and in legends.
pub const LABEL_SIZE: f64 = 12.5;
/// Distance between two rows of names.
pub const ROW: f64 = 17.0;
const TITLE_SIZE: f64 = 18.0;
const TITLE_ROW: f64 = 23.0;
pub(super) const AXIS_SIZE: f64 = 13.0;
const TICK_SIZE: f64 = 12.0;
const CAPTION_SIZE: f64 = 12.5;
const CAPTION_ROW: f64 = 17.0;
const NOTE_SIZE: f64 = 11.5;
const NOTE_ROW: f64 = 15.0;
const MARGIN: f64 = 18.0;
/// Space for the tick labels and the name of the vertical axis, and of the horizontal one.
pub(super) const Y_AXIS: f64 = 62.0;
pub(super) const X_AXIS: f64 = 46.0;

/// Converts an error of plotters.
pub(super) fn drawn(error: impl Display) -> PlotError {
    PlotError::Draw(error.to_string())
}

/// A rectangle in SVG pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Area {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
}

/// Draws in SVG pixels.
pub struct Pen<'a> {
    root: DrawingArea<SvgBackend<'a>, Shift>,
    pub(super) dash: Dash,
}

/// A colour mixed with the white background, so that it stays opaque.
pub fn pale(color: RGBColor, share: f64) -> RGBColor {
    let mix = |c: u8| (255.0 - share * (255.0 - f64::from(c))).round() as u8;
    RGBColor(mix(color.0), mix(color.1), mix(color.2))
}

/// A line style; `width` is in SVG pixels.
pub fn stroke(color: &impl Color, width: f64) -> ShapeStyle {
    color.stroke_width(unit_size(width))
}

fn style(size: f64, color: RGBColor, h: HPos, v: VPos) -> TextStyle<'static> {
    TextStyle { font: font::sized(size), color: color.to_backend_color(), pos: Pos::new(h, v) }
}

impl Pen<'_> {
    /// Text that begins at `x`, vertically centred on `y`.
    pub fn text(&self, text: &str, at: (f64, f64), size: f64, color: RGBColor) -> Result<(), PlotError> {
        self.text_at(text, at, style(size, color, HPos::Left, VPos::Center))
    }

    /// Text centred on `x` and `y`.
    pub(super) fn text_middle(&self, text: &str, at: (f64, f64), size: f64, color: RGBColor) -> Result<(), PlotError> {
        self.text_at(text, at, style(size, color, HPos::Center, VPos::Center))
    }

    /// Text that ends at `x`, vertically centred on `y`.
    pub(super) fn text_end(&self, text: &str, at: (f64, f64), size: f64, color: RGBColor) -> Result<(), PlotError> {
        self.text_at(text, at, style(size, color, HPos::Right, VPos::Center))
    }

    fn text_at(&self, text: &str, (x, y): (f64, f64), style: TextStyle<'_>) -> Result<(), PlotError> {
        self.root.draw(&Text::new(text.to_owned(), (unit(x), unit(y)), style)).map_err(drawn)
    }

    /// A line through points.
    pub fn line(&self, points: &[(f64, f64)], style: ShapeStyle, dash: &'static str) -> Result<(), PlotError> {
        let path: Vec<(i32, i32)> = points.iter().map(|&(x, y)| (unit(x), unit(y))).collect();
        self.dash.set(dash);
        let result = self.root.draw(&PathElement::new(path, style)).map_err(drawn);
        self.dash.set("");
        result
    }

    /// A filled box.
    pub fn fill(&self, area: Area, color: &impl Color) -> Result<(), PlotError> {
        let corners = [(unit(area.left), unit(area.top)), (unit(area.right), unit(area.bottom))];
        self.root.draw(&Rectangle::new(corners, color.filled())).map_err(drawn)
    }

    pub fn disc(&self, (x, y): (f64, f64), radius: f64, color: &impl Color) -> Result<(), PlotError> {
        self.root.draw(&Circle::new((unit(x), unit(y)), unit_size(radius), color.filled())).map_err(drawn)
    }

    /// A legend's sample of a line, 26 pixels long.
    pub(super) fn swatch(&self, (x, y): (f64, f64), look: Stroke, width: f64) -> Result<(), PlotError> {
        self.line(&[(x, y), (x + 26.0, y)], stroke(&look.line_color(), width), look.dash)
    }

    /// A legend in one row: a disc in the colour of each series, then its name.
    pub fn disc_legend<'n>(
        &self,
        (mut x, y): (f64, f64),
        names: impl IntoIterator<Item = &'n String>,
    ) -> Result<(), PlotError> {
        for (i, name) in names.into_iter().enumerate() {
            self.disc((x, y), 4.0, &color(i).line_color())?;
            self.text(name, (x + 10.0, y), LABEL_SIZE, TEXT)?;
            x += 34.0 + font::width(name, LABEL_SIZE);
        }
        Ok(())
    }
}

/// The texts around a figure.
#[derive(Clone, Copy)]
pub struct Words<'a> {
    pub title: &'a str,
    pub caption: &'a str,
    pub notes: &'a [String],
}

/// Draws title, caption and notes; `body` draws the area between them.
pub fn sheet(
    options: &PlotOptions,
    words: Words<'_>,
    body: impl FnOnce(&Pen<'_>, Area) -> Result<(), PlotError>,
) -> Result<Figure, PlotError> {
    options.check()?;
    let (width, height) = (f64::from(options.width), f64::from(options.height));
    let text_width = width - 2.0 * MARGIN;
    let (titles, captions, notes) = word_lines(words, text_width);

    let mut elements = String::new();
    let dash = Dash::default();
    {
        let backend = SvgBackend::new(&mut elements, options, dash.clone());
        let pen = Pen { root: backend.into_drawing_area(), dash };
        for (row, title) in titles.iter().enumerate() {
            pen.text(title, (MARGIN, 26.0 + row as f64 * TITLE_ROW), TITLE_SIZE, TEXT)?;
        }
        let below = 48.0 + titles.len().saturating_sub(1) as f64 * TITLE_ROW;
        for (row, caption) in captions.iter().enumerate() {
            pen.text(caption, (MARGIN, below + row as f64 * CAPTION_ROW), CAPTION_SIZE, SOFT_TEXT)?;
        }
        let notes_top = height - 10.0 - notes.len() as f64 * NOTE_ROW;
        for (row, line) in notes.iter().enumerate() {
            pen.text(line, (MARGIN, notes_top + (row as f64 + 0.5) * NOTE_ROW), NOTE_SIZE, SOFT_TEXT)?;
        }
        let bottom = if notes.is_empty() { height - 10.0 } else { notes_top - 9.0 };
        let top = below + 18.0 + captions.len().saturating_sub(1) as f64 * CAPTION_ROW;
        body(&pen, Area { left: MARGIN - 6.0, top, right: width - MARGIN, bottom })?;
        pen.root.present().map_err(drawn)?;
    }
    let description = [captions.join(" "), notes.join(" ")].join("; ");
    let svg = svg::document(options.width, options.height, words.title, description.trim_end_matches("; "), &elements);
    Ok(Figure { svg, data: Data::default(), spots: Vec::new(), title: words.title.to_owned(), scale: options.scale })
}

/// The lines of the title, of the caption and of the notes. Nothing is cut: what does not fit goes on in the next line.
fn word_lines(words: Words<'_>, width: f64) -> (Vec<String>, Vec<String>, Vec<String>) {
    let notes = words.notes.join(" · ");
    let lines = |text: &str, size| font::wrap(text, size, width);
    (lines(words.title, TITLE_SIZE), lines(words.caption, CAPTION_SIZE), lines(&notes, NOTE_SIZE))
}

/// The height of everything around the body of a figure with these words.
pub(super) fn height_of_words(words: Words<'_>, width: u32) -> f64 {
    let (titles, captions, notes) = word_lines(words, f64::from(width) - 2.0 * MARGIN);
    let more = |lines: usize, row: f64| lines.saturating_sub(1) as f64 * row;
    let foot = if notes.is_empty() { 10.0 } else { 19.0 + notes.len() as f64 * NOTE_ROW };
    66.0 + more(titles.len(), TITLE_ROW) + more(captions.len(), CAPTION_ROW) + foot
}

#[derive(Clone)]
pub struct AxisSpec<'a> {
    pub range: (f64, f64),
    /// Where the ticks are; if empty, at as many round numbers as fit.
    pub ticks: Vec<f64>,
    pub name: &'a str,
    pub format: &'a dyn Fn(f64) -> String,
    /// The value whose grid line is emphasised.
    pub emphasis: Option<f64>,
    /// Whether tick labels and name are shown.
    pub labelled: bool,
}

impl<'a> AxisSpec<'a> {
    /// A labelled axis of plain numbers.
    pub fn new(name: &'a str, range: (f64, f64)) -> Self {
        Self { range, ticks: Vec::new(), name, format: &number, emphasis: None, labelled: true }
    }

    /// The given ticks, or about `most` round ones.
    fn chosen_ticks(&self, most: f64) -> Vec<f64> {
        if self.ticks.is_empty() { ticks(self.range, most.clamp(2.0, 12.5)) } else { self.ticks.clone() }
    }

    fn widest_label(&self) -> f64 {
        let width = |v: f64| font::width(&(self.format)(v), TICK_SIZE);
        width(self.range.0).max(width(self.range.1))
    }
}

/// The range and ticks of an axis, for plotters.
struct Ticked {
    range: (f64, f64),
    ticks: Vec<f64>,
}

impl Ranged for Ticked {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let share = (value - self.range.0) / (self.range.1 - self.range.0);
        (f64::from(limit.0) + share * f64::from(limit.1 - limit.0)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.ticks.clone()
    }

    fn range(&self) -> Range<f64> {
        self.range.0..self.range.1
    }
}

type Chart<'a, 'b> = ChartContext<'a, SvgBackend<'b>, Cartesian2d<Ticked, Ticked>>;

/// Draws a frame with axes and grid within `area`; `series` draws into it.
pub fn frame<'b>(
    pen: &Pen<'b>,
    area: Area,
    x: &AxisSpec<'_>,
    y: &AxisSpec<'_>,
    series: impl FnOnce(&mut Canvas<'_, '_, 'b>) -> Result<(), PlotError>,
) -> Result<(), PlotError> {
    let size = (unit_size(area.right - area.left), unit_size(area.bottom - area.top));
    let region = pen.root.clone().shrink((unit(area.left), unit(area.top)), size);
    let mut builder = ChartBuilder::on(&region);
    let left = if y.labelled { Y_AXIS } else { 0.1 };
    builder.set_label_area_size(LabelAreaPosition::Left, unit(left));
    builder.set_label_area_size(LabelAreaPosition::Bottom, unit(if x.labelled { X_AXIS } else { 0.1 }));
    let x_ticks = x.chosen_ticks((area.right - area.left - left) / (x.widest_label() + 18.0));
    let y_ticks = y.chosen_ticks((area.bottom - area.top) / 32.0);
    let counts = (x_ticks.len(), y_ticks.len());
    let ticked = |axis: &AxisSpec<'_>, ticks| Ticked { range: axis.range, ticks };
    let mut chart = builder.build_cartesian_2d(ticked(x, x_ticks), ticked(y, y_ticks)).map_err(drawn)?;
    let span = |from: f64, to: f64, used: f64| to - from - used;
    let x_name = font::elide(x.name, AXIS_SIZE, span(area.left, area.right, left) + left / 2.0);
    let y_name = font::elide(y.name, AXIS_SIZE, span(area.top, area.bottom, if x.labelled { X_AXIS } else { 0.0 }));
    let x_format = |v: &f64| if x.labelled { (x.format)(*v) } else { String::new() };
    let y_format = |v: &f64| if y.labelled { (y.format)(*v) } else { String::new() };
    let tick_text = style(TICK_SIZE, TEXT, HPos::Left, VPos::Center);
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(stroke(&GRID, 1.0))
        .axis_style(stroke(&AXIS, 1.0))
        .label_style(tick_text)
        .axis_desc_style(style(AXIS_SIZE, TEXT, HPos::Left, VPos::Center))
        .set_all_tick_mark_size(unit_size(4.0))
        .x_labels(counts.0)
        .y_labels(counts.1)
        .x_label_formatter(&x_format)
        .y_label_formatter(&y_format)
        .x_desc(if x.labelled { &x_name } else { "" })
        .y_desc(if y.labelled { &y_name } else { "" })
        .draw()
        .map_err(drawn)?;
    let mut canvas = Canvas { chart: &mut chart, dash: &pen.dash };
    let (x0, x1) = x.range;
    let (y0, y1) = y.range;
    if let Some(at) = y.emphasis {
        canvas.line(&[(x0, at), (x1, at)], stroke(&EMPHASIS, 1.0), "")?;
    }
    if let Some(at) = x.emphasis {
        canvas.line(&[(at, y0), (at, y1)], stroke(&EMPHASIS, 1.0), "")?;
    }
    series(&mut canvas)
}

/// Draws in the units of the axes.
pub struct Canvas<'c, 'a, 'b> {
    chart: &'c mut Chart<'a, 'b>,
    dash: &'c Dash,
}

impl Canvas<'_, '_, '_> {
    /// A line through points.
    pub fn line(&mut self, points: &[(f64, f64)], style: ShapeStyle, dash: &'static str) -> Result<(), PlotError> {
        self.dash.set(dash);
        let result = self.chart.draw_series(LineSeries::new(points.iter().copied(), style)).map_err(drawn);
        self.dash.set("");
        result.map(|_| ())
    }

    /// Discs of a radius in SVG pixels.
    pub fn discs(&mut self, points: &[(f64, f64)], radius: f64, color: &impl Color) -> Result<(), PlotError> {
        let disc = |&at: &(f64, f64)| Circle::new(at, unit_size(radius), color.filled());
        self.chart.draw_series(points.iter().map(disc)).map_err(drawn)?;
        Ok(())
    }

    /// A filled shape.
    pub(super) fn polygon(&mut self, points: Vec<(f64, f64)>, color: &impl Color) -> Result<(), PlotError> {
        self.chart.draw_series([Polygon::new(points, color.filled())]).map_err(drawn)?;
        Ok(())
    }

    /// A filled box between two corners.
    pub fn bar(&mut self, corners: [(f64, f64); 2], color: &impl Color) -> Result<(), PlotError> {
        self.chart.draw_series([Rectangle::new(corners, color.filled())]).map_err(drawn)?;
        Ok(())
    }

    /// A shaded band between the lower and the upper ends of the ranges.
    pub fn band(&mut self, band: &[super::Range], color: &impl Color) -> Result<(), PlotError> {
        if band.len() < 2 {
            return Ok(());
        }
        let upper = band.iter().map(|p| (p.x, p.high));
        let lower = band.iter().rev().map(|p| (p.x, p.low));
        self.polygon(upper.chain(lower).collect(), color)
    }

    /// The position of a point in the figure, in SVG pixels.
    pub fn place(&self, at: (f64, f64)) -> (f64, f64) {
        let (x, y) = self.chart.backend_coord(&at);
        (f64::from(x) / f64::from(UNIT), f64::from(y) / f64::from(UNIT))
    }
}

/// Multiples of a round step within the range, about `wanted` of them.
pub(super) fn ticks(range: (f64, f64), wanted: f64) -> Vec<f64> {
    let raw = (range.1 - range.0) / wanted;
    let power = libm::pow(10.0, libm::floor(libm::log10(raw)));
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * power).find(|s| *s >= raw * 0.999).unwrap_or(raw);
    let (first, last) = ((range.0 / step - 1e-6).ceil() as i64, (range.1 / step + 1e-6).floor() as i64);
    (first..=last).map(|k| k as f64 * step).collect()
}

/// A number with a real minus sign and no trailing zeros.
pub(super) fn number(value: f64) -> String {
    let rounded = (value * 1000.0).round() / 1000.0;
    if rounded < 0.0 { format!("−{}", -rounded) } else { format!("{}", rounded.abs()) }
}

/// The axis of win rates.
pub(super) fn win_rate_axis(language: Language) -> AxisSpec<'static> {
    let name = language.word("win rate");
    AxisSpec { format: &|v| format!("{v:.1}"), emphasis: Some(0.5), ..AxisSpec::new(name, (-0.02, 1.02)) }
}

pub(super) fn score_axis(limit: f64, language: Language) -> AxisSpec<'static> {
    let name = language.word("score (centipawns, view of the engine)");
    AxisSpec { emphasis: Some(0.0), ..AxisSpec::new(name, (-limit, limit)) }
}

/// The axis of standardised scores.
pub(super) fn z_axis(limit: f64, language: Language) -> AxisSpec<'static> {
    let name = language.word("standardised score (standard deviations from the engine's mean)");
    AxisSpec { name, ..score_axis(limit, language) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(ticks((-3000.0, 3000.0), 12.0).len(), 13);
        assert_eq!(ticks((-3.0, 3.0), 6.0), [-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0]);
        assert_eq!(ticks((-700.0, 700.0), 4.0), [-500.0, 0.0, 500.0]);
        assert!(ticks((-1.0, 1.0), 12.0).iter().all(|t| t.abs() <= 1.0));
    }

    #[test]
    fn numbers_read_well() {
        assert_eq!(number(-500.0), "−500");
        assert_eq!(number(0.30000000000000004), "0.3");
        assert_eq!(number(-0.0), "0");
    }
}
