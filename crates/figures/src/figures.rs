//! Figures of several engines: curves, sigmoids, curves over standardised scores.

use evalcurve_core::text::thousands;
use plotters::style::Color;

use super::chart::{AxisSpec, Canvas, Words, number, score_axis, stroke, win_rate_axis, z_axis};
use super::labels::{Entry, entries, look, more, named_lines};
use super::notes::{bins_left_out, caption, clipped, left_out, remarks, visible};
use super::palette::Stroke;
use super::{EngineSeries, Figure, FittedCurve, PlotError, PlotOptions, Point, Range};

/// The most engines that are shown with their intervals.
const MOST_BANDS: usize = 4;

/// The fitted curves of all engines in one figure, each between players of equal strength, or with `field` against the
/// opponents that each one met, as in figure 1 of Takeuchi (2018). Those cannot be compared.
///
/// # Errors
/// No engine, no engine with a fit, or options out of range.
pub fn sigmoids(engines: &[EngineSeries], field: bool, options: &PlotOptions) -> Result<Figure, PlotError> {
    options.check()?;
    let limit = options.score_limit_cp;
    let of = |e: &EngineSeries| if field { e.fits.last().cloned() } else { e.equal.clone() };
    let fits: Vec<Option<FittedCurve>> = engines.iter().map(of).collect();
    let title = if field { "Win rate by score, against the opponents met" } else { "Win rate between equals by score" };
    let bands = fits.iter().map(|fit| fit.as_ref().map_or_else(Vec::new, |fit| fit.band(limit))).collect();
    let figure = Overlay {
        dots: false,
        bands,
        bands_from: "clustered by game",
        ..Overlay::new(title, "a fitted curve", "no fit", score_axis(limit))
    };
    let path = |fit: &Option<FittedCurve>| fit.as_ref().map_or_else(Vec::new, |fit| fit.within(limit));
    figure.draw(engines, fits.iter().map(path).collect(), options)
}

/// Figure 3 of Takeuchi (2018): the evaluation curves of all engines in one figure.
///
/// # Errors
/// No engine, no engine with a curve, or options out of range.
pub fn curves(engines: &[EngineSeries], options: &PlotOptions) -> Result<Figure, PlotError> {
    options.check()?;
    let limit = options.score_limit_cp;
    let (lines, beyond) = visible_lines(engines, |e| &e.curve, limit);
    let without = engines.iter().map(bins_left_out).sum();
    let title = "Evaluation curves: win rate observed at each score";
    let figure = Overlay {
        bands: engines.iter().map(|e| within(&e.bands, limit)).collect(),
        notes: [clipped(beyond, limit), left_out(without)].into_iter().flatten().collect(),
        ..Overlay::new(title, "a point of an evaluation curve", "no curve", score_axis(limit))
    };
    figure.draw(engines, lines, options)
}

/// Evaluation curves of groups of one engine's samples in one figure, as in Takeuchi, Kaneko, Yamaguchi and Kawai (AAAI
/// 2007). Each has its sigmoid by maximum likelihood as a thin line.
///
/// Each group takes the place of an engine and is shown under its own name. `remark` is added to the notes.
///
/// # Errors
/// No group, no group with a curve or a fit, or options out of range.
pub fn split_curves(
    title: &str,
    groups: &[EngineSeries],
    remark: &str,
    options: &PlotOptions,
) -> Result<Figure, PlotError> {
    options.check()?;
    let limit = options.score_limit_cp;
    let (lines, _) = visible_lines(groups, |e| &e.curve, limit);
    let without = groups.iter().map(bins_left_out).sum();
    let samples = groups.iter().map(|e| e.samples).fold(0_u64, u64::saturating_add);
    let thin = Some("thin: sigmoids by maximum likelihood".to_owned());
    let remark = Some(remark.to_owned()).filter(|r| !r.is_empty());
    let figure = Overlay {
        caption: Some(format!("{} groups · {} positions", groups.len(), thousands(samples))),
        fits: groups.iter().map(|e| e.fits.first().map_or_else(Vec::new, |fit| fit.within(limit))).collect(),
        notes: [thin, left_out(without), remark].into_iter().flatten().collect(),
        ..Overlay::new(title, "a point of an evaluation curve", "no point", score_axis(limit))
    };
    figure.draw(groups, lines, options)
}

