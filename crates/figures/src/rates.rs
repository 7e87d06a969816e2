//! Bar charts of rates: win rates with their intervals, and shares in groups (Takeuchi 2018, figures 6 and 7).

use plotters::style::Color;

use super::chart::{Area, AxisSpec, Canvas, LABEL_SIZE, TEXT, Words, frame, pale, sheet, stroke};
use super::palette::color;
use super::{Figure, PlotError, PlotOptions, font};

/// A bar with its interval.
#[derive(Debug, Clone, PartialEq)]
pub struct RateBar {
    /// The label below it.
    pub name: String,
    /// Its height, 0 to 1.
    pub rate: f64,
    /// The interval, if one is drawn.
    pub interval: Option<(f64, f64)>,
    /// Number of games, for the caption.
    pub games: u64,
}

/// Bars of several names in each of several groups.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ShareGroups {
    /// The labels below the groups.
    pub groups: Vec<String>,
    /// The names in the legend, one per colour.
    pub names: Vec<String>,
    /// By group and name, 0 to 1; `None` leaves a gap.
    pub shares: Vec<Vec<Option<f64>>>,
}

/// The texts of a bar chart.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RateWords {
    pub title: String,
    /// The line below the title.
    pub caption: String,
    /// The name of the vertical axis.
    pub axis: String,
    /// Notes below the figure.
    pub notes: Vec<String>,
}

/// Figure 6 of Takeuchi (2018): win rates against one opponent, with their intervals.
///
/// # Errors
/// No bar, or options out of range.
pub fn rate_bars(bars: &[RateBar], words: &RateWords, options: &PlotOptions) -> Result<Figure, PlotError> {
    let drawn: Vec<&RateBar> = bars.iter().filter(|b| b.rate.is_finite()).collect();
    let tops = drawn.iter().flat_map(|b| [b.rate, b.interval.map_or(0.0, |i| i.1)]);
    let names: Vec<&str> = drawn.iter().map(|b| b.name.as_str()).collect();
    bar_sheet(&names, tops.fold(0.0, f64::max), words, &[], options, |canvas, place| {
        let look = color(0).line_color();
        for (i, bar) in drawn.iter().enumerate() {
            let x = (i + 1) as f64;
            canvas.bar([(x - 0.32, 0.0), (x + 0.32, bar.rate)], &pale(look, 0.45))?;
            if let Some((low, high)) = bar.interval {
                canvas.line(&[(x, low), (x, high)], stroke(&TEXT, 1.4), "")?;
                for end in [low, high] {
                    canvas.line(&[(x - 0.06, end), (x + 0.06, end)], stroke(&TEXT, 1.4), "")?;
                }
            }
            canvas.discs(&[(x, bar.rate)], 3.0, &look)?;
            place.push((shown(bar.rate), canvas.place((x + 0.09, bar.rate)), 0.0));
        }
        Ok(())
    })
}

/// Figure 7 of Takeuchi (2018): the share of moves played that are each engine's own, by the rule of the council.
///
/// # Errors
/// No bar, or options out of range.
pub fn share_bars(groups: &ShareGroups, words: &RateWords, options: &PlotOptions) -> Result<Figure, PlotError> {
    let top = groups.shares.iter().flatten().flatten().copied().fold(0.0, f64::max);
    let names: Vec<&str> = groups.groups.iter().map(String::as_str).collect();
    let width = 0.8 / groups.names.len().max(1) as f64;
    bar_sheet(&names, top, words, &groups.names, options, |canvas, place| {
        for (g, shares) in groups.shares.iter().enumerate() {
            for (n, share) in shares.iter().enumerate() {
                let Some(share) = share else { continue };
                let left = (g + 1) as f64 - 0.4 + n as f64 * width;
                let inside = (left + width * 0.04, left + width * 0.96);
                canvas.bar([(inside.0, 0.0), (inside.1, *share)], &pale(color(n).line_color(), 0.75))?;
                let at = canvas.place((left + width / 2.0, *share));
                place.push((shown(*share), (at.0, at.1 - 9.0), 0.5));
            }
        }
        Ok(())
    })
}

