//! The commands of the program as functions: keyword arguments come as words, and results are objects and JSON texts.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use evalcurve::calibrate::EngineResult;
use evalcurve::engine::usi::Launch;
use evalcurve::keywords;
use evalcurve::language::Language;
use evalcurve::plot::{PlotOptions, curve_with_fits, reliability};
use evalcurve::report::figures::{BinChoice, series_of_result};
use evalcurve::run::{
    Calibrate, Curve, Diagnose, Diagnosed, Error, Forecasts, Input, InputSource, JudgedModel, Outcome, Progress,
    Rescale, Rescaled, Sample, Thresholds,
};
use pyo3::prelude::*;

use crate::arrow::{Given, Table};
use crate::calibration::Calibration;
use crate::curves;
use crate::figure::Figure;
use crate::running::{call_error, detached, error, keywords as as_keywords};

/// What is read: paths, and tables with their names.
type Sources<'py> = (Vec<PathBuf>, Vec<(String, Bound<'py, PyAny>)>);

fn input((paths, tables): Sources<'_>) -> PyResult<Input> {
    let mut input = Input::paths(paths);
    for (name, object) in tables {
        input.sources.push(InputSource::Table(name, Arc::new(Given::new(&object)?)));
    }
    Ok(input)
}

/// Runs a command on its own thread. Returns the outcome, and its warnings.
fn outcome<T: Send + 'static>(
    py: Python<'_>,
    sources: Sources<'_>,
    progress: Option<Bound<'_, PyAny>>,
    run: impl FnOnce(&Input, &Progress) -> Result<Outcome<T>, Error> + Send + 'static,
) -> PyResult<(Outcome<T>, Vec<String>)> {
    let input = input(sources)?;
    let found = detached(py, progress, move |progress| run(&input, progress))?.map_err(call_error)?;
    let warnings = std::cell::RefCell::new(Vec::new());
    found.tell(Language::English, |text| warnings.borrow_mut().push(as_keywords(text)), |_| {});
    Ok((found, warnings.into_inner()))
}

/// What Python gives to a command: its options as words, what is read, and what hears how far it is.
type Call<'py> = (Vec<OsString>, Sources<'py>, Option<Bound<'py, PyAny>>);

/// Runs the command of these words. Returns the outcome, and its warnings.
fn called<C: Send + 'static, T: Send + 'static>(
    py: Python<'_>,
    (words, sources, progress): Call<'_>,
    command: impl FnOnce(&[OsString]) -> Result<C, Error>,
    run: fn(&C, &Input, &Progress) -> Result<Outcome<T>, Error>,
) -> PyResult<(Outcome<T>, Vec<String>)> {
    let command = command(&words).map_err(call_error)?;
    outcome(py, sources, progress, move |input, progress| run(&command, input, progress))
}

/// What Python makes a result of: JSON document, calibration and figure of each engine, warnings.
type Calibrated = (String, Vec<(Option<Calibration>, Option<Figure>)>, Vec<String>);

/// Calibrates the engines of records and tables.
#[pyfunction]
pub(crate) fn calibrate(py: Python<'_>, call: Call<'_>) -> PyResult<Calibrated> {
    let (found, warnings) = called(py, call, keywords::calibrate, Calibrate::run)?;
    let of = |result: &EngineResult| {
        let min_bin = found.value.options.min_bin;
        let series = series_of_result(result, 0, min_bin, BinChoice::default(), Language::English);
        let figure = curve_with_fits(&series, &PlotOptions::default()).ok().map(Figure::from);
        (result.calibration.clone().map(Calibration), figure)
    };
    Ok((as_keywords(&found.document(&[]).to_string()), found.value.results.iter().map(of).collect(), warnings))
}

/// Draws the sample table of records, or reads that of tables. `of_part`: the games are a part of all, and the table
/// has the same columns for every part.
#[pyfunction]
pub(crate) fn sample(py: Python<'_>, call: Call<'_>, of_part: bool) -> PyResult<(Table, Vec<String>)> {
    let command = |words: &[OsString]| {
        let Calibrate { reading, fitting, .. } = keywords::calibrate(words)?;
        Ok(Sample { reading, fitting, of_part })
    };
    let (found, warnings) = called(py, call, command, Sample::run)?;
    Ok((Table::of_samples(&found.value, of_part)?, warnings))
}

/// The out-of-sample forecasts of the chosen model, and for each engine without any the reason.
#[pyfunction]
pub(crate) fn forecasts(py: Python<'_>, call: Call<'_>) -> PyResult<(Table, Vec<String>)> {
    let command = |words: &[OsString]| keywords::calibrate(words).map(Forecasts);
    let (found, mut warnings) = called(py, call, command, Forecasts::run)?;
    let (table, found) = &found.value;
    let without = |e: &evalcurve::calibrate::EngineForecasts| {
        Some(as_keywords(&format!("{}: {}", e.name, e.forecasts.as_ref().err()?)))
    };
    warnings.extend(found.iter().filter_map(without));
    Ok((Table::of_forecasts(table, found)?, warnings))
}

