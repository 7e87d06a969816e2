//! Both fits as argmin problems over counts by score, and the check that they converged.
//!
//! Scores are divided by 1000 and the loss by the number of samples, so that parameters and gradient are of the
//! order of one: the parameters are (a, b) with logit a x - b, x = score/1000, a = 1000 w1, b = w2.

use std::cell::{Cell, RefCell};

use argmin::core::{CostFunction, Error, Executor, Gradient};
use argmin::solver::linesearch::MoreThuenteLineSearch;
use argmin::solver::quasinewton::BFGS;
use ndarray::{Array1, array};
use rayon::prelude::*;

use super::counts::ScoreCounts;
use super::sigmoid::Sigmoid;
use super::{Method, least_squares, likelihood};

/// Centipawns in one unit of x.
pub(crate) const SCORE_SCALE: f64 = 1000.0;

/// Converged means: no component of the gradient of the mean loss by (a, b) is larger.
pub(crate) const GRADIENT_TOLERANCE: f64 = 1e-9;

/// ... and the step to the minimum moves the logits of typical scores by no more than this. The gradient alone
/// does not tell: it vanishes too where the curve runs off to an infinite slope.
const STEP_TOLERANCE: f64 = 1e-6;

/// Longest step tried, as a change of the logits of typical scores.
const MAX_STEP: f64 = 8.0;

/// Passes over the counts that one search may take.
pub(crate) const MAX_PASSES: u32 = 50;

/// Passes of a search that are argmin's.
const MAX_ARGMIN_PASSES: u32 = 30;

/// Rows summed by one task. Fixed, and partial sums are added in order: equal bits on any number of threads.
const CHUNK: usize = 8192;

/// Counts of one score, ready for the loops.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    /// score / 1000
    pub x: f64,
    pub wins: f64,
    pub draws: f64,
    pub losses: f64,
}

impl Row {
    pub fn total(&self) -> f64 {
        self.wins + self.draws + self.losses
    }
}

/// Loss of a row and its derivatives by the logit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Term {
    pub loss: f64,
    pub first: f64,
    pub second: f64,
}

pub(crate) type Matrix = [[f64; 2]; 2];

/// The mean loss at a point, its gradient and its Hessian by (a, b).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Evaluation {
    pub loss: f64,
    pub gradient: [f64; 2],
    pub hessian: Matrix,
}

impl Evaluation {
    pub fn size_of_gradient(&self) -> f64 {
        self.gradient[0].abs().max(self.gradient[1].abs())
    }
}

/// A minimum that passed the check of convergence.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Minimum {
    pub at: [f64; 2],
    pub evaluation: Evaluation,
}

impl Minimum {
    pub fn sigmoid(&self) -> Sigmoid {
        Sigmoid { w1: self.at[0] / SCORE_SCALE, w2: self.at[1] }
    }
}

/// Where a search stood when it gave up.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stalled {
    pub gradient: f64,
}

/// The mean loss of a method over counts by score.
#[derive(Debug)]
pub(crate) struct Objective {
    pub method: Method,
    pub rows: Vec<Row>,
    pub samples: f64,
    /// root mean square of x, to judge steps by
    pub spread: f64,
    passes: Cell<u32>,
    /// the lowest loss that any pass met
    pub lowest: Cell<f64>,
    /// the last point evaluated: argmin asks for loss and gradient one after the other
    memo: Cell<Option<([f64; 2], Evaluation)>>,
}

impl Objective {
    pub fn new(method: Method, rows: Vec<Row>) -> Self {
        let (mut samples, mut squares) = (0.0, 0.0);
        for r in &rows {
            let n = r.total();
            samples += n;
            squares += n * r.x * r.x;
        }
        let spread = (squares / samples).sqrt();
        Self {
            method,
            rows,
            samples,
            spread,
            passes: Cell::new(0),
            lowest: Cell::new(f64::INFINITY),
            memo: Cell::new(None),
        }
    }

