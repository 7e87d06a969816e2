//! The covariance of each engine's parameters, without a matrix of the size of all engines.

use std::collections::HashSet;

use super::field::Field;
use super::objective::{OF_RESULTS, Objective};
use crate::fit::lapse::{Points, second};
use crate::fit::search::{Evaluation, Loss};
use crate::fit::symmetric::{Arrow, ArrowFactor, Curvature, Square, add_times, dot};
use crate::parallel;
use crate::vector::BLOCK;

/// Partial sums: fixed, so that sums have equal bits on any number of threads.
const PARTS: usize = 8;
/// Games of a task.
const CHUNK: usize = 512;
/// Parameters of an engine's model.
const MODEL: usize = 9;

/// The parameters of an engine's model as linear functions of those of the fit, near its minimum: of the engine's
/// slope, and of the edges of the engine.
pub(super) struct Functionals {
    slope: [f64; MODEL],
    tail: [Vec<f64>; MODEL],
}

impl Functionals {
    /// Those of w1, w2, w3, lapse, the share drawn at any score, half the width of the draws, optimism, the players'
    /// strength and the slope in the field.
    pub(super) fn new(objective: &Objective<'_>, engine: usize, unit: f64, field: Option<&Field>, at: &[f64]) -> Self {
        let layout = &objective.layout;
        let columns = objective.pattern().of(engine).len();
        let shared = columns - (layout.tail() - layout.players);
        let (mut slope, mut tail) = ([0.0; MODEL], [(); MODEL].map(|()| vec![0.0; columns]));
        slope[0] = 1.0 / unit;
        layout.w3().into_iter().for_each(|_| tail[2][shared + 1] = 1.0);
        layout.lapse().into_iter().for_each(|_| tail[3][columns - 1] = 1.0);
        if let Some(drawn) = layout.drawn() {
            let slot = shared + drawn - layout.optimism();
            // a draw is half a win and half a loss
            (tail[3][slot], tail[4][slot], tail[5][slot + 1]) = (0.5, 1.0, 1.0);
            let [by_slope, by_offset] = field.map_or([0.0; 2], |field| field.by_width);
            (tail[1][slot + 1], tail[8][slot + 1]) = (by_offset, by_slope / unit);
        }
        tail[6][shared] = 1.0;
        let own = objective.rows_of(engine);
        let rates = objective.rates(own.clone(), at);
        for (i, row) in own.enumerate() {
            let of = |rate: &f64| rate * (1.0 - rate);
            let bend = of(&rates[0][i]) + rates[1].get(i).map_or(0.0, of);
            let [by_slope, by_offset] = field.map_or([0.0; 2], |f| f.moved(objective.rows.x[row], bend));
            slope[1] += by_offset * objective.rows.x[row];
            slope[8] += by_slope * objective.rows.x[row] / unit;
            let (features, n) = objective.features(row);
            for &(_, by, slot) in &features[..n] {
                tail[1][slot] += by_offset * by;
                tail[8][slot] += by_slope * by / unit;
            }
        }
        tail[7] = strength(objective, engine);
        Self { slope, tail }
    }
}

/// By how much the mean strength of an engine's players moves with each of its edges.
fn strength(objective: &Objective<'_>, engine: usize) -> Vec<f64> {
    let (layout, rows) = (&objective.layout, objective.rows_of(engine));
    let mut by_edge = vec![0.0; objective.pattern().of(engine).len()];
    let players = by_edge.len() - (layout.tail() - layout.players);
    let samples = rows.len() as f64;
    for row in rows {
        let (features, n) = objective.features(row);
        features[..n]
            .iter()
            .filter(|(.., slot)| *slot < players)
            .for_each(|(_, by, slot)| by_edge[*slot] += by / samples);
    }
    by_edge
}

