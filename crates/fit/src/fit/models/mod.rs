//! The list of fits. Each model has its fit in a file here, and its function in `evalcurve-calibration`, whose list has
//! the models in the same order.

mod fitted;
mod fitter;
mod strengths;

use evalcurve_calibration::ModelKind;

pub use fitted::ModelFit;
pub use lapse::{LapseTest, contradictions, drawn, lapse_test, unexplained};
pub use strengths::{Alone, Strengths};
pub use wdl::{WdlCount, fit_wdl_counts};

use fitter::Fitter;

use super::case::{Case, Part};
use super::error::FitError;
use super::options::FitOptions;
use crate::parallel;

/// Declares the files of the list, and finds the fit of each model.
macro_rules! fits {
    ($($module:ident { $($kind:ident = $fitter:ident),+ $(,)? })+) => {
        $(mod $module;)+

        fn fitter(kind: ModelKind) -> Fitter {
            match kind {
                $($(ModelKind::$kind => $module::$fitter,)+)+
                // its program fits it
                _ => Fitter::Each(|_, _, _| Err(FitError::OwnModel)),
            }
        }
    };
}

fits! {
    constant { Constant = FIT }
    fixed { Shared600 = SHARED_600, Dlshogi756 = DLSHOGI_756, Lichess = LICHESS }
    shared_z { SharedZ = FIT }
    sigmoid { LeastSquares = LEAST_SQUARES, MaximumLikelihood = MAXIMUM_LIKELIHOOD }
    lapse { Lapse = FIT }
    joint { Joint = FIT }
    phase { Phase = FIT }
    isotonic { Isotonic = FIT }
    people { People = FIT }
    wdl { Wdl = BY_PLY, WdlMaterial = BY_MATERIAL }
}

/// Fits one model to the samples of one engine. Models that are fitted to all engines at once take this one for all;
/// see [`fit_engines`].
///
/// # Errors
/// Every [`FitError`].
pub fn fit_model(kind: ModelKind, cases: &[Case], options: &FitOptions) -> Result<ModelFit, FitError> {
    let none = Err(FitError::TooFewSamples { have: 0, need: options.min_samples });
    fit_engines(kind, &[cases], options).pop().unwrap_or(none)
}

/// Fits a model to each engine, or to all engines at once where the model is shared. An engine without a fit does not
/// stop the others.
pub fn fit_engines<'a>(
    kind: ModelKind,
    engines: &[impl Copy + Into<Part<'a>>],
    options: &FitOptions,
) -> Vec<Result<ModelFit, FitError>> {
    let engines: Vec<Part<'_>> = engines.iter().map(|cases| (*cases).into()).collect();
    fit_engines_near(kind, &engines, &[], options)
}

/// The same, quicker with fits to much the same samples, in the order of the engines; they may be missing.
pub(crate) fn fit_engines_near(
    kind: ModelKind,
    engines: &[Part<'_>],
    near: &[Option<&ModelFit>],
    options: &FitOptions,
) -> Vec<Result<ModelFit, FitError>> {
    match fitter(kind) {
        Fitter::Each(fit) => parallel::map(engines.len(), |e| fit(kind, &engines[e].cases(), options)),
        Fitter::All(fit) => fit(kind, engines, options),
        Fitter::Near(fit) => fit(kind, engines, near, options),
    }
}
