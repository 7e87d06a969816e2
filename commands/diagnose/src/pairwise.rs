//! Engines in pairs: which score of one engine has the same win rate as a score of the other, and whether their curves
//! are equal.
//!
//! Engines play the same games, and a win of one is a loss of the other, so their fits are not independent. All engines
//! are therefore one model, p = 1/(1 + exp(-w1_e x + w2_e)) with a slope and an offset per engine e, and its covariance
//! is clustered by game across engines: A⁻¹BA⁻¹, where the blocks of A are those of the engines and B is the sum over
//! games of s sᵀ; s contains the gradients of all engines with scores in the game. This is `Logit` of statsmodels with
//! engine-by-score interactions and `cov_type="cluster"`, grouped by game.

use evalcurve_fit::calibration::{Calibration, Reading, Situation};
use evalcurve_fit::fit::{Fit, Influence, Method, Sigmoid, Wald, wald as wald_of};
use evalcurve_fit::normal::{Z_95, quantile, two_sided};
use evalcurve_fit::validate::holm;
use serde::Serialize;

/// An engine with its fit and the influence of each game on it.
#[derive(Debug, Clone)]
pub struct Fitted<'a> {
    /// The engine.
    pub name: &'a str,
    pub fit: Fit,
    /// The influence of each game on the fit.
    pub influence: Influence,
}

/// The score of another engine with the same win rate, in centipawns, with its 95% interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Equivalent {
    pub score_cp: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// The tests of one pair of engines.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Pair {
    /// Index of the first engine in [`Pairwise::engines`].
    pub first: usize,
    /// Index of the second.
    pub second: usize,
    /// Samples of both.
    pub samples: u64,
    /// Test of equal slopes w1.
    pub equal_slopes: Wald,
    /// Test of equal (w1, w2).
    pub equal_curves: Wald,
    /// Chance of scales this different if they are alike, within a factor of 1.25, between equals by the chosen model;
    /// with Holm's correction for the number of pairs. An engine's own scale differs by less against weak and strong
    /// opponents.
    pub p_corrected: f64,
    /// Chance of scales this different if they are the same, with the same correction.
    pub p_same: f64,
}

/// Whether engines share a scale.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scales {
    /// Some pairs do not, within a factor of 1.25, this one most certainly: the same win rate needs a larger score of
    /// the second engine.
    Apart(usize, usize),
    /// Some pairs differ, this one most certainly, but not surely by more than a factor of 1.25.
    Differ(usize, usize),
    /// All pairs do, within a factor of 1.25.
    Alike,
    /// The games do not tell.
    Unknown,
}

/// All engines against each other.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pairwise {
    /// How the curves were fitted.
    pub method: Method,
    /// The engines: all that are calibrated, or the [`MOST_ENGINES`] with the most samples.
    pub engines: Vec<String>,
    /// Calibrated engines that are not compared because there are more.
    pub left_out: usize,
    pub samples: Vec<u64>,
    /// Number of games; a game of several engines counts once.
    pub games: u64,
    /// The score to translate, in centipawns.
    pub score_cp: f64,
    /// Row a, column b: the score of b with the win rate between equals of score `score_cp` of a, by the chosen model;
    /// `None` where it has no such score or no interval. The diagonal is `score_cp`.
    pub equivalents: Vec<Vec<Option<Equivalent>>>,
    /// Test of equal slopes of all engines; `None` if the covariance is singular (fewer games than parameters).
    pub equal_slopes: Option<Wald>,
    /// Test of equal (w1, w2) of all engines; `None` as above.
    pub equal_curves: Option<Wald>,
    /// The pairs, in the order (0, 1), (0, 2), …
    pub pairs: Vec<Pair>,
}

impl Pairwise {
    /// Pairs whose scales differ by more than a factor of 1.25, after correction.
    pub fn apart(&self) -> usize {
        self.pairs.iter().filter(|pair| pair.p_corrected < LEVEL).count()
    }

    /// Pairs whose scales differ, after correction.
    pub fn different(&self) -> usize {
        self.pairs.iter().filter(|pair| pair.p_same < LEVEL).count()
    }

