//! The calibration file, version 1, as types. Fields are declared in the order in which the file holds them.
//!
//! All scores are centipawns in the view of the side to move. The documentation of the types and fields is also the
//! description in the JSON Schema. An `Option` is a field that must be present (the reader sees to it) and may
//! be `null`: published coefficients come without covariance, curve or samples.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::error::OF_ANOTHER_VERSION;
use crate::estimate::Estimate;
use crate::maps;
use crate::model::{Model, ModelKind, Sigmoid};
#[cfg(test)]
use crate::tests::schema;
use crate::unknown::Unknown;

/// The value of `format` in every calibration file.
pub const FORMAT: &str = "evalcurve-calibration";
/// The value of `version`.
pub const VERSION: u32 = 1;

/// The calibration of one engine's scores. Every score is in centipawns and in the view of the side to move.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(remote = "Self", deny_unknown_fields)]
#[cfg_attr(test, schemars(title = "evalcurve calibration, version 1"))]
pub struct Calibration {
    /// Marks the file as a calibration file.
    #[cfg_attr(test, schemars(extend("const" = FORMAT)))]
    pub(crate) format: Format,
    /// Version of the format.
    #[cfg_attr(test, schemars(extend("const" = VERSION)))]
    pub(crate) version: Version,
    /// The engine whose scores these are.
    pub engine: Engine,
    /// The unit of every score in the file.
    pub score_unit: ScoreUnit,
    /// The chosen model, which turns a score into a win rate: one of `models`, named by its method.
    #[cfg_attr(test, schemars(schema_with = "schema::chosen_model"))]
    pub model: ChosenModel,
    /// Every fitted model by its method, including the chosen one.
    #[serde(deserialize_with = "maps::models")]
    #[cfg_attr(test, schemars(schema_with = "schema::fitted_models"))]
    pub models: BTreeMap<ModelKind, FittedModel>,
    /// The opponents that the engine met, and how many engines were fitted together.
    pub field: Option<Field>,
    /// Why the calibration should not be trusted; empty if nothing speaks against it.
    pub doubts: Vec<Doubt>,
    /// Mean and standard deviation of the scores.
    pub standardization: Option<Standardization>,
    /// Counts of the evaluation curve.
    pub curve: Option<Curve>,
    /// How mate scores were treated.
    pub mates: Option<Mates>,
    /// Range of the scores.
    pub scores: Option<ScoreRange>,
    /// How the samples were drawn.
    pub sampling: Option<Sampling>,
    /// Where the numbers come from.
    pub provenance: Option<Provenance>,
    /// Proper scores of the chosen model, out of sample.
    pub proper_scores: Option<ProperScores>,
    /// The program that wrote the file.
    pub tool: Tool,
    /// What the file holds beyond this version.
    #[serde(skip)]
    #[cfg_attr(test, schemars(skip))]
    pub(crate) unknown: Vec<Unknown>,
}

/// The constant `format` of a calibration file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(test, schemars(with = "String"))]
pub(crate) struct Format;

impl TryFrom<String> for Format {
    type Error = String;

    fn try_from(found: String) -> Result<Self, String> {
        if found == FORMAT {
            return Ok(Self);
        }
        Err(format!("the format is {found:?}, not {FORMAT:?}; give a calibration file"))
    }
}

impl From<Format> for String {
    fn from(_: Format) -> Self {
        FORMAT.to_owned()
    }
}

/// The constant `version` of a calibration file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(try_from = "u64", into = "u32")]
#[cfg_attr(test, schemars(with = "u32"))]
pub(crate) struct Version;

impl TryFrom<u64> for Version {
    type Error = String;

    fn try_from(found: u64) -> Result<Self, String> {
        if found == u64::from(VERSION) {
            return Ok(Self);
        }
        Err(format!(
            "version {found} of the format is unknown; this program reads version {VERSION}; \
             {OF_ANOTHER_VERSION}, or recreate the file with this one"
        ))
    }
}

impl From<Version> for u32 {
    fn from(_: Version) -> Self {
        VERSION
    }
}

/// The engine that gave the scores.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Engine {
    /// Name of the engine.
    #[cfg_attr(test, schemars(length(min = 1)))]
    pub name: String,
    /// Other names of the engine in the records.
    #[cfg_attr(test, schemars(inner(length(min = 1))))]
    pub aliases: Vec<String>,
}

/// The unit of scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ScoreUnit {
    /// Hundredths of a pawn, as in `score cp` of USI and UCI.
    Centipawn,
}

/// The chosen model, which turns a score into a win rate.
#[derive(Debug, Clone, PartialEq)]
pub struct ChosenModel {
    /// The entry of `models` with the same parameters; `method` in the file.
    pub kind: ModelKind,
    /// The parameters.
    pub model: Model,
}

