//! CORP: reliability by isotonic regression, and the decomposition of the Brier score that follows from it
//! (Dimitriadis, Gneiting and Jordan, *Stable reliability diagrams for probabilistic classifiers*, PNAS 2021).
//!
//! Results are regressed on the forecasts by pooling adjacent violators. With S the mean score of the forecasts, S_C of
//! the recalibrated ones and S_R of the mean result: miscalibration S - S_C, discrimination S_R - S_C, uncertainty S_R,
//! so that S = miscalibration - discrimination + uncertainty.

use evalcurve_words::random;

use super::clusters::{Estimate, pivotal};
use super::forecast::rates;
use super::{Forecast, ScoreOptions, ValidateError};
use crate::fit::{percentile_interval, pool_adjacent_violators, pooled};
use crate::parallel;

/// Key of the simulated results.
const KEY: u64 = 0x636f_7270_5f5f_5f5f;

/// Steps of the consistency band.
const BAND_STEPS: usize = 100;

/// The parts of the mean Brier score, with pivotal 95% intervals by bootstrap over games.
///
/// Miscalibration and discrimination can only err upwards, more so with few samples; their intervals take that back
/// out and may lie below the number itself. They end at 0.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Decomposition {
    /// What recalibration would gain: 0 for calibrated forecasts.
    pub miscalibration: Estimate,
    /// What the recalibrated forecasts gain over the mean result.
    pub discrimination: Estimate,
    /// The score of the mean result.
    pub uncertainty: Estimate,
}

/// Forecasts in ascending order, equal ones together.
pub(super) struct Sorted {
    /// samples by forecast
    order: Vec<u32>,
    /// where each distinct forecast begins in `order`, and the end
    starts: Vec<u32>,
    /// the same, with neighbours together whose results are all alike: these always share a pool
    runs: Vec<u32>,
    /// win rate of each sample
    pub(super) rates: Vec<f64>,
    /// result of each sample
    pub(super) results: Vec<f64>,
    /// Brier score of each sample
    pub(super) briers: Vec<f64>,
}

impl Sorted {
    pub(super) fn new(forecasts: &[Forecast]) -> Self {
        let mut order: Vec<u32> = (0..forecasts.len() as u32).collect();
        order.sort_by(|&a, &b| forecasts[a as usize].logit.total_cmp(&forecasts[b as usize].logit));
        let mut starts = Vec::new();
        for (at, &i) in order.iter().enumerate() {
            if at == 0 || forecasts[order[at - 1] as usize].logit != forecasts[i as usize].logit {
                starts.push(at as u32);
            }
        }
        starts.push(order.len() as u32);
        let result_of = |at: u32| forecasts[order[at as usize] as usize].outcome;
        // of the samples from one place to another, if they all have the same
        let common = |w: &[u32]| Some(result_of(w[0])).filter(|first| (w[0]..w[1]).all(|at| result_of(at) == *first));
        let (mut runs, mut last) = (Vec::new(), None);
        for group in starts.windows(2) {
            let result = common(group);
            if result.is_none() || result != last {
                runs.push(group[0]);
            }
            last = result;
        }
        runs.push(order.len() as u32);
        let rates = rates(forecasts);
        let results: Vec<f64> = forecasts.iter().map(|f| f.outcome.value()).collect();
        let briers = rates.iter().zip(&results).map(|(p, result)| brier(*p, *result)).collect();
        Self { order, starts, runs, rates, results, briers }
    }

    /// The samples of each distinct forecast.
    fn groups(&self) -> impl Iterator<Item = &[u32]> {
        self.starts.windows(2).map(|w| &self.order[w[0] as usize..w[1] as usize])
    }

    /// (miscalibration, discrimination, uncertainty) with these weights; `None` where all are 0.
    pub(super) fn parts(&self, weight: impl Fn(usize) -> f64) -> Option<[f64; 3]> {
        let (mut mass, mut sum, mut score) = (0.0, 0.0, 0.0);
        let runs = self.runs.windows(2).map(|w| &self.order[w[0] as usize..w[1] as usize]);
        let cells = runs.filter_map(|group| {
            let (mut cell_sum, mut cell_mass) = (0.0, 0.0);
            for &i in group {
                let i = i as usize;
                let w = weight(i);
                cell_mass += w;
                cell_sum += w * self.results[i];
                score += w * self.briers[i];
            }
            mass += cell_mass;
            sum += cell_sum;
            (cell_mass > 0.0).then_some((cell_sum, cell_mass))
        });
        let pools = pooled(cells);
        if mass <= 0.0 {
            return None;
        }
        let recalibrated = pools.iter().map(|(.., sum, weight)| sum * (1.0 - sum / weight)).sum::<f64>() / mass;
        let mean = sum / mass;
        let uncertainty = mean * (1.0 - mean);
        Some([score / mass - recalibrated, uncertainty - recalibrated, uncertainty])
    }
}

/// The Brier score of one forecast. A draw is half a win and half a loss: ½(1-p)² + ½p².
pub fn brier(p: f64, result: f64) -> f64 {
    result * (1.0 - p) * (1.0 - p) + (1.0 - result) * p * p
}

