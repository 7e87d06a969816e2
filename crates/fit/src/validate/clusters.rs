//! Forecasts grouped by game, for intervals that treat the samples of a game as one cluster.

pub use evalcurve_calibration::Estimate;

use evalcurve_words::random;

use super::{Forecast, ScoreOptions};
use crate::parallel;

/// Key of the resamples' draws, so that they differ from the draws of other modules with the same seed.
const KEY: u64 = 0x7072_6f70_6572_5f5f;

/// Resamples of a task.
const RESAMPLES: usize = 64;

/// The mean of some values with its standard error clustered by their games; `None` without values.
pub fn mean_by_game(values: &[(u64, f64)]) -> Option<Estimate> {
    Clusters::of(values.len(), |i| values[i].0).mean(|i| values[i].1)
}

/// Which samples belong to one game.
#[derive(Debug, Clone)]
pub(super) struct Clusters {
    /// samples, those of a game together, games by identity
    order: Vec<u32>,
    /// where each game begins in `order`, and the end
    starts: Vec<u32>,
}

impl Clusters {
    pub(crate) fn new(forecasts: &[Forecast]) -> Self {
        Self::of(forecasts.len(), |i| forecasts[i].game)
    }

    /// Of so many samples with their games.
    pub(crate) fn of(samples: usize, game: impl Fn(usize) -> u64) -> Self {
        let mut order: Vec<u32> = (0..samples as u32).collect();
        // stable: within a game samples keep their order, and sums their bits
        order.sort_by_key(|&i| game(i as usize));
        let mut starts = Vec::new();
        for (at, &i) in order.iter().enumerate() {
            if at == 0 || game(order[at - 1] as usize) != game(i as usize) {
                starts.push(at as u32);
            }
        }
        starts.push(order.len() as u32);
        Self { order, starts }
    }

    /// The samples of each game.
    pub(crate) fn games(&self) -> impl Iterator<Item = &[u32]> {
        self.starts.windows(2).map(|w| &self.order[w[0] as usize..w[1] as usize])
    }

    /// Number of games.
    pub(crate) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The mean of a number of every sample, with its standard error clustered by game,
    /// √(G/(G-1) Σ over games (Σ (v - v̄))²)/n; `None` without samples.
    pub(crate) fn mean(&self, value: impl Fn(usize) -> f64) -> Option<Estimate> {
        let n = self.order.len() as f64;
        if self.order.is_empty() {
            return None;
        }
        let mean = (0..self.order.len()).map(&value).sum::<f64>() / n;
        let games = self.len() as f64;
        let squares: f64 = self
            .games()
            .map(|game| game.iter().map(|&i| value(i as usize) - mean).sum::<f64>())
            .map(|sum| sum * sum)
            .sum();
        let error = (self.len() > 1).then(|| (games / (games - 1.0) * squares).sqrt() / n);
        Some(Estimate::normal(mean, error))
    }

    /// A statistic of every resample, from the weights of the samples: how often each is drawn when as many games as
    /// there are are drawn with replacement. Draw i of a resample depends on (seed, resample, i) alone.
    pub(crate) fn resampled<R: Send>(&self, options: &ScoreOptions, statistic: impl Fn(&[f64]) -> R + Sync) -> Vec<R> {
        let games = self.len() as u64;
        let keys: Vec<u64> = (0..games).map(random::mixed).collect();
        let mut game_of = vec![0u32; self.order.len()];
        for (samples, game) in self.games().zip(0..) {
            samples.iter().for_each(|sample| game_of[*sample as usize] = game);
        }
        let few = |range: &[u32]| -> Vec<R> {
            let (mut drawn, mut weights) = (vec![0.0; keys.len()], vec![0.0; game_of.len()]);
            let one = |resample: &u32| {
                drawn.fill(0.0);
                let draws = random::Prefix::new(&[KEY ^ options.seed, u64::from(*resample)]);
                keys.iter().for_each(|key| drawn[draws.below_mixed(games, *key) as usize] += 1.0);
                weights.iter_mut().zip(&game_of).for_each(|(weight, game)| *weight = drawn[*game as usize]);
                statistic(&weights)
            };
            range.iter().map(one).collect()
        };
        let all: Vec<u32> = (0..options.resamples).collect();
        parallel::map_chunks(&all, RESAMPLES, few).into_iter().flatten().collect()
    }
}

/// The pivotal interval (Davison and Hinkley, *Bootstrap methods and their application*, 1997, section 5.2):
/// the quantiles of the resampled numbers' distance from `centre`, mirrored at `value`. It removes the bias of a number
/// that can only err upwards.
pub(super) fn pivotal(value: f64, centre: f64, resampled: Vec<f64>) -> Option<[f64; 2]> {
    let (low, high) = crate::fit::percentile_interval(resampled, 0.95)?;
    Some([value + centre - high, value + centre - low])
}
