//! Figure 4 of Takeuchi (2018): how often each score occurs.

use evalcurve_words::language::Text;
use evalcurve_words::say;
use plotters::style::Color;

use super::chart::{AxisSpec, Canvas, Words, number, score_axis, stroke};
use super::figures::{SHADE, require};
use super::labels::{Names, entries, named_lines};
use super::limits::{Reach, limit};
use super::notes::{bin_width, counts, remarks};
use super::palette::{Stroke, color};
use super::panels::{MOST_TOGETHER, listed, panels, with_panel};
use super::{Data, EngineSeries, Figure, PlotError, PlotOptions};

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
    options.check()?;
    let language = options.language;
    let limit = limit(engines, options, Reach::Positions);
    let axis = score_axis(limit, options.language);
    let outlines: Vec<Outline> = engines.iter().map(|e| outline(&e.histogram, limit)).collect();
    let drawn: Vec<bool> = outlines.iter().map(|o| !o.corners.is_empty()).collect();
    require(engines, &drawn, "a position", &axis)?;

    let mut widths: Vec<f64> =
        engines.iter().zip(&drawn).filter(|(_, d)| **d).map(|(e, _)| bin_width(&e.histogram)).collect();
    widths.dedup();
    let mut notes = vec![counts(engines, language)];
    if let [width] = widths[..] {
        let width = number(width);
        notes.push(say!(language, "bins of {width} centipawns"));
    }
    let beyond: u64 = outlines.iter().map(|o| o.beyond).fold(0, u64::saturating_add);
    if beyond > 0 {
        let (positions, limit) = (Text::counted(beyond, "{n} position", "{n} positions"), number(limit));
        notes.push(say!(language, "clipped: {positions} beyond ±{limit} (counted in the shares)"));
    }
    let without: Vec<&str> = engines.iter().zip(&drawn).filter(|(_, d)| !**d).map(|(e, _)| e.name.as_str()).collect();
    notes.extend(listed(language.word("without positions"), &without, language));
    notes.extend(remarks(engines));
    let see = language.word("The wider an engine's outline, the larger the scores that it gives.");
    let title = language.word("How often each score occurs");
    let highest = outlines.iter().flat_map(|o| &o.corners).map(|c| c.1).fold(0.0, f64::max);
    let shares = AxisSpec {
        format: &|v| format!("{}%", number(v * 100.0)),
        ..AxisSpec::new(language.word("share of positions"), (0.0, highest * 1.06))
    };
    let draw = |canvas: &mut Canvas<'_, '_, '_>, outline: &Outline, look: Stroke, shaded: bool| {
        let corners = &outline.corners;
        if let ([first, .., last], true) = (&corners[..], shaded) {
            let mut shape = corners.clone();
            shape.extend([(last.0, 0.0), (first.0, 0.0)]);
            canvas.polygon(shape, &look.line_color().mix(SHADE))?;
        }
        canvas.line(corners, stroke(&look.line_color(), 1.8), look.dash)
    };
    let figure = if drawn.iter().filter(|drawn| **drawn).count() > MOST_TOGETHER {
        let (order, rest) = with_panel(engines, &drawn, language);
        notes.extend(rest);
        let words = Words { title, caption: see, notes: &notes };
        panels(engines, &order, words, (&axis, &shares), options, |i, canvas| {
            draw(canvas, &outlines[i], color(0), true)
        })?
    } else {
        let entries = entries(engines, &drawn, options);
        let words = Words { title, caption: see, notes: &notes };
        named_lines(options, words, &entries, Names::Legend, (&axis, &shares), |canvas| {
            for entry in entries.iter().rev() {
                draw(canvas, &outlines[entry.index], entry.look, engines.len() == 1)?;
            }
            Ok(())
        })?
    };
    Ok(figure.with_data(data(engines)))
}

/// The positions of each bin.
fn data(engines: &[EngineSeries]) -> Data {
    let mut data = Data { head: vec!["engine", "bin_centre", "positions", "share"], ..Data::default() };
    for engine in engines {
        let total = engine.histogram.iter().map(|bin| bin.1).fold(0, u64::saturating_add);
        data.rows.extend(engine.histogram.iter().map(|&(centre, count)| {
            let share = count as f64 / total.max(1) as f64;
            vec![engine.name.clone(), format!("{centre}"), count.to_string(), format!("{share:.6}")]
        }));
    }
    data
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
