//! A plotters backend that writes SVG in hundredths of a pixel.
//!
//! plotters counts in whole pixels, which shows as steps in a curve, and its own SVG backend supports neither dashes
//! nor font stacks. Here one plotters pixel is 1/[`UNIT`] of an SVG pixel, and every number has at most two decimals.

use std::cell::Cell;
use std::fmt::{self, Write as _};
use std::rc::Rc;

use plotters_backend::text_anchor::{HPos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind, FontTransform,
};

use super::unit::UNIT;
use super::{PlotOptions, font};

/// The dash pattern of the lines that follow, shared by the backend and the code that draws.
#[derive(Clone, Default)]
pub(super) struct Dash(Rc<Cell<&'static str>>);

impl Dash {
    /// Sets a `stroke-dasharray`; empty for a solid line.
    pub(super) fn set(&self, pattern: &'static str) {
        self.0.set(pattern);
    }
}

/// The backend. It writes only elements; [`document`] adds the document around them.
pub(super) struct SvgBackend<'a> {
    out: &'a mut String,
    size: (u32, u32),
    dash: Dash,
    /// See [`super::PlotOptions::tolerance`], in backend pixels.
    tolerance: f64,
}

type Drawn = Result<(), DrawingErrorKind<fmt::Error>>;

impl<'a> SvgBackend<'a> {
    pub(super) fn new(out: &'a mut String, options: &PlotOptions, dash: Dash) -> Self {
        let scale = UNIT.unsigned_abs();
        let tolerance = options.tolerance * f64::from(UNIT);
        Self { out, size: (options.width * scale, options.height * scale), dash, tolerance }
    }

    fn paint(&mut self, name: &str, color: BackendColor) -> fmt::Result {
        let (r, g, b) = color.rgb;
        write!(self.out, " {name}=\"#{r:02x}{g:02x}{b:02x}\"")?;
        if color.alpha < 1.0 {
            write!(self.out, " {name}-opacity=\"{}\"", Number(color.alpha))?;
        }
        Ok(())
    }

    fn pen<S: BackendStyle>(&mut self, style: &S, dashed: bool) -> fmt::Result {
        self.paint("stroke", style.color())?;
        write!(self.out, " stroke-width=\"{}\"", Hundredths(i64::from(style.stroke_width())))?;
        let dash = self.dash.0.get();
        if dashed && !dash.is_empty() {
            write!(self.out, " stroke-dasharray=\"{dash}\"")?;
        }
        Ok(())
    }

    /// A coordinate: in tenths of a pixel where points may be left out.
    fn place(&self, value: i32) -> Hundredths {
        const TENTH: i32 = UNIT / 10;
        let rounded = (f64::from(value) / f64::from(TENTH)).round() as i32 * TENTH;
        coordinate(if self.tolerance > 0.0 { rounded } else { value })
    }

    fn points(&mut self, path: impl IntoIterator<Item = BackendCoord>) -> fmt::Result {
        self.out.push_str(" points=\"");
        let mut last = None;
        for point in simplified(path.into_iter().collect(), self.tolerance) {
            if last == Some(point) {
                continue;
            }
            if last.is_some() {
                self.out.push(' ');
            }
            let (x, y) = (self.place(point.0), self.place(point.1));
            write!(self.out, "{x},{y}")?;
            last = Some(point);
        }
        self.out.write_str("\"/>\n")
    }

    /// Writes one element, unless its colour is fully transparent.
    fn element(&mut self, color: BackendColor, write: impl FnOnce(&mut Self) -> fmt::Result) -> Drawn {
        if color.alpha == 0.0 {
            return Ok(());
        }
        write(self).map_err(DrawingErrorKind::DrawingError)
    }

    fn shape<S: BackendStyle>(&mut self, style: &S, fill: bool) -> fmt::Result {
        if fill {
            self.paint("fill", style.color())?;
        } else {
            self.out.push_str(" fill=\"none\"");
            self.pen(style, false)?;
        }
        self.out.write_str("/>\n")
    }

