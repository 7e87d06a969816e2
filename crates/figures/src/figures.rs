//! Figures of several engines: curves, sigmoids, curves over standardised scores.

use plotters::style::Color;

use super::chart::{
    Area, AxisSpec, Canvas, Words, X_AXIS, frame, number, score_axis, sheet, stroke, win_rate_axis, z_axis,
};
use super::labels::{Entry, Names, entries, look, more};
use super::notes::{bins_left_out, caption, clipped, left_out, remarks, visible};
use super::palette::Stroke;
use super::{Chosen, EngineSeries, Figure, PlotError, PlotOptions, Point, Range};

/// Pieces in which a sigmoid is drawn.
const SIGMOID_STEPS: u32 = 160;
/// Up to so many engines are shown with their intervals.
const MOST_BANDS: usize = 4;

/// Figure 1 of Takeuchi (2018): the fitted sigmoids of all engines on one plot.
///
/// # Errors
/// No engine, none with that fit, or options out of range.
pub fn sigmoids(engines: &[EngineSeries], chosen: Chosen, options: &PlotOptions) -> Result<Figure, PlotError> {
    options.check()?;
    let limit = options.score_limit_cp;
    let lines: Vec<Vec<Point>> = engines.iter().map(|e| sigmoid(e, chosen, limit)).collect();
    let figure = Overlay {
        title: format!("Win rate by score: the sigmoids fitted by {}", chosen.words()),
        caption: None,
        fits: Vec::new(),
        what: "a fitted sigmoid",
        absent: "no fit",
        axis: score_axis(limit),
        dots: false,
        bands: engines.iter().map(|e| within(chosen.band(e), limit)).collect(),
        notes: Vec::new(),
    };
    figure.draw(engines, lines, options)
}

/// Figure 3 of Takeuchi (2018): the evaluation curves of all engines on one plot.
///
/// # Errors
/// No engine, none with a curve, or options out of range.
pub fn curves(engines: &[EngineSeries], options: &PlotOptions) -> Result<Figure, PlotError> {
    options.check()?;
    let limit = options.score_limit_cp;
    let seen: Vec<_> = engines.iter().map(|e| visible(&e.curve, limit)).collect();
    let beyond = seen.iter().map(|s| s.clipped).sum();
    let without = engines.iter().map(bins_left_out).sum();
    let figure = Overlay {
        title: "Evaluation curves: win rate observed at each score".to_owned(),
        caption: None,
        fits: Vec::new(),
        what: "a point of an evaluation curve",
        absent: "no curve",
        axis: score_axis(limit),
        dots: true,
        bands: engines.iter().map(|e| within(&e.bands.curve, limit)).collect(),
        notes: [clipped(beyond, limit), left_out(without)].into_iter().flatten().collect(),
    };
    figure.draw(engines, seen.into_iter().map(|s| s.points).collect(), options)
}

/// Evaluation curves of groups of one engine's samples on one plot, as in Takeuchi, Kaneko, Yamaguchi and Kawai (AAAI
/// 2007), each with its sigmoid by maximum likelihood as a thin line.
///
/// The groups stand in for engines: their names are those of the groups. `remark` is said below.
///
/// # Errors
/// No group, none with a curve or a fit, or options out of range.
pub fn split_curves(
    title: &str,
    groups: &[EngineSeries],
    remark: &str,
    options: &PlotOptions,
) -> Result<Figure, PlotError> {
    options.check()?;
    let limit = options.score_limit_cp;
    let seen: Vec<_> = groups.iter().map(|e| visible(&e.curve, limit)).collect();
    let fits: Vec<Vec<Point>> = groups.iter().map(|e| sigmoid(e, Chosen::MaximumLikelihood, limit)).collect();
    let without = groups.iter().map(bins_left_out).sum();
    let samples = groups.iter().map(|e| e.samples).fold(0_u64, u64::saturating_add);
    let figure = Overlay {
        title: title.to_owned(),
        caption: Some(format!("{} groups · {} positions", groups.len(), super::chart::grouped(samples))),
        what: "a point of an evaluation curve",
        absent: "no point",
        axis: score_axis(limit),
        dots: true,
        bands: Vec::new(),
        fits,
        notes: [Some("thin: sigmoids by maximum likelihood".to_owned()), left_out(without), Some(remark.to_owned())]
            .into_iter()
            .flatten()
            .filter(|note| !note.is_empty())
            .collect(),
    };
    figure.draw(groups, seen.into_iter().map(|s| s.points).collect(), options)
}

/// Figure 5 of Takeuchi (2018): the evaluation curves over standardised scores.
///
/// # Errors
/// No engine, none with a standardised curve, or options out of range.
pub fn standardized_curves(engines: &[EngineSeries], options: &PlotOptions) -> Result<Figure, PlotError> {
    options.check()?;
    let limit = options.z_limit;
    let seen: Vec<_> = engines.iter().map(|e| visible(&e.standardized, limit)).collect();
    let beyond = seen.iter().map(|s| s.clipped).sum();
    let figure = Overlay {
        title: "Evaluation curves over standardised scores".to_owned(),
        caption: None,
        fits: Vec::new(),
        what: "a point of a standardised curve",
        absent: "no curve",
        axis: z_axis(limit),
        dots: true,
        bands: Vec::new(),
        notes: clipped(beyond, limit).into_iter().collect(),
    };
    figure.draw(engines, seen.into_iter().map(|s| s.points).collect(), options)
}

