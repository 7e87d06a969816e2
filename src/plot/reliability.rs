//! Reliability diagrams: what was forecast, and what happened.

use plotters::style::Color;

use super::chart::{Area, AxisSpec, GREY, Words, X_AXIS, frame, grouped, sheet, stroke, win_rate_axis};
use super::palette::color;
use super::{Figure, PlotError, PlotOptions, Point, Range, font};

/// Height of the panel of counts, as a share of what is left for both panels.
const COUNTS_SHARE: f64 = 0.2;

/// What a reliability diagram shows of one engine.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReliabilitySeries {
    /// The name as it is shown.
    pub name: String,
    /// Index for [`color`].
    pub color: usize,
    /// Forecast win rates that share a recalibrated one: x the mean of the lowest and highest forecast, `low` and `high`
    /// these two, `win_rate` the recalibrated one.
    pub pools: Vec<Point>,
    /// Where the line would lie in 95 of 100 data sets if the forecasts were right.
    pub band: Vec<Range>,
    /// Samples by tenth of the forecast win rate.
    pub histogram: Vec<u64>,
    /// Samples in all.
    pub samples: u64,
}

/// The recalibrated win rate over the forecast one, as isotonic regression finds it, with its consistency band
/// (Dimitriadis, Gneiting and Jordan, PNAS 2021); below it how often such a win rate was forecast.
///
/// # Errors
/// No pool, or options out of range.
pub fn reliability(engine: &ReliabilitySeries, options: &PlotOptions) -> Result<Figure, PlotError> {
    options.check()?;
    font::register()?;
    if engine.pools.is_empty() {
        return Err(PlotError::Nothing { engines: 1, what: "a forecast", range: "0 to 1".to_owned() });
    }
    let words = Words {
        title: format!("{}: forecast and observed", engine.name),
        caption: format!("{} forecasts of unseen games", grouped(engine.samples)),
        notes: vec!["grey line: right forecasts · shaded: where 95% of right forecasts would lie".to_owned()],
    };
    let look = super::Stroke { dash: "", ..color(engine.color) }.line_color();
    let forecast = |labelled| AxisSpec {
        range: (0.0, 1.0),
        ticks: Vec::new(),
        name: "forecast win rate",
        format: &|v| format!("{v:.1}"),
        emphasis: None,
        labelled,
    };
    sheet(options, &words, |pen, area| {
        let area = Area { right: area.right - 12.0, ..area };
        let height = area.bottom - area.top - X_AXIS;
        let middle = area.bottom - X_AXIS - height * COUNTS_SHARE;
        let upper = Area { bottom: middle - 12.0, ..area };
        let observed = AxisSpec { name: "observed win rate", ..win_rate_axis() };
        frame(pen, upper, &forecast(false), &observed, |canvas| {
            let top = engine.band.iter().map(|b| (b.x, b.high));
            let bottom = engine.band.iter().rev().map(|b| (b.x, b.low));
            if engine.band.len() > 1 {
                canvas.polygon(top.chain(bottom).collect(), &look.mix(0.15))?;
            }
            canvas.line(&[(0.0, 0.0), (1.0, 1.0)], stroke(&GREY, 1.4), "")?;
            let steps: Vec<(f64, f64)> =
                engine.pools.iter().flat_map(|p| [(p.low, p.win_rate), (p.high, p.win_rate)]).collect();
            canvas.line(&steps, stroke(&look, 2.0), "")?;
            let alone: Vec<(f64, f64)> =
                engine.pools.iter().filter(|p| p.high - p.low < 0.01).map(|p| (p.x, p.win_rate)).collect();
            canvas.discs(&alone, 2.4, &look)
        })?;
        let most = engine.histogram.iter().copied().max().unwrap_or(1).max(1) as f64;
        let counts = AxisSpec {
            range: (0.0, most * 1.05),
            ticks: vec![0.0, most],
            name: "samples",
            format: &|v| grouped(v as u64),
            emphasis: None,
            labelled: true,
        };
        let lower = Area { top: middle, ..area };
        frame(pen, lower, &forecast(true), &counts, |canvas| {
            let width = 1.0 / engine.histogram.len().max(1) as f64;
            for (i, &n) in engine.histogram.iter().enumerate().filter(|(_, n)| **n > 0) {
                let left = i as f64 * width;
                canvas.bar([(left + 0.1 * width, 0.0), (left + 0.9 * width, n as f64)], &look.mix(0.55))?;
            }
            Ok(())
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_the_band_and_the_bars_are_drawn() {
        let pool = |low, high, win_rate| Point { x: 0.5 * (low + high), win_rate, low, high, count: 50 };
        let engine = ReliabilitySeries {
            name: "<技巧>".to_owned(),
            pools: vec![pool(0.05, 0.3, 0.1), pool(0.3, 0.305, 0.4), pool(0.4, 0.95, 0.8)],
            band: vec![Range { x: 0.05, low: 0.0, high: 0.1 }, Range { x: 0.95, low: 0.9, high: 1.0 }],
            histogram: vec![10, 0, 30, 0, 0, 5, 0, 0, 0, 80],
            samples: 125,
            ..ReliabilitySeries::default()
        };
        let options = PlotOptions { width: 480, height: 400, ..PlotOptions::default() };
        let figure = reliability(&engine, &options).unwrap();
        let svg = figure.svg();
        assert_eq!((svg.matches("<polygon").count(), svg.matches("<circle").count()), (1, 1));
        assert_eq!(svg.matches("<rect x=").count(), 4);
        assert!(svg.contains("&lt;技巧&gt;: forecast and observed"));
        assert!(reliability(&ReliabilitySeries::default(), &options).is_err());
    }
}
