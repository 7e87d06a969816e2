//! Standardised scores of each engine through one sigmoid for all engines.

use evalcurve_calibration::{Model, ModelKind, Sigmoid};

use super::constant;
use super::fitted::{ModelFit, mean_log_loss};
use super::fitter::Fitter;
use super::joint::one_curve;
use crate::fit::case::{Case, Part};
use crate::fit::error::FitError;
use crate::fit::options::FitOptions;
use crate::parallel;
use crate::standardize::{Standardization, standardization};

pub(super) const FIT: Fitter = Fitter::All(fit);

/// Standardises the scores of each engine and fits one sigmoid, by maximum likelihood, to all of them.
fn fit(kind: ModelKind, engines: &[Part<'_>], options: &FitOptions) -> Vec<Result<ModelFit, FitError>> {
    // the constant is fitted because it checks the samples and counts the games
    let check = |e: usize| -> Result<(ModelFit, Standardization), FitError> {
        let fit = constant::fit(kind, &engines[e].cases(), options)?;
        let standard = standardization(engines[e].iter().map(|c| c.score_cp))
            .map_err(|_| FitError::TooFewSamples { have: fit.samples, need: 2 })?;
        Ok((fit, standard))
    };
    let checked = parallel::map(engines.len(), check);
    let able = || engines.iter().zip(&checked).filter_map(|(cases, checked)| Some((cases, checked.as_ref().ok()?)));
    let samples = able().map(|(_, (fit, _))| fit.samples as usize).sum();
    let row = |standard: &Standardization, case: Case| (standard.z(f64::from(case.score_cp)), case.outcome.value());
    let rows = able().flat_map(|(cases, (_, standard))| cases.iter().map(|case| row(standard, case)));
    let fitted = match samples {
        0 => Err(FitError::TooFewSamples { have: 0, need: 2 }),
        _ => one_curve(samples, rows),
    };
    parallel::map(engines.len(), |e| {
        let (fit, standard) = checked[e].as_ref().map_err(|error| *error)?;
        let [s1, s2] = fitted?;
        if s1 <= 0.0 {
            return Err(FitError::SlopeNotPositive { w1: s1 / standard.sd });
        }
        // s1 (x - mean)/sd - s2
        let model = Model::Sigmoid(Sigmoid { w1: s1 / standard.sd, w2: s2 + s1 * standard.mean / standard.sd });
        let mean_loss = mean_log_loss(&model, &engines[e].cases());
        Ok(ModelFit { kind, model, mean_loss, ..fit.clone() })
    })
}
