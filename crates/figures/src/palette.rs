//! Colours that colour-blind readers can distinguish.

use plotters::style::RGBColor;

/// The colours of Okabe and Ito (Color Universal Design, 2008), ordered by legibility on white; a brown in place of
/// their yellow, which white hides.
pub const PALETTE: [(u8, u8, u8); 8] = [
    (0x00, 0x72, 0xB2), // blue
    (0xD5, 0x5E, 0x00), // vermilion
    (0x00, 0x9E, 0x73), // bluish green
    (0xCC, 0x79, 0xA7), // reddish purple
    (0xE6, 0x9F, 0x00), // orange
    (0x56, 0xB4, 0xE9), // sky blue
    (0x00, 0x00, 0x00), // black
    (0x8C, 0x56, 0x4B), // brown
];

/// Place of the second blue in the palette.
const SKY_BLUE: usize = 5;

/// Dash patterns, one for each turn through the palette, and for each of the lines of one frame.
const DASHES: [&str; 6] = ["", "7 3", "2 2.4", "10 3 2 3", "14 4", "10 3 2 3 2 3"];

/// The style of an engine's line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stroke {
    /// Red, green, blue.
    pub rgb: (u8, u8, u8),
    /// SVG `stroke-dasharray` in pixels; empty for a solid line.
    pub dash: &'static str,
}

/// The line style of the engine with that index: eight colours, then the same eight darker and dashed, then dotted, and
/// so on. The first 48 are all different. The second blue is dashed, so that nobody takes it for the first.
pub fn color(index: usize) -> Stroke {
    let (r, g, b) = PALETTE[index % PALETTE.len()];
    let turn = (index / PALETTE.len()) % DASHES.len();
    let black = (r, g, b) == (0, 0, 0);
    // black cannot get darker, so it becomes grey
    let rgb = match turn {
        0 | 2 => (r, g, b),
        _ if black => (0x6E, 0x6E, 0x6E),
        _ => darken((r, g, b), 0.66),
    };
    let dash = if index == SKY_BLUE { DASHES[1] } else { DASHES[turn] };
    Stroke { rgb, dash }
}

/// [`color`] for one of a few lines, which differ in their dashes, too: nobody needs colours to tell them apart.
pub fn dashed(index: usize) -> Stroke {
    Stroke { dash: DASHES[index % DASHES.len()], ..color(index) }
}

impl Stroke {
    /// The colour for plotters.
    pub fn line_color(self) -> RGBColor {
        RGBColor(self.rgb.0, self.rgb.1, self.rgb.2)
    }

    /// The same hue, dark enough for text on white.
    pub(super) fn text_color(self) -> RGBColor {
        let mut rgb = self.rgb;
        while contrast(rgb, WHITE) < 4.5 {
            rgb = darken(rgb, 0.95);
        }
        RGBColor(rgb.0, rgb.1, rgb.2)
    }
}

fn darken((r, g, b): (u8, u8, u8), factor: f64) -> (u8, u8, u8) {
    let scale = |c: u8| (f64::from(c) * factor).floor() as u8;
    (scale(r), scale(g), scale(b))
}

const WHITE: (u8, u8, u8) = (0xFF, 0xFF, 0xFF);

/// Contrast ratio of two colours by WCAG 2, 1 to 21. Level AA asks for 4.5 between text and its
/// background.
pub fn contrast(one: (u8, u8, u8), other: (u8, u8, u8)) -> f64 {
    let linear = |c: u8| {
        let c = f64::from(c) / 255.0;
        if c <= 0.04045 { c / 12.92 } else { libm::pow((c + 0.055) / 1.055, 2.4) }
    };
    let luminance = |(r, g, b): (u8, u8, u8)| 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_stand_out_on_white_and_text_can_be_read() {
        for index in 0..48 {
            let stroke = color(index);
            assert!(contrast(stroke.rgb, WHITE) >= 2.2, "{index} {stroke:?}");
            let RGBColor(r, g, b) = stroke.text_color();
            assert!(contrast((r, g, b), WHITE) >= 4.5, "{index}");
        }
    }

    #[test]
    fn engines_have_lines_of_their_own() {
        let all: std::collections::HashSet<_> = (0..48).map(|i| (color(i).rgb, color(i).dash)).collect();
        let dashes: std::collections::HashSet<_> = (0..6).map(|i| dashed(i).dash).collect();
        assert_eq!((all.len(), dashes.len(), color(0)), (48, 6, color(48)));
    }
}
