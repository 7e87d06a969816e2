//! How often intervals cover the true value in a simulation.

use evalcurve_figures::drawing::{Area, AxisSpec, Color, RGBColor, ROW, SOFT_TEXT, Words, frame, pale, sheet, stroke};
use evalcurve_figures::{Figure, PlotError, PlotOptions, color};

/// One kind of interval in one column of the figure.
#[derive(Debug, Clone, PartialEq)]
pub struct CoverageDot {
    /// Share of the intervals that cover the true value, 0 to 1.
    pub share: f64,
    /// Lower end of the 95% interval of that share.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// What [`coverage`] shows.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CoverageSeries {
    /// The line under the title.
    pub caption: String,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Kinds of intervals by name, each with one dot per column.
    pub kinds: Vec<(String, Vec<CoverageDot>)>,
}

/// The colour of the nominal coverage.
const GREEN: RGBColor = RGBColor(0x00, 0x9E, 0x73);

/// The coverage that a 95% interval should have (shaded in the figure).
const WANTED: (f64, f64) = (0.93, 0.97);

/// Draws the shares of 95% intervals that cover the true value: one column per quantity, one dot per kind of interval.
///
/// # Errors
/// Nothing to draw, or options out of range.
pub fn coverage(series: &CoverageSeries, options: &PlotOptions) -> Result<Figure, PlotError> {
    options.check()?;
    let dots = || series.kinds.iter().flat_map(|(_, dots)| dots);
    if series.columns.is_empty() || dots().next().is_none() {
        return Err(PlotError::nothing(series.kinds.len(), "a coverage", "a coverage of 0 to 1"));
    }
    let lowest = dots().map(|d| d.low).fold(0.9, f64::min);
    let bottom = ((lowest - 0.02) * 20.0).floor() / 20.0;
    let last = series.columns.len() as f64 - 1.0;
    let name = |x: f64| series.columns.get(x.round().max(0.0) as usize).cloned().unwrap_or_default();
    let x = AxisSpec {
        ticks: (0..series.columns.len()).map(|i| i as f64).collect(),
        format: &name,
        ..AxisSpec::new("", (-0.5, last + 0.5))
    };
    let y = AxisSpec {
        format: &|v| format!("{:.0}%", 100.0 * v),
        emphasis: Some(0.95),
        ..AxisSpec::new("95% intervals that hold the truth", (bottom.max(0.0), 1.0))
    };
    let (low, high) = (100.0 * WANTED.0, 100.0 * WANTED.1);
    let notes = [format!("shaded: {low:.0}% to {high:.0}% · bars: 95% intervals of the shares")];
    let words = Words { title: "Do 95% intervals hold the truth?", caption: &series.caption, notes: &notes };
    sheet(options, words, |pen, area| {
        pen.disc_legend((area.left + 70.0, area.top + 4.0), series.kinds.iter().map(|(kind, _)| kind))?;
        let area = Area { top: area.top + ROW, right: area.right - 12.0, ..area };
        frame(pen, area, &x, &y, |canvas| {
            canvas.bar([(x.range.0, WANTED.0), (x.range.1, WANTED.1)], &pale(GREEN, 0.18))?;
            canvas.line(&[(x.range.0, 0.95), (x.range.1, 0.95)], stroke(&SOFT_TEXT, 1.0), "4 3")?;
            let kinds = series.kinds.len() as f64;
            for (k, (_, dots)) in series.kinds.iter().enumerate() {
                let look = color(k).line_color();
                for (i, dot) in dots.iter().enumerate() {
                    let at = i as f64 + (k as f64 + 0.5 - kinds / 2.0) * 0.22;
                    canvas.line(&[(at, dot.low), (at, dot.high)], stroke(&look.mix(0.8), 2.0), "")?;
                    canvas.discs(&[(at, dot.share)], 4.5, &look)?;
                }
            }
            Ok(())
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_and_kind_is_drawn() {
        let dot = |share: f64| CoverageDot { share, low: share - 0.01, high: share + 0.01 };
        let series = CoverageSeries {
            caption: "2,000 replicates".to_owned(),
            columns: vec!["w1".to_owned(), "w2".to_owned()],
            kinds: vec![
                ("naive".to_owned(), vec![dot(0.71), dot(0.66)]),
                ("clustered".to_owned(), vec![dot(0.95), dot(0.94)]),
            ],
        };
        let figure = coverage(&series, &PlotOptions::default()).unwrap();
        for word in ["naive", "clustered", "w1", "w2", "65%", "2,000 replicates"] {
            assert!(figure.svg().contains(word), "{word}");
        }
        assert!(coverage(&CoverageSeries::default(), &PlotOptions::default()).is_err());
    }
}
