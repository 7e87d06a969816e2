//! Writes the figures of a calibration as SVG and PNG files (Takeuchi 2018, figures 1 to 5, A.1 and A.2).

use std::path::{Path, PathBuf};

use rayon::prelude::*;
use thiserror::Error;

use crate::calibrate::EngineResult;
use crate::calibration::{Calibration, Method, Model, ModelKind, file_stems};
use crate::curve::{BinCount, CurvePoint, EvaluationCurve};
use crate::diagnose::split::{Group, SplitCurves};
use crate::plot::{
    Bands, EngineSeries, Figure, PlotError, PlotOptions, Range, curve_with_fits, curves,
    histograms, sigmoids, split_curves, standardized_curves,
};
use crate::standardize::Standardization;
use crate::whole_file;

/// A figure that could not be drawn or written.
#[derive(Debug, Error)]
pub enum FigureError {
    /// Drawing failed.
    #[error("{name}: {source}")]
    Plot {
        /// The figure.
        name: String,
        /// Why.
        source: PlotError,
    },
    /// Writing failed.
    #[error(transparent)]
    Write(#[from] whole_file::WriteError),
}

/// The bands of fitted sigmoids are computed from minus to plus this score, in centipawns.
const BAND_SCORES: i32 = 10_000;
const BAND_STEP: usize = 100;

/// The bands of a result with a bootstrap; empty otherwise.
fn bands(result: &EngineResult, min_bin: u64) -> Bands {
    let Some(bootstrap) = &result.bootstrap else { return Bands::default() };
    let of_points = |points: &[CurvePoint]| -> Vec<Range> {
        let range = |p: &CurvePoint| {
            let (low, high) = bootstrap.bin_interval(p.bin, 0.95)?;
            Some(Range { x: p.x, low, high })
        };
        points.iter().filter_map(range).collect()
    };
    let curve = of_points(&result.curve.points(min_bin));
    let of_fit = |method| -> Vec<Range> {
        let scores = (-BAND_SCORES..=BAND_SCORES).step_by(BAND_STEP).map(f64::from);
        let band = bootstrap.fit(method).map_or_else(|_| Vec::new(), |b| b.band(0.95, scores));
        band.into_iter().map(|b| Range { x: b.score_cp, low: b.low, high: b.high }).collect()
    };
    Bands { curve, least_squares: of_fit(Method::LeastSquares), maximum_likelihood: of_fit(Method::MaximumLikelihood) }
}

/// The data of a result for the figures.
pub fn series_of_result(result: &EngineResult, color: usize, min_bin: u64) -> EngineSeries {
    EngineSeries {
        curve: result.curve.points(min_bin),
        standardized: result.standardized_curve.as_ref().map_or_else(Vec::new, |c| c.points(min_bin)),
        least_squares: result.fit(Method::LeastSquares).ok().map(|f| f.sigmoid),
        maximum_likelihood: result.fit(Method::MaximumLikelihood).ok().map(|f| f.sigmoid),
        histogram: result.curve.histogram(),
        samples: result.fitted,
        bands: bands(result, min_bin),
        ..EngineSeries::new(result.name.clone(), color)
    }
}

/// The figure of an engine's split samples.
///
/// # Errors
/// As [`split_curves`].
pub fn split_figure(split: &SplitCurves, min_bin: u64, options: &PlotOptions) -> Result<Figure, PlotError> {
    let group = |(i, group): (usize, &Group)| EngineSeries {
        curve: group.curve.points(min_bin),
        maximum_likelihood: group.sigmoid,
        histogram: group.curve.histogram(),
        samples: group.samples,
        ..EngineSeries::new(group.label.clone(), i)
    };
    let groups: Vec<EngineSeries> = split.groups.iter().enumerate().map(group).collect();
    let verdict = if split.splits { "curves split" } else { "no split seen" };
    let title = match &split.test {
        Ok(_) => format!("{} by {}: {verdict}", split.engine, split.by),
        Err(_) => format!("{} by {}", split.engine, split.by),
    };
    split_curves(&title, &groups, &split.sentence(), options)
}

/// Writes one figure per engine and split, as SVG and PNG, into `folder`, which must exist. Returns the paths of the
/// SVG files.
///
/// # Errors
/// [`FigureError`] for the first figure that cannot be drawn or written.
pub fn write_splits(
    splits: &[SplitCurves],
    min_bin: u64,
    folder: &Path,
    options: &PlotOptions,
) -> Result<Vec<PathBuf>, FigureError> {
    let drawable: Vec<&SplitCurves> = splits
        .iter()
        .filter(|s| s.groups.iter().any(|g| g.sigmoid.is_some() || !g.curve.points(min_bin).is_empty()))
        .collect();
    let names: Vec<String> = drawable.iter().map(|s| format!("{}-by-{}", s.engine, s.by)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let stems = file_stems(&names);
    drawable
        .par_iter()
        .zip(&stems)
        .map(|(split, stem)| {
            let failed = |source| FigureError::Plot { name: stem.clone(), source };
            save(&split_figure(split, min_bin, options).map_err(failed)?, folder, stem, options)
        })
        .collect()
}

/// Writes a figure as SVG and PNG. Returns the path of the SVG.
fn save(figure: &Figure, folder: &Path, stem: &str, options: &PlotOptions) -> Result<PathBuf, FigureError> {
    let png = figure.png(options.scale).map_err(|source| FigureError::Plot { name: stem.to_owned(), source })?;
    let svg = folder.join(format!("{stem}.svg"));
    whole_file::write(&svg, figure.svg().as_bytes())?;
    whole_file::write(&folder.join(format!("{stem}.png")), &png)?;
    Ok(svg)
}

/// The data of a calibration file for the figures. The file holds bins of scores, so its standardised curve consists of
/// those bins.
pub fn series_of_calibration(calibration: &Calibration, color: usize, min_bin: u64) -> EngineSeries {
    let sigmoid = |method: Method| match calibration.models.get(&ModelKind::from(method))?.model {
        Model::Sigmoid(sigmoid) => Some(sigmoid),
        _ => None,
    };
    let curve = calibration.curve.as_ref().map(|curve| {
        let bins = curve.bins.iter().filter_map(|b| {
            let count = BinCount { wins: b.wins, draws: b.draws, losses: b.losses, score_sum: b.score_sum };
            Some((i32::try_from(b.bin).ok()?, count))
        });
        EvaluationCurve::from_counts(u32::try_from(curve.bin_cp).unwrap_or(u32::MAX), bins)
    });
    // coefficients from a paper have no counts, but may have a number of positions
    let fitted_samples = calibration.models.get(&calibration.model.kind).and_then(|m| m.samples).unwrap_or(0);
    let standardized = calibration.standardization.zip(curve.as_ref()).map(|(s, curve)| {
        let standard = Standardization { mean: s.mean, sd: s.sd, samples: s.samples };
        let mut points = curve.points(min_bin);
        points.iter_mut().for_each(|p| p.x = standard.z(p.x));
        points
    });
    EngineSeries {
        standardized: standardized.unwrap_or_default(),
        least_squares: sigmoid(Method::LeastSquares),
        maximum_likelihood: sigmoid(Method::MaximumLikelihood),
        histogram: curve.as_ref().map_or_else(Vec::new, EvaluationCurve::histogram),
        samples: curve.as_ref().map_or(fitted_samples, EvaluationCurve::total),
        curve: curve.map_or_else(Vec::new, |c| c.points(min_bin)),
        ..EngineSeries::new(calibration.engine.name.clone(), color)
    }
}

/// Writes every figure that the data allow, as SVG and PNG, into `folder`, which must exist.
///
/// There is one figure per engine (`NAME-curve`); `sigmoids`, `curves`, `standardized-curves` and `histograms` show all
/// engines. Returns the paths of the SVG files.
///
/// # Errors
/// [`FigureError`] for the first figure that cannot be drawn or written.
pub fn write(
    series: &[EngineSeries],
    chosen: ModelKind,
    folder: &Path,
    options: &PlotOptions,
) -> Result<Vec<PathBuf>, FigureError> {
    type Draw<'a> = Box<dyn Fn() -> Result<Figure, PlotError> + Send + Sync + 'a>;
    // models other than sigmoids of the score are not drawn; the fit by maximum likelihood is nearest to them
    let chosen = match chosen {
        ModelKind::LeastSquares => Method::LeastSquares,
        _ => Method::MaximumLikelihood,
    };
    let names: Vec<&str> = series.iter().map(|s| s.name.as_str()).collect();
    let mut figures: Vec<(String, Draw<'_>)> = Vec::new();
    for (stem, engine) in file_stems(&names).into_iter().zip(series) {
        if !engine.curve.is_empty() {
            figures.push((format!("{stem}-curve"), Box::new(move || curve_with_fits(engine, options))));
        }
    }
    if series.iter().any(|s| s.least_squares.is_some() || s.maximum_likelihood.is_some()) {
        figures.push(("sigmoids".to_owned(), Box::new(move || sigmoids(series, chosen, options))));
    }
    if series.iter().any(|s| !s.curve.is_empty()) {
        figures.push(("curves".to_owned(), Box::new(move || curves(series, options))));
    }
    if series.iter().any(|s| !s.standardized.is_empty()) {
        figures.push(("standardized-curves".to_owned(), Box::new(move || standardized_curves(series, options))));
    }
    if series.iter().any(|s| !s.histogram.is_empty()) {
        figures.push(("histograms".to_owned(), Box::new(move || histograms(series, options))));
    }
    figures
        .par_iter()
        .map(|(name, draw)| {
            let failed = |source| FigureError::Plot { name: name.clone(), source };
            save(&draw().map_err(failed)?, folder, name, options)
        })
        .collect()
}
