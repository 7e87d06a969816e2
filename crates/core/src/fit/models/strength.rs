//! The win rate by score and rating difference: logit p = w1 x - w2 + w3 d.
//!
//! Where engines of different strength meet, w2 of the plain sigmoid measures mostly the opponents. Here d, the rating
//! difference in logits, explains that part, and w2 is the offset between equals.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::form::{Form, InvalidParameter};
use super::formula::Formula;
use super::kind::{Definition, Fitter, ModelFit, Needs, mean_log_loss};
use super::{Model, ModelKind};
use crate::fit::case::{Case, Situation};
use crate::fit::linear::{Row, regress};
use crate::fit::objective::SCORE_SCALE;
use crate::fit::{FitError, FitOptions, Sigmoid, check_cases};

pub(super) static STRENGTH: Definition = Definition {
    name: "strength",
    label: "with the rating difference",
    summary: "The sigmoid with the rating difference, one w3 per engine",
    form: Some(Strength::name),
    rank: 3,
    needs: Needs { rating: true, ..Needs::NONE },
    fit: Fitter::Each(|kind, cases, options| {
        let none = Err(FitError::TooFewRated { have: 0, need: options.min_samples });
        fit(kind, &[cases], options).pop().unwrap_or(none)
    }),
    ..Definition::BASELINE
};

pub(super) static STRENGTH_SHARED: Definition = Definition {
    name: "strength_shared",
    label: "with the rating difference, w3 shared",
    summary: "The sigmoid with the rating difference, one w3 for all engines",
    form: Some(Strength::name),
    rank: 2,
    needs: Needs { rating: true, ..Needs::NONE },
    fit: Fitter::All(fit),
    ..Definition::BASELINE
};

/// p(x, d) = 1/(1 + exp(-w1 x + w2 - w3 d)) with d = (own - opponent's rating)·ln 10/400.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Strength {
    /// Slope, per centipawn.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub w1: f64,
    /// Offset between equals, in logits; the sign of Takeuchi 2018.
    pub w2: f64,
    /// What a logit of rating difference adds to the logit of the win rate: 1 where the score does not reflect it.
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

impl Form for Strength {
    fn name() -> &'static str {
        "strength"
    }

    fn logit(&self, score_cp: f64, situation: &Situation) -> f64 {
        self.sigmoid(situation.strength.unwrap_or(0.0)).logit(score_cp)
    }

    fn score(&self, win_rate: f64, situation: &Situation) -> Option<f64> {
        self.sigmoid(situation.strength.unwrap_or(0.0)).score(win_rate)
    }

    fn size() -> usize {
        3
    }

    fn parameters(&self) -> Vec<(&'static str, f64)> {
        vec![("w1", self.w1), ("w2", self.w2), ("w3", self.w3)]
    }

    fn logit_gradient(&self, score_cp: f64, situation: &Situation) -> Option<Vec<f64>> {
        Some(vec![score_cp, -1.0, situation.strength.unwrap_or(0.0)])
    }

    fn sigmoid(&self) -> Option<Sigmoid> {
        Some(Strength::sigmoid(self, 0.0))
    }

    fn formula(&self) -> Option<Formula> {
        Some(Formula::sigmoid(self.w1))
    }

    fn check(&self) -> Result<(), InvalidParameter> {
        InvalidParameter::unless_positive("w1", self.w1)
    }
}

/// Fits w1 and w2 of each engine and one w3 for all of them by maximum likelihood over the cases whose rating
/// difference is known.
fn fit(kind: ModelKind, engines: &[&[Case]], options: &FitOptions) -> Vec<Result<ModelFit, FitError>> {
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
    // all engines are one regression, so all fail together
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
            let covariance = fit.covariance_of([Some(e), Some(e + 1), Some(last as usize)], [SCORE_SCALE, 1.0, 1.0]);
            let cases: Vec<Case> = cases.iter().map(|(c, _)| *c).collect();
            let model = Model::Strength(model);
            // the loss of this engine alone, also in a shared fit
            let mean_loss = mean_log_loss(&model, &cases);
            ModelFit::new(kind, model, covariance, &cases, mean_loss)
        })
        .collect()
}
