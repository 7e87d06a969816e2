//! The bootstrap over games: how much fitted and counted curves would change if other games had been played.
//!
//! A game is drawn with all its samples (cluster bootstrap; Davison and Hinkley, *Bootstrap methods and their
//! application*, 1997, section 3.8). Draw i of resample r depends on (seed, r, i) alone, so that the results are the
//! same on any number of threads. The work is done on counts by score: a resample costs one addition per sample.

use std::collections::BTreeMap;

use evalcurve_calibration::{Method, Sigmoid};
use evalcurve_words::random;
use rayon::prelude::*;
use serde::Serialize;

use super::counts::{Observation, ScoreCounts};
use super::covariance::Grouped;
use super::error::FitError;
use super::objective::SCORE_SCALE;
use super::options::FitOptions;
use super::plain::{ByMethod, FitData, fit_counts};
use super::warm::{Drawn, ONE, Sample, Warm, results};
use crate::curve::EvaluationCurve;

/// Key of the bootstrap's draws, so that they differ from the draws of other modules with the same seed.
const KEY: u64 = 0x626f_6f74_7374_7261;

/// How games are resampled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct BootstrapOptions {
    /// Number of resamples, each of as many games as there are.
    pub resamples: u32,
    /// Seed of the draws.
    pub seed: u64,
    /// Width of the bins of the evaluation curve, centipawns.
    pub bin_cp: u32,
    /// Whether sigmoids are fitted to the resamples, which takes most of the time.
    pub sigmoids: bool,
}

/// Curves fitted to resampled games.
#[derive(Debug, Clone, PartialEq)]
pub struct Bootstrap {
    /// One curve for each resample that determines one, in the order of the resamples. Slopes may be negative.
    pub sigmoids: Vec<Sigmoid>,
    /// Resamples without a curve: one outcome only, equal scores, separable, or not converged. With too many of them
    /// for an interval the rest of the resamples is not fitted.
    pub failed: usize,
}

impl Bootstrap {
    /// 95% percentile interval (low, high) of a number of each curve; `None` where more resamples than one tail holds
    /// determine no curve, since nobody knows the ends then.
    pub fn interval(&self, of: impl Fn(&Sigmoid) -> f64) -> Option<(f64, f64)> {
        if too_many(self.failed, self.failed + self.sigmoids.len()) {
            return None;
        }
        percentile_interval(self.sigmoids.iter().map(of).collect(), 0.95)
    }
}

/// Whether more resamples determine no curve than one tail of a 95% interval holds.
fn too_many(failed: usize, resamples: usize) -> bool {
    40 * failed > resamples
}

/// Resamples after which those without a curve are counted: a fixed number, so that as many are fitted on any number
/// of threads.
const ROUND: u32 = 100;

/// The bootstrap of all curves of one engine.
#[derive(Debug, Clone, PartialEq)]
pub struct GameBootstrap {
    /// How the games were drawn.
    pub options: BootstrapOptions,
    /// Curves by each method that has a fit to all games, where the options ask for them.
    pub fits: ByMethod<Option<Bootstrap>>,
    /// The 95% percentile interval (low, high) of the mean result in each bin of the evaluation curve, over the
    /// resamples that have samples in the bin. A bin whose games all ended alike has none: no resample of 53 losses has
    /// a win, which does not mean that a win is impossible.
    pub bins: Intervals,
}

impl GameBootstrap {
    /// The curves by `method`.
    pub fn fit(&self, method: Method) -> Option<&Bootstrap> {
        self.fits[method].as_ref()
    }
}

impl FitData<'_> {
    /// Resamples the games and fits both curves to each resample, and counts the evaluation curve.
    ///
    /// Each search starts at the curve of all games; least squares follows that minimum and tries no others. A method
    /// without a fit to all games is not fitted to resamples either.
    pub fn bootstrap(&self, options: &BootstrapOptions) -> GameBootstrap {
        let starts = ByMethod::new(|method| start(method, &self.counts).ok().filter(|_| options.sigmoids));
        let games = Games::new(&self.grouped, &self.counts, options.bin_cp);
        let warm = Method::ALL.map(|m| starts[m].map(|at| Warm::new(m, at, &games.x, games.each())));
        let (curves, bins) = games.run(warm, options);
        let fits = ByMethod::new(|method| {
            starts[method].map(|_| {
                let of = &curves[method as usize];
                let sigmoids: Vec<Sigmoid> = of.iter().copied().flatten().collect();
                Bootstrap { failed: of.len() - sigmoids.len(), sigmoids }
            })
        });
        GameBootstrap { options: *options, fits, bins }
    }
}

/// Where the searches begin: the curve of all samples.
fn start(method: Method, counts: &ScoreCounts) -> Result<[f64; 2], FitError> {
    match fit_counts(method, counts, &FitOptions { min_samples: 0, ..FitOptions::default() }) {
        Ok(fit) => Ok([fit.sigmoid.w1 * SCORE_SCALE, fit.sigmoid.w2]),
        Err(FitError::SlopeNotPositive { w1 }) => Ok([w1 * SCORE_SCALE, 0.0]),
        Err(error) => Err(error),
    }
}

/// Samples as indices of distinct scores, by game.
struct Games {
    /// the distinct scores in thousands of centipawns, ascending
    x: Vec<f64>,
    /// index of the score, and one sample with its doubled result; samples of a game together
    codes: Vec<Sample>,
    /// where each game begins in `codes`, and the end
    starts: Vec<usize>,
    /// bins of the evaluation curve with the scores in them
    bins: Vec<(i32, std::ops::Range<usize>)>,
}

/// Intervals (low, high) by bin.
type Intervals = BTreeMap<i32, (f64, f64)>;

