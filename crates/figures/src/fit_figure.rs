//! One engine: its evaluation curve, both fits over it, and the number of positions in each bin.

use evalcurve_words::language::Text;
use evalcurve_words::say;
use evalcurve_words::text::thousands;
use plotters::style::{Color, RGBColor, WHITE};

use super::chart::{
    Area, AxisSpec, Canvas, GRID, LABEL_SIZE, Pen, ROW, TEXT, Words, X_AXIS, Y_AXIS, frame, pale, score_axis, sheet,
    stroke, win_rate_axis,
};
use super::figures::{SHADE, curve, points_of, rate_at, require};
use super::limits::{Reach, limit};
use super::notes::{bin_width, bins_left_out, clipped, has_point, left_out, parts, visible};
use super::palette::{Stroke, color};
use super::spots::{at_score, reading, readings};
use super::{Bins, Data, EngineSeries, Figure, Language, PlotError, PlotOptions, Point, Range, Spot, font};

/// Height of the panel of counts, as a share of the height of both panels.
const COUNTS_SHARE: f64 = 0.27;
/// Narrower figures have the legend above the frame.
const NARROW: u32 = 760;

/// Figures 2, A.1 and A.2 of Takeuchi (2018): the evaluation curve of one engine (points with 95% intervals), the
/// curves fitted to it, as a solid line the calibration between equals, and below them the number of positions in each
/// bin.
///
/// # Errors
/// Neither curve nor fit to draw, or options out of range.
pub fn curve_with_fits(engine: &EngineSeries, options: &PlotOptions) -> Result<Figure, PlotError> {
    options.check()?;
    let language = options.language;
    let limit = limit(std::slice::from_ref(engine), options, Reach::Points);
    let axis = score_axis(limit, language);
    let seen = visible(&engine.curve, limit);
    let narrow = options.width < NARROW;
    let fits = fits(engine, limit, language);
    let something = !seen.points.is_empty() || !fits.is_empty();
    require(std::slice::from_ref(engine), &[something], "a point of an evaluation curve or a fit", &axis)?;

    let count = seen.points.len();
    let (points, positions) = (Text::counted(count as u64, "{n} point", "{n} points"), thousands(engine.samples));
    let mut notes = vec![say!(language, "{positions} positions · {points} with 95% intervals")];
    notes.extend(points_of(std::slice::from_ref(engine), language));
    if seen.points.is_empty() {
        notes.push(say!(language, "no bin within the axis has enough positions for a point"));
    }
    let with_parameters = fits.iter().filter(|fit| !fit.parameters.is_empty());
    notes.extend(with_parameters.map(|fit| format!("{}: {}", fit.name, fit.parameters)));
    if fits.iter().any(|fit| fit.band.len() > 1) {
        notes.push(language.word("shaded: 95% intervals clustered by game").to_owned());
    }
    notes.extend(clipped(seen.clipped, limit, language));
    notes.extend(left_out(bins_left_out(engine), language));
    notes.extend(engine.note.clone());
    let title = say!(language, "{}: evaluation curve and fits", engine.name);
    let see = agreement(&seen.points, engine, language);
    let words = Words { title: &title, caption: &see, notes: &notes };
    let look = Stroke { dash: "", ..color(engine.color) };
    let bars = bars(engine, &seen.points, limit);
    let mut data = Data::curves();
    data.curve(&engine.name, "point", &engine.curve);
    for fit in &fits {
        data.curve(&engine.name, fit.name, &fit.path);
    }
    let mut spots = Vec::new();
    let figure = sheet(options, words, |pen, area| {
        // half of the last tick label is right of the frame
        let area = Area { right: area.right - 12.0, ..area };
        let rows = rows(&seen.points, look, &fits, language);
        let mut area = area;
        if narrow {
            area.top += legend_above(pen, area, &rows)?;
        }
        let counts = ((area.bottom - area.top - X_AXIS) * COUNTS_SHARE).max(66.0);
        let middle = area.bottom - (X_AXIS + counts);
        let upper = Area { bottom: if bars.is_empty() { area.bottom } else { middle - 12.0 }, ..area };
        let upper_axis = AxisSpec { labelled: bars.is_empty(), ..score_axis(limit, language) };
        let mut drawn = Vec::new();
        frame(pen, upper, &upper_axis, &win_rate_axis(language), |canvas| {
            for fit in &fits {
                canvas.band(&fit.band, &fit.look.line_color().mix(SHADE))?;
            }
            for p in &seen.points {
                canvas.line(&[(p.x, p.low), (p.x, p.high)], stroke(&look.line_color().mix(0.6), 1.4), "")?;
            }
            curve(canvas, &parts(engine, &seen.points, |p| p.x), look, 2.2, 3.2)?;
            for fit in &fits {
                let path: Vec<(f64, f64)> = fit.path.iter().map(|p| (p.x, p.win_rate)).collect();
                canvas.line(&path, stroke(&fit.look.line_color(), 1.8), fit.look.dash)?;
                drawn.extend(path.iter().map(|&at| canvas.place(at)));
            }
            spots.extend(fits.last().into_iter().flat_map(|fit| readings(&fit.path, limit)).map(|p| {
                let rate = language.word("fitted win rate");
                Spot::new(canvas.place((p.x, p.win_rate)), reading(&p, &at_score(p.x, language), rate))
            }));
            spots.extend(seen.points.iter().map(|p| {
                let rate = language.word("win rate");
                Spot::new(canvas.place((p.x, p.win_rate)), reading(p, &at_score(p.x, language), rate))
            }));
            drawn.extend(seen.points.iter().flat_map(|p| [p.low, p.win_rate, p.high].map(|y| canvas.place((p.x, y)))));
            Ok(())
        })?;
        if !narrow {
            let bottom = upper.bottom - if bars.is_empty() { X_AXIS } else { 0.0 };
            let inner = Area { left: upper.left + Y_AXIS, bottom, ..upper };
            legend(pen, inner, &rows, &drawn)?;
        }
        if bars.is_empty() {
            return Ok(());
        }
        let lower = Area { top: middle, ..area };
        frame(pen, lower, &axis, &count_axis(&bars, language), |canvas| draw_bars(canvas, &bars, look))
    })?;
    Ok(figure.with_data(data).with_spots(spots))
}

