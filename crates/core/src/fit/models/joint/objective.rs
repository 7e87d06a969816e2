//! What a joint fit minimises: the results given slopes, strengths, optimism and lapses, and the prior of the
//! strengths.

use std::ops::Range;
use std::sync::Arc;

use crate::fit::lapse::Points;
use crate::fit::search::{Evaluation, Limits, Loss, MAX_STEP};
use crate::fit::symmetric::{Arrow, Curvature, Pattern, Square};
use crate::parallel;
use crate::vector::{BLOCK, Logistics};

/// Partial sums: fixed, so that sums have equal bits on any number of threads.
const PARTS: usize = 8;
/// Fewest rows of a part.
const LEAST: usize = 2048;
/// Shares of lapses are less than this.
const MOST_LAPSES: f64 = 0.4;
/// From a share of lapses below this, a step may end the search at 0.
const FEW_LAPSES: f64 = 1e-3;

/// A sample of the fit. The samples of an engine are together, engines in their order; sums are quickest where those
/// of the same players are together, too.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    pub(super) game: u64,
    pub(super) engine: u32,
    /// the players, by number
    pub(super) own: Option<u32>,
    pub(super) opponent: Option<u32>,
    /// the score in units of its engine
    pub(super) x: f64,
    /// rating difference; 0 where it is not known
    pub(super) d: f64,
    /// what is known of the logit beside the score
    pub(super) offset: f64,
    pub(super) result: f64,
}

/// Where each parameter is: slopes; then the tail of strengths, optimism, w3, lapse.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    pub(super) players: usize,
    pub(super) engines: usize,
    pub(super) rated: bool,
    pub(super) lapse: bool,
}

impl Layout {
    pub(super) fn player(&self, player: usize) -> usize {
        self.engines + player
    }

    pub(super) fn optimism(&self) -> usize {
        self.engines + self.players
    }

    pub(super) fn w3(&self) -> Option<usize> {
        self.rated.then_some(self.optimism() + 1)
    }

    pub(super) fn lapse(&self) -> Option<usize> {
        self.lapse.then_some(self.optimism() + 1 + usize::from(self.rated))
    }

    pub(super) fn size(&self) -> usize {
        self.optimism() + 1 + usize::from(self.rated) + usize::from(self.lapse)
    }

    /// Size of the tail.
    pub(super) fn tail(&self) -> usize {
        self.size() - self.engines
    }
}

pub(super) struct Objective<'a> {
    pub(super) rows: &'a [Row],
    pub(super) layout: Layout,
    strength_sd: f64,
    spread: Vec<f64>,
    pattern: Arc<Pattern>,
    columns: Arc<Columns>,
    /// whether a search ends where the share of lapses falls to 0
    may_leave: bool,
}

/// The rows, arranged; the same with and without lapses.
struct Columns {
    /// the rows of each engine
    starts: Vec<usize>,
    /// of each row, where the edges of its players are among those of its engine
    slots: Vec<[u32; 2]>,
    /// where the neighbouring rows of the same engine and players begin, and the end
    runs: Vec<usize>,
    // the numbers of the rows, side by side
    x: Vec<f64>,
    d: Vec<f64>,
    offset: Vec<f64>,
    result: Vec<f64>,
}

/// Sums over rows of the same engine and players, of which a rating difference is all that differs beside the score.
#[derive(Default)]
struct Sums {
    /// of the first derivative by the logit: plain, by the score, by the difference; then of that by the lapse
    first: [f64; 4],
    /// of the second one: plain, by score, score twice, difference, both, difference twice
    second: [f64; 6],
    /// of that by logit and lapse: plain, by score, by difference; then of that by the lapse twice
    lapse: [f64; 4],
}

/// Most parameters of a row in the tail, but for the lapse.
const FEATURES: usize = 4;

/// Derivatives of a logit by the parameters of the tail, the number of each among the edges of its engine, and how many
/// there are.
type Features = ([(usize, f64, usize); FEATURES], usize);