/// Figure 5 of Takeuchi (2018): the evaluation curves over standardised scores.
///
/// # Errors
/// No engine, no engine with a standardised curve, or options out of range.
pub fn standardized_curves(engines: &[EngineSeries], options: &PlotOptions) -> Result<Figure, PlotError> {
    options.check()?;
    let limit = options.z_limit;
    let (lines, beyond) = visible_lines(engines, |e| &e.standardized, limit);
    let title = "Evaluation curves over standardised scores";
    let figure = Overlay {
        notes: clipped(beyond, limit).into_iter().collect(),
        ..Overlay::new(title, "a point of a standardised curve", "no curve", z_axis(limit))
    };
    figure.draw(engines, lines, options)
}

/// The mean results of all engines at equal values of one scale, whatever the scale is. The horizontal axis is the
/// share of all samples with a lower value (0 to 1 in the points' x). On a common scale the lines coincide.
///
/// # Errors
/// No engine, no engine with a point, or options out of range.
pub fn pooled_curves(engines: &[EngineSeries], scale: &str, options: &PlotOptions) -> Result<Figure, PlotError> {
    options.check()?;
    let (mut lines, _) = visible_lines(engines, |e| &e.curve, 1.0);
    lines.iter_mut().flatten().for_each(|p| p.x *= 100.0);
    let axis = AxisSpec::new("share of all samples with a lower value (%)", (0.0, 100.0));
    Overlay::new(format!("At equal {scale}"), "a point", "no curve", axis).draw(engines, lines, options)
}

/// The points of each engine's curve within the axis, and the number of points beyond it.
fn visible_lines(
    engines: &[EngineSeries],
    curve: impl Fn(&EngineSeries) -> &[Point],
    limit: f64,
) -> (Vec<Vec<Point>>, usize) {
    let seen: Vec<_> = engines.iter().map(|e| visible(curve(e), limit)).collect();
    let beyond = seen.iter().map(|s| s.clipped).sum();
    (seen.into_iter().map(|s| s.points).collect(), beyond)
}

/// Lines of several engines over one axis.
struct Overlay<'a> {
    title: String,
    /// Replaces the number of engines and their positions.
    caption: Option<String>,
    /// What an engine needs to be drawn, for the error.
    what: &'static str,
    /// What an engine without a line lacks, for the legend.
    absent: &'static str,
    axis: AxisSpec<'a>,
    dots: bool,
    /// Bands, one per engine; if all are empty, the intervals of the points are drawn.
    bands: Vec<Vec<Range>>,
    /// Where the bands are from, for the notes.
    bands_from: &'static str,
    /// Thin lines, one per engine or none.
    fits: Vec<Vec<Point>>,
    notes: Vec<String>,
}

impl<'a> Overlay<'a> {
    fn new(title: impl Into<String>, what: &'static str, absent: &'static str, axis: AxisSpec<'a>) -> Self {
        let (bands, fits, notes) = (Vec::new(), Vec::new(), Vec::new());
        let bands_from = "by bootstrap over games";
        Self { title: title.into(), caption: None, what, absent, axis, dots: true, bands, bands_from, fits, notes }
    }

