//! The field reading of an engine: the logistic curve of its scores that is nearest to the win rates against the
//! opponents that it met.

use super::objective::{Layout, Objective, Row, Rows};
use crate::fit::error::FitError;
use crate::fit::search::{Minimum, Search};
use crate::fit::symmetric::{Arrow, Curvature};

/// Win rates by score alone, opponents averaged out: high scores come against weak opponents, so that the slope is
/// another one than against each of them.
pub(super) struct Field {
    pub(super) w1: f64,
    pub(super) w2: f64,
    /// the inverse of the Hessian, with scores in the unit of the engine
    inverse: [Vec<f64>; 2],
}

impl Field {
    /// Minimises Σ -q ln p - (1 - q) ln(1 - p) over p = σ(w1 x - w2), with q from `rates`: the win rate of each sample
    /// of the engine against its opponent.
    ///
    /// # Errors
    /// A slope that is not positive.
    pub(super) fn new(
        objective: &Objective<'_>,
        engine: usize,
        unit: f64,
        rates: &[f64],
        at: &[f64],
    ) -> Result<Self, FitError> {
        let row = |i: usize| {
            let alone = Row { engine: 0, own: None, opponent: None, d: 0.0, offset: 0.0, ..objective.rows.at(i) };
            Row { result: rates[i], ..alone }
        };
        let rows: Rows = objective.rows_of(engine).map(row).collect();
        let alone = Objective::new(&rows, Layout { players: 0, engines: 1, rated: false, lapse: false }, 1.0);
        let search = Search::new(&alone);
        let failed = |gradient| FitError::NotConverged { gradient, passes: search.passes() };
        let Minimum { at, evaluation } = search.minimise(&[at[engine], 0.0]).map_err(|s| failed(s.gradient))?;
        let w1 = at[0] / unit;
        if w1 <= 0.0 {
            return Err(FitError::SlopeNotPositive { w1 });
        }
        let hessian: Arrow = evaluation.hessian.scaled(rows.len() as f64);
        let factor = hessian.factor().ok_or_else(|| failed(f64::INFINITY))?;
        Ok(Self { w1, w2: at[1], inverse: [[1.0, 0.0], [0.0, 1.0]].map(|unit| factor.solve(&unit)) })
    }

    /// By how much slope (in the unit of the engine) and offset move with the logit of a sample.
    pub(super) fn moved(&self, x: f64, rate: f64) -> [f64; 2] {
        [0, 1].map(|k| rate * (1.0 - rate) * (self.inverse[0][k] * x - self.inverse[1][k]))
    }
}
