//! Every model of the win rate as one type, and the fit of any of them to the samples of one engine.

use super::beta::{Beta, fit_beta};
use super::case::{Case, Situation};
use super::isotonic::{Isotonic, fit_isotonic};
use super::phase::{Phase, fit_phase};
use super::sigmoid::{Logistic, Sigmoid};
use super::strength::{Strength, fit_strength};
use super::wdl::{StageUnit, Wdl, fit_wdl};
use super::{FitError, FitOptions, MIN_GAMES, Method, ScoreCounts, check_cases, fit_counts};

/// 1/w1 of the sigmoid that shogi programmers share, 600 centipawns (from the program Ponanza).
pub const SHARED_PONANZA_CP: f64 = 600.0;

/// 1/w1 of dlshogi's conversion between win rate and score, its default `Eval_Coef`, in centipawns.
pub const DLSHOGI_PONANZA_CP: f64 = 756.0;

/// The models, baselines first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ModelKind {
    /// Baseline: the mean result, whatever the score.
    Constant,
    /// Baseline: 1/(1 + exp(-x/600)) for every engine.
    Shared600,
    /// Baseline: 1/(1 + exp(-x/756)) for every engine, dlshogi's.
    Dlshogi756,
    /// Baseline: standardised scores z of each engine through one sigmoid for all. Needs all engines.
    SharedZ,
    /// The sigmoid by least squares.
    LeastSquares,
    /// The sigmoid by maximum likelihood.
    MaximumLikelihood,
    /// The sigmoid with the rating difference, w3 of the engine's own.
    Strength,
    /// The sigmoid with the rating difference, one w3 for all engines. Needs all engines.
    StrengthShared,
    /// The sigmoid whose slope depends on the ply.
    Phase,
    /// The rising curve without any form.
    Isotonic,
    /// Beta calibration of the sigmoid.
    Beta,
    /// Wins, draws and losses apart.
    Wdl,
    /// The same, by material.
    WdlMaterial,
}

impl ModelKind {
    /// All kinds, in the order of declaration.
    pub const ALL: [Self; 13] = [
        Self::Constant,
        Self::Shared600,
        Self::Dlshogi756,
        Self::SharedZ,
        Self::LeastSquares,
        Self::MaximumLikelihood,
        Self::Strength,
        Self::StrengthShared,
        Self::Phase,
        Self::Isotonic,
        Self::Beta,
        Self::Wdl,
        Self::WdlMaterial,
    ];

    /// The kinds that others are held against.
    pub const BASELINES: [Self; 4] = [Self::Constant, Self::Shared600, Self::Dlshogi756, Self::SharedZ];

    /// The word in files: `maximum_likelihood`, `shared_600` …
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Constant => "constant",
            Self::Shared600 => "shared_600",
            Self::Dlshogi756 => "dlshogi_756",
            Self::SharedZ => "shared_z",
            Self::LeastSquares => "least_squares",
            Self::MaximumLikelihood => "maximum_likelihood",
            Self::Strength => "strength",
            Self::StrengthShared => "strength_shared",
            Self::Phase => "phase",
            Self::Isotonic => "isotonic",
            Self::Beta => "beta",
            Self::Wdl => "wdl",
            Self::WdlMaterial => "wdl_material",
        }
    }

    /// The kind of that word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }

    /// Is it a yardstick, not a calibration?
    pub fn is_baseline(self) -> bool {
        Self::BASELINES.contains(&self)
    }

    /// The method of the plain sigmoids; `None` of other kinds.
    pub fn method(self) -> Option<Method> {
        match self {
            Self::LeastSquares => Some(Method::LeastSquares),
            Self::MaximumLikelihood => Some(Method::MaximumLikelihood),
            _ => None,
        }
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

/// A model with its parameters: what turns a score and its situation into a win rate.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Model {
    /// The same win rate, in (0, 1), for every score.
    Constant(f64),
    /// The plain sigmoid.
    Sigmoid(Sigmoid),
    /// The sigmoid with the rating difference.
    Strength(Strength),
    /// The sigmoid whose slope depends on the ply.
    Phase(Phase),
    /// The rising curve without any form.
    Isotonic(Isotonic),
    /// Beta calibration of the sigmoid.
    Beta(Beta),
    /// Wins, draws and losses apart.
    Wdl(Wdl),
}

