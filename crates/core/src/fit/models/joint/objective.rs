//! What a joint fit minimises: the results given strengths, slopes and lapses, the disagreement on shared positions,
//! and the priors.

use evalcurve_calibration::CP_PER_LOGIT;
use evalcurve_calibration::logistic::Logistic;

use crate::fit::lapse::Point;
use crate::fit::objective::SCORE_SCALE;
use crate::fit::search::{Evaluation, Limits, Loss};
use crate::fit::symmetric::Square;
use crate::parallel;

/// Standard deviation of ln w1 over engines: how far the scales of engines are apart before any game is seen.
const SLOPE_SD: f64 = 0.25;
/// Weight of a shared position against a result. Chosen, like the standard deviations of slopes and strengths, by the
/// log loss of the mean vote on games out of the fit; see docs/scale.md.
const LINK_WEIGHT: f64 = 0.1;
/// Slope at which shared positions are compared, per unit of x. Only the ratios of slopes matter to them.
pub(super) const LINK_SLOPE: f64 = SCORE_SCALE / CP_PER_LOGIT;
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
    pub(super) x: f64,
    /// rating difference; 0 where it is not known
    pub(super) d: f64,
    pub(super) result: f64,
    pub(super) shared: Option<Shared>,
}

/// The score of another engine for the same position, in the same view.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shared {
    pub(super) engine: usize,
    pub(super) x: f64,
    /// 1 if the engine of the row chose the move in between, else 0
    pub(super) chosen: f64,
}

/// The disagreement of two engines on a position, with its derivatives by the two logits, and theirs by the slopes and
/// the chooser's bias.
struct Link {
    loss: f64,
    first: [f64; 2],
    second: [[f64; 2]; 2],
    by: [[(usize, f64); 2]; 2],
}

/// Where each parameter is: strengths, ln slopes, their mean, chooser's bias, optimism, w3, lapse.
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

    pub(super) fn mean(&self) -> usize {
        self.players + self.engines
    }

    /// By how much a position looks better to the player who chose the move.
    pub(super) fn chooser(&self) -> usize {
        self.mean() + 1
    }

    pub(super) fn optimism(&self) -> usize {
        self.chooser() + 1
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

impl Objective<'_> {
    /// Derivatives of the logit of a row by its parameters, their number, and the logit.
    pub(super) fn features(&self, row: &Row, at: &[f64]) -> ([(usize, f64); 5], usize, f64) {
        let slope = self.layout.slope(row.engine);
        let scaled = libm::exp(at[slope]) * row.x;
        let optimism = self.layout.optimism();
        let mut features = [(slope, scaled), (optimism, -1.0), (0, 0.0), (0, 0.0), (0, 0.0)];
        let mut n = 2;
        let mut z = scaled - at[optimism];
        let others = [row.own.map(|i| (i, 1.0)), row.opponent.map(|i| (i, -1.0)), self.layout.w3().map(|i| (i, row.d))];
        for (i, by) in others.into_iter().flatten() {
            features[n] = (i, by);
            n += 1;
            z += at[i] * by;
        }
        (features, n, z)
    }

    pub(super) fn lapse(&self, at: &[f64]) -> f64 {
        self.layout.lapse().map_or(0.0, |i| at[i])
    }

    fn results(&self, rows: &[Row], at: &[f64]) -> Evaluation {
        let k = self.layout.size();
        let (mut loss, mut gradient, mut hessian) = (0.0, vec![0.0; k], Square::zero(k));
        let lapse = self.lapse(at);
        for row in rows {
            let (features, n, z) = self.features(row, at);
            let point = Point::at(z, [lapse; 2], row.result);
            loss += point.loss;
            let (first, second) = (point.first[0], point.second[0][0]);
            for (a, &(i, x)) in features[..n].iter().enumerate() {
                gradient[i] += first * x;
                for &(j, y) in &features[..=a] {
                    hessian.add(i, j, second * x * y);
                }
            }
            // w1 is the exponential of its parameter
            hessian.add(features[0].0, features[0].0, first * features[0].1);
            if let Some(l) = self.layout.lapse() {
                gradient[l] += point.first[1] + point.first[2];
                let cross = point.second[0][1] + point.second[0][2];
                features[..n].iter().for_each(|&(i, x)| hessian.add(i, l, cross * x));
                let own: f64 = point.second[1..].iter().flat_map(|row| &row[1..]).sum();
                hessian.add(l, l, own);
            }
        }
        Evaluation { loss, gradient, hessian }
    }

    /// The disagreement on a shared position: (p - p')(z - z'), with its derivatives.
    fn link(&self, row: &Row, at: &[f64], mean: f64) -> Option<Link> {
        let Shared { engine: other, x, chosen } = row.shared?;
        let (engines, half) = (self.layout.engines, 0.5 * chosen);
        let bias = half * at[self.layout.chooser()];
        let z = |engine: usize, x: f64| libm::exp(at[self.layout.slope(engine)] - mean) * LINK_SLOPE * x;
        let (own, theirs) = (z(row.engine, row.x), z(other, x));
        let (one, two) = (own - bias, theirs + bias);
        let (p, r) = (Logistic::at(one), Logistic::at(two));
        let (dp, dz) = (p.p - r.p, one - two);
        let (a, b) = (p.p * p.q, r.p * r.q);
        Some(Link {
            loss: dp * dz,
            first: [a * dz + dp, -b * dz - dp],
            second: [[a * (p.q - p.p) * dz + 2.0 * a, -a - b], [-a - b, -b * (r.q - r.p) * dz + 2.0 * b]],
            by: [[(row.engine, own), (engines, -half)], [(other, theirs), (engines, half)]],
        })
    }

    /// The sum of all links, by the ln slopes around their mean and the chooser's bias.
    fn links(&self, rows: &[Row], at: &[f64], mean: f64) -> Evaluation {
        let engines = self.layout.engines;
        let (mut loss, mut gradient, mut hessian) = (0.0, vec![0.0; engines + 1], Square::zero(engines + 1));
        for link in rows.iter().filter_map(|row| self.link(row, at, mean)) {
            loss += link.loss;
            for (first, by) in link.first.iter().zip(&link.by) {
                by.iter().for_each(|&(i, x)| gradient[i] += first * x);
                // a slope is the exponential of its parameter
                hessian.add(by[0].0, by[0].0, first * by[0].1);
            }
            for (second, by) in link.second.iter().zip(&link.by) {
                for (value, other) in second.iter().zip(&link.by) {
                    for (i, x) in by {
                        // of two mirrored entries one is counted: the lower triangle
                        other.iter().filter(|(j, _)| i >= j).for_each(|(j, y)| hessian.add(*i, *j, value * x * y));
                    }
                }
            }
        }
        Evaluation { loss, gradient, hessian }
    }

    fn parts(&self, of: impl Fn(&[Row]) -> Evaluation + Sync + Send) -> Option<Evaluation> {
        let length = self.rows.len().div_ceil(PARTS).max(1);
        Evaluation::sum(parallel::map_chunks(self.rows, length, of))
    }

    /// The gradient of a row's loss by all parameters, for the covariance. What every slope takes alike is passed once,
    /// as the parameter after the last.
    pub(super) fn gradient(&self, row: &Row, at: &[f64], mean: f64, add: &mut dyn FnMut(usize, f64)) {
        let (features, n, z) = self.features(row, at);
        let point = Point::at(z, [self.lapse(at); 2], row.result);
        features[..n].iter().for_each(|&(i, x)| add(i, point.first[0] * x));
        if let Some(l) = self.layout.lapse() {
            add(l, point.first[1] + point.first[2]);
        }
        if let Some(link) = self.link(row, at, mean) {
            let mut slopes = 0.0;
            for (first, by) in link.first.iter().zip(&link.by) {
                let [(engine, z), (_, bias)] = *by;
                add(self.layout.slope(engine), LINK_WEIGHT * first * z);
                add(self.layout.chooser(), LINK_WEIGHT * first * bias);
                slopes += first * z;
            }
            // around the mean: every slope takes its share
            add(self.layout.size(), -LINK_WEIGHT * slopes / self.layout.engines as f64);
        }
    }

    pub(super) fn mean(&self, at: &[f64]) -> f64 {
        at[self.layout.players..self.layout.mean()].iter().sum::<f64>() / self.layout.engines as f64
    }

    /// Precision of the priors, by parameter; those of the slopes are around their mean.
    pub(super) fn prior(&self, add: &mut dyn FnMut(usize, usize, f64)) {
        (0..self.layout.players).for_each(|i| add(i, i, 1.0 / (self.strength_sd * self.strength_sd)));
        let (mean, precision) = (self.layout.mean(), 1.0 / (SLOPE_SD * SLOPE_SD));
        for engine in 0..self.layout.engines {
            let slope = self.layout.slope(engine);
            add(slope, slope, precision);
            add(mean, slope, -precision);
            add(mean, mean, precision);
        }
        // the bias is 0 without shared positions
        add(self.layout.chooser(), self.layout.chooser(), 1e-3);
    }
}

