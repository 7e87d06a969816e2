//! The minimum of a smooth loss in a few parameters, and the check that it is one.
//!
//! argmin's BFGS leads near the minimum, Newton steps with the true Hessian go the rest of the way and judge whether
//! it was reached. The Hessian may be an arrow (many engines with parameters of their own, a few shared ones standing
//! last): the Cholesky factor keeps the zeros in front of each row, so that this costs no more than its entries.

use std::cell::{Cell, RefCell};

use argmin::core::{CostFunction, Error, Executor, Gradient};
use argmin::solver::linesearch::MoreThuenteLineSearch;
use argmin::solver::quasinewton::BFGS;
use ndarray::{Array1, Array2};

use super::FitError;

/// Converged means: no component of the gradient of the mean loss is larger, parameters being of the order of one.
const GRADIENT_TOLERANCE: f64 = 1e-9;

/// ... and the step to the minimum moves typical predictions by no more than this.
const STEP_TOLERANCE: f64 = 1e-6;

/// Longest Newton step, as a change of typical predictions.
const MAX_STEP: f64 = 8.0;

/// Evaluations that argmin may take, and all of them together.
const MAX_ARGMIN: u32 = 40;
const MAX_EVALUATIONS: u32 = 120;

/// Parameters up to which argmin searches first. It keeps a dense matrix; beyond this Newton steps go alone.
const MAX_DENSE: usize = 64;

/// The mean loss at a point with its first two derivatives.
#[derive(Debug, Clone)]
pub(crate) struct Evaluation {
    pub loss: f64,
    pub gradient: Vec<f64>,
    pub hessian: Square,
}

impl Evaluation {
    pub fn size_of_gradient(&self) -> f64 {
        self.gradient.iter().fold(0.0, |m, g| if g.abs() <= m { m } else { g.abs() })
    }
}

/// A loss to be minimised.
pub(crate) trait Loss {
    /// The mean loss with its derivatives; `None` outside of where it is defined.
    fn evaluate(&self, at: &[f64]) -> Option<Evaluation>;
    /// For each parameter, by how much a typical prediction moves when the parameter moves by one.
    fn spread(&self) -> &[f64];
}

/// A minimum that passed the check.
#[derive(Debug, Clone)]
pub(crate) struct Minimum {
    pub at: Vec<f64>,
    pub evaluation: Evaluation,
}

/// The minimum next to a start.
pub(crate) fn minimise(loss: &impl Loss, start: &[f64]) -> Result<Minimum, FitError> {
    let passes = Cell::new(0);
    let evaluate = |at: &[f64]| {
        passes.set(passes.get() + 1);
        loss.evaluate(at).filter(|e| e.loss.is_finite() && e.gradient.iter().all(|g| g.is_finite()))
    };
    let stalled = |gradient: f64| FitError::NotConverged { gradient, passes: passes.get() };
    let mut at = start.to_vec();
    let mut here = evaluate(&at).ok_or_else(|| stalled(f64::INFINITY))?;
    if at.len() <= MAX_DENSE {
        at = quasi_newton(&evaluate, &at, &here);
        here = evaluate(&at).ok_or_else(|| stalled(f64::INFINITY))?;
    }
    loop {
        let failed = stalled(here.size_of_gradient());
        let plain = here.hessian.cholesky();
        let is_bowl = plain.is_some();
        let Some(factor) = plain.or_else(|| here.hessian.raised_cholesky()) else { return Err(failed) };
        let step: Vec<f64> = factor.solve(&here.gradient).iter().map(|s| -s).collect();
        let size: f64 = step.iter().zip(loss.spread()).map(|(s, spread)| s.abs() * spread).sum();
        if is_bowl && here.size_of_gradient() <= GRADIENT_TOLERANCE && size <= STEP_TOLERANCE {
            // one step more doubles the number of right digits
            let next: Vec<f64> = at.iter().zip(&step).map(|(a, s)| a + s).collect();
            if let Some(there) = evaluate(&next).filter(|e| e.size_of_gradient() < here.size_of_gradient()) {
                (at, here) = (next, there);
            }
            return Ok(Minimum { at, evaluation: here });
        }
        let bound = (MAX_STEP / size).min(1.0);
        let mut length = bound;
        loop {
            if passes.get() >= MAX_EVALUATIONS || length.is_nan() || length < 1e-9 * bound {
                return Err(failed);
            }
            let next: Vec<f64> = at.iter().zip(&step).map(|(a, s)| a + length * s).collect();
            if let Some(there) = evaluate(&next) {
                let level = there.loss <= here.loss + 1e-12 * here.loss.abs();
                if there.loss < here.loss || (level && there.size_of_gradient() < here.size_of_gradient()) {
                    (at, here) = (next, there);
                    break;
                }
            }
            length *= if length > 0.1 * bound { 0.5 } else { 0.1 };
        }
    }
}

