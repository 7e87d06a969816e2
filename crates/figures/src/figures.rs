//! Figures of several engines: curves, sigmoids, curves over standardised scores.

use evalcurve_words::text::thousands;
use evalcurve_words::{key, say};
use plotters::style::Color;

use super::chart::{AxisSpec, Canvas, LABEL_SIZE, SOFT_TEXT, Words, number, score_axis, stroke, win_rate_axis, z_axis};
use super::labels::{Entry, Names, entries, named_lines};
use super::limits::{Reach, limit};
use super::notes::{bin_width, bins_left_out, clipped, counts, left_out, parts, remarks, visible};
use super::palette::{Stroke, color};
use super::panels::{MOST_TOGETHER, listed, panels, with_panel};
use super::spots::{at_score, reading, readings};
use super::{
    Bins, Data, EngineSeries, Figure, FittedCurve, Language, PlotError, PlotOptions, Point, Range, Spot, font,
};

/// The fitted curves of all engines in one figure, each between players of equal strength, or with `field` against the
/// opponents that each one met, as in figure 1 of Takeuchi (2018). Those cannot be compared.
///
/// # Errors
/// No engine, no engine with a fit, or options out of range.
pub fn sigmoids(engines: &[EngineSeries], field: bool, options: &PlotOptions) -> Result<Figure, PlotError> {
    options.check()?;
    let language = options.language;
    let limit = limit(engines, options, Reach::Curves);
    let of = |e: &EngineSeries| if field { e.field.clone() } else { e.equal.clone() };
    let fits: Vec<Option<FittedCurve>> = engines.iter().map(of).collect();
    let title = match field {
        true => language.word("Win rate by score, against the opponents met"),
        false => language.word("Win rate between equals by score"),
    };
    let bands = fits.iter().map(|fit| fit.as_ref().map_or_else(Vec::new, |fit| fit.band(limit))).collect();
    let mark = MARKS.into_iter().rev().find(|mark| *mark <= 0.4 * limit);
    let figure = Overlay {
        see: mark.map_or_else(String::new, |mark| steepest(engines, &fits, mark, language)),
        mark,
        dots: false,
        background: true,
        bands,
        bands_from: language.word("clustered by game"),
        ..Overlay::new(title, "a fitted curve", key!("without a fit"), score_axis(limit, language), language)
    };
    let path = |fit: &Option<FittedCurve>| fit.as_ref().map_or_else(Vec::new, |fit| fit.within(limit));
    figure.draw(engines, fits.iter().map(path).collect(), options)
}

/// Scores at which a figure of sigmoids shows the win rate of each engine, centipawns.
const MARKS: [f64; 3] = [100.0, 200.0, 500.0];

/// What to see in a figure of sigmoids: the win rates of the steepest and the flattest at the score `mark`.
fn steepest(engines: &[EngineSeries], fits: &[Option<FittedCurve>], mark: f64, language: Language) -> String {
    let rate = |(e, fit): (&'_ EngineSeries, &Option<FittedCurve>)| {
        let rate = rate_at(&fit.as_ref()?.path, mark)?;
        Some((rate, e.name.clone()))
    };
    let mut rates: Vec<(f64, String)> = engines.iter().zip(fits).filter_map(rate).collect();
    rates.sort_by(|a, b| a.0.total_cmp(&b.0));
    let percent = |rate: &f64| format!("{:.0}%", 100.0 * rate);
    match &rates[..] {
        [] => String::new(),
        [(rate, name)] => {
            let rate = percent(rate);
            say!(language, "A score of +{mark} wins {rate} of the games for {name}.")
        }
        [(least, flat), .., (most, steep)] => {
            let (least, most) = (percent(least), percent(most));
            say!(
                language,
                "The same score means something different for each engine: +{mark} wins {most} of the games for \
                 {steep} and {least} for {flat}."
            )
        }
    }
}

/// The win rate of a path at a score.
pub(super) fn rate_at(path: &[Point], x: f64) -> Option<f64> {
    let pair = path.windows(2).find(|pair| pair[0].x <= x && x <= pair[1].x)?;
    let share = (x - pair[0].x) / (pair[1].x - pair[0].x);
    Some(pair[0].win_rate + share * (pair[1].win_rate - pair[0].win_rate))
}

