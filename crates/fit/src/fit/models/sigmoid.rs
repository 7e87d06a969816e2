//! The fits of the plain sigmoid, by least squares and by maximum likelihood.

use evalcurve_calibration::{Method, Model, ModelKind};

use super::fitted::{ModelFit, games_of};
use super::fitter::Fitter;
use crate::fit::case::Case;
use crate::fit::counts::ScoreCounts;
use crate::fit::error::FitError;
use crate::fit::options::FitOptions;
use crate::fit::plain::fit_counts;

pub(super) const LEAST_SQUARES: Fitter =
    Fitter::Each(|kind, cases, options| fit(Method::LeastSquares, kind, cases, options));

pub(super) const MAXIMUM_LIKELIHOOD: Fitter =
    Fitter::Each(|kind, cases, options| fit(Method::MaximumLikelihood, kind, cases, options));

/// The sigmoid without its covariance, which [`super::super::FitData::fit`] gives.
fn fit(method: Method, kind: ModelKind, cases: &[Case], options: &FitOptions) -> Result<ModelFit, FitError> {
    let observations: Vec<_> = cases.iter().map(Case::observation).collect();
    let point = fit_counts(method, &ScoreCounts::from_observations(&observations), options)?;
    ModelFit::new(kind, Model::Sigmoid(point.sigmoid), None, games_of(cases), point.mean_loss)
}