/// The best point that argmin's BFGS met from a start, beginning with the true curvature there.
fn quasi_newton(evaluate: &impl Fn(&[f64]) -> Option<Evaluation>, start: &[f64], first: &Evaluation) -> Vec<f64> {
    let k = start.len();
    let factor = first.hessian.cholesky().or_else(|| first.hessian.raised_cholesky());
    let inverse = factor.map(|f| f.inverse());
    let inverse = Array2::from_shape_fn((k, k), |(i, j)| match &inverse {
        Some(inverse) => inverse.at(i.max(j), i.min(j)),
        None => f64::from(u8::from(i == j)),
    });
    let problem = Problem {
        evaluate,
        left: Cell::new(MAX_ARGMIN),
        best: RefCell::new((start.to_vec(), first.loss)),
        memo: RefCell::new(Some((start.to_vec(), first.clone()))),
    };
    let search = || -> Result<(), Error> {
        // beyond this a line search would chase rounding errors of the loss; Newton steps do not
        let solver = BFGS::new(MoreThuenteLineSearch::new()).with_tolerance_grad(1e-6)?.with_tolerance_cost(1e-12)?;
        Executor::new(&problem, solver)
            .configure(|state| {
                state.param(Array1::from_vec(start.to_vec())).inv_hessian(inverse).max_iters(u64::from(MAX_ARGMIN))
            })
            .ctrlc(false)
            .timer(false)
            .run()?;
        Ok(())
    };
    // an error here is no verdict: the best point so far goes on to the Newton steps, which have one
    let _ = search();
    problem.best.into_inner().0
}

/// What argmin sees of the loss.
struct Problem<'a, F> {
    evaluate: &'a F,
    left: Cell<u32>,
    best: RefCell<(Vec<f64>, f64)>,
    /// argmin asks for loss and gradient one after the other
    memo: RefCell<Option<(Vec<f64>, Evaluation)>>,
}

impl<F: Fn(&[f64]) -> Option<Evaluation>> Problem<'_, F> {
    fn look<T>(&self, param: &Array1<f64>, what: impl Fn(&Evaluation) -> T) -> Result<T, Error> {
        let at: Vec<f64> = param.iter().copied().collect();
        if let Some((point, evaluation)) = &*self.memo.borrow()
            && *point == at
        {
            return Ok(what(evaluation));
        }
        if self.left.get() == 0 || !at.iter().all(|x| x.is_finite()) {
            return Err(Error::msg("no evaluations left, or not finite"));
        }
        self.left.set(self.left.get() - 1);
        let evaluation = (self.evaluate)(&at).ok_or_else(|| Error::msg("the loss is not defined here"))?;
        if evaluation.loss < self.best.borrow().1 {
            *self.best.borrow_mut() = (at.clone(), evaluation.loss);
        }
        let value = what(&evaluation);
        *self.memo.borrow_mut() = Some((at, evaluation));
        Ok(value)
    }
}

impl<F: Fn(&[f64]) -> Option<Evaluation>> CostFunction for &Problem<'_, F> {
    type Param = Array1<f64>;
    type Output = f64;

    fn cost(&self, param: &Array1<f64>) -> Result<f64, Error> {
        self.look(param, |e| e.loss)
    }
}

impl<F: Fn(&[f64]) -> Option<Evaluation>> Gradient for &Problem<'_, F> {
    type Param = Array1<f64>;
    type Gradient = Array1<f64>;

    fn gradient(&self, param: &Array1<f64>) -> Result<Array1<f64>, Error> {
        self.look(param, |e| Array1::from_vec(e.gradient.clone()))
    }
}

/// A symmetric matrix of which the lower triangle is kept up to date, or a lower triangular one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Square {
    size: usize,
    entries: Vec<f64>,
}

impl Square {
    pub fn zero(size: usize) -> Self {
        Self { size, entries: vec![0.0; size * size] }
    }

    pub fn size(&self) -> usize {
        self.size
    }

    /// An entry on or below the diagonal.
    pub fn at(&self, row: usize, column: usize) -> f64 {
        self.entries[row * self.size + column]
    }

    /// Adds to an entry; of the two mirrored ones the lower is kept.
    pub fn add(&mut self, row: usize, column: usize, value: f64) {
        let (row, column) = (row.max(column), row.min(column));
        self.entries[row * self.size + column] += value;
    }

