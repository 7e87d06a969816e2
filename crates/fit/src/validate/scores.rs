//! Proper scores of forecasts, and other measures of calibration.

use rayon::prelude::*;

use super::clusters::{Clusters, Estimate, pivotal};
use super::corp::{Decomposition, Sorted, decompose};
use super::forecast::{log_losses, rates};
use super::{Forecast, ValidateError};
use crate::fit::{LinearRow, regress};

/// Quantile bins of the calibration error.
const ECE_BINS: usize = 15;

/// How intervals are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScoreOptions {
    /// Resamples of the games, and simulated data sets of a band.
    pub resamples: u32,
    /// Seed of both.
    pub seed: u64,
}

impl Default for ScoreOptions {
    fn default() -> Self {
        Self { resamples: 1_000, seed: evalcurve_words::random::DEFAULT_SEED }
    }
}

/// How good forecasts are, with 95% intervals clustered by game. A draw is half a win and half a loss.
///
/// The intervals are of these forecasts on games like these; they do not include that other games would have given
/// other models. Where there are too few games for an interval of possible values, it is `None`.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Scores {
    pub samples: u64,
    pub games: u64,
    /// Mean negative log likelihood, natural logarithm. Less is better; interval clustered by game.
    pub log_loss: Estimate,
    /// Mean squared distance of win rate and result, ½(1-p)² + ½p² for a draw. Less is better; interval
    /// clustered by game.
    pub brier: Estimate,
    /// The parts of the Brier score.
    #[serde(flatten)]
    pub decomposition: Decomposition,
    /// Slope of the results on the forecast logit (Cox, Biometrika 1958): below 1 the forecasts are too bold. `None`
    /// where the forecasts do not differ.
    pub slope: Option<Estimate>,
    /// Intercept that belongs to the slope: below 0 the forecasts are too optimistic at even odds.
    pub intercept: Option<Estimate>,
    /// Root mean square distance of mean forecast and mean result over 15 quantile bins, debiased: what
    /// chance alone would give is taken out of the square, and a negative rest counts 0. Pivotal interval by bootstrap
    /// over games.
    pub ece: Estimate,
    /// Spiegelhalter's statistic, beyond ±1.96 for forecasts that are not calibrated at the 5% level.
    pub spiegelhalter: Option<Spiegelhalter>,
}

/// Σ (y - p)(1 - 2p) over its standard deviation were the forecasts right (Spiegelhalter, Statistics in Medicine 1986).
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Spiegelhalter {
    /// As published: samples independent, the variance p(1-p) of results without draws.
    pub z: f64,
    /// With the variance of the games' sums in its place, which samples of one game and draws do not mislead.
    pub z_clustered: f64,
}

/// Scores forecasts.
///
/// # Errors
/// [`ValidateError::Empty`] without forecasts.
pub fn scores(forecasts: &[Forecast], options: &ScoreOptions) -> Result<Scores, ValidateError> {
    if forecasts.is_empty() {
        return Err(ValidateError::Empty);
    }
    let mut forecasts = forecasts.to_vec();
    // stable; resamples then go through memory from one end to the other
    forecasts.sort_by(|a, b| a.logit.total_cmp(&b.logit));
    let forecasts = &forecasts[..];
    let clusters = Clusters::new(forecasts);
    let mean = |most: f64, values: &[f64]| {
        let mean = clusters.mean(|i| values[i]).ok_or(ValidateError::Empty)?;
        Ok::<_, ValidateError>(mean.possible(most))
    };
    let (sorted, bins) = (Sorted::new(forecasts), Bins::new(forecasts));
    let resampled = clusters.resampled(options, |weights| (sorted.parts(|i| weights[i]), bins.sums(weights).0));
    let parts: Vec<[f64; 3]> = resampled.iter().filter_map(|(parts, _)| *parts).collect();
    let recalibration = recalibrate(forecasts);
    Ok(Scores {
        samples: forecasts.len() as u64,
        games: clusters.len() as u64,
        log_loss: mean(f64::INFINITY, &log_losses(forecasts))?,
        brier: mean(1.0, &sorted.briers)?,
        decomposition: decompose(&sorted, &parts)?,
        slope: recalibration.map(|r| r.0),
        intercept: recalibration.map(|r| r.1),
        ece: bins.error(&clusters, resampled.into_iter().map(|(_, square)| square).collect()),
        spiegelhalter: spiegelhalter(&sorted, &clusters),
    })
}

/// Mean log loss alone, with its interval clustered by game; `None` without forecasts.
pub fn mean_log_loss(forecasts: &[Forecast]) -> Option<Estimate> {
    let losses = log_losses(forecasts);
    Some(Clusters::new(forecasts).mean(|i| losses[i])?.possible(f64::INFINITY))
}

/// Mean log loss of one model less that of another on the same samples in the same order, interval clustered by game;
/// `None` where the samples differ.
pub fn log_loss_difference(one: &[Forecast], other: &[Forecast]) -> Option<Estimate> {
    let same = |(a, b): (&Forecast, &Forecast)| (a.game, a.outcome) == (b.game, b.outcome);
    if one.len() != other.len() || !one.iter().zip(other).all(same) {
        return None;
    }
    let losses = [one, other].map(log_losses);
    Clusters::new(one).mean(|i| losses[0][i] - losses[1][i])
}

/// (slope, intercept) of the results on the forecast logits by maximum likelihood, normal intervals clustered by game.
fn recalibrate(forecasts: &[Forecast]) -> Option<(Estimate, Estimate)> {
    let first = forecasts.first()?.logit;
    if forecasts.iter().all(|f| f.logit == first) {
        return None;
    }
    recalibrate_from(forecasts, |_| 0.0)
}

