//! Maximum likelihood where the log odds are linear in a few numbers of the sample.
//!
//! Phase and the recalibration of forecasts are this one regression with other numbers. A draw counts half of either
//! side.

use evalcurve_calibration::logistic::Logistic;

use super::covariance::clustered;
use super::error::FitError;
use super::search::{Evaluation, Loss, Minimum, minimise};
use super::symmetric::Square;
use crate::parallel;
use crate::vector::{BLOCK, Logistics};

/// Samples summed by one task. Fixed, and partial sums are added in order: equal bits on any number of threads.
const CHUNK: usize = 8192;

/// A sample of a regression. Its numbers, with the indices of their parameters, are an array or a list; each index is
/// there once.
#[derive(Debug, Clone, Copy)]
pub struct LinearRow<F> {
    /// Identity of the game.
    pub game: u64,
    /// 1, 0.5 or 0.
    pub result: f64,
    /// What the logit has beside the numbers.
    pub offset: f64,
    /// The numbers that are not 0.
    pub features: F,
}

impl<F: AsRef<[(u32, f64)]>> LinearRow<F> {
    fn logit(&self, at: &[f64]) -> f64 {
        self.features.as_ref().iter().fold(self.offset, |z, &(i, x)| z + at[i as usize] * x)
    }
}

#[derive(Debug, Clone)]
pub struct Regression {
    /// The coefficients.
    pub at: Vec<f64>,
    /// Mean negative log likelihood in nats.
    pub mean_loss: f64,
    /// Their covariance, clustered by game; lower triangle.
    pub(crate) covariance: Option<Square>,
}

impl Regression {
    /// The covariance of some of the coefficients, each divided by its scale; 0 where a coefficient was not fitted.
    pub(crate) fn covariance_of<const K: usize>(
        &self,
        index: [Option<usize>; K],
        scale: [f64; K],
    ) -> Option<Vec<Vec<f64>>> {
        let all = self.covariance.as_ref()?;
        let entry = |i: usize, j: usize| match (index[i], index[j]) {
            (Some(k), Some(l)) => all.at(k.max(l), k.min(l)) / (scale[i] * scale[j]),
            _ => 0.0,
        };
        Some((0..K).map(|i| (0..K).map(|j| entry(i, j)).collect()).collect())
    }

    /// The covariance of all coefficients, clustered by game; `None` for a single game.
    pub fn covariance(&self) -> Option<Vec<Vec<f64>>> {
        let all = self.covariance.as_ref()?;
        let size = 0..all.size();
        Some(size.clone().map(|i| size.clone().map(|j| all.at(i.max(j), i.min(j))).collect()).collect())
    }
}

struct Objective<'a, F> {
    rows: &'a [LinearRow<F>],
    spread: Vec<f64>,
}

impl<F: AsRef<[(u32, f64)]>> Objective<'_, F> {
    fn part(&self, rows: &[LinearRow<F>], at: &[f64]) -> Evaluation {
        let k = self.spread.len();
        let (mut loss, mut gradient, mut hessian) = (0.0, vec![0.0; k], Square::zero(k));
        let mut block = Logistics::new();
        let (mut z, mut results, mut losses) = ([0.0; BLOCK], [0.0; BLOCK], [0.0; BLOCK]);
        for rows in rows.chunks(BLOCK) {
            for (row, (z, result)) in rows.iter().zip(z.iter_mut().zip(&mut results)) {
                (*z, *result) = (row.logit(at), row.result);
            }
            block.at(&z[..rows.len()]);
            block.losses(&z[..rows.len()], &results, &mut losses);
            for (i, row) in rows.iter().enumerate() {
                let (p, q) = (block.p[i], block.q[i]);
                loss += losses[i];
                // p - y without cancellation
                let first = (1.0 - row.result) * p - row.result * q;
                let second = p * q;
                let features = row.features.as_ref();
                for (a, &(i, x)) in features.iter().enumerate() {
                    gradient[i as usize] += first * x;
                    for &(j, y) in &features[..=a] {
                        hessian.add(i as usize, j as usize, second * x * y);
                    }
                }
            }
        }
        Evaluation { loss, gradient, hessian }
    }
}

impl<F: AsRef<[(u32, f64)]> + Sync> Loss for Objective<'_, F> {
    fn evaluate(&self, at: &[f64]) -> Option<Evaluation> {
        let parts = parallel::map_chunks(self.rows, CHUNK, |rows| self.part(rows, at));
        Some(Evaluation::sum(parts)?.mean(self.rows.len() as f64))
    }

    fn spread(&self) -> &[f64] {
        &self.spread
    }
}

/// Fits the coefficients of a start; numbers should be of the order of one.
fn coefficients<F: AsRef<[(u32, f64)]> + Sync>(rows: &[LinearRow<F>], start: &[f64]) -> Result<Minimum, FitError> {
    let mut squares = vec![0.0; start.len()];
    rows.iter().flat_map(|r| r.features.as_ref()).for_each(|&(i, x)| squares[i as usize] += x * x);
    let spread = squares.iter().map(|s| (s / rows.len().max(1) as f64).sqrt()).collect();
    minimum(&Objective { rows, spread }, start)
}

/// Not generic: the search is compiled here, not once more in every crate with rows of its own.
fn minimum(loss: &dyn Loss, start: &[f64]) -> Result<Minimum, FitError> {
    minimise(loss, start)
}

/// Fits the coefficients of a start, with their covariance; numbers should be of the order of one.
///
/// # Errors
/// [`FitError::NotConverged`], also where the numbers are collinear or separate wins from losses.
pub fn regress<F: AsRef<[(u32, f64)]> + Sync>(rows: &[LinearRow<F>], start: &[f64]) -> Result<Regression, FitError> {
    let Minimum { at, evaluation } = coefficients(rows, start)?;
    let games: Vec<u64> = rows.iter().map(|r| r.game).collect();
    let covariance = clustered(&evaluation.hessian, &games, |i, add| {
        let row = &rows[i];
        let Logistic { p, q, .. } = Logistic::at(row.logit(&at));
        let first = (1.0 - row.result) * p - row.result * q;
        row.features.as_ref().iter().for_each(|&(j, x)| add(j as usize, first * x));
    });
    Ok(Regression { at, mean_loss: evaluation.loss, covariance })
}