/// The diagnosis of the engines of records and tables, as JSON.
#[pyfunction]
pub(crate) fn diagnose(py: Python<'_>, call: Call<'_>) -> PyResult<(String, Vec<String>)> {
    let (found, warnings) = called(py, call, keywords::diagnose, Diagnose::run)?;
    Ok((as_keywords(&Diagnosed::report(&found, Language::English).document().to_string()), warnings))
}

/// The evaluation curves of the engines of records and tables.
#[pyfunction]
pub(crate) fn curve(py: Python<'_>, call: Call<'_>) -> PyResult<(Table, Vec<String>)> {
    let (found, warnings) = called(py, call, keywords::curve, Curve::run)?;
    Ok((curves::table(&found.value)?, warnings))
}

/// The scores at which games of records and tables may be adjudicated, as JSON.
#[pyfunction]
pub(crate) fn thresholds(py: Python<'_>, call: Call<'_>) -> PyResult<(String, Vec<String>)> {
    let (found, warnings) = called(py, call, keywords::thresholds, Thresholds::run)?;
    Ok((as_keywords(&found.value.document().to_string()), warnings))
}

/// Writes training data and tables with their scores on another scale. Returns the report as JSON; without files, it
/// says why none was written.
#[pyfunction]
pub(crate) fn rescale(py: Python<'_>, call: Call<'_>) -> PyResult<(String, Vec<String>)> {
    let (found, warnings) = called(py, call, keywords::rescale, Rescale::run)?;
    Ok((as_keywords(&Rescaled::document(&found).to_string()), warnings))
}

/// Whether the scale moved from one calibration to another, as JSON.
#[pyfunction]
pub(crate) fn compare(words: Vec<OsString>, old: &Calibration, new: &Calibration) -> PyResult<(String, Vec<String>)> {
    let command = keywords::compare(&words).map_err(call_error)?;
    let mut input = Input::default();
    for (name, calibration) in [("old", old), ("new", new)] {
        let bytes = calibration.to_json()?.into_bytes();
        input.sources.push(InputSource::Bytes(name.to_owned(), bytes.into()));
    }
    let found = command.run(&input, &Progress::default()).map_err(call_error)?.value;
    let warnings = found.remarks.iter().map(|remark| as_keywords(&remark.text(Language::English))).collect();
    Ok((found.document().to_string(), warnings))
}

/// Judges calibrations on games, as JSON.
#[pyfunction]
pub(crate) fn evaluate(
    py: Python<'_>,
    words: Vec<OsString>,
    calibrations: Vec<PyRef<'_, Calibration>>,
    sources: Sources<'_>,
) -> PyResult<(String, Vec<String>)> {
    let mut command = keywords::evaluate(&words).map_err(call_error)?;
    command.calibrations = calibrations.iter().map(|c| (c.0.engine.name.clone(), c.0.clone())).collect();
    let judged = command.clone();
    let (found, warnings) = outcome(py, sources, None, move |input, progress| judged.run(input, progress))?;
    Ok((command.document(&found).to_string(), warnings))
}

/// A figure with the name of its model.
type Diagram = (String, Figure);

/// Judges the forecasts of tables: the JSON document, and the reliability diagram of each model.
#[pyfunction]
pub(crate) fn evaluate_forecasts(
    py: Python<'_>,
    words: Vec<OsString>,
    sources: Sources<'_>,
) -> PyResult<(String, Vec<Diagram>, Vec<String>)> {
    let command = keywords::evaluate_forecasts(&words).map_err(call_error)?;
    let judged = command.clone();
    let (found, mut warnings) = outcome(py, sources, None, move |input, _| judged.run(input))?;
    // they say what the numbers do not mean
    warnings.extend(found.notes.iter().map(|note| as_keywords(&note.text(Language::English))));
    let diagram = |(index, model): (usize, &JudgedModel)| {
        let diagram = &model.judged.reliability;
        let figure = reliability(&model.name, index, diagram, false, &PlotOptions::default()).map_err(error)?;
        Ok((model.name.clone(), Figure::from(figure)))
    };
    let figures = found.value.models.iter().enumerate().map(diagram).collect::<PyResult<_>>()?;
    Ok((command.document(&found).to_string(), figures, warnings))
}

/// The JSON document of `match-stats` or `simulate`.
#[pyfunction]
pub(crate) fn document(py: Python<'_>, command: String, words: Vec<OsString>) -> PyResult<String> {
    let found = detached(py, None, move |_| keywords::document(&command, &words))?.map_err(call_error)?;
    Ok(found.to_string())
}

/// Runs the program with these arguments, the first of them its name; `started_by` is the command that starts it again.
/// Returns the exit code.
#[pyfunction]
pub(crate) fn program(py: Python<'_>, arguments: Vec<OsString>, started_by: Vec<OsString>) -> u8 {
    Launch::started_by(started_by);
    py.detach(|| evalcurve::PROGRAM.run(arguments))
}