/// What to see: what points and line are, and whether the curve fitted to the points passes through their intervals.
fn agreement(points: &[Point], engine: &EngineSeries, language: Language) -> String {
    let mut text = match (&engine.equal, points) {
        (Some(_), [_, ..]) => {
            language.word("Points: against the opponents met. Solid line: between equals.").to_owned()
        }
        _ => String::new(),
    };
    let Some(fit) = engine.fits.last().or(engine.field.as_ref()) else {
        let none = language.word("No model could be fitted to these points.");
        return if engine.equal.is_none() { none.to_owned() } else { text };
    };
    let through = |p: &&Point| rate_at(&fit.path, p.x).is_some_and(|rate| p.low <= rate && rate <= p.high);
    let (met, name) = (points.iter().filter(through).count(), &fit.name);
    if let n @ 1.. = points.len() {
        text +=
            &say!(language, " The line fitted to them, {name}, passes through the interval of {met} of {n} points.");
    }
    text.trim_start().to_owned()
}

/// A fit with its style.
struct Fit<'a> {
    path: Vec<Point>,
    band: Vec<Range>,
    look: Stroke,
    /// The name in the legend.
    words: String,
    name: &'a str,
    parameters: String,
}

/// The fits that can be drawn, in the order of the legend, the calibration last as a solid line.
fn fits(engine: &EngineSeries, limit: f64, language: Language) -> Vec<Fit<'_>> {
    // the dotted line needs a colour that differs from the curve's
    let vermilion = color(1).rgb;
    let own = color(engine.color % super::PALETTE.len()).rgb;
    let other = if own == vermilion || own == color(4).rgb { color(0).rgb } else { vermilion };
    let looks = [Stroke { rgb: (110, 110, 110), dash: "9 4" }, Stroke { rgb: other, dash: "2 2.6" }];
    let fitted =
        engine.fits.iter().zip(looks.into_iter().cycle()).map(|(curve, look)| (curve, look, curve.name.clone()));
    let equal = engine.equal.iter().map(|curve| {
        let name = &curve.name;
        (curve, Stroke { rgb: (0, 0, 0), dash: "" }, say!(language, "{name}: between equals"))
    });
    fitted
        .chain(equal)
        .map(|(curve, look, words)| Fit {
            path: curve.within(limit),
            band: curve.band(limit),
            look,
            words,
            name: &curve.name,
            parameters: curve.parameters.replace('-', "−"),
        })
        .filter(|fit| !fit.path.is_empty())
        .collect()
}

