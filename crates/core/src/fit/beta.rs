//! Beta calibration of the sigmoid (Kull, Silva Filho and Flach, *Beyond sigmoids*, Electronic Journal of Statistics
//! 2017): logit p = a ln s - b ln(1 - s) + c with s the win rate of the plain sigmoid.
//!
//! With a = b it is a sigmoid again; a above b makes the curve steeper where the engine is behind.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::case::Case;
use super::linear::{Row, regress};
use super::model::{Model, ModelKind};
use super::sigmoid::{Logistic, Sigmoid};
use super::{FitError, FitOptions, Method, ModelFit, ScoreCounts, fit_counts};

/// p(x) = 1/(1 + 1/(eᶜ sᵃ/(1-s)ᵇ)) with s = `base`(x).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "BetaFields", into = "BetaFields")]
#[schemars(
    with = "BetaFields",
    description = "logit of the win rate = a ln s - b ln(1 - s) + c, s = 1 / (1 + exp(-base_w1 x + base_w2))"
)]
pub struct Beta {
    /// The sigmoid that is calibrated, by maximum likelihood.
    pub base: Sigmoid,
    /// Weight of ln s; 0 or more.
    pub a: f64,
    /// Weight of -ln(1 - s); 0 or more.
    pub b: f64,
    /// Offset, in logits.
    pub c: f64,
}

/// The form of [`Beta`] in files.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct BetaFields {
    /// Slope of the sigmoid, per centipawn.
    #[schemars(extend("exclusiveMinimum" = 0))]
    base_w1: f64,
    /// Offset of the sigmoid, in logits.
    base_w2: f64,
    /// Weight of ln s.
    #[schemars(range(min = 0))]
    a: f64,
    /// Weight of -ln(1 - s).
    #[schemars(range(min = 0))]
    b: f64,
    /// Offset, in logits.
    c: f64,
}

impl From<BetaFields> for Beta {
    fn from(BetaFields { base_w1, base_w2, a, b, c }: BetaFields) -> Self {
        Self { base: Sigmoid { w1: base_w1, w2: base_w2 }, a, b, c }
    }
}

impl From<Beta> for BetaFields {
    fn from(Beta { base, a, b, c }: Beta) -> Self {
        Self { base_w1: base.w1, base_w2: base.w2, a, b, c }
    }
}

impl Beta {
    /// The log odds of a score in centipawns.
    pub fn logit(&self, score_cp: f64) -> f64 {
        let [ln_s, minus_ln_rest, _] = self.features(score_cp);
        self.a * ln_s + self.b * minus_ln_rest + self.c
    }

    /// (ln s, -ln(1-s), 1): what a, b and c multiply.
    pub fn features(&self, score_cp: f64) -> [f64; 3] {
        let at = Logistic::at(self.base.logit(score_cp));
        [-at.minus_log_p, at.minus_log_q, 1.0]
    }
}

/// Fits the sigmoid by maximum likelihood, and a, b and c on top of it. A negative a or b, which would turn the curve
/// round, is held at 0 as the authors do, and its covariance is 0.
///
/// The covariance is that of (a, b, c) with the sigmoid taken as known.
///
/// # Errors
/// Every [`FitError`].
pub fn fit_beta(cases: &[Case], options: &FitOptions) -> Result<ModelFit, FitError> {
    let observations: Vec<_> = cases.iter().map(Case::observation).collect();
    let base = fit_counts(Method::MaximumLikelihood, &ScoreCounts::from_observations(&observations), options)?.sigmoid;
    let unit = Beta { base, a: 1.0, b: 1.0, c: 0.0 };
    let features: Vec<[f64; 3]> = cases.iter().map(|c| unit.features(f64::from(c.score_cp))).collect();
    let fit = |active: &[usize]| match *active {
        [i, j, k] => regress(&rows(cases, &features, [i, j, k]), &[1.0, 1.0, 0.0]),
        [i, j] => regress(&rows(cases, &features, [i, j]), &[1.0, 0.0]),
        _ => Err(FitError::SlopeNotPositive { w1: 0.0 }),
    };
    let mut active = vec![0, 1, 2];
    let mut found = fit(&active)?;
    // the more negative one goes first; both cannot
    while let Some(worst) =
        (0..active.len() - 1).filter(|&i| found.at[i] < 0.0).min_by(|a, b| found.at[*a].total_cmp(&found.at[*b]))
    {
        active.remove(worst);
        found = fit(&active)?;
    }
    let place = |i: usize| active.iter().position(|&a| a == i);
    let at = |i: usize| place(i).map_or(0.0, |p| found.at[p]);
    let model = Beta { base, a: at(0), b: at(1), c: at(2) };
    let covariance = found.covariance.as_ref().map(|v| {
        let entry = |i: usize, j: usize| match (place(i), place(j)) {
            (Some(i), Some(j)) => v.at(i.max(j), i.min(j)),
            _ => 0.0,
        };
        (0..3).map(|i| (0..3).map(|j| entry(i, j)).collect()).collect()
    });
    ModelFit::new(ModelKind::Beta, Model::Beta(model), covariance, cases, found.mean_loss)
}

fn rows<const N: usize>(cases: &[Case], features: &[[f64; 3]], active: [usize; N]) -> Vec<Row<N>> {
    let row = |(case, f): (&Case, &[f64; 3])| {
        let mut used = [(0, 0.0); N];
        used.iter_mut().zip(active).enumerate().for_each(|(i, (slot, a))| *slot = (i as u32, f[a]));
        Row { game: case.game, result: case.outcome.value(), features: used }
    };
    cases.iter().zip(features).map(row).collect()
}