/// Figure 3 of Takeuchi (2018): the evaluation curves of all engines in one figure.
///
/// # Errors
/// No engine, no engine with a curve, or options out of range.
pub fn curves(engines: &[EngineSeries], options: &PlotOptions) -> Result<Figure, PlotError> {
    options.check()?;
    let language = options.language;
    let limit = limit(engines, options, Reach::Points);
    let (lines, beyond) = visible_lines(engines, |e| &e.curve, limit);
    let without = engines.iter().map(bins_left_out).sum();
    let title = language.word("Evaluation curves: win rate observed at each score");
    let figure = Overlay {
        see: language
            .word(
                "The further right a curve reaches a win rate, the less its scores are worth; the opponents that each \
                 engine met move it, too.",
            )
            .to_owned(),
        all: engines.iter().map(|e| e.curve.clone()).collect(),
        bands: engines.iter().map(|e| within(&e.bands, limit)).collect(),
        fits: engines
            .iter()
            .map(|e| e.field.as_ref().or(e.fits.last()).map_or_else(Vec::new, |fit| fit.within(limit)))
            .collect(),
        fits_in_panels_only: true,
        notes: [points_of(engines, language), clipped(beyond, limit, language), left_out(without, language)]
            .into_iter()
            .flatten()
            .collect(),
        ..Overlay::new(title, "a point of an evaluation curve", NO_CURVE, score_axis(limit, language), language)
    };
    figure.draw(engines, lines, options)
}

/// The note about the bins of the points; none if they are of several kinds or unknown.
pub(super) fn points_of(engines: &[EngineSeries], language: Language) -> Option<String> {
    let drawn: Vec<&EngineSeries> = engines.iter().filter(|e| !e.curve.is_empty()).collect();
    if !drawn.is_empty() && drawn.iter().all(|e| e.bins == Bins::Quantile) {
        return Some(language.word("each point: about the same number of positions").to_owned());
    }
    let mut widths: Vec<f64> =
        drawn.iter().filter(|e| e.histogram.len() > 1).map(|e| bin_width(&e.histogram)).collect();
    widths.dedup();
    let [width] = widths[..] else { return None };
    let width = number(width);
    drawn.iter().all(|e| e.bins == Bins::Width).then(|| say!(language, "each point: a bin of {width} centipawns"))
}

/// What an engine without points lacks.
const NO_CURVE: &str = key!("without a curve");

/// Evaluation curves of groups of one engine's samples in one figure, as in Takeuchi, Kaneko, Yamaguchi and Kawai (AAAI
/// 2007). Each has its sigmoid by maximum likelihood as a thin line.
///
/// Each group takes the place of an engine and is shown under its own name. `see` is the sentence under the title.
///
/// # Errors
/// No group, no group with a curve or a fit, or options out of range.
pub fn split_curves(
    title: &str,
    groups: &[EngineSeries],
    see: &str,
    options: &PlotOptions,
) -> Result<Figure, PlotError> {
    options.check()?;
    let language = options.language;
    let limit = limit(groups, options, Reach::Points);
    let (lines, _) = visible_lines(groups, |e| &e.curve, limit);
    let without = groups.iter().map(bins_left_out).sum();
    let samples = groups.iter().map(|e| e.samples).fold(0_u64, u64::saturating_add);
    let thin = language.word("thin: sigmoids by maximum likelihood").to_owned();
    let positions = thousands(samples);
    let figure = Overlay {
        see: see.to_owned(),
        all: groups.iter().map(|e| e.curve.clone()).collect(),
        counts: Some(say!(language, "{} groups · {positions} positions", groups.len())),
        fits: groups.iter().map(|e| e.fits.first().map_or_else(Vec::new, |fit| fit.within(limit))).collect(),
        notes: [Some(thin), left_out(without, language)].into_iter().flatten().collect(),
        ..Overlay::new(title, "a point of an evaluation curve", NO_CURVE, score_axis(limit, language), language)
    };
    figure.draw(groups, lines, options)
}

