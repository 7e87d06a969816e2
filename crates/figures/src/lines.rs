//! Lines of rates over a quantity, with their standard errors: the figures of simulations.

use super::chart::{AxisSpec, Words, stroke};
use super::labels::{Entry, Names, named_lines};
use super::palette::color;
use super::{Data, Figure, PlotError, PlotOptions};

#[derive(Debug, Clone, PartialEq, Default)]
pub struct RateLine {
    pub name: String,
    /// Index for [`color`]: the same subject has the same colour in all figures.
    pub color: usize,
    /// x, y and the standard error of y, from left to right; the error of an exact value is 0.
    pub points: Vec<(f64, f64, f64)>,
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

/// Draws lines with a disc at each simulated point and bars of two standard errors. The range of the axes is that of
/// the lines and of these bars.
///
/// # Errors
/// No point at all, or options out of range.
pub fn rate_chart(chart: &RateChart, options: &PlotOptions) -> Result<Figure, PlotError> {
    options.check()?;
    let points = || chart.lines.iter().flat_map(|l| &l.points).filter(|p| p.0.is_finite() && p.1.is_finite());
    if points().next().is_none() {
        return Err(PlotError::nothing(chart.lines.len(), "a point", "any range"));
    }
    let axis = |name, share: f64, of: fn(&(f64, f64, f64)) -> (f64, f64)| {
        let (low, high) =
            points().map(|p| of(p).0).fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
        let margin = ((high - low) * share).max(1e-3);
        let ends = |(a, b): (f64, f64), p| (a.min(of(p).0 - of(p).1), b.max(of(p).0 + of(p).1));
        AxisSpec::new(name, points().fold((low - margin, high + margin), ends))
    };
    let (x, y) = (axis(&chart.x_name, 0.03, |p| (p.0, 0.0)), axis(&chart.y_name, 0.06, |p| (p.1, 2.0 * p.2)));
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
            let simulated = || line.points.iter().filter(|p| p.2 > 0.0);
            let bars = simulated().map(|&(x, y, error)| (x, [y - 2.0 * error, y + 2.0 * error]));
            for (x, [low, high]) in bars.chain(line.seen.iter().map(|&(x, _, ends)| (x, ends))) {
                canvas.line(&[(x, low), (x, high)], stroke(&ink, 1.4), "")?;
            }
            let discs: Vec<(f64, f64)> =
                simulated().map(|p| (p.0, p.1)).chain(line.seen.iter().map(|p| (p.0, p.1))).collect();
            canvas.discs(&discs, 2.8, &ink)?;
        }
        Ok(())
    })?;
    Ok(figure.with_data(data(chart)))
}

/// The points of all lines, with bars of two standard errors or intervals as `low` and `high`.
fn data(chart: &RateChart) -> Data {
    let mut data = Data { head: vec!["line", "series", "x", "y", "low", "high"], rows: Vec::new() };
    for line in &chart.lines {
        let points =
            line.points.iter().map(|&(x, y, e)| ("line", x, y, (e > 0.0).then_some([y - 2.0 * e, y + 2.0 * e])));
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
        let line = |name: &str, color, error| RateLine {
            name: name.to_owned(),
            color,
            points: vec![(1.0, 0.7, error), (2.0, 0.6, error)],
            seen: vec![(1.5, 0.65, [0.62, 0.68])],
        };
        let chart = RateChart {
            title: "Best-move rate".to_owned(),
            lines: vec![line("多数決 (majority)", 2, 0.01), line("single", 6, 0.0)],
            ..RateChart::default()
        };
        let figure = rate_chart(&chart, &PlotOptions::default()).unwrap();
        assert!(figure.svg().contains("多数決 (majority)") && figure.svg().contains("Best-move rate"));
        assert!(rate_chart(&RateChart::default(), &PlotOptions::default()).is_err());
    }
}