    pub fn from_counts(method: Method, counts: &ScoreCounts) -> Self {
        let row = |r: &super::counts::ScoreCount| Row {
            x: f64::from(r.score_cp) / SCORE_SCALE,
            wins: r.wins as f64,
            draws: r.draws as f64,
            losses: r.losses as f64,
        };
        Self::new(method, counts.rows().iter().map(row).collect())
    }

    /// Passes over the counts so far.
    pub fn passes(&self) -> u32 {
        self.passes.get()
    }

    /// The mean result.
    fn mean(&self) -> f64 {
        self.rows.iter().map(|r| r.wins + 0.5 * r.draws).sum::<f64>() / self.samples
    }

    /// One pass: loss, gradient and Hessian at (a, b).
    pub fn evaluate(&self, at: [f64; 2]) -> Evaluation {
        if let Some((point, evaluation)) = self.memo.get()
            && point == at
        {
            return evaluation;
        }
        self.passes.set(self.passes.get() + 1);
        let sums = match self.method {
            Method::LeastSquares => self.sums(at, least_squares::term),
            Method::MaximumLikelihood => self.sums(at, likelihood::term),
        };
        let [loss, ga, gb, haa, hab, hbb] = sums.map(|s| s / self.samples);
        let evaluation = Evaluation { loss, gradient: [ga, gb], hessian: [[haa, hab], [hab, hbb]] };
        self.memo.set(Some((at, evaluation)));
        self.lowest.set(self.lowest.get().min(evaluation.loss));
        evaluation
    }

    fn sums(&self, [a, b]: [f64; 2], term: impl Fn(f64, &Row) -> Term + Sync) -> [f64; 6] {
        let part = |rows: &[Row]| {
            let mut s = [0.0; 6];
            for row in rows {
                let Term { loss, first, second } = term(a * row.x - b, row);
                // dz/da = x, dz/db = -1
                s[0] += loss;
                s[1] += first * row.x;
                s[2] -= first;
                s[3] += second * row.x * row.x;
                s[4] -= second * row.x;
                s[5] += second;
            }
            s
        };
        if self.rows.len() <= CHUNK {
            return part(&self.rows);
        }
        let parts: Vec<[f64; 6]> = self.rows.par_chunks(CHUNK).map(part).collect();
        parts.iter().fold([0.0; 6], |mut total, s| {
            total.iter_mut().zip(s).for_each(|(t, v)| *t += v);
            total
        })
    }

    /// Searches from a start by argmin's BFGS, then makes sure of convergence by Newton steps.
    pub fn minimise(&self, start: [f64; 2]) -> Result<Minimum, Stalled> {
        let first = self.passes();
        self.polish(self.quasi_newton(start), first + MAX_PASSES)
    }

    /// The best point that argmin's BFGS with a Moré-Thuente line search met from a start.
    ///
    /// It begins with the true curvature at the start in place of the identity. Whatever ends it, a tolerance or an
    /// error of the line search near the minimum, the best point counts; [`Self::polish`] judges it.
    fn quasi_newton(&self, start: [f64; 2]) -> [f64; 2] {
        let first = self.evaluate(start);
        let inverse = inverse(&convex(&first.hessian)).unwrap_or([[1.0, 0.0], [0.0, 1.0]]);
        let problem = Problem {
            objective: self,
            last_pass: self.passes() + MAX_ARGMIN_PASSES,
            best: RefCell::new((start, first.loss)),
        };
        let search = || -> Result<(), Error> {
            // beyond this the line search would chase rounding errors of the loss; `polish` does not
            let solver = BFGS::new(MoreThuenteLineSearch::new())
                .with_tolerance_grad(1e-6 * self.spread.max(1.0))?
                .with_tolerance_cost(1e-12)?;
            Executor::new(&problem, solver)
                .configure(|state| {
                    state
                        .param(Array1::from_iter(start))
                        .inv_hessian(array![[inverse[0][0], inverse[0][1]], [inverse[1][0], inverse[1][1]]])
                        .max_iters(u64::from(MAX_ARGMIN_PASSES))
                })
                .ctrlc(false)
                .timer(false)
                .run()?;
            Ok(())
        };
        // an error here is no verdict: the best point so far goes to `polish`, which has one
        let _ = search();
        problem.best.into_inner().0
    }

