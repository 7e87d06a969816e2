//! The list of models. Each model has its own file; the two lists below are the only other place that names it.
//!
//! A *form* is a function with its parameters ([`Model`]). A *model* ([`ModelKind`]) is a way to fit one: the sigmoid,
//! for example, can be fitted by least squares or by maximum likelihood. Everything else (the values of `--model`, the
//! fit, the candidates of `--model auto`, the calibration file, the reports) iterates these lists.

mod beta;
mod constant;
mod fixed;
#[macro_use]
mod form;
mod formula;
mod isotonic;
mod joint;
#[macro_use]
mod kind;
mod lapse;
mod normalization;
mod phase;
mod shared_z;
mod sigmoid;
mod strength;
mod wdl;

pub use beta::Beta;
pub use constant::Constant;
use form::Form;
pub use form::InvalidParameter;
pub use formula::Formula;
pub use isotonic::{Isotonic, Pool, pool_adjacent_violators};
pub use joint::{Joint, Strengths};
pub use kind::{ModelFit, Needs, fit_engines, fit_model};
pub use lapse::{Lapse, LapseTest, contradictions, lapse_test, unexplained};
pub use normalization::{Normalization, NormalizationError, Undone};
pub use phase::Phase;
pub use strength::Strength;
pub use wdl::{StageUnit, Wdl, WdlCount, WdlRates, fit_wdl_counts};

use super::Sigmoid;
use super::case::Situation;

forms! { Constant, Sigmoid, Lapse, Joint, Strength, Phase, Isotonic, Beta, Wdl }

kinds! {
    Constant = constant::CONSTANT,
    Shared600 = fixed::SHARED_600,
    Dlshogi756 = fixed::DLSHOGI_756,
    Lichess = fixed::LICHESS,
    SharedZ = shared_z::SHARED_Z,
    LeastSquares = sigmoid::LEAST_SQUARES,
    MaximumLikelihood = sigmoid::MAXIMUM_LIKELIHOOD,
    Lapse = lapse::LAPSE,
    LapseTwo = lapse::LAPSE_TWO,
    Joint = joint::JOINT,
    Strength = strength::STRENGTH,
    StrengthShared = strength::STRENGTH_SHARED,
    Phase = phase::PHASE,
    Isotonic = isotonic::ISOTONIC,
    Beta = beta::BETA,
    Wdl = wdl::WDL,
    WdlMaterial = wdl::WDL_MATERIAL,
}