    /// How many times as large a score of engine `b` must be as the same score of `a`, with its 95% interval.
    pub fn ratio(&self, a: usize, b: usize) -> Option<(f64, (f64, f64))> {
        let Equivalent { score_cp, low, high } = self.equivalents[a][b]?;
        let [ratio, low, high] = [score_cp, low, high].map(|cp| cp / self.score_cp);
        Some((ratio, (low, high)))
    }

    /// The pair with the least chance below [`LEVEL`], the engine with the smaller scores first; one of typical scores
    /// if there is one.
    fn most_certain(&self, chance: impl Fn(&Pair) -> f64) -> Option<(usize, usize)> {
        let of = |typical: bool| {
            let pairs = self.pairs.iter().filter(|pair| chance(pair) < LEVEL);
            let ordered = pairs.flat_map(|pair| [(pair, (pair.first, pair.second)), (pair, (pair.second, pair.first))]);
            ordered
                .filter(|(_, (a, b))| {
                    self.equivalents[*a][*b]
                        .is_some_and(|e| e.score_cp > self.score_cp && (!typical || e.high < TYPICAL_CP))
                })
                .min_by(|(x, _), (y, _)| chance(x).total_cmp(&chance(y)))
        };
        of(true).or_else(|| of(false)).map(|(_, names)| names)
    }

    /// Whether the engines share a scale, with an example.
    pub fn scales(&self) -> Scales {
        if let Some((a, b)) = self.most_certain(|pair| pair.p_corrected) {
            return Scales::Apart(a, b);
        }
        // intervals that hold for all pairs at once
        let wider = quantile(1.0 - LEVEL / (2.0 * self.pairs.len().max(1) as f64)).unwrap_or(f64::INFINITY) / Z_95;
        let alike = |pair: &Pair| {
            let found = self.equivalents[pair.first][pair.second];
            found.is_some_and(|e| {
                let (at, half) = (libm::log(e.score_cp / self.score_cp), 0.5 * libm::log(e.high / e.low));
                at.abs() + wider * half < libm::log(ALIKE)
            })
        };
        if !self.pairs.is_empty() && self.pairs.iter().all(alike) {
            return Scales::Alike;
        }
        self.most_certain(|pair| pair.p_same).map_or(Scales::Unknown, |(a, b)| Scales::Differ(a, b))
    }

    /// Indices of the engines with the most samples, largest first, at most `most`.
    pub fn largest(&self, most: usize) -> Vec<usize> {
        largest(&self.samples, most)
    }
}

/// Indices of the largest numbers of samples, largest first, at most `most`.
fn largest(samples: &[u64], most: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..samples.len()).collect();
    order.sort_by_key(|&e| (std::cmp::Reverse(samples[e]), e));
    order.truncate(most);
    order
}

/// Level of the tests whether engines share a scale.
const LEVEL: f64 = 0.05;
/// Scales that differ by less are alike.
const ALIKE: f64 = 1.25;
/// Scores beyond this are rare and make no good example.
const TYPICAL_CP: f64 = 2_000.0;

/// The largest number of engines that are compared: time grows with its third power.
pub const MOST_ENGINES: usize = 200;

