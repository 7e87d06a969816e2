//! Text as outlines of the embedded font, so that the rasteriser needs neither fonts nor shaping.

use std::fmt::Write as _;

use ttf_parser::{Face, OutlineBuilder};

/// The SVG of a figure with a path in place of each text. A text that says not where it is, or how large, is left out.
///
/// The embedded font has neither kerning nor ligatures: each character has its own outline and its own width.
pub(super) fn outlined(svg: &str, face: &Face) -> String {
    let mut out = String::with_capacity(4 * svg.len());
    let mut rest = svg;
    while let Some((before, found)) = rest.split_once("<text ") {
        out.push_str(before);
        let Some((tag, (words, after))) =
            found.split_once('>').and_then(|(tag, body)| Some((tag, body.split_once("</text>")?)))
        else {
            return out + found;
        };
        if let Some(path) = path(tag, &unescaped(words), face) {
            out.push_str(&path);
        }
        rest = after;
    }
    out + rest
}

/// The outline of a character of the embedded font as the commands of an SVG path, with y upwards from the baseline,
/// and the units of its em. `None` for a character that the font does not have.
pub fn letter(c: char) -> Option<(String, u16)> {
    let face = super::font::face().ok()?;
    let mut outline = Outline { path: String::new(), at: 0.0 };
    face.outline_glyph(face.glyph_index(c)?, &mut outline)?;
    Some((outline.path, face.units_per_em()))
}

/// A text as a path element with the colour and the place of its tag.
fn path(tag: &str, words: &str, face: &Face) -> Option<String> {
    let number = |name: &str| attribute(tag, name)?.parse::<f64>().ok();
    let (x, y) = (number("x")?, number("y")?);
    let scale = number("font-size")? / f64::from(face.units_per_em());
    let mut outline = Outline { path: String::new(), at: 0.0 };
    for c in words.chars() {
        // glyph 0 is the box of characters that the font does not have
        let glyph = face.glyph_index(c).unwrap_or_default();
        let _ = face.outline_glyph(glyph, &mut outline);
        outline.at += f32::from(face.glyph_hor_advance(glyph).unwrap_or_default());
    }
    let before = match attribute(tag, "text-anchor") {
        Some("middle") => 0.5,
        Some("end") => 1.0,
        _ => 0.0,
    };
    let left = x - before * scale * f64::from(outline.at);
    let turn = attribute(tag, "transform").unwrap_or_default();
    let mut out = format!("<path transform=\"{turn} translate({left} {y}) scale({scale} -{scale})\"");
    for name in ["fill", "fill-opacity"] {
        if let Some(value) = attribute(tag, name) {
            // writing to a string does not fail
            let _ = write!(out, " {name}=\"{value}\"");
        }
    }
    Some(format!("{out} d=\"{}\"/>", outline.path))
}

/// The value of an attribute of a tag that this crate wrote.
fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let mut parts = tag.split('"');
    while let (Some(before), Some(value)) = (parts.next(), parts.next()) {
        if before.trim() == format!("{name}=") {
            return Some(value);
        }
    }
    None
}

/// The inverse of [`super::Escaped`].
fn unescaped(text: &str) -> String {
    let mut out = text.to_owned();
    for (entity, c) in [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")] {
        out = out.replace(entity, c);
    }
    out
}

/// The commands of an SVG path in units of the font, `at` units right of the start of the text.
struct Outline {
    path: String,
    at: f32,
}

impl Outline {
    fn command(&mut self, letter: char, points: &[(f32, f32)]) {
        self.path.push(letter);
        for number in points.iter().flat_map(|(x, y)| [x + self.at, *y]) {
            // the font has whole units, whose middles curves need; integers are written much faster
            let (halves, whole) = ((2.0 * number) as i32, number as i32);
            // writing to a string does not fail
            let _ = if number == whole as f32 {
                write!(self.path, "{whole} ")
            } else if number > 0.0 && 2.0 * number == halves as f32 {
                write!(self.path, "{whole}.5 ")
            } else {
                write!(self.path, "{number} ")
            };
        }
    }
}

impl OutlineBuilder for Outline {
    fn move_to(&mut self, x: f32, y: f32) {
        self.command('M', &[(x, y)]);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.command('L', &[(x, y)]);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.command('Q', &[(x1, y1), (x, y)]);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.command('C', &[(x1, y1), (x2, y2), (x, y)]);
    }

    fn close(&mut self) {
        self.path.push('Z');
    }
}

#[cfg(test)]
mod tests {
    use super::super::font;
    use super::*;

    #[test]
    fn a_text_becomes_a_path_at_its_place() {
        let face = font::face().unwrap();
        let svg = "<g><text x=\"10\" y=\"20\" font-size=\"15\" text-anchor=\"end\" fill=\"#123456\" \
                   transform=\"rotate(270 10 20)\">&lt;技&gt;</text><text class=\"a\">no place</text></g>";
        let out = outlined(svg, &face);
        assert!(!out.contains("text") && out.starts_with("<g><path transform=\"rotate(270 10 20) translate("), "{out}");
        assert!(out.contains(" fill=\"#123456\"") && out.ends_with("Z\"/></g>"), "{out}");
        // three characters with their widths: the path ends where the text does
        let left: f64 = out.split(['(', ' ']).nth(6).unwrap().parse().unwrap();
        assert!((10.0 - left - font::width("<技>", 15.0)).abs() < 0.05, "{left}");
        assert_eq!(unescaped("&amp;lt;&apos;&quot;"), "&lt;'\"");
        assert_eq!(outlined("<text x=\"1\">", &face), "x=\"1\">");
    }
}
