//! The figures of a calibration as SVG and PNG files (Takeuchi 2018, figures 1 to 5, A.1 and A.2, on one's own data).

use std::path::{Path, PathBuf};

use rayon::prelude::*;
use thiserror::Error;

use crate::calibrate::EngineResult;
use crate::calibration::{Calibration, Method, Model, ModelKind, file_stems};
use crate::curve::{BinCount, CurvePoint, EvaluationCurve};
use crate::fit::Sigmoid;
use crate::plot::{
    Chosen, EngineSeries, Figure, Line, PlotError, PlotOptions, Point, curve_with_fits, curves, histograms, sigmoids,
    standardized_curves,
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

fn points(points: Vec<CurvePoint>) -> Vec<Point> {
    points
        .into_iter()
        .map(|p| Point { x: p.x, win_rate: p.win_rate, low: p.low, high: p.high, count: p.count })
        .collect()
}

fn line(sigmoid: Sigmoid) -> Line {
    Line { w1: sigmoid.w1, w2: sigmoid.w2 }
}

/// What the figures need of a result.
pub fn series_of_result(result: &EngineResult, color: usize, min_bin: u64) -> EngineSeries {
    EngineSeries {
        curve: points(result.curve.points(min_bin)),
        standardized: result.standardized_curve.as_ref().map_or_else(Vec::new, |c| points(c.points(min_bin))),
        least_squares: result.least_squares.as_ref().ok().map(|f| line(f.sigmoid)),
        maximum_likelihood: result.maximum_likelihood.as_ref().ok().map(|f| line(f.sigmoid)),
        histogram: result.curve.histogram(),
        samples: result.fitted,
        ..EngineSeries::new(result.name.clone(), color)
    }
}

/// What the figures need of a calibration file. Its curve holds bins of scores, so the standardised curve is that of
/// the bins.
pub fn series_of_calibration(calibration: &Calibration, color: usize, min_bin: u64) -> EngineSeries {
    let sigmoid = |method: Method| match calibration.models.get(&ModelKind::from(method))?.model {
        Model::Sigmoid(sigmoid) => Some(line(sigmoid)),
        _ => None,
    };
    let curve = calibration.curve.as_ref().map(|curve| {
        let bins = curve.bins.iter().filter_map(|b| {
            let count = BinCount { wins: b.wins, draws: b.draws, losses: b.losses, score_sum: b.score_sum };
            Some((i32::try_from(b.bin).ok()?, count))
        });
        EvaluationCurve::from_counts(u32::try_from(curve.bin_cp).unwrap_or(u32::MAX), bins)
    });
    // coefficients from a paper have no counts, but may say how many positions they rest on
    let fitted_samples = calibration.models.get(&calibration.model.kind).and_then(|m| m.samples).unwrap_or(0);
    let standardized = calibration.standardization.zip(curve.as_ref()).map(|(s, curve)| {
        let standard = Standardization { mean: s.mean, sd: s.sd, samples: s.samples };
        let mut points = points(curve.points(min_bin));
        points.iter_mut().for_each(|p| p.x = standard.z(p.x));
        points
    });
    EngineSeries {
        standardized: standardized.unwrap_or_default(),
        least_squares: sigmoid(Method::LeastSquares),
        maximum_likelihood: sigmoid(Method::MaximumLikelihood),
        histogram: curve.as_ref().map_or_else(Vec::new, EvaluationCurve::histogram),
        samples: curve.as_ref().map_or(fitted_samples, EvaluationCurve::total),
        curve: curve.map_or_else(Vec::new, |c| points(c.points(min_bin))),
        ..EngineSeries::new(calibration.engine.name.clone(), color)
    }
}

/// Draws every figure that the series allow and writes each as SVG and PNG into `folder`, which must exist.
///
/// One figure an engine (`NAME-curve`), and over all of them `sigmoids`, `curves`, `standardized-curves` and
/// `histograms`. Gives the paths of the SVG files.
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
    // models that are no sigmoid of the score are not drawn there; the likelihood's stands nearest to them
    let chosen = match chosen {
        ModelKind::LeastSquares => Chosen::LeastSquares,
        _ => Chosen::MaximumLikelihood,
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
            let figure = draw().map_err(failed)?;
            let png = figure.png(options.scale).map_err(failed)?;
            let svg = folder.join(format!("{name}.svg"));
            whole_file::write(&svg, figure.svg().as_bytes())?;
            whole_file::write(&folder.join(format!("{name}.png")), &png)?;
            Ok(svg)
        })
        .collect()
}