/// One fitted model with its error.
#[derive(Debug, Clone, PartialEq)]
pub struct FittedModel {
    /// The parameters.
    pub model: Model,
    /// Covariance of [`Model::parameters`], clustered by game; symmetric and positive. [`Model::Isotonic`] has none.
    pub covariance: Option<Vec<Vec<f64>>>,
    /// Number of fitted samples.
    pub samples: Option<u64>,
    /// Number of games with fitted samples: the clusters of the covariance.
    pub games: Option<u64>,
}

impl FittedModel {
    /// A sigmoid of which nothing else is known: its slope per centipawn, above 0, and the offset of its logit.
    pub fn sigmoid(w1: f64, w2: f64) -> Self {
        Self { model: Model::Sigmoid(Sigmoid { w1, w2 }), covariance: None, samples: None, games: None }
    }
}

/// The opponents that the engine met, and how many engines were fitted together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Field {
    /// Samples of games in which the ratings of both players are known.
    pub rated_samples: u64,
    /// Mean rating of the engine over those samples, Elo.
    pub own_rating: Option<f64>,
    /// Mean rating of its opponents over those samples, Elo.
    pub opponents_rating: Option<f64>,
    /// The ratings were made from the results of these very games.
    pub rated_by_these_games: bool,
    /// Engines that were fitted together, this one among them: those that met, directly or by way of others.
    pub fitted_together: u64,
    /// The strength of the engine beyond its rating in the joint model, in logits; `null` if it did not play, or in
    /// other models.
    pub strength: Option<f64>,
}

impl Field {
    /// How much stronger the engine is than its opponents on average, Elo.
    pub fn advantage(&self) -> Option<f64> {
        Some(self.own_rating? - self.opponents_rating?)
    }
}

/// Why a calibration should not be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[non_exhaustive]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Doubt {
    /// The scores of one colour correlate negatively with the results, or those of some games contradict the opponents:
    /// their sign looks inverted.
    SignInverted,
    /// The scores are in another unit than centipawns.
    NoCentipawns,
    /// On unseen games the model is worse than knowing no score.
    WorseThanConstant,
    /// The 95% interval of the slope contains 0.
    SlopeMayBeZero,
    /// The ends of the 95% interval of the slope differ by more than a factor of 2.
    WideInterval,
    /// On unseen games the forecasts are much too certain or too uncertain: the 95% interval of their slope is outside
    /// 0.8 to 1.25.
    SlopeOff,
    /// On unseen games the calibration error is larger than 0.1, also at the lower end of its interval.
    Miscalibrated,
    /// More than a tenth of the results follow no score, also at the lower end of the interval of their share.
    ManyLapses,
    /// The engine's own games give another slope than the fit together with the others, by more than chance.
    Conflict,
    /// On unseen games a region of scores won more, or less, than the curve says by more than 0.03, and by more than
    /// chance.
    Misshapen,
    /// Fewer than 10 samples are of won games, or of lost ones.
    OneSided,
    /// Games ended when the scores were large: their results are made from the scores.
    Adjudicated,
    /// Larger scores were cut to one size, which stands for all of them.
    CutScores,
    /// Most opponents have no rating, and too few games for a strength of their own.
    UnknownOpponents,
    /// The rows of a table without games count as games of their own, so that the interval is too narrow.
    RowsAsGames,
    /// A doubt of a later version; [`Calibration::unknown`] has its word.
    #[serde(other)]
    #[cfg_attr(test, schemars(skip))]
    Unknown,
}

impl Doubt {
    /// The doubt in words: the calibration ….
    pub fn words(self) -> &'static str {
        match self {
            Self::SignInverted => "has scores whose sign looks inverted",
            Self::WorseThanConstant => "forecasts unseen games worse than a constant does",
            Self::SlopeMayBeZero => "has a slope that may be 0",
            Self::WideInterval => "has a slope that is known only within a factor of 2",
            Self::SlopeOff => "is far too certain or uncertain on unseen games",
            Self::Miscalibrated => "has a calibration error above 0.1 on unseen games",
            Self::Misshapen => "has another shape than the results of unseen games",
            Self::OneSided => "has next to no won games, or next to no lost ones",
            Self::ManyLapses => "has more than a tenth of results that follow no score",
            Self::NoCentipawns => "has scores that are no centipawns",
            Self::Adjudicated => "has results that were made from the scores",
            Self::CutScores => "has scores that were cut to one size",
            Self::UnknownOpponents => "has opponents of unknown strength",
            Self::RowsAsGames => "has an interval that is too narrow: each row counts as a game",
            Self::Unknown => "has a doubt that only a later version knows",
            Self::Conflict => "contradicts what its own games say without the other engines",
        }
    }
}