    pub fn add_all(&mut self, other: &Self) {
        self.entries.iter_mut().zip(&other.entries).for_each(|(a, b)| *a += b);
    }

    pub fn scaled(mut self, factor: f64) -> Self {
        self.entries.iter_mut().for_each(|e| *e *= factor);
        self
    }

    /// The lower factor L of L Lᵀ, `None` where the matrix is not positive definite.
    pub fn cholesky(&self) -> Option<Cholesky> {
        self.factor(0.0)
    }

    /// The factor of the matrix with its diagonal raised by as little as makes it positive definite, by powers of ten.
    pub fn raised_cholesky(&self) -> Option<Cholesky> {
        let largest = (0..self.size).fold(0.0f64, |m, i| m.max(self.at(i, i).abs())).max(f64::MIN_POSITIVE);
        (-6..=3).find_map(|power| self.factor(largest * 10f64.powi(power)))
    }

    fn factor(&self, shift: f64) -> Option<Cholesky> {
        let k = self.size;
        let mut lower = Self::zero(k);
        let mut first = vec![0; k];
        for i in 0..k {
            first[i] = (0..i).find(|&j| self.at(i, j) != 0.0).unwrap_or(i);
            for j in first[i]..=i {
                let dot: f64 = (first[i].max(first[j])..j).map(|m| lower.at(i, m) * lower.at(j, m)).sum();
                let rest = self.at(i, j) - dot + if i == j { shift } else { 0.0 };
                lower.entries[i * k + j] = if i == j {
                    // what is left of a zero by rounding is not positive
                    let positive = rest > 1e-13 * self.at(i, i).abs() && rest.is_finite();
                    positive.then(|| rest.sqrt())?
                } else {
                    rest / lower.at(j, j)
                };
            }
        }
        Some(Cholesky { lower, first })
    }
}

/// The factor L of a positive definite matrix L Lᵀ.
#[derive(Debug, Clone)]
pub(crate) struct Cholesky {
    lower: Square,
    /// the column of the first entry of each row
    first: Vec<usize>,
}

impl Cholesky {
    /// The x of L Lᵀ x = right.
    pub fn solve(&self, right: &[f64]) -> Vec<f64> {
        let mut x = right.to_vec();
        for i in 0..x.len() {
            let dot: f64 = (self.first[i]..i).map(|j| self.lower.at(i, j) * x[j]).sum();
            x[i] = (x[i] - dot) / self.lower.at(i, i);
        }
        for i in (0..x.len()).rev() {
            x[i] /= self.lower.at(i, i);
            let value = x[i];
            for (j, left) in x.iter_mut().enumerate().take(i).skip(self.first[i]) {
                *left -= self.lower.at(i, j) * value;
            }
        }
        x
    }

    /// The inverse of L Lᵀ, its lower triangle.
    pub fn inverse(&self) -> Square {
        let k = self.lower.size();
        let mut inverse = Square::zero(k);
        for j in 0..k {
            let mut unit = vec![0.0; k];
            unit[j] = 1.0;
            let column = self.solve(&unit);
            for (i, value) in column.iter().enumerate().skip(j) {
                inverse.entries[i * k + j] = *value;
            }
        }
        inverse
    }
}

