//! Fits of the win rate curve p(x) = 1/(1 + exp(-w1 x + w2)) to samples: least squares and maximum likelihood,
//! with covariances and a bootstrap that treat the samples of a game as one cluster.
//!
//! ```
//! use evalcurve_core::fit::{FitOptions, Method, Observation, fit};
//! use evalcurve_core::types::Outcome;
//!
//! // two samples of each of 200 games; the higher score wins three times out of four
//! let observations: Vec<Observation> = (0..400u64)
//!     .map(|i| {
//!         let score_cp = if i % 2 == 0 { 400 } else { -400 };
//!         let outcome = if (i % 2 == 0) == (i % 8 < 6) { Outcome::Win } else { Outcome::Loss };
//!         Observation { game: i / 2, score_cp, outcome }
//!     })
//!     .collect();
//! let fit = fit(Method::MaximumLikelihood, &observations, &FitOptions::default())?;
//! assert!((fit.sigmoid.win_rate(400.0) - 0.75).abs() < 1e-9);
//! # Ok::<(), evalcurve_core::fit::FitError>(())
//! ```

mod bootstrap;
mod case;
mod counts;
mod covariance;
mod error;
mod influence;
mod lapse;
mod least_squares;
mod likelihood;
mod linear;
mod models;
mod objective;
mod planner;
mod search;
mod sigmoid;
mod start;
mod state;
pub(crate) mod symmetric;
mod warm;

#[cfg(test)]
mod oracle;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use bootstrap::{BandPoint, Bootstrap, BootstrapOptions, GameBootstrap, bootstrap, percentile_interval};
pub(crate) use case::engines_by_number;
pub use case::{Case, Reading, SharedPosition, Situation, median_size};
pub use counts::{Observation, ScoreCount, ScoreCounts};
pub use error::FitError;
pub use influence::{Influence, standard_error_of_difference};
pub(crate) use linear::{Row as LinearRow, regress};
pub use models::{
    Beta, Constant, Formula, InvalidParameter, Isotonic, Joint, Lapse, LapseTest, Model, ModelFit, ModelKind, Needs,
    Normalization, NormalizationError, Phase, Pool, StageUnit, Strength, Strengths, Undone, Wdl, WdlCount, WdlRates,
    contradictions, fit_engines, fit_model, fit_wdl_counts, lapse_test, pool_adjacent_violators, unexplained,
};
pub use planner::GamesNeeded;
pub use sigmoid::{CP_PER_LOGIT, Sigmoid};
pub(crate) use sigmoid::{log_loss, logit, share_interval};
pub use state::{FitState, GameSums, StateError};

use covariance::Grouped;
use search::{Minimum, Stalled};
use symmetric::Matrix;

use crate::curve::Z_95;
use crate::normal::student_quantile;
use crate::types::Outcome;

/// Fewest samples for a fit, unless the options set another number.
pub const DEFAULT_MIN_SAMPLES: u64 = 30;

/// Fewest games for a covariance of two parameters: with fewer it would be singular.
pub const MIN_GAMES: u64 = 3;

/// What a fit minimises (Takeuchi 2018, section 4.2.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// The least Σ (p(x) - y)²: forgives a few scores that are far off.
    LeastSquares,
    /// The largest Σ y log p(x) + (1 - y) log(1 - p(x)): sensitive to large scores that contradict the result.
    MaximumLikelihood,
}

impl Method {
    /// Both methods, in the order of declaration.
    pub const ALL: [Self; 2] = [Self::LeastSquares, Self::MaximumLikelihood];

    /// The short name in tables: `LSE` or `MLE`.
    pub fn short(self) -> &'static str {
        match self {
            Self::LeastSquares => "LSE",
            Self::MaximumLikelihood => "MLE",
        }
    }

    /// The name of the model in files: `least_squares` or `maximum_likelihood`.
    pub fn as_str(self) -> &'static str {
        ModelKind::from(self).as_str()
    }
}

/// One value for each [`Method`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ByMethod<T>([T; 2]);

impl<T> ByMethod<T> {
    /// Computes the value of each method.
    pub fn new(of: impl FnMut(Method) -> T) -> Self {
        Self(Method::ALL.map(of))
    }
}

impl<T> std::ops::Index<Method> for ByMethod<T> {
    type Output = T;