/// Standardised scores: z = (x - mean) / sd.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Standardization {
    /// Mean score, centipawns.
    pub mean: f64,
    /// Standard deviation (ddof 1), centipawns.
    #[cfg_attr(test, schemars(extend("exclusiveMinimum" = 0)))]
    pub sd: f64,
    /// Number of samples.
    pub samples: u64,
}

impl Standardization {
    /// The standardised score, in standard deviations.
    pub fn z(&self, score_cp: f64) -> f64 {
        (score_cp - self.mean) / self.sd
    }
}

/// Integer counts of an evaluation curve.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Curve {
    /// Width of a bin, centipawns.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub bin_cp: u64,
    /// The bins that hold samples, ascending by `bin`.
    pub bins: Vec<CurveBin>,
}

impl Curve {
    /// The samples of games won, drawn and lost, of all bins.
    pub fn results(&self) -> [u64; 3] {
        self.bins.iter().fold([0; 3], |[wins, draws, losses], bin| {
            [wins.saturating_add(bin.wins), draws.saturating_add(bin.draws), losses.saturating_add(bin.losses)]
        })
    }
}

/// Counts of the scores from `low_cp` to below `low_cp + bin_cp`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CurveBin {
    /// Index of the bin.
    pub bin: i64,
    /// Lowest score of the bin: index times width, centipawns.
    pub low_cp: i64,
    /// Samples of games that the engine won.
    pub wins: u64,
    /// Samples of drawn games.
    pub draws: u64,
    /// Samples of games that the engine lost.
    pub losses: u64,
    /// Sum of the scores, centipawns; divided by the count it is the mean score of the bin.
    pub score_sum: i64,
}

/// How fits treat mate scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum MatePolicy {
    /// They are left out.
    Exclude,
    /// They are set to plus or minus `clip_cp`.
    Clip,
    /// They are used as they are.
    Keep,
}

/// Mate scores: how the fits treated them, and how many there were.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Mates {
    /// How the fits treated mate scores.
    pub policy: MatePolicy,
    /// With policy `clip`, the score that replaces a mate score, centipawns; else `null`.
    #[cfg_attr(test, schemars(extend("exclusiveMinimum" = 0)))]
    pub clip_cp: Option<f64>,
    /// Mate threshold: scores of this size or larger are mates, centipawns. With `null` no score is.
    #[cfg_attr(test, schemars(extend("exclusiveMinimum" = 0)))]
    pub threshold_cp: Option<f64>,
    /// Samples whose score is a mate.
    pub beyond: u64,
    /// Of these, samples where a win was announced and the game lost, or the reverse.
    pub wrong_sided: u64,
}

/// Range of the scores, including mates, centipawns.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ScoreRange {
    /// Smallest score.
    pub min_cp: f64,
    /// Largest score.
    pub max_cp: f64,
    /// Largest absolute value that is not a mate; it shows a wrong mate threshold.
    #[cfg_attr(test, schemars(range(min = 0)))]
    pub largest_cp_left: Option<f64>,
}

/// How fits treat drawn games.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Draws {
    /// A draw counts as half a win.
    Half,
    /// Drawn games are left out.
    Drop,
}

/// How the samples were drawn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Sampling {
    /// First ply that may be drawn.
    pub from_ply: u64,
    /// Plies per window.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub window: u64,
    /// Positions drawn per window and side.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub per_window: u64,
    /// Seed of the draw.
    pub seed: u64,
    /// How drawn games count.
    pub draws: Draws,
    /// Fewest samples for a fit.
    pub min_samples: u64,
    /// The filters, as the user wrote them.
    #[cfg_attr(test, schemars(inner(length(min = 1))))]
    pub filters: Vec<String>,
}

/// Where the numbers come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// Names of the inputs, without directories that exist on one machine only.
    #[cfg_attr(test, schemars(inner(length(min = 1))))]
    pub inputs: Vec<String>,
    /// SHA-256 of the engine's samples, 64 lower-case hexadecimal digits.
    #[cfg_attr(test, schemars(regex(pattern = "^[0-9a-f]{64}$")))]
    pub digest: Option<String>,
    /// Number of games with samples.
    pub games: Option<u64>,
    /// Number of the engine's samples.
    pub samples: Option<u64>,
    /// First and last day of these games.
    pub dates: Option<Dates>,
    /// The opponents of the engine.
    pub opponents: Vec<Opponent>,
    /// The time controls, as in the records.
    #[cfg_attr(test, schemars(inner(length(min = 1))))]
    pub time_controls: Vec<String>,
    /// Number of games per termination.
    #[serde(deserialize_with = "maps::terminations")]
    #[cfg_attr(test, schemars(schema_with = "schema::terminations"))]
    pub terminations: BTreeMap<String, u64>,
    /// Free text; for published coefficients the paper and table.
    #[cfg_attr(test, schemars(length(min = 1)))]
    pub source: Option<String>,
}