/// Compares engines, whose calibrations are in the same order; `None` for fewer than two. `score_cp` is the score to
/// translate. The errors of engines `on_same_positions` are correlated, as their slopes are; those of others count as
/// independent.
///
/// The factor of the covariance is G/(G-1)·(n-1)/(n-k) with the games and samples of all engines and k = 2 for each
/// engine.
pub fn pairwise(
    engines: &[Fitted<'_>],
    calibrations: &[&Calibration],
    score_cp: f64,
    on_same_positions: &[&str],
) -> Option<Pairwise> {
    let method = engines.first()?.fit.method;
    if engines.len() < 2 {
        return None;
    }
    let samples: Vec<u64> = engines.iter().map(|e| e.fit.samples).collect();
    let mut chosen = largest(&samples, MOST_ENGINES);
    chosen.sort_unstable();
    let left_out = engines.len() - chosen.len();
    let engines: Vec<&Fitted<'_>> = chosen.iter().map(|&e| &engines[e]).collect();
    let calibrations: Vec<&Calibration> = chosen.iter().map(|&e| calibrations[e]).collect();
    let (covariance, games) = joint_covariance(&engines);
    let k = engines.len();
    let together = Together { engines: &engines, covariance };
    let correlation = |a: usize, b: usize| {
        let are_same = [a, b].iter().all(|&e| on_same_positions.contains(&engines[e].name));
        if are_same { together.correlation(a, b) } else { 0.0 }
    };
    let equivalents = equivalents(&calibrations, score_cp, correlation);
    let mut pairs = Vec::with_capacity(k * (k - 1) / 2);
    for first in 0..k {
        for second in first + 1..k {
            // engines with a singular covariance, for example of three games, have no test
            if let (Some(equal_slopes), Some(equal_curves)) =
                (together.wald(first, &[second], &[0]), together.wald(first, &[second], &[0, 1]))
            {
                let samples = engines[first].fit.samples + engines[second].fit.samples;
                pairs.push(Pair { first, second, samples, equal_slopes, equal_curves, p_corrected: 1.0, p_same: 1.0 });
            }
        }
    }
    let (alike, same) = (chances(&pairs, &equivalents, score_cp, ALIKE), chances(&pairs, &equivalents, score_cp, 1.0));
    for (pair, (alike, same)) in pairs.iter_mut().zip(alike.into_iter().zip(same)) {
        (pair.p_corrected, pair.p_same) = (alike, same);
    }
    let others: Vec<usize> = (1..k).collect();
    Some(Pairwise {
        method,
        engines: engines.iter().map(|e| e.name.to_owned()).collect(),
        left_out,
        samples: chosen.iter().map(|&e| samples[e]).collect(),
        games,
        score_cp,
        equivalents,
        equal_slopes: together.wald(0, &others, &[0]),
        equal_curves: together.wald(0, &others, &[0, 1]),
        pairs,
    })
}

/// All engines as one model.
struct Together<'a> {
    engines: &'a [&'a Fitted<'a>],
    /// Of (w1, w2), engine by engine.
    covariance: Vec<Vec<f64>>,
}

impl Together<'_> {
    fn theta(&self, e: usize) -> [f64; 2] {
        let sigmoid = self.engines[e].fit.sigmoid;
        [sigmoid.w1, sigmoid.w2]
    }

    /// The covariance of parameter i of engine a and parameter j of engine b.
    fn block(&self, a: usize, b: usize, i: usize, j: usize) -> f64 {
        self.covariance[2 * a + i][2 * b + j]
    }

    /// Test that the parameters `which` of other engines are those of engine `base`.
    fn wald(&self, base: usize, others: &[usize], which: &[usize]) -> Option<Wald> {
        let contrasts: Vec<(usize, usize)> = others.iter().flat_map(|&e| which.iter().map(move |&i| (e, i))).collect();
        let difference: Vec<f64> = contrasts.iter().map(|&(e, i)| self.theta(e)[i] - self.theta(base)[i]).collect();
        let variance = |&(e, i): &(usize, usize)| {
            let with = |&(f, j): &(usize, usize)| {
                self.block(e, f, i, j) - self.block(e, base, i, j) - self.block(base, f, i, j)
                    + self.block(base, base, i, j)
            };
            contrasts.iter().map(with).collect()
        };
        wald_of(&difference, &contrasts.iter().map(variance).collect::<Vec<Vec<f64>>>())
    }

    /// The correlation of the slopes of two engines.
    fn correlation(&self, a: usize, b: usize) -> f64 {
        let found = self.block(a, b, 0, 0) / (self.block(a, a, 0, 0) * self.block(b, b, 0, 0)).sqrt();
        if found.is_finite() { found.clamp(-1.0, 1.0) } else { 0.0 }
    }
}

/// For each pair the chance of scales this different if they differ by no more than a factor. Half of the interval of
/// the logarithm is that many standard errors, by Student's t or the normal distribution.
fn chances(pairs: &[Pair], equivalents: &[Vec<Option<Equivalent>>], score_cp: f64, factor: f64) -> Vec<f64> {
    let chance = |pair: &Pair| {
        let beyond = |e: &Equivalent| (libm::log(e.score_cp / score_cp).abs() - libm::log(factor)).max(0.0);
        let found = equivalents[pair.first][pair.second];
        found.map_or(1.0, |e| two_sided(Z_95 * beyond(&e) / (0.5 * libm::log(e.high / e.low))))
    };
    holm(&pairs.iter().map(chance).collect::<Vec<_>>())
}

