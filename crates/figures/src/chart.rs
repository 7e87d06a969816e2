//! The layout of a figure: title, caption and notes around frames with axes.

use super::font;
use super::palette::{Ink, Stroke, color};
use super::svg::{self, Anchor, Elements, Line, Place, UNIT, unit};
use super::{Figure, PlotError, PlotOptions};

pub(super) const TEXT: Ink = Ink::new(0x22, 0x22, 0x22);
pub(super) const SOFT_TEXT: Ink = Ink::new(0x66, 0x66, 0x66);
pub(super) const GREY: Ink = Ink::new(0xBB, 0xBB, 0xBB);
pub(super) const GRID: Ink = Ink::new(0xEA, 0xEA, 0xEA);
pub(super) const AXIS: Ink = Ink::new(0x55, 0x55, 0x55);
const EMPHASIS: Ink = Ink::new(0xA8, 0xA8, 0xA8);

/// Size of names beside lines and in legends.
pub(super) const LABEL_SIZE: f64 = 12.5;
/// Distance between two rows of names.
pub(super) const ROW: f64 = 17.0;
const TITLE_SIZE: f64 = 18.0;
const AXIS_SIZE: f64 = 13.0;
const TICK_SIZE: f64 = 12.0;
const CAPTION_SIZE: f64 = 12.5;
/// Length of the marks at ticks.
const TICK: f64 = 4.0;
const NOTE_SIZE: f64 = 11.5;
const NOTE_ROW: f64 = 15.0;
const MARGIN: f64 = 18.0;
/// Space for the tick labels and the name of the vertical axis, and of the horizontal one.
pub(super) const Y_AXIS: f64 = 62.0;
pub(super) const X_AXIS: f64 = 46.0;

/// A rectangle in SVG pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Area {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
}

/// Draws in SVG pixels.
#[derive(Default)]
pub(super) struct Pen(Elements);

fn place((x, y): (f64, f64)) -> Place {
    (unit(x), unit(y))
}

impl Pen {
    /// Text that begins at `x`, vertically centred on `y`.
    pub(super) fn text(&mut self, text: &str, at: (f64, f64), size: f64, ink: Ink) {
        self.0.text(text, place(at), size, ink, Anchor::Start, false);
    }

    /// Text that ends at `x`, vertically centred on `y`.
    pub(super) fn text_end(&mut self, text: &str, at: (f64, f64), size: f64, ink: Ink) {
        self.0.text(text, place(at), size, ink, Anchor::End, false);
    }

    /// A line through points.
    pub(super) fn line(&mut self, points: &[(f64, f64)], line: Line, dash: &str) {
        self.0.path(points.iter().copied().map(place), line, dash);
    }

    /// A filled box.
    pub(super) fn fill(&mut self, area: Area, ink: Ink) {
        self.0.bar(place((area.left, area.top)), place((area.right, area.bottom)), ink);
    }

    /// A disc.
    pub(super) fn disc(&mut self, at: (f64, f64), radius: f64, ink: Ink) {
        self.0.disc(place(at), radius, ink);
    }

    /// A legend's sample of a line, 26 pixels long.
    pub(super) fn swatch(&mut self, (x, y): (f64, f64), look: Stroke, width: f64) {
        self.line(&[(x, y), (x + 26.0, y)], (look.ink(), width), look.dash);
    }

    /// A legend in one row: a disc in the colour of each series, then its name.
    pub(super) fn disc_legend<'n>(&mut self, (mut x, y): (f64, f64), names: impl IntoIterator<Item = &'n String>) {
        for (i, name) in names.into_iter().enumerate() {
            self.disc((x, y), 4.0, color(i).ink());
            self.text(name, (x + 10.0, y), LABEL_SIZE, TEXT);
            x += 34.0 + font::width(name, LABEL_SIZE);
        }
    }
}

/// The texts around a figure.
#[derive(Clone, Copy)]
pub(super) struct Words<'a> {
    pub title: &'a str,
    pub caption: &'a str,
    pub notes: &'a [String],
}