/// The mean strength of an engine's players at a point.
pub(super) fn mean_strength(objective: &Objective<'_>, engine: usize, at: &[f64]) -> f64 {
    let columns = &objective.pattern().columns[objective.pattern().of(engine)];
    let tail = &at[objective.layout.engines..];
    strength(objective, engine).iter().zip(columns).map(|(by, column)| by * tail[*column as usize]).sum()
}

/// Entries of the inverse of an arrow.
pub(super) struct Inverse {
    factor: ArrowFactor,
    /// the inverse of what is left of the tail, whole
    tail: Vec<f64>,
    /// of each leading row, its edges times that over its diagonal
    spread: Vec<f64>,
    size: usize,
}

impl Inverse {
    pub(super) fn new(factor: ArrowFactor) -> Self {
        let size = factor.tail.size();
        let half = factor.tail.inverse();
        let cells = (0..size).flat_map(|i| (0..size).map(move |j| (i.max(j), i.min(j))));
        let tail: Vec<f64> = cells.map(|(i, j)| half.at(i, j)).collect();
        let mut spread = vec![0.0; factor.diagonal.len() * size];
        for (row, d) in factor.diagonal.iter().enumerate() {
            let sums = &mut spread[row * size..(row + 1) * size];
            for (column, value) in factor.edges(row) {
                add_times(sums, value / d, &tail[column * size..(column + 1) * size]);
            }
        }
        Self { factor, tail, spread, size }
    }

    fn d(&self, row: usize) -> f64 {
        self.factor.diagonal[row]
    }

    pub(super) fn at(&self, i: usize, j: usize) -> f64 {
        let (n, i, j) = (self.factor.diagonal.len(), i.max(j), i.min(j));
        let spread = |row: usize| &self.spread[row * self.size..(row + 1) * self.size];
        match (i.checked_sub(n), j.checked_sub(n)) {
            (Some(i), Some(j)) => self.tail[i * self.size + j],
            (Some(i), None) => -spread(j)[i],
            _ => {
                let by: f64 = self.factor.edges(i).map(|(column, value)| value * spread(j)[column]).sum();
                by / self.d(i) + if i == j { 1.0 / self.d(i) } else { 0.0 }
            }
        }
    }
}

/// By how much some games move the minimum: the numbers u of [`without`], by parameter.
#[derive(Default)]
struct Moves {
    /// where those of each game end
    ends: Vec<u32>,
    parameters: Vec<u32>,
    by: Vec<f64>,
}

impl Moves {
    fn of(&self, game: usize) -> impl Iterator<Item = (usize, f64)> + Clone {
        let start = game.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        let range = start..self.ends[game] as usize;
        self.parameters[range.clone()].iter().map(|i| *i as usize).zip(self.by[range].iter().copied())
    }
}

/// By how much each game moves the minimum.
struct Games {
    /// those of each task
    tasks: Vec<Moves>,
    /// how many games there are
    count: usize,
    /// where the games of each engine begin, and the end
    engines: Vec<usize>,
    of_engine: Vec<u32>,
}

impl Games {
    fn new(objective: &Objective<'_>, at: &[f64], inverse: &Inverse) -> Self {
        let tasks = moves(objective, at, inverse);
        let engines = vec![0; objective.layout.engines + 1];
        let count = tasks.iter().map(|task| task.ends.len()).sum();
        let mut all = Self { tasks, count, engines, of_engine: Vec::new() };
        for task in &all.tasks {
            let of_engines = task.parameters.iter().filter(|i| (**i as usize) < objective.layout.engines);
            of_engines.for_each(|i| all.engines[*i as usize + 1] += 1);
        }
        (0..objective.layout.engines).for_each(|e| all.engines[e + 1] += all.engines[e]);
        let (mut next, mut of_engine) = (all.engines.clone(), vec![0; all.engines[objective.layout.engines]]);
        for game in 0..all.count {
            for (i, _) in all.of(game).filter(|(i, _)| *i < objective.layout.engines) {
                of_engine[next[i]] = game as u32;
                next[i] += 1;
            }
        }
        Self { of_engine, ..all }
    }