/// Decomposes the mean Brier score, with the parts of resamples.
///
/// # Errors
/// [`ValidateError::Empty`] without forecasts.
pub(super) fn decompose(sorted: &Sorted, resampled: &[[f64; 3]]) -> Result<Decomposition, ValidateError> {
    let values = sorted.parts(|_| 1.0).ok_or(ValidateError::Empty)?;
    let estimate = |k: usize, pivot: bool| {
        let all: Vec<f64> = resampled.iter().map(|r| r[k]).collect();
        let value = values[k];
        let interval = if pivot {
            pivotal(value, value, all).map(|[low, high]| [low.max(0.0), high.max(value)])
        } else {
            // at a mean result of ½ the estimate is the largest value that a resample can have
            percentile_interval(all, 0.95).map(|(low, high)| [low.min(value), high.max(value)])
        };
        Estimate { value, interval }.possible(1.0)
    };
    Ok(Decomposition {
        miscalibration: estimate(0, true),
        discrimination: estimate(1, true),
        uncertainty: estimate(2, false),
    })
}

/// Forecasts that share a recalibrated win rate.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct ReliabilityPool {
    /// The lowest forecast win rate in it.
    pub from: f64,
    /// The highest.
    pub to: f64,
    /// The mean result, draws half: on the diagonal where the forecasts are right.
    pub win_rate: f64,
    pub samples: u64,
}

/// Where a calibrated model's pools would lie in 95 of 100 data sets like this one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BandPoint {
    /// Forecast win rate.
    pub forecast: f64,
    /// Lower end of the recalibrated win rate.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// A reliability diagram.
#[derive(Debug, Clone, PartialEq)]
pub struct Reliability {
    /// The recalibrated win rates, forecasts ascending.
    pub pools: Vec<ReliabilityPool>,
    /// The consistency band, forecasts ascending.
    pub band: Vec<BandPoint>,
    /// Samples by tenth of the forecast win rate.
    pub histogram: [u64; 10],
}

/// The CORP reliability diagram of forecasts, with a 95% consistency band.
///
/// The band is simulated: results are drawn by the forecasts themselves, one uniform number a game, so that the samples
/// of a game go together as they do in fact, and recalibrated like the real ones. Draws are simulated as wins or
/// losses, which makes the band a little wide.
///
/// # Errors
/// [`ValidateError::Empty`] without forecasts.
pub fn reliability(forecasts: &[Forecast], options: &ScoreOptions) -> Result<Reliability, ValidateError> {
    let sorted = Sorted::new(forecasts);
    if forecasts.is_empty() {
        return Err(ValidateError::Empty);
    }
    let groups: Vec<&[u32]> = sorted.groups().collect();
    let rate = |group: usize| groups.get(group).and_then(|g| g.first()).map_or(f64::NAN, |&i| sorted.rates[i as usize]);
    let cell = |g: &&[u32]| (g.iter().map(|&i| sorted.results[i as usize]).sum::<f64>(), g.len() as f64);
    let pools: Vec<ReliabilityPool> = pool_adjacent_violators(groups.iter().map(cell))
        .iter()
        .map(|p| ReliabilityPool { from: rate(p.first), to: rate(p.last), win_rate: p.mean, samples: p.weight as u64 })
        .collect();

    // the distinct forecasts at which the band is given: as many from each part of the samples
    let step = (groups.len() / BAND_STEPS).max(1);
    let grid: Vec<usize> = (0..groups.len()).step_by(step).chain([groups.len() - 1]).collect();
    let game_and_rate = |&i: &u32| (random::mixed(forecasts[i as usize].game), sorted.rates[i as usize]);
    let samples: Vec<(u64, f64)> = sorted.order.iter().map(game_and_rate).collect();
    let simulated: Vec<Vec<f64>> = parallel::map(options.resamples as usize, |r| {
        let draws = random::Prefix::new(&[KEY ^ options.seed, r as u64]);
        let cell = |w: &[u32]| {
            let group = &samples[w[0] as usize..w[1] as usize];
            let wins = group.iter().filter(|(game, rate)| draws.unit_mixed(*game) < *rate).count();
            (wins as f64, group.len() as f64)
        };
        let pools = pooled(sorted.starts.windows(2).map(cell));
        // both ascend
        let mut here = &pools[..];
        let mean_at = |g: &usize| {
            here = &here[here.iter().take_while(|(_, last, ..)| last < g).count()..];
            here.first().map_or(f64::NAN, |(.., sum, weight)| sum / weight)
        };
        grid.iter().map(mean_at).collect()
    });
    let mut band: Vec<BandPoint> = grid
        .iter()
        .enumerate()
        .filter_map(|(at, &g)| {
            let values = simulated.iter().map(|s| s[at]).collect();
            let (low, high) = percentile_interval(values, 0.95)?;
            Some(BandPoint { forecast: rate(g), low, high })
        })
        .collect();
    band.dedup_by(|b, a| a.forecast == b.forecast);
    let mut histogram = [0; 10];
    for p in &sorted.rates {
        histogram[((p * 10.0) as usize).min(9)] += 1;
    }
    Ok(Reliability { pools, band, histogram })
}
