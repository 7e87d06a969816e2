//! The same win rate for every score.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::form::{Form, InvalidParameter, logit_of};
use super::kind::{Definition, Fitter, ModelFit};
use super::{Model, ModelKind};
use crate::fit::case::{Case, Situation};
use crate::fit::{FitError, FitOptions, check_cases};

pub(super) static CONSTANT: Definition = Definition {
    name: "constant",
    label: "the mean result (baseline)",
    summary: "The mean result, whatever the score",
    fit: Fitter::Each(fit),
    ..Definition::BASELINE
};

/// The same win rate for every score.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Constant {
    /// The win rate, in [0, 1].
    pub win_rate: f64,
}

impl Form for Constant {
    fn name() -> &'static str {
        "constant"
    }

    fn logit(&self, _: f64, _: &Situation) -> f64 {
        logit_of(self.win_rate)
    }

    fn win_rate(&self, _: f64, _: &Situation) -> f64 {
        self.win_rate
    }

    fn score(&self, _: f64, _: &Situation) -> Option<f64> {
        None
    }

    fn size() -> usize {
        0
    }

    fn parameters(&self) -> Vec<(&'static str, f64)> {
        vec![("win_rate", self.win_rate)]
    }

    fn check(&self) -> Result<(), InvalidParameter> {
        InvalidParameter::unless_positive("win_rate", self.win_rate)
    }
}

fn fit(kind: ModelKind, cases: &[Case], options: &FitOptions) -> Result<ModelFit, FitError> {
    check_cases(cases, options.min_samples)?;
    let win_rate = cases.iter().map(|c| c.outcome.value()).sum::<f64>() / cases.len().max(1) as f64;
    ModelFit::without_covariance(kind, Model::Constant(Constant { win_rate }), cases)
}