/// The score of each engine that has the win rate between equals of another's `score_cp`, by the delta method on its
/// logarithm, with the correlation of the errors of two calibrations.
fn equivalents(
    calibrations: &[&Calibration],
    score_cp: f64,
    correlation: impl Fn(usize, usize) -> f64,
) -> Vec<Vec<Option<Equivalent>>> {
    let unknown = Situation::default();
    let equivalent = |(a, b): (&Calibration, &Calibration), correlation: f64| {
        let logit = |c: &Calibration, x: f64| c.logit(Reading::Equal, x, &unknown);
        let score = b.score(Reading::Equal, Sigmoid::STANDARD.win_rate(logit(a, score_cp)), &unknown)?;
        let slope = (logit(b, score + 1.0) - logit(b, score - 1.0)) / 2.0;
        let error = |c: &Calibration, x: f64| c.logit_error(Reading::Equal, x, &unknown);
        let (of_a, of_b) = (error(a, score_cp)?, error(b, score)?);
        let variance = of_a * of_a + of_b * of_b - 2.0 * correlation * of_a * of_b;
        let half = a.quantile().max(b.quantile()) * variance.max(0.0).sqrt() / slope;
        let factor = libm::exp(half / score);
        let found = Equivalent { score_cp: score, low: score / factor, high: score * factor };
        Some(found).filter(|e| score > 0.0 && e.high.is_finite() && e.low > 0.0)
    };
    let same = Equivalent { score_cp, low: score_cp, high: score_cp };
    let row = |a: usize| {
        let cell = |b: usize| match a == b {
            true => Some(same),
            false => equivalent((calibrations[a], calibrations[b]), correlation(a, b)),
        };
        (0..calibrations.len()).map(cell).collect()
    };
    (0..calibrations.len()).map(row).collect()
}