/// One row of the legend.
struct Row {
    look: Stroke,
    dot: bool,
    words: String,
}

fn rows(points: &[Point], look: Stroke, fits: &[Fit<'_>], language: Language) -> Vec<Row> {
    let own_words = language.word("results against the opponents met, with 95% intervals");
    let own = (!points.is_empty()).then(|| Row { look, dot: true, words: own_words.to_owned() });
    let fitted = fits.iter().map(|fit| Row { look: fit.look, dot: false, words: fit.words.clone() });
    own.into_iter().chain(fitted).collect()
}

/// Draws the legend in the corner where it hides the fewest points.
fn legend(pen: &Pen<'_>, frame: Area, rows: &[Row], drawn: &[(f64, f64)]) -> Result<(), PlotError> {
    let most = frame.right - frame.left - 20.0;
    let width = rows.iter().map(|row| font::width(&row.words, LABEL_SIZE)).fold(0.0, f64::max) + 52.0;
    let (width, height) = (width.min(most), rows.len() as f64 * (ROW + 1.0) + 10.0);
    let corner = |right: bool, low: bool| {
        let left = if right { frame.right - 10.0 - width } else { frame.left + 10.0 };
        let top = if low { frame.bottom - 14.0 - height } else { frame.top + 14.0 };
        Area { left, top, right: left + width, bottom: top + height }
    };
    let hidden = |a: &Area| {
        drawn.iter().filter(|(x, y)| (a.left..=a.right).contains(x) && (a.top..=a.bottom).contains(y)).count()
    };
    let corners = [corner(false, false), corner(true, true), corner(true, false), corner(false, true)];
    let Some(at) = corners.into_iter().min_by_key(hidden) else { return Ok(()) };
    pen.fill(at, &WHITE.mix(0.92))?;
    let (l, t, r, b) = (at.left, at.top, at.right, at.bottom);
    pen.line(&[(l, t), (r, t), (r, b), (l, b), (l, t)], stroke(&GRID, 1.0), "")?;
    for (k, row) in rows.iter().enumerate() {
        let y = at.top + 5.0 + (k as f64 + 0.5) * (ROW + 1.0);
        legend_entry(pen, row, (at.left + 8.0, y), width - 48.0)?;
    }
    Ok(())
}

/// Draws the legend above the frame, in as many lines as it takes, and returns their height.
fn legend_above(pen: &Pen<'_>, area: Area, rows: &[Row]) -> Result<f64, PlotError> {
    let first = area.left + 6.0;
    let (mut left, mut line) = (first, 0.0);
    for row in rows {
        let width = 34.0 + font::width(&row.words, LABEL_SIZE);
        if left > first && left + width > area.right {
            (left, line) = (first, line + 1.0);
        }
        legend_entry(pen, row, (left, area.top + 4.0 + line * ROW), (area.right - left - 34.0).max(0.0))?;
        left += width + 14.0;
    }
    Ok(18.0 + line * ROW)
}

fn legend_entry(pen: &Pen<'_>, row: &Row, (x, y): (f64, f64), width: f64) -> Result<(), PlotError> {
    pen.swatch((x, y), row.look, 2.0)?;
    if row.dot {
        let (middle, c) = (x + 13.0, row.look.line_color());
        pen.line(&[(middle, y - 6.0), (middle, y + 6.0)], stroke(&c.mix(0.6), 1.4), "")?;
        pen.disc((middle, y), 3.2, &c)?;
    }
    pen.text(&font::elide(&row.words, LABEL_SIZE, width), (x + 34.0, y), LABEL_SIZE, TEXT)
}

/// A bar of the panel of counts.
struct Bar {
    low: f64,
    high: f64,
    count: u64,
    /// Whether the curve has a point for the bin.
    counted: bool,
}

/// One bar per bin, or one per point if there is no histogram.
fn bars(engine: &EngineSeries, points: &[Point], limit: f64) -> Vec<Bar> {
    let of_points: Vec<(f64, u64)> = points.iter().map(|p| (p.x, p.count)).collect();
    let bins = if engine.histogram.is_empty() { &of_points } else { &engine.histogram };
    let half = bin_width(bins) * 0.42;
    let bar = |&(centre, count): &(f64, u64)| Bar {
        low: (centre - half).max(-limit),
        high: (centre + half).min(limit),
        count,
        counted: engine.bins == Bins::Quantile || has_point(engine, centre, half / 0.42),
    };
    bins.iter().filter(|bin| bin.0.abs() <= limit && bin.1 > 0).map(bar).collect()
}

/// Counts span orders of magnitude, so the axis is logarithmic; it begins at one half, so that a count of 1 is visible.
fn count_axis(bars: &[Bar], language: Language) -> AxisSpec<'static> {
    let most = bars.iter().map(|b| b.count).max().unwrap_or(1) as f64;
    let top = libm::log10(most) + 0.15;
    let step = if top > 4.0 { 2 } else { 1 };
    let ticks = (0..=top.floor() as i32).filter(|k| k % step == 0).map(f64::from).collect();
    AxisSpec { ticks, format: &power_of_ten, ..AxisSpec::new(language.word("positions"), (LOG_FOOT, top)) }
}

