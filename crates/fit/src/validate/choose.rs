//! The choice of a model for engines that are to be compared: one kind for all of them.

use evalcurve_words::language::{Text, ToText};

use super::clusters::Estimate;
use super::cross_validation::CrossValidation;
use super::forecast::{Forecast, ValidateError};
use super::scores::{log_loss_difference, mean_log_loss};
use crate::fit::ModelKind;

/// The score of a candidate.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    pub kind: ModelKind,
    /// Its mean log loss over the samples of all engines, or why it was not considered.
    pub log_loss: Result<Estimate, Text>,
    /// Its log loss minus that of the best one, on the same samples.
    pub behind_best: Option<Estimate>,
}

/// The chosen model, and the scores of all candidates.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// The chosen model.
    pub kind: ModelKind,
    /// All candidates in their order.
    pub candidates: Vec<Candidate>,
}

/// A difference of log losses that does not matter: of two models that forecast alike the simpler one is chosen.
const ALIKE: f64 = 0.002;
/// A candidate may fail for one engine in so many.
const ENGINES_OF_A_FAILURE: usize = 10;

/// Chooses one model for all engines by the log loss of forecasts out of sample: the simplest one whose loss exceeds
/// the best one's by no more than one standard error of that difference, on the same samples and clustered by game
/// (Breiman, Friedman, Olshen and Stone, *Classification and regression trees*, 1984), and by no more than matters: a
/// model with a few very bad forecasts has a large standard error, which says nothing for it.
///
/// Engines that the joint model cannot be fitted to are left out. Where a candidate fails for one engine of ten or
/// fewer, that engine is forecast by the joint model, so that all candidates are compared on the same samples; one that
/// fails for more is not considered. Baselines among the candidates are scored but never chosen.
///
/// # Errors
/// The error of the joint model for the first engine, where no engine has its fit; [`ValidateError::Empty`] without
/// engines.
pub fn choose_model(candidates: &[ModelKind], validation: &mut CrossValidation<'_>) -> Result<Choice, ValidateError> {
    // the model that most engines have: those with few games and large scores have no plain sigmoid
    let reference = validation.forecasts(ModelKind::Joint);
    let able: Vec<bool> = reference.iter().map(Result::is_ok).collect();
    if !able.contains(&true) {
        return Err(reference.into_iter().find_map(Result::err).unwrap_or(ValidateError::Empty));
    }
    let engines = able.iter().filter(|able| **able).count();
    let forecasts: Vec<Result<Vec<Forecast>, Text>> = candidates
        .iter()
        .map(|&kind| {
            let (mut all, mut failed) = (Vec::new(), 0);
            let forecasts = validation.forecasts(kind).into_iter().zip(&reference);
            for (engine, (forecasts, reference)) in validation.engines().iter().zip(forecasts) {
                let Ok(reference) = reference else { continue };
                match forecasts {
                    Ok(forecasts) => all.extend(forecasts),
                    Err(_) if (failed + 1) * ENGINES_OF_A_FAILURE <= engines => {
                        failed += 1;
                        all.extend(reference);
                    }
                    Err(e) => return Err(e.to_text().about(&Text::same(&engine.name))),
                }
            }
            Ok(all)
        })
        .collect();
    let loss = |f: &Vec<Forecast>| mean_log_loss(f).map_or(f64::INFINITY, |e| e.value);
    let may_be_chosen = candidates.iter().zip(&forecasts).filter(|(kind, _)| !kind.is_baseline());
    let best = may_be_chosen.filter_map(|(_, f)| f.as_ref().ok()).min_by(|a, b| loss(a).total_cmp(&loss(b)));
    let Some(best) = best else { return Err(ValidateError::Empty) };
    let candidates: Vec<Candidate> = candidates
        .iter()
        .zip(&forecasts)
        .map(|(&kind, forecasts)| match forecasts {
            Ok(f) => Candidate {
                kind,
                log_loss: mean_log_loss(f).ok_or_else(|| ValidateError::Empty.to_text()),
                behind_best: log_loss_difference(f, best),
            },
            Err(why) => Candidate { kind, log_loss: Err(why.clone()), behind_best: None },
        })
        .collect();
    let within = |c: &&Candidate| {
        let behind = |d: Estimate| d.value <= d.standard_error().unwrap_or(0.0).min(ALIKE);
        !c.kind.is_baseline() && c.behind_best.is_some_and(behind)
    };
    let kind = candidates.iter().find(within).map(|c| c.kind).ok_or(ValidateError::Empty)?;
    Ok(Choice { kind, candidates })
}
