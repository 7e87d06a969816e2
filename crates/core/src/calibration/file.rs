//! The calibration file, version 1, as types. The order of fields here is their order in the file.
//!
//! All scores are centipawns in the view of the side to move. An `Option` is a field that must stand in the
//! file and may be `null`: published coefficients come without covariance, curve or samples.

use std::collections::BTreeMap;

use serde::Serialize;

pub use crate::fit::{Method, Model, ModelKind, Situation};
use crate::fit::{ModelFit, Sigmoid};
pub use crate::validate::Estimate;

/// The value of `format` in every calibration file.
pub const FORMAT: &str = "evalcurve-calibration";
/// The version that this program writes, and the only one that it reads.
pub const VERSION: u32 = 1;

/// The calibration of one engine.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Calibration {
    /// Whose scores these are.
    pub engine: Engine,
    /// The unit of every score in the file.
    pub score_unit: ScoreUnit,
    /// The model that turns a score into a win rate: one of `models`, named by its method.
    pub model: ChosenModel,
    /// Every fitted model by its kind, the chosen one among them.
    pub models: BTreeMap<ModelKind, FittedModel>,
    /// Mean and standard deviation of the scores.
    pub standardization: Option<Standardization>,
    /// The counts of the evaluation curve.
    pub curve: Option<Curve>,
    /// What was done with mate scores.
    pub mates: Option<Mates>,
    /// The scores that were seen.
    pub scores: Option<ScoreRange>,
    /// How the samples were drawn.
    pub sampling: Option<Sampling>,
    /// Where the numbers come from.
    pub provenance: Option<Provenance>,
    /// Proper scores of the chosen model, out of sample.
    pub proper_scores: Option<ProperScores>,
    /// What wrote the file.
    pub tool: Tool,
}

/// The engine that gave the scores.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Engine {
    /// Its name, not empty.
    pub name: String,
    /// Other names that the records have for it.
    pub aliases: Vec<String>,
}

/// The unit of scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ScoreUnit {
    /// Hundredths of a pawn, as the protocols say `score cp`.
    Centipawn,
}

/// The chosen model: what turns a score into a win rate.
#[derive(Debug, Clone, PartialEq)]
pub struct ChosenModel {
    /// The entry of `models` with the same parameters; `method` in the file.
    pub kind: ModelKind,
    /// The parameters.
    pub model: Model,
}

/// One fitted model with what is known of its error.
#[derive(Debug, Clone, PartialEq)]
pub struct FittedModel {
    /// The parameters.
    pub model: Model,
    /// Covariance of [`Model::parameters`], clustered by game; symmetric and positive. Of [`Model::Isotonic`] there is
    /// none.
    pub covariance: Option<Vec<Vec<f64>>>,
    /// Samples fitted.
    pub samples: Option<u64>,
    /// Games that gave those samples: the clusters of the covariance.
    pub games: Option<u64>,
}

/// A fitted sigmoid with what is known of its error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FittedSigmoid {
    /// Slope per centipawn; positive.
    pub w1: f64,
    /// Offset of the logit.
    pub w2: f64,
    /// Covariance of (w1, w2), clustered by game; symmetric and positive.
    pub covariance: Option<[[f64; 2]; 2]>,
    /// Samples fitted.
    pub samples: Option<u64>,
    /// Games that gave those samples: the clusters of the covariance.
    pub games: Option<u64>,
}

impl From<FittedSigmoid> for FittedModel {
    fn from(fit: FittedSigmoid) -> Self {
        Self {
            model: Model::Sigmoid(Sigmoid { w1: fit.w1, w2: fit.w2 }),
            covariance: fit.covariance.map(|rows| rows.map(|row| row.to_vec()).to_vec()),
            samples: fit.samples,
            games: fit.games,
        }
    }
}

impl From<ModelFit> for FittedModel {
    fn from(fit: ModelFit) -> Self {
        Self { model: fit.model, covariance: fit.covariance, samples: Some(fit.samples), games: Some(fit.games) }
    }
}

/// z = (x - mean) / sd.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Standardization {
    /// Mean score, centipawns.
    pub mean: f64,
    /// Standard deviation (ddof 1), centipawns; positive.
    pub sd: f64,
    /// Samples behind both.
    pub samples: u64,
}

/// The integer counts of an evaluation curve.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Curve {
    /// Width of a bin, centipawns; positive.
    pub bin_cp: u64,
    /// The bins that hold samples, ascending.
    pub bins: Vec<CurveBin>,
}

/// The scores in `[low_cp, low_cp + bin_cp)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct CurveBin {
    /// Index k of the bin.
    pub bin: i64,
    /// k times the width, centipawns.
    pub low_cp: i64,
    /// Samples of games that the engine won.
    pub wins: u64,
    /// Samples of drawn games.
    pub draws: u64,
    /// Samples of games that the engine lost.
    pub losses: u64,
    /// Sum of the scores, centipawns: over the count it is the mean score of the bin.
    pub score_sum: i64,
}

/// What the fits did with mate scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MatePolicy {
    /// Left out.
    Exclude,
    /// Set to plus or minus `clip_cp`.
    Clip,
    /// Taken as they are.
    Keep,
}

