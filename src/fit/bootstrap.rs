//! The bootstrap over games: how much a fitted curve would move if other games had been played.

use rayon::prelude::*;

use super::counts::{Observation, ScoreCounts};
use super::covariance::Grouped;
use super::solve::{MAX_PASSES, Minimum, Objective, Row, SCORE_SCALE};
use super::{FitError, FitOptions, Method, Sigmoid, check, fit_counts};
use crate::random;

/// Key of the bootstrap's draws, so that they differ from those of other rooms with the same seed.
const KEY: u64 = 0x626f_6f74_7374_7261;

/// Curves fitted to resampled games.
#[derive(Debug, Clone, PartialEq)]
pub struct Bootstrap {
    /// One curve for each resample that determines one, in the order of the resamples. Slopes may be negative.
    pub sigmoids: Vec<Sigmoid>,
    /// Resamples without a curve: one outcome only, equal scores, separable, or not converged.
    pub failed: usize,
}

impl Bootstrap {
    /// Percentile interval (low, high) of some number of the curve at `level`, say 0.95; `None` without curves.
    pub fn interval(&self, level: f64, of: impl Fn(&Sigmoid) -> f64) -> Option<(f64, f64)> {
        percentile_interval(self.sigmoids.iter().map(of).collect(), level)
    }
}

/// Fits the curve to `resamples` resamples of the games, each of as many games as there are, drawn with replacement.
///
/// A game is drawn with all its samples (cluster bootstrap; Davison and Hinkley, *Bootstrap methods and their
/// application*, 1997, section 3.8). Draw i of resample r depends on (seed, r, i) alone, so that the curves are the
/// same on any number of threads. Each search starts at the curve of all games; least squares follows that minimum
/// and tries no others as long as the search converges.
///
/// # Errors
/// The [`FitError`] of the fit to all samples, which must succeed; a slope that is not positive is no error here.
pub fn bootstrap(
    method: Method,
    observations: &[Observation],
    resamples: u32,
    seed: u64,
) -> Result<Bootstrap, FitError> {
    let grouped = Grouped::new(observations);
    let counts = ScoreCounts::from_observations(observations);
    let start = match fit_counts(method, &counts, &FitOptions { min_samples: 0, ..FitOptions::default() }) {
        Ok(fit) => [fit.sigmoid.w1 * SCORE_SCALE, fit.sigmoid.w2],
        Err(FitError::SlopeNotPositive { w1 }) => [w1 * SCORE_SCALE, 0.0],
        Err(error) => return Err(error),
    };
    let games = Games::new(&grouped, &counts);
    let sigmoids: Vec<Option<Sigmoid>> = (0..resamples)
        .into_par_iter()
        .map(|r| {
            let resample = games.resample(seed, u64::from(r));
            games.fit(method, &resample, start).map(|minimum| minimum.sigmoid())
        })
        .collect();
    let sigmoids: Vec<Sigmoid> = sigmoids.into_iter().flatten().collect();
    let failed = resamples as usize - sigmoids.len();
    Ok(Bootstrap { sigmoids, failed })
}

/// Samples as indices into counts, by game.
struct Games<'a> {
    counts: &'a ScoreCounts,
    /// 3 · (index of the score) + outcome, samples of a game together
    codes: Vec<u32>,
    /// where each game begins in `codes`, and the end
    starts: Vec<usize>,
}

impl<'a> Games<'a> {
    fn new(grouped: &Grouped<'_>, counts: &'a ScoreCounts) -> Self {
        let observations = grouped.observations();
        let rows = counts.rows();
        let code = |o: &Observation| {
            let index = rows.partition_point(|r| r.score_cp < o.score_cp);
            // there are no more distinct scores than i32 has values; times three they would not fit, but then
            // the counts alone would fill the memory
            3 * index as u32 + o.outcome as u32
        };
        let codes = observations.par_iter().map(code).collect();
        let mut starts = Vec::with_capacity(grouped.games() as usize + 1);
        for (i, o) in observations.iter().enumerate() {
            if i == 0 || observations[i - 1].game != o.game {
                starts.push(i);
            }
        }
        starts.push(observations.len());
        Self { counts, codes, starts }
    }

    /// Outcome counts of one resample, in the layout of the codes.
    fn resample(&self, seed: u64, resample: u64) -> Vec<u32> {
        let games = self.starts.len() as u64 - 1;
        let mut drawn = vec![0u32; 3 * self.counts.rows().len()];
        for i in 0..games {
            let game = random::below(games, &[KEY ^ seed, resample, i]) as usize;
            for &code in &self.codes[self.starts[game]..self.starts[game + 1]] {
                drawn[code as usize] += 1;
            }
        }
        drawn
    }

    fn fit(&self, method: Method, drawn: &[u32], start: [f64; 2]) -> Option<Minimum> {
        let cells = || self.counts.rows().iter().zip(drawn.chunks_exact(3)).filter(|(_, c)| c != &[0, 0, 0]);
        let counts = cells().map(|(r, c)| super::ScoreCount {
            score_cp: r.score_cp,
            losses: u64::from(c[0]),
            draws: u64::from(c[1]),
            wins: u64::from(c[2]),
        });
        check(&ScoreCounts::from_rows(counts.collect()), 0).ok()?;
        let row = |(r, c): (&super::ScoreCount, &[u32])| Row {
            x: f64::from(r.score_cp) / SCORE_SCALE,
            losses: f64::from(c[0]),
            draws: f64::from(c[1]),
            wins: f64::from(c[2]),
        };
        let objective = Objective::new(method, cells().map(row).collect());
        objective.polish(start, MAX_PASSES).or_else(|_| objective.minimise(start)).ok()
    }
}

/// The central interval (low, high) that holds the share `level` of the values, interpolated linearly as
/// `numpy.percentile` does; `None` without values or for a level outside (0, 1). NaN counts as largest.
pub fn percentile_interval(mut values: Vec<f64>, level: f64) -> Option<(f64, f64)> {
    if values.is_empty() || !(level > 0.0 && level < 1.0) {
        return None;
    }
    values.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| {
        let position = share * (values.len() - 1) as f64;
        let below = position.floor() as usize;
        let low = *values.get(below)?;
        let high = values.get(below + 1).copied().unwrap_or(low);
        Some(low + (position - below as f64) * (high - low))
    };
    let tail = 0.5 * (1.0 - level);
    Some((at(tail)?, at(1.0 - tail)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_agree_with_numpy() {
        // numpy.percentile(numpy.arange(1, 11), [2.5, 97.5])
        let (low, high) = percentile_interval((1..=10).rev().map(f64::from).collect(), 0.95).unwrap();
        assert!((low - 1.225).abs() < 1e-12 && (high - 9.775).abs() < 1e-12);
        assert_eq!(percentile_interval(Vec::new(), 0.95), None);
        assert_eq!(percentile_interval(vec![1.0], 1.0), None);
        assert_eq!(percentile_interval(vec![3.0], 0.5), Some((3.0, 3.0)));
    }
}
