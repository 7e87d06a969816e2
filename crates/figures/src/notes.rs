//! The notes below a figure: what was clipped, left out, or is worth knowing.

use evalcurve_words::language::{Language, Text};
use evalcurve_words::say;
use evalcurve_words::text::thousands;

use super::chart::number;
use super::{Bins, EngineSeries, Point};

/// Points that can be drawn, and the number of those beyond the axis.
pub(super) struct Visible {
    pub points: Vec<Point>,
    pub clipped: usize,
}

/// The points of a curve within ± `limit`, in order of score. Points that are not finite count as clipped.
pub(super) fn visible(curve: &[Point], limit: f64) -> Visible {
    let inside = |p: &&Point| p.x.abs() <= limit && (0.0..=1.0).contains(&p.win_rate);
    let mut points: Vec<Point> = curve.iter().filter(inside).copied().collect();
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    let clipped = curve.len() - points.len();
    for p in &mut points {
        // an invalid interval shrinks to its point
        p.low = if p.low.is_finite() { p.low.clamp(0.0, p.win_rate) } else { p.win_rate };
        p.high = if p.high.is_finite() { p.high.clamp(p.win_rate, 1.0) } else { p.win_rate };
    }
    Visible { points, clipped }
}

/// The note about clipped points, if any.
pub(super) fn clipped(count: usize, limit: f64, language: Language) -> Option<String> {
    let (points, limit) = (Text::counted(count as u64, "{n} point", "{n} points"), number(limit));
    (count > 0).then(|| say!(language, "clipped: {points} beyond ±{limit}"))
}

/// The note about bins without a point.
pub(super) fn left_out(count: usize, language: Language) -> Option<String> {
    let bins = Text::counted(count as u64, "{n} bin", "{n} bins");
    (count > 0).then(|| say!(language, "left out: {bins} with too few positions"))
}

/// The width of the bins of a histogram, in centipawns; the default 200 if there is only one bin.
pub(super) fn bin_width(histogram: &[(f64, u64)]) -> f64 {
    let mut centres: Vec<f64> = histogram.iter().map(|bin| bin.0).filter(|c| c.is_finite()).collect();
    centres.sort_by(f64::total_cmp);
    let steps = centres.windows(2).map(|w| w[1] - w[0]).filter(|step| *step > 1e-9);
    steps.min_by(f64::total_cmp).unwrap_or(200.0)
}

/// The parts of a curve of an engine that a line may join: no bin without a point lies within one. Where bins have no
/// common width, three times the usual distance is a gap. `x` is the place of an item.
pub(super) fn parts<'p, T>(engine: &EngineSeries, items: &'p [T], x: fn(&T) -> f64) -> Vec<&'p [T]> {
    let mut steps: Vec<f64> = items.windows(2).map(|w| x(&w[1]) - x(&w[0])).collect();
    steps.sort_by(f64::total_cmp);
    let usual = steps.get(steps.len() / 2).copied().unwrap_or(0.0);
    let bin = (engine.bins == Bins::Width && !engine.histogram.is_empty()).then(|| bin_width(&engine.histogram));
    let joined = |a: &T, b: &T| match bin {
        Some(width) if width <= usual * 2.0 => (x(b) / width).floor() - (x(a) / width).floor() < 1.5,
        _ => x(b) - x(a) <= 3.0 * usual,
    };
    items.chunk_by(joined).collect()
}

/// Whether the curve has a point in that bin.
pub(super) fn has_point(engine: &EngineSeries, centre: f64, width: f64) -> bool {
    let (low, high) = (centre - width / 2.0, centre + width / 2.0);
    engine.curve.iter().any(|p| p.x >= low - 1e-9 && p.x <= high + 1e-9)
}

/// The number of bins of the histogram that hold positions but have no point on the curve; 0 if curve and histogram do
/// not use the same bins, since they cannot be compared.
pub(super) fn bins_left_out(engine: &EngineSeries) -> usize {
    if engine.curve.is_empty() || engine.bins == Bins::Quantile {
        return 0;
    }
    let width = bin_width(&engine.histogram);
    let same_bins = engine.curve.iter().all(|p| {
        engine.histogram.iter().any(|(centre, n)| *n == p.count && (p.x - centre).abs() <= width / 2.0 + 1e-9)
    });
    if !same_bins {
        return 0;
    }
    engine.histogram.iter().filter(|(centre, n)| *n > 0 && !has_point(engine, *centre, width)).count()
}

/// The numbers of engines and positions of a figure.
pub(super) fn counts(engines: &[EngineSeries], language: Language) -> String {
    let samples = || engines.iter().map(|e| e.samples);
    let total = samples().fold(0_u64, u64::saturating_add);
    let positions = thousands(total);
    let count = Text::counted(engines.len() as u64, "{n} engine", "{n} engines");
    match (engines, samples().min(), samples().max()) {
        _ if total == 0 => count.text(language),
        ([_, _, ..], Some(least), Some(most)) => {
            let (least, most) = (thousands(least), thousands(most));
            say!(language, "{count} · {positions} positions in all · {least} to {most} per engine")
        }
        _ => say!(language, "{count} · {positions} positions"),
    }
}

/// The notes of the engines, each with the engine's name.
pub(super) fn remarks(engines: &[EngineSeries]) -> Vec<String> {
    engines.iter().filter_map(|e| Some(format!("{}: {}", e.name, e.note.as_ref()?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(x: f64, count: u64) -> Point {
        Point { x, win_rate: 0.5, low: 0.4, high: 0.6, count }
    }

    #[test]
    fn points_beyond_the_axis_are_counted() {
        let curve = [point(-3100.0, 60), point(200.0, 90), point(-100.0, 70), point(f64::NAN, 1)];
        let seen = visible(&curve, 3000.0);
        assert_eq!(seen.points.iter().map(|p| p.x).collect::<Vec<_>>(), [-100.0, 200.0]);
        assert_eq!(clipped(seen.clipped, 3000.0, Language::English).unwrap(), "clipped: 2 points beyond ±3000");
        assert_eq!(clipped(0, 3000.0, Language::English), None);
    }

    #[test]
    fn a_line_ends_where_a_bin_has_no_point() {
        let mut engine = EngineSeries::new("a", 0);
        engine.histogram = vec![(-100.0, 70), (100.0, 90), (300.0, 12)];
        let at = |xs: &[f64]| xs.iter().map(|x| point(*x, 60)).collect::<Vec<_>>();
        let sizes = |engine: &EngineSeries, points: &[Point]| {
            parts(engine, points, |p| p.x).iter().map(|part| part.len()).collect::<Vec<_>>()
        };
        // the means of neighbouring bins may be nearly two widths apart, those around an empty bin little more than one
        let points = at(&[-390.0, -10.0, 190.0, 401.0, 599.0, 2000.0]);
        assert_eq!(sizes(&engine, &points), [3, 2, 1]);
        engine.bins = Bins::Quantile;
        assert_eq!(sizes(&engine, &points), [5, 1]);
        assert!(parts(&engine, &points[..0], |p| p.x).is_empty());
    }

    #[test]
    fn bins_without_a_point_are_counted_only_if_they_match() {
        let mut engine = EngineSeries::new("a", 0);
        engine.histogram = vec![(-100.0, 70), (100.0, 90), (300.0, 12), (700.0, 3), (900.0, 0)];
        engine.curve = vec![point(-80.0, 70), point(110.0, 90)];
        assert_eq!(bin_width(&engine.histogram), 200.0);
        assert_eq!(bins_left_out(&engine), 2);
        engine.curve[0].count = 71;
        assert_eq!(bins_left_out(&engine), 0);
    }
}
