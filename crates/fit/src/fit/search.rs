//! The minimum of a smooth loss in a few parameters, and the check that it is one.
//!
//! argmin's BFGS leads near the minimum; Newton steps with the true Hessian go the rest of the way and judge whether it
//! was reached. The Hessian may be an arrow (many engines with their own parameters, a few shared ones last), of which
//! Newton steps use the entries alone.

use std::cell::{Cell, RefCell};

use argmin::core::{CostFunction, Error, Executor, Gradient, State};
use argmin::solver::linesearch::MoreThuenteLineSearch;
use argmin::solver::quasinewton::BFGS;
use ndarray::{Array1, Array2};

use super::error::FitError;
use super::symmetric::{Curvature, Square};

/// Converged means: no component of the gradient of the mean loss is larger, parameters being of the order of one.
pub(crate) const GRADIENT_TOLERANCE: f64 = 1e-9;

/// ... and the step to the minimum moves typical predictions by no more than this. The gradient alone is not enough: it
/// also vanishes where a slope runs off to infinity.
const STEP_TOLERANCE: f64 = 1e-6;

/// Longest Newton step, as a change of typical predictions.
pub(crate) const MAX_STEP: f64 = 8.0;

/// Where the loss is convex and the first Newton step changes typical predictions by no more than this, Newton steps go
/// alone. `diagnose` of 9,307 games of floodgate takes 3.17 CPU-seconds in place of 3.42 (3.28 with 2, 3.15 with 9).
const NEAR: f64 = 4.0;

/// Evaluations in which these steps have to arrive.
const FEW: u32 = 12;

/// Parameters up to which argmin searches first. It stores a dense matrix; beyond this Newton steps go alone.
const MAX_DENSE: usize = 64;

/// Evaluations that one search may use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Evaluations by argmin; 0 for Newton steps alone.
    pub argmin: u32,
    /// Evaluations by argmin and by Newton steps together.
    pub all: u32,
}

/// Limits unless the loss needs others.
const LIMITS: Limits = Limits { argmin: 40, all: 120 };

/// The mean loss at a point with its first two derivatives.
#[derive(Debug, Clone)]
pub(crate) struct Evaluation<H = Square> {
    pub loss: f64,
    pub gradient: Vec<f64>,
    pub hessian: H,
}

impl<H: Curvature> Evaluation<H> {
    /// The sum of parts, in their order; `None` without parts.
    pub(crate) fn sum(parts: Vec<Self>) -> Option<Self> {
        parts.into_iter().reduce(|mut a, b| {
            a.loss += b.loss;
            a.gradient.iter_mut().zip(&b.gradient).for_each(|(x, y)| *x += y);
            a.hessian.add_all(&b.hessian);
            a
        })
    }

    /// The mean per sample of a sum over `n` of them.
    pub(crate) fn mean(mut self, n: f64) -> Self {
        self.gradient.iter_mut().for_each(|g| *g /= n);
        Self { loss: self.loss / n, gradient: self.gradient, hessian: self.hessian.scaled(1.0 / n) }
    }

    pub(crate) fn size_of_gradient(&self) -> f64 {
        self.gradient.iter().fold(0.0, |m, g| if g.abs() <= m { m } else { g.abs() })
    }
}

/// A loss to be minimised.
pub(crate) trait Loss<H = Square> {
    /// The mean loss with its derivatives; `None` outside its domain.
    fn evaluate(&self, at: &[f64]) -> Option<Evaluation<H>>;

    /// For each parameter, by how much a typical prediction moves when the parameter moves by one.
    fn spread(&self) -> &[f64];

    /// By how much a step moves a typical prediction at most.
    fn largest_change(&self, step: &[f64]) -> f64 {
        step.iter().zip(self.spread()).map(|(s, spread)| s.abs() * spread).sum()
    }

    /// A step of which each part is short enough by itself, where parameters have little to do with each other.
    fn clipped(&self, _at: &[f64], _step: &[f64]) -> Option<Vec<f64>> {
        None
    }

    /// Whether a Newton step leads to an end of the domain at which no minimum is looked for. `is_bowl` says that the
    /// loss is convex here.
    fn leaves(&self, _at: &[f64], _here: &Evaluation<H>, _step: &[f64], _is_bowl: bool) -> bool {
        false
    }

    /// Evaluations that one search may use.
    fn limits(&self) -> Limits {
        LIMITS
    }

    /// Size of the gradient at which argmin stops. With less its line search would follow rounding errors of the loss;
    /// Newton steps do not.
    fn argmin_tolerance(&self) -> f64 {
        1e-6
    }
}

/// A minimum that passed the check.
#[derive(Debug, Clone)]
pub(crate) struct Minimum<H = Square> {
    pub at: Vec<f64>,
    pub evaluation: Evaluation<H>,
}

/// Where a search gave up.
#[derive(Debug, Clone)]
pub(crate) struct Stalled {
    /// Largest component of the gradient.
    pub gradient: f64,
    /// The last point; empty if there was none in the domain.
    pub at: Vec<f64>,
    pub loss: f64,
}

