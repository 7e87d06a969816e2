//! Figure 4 of Takeuchi (2018): how often each score occurs.

use super::chart::{AxisSpec, Words, number, score_axis};
use super::figures::{SHADE, back_to_front, require};
use super::labels::{entries, look, more, named_lines};
use super::notes::{bin_width, caption, counted, remarks};
use super::{EngineSeries, Figure, PlotError, PlotOptions};

/// The outline of a histogram: corners from left to right, as shares of all its positions.
struct Outline {
    corners: Vec<(f64, f64)>,
    /// Positions beyond the axis.
    beyond: u64,
}

/// How often each score occurs, as the share of the engine's positions in each bin, in stepped outlines.
///
/// # Errors
/// No engine, no engine with a position within the axis, or options out of range.
pub fn histograms(engines: &[EngineSeries], options: &PlotOptions) -> Result<Figure, PlotError> {
    let limit = options.score_limit_cp;
    let axis = score_axis(limit);
    let outlines: Vec<Outline> = engines.iter().map(|e| outline(&e.histogram, limit)).collect();
    let drawn: Vec<bool> = outlines.iter().map(|o| !o.corners.is_empty()).collect();
    require(engines, &drawn, "a position", &axis)?;
    let entries = entries(engines, &drawn, options);

    let beyond: u64 = outlines.iter().map(|o| o.beyond).fold(0, u64::saturating_add);
    let mut notes = Vec::new();
    if beyond > 0 {
        let text = format!("clipped: {} beyond ±{}", counted(beyond, "position"), number(limit));
        notes.push(format!("{text} (counted in the shares)"));
    }
    notes.extend(more(&entries, "no positions"));
    notes.extend(remarks(engines));
    let mut widths: Vec<f64> =
        engines.iter().zip(&drawn).filter(|(_, d)| **d).map(|(e, _)| bin_width(&e.histogram)).collect();
    widths.dedup();
    let mut caption = caption(engines);
    if let [width] = widths[..] {
        caption += &format!(" · bins of {} centipawns", number(width));
    }
    let words = Words { title: "How often each score occurs", caption: &caption, notes: &notes };
    let highest = outlines.iter().flat_map(|o| &o.corners).map(|c| c.1).fold(0.0, f64::max);
    let shares = AxisSpec {
        format: &|v| format!("{}%", number(v * 100.0)),
        ..AxisSpec::new("share of the engine's positions in the bin", (0.0, highest * 1.06))
    };
    named_lines(options, words, (&entries, "no positions"), false, (&axis, &shares), |canvas| {
        for i in back_to_front(&entries) {
            let (corners, look) = (&outlines[i].corners, look(&entries[i]));
            if let ([first, .., last], true) = (&corners[..], engines.len() == 1) {
                let mut shape = corners.clone();
                shape.extend([(last.0, 0.0), (first.0, 0.0)]);
                canvas.polygon(&shape, look.ink().mix(SHADE));
            }
            canvas.line(corners, (look.ink(), 1.8), look.dash);
        }
        Vec::new()
    })
}

/// The outline of a histogram; absent bins count as empty.
fn outline(histogram: &[(f64, u64)], limit: f64) -> Outline {
    let total: u64 = histogram.iter().map(|bin| bin.1).fold(0, u64::saturating_add);
    let width = bin_width(histogram);
    let inside = |centre: f64| centre.abs() <= limit + 1e-9;
    let mut bins: Vec<(f64, u64)> = histogram.iter().copied().filter(|bin| inside(bin.0) && bin.1 > 0).collect();
    bins.sort_by(|a, b| a.0.total_cmp(&b.0));
    let shown: u64 = bins.iter().map(|bin| bin.1).fold(0, u64::saturating_add);
    let mut corners: Vec<(f64, f64)> = Vec::new();
    let mut edge = f64::NEG_INFINITY;
    for (centre, count) in bins {
        let (low, high) = ((centre - width / 2.0).max(-limit), (centre + width / 2.0).min(limit));
        let share = count as f64 / total as f64;
        if low > edge + width * 1e-6 {
            // a gap: down to the axis and up again
            if edge.is_finite() {
                corners.push((edge, 0.0));
            }
            corners.push((low, 0.0));
        }
        corners.extend([(low, share), (high, share)]);
        edge = high;
    }
    if edge.is_finite() {
        corners.push((edge, 0.0));
    }
    Outline { corners, beyond: total.saturating_sub(shown) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outlines_step_and_fall_to_the_axis_in_gaps() {
        let made = outline(&[(100.0, 3), (-100.0, 1), (700.0, 4), (900.0, 2)], 800.0);
        let expected = [
            (-200.0, 0.0),
            (-200.0, 0.1),
            (0.0, 0.1),
            (0.0, 0.3),
            (200.0, 0.3),
            (200.0, 0.0),
            (600.0, 0.0),
            (600.0, 0.4),
            (800.0, 0.4),
            (800.0, 0.0),
        ];
        assert_eq!(made.corners, expected);
        assert_eq!(made.beyond, 2);
        assert!(outline(&[], 800.0).corners.is_empty());
    }
}