/// (slope, intercept) of the results on the part of the forecast logits that is not `without_score`, which counts as it
/// is: whether scores mean what the forecasts take them for, whatever else is known of the games.
pub fn recalibrate_from(forecasts: &[Forecast], without_score: impl Fn(usize) -> f64) -> Option<(Estimate, Estimate)> {
    let row = |(i, f): (usize, &Forecast)| {
        let offset = without_score(i);
        LinearRow { game: f.game, result: f.outcome.value(), offset, features: [(0, f.logit - offset), (1, 1.0)] }
    };
    let fit = regress(&forecasts.iter().enumerate().map(row).collect(), &[1.0, 0.0]).ok()?;
    let error = |k: usize| fit.covariance.as_ref().map(|v| v.at(k, k).max(0.0).sqrt());
    Some((Estimate::normal(fit.at[0], error(0)), Estimate::normal(fit.at[1], error(1))))
}

/// Bins of the forecasts with equal shares of the samples; equal forecasts share a bin.
fn quantile_bins(forecasts: &[Forecast]) -> Vec<usize> {
    let mut sorted: Vec<f64> = forecasts.iter().map(|f| f.logit).collect();
    sorted.par_sort_unstable_by(f64::total_cmp);
    let last = sorted.len().saturating_sub(1);
    let edges: Vec<f64> = (1..ECE_BINS).filter_map(|j| sorted.get(j * last / ECE_BINS).copied()).collect();
    forecasts.iter().map(|f| edges.partition_point(|e| *e < f.logit)).collect()
}

/// Quantile bins of forecasts, for the calibration error. The forecasts ascend.
struct Bins {
    bins: Vec<usize>,
    ends: [usize; ECE_BINS],
    residuals: Vec<f64>,
}

impl Bins {
    fn new(forecasts: &[Forecast]) -> Self {
        let residual = |(f, p): (&Forecast, f64)| f.outcome.value() - p;
        let residuals = forecasts.iter().zip(rates(forecasts)).map(residual).collect();
        let bins = quantile_bins(forecasts);
        let ends = std::array::from_fn(|bin| bins.partition_point(|other| *other <= bin));
        Self { bins, ends, residuals }
    }

    /// Σ over bins n_b/n r̄_b², r̄ the mean residual of a bin: (Σ r)²/(n n_b), with the sums and weights of the bins.
    fn sums(&self, weights: &[f64]) -> (f64, [f64; ECE_BINS], [f64; ECE_BINS]) {
        let (mut sums, mut counts, mut from) = ([0.0; ECE_BINS], [0.0; ECE_BINS], 0);
        for ((sum, count), &to) in sums.iter_mut().zip(&mut counts).zip(&self.ends) {
            for (weight, residual) in weights[from..to].iter().zip(&self.residuals[from..to]) {
                *sum += weight * residual;
                *count += weight;
            }
            from = to;
        }
        let total: f64 = counts.iter().sum();
        let squares: f64 = sums.iter().zip(counts).filter(|(_, c)| *c > 0.0).map(|(s, c)| s * s / c).sum();
        (squares / total, sums, counts)
    }

    /// The debiased error, with the squares of resamples.
    fn error(&self, clusters: &Clusters, resampled: Vec<f64>) -> Estimate {
        let (square, sums, counts) = self.sums(&vec![1.0; self.bins.len()]);
        // what chance adds to (Σ r)²/n_b of a bin: the variance of Σ r, by its games, over n_b
        let (mut scatter, mut games) = ([0.0; ECE_BINS], [0.0; ECE_BINS]);
        for game in clusters.games() {
            let mut parts = [(0.0, false); ECE_BINS];
            for &i in game {
                let (i, bin) = (i as usize, self.bins[i as usize]);
                parts[bin].0 += self.residuals[i] - sums[bin] / counts[bin];
                parts[bin].1 = true;
            }
            for (bin, (part, there)) in parts.into_iter().enumerate() {
                scatter[bin] += part * part;
                games[bin] += f64::from(u8::from(there));
            }
        }
        let chance: f64 = (0..ECE_BINS)
            .filter(|&b| games[b] > 1.0)
            .map(|b| games[b] / (games[b] - 1.0) * scatter[b] / counts[b])
            .sum::<f64>()
            / self.residuals.len() as f64;
        let debiased = square - chance;
        // resampling adds chance once more, which the mean of the resamples knows
        let centre = resampled.iter().sum::<f64>() / resampled.len().max(1) as f64;
        let root = |square: f64| square.max(0.0).sqrt();
        let interval = pivotal(debiased, centre, resampled).map(|ends| ends.map(root));
        Estimate { value: root(debiased), interval }.possible(1.0)
    }
}

fn spiegelhalter(sorted: &Sorted, clusters: &Clusters) -> Option<Spiegelhalter> {
    let rates = &sorted.rates;
    let term = |i: usize| (sorted.results[i] - rates[i]) * (1.0 - 2.0 * rates[i]);
    let sum: f64 = (0..rates.len()).map(term).sum();
    let variance: f64 = rates.iter().map(|p| (1.0 - 2.0 * p).powi(2) * p * (1.0 - p)).sum();
    let by_game: f64 = clusters.games().map(|g| g.iter().map(|&i| term(i as usize)).sum::<f64>().powi(2)).sum();
    (variance > 0.0 && by_game > 0.0)
        .then(|| Spiegelhalter { z: sum / variance.sqrt(), z_clustered: sum / by_game.sqrt() })
}
