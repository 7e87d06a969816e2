//! The baselines that other models are compared with; no calibration file holds one.

use serde::{Deserialize, Serialize};

use super::definition::Definition;
use super::form::{Form, InvalidParameter};
use crate::logistic::logit;
use crate::situation::Situation;

pub(super) static CONSTANT: Definition = Definition {
    name: "constant",
    label: "the mean result (baseline)",
    summary: "The mean result, whatever the score",
    ..Definition::BASELINE
};

pub(super) static SHARED_600: Definition = Definition {
    name: "shared_600",
    label: "1/(1+exp(-x/600)) for all (baseline)",
    summary: "1/(1 + exp(-x/600)) for every engine",
    chess: Some(false),
    ..Definition::BASELINE
};

pub(super) static DLSHOGI_756: Definition = Definition {
    name: "dlshogi_756",
    label: "1/(1+exp(-x/756)) for all (baseline)",
    summary: "1/(1 + exp(-x/756)) for every engine, as dlshogi converts scores",
    chess: Some(false),
    ..Definition::BASELINE
};

pub(super) static LICHESS: Definition = Definition {
    name: "lichess",
    label: "1/(1+exp(-0.00368208x)) for all (baseline)",
    summary: "1/(1 + exp(-0.00368208 x)) for every engine, as lichess converts scores",
    chess: Some(true),
    ..Definition::BASELINE
};

pub(super) static SHARED_Z: Definition = Definition {
    name: "shared_z",
    label: "z through one sigmoid (baseline)",
    summary: "Standardised scores z of each engine through one sigmoid for all",
    ..Definition::BASELINE
};

/// The same win rate for every score.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Constant {
    /// The win rate, in [0, 1].
    pub win_rate: f64,
}

impl Form for Constant {
    fn logit(&self, _: f64, _: &Situation) -> f64 {
        logit(self.win_rate)
    }

    fn win_rate(&self, _: f64, _: &Situation) -> f64 {
        self.win_rate
    }

    fn score(&self, _: f64, _: &Situation) -> Option<f64> {
        None
    }

    fn parameters(&self) -> Vec<(&'static str, f64)> {
        vec![("win_rate", self.win_rate)]
    }

    fn check(&self) -> Result<(), InvalidParameter> {
        InvalidParameter::unless_positive("win_rate", self.win_rate)
    }
}
