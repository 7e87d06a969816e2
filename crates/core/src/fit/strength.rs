//! The win rate by score and rating difference: logit p = w1 x - w2 + w3 d.
//!
//! Where engines of different strength meet, w2 of the plain sigmoid measures mostly the opponents. Here d, the rating
//! difference in logits, takes that part, and w2 is what is left between equals.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::case::Case;
use super::linear::{Row, regress};
use super::model::{Model, ModelKind};
use super::sigmoid::{Logistic, Sigmoid};
use super::solve::SCORE_SCALE;
use super::{FitError, FitOptions, ModelFit, check_cases};

/// p(x, d) = 1/(1 + exp(-w1 x + w2 - w3 d)) with d = (own - opponent's rating)·ln 10/400.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Strength {
    /// Slope, per centipawn.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub w1: f64,
    /// Offset between equals, in logits; the sign of Takeuchi 2018.
    pub w2: f64,
    /// What a logit of rating difference adds to the logit of the win rate: 1 where the score knows nothing of it.
    pub w3: f64,
}

impl Strength {
    /// The sigmoid at a rating difference d in logits.
    pub fn sigmoid(&self, strength: f64) -> Sigmoid {
        Sigmoid { w1: self.w1, w2: self.w2 - self.w3 * strength }
    }
}

/// The cases whose rating difference is known, as long as there are enough and they differ.
fn rated(cases: &[Case], options: &FitOptions) -> Result<Vec<(Case, f64)>, FitError> {
    let rated: Vec<(Case, f64)> =
        cases.iter().filter_map(|c| Some((*c, c.situation.strength.filter(|d| d.is_finite())?))).collect();
    let need = options.min_samples.max(4);
    if (rated.len() as u64) < need {
        return Err(FitError::TooFewRated { have: rated.len() as u64, need });
    }
    let first = rated.first().map_or(0.0, |r| r.1);
    if rated.iter().all(|(_, d)| *d == first) {
        return Err(FitError::OneStrength { samples: rated.len() as u64 });
    }
    check_cases(rated.iter().map(|(c, _)| c), options.min_samples)?;
    Ok(rated)
}

/// Fits w1, w2 and w3 of one engine by maximum likelihood over the cases whose rating difference is known.
///
/// # Errors
/// Every [`FitError`], among them [`FitError::TooFewRated`] and [`FitError::OneStrength`].
pub fn fit_strength(cases: &[Case], options: &FitOptions) -> Result<ModelFit, FitError> {
    let mut fits = joint(&[cases], options, false);
    fits.pop().unwrap_or(Err(FitError::TooFewRated { have: 0, need: options.min_samples }))
}

/// Fits w1 and w2 of every engine and one w3 for all of them. An engine without a fit does not stop the others.
pub fn fit_strength_shared(engines: &[&[Case]], options: &FitOptions) -> Vec<Result<ModelFit, FitError>> {
    joint(engines, options, true)
}

fn joint(engines: &[&[Case]], options: &FitOptions, shared: bool) -> Vec<Result<ModelFit, FitError>> {
    let kind = if shared { ModelKind::StrengthShared } else { ModelKind::Strength };
    let taken: Vec<Result<Vec<(Case, f64)>, FitError>> = engines.iter().map(|cases| rated(cases, options)).collect();
    let members: Vec<&Vec<(Case, f64)>> = taken.iter().filter_map(|t| t.as_ref().ok()).collect();
    let last = 2 * members.len() as u32;
    let rows: Vec<Row<3>> = members
        .iter()
        .enumerate()
        .flat_map(|(e, cases)| {
            let e = 2 * e as u32;
            cases.iter().map(move |(case, d)| Row {
                game: case.game,
                result: case.outcome.value(),
                features: [(e, f64::from(case.score_cp) / SCORE_SCALE), (e + 1, -1.0), (last, *d)],
            })
        })
        .collect();
    // all engines are one regression, so that its failure is everybody's
    let fitted = regress(&rows, &vec![0.0; last as usize + 1]);
    let mut member = 0;
    taken
        .iter()
        .map(|cases| {
            let cases = cases.as_ref().map_err(|e| *e)?;
            let e = 2 * member;
            member += 1;
            let fit = fitted.as_ref().map_err(|e| *e)?;
            let model = Strength { w1: fit.at[e] / SCORE_SCALE, w2: fit.at[e + 1], w3: fit.at[last as usize] };
            if model.w1 <= 0.0 {
                return Err(FitError::SlopeNotPositive { w1: model.w1 });
            }
            let index = [e, e + 1, last as usize];
            let scale = [SCORE_SCALE, 1.0, 1.0];
            let covariance = fit.covariance.as_ref().map(|v| {
                let entry = |i: usize, j: usize| v.at(index[i.max(j)], index[i.min(j)]) / (scale[i] * scale[j]);
                (0..3).map(|i| (0..3).map(|j| entry(i, j)).collect()).collect()
            });
            // of a shared fit the loss is this engine's own
            let loss = |(case, d): &(Case, f64)| {
                let at = Logistic::at(model.sigmoid(*d).logit(f64::from(case.score_cp)));
                let y = case.outcome.value();
                y * at.minus_log_p + (1.0 - y) * at.minus_log_q
            };
            let mean_loss = cases.iter().map(loss).sum::<f64>() / cases.len() as f64;
            let cases: Vec<Case> = cases.iter().map(|(c, _)| *c).collect();
            ModelFit::new(kind, Model::Strength(model), covariance, &cases, mean_loss)
        })
        .collect()
}