/// Draws title, caption and notes; `body` draws the area between them.
pub(super) fn sheet(
    options: &PlotOptions,
    words: Words<'_>,
    body: impl FnOnce(&mut Pen, Area),
) -> Result<Figure, PlotError> {
    options.check()?;
    font::check()?;
    let (width, height) = (f64::from(options.width), f64::from(options.height));
    let text_width = width - 2.0 * MARGIN;
    let title = font::elide(words.title, TITLE_SIZE, text_width);
    let caption = font::elide(words.caption, CAPTION_SIZE, text_width);
    let notes = font::wrap(&words.notes.join(" · "), NOTE_SIZE, text_width, 3);

    let mut pen = Pen::default();
    pen.text(&title, (MARGIN, 26.0), TITLE_SIZE, TEXT);
    pen.text(&caption, (MARGIN, 48.0), CAPTION_SIZE, SOFT_TEXT);
    let notes_top = height - 10.0 - notes.len() as f64 * NOTE_ROW;
    for (row, line) in notes.iter().enumerate() {
        pen.text(line, (MARGIN, notes_top + (row as f64 + 0.5) * NOTE_ROW), NOTE_SIZE, SOFT_TEXT);
    }
    let bottom = if notes.is_empty() { height - 10.0 } else { notes_top - 9.0 };
    body(&mut pen, Area { left: MARGIN - 6.0, top: 66.0, right: width - MARGIN, bottom });
    let description = [caption, notes.join(" ")].join("; ");
    let svg = svg::document(options.width, options.height, words.title, description.trim_end_matches("; "), &pen.0.0);
    Ok(Figure { svg, title: words.title.to_owned(), scale: options.scale })
}

