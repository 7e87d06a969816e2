//! Writes the elements of an SVG in hundredths of a pixel.
//!
//! Here one unit is 1/[`UNIT`] of an SVG pixel, and every number has at most two decimals.

use std::fmt::{self, Write as _};

use super::font;
use super::palette::Ink;
use evalcurve_core::text::printable;

/// Units in one SVG pixel.
pub(super) const UNIT: i32 = 100;

/// SVG pixels as units.
pub(super) fn unit(px: f64) -> i32 {
    (px * f64::from(UNIT)).round() as i32
}

/// A place in units.
pub(super) type Place = (i32, i32);

/// A line's colour and its width in SVG pixels.
pub(super) type Line = (Ink, f64);

/// The part of a text that is at its place.
#[derive(Debug, Clone, Copy)]
pub(super) enum Anchor {
    /// The start, at half its height.
    Start,
    /// The end, at half its height.
    End,
    /// The middle of its top.
    Top,
    /// The middle of its bottom.
    Bottom,
}

/// The elements of a figure; [`document`] adds the document around them.
#[derive(Default)]
pub(super) struct Elements(pub String);

impl Elements {
    /// Appends formatted text. Writing to a `String` cannot fail.
    fn add(&mut self, text: fmt::Arguments<'_>) {
        let _ = self.0.write_fmt(text);
    }

    fn paint(&mut self, name: &str, ink: Ink) {
        let (r, g, b) = ink.rgb;
        self.add(format_args!(" {name}=\"#{r:02x}{g:02x}{b:02x}\""));
        if ink.opacity < 1.0 {
            self.add(format_args!(" {name}-opacity=\"{}\"", number(ink.opacity)));
        }
    }

    fn stroke(&mut self, (ink, width): Line, dash: &str) {
        self.paint("stroke", ink);
        self.add(format_args!(" stroke-width=\"{}\"", number(width)));
        if !dash.is_empty() {
            self.add(format_args!(" stroke-dasharray=\"{dash}\""));
        }
    }

    /// Ends an element with its points, without repetitions.
    fn points(&mut self, points: impl IntoIterator<Item = Place>) {
        let mut points: Vec<Place> = points.into_iter().collect();
        points.dedup();
        let shown: Vec<String> = points.iter().map(|&(x, y)| format!("{},{}", Hundredths(x), Hundredths(y))).collect();
        self.add(format_args!(" points=\"{}\"/>\n", shown.join(" ")));
    }

    pub(super) fn segment(&mut self, (x1, y1): Place, (x2, y2): Place, line: Line) {
        let [x1, y1, x2, y2] = [x1, y1, x2, y2].map(Hundredths);
        self.add(format_args!("<line x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\""));
        self.stroke(line, "");
        self.0.push_str("/>\n");
    }

    /// `dash` is a `stroke-dasharray`, empty for a solid line.
    pub(super) fn path(&mut self, points: impl IntoIterator<Item = Place>, line: Line, dash: &str) {
        self.0.push_str("<polyline fill=\"none\" stroke-linejoin=\"round\"");
        self.stroke(line, dash);
        self.points(points);
    }

    /// A filled box between two corners.
    pub(super) fn bar(&mut self, a: Place, b: Place, ink: Ink) {
        let [x, y, width, height] = [a.0.min(b.0), a.1.min(b.1), (b.0 - a.0).abs(), (b.1 - a.1).abs()].map(Hundredths);
        self.add(format_args!("<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\""));
        self.paint("fill", ink);
        self.0.push_str("/>\n");
    }

    pub(super) fn disc(&mut self, (x, y): Place, radius: f64, ink: Ink) {
        let [x, y] = [x, y].map(Hundredths);
        self.add(format_args!("<circle cx=\"{x}\" cy=\"{y}\" r=\"{}\"", number(radius.abs())));
        self.paint("fill", ink);
        self.0.push_str("/>\n");
    }

    pub(super) fn polygon(&mut self, points: impl IntoIterator<Item = Place>, ink: Ink) {
        self.0.push_str("<polygon");
        self.paint("fill", ink);
        self.points(points);
    }

    /// A text; `upwards` turns it around its place.
    pub(super) fn text(&mut self, text: &str, at: Place, size: f64, ink: Ink, anchor: Anchor, upwards: bool) {
        // Shares of the em, from the metrics of the embedded font: digits and capitals are 0.74 em high.
        let (drop, anchor) = match anchor {
            Anchor::Start => (0.365, ""),
            Anchor::End => (0.365, " text-anchor=\"end\""),
            Anchor::Top => (0.78, " text-anchor=\"middle\""),
            Anchor::Bottom => (-0.25, " text-anchor=\"middle\""),
        };
        let drop = (f64::from(unit(size)) * drop).round() as i32;
        let [x, y, baseline] = [at.0, at.1, at.1.saturating_add(drop)].map(Hundredths);
        self.add(format_args!("<text x=\"{x}\" y=\"{baseline}\" font-size=\"{}\"{anchor}", number(size)));
        self.paint("fill", ink);
        if upwards {
            self.add(format_args!(" transform=\"rotate(270 {x} {y})\""));
        }
        self.add(format_args!(">{}</text>\n", Escaped(text)));
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
        for c in printable(self.0, REPLACEMENT).chars() {
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

/// Drawn in place of a character that must not reach a file; the embedded font has it.
pub(super) const REPLACEMENT: char = '□';

/// A number with at most two decimals.
fn number(value: f64) -> Hundredths {
    Hundredths(unit(value))
}

/// A number of hundredths, written without trailing zeros.
struct Hundredths(i32);

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_two_decimals_at_most() {
        for (value, text) in [(0, "0"), (5, "0.05"), (-5, "-0.05"), (150, "1.5"), (-12_345, "-123.45"), (700, "7")] {
            assert_eq!(Hundredths(value).to_string(), text);
        }
        assert_eq!(number(0.125).to_string(), "0.13");
    }

    #[test]
    fn text_is_made_safe() {
        let out = Escaped("<a href=\"x\">&'技巧'\u{0}\u{7}\n\u{202e}\u{ffff}").to_string();
        assert_eq!(out, "&lt;a href=&quot;x&quot;&gt;&amp;&apos;技巧&apos;□□□□□");
    }
}