impl Games {
    fn new(grouped: &Grouped<'_>, counts: &ScoreCounts, bin_cp: u32) -> Self {
        let observations = grouped.observations();
        let rows = counts.rows();
        let code = |o: &Observation| {
            // there are no more distinct scores than i32 has values
            let index = rows.partition_point(|r| r.score_cp < o.score_cp) as u32;
            (index, ONE + o.outcome as u64)
        };
        let codes = observations.par_iter().map(code).collect();
        let mut starts = Vec::with_capacity(grouped.games() as usize + 1);
        for (i, o) in observations.iter().enumerate() {
            if i == 0 || observations[i - 1].game != o.game {
                starts.push(i);
            }
        }
        starts.push(observations.len());
        let curve = EvaluationCurve::new(bin_cp);
        let mut bins: Vec<(i32, std::ops::Range<usize>)> = Vec::new();
        for (i, row) in rows.iter().enumerate() {
            let bin = curve.bin_of(row.score_cp);
            match bins.last_mut().filter(|b| b.0 == bin) {
                Some((_, range)) => range.end = i + 1,
                None => bins.push((bin, i..i + 1)),
            }
        }
        Self { x: rows.iter().map(|r| f64::from(r.score_cp) / SCORE_SCALE).collect(), codes, starts, bins }
    }

    /// By method the curve of every resample, and the interval of the mean result of every bin.
    fn run(&self, mut warm: [Option<Warm>; 2], options: &BootstrapOptions) -> ([Vec<Option<Sigmoid>>; 2], Intervals) {
        let keys: Vec<u64> = (0..self.starts.len() as u64 - 1).map(random::mixed).collect();
        let (mut curves, mut means) = <([Vec<_>; 2], Vec<Vec<f64>>)>::default();
        for round in (0..options.resamples).step_by(ROUND as usize) {
            let rounds = round..options.resamples.min(round + ROUND);
            let one = |drawn: &mut Drawn, r: u32| {
                self.resample(drawn, &keys, random::Prefix::new(&[KEY ^ options.seed, u64::from(r)]));
                let result = |(_, range): &(i32, std::ops::Range<usize>)| {
                    // no number without samples
                    let (k, n) = results(drawn.cells[range.clone()].iter().sum());
                    k / n
                };
                let means: Vec<f64> = self.bins.iter().map(result).collect();
                (warm.each_ref().map(|warm| warm.as_ref().map(|warm| warm.fit(&self.x, drawn))), means)
            };
            for (found, of_bins) in rounds.into_par_iter().map_init(Drawn::default, one).collect::<Vec<_>>() {
                curves.iter_mut().zip(found).for_each(|(curves, found)| curves.extend(found));
                means.push(of_bins);
            }
            for (warm, curves) in warm.iter_mut().zip(&curves) {
                let failed = curves.iter().filter(|curve| curve.is_none()).count();
                warm.take_if(|_| too_many(failed, options.resamples as usize));
            }
        }
        let interval = |(i, (bin, _)): (usize, &(i32, _))| {
            let values = means.iter().map(|of_bins| of_bins[i]).filter(|v| !v.is_nan());
            bin_interval(values.collect()).map(|interval| (*bin, interval))
        };
        (curves, self.bins.iter().enumerate().filter_map(interval).collect())
    }

    /// The samples of each game.
    fn each(&self) -> impl Iterator<Item = &[Sample]> {
        self.starts.windows(2).map(|ends| &self.codes[ends[0]..ends[1]])
    }

    /// Draws games, and counts their samples.
    fn resample(&self, drawn: &mut Drawn, keys: &[u64], draws: random::Prefix) {
        drawn.games.clear();
        drawn.games.resize(keys.len(), 0);
        for key in keys {
            drawn.games[draws.below_mixed(keys.len() as u64, *key) as usize] += 1;
        }
        drawn.cells.clear();
        drawn.cells.resize(self.x.len(), 0);
        for (times, samples) in drawn.games.iter().zip(self.each()) {
            samples.iter().for_each(|&(index, sample)| drawn.cells[index as usize] += u64::from(*times) * sample);
        }
        drawn.taken = false;
    }
}

/// The central interval (low, high) that holds the share `level` of the values, interpolated linearly as
/// `numpy.percentile` does; `None` without values or for a level outside (0, 1). NaN counts as largest.
pub fn percentile_interval(mut values: Vec<f64>, level: f64) -> Option<(f64, f64)> {
    if values.is_empty() || !(level > 0.0 && level < 1.0) {
        return None;
    }
    let mut at = |share: f64| {
        let position = share * (values.len() - 1) as f64;
        let below = position.floor() as usize;
        // two numbers of the order are wanted, not all: the second is looked for on the shorter side of the first
        let (low, high) = if 2 * below + 2 < values.len() {
            let (rest, high, _) = values.select_nth_unstable_by(below + 1, f64::total_cmp);
            (rest.iter().copied().max_by(f64::total_cmp).unwrap_or(*high), *high)
        } else {
            let (_, low, rest) = values.select_nth_unstable_by(below, f64::total_cmp);
            (*low, rest.iter().copied().min_by(f64::total_cmp).unwrap_or(*low))
        };
        low + (position - below as f64) * (high - low)
    };
    let tail = 0.5 * (1.0 - level);
    Some((at(tail), at(1.0 - tail)))
}

fn bin_interval(values: Vec<f64>) -> Option<(f64, f64)> {
    percentile_interval(values, 0.95).filter(|(low, high)| low < high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bin_whose_games_all_ended_alike_has_no_interval() {
        assert_eq!(bin_interval(vec![0.0; 200]), None);
        let (low, high) = bin_interval((0..200).map(|i| f64::from(i % 5) / 53.0).collect()).unwrap();
        assert!(low == 0.0 && high > 0.05, "{low} {high}");
    }

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
