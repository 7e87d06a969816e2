//! What can be asked of a model, whatever its form.

use super::Model;
use super::form::{InvalidParameter, search};
use super::formula::Formula;
use crate::logistic::logit;
use crate::sigmoid::Sigmoid;
use crate::situation::{Reading, Situation, StageUnit};

impl Model {
    /// The logit in one of the two readings.
    pub fn logit_in(&self, reading: Reading, score_cp: f64, situation: &Situation) -> f64 {
        match reading {
            Reading::Field => self.logit(score_cp, situation),
            Reading::Equal => self.equal_logit(score_cp, situation),
        }
    }

    /// The win rate in [0, 1] of a score in centipawns, view of the side to move.
    pub fn win_rate(&self, score_cp: f64, situation: &Situation) -> f64 {
        self.form().win_rate(score_cp, situation)
    }

    /// The score in centipawns that has this win rate; `None` unless 0 < `win_rate` < 1, and where no score has it.
    pub fn score(&self, win_rate: f64, situation: &Situation) -> Option<f64> {
        (win_rate > 0.0 && win_rate < 1.0).then(|| self.form().score(win_rate, situation)).flatten()
    }

    /// The log odds of winning between players of equal strength, or at the rating difference of the situation.
    pub fn equal_logit(&self, score_cp: f64, situation: &Situation) -> f64 {
        self.form().equal_logit(score_cp, situation)
    }

    /// The gradient of the equal logit by the parameters; `None` for models without an interval.
    pub(crate) fn equal_gradient(&self, score_cp: f64, situation: &Situation) -> Option<Vec<f64>> {
        self.form().equal_gradient(score_cp, situation)
    }

    /// The score with this win rate between players of equal strength.
    pub(crate) fn equal_score(&self, win_rate: f64, situation: &Situation) -> Option<f64> {
        let of = |score_cp| self.form().equal_logit(score_cp, situation);
        (win_rate > 0.0 && win_rate < 1.0).then(|| search(of, logit(win_rate))).flatten()
    }

    /// The parameters that the covariance is of, in its order, by their names in files.
    pub fn parameters(&self) -> Vec<(&'static str, f64)> {
        self.form().parameters()
    }

    /// The gradient of the logit by the parameters, for the delta method; `None` for models without an interval.
    pub(crate) fn logit_gradient(&self, score_cp: f64, situation: &Situation) -> Option<Vec<f64>> {
        self.form().logit_gradient(score_cp, situation)
    }

    /// The model as a sigmoid of the score, between equals; `None` for models of another form. Where draws bend the
    /// curve, it is the sigmoid with the same expected result at the score that is worth one logit.
    pub fn sigmoid(&self) -> Option<Sigmoid> {
        self.form().sigmoid()
    }

    /// The win rate between equals as formulas, for source code; `None` for a form that is no formula.
    pub fn formula(&self) -> Option<Formula> {
        self.form().formula()
    }

    /// The plies or the material that the model was fitted to; beyond, the nearest counts.
    pub fn fitted_range(&self) -> Option<(StageUnit, [u32; 2])> {
        self.form().fitted_range()
    }

    /// Refuses parameters that no calibration file may hold.
    ///
    /// # Errors
    /// The first parameter that is out of range.
    pub fn check(&self) -> Result<(), InvalidParameter> {
        self.form().check()
    }
}
