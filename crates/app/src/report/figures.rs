//! Writes the figures of a calibration as SVG and PNG files (Takeuchi 2018, figures 1 to 5, A.1 and A.2).

use std::path::{Path, PathBuf};

use evalcurve_figures::{
    Bins, Data, EngineSeries, Figure, FittedCurve, PlotError, PlotOptions, Point, Range, split_curves,
};
use evalcurve_fit::calibration::{Calibration, Method, Model, ModelKind, Reading, Score, Situation};
use evalcurve_fit::curve::{BinCount, CurvePoint, EvaluationCurve};
use evalcurve_fit::fit::Sigmoid;
use evalcurve_words::language::Language;
use evalcurve_words::say;
use evalcurve_words::whole_file::{self, WholeFiles};
use thiserror::Error;

use crate::calibrate::EngineResult;
use crate::judge::split::{Group, SplitCurves};
use crate::report::text::{constant, model_name};

/// A figure that could not be drawn or written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FigureError {
    /// Drawing failed.
    #[error("{name}: {source}")]
    Plot { name: String, source: PlotError },
    /// Writing failed.
    #[error(transparent)]
    Write(#[from] whole_file::WriteError),
}

fn points(points: Vec<CurvePoint>) -> Vec<Point> {
    points
        .into_iter()
        .map(|p| Point { x: p.x, win_rate: p.win_rate, low: p.low, high: p.high, count: p.count })
        .collect()
}

/// A sigmoid for the legend and the lines of a figure; `band` returns the ends of the band at each score.
fn fitted(
    method: Method,
    sigmoid: Sigmoid,
    language: Language,
    band: impl Fn(f64) -> Option<(f64, f64)>,
) -> FittedCurve {
    let at = |x| (sigmoid.win_rate(x), band(x));
    FittedCurve::sample(model_name(method.into(), language), parameters(&Model::Sigmoid(sigmoid)), at)
}

/// The parameters of a model that a reader of a figure knows: slope, offset, unless it is 0 by definition, and 1/w1.
fn parameters(model: &Model) -> String {
    let Some(Sigmoid { w1, w2 }) = model.sigmoid() else { return String::new() };
    let offset = if w2 == 0.0 { String::new() } else { format!(", w2 = {w2:.3}") };
    format!("w1 = {w1:.6}{offset}, 1/w1 = {:.0}", 1.0 / w1)
}

pub use crate::options::BinChoice;

/// A curve with fewer points than this has bins of equal counts.
const FEW_POINTS: usize = 8;

impl BinChoice {
    /// The points of a curve, and how their bins were made.
    pub fn points(self, curve: &EvaluationCurve, quantiles: &[CurvePoint], min_bin: u64) -> (Vec<CurvePoint>, Bins) {
        let width = curve.points(min_bin);
        let more = width.len() < FEW_POINTS && quantiles.len() > width.len();
        if self == Self::Quantile || self == Self::Auto && more {
            return (quantiles.to_vec(), Bins::Quantile);
        }
        (width, Bins::Width)
    }
}

/// The bands of the points of a result's evaluation curve; empty without a bootstrap. A point whose games all ended
/// alike has no band of its own, and shows its Wilson interval.
fn bands(result: &EngineResult, points: &[CurvePoint]) -> Vec<Range> {
    let Some(bootstrap) = &result.bootstrap else { return Vec::new() };
    let range = |p: &CurvePoint| {
        let (low, high) = bootstrap.bins.get(&p.bin).copied().unwrap_or((p.low, p.high));
        Range { x: p.x, low, high }
    };
    points.iter().map(range).collect()
}

/// The curves of a calibration: against the opponents of the games, and between equals.
fn chosen(calibration: &Calibration, language: Language) -> (FittedCurve, FittedCurve) {
    let kind = calibration.model.kind;
    let words = parameters(&calibration.model.model);
    let unknown = Situation::default();
    // an unknown stage counts as the middle
    let model = match calibration.model.model.fitted_range() {
        Some((unit, [from, to])) => {
            say!(language, "{} at {} {}", model_name(kind, language), language.word(unit.as_str()), from.midpoint(to))
        }
        None => model_name(kind, language).to_owned(),
    };
    let curve = |reading: Reading| {
        FittedCurve::sample(&model, words.clone(), |x| {
            let score = Score::Cp(x);
            (calibration.win_rate_in(reading, score, &unknown), calibration.interval(reading, score, &unknown))
        })
    };
    (curve(Reading::Field), curve(Reading::Equal))
}

/// The data of a result for the figures.
pub fn series_of_result(
    result: &EngineResult,
    color: usize,
    min_bin: u64,
    bins: BinChoice,
    language: Language,
) -> EngineSeries {
    let (curve, bins) = bins.points(&result.curve, &result.quantiles, min_bin);
    let sigmoid = |method: Method| {
        let fit = result.fit(method).ok()?;
        Some(fitted(method, fit.sigmoid, language, |x| fit.in_these_games(x).interval.map(<(f64, f64)>::from)))
    };
    let (field, equal) = result.calibration.as_ref().map(|c| chosen(c, language)).unzip();
    EngineSeries {
        // the bootstrap resamples bins of one width
        bands: if bins == Bins::Width { bands(result, &curve) } else { Vec::new() },
        bins,
        constant: constant_words(result.calibration.as_ref()),
        curve: points(curve),
        standardized: result.standardized_curve.as_ref().map_or_else(Vec::new, |c| points(c.points(min_bin))),
        fits: Method::ALL.into_iter().filter_map(sigmoid).collect(),
        field,
        equal,
        histogram: result.curve.histogram(),
        samples: result.fitted,
        ..EngineSeries::new(result.name.clone(), color)
    }
}

