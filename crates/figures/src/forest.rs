//! Forest plots: numbers with their intervals, one row each.

use evalcurve_words::text;
use plotters::style::Color;

use super::chart::{
    Area, AxisSpec, GREY, LABEL_SIZE, ROW, SOFT_TEXT, TEXT, Words, X_AXIS, Y_AXIS, frame, height_of_words, number,
    sheet, stroke,
};
use super::palette::{Stroke, color};
use super::{Data, Figure, PlotError, PlotOptions, Spot, font};

/// The widest label as a share of the figure.
const LABEL_SHARE: f64 = 0.42;
/// Height of a row with one mark; each further mark adds `MARK`.
const LINE: f64 = 22.0;
const MARK: f64 = 9.0;

/// A number with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ForestMark {
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

/// One row of a forest plot.
#[derive(Debug, Clone, PartialEq)]
pub struct ForestRow {
    /// The label at the left.
    pub label: String,
    /// One mark per series; `None` if the series has no number in this row.
    pub marks: Vec<Option<ForestMark>>,
}

/// What a forest plot shows.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Forest {
    pub title: String,
    /// The line below it.
    pub caption: String,
    /// Name of the horizontal axis.
    pub axis: String,
    /// Names of the series, which differ by colour; a single series is not named.
    pub series: Vec<String>,
    /// The rows, from the top.
    pub rows: Vec<ForestRow>,
    /// Values with a line from top to bottom, each in the colour of a series, or grey.
    pub references: Vec<(f64, Option<usize>)>,
    /// The range of the horizontal axis; numbers beyond it are written at its ends. By default it covers the numbers.
    pub limits: Option<(f64, f64)>,
    /// Notes below the figure.
    pub notes: Vec<String>,
}

