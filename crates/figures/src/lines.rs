//! Lines of rates over a quantity, with bars for their intervals: the figures of simulations.

use super::chart::{AxisSpec, Words, stroke};
use super::labels::{Entry, Names, named_lines};
use super::palette::color;
use super::{Data, Figure, PlotError, PlotOptions};

#[derive(Debug, Clone, PartialEq, Default)]
pub struct RateLine {
    pub name: String,
    /// Index for [`color`]: the same subject has the same colour in all figures.
    pub color: usize,
    /// x, y and the ends of the interval of y, from left to right; an exact value has none.
    pub points: Vec<(f64, f64, Option<[f64; 2]>)>,
    /// What was observed, as discs that no line joins: x, y and the ends of the interval of y.
    pub seen: Vec<(f64, f64, [f64; 2])>,
}

/// Lines over one quantity.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RateChart {
    pub title: String,
    /// The line below the title.
    pub caption: String,
    /// The name of the horizontal axis.
    pub x_name: String,
    /// The name of the vertical axis.
    pub y_name: String,
    /// The lines, the most important first.
    pub lines: Vec<RateLine>,
    /// Notes below the figure.
    pub notes: Vec<String>,
}

/// Draws lines with a disc and a bar at each point that has an interval. The range of the axes is that of the lines and
/// of these bars.
///
/// # Errors
/// No point at all, or options out of range.
pub fn rate_chart(chart: &RateChart, options: &PlotOptions) -> Result<Figure, PlotError> {
    options.check()?;
    let points = || chart.lines.iter().flat_map(|l| &l.points).filter(|p| p.0.is_finite() && p.1.is_finite());
    if points().next().is_none() {
        return Err(PlotError::nothing(chart.lines.len(), "a point", "any range"));
    }
    let axis = |name, share: f64, values: &[f64], ends: &[f64]| {
        let span = |values: &[f64], from: (f64, f64)| values.iter().fold(from, |(a, b), v| (a.min(*v), b.max(*v)));
        let (low, high) = span(values, (f64::INFINITY, f64::NEG_INFINITY));
        let margin = ((high - low) * share).max(1e-3);
        AxisSpec::new(name, span(ends, (low - margin, high + margin)))
    };
    let [xs, ys] = [points().map(|p| p.0).collect::<Vec<f64>>(), points().map(|p| p.1).collect()];
    let ends: Vec<f64> = points().filter_map(|p| p.2).flatten().collect();
    let (x, y) = (axis(&chart.x_name, 0.03, &xs, &[]), axis(&chart.y_name, 0.06, &ys, &ends));
    let with_points = chart.lines.iter().enumerate().filter(|(_, line)| !line.points.is_empty());
    let entry = |(index, l): (usize, &RateLine)| Entry { index, name: l.name.clone(), look: color(l.color) };
    let entries: Vec<Entry> = with_points.map(entry).collect();
    let words = Words { title: &chart.title, caption: &chart.caption, notes: &chart.notes };
    let path = |entry: &Entry| chart.lines[entry.index].points.iter().map(|p| (p.0, p.1)).collect();
    let paths: Vec<Vec<(f64, f64)>> = entries.iter().map(path).collect();
    let figure = named_lines(options, words, &entries, Names::Ends(&paths), (&x, &y), |canvas| {
        for (entry, path) in entries.iter().zip(&paths).rev() {
            let line = &chart.lines[entry.index];
            let ink = entry.look.line_color();
            if path.len() > 1 {
                canvas.line(path, stroke(&ink, 1.8), entry.look.dash)?;
            }
            let estimated = line.points.iter().filter_map(|&(x, y, ends)| Some((x, y, ends?)));
            let marks: Vec<(f64, f64, [f64; 2])> = estimated.chain(line.seen.iter().copied()).collect();
            for &(x, _, [low, high]) in &marks {
                canvas.line(&[(x, low), (x, high)], stroke(&ink, 1.4), "")?;
            }
            let discs: Vec<(f64, f64)> = marks.iter().map(|mark| (mark.0, mark.1)).collect();
            canvas.discs(&discs, 2.8, &ink)?;
        }
        Ok(())
    })?;
    Ok(figure.with_data(data(chart)))
}

/// The points of all lines, with the ends of their intervals as `low` and `high`.
fn data(chart: &RateChart) -> Data {
    let mut data = Data { head: vec!["line", "series", "x", "y", "low", "high"], ..Data::default() };
    for line in &chart.lines {
        let points = line.points.iter().map(|&(x, y, ends)| ("line", x, y, ends));
        let seen = line.seen.iter().map(|&(x, y, ends)| ("seen", x, y, Some(ends)));
        for (series, x, y, ends) in points.chain(seen) {
            let [low, high] = [0, 1].map(|end| ends.map_or_else(String::new, |ends| format!("{:.6}", ends[end])));
            data.rows.push(vec![line.name.clone(), series.to_owned(), format!("{x:.3}"), format!("{y:.6}"), low, high]);
        }
    }
    data
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_drawn_with_their_names_and_errors() {
        let line = |name: &str, color, ends| RateLine {
            name: name.to_owned(),
            color,
            points: vec![(1.0, 0.7, ends), (2.0, 0.6, ends)],
            seen: vec![(1.5, 0.65, [0.62, 0.68])],
        };
        let chart = RateChart {
            title: "Best-move rate".to_owned(),
            lines: vec![line("多数決 (majority)", 2, Some([0.55, 0.85])), line("single", 6, None)],
            ..RateChart::default()
        };
        let figure = rate_chart(&chart, &PlotOptions::default()).unwrap();
        assert!(figure.svg().contains("多数決 (majority)") && figure.svg().contains("Best-move rate"));
        assert!(figure.data().to_csv().contains("0.700000,0.550000,0.850000"));
        assert!(rate_chart(&RateChart::default(), &PlotOptions::default()).is_err());
    }
}