/// The covariance of (w1, w2) of all engines, engine by engine, and the number of games.
fn joint_covariance(engines: &[&Fitted<'_>]) -> (Vec<Vec<f64>>, u64) {
    let size = 2 * engines.len();
    let mut pulls: Vec<(u64, usize, [f64; 2])> = engines
        .iter()
        .enumerate()
        .flat_map(|(e, engine)| engine.influence.games().iter().map(move |&(game, psi)| (game, e, psi)))
        .collect();
    pulls.sort_unstable_by_key(|&(game, e, _)| (game, e));
    let mut sum = vec![vec![0.0; size]; size];
    let mut games = 0u64;
    for game in pulls.chunk_by(|a, b| a.0 == b.0) {
        games += 1;
        for (_, a, psi) in game {
            for (_, b, phi) in game {
                for i in 0..2 {
                    for j in 0..2 {
                        sum[2 * a + i][2 * b + j] += psi[i] * phi[j];
                    }
                }
            }
        }
    }
    let samples: u64 = engines.iter().map(|e| e.influence.samples()).sum();
    let (g, n, k) = (games as f64, samples as f64, size as f64);
    let c = g / (g - 1.0) * (n - 1.0) / (n - k);
    sum.iter_mut().flatten().for_each(|v| *v *= c);
    (sum, games)
}

#[cfg(test)]
mod tests {
    use super::*;
    use evalcurve_calibration::types::Outcome;
    use evalcurve_fit::fit::{FitData, FitOptions, Observation};
    use evalcurve_words::random;

    /// Engines that play the same games; engine e has slope `slopes[e]`.
    fn engines(slopes: &[f64], seed: u64) -> Vec<Vec<Observation>> {
        let mut rows = vec![Vec::new(); slopes.len()];
        for game in 0..1500u64 {
            let a = random::below(slopes.len() as u64, &[seed, 1, game]) as usize;
            let b = (a + 1 + random::below(slopes.len() as u64 - 1, &[seed, 2, game]) as usize) % slopes.len();
            let truth = 6.0 * random::unit(&[seed, 3, game]) - 3.0;
            let wins = random::unit(&[seed, 4, game]) < 1.0 / (1.0 + libm::exp(-truth));
            for (e, sign, won) in [(a, 1.0, wins), (b, -1.0, !wins)] {
                for _ in 0..2 {
                    let score_cp = (sign * truth / slopes[e]) as i32;
                    let outcome = if won { Outcome::Win } else { Outcome::Loss };
                    rows[e].push(Observation { game, score_cp, outcome });
                }
            }
        }
        rows
    }

    fn calibration(fitted: &Fitted<'_>) -> Calibration {
        Calibration::from_model(fitted.name, fitted.fit.method, fitted.fit)
    }

    fn compared(rows: &[Vec<Observation>], on_same_positions: &[&str]) -> Pairwise {
        let names = ["a", "b", "c", "d"];
        let fitted: Vec<Fitted<'_>> = rows
            .iter()
            .zip(names)
            .map(|(rows, name)| {
                let data = FitData::new(rows);
                let fit = data.fit(Method::MaximumLikelihood, &FitOptions::default()).unwrap();
                let influence = data.influence(fit.method, fit.sigmoid).unwrap();
                Fitted { name, fit, influence }
            })
            .collect();
        let calibrations: Vec<Calibration> = fitted.iter().map(calibration).collect();
        pairwise(&fitted, &calibrations.iter().collect::<Vec<_>>(), 200.0, on_same_positions).unwrap()
    }

    #[test]
    fn tests_find_unequal_engines_and_seldom_equal_ones() {
        let (mut alarms, mut apart) = (0, 0);
        for seed in 0..40 {
            let result = compared(&engines(&[0.003, 0.003, 0.003], seed), &[]);
            alarms += u32::from(result.equal_curves.unwrap().p < 0.05);
            apart += u32::from(matches!(result.scales(), Scales::Apart(..)));
        }
        // 2 expected of 40
        assert!(alarms <= 6 && apart <= 6, "{alarms} {apart}");
        let result = compared(&engines(&[0.003, 0.0015, 0.003], 1), &[]);
        assert!(result.equal_slopes.unwrap().p < 1e-6 && result.equal_slopes.unwrap().df == 2);
        let p: Vec<bool> = result.pairs.iter().map(|p| p.p_corrected < 0.01).collect();
        assert_eq!(p, [true, false, true]);
        assert!(matches!(result.scales(), Scales::Apart(0 | 2, 1)), "{:?}", result.scales());
        // 200 of a is 400 of b, and 400 of b is 200 of a
        let there = result.equivalents[0][1].unwrap();
        assert!(there.low < 400.0 && 400.0 < there.high && there.high - there.low < 450.0, "{there:?}");
        assert_eq!(result.equivalents[1][1].unwrap().score_cp, 200.0);
        assert!((result.equivalents[0][2].unwrap().score_cp - 200.0).abs() < 100.0);
    }

    /// Two engines that score the same positions, of scales 500 and 1,000, both with noise of one logit.
    fn on_the_same_positions(seed: u64) -> Vec<Vec<Observation>> {
        let mut rows = vec![Vec::new(); 2];
        let normal = |key: [u64; 3]| {
            let unit = |last: u64| random::unit(&[key[0], key[1], key[2], last]);
            (-2.0 * libm::log(1.0 - unit(0))).sqrt() * libm::cos(std::f64::consts::TAU * unit(1))
        };
        for game in 0..400u64 {
            let truth = 2.0 * normal([seed, 1, game]);
            let won = random::unit(&[seed, 2, game]) < 1.0 / (1.0 + libm::exp(-truth));
            let outcome = if won { Outcome::Win } else { Outcome::Loss };
            for (e, scale) in [500.0, 1000.0].into_iter().enumerate() {
                let score_cp = (scale * (truth + normal([seed, 3 + e as u64, game]))) as i32;
                rows[e].push(Observation { game, score_cp, outcome });
            }
        }
        rows
    }

    #[test]
    fn the_same_positions_make_ratios_precise() {
        let (mut covered, mut narrower) = (0, 0.0);
        for seed in 0..200 {
            let rows = on_the_same_positions(seed);
            let there = compared(&rows, &["a", "b"]).equivalents[0][1].unwrap();
            covered += u32::from(there.low < 400.0 && 400.0 < there.high);
            let apart = compared(&rows, &[]).equivalents[0][1].unwrap();
            narrower += libm::log(there.high / there.low) / libm::log(apart.high / apart.low) / 200.0;
        }
        // 190 expected, with a standard deviation of 3
        assert!((180..=198).contains(&covered), "{covered}");
        assert!(narrower < 0.75, "{narrower}");
    }

    #[test]
    fn opponents_make_no_scale_and_few_games_do_not_tell() {
        // one engine of two names: as b it met opponents against whom it wins at any score
        let mut rows = engines(&[0.003, 0.003], 3);
        rows[1].iter_mut().filter(|row| row.game % 3 > 0).for_each(|row| row.score_cp -= 400);
        let result = compared(&rows, &[]);
        assert!(result.equal_curves.unwrap().p < 1e-6 && result.scales() == Scales::Unknown, "{:?}", result.pairs);
        // many games tell that a scale is one; in common ones the scores of both mirror each other here, and their
        // difference has no variance
        let many: Vec<Vec<Observation>> = (0..2)
            .map(|e| {
                let seeds = 20 * e as u64..20 * (e as u64 + 1);
                let one = |seed: u64| {
                    engines(&[0.003, 0.003], 100 + seed)
                        .swap_remove(e)
                        .into_iter()
                        .map(move |row| Observation { game: 2000 * seed + row.game, ..row })
                };
                seeds.flat_map(one).collect()
            })
            .collect();
        assert_eq!(compared(&many, &[]).scales(), Scales::Alike);
    }

    /// A factor of 1.3 of many games is seen, but not surely beyond 1.25.
    #[test]
    fn scales_that_differ_by_little_are_said_to_differ() {
        let truth = [0.003, 0.003 / 1.3];
        let rows: Vec<Vec<Observation>> = (0..2)
            .map(|e| {
                let one = |seed: u64| {
                    let rows = engines(&truth, 300 + seed).swap_remove(e).into_iter();
                    rows.map(move |row| Observation { game: 2000 * seed + row.game, ..row })
                };
                (0..4u64).flat_map(one).collect()
            })
            .collect();
        let found = compared(&rows, &[]);
        let (ratio, (low, high)) = found.ratio(0, 1).unwrap();
        assert!(low > 1.0 && low < 1.25 && ratio < 1.6 && high > 1.3, "{ratio} [{low}, {high}]");
        assert_eq!((found.scales(), found.apart(), found.different()), (Scales::Differ(0, 1), 0, 1));
    }

    #[test]
    fn of_many_engines_those_with_the_most_samples_are_compared() {
        let data = engines(&[0.003, 0.003], 1);
        let data = FitData::new(&data[0]);
        let fit = data.fit(Method::MaximumLikelihood, &FitOptions::default()).unwrap();
        let influence = data.influence(fit.method, fit.sigmoid).unwrap();
        let names: Vec<String> = (0..MOST_ENGINES + 3).map(|e| e.to_string()).collect();
        let of = |(samples, name)| Fitted { name, fit: Fit { samples, ..fit }, influence: influence.clone() };
        let fitted: Vec<Fitted<'_>> = (1..).zip(names.iter().map(String::as_str)).map(of).collect();
        let calibrations: Vec<Calibration> = fitted.iter().map(calibration).collect();
        let found = pairwise(&fitted, &calibrations.iter().collect::<Vec<_>>(), 200.0, &[]).unwrap();
        assert_eq!((found.left_out, &found.engines[..]), (3, &names[3..]));
        assert_eq!(found.equivalents.len(), MOST_ENGINES);
    }

    #[test]
    fn one_engine_has_no_pair() {
        let rows = engines(&[0.003, 0.003], 1);
        let data = FitData::new(&rows[0]);
        let fit = data.fit(Method::LeastSquares, &FitOptions::default()).unwrap();
        let influence = data.influence(fit.method, fit.sigmoid).unwrap();
        let fitted = Fitted { name: "a", fit, influence };
        let calibration = calibration(&fitted);
        assert_eq!(pairwise(&[fitted], &[&calibration], 200.0, &[]), None);
    }
}
