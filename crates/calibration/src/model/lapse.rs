//! The sigmoid with lapses: p = lapse + (1 - 2 lapse) σ(w1 x - w2), as psychometric functions have it (Wichmann and
//! Hill, *The psychometric function*, Perception & Psychophysics 2001).
//!
//! Some results follow no score: losses on time, crashes, games that were cut. The plain sigmoid by maximum likelihood
//! flattens until it can explain them; here they have a share of their own.

use serde::{Deserialize, Serialize};

use super::definition::Definition;
use super::form::{Form, InvalidParameter};
use super::formula::Formula;
use crate::logistic::{Logistic, logit};
use crate::sigmoid::Sigmoid;
use crate::situation::Situation;

pub(super) static LAPSE: Definition = Definition {
    name: "lapse",
    label: "sigmoid with lapses",
    summary: "The sigmoid with one share of results that follow no score, such as losses on time",
    rank: Some(2),
    lapses: true,
    ..Definition::BASELINE
};

/// p = lapse + (1 - 2 lapse) / (1 + exp(-w1 x + w2)).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Lapse {
    /// Slope, per centipawn.
    #[cfg_attr(test, schemars(extend("exclusiveMinimum" = 0)))]
    pub w1: f64,
    /// Offset, in logits; the sign of Takeuchi 2018.
    pub w2: f64,
    /// Share of games won, and of games lost, whatever the score: the win rate of a hopeless position.
    #[cfg_attr(test, schemars(range(min = 0)))]
    pub lapse: f64,
}

impl Lapse {
    fn lapses(&self) -> [f64; 2] {
        [self.lapse; 2]
    }
}

/// The log odds of `low` + (1 - `low` - `high`) σ(z).
pub(super) fn logit_with(z: f64, [low, high]: [f64; 2]) -> f64 {
    if low == 0.0 && high == 0.0 {
        return z;
    }
    let (at, slope) = (Logistic::at(z), 1.0 - low - high);
    log_share(low + slope * at.p) - log_share(high + slope * at.q)
}

/// The logarithm of a share, which may have rounded to 0. `max` would take NaN for the smallest number.
fn log_share(share: f64) -> f64 {
    libm::log(if share < f64::MIN_POSITIVE { f64::MIN_POSITIVE } else { share })
}

/// The derivatives of [`logit_with`] by z and the two shares.
pub(super) fn logit_gradient(z: f64, [low, high]: [f64; 2]) -> [f64; 3] {
    let (at, slope) = (Logistic::at(z), 1.0 - low - high);
    let of_both = ((low + slope * at.p) * (high + slope * at.q)).max(f64::MIN_POSITIVE);
    [slope * at.p * at.q / of_both, at.q / of_both, -at.p / of_both]
}

pub(super) fn check_lapse(share: f64) -> Result<(), InvalidParameter> {
    if (0.0..0.5).contains(&share) {
        return Ok(());
    }
    Err(InvalidParameter::new("lapse", format!("expected a share from 0 to below 0.5, found {share}")))
}

impl Form for Lapse {
    fn logit(&self, score_cp: f64, _: &Situation) -> f64 {
        logit_with(self.w1 * score_cp - self.w2, self.lapses())
    }

    fn equal_logit(&self, score_cp: f64, _: &Situation) -> f64 {
        logit_with(self.w1 * score_cp, self.lapses())
    }

    fn score(&self, win_rate: f64, _: &Situation) -> Option<f64> {
        let share = (win_rate - self.lapse) / (1.0 - 2.0 * self.lapse);
        (share > 0.0 && share < 1.0).then(|| (logit(share) + self.w2) / self.w1)
    }

    fn parameters(&self) -> Vec<(&'static str, f64)> {
        vec![("w1", self.w1), ("w2", self.w2), ("lapse", self.lapse)]
    }

    fn logit_gradient(&self, score_cp: f64, _: &Situation) -> Option<Vec<f64>> {
        let [z, low, high] = logit_gradient(self.w1 * score_cp - self.w2, self.lapses());
        Some(vec![z * score_cp, -z, low + high])
    }

    fn equal_gradient(&self, score_cp: f64, _: &Situation) -> Option<Vec<f64>> {
        let [z, low, high] = logit_gradient(self.w1 * score_cp, self.lapses());
        Some(vec![z * score_cp, 0.0, low + high])
    }

    fn sigmoid(&self) -> Option<Sigmoid> {
        Some(Sigmoid { w1: self.w1, w2: self.w2 })
    }

    fn formula(&self) -> Option<Formula> {
        Some(Formula::lapse(self.w1, self.lapse))
    }

    fn check(&self) -> Result<(), InvalidParameter> {
        check_lapse(self.lapse)?;
        InvalidParameter::unless_positive("w1", self.w1)
    }
}