    fn of(&self, game: usize) -> impl Iterator<Item = (usize, f64)> + Clone {
        self.tasks[game / CHUNK].of(game % CHUNK)
    }

    /// The sum over all games of the products of their moves of the tail.
    fn tails(&self, engines: usize, size: usize) -> Square {
        let length = self.count.div_ceil(PARTS).max(1);
        let part = |part: usize| {
            let mut sum = Square::zero(size);
            for game in part * length..self.count.min((part + 1) * length) {
                let tail = self.of(game).filter_map(|(i, u)| Some((i.checked_sub(engines)?, u)));
                for (a, (i, u)) in tail.clone().enumerate() {
                    tail.clone().take(a + 1).for_each(|(j, v)| sum.add(i, j, u * v));
                }
            }
            sum
        };
        let parts = parallel::map(self.count.div_ceil(length), part);
        parts.into_iter().fold(Square::zero(size), |mut sum, part| {
            sum.add_all(&part);
            sum
        })
    }
}

/// By how much each game moves the minimum, games by identity, [`CHUNK`] of them to a task.
fn moves(objective: &Objective<'_>, at: &[f64], inverse: &Inverse) -> Vec<Moves> {
    let rows = objective.rows;
    let mut order: Vec<u32> = (0..rows.len() as u32).collect();
    // by row as well, so that the sums of a game keep their bits
    order.sort_unstable_by_key(|row| (rows.game[*row as usize], *row));
    let same = |a: &u32, b: &u32| rows.game[*a as usize] == rows.game[*b as usize];
    let ends = order.chunk_by(same).scan(0, |end, game| {
        *end += game.len();
        Some(*end)
    });
    let starts: Vec<usize> = std::iter::once(0).chain(ends.skip(CHUNK - 1).step_by(CHUNK)).collect();
    parallel::map(starts.len(), |task| {
        let (mut moves, mut points) = (Moves::default(), Points::new());
        for game in order[starts[task]..].chunk_by(same).take(CHUNK) {
            for (i, u) in without(objective, game, at, inverse, &mut points) {
                moves.parameters.push(i as u32);
                moves.by.push(u);
            }
            moves.ends.push(moves.by.len() as u32);
        }
        moves.parameters.shrink_to_fit();
        moves.by.shrink_to_fit();
        moves
    })
}

/// What the games of an engine say of its slope.
struct OfEngine {
    /// the products of its moves with those of each functional
    crossed: [f64; MODEL],
    /// the squares of its moves
    squares: f64,
}

/// The covariance of each engine's parameters: L (Σ d dᵀ + A⁻¹ P A⁻¹) Lᵀ. A is the Hessian; d = (A - A_g)⁻¹ s is by how
/// much the minimum moves, in one Newton step, without a game of gradient s and Hessian A_g (the cluster jackknife); P
/// is the precision of the prior, which counts as an observation.
///
/// `of_lapse` is the precision of a prior of the share of lapses, see [`AtBound`].
///
/// With the slopes eliminated the sum over all games is a matrix of the size of the tail, which all engines share: the
/// time grows with the number of games and that of engines, not with their product.
pub(super) fn covariances(
    objective: &Objective<'_>,
    at: &[f64],
    evaluation: &Evaluation<Arrow>,
    functionals: &[Functionals],
    of_lapse: Option<f64>,
) -> Option<Vec<Vec<Vec<f64>>>> {
    let layout = &objective.layout;
    let inverse = Inverse::new(evaluation.hessian.clone().scaled(objective.rows.len() as f64).factor()?);
    let games = Games::new(objective, at, &inverse);
    if games.count < 2 {
        return None;
    }
    let (size, length) = (layout.tail(), layout.engines.div_ceil(PARTS).max(1));
    let part = |part: usize| {
        let mut sums = vec![0.0; size * size];
        let engines = part * length..layout.engines.min((part + 1) * length);
        let of: Vec<OfEngine> = engines.map(|e| of_engine(e, &games, &inverse, &functionals[e], &mut sums)).collect();
        (sums, of)
    };
    let mut all = games.tails(layout.engines, size);
    (0..layout.players).for_each(|player| all.add(player, player, objective.precision()));
    // where the results alone would end at a bound, their gradient g there is that of the prior, and this makes the
    // standard error 1/g: that of a share whose likelihood falls from the bound on
    for (i, [.., precision]) in objective.prior_of_draws(at) {
        all.add(i - layout.engines, i - layout.engines, precision);
    }
    of_lapse.into_iter().for_each(|precision| all.add(size - 1, size - 1, precision));
    let mut engines = Vec::with_capacity(layout.engines);
    for (sums, of) in parallel::map(layout.engines.div_ceil(length), part) {
        for i in 0..size {
            (0..=i).for_each(|j| all.add(i, j, -(sums[i * size + j] + sums[j * size + i])));
        }
        engines.extend(of);
    }
    let between = both_sides(&inverse, &all);
    Some(parallel::map(layout.engines, |e| of_model(e, &inverse, &functionals[e], &engines[e], &between)))
}