impl Model {
    /// The log odds of winning at a score in centipawns, view of the side to move; a draw counts half a win.
    pub fn logit(&self, score_cp: f64, situation: &Situation) -> f64 {
        match self {
            Self::Constant(rate) => logit_of(*rate),
            Self::Sigmoid(sigmoid) => sigmoid.logit(score_cp),
            Self::Strength(model) => model.sigmoid(situation.strength.unwrap_or(0.0)).logit(score_cp),
            Self::Phase(model) => model.sigmoid(situation.ply).logit(score_cp),
            Self::Isotonic(curve) => logit_of(curve.win_rate(score_cp)),
            Self::Beta(model) => model.logit(score_cp),
            Self::Wdl(model) => model.logit(score_cp, situation),
        }
    }

    /// The win rate in [0, 1] of a score in centipawns, view of the side to move.
    pub fn win_rate(&self, score_cp: f64, situation: &Situation) -> f64 {
        match self {
            // not through the logit: the same bits as the type itself gives
            Self::Constant(rate) => *rate,
            Self::Isotonic(curve) => curve.win_rate(score_cp),
            other => Logistic::at(other.logit(score_cp, situation)).p,
        }
    }

    /// The score in centipawns that has this win rate; `None` unless 0 < `win_rate` < 1, and where no score has it.
    pub fn score(&self, win_rate: f64, situation: &Situation) -> Option<f64> {
        if !(win_rate > 0.0 && win_rate < 1.0) {
            return None;
        }
        match self {
            Self::Constant(_) => None,
            Self::Sigmoid(sigmoid) => sigmoid.score(win_rate),
            Self::Strength(model) => model.sigmoid(situation.strength.unwrap_or(0.0)).score(win_rate),
            Self::Phase(model) => model.sigmoid(situation.ply).score(win_rate),
            Self::Isotonic(curve) => curve.score(win_rate),
            Self::Beta(_) | Self::Wdl(_) => self.search(logit_of(win_rate), situation),
        }
    }

    /// The score with this logit by bisection, for models that rise but have no inverse in closed form.
    fn search(&self, logit: f64, situation: &Situation) -> Option<f64> {
        let (mut low, mut high) = (-1.0, 1.0);
        while self.logit(low, situation) > logit {
            low *= 2.0;
            if low < -1e9 {
                return None;
            }
        }
        while self.logit(high, situation) < logit {
            high *= 2.0;
            if high > 1e9 {
                return None;
            }
        }
        // 100 halvings are more than a double has bits
        for _ in 0..100 {
            let middle = 0.5 * (low + high);
            if self.logit(middle, situation) < logit { low = middle } else { high = middle }
        }
        Some(0.5 * (low + high))
    }

    /// The parameters that [`ModelFit::covariance`] speaks of, in its order, by their names in files.
    pub fn parameters(&self) -> Vec<(&'static str, f64)> {
        match self {
            Self::Constant(rate) => vec![("win_rate", *rate)],
            Self::Sigmoid(Sigmoid { w1, w2 }) => vec![("w1", *w1), ("w2", *w2)],
            Self::Strength(Strength { w1, w2, w3 }) => vec![("w1", *w1), ("w2", *w2), ("w3", *w3)],
            Self::Phase(m) => vec![("w1", m.w1), ("w2", m.w2), ("w1_per_ply", m.w1_per_ply)],
            Self::Isotonic(_) => Vec::new(),
            Self::Beta(m) => vec![("a", m.a), ("b", m.b), ("c", m.c)],
            Self::Wdl(m) => {
                let names = ["a0", "a1", "a2", "a3", "b0", "b1", "b2", "b3"];
                names.into_iter().zip(m.a.into_iter().chain(m.b)).collect()
            }
        }
    }

    /// The gradient of the logit by the parameters, for the delta method; `None` of models without a covariance.
    pub fn logit_gradient(&self, score_cp: f64, situation: &Situation) -> Option<Vec<f64>> {
        match self {
            Self::Constant(_) | Self::Isotonic(_) | Self::Wdl(_) => None,
            Self::Sigmoid(_) => Some(vec![score_cp, -1.0]),
            Self::Strength(_) => Some(vec![score_cp, -1.0, situation.strength.unwrap_or(0.0)]),
            Self::Phase(m) => Some(vec![score_cp, -1.0, score_cp * m.distance(situation.ply)]),
            Self::Beta(m) => Some(m.features(score_cp).to_vec()),
        }
    }
}

