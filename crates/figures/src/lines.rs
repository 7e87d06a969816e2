//! Rates over a quantity, several lines with their standard errors: the figures of simulations.

use super::chart::{Area, AxisSpec, Words, X_AXIS, frame, number, sheet, stroke};
use super::figures::below;
use super::labels::{Entry, Names};
use super::palette::color;
use super::{Figure, PlotError, PlotOptions, font};

/// One line.
#[derive(Debug, Clone, PartialEq)]
pub struct RateLine {
    /// Its name.
    pub name: String,
    /// Index for [`color`]: the same thing keeps its colour on all figures.
    pub color: usize,
    /// x, y and the standard error of y, from left to right; 0 for what is exact.
    pub points: Vec<(f64, f64, f64)>,
}

/// Lines over one quantity.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RateChart {
    /// The title.
    pub title: String,
    /// What stands under the title.
    pub caption: String,
    /// Beside the horizontal axis.
    pub x_name: String,
    /// Beside the vertical axis.
    pub y_name: String,
    /// The lines, the most important first.
    pub lines: Vec<RateLine>,
    /// At the foot.
    pub notes: Vec<String>,
}

/// Draws lines with a disc on each point; bars of two standard errors show where they are larger than the disc.
///
/// # Errors
/// No point at all, or options out of range.
pub fn rate_chart(chart: &RateChart, options: &PlotOptions) -> Result<Figure, PlotError> {
    options.check()?;
    let points = || chart.lines.iter().flat_map(|l| &l.points).filter(|p| p.0.is_finite() && p.1.is_finite());
    let range = |of: &dyn Fn(&(f64, f64, f64)) -> f64| {
        points().map(of).fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)))
    };
    let (x, y) = (range(&|p| p.0), range(&|p| p.1));
    if points().next().is_none() {
        return Err(PlotError::Nothing { engines: chart.lines.len(), what: "a point", range: "any range".to_owned() });
    }
    font::register()?;
    let wider = |(low, high): (f64, f64), share: f64| {
        let room = ((high - low) * share).max(1e-3);
        (low - room, high + room)
    };
    let x_axis = AxisSpec {
        range: wider(x, 0.03),
        ticks: Vec::new(),
        name: &chart.x_name,
        format: &number,
        emphasis: None,
        labelled: true,
    };
    let y_axis = AxisSpec { range: wider(y, 0.06), name: &chart.y_name, ..copy(&x_axis) };
    let entries: Vec<Entry> = chart
        .lines
        .iter()
        .map(|l| Entry { name: l.name.clone(), look: color(l.color), drawn: !l.points.is_empty(), named: true })
        .collect();
    let words = Words { title: chart.title.clone(), caption: chart.caption.clone(), notes: chart.notes.clone() };
    sheet(options, &words, |pen, area| {
        let names = Names::new(&entries, "nothing", area, true);
        let outer = names.frame(area);
        let mut ends = Vec::new();
        frame(pen, outer, &x_axis, &y_axis, |canvas| {
            for (line, entry) in chart.lines.iter().zip(&entries).rev() {
                let path: Vec<(f64, f64)> = line.points.iter().map(|p| (p.0, p.1)).collect();
                let ink = entry.look.line_color();
                if path.len() > 1 {
                    canvas.line(&path, stroke(&ink, 1.8), entry.look.dash)?;
                }
                for &(x, y, error) in line.points.iter().filter(|p| p.2 > 0.0) {
                    canvas.line(&[(x, y - 2.0 * error), (x, y + 2.0 * error)], stroke(&ink, 1.4), "")?;
                }
                let simulated: Vec<_> = line.points.iter().filter(|p| p.2 > 0.0).map(|p| (p.0, p.1)).collect();
                canvas.discs(&simulated, 2.8, &ink)?;
            }
            let last = |line: &RateLine| line.points.last().copied();
            ends = chart.lines.iter().filter_map(last).map(|p| canvas.place((p.0, p.1))).collect();
            Ok(())
        })?;
        let inner = Area { bottom: outer.bottom - if below(outer, area) { 0.0 } else { X_AXIS }, ..outer };
        names.draw(pen, area, inner, Some(&ends))
    })
}

fn copy<'a>(axis: &AxisSpec<'a>) -> AxisSpec<'a> {
    AxisSpec { ticks: axis.ticks.clone(), ..*axis }
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