/// What a share of lapses of 0 leaves open: the fit with a share that a prior holds near 0.
pub(super) struct AtBound<'a> {
    pub(super) objective: Objective<'a>,
    pub(super) at: Vec<f64>,
    pub(super) evaluation: Evaluation<Arrow>,
    /// the precision of that prior
    pub(super) precision: f64,
}

/// A share of lapses is not above this (Wichmann and Hill 2001): few games alone would leave any share possible.
const MOST_AT_BOUND: f64 = 0.06;

/// By how much more the prior of [`AtBound`] bends than the results: enough that no game moves the share.
const HELD: f64 = 100.0;

impl<'a> AtBound<'a> {
    /// Beside the bound the likelihood of a share λ falls as exp(−gλ − hλ²/2), for which the mean of λ² is about
    /// 1/(h + g²/2 + 3/m²) where λ is at most m: exact where one of the three is all. g and h count games, because one
    /// lapse decides a whole game.
    ///
    /// `None` where a share is estimated, or where games are drawn: the share that is drawn at any score has such a
    /// prior already, and where a coin decides 2% of the games, intervals at .98 hold the truth in .94 to .98 without
    /// this one (`benches/three_outcomes.py`).
    pub(super) fn new(plain: &Objective<'a>, at: &[f64]) -> Option<Self> {
        if plain.layout.lapse || plain.layout.draws {
            return None;
        }
        let objective = plain.lapsing();
        let at: Vec<f64> = at.iter().copied().chain([0.0]).collect();
        let mut evaluation = objective.evaluate(&at)?;
        let (samples, last) = (objective.rows.len() as f64, objective.layout.size() - 1);
        let games: HashSet<&u64> = objective.rows.game.iter().collect();
        let inverse = Inverse::new(evaluation.hessian.clone().scaled(samples).factor()?);
        let (slope, bend) = (samples * evaluation.gradient[last], 1.0 / inverse.at(last, last));
        let each = games.len() as f64 / samples;
        let square = 1.0 / (each * bend + 0.5 * (each * slope).powi(2) + 3.0 / MOST_AT_BOUND.powi(2));
        let held = HELD * (bend + slope * slope);
        evaluation.hessian.tail.add(objective.layout.tail() - 1, objective.layout.tail() - 1, held / samples);
        Some(Self { objective, at, evaluation, precision: square * (bend + held).powi(2) })
    }
}

/// S⁻¹ M S⁻¹ with S what is left of the tail.
fn both_sides(inverse: &Inverse, middle: &Square) -> Vec<f64> {
    let size = inverse.size;
    let product = |of: &dyn Fn(usize, usize) -> f64| {
        let mut product = vec![0.0; size * size];
        for i in 0..size {
            let row = &mut product[i * size..(i + 1) * size];
            (0..size).for_each(|j| add_times(row, of(i, j), &inverse.tail[j * size..(j + 1) * size]));
        }
        product
    };
    let half = product(&|i, j| middle.at(i.max(j), i.min(j)));
    product(&|i, j| half[j * size + i])
}