    fn index(&self, method: Method) -> &T {
        let [least_squares, maximum_likelihood] = &self.0;
        match method {
            Method::LeastSquares => least_squares,
            Method::MaximumLikelihood => maximum_likelihood,
        }
    }
}

impl std::fmt::Display for Method {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How many samples a fit needs, and how wide its intervals are.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FitOptions {
    /// Fewest samples.
    pub min_samples: u64,
    /// Normal quantile of the intervals: 1.959963984540054 for 95%.
    pub confidence_z: f64,
    /// Whether the ratings were made from the results that are fitted; a joint fit does not use such ratings.
    #[serde(default)]
    pub rated_by_these_games: bool,
    /// Whether the games are chess, whose baselines are not those of shogi.
    #[serde(default)]
    pub chess: bool,
}

impl Default for FitOptions {
    fn default() -> Self {
        Self { min_samples: DEFAULT_MIN_SAMPLES, confidence_z: Z_95, rated_by_these_games: false, chess: false }
    }
}

/// A fitted curve without its covariance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PointFit {
    /// What was minimised.
    pub method: Method,
    /// The curve, with a positive slope.
    pub sigmoid: Sigmoid,
    /// Number of samples.
    pub samples: u64,
    /// Passes over the counts by score that the search took, over all its starts.
    pub passes: u32,
    /// The loss at the minimum per sample: squared error, or negative log likelihood in nats.
    pub mean_loss: f64,
}

/// A fitted curve with the covariance of its parameters, clustered by game.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Fit {
    /// What was minimised.
    pub method: Method,
    /// The curve, with a positive slope.
    pub sigmoid: Sigmoid,
    /// Covariance of (w1, w2), in that order; see [`fit`] for its formula.
    pub covariance: [[f64; 2]; 2],
    /// Number of samples.
    pub samples: u64,
    /// Number of games.
    pub games: u64,
    /// Passes over the counts by score that the search took, over all its starts.
    pub passes: u32,
    /// The loss at the minimum per sample: squared error, or negative log likelihood in nats.
    pub mean_loss: f64,
    /// Quantile of the intervals: that of Student's t with one degree of freedom less than there are games.
    pub quantile: f64,
}

impl Fit {
    /// Standard errors of (w1, w2), clustered by game.
    pub fn standard_errors(&self) -> [f64; 2] {
        [self.covariance[0][0].max(0.0).sqrt(), self.covariance[1][1].max(0.0).sqrt()]
    }

    /// Interval (low, high) of w1, per centipawn.
    pub fn interval_w1(&self) -> (f64, f64) {
        let half = self.quantile * self.standard_errors()[0];
        (self.sigmoid.w1 - half, self.sigmoid.w1 + half)
    }

    /// Interval (low, high) of w2, in logits.
    pub fn interval_w2(&self) -> (f64, f64) {
        let half = self.quantile * self.standard_errors()[1];
        (self.sigmoid.w2 - half, self.sigmoid.w2 + half)
    }

    /// Interval (low, high) of the win rate of a score in centipawns, by the delta method on the logit.
    pub fn interval_win_rate(&self, score_cp: f64) -> (f64, f64) {
        let [[v11, v12], [_, v22]] = self.covariance;
        let variance = score_cp * score_cp * v11 - 2.0 * score_cp * v12 + v22;
        let half = self.quantile * variance.max(0.0).sqrt();
        let at = |shift: f64| Sigmoid { w1: self.sigmoid.w1, w2: self.sigmoid.w2 - shift }.win_rate(score_cp);
        (at(-half), at(half))
    }

    /// Interval (low, high) of 1/w1 in centipawns, from that of w1; `None` where that reaches 0.
    pub fn interval_ponanza(&self) -> Option<(f64, f64)> {
        let (low, high) = self.interval_w1();
        (low > 0.0).then(|| (1.0 / high, 1.0 / low))
    }
}

/// Samples counted and grouped by game once, for several fits.
#[derive(Debug)]
pub struct FitData<'a> {
    counts: ScoreCounts,
    grouped: Grouped<'a>,
}

impl<'a> FitData<'a> {
    /// Counts the samples and finds the games. Fastest where the samples of each game are adjacent.
    pub fn new(observations: &'a [Observation]) -> Self {
        Self { counts: ScoreCounts::from_observations(observations), grouped: Grouped::new(observations) }
    }

    /// Outcome counts by score.
    pub fn counts(&self) -> &ScoreCounts {
        &self.counts
    }

