//! Simulates how often 95% intervals contain the true value, with correlated samples from games of a known curve.
//!
//! The result y of a game is 1 with probability π. Its samples have scores x = ±μ + u + e, with + if the game is won,
//! and u shared by the samples of the game. Each score alone is normal around ±μ with variance σ², by which Bayes'
//! theorem gives logit P(y = 1 | x) = 2μ/σ² x + logit π: the sigmoid is exactly right for every sample, with w1 = 2μ/σ²
//! and w2 = -logit π, while the samples of a game share their result and, by the share ρ of the variance, their luck.

use rayon::prelude::*;
use serde::Serialize;

use evalcurve_calibration::types::Outcome;
use evalcurve_fit::fit::{BootstrapOptions, FitData, FitOptions, Method, Observation, Sigmoid};
use evalcurve_words::random;

use crate::coverage_figure::{CoverageDot, CoverageSeries};

const KEY: u64 = 0x636f_7665_7261_6765;

/// What to simulate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CoverageOptions {
    /// The true curve.
    pub truth: Sigmoid,
    /// Games per replicate.
    pub games: u32,
    /// The range of samples per game, uniformly distributed.
    pub samples: (u32, u32),
    /// ρ: the share of the scores' variance that the samples of a game share, 0 to 1.
    pub shared: f64,
    /// Replicates.
    pub replicates: u32,
    /// Resamples per bootstrap.
    pub resamples: u32,
    /// Seed.
    pub seed: u64,
}

impl Default for CoverageOptions {
    fn default() -> Self {
        Self {
            truth: Sigmoid { w1: 0.002, w2: 0.2 },
            games: 400,
            samples: (2, 8),
            shared: 0.7,
            replicates: 2000,
            resamples: 1000,
            seed: evalcurve_records::sample::DEFAULT_SEED,
        }
    }
}

/// How an interval is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Interval {
    /// The sandwich estimate that treats every sample as a separate game.
    Naive,
    /// The sandwich estimate clustered by game.
    Clustered,
    /// Percentiles of the bootstrap over games.
    Bootstrap,
}

impl Interval {
    /// All variants.
    pub const ALL: [Self; 3] = [Self::Naive, Self::Clustered, Self::Bootstrap];

    /// The name in tables.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Naive => "naive",
            Self::Clustered => "clustered",
            Self::Bootstrap => "bootstrap",
        }
    }
}

/// The quantity that an interval estimates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// The slope.
    W1,
    /// The offset.
    W2,
    /// The win rate at +500.
    WinRate,
}

impl Quantity {
    /// All variants.
    pub const ALL: [Self; 3] = [Self::W1, Self::W2, Self::WinRate];

    /// The name in tables.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::W1 => "w1",
            Self::W2 => "w2",
            Self::WinRate => "win rate at +500",
        }
    }
}

/// The score of [`Quantity::WinRate`], centipawns.
const SCORE_CP: f64 = 500.0;

/// How often one kind of interval contained the true value.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Coverage {
    /// The fit.
    pub method: Method,
    /// The quantity.
    pub quantity: Quantity,
    /// The kind.
    pub interval: Interval,
    /// Replicates whose interval contained the true value.
    pub held: u32,
    /// Replicates with an interval.
    pub of: u32,
    /// Mean width of the intervals, in units of the quantity.
    pub mean_width: f64,
}

impl Coverage {
    /// The share that contained the true value, with its 95% Wilson interval.
    pub fn share(&self) -> (f64, (f64, f64)) {
        let (held, of) = (f64::from(self.held), f64::from(self.of));
        (held / of, evalcurve_fit::curve::wilson(held, of, evalcurve_fit::curve::Z_95))
    }
}

