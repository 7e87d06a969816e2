//! What the list holds of each model, and the fit of any of them.

use std::sync::Arc;

use super::super::case::{Case, Reading, Situation};
use super::super::{FitError, FitOptions, MIN_GAMES, Method, share_interval};
use super::form::InvalidParameter;
use super::{Model, ModelKind, Strengths};
use crate::normal::quantile_95;
use crate::parallel;

/// What a model must know of a sample beyond the score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Needs {
    /// The rating difference of the players.
    pub rating: bool,
    /// The ply.
    pub ply: bool,
    /// The material on the board.
    pub material: bool,
}

impl Needs {
    pub(super) const NONE: Self = Self { rating: false, ply: false, material: false };
}

/// An entry of the list of models.
pub(crate) struct Definition {
    /// The name in files; with hyphens the value of `--model`.
    pub name: &'static str,
    /// Short names that `--model` accepts too.
    pub aliases: &'static [&'static str],
    /// A few words for reports.
    pub label: &'static str,
    /// One sentence for help texts.
    pub summary: &'static str,
    /// The form of the model in calibration files; `None` for a baseline, which no file holds.
    pub form: Option<fn() -> &'static str>,
    /// The place from simple to flexible. Of several models that are equally good `--model auto` takes the lowest.
    pub rank: u8,
    /// Whether it is for chess alone, or for everything but chess; `None` for both.
    pub chess: Option<bool>,
    /// Whether a diagnosis scores the model although it is not the chosen one.
    pub diagnosed: bool,
    /// What it must know of a sample.
    pub needs: Needs,
    /// Whether it has a share of results that follow no score.
    pub lapses: bool,
    /// Whether the calibration file may hold these parameters under the model's name, beyond [`Model::check`].
    pub accepts: fn(ModelKind, &Model) -> Result<(), InvalidParameter>,
    /// How it is fitted.
    pub fit: Fitter,
}
/// Fits one model to the samples of several engines, one result per engine.
type FitAll = fn(ModelKind, &[&[Case]], &FitOptions) -> Vec<Result<ModelFit, FitError>>;

/// How a model is fitted.
pub(crate) enum Fitter {
    /// To each engine separately.
    Each(fn(ModelKind, &[Case], &FitOptions) -> Result<ModelFit, FitError>),
    /// To all engines at once. An engine without a fit does not stop the others.
    All(FitAll),
}

impl Definition {
    /// A baseline that knows the score alone; the entries change what differs.
    pub const BASELINE: Self = Self {
        name: "",
        aliases: &[],
        label: "",
        summary: "",
        form: None,
        rank: 0,
        chess: None,
        diagnosed: true,
        needs: Needs::NONE,
        lapses: false,
        accepts: |_, _| Ok(()),
        fit: Fitter::All(|_, _, _| Vec::new()),
    };
}

/// Defines [`ModelKind`] from the list of models.
macro_rules! kinds {
    ($($kind:ident = $definition:path),+ $(,)?) => {
        /// The models, baselines first.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum ModelKind {
            $(#[doc = concat!("The model of `", stringify!($definition), "`.")] $kind),+
        }

        impl ModelKind {
            /// All models, in the order of the list.
            pub const ALL: &'static [Self] = &[$(Self::$kind),+];

            pub(super) fn definition(self) -> &'static kind::Definition {
                match self { $(Self::$kind => &$definition),+ }
            }
        }
    };
}

impl ModelKind {
    /// The models that others are compared with, in the order of the list.
    pub fn baselines() -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied().filter(|kind| kind.is_baseline())
    }

    /// Whether the model makes sense for chess, or for other games.
    pub fn is_for(self, chess: bool) -> bool {
        self.definition().chess.is_none_or(|only| only == chess)
    }

    /// The models that a calibration can have, in the order of the list.
    pub fn calibrations() -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied().filter(|kind| !kind.is_baseline())
    }

    /// The candidates of `--model auto`: maximum likelihood first, the others from simple to flexible.
    pub fn candidates() -> Vec<Self> {
        let mut kinds: Vec<Self> = Self::calibrations().collect();
        kinds.sort_by_key(|kind| (*kind != Self::MaximumLikelihood, kind.definition().rank));
        kinds
    }

    /// The models that every diagnosis scores: baselines first, the others from simple to flexible.
    pub fn diagnosed() -> Vec<Self> {
        let mut kinds: Vec<Self> = Self::ALL.iter().copied().filter(|kind| kind.definition().diagnosed).collect();
        kinds.sort_by_key(|kind| kind.definition().rank);
        kinds
    }

    /// The name in files: `maximum_likelihood`, `shared_600` …
    pub fn as_str(self) -> &'static str {
        self.definition().name
    }

    /// Short names that `--model` accepts too.
    pub fn aliases(self) -> &'static [&'static str] {
        self.definition().aliases
    }

    /// A few words for reports.
    pub fn label(self) -> &'static str {
        self.definition().label
    }

    /// One sentence for help texts.
    pub fn summary(self) -> &'static str {
        self.definition().summary
    }

    /// The model with that name in files.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.as_str() == name)
    }

    /// Whether others are compared with it, and no calibration has it.
    pub fn is_baseline(self) -> bool {
        self.definition().form.is_none()
    }

    /// `kind` of the model in calibration files; `None` for a baseline.
    pub fn form_name(self) -> Option<&'static str> {
        self.definition().form.map(|name| name())
    }

    /// Whether it has a share of results that follow no score.
    pub fn allows_lapses(self) -> bool {
        self.definition().lapses
    }

    /// What it must know of a sample beyond the score.
    pub fn needs(self) -> Needs {
        self.definition().needs
    }

    /// The method of the plain sigmoids; `None` for other models.
    pub fn method(self) -> Option<Method> {
        Method::ALL.into_iter().find(|method| Self::from(*method) == self)
    }

    /// Whether a calibration file may hold these parameters under the name of this model.
    ///
    /// # Errors
    /// Field `kind` where the parameters are of another form; else the first parameter that is out of range.
    pub fn check(self, model: &Model) -> Result<(), InvalidParameter> {
        let (found, expected) = (model.form_name(), self.definition().form.map_or("none", |name| name()));
        if found != expected {
            let problem = format!("a model of kind {found:?}, but {self} is of kind {expected:?}");
            return Err(InvalidParameter::new("kind", problem));
        }
        model.check()?;
        (self.definition().accepts)(self, model)
    }
}