impl Loss for Objective<'_> {
    fn evaluate(&self, at: &[f64]) -> Option<Evaluation> {
        let (layout, lapse) = (self.layout, self.lapse(at));
        if !(0.0..0.4).contains(&lapse) || at[layout.players..layout.chooser()].iter().any(|w| w.abs() > 12.0) {
            return None;
        }
        let mut total = self.parts(|rows| self.results(rows, at))?;
        let mean = self.mean(at);
        let links = self.parts(|rows| self.links(rows, at, mean))?;
        total.loss += LINK_WEIGHT * links.loss;
        // around the mean: each slope moves the mean of all
        let e = layout.engines;
        let entry = |i: usize, j: usize| links.hessian.at(i.max(j), i.min(j));
        let row_mean: Vec<f64> = (0..=e).map(|i| (0..e).map(|j| entry(i, j)).sum::<f64>() / e as f64).collect();
        let all_mean = row_mean[..e].iter().sum::<f64>() / e as f64;
        let gradient_mean = links.gradient[..e].iter().sum::<f64>() / e as f64;
        let place = |i: usize| if i == e { layout.chooser() } else { layout.slope(i) };
        for i in 0..=e {
            total.gradient[place(i)] += LINK_WEIGHT * (links.gradient[i] - if i == e { 0.0 } else { gradient_mean });
            for j in 0..=i {
                let centred = match (i == e, j == e) {
                    (true, true) => entry(i, j),
                    (true, false) => entry(i, j) - row_mean[e],
                    _ => entry(i, j) - row_mean[i] - row_mean[j] + all_mean,
                };
                total.hessian.add(place(i), place(j), LINK_WEIGHT * centred);
            }
        }
        self.prior(&mut |i, j, precision| {
            total.hessian.add(i, j, precision);
            let factor = if i == j { 0.5 } else { 1.0 };
            total.loss += factor * precision * at[i] * at[j];
            total.gradient[i] += precision * at[j];
            if i != j {
                total.gradient[j] += precision * at[i];
            }
        });
        Some(total.mean(self.rows.len() as f64))
    }

    fn spread(&self) -> &[f64] {
        &self.spread
    }

    fn limits(&self) -> Limits {
        Limits { argmin: 40, all: 200 }
    }
}