impl<'a> Objective<'a> {
    pub(super) fn new(rows: &'a [Row], layout: Layout, strength_sd: f64) -> Self {
        let mut starts = vec![0; layout.engines + 1];
        rows.iter().for_each(|row| starts[row.engine as usize + 1] += 1);
        (0..layout.engines).for_each(|e| starts[e + 1] += starts[e]);
        let mut pattern = Pattern { starts: vec![0], columns: Vec::new() };
        let (mut slot, mut slots) = (vec![0; layout.players], Vec::with_capacity(rows.len()));
        for e in 0..layout.engines {
            let (own, from) = (&rows[starts[e]..starts[e + 1]], pattern.columns.len());
            pattern.columns.extend(own.iter().flat_map(|row| [row.own, row.opponent].into_iter().flatten()));
            pattern.columns[from..].sort_unstable();
            let mut kept = from;
            for at in from..pattern.columns.len() {
                if at == from || pattern.columns[at] != pattern.columns[kept - 1] {
                    pattern.columns[kept] = pattern.columns[at];
                    kept += 1;
                }
            }
            pattern.columns.truncate(kept);
            pattern.columns[from..].iter().zip(0..).for_each(|(player, place)| slot[*player as usize] = place);
            let of = |player: Option<u32>| player.map_or(0, |player| slot[player as usize]);
            slots.extend(own.iter().map(|row| [of(row.own), of(row.opponent)]));
            // all rows have the shared parameters
            pattern.columns.extend(layout.players as u32..layout.tail() as u32);
            pattern.starts.push(pattern.columns.len());
        }
        let spread = vec![1.0; layout.size()];
        let of = |row: &Row| (row.engine, row.own, row.opponent);
        let begins = |at: &usize| *at == 0 || of(&rows[at - 1]) != of(&rows[*at]);
        let runs = (0..rows.len()).filter(begins).chain([rows.len()]).collect();
        let column = |of: fn(&Row) -> f64| rows.iter().map(of).collect();
        let columns = Arc::new(Columns {
            starts,
            slots,
            runs,
            x: column(|r| r.x),
            d: column(|r| r.d),
            offset: column(|r| r.offset),
            result: column(|r| r.result),
        });
        Self { rows, layout, strength_sd, spread, pattern: Arc::new(pattern), columns, may_leave: false }
    }

    /// The objective of the same rows with a share of lapses, which this one is without.
    pub(super) fn lapsing(&self) -> Self {
        let layout = Layout { lapse: true, ..self.layout };
        let mut pattern =
            Pattern { starts: vec![0], columns: Vec::with_capacity(self.pattern.columns.len() + layout.engines) };
        for e in 0..layout.engines {
            pattern.columns.extend_from_slice(&self.pattern.columns[self.pattern.of(e)]);
            pattern.columns.push(layout.tail() as u32 - 1);
            pattern.starts.push(pattern.columns.len());
        }
        let (pattern, columns) = (Arc::new(pattern), Arc::clone(&self.columns));
        Self { layout, spread: vec![1.0; layout.size()], pattern, columns, ..*self }
    }

    /// The same objective for a search that ends where the share of lapses falls to 0.
    pub(super) fn leaving(&self) -> Self {
        let (spread, pattern, columns) = (self.spread.clone(), Arc::clone(&self.pattern), Arc::clone(&self.columns));
        Self { spread, pattern, columns, may_leave: true, ..*self }
    }

    /// The rows of an engine.
    pub(super) fn rows_of(&self, engine: usize) -> Range<usize> {
        self.columns.starts[engine]..self.columns.starts[engine + 1]
    }

