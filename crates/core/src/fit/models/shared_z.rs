//! Standardised scores of each engine through one sigmoid for all engines.

use evalcurve_calibration::{Model, ModelKind, Sigmoid};

use super::constant;
use super::fitted::{ModelFit, mean_log_loss};
use super::fitter::Fitter;
use crate::fit::case::Case;
use crate::fit::error::FitError;
use crate::fit::linear::{LinearRow, regress};
use crate::fit::options::FitOptions;
use crate::standardize::Standardization;

pub(super) const FIT: Fitter = Fitter::All(fit);

/// Standardises the scores of each engine and fits one sigmoid, by maximum likelihood, to all of them.
fn fit(kind: ModelKind, engines: &[&[Case]], options: &FitOptions) -> Vec<Result<ModelFit, FitError>> {
    // the constant is fitted because it checks the samples and counts the games
    let checked: Vec<Result<(ModelFit, Standardization), FitError>> = engines
        .iter()
        .map(|cases| {
            let fit = constant::fit(kind, cases, options)?;
            let standard = Standardization::from_scores(cases.iter().map(|c| c.score_cp))
                .map_err(|_| FitError::TooFewSamples { have: cases.len() as u64, need: 2 })?;
            Ok((fit, standard))
        })
        .collect();
    let row = |standard: &Standardization, case: &Case| LinearRow {
        game: case.game,
        result: case.outcome.value(),
        offset: 0.0,
        features: [(0, standard.z(f64::from(case.score_cp))), (1, -1.0)],
    };
    let rows: Vec<LinearRow<[(u32, f64); 2]>> = engines
        .iter()
        .zip(&checked)
        .filter_map(|(cases, checked)| Some((cases, &checked.as_ref().ok()?.1)))
        .flat_map(|(cases, standard)| cases.iter().map(move |case| row(standard, case)))
        .collect();
    let fitted =
        if rows.is_empty() { Err(FitError::TooFewSamples { have: 0, need: 2 }) } else { regress(&rows, &[0.0; 2]) };
    checked
        .into_iter()
        .zip(engines)
        .map(|(checked, cases)| {
            let (fit, standard) = checked?;
            let shared = fitted.as_ref().map_err(|e| *e)?;
            let (s1, s2) = (shared.at[0], shared.at[1]);
            if s1 <= 0.0 {
                return Err(FitError::SlopeNotPositive { w1: s1 / standard.sd });
            }
            // s1 (x - mean)/sd - s2
            let model = Model::Sigmoid(Sigmoid { w1: s1 / standard.sd, w2: s2 + s1 * standard.mean / standard.sd });
            let mean_loss = mean_log_loss(&model, cases);
            Ok(ModelFit { kind, model, mean_loss, ..fit })
        })
        .collect()
}
