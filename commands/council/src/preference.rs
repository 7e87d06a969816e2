//! Weights of judges from the preferences of a teacher: which of two moves it likes better, and by how much.
//!
//! A pair of moves has one difference x per judge of what the rule adds up, and c is the difference of the teacher's
//! win rates. The weights w ≥ 0 minimise Σ c ln(1 + exp(-w·x)) plus a penalty for every deviation from a direction,
//! equal weights unless said otherwise, so that few data give that direction.

use evalcurve_fit::fit::{add_squares, add_times, dot, solve};
use evalcurve_fit::vector::losses_of_wins;
use evalcurve_words::random;

/// Strengths of shrinkage that cross-validation chooses from, in units of the mean curvature of the loss, strongest
/// first. The first one is the given direction itself.
const LADDER: [f64; 9] = [f64::INFINITY, 10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.003];

/// So many games double the shrinkage, and a tenth of them multiply it by 100: cross-validation on few games chooses at
/// random, and a judge may be right by chance in all of them.
const FEW_GAMES: f64 = 300.0;

/// With fewer games the given direction is kept.
const LEAST_GAMES: usize = 30;

/// Standard errors by which the given direction must be worse on unseen games before it is left.
const PROVEN: f64 = 2.0;

/// Parts of the games in a cross-validation within a fit.
const INNER: usize = 5;

/// Keeps the weights finite where the judges are never wrong; in the same units.
const RIDGE: f64 = 1e-6;

/// Pairs of moves, the one that the teacher prefers first.
#[derive(Debug, Default)]
pub(crate) struct Pairs {
    pub judges: usize,
    /// By pair and judge: the logit of the preferred move minus that of the other.
    pub differences: Vec<f64>,
    /// By pair: the difference of the teacher's win rates, above 0.
    pub weights: Vec<f64>,
    /// By pair: its game, from 0.
    pub games: Vec<usize>,
    /// By pair: the number of the move, from the start of the game.
    pub plies: Vec<u32>,
}

impl Pairs {
    pub(crate) fn len(&self) -> usize {
        self.weights.len()
    }

    fn of(&self, row: usize) -> &[f64] {
        &self.differences[row * self.judges..(row + 1) * self.judges]
    }

    /// Some pairs, side by side, without their games and plies.
    fn some(&self, rows: &[usize]) -> Self {
        let mut some = Self { judges: self.judges, ..Self::default() };
        for row in rows {
            some.differences.extend_from_slice(self.of(*row));
            some.weights.push(self.weights[*row]);
        }
        some
    }

    /// The differences and the weight of each pair.
    fn each(&self) -> impl Iterator<Item = (&[f64], &f64)> {
        self.differences.chunks_exact(self.judges.max(1)).zip(&self.weights)
    }

    /// For each pair the probability that the other move is better, and the loss.
    fn at(&self, weights: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let mut wrong: Vec<f64> = self.each().map(|(x, _)| dot(x, weights)).collect();
        let mut losses = vec![0.0; wrong.len()];
        losses_of_wins(&mut wrong, &mut losses);
        losses.iter_mut().zip(&self.weights).for_each(|(loss, weight)| *loss *= weight);
        (wrong, losses)
    }

    /// A quarter of the mean square: the largest curvature of the loss along one weight, on average.
    fn curvature(&self) -> f64 {
        let add = |(sum, total): (f64, f64), (x, weight): (&[f64], &f64)| (sum + weight * dot(x, x), total + weight);
        let (sum, total) = self.each().fold((0.0, 0.0), add);
        0.25 * sum / total / self.judges as f64
    }

    /// The weights by these pairs, with their scale. `towards` has the mean 1.
    pub(crate) fn fit(&self, rows: &[usize], towards: &[f64], shrinkage: f64) -> Vec<f64> {
        let some = self.some(rows);
        let differences = some.each().map(|(x, _)| dot(x, towards)).collect();
        let one = Self { judges: 1, differences, weights: some.weights.clone(), ..Self::default() };
        let scale = one.descend(vec![1.0], &[1.0], 0.0)[0];
        let start: Vec<f64> = towards.iter().map(|u| scale * u).collect();
        if shrinkage.is_finite() { some.descend(start, towards, shrinkage) } else { start }
    }