impl Stalled {
    /// A search that found no point of the domain.
    pub(crate) const NOWHERE: Self = Self { gradient: f64::INFINITY, at: Vec::new(), loss: f64::INFINITY };
}

/// The minimum next to a start.
pub(crate) fn minimise<H: Curvature>(loss: &dyn Loss<H>, start: &[f64]) -> Result<Minimum<H>, FitError> {
    let search = Search::new(loss);
    let not_converged = |at: Stalled| FitError::NotConverged { gradient: at.gradient, passes: search.passes() };
    search.minimise(start).map_err(not_converged)
}

/// Searches for the minimum of one loss, from one start or several.
pub(crate) struct Search<'a, H = Square> {
    loss: &'a dyn Loss<H>,
    passes: Cell<u32>,
    lowest: Cell<f64>,
    /// the last point evaluated: argmin asks for loss and gradient one after the other
    memo: RefCell<Option<(Vec<f64>, Evaluation<H>)>>,
}

impl<'a, H: Curvature> Search<'a, H> {
    pub(crate) fn new(loss: &'a dyn Loss<H>) -> Self {
        Self { loss, passes: Cell::new(0), lowest: Cell::new(f64::INFINITY), memo: RefCell::new(None) }
    }

    /// Evaluations so far.
    pub(crate) fn passes(&self) -> u32 {
        self.passes.get()
    }

    /// The lowest loss of all points evaluated.
    pub(crate) fn lowest(&self) -> f64 {
        self.lowest.get()
    }

    /// The loss with its derivatives; `None` where they are not defined or not finite.
    pub(crate) fn evaluate(&self, at: &[f64]) -> Option<Evaluation<H>> {
        if let Some((point, evaluation)) = &*self.memo.borrow()
            && point == at
        {
            return Some(evaluation.clone());
        }
        let found = self.fresh(at)?;
        *self.memo.borrow_mut() = Some((at.to_vec(), found.clone()));
        Some(found)
    }

    /// The same at a point that nobody asks for again.
    fn fresh(&self, at: &[f64]) -> Option<Evaluation<H>> {
        self.passes.set(self.passes.get() + 1);
        let is_finite = |e: &Evaluation<H>| e.loss.is_finite() && e.gradient.iter().all(|g| g.is_finite());
        let found = self.loss.evaluate(at).filter(is_finite)?;
        self.lowest.set(self.lowest.get().min(found.loss));
        Some(found)
    }

    /// Searches from a start by argmin's BFGS, then makes sure of convergence by Newton steps.
    pub(crate) fn minimise(&self, start: &[f64]) -> Result<Minimum<H>, Stalled> {
        let last_pass = self.passes() + self.loss.limits().all;
        if start.len() > MAX_DENSE || self.loss.limits().argmin == 0 {
            return self.polish(start, last_pass);
        }
        let first = self.evaluate(start).ok_or(Stalled::NOWHERE)?;
        let near = |(step, is_bowl): &(Vec<f64>, bool)| *is_bowl && self.change(step) <= NEAR;
        let alone = first.hessian.newton_step(&first.gradient).filter(near);
        // scores far out of line make a typical prediction of what few samples have
        match alone.and_then(|_| self.polish(start, last_pass.min(self.passes() + FEW)).ok()) {
            Some(found) => Ok(found),
            None => self.polish(&self.quasi_newton(start, &first), last_pass),
        }
    }

    /// By how much a step moves typical predictions.
    fn change(&self, step: &[f64]) -> f64 {
        step.iter().zip(self.loss.spread()).map(|(s, spread)| s.abs() * spread).sum()
    }

    /// Where argmin's BFGS with a Moré-Thuente line search arrives. It begins with the true curvature at the start in
    /// place of the identity.
    fn quasi_newton(&self, start: &[f64], first: &Evaluation<H>) -> Vec<f64> {
        let (k, limits) = (start.len(), self.loss.limits());
        let inverse = first.hessian.raised_inverse();
        let inverse = Array2::from_shape_fn((k, k), |(i, j)| match &inverse {
            Some(inverse) => inverse.at(i.max(j), i.min(j)),
            None => f64::from(u8::from(i == j)),
        });
        let problem = Problem {
            search: self,
            last_pass: self.passes() + limits.argmin,
            best: RefCell::new((start.to_vec(), first.loss)),
        };
        let run = || -> Result<Option<Array1<f64>>, Error> {
            let solver = BFGS::new(MoreThuenteLineSearch::new())
                .with_tolerance_grad(self.loss.argmin_tolerance())?
                .with_tolerance_cost(1e-12)?;
            let found = Executor::new(&problem, solver)
                .configure(|state| {
                    state
                        .param(Array1::from_vec(start.to_vec()))
                        .inv_hessian(inverse)
                        .max_iters(u64::from(limits.argmin))
                })
                .ctrlc(false)
                .timer(false)
                .run()?;
            Ok(found.state().get_best_param().cloned())
        };
        match run() {
            Ok(Some(found)) => found.to_vec(),
            // near the minimum the line search may fail on rounding errors, which ends argmin without a result: the
            // best point that it evaluated is close all the same, and `polish` judges it
            Ok(None) | Err(_) => problem.best.into_inner().0,
        }
    }