/// A functional with the slopes eliminated, by the edges of its engine.
fn reduced(engine: usize, k: usize, inverse: &Inverse, functionals: &Functionals) -> Vec<f64> {
    let by = functionals.slope[k] / inverse.d(engine);
    inverse.factor.edges(engine).zip(&functionals.tail[k]).map(|((_, edge), own)| own - edge * by).collect()
}

/// Adds half of what the games of an engine take from the sum of the tail to `sums`.
fn of_engine(e: usize, games: &Games, inverse: &Inverse, functionals: &Functionals, sums: &mut [f64]) -> OfEngine {
    let (size, n) = (inverse.size, inverse.factor.diagonal.len());
    let (mut plain, mut squares) = (vec![0.0; size], 0.0);
    let mut left = vec![0.0; size];
    for game in &games.of_engine[games.engines[e]..games.engines[e + 1]] {
        let moves = games.of(*game as usize);
        let Some((_, u)) = moves.clone().find(|(i, _)| *i == e) else { continue };
        for (i, v) in moves {
            if i >= n {
                plain[i - n] += u * v;
                continue;
            }
            let by = u * v / inverse.d(i);
            inverse.factor.edges(i).for_each(|(column, value)| left[column] -= by * value);
            squares += if i == e { v * v } else { 0.0 };
        }
    }
    add_times(&mut left, 1.0, &plain);
    let solved: Vec<f64> = inverse
        .factor
        .edges(e)
        .map(|(column, _)| dot(&inverse.tail[column * size..(column + 1) * size], &left))
        .collect();
    let crossed = std::array::from_fn(|k| dot(&reduced(e, k, inverse, functionals), &solved));
    add_times(&mut left, 1.0, &plain);
    for (column, value) in inverse.factor.edges(e) {
        add_times(&mut sums[column * size..(column + 1) * size], 0.5 * value / inverse.d(e), &left);
    }
    OfEngine { crossed, squares }
}

/// The covariance of an engine's parameters.
fn of_model(e: usize, inverse: &Inverse, functionals: &Functionals, of: &OfEngine, between: &[f64]) -> Vec<Vec<f64>> {
    let reduced: [Vec<f64>; MODEL] = std::array::from_fn(|k| reduced(e, k, inverse, functionals));
    let columns: Vec<usize> = inverse.factor.edges(e).map(|(column, _)| column).collect();
    let spread = reduced.each_ref().map(|by| {
        let row = |i: &usize| columns.iter().zip(by).map(|(j, by)| between[i * inverse.size + j] * by).sum::<f64>();
        columns.iter().map(row).collect::<Vec<f64>>()
    });
    let slope = |k: usize| functionals.slope[k] / inverse.d(e);
    let entry = |a: usize, b: usize| {
        dot(&reduced[a], &spread[b])
            + slope(a) * of.crossed[b]
            + slope(b) * of.crossed[a]
            + slope(a) * slope(b) * of.squares
    };
    // exactly symmetric
    (0..MODEL).map(|i| (0..MODEL).map(|j| entry(i.max(j), i.min(j))).collect()).collect()
}