/// The mean results of all engines at equal values of one scale, whatever the scale is: the horizontal axis tells which
/// share of all samples lies below (0 to 1 in the points' x). On a good scale the lines lie on each other.
///
/// # Errors
/// No engine, none with a point, or options out of range.
pub fn pooled_curves(engines: &[EngineSeries], scale: &str, options: &PlotOptions) -> Result<Figure, PlotError> {
    options.check()?;
    let percent = |p: &Point| Point { x: 100.0 * p.x, ..*p };
    let lines: Vec<Vec<Point>> =
        engines.iter().map(|e| visible(&e.curve, 1.0).points.iter().map(percent).collect()).collect();
    let figure = Overlay {
        title: format!("At equal {scale}"),
        caption: None,
        fits: Vec::new(),
        bands: Vec::new(),
        what: "a point",
        absent: "no curve",
        axis: AxisSpec {
            range: (0.0, 100.0),
            ticks: Vec::new(),
            name: "share of all samples with a lower value (%)",
            format: &number,
            emphasis: None,
            labelled: true,
        },
        dots: true,
        notes: Vec::new(),
    };
    figure.draw(engines, lines, options)
}

/// The sigmoid of an engine as points; empty without a fit or with one that is not of numbers.
fn sigmoid(engine: &EngineSeries, chosen: Chosen, limit: f64) -> Vec<Point> {
    match chosen.of(engine) {
        Some(line) if line.w1.is_finite() && line.w2.is_finite() => sigmoid_points(limit)
            .map(|x| (x, line.win_rate(x)))
            .map(|(x, p)| Point { x, win_rate: p, low: p, high: p, count: 0 })
            .collect(),
        _ => Vec::new(),
    }
}

/// The scores at which a sigmoid is drawn.
pub(super) fn sigmoid_points(limit: f64) -> impl Iterator<Item = f64> {
    (0..=SIGMOID_STEPS).map(move |k| (2.0 * f64::from(k) / f64::from(SIGMOID_STEPS) - 1.0) * limit)
}

/// Lines of several engines over one axis.
struct Overlay<'a> {
    title: String,
    /// instead of the number of engines and their positions
    caption: Option<String>,
    what: &'static str,
    absent: &'static str,
    axis: AxisSpec<'a>,
    dots: bool,
    /// bands by bootstrap, one an engine; the points' own intervals stand in where all are empty
    bands: Vec<Vec<Range>>,
    /// thin lines beside those of the engines, one an engine or none at all
    fits: Vec<Vec<Point>>,
    notes: Vec<String>,
}

impl Overlay<'_> {
    fn draw(
        self,
        engines: &[EngineSeries],
        lines: Vec<Vec<Point>>,
        options: &PlotOptions,
    ) -> Result<Figure, PlotError> {
        let fitted = |i: usize| self.fits.get(i).is_some_and(|fit| !fit.is_empty());
        let has_line: Vec<bool> = lines.iter().enumerate().map(|(i, line)| !line.is_empty() || fitted(i)).collect();
        require(engines, &has_line, self.what, &self.axis)?;
        super::font::register()?;
        let entries = entries(engines, &has_line, options);
        let mut notes = self.notes;
        let resampled = self.bands.iter().any(|band| band.len() > 1);
        let bands = (self.dots || resampled) && has_line.iter().filter(|drawn| **drawn).count() <= MOST_BANDS;
        if bands {
            let how = if resampled { " by bootstrap over games" } else { " (Wilson)" };
            notes.insert(0, format!("shaded: 95% intervals{how}"));
        }
        let own = |line: &Vec<Point>| line.iter().map(|p| Range { x: p.x, low: p.low, high: p.high }).collect();
        let shades: Vec<Vec<Range>> = if resampled { self.bands } else { lines.iter().map(own).collect() };
        notes.extend(more(&entries, self.absent));
        notes.extend(remarks(engines));
        let words = Words { title: self.title, caption: self.caption.unwrap_or_else(|| caption(engines)), notes };
        let (axis, absent, dots, fits) = (self.axis, self.absent, self.dots, self.fits);
        sheet(options, &words, |pen, area| {
            let names = Names::new(&entries, absent, area, true);
            let outer = names.frame(area);
            let mut ends = Vec::new();
            let order = back_to_front(&entries);
            frame(pen, outer, &axis, &win_rate_axis(), |canvas| {
                if bands {
                    for &i in &order {
                        shade(canvas, &shades[i], look(&entries[i]))?;
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
                ends = entries.iter().enumerate().filter_map(last).map(|p| canvas.place((p.x, p.win_rate))).collect();
                Ok(())
            })?;
            let inner = Area { bottom: outer.bottom - if below(outer, area) { 0.0 } else { X_AXIS }, ..outer };
            names.draw(pen, area, inner, Some(&ends))
        })
    }
}

/// Whether the frame leaves room below itself, for a legend.
pub(super) fn below(frame: Area, area: Area) -> bool {
    frame.bottom < area.bottom
}

/// Refuses figures of nothing.
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
    Err(PlotError::Nothing { engines: engines.len(), what, range: format!("±{}", number(axis.range.1)) })
}

/// Grey lines lie below coloured ones; the first engine lies on top.
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
    // A curve of one point would be nothing without its disc.
    if radius > 0.0 || path.len() == 1 {
        canvas.discs(&path, radius.max(2.0), &look.line_color())?;
    }
    Ok(())
}

/// The part of a band that the axis shows.
pub(super) fn within(band: &[Range], limit: f64) -> Vec<Range> {
    band.iter().filter(|r| r.x.abs() <= limit && r.low.is_finite() && r.high.is_finite()).copied().collect()
}

/// A band as a shade.
pub(super) fn shade(canvas: &mut Canvas<'_, '_, '_>, band: &[Range], look: Stroke) -> Result<(), PlotError> {
    if band.len() < 2 {
        return Ok(());
    }
    let upper = band.iter().map(|p| (p.x, p.high));
    let lower = band.iter().rev().map(|p| (p.x, p.low));
    canvas.polygon(upper.chain(lower).collect(), &look.line_color().mix(0.13))
}
