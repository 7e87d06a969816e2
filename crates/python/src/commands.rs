//! The commands of the program as functions. Options are the arguments of the command line, so that names, defaults and
//! messages are the same; results are JSON texts and objects.

use std::ffi::OsString;
use std::sync::Arc;

use evalcurve::calibrate::EngineResult;
use evalcurve::cli::embed::{self, CallError, Called};
use evalcurve::language::Language;
use evalcurve::plot::{PlotOptions, curve_with_fits};
use evalcurve::report::figures::{BinChoice, series_of_result};
use evalcurve::table::Source;
use pyo3::prelude::*;

use crate::arrow::{Given, Table};
use crate::calibration::Calibration;
use crate::figure::Figure;
use crate::running::{call_error, detached};

/// The tables among the arguments, with their names.
fn given(tables: Vec<(String, Bound<'_, PyAny>)>) -> PyResult<embed::Given> {
    let table =
        |(name, object): (String, Bound<'_, PyAny>)| Ok((name, Arc::new(Given::new(&object)?) as Arc<dyn Source>));
    let tables = tables.into_iter().map(table).collect::<PyResult<_>>()?;
    Ok(embed::Given { tables, ..embed::Given::default() })
}

/// Runs `call` with the arguments and tables, on its own thread.
fn called<T: Send + 'static>(
    py: Python<'_>,
    arguments: Vec<OsString>,
    tables: Vec<(String, Bound<'_, PyAny>)>,
    progress: Option<Bound<'_, PyAny>>,
    call: impl FnOnce(&[OsString], embed::Given) -> Result<T, CallError> + Send + 'static,
) -> PyResult<T> {
    detached(py, given(tables)?, progress, move |given| call(&arguments, given))?.map_err(call_error)
}

/// What Python makes a result of: JSON document, calibration and figure of each engine, warnings.
type Calibrated = (String, Vec<(Option<Calibration>, Option<Figure>)>, Vec<String>);

/// Calibrates the engines of records and tables.
#[pyfunction]
pub(crate) fn calibrate(
    py: Python<'_>,
    arguments: Vec<OsString>,
    tables: Vec<(String, Bound<'_, PyAny>)>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Calibrated> {
    let Called { value, document, warnings } = called(py, arguments, tables, progress, embed::calibrate)?;
    let of = |result: &EngineResult| {
        let series = series_of_result(result, 0, value.options.min_bin, BinChoice::default(), Language::English);
        let figure = curve_with_fits(&series, &PlotOptions::default()).ok().map(Figure);
        (result.calibration.clone().map(Calibration), figure)
    };
    Ok((document.to_string(), value.results.iter().map(of).collect(), warnings))
}

/// Draws the sample table of records, or reads that of tables.
#[pyfunction]
pub(crate) fn sample(
    py: Python<'_>,
    arguments: Vec<OsString>,
    tables: Vec<(String, Bound<'_, PyAny>)>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<(Table, String, Vec<String>)> {
    let Called { value, document, warnings } = called(py, arguments, tables, progress, embed::sample)?;
    Ok((Table::of_samples(&value, false)?, document.to_string(), warnings))
}

/// The out-of-sample forecasts of the chosen model, and for each engine without any the reason.
#[pyfunction]
pub(crate) fn forecasts(
    py: Python<'_>,
    arguments: Vec<OsString>,
    tables: Vec<(String, Bound<'_, PyAny>)>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<(Table, Vec<String>)> {
    let Called { value: (table, found), mut warnings, .. } = called(py, arguments, tables, progress, embed::forecasts)?;
    let without =
        found.iter().filter_map(|engine| Some(format!("{}: {}", engine.name, engine.forecasts.as_ref().err()?)));
    warnings.extend(without);
    Ok((Table::of_forecasts(&table, &found)?, warnings))
}

/// The sample table of a part of the games, with the same columns for every part.
#[pyfunction]
pub(crate) fn sample_part(
    py: Python<'_>,
    arguments: Vec<OsString>,
    tables: Vec<(String, Bound<'_, PyAny>)>,
) -> PyResult<(Table, Vec<String>)> {
    let Called { value, warnings, .. } = called(py, arguments, tables, None, embed::sample_part)?;
    Ok((Table::of_samples(&value, true)?, warnings))
}

/// The diagnosis of the engines of records and tables, as JSON.
#[pyfunction]
pub(crate) fn diagnose(
    py: Python<'_>,
    arguments: Vec<OsString>,
    tables: Vec<(String, Bound<'_, PyAny>)>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<(String, Vec<String>)> {
    let Called { document, warnings, .. } = called(py, arguments, tables, progress, embed::diagnose)?;
    Ok((document.to_string(), warnings))
}

/// The JSON document of a command.
#[pyfunction]
pub(crate) fn document(
    py: Python<'_>,
    command: String,
    arguments: Vec<OsString>,
    tables: Vec<(String, Bound<'_, PyAny>)>,
) -> PyResult<String> {
    let call = move |arguments: &[OsString], given| embed::document(&command, arguments, given);
    Ok(called(py, arguments, tables, None, call)?.to_string())
}

/// Runs the program with these arguments, the first of them its name. Returns the exit code.
#[pyfunction]
pub(crate) fn program(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| evalcurve::cli::main_with(arguments))
}