    /// The minimum from a start, by Newton's method within bounds.
    fn descend(&self, start: Vec<f64>, towards: &[f64], shrinkage: f64) -> Vec<f64> {
        let total: f64 = self.weights.iter().sum();
        let unit = self.curvature();
        if !(total > 0.0 && unit > 0.0) {
            return start;
        }
        let penalty = penalty(towards, shrinkage * unit, RIDGE * unit);
        let value = |w: &[f64]| {
            let quadratic = dot(w, &product(&penalty, w));
            let (wrong, losses) = self.at(w);
            (losses.iter().sum::<f64>() / total + 0.5 * quadratic, wrong)
        };
        let mut w = start;
        let (mut best, mut wrong) = value(&w);
        for _ in 0..50 {
            let (gradient, hessian) = self.derivatives((&w, &wrong), total, &penalty);
            let step = within_bounds(&w, &gradient, &hessian);
            let tried = (0..20).map(|k| 0.5f64.powi(k)).find_map(|share| {
                let next: Vec<f64> = w.iter().zip(&step).map(|(w, s)| (w + share * s).max(0.0)).collect();
                let (value, wrong) = value(&next);
                (value < best).then_some((next, value, wrong))
            });
            let Some((next, lower, wrong_there)) = tried else { break };
            let done = best - lower < 1e-12 * best.abs();
            (w, best, wrong) = (next, lower, wrong_there);
            if done {
                break;
            }
        }
        w
    }

    /// Gradient and Hessian at weights, given what [`Self::at`] says there.
    fn derivatives(&self, (w, wrong): (&[f64], &[f64]), total: f64, penalty: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let (mut gradient, mut hessian) = (product(penalty, w), penalty.to_vec());
        for ((x, weight), p) in self.each().zip(wrong) {
            let (slope, curvature) = (weight * p / total, weight * p * (1.0 - p) / total);
            add_times(&mut gradient, -slope, x);
            add_squares(&mut hessian, curvature, x);
        }
        (gradient, hessian)
    }

    /// The strength of shrinkage by cross-validation over games: the strongest whose loss on unseen games is within one
    /// standard error of the least. The given direction itself is kept within [`PROVEN`] of them.
    pub(crate) fn shrinkage(&self, rows: &[usize], towards: &[f64], games: usize, seed: u64) -> f64 {
        if games < LEAST_GAMES {
            return f64::INFINITY;
        }
        let part = parts(games, INNER, seed);
        let ladder = LADDER.map(|strength| strength * (1.0 + (FEW_GAMES / games as f64).powi(2)));
        let by_game = |&shrinkage: &f64| {
            let mut losses = vec![0.0; games];
            for fold in 0..INNER {
                let (held, kept): (Vec<usize>, Vec<usize>) =
                    rows.iter().copied().partition(|&row| part[self.games[row]] == fold);
                let w = self.fit(&kept, towards, shrinkage);
                let (_, of_held) = self.some(&held).at(&w);
                held.iter().zip(of_held).for_each(|(&row, loss)| losses[self.games[row]] += loss);
            }
            losses
        };
        let losses: Vec<Vec<f64>> = ladder.iter().map(by_game).collect();
        let least = losses.iter().min_by(|a, b| a.iter().sum::<f64>().total_cmp(&b.iter().sum()));
        let Some(least) = least else { return ladder[0] };
        let near = |(place, of): (usize, &Vec<f64>)| {
            let differences: Vec<f64> = of.iter().zip(least).map(|(a, b)| a - b).collect();
            let sum: f64 = differences.iter().sum();
            let mean = sum / games as f64;
            let squares: f64 = differences.iter().map(|d| (d - mean) * (d - mean)).sum();
            let error = (squares * games as f64 / (games as f64 - 1.0)).sqrt();
            sum <= if place == 0 { PROVEN * error } else { error }
        };
        let place = losses.iter().enumerate().position(near).unwrap_or_default();
        ladder[place]
    }
}

/// The part of each game: games in an order drawn from the seed go to the parts in turn. Unlike the folds of
/// [`validate`](evalcurve_fit::validate), parts have equal sizes, so that none is empty with as few games as parts.
pub(crate) fn parts(games: usize, parts: usize, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..games).collect();
    order.sort_by_key(|&game| random::bits(&[seed, game as u64]));
    let mut part = vec![0; games];
    order.into_iter().enumerate().for_each(|(place, game)| part[game] = place % parts);
    part
}

/// Weights with the mean 1; `otherwise` if all are 0.
pub(crate) fn with_mean_1(weights: &[f64], otherwise: &[f64]) -> Vec<f64> {
    let mean = weights.iter().sum::<f64>() / weights.len() as f64;
    match mean > 0.0 {
        true => weights.iter().map(|w| w / mean).collect(),
        false => otherwise.to_vec(),
    }
}

/// The matrix of `strength` Σ (w_j - mean(w) u_j)² + `ridge` Σ w_j², where the u_j have the mean 1.
fn penalty(towards: &[f64], strength: f64, ridge: f64) -> Vec<f64> {
    let n = towards.len();
    let size = n as f64;
    let squares: f64 = towards.iter().map(|u| u * u).sum();
    let entry = |at: usize| {
        let (i, j) = (at / n, at % n);
        let same = if i == j { 1.0 } else { 0.0 };
        strength * (same - (towards[i] + towards[j]) / size + squares / (size * size)) + ridge * same
    };
    (0..n * n).map(entry).collect()
}

