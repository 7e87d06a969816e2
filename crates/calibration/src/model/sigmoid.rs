//! The sigmoid of the score, fitted by least squares or by maximum likelihood.

use serde::{Deserialize, Serialize};

use super::definition::Definition;
use super::form::{Form, InvalidParameter};
use super::formula::Formula;
pub use crate::sigmoid::Sigmoid;
use crate::situation::Situation;

pub(super) static LEAST_SQUARES: Definition = Definition {
    name: "least_squares",
    aliases: &["lse"],
    label: "sigmoid by least squares",
    summary: "The sigmoid by least squares: forgives a few scores that are far off",
    rank: Some(1),
    ..Definition::BASELINE
};

pub(super) static MAXIMUM_LIKELIHOOD: Definition = Definition {
    name: "maximum_likelihood",
    aliases: &["mle"],
    label: "sigmoid by maximum likelihood",
    summary: "The sigmoid by maximum likelihood: precise where scores are right, sensitive to large wrong ones",
    rank: Some(1),
    ..Definition::BASELINE
};

/// What the fit of a plain sigmoid minimises (Takeuchi 2018, section 4.2.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// The least Σ (p(x) - y)²: forgives a few scores that are far off.
    LeastSquares,
    /// The largest Σ y log p(x) + (1 - y) log(1 - p(x)): sensitive to large scores that contradict the result.
    MaximumLikelihood,
}

impl Method {
    /// Both methods, in the order of declaration.
    pub const ALL: [Self; 2] = [Self::LeastSquares, Self::MaximumLikelihood];

    /// The short name in tables: `LSE` or `MLE`.
    pub fn short(self) -> &'static str {
        match self {
            Self::LeastSquares => "LSE",
            Self::MaximumLikelihood => "MLE",
        }
    }

    /// The name of the model in files: `least_squares` or `maximum_likelihood`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::LeastSquares => LEAST_SQUARES.name,
            Self::MaximumLikelihood => MAXIMUM_LIKELIHOOD.name,
        }
    }
}

impl std::fmt::Display for Method {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Form for Sigmoid {
    fn logit(&self, score_cp: f64, _: &Situation) -> f64 {
        Sigmoid::logit(self, score_cp)
    }

    fn score(&self, win_rate: f64, _: &Situation) -> Option<f64> {
        Sigmoid::score(self, win_rate)
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