/// The constant of a calibration for a panel; empty without one.
fn constant_words(calibration: Option<&Calibration>) -> String {
    calibration.and_then(constant).map_or_else(String::new, |words| format!("1/w1 {words}"))
}

/// The figure of an engine's split samples.
///
/// # Errors
/// As [`split_curves`], and if fewer than two groups have enough points to be compared.
pub fn split_figure(split: &SplitCurves, min_bin: u64, options: &PlotOptions) -> Result<Figure, PlotError> {
    let group = |(i, group): (usize, &Group)| {
        let (curve, bins) = BinChoice::Auto.points(&group.curve, &group.quantiles, min_bin);
        EngineSeries {
            curve: points(curve),
            bins,
            fits: group
                .sigmoid
                .map(|s| fitted(Method::MaximumLikelihood, s, options.language, |_| None))
                .into_iter()
                .collect(),
            histogram: group.curve.histogram(),
            samples: group.samples,
            ..EngineSeries::new(group.label.text(options.language), i)
        }
    };
    let groups: Vec<EngineSeries> =
        split.groups.iter().enumerate().map(group).filter(|g| g.curve.len() >= FEWEST_POINTS).collect();
    if groups.len() < 2 {
        return Err(PlotError::Nothing {
            engines: split.groups.len(),
            what: "two parts with enough points to be compared",
            range: "the axis".to_owned(),
        });
    }
    let language = options.language;
    let verdict = match split.splits {
        true => language.word("curves split"),
        false => language.word("no split seen"),
    };
    let head = say!(language, "{} by {}", split.engine, split.by_words(language));
    let title = if split.test.is_ok() { format!("{head}: {verdict}") } else { head };
    split_curves(&title, &groups, &split.sentence(language), options)
}

/// A part of a split curve with fewer points than this is not drawn.
pub const FEWEST_POINTS: usize = 3;

/// Writes a figure as STEM.svg and STEM.png in the folder, with `data` also its numbers as STEM.csv. Returns the path
/// of the SVG.
///
/// # Errors
/// [`FigureError`] for a figure that could not be drawn, or cannot be written.
pub fn save(figure: Result<Figure, PlotError>, folder: &Path, stem: &str, data: bool) -> Result<PathBuf, FigureError> {
    let failed = |source| FigureError::Plot { name: stem.to_owned(), source };
    let figure = figure.map_err(failed)?;
    let png = figure.png(figure.scale()).map_err(failed)?;
    let svg = folder.join(format!("{stem}.svg"));
    let mut both = WholeFiles::default();
    both.add(&svg, figure.svg().as_bytes())?;
    both.add(&folder.join(format!("{stem}.png")), &png)?;
    both.replace()?;
    if data {
        write_numbers(folder, stem, figure.data())?;
    }
    Ok(svg)
}

/// Writes the numbers of a figure as STEM.csv in the folder; nothing for a figure without.
///
/// # Errors
/// [`whole_file::WriteError`] if the file cannot be written.
pub fn write_numbers(folder: &Path, stem: &str, data: &Data) -> Result<(), whole_file::WriteError> {
    if data.head.is_empty() {
        return Ok(());
    }
    whole_file::write(&folder.join(format!("{stem}.csv")), data.to_csv().as_bytes())
}

/// The data of a calibration file for the figures. The file holds bins of scores, so its standardised curve consists of
/// those bins.
pub fn series_of_calibration(
    calibration: &Calibration,
    color: usize,
    min_bin: u64,
    language: Language,
) -> EngineSeries {
    let sigmoid = |method: Method| match calibration.models.get(&ModelKind::from(method))?.model {
        Model::Sigmoid(sigmoid) => Some(fitted(method, sigmoid, language, |_| None)),
        _ => None,
    };
    let (field, equal) = chosen(calibration, language);
    let curve = calibration.curve.as_ref().map(|curve| {
        let bins = curve.bins.iter().filter_map(|b| {
            let count = BinCount { wins: b.wins, draws: b.draws, losses: b.losses, score_sum: b.score_sum };
            Some((i32::try_from(b.bin).ok()?, count))
        });
        EvaluationCurve::from_counts(u32::try_from(curve.bin_cp).unwrap_or(u32::MAX), bins)
    });
    // coefficients from a paper have no counts, but may have a number of positions
    let fitted_samples = calibration.models.get(&calibration.model.kind).and_then(|m| m.samples).unwrap_or(0);
    let standardized = calibration.standardization.zip(curve.as_ref()).map(|(standard, curve)| {
        let mut points = points(curve.points(min_bin));
        points.iter_mut().for_each(|p| p.x = standard.z(p.x));
        points
    });
    EngineSeries {
        standardized: standardized.unwrap_or_default(),
        fits: Method::ALL.into_iter().filter_map(sigmoid).collect(),
        field: Some(field),
        equal: Some(equal),
        constant: constant_words(Some(calibration)),
        histogram: curve.as_ref().map_or_else(Vec::new, EvaluationCurve::histogram),
        samples: curve.as_ref().map_or(fitted_samples, EvaluationCurve::total),
        curve: curve.map_or_else(Vec::new, |c| points(c.points(min_bin))),
        ..EngineSeries::new(calibration.engine.name.clone(), color)
    }
}