    fn draw(
        self,
        engines: &[EngineSeries],
        lines: Vec<Vec<Point>>,
        options: &PlotOptions,
    ) -> Result<Figure, PlotError> {
        let Self { title, caption: own_caption, what, absent, axis, dots, bands, bands_from, fits, mut notes } = self;
        let fitted = |i: usize| fits.get(i).is_some_and(|fit| !fit.is_empty());
        let has_line: Vec<bool> = lines.iter().enumerate().map(|(i, line)| !line.is_empty() || fitted(i)).collect();
        require(engines, &has_line, what, &axis)?;
        let entries = entries(engines, &has_line, options);
        let resampled = bands.iter().any(|band| band.len() > 1);
        let shaded = (dots || resampled) && has_line.iter().filter(|drawn| **drawn).count() <= MOST_BANDS;
        if shaded {
            let how = if resampled { bands_from } else { "(Wilson)" };
            notes.insert(0, format!("shaded: 95% intervals {how}"));
        }
        let own = |line: &Vec<Point>| line.iter().map(|p| Range { x: p.x, low: p.low, high: p.high }).collect();
        let shades: Vec<Vec<Range>> = if resampled { bands } else { lines.iter().map(own).collect() };
        notes.extend(more(&entries, absent));
        notes.extend(remarks(engines));
        let caption = own_caption.unwrap_or_else(|| caption(engines));
        let words = Words { title: &title, caption: &caption, notes: &notes };
        named_lines(options, words, (&entries, absent), true, (&axis, &win_rate_axis()), |canvas| {
            let order = back_to_front(&entries);
            if shaded {
                for &i in &order {
                    canvas.band(&shades[i], &look(&entries[i]).line_color().mix(SHADE))?;
                }
            }
            for &i in order.iter().filter(|i| **i < fits.len()) {
                curve(canvas, &fits[i], look(&entries[i]), 1.0, 0.0)?;
            }
            let radius = if engines.len() <= 6 { 2.8 } else { 2.0 };
            for &i in &order {
                curve(canvas, &lines[i], look(&entries[i]), 2.0, if dots { radius } else { 0.0 })?;
            }
            // a line without points ends where its fit does
            let last = |(i, entry): (usize, &Entry)| {
                let end = lines[i].last().or_else(|| fits.get(i).and_then(|fit| fit.last()));
                end.filter(|_| entry.named).copied()
            };
            let ends = entries.iter().enumerate().filter_map(last);
            Ok(ends.map(|p| canvas.place((p.x, p.win_rate))).collect())
        })
    }
}

/// Opacity of a shaded band.
pub(super) const SHADE: f64 = 0.13;

/// Refuses a figure in which nothing would be drawn.
pub(super) fn require(
    engines: &[EngineSeries],
    drawn: &[bool],
    what: &'static str,
    axis: &AxisSpec<'_>,
) -> Result<(), PlotError> {
    if engines.is_empty() {
        return Err(PlotError::NoEngines);
    }
    if drawn.contains(&true) {
        return Ok(());
    }
    Err(PlotError::nothing(engines.len(), what, format!("±{}", number(axis.range.1))))
}

/// The order of drawing: grey lines first, then coloured ones, the first engine last and so on top.
pub(super) fn back_to_front(entries: &[Entry]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..entries.len()).rev().collect();
    order.sort_by_key(|&i| entries[i].named);
    order
}

/// A curve with its points.
pub(super) fn curve(
    canvas: &mut Canvas<'_, '_, '_>,
    points: &[Point],
    look: Stroke,
    width: f64,
    radius: f64,
) -> Result<(), PlotError> {
    let path: Vec<(f64, f64)> = points.iter().map(|p| (p.x, p.win_rate)).collect();
    if path.len() > 1 {
        canvas.line(&path, stroke(&look.line_color(), width), look.dash)?;
    }
    // a curve of one point is only visible by its disc
    if radius > 0.0 || path.len() == 1 {
        canvas.discs(&path, radius.max(2.0), &look.line_color())?;
    }
    Ok(())
}

/// The part of a band within the axis.
pub(super) fn within(band: &[Range], limit: f64) -> Vec<Range> {
    band.iter().filter(|r| r.x.abs() <= limit && r.low.is_finite() && r.high.is_finite()).copied().collect()
}
