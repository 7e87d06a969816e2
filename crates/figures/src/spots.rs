//! Places in a figure where numbers can be read on a page.

use std::fmt::Write;

use super::svg::Escaped;
use super::{Spot, font};

/// Size of the words.
const SIZE: f64 = 12.5;
/// Radius within which a spot reacts.
const REACH: f64 = 9.0;
/// Height of the box around the words.
const BOX: f64 = 22.0;

/// The SVG `body`, which lacks its end, with the spots. The spots come after all that is drawn, so that words cover it.
pub(super) fn draw(body: &str, spots: &[Spot]) -> String {
    let mut out = body.to_owned();
    let right = spots.iter().map(|spot| spot.x).fold(0.0, f64::max) + 12.0;
    for spot in spots {
        let width = font::width(&spot.words, SIZE) + 14.0;
        // words are above the spot, and further left of it the further right it is, so that they stay in the figure
        let (left, top) = ((spot.x - width * spot.x / right).max(2.0), (spot.y - BOX - 10.0).max(4.0));
        // writing to a string does not fail
        let _ = writeln!(
            out,
            "<g class=\"spot\" tabindex=\"0\" role=\"img\" aria-label=\"{words}\"><circle cx=\"{:.1}\" \
             cy=\"{:.1}\" r=\"{REACH}\"/><g class=\"tip\"><rect x=\"{left:.1}\" y=\"{top:.1}\" \
             width=\"{width:.1}\" height=\"{BOX}\" rx=\"3\"/><text x=\"{:.1}\" y=\"{:.1}\" \
             font-size=\"{SIZE}\">{words}</text></g></g>",
            spot.x,
            spot.y,
            left + 7.0,
            top + 15.5,
            words = Escaped(&spot.words),
        );
    }
    out + "</svg>\n"
}