/// Mate scores: the policy and what it met.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Mates {
    /// What the fits did with them.
    pub policy: MatePolicy,
    /// Where `policy` is `clip`: the score that stands for a mate, centipawns; positive.
    pub clip_cp: Option<f64>,
    /// Scores of this size and beyond are mates, centipawns; positive. `null`: none is, whatever its size.
    pub threshold_cp: Option<f64>,
    /// Samples whose score is a mate.
    pub beyond: u64,
    /// Those among them where a win was announced and the game lost, or the reverse.
    pub wrong_sided: u64,
}

/// The scores seen, mates among them, centipawns.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ScoreRange {
    /// The smallest.
    pub min_cp: f64,
    /// The largest.
    pub max_cp: f64,
    /// The largest absolute value that is not a mate: a wrong threshold shows here.
    pub largest_cp_left: Option<f64>,
}

/// How a draw counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Draws {
    /// As half a win.
    Half,
    /// Not at all: drawn games are left out.
    Drop,
}

/// How the samples were drawn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Sampling {
    /// The first ply that may be drawn.
    pub from_ply: u64,
    /// Plies in a window; positive.
    pub window: u64,
    /// Positions drawn from each window of each side; positive.
    pub per_window: u64,
    /// Seed of the draw.
    pub seed: u64,
    /// How drawn games count.
    pub draws: Draws,
    /// Fewer samples than this are not fitted.
    pub min_samples: u64,
    /// The filters that were on, as the user wrote them.
    pub filters: Vec<String>,
}

/// Where the numbers come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Provenance {
    /// Names of the inputs, without directories that only one machine has.
    pub inputs: Vec<String>,
    /// SHA-256 of the engine's samples, 64 lower-case hexadecimal digits.
    pub digest: Option<String>,
    /// Games that gave samples.
    pub games: Option<u64>,
    /// Samples of the engine.
    pub samples: Option<u64>,
    /// First and last day of those games.
    pub dates: Option<Dates>,
    /// Who the engine met.
    pub opponents: Vec<Opponent>,
    /// The time controls, as the records say them.
    pub time_controls: Vec<String>,
    /// Games by the word of their [`Termination`](crate::types::Termination).
    pub terminations: BTreeMap<String, u64>,
    /// Free text; for published coefficients the paper and table.
    pub source: Option<String>,
}

/// Days, as `YYYY-MM-DD`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Dates {
    /// The earliest start of a game.
    pub first: String,
    /// The latest.
    pub last: String,
}

/// An opponent and the games against it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Opponent {
    /// Its name.
    pub name: String,
    /// Games met.
    pub games: u64,
}

/// Proper scores of the chosen model, out of sample. A draw counts half for each outcome.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProperScores {
    /// Folds over games; two at least.
    pub folds: u64,
    /// Samples scored.
    pub samples: u64,
    /// Mean negative log likelihood, natural logarithm.
    pub log_loss: Estimate,
    /// Mean squared distance of win rate and result; of a draw, which is half a win and half a loss, ½(1-p)² + ½p².
    pub brier: Estimate,
    /// Miscalibration of the Brier score (CORP; Dimitriadis, Gneiting, Jordan 2021).
    pub miscalibration: Option<Estimate>,
    /// Its discrimination.
    pub discrimination: Option<Estimate>,
    /// Its uncertainty.
    pub uncertainty: Option<Estimate>,
    /// Slope of the results on the predicted logit; 1 is calibrated.
    pub slope: Option<Estimate>,
    /// Intercept beside the slope; 0 is calibrated.
    pub intercept: Option<Estimate>,
    /// Expected calibration error: root mean square over bins, debiased.
    pub ece: Option<Estimate>,
    /// Spiegelhalter's z, clustered by game; beyond ±1.96 the model is not calibrated at the 5% level.
    pub spiegelhalter_z: Option<f64>,
    /// Log loss of models that need no calibration, on the same samples, by kind: `constant`, `shared_600` …
    pub baselines: BTreeMap<ModelKind, Estimate>,
}

/// The program that wrote the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}

impl Tool {
    /// This program.
    pub fn current() -> Self {
        Self { name: "evalcurve".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() }
    }
}

impl Calibration {
    /// A calibration of nothing but sigmoids; every other field is `None` and can be filled in afterwards.
    ///
    /// Returns `None` where `chosen` is not among `models`.
    pub fn from_sigmoids(
        name: impl Into<String>,
        models: impl IntoIterator<Item = (Method, FittedSigmoid)>,
        chosen: Method,
    ) -> Option<Self> {
        Self::from_models(name, models.into_iter().map(|(m, fit)| (m.into(), fit.into())), chosen.into())
    }

    /// A calibration of nothing but models; every other field is `None` and can be filled in afterwards.
    ///
    /// Returns `None` where `chosen` is not among `models`.
    pub fn from_models(
        name: impl Into<String>,
        models: impl IntoIterator<Item = (ModelKind, FittedModel)>,
        chosen: ModelKind,
    ) -> Option<Self> {
        let models: BTreeMap<_, _> = models.into_iter().collect();
        let model = ChosenModel { kind: chosen, model: models.get(&chosen)?.model.clone() };
        Some(Self {
            engine: Engine { name: name.into(), aliases: Vec::new() },
            score_unit: ScoreUnit::Centipawn,
            model,
            models,
            standardization: None,
            curve: None,
            mates: None,
            scores: None,
            sampling: None,
            provenance: None,
            proper_scores: None,
            tool: Tool::current(),
        })
    }
}
