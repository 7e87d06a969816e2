//! Maximum likelihood where the log odds are linear in a few numbers of the sample.
//!
//! Phase and the recalibration of forecasts are this one regression with other numbers. A draw counts half of either
//! side.

use std::ops::Range;

use evalcurve_calibration::logistic::Logistic;

use super::covariance::clustered;
use super::error::FitError;
use super::search::{Evaluation, Loss, Minimum, minimise};
use super::symmetric::Square;
use crate::parallel;
use crate::vector::{BLOCK, Logistics};

/// Samples summed by one task. Fixed, and partial sums are added in order: equal bits on any number of threads.
const CHUNK: usize = 8192;

/// A sample of a regression.
#[derive(Debug, Clone, Copy)]
pub struct LinearRow<F> {
    /// Identity of the game.
    pub game: u64,
    /// 1, 0.5 or 0.
    pub result: f64,
    /// What the logit has beside the numbers.
    pub offset: f64,
    /// The numbers that are not 0, with the indices of their parameters; each index is there once.
    pub features: F,
}

/// The samples of a regression, collected from [`LinearRow`]s.
#[derive(Debug, Clone, Default)]
pub struct LinearRows {
    games: Vec<u64>,
    results: Vec<f64>,
    offsets: Vec<f64>,
    /// where the features of each sample end
    ends: Vec<usize>,
    features: Vec<(u32, f64)>,
}

impl<F: AsRef<[(u32, f64)]>> FromIterator<LinearRow<F>> for LinearRows {
    fn from_iter<I: IntoIterator<Item = LinearRow<F>>>(rows: I) -> Self {
        let mut all = Self::default();
        rows.into_iter().for_each(|row| all.push(row));
        all
    }
}

impl LinearRows {
    pub fn push<F: AsRef<[(u32, f64)]>>(&mut self, row: LinearRow<F>) {
        self.games.push(row.game);
        self.results.push(row.result);
        self.offsets.push(row.offset);
        self.features.extend_from_slice(row.features.as_ref());
        self.ends.push(self.features.len());
    }

    fn len(&self) -> usize {
        self.games.len()
    }

    fn features(&self, row: usize) -> &[(u32, f64)] {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.features[start..self.ends[row]]
    }

    fn logit(&self, row: usize, at: &[f64]) -> f64 {
        self.features(row).iter().fold(self.offsets[row], |z, &(i, x)| z + at[i as usize] * x)
    }