/// First and last day, as `YYYY-MM-DD`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Dates {
    /// The earliest start of a game.
    #[cfg_attr(test, schemars(regex(pattern = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$")))]
    pub first: String,
    /// The latest start of a game.
    #[cfg_attr(test, schemars(regex(pattern = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$")))]
    pub last: String,
}

/// An opponent and the number of games against it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Opponent {
    /// Name of the opponent.
    #[cfg_attr(test, schemars(length(min = 1)))]
    pub name: String,
    /// Number of games.
    pub games: u64,
    /// Its strength beyond its rating in the joint model, in logits; `null` if it had too few games or another model.
    pub strength: Option<f64>,
}

/// Proper scores of the chosen model, out of sample. A draw counts as half a win and half a loss.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ProperScores {
    /// Number of folds; each game is in one fold.
    #[cfg_attr(test, schemars(range(min = 2)))]
    pub folds: u64,
    /// Number of samples.
    pub samples: u64,
    /// Mean negative log likelihood, natural logarithm.
    pub log_loss: Estimate,
    /// Mean squared difference of win rate and result; ½(1-p)² + ½p² for a draw.
    pub brier: Estimate,
    /// Miscalibration part of the Brier score (CORP; Dimitriadis, Gneiting, Jordan 2021).
    pub miscalibration: Option<Estimate>,
    /// Discrimination part of the Brier score.
    pub discrimination: Option<Estimate>,
    /// Uncertainty part of the Brier score.
    pub uncertainty: Option<Estimate>,
    /// Slope of the results on the predicted logit; 1 for a calibrated model.
    pub slope: Option<Estimate>,
    /// Intercept that belongs to the slope; 0 for a calibrated model.
    pub intercept: Option<Estimate>,
    /// Expected calibration error: root mean square over bins, debiased.
    pub ece: Option<Estimate>,
    /// Spiegelhalter's z, clustered by game; beyond ±1.96 the model is not calibrated at the 5% level.
    pub spiegelhalter_z: Option<f64>,
    /// Log loss of the baselines, models that need no calibration, on the same samples.
    #[serde(deserialize_with = "maps::baselines")]
    #[cfg_attr(test, schemars(schema_with = "schema::baselines"))]
    pub baselines: BTreeMap<ModelKind, Estimate>,
}

/// The program that wrote the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Tool {
    /// Name of the program.
    #[cfg_attr(test, schemars(length(min = 1)))]
    pub name: String,
    /// Version of the program.
    #[cfg_attr(test, schemars(length(min = 1)))]
    pub version: String,
}

impl Tool {
    /// This program.
    pub fn current() -> Self {
        Self { name: "evalcurve".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() }
    }
}

impl Calibration {
    /// A calibration that holds only models; every other field is `None` and can be filled in afterwards.
    ///
    /// [`Calibration::win_rate`] of it is the win rate between equals, which leaves out what the fit says of the
    /// opponents, such as w2. [`At::in_the_field`](crate::At::in_the_field) has that of the games that were fitted.
    ///
    /// Returns `None` if `chosen` is not among `models`.
    pub fn from_models(
        name: impl Into<String>,
        models: impl IntoIterator<Item = (ModelKind, FittedModel)>,
        chosen: ModelKind,
    ) -> Option<Self> {
        let models: BTreeMap<_, _> = models.into_iter().collect();
        let fit = models.get(&chosen)?.clone();
        Some(Self { models, ..Self::from_model(name, chosen, fit) })
    }

    /// The same with one model.
    pub fn from_model(name: impl Into<String>, kind: impl Into<ModelKind>, fit: impl Into<FittedModel>) -> Self {
        let (kind, fit) = (kind.into(), fit.into());
        Self {
            format: Format,
            version: Version,
            engine: Engine { name: name.into(), aliases: Vec::new() },
            score_unit: ScoreUnit::Centipawn,
            model: ChosenModel { kind, model: fit.model.clone() },
            models: [(kind, fit)].into(),
            field: None,
            doubts: Vec::new(),
            standardization: None,
            curve: None,
            mates: None,
            scores: None,
            sampling: None,
            provenance: None,
            proper_scores: None,
            tool: Tool::current(),
            unknown: Vec::new(),
        }
    }
}