    /// Damped Newton steps until the gradient and the next step are small enough.
    pub(crate) fn polish(&self, start: &[f64], last_pass: u32) -> Result<Minimum<H>, Stalled> {
        let (mut at, mut next) = (start.to_vec(), start.to_vec());
        let mut here = self.evaluate(&at).ok_or(Stalled::NOWHERE)?;
        loop {
            let stalled =
                |at: Vec<f64>, here: &Evaluation<H>| Stalled { gradient: here.size_of_gradient(), at, loss: here.loss };
            let Some((mut step, is_bowl)) = here.hessian.newton_step(&here.gradient) else {
                return Err(stalled(at, &here));
            };
            let is_still = here.size_of_gradient() <= GRADIENT_TOLERANCE && self.change(&step) <= STEP_TOLERANCE;
            if is_bowl && is_still {
                return Ok(self.last_step(Minimum { at, evaluation: here }, &step, last_pass));
            }
            if self.loss.leaves(&at, &here, &step, is_bowl) {
                return Err(stalled(at, &here));
            }
            // a saturated curve has next to no curvature, and its Newton step would go much too far
            let descends = |step: &Vec<f64>| step.iter().zip(&here.gradient).map(|(s, g)| s * g).sum::<f64>() < 0.0;
            match self.loss.clipped(&at, &step).filter(descends) {
                Some(clipped) => step = clipped,
                None => {
                    let bound = (MAX_STEP / self.loss.largest_change(&step)).min(1.0);
                    step.iter_mut().for_each(|s| *s *= bound);
                }
            }
            let mut length = 1.0;
            loop {
                if self.passes() >= last_pass || length < 1e-9 {
                    return Err(stalled(at, &here));
                }
                next.iter_mut().zip(at.iter().zip(&step)).for_each(|(next, (a, s))| *next = a + length * s);
                // close to the minimum rounding hides what a step gains in loss, but the gradient shows it
                let better = self.fresh(&next).filter(|there| {
                    let level = there.loss <= here.loss + 1e-12 * here.loss.abs();
                    there.loss < here.loss || (level && there.size_of_gradient() < here.size_of_gradient())
                });
                if let Some(there) = better {
                    std::mem::swap(&mut at, &mut next);
                    here = there;
                    break;
                }
                length *= if length > 0.1 { 0.5 } else { 0.1 };
            }
        }
    }

    /// One more Newton step, taken if the gradient shrinks: it doubles the number of right digits.
    fn last_step(&self, minimum: Minimum<H>, step: &[f64], last_pass: u32) -> Minimum<H> {
        let gradient = minimum.evaluation.size_of_gradient();
        if gradient <= 1e-14 || self.passes() >= last_pass {
            return minimum;
        }
        let at: Vec<f64> = minimum.at.iter().zip(step).map(|(a, s)| a + s).collect();
        match self.fresh(&at).filter(|there| there.size_of_gradient() < gradient) {
            Some(evaluation) => Minimum { at, evaluation },
            None => minimum,
        }
    }
}

/// What argmin sees of a search: it counts evaluations against a limit and remembers the best point.
struct Problem<'a, H> {
    search: &'a Search<'a, H>,
    last_pass: u32,
    best: RefCell<(Vec<f64>, f64)>,
}

impl<H: Curvature> Problem<'_, H> {
    fn evaluate(&self, param: &Array1<f64>) -> Result<Evaluation<H>, Error> {
        let at = param.to_vec();
        if !at.iter().all(|x| x.is_finite()) {
            return Err(Error::msg("the search left the finite numbers"));
        }
        // ends a line search that does not end by itself
        if self.search.passes() >= self.last_pass {
            return Err(Error::msg("no evaluations left"));
        }
        let evaluation = self.search.evaluate(&at).ok_or_else(|| Error::msg("the loss is not defined here"))?;
        if evaluation.loss < self.best.borrow().1 {
            *self.best.borrow_mut() = (at, evaluation.loss);
        }
        Ok(evaluation)
    }
}

impl<H: Curvature> CostFunction for &Problem<'_, H> {
    type Param = Array1<f64>;
    type Output = f64;

    fn cost(&self, param: &Array1<f64>) -> Result<f64, Error> {
        Ok(self.evaluate(param)?.loss)
    }
}

impl<H: Curvature> Gradient for &Problem<'_, H> {
    type Param = Array1<f64>;
    type Gradient = Array1<f64>;

    fn gradient(&self, param: &Array1<f64>) -> Result<Array1<f64>, Error> {
        Ok(Array1::from_vec(self.evaluate(param)?.gradient))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