    /// For each parameter the root mean square of its numbers.
    fn sizes(&self, parameters: usize) -> Vec<f64> {
        let mut squares = vec![0.0; parameters];
        self.features.iter().for_each(|&(i, x)| squares[i as usize] += x * x);
        squares.iter().map(|s| (s / self.len().max(1) as f64).sqrt()).collect()
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

struct Objective<'a> {
    rows: &'a LinearRows,
    spread: Vec<f64>,
}

impl Objective<'_> {
    fn part(&self, rows: Range<usize>, at: &[f64]) -> Evaluation {
        let k = self.spread.len();
        let (mut loss, mut gradient, mut hessian) = (0.0, vec![0.0; k], Square::zero(k));
        let mut block = Logistics::new();
        let (mut z, mut losses) = ([0.0; BLOCK], [0.0; BLOCK]);
        for start in rows.clone().step_by(BLOCK) {
            let rows = start..rows.end.min(start + BLOCK);
            let (z, results) = (&mut z[..rows.len()], &self.rows.results[rows.clone()]);
            rows.clone().zip(&mut *z).for_each(|(row, z)| *z = self.rows.logit(row, at));
            block.at(z);
            block.losses(z, results, &mut losses);
            for (i, row) in rows.enumerate() {
                let (p, q) = (block.p[i], block.q[i]);
                loss += losses[i];
                // p - y without cancellation
                let first = (1.0 - results[i]) * p - results[i] * q;
                let second = p * q;
                let features = self.rows.features(row);
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

impl Loss for Objective<'_> {
    fn evaluate(&self, at: &[f64]) -> Option<Evaluation> {
        let n = self.rows.len();
        let part = |chunk: usize| self.part(chunk * CHUNK..n.min((chunk + 1) * CHUNK), at);
        Some(Evaluation::sum(parallel::map(n.div_ceil(CHUNK), part))?.mean(n as f64))
    }

    fn spread(&self) -> &[f64] {
        &self.spread
    }
}

/// Fits the coefficients of a start, with their covariance; numbers should be of the order of one.
///
/// # Errors
/// [`FitError::NotConverged`], also where the numbers are collinear or separate wins from losses.
pub fn regress(rows: &LinearRows, start: &[f64]) -> Result<Regression, FitError> {
    let Minimum { at, evaluation } = minimise(&Objective { rows, spread: rows.sizes(start.len()) }, start)?;
    let covariance = clustered(&evaluation.hessian, &rows.games, |i, add| {
        let Logistic { p, q, .. } = Logistic::at(rows.logit(i, &at));
        let first = (1.0 - rows.results[i]) * p - rows.results[i] * q;
        rows.features(i).iter().for_each(|&(j, x)| add(j as usize, first * x));
    });
    Ok(Regression { at, mean_loss: evaluation.loss, covariance })
}

/// Fits coefficients of numbers of any size. `None` where the samples do not determine them, or a combination of the
/// numbers separates wins from losses.
pub fn regress_any(mut rows: LinearRows, parameters: usize) -> Option<Regression> {
    let sizes = rows.sizes(parameters);
    if parameters == 0 || rows.len() <= parameters || !sizes.iter().all(|s| s.is_finite() && *s > 0.0) {
        return None;
    }
    rows.features.iter_mut().for_each(|(i, x)| *x /= sizes[*i as usize]);
    let mut found = regress(&rows, &vec![0.0; parameters]).ok()?;
    found.at.iter_mut().zip(&sizes).for_each(|(b, s)| *b /= s);
    found.covariance = found.covariance.map(|scaled| {
        let mut covariance = Square::zero(parameters);
        let entries = (0..parameters).flat_map(|i| (0..=i).map(move |j| (i, j)));
        entries.for_each(|(i, j)| covariance.add(i, j, scaled.at(i, j) / (sizes[j] * sizes[i])));
        covariance
    });
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::{FitOptions, Observation, fit};
    use evalcurve_calibration::Method;
    use evalcurve_calibration::types::Outcome;

    fn row(values: &[f64], result: f64, game: u64) -> LinearRow<Vec<(u32, f64)>> {
        LinearRow { game, result, offset: 0.0, features: (0..).zip(values.iter().copied()).collect() }
    }

    #[test]
    fn two_columns_equal_the_fit_of_the_sigmoid() {
        let observations: Vec<Observation> = (0..900u64)
            .map(|i| {
                let score_cp = (i as i32 * 37) % 2001 - 1000;
                let luck = (i * 7919 % 1000) as i32 * 2 - 1000;
                let outcome = match score_cp / 2 + luck {
                    s if s > 40 => Outcome::Win,
                    s if s < -40 => Outcome::Loss,
                    _ => Outcome::Draw,
                };
                Observation { game: i / 3, score_cp, outcome }
            })
            .collect();
        let row = |o: &Observation| row(&[f64::from(o.score_cp), -1.0], o.outcome.value(), o.game);
        let ours = regress_any(observations.iter().map(row).collect(), 2).unwrap();
        let theirs = fit(Method::MaximumLikelihood, &observations, &FitOptions::default()).unwrap();
        assert!((ours.at[0] / theirs.sigmoid.w1 - 1.0).abs() < 1e-9);
        assert!((ours.at[1] - theirs.sigmoid.w2).abs() < 1e-9);
        let covariance = ours.covariance().unwrap();
        for (ours, theirs) in covariance.iter().flatten().zip(theirs.covariance.as_flattened()) {
            assert!((ours / theirs - 1.0).abs() < 1e-7, "{ours} {theirs}");
        }
    }

    #[test]
    fn what_is_not_determined_has_no_fit() {
        let row = |i: u32| row(&[1.0, 2.0], f64::from(i % 2), i.into());
        assert!(regress_any((0..40).map(row).collect(), 2).is_none());
        let row = |i: u32| super::tests::row(&[1.0, f64::from(i)], f64::from(u8::from(i >= 20)), i.into());
        assert!(regress_any((0..40).map(row).collect(), 2).is_none());
        assert!(regress_any((0..2).map(row).collect(), 2).is_none());
        assert!(regress_any(LinearRows::default(), 0).is_none());
    }
}
