//! The mean loss of the sigmoid over counts by score, by either method.
//!
//! Scores are divided by 1000 and the loss by the number of samples, so that parameters and gradient are of the
//! order of one: the parameters are (a, b) with logit a x - b, x = score/1000, a = 1000 w1, b = w2.

use std::cell::RefCell;

use evalcurve_calibration::logistic::logit;
use evalcurve_calibration::{Method, Sigmoid};

use super::counts::ScoreCounts;
use super::score_row::{ScoreRow, Term};
use super::search::{Evaluation, Limits, Loss, Minimum};
use super::symmetric::Square;
use super::{least_squares, likelihood};
use crate::parallel;
use crate::vector::{BLOCK, Logistics};

/// Centipawns in one unit of x.
pub(crate) const SCORE_SCALE: f64 = 1000.0;

/// Passes over the counts that one search may take.
const LIMITS: Limits = Limits { argmin: 30, all: MAX_PASSES };

pub(crate) const MAX_PASSES: u32 = 50;

/// Rows summed by one task. Fixed, and partial sums are added in order: equal bits on any number of threads.
const CHUNK: usize = 8192;

impl Minimum {
    /// The curve of a minimum of [`Objective`].
    pub(crate) fn sigmoid(&self) -> Sigmoid {
        Sigmoid { w1: self.at[0] / SCORE_SCALE, w2: self.at[1] }
    }
}

/// What is computed of a block of rows.
struct Scratch {
    logistics: Logistics,
    z: [f64; BLOCK],
    shares: [f64; BLOCK],
    losses: [f64; BLOCK],
}

thread_local! {
    // few rows take less time than to clear it
    static SCRATCH: RefCell<Scratch> = RefCell::new(Scratch {
        logistics: Logistics::new(),
        z: [0.0; BLOCK],
        shares: [0.0; BLOCK],
        losses: [0.0; BLOCK],
    });
}

/// The mean loss of a method over counts by score.
#[derive(Debug)]
pub(crate) struct Objective {
    pub method: Method,
    pub rows: Vec<ScoreRow>,
    pub samples: f64,
    /// root mean square of x, and 1 for b
    pub spread: [f64; 2],
}

impl Objective {
    pub(crate) fn new(method: Method, rows: Vec<ScoreRow>) -> Self {
        let (mut samples, mut squares) = (0.0, 0.0);
        for r in &rows {
            let n = r.total();
            samples += n;
            squares += n * r.x * r.x;
        }
        Self { method, rows, samples, spread: [(squares / samples).sqrt(), 1.0] }
    }

    pub(crate) fn from_counts(method: Method, counts: &ScoreCounts) -> Self {
        let row = |r: &super::counts::ScoreCount| ScoreRow {
            x: f64::from(r.score_cp) / SCORE_SCALE,
            wins: r.wins as f64,
            draws: r.draws as f64,
            losses: r.losses as f64,
        };
        Self::new(method, counts.rows().iter().map(row).collect())
    }

    fn mean(&self) -> f64 {
        self.rows.iter().map(|r| r.wins + 0.5 * r.draws).sum::<f64>() / self.samples
    }

    /// The sums of some rows: loss, gradient, second derivatives.
    fn part(&self, rows: &[ScoreRow], at: [f64; 2]) -> [f64; 6] {
        SCRATCH.with_borrow_mut(|scratch| self.part_with(scratch, rows, at))
    }

    fn part_with(&self, scratch: &mut Scratch, rows: &[ScoreRow], [a, b]: [f64; 2]) -> [f64; 6] {
        let (mut s, Scratch { logistics: block, z, shares, losses }) = ([0.0; 6], scratch);
        for rows in rows.chunks(BLOCK) {
            rows.iter().zip(&mut *z).for_each(|(row, z)| *z = a * row.x - b);
            let z = &z[..rows.len()];
            block.at(z);
            let mut add = |row: &ScoreRow, Term { loss, first, second }: Term| {
                // dz/da = x, dz/db = -1
                s[0] += loss;
                s[1] += first * row.x;
                s[2] -= first;
                s[3] += second * row.x * row.x;
                s[4] -= second * row.x;
                s[5] += second;
            };
            let curve = rows.iter().zip(&block.p).zip(&block.q);
            match self.method {
                Method::LeastSquares => curve.for_each(|((row, p), q)| add(row, least_squares::term(*p, *q, row))),
                Method::MaximumLikelihood => {
                    let share = |row: &ScoreRow| (row.wins + 0.5 * row.draws) / row.total();
                    rows.iter().zip(&mut *shares).for_each(|(row, of)| *of = share(row));
                    block.losses(z, &*shares, losses);
                    curve.zip(&*losses).for_each(|(((row, p), q), l)| add(row, likelihood::term(*p, *q, *l, row)));
                }
            }
        }
        s
    }

