//! What every form of a model provides, and [`Model`], which holds a form with its parameters.

use super::super::case::Situation;
use super::super::sigmoid::{Logistic, Sigmoid};
use super::formula::Formula;
use super::wdl::StageUnit;

/// A parameter that no calibration file may have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {problem}")]
pub struct InvalidParameter {
    /// Name of the parameter in the calibration file.
    pub field: &'static str,
    /// What is wrong with its value.
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
    /// `kind` of the form in the calibration file.
    fn name() -> &'static str
    where
        Self: Sized;

    /// The log odds of winning at a score in centipawns.
    fn logit(&self, score_cp: f64, situation: &Situation) -> f64;

    /// The log odds between players of equal strength: what is left of the logit when a score and its mirror image
    /// are held against each other, plus what a known rating difference adds.
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
        Logistic::at(self.logit(score_cp, situation)).p
    }

    /// The score with a win rate in (0, 1); by bisection unless the form has a closed inverse.
    fn score(&self, win_rate: f64, situation: &Situation) -> Option<f64> {
        search(|score_cp| self.logit(score_cp, situation), logit_of(win_rate))
    }

    /// Number of parameters of the covariance; 0 without one.
    fn size() -> usize
    where
        Self: Sized;

    /// Names and values of the parameters, in the order of the covariance.
    fn parameters(&self) -> Vec<(&'static str, f64)>;

    /// The gradient of the logit by the parameters; `None` without an interval.
    fn logit_gradient(&self, _score_cp: f64, _situation: &Situation) -> Option<Vec<f64>> {
        None
    }

    /// The sigmoid of the score that the form is between equals; `None` for other forms. Exports use it.
    fn sigmoid(&self) -> Option<Sigmoid> {
        None
    }

    /// The win rate between equals as formulas; `None` for a form that is no formula. Exports use it.
    fn formula(&self) -> Option<Formula> {
        None
    }

    /// The plies or the material that the form was fitted to, from the least to the most; beyond, it is that of the
    /// nearest. `None` for a form that uses neither.
    fn fitted_range(&self) -> Option<(StageUnit, [u32; 2])> {
        None
    }

    /// Whether a calibration file may hold these parameters.
    fn check(&self) -> Result<(), InvalidParameter>;
}

/// Defines [`Model`] from the list of forms.
macro_rules! forms {
    ($($form:ident),+ $(,)?) => {
        /// A model with its parameters: what turns a score and its situation into a win rate.
        #[derive(Debug, Clone, PartialEq, serde::Serialize)]
        #[serde(untagged)]
        #[non_exhaustive]
        pub enum Model {
            $(#[doc = concat!("See [`", stringify!($form), "`].")] $form($form)),+
        }

        impl Model {
            fn form(&self) -> &dyn Form {
                match self { $(Self::$form(form) => form),+ }
            }

            /// `kind` of the model in the calibration file: `sigmoid`, `strength` …
            pub fn form_name(&self) -> &'static str {
                match self { $(Self::$form(_) => <$form as Form>::name()),+ }
            }

            /// The name of each form, the JSON Schema of its parameters, and the size of its covariance.
            pub(crate) fn schemas(
                generator: &mut schemars::SchemaGenerator,
            ) -> Vec<(&'static str, schemars::Schema, usize)> {
                vec![$((
                    <$form as Form>::name(),
                    <$form as schemars::JsonSchema>::json_schema(generator),
                    <$form as Form>::size(),
                )),+]
            }

            /// The log odds of winning at a score in centipawns, view of the side to move; a draw counts half a win.
            pub fn logit(&self, score_cp: f64, situation: &Situation) -> f64 {
                match self { $(Self::$form(form) => Form::logit(form, score_cp, situation)),+ }
            }

            /// The logit in one of the two readings.
            pub fn logit_in(&self, reading: $crate::fit::Reading, score_cp: f64, situation: &Situation) -> f64 {
                match reading {
                    $crate::fit::Reading::Field => self.logit(score_cp, situation),
                    $crate::fit::Reading::Equal => self.equal_logit(score_cp, situation),
                }
            }

            /// Reads the parameters of the form with that name, without [`Model::check`]; `None` for an unknown name.
            ///
            /// # Errors
            /// Fields that the form does not have, missing ones, and values of another type.
            pub fn deserialize_form<'de, D: serde::Deserializer<'de>>(
                name: &str,
                fields: D,
            ) -> Option<Result<Self, D::Error>> {
                $(if name == <$form as Form>::name() {
                    return Some(<$form as serde::Deserialize>::deserialize(fields).map(Self::$form));
                })+
                None
            }
        }
    };
}

impl super::Model {
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
    pub fn equal_gradient(&self, score_cp: f64, situation: &Situation) -> Option<Vec<f64>> {
        self.form().equal_gradient(score_cp, situation)
    }

    /// The score with this win rate between players of equal strength.
    pub fn equal_score(&self, win_rate: f64, situation: &Situation) -> Option<f64> {
        let of = |score_cp| self.form().equal_logit(score_cp, situation);
        (win_rate > 0.0 && win_rate < 1.0).then(|| search(of, logit_of(win_rate))).flatten()
    }

    /// The parameters that the covariance is of, in its order, by their names in files.
    pub fn parameters(&self) -> Vec<(&'static str, f64)> {
        self.form().parameters()
    }

    /// The gradient of the logit by the parameters, for the delta method; `None` for models without an interval.
    pub fn logit_gradient(&self, score_cp: f64, situation: &Situation) -> Option<Vec<f64>> {
        self.form().logit_gradient(score_cp, situation)
    }

    /// The model as a sigmoid of the score, between equals; `None` for models of another form.
    pub fn sigmoid(&self) -> Option<Sigmoid> {
        self.form().sigmoid()
    }

    /// The win rate between equals as formulas, for source code; `None` for a form that is no formula.
    pub fn formula(&self) -> Option<Formula> {
        self.form().formula()
    }

    /// The plies or the material that the model was fitted to; beyond, its win rates are those of the nearest.
    pub fn fitted_range(&self) -> Option<(StageUnit, [u32; 2])> {
        self.form().fitted_range()
    }

    /// Whether a calibration file may hold these parameters.
    ///
    /// # Errors
    /// The first parameter that is out of range.
    pub fn check(&self) -> Result<(), InvalidParameter> {
        self.form().check()
    }
}

/// The log odds of a win rate, finite also for 0 and 1.
pub(super) fn logit_of(rate: f64) -> f64 {
    libm::log(rate.max(f64::MIN_POSITIVE)) - libm::log((1.0 - rate).max(f64::MIN_POSITIVE))
}

/// The score at which a rising function has the value `logit`, by bisection.
fn search(of: impl Fn(f64) -> f64, logit: f64) -> Option<f64> {
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