/// One axis.
#[derive(Clone)]
pub(super) struct AxisSpec<'a> {
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
    pub(super) fn new(name: &'a str, range: (f64, f64)) -> Self {
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

/// One axis on paper, in units.
struct Scale {
    range: (f64, f64),
    /// Where the range begins and ends.
    ends: (i32, i32),
    /// The bounds of everything that is drawn.
    bounds: (i32, i32),
}

impl Scale {
    fn map(&self, value: f64) -> i32 {
        let share = (value - self.range.0) / (self.range.1 - self.range.0);
        (f64::from(self.ends.0) + share * f64::from(self.ends.1 - self.ends.0)).round() as i32
    }

    fn clamped(&self, value: f64) -> i32 {
        self.map(value).clamp(self.bounds.0, self.bounds.1)
    }

    /// The places of these values within the range, each with its value.
    fn inside(&self, values: &[f64]) -> Vec<(i32, f64)> {
        let (low, high) = (self.ends.0.min(self.ends.1), self.ends.0.max(self.ends.1));
        values.iter().map(|&v| (self.map(v), v)).filter(|(at, _)| (low..=high).contains(at)).collect()
    }
}

/// Draws a frame with axes and grid within `area`; `series` draws into it.
pub(super) fn frame<T>(
    pen: &mut Pen,
    area: Area,
    x: &AxisSpec<'_>,
    y: &AxisSpec<'_>,
    series: impl FnOnce(&mut Canvas<'_>) -> T,
) -> T {
    let (width, height) = (area.right - area.left, area.bottom - area.top);
    let below = if x.labelled { X_AXIS } else { 0.1 };
    let (left, right) = (unit(area.left) + unit(Y_AXIS), unit(area.left) + unit(width));
    let (top, edge) = (unit(area.top), unit(area.top) + unit(height));
    let bottom = edge - unit(below);
    let xs = Scale { range: x.range, ends: (left, right - 1), bounds: (left, right) };
    let ys = Scale { range: y.range, ends: (bottom - 1, top), bounds: (top, bottom) };
    let x_ticks = x.chosen_ticks((width - Y_AXIS) / (x.widest_label() + 18.0));
    let y_ticks = y.chosen_ticks(height / 32.0);
    let x_name = font::elide(x.name, AXIS_SIZE, width - Y_AXIS + Y_AXIS / 2.0);
    let y_name = font::elide(y.name, AXIS_SIZE, height - if x.labelled { X_AXIS } else { 0.0 });
    let x_label = |text: String| if x.labelled { text } else { String::new() };

    let middle = (left + (right - left) / 2, top + (bottom - top) / 2);
    let out = &mut pen.0;
    out.text(&y_name, (unit(area.left), middle.1), AXIS_SIZE, TEXT, Anchor::Top, true);
    out.text(&x_label(x_name), (middle.0, edge), AXIS_SIZE, TEXT, Anchor::Bottom, false);
    for at in x_ticks.iter().map(|v| xs.map(*v)) {
        out.segment((at, bottom - 1), (at, top), (GRID, 1.0));
    }
    for at in y_ticks.iter().map(|v| ys.map(*v)) {
        out.segment((left, at), (right - 1, at), (GRID, 1.0));
    }
    let (axis, tick) = ((AXIS, 1.0), unit(TICK));
    out.path([(left - 1, top), (left - 1, bottom - 1)], axis, "");
    for (at, value) in ys.inside(&y_ticks) {
        out.text(&(y.format)(value), (left - 2 * tick, at), TICK_SIZE, TEXT, Anchor::End, false);
        out.path([(left - 1 - tick, at), (left - 1, at)], axis, "");
    }
    out.path([(left, bottom), (right - 1, bottom)], axis, "");
    for (at, value) in xs.inside(&x_ticks) {
        let text = x_label((x.format)(value));
        out.text(&text, (at, bottom + 2 * tick), TICK_SIZE, TEXT, Anchor::Top, false);
        out.path([(at, bottom), (at, (bottom + tick).min(edge))], axis, "");
    }
    let mut canvas = Canvas { out, x: xs, y: ys };
    if let Some(at) = y.emphasis {
        canvas.line(&[(x.range.0, at), (x.range.1, at)], (EMPHASIS, 1.0), "");
    }
    if let Some(at) = x.emphasis {
        canvas.line(&[(at, y.range.0), (at, y.range.1)], (EMPHASIS, 1.0), "");
    }
    series(&mut canvas)
}

/// Draws in the units of the axes.
pub(super) struct Canvas<'a> {
    out: &'a mut Elements,
    x: Scale,
    y: Scale,
}

impl Canvas<'_> {
    fn at(&self, (x, y): (f64, f64)) -> Place {
        (self.x.clamped(x), self.y.clamped(y))
    }

    fn all(&self, points: &[(f64, f64)]) -> Vec<Place> {
        points.iter().map(|p| self.at(*p)).collect()
    }

    /// A line through points.
    pub(super) fn line(&mut self, points: &[(f64, f64)], line: Line, dash: &str) {
        if !points.is_empty() {
            self.out.path(self.all(points), line, dash);
        }
    }

    /// Discs of a radius in SVG pixels.
    pub(super) fn discs(&mut self, points: &[(f64, f64)], radius: f64, ink: Ink) {
        for at in self.all(points) {
            self.out.disc(at, radius, ink);
        }
    }

    /// A filled shape.
    pub(super) fn polygon(&mut self, points: &[(f64, f64)], ink: Ink) {
        self.out.polygon(self.all(points), ink);
    }

    /// A filled box between two corners.
    pub(super) fn bar(&mut self, [a, b]: [(f64, f64); 2], ink: Ink) {
        self.out.bar(self.at(a), self.at(b), ink);
    }

    /// A shaded band between the lower and the upper ends of the ranges.
    pub(super) fn band(&mut self, band: &[super::Range], ink: Ink) {
        if band.len() > 1 {
            let upper = band.iter().map(|p| (p.x, p.high));
            let lower = band.iter().rev().map(|p| (p.x, p.low));
            self.polygon(&upper.chain(lower).collect::<Vec<_>>(), ink);
        }
    }

    /// The position of a point in the figure, in SVG pixels.
    pub(super) fn place(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (f64::from(self.x.map(x)) / f64::from(UNIT), f64::from(self.y.map(y)) / f64::from(UNIT))
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
pub(super) fn win_rate_axis() -> AxisSpec<'static> {
    AxisSpec { format: &|v| format!("{v:.1}"), emphasis: Some(0.5), ..AxisSpec::new("win rate", (-0.02, 1.02)) }
}

/// The axis of scores.
pub(super) fn score_axis(limit: f64) -> AxisSpec<'static> {
    AxisSpec { emphasis: Some(0.0), ..AxisSpec::new("score (centipawns, view of the engine)", (-limit, limit)) }
}

/// The axis of standardised scores.
pub(super) fn z_axis(limit: f64) -> AxisSpec<'static> {
    let name = "standardised score (standard deviations from the engine's mean)";
    AxisSpec { name, ..score_axis(limit) }
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
