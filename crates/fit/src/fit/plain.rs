//! The fit of the plain sigmoid, with its covariance clustered by game.

use std::borrow::Borrow;

use evalcurve_calibration::quantile::student_quantile;
use evalcurve_calibration::{Calibration, Estimate, FittedModel, Method, Model, Outcome, Sigmoid};
use serde::{Deserialize, Serialize};

use super::case::Case;
use super::counts::{Ends, Observation, ScoreCounts};
use super::covariance::{self, Grouped};
use super::error::FitError;
use super::options::{FitOptions, MIN_GAMES};
use super::search::{Minimum, Stalled};
use super::start;
use super::symmetric::Matrix;

/// One value for each [`Method`], in the order of [`Method::ALL`], which is that of their declaration.
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
        &self.0[method as usize]
    }
}

/// A fitted curve without its covariance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PointFit {
    /// What was minimised.
    pub method: Method,
    /// The curve, with a positive slope.
    pub sigmoid: Sigmoid,
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
    pub samples: u64,
    pub games: u64,
    /// Passes over the counts by score that the search took, over all its starts.
    pub passes: u32,
    /// The loss at the minimum per sample: squared error, or negative log likelihood in nats.
    pub mean_loss: f64,
    /// Quantile of the intervals: Student's t with one degree of freedom less than there are games.
    pub quantile: f64,
}

impl Fit {
    /// Fits a sigmoid to rows of game, score and outcome by maximum likelihood. [`fit`] has the other method, and
    /// options.
    ///
    /// # Errors
    /// As [`fit`].
    pub fn sigmoid(rows: impl IntoIterator<Item = Observation>) -> Result<Self, FitError> {
        fit(Method::MaximumLikelihood, &rows.into_iter().collect::<Vec<_>>(), &FitOptions::default())
    }

    /// Standard errors of (w1, w2), clustered by game.
    pub fn standard_errors(&self) -> [f64; 2] {
        [self.covariance[0][0].max(0.0).sqrt(), self.covariance[1][1].max(0.0).sqrt()]
    }

    /// The slope, per centipawn.
    pub fn w1(&self) -> Estimate {
        let half = self.quantile * self.standard_errors()[0];
        Estimate { value: self.sigmoid.w1, interval: Some([self.sigmoid.w1 - half, self.sigmoid.w1 + half]) }
    }

    /// The offset, in logits: above 0 where score 0 won less than half of these games.
    pub fn w2(&self) -> Estimate {
        let half = self.quantile * self.standard_errors()[1];
        Estimate { value: self.sigmoid.w2, interval: Some([self.sigmoid.w2 - half, self.sigmoid.w2 + half]) }
    }

    /// 1/w1 in centipawns; without an interval where that of w1 reaches 0.
    pub fn constant(&self) -> Estimate {
        let ends = self.w1().interval.filter(|[low, _]| *low > 0.0);
        Estimate { value: 1.0 / self.sigmoid.w1, interval: ends.map(|[low, high]| [1.0 / high, 1.0 / low]) }
    }

    /// The win rate of a score in centipawns in games like these, against the opponents of these games. The interval is
    /// by the delta method on the logit.
    pub fn in_these_games(&self, score_cp: impl Into<f64>) -> Estimate {
        let (x, [[v11, v12], [_, v22]]) = (score_cp.into(), self.covariance);
        let half = self.quantile * (x * x * v11 - 2.0 * x * v12 + v22).max(0.0).sqrt();
        let at = |shift: f64| Sigmoid { w1: self.sigmoid.w1, w2: self.sigmoid.w2 - shift }.win_rate(x);
        Estimate { value: at(0.0), interval: (!x.is_nan()).then(|| [at(-half), at(half)]) }
    }

    /// The win rate of a score between players of equal strength, which leaves out w2: the rate to compare with other
    /// engines, and that of [`Calibration::estimate`].
    pub fn between_equals(&self, score_cp: impl Into<f64>) -> Estimate {
        let covariance = [[self.covariance[0][0], 0.0], [0.0; 2]];
        let sigmoid = Sigmoid { w2: 0.0, ..self.sigmoid };
        Self { sigmoid, covariance, ..*self }.in_these_games(score_cp)
    }

    /// The calibration of an engine by this fit.
    pub fn into_calibration(self, name: impl Into<String>) -> Calibration {
        Calibration::from_model(name, self.method, self)
    }
}

impl From<Fit> for FittedModel {
    fn from(fit: Fit) -> Self {
        Self {
            model: Model::Sigmoid(fit.sigmoid),
            covariance: Some(fit.covariance.map(|row| row.to_vec()).to_vec()),
            samples: Some(fit.samples),
            games: Some(fit.games),
        }
    }
}

/// Samples counted and grouped by game once, for several fits.
#[derive(Debug)]
pub struct FitData<'a> {
    pub(super) counts: ScoreCounts,
    pub(super) grouped: Grouped<'a>,
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
pub(super) fn with_covariance(
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

pub(super) fn minimum(
    method: Method,
    counts: &ScoreCounts,
    options: &FitOptions,
) -> Result<(Minimum, PointFit), FitError> {
    let samples = counts.samples();
    check(counts.each(), options.min_samples)?;
    let (minimum, passes) = start::solve(method, counts)
        .map_err(|(Stalled { gradient, .. }, passes)| FitError::NotConverged { gradient, passes })?;
    let sigmoid = minimum.sigmoid();
    if sigmoid.w1 <= 0.0 {
        return Err(FitError::SlopeNotPositive { w1: sigmoid.w1 });
    }
    let mean_loss = minimum.evaluation.loss;
    Ok((minimum, PointFit { method, sigmoid, samples, passes, mean_loss }))
}

/// Whether samples determine a curve: scores with an outcome, and how many there are.
fn check(samples: impl Iterator<Item = (i32, Outcome, u64)>, min_samples: u64) -> Result<(), FitError> {
    let ends = Ends::new(samples);
    let samples = ends.samples.iter().sum();
    // two parameters need three samples for a covariance, even where the options allow fewer
    let need = min_samples.max(3);
    if samples < need {
        return Err(FitError::TooFewSamples { have: samples, need });
    }
    let outcomes = [Outcome::Win, Outcome::Draw, Outcome::Loss];
    if let Some(outcome) = outcomes.into_iter().find(|outcome| ends.samples[*outcome as usize] == samples) {
        return Err(FitError::OneClass { outcome, samples });
    }
    let (low, high) = ends.of(&outcomes);
    if low == high {
        return Err(FitError::AllScoresEqual { score_cp: low, samples });
    }
    if ends.separable() { Err(FitError::Separable { samples }) } else { Ok(()) }
}

/// Whether the cases determine a curve over the score.
pub(super) fn check_cases(cases: impl IntoIterator<Item: Borrow<Case>>, min_samples: u64) -> Result<(), FitError> {
    let each = |case: Case| (case.score_cp, case.outcome, 1);
    check(cases.into_iter().map(|case| each(*case.borrow())), min_samples)
}