/// c·A⁻¹BA⁻¹ with A the Hessian of the mean loss over `samples` samples, B = Σ over games of s sᵀ, s the game's summed
/// gradient, and c = G/(G-1)·(n-1)/(n-k), as `cov_type="cluster"` of statsmodels; `None` where A is singular or there
/// is but one game.
///
/// `gradient` hands every entry of a sample's gradient to its second argument.
pub(crate) fn clustered(
    hessian: &Square,
    games: &[u64],
    gradient: impl Fn(usize, &mut dyn FnMut(usize, f64)),
) -> Option<Square> {
    let (k, n) = (hessian.size(), games.len());
    let mut order: Vec<u32> = (0..n as u32).collect();
    // stable, so that the sums of a game keep their bits
    order.sort_by_key(|&i| games[i as usize]);
    let factor = hessian.clone().scaled(n as f64).cholesky()?;
    let mut meat = Square::zero(k);
    let mut clusters = 0u64;
    let mut sum = vec![0.0; k];
    let mut touched: Vec<usize> = Vec::new();
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
            for &j in &touched[..=a] {
                meat.add(i, j, sum[i] * sum[j]);
            }
        }
        touched.drain(..).for_each(|i| sum[i] = 0.0);
    }
    if clusters < 2 || n <= k {
        return None;
    }
    let c = clusters as f64 / (clusters - 1) as f64 * (n - 1) as f64 / (n - k) as f64;
    // A⁻¹ B by columns, then A⁻¹ (A⁻¹ B)ᵀ
    let column = |j: usize| (0..k).map(|i| meat.at(i.max(j), i.min(j))).collect::<Vec<f64>>();
    let half: Vec<Vec<f64>> = (0..k).map(|j| factor.solve(&column(j))).collect();
    let mut covariance = Square::zero(k);
    for i in 0..k {
        let row: Vec<f64> = half.iter().map(|column| column[i]).collect();
        for (j, value) in factor.solve(&row).iter().enumerate().take(i + 1) {
            covariance.entries[i * k + j] = c * value;
        }
    }
    Some(covariance)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 4 engines with two parameters each and a shared one: an arrow.
    fn arrow() -> Square {
        let mut m = Square::zero(9);
        for e in 0..4 {
            m.add(2 * e, 2 * e, 3.0 + e as f64);
            m.add(2 * e + 1, 2 * e + 1, 2.0);
            m.add(2 * e + 1, 2 * e, 0.5);
            m.add(8, 2 * e, 0.3);
            m.add(8, 2 * e + 1, -0.2);
        }
        m.add(8, 8, 5.0);
        m
    }

    #[test]
    fn a_factor_solves_and_keeps_zeros() {
        let m = arrow();
        let factor = m.cholesky().unwrap();
        assert_eq!(factor.first, [0, 0, 2, 2, 4, 4, 6, 6, 0]);
        let right: Vec<f64> = (0..9).map(|i| f64::from(i) - 3.5).collect();
        let x = factor.solve(&right);
        let inverse = factor.inverse();
        for i in 0..9 {
            let entry = |m: &Square, j: usize| m.at(i.max(j), i.min(j));
            let back: f64 = (0..9).map(|j| entry(&m, j) * x[j]).sum();
            assert!((back - right[i]).abs() < 1e-12);
            let same: f64 = (0..9).map(|j| entry(&inverse, j) * right[j]).sum();
            assert!((same - x[i]).abs() < 1e-12);
        }
    }

    #[test]
    fn matrices_that_are_not_positive_have_no_factor_until_raised() {
        let mut m = Square::zero(2);
        m.add(0, 0, 1.0);
        m.add(1, 0, 1.0);
        m.add(1, 1, 1.0);
        assert!(m.cholesky().is_none() && m.raised_cholesky().is_some());
        let mut nan = Square::zero(1);
        nan.add(0, 0, f64::NAN);
        assert!(nan.cholesky().is_none() && nan.raised_cholesky().is_none());
    }

    /// Rosenbrock's valley, whose Hessian is not positive everywhere.
    struct Valley;

    impl Loss for Valley {
        fn evaluate(&self, at: &[f64]) -> Option<Evaluation> {
            let (x, y) = (at[0], at[1]);
            let mut hessian = Square::zero(2);
            hessian.add(0, 0, 2.0 - 4.0 * (y - 3.0 * x * x));
            hessian.add(1, 0, -4.0 * x);
            hessian.add(1, 1, 2.0);
            let v = y - x * x;
            Some(Evaluation {
                loss: (1.0 - x).powi(2) + v * v,
                gradient: vec![-2.0 * (1.0 - x) - 4.0 * x * v, 2.0 * v],
                hessian,
            })
        }

        fn spread(&self) -> &[f64] {
            &[1.0, 1.0]
        }
    }

    #[test]
    fn a_bent_valley_is_followed_to_its_end() {
        let found = minimise(&Valley, &[-1.5, 2.0]).unwrap();
        assert!((found.at[0] - 1.0).abs() < 1e-8 && (found.at[1] - 1.0).abs() < 1e-8, "{found:?}");
        assert!(found.evaluation.size_of_gradient() <= GRADIENT_TOLERANCE);
    }

    /// exp(-x): no minimum.
    struct Slide;

    impl Loss for Slide {
        fn evaluate(&self, at: &[f64]) -> Option<Evaluation> {
            let e = libm::exp(-at[0]);
            let mut hessian = Square::zero(1);
            hessian.add(0, 0, e);
            Some(Evaluation { loss: e, gradient: vec![-e], hessian })
        }

        fn spread(&self) -> &[f64] {
            &[1.0]
        }
    }

    #[test]
    fn running_off_is_an_error() {
        assert!(matches!(minimise(&Slide, &[0.0]), Err(FitError::NotConverged { .. })));
    }
}
