//! The mean result, whatever the score.

use evalcurve_calibration::{Constant, Model, ModelKind};

use super::fitted::ModelFit;
use super::fitter::Fitter;
use crate::fit::case::Case;
use crate::fit::error::FitError;
use crate::fit::options::FitOptions;
use crate::fit::plain::check_cases;

pub(super) const FIT: Fitter = Fitter::Each(fit);

pub(super) fn fit(kind: ModelKind, cases: &[Case], options: &FitOptions) -> Result<ModelFit, FitError> {
    check_cases(cases, options.min_samples)?;
    let win_rate = cases.iter().map(|c| c.outcome.value()).sum::<f64>() / cases.len().max(1) as f64;
    ModelFit::of_cases(kind, Model::Constant(Constant { win_rate }), None, cases)
}
