//! What models know of a sample: score, outcome, and the situation in which the score was given.

use std::collections::HashMap;

use super::counts::Observation;
use crate::rating::LOGITS_PER_ELO;
use crate::types::Outcome;

/// The two readings of one calibration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reading {
    /// What happened against the opponents that the engine met. Curves and proper scores show it.
    Field,
    /// The win rate between players of equal strength: the only one that may be compared between engines, exported to a
    /// GUI, or used by a council.
    #[default]
    Equal,
}

/// What is known of a position besides its score. A field that is `None` is not known; models then use their default.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Situation {
    /// How much stronger the side to move is than its opponent, in logits: (own - opponent's rating)·ln 10/400. The
    /// default is 0, equal players.
    pub strength: Option<f64>,
    /// Number of the move to be made. The default is the middle of the plies that the model was fitted to.
    pub ply: Option<u32>,
    /// Material on the board, pawns and pieces of both sides counted 1, 3, 3, 5, 9 as in chess (78 at the start).
    /// The default is the middle of the range that the model was fitted to.
    pub material: Option<u32>,
    /// The players, side to move first, as numbers that are the same wherever the same player plays. Only fits of
    /// several engines together use them.
    pub players: Option<[u32; 2]>,
    /// The score that the opponent gave the next position, in its own view, centipawns and no mate. Only such fits use
    /// it, to compare the scales of two engines.
    pub reply_cp: Option<i32>,
}

impl Situation {
    /// Sets the strength to a rating difference in Elo points, own rating minus the opponent's.
    pub fn with_rating_difference(mut self, elo: f64) -> Self {
        self.strength = Some(elo * LOGITS_PER_ELO);
        self
    }
}

/// Share of the samples on either side that [`central_range`] leaves out.
const OUTER: f64 = 0.01;

/// The range of plies (or of material) without the outermost 1% of the samples on either side, so that a few endless
/// games do not bend a fit; `None` without samples.
pub(super) fn central_range(values: impl Iterator<Item = u32>) -> Option<(u32, u32)> {
    let mut values: Vec<u32> = values.collect();
    values.sort_unstable();
    let outer = (values.len() as f64 * OUTER) as usize;
    Some((*values.get(outer)?, *values.get(values.len() - 1 - outer)?))
}

/// One sample as models see it; score and outcome in the view of the side to move.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Case {
    /// Identity of the game. Samples of one game are not independent: folds, covariances and resamples never split
    /// them.
    pub game: u64,
    /// Score in centipawns.
    pub score_cp: i32,
    /// Outcome of the game for the side to move.
    pub outcome: Outcome,
    /// What else is known of the position.
    pub situation: Situation,
}

impl Case {
    /// The sample without its situation.
    pub fn observation(&self) -> Observation {
        Observation { game: self.game, score_cp: self.score_cp, outcome: self.outcome }
    }
}

/// The engines by the player that each one is: the side to move of its own games.
pub(crate) fn engine_of_player<'a>(engines: impl Iterator<Item = &'a [Case]>) -> HashMap<u32, usize> {
    let cases = engines.enumerate().flat_map(|(e, cases)| cases.iter().map(move |case| (e, case)));
    cases.filter_map(|(e, case)| Some((case.situation.players?[0], e))).collect()
}
