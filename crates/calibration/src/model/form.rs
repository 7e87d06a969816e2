//! What every form of a model provides, and [`Model`], which holds a form with its parameters.

use super::formula::Formula;
use crate::logistic::{logistic, logit};
use crate::sigmoid::Sigmoid;
use crate::situation::{Situation, StageUnit};

/// A parameter that no calibration file may have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {problem}")]
pub struct InvalidParameter {
    /// Name of the parameter in the calibration file.
    pub field: &'static str,
    /// The problem, with the value found.
    pub problem: String,
}

impl InvalidParameter {
    pub(super) fn new(field: &'static str, problem: impl Into<String>) -> Self {
        Self { field, problem: problem.into() }
    }

    /// Refuses a parameter unless it is above 0.
    pub(super) fn unless_positive(field: &'static str, value: f64) -> Result<(), Self> {
        if value > 0.0 { Ok(()) } else { Err(Self::new(field, format!("expected a number above 0, found {value}"))) }
    }

    /// Refuses a range whose ends are the wrong way round.
    pub(super) fn unless_ascending(low: (&'static str, u32), high: (&'static str, u32)) -> Result<(), Self> {
        if low.1 <= high.1 {
            return Ok(());
        }
        Err(Self::new(low.0, format!("{} {} is above {} {}", low.0, low.1, high.0, high.1)))
    }
}

/// Logits beyond which a win rate is 0 or 1 in doubles.
const LARGEST_LOGIT: f64 = 700.0;

/// A function of the score and the situation, with its parameters. Its serde fields are those of the calibration file.
pub(crate) trait Form {
    /// The log odds of winning at a score in centipawns.
    fn logit(&self, score_cp: f64, situation: &Situation) -> f64;

    /// The log odds between players of equal strength: the odd part of the logit, (f(x) - f(-x))/2, plus the effect of
    /// a known rating difference.
    fn equal_logit(&self, score_cp: f64, situation: &Situation) -> f64 {
        let bounded = |x: f64, s: &Situation| self.logit(x, s).clamp(-LARGEST_LOGIT, LARGEST_LOGIT);
        let equals = Situation { strength: Some(0.0), ..*situation };
        let odd = 0.5 * (bounded(score_cp, &equals) - bounded(-score_cp, &equals));
        match situation.strength {
            Some(d) if d != 0.0 => odd + bounded(score_cp, situation) - bounded(score_cp, &equals),
            _ => odd,
        }
    }

    /// The gradient of the equal logit by the parameters; `None` without an interval.
    fn equal_gradient(&self, score_cp: f64, situation: &Situation) -> Option<Vec<f64>> {
        let equals = Situation { strength: Some(0.0), ..*situation };
        let (here, mirrored) = (self.logit_gradient(score_cp, &equals)?, self.logit_gradient(-score_cp, &equals)?);
        let (with, without) = (self.logit_gradient(score_cp, situation)?, self.logit_gradient(score_cp, &equals)?);
        let shift = |i: usize| if situation.strength.is_some() { with[i] - without[i] } else { 0.0 };
        Some(here.iter().zip(&mirrored).enumerate().map(|(i, (a, b))| 0.5 * (a - b) + shift(i)).collect())
    }

    /// The win rate of a score in centipawns.
    fn win_rate(&self, score_cp: f64, situation: &Situation) -> f64 {
        logistic(self.logit(score_cp, situation))
    }

    /// The score with a win rate in (0, 1); by bisection unless the form has a closed inverse.
    fn score(&self, win_rate: f64, situation: &Situation) -> Option<f64> {
        search(|score_cp| self.logit(score_cp, situation), logit(win_rate))
    }

    /// Names and values of the parameters, in the order of the covariance.
    fn parameters(&self) -> Vec<(&'static str, f64)>;

    /// The gradient of the logit by the parameters; `None` without an interval.
    fn logit_gradient(&self, _score_cp: f64, _situation: &Situation) -> Option<Vec<f64>> {
        None
    }

    /// The sigmoid of the score that the form is between equals, or that crosses it at one logit where draws bend the
    /// form; `None` for other forms. Exports use it.
    fn sigmoid(&self) -> Option<Sigmoid> {
        None
    }

    /// The win rate between equals as formulas; `None` for a form that is no formula. Exports use it.
    fn formula(&self) -> Option<Formula> {
        None
    }

    /// The plies or the material that the form was fitted to, from the least to the most; beyond, the nearest
    /// counts. `None` for a form that uses neither.
    fn fitted_range(&self) -> Option<(StageUnit, [u32; 2])> {
        None
    }

    /// Refuses parameters that no calibration file may hold.
    fn check(&self) -> Result<(), InvalidParameter>;
}

/// The score at which a rising function has the value `logit`, by bisection.
pub(super) fn search(of: impl Fn(f64) -> f64, logit: f64) -> Option<f64> {
    let (mut low, mut high) = (-1.0, 1.0);
    while of(low) > logit {
        low *= 2.0;
        if low < -1e9 {
            return None;
        }
    }
    while of(high) < logit {
        high *= 2.0;
        if high > 1e9 {
            return None;
        }
    }
    // 100 halvings are more than a double has bits
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if of(middle) < logit { low = middle } else { high = middle }
    }
    Some(0.5 * (low + high))
}
