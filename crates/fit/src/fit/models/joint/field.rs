//! The field reading of an engine: the logistic curve of its scores that is nearest to the win rates against the
//! opponents that it met.

use super::objective::{Layout, Objective, Row, Rows};
use crate::fit::error::FitError;
use crate::fit::search::{Minimum, Search, minimise};
use crate::fit::symmetric::{Arrow, Curvature};

/// Slope and offset of the logistic curve of maximum likelihood of so many samples, each a score and a result.
pub(in crate::fit::models) fn one_curve(
    samples: usize,
    rows: impl Iterator<Item = (f64, f64)>,
) -> Result<[f64; 2], FitError> {
    let row = |(x, result)| Row { game: 0, engine: 0, own: None, opponent: None, x, d: 0.0, offset: 0.0, result };
    let mut all = Rows::with_capacity(samples);
    all.extend(rows.map(row));
    let Minimum { at, .. } = minimise(&Objective::new(&all, Layout::ALONE, 1.0), &[0.0; 2])?;
    Ok([at[0], at[1]])
}

/// Win rates by score alone, opponents averaged out: high scores come against weak opponents, so that the slope is
/// another one than against each of them.
pub(super) struct Field {
    pub(super) w1: f64,
    pub(super) w2: f64,
    /// the inverse of the Hessian, with scores in the unit of the engine
    inverse: [Vec<f64>; 2],
    /// by how much slope (in that unit) and offset move with half the width of the draws
    pub(super) by_width: [f64; 2],
}

impl Field {
    /// Minimises Σ -q ln p - (1 - q) ln(1 - p) over p = σ(w1 x - w2), with q the win rate at `at` of each sample of the
    /// engine against its opponent. With draws of half a width δ the sum is over two rates of each sample, those
    /// of a win and of no loss, with p = σ(w1 x - w2 ∓ δ): the expected results of the curve are those of the samples
    /// on average, and on average over the scores.
    ///
    /// # Errors
    /// A slope that is not positive.
    pub(super) fn new(objective: &Objective<'_>, engine: usize, unit: f64, at: &[f64]) -> Result<Self, FitError> {
        let own = objective.rows_of(engine);
        let (first, rates) = (own.start, objective.rates(own.clone(), at));
        let width = objective.common(at).draws.map_or(0.0, |[_, width]| width);
        let row = |i: usize, rates: &[f64], offset: f64| {
            let result = *rates.get(i - first)?;
            Some(Row { engine: 0, own: None, opponent: None, d: 0.0, offset, result, ..objective.rows.at(i) })
        };
        let sides = rates.iter().zip([-width, width]);
        let rows: Rows =
            own.flat_map(|i| sides.clone().filter_map(move |(rates, offset)| row(i, rates, offset))).collect();
        let alone = Objective::new(&rows, Layout::ALONE, 1.0);
        let search = Search::new(&alone);
        let failed = |gradient| FitError::NotConverged { gradient, passes: search.passes() };
        let Minimum { at, evaluation } = search.minimise(&[at[engine], 0.0]).map_err(|s| failed(s.gradient))?;
        let w1 = at[0] / unit;
        if w1 <= 0.0 {
            return Err(FitError::SlopeNotPositive { w1 });
        }
        let hessian: Arrow = evaluation.hessian.scaled(rows.len() as f64);
        let factor = hessian.factor().ok_or_else(|| failed(f64::INFINITY))?;
        let mut found = Self {
            w1,
            w2: at[1],
            inverse: [[1.0, 0.0], [0.0, 1.0]].map(|unit| factor.solve(&unit)),
            by_width: [0.0; 2],
        };
        if width > 0.0 {
            let of_curve = &alone.rates(0..rows.len(), &at)[0];
            for (i, p) in of_curve.iter().enumerate() {
                let Row { x, offset, result, .. } = rows.at(i);
                let moved = found.moved(x, offset.signum() * (result * (1.0 - result) - p * (1.0 - p)));
                found.by_width.iter_mut().zip(moved).for_each(|(sum, moved)| *sum += moved);
            }
        }
        Ok(found)
    }

    /// By how much slope (in the unit of the engine) and offset move with the logit of a sample, given by how much its
    /// rates do.
    pub(super) fn moved(&self, x: f64, bend: f64) -> [f64; 2] {
        [0, 1].map(|k| bend * (self.inverse[0][k] * x - self.inverse[1][k]))
    }
}