    fn text<S: BackendTextStyle>(&mut self, text: &str, style: &S, pos: BackendCoord) -> fmt::Result {
        let anchor = match style.anchor().h_pos {
            HPos::Left => "",
            HPos::Center => " text-anchor=\"middle\"",
            HPos::Right => " text-anchor=\"end\"",
        };
        // Shares of the em, from the metrics of the embedded font: digits and capitals are 0.74 em high.
        let drop = match style.anchor().v_pos {
            VPos::Top => 0.78,
            VPos::Center => 0.365,
            VPos::Bottom => -0.25,
        };
        let (x, y) = (self.place(pos.0), self.place(pos.1));
        let baseline = self.place(pos.1.saturating_add((style.size() * drop).round() as i32));
        let size = Number(style.size() / f64::from(UNIT));
        write!(self.out, "<text x=\"{x}\" y=\"{baseline}\" font-size=\"{size}\"{anchor}")?;
        self.paint("fill", style.color())?;
        let turn = match style.transform() {
            FontTransform::None => None,
            FontTransform::Rotate90 => Some(90),
            FontTransform::Rotate180 => Some(180),
            FontTransform::Rotate270 => Some(270),
        };
        if let Some(turn) = turn {
            write!(self.out, " transform=\"rotate({turn} {x} {y})\"")?;
        }
        writeln!(self.out, ">{}</text>", Escaped(text))
    }
}

/// A path without the points that lie within `tolerance` of the line between those that stay (Douglas and Peucker,
/// Cartographica 10, 1973).
fn simplified(path: Vec<BackendCoord>, tolerance: f64) -> Vec<BackendCoord> {
    let (Some(last), true) = (path.len().checked_sub(1), tolerance > 0.0) else { return path };
    let difference = |a: BackendCoord, b: BackendCoord| (f64::from(b.0 - a.0), f64::from(b.1 - a.1));
    let distance = |i: usize, from: usize, to: usize| {
        let ((x, y), (dx, dy)) = (difference(path[from], path[i]), difference(path[from], path[to]));
        let length = (dx * dx + dy * dy).sqrt();
        if length > 0.0 { (dx * y - dy * x).abs() / length } else { (x * x + y * y).sqrt() }
    };
    let mut stays = vec![false; path.len()];
    (stays[0], stays[last]) = (true, true);
    let mut parts = vec![(0, last)];
    while let Some((from, to)) = parts.pop() {
        let farthest = (from + 1..to).map(|i| (distance(i, from, to), i)).max_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((_, i)) = farthest.filter(|(far, _)| *far > tolerance) {
            stays[i] = true;
            parts.extend([(from, i), (i, to)]);
        }
    }
    path.into_iter().zip(stays).filter_map(|(point, stays)| stays.then_some(point)).collect()
}