    pub(super) fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// Derivatives by the parameters of the tail, without the lapse.
    pub(super) fn features(&self, row: usize) -> Features {
        let (Row { engine, own, opponent, d, .. }, slots) = (self.rows[row], self.columns.slots[row]);
        let shared = self.pattern.of(engine as usize).len() - (self.layout.tail() - self.layout.players);
        let mut features = [(self.layout.players, -1.0, shared), (0, 0.0, 0), (0, 0.0, 0), (0, 0.0, 0)];
        let mut n = 1;
        let others = [
            own.map(|i| (i as usize, 1.0, slots[0] as usize)),
            opponent.map(|i| (i as usize, -1.0, slots[1] as usize)),
            self.layout.rated.then_some((self.layout.players + 1, d, shared + 1)),
        ];
        for feature in others.into_iter().flatten() {
            features[n] = feature;
            n += 1;
        }
        (features, n)
    }

    /// What is known of the logit of a row but for its score and the optimism.
    pub(super) fn advantage(&self, row: usize, at: &[f64]) -> f64 {
        let Row { own, opponent, d, offset, .. } = self.rows[row];
        let of = |player: Option<u32>| player.map_or(0.0, |i| at[self.layout.player(i as usize)]);
        offset + (of(own) - of(opponent)) + self.layout.w3().map_or(0.0, |i| at[i] * d)
    }

    /// The logit of a row.
    pub(super) fn logit(&self, row: usize, at: &[f64]) -> f64 {
        let Row { engine, x, .. } = self.rows[row];
        at[engine as usize] * x - at[self.layout.optimism()] + self.advantage(row, at)
    }

    /// The win rate of each row without lapses.
    pub(super) fn rates(&self, at: &[f64]) -> Vec<f64> {
        let mut rates: Vec<f64> = (0..self.rows.len()).map(|row| self.logit(row, at)).collect();
        let mut block = Logistics::new();
        for z in rates.chunks_mut(BLOCK) {
            block.at(z);
            z.copy_from_slice(&block.p[..z.len()]);
        }
        rates
    }

    pub(super) fn lapse(&self, at: &[f64]) -> f64 {
        self.layout.lapse().map_or(0.0, |i| at[i])
    }

    /// Calls back for each of some rows with the index in the points.
    pub(super) fn each_point(&self, rows: Range<usize>, at: &[f64], of: &mut dyn FnMut(usize, &Points, usize)) {
        self.each_block(rows, at, &mut |rows, points| rows.enumerate().for_each(|(i, row)| of(row, points, i)));
    }

    /// The parts of the runs of rows that lie in a range.
    fn runs_in(&self, rows: Range<usize>) -> impl Iterator<Item = Range<usize>> {
        let runs = &self.columns.runs;
        let first = runs.partition_point(|start| *start <= rows.start).saturating_sub(1);
        let runs = runs[first..].windows(2).map(move |run| run[0].max(rows.start)..run[1].min(rows.end));
        runs.take_while(|run| !run.is_empty())
    }

    /// Calls back for blocks of some rows with their points.
    fn each_block(&self, rows: Range<usize>, at: &[f64], of: &mut dyn FnMut(Range<usize>, &Points)) {
        let (mut points, mut z) = (Points::new(), [0.0; BLOCK]);
        let (optimism, w3) = (at[self.layout.optimism()], self.layout.w3().map_or(0.0, |i| at[i]));
        let Columns { x, d, offset, result, .. } = &*self.columns;
        for from in rows.clone().step_by(BLOCK) {
            let block = from..rows.end.min(from + BLOCK);
            for run in self.runs_in(block.clone()) {
                let Row { engine, own, opponent, .. } = self.rows[run.start];
                let of = |player: Option<u32>| player.map_or(0.0, |i| at[self.layout.player(i as usize)]);
                let (slope, players) = (at[engine as usize], of(own) - of(opponent));
                let z = &mut z[run.start - from..run.end - from];
                for (((z, x), d), offset) in z.iter_mut().zip(&x[run.clone()]).zip(&d[run.clone()]).zip(&offset[run]) {
                    *z = slope * x - optimism + (offset + players + w3 * d);
                }
            }
            points.at(&z[..block.len()], self.layout.lapse().map(|i| at[i]), &result[block.clone()]);
            of(block, &points);
        }
    }

