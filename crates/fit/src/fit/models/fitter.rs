//! How a model is fitted.

use evalcurve_calibration::ModelKind;

use super::fitted::ModelFit;
use crate::fit::case::{Case, Part};
use crate::fit::error::FitError;
use crate::fit::options::FitOptions;

/// Fits one model to the samples of several engines, one result per engine.
type FitAll = fn(ModelKind, &[Part<'_>], &FitOptions) -> Vec<Result<ModelFit, FitError>>;

/// The same, with fits to much the same samples.
type FitNear = fn(ModelKind, &[Part<'_>], &[Option<&ModelFit>], &FitOptions) -> Vec<Result<ModelFit, FitError>>;

/// How a model is fitted.
pub(super) enum Fitter {
    /// To each engine separately.
    Each(fn(ModelKind, &[Case], &FitOptions) -> Result<ModelFit, FitError>),
    /// To all engines at once. An engine without a fit does not stop the others.
    All(FitAll),
    /// Likewise; the search begins where fits to much the same samples ended, of the engines that have one.
    Near(FitNear),
}
