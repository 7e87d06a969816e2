//! What a joint fit minimises: the results given slopes, strengths, optimism and lapses, and the prior of the
//! strengths.

use crate::fit::lapse::Point;
use crate::fit::search::{Evaluation, Limits, Loss};
use crate::fit::symmetric::Square;
use crate::parallel;

/// Partial sums: fixed, so that sums have equal bits on any number of threads.
const PARTS: usize = 8;

/// A sample of the fit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    pub(super) game: u64,
    pub(super) engine: usize,
    /// parameters of the players' strengths
    pub(super) own: Option<usize>,
    pub(super) opponent: Option<usize>,
    /// the score in units of its engine
    pub(super) x: f64,
    /// rating difference; 0 where it is not known
    pub(super) d: f64,
    /// what is known of the logit beside the score
    pub(super) offset: f64,
    pub(super) result: f64,
}

/// Where each parameter is: strengths, slopes, optimism, w3, lapse.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    pub(super) players: usize,
    pub(super) engines: usize,
    pub(super) rated: bool,
    pub(super) lapse: bool,
}

impl Layout {
    pub(super) fn slope(&self, engine: usize) -> usize {
        self.players + engine
    }

    pub(super) fn optimism(&self) -> usize {
        self.players + self.engines
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
}

pub(super) struct Objective<'a> {
    pub(super) rows: &'a [Row],
    pub(super) layout: Layout,
    pub(super) strength_sd: f64,
    pub(super) spread: Vec<f64>,
}

/// Most parameters of a row beside the lapse.
const FEATURES: usize = 5;

impl Objective<'_> {
    /// Derivatives of the logit of a row by its parameters, their number, and the logit.
    pub(super) fn features(&self, row: &Row, at: &[f64]) -> ([(usize, f64); FEATURES], usize, f64) {
        let (slope, optimism) = (self.layout.slope(row.engine), self.layout.optimism());
        let mut features = [(slope, row.x), (optimism, -1.0), (0, 0.0), (0, 0.0), (0, 0.0)];
        let mut n = 2;
        let others = [row.own.map(|i| (i, 1.0)), row.opponent.map(|i| (i, -1.0)), self.layout.w3().map(|i| (i, row.d))];
        for feature in others.into_iter().flatten() {
            features[n] = feature;
            n += 1;
        }
        let z = features[..n].iter().fold(row.offset, |z, (i, by)| z + at[*i] * by);
        (features, n, z)
    }

    pub(super) fn lapse(&self, at: &[f64]) -> f64 {
        self.layout.lapse().map_or(0.0, |i| at[i])
    }

    /// Passes the first and second derivatives of a row's loss, and returns the loss. Of two mirrored second
    /// derivatives one is passed.
    pub(super) fn derivatives(
        &self,
        row: &Row,
        at: &[f64],
        first: &mut dyn FnMut(usize, f64),
        second: &mut dyn FnMut(usize, usize, f64),
    ) -> f64 {
        let (features, n, z) = self.features(row, at);
        let point = Point::at(z, [self.lapse(at); 2], row.result);
        for (a, &(i, x)) in features[..n].iter().enumerate() {
            first(i, point.first[0] * x);
            features[..=a].iter().for_each(|&(j, y)| second(i, j, point.second[0][0] * x * y));
        }
        if let Some(l) = self.layout.lapse() {
            first(l, point.first[1] + point.first[2]);
            let cross = point.second[0][1] + point.second[0][2];
            features[..n].iter().for_each(|&(i, x)| second(l, i, cross * x));
            second(l, l, point.second[1..].iter().flat_map(|row| &row[1..]).sum());
        }
        point.loss
    }

    fn results(&self, rows: &[Row], at: &[f64]) -> Evaluation {
        let k = self.layout.size();
        let (mut loss, mut gradient, mut hessian) = (0.0, vec![0.0; k], Square::zero(k));
        for row in rows {
            loss += self.derivatives(row, at, &mut |i, v| gradient[i] += v, &mut |i, j, v| hessian.add(i, j, v));
        }
        Evaluation { loss, gradient, hessian }
    }

    /// Precision of a player's strength.
    pub(super) fn precision(&self) -> f64 {
        1.0 / (self.strength_sd * self.strength_sd)
    }
}

impl Loss for Objective<'_> {
    fn evaluate(&self, at: &[f64]) -> Option<Evaluation> {
        if !(0.0..0.4).contains(&self.lapse(at)) {
            return None;
        }
        let length = self.rows.len().div_ceil(PARTS).max(1);
        let mut total = Evaluation::sum(parallel::map_chunks(self.rows, length, |rows| self.results(rows, at)))?;
        let precision = self.precision();
        for (i, strength) in at[..self.layout.players].iter().enumerate() {
            total.loss += 0.5 * precision * strength * strength;
            total.gradient[i] += precision * strength;
            total.hessian.add(i, i, precision);
        }
        Some(total.mean(self.rows.len() as f64))
    }

    fn spread(&self) -> &[f64] {
        &self.spread
    }

    /// A sample has one engine and two players, whatever the others do.
    fn largest_change(&self, step: &[f64]) -> f64 {
        let largest = |steps: &[f64]| steps.iter().fold(0.0, |m: f64, s| m.max(s.abs()));
        let (players, others) = step.split_at(self.layout.players);
        let (slopes, shared) = others.split_at(self.layout.engines);
        2.0 * largest(players) + largest(slopes) + shared.iter().map(|s| s.abs()).sum::<f64>()
    }

    fn limits(&self) -> Limits {
        Limits { argmin: 40, all: 200 }
    }
}
