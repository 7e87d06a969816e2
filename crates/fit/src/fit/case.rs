//! What models know of a sample: score, outcome, and the situation in which the score was given.

use std::borrow::Cow;

use evalcurve_calibration::{Outcome, Situation};

use super::counts::Observation;

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

/// The samples of an engine: all of them, or those outside of one fold.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part<'a> {
    cases: &'a [Case],
    /// the fold of each, and the one that is left out
    without: Option<(&'a [u32], u32)>,
}

impl<'a> From<&'a [Case]> for Part<'a> {
    fn from(cases: &'a [Case]) -> Self {
        Self { cases, without: None }
    }
}

impl<'a> Part<'a> {
    /// The cases whose fold is another one.
    pub(crate) fn without(cases: &'a [Case], folds: &'a [u32], fold: u32) -> Self {
        Self { cases, without: Some((folds, fold)) }
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = &'a Case> + Clone {
        let is_in = move |i: usize| self.without.is_none_or(|(folds, fold)| folds[i] != fold);
        self.cases.iter().enumerate().filter(move |(i, _)| is_in(*i)).map(|(_, case)| case)
    }

    /// The cases one after the other.
    pub(crate) fn cases(self) -> Cow<'a, [Case]> {
        match self.without {
            None => Cow::Borrowed(self.cases),
            Some(_) => self.iter().copied().collect(),
        }
    }
}

/// The median size of scores, at least 1: scores clipped to it count by sign, not by size.
pub fn median_size(scores: impl Iterator<Item = i32>) -> i32 {
    let mut sizes: Vec<i32> = scores.map(|score| score.saturating_abs()).collect();
    sizes.sort_unstable();
    sizes.get(sizes.len() / 2).map_or(1, |size| *size.max(&1))
}