/// Figure 5 of Takeuchi (2018): the evaluation curves over standardised scores.
///
/// # Errors
/// No engine, no engine with a standardised curve, or options out of range.
pub fn standardized_curves(engines: &[EngineSeries], options: &PlotOptions) -> Result<Figure, PlotError> {
    options.check()?;
    let language = options.language;
    let reach = engines.iter().flat_map(|e| &e.standardized).map(|p| p.x.abs()).filter(|x| x.is_finite());
    let limit = options.z_limit.min((2.0 * reach.fold(0.25, f64::max)).ceil() / 2.0);
    let (lines, beyond) = visible_lines(engines, |e| &e.standardized, limit);
    let title = language.word("Evaluation curves over standardised scores");
    let figure = Overlay {
        see: language.word("Where the curves coincide, standardised scores of these engines mean the same.").to_owned(),
        background: true,
        at: |z, _| format!("z {}", number(z)),
        all: engines.iter().map(|e| e.standardized.clone()).collect(),
        notes: clipped(beyond, limit, language).into_iter().collect(),
        ..Overlay::new(title, "a point of a standardised curve", NO_CURVE, z_axis(limit, language), language)
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
    let language = options.language;
    let (mut lines, _) = visible_lines(engines, |e| &e.curve, 1.0);
    lines.iter_mut().flatten().for_each(|p| p.x *= 100.0);
    let name = language.word("share of all samples with a lower value (%)");
    let axis = AxisSpec::new(name, (0.0, 100.0));
    let figure = Overlay {
        see: language.word("On a common scale the lines coincide.").to_owned(),
        background: true,
        at: |share, language| say!(language, "at {share:.0}%"),
        ..Overlay::new(say!(language, "At equal values: {scale}"), "a point", NO_CURVE, axis, language)
    };
    figure.draw(engines, lines, options)
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
    /// What to see in the figure, in one sentence.
    see: String,
    /// Replaces the number of engines and their positions.
    counts: Option<String>,
    /// What an engine needs to be drawn, for the error.
    what: &'static str,
    /// What an engine without a line lacks, for the notes.
    absent: &'static str,
    language: Language,
    axis: AxisSpec<'a>,
    /// The score at which each line shows its win rate, with its name.
    mark: Option<f64>,
    dots: bool,
    /// The points with those beyond the axis, for the numbers of the figure; if empty, the lines have all.
    all: Vec<Vec<Point>>,
    /// Whether each of many panels shows the lines of the other engines in grey.
    background: bool,
    /// Bands, one per engine; if all are empty, the intervals of the points are drawn.
    bands: Vec<Vec<Range>>,
    /// Where the bands are from, for the notes.
    bands_from: &'static str,
    /// Thin lines, one per engine or none.
    fits: Vec<Vec<Point>>,
    /// Whether one frame has no room for these lines.
    fits_in_panels_only: bool,
    /// The words for a place on the axis, where points can be read.
    at: fn(f64, Language) -> String,
    notes: Vec<String>,
}

impl<'a> Overlay<'a> {
    /// `absent` is what an engine without a line lacks.
    fn new(
        title: impl Into<String>,
        what: &'static str,
        absent: &'static str,
        axis: AxisSpec<'a>,
        language: Language,
    ) -> Self {
        Self {
            title: title.into(),
            see: String::new(),
            counts: None,
            what,
            absent: language.word(absent),
            language,
            axis,
            mark: None,
            dots: true,
            all: Vec::new(),
            background: false,
            bands: Vec::new(),
            bands_from: language.word("by bootstrap over games"),
            fits: Vec::new(),
            fits_in_panels_only: false,
            at: at_score,
            notes: Vec::new(),
        }
    }

    /// Where the line of an engine can be read: at its points, or at each tenth of the axis. A panel has the name above
    /// it.
    fn spots<'s>(
        &'s self,
        name: Option<&'s str>,
        line: &[Point],
        canvas: &'s Canvas<'_, '_, '_>,
    ) -> impl Iterator<Item = Spot> + 's {
        let points = if self.dots { line.to_vec() } else { readings(line, self.axis.range.1) };
        let rate = self.language.word("win rate");
        points.into_iter().map(move |p| {
            let name = name.map_or_else(String::new, |name| font::elide(name, LABEL_SIZE, SPOT_NAME) + ", ");
            let at = name + &(self.at)(p.x, self.language);
            Spot::new(canvas.place((p.x, p.win_rate)), reading(&p, &at, rate))
        })
    }

    fn draw(
        mut self,
        engines: &[EngineSeries],
        lines: Vec<Vec<Point>>,
        options: &PlotOptions,
    ) -> Result<Figure, PlotError> {
        let fitted = |i: usize| !self.fits_in_panels_only && self.fits.get(i).is_some_and(|fit| !fit.is_empty());
        let drawn: Vec<bool> = lines.iter().enumerate().map(|(i, line)| !line.is_empty() || fitted(i)).collect();
        require(engines, &drawn, self.what, &self.axis)?;
        let language = self.language;
        let mut notes = vec![self.counts.take().unwrap_or_else(|| counts(engines, language))];
        let resampled = self.bands.iter().any(|band| band.len() > 1);
        if self.dots || resampled {
            let how = if resampled { self.bands_from } else { "(Wilson)" };
            notes.push(say!(language, "shaded: 95% intervals {how}"));
        }
        notes.append(&mut self.notes);
        let without: Vec<&str> =
            engines.iter().zip(&drawn).filter(|(_, d)| !**d).map(|(e, _)| e.name.as_str()).collect();
        notes.extend(listed(self.absent, &without, language));
        notes.extend(remarks(engines));
        let own = |line: &Vec<Point>| line.iter().map(|p| Range { x: p.x, low: p.low, high: p.high }).collect();
        if !resampled {
            self.bands = if self.dots { lines.iter().map(own).collect() } else { Vec::new() };
        }
        let mut data = Data::curves();
        for (i, engine) in engines.iter().enumerate() {
            data.curve(&engine.name, if self.dots { "point" } else { "curve" }, self.all.get(i).unwrap_or(&lines[i]));
            data.curve(&engine.name, "fit", self.fits.get(i).map_or(&[], Vec::as_slice));
        }
        let many = drawn.iter().filter(|drawn| **drawn).count() > MOST_TOGETHER;
        let figure = match many {
            true => self.panels(engines, &lines, &drawn, notes, options),
            false => self.together(engines, &lines, &drawn, &notes, options),
        };
        Ok(figure?.with_data(data))
    }

    /// All lines in one frame, with their names.
    fn together(
        &self,
        engines: &[EngineSeries],
        lines: &[Vec<Point>],
        drawn: &[bool],
        notes: &[String],
        options: &PlotOptions,
    ) -> Result<Figure, PlotError> {
        let mut entries = entries(engines, drawn, options);
        let words = Words { title: &self.title, caption: &self.see, notes };
        let fits = if self.fits_in_panels_only { &[][..] } else { &self.fits[..] };
        let marked = |entry: &Entry| self.mark.and_then(|mark| Some((mark, rate_at(&lines[entry.index], mark)?)));
        let marks: Vec<Option<(f64, f64)>> = entries.iter().map(marked).collect();
        for (entry, (_, rate)) in entries.iter_mut().zip(&marks).filter_map(|(e, mark)| Some((e, (*mark)?))) {
            entry.name += &format!(" {:.0}%", 100.0 * rate);
        }
        // a line without points has its name at its fit
        let path = |entry: &Entry| -> Vec<(f64, f64)> {
            let own = Some(&lines[entry.index]).filter(|line| !line.is_empty());
            own.or(fits.get(entry.index)).into_iter().flatten().map(|p| (p.x, p.win_rate)).collect()
        };
        let paths: Vec<_> = entries.iter().map(path).collect();
        let mut spots = Vec::new();
        let axes = (&self.axis, &win_rate_axis(self.language));
        let figure = named_lines(options, words, &entries, Names::Inside(&paths), axes, |canvas| {
            for entry in entries.iter().rev() {
                let band = self.bands.get(entry.index).map_or(&[][..], Vec::as_slice);
                bands(canvas, &self.parts(&engines[entry.index], band, |r| r.x), entry.look, SHADE)?;
            }
            if let (Some(mark), (low, high)) = (self.mark, axes.1.range) {
                canvas.line(&[(mark, low), (mark, high)], stroke(&SOFT_TEXT, 1.0), "3 3")?;
            }
            for entry in entries.iter().rev() {
                let fit = fits.get(entry.index).map_or(&[][..], Vec::as_slice);
                curve(canvas, &[fit], entry.look, 1.0, 0.0)?;
            }
            let radius = if engines.len() <= 6 { 2.8 } else { 2.0 };
            for (entry, mark) in entries.iter().zip(&marks).rev() {
                let line = &lines[entry.index];
                let radius = if self.dots { radius } else { 0.0 };
                curve(canvas, &self.parts(&engines[entry.index], line, |p| p.x), entry.look, 2.0, radius)?;
                canvas.discs(mark.as_slice(), 3.6, &entry.look.line_color())?;
            }
            for entry in &entries {
                spots.extend(self.spots(Some(&engines[entry.index].name), &lines[entry.index], canvas));
            }
            Ok(())
        })?;
        Ok(figure.with_spots(spots))
    }

    /// What a line may join: observed points of neighbouring bins, and all of a fitted curve.
    fn parts<'p, T>(&self, engine: &EngineSeries, items: &'p [T], x: fn(&T) -> f64) -> Vec<&'p [T]> {
        if self.dots { parts(engine, items, x) } else { vec![items] }
    }

    /// A panel per engine.
    fn panels(
        &self,
        engines: &[EngineSeries],
        lines: &[Vec<Point>],
        drawn: &[bool],
        mut notes: Vec<String>,
        options: &PlotOptions,
    ) -> Result<Figure, PlotError> {
        let (order, rest) = with_panel(engines, drawn, self.language);
        notes.extend(rest);
        if self.background {
            notes.insert(1, self.language.word("grey: the other engines").to_owned());
        }
        let words = Words { title: &self.title, caption: &self.see, notes: &notes };
        let look = color(0);
        let mut spots = Vec::new();
        let axes = (&self.axis, &win_rate_axis(self.language));
        let figure = panels(engines, &order, words, axes, options, |i, canvas| {
            for &other in order.iter().filter(|other| self.background && **other != i) {
                let grey = Stroke { rgb: (0xCC, 0xCC, 0xCC), dash: "" };
                curve(canvas, &self.parts(&engines[other], &lines[other], |p| p.x), grey, 0.8, 0.0)?;
            }
            let band = self.bands.get(i).map_or(&[][..], Vec::as_slice);
            bands(canvas, &self.parts(&engines[i], band, |r| r.x), look, 2.0 * SHADE)?;
            let fit = self.fits.get(i).map_or(&[][..], Vec::as_slice);
            curve(canvas, &[fit], Stroke { rgb: (0x33, 0x33, 0x33), dash: "" }, 1.1, 0.0)?;
            let radius = if self.dots { 1.8 } else { 0.0 };
            curve(canvas, &self.parts(&engines[i], &lines[i], |p| p.x), look, 1.8, radius)?;
            spots.extend(self.spots(None, &lines[i], canvas));
            Ok(())
        })?;
        Ok(figure.with_spots(spots))
    }
}

