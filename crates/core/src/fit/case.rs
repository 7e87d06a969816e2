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
    /// The engine that gave the score, as a number that is the same wherever it gives one. Only fits of several engines
    /// together use it and the following two.
    pub engine: Option<u32>,
    /// The players, side to move first, with the numbers of their engines; `None` if the engine does not play.
    pub players: Option<[u32; 2]>,
    /// What another engine thought of the position: it compares the scales of the two.
    pub shared: Option<SharedPosition>,
}

/// The score of another engine for the same position, or for the one after the move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SharedPosition {
    /// The number of the other engine.
    pub engine: u32,
    /// Its score in the view of the side to move of the sample, centipawns and no mate.
    pub score_cp: i32,
    /// It is the opponent's score of the position after the engine's move. Such positions look better to the player who
    /// chose the move.
    pub replied: bool,
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

impl From<&Observation> for Case {
    /// The sample without a situation.
    fn from(o: &Observation) -> Self {
        Self { game: o.game, score_cp: o.score_cp, outcome: o.outcome, situation: Situation::default() }
    }
}

impl Case {
    /// The sample without its situation.
    pub fn observation(&self) -> Observation {
        Observation { game: self.game, score_cp: self.score_cp, outcome: self.outcome }
    }
}

/// The median size of scores, at least 1: scores drawn in to it count by their sign rather than by their size.
pub fn median_size(scores: impl Iterator<Item = i32>) -> i32 {
    let mut sizes: Vec<i32> = scores.map(|score| score.saturating_abs()).collect();
    sizes.sort_unstable();
    sizes.get(sizes.len() / 2).map_or(1, |size| *size.max(&1))
}

/// The engines by their numbers.
pub(crate) fn engines_by_number<'a>(engines: impl Iterator<Item = &'a [Case]>) -> HashMap<u32, usize> {
    let cases = engines.enumerate().flat_map(|(e, cases)| cases.iter().map(move |case| (e, case)));
    cases.filter_map(|(e, case)| Some((case.situation.engine?, e))).collect()
}