    /// The sums of a run, whose points begin at a place.
    fn sums(&self, run: Range<usize>, points: &Points, place: usize) -> Sums {
        let mut sums = Sums::default();
        let places = place..place + run.len();
        let (x, d) = (&self.columns.x[run.clone()], &self.columns.d[run]);
        let (by, bend) = (&points.first[0][places.clone()], &points.second[0][places.clone()]);
        for (((x, d), by), bend) in x.iter().zip(d).zip(by).zip(bend) {
            let (bend_x, bend_d) = (bend * x, bend * d);
            add_all(&mut sums.first, [*by, by * x, by * d, 0.0]);
            add_all(&mut sums.second, [*bend, bend_x, bend_x * x, bend_d, bend_x * d, bend_d * d]);
        }
        if self.layout.lapse {
            let (by, cross) = (&points.first[1][places.clone()], &points.second[1][places.clone()]);
            for ((((x, d), by), cross), twice) in x.iter().zip(d).zip(by).zip(cross).zip(&points.second[2][places]) {
                sums.first[3] += by;
                add_all(&mut sums.lapse, [*cross, cross * x, cross * d, *twice]);
            }
        }
        sums
    }

    /// The sums of some rows, of their engines alone, and the first of these.
    fn results(&self, rows: Range<usize>, at: &[f64]) -> (usize, Evaluation<Arrow>) {
        let engine = |row: usize| self.rows.get(row).map_or(0, |row| row.engine as usize);
        let (first, last) = (engine(rows.start), engine(rows.end.saturating_sub(1)));
        let (engines, tail) = (last - first + 1, self.layout.tail());
        let before = self.pattern.starts[first];
        let (mut gradient, mut diagonal) = (vec![0.0; engines + tail], vec![0.0; engines]);
        let mut edges = vec![0.0; self.pattern.starts[last + 1] - before];
        let (mut square, mut loss) = (Square::zero(tail), 0.0);
        let lapse = self.layout.lapse.then_some(tail - 1);
        let w3 = self.layout.w3().map(|_| self.layout.players + 1);
        let mut add = |run: Range<usize>, points: &Points, place: usize| {
            let (Sums { first: by, second: bend, lapse: cross }, row) =
                (self.sums(run.clone(), points, place), run.start);
            let e = engine(row) - first;
            let edges =
                &mut edges[self.pattern.starts[e + first] - before..self.pattern.starts[e + first + 1] - before];
            gradient[e] += by[1];
            diagonal[e] += bend[2];
            let (features, n) = self.features(row);
            // a sign, and whether the rating difference is a factor
            let signed = features.map(|(i, v, slot)| if w3 == Some(i) { (i, 1.0, 1, slot) } else { (i, v, 0, slot) });
            for (a, &(i, v, d, slot)) in signed[..n].iter().enumerate() {
                gradient[engines + i] += v * by[2 * d];
                edges[slot] += v * bend[if d == 1 { 4 } else { 1 }];
                for &(j, w, c, _) in &signed[..=a] {
                    square.add(i, j, v * w * bend[[0, 3, 5][d + c]]);
                }
            }
            if let (Some(l), Some(edge)) = (lapse, edges.last_mut()) {
                gradient[engines + l] += by[3];
                *edge += cross[1];
                signed[..n].iter().for_each(|&(i, v, d, _)| square.add(l, i, v * cross[2 * d]));
                square.add(l, l, cross[3]);
            }
        };
        self.each_block(rows, at, &mut |block, points| {
            loss += points.loss[..block.len()].iter().sum::<f64>();
            self.runs_in(block.clone()).for_each(|run| add(run.clone(), points, run.start - block.start));
        });
        let hessian = Arrow { pattern: Arc::clone(&self.pattern), diagonal, edges, tail: square };
        (first, Evaluation { loss, gradient, hessian })
    }

