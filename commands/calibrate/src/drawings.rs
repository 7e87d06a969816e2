//! The figures of calibrations, drawn when they are asked for.

use std::path::{Path, PathBuf};

use evalcurve_app::calibrate::EngineResult;
use evalcurve_app::report::figures::{BinChoice, FigureError, save, series_of_result};
use evalcurve_figures::{
    Bins, EngineSeries, Figure, PlotError, PlotOptions, curve_with_fits, curves, histograms, sigmoids,
    standardized_curves,
};
use evalcurve_fit::calibration::{Reading, file_stems};
use evalcurve_fit::parallel;
use evalcurve_words::language::{Language, Text};
use evalcurve_words::text;

/// The data of results that are drawn together: with bins of one kind, and with colours in their order.
pub fn series_of_results<'a>(
    results: impl IntoIterator<Item = &'a EngineResult>,
    min_bin: u64,
    bins: BinChoice,
    language: Language,
) -> Vec<EngineSeries> {
    let results: Vec<_> = results.into_iter().collect();
    let kind = |r: &&EngineResult| bins.points(&r.curve, &r.quantiles, min_bin).1;
    let few = results.iter().map(kind).filter(|kind| *kind == Bins::Quantile).count();
    let bins = if 2 * few >= results.len() { BinChoice::Quantile } else { BinChoice::Width };
    parallel::map(results.len(), |i| series_of_result(results[i], i, min_bin, bins, language))
}

/// How a figure is drawn.
type Draw<'a> = dyn Fn(&PlotOptions) -> Result<Figure, PlotError> + Send + Sync + 'a;

/// A figure that is drawn when it is asked for.
pub struct Drawing<'a> {
    /// The stem of its files.
    pub name: String,
    /// The engine that it shows; `None` if it shows all.
    pub engine: Option<&'a str>,
    draw: Box<Draw<'a>>,
}

impl<'a> Drawing<'a> {
    /// A figure by the function that draws it.
    pub fn new(
        name: impl Into<String>,
        engine: Option<&'a str>,
        draw: impl Fn(&PlotOptions) -> Result<Figure, PlotError> + Send + Sync + 'a,
    ) -> Self {
        Self { name: name.into(), engine, draw: Box::new(draw) }
    }

    /// Draws it.
    ///
    /// # Errors
    /// [`PlotError`] if nothing lies within the axes or the options are out of range.
    pub fn draw(&self, options: &PlotOptions) -> Result<Figure, PlotError> {
        (self.draw)(options)
    }
}

/// Every figure that the data allow: one per engine (`NAME-curve`); `sigmoids` (in a reading), `curves`,
/// `standardized-curves` and `histograms` show all engines.
pub fn drawings<'a>(series: &'a [EngineSeries], reading: Reading) -> Vec<Drawing<'a>> {
    let names: Vec<&str> = series.iter().map(|s| s.name.as_str()).collect();
    let with_curves = file_stems(&names).into_iter().zip(series).filter(|(_, engine)| !engine.curve.is_empty());
    let curve_of = |(stem, engine): (String, &'a EngineSeries)| {
        Drawing::new(format!("{stem}-curve"), Some(&engine.name), move |options| curve_with_fits(engine, options))
    };
    let mut all: Vec<Drawing<'_>> = with_curves.map(curve_of).collect();
    type HasData = fn(&EngineSeries) -> bool;
    let field = reading == Reading::Field;
    let of_all: [(HasData, Drawing<'_>); 4] = [
        (|s| s.equal.is_some(), Drawing::new("sigmoids", None, move |options| sigmoids(series, field, options))),
        (|s| !s.curve.is_empty(), Drawing::new("curves", None, |options| curves(series, options))),
        (
            |s| !s.standardized.is_empty(),
            Drawing::new("standardized-curves", None, |options| standardized_curves(series, options)),
        ),
        (|s| !s.histogram.is_empty(), Drawing::new("histograms", None, |options| histograms(series, options))),
    ];
    all.extend(of_all.into_iter().filter(|(has_data, _)| series.iter().any(has_data)).map(|(_, drawing)| drawing));
    all
}

/// Writes figures as SVG and PNG into `folder`, which must exist. A figure with nothing within its axis is left out.
///
/// # Errors
/// [`FigureError`] for the first figure that cannot be drawn or written.
pub fn write(
    drawings: &[Drawing<'_>],
    folder: &Path,
    options: &PlotOptions,
    data: bool,
) -> Result<Written, FigureError> {
    let one = |drawing: &Drawing<'_>| match drawing.draw(options) {
        Err(PlotError::Nothing { range, .. }) => {
            let name = &drawing.name;
            Ok(Err(text!("{name}: left out, since no engine has anything to draw within {range}")))
        }
        figure => save(figure, folder, &drawing.name, data).map(Ok),
    };
    // those of all engines, which take longest, are last in the list and drawn first
    let drawn = parallel::map(drawings.len(), |i| one(&drawings[drawings.len() - 1 - i]));
    let mut drawn: Vec<Result<PathBuf, Text>> = drawn.into_iter().collect::<Result<_, FigureError>>()?;
    drawn.reverse();
    let mut written = Written::default();
    for figure in drawn {
        match figure {
            Ok(file) => written.files.push(file),
            Err(note) => written.left_out.push(note),
        }
    }
    Ok(written)
}

/// The figures that [`write()`] wrote.
#[derive(Debug, Default)]
pub struct Written {
    /// The paths of the SVG files.
    pub files: Vec<PathBuf>,
    /// Notes on the figures without anything to draw.
    pub left_out: Vec<Text>,
}