/// About log10 of one half.
const LOG_FOOT: f64 = -0.3;

fn power_of_ten(exponent: f64) -> String {
    let exponent = exponent.round() as i32;
    let (unit, left) = match exponent {
        ..3 => ("", exponent),
        3..6 => ("k", exponent - 3),
        6..9 => ("M", exponent - 6),
        _ => ("G", exponent - 9),
    };
    format!("1{}{unit}", "0".repeat(left.unsigned_abs() as usize))
}

fn draw_bars(canvas: &mut Canvas<'_, '_, '_>, bars: &[Bar], look: Stroke) -> Result<(), PlotError> {
    const LEFT_OUT: RGBColor = RGBColor(0xCF, 0xCF, 0xCF);
    for bar in bars {
        let corners = [(bar.low, libm::log10(bar.count as f64)), (bar.high, LOG_FOOT)];
        canvas.bar(corners, &if bar.counted { pale(look.line_color(), 0.55) } else { LEFT_OUT })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::FittedCurve;
    use super::*;

    #[test]
    fn counts_are_labelled_shortly() {
        assert_eq!([0.0, 2.0, 3.0, 4.0, 6.0, 9.0].map(power_of_ten), ["1", "100", "1k", "10k", "1M", "1G"]);
    }

    #[test]
    fn the_dotted_line_never_has_the_colour_of_the_curve() {
        for index in 0..40 {
            let fit = FittedCurve::sample("a", "", |_| (0.5, None));
            let engine = EngineSeries { fits: vec![fit; 2], ..EngineSeries::new("a", index) };
            assert_ne!(fits(&engine, 3000.0, Language::English)[1].look.rgb, color(index).rgb);
        }
    }

    #[test]
    fn a_fit_ends_at_the_axis() {
        let fit = FittedCurve::sample("a", "", |x| (0.5 + x / 40_000.0, Some((0.1, 0.9))));
        for limit in [5.0, 300.0, 3000.0, 20_000.0] {
            let path = fit.within(limit);
            let end = limit.min(10_000.0);
            assert!((path[0].x + end).abs() < 1e-9 && (path[path.len() - 1].x - end).abs() < 1e-9, "{limit}");
            assert!(path.windows(2).all(|w| w[0].x < w[1].x), "{limit}");
            assert!(path.iter().all(|p| (p.win_rate - 0.5 - p.x / 40_000.0).abs() < 1e-9), "{limit}");
        }
        assert!(FittedCurve::sample("a", "", |x| (x, None)).band(300.0).is_empty());
    }
}