/// Draws numbers with their intervals, one row each. The height of the figure follows the number of rows.
///
/// # Errors
/// No row with a finite number, or options out of range.
pub fn forest(what: &Forest, options: &PlotOptions) -> Result<Figure, PlotError> {
    let marks = || what.rows.iter().flat_map(|r| r.marks.iter().flatten()).filter(|m| m.value.is_finite());
    if marks().next().is_none() {
        return Err(PlotError::nothing(what.rows.len(), "a finite number", "any range"));
    }
    let range = what.limits.unwrap_or_else(|| range(what));
    let series = what.series.len().max(1);
    let line = LINE + MARK * (series - 1) as f64;
    let legend = if series > 1 { ROW + 6.0 } else { 0.0 };
    let words = Words { title: &what.title, caption: &what.caption, notes: &what.notes };
    let around = height_of_words(words, options.width) + legend + X_AXIS + 8.0;
    let height = around + what.rows.len() as f64 * line;
    let options = PlotOptions { height: (height as u32).clamp(360, 8000), ..*options };
    let rows = what.rows.len() as f64;
    let places: Vec<f64> = (0..what.rows.len()).map(|i| rows - 0.5 - i as f64).collect();
    let x = AxisSpec { format: &axis_number, ..AxisSpec::new(&what.axis, range) };
    let y = AxisSpec { ticks: places.clone(), format: &|_| String::new(), ..AxisSpec::new("", (0.0, rows)) };
    let width = f64::from(options.width);
    let labels: Vec<String> =
        what.rows.iter().map(|r| font::elide(&r.label, LABEL_SIZE, width * LABEL_SHARE)).collect();
    let label_width = labels.iter().map(|l| font::width(l, LABEL_SIZE)).fold(0.0, f64::max) + 14.0;
    let mut spots = Vec::new();
    let figure = sheet(&options, words, |pen, area| {
        if series > 1 {
            pen.disc_legend((area.left + 11.0, area.top + 7.0), &what.series)?;
        }
        let left = area.left + label_width - Y_AXIS;
        let area = Area { left, top: area.top + legend, right: area.right - 12.0, bottom: area.bottom };
        let line = (area.bottom - area.top - X_AXIS) / rows;
        let (mut heights, mut beyond) = (Vec::new(), Vec::new());
        frame(pen, area, &x, &y, |canvas| {
            for &(at, of) in what.references.iter().filter(|r| r.0 >= range.0 && r.0 <= range.1) {
                let (ink, dash) = of.map_or((GREY, ""), |i| (color(i).line_color(), "4 3"));
                canvas.line(&[(at, 0.0), (at, rows)], stroke(&ink.mix(0.8), 1.2), dash)?;
            }
            for (row, &place) in what.rows.iter().zip(&places) {
                heights.push(canvas.place((range.0, place)).1);
                for (i, mark) in row.marks.iter().enumerate() {
                    let Some(mark) = mark.filter(|m| m.value.is_finite()) else { continue };
                    let look = color(i).line_color();
                    // the marks of a row are drawn one below the other
                    let shift = (i as f64 - 0.5 * (row.marks.len() as f64 - 1.0)) * MARK / line;
                    let y = place - shift;
                    let clamp = |v: f64| v.clamp(range.0, range.1);
                    let inside = (range.0..=range.1).contains(&mark.value);
                    if inside && mark.low.is_finite() && mark.high.is_finite() {
                        canvas.line(&[(clamp(mark.low), y), (clamp(mark.high), y)], stroke(&look.mix(0.7), 1.8), "")?;
                    }
                    let (left, top) = canvas.place((clamp(mark.value), y));
                    spots.push(Spot::new((left, top), reading(&row.label, what.series.get(i), mark)));
                    if inside {
                        canvas.discs(&[(mark.value, y)], 3.6, &look)?;
                    } else {
                        beyond.push(((left, top), mark.value, i));
                    }
                }
            }
            Ok(())
        })?;
        for ((label, row), y) in labels.iter().zip(&what.rows).zip(heights) {
            let ink = if row.marks.iter().any(Option::is_some) { TEXT } else { SOFT_TEXT };
            pen.text_end(label, (area.left + Y_AXIS - 10.0, y), LABEL_SIZE, ink)?;
        }
        for ((x, y), value, i) in beyond {
            let ink = Stroke { dash: "", ..color(i) }.text_color();
            if value > range.1 {
                pen.text_end(&format!("{} →", beyond_number(value)), (x - 4.0, y), LABEL_SIZE, ink)?;
            } else {
                pen.text(&format!("← {}", beyond_number(value)), (x + 4.0, y), LABEL_SIZE, ink)?;
            }
        }
        Ok(())
    })?;
    Ok(figure.with_data(data(what)).with_spots(spots))
}

/// `Gikou: 411 [372, 459]`, with the name of the series if there are several.
fn reading(label: &str, series: Option<&String>, mark: ForestMark) -> String {
    let name = series.map_or_else(String::new, |name| format!(", {name}"));
    let known = mark.low < mark.high && mark.low.is_finite() && mark.high.is_finite();
    // two digits of the interval, or of the number without one
    let size = if known { mark.high - mark.low } else { mark.value.abs() };
    let decimals = if size > 0.0 { (1.0 - libm::floor(libm::log10(size))).clamp(0.0, 5.0) as usize } else { 0 };
    let shown = |value: f64| text::number(value, decimals);
    let ends = if known { format!(" [{}, {}]", shown(mark.low), shown(mark.high)) } else { String::new() };
    format!("{label}{name}: {}{ends}", shown(mark.value))
}

/// The numbers of the figure.
fn data(what: &Forest) -> Data {
    let mut data = Data { head: vec!["row", "series", "value", "low", "high"], ..Data::default() };
    for row in &what.rows {
        for (i, mark) in row.marks.iter().enumerate() {
            let Some(mark) = mark else { continue };
            let series = what.series.get(i).cloned().unwrap_or_default();
            let numbers = [mark.value, mark.low, mark.high].map(|v| format!("{v:.6}"));
            data.rows.push([row.label.clone(), series].into_iter().chain(numbers).collect());
        }
    }
    data
}

