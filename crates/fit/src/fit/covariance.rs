//! Covariance of the fitted parameters, clustered by game.

use std::borrow::Cow;

use evalcurve_calibration::Method;
use evalcurve_calibration::logistic::Logistic;
use rayon::prelude::*;

use super::counts::{Observation, ScoreCounts};
use super::objective::SCORE_SCALE;
use super::search::Minimum;
use super::symmetric::{Curvature, Matrix, Square};
use super::{least_squares, likelihood};
use crate::parallel;

/// Samples summed by one task, up to the next border between games. Fixed, and parts are added in order.
const CHUNK: usize = 1 << 16;

/// Widest range of scores for which curve values are looked up instead of computed for each sample.
const TABLE: usize = 1 << 20;

/// Observations in which the samples of each game are adjacent.
#[derive(Debug)]
pub(crate) struct Grouped<'a> {
    observations: Cow<'a, [Observation]>,
    games: u64,
}

impl<'a> Grouped<'a> {
    /// Borrows observations that are grouped already, in any order of games; else sorts a copy by game.
    pub(crate) fn new(observations: &'a [Observation]) -> Self {
        // index 0 has no predecessor: the first sample always starts a game
        let starts = |range: std::ops::Range<usize>| {
            range.filter(|&i| i == 0 || observations[i].game != observations[i - 1].game)
        };
        let chunks = observations.len().div_ceil(CHUNK);
        let range = |c: usize| c * CHUNK..((c + 1) * CHUNK).min(observations.len());
        let of = |c: usize| {
            starts(range(c)).fold((0u64, true), |(n, up), i| {
                (n + 1, up && (i == 0 || observations[i].game > observations[i - 1].game))
            })
        };
        let (games, ascending) = parallel::map(chunks, of).into_iter().fold((0, true), |a, b| (a.0 + b.0, a.1 && b.1));
        if ascending {
            return Self { observations: Cow::Borrowed(observations), games };
        }
        // games named by a hash come in runs that ascend by nothing: grouped as long as no game has two runs
        let of = |c: usize| starts(range(c)).map(|i| observations[i].game).collect::<Vec<u64>>();
        let mut ids = parallel::map(chunks, of).concat();
        ids.par_sort_unstable();
        let runs = ids.len();
        ids.dedup();
        if ids.len() == runs {
            return Self { observations: Cow::Borrowed(observations), games };
        }
        let mut sorted = observations.to_vec();
        // stable: within a game the samples keep their order, and sums their bits
        sorted.par_sort_by_key(|o| o.game);
        Self { observations: Cow::Owned(sorted), games: ids.len() as u64 }
    }

    pub(crate) fn games(&self) -> u64 {
        self.games
    }

    /// The observations, the samples of each game adjacent.
    pub(crate) fn observations(&self) -> &[Observation] {
        &self.observations
    }

    /// The first border between games at or after `i`.
    fn border(&self, mut i: usize) -> usize {
        let o = self.observations();
        while 0 < i && i < o.len() && o[i].game == o[i - 1].game {
            i += 1;
        }
        i.min(o.len())
    }
}

/// The covariance of (w1, w2) at the minimum; `None` where the Hessian is singular.
pub(crate) fn covariance(
    method: Method,
    minimum: &Minimum,
    counts: &ScoreCounts,
    data: &Grouped<'_>,
) -> Option<Matrix> {
    let meat = summed_by_game(method, [minimum.at[0], minimum.at[1]], counts, data);
    of_sums(minimum, data.observations().len() as u64, data.games(), &meat)
}

/// The same from the sums over the games, of n samples.
pub(crate) fn of_sums(minimum: &Minimum, n: u64, games: u64, meat: &Matrix) -> Option<Matrix> {
    let found = sandwich(&minimum.evaluation.hessian, n, games, &Square::two(meat))?;
    // from a = 1000 w1 back to w1
    let both = found.at(1, 0) / SCORE_SCALE;
    Some([[found.at(0, 0) / (SCORE_SCALE * SCORE_SCALE), both], [both, found.at(1, 1)]])
}