/// Runs the simulation. The result does not depend on the number of threads.
pub fn coverage(options: &CoverageOptions) -> Vec<Coverage> {
    let mut kinds = Vec::new();
    for method in Method::ALL {
        for quantity in Quantity::ALL {
            kinds.extend(Interval::ALL.map(|interval| (method, quantity, interval)));
        }
    }
    let replicate = |r: u32| -> Vec<Option<(f64, f64)>> {
        let clustered = simulate(options, u64::from(r));
        let alone: Vec<Observation> =
            clustered.iter().enumerate().map(|(i, o)| Observation { game: i as u64, ..*o }).collect();
        let fit_options = FitOptions::default();
        let (data, naive) = (FitData::new(&clustered), FitData::new(&alone));
        let seed = random::bits(&[KEY, options.seed, u64::from(r)]);
        let bootstrap = data.bootstrap(&BootstrapOptions {
            resamples: options.resamples,
            seed,
            bin_cp: evalcurve_fit::curve::DEFAULT_BIN_CP,
            sigmoids: true,
        });
        let fits = Method::ALL.map(|m| (data.fit(m, &fit_options).ok(), naive.fit(m, &fit_options).ok()));
        let of = |&(method, quantity, interval): &(Method, Quantity, Interval)| {
            let (clustered, naive) = &fits[usize::from(method == Method::MaximumLikelihood)];
            let fit = if interval == Interval::Naive { naive } else { clustered }.as_ref()?;
            if interval == Interval::Bootstrap {
                return bootstrap.fit(method)?.interval(|s| value(quantity, s));
            }
            match quantity {
                Quantity::W1 => fit.w1().interval.map(<(f64, f64)>::from),
                Quantity::W2 => fit.w2().interval.map(<(f64, f64)>::from),
                Quantity::WinRate => {
                    let [[a, b], [_, c]] = fit.covariance;
                    let variance = SCORE_CP * SCORE_CP * a - 2.0 * SCORE_CP * b + c;
                    let half = fit.quantile * variance.max(0.0).sqrt();
                    let at = |shift: f64| Sigmoid { w2: fit.sigmoid.w2 - shift, ..fit.sigmoid }.win_rate(SCORE_CP);
                    Some((at(-half), at(half)))
                }
            }
        };
        kinds.iter().map(of).collect()
    };
    let replicates: Vec<Vec<Option<(f64, f64)>>> = (0..options.replicates).into_par_iter().map(replicate).collect();
    let count = |(k, &(method, quantity, interval)): (usize, &(Method, Quantity, Interval))| {
        let truth = value(quantity, &options.truth);
        let mut all = Coverage { method, quantity, interval, held: 0, of: 0, mean_width: 0.0 };
        for (low, high) in replicates.iter().filter_map(|r| r[k]) {
            all.of += 1;
            all.held += u32::from(low <= truth && truth <= high);
            all.mean_width += high - low;
        }
        all.mean_width /= f64::from(all.of.max(1));
        all
    };
    kinds.iter().enumerate().map(count).collect()
}

/// How well the intervals of w1 by maximum likelihood hold with few games.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FewGames {
    /// Games.
    pub games: u32,
    /// Samples of each game.
    pub samples: u32,
}

/// What [`few_games`] finds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FewFound {
    /// Replicates with a fit.
    pub fitted: u32,
    /// Of these, the share whose normal interval holds the truth.
    pub normal: f64,
    /// The same of the interval by Student's t, which evalcurve prints.
    pub student: f64,
    /// The same of the win rate at +500 by the covariance and by the bootstrap, of those that have an interval; NaN if
    /// none has.
    pub bands: [f64; 2],
    /// Median of the fitted slope over the true one.
    pub median: f64,
}

/// Simulates fits with few games. The result does not depend on the number of threads.
pub fn few_games(few: &FewGames, options: &CoverageOptions) -> FewFound {
    let options = CoverageOptions { games: few.games, samples: (few.samples, few.samples), ..*options };
    let replicate = |r: u32| -> Option<[f64; 5]> {
        let samples = simulate(&options, random::bits(&[u64::from(r), 0]) >> 8);
        let fit_options = FitOptions { min_samples: 0, ..FitOptions::default() };
        let data = FitData::new(&samples);
        let fit = data.fit(Method::MaximumLikelihood, &fit_options).ok()?;
        let apart = (fit.sigmoid.w1 - options.truth.w1).abs() / fit.standard_errors()[0];
        let held = |quantile: f64| f64::from(u8::from(apart <= quantile));
        let normal = evalcurve_fit::curve::Z_95;
        let truth = value(Quantity::WinRate, &options.truth);
        let holds = |(low, high): (f64, f64)| f64::from(u8::from(low <= truth && truth <= high));
        let seed = random::bits(&[KEY, options.seed, u64::from(r)]);
        let resampled = BootstrapOptions { resamples: options.resamples, seed, bin_cp: u32::MAX, sigmoids: true };
        let bootstrap = data.bootstrap(&resampled);
        let curves = bootstrap.fit(Method::MaximumLikelihood);
        let band = curves.and_then(|curves| curves.interval(|s| value(Quantity::WinRate, s)));
        let bands = [fit.in_these_games(SCORE_CP).interval.map(<(f64, f64)>::from), band];
        let [by_covariance, by_bootstrap] = bands.map(|band| band.map_or(f64::NAN, holds));
        Some([held(normal), held(fit.quantile), by_covariance, by_bootstrap, fit.sigmoid.w1 / options.truth.w1])
    };
    let found: Vec<[f64; 5]> = (0..options.replicates).into_par_iter().filter_map(replicate).collect();
    let mean = |i: usize| {
        let known: Vec<f64> = found.iter().map(|f| f[i]).filter(|v| !v.is_nan()).collect();
        known.iter().sum::<f64>() / known.len() as f64
    };
    let mut ratios: Vec<f64> = found.iter().map(|f| f[4]).collect();
    ratios.sort_by(f64::total_cmp);
    let median = ratios.get(ratios.len() / 2).copied().unwrap_or(f64::NAN);
    FewFound { fitted: found.len() as u32, normal: mean(0), student: mean(1), bands: [mean(2), mean(3)], median }
}

