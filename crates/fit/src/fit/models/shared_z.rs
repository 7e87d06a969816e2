//! Standardised scores of each engine through one sigmoid for all engines.

use evalcurve_calibration::{Model, ModelKind, Sigmoid};

use super::constant;
use super::fitted::{ModelFit, mean_log_loss};
use super::fitter::Fitter;
use crate::fit::case::{Case, Part};
use crate::fit::error::FitError;
use crate::fit::linear::{LinearRow, coefficients};
use crate::fit::options::FitOptions;
use crate::parallel;
use crate::standardize::Standardization;

pub(super) const FIT: Fitter = Fitter::All(fit);

/// Standardises the scores of each engine and fits one sigmoid, by maximum likelihood, to all of them.
fn fit(kind: ModelKind, engines: &[Part<'_>], options: &FitOptions) -> Vec<Result<ModelFit, FitError>> {
    // the constant is fitted because it checks the samples and counts the games
    let check = |e: usize| -> Result<(ModelFit, Standardization), FitError> {
        let fit = constant::fit(kind, &engines[e].cases(), options)?;
        let standard = Standardization::from_scores(engines[e].iter().map(|c| c.score_cp))
            .map_err(|_| FitError::TooFewSamples { have: fit.samples, need: 2 })?;
        Ok((fit, standard))
    };
    let checked = parallel::map(engines.len(), check);
    let row = |standard: &Standardization, case: &Case| LinearRow {
        game: case.game,
        result: case.outcome.value(),
        offset: 0.0,
        features: [(0, standard.z(f64::from(case.score_cp))), (1, -1.0)],
    };
    let able = || engines.iter().zip(&checked).filter_map(|(cases, checked)| Some((cases, checked.as_ref().ok()?)));
    let samples = able().map(|(_, (fit, _))| fit.samples as usize).sum();
    let mut rows: Vec<LinearRow<[(u32, f64); 2]>> = Vec::with_capacity(samples);
    able().for_each(|(cases, (_, standard))| rows.extend(cases.iter().map(|case| row(standard, &case))));
    let fitted = if rows.is_empty() {
        Err(FitError::TooFewSamples { have: 0, need: 2 })
    } else {
        coefficients(&rows, &[0.0; 2])
    };
    drop(rows);
    parallel::map(engines.len(), |e| {
        let (fit, standard) = checked[e].as_ref().map_err(|error| *error)?;
        let shared = fitted.as_ref().map_err(|error| *error)?;
        let (s1, s2) = (shared.at[0], shared.at[1]);
        if s1 <= 0.0 {
            return Err(FitError::SlopeNotPositive { w1: s1 / standard.sd });
        }
        // s1 (x - mean)/sd - s2
        let model = Model::Sigmoid(Sigmoid { w1: s1 / standard.sd, w2: s2 + s1 * standard.mean / standard.sd });
        let mean_loss = mean_log_loss(&model, &engines[e].cases());
        Ok(ModelFit { kind, model, mean_loss, ..fit.clone() })
    })
}