/// The log odds of a win rate, finite also for 0 and 1.
fn logit_of(rate: f64) -> f64 {
    libm::log(rate.max(f64::MIN_POSITIVE)) - libm::log((1.0 - rate).max(f64::MIN_POSITIVE))
}

/// A model fitted to the samples of one engine.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelFit {
    /// Which model.
    pub kind: ModelKind,
    /// The model with its parameters.
    pub model: Model,
    /// Covariance of [`Model::parameters`], clustered by game; `None` of models without.
    pub covariance: Option<Vec<Vec<f64>>>,
    /// Samples fitted.
    pub samples: u64,
    /// Games that gave those samples.
    pub games: u64,
    /// Mean negative log likelihood per sample in nats; of least squares the mean squared error.
    pub mean_loss: f64,
}

impl ModelFit {
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
        Ok(Self { kind, model, covariance, samples: cases.len() as u64, games, mean_loss })
    }

    /// Standard errors of [`Model::parameters`], clustered by game.
    pub fn standard_errors(&self) -> Option<Vec<f64>> {
        self.covariance
            .as_ref()
            .map(|v| v.iter().enumerate().filter_map(|(i, row)| Some(row.get(i)?.max(0.0).sqrt())).collect())
    }
}

/// Fits one model to the samples of one engine. The kinds that need all engines ([`ModelKind::SharedZ`],
/// [`ModelKind::StrengthShared`]) take this one for all; see `validate::fit_engines`.
///
/// # Errors
/// Every [`FitError`].
pub fn fit_model(kind: ModelKind, cases: &[Case], options: &FitOptions) -> Result<ModelFit, FitError> {
    let plain = |model: Model| -> Result<ModelFit, FitError> {
        check_cases(cases, options.min_samples)?;
        let loss = |c: &Case| {
            let at = Logistic::at(model.logit(f64::from(c.score_cp), &c.situation));
            let y = c.outcome.value();
            y * at.minus_log_p + (1.0 - y) * at.minus_log_q
        };
        let mean_loss = cases.iter().map(loss).sum::<f64>() / cases.len() as f64;
        ModelFit::new(kind, model, None, cases, mean_loss)
    };
    let constant_slope = |ponanza: f64| plain(Model::Sigmoid(Sigmoid { w1: 1.0 / ponanza, w2: 0.0 }));
    match kind {
        ModelKind::Constant => {
            let mean = cases.iter().map(|c| c.outcome.value()).sum::<f64>() / cases.len().max(1) as f64;
            plain(Model::Constant(mean))
        }
        ModelKind::Shared600 => constant_slope(SHARED_PONANZA_CP),
        ModelKind::Dlshogi756 => constant_slope(DLSHOGI_PONANZA_CP),
        ModelKind::LeastSquares => sigmoid(Method::LeastSquares, cases, options),
        // standardising the scores of one engine changes no likelihood
        ModelKind::MaximumLikelihood | ModelKind::SharedZ => sigmoid(Method::MaximumLikelihood, cases, options),
        ModelKind::Strength | ModelKind::StrengthShared => fit_strength(cases, options),
        ModelKind::Phase => fit_phase(cases, options),
        ModelKind::Isotonic => fit_isotonic(cases, options),
        ModelKind::Beta => fit_beta(cases, options),
        ModelKind::Wdl => fit_wdl(StageUnit::Ply, cases, options),
        ModelKind::WdlMaterial => fit_wdl(StageUnit::Material, cases, options),
    }
    .map(|fit| ModelFit { kind, ..fit })
}

/// The plain sigmoid without its covariance, which [`super::FitData::fit`] gives.
fn sigmoid(method: Method, cases: &[Case], options: &FitOptions) -> Result<ModelFit, FitError> {
    let observations: Vec<_> = cases.iter().map(Case::observation).collect();
    let point = fit_counts(method, &ScoreCounts::from_observations(&observations), options)?;
    ModelFit::new(method.into(), Model::Sigmoid(point.sigmoid), None, cases, point.mean_loss)
}
