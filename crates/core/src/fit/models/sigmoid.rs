//! The sigmoid of the score, by least squares and by maximum likelihood.

use super::form::{Form, InvalidParameter};
use super::formula::Formula;
use super::kind::{Definition, Fitter, ModelFit};
use super::{Model, ModelKind};
use crate::fit::case::{Case, Situation};
use crate::fit::{FitError, FitOptions, Method, ScoreCounts, Sigmoid, fit_counts};

pub(super) static LEAST_SQUARES: Definition = Definition {
    name: "least_squares",
    aliases: &["lse"],
    label: "sigmoid by least squares",
    summary: "The sigmoid by least squares: forgives a few scores that are far off",
    form: Some(Sigmoid::name),
    rank: 1,
    fit: Fitter::Each(|kind, cases, options| fit(Method::LeastSquares, kind, cases, options)),
    ..Definition::BASELINE
};

pub(super) static MAXIMUM_LIKELIHOOD: Definition = Definition {
    name: "maximum_likelihood",
    aliases: &["mle"],
    label: "sigmoid by maximum likelihood",
    summary: "The sigmoid by maximum likelihood: precise where scores are right, sensitive to large wrong ones",
    form: Some(Sigmoid::name),
    rank: 1,
    fit: Fitter::Each(|kind, cases, options| fit(Method::MaximumLikelihood, kind, cases, options)),
    ..Definition::BASELINE
};

impl Form for Sigmoid {
    fn name() -> &'static str {
        "sigmoid"
    }

    fn logit(&self, score_cp: f64, _: &Situation) -> f64 {
        Sigmoid::logit(self, score_cp)
    }

    fn score(&self, win_rate: f64, _: &Situation) -> Option<f64> {
        Sigmoid::score(self, win_rate)
    }

    fn size() -> usize {
        2
    }

    fn parameters(&self) -> Vec<(&'static str, f64)> {
        vec![("w1", self.w1), ("w2", self.w2)]
    }

    fn logit_gradient(&self, score_cp: f64, _: &Situation) -> Option<Vec<f64>> {
        Some(vec![score_cp, -1.0])
    }

    fn sigmoid(&self) -> Option<Sigmoid> {
        Some(*self)
    }

    fn formula(&self) -> Option<Formula> {
        Some(Formula::sigmoid(self.w1))
    }

    fn check(&self) -> Result<(), InvalidParameter> {
        InvalidParameter::unless_positive("w1", self.w1)
    }
}

/// The sigmoid without its covariance, which [`super::super::FitData::fit`] gives.
fn fit(method: Method, kind: ModelKind, cases: &[Case], options: &FitOptions) -> Result<ModelFit, FitError> {
    let observations: Vec<_> = cases.iter().map(Case::observation).collect();
    let point = fit_counts(method, &ScoreCounts::from_observations(&observations), options)?;
    ModelFit::new(kind, Model::Sigmoid(point.sigmoid), None, cases, point.mean_loss)
}