impl std::fmt::Display for ModelKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl serde::Serialize for ModelKind {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl From<Method> for ModelKind {
    fn from(method: Method) -> Self {
        match method {
            Method::LeastSquares => Self::LeastSquares,
            Method::MaximumLikelihood => Self::MaximumLikelihood,
        }
    }
}

/// A model fitted to the samples of one engine.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelFit {
    /// Which model.
    pub kind: ModelKind,
    /// The model with its parameters.
    pub model: Model,
    /// Covariance of [`Model::parameters`], clustered by game; `None` for models without.
    pub covariance: Option<Vec<Vec<f64>>>,
    /// Samples fitted.
    pub samples: u64,
    /// Games of those samples.
    pub games: u64,
    /// Mean negative log likelihood per sample in nats; for least squares the mean squared error.
    pub mean_loss: f64,
    /// The strengths of the players, where the model was fitted with them.
    pub strengths: Option<Arc<Strengths>>,
}

impl ModelFit {
    /// The log odds of winning in a reading, in a situation of the same players: as [`Model::logit`] and
    /// [`Model::equal_logit`], with the players' strengths where these were fitted.
    pub fn logit(&self, reading: Reading, score_cp: f64, situation: &Situation) -> f64 {
        match (&self.strengths, &self.model) {
            (Some(s), Model::Joint(joint)) => joint.against(reading, score_cp, s.advantage(situation)),
            _ => self.model.logit_in(reading, score_cp, situation),
        }
    }

    pub(super) fn new(
        kind: ModelKind,
        model: Model,
        covariance: Option<Vec<Vec<f64>>>,
        cases: &[Case],
        mean_loss: f64,
    ) -> Result<Self, FitError> {
        let mut ids: Vec<u64> = cases.iter().map(|c| c.game).collect();
        ids.sort_unstable();
        ids.dedup();
        let games = ids.len() as u64;
        if games < MIN_GAMES {
            return Err(FitError::TooFewGames { have: games, need: MIN_GAMES });
        }
        Ok(Self { kind, model, covariance, samples: cases.len() as u64, games, mean_loss, strengths: None })
    }

    /// A fit without a covariance whose loss is the mean log loss of the model.
    pub(super) fn without_covariance(kind: ModelKind, model: Model, cases: &[Case]) -> Result<Self, FitError> {
        let mean_loss = mean_log_loss(&model, cases);
        Self::new(kind, model, None, cases, mean_loss)
    }

    /// 95% intervals of [`Model::parameters`], clustered by game; `None` for models without a covariance. That of a
    /// share of lapses is made on the logit, so that it lies between 0 and 1; `None` where it would say nothing.
    pub fn intervals(&self) -> Option<Vec<Option<(f64, f64)>>> {
        let quantile = quantile_95(self.games);
        let around = |((name, value), error): ((&str, f64), f64)| {
            let half = quantile * error;
            if !name.starts_with("lapse") || half == 0.0 {
                return Some((value - half, value + half));
            }
            let half = half / (value * (1.0 - value));
            (half < WIDEST_LOGIT).then(|| share_interval(value, half).into())
        };
        Some(self.model.parameters().into_iter().zip(self.standard_errors()?).map(around).collect())
    }

    /// Standard errors of [`Model::parameters`], clustered by game.
    pub fn standard_errors(&self) -> Option<Vec<f64>> {
        self.covariance
            .as_ref()
            .map(|v| v.iter().enumerate().filter_map(|(i, row)| Some(row.get(i)?.max(0.0).sqrt())).collect())
    }
}

/// An interval of a share that reaches further than this on the logit says nothing.
const WIDEST_LOGIT: f64 = 4.0;

/// Mean negative log likelihood of the outcomes, a draw half of either side.
pub(super) fn mean_log_loss(model: &Model, cases: &[Case]) -> f64 {
    let loss =
        |c: &Case| super::super::sigmoid::log_loss(model.logit(f64::from(c.score_cp), &c.situation), c.outcome.value());
    cases.iter().map(loss).sum::<f64>() / cases.len() as f64
}

/// Fits one model to the samples of one engine. Models that are fitted to all engines at once take this one for all;
/// see [`fit_engines`].
///
/// # Errors
/// Every [`FitError`].
pub fn fit_model(kind: ModelKind, cases: &[Case], options: &FitOptions) -> Result<ModelFit, FitError> {
    let none = Err(FitError::TooFewSamples { have: 0, need: options.min_samples });
    fit_engines(kind, &[cases], options).pop().unwrap_or(none)
}

/// Fits a model to each engine, or to all engines at once where the model is shared. An engine without a fit does not
/// stop the others.
pub fn fit_engines(kind: ModelKind, engines: &[&[Case]], options: &FitOptions) -> Vec<Result<ModelFit, FitError>> {
    match kind.definition().fit {
        Fitter::Each(fit) => parallel::map(engines.len(), |e| fit(kind, engines[e], options)),
        Fitter::All(fit) => fit(kind, engines, options),
    }
}
