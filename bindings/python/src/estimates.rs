//! Estimated parameters in the words of statsmodels.

use pyo3::prelude::*;

use crate::numbers::quantile;

/// The intervals of an object with `params` and `bse`: an array with two columns.
pub(crate) fn conf_int<'py, T>(of: &Bound<'py, T>, alpha: f64, games: Option<u64>) -> PyResult<Bound<'py, PyAny>> {
    let of = of.as_any();
    let half = of.getattr("bse")?.mul(quantile(alpha, games)?)?;
    let params = of.getattr("params")?;
    of.py().import("numpy")?.call_method1("column_stack", ((params.sub(&half)?, params.add(&half)?),))
}

/// What a function of `evalcurve._estimates` makes of an object.
pub(crate) fn by_python<'py, T>(of: &Bound<'py, T>, function: &str) -> PyResult<Bound<'py, PyAny>> {
    of.py().import("evalcurve._estimates")?.call_method1(function, (of.as_any(),))
}