impl DrawingBackend for SvgBackend<'_> {
    type ErrorType = fmt::Error;

    fn get_size(&self) -> (u32, u32) {
        self.size
    }

    fn ensure_prepared(&mut self) -> Drawn {
        Ok(())
    }

    fn present(&mut self) -> Drawn {
        Ok(())
    }

    fn draw_pixel(&mut self, point: BackendCoord, color: BackendColor) -> Drawn {
        let half = UNIT / 2;
        self.draw_rect((point.0 - half, point.1 - half), (point.0 + half, point.1 + half), &color, true)
    }

    fn draw_line<S: BackendStyle>(&mut self, from: BackendCoord, to: BackendCoord, style: &S) -> Drawn {
        self.element(style.color(), |svg| {
            let (x1, y1, x2, y2) = (svg.place(from.0), svg.place(from.1), svg.place(to.0), svg.place(to.1));
            write!(svg.out, "<line x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"")?;
            svg.pen(style, true)?;
            svg.out.write_str("/>\n")
        })
    }

    fn draw_rect<S: BackendStyle>(&mut self, a: BackendCoord, b: BackendCoord, style: &S, fill: bool) -> Drawn {
        self.element(style.color(), |svg| {
            let (x, y) = (svg.place(a.0.min(b.0)), svg.place(a.1.min(b.1)));
            let (width, height) = (svg.place((b.0 - a.0).abs()), svg.place((b.1 - a.1).abs()));
            write!(svg.out, "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"")?;
            svg.shape(style, fill)
        })
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(&mut self, path: I, style: &S) -> Drawn {
        self.element(style.color(), |svg| {
            svg.out.push_str("<polyline fill=\"none\" stroke-linejoin=\"round\"");
            svg.pen(style, true)?;
            svg.points(path)
        })
    }

    fn draw_circle<S: BackendStyle>(&mut self, center: BackendCoord, radius: u32, style: &S, fill: bool) -> Drawn {
        self.element(style.color(), |svg| {
            let (x, y, radius) = (svg.place(center.0), svg.place(center.1), Hundredths(i64::from(radius)));
            write!(svg.out, "<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"")?;
            svg.shape(style, fill)
        })
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(&mut self, path: I, style: &S) -> Drawn {
        self.element(style.color(), |svg| {
            svg.out.push_str("<polygon");
            svg.paint("fill", style.color())?;
            svg.points(path)
        })
    }

    fn draw_text<S: BackendTextStyle>(&mut self, text: &str, style: &S, pos: BackendCoord) -> Drawn {
        if text.is_empty() {
            return Ok(());
        }
        self.element(style.color(), |svg| svg.text(text, style, pos))
    }

    fn estimate_text_size<S: BackendTextStyle>(
        &self,
        text: &str,
        style: &S,
    ) -> Result<(u32, u32), DrawingErrorKind<fmt::Error>> {
        Ok(font::extent(text, style.size()))
    }
}

/// A complete SVG file around the elements in `body`.
pub(super) fn document(width: u32, height: u32, title: &str, description: &str, body: &str) -> String {
    let (families, title, description) = (Escaped(font::FAMILIES), Escaped(title), Escaped(description));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"{families}\">\n<title>{title}</title>\n\
         <desc>{description}</desc>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{body}</svg>\n"
    )
}

/// Text escaped for XML content and attributes. Characters that XML forbids, and invisible ones, become a box.
#[derive(Debug, Clone, Copy)]
pub struct Escaped<'a>(pub &'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in font::clean(self.0).chars() {
            match c {
                '<' => f.write_str("&lt;"),
                '>' => f.write_str("&gt;"),
                '&' => f.write_str("&amp;"),
                '"' => f.write_str("&quot;"),
                '\'' => f.write_str("&apos;"),
                _ => f.write_char(c),
            }?;
        }
        Ok(())
    }
}

/// A backend coordinate in SVG pixels.
fn coordinate(value: i32) -> Hundredths {
    Hundredths(i64::from(value))
}

/// A number of hundredths, written without trailing zeros.
struct Hundredths(i64);

impl fmt::Display for Hundredths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let (whole, rest) = (self.0.unsigned_abs() / 100, self.0.unsigned_abs() % 100);
        match rest {
            0 => write!(f, "{sign}{whole}"),
            r if r % 10 == 0 => write!(f, "{sign}{whole}.{}", r / 10),
            r => write!(f, "{sign}{whole}.{r:02}"),
        }
    }
}

/// A number with at most two decimals.
struct Number(f64);

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Hundredths((self.0 * 100.0).round() as i64).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_on_a_line_are_left_out() {
        let path = vec![(0, 0), (100, 1), (200, 0), (300, 100), (300, 100)];
        assert_eq!(simplified(path.clone(), 0.0), path);
        assert_eq!(simplified(path.clone(), 2.0), [(0, 0), (200, 0), (300, 100)]);
        // a closed path keeps its shape
        let square = vec![(0, 0), (0, 50), (0, 100), (100, 100), (100, 0), (0, 0)];
        assert_eq!(simplified(square, 2.0), [(0, 0), (0, 100), (100, 100), (100, 0), (0, 0)]);
        assert!(simplified(Vec::new(), 2.0).is_empty());
    }

    #[test]
    fn numbers_have_two_decimals_at_most() {
        for (value, text) in [(0, "0"), (5, "0.05"), (-5, "-0.05"), (150, "1.5"), (-12_345, "-123.45"), (700, "7")] {
            assert_eq!(coordinate(value).to_string(), text);
        }
        assert_eq!(Number(0.125).to_string(), "0.13");
    }

    #[test]
    fn text_is_made_safe() {
        let out = Escaped("<a href=\"x\">&'技巧'\u{0}\u{7}\n\u{202e}\u{ffff}").to_string();
        assert_eq!(out, "&lt;a href=&quot;x&quot;&gt;&amp;&apos;技巧&apos;□□□□□");
    }
}
