//! Sigmoids with a fixed slope, the same for every engine.

use super::kind::{Definition, Fitter, ModelFit};
use super::{Model, ModelKind};
use crate::fit::case::Case;
use crate::fit::{CP_PER_LOGIT, FitError, FitOptions, Sigmoid, check_cases};

/// 1/w1 of dlshogi's conversion between win rate and score, its default `Eval_Coef`, in centipawns.
const DLSHOGI_CP_PER_LOGIT: f64 = 756.0;

/// 1/w1 of lichess's win rate and of what chess GUIs show, in centipawns.
const LICHESS_CP_PER_LOGIT: f64 = 1.0 / 0.003_682_08;

pub(super) static SHARED_600: Definition = Definition {
    name: "shared_600",
    label: "1/(1+exp(-x/600)) for all (baseline)",
    summary: "1/(1 + exp(-x/600)) for every engine",
    chess: Some(false),
    fit: Fitter::Each(|kind, cases, options| fixed(CP_PER_LOGIT, kind, cases, options)),
    ..Definition::BASELINE
};

pub(super) static DLSHOGI_756: Definition = Definition {
    name: "dlshogi_756",
    label: "1/(1+exp(-x/756)) for all (baseline)",
    summary: "1/(1 + exp(-x/756)) for every engine, as dlshogi converts scores",
    chess: Some(false),
    fit: Fitter::Each(|kind, cases, options| fixed(DLSHOGI_CP_PER_LOGIT, kind, cases, options)),
    ..Definition::BASELINE
};

pub(super) static LICHESS: Definition = Definition {
    name: "lichess",
    label: "1/(1+exp(-0.00368208x)) for all (baseline)",
    summary: "1/(1 + exp(-0.00368208 x)) for every engine, as lichess converts scores",
    chess: Some(true),
    fit: Fitter::Each(|kind, cases, options| fixed(LICHESS_CP_PER_LOGIT, kind, cases, options)),
    ..Definition::BASELINE
};

fn fixed(cp_per_logit: f64, kind: ModelKind, cases: &[Case], options: &FitOptions) -> Result<ModelFit, FitError> {
    check_cases(cases, options.min_samples)?;
    let sigmoid = Sigmoid { w1: 1.0 / cp_per_logit, w2: 0.0 };
    ModelFit::without_covariance(kind, Model::Sigmoid(sigmoid), cases)
}
