//! Functions of numpy arrays.

use evalcurve::normal::{quantile as quantile_of_normal, student_quantile};
use numpy::{IxDyn, PyArray, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArrayDyn};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyComplex, PyString};

use super::running::error;

/// `numpy.asarray`, and the letter of the kind of its numbers.
fn array<'py>(values: &Bound<'py, PyAny>) -> PyResult<(Bound<'py, PyAny>, String)> {
    let array = values.py().import("numpy")?.call_method1("asarray", (values,))?;
    let kind = array.getattr("dtype")?.getattr("kind")?.extract()?;
    Ok((array, kind))
}

/// Numbers as floats. Text and complex numbers are refused, which numpy would convert.
fn floats<'py>(values: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let (array, kind) = array(values)?;
    let refuse = |found: &Bound<'_, PyAny>| Err(error(format!("'{found}' is not a number")));
    if !["f", "i", "u", "b"].contains(&kind.as_str()) {
        for value in array.getattr("flat")?.try_iter()? {
            let value = value?;
            if value.is_instance_of::<PyString>() || value.is_instance_of::<PyBytes>() {
                return refuse(&value);
            }
            // numbers of numpy, and those of Python in an array of objects
            if kind == "c" || value.is_instance_of::<PyComplex>() {
                return refuse(&value);
            }
        }
    }
    array.call_method1("astype", ("float64",))
}

/// A matrix as an array.
pub(crate) fn matrix<'py>(py: Python<'py>, rows: &[Vec<f64>]) -> PyResult<Bound<'py, PyArray2<f64>>> {
    PyArray2::from_vec2(py, rows).map_err(error)
}

/// The roots of the diagonal of a covariance.
pub(crate) fn standard_errors(covariance: &[Vec<f64>]) -> Vec<f64> {
    covariance.iter().enumerate().filter_map(|(i, row)| Some(row.get(i)?.max(0.0).sqrt())).collect()
}

/// The quantile of two-sided intervals of level 1 - alpha: Student's t by the games, normal where they are not known.
pub(crate) fn quantile(alpha: f64, games: Option<u64>) -> PyResult<f64> {
    let z = quantile_of_normal(1.0 - 0.5 * alpha).filter(|_| alpha < 1.0);
    let z = z.ok_or_else(|| error(format!("alpha is {alpha}: give a number between 0 and 1, such as 0.05")))?;
    Ok(games.map_or(z, |games| student_quantile(z, games as f64 - 1.0)))
}

/// Applies functions to each number: a float for a number, else an array of the same shape, for each function.
pub(crate) fn map<'py, const N: usize>(
    values: &Bound<'py, PyAny>,
    of: impl Fn(f64) -> [f64; N],
) -> PyResult<[Bound<'py, PyAny>; N]> {
    map_at(values, |_, x| of(x))
}

/// Applies functions to each number and its place.
pub(crate) fn map_at<'py, const N: usize>(
    values: &Bound<'py, PyAny>,
    of: impl Fn(usize, f64) -> [f64; N],
) -> PyResult<[Bound<'py, PyAny>; N]> {
    let py = values.py();
    let array = floats(values)?.extract::<PyReadonlyArrayDyn<'_, f64>>()?;
    let array = array.as_array();
    let mapped: Vec<[f64; N]> = array.iter().enumerate().map(|(i, x)| of(i, *x)).collect();
    let shape: Vec<usize> = array.shape().to_vec();
    let result = |k: usize| -> PyResult<Bound<'py, PyAny>> {
        let column: Vec<f64> = mapped.iter().filter_map(|row| row.get(k).copied()).collect();
        if let ([], [value]) = (&shape[..], &column[..]) {
            return Ok(value.into_pyobject(py)?.into_any());
        }
        let flat = PyArray::from_vec(py, column);
        Ok(flat.reshape(IxDyn(&shape))?.into_any())
    };
    let mut results = Vec::with_capacity(N);
    for k in 0..N {
        results.push(result(k)?);
    }
    results.try_into().map_err(|_| error("an array was lost"))
}

/// A list of floats.
pub(crate) fn list(values: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    Ok(floats(values)?.extract::<PyReadonlyArray1<'_, f64>>()?.as_array().to_vec())
}

/// A list of identities: numbers as they are, anything else by its text.
pub(crate) fn identities(values: &Bound<'_, PyAny>) -> PyResult<Vec<u64>> {
    let (array, kind) = array(values)?;
    if ["i", "u", "b"].contains(&kind.as_str()) {
        let array = array.call_method1("astype", ("int64",))?;
        let array = array.extract::<PyReadonlyArray1<'_, i64>>()?;
        return Ok(array.as_array().iter().map(|id| *id as u64).collect());
    }
    let text = |(i, value): (usize, PyResult<Bound<'_, PyAny>>)| {
        let value = value?;
        // NaN and its relatives do not equal themselves
        if value.is_none() || !value.eq(&value).unwrap_or(false) {
            return Err(error(format!("the game of sample {i} is missing: give each game a name or a number")));
        }
        Ok(evalcurve::table::game_id(&value.str()?.to_string_lossy()))
    };
    array.try_iter()?.enumerate().map(text).collect()
}