/// The widest name in the words of a spot, which have to fit into the figure.
const SPOT_NAME: f64 = 170.0;

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

/// The parts of a curve, with their points.
pub(super) fn curve(
    canvas: &mut Canvas<'_, '_, '_>,
    parts: &[&[Point]],
    look: Stroke,
    width: f64,
    radius: f64,
) -> Result<(), PlotError> {
    for part in parts {
        let path: Vec<(f64, f64)> = part.iter().map(|p| (p.x, p.win_rate)).collect();
        if path.len() > 1 {
            canvas.line(&path, stroke(&look.line_color(), width), look.dash)?;
        }
        // a curve of one point is only visible by its disc
        if radius > 0.0 || path.len() == 1 {
            canvas.discs(&path, radius.max(2.0), &look.line_color())?;
        }
    }
    Ok(())
}

/// The parts of a band; a point alone has a bar.
pub(super) fn bands(
    canvas: &mut Canvas<'_, '_, '_>,
    parts: &[&[Range]],
    look: Stroke,
    shade: f64,
) -> Result<(), PlotError> {
    for part in parts {
        match part {
            [only] => {
                let bar = stroke(&look.line_color().mix(2.0 * shade), 2.0);
                canvas.line(&[(only.x, only.low), (only.x, only.high)], bar, "")?;
            }
            _ => canvas.band(part, &look.line_color().mix(shade))?,
        }
    }
    Ok(())
}

/// The part of a band within the axis.
pub(super) fn within(band: &[Range], limit: f64) -> Vec<Range> {
    band.iter().filter(|r| r.x.abs() <= limit && r.low.is_finite() && r.high.is_finite()).copied().collect()
}