    /// Number of games.
    pub fn games(&self) -> u64 {
        self.grouped.games()
    }

    /// A fit with its covariance; see [`fit`].
    ///
    /// # Errors
    /// As [`fit`].
    pub fn fit(&self, method: Method, options: &FitOptions) -> Result<Fit, FitError> {
        let (minimum, point) = minimum(method, &self.counts, options)?;
        let covariance = || covariance::covariance(method, &minimum, &self.counts, &self.grouped);
        with_covariance(&point, self.games(), &minimum, options, covariance)
    }
}

/// A fit with its covariance, if there are games enough for one.
fn with_covariance(
    point: &PointFit,
    games: u64,
    minimum: &Minimum,
    options: &FitOptions,
    covariance: impl FnOnce() -> Option<Matrix>,
) -> Result<Fit, FitError> {
    if games < MIN_GAMES {
        return Err(FitError::TooFewGames { have: games, need: MIN_GAMES });
    }
    let not_converged =
        FitError::NotConverged { gradient: minimum.evaluation.size_of_gradient(), passes: point.passes };
    Ok(Fit {
        method: point.method,
        sigmoid: point.sigmoid,
        covariance: covariance().ok_or(not_converged)?,
        samples: point.samples,
        games,
        passes: point.passes,
        mean_loss: point.mean_loss,
        quantile: student_quantile(options.confidence_z, games as f64 - 1.0),
    })
}

/// Fits p(x) = 1/(1 + exp(-w1 x + w2)) to samples, scores and outcomes in the view of the side to move.
///
/// The covariance is c·A⁻¹BA⁻¹: A the Hessian of the loss (for least squares with the residual term), B the sum
/// over games of s sᵀ with s the game's summed gradient, c = G/(G-1)·(n-1)/(n-2) for G games and n samples. It
/// is valid however the samples of one game depend on each other, and equals `cov_type="cluster"` of statsmodels.
/// The numbers are the same on any number of threads.
///
/// # Errors
/// Every [`FitError`]: too few samples or games, samples that determine no curve, a search that did not converge, a
/// slope that is not positive.
pub fn fit(method: Method, observations: &[Observation], options: &FitOptions) -> Result<Fit, FitError> {
    FitData::new(observations).fit(method, options)
}

/// Fits the curve to counts by score, without a covariance, since counts do not know the games.
///
/// # Errors
/// Every [`FitError`] but [`FitError::TooFewGames`].
pub fn fit_counts(method: Method, counts: &ScoreCounts, options: &FitOptions) -> Result<PointFit, FitError> {
    minimum(method, counts, options).map(|(_, point)| point)
}

fn minimum(method: Method, counts: &ScoreCounts, options: &FitOptions) -> Result<(Minimum, PointFit), FitError> {
    let samples = counts.samples();
    check(counts, options.min_samples)?;
    let (minimum, passes) = start::solve(method, counts)
        .map_err(|(Stalled { gradient }, passes)| FitError::NotConverged { gradient, passes })?;
    let sigmoid = minimum.sigmoid();
    if sigmoid.w1 <= 0.0 {
        return Err(FitError::SlopeNotPositive { w1: sigmoid.w1 });
    }
    let mean_loss = minimum.evaluation.loss;
    Ok((minimum, PointFit { method, sigmoid, samples, passes, mean_loss }))
}

/// Whether the counts determine a curve.
fn check(counts: &ScoreCounts, min_samples: u64) -> Result<(), FitError> {
    let samples = counts.samples();
    // two parameters need three samples for a covariance, even where the options allow fewer
    let need = min_samples.max(3);
    if samples < need {
        return Err(FitError::TooFewSamples { have: samples, need });
    }
    for outcome in [Outcome::Win, Outcome::Draw, Outcome::Loss] {
        if counts.samples_of(outcome) == samples {
            return Err(FitError::OneClass { outcome, samples });
        }
    }
    if let [only] = counts.rows() {
        return Err(FitError::AllScoresEqual { score_cp: only.score_cp, samples });
    }
    if counts.separable() {
        return Err(FitError::Separable { samples });
    }
    Ok(())
}

/// Whether the cases determine a curve over the score.
fn check_cases<'a>(cases: impl IntoIterator<Item = &'a Case>, min_samples: u64) -> Result<(), FitError> {
    let observations: Vec<Observation> = cases.into_iter().map(Case::observation).collect();
    check(&ScoreCounts::from_observations(&observations), min_samples)
}
