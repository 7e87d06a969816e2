//! Functions of numpy arrays.

use numpy::{IxDyn, PyArray, PyArrayMethods, PyReadonlyArray1, PyReadonlyArrayDyn};
use pyo3::prelude::*;

/// Anything that `numpy.asarray` takes, as floats.
fn floats<'py>(values: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    values.py().import("numpy")?.call_method1("asarray", (values, "float64"))
}

/// Applies functions to each number: a float for a number, else an array of the same shape, for each function.
pub(crate) fn map<'py, const N: usize>(
    values: &Bound<'py, PyAny>,
    of: impl Fn(f64) -> [f64; N],
) -> PyResult<[Bound<'py, PyAny>; N]> {
    let py = values.py();
    let array = floats(values)?.extract::<PyReadonlyArrayDyn<'_, f64>>()?;
    let array = array.as_array();
    let mapped: Vec<[f64; N]> = array.iter().map(|x| of(*x)).collect();
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
    results.try_into().map_err(|_| super::running::error("an array was lost"))
}

/// A list of floats.
pub(crate) fn list(values: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    Ok(floats(values)?.extract::<PyReadonlyArray1<'_, f64>>()?.as_array().to_vec())
}

/// A list of identities: numbers as they are, anything else by its text.
pub(crate) fn identities(values: &Bound<'_, PyAny>) -> PyResult<Vec<u64>> {
    let array = values.py().import("numpy")?.call_method1("asarray", (values,))?;
    let kind: String = array.getattr("dtype")?.getattr("kind")?.extract()?;
    if ["i", "u", "b"].contains(&kind.as_str()) {
        let array = array.call_method1("astype", ("int64",))?;
        let array = array.extract::<PyReadonlyArray1<'_, i64>>()?;
        return Ok(array.as_array().iter().map(|id| *id as u64).collect());
    }
    let texts: Vec<Bound<'_, PyAny>> = array.try_iter()?.collect::<PyResult<_>>()?;
    let text = |value: &Bound<'_, PyAny>| Ok(evalcurve::table::game_id(&value.str()?.to_string_lossy()));
    texts.iter().map(text).collect()
}