/// The product of a square matrix and a vector.
fn product(matrix: &[f64], v: &[f64]) -> Vec<f64> {
    matrix.chunks_exact(v.len().max(1)).map(|row| dot(row, v)).collect()
}

/// The step that minimises the quadratic model with all weights 0 or more, by the active set of Lawson and Hanson,
/// *Solving Least Squares Problems*, 1974, chapter 23.
fn within_bounds(w: &[f64], gradient: &[f64], hessian: &[f64]) -> Vec<f64> {
    let n = w.len();
    let target: Vec<f64> = product(hessian, w).iter().zip(gradient).map(|(h, g)| h - g).collect();
    let nothing = 1e-12 * target.iter().fold(0.0f64, |most, t| most.max(t.abs()));
    let (mut next, mut free) = (vec![0.0; n], Vec::new());
    // each weight is freed once, unless rounding takes one back
    for _ in 0..3 * n {
        let gain = |i: &usize| target[*i] - dot(&hessian[i * n..(i + 1) * n], &next);
        let fixed = (0..n).filter(|i| !free.contains(i));
        let Some(freed) = fixed.max_by(|a, b| gain(a).total_cmp(&gain(b))).filter(|i| gain(i) > nothing) else { break };
        free.push(freed);
        loop {
            let matrix: Vec<Vec<f64>> =
                free.iter().map(|i| free.iter().map(|j| hessian[i * n + j]).collect()).collect();
            let right: Vec<f64> = free.iter().map(|&i| target[i]).collect();
            let Some(solved) = solve(&matrix, &right) else { return vec![0.0; n] };
            // on the way there, the first weight that reaches 0 stays there
            let until = |(&i, s): (&usize, &f64)| if *s > 0.0 { 1.0 } else { next[i] / (next[i] - s) };
            let share = free.iter().zip(&solved).map(until).fold(1.0, f64::min);
            free.iter().zip(&solved).for_each(|(&i, s)| next[i] += share * (s - next[i]));
            if share == 1.0 {
                break;
            }
            free.retain(|&i| next[i] > 1e-12);
            (0..n).filter(|i| !free.contains(i)).for_each(|i| next[i] = 0.0);
        }
    }
    next.iter().zip(w).map(|(next, w)| next - w).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pairs of a best move and one that is `gap` logits worse, seen by judges with known noise. `copy` is the judge
    /// that the last one copies.
    fn known(games: usize, gap: f64, noise: &[f64], copy: Option<usize>) -> Pairs {
        let judges = noise.len() + usize::from(copy.is_some());
        let mut pairs = Pairs { judges, ..Pairs::default() };
        // twelve uniform numbers minus 6: mean 0, variance 1
        let normal =
            |game: u64, k: u64, judge: u64| (0..12).map(|i| random::unit(&[7, game, k, judge, i])).sum::<f64>() - 6.0;
        for (game, k) in (0..games).flat_map(|game| (0..3).map(move |k| (game, k))) {
            let mut seen: Vec<f64> = noise
                .iter()
                .enumerate()
                .map(|(j, s)| gap + 2.0f64.sqrt() * s * normal(game as u64, k, j as u64))
                .collect();
            seen.extend(copy.map(|judge| seen[judge]));
            pairs.differences.extend(seen);
            pairs.weights.push(0.1);
            pairs.games.push(game);
            pairs.plies.push(1);
        }
        pairs
    }

    fn learned(pairs: &Pairs, games: usize) -> (Vec<f64>, f64) {
        let (rows, equal): (Vec<usize>, _) = ((0..pairs.len()).collect(), vec![1.0; pairs.judges]);
        let shrinkage = pairs.shrinkage(&rows, &equal, games, 1);
        (with_mean_1(&pairs.fit(&rows, &equal, shrinkage), &equal), shrinkage)
    }

    /// The best weights of judges with independent normal noise are their inverse variances.
    #[test]
    fn weights_approach_the_best_ones() {
        let noise = [0.5, 1.0, 1.5];
        let best = with_mean_1(&noise.map(|s: f64| 1.0 / (s * s)), &[]);
        let (few, many) = (known(200, 0.4, &noise, None), known(8_000, 0.4, &noise, None));
        let far = |pairs: &Pairs, games| {
            let (w, _) = learned(pairs, games);
            w.iter().zip(&best).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
        };
        let (of_few, of_many) = (far(&few, 200), far(&many, 8_000));
        assert!(of_many < 0.1 && of_many < of_few, "{of_many} {of_few}");
    }

    #[test]
    fn a_useless_judge_has_no_weight_and_a_copy_shares_its_own() {
        let (w, _) = learned(&known(4_000, 0.4, &[0.6, 0.6, 40.0], None), 4_000);
        assert!(w[2] < 0.01 && (w[0] - w[1]).abs() < 0.2, "{w:?}");
        let (w, _) = learned(&known(4_000, 0.4, &[0.6, 0.6], Some(0)), 4_000);
        assert!((w[0] - w[2]).abs() < 1e-6 && (w[0] + w[2] - w[1]).abs() < 0.15, "{w:?}");
        // a judge that is always wrong has no negative weight
        let mut wrong = known(1_000, 0.4, &[0.6, 0.6], None);
        wrong.differences.iter_mut().step_by(2).for_each(|x| *x = -*x);
        assert_eq!(learned(&wrong, 1_000).0[0], 0.0);
    }

    /// Against every choice of the weights that are 0.
    #[test]
    fn a_step_within_bounds_is_the_best_of_all() {
        for seed in 0..200 {
            let n = 2 + random::below(4, &[seed, 0]) as usize;
            let normal = |i: usize, j: usize| random::unit(&[seed, 1 + i as u64, j as u64]) - 0.5;
            let entry = |i: usize, j: usize| (0..n).map(|k| normal(i, k) * normal(j, k)).sum::<f64>();
            let hessian: Vec<f64> =
                (0..n * n).map(|at| entry(at / n, at % n) + f64::from(at / n == at % n) * 1e-3).collect();
            let (w, gradient): (Vec<f64>, Vec<f64>) =
                (0..n).map(|i| ((normal(i, 20) * 2.0).max(0.0), normal(i, 21))).unzip();
            let value = |step: &[f64]| -> f64 {
                let row = |i: usize| (0..n).map(|j| hessian[i * n + j] * step[j]).sum::<f64>();
                (0..n).map(|i| step[i] * (gradient[i] + 0.5 * row(i))).sum()
            };
            let best = (0..1usize << n).filter_map(|kept| {
                let free: Vec<usize> = (0..n).filter(|i| kept >> i & 1 == 1).collect();
                let mut step: Vec<f64> = w.iter().map(|w| -w).collect();
                let right = |&i: &usize| (0..n).map(|j| hessian[i * n + j] * w[j]).sum::<f64>() - gradient[i];
                let rows: Vec<Vec<f64>> =
                    free.iter().map(|i| free.iter().map(|j| hessian[i * n + j]).collect()).collect();
                let next = solve(&rows, &free.iter().map(right).collect::<Vec<_>>())?;
                free.iter().zip(&next).for_each(|(&i, next)| step[i] += next);
                next.iter().all(|next| *next >= 0.0).then(|| value(&step))
            });
            let (found, best) = (value(&within_bounds(&w, &gradient, &hessian)), best.fold(f64::INFINITY, f64::min));
            assert!((found - best).abs() <= 1e-9 * (1.0 + best.abs()), "{seed}: {found} {best}");
        }
    }

    #[test]
    fn few_data_give_equal_weights() {
        for noise in [[0.5, 0.5, 0.5], [0.4, 0.6, 0.8]] {
            let (w, shrinkage) = learned(&known(8, 0.3, &noise, None), 8);
            assert!(w.iter().all(|w| (w - 1.0).abs() < 1e-9) && shrinkage.is_infinite(), "{w:?} {shrinkage}");
        }
        // no pair at all
        assert_eq!(learned(&known(0, 0.3, &[1.0, 1.0], None), 0).0, [1.0, 1.0]);
        // many data of equal judges as well
        let (w, _) = learned(&known(4_000, 0.4, &[0.8; 3], None), 4_000);
        assert!(w.iter().all(|w| (w - 1.0).abs() < 0.1), "{w:?}");
    }

    /// The derivatives vanish at the minimum, or point outward at a bound.
    #[test]
    fn the_fit_is_the_minimum() {
        let pairs = known(300, 0.4, &[0.4, 1.0, 5.0], None);
        let rows: Vec<usize> = (0..pairs.len()).collect();
        for shrinkage in [0.003, 1.0, 1e3] {
            let towards = [1.5, 1.0, 0.5];
            let w = pairs.fit(&rows, &towards, shrinkage);
            let unit = pairs.curvature();
            let total: f64 = pairs.weights.iter().sum();
            let penalty = penalty(&towards, shrinkage * unit, RIDGE * unit);
            let (gradient, _) = pairs.derivatives((&w, &pairs.at(&w).0), total, &penalty);
            for (w, slope) in w.iter().zip(gradient) {
                assert!(slope.abs() < 1e-4 || (*w == 0.0 && slope > 0.0), "{shrinkage} {w} {slope}");
            }
            if shrinkage == 1e3 {
                let found = with_mean_1(&w, &[]);
                assert!(found.iter().zip(towards).all(|(a, b)| (a - b).abs() < 0.01), "{found:?}");
            }
        }
    }
}