/// The u for which A⁻¹u = (A - A_g)⁻¹s, with s and A_g the gradient and the Hessian of a game's rows: on the parameters
/// that the game touches, u = S⁻¹ (S⁻¹ - A_g)⁻¹ s with S the part of A⁻¹ between them. Where only this game determines
/// a parameter it is s itself. Parameters ascend.
pub(super) fn without(
    objective: &Objective<'_>,
    rows: &[u32],
    at: &[f64],
    inverse: &Inverse,
    points: &mut Points,
) -> Vec<(usize, f64)> {
    let layout = &objective.layout;
    let of_row = |row: usize| {
        let (features, n) = objective.features(row);
        let slope = (objective.rows.engine(row), objective.rows.x[row]);
        std::iter::once(slope).chain((0..n).map(move |a| (layout.engines + features[a].0, features[a].1)))
    };
    let of_results = || OF_RESULTS.into_iter().filter_map(|k| Some((k, layout.of_result(k)?)));
    let mut touched: Vec<usize> = rows.iter().flat_map(|row| of_row(*row as usize).map(|(i, _)| i)).collect();
    touched.extend(of_results().map(|(_, i)| i));
    touched.sort_unstable();
    touched.dedup();
    let n = touched.len();
    let place = |i: usize| touched.partition_point(|other| *other < i);
    let (mut plain, mut own) = (vec![0.0; n], Square::zero(n));
    for rows in rows.chunks(BLOCK) {
        let of = |number: &dyn Fn(usize) -> f64| rows.iter().map(|row| number(*row as usize)).collect::<Vec<f64>>();
        let logits = of(&|row| objective.logit(row, at));
        points.at(&logits, objective.common(at), &of(&|row| objective.rows.result[row]));
        for (r, row) in rows.iter().map(|row| *row as usize).enumerate() {
            let twice = |j: usize, k: usize| points.second[second(j, k)][r];
            for (a, (i, x)) in of_row(row).enumerate() {
                let i = place(i);
                plain[i] += points.first[0][r] * x;
                of_row(row).take(a + 1).for_each(|(j, y)| own.add(i, place(j), twice(0, 0) * x * y));
                of_results().for_each(|(k, j)| own.add(place(j), i, twice(0, k) * x));
            }
            for (a, (k, i)) in of_results().enumerate() {
                plain[place(i)] += points.first[k][r];
                of_results().take(a + 1).for_each(|(l, j)| own.add(place(i), place(j), twice(k, l)));
            }
        }
    }
    let mut between = Square::zero(n);
    for (a, &i) in touched.iter().enumerate() {
        touched[..=a].iter().enumerate().for_each(|(b, &j)| between.add(a, b, inverse.at(i, j)));
    }
    let corrected = || {
        let between = between.cholesky()?;
        let mut rest = between.inverse();
        rest.add_all(&own.scaled(-1.0));
        let mut moved = rest.cholesky().map(|rest| rest.solve(&plain));
        // a share that one game makes goes with it, and cannot fall below 0
        let mut gone: Vec<(usize, f64)> = Vec::new();
        for (l, share) in of_results().map(|(_, i)| (place(i), at[i])) {
            if moved.as_ref().is_none_or(|moved| moved[l] < -share) {
                gone.push((l, -share));
                moved = fixed(&rest, &plain, &gone);
            }
        }
        Some(between.solve(&moved?))
    };
    let corrected = corrected().unwrap_or_else(|| plain.clone());
    touched.into_iter().zip(corrected).collect()
}

/// The minimum of x Hx/2 - gx over x some of whose components have these values; `None` where there is none.
fn fixed(hessian: &Square, gradient: &[f64], values: &[(usize, f64)]) -> Option<Vec<f64>> {
    let others: Vec<usize> = (0..gradient.len()).filter(|i| values.iter().all(|(l, _)| l != i)).collect();
    let mut part = Square::zero(others.len());
    for (a, &i) in others.iter().enumerate() {
        others[..=a].iter().enumerate().for_each(|(b, &j)| part.add(a, b, hessian.at(i.max(j), i.min(j))));
    }
    let of_values = |i: usize| values.iter().map(|&(l, value)| value * hessian.at(i.max(l), i.min(l))).sum::<f64>();
    let right: Vec<f64> = others.iter().map(|&i| gradient[i] - of_values(i)).collect();
    let solved = part.cholesky()?.solve(&right);
    let mut all = vec![0.0; gradient.len()];
    others.iter().zip(solved).for_each(|(i, value)| all[*i] = value);
    values.iter().for_each(|&(l, value)| all[l] = value);
    Some(all)
}