/// c·A⁻¹BA⁻¹ for k parameters: A the Hessian of the summed loss of n samples (given that of the mean loss),
/// B = Σ over games of s sᵀ with s the game's summed gradient, c = G/(G-1)·(n-1)/(n-k), as `cov_type="cluster"` in
/// statsmodels (Liang and Zeger, *Longitudinal data analysis using generalized linear models*, Biometrika 1986).
/// `None` where A is singular, and for a single game.
///
/// For least squares A holds the residual term, so that it is the true curvature and not that of Gauss-Newton.
fn sandwich(hessian: &Square, n: u64, games: u64, meat: &Square) -> Option<Square> {
    let k = hessian.size();
    let factor = hessian.clone().scaled(n as f64).cholesky()?;
    if games < 2 || n <= k as u64 {
        return None;
    }
    let c = games as f64 / (games - 1) as f64 * (n - 1) as f64 / (n - k as u64) as f64;
    // A⁻¹ B by columns, then A⁻¹ (A⁻¹ B)ᵀ
    let column = |j: usize| (0..k).map(|i| meat.at(i.max(j), i.min(j))).collect::<Vec<f64>>();
    let half: Vec<Vec<f64>> = (0..k).map(|j| factor.solve(&column(j))).collect();
    let mut covariance = Square::zero(k);
    for i in 0..k {
        let row: Vec<f64> = half.iter().map(|column| column[i]).collect();
        for (j, value) in factor.solve(&row).iter().enumerate().take(i + 1) {
            covariance.add(i, j, c * value);
        }
    }
    // rounding leaves no covariance where the Hessian is all but singular
    let deviation = |i: usize| covariance.at(i, i).sqrt();
    let is_one = |i: usize, j: usize| covariance.at(i, j).abs() <= deviation(i) * deviation(j) * (1.0 + 1e-9);
    (0..k).all(|i| (0..=i).all(|j| is_one(i, j))).then_some(covariance)
}

/// Σ over games of s sᵀ at the curve with a = 1000 w1 and b = w2.
pub(crate) fn summed_by_game(method: Method, [a, b]: [f64; 2], counts: &ScoreCounts, data: &Grouped<'_>) -> Matrix {
    let weight = match method {
        Method::LeastSquares => least_squares::weight,
        Method::MaximumLikelihood => likelihood::weight,
    };
    // d loss/dz for a loss, a draw and a win
    let derivatives = |score_cp: i32| {
        let Logistic { p, q, .. } = Logistic::at(a * (f64::from(score_cp) / SCORE_SCALE) - b);
        let w = weight(p, q);
        [w * p, w * 0.5 * (p - q), -w * q]
    };
    let rows = counts.rows();
    let low = rows.first().map_or(0, |r| i64::from(r.score_cp));
    let width = rows.last().map_or(0, |r| (i64::from(r.score_cp) - low + 1) as usize);
    // the same numbers either way; the table saves an `exp` for each sample
    let table = if width <= TABLE && width / 4 <= data.observations().len() {
        let mut table = vec![[0.0; 3]; width];
        for row in rows {
            if let Some(cell) = table.get_mut((i64::from(row.score_cp) - low) as usize) {
                *cell = derivatives(row.score_cp);
            }
        }
        table
    } else {
        Vec::new()
    };

    let observations = data.observations();
    let part = |c: usize| {
        let range = data.border(c * CHUNK)..data.border((c + 1) * CHUNK);
        let mut sums = [0.0; 3];
        let mut s = [0.0; 2];
        let mut game = None;
        let close = |sums: &mut [f64; 3], s: [f64; 2]| {
            sums[0] += s[0] * s[0];
            sums[1] += s[0] * s[1];
            sums[2] += s[1] * s[1];
        };
        for o in &observations[range] {
            if game != Some(o.game) {
                close(&mut sums, s);
                s = [0.0; 2];
                game = Some(o.game);
            }
            let cell = table.get((i64::from(o.score_cp) - low) as usize).copied();
            let d = cell.unwrap_or_else(|| derivatives(o.score_cp))[o.outcome as usize];
            s[0] += d * (f64::from(o.score_cp) / SCORE_SCALE);
            s[1] -= d;
        }
        close(&mut sums, s);
        sums
    };
    let parts = parallel::map(observations.len().div_ceil(CHUNK), part);
    let [aa, ab, bb] = parts.iter().fold([0.0; 3], |t, s| [t[0] + s[0], t[1] + s[1], t[2] + s[2]]);
    [[aa, ab], [ab, bb]]
}

/// The samples of each game together.
fn by_game(games: &[u64]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..games.len() as u32).collect();
    // stable, so that the sums of a game keep their bits
    order.sort_by_key(|&i| games[i as usize]);
    order
}

/// The covariance of any number of parameters, from the Hessian of the mean loss; `None` where it is singular or there
/// is only one game. `games` are the games of the samples.
///
/// `gradient` passes each entry of a sample's gradient to its second argument.
pub(crate) fn clustered(
    hessian: &Square,
    games: &[u64],
    gradient: impl Fn(usize, &mut dyn FnMut(usize, f64)),
) -> Option<Square> {
    let k = hessian.size();
    let order = by_game(games);
    let (mut meat, mut clusters) = (Square::zero(k), 0u64);
    let (mut sum, mut touched) = (vec![0.0; k], Vec::<usize>::new());
    for game in order.chunk_by(|a, b| games[*a as usize] == games[*b as usize]) {
        clusters += 1;
        for &i in game {
            gradient(i as usize, &mut |parameter, value| {
                if !touched.contains(&parameter) {
                    touched.push(parameter);
                }
                sum[parameter] += value;
            });
        }
        touched.sort_unstable();
        for (a, &i) in touched.iter().enumerate() {
            touched[..=a].iter().for_each(|&j| meat.add(i, j, sum[i] * sum[j]));
        }
        touched.drain(..).for_each(|i| sum[i] = 0.0);
    }
    sandwich(hessian, games.len() as u64, clusters, &meat)
}