fn value(quantity: Quantity, sigmoid: &Sigmoid) -> f64 {
    match quantity {
        Quantity::W1 => sigmoid.w1,
        Quantity::W2 => sigmoid.w2,
        Quantity::WinRate => sigmoid.win_rate(SCORE_CP),
    }
}

/// The samples of one replicate, grouped by game.
pub fn simulate(options: &CoverageOptions, replicate: u64) -> Vec<Observation> {
    // with σ = μ, the logits of the scores are of the order of 2
    let mean = 2.0 / options.truth.w1;
    let sigma = (2.0 * mean / options.truth.w1).sqrt();
    let win = options.truth.win_rate(0.0);
    let (fewest, most) = (u64::from(options.samples.0), u64::from(options.samples.1.max(options.samples.0)));
    let (common, own) = (options.shared.sqrt() * sigma, (1.0 - options.shared).max(0.0).sqrt() * sigma);
    let mut observations = Vec::new();
    for game in 0..u64::from(options.games) {
        let key = |what: u64, i: u64| [KEY, options.seed, replicate, game, what, i];
        let won = random::unit(&key(0, 0)) < win;
        let centre = if won { mean } else { -mean } + common * normal(&key(1, 0));
        for i in 0..fewest + random::below(most - fewest + 1, &key(2, 0)) {
            let score_cp = (centre + own * normal(&key(3, i))).round() as i32;
            observations.push(Observation { game, score_cp, outcome: if won { Outcome::Win } else { Outcome::Loss } });
        }
    }
    observations
}

fn normal(keys: &[u64; 6]) -> f64 {
    let [a, b, c, d, e, f] = *keys;
    random::normal(random::unit(keys), random::unit(&[a, b, c, d, e, f, 1]))
}

/// The data for the figure of a coverage simulation.
pub fn bars_of_coverage(found: &[Coverage], options: &CoverageOptions) -> CoverageSeries {
    let mut columns = Vec::new();
    let mut kinds: Vec<(String, Vec<CoverageDot>)> =
        Interval::ALL.iter().map(|kind| (kind.as_str().to_owned(), Vec::new())).collect();
    for method in Method::ALL {
        let short = if method == Method::LeastSquares { "LSE" } else { "MLE" };
        for quantity in Quantity::ALL {
            columns.push(format!("{short}, {}", quantity.as_str()));
            for (kind, (_, dots)) in Interval::ALL.iter().zip(&mut kinds) {
                let one = found.iter().find(|c| (c.method, c.quantity, c.interval) == (method, quantity, *kind));
                if let Some((share, (low, high))) = one.map(Coverage::share) {
                    dots.push(CoverageDot { share, low, high });
                }
            }
        }
    }
    let caption = format!(
        "{} replicates of {} games with {} to {} samples, {:.0}% of the scores' variance shared in a game",
        options.replicates,
        options.games,
        options.samples.0,
        options.samples.1,
        100.0 * options.shared
    );
    CoverageSeries { caption, columns, kinds }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clustered_and_bootstrap_intervals_hold_the_truth_and_naive_ones_do_not() {
        let options = CoverageOptions { replicates: 200, resamples: 200, games: 150, ..CoverageOptions::default() };
        for found in coverage(&options) {
            let (share, _) = found.share();
            assert_eq!(found.of, 200);
            let expected = match found.interval {
                // 0.95 ± 3 standard errors of 200 replicates, and less for the percentiles of 200 resamples
                Interval::Clustered | Interval::Bootstrap => 0.88..=0.995,
                Interval::Naive => 0.3..=0.86,
            };
            assert!(expected.contains(&share), "{found:?}");
        }
    }

    #[test]
    fn the_simulated_curve_is_the_truth() {
        let options = CoverageOptions { games: 40_000, ..CoverageOptions::default() };
        let samples = simulate(&options, 0);
        let data = FitData::new(&samples);
        for method in Method::ALL {
            let fit = data.fit(method, &FitOptions::default()).unwrap();
            let [e1, e2] = fit.standard_errors();
            assert!((fit.sigmoid.w1 - options.truth.w1).abs() < 3.5 * e1, "{fit:?}");
            assert!((fit.sigmoid.w2 - options.truth.w2).abs() < 3.5 * e2, "{fit:?}");
        }
    }
}