    /// Damped Newton steps until the gradient and the next step are small enough.
    pub fn polish(&self, start: [f64; 2], last_pass: u32) -> Result<Minimum, Stalled> {
        let mut at = start;
        let mut here = self.evaluate(at);
        loop {
            let stalled = Stalled { gradient: here.size_of_gradient() };
            let Some(step) = newton_step(&here) else {
                return Err(stalled);
            };
            let size = step[0].abs() * self.spread + step[1].abs();
            let is_bowl = convex(&here.hessian) == here.hessian;
            if is_bowl && here.size_of_gradient() <= GRADIENT_TOLERANCE && size <= STEP_TOLERANCE {
                return Ok(self.last_step(Minimum { at, evaluation: here }, step, last_pass));
            }
            // a saturated curve has next to no curvature, and its Newton step would leave the world
            let bound = (MAX_STEP / size).min(1.0);
            let step = step.map(|s| s * bound);
            let mut length = 1.0;
            loop {
                if self.passes() >= last_pass || length < 1e-9 {
                    return Err(stalled);
                }
                let next = [at[0] + length * step[0], at[1] + length * step[1]];
                let there = self.evaluate(next);
                // close to the minimum rounding hides what a step gains in loss, but the gradient shows it
                let level = there.loss <= here.loss + 1e-12 * here.loss.abs();
                if there.loss < here.loss || (level && there.size_of_gradient() < here.size_of_gradient()) {
                    (at, here) = (next, there);
                    break;
                }
                length *= if length > 0.1 { 0.5 } else { 0.1 };
            }
        }
    }

    /// One more Newton step, kept if the gradient shrinks: it doubles the number of right digits.
    fn last_step(&self, minimum: Minimum, step: [f64; 2], last_pass: u32) -> Minimum {
        if minimum.evaluation.size_of_gradient() <= 1e-14 || self.passes() >= last_pass {
            return minimum;
        }
        let at = [minimum.at[0] + step[0], minimum.at[1] + step[1]];
        let evaluation = self.evaluate(at);
        let better = evaluation.size_of_gradient() < minimum.evaluation.size_of_gradient();
        if better { Minimum { at, evaluation } } else { minimum }
    }

    /// Where searches begin when nothing is known: slope 0 and the mean result.
    pub fn flat_start(&self) -> [f64; 2] {
        let mean = self.mean().clamp(1e-6, 1.0 - 1e-6);
        [0.0, -(libm::log(mean) - libm::log1p(-mean))]
    }
}

/// The view of an objective that argmin gets: counts passes against a limit and remembers the best point.
struct Problem<'a> {
    objective: &'a Objective,
    last_pass: u32,
    best: RefCell<([f64; 2], f64)>,
}

impl Problem<'_> {
    fn evaluate(&self, param: &Array1<f64>) -> Result<Evaluation, Error> {
        let at = match param.as_slice() {
            Some(&[a, b]) if a.is_finite() && b.is_finite() => [a, b],
            _ => return Err(Error::msg("the search left the finite numbers")),
        };
        // ends a line search that does not end by itself
        if self.objective.passes() >= self.last_pass {
            return Err(Error::msg("no passes left"));
        }
        let evaluation = self.objective.evaluate(at);
        let mut best = self.best.borrow_mut();
        if evaluation.loss < best.1 {
            *best = (at, evaluation.loss);
        }
        Ok(evaluation)
    }
}

impl CostFunction for &Problem<'_> {
    type Param = Array1<f64>;
    type Output = f64;

    fn cost(&self, param: &Array1<f64>) -> Result<f64, Error> {
        Ok(self.evaluate(param)?.loss)
    }
}

impl Gradient for &Problem<'_> {
    type Param = Array1<f64>;
    type Gradient = Array1<f64>;

    fn gradient(&self, param: &Array1<f64>) -> Result<Array1<f64>, Error> {
        Ok(Array1::from_iter(self.evaluate(param)?.gradient))
    }
}

