//! How far the score axis of a figure reaches.

use super::{EngineSeries, PlotOptions};

/// What the axis must show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// The fitted curves, until the steepest is nearly flat: there they are furthest apart.
    Curves,
    /// All points of the evaluation curves.
    Points,
    /// Most positions.
    Positions,
}

/// The win rate from which on a curve is nearly flat.
const FLAT: f64 = 0.97;
/// How far beyond the score at which the curve is flat points are shown.
const FAR: f64 = 1.6;
/// The share of the positions within the axis of a histogram.
const MOST: f64 = 0.9;
/// The most that the axis may exceed what the middle engine needs.
const WIDEST: f64 = 2.0;
/// The limit without anything to show.
const USUAL: f64 = 3000.0;
/// Axes end at a round number between these.
const ENDS: (f64, f64) = (200.0, 10_000.0);

/// The end of the score axis: that of the options, else the least round one that shows what the figure must show.
pub(super) fn limit(engines: &[EngineSeries], options: &PlotOptions, reach: Reach) -> f64 {
    let own = |e: &EngineSeries| match reach {
        Reach::Curves => flat(e),
        Reach::Points => {
            let points = e.curve.iter().map(|p| p.x.abs()).filter(|x| x.is_finite()).fold(0.0, f64::max);
            // far out there is nothing to see but 0 and 1
            match flat(e) {
                flat if flat > 0.0 && points > 0.0 => points.min(FAR * flat),
                flat => flat.max(points),
            }
        }
        Reach::Positions => within(&e.histogram),
    };
    let mut ends: Vec<f64> = engines.iter().map(own).filter(|end| *end > 0.0).collect();
    ends.sort_by(f64::total_cmp);
    // one flat curve must not squeeze all others
    let middle = ends.get(ends.len() / 2).copied().unwrap_or(0.0);
    let far = match reach {
        Reach::Curves => ends.first().copied().unwrap_or(0.0),
        Reach::Points | Reach::Positions => WIDEST * middle,
    };
    let fitted = ends.last().copied().unwrap_or(0.0).min(far);
    options.score_limit_cp.unwrap_or(if fitted > 0.0 { rounded(fitted) } else { USUAL })
}

/// The score from which on the curves of an engine are nearly flat; 0 if none gets there.
fn flat(engine: &EngineSeries) -> f64 {
    let curves = engine.equal.iter().chain(engine.field.as_ref().or(engine.fits.last()));
    let reached = |curve: &super::FittedCurve| {
        let at = |p: &&super::Point| p.x > 0.0 && p.win_rate >= FLAT;
        curve.path.iter().find(at).map(|p| p.x).filter(|x| *x < ENDS.1)
    };
    curves.filter_map(reached).fold(0.0, f64::max)
}

/// The score within which most positions lie.
fn within(histogram: &[(f64, u64)]) -> f64 {
    let mut bins: Vec<(f64, u64)> = histogram.iter().filter(|b| b.0.is_finite()).map(|&(x, n)| (x.abs(), n)).collect();
    bins.sort_by(|a, b| a.0.total_cmp(&b.0));
    let total: f64 = bins.iter().map(|b| b.1 as f64).sum();
    let mut seen = 0.0;
    for (x, count) in bins {
        seen += count as f64;
        if seen >= MOST * total {
            return x;
        }
    }
    0.0
}

/// The least round number that is not less.
fn rounded(limit: f64) -> f64 {
    let limit = limit.clamp(ENDS.0, ENDS.1);
    let power = libm::pow(10.0, libm::floor(libm::log10(limit)));
    let steps = [1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0];
    steps.into_iter().map(|step| step * power).find(|end| *end >= limit * 0.999).unwrap_or(limit)
}

#[cfg(test)]
mod tests {
    use super::super::{FittedCurve, Point};
    use super::*;

    #[test]
    fn the_axis_ends_where_the_data_do() {
        let options = PlotOptions::default();
        let mut engine = EngineSeries::new("a", 0);
        assert_eq!(limit(&[engine.clone()], &options, Reach::Points), 3000.0);
        // 1/w1 = 400: a win rate of 0.97 at 400 ln(0.97 / 0.03) = 1390
        engine.equal = Some(FittedCurve::sample("a", "", |x| (1.0 / (1.0 + libm::exp(-x / 400.0)), None)));
        assert_eq!(limit(&[engine.clone()], &options, Reach::Curves), 1500.0);
        engine.curve = vec![Point { x: -2290.0, win_rate: 0.0, low: 0.0, high: 0.1, count: 60 }];
        assert_eq!(limit(&[engine.clone()], &options, Reach::Points), 2500.0);
        engine.curve[0].x = -9000.0;
        assert_eq!(limit(&[engine.clone()], &options, Reach::Points), 2500.0);
        engine.curve[0].x = 700.0;
        assert_eq!(limit(&[engine.clone()], &options, Reach::Points), 800.0);
        engine.histogram = vec![(-100.0, 50), (100.0, 42), (5000.0, 8)];
        assert_eq!(limit(&[engine.clone()], &options, Reach::Positions), 200.0);
        let flatter = FittedCurve::sample("b", "", |x| (1.0 / (1.0 + libm::exp(-x / 2000.0)), None));
        let other = EngineSeries { equal: Some(flatter), ..EngineSeries::new("b", 1) };
        assert_eq!(limit(&[engine.clone(), other], &options, Reach::Curves), 1500.0);
        let own = PlotOptions { score_limit_cp: Some(750.0), ..options };
        assert_eq!(limit(&[engine], &own, Reach::Points), 750.0);
    }
}
