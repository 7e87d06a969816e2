//! The Python module `evalcurve._evalcurve`: the crate `evalcurve` with its data as numpy arrays, Arrow tables and
//! JSON. What a user imports is in `python/evalcurve`, which gives options their names and documents their meaning.

mod arrow;
mod calibration;
mod commands;
mod curves;
mod estimates;
mod figure;
mod fit;
mod numbers;
mod rules;
mod running;
mod votes;

use pyo3::prelude::*;
use pyo3::types::PyType;

/// What pickle keeps of an object: the function that makes it, and the arguments.
type Reduced<Restored = Py<PyAny>, Kept = (String,)> = (Restored, Kept);

/// Pickles an object of a class by its JSON text, which its `from_json` reads.
fn by_json(class: &Bound<'_, PyType>, json: String) -> PyResult<Reduced> {
    Ok((class.getattr("from_json")?.unbind(), (json,)))
}

/// The module.
#[pymodule]
mod _evalcurve {
    #[pymodule_export]
    use crate::arrow::Table;
    #[pymodule_export]
    use crate::calibration::Calibration;
    #[pymodule_export]
    use crate::commands::{
        calibrate, compare, curve, diagnose, document, evaluate, evaluate_forecasts, forecasts, program, rescale,
        sample, thresholds,
    };
    #[pymodule_export]
    use crate::figure::Figure;
    #[pymodule_export]
    use crate::fit::{Fit, FitState, GameSums, fit, log_loss_difference};
    #[pymodule_export]
    use crate::rules::decide;
    #[pymodule_export]
    use crate::running::EvalcurveError;
    #[pymodule_export]
    use crate::votes::{read_votes, replay};
}