/// A number beyond the axis: one decimal below 100, none above.
fn beyond_number(value: f64) -> String {
    number(if value.abs() < 100.0 { (value * 10.0).round() / 10.0 } else { value.round() })
}

/// A number on the axis: five decimals at most.
fn axis_number(value: f64) -> String {
    let rounded = (value * 1e5).round() / 1e5;
    if rounded.abs() >= 0.001 || rounded == 0.0 { number(rounded) } else { format!("{rounded}").replace('-', "−") }
}

/// From the lowest to the highest number with its interval, but no interval may stretch the axis beyond three times the
/// span of the numbers and references.
fn range(what: &Forest) -> (f64, f64) {
    let marks = || what.rows.iter().flat_map(|r| r.marks.iter().flatten()).filter(|m| m.value.is_finite());
    let values = marks().map(|m| m.value).chain(what.references.iter().map(|r| r.0));
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
    let widest = marks().map(|m| m.high - m.low).filter(|w| w.is_finite()).fold(0.0, f64::max);
    let span = (high - low).max(if high > low { 0.0 } else { widest.max(high.abs() * 0.1).max(1e-9) });
    let ends = marks().filter(|m| m.low.is_finite() && m.high.is_finite());
    let (far_low, far_high) = ends.fold((low, high), |(l, h), m| (l.min(m.low), h.max(m.high)));
    let (low, high) = (far_low.max(low - span), far_high.min(high + span));
    let margin = 0.04 * (high - low).max(1e-9);
    (low - margin, high + margin)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(label: &str, value: f64, half: f64) -> ForestRow {
        ForestRow {
            label: label.to_owned(),
            marks: vec![Some(ForestMark { value, low: value - half, high: value + half })],
        }
    }

    #[test]
    fn rows_have_dots_and_labels() {
        let what = Forest {
            title: "Scale mismatch".to_owned(),
            axis: "M²".to_owned(),
            rows: vec![row("raw <scores>", 0.0076, 0.001), row("技巧", -0.0001, 0.0002)],
            references: vec![(0.0, None)],
            ..Forest::default()
        };
        let figure = forest(&what, &PlotOptions { width: 480, ..PlotOptions::default() }).unwrap();
        assert_eq!(figure.svg().matches("<circle").count(), 2);
        assert!(figure.svg().contains("raw &lt;scores&gt;") && figure.svg().contains("技巧"));
        assert_eq!(figure.data().rows().nth(1).unwrap(), ["技巧", "", "-0.000100", "-0.000300", "0.000100"]);
        let page = figure.svg_for_page();
        assert!(page.contains("技巧: −0.00010 [−0.00030, 0.00010]"), "{page}");
        assert_eq!(page.matches("tabindex").count(), 2);
        let empty = Forest { rows: vec![ForestRow { label: "a".to_owned(), marks: vec![None] }], ..what };
        assert!(forest(&empty, &PlotOptions::default()).is_err());
    }

    #[test]
    fn numbers_beyond_the_limits_are_written() {
        let what = Forest {
            limits: Some((0.0, 2.0)),
            rows: vec![row("a", 1.0, 0.1), row("b", 458.0, 5.0)],
            ..Forest::default()
        };
        let figure = forest(&what, &PlotOptions { width: 480, ..PlotOptions::default() }).unwrap();
        assert!(figure.svg().contains("458 →") && figure.svg().matches("<circle").count() == 1);
    }

    #[test]
    fn one_wide_interval_does_not_flatten_the_rest() {
        let what = Forest { rows: vec![row("a", 1.0, 0.1), row("b", 2.0, 500.0)], ..Forest::default() };
        let (low, high) = range(&what);
        assert!(low > -1.0 && high < 4.0, "{low} {high}");
        let one = Forest { rows: vec![row("a", 1.0, 0.0)], ..Forest::default() };
        let (low, high) = range(&one);
        assert!(low < 1.0 && high > 1.0);
    }
}
