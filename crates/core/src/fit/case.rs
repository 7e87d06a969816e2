//! What models may know of a sample: score, outcome, and the situation that the score was given in.

use super::counts::Observation;
use crate::rating::LOGITS_PER_ELO;
use crate::types::Outcome;

/// What is known of a position beside its score. What is `None` is not known, and the models take their default for it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Situation {
    /// How much stronger the side to move is than its opponent, in logits: (own - opponent's rating)·ln 10/400. The
    /// default of the models is 0, equals.
    pub strength: Option<f64>,
    /// Number of the move to be made. The default is the model's own middle.
    pub ply: Option<u32>,
    /// Material on the board, pawns and pieces of both sides counted 1, 3, 3, 5, 9 as in chess (78 at the start).
    /// The default is the model's own middle.
    pub material: Option<u32>,
}

impl Situation {
    /// The strength of a rating difference in Elo points, own rating less the opponent's.
    pub fn with_rating_difference(mut self, elo: f64) -> Self {
        self.strength = Some(elo * LOGITS_PER_ELO);
        self
    }
}

/// Share of the samples on either side that [`central_range`] leaves out.
const OUTER: f64 = 0.01;

/// The range of plies (or of material) without the outermost 1% of the samples on either side, so that a few endless games
/// do not bend a fit; `None` without samples.
pub(super) fn central_range(values: impl Iterator<Item = u32>) -> Option<(u32, u32)> {
    let mut values: Vec<u32> = values.collect();
    values.sort_unstable();
    let outer = (values.len() as f64 * OUTER) as usize;
    Some((*values.get(outer)?, *values.get(values.len() - 1 - outer)?))
}

/// One sample as models see it; score and outcome in the view of the side to move.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Case {
    /// Identity of the game. Samples of one game are not independent: folds, covariances and resamples keep them
    /// together.
    pub game: u64,
    /// Score in centipawns.
    pub score_cp: i32,
    /// Outcome of the game for the side to move.
    pub outcome: Outcome,
    /// What else is known.
    pub situation: Situation,
}

impl Case {
    /// The sample without its situation.
    pub fn observation(&self) -> Observation {
        Observation { game: self.game, score_cp: self.score_cp, outcome: self.outcome }
    }
}