    fn sums(&self, at: [f64; 2]) -> [f64; 6] {
        if self.rows.len() <= CHUNK {
            return self.part(&self.rows, at);
        }
        parallel::map_chunks(&self.rows, CHUNK, |rows| self.part(rows, at)).iter().fold([0.0; 6], |mut total, s| {
            total.iter_mut().zip(s).for_each(|(t, v)| *t += v);
            total
        })
    }

    /// Where searches begin when nothing is known: slope 0 and the mean result.
    pub(crate) fn flat_start(&self) -> [f64; 2] {
        let mean = self.mean().clamp(1e-6, 1.0 - 1e-6);
        [0.0, -logit(mean)]
    }
}

impl Loss for Objective {
    /// One pass: loss, gradient and Hessian at (a, b).
    fn evaluate(&self, at: &[f64]) -> Option<Evaluation> {
        let &[a, b] = at else { return None };
        let sums = self.sums([a, b]);
        let [loss, ga, gb, haa, hab, hbb] = sums.map(|s| s / self.samples);
        Some(Evaluation { loss, gradient: vec![ga, gb], hessian: Square::two(&[[haa, hab], [hab, hbb]]) })
    }

    fn spread(&self) -> &[f64] {
        &self.spread
    }

    fn limits(&self) -> Limits {
        LIMITS
    }

    fn argmin_tolerance(&self) -> f64 {
        1e-6 * self.spread[0].max(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::search::{GRADIENT_TOLERANCE, Search};
    use super::*;

    fn rows() -> Vec<ScoreRow> {
        (0..40)
            .map(|i| {
                let x = f64::from(i) * 0.1 - 2.0;
                ScoreRow {
                    x,
                    wins: f64::from(i % 5 + i / 8),
                    draws: f64::from(i % 3),
                    losses: f64::from((40 - i) / 6 + i % 2),
                }
            })
            .collect()
    }

    #[test]
    fn gradients_and_hessians_agree_with_finite_differences() {
        for method in [Method::LeastSquares, Method::MaximumLikelihood] {
            let objective = Objective::new(method, rows());
            for at in [[1.7, 0.2], [-0.5, -0.3], [4.0, 1.0], [0.0, 0.0]] {
                let e = objective.evaluate(&at).unwrap();
                let h = 1e-5;
                for i in 0..2 {
                    let (mut up, mut down) = (at, at);
                    up[i] += h;
                    down[i] -= h;
                    let (up, down) = (objective.evaluate(&up).unwrap(), objective.evaluate(&down).unwrap());
                    let slope = (up.loss - down.loss) / (2.0 * h);
                    assert!((e.gradient[i] - slope).abs() < 1e-8, "{method:?} {at:?} {i}");
                    for j in 0..2 {
                        let bend = (up.gradient[j] - down.gradient[j]) / (2.0 * h);
                        assert!((e.hessian.at(i.max(j), i.min(j)) - bend).abs() < 1e-8, "{method:?} {at:?} {i} {j}");
                    }
                }
            }
        }
    }

    #[test]
    fn every_start_leads_to_the_same_likelihood() {
        let objective = Objective::new(Method::MaximumLikelihood, rows());
        let search = Search::new(&objective);
        let reference = search.minimise(&objective.flat_start()).unwrap();
        for start in [[50.0, 30.0], [-20.0, 5.0], [0.0, -10.0]] {
            let found = search.minimise(&start).unwrap();
            assert!((found.at[0] - reference.at[0]).abs() < 1e-12, "{start:?}");
            assert!(found.evaluation.size_of_gradient() <= GRADIENT_TOLERANCE);
        }
    }

    #[test]
    fn a_slope_that_runs_off_is_no_minimum() {
        let split = vec![
            ScoreRow { x: -1.0, wins: 0.0, draws: 0.0, losses: 50.0 },
            ScoreRow { x: 1.0, wins: 50.0, draws: 0.0, losses: 0.0 },
        ];
        for method in [Method::LeastSquares, Method::MaximumLikelihood] {
            let objective = Objective::new(method, split.clone());
            let search = Search::new(&objective);
            assert!(search.minimise(&[1.0, 0.0]).is_err(), "{method:?}");
            assert!(search.passes() <= MAX_PASSES);
        }
    }
}