    /// Precision of a player's strength.
    pub(super) fn precision(&self) -> f64 {
        1.0 / (self.strength_sd * self.strength_sd)
    }
}

fn add_all<const N: usize>(sums: &mut [f64; N], more: [f64; N]) {
    sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
}

impl Loss<Arrow> for Objective<'_> {
    fn evaluate(&self, at: &[f64]) -> Option<Evaluation<Arrow>> {
        if !(0.0..MOST_LAPSES).contains(&self.lapse(at)) {
            return None;
        }
        let (n, layout) = (self.rows.len(), &self.layout);
        let length = n.div_ceil(PARTS).max(LEAST);
        let part = |part: usize| self.results(part * length..n.min((part + 1) * length), at);
        let hessian = Arrow {
            pattern: Arc::clone(&self.pattern),
            diagonal: vec![0.0; layout.engines],
            edges: vec![0.0; self.pattern.columns.len()],
            tail: Square::zero(layout.tail()),
        };
        let mut total = Evaluation { loss: 0.0, gradient: vec![0.0; layout.size()], hessian };
        let add = |sums: &mut [f64], more: &[f64]| sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        for (first, part) in parallel::map(n.div_ceil(length), part) {
            let engines = part.hessian.diagonal.len();
            total.loss += part.loss;
            add(&mut total.gradient[first..], &part.gradient[..engines]);
            add(&mut total.gradient[layout.engines..], &part.gradient[engines..]);
            add(&mut total.hessian.diagonal[first..], &part.hessian.diagonal);
            add(&mut total.hessian.edges[self.pattern.starts[first]..], &part.hessian.edges);
            total.hessian.tail.add_all(&part.hessian.tail);
        }
        let precision = self.precision();
        for player in 0..layout.players {
            let strength = at[layout.player(player)];
            total.loss += 0.5 * precision * strength * strength;
            total.gradient[layout.player(player)] += precision * strength;
            total.hessian.tail.add(player, player, precision);
        }
        Some(total.mean(n as f64))
    }

    fn spread(&self) -> &[f64] {
        &self.spread
    }

    /// A sample has one engine and two players, whatever the others do.
    fn largest_change(&self, step: &[f64]) -> f64 {
        let largest = |steps: &[f64]| steps.iter().fold(0.0, |m: f64, s| m.max(s.abs()));
        let (slopes, others) = step.split_at(self.layout.engines);
        let (players, shared) = others.split_at(self.layout.players);
        2.0 * largest(players) + largest(slopes) + shared.iter().map(|s| s.abs()).sum::<f64>()
    }

    /// The slope of an engine says nothing of those of the others: one that is far from its own must not hold up all.
    /// Lapses stay a share.
    fn clipped(&self, at: &[f64], step: &[f64]) -> Option<Vec<f64>> {
        let mut step: Vec<f64> = step.iter().map(|s| s.clamp(-0.5 * MAX_STEP, 0.5 * MAX_STEP)).collect();
        if let Some(l) = self.layout.lapse() {
            step[l] = step[l].clamp(-0.9 * at[l], 0.5 * (MOST_LAPSES - at[l]));
        }
        Some(step)
    }

    /// The share of lapses falls below 0, and at these slopes a first lapse makes no result more likely. The loss has
    /// only one minimum without lapses, which is known by then.
    fn leaves(&self, at: &[f64], step: &[f64]) -> bool {
        let falls = |l: &usize| self.may_leave && at[*l] < FEW_LAPSES && at[*l] + step[*l] <= 0.0;
        let Some(l) = self.layout.lapse().filter(falls) else { return false };
        let mut without = at.to_vec();
        without[l] = 0.0;
        self.evaluate(&without).is_some_and(|without| without.gradient[l] >= 0.0)
    }

    fn limits(&self) -> Limits {
        Limits { argmin: 0, all: 200 }
    }
}
