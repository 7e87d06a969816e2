//! Sigmoids with a fixed slope, the same for every engine.

use evalcurve_calibration::{CP_PER_LOGIT, Model, ModelKind, Sigmoid};

use super::fitted::ModelFit;
use super::fitter::Fitter;
use crate::fit::case::Case;
use crate::fit::error::FitError;
use crate::fit::options::FitOptions;
use crate::fit::plain::check_cases;

/// 1/w1 of dlshogi's conversion between win rate and score, its default `Eval_Coef`, in centipawns.
const DLSHOGI_CP_PER_LOGIT: f64 = 756.0;

/// 1/w1 of lichess's win rate and of what chess GUIs show, in centipawns.
const LICHESS_CP_PER_LOGIT: f64 = 1.0 / 0.003_682_08;

pub(super) const SHARED_600: Fitter = Fitter::Each(|kind, cases, options| fixed(CP_PER_LOGIT, kind, cases, options));

pub(super) const DLSHOGI_756: Fitter =
    Fitter::Each(|kind, cases, options| fixed(DLSHOGI_CP_PER_LOGIT, kind, cases, options));

pub(super) const LICHESS: Fitter =
    Fitter::Each(|kind, cases, options| fixed(LICHESS_CP_PER_LOGIT, kind, cases, options));

fn fixed(cp_per_logit: f64, kind: ModelKind, cases: &[Case], options: &FitOptions) -> Result<ModelFit, FitError> {
    check_cases(cases, options.min_samples)?;
    let sigmoid = Sigmoid { w1: 1.0 / cp_per_logit, w2: 0.0 };
    ModelFit::of_cases(kind, Model::Sigmoid(sigmoid), None, cases)
}