/// The inverse of a symmetric positive definite matrix, `None` of any other.
pub(crate) fn inverse(m: &Matrix) -> Option<Matrix> {
    let [[a, b], [_, c]] = *m;
    let determinant = a * c - b * b;
    // the product bounds what rounding alone can leave of a zero determinant
    if !(a > 0.0 && c > 0.0 && determinant > 1e-14 * a * c && determinant.is_finite()) {
        return None;
    }
    Some([[c / determinant, -b / determinant], [-b / determinant, a / determinant]])
}

/// The matrix itself where it is positive definite, else with its diagonal raised until it is.
fn convex(m: &Matrix) -> Matrix {
    let [[a, b], [_, c]] = *m;
    if inverse(m).is_some() {
        return *m;
    }
    let lowest = 0.5 * (a + c) - (0.25 * (a - c) * (a - c) + b * b).sqrt();
    let shift = -lowest + 1e-3 * a.abs().max(c.abs()).max(f64::MIN_POSITIVE);
    [[a + shift, b], [b, c + shift]]
}

fn newton_step(e: &Evaluation) -> Option<[f64; 2]> {
    let h = inverse(&convex(&e.hessian))?;
    let [g0, g1] = e.gradient;
    let step = [-(h[0][0] * g0 + h[0][1] * g1), -(h[1][0] * g0 + h[1][1] * g1)];
    (step[0].is_finite() && step[1].is_finite()).then_some(step)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<Row> {
        (0..40)
            .map(|i| {
                let x = f64::from(i) * 0.1 - 2.0;
                Row {
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
                let e = objective.evaluate(at);
                let h = 1e-5;
                for i in 0..2 {
                    let (mut up, mut down) = (at, at);
                    up[i] += h;
                    down[i] -= h;
                    let (up, down) = (objective.evaluate(up), objective.evaluate(down));
                    let slope = (up.loss - down.loss) / (2.0 * h);
                    assert!((e.gradient[i] - slope).abs() < 1e-8, "{method:?} {at:?} {i}");
                    for j in 0..2 {
                        let bend = (up.gradient[j] - down.gradient[j]) / (2.0 * h);
                        assert!((e.hessian[i][j] - bend).abs() < 1e-8, "{method:?} {at:?} {i} {j}");
                    }
                }
            }
        }
    }

    #[test]
    fn every_start_leads_to_the_same_likelihood() {
        let objective = Objective::new(Method::MaximumLikelihood, rows());
        let reference = objective.minimise(objective.flat_start()).unwrap();
        for start in [[50.0, 30.0], [-20.0, 5.0], [0.0, -10.0]] {
            let found = objective.minimise(start).unwrap();
            assert!((found.at[0] - reference.at[0]).abs() < 1e-12, "{start:?}");
            assert!(found.evaluation.size_of_gradient() <= GRADIENT_TOLERANCE);
        }
    }

    #[test]
    fn a_slope_that_runs_off_is_no_minimum() {
        let split = vec![
            Row { x: -1.0, wins: 0.0, draws: 0.0, losses: 50.0 },
            Row { x: 1.0, wins: 50.0, draws: 0.0, losses: 0.0 },
        ];
        for method in [Method::LeastSquares, Method::MaximumLikelihood] {
            let objective = Objective::new(method, split.clone());
            assert!(objective.minimise([1.0, 0.0]).is_err(), "{method:?}");
            assert!(objective.passes() <= MAX_PASSES);
        }
    }

    #[test]
    fn only_positive_definite_matrices_have_an_inverse() {
        assert_eq!(inverse(&[[2.0, 0.0], [0.0, 4.0]]), Some([[0.5, 0.0], [0.0, 0.25]]));
        for m in [[[0.0, 0.0], [0.0, 0.0]], [[1.0, 1.0], [1.0, 1.0]], [[-1.0, 0.0], [0.0, 1.0]], [[f64::NAN; 2]; 2]] {
            assert_eq!(inverse(&m), None);
        }
        assert!(inverse(&convex(&[[-1.0, 2.0], [2.0, 0.5]])).is_some());
    }
}