/// Four decimals, or three if the last is zero: 0.427 and 0.3105.
fn shown(rate: f64) -> String {
    let text = format!("{rate:.4}");
    text.strip_suffix('0').map_or(text.clone(), str::to_owned)
}

/// A text, its position in SVG pixels, and the share of its width that is left of the position.
type Placed = Vec<(String, (f64, f64), f64)>;

fn bar_sheet(
    names: &[&str],
    top: f64,
    words: &RateWords,
    legend: &[String],
    options: &PlotOptions,
    draw: impl FnOnce(&mut Canvas<'_, '_, '_>, &mut Placed) -> Result<(), PlotError>,
) -> Result<Figure, PlotError> {
    options.check()?;
    if names.is_empty() {
        return Err(PlotError::NoEngines);
    }
    let space = (f64::from(options.width) - 120.0) / names.len() as f64 - 8.0;
    let names: Vec<String> = names.iter().map(|name| font::elide(name, 12.0, space)).collect();
    let label = |at: f64| {
        let index = at.round() as usize;
        index.checked_sub(1).and_then(|i| names.get(i)).cloned().unwrap_or_default()
    };
    let x = AxisSpec {
        ticks: (1..=names.len()).map(|i| i as f64).collect(),
        format: &label,
        ..AxisSpec::new("", (0.4, names.len() as f64 + 0.6))
    };
    let y = AxisSpec {
        emphasis: Some(0.5).filter(|half| *half < top * 1.08),
        ..AxisSpec::new(&words.axis, (0.0, (top * 1.08).clamp(0.05, 1.04)))
    };
    let sheet_words = Words { title: &words.title, caption: &words.caption, notes: &words.notes };
    sheet(options, sheet_words, |pen, area| {
        let mut texts = Placed::new();
        let legend_height = if legend.is_empty() { 0.0 } else { 26.0 };
        frame(pen, Area { top: area.top + legend_height, ..area }, &x, &y, |canvas| draw(canvas, &mut texts))?;
        for (text, (x, y), before) in &texts {
            let left = x - before * font::width(text, LABEL_SIZE);
            let above = if *before == 0.0 { y - 9.0 } else { *y };
            pen.text(text, (left, above), LABEL_SIZE, TEXT)?;
        }
        let mut left = area.left + 68.0;
        for (n, name) in legend.iter().enumerate() {
            let name = font::elide(name, LABEL_SIZE, 180.0);
            let (top, bottom) = (area.top + 4.0, area.top + 16.0);
            pen.fill(Area { left, top, right: left + 20.0, bottom }, &pale(color(n).line_color(), 0.75).mix(1.0))?;
            pen.text(&name, (left + 27.0, area.top + 10.0), LABEL_SIZE, TEXT)?;
            left += 27.0 + font::width(&name, LABEL_SIZE) + 26.0;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_show_names_and_values() {
        let bar = |name: &str, rate, interval| RateBar { name: name.to_owned(), rate, interval, games: 1000 };
        let words = RateWords { title: "t".to_owned(), axis: "win rate".to_owned(), ..RateWords::default() };
        let bars = [bar("勝率楽観合議", 0.427, Some((0.397, 0.458))), bar("b", 1.0, None), bar("c", f64::NAN, None)];
        let figure = rate_bars(&bars, &words, &PlotOptions::default()).unwrap();
        assert!(figure.svg().contains("勝率楽観合議") && figure.svg().contains("0.427"));
        assert!(!figure.svg().contains("NaN"));
        assert!(rate_bars(&[], &words, &PlotOptions::default()).is_err());
        let groups = ShareGroups {
            groups: vec!["r".to_owned(), "s".to_owned()],
            names: vec!["技巧".to_owned(), "n".to_owned()],
            shares: vec![vec![Some(0.75), None], vec![Some(0.5), Some(0.1)]],
        };
        let figure = share_bars(&groups, &words, &PlotOptions::default()).unwrap();
        assert!(figure.svg().contains("技巧") && figure.svg().contains("0.750"));
    }
}