/// As [`clustered`], but Σ d dᵀ with d = (A - A_g/2)⁻¹ s for a game of gradient s and Hessian A_g. The sandwich,
/// d = A⁻¹ s, is too narrow where a few games decide a parameter, since the fit follows them. Half of the cluster
/// jackknife, which has all of A_g, is free of bias to the first order (Bell and McCaffrey 2002). Between halves of the
/// TCEC Cups 11 to 16, constants of `wdl` differ by 1.09, .97 and .81 times their standard error by the sandwich, by
/// this, and by the jackknife (`benches/halves.py`).
///
/// `add` adds a sample's gradient and its Hessian.
pub(crate) fn leveraged(
    hessian: &Square,
    games: &[u64],
    add: impl Fn(usize, &mut [f64], &mut Square),
) -> Option<Square> {
    let k = hessian.size();
    let order = by_game(games);
    let all = hessian.clone().scaled(games.len() as f64);
    let factor = all.cholesky()?;
    let mut covariance = Square::zero(k);
    for game in order.chunk_by(|a, b| games[*a as usize] == games[*b as usize]) {
        let (mut gradient, mut own) = (vec![0.0; k], Square::zero(k));
        game.iter().for_each(|i| add(*i as usize, &mut gradient, &mut own));
        let mut rest = all.clone();
        rest.add_all(&own.scaled(-0.5));
        let moved = rest.cholesky().map_or_else(|| factor.solve(&gradient), |rest| rest.solve(&gradient));
        (0..k).for_each(|i| (0..=i).for_each(|j| covariance.add(i, j, moved[i] * moved[j])));
    }
    games.iter().any(|game| *game != games[0]).then_some(covariance)
}

#[cfg(test)]
mod tests {
    use super::*;
    use evalcurve_calibration::types::Outcome;

    fn observation(game: u64, score_cp: i32) -> Observation {
        Observation { game, score_cp, outcome: Outcome::Win }
    }

    #[test]
    fn runs_of_games_are_borrowed_and_scattered_games_are_sorted() {
        let ascending: Vec<_> = (0..10).map(|i| observation(i / 3, i as i32)).collect();
        let grouped = Grouped::new(&ascending);
        assert!(matches!(grouped.observations, Cow::Borrowed(_)));
        assert_eq!(grouped.games(), 4);

        let hashed: Vec<_> = (0..10).map(|i| observation(evalcurve_words::random::mix(i / 3), i as i32)).collect();
        let grouped = Grouped::new(&hashed);
        assert!(matches!(grouped.observations, Cow::Borrowed(_)));
        assert_eq!(grouped.games(), 4);

        let scattered: Vec<_> = (0..10).map(|i| observation(i % 3, i as i32)).collect();
        let grouped = Grouped::new(&scattered);
        assert!(matches!(grouped.observations, Cow::Owned(_)));
        assert_eq!(grouped.games(), 3);
        assert_eq!(
            grouped.observations().iter().map(|o| o.score_cp).collect::<Vec<_>>(),
            [0, 3, 6, 9, 1, 4, 7, 2, 5, 8]
        );

        assert_eq!(Grouped::new(&[]).games(), 0);
    }

    #[test]
    fn a_game_across_chunks_stays_whole() {
        // one game of three chunks and a half, then single samples
        let big = 3 * CHUNK + CHUNK / 2;
        let rows: Vec<_> = (0..big + 1000)
            .map(|i| observation(if i < big { 7 } else { 8 + i as u64 }, (i % 1000) as i32 - 500))
            .collect();
        let data = Grouped::new(&rows);
        let counts = ScoreCounts::from_observations(&rows);
        let got = summed_by_game(Method::MaximumLikelihood, [1.0, 0.0], &counts, &data);
        let mut whole = [0.0; 2];
        let mut expected = 0.0;
        for (i, o) in rows.iter().enumerate() {
            let x = f64::from(o.score_cp) / SCORE_SCALE;
            let d = Logistic::at(x).p - 1.0;
            if i < big {
                whole[0] += d * x;
                whole[1] -= d;
            } else {
                expected += d * d;
            }
        }
        expected += whole[1] * whole[1];
        assert!((got[1][1] / expected - 1.0).abs() < 1e-12);
    }
}
