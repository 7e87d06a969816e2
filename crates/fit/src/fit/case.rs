//! What models know of a sample: score, outcome, and the situation in which the score was given.

use std::borrow::Cow;

use evalcurve_calibration::{Outcome, SharedPosition, Situation};

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

/// Samples in half the memory or less: a million games have millions of them. A ply, an engine or players of the number
/// 4,294,967,295 count as not known, as do ratings and times that are no numbers; material above 65,534 counts as that.
#[derive(Debug, Clone, Default)]
pub struct Cases {
    packed: Vec<Packed>,
    /// strength, rating and seconds of each: NaN where it is not known, and none where no sample knows it
    known: [Vec<f64>; 3],
}

#[derive(Debug, Clone)]
struct Packed {
    game: u64,
    score_cp: i32,
    ply: u32,
    engine: u32,
    players: [u32; 2],
    /// engine and score of a shared position
    shared: (u32, i32),
    material: u16,
    /// of the shared position; `None` without one
    replied: Option<bool>,
    outcome: Outcome,
}

/// What is not known: a ply, an engine or the players.
const UNKNOWN: u32 = u32::MAX;
/// No known material.
const NO_MATERIAL: u16 = u16::MAX;

impl Cases {
    /// None yet, with room for so many.
    pub fn with_capacity(most: usize) -> Self {
        Self { packed: Vec::with_capacity(most), known: Default::default() }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.packed.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.packed.is_empty()
    }

    /// The samples in their order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Case> + Clone {
        (0..self.len()).map(|i| self.at(i))
    }

    /// The sample at a place, from 0.
    pub fn at(&self, place: usize) -> Case {
        let &Packed { game, score_cp, ply, engine, players, shared, material, replied, outcome } = &self.packed[place];
        let [strength, rating, seconds] = [0, 1, 2].map(|k| self.known[k].get(place).copied().filter(|n| !n.is_nan()));
        let situation = Situation {
            strength,
            rating,
            seconds,
            ply: (ply != UNKNOWN).then_some(ply),
            material: (material != NO_MATERIAL).then_some(material.into()),
            engine: (engine != UNKNOWN).then_some(engine),
            players: (players != [UNKNOWN; 2]).then_some(players),
            shared: replied.map(|replied| SharedPosition { engine: shared.0, score_cp: shared.1, replied }),
        };
        Case { game, score_cp, outcome, situation }
    }
}

impl Extend<Case> for Cases {
    fn extend<I: IntoIterator<Item = Case>>(&mut self, cases: I) {
        for Case { game, score_cp, outcome, situation } in cases {
            let Situation { strength, rating, seconds, ply, material, engine, players, shared } = situation;
            for (column, number) in self.known.iter_mut().zip([strength, rating, seconds]) {
                if number.is_some() || !column.is_empty() {
                    column.reserve_exact(self.packed.capacity().saturating_sub(column.len()));
                    column.resize(self.packed.len(), f64::NAN);
                    column.push(number.unwrap_or(f64::NAN));
                }
            }
            self.packed.push(Packed {
                game,
                score_cp,
                ply: ply.unwrap_or(UNKNOWN),
                engine: engine.unwrap_or(UNKNOWN),
                players: players.unwrap_or([UNKNOWN; 2]),
                shared: shared.map_or((0, 0), |shared| (shared.engine, shared.score_cp)),
                material: material.map_or(NO_MATERIAL, |n| n.min(u32::from(NO_MATERIAL) - 1) as u16),
                replied: shared.map(|shared| shared.replied),
                outcome,
            });
        }
    }
}

impl FromIterator<Case> for Cases {
    fn from_iter<I: IntoIterator<Item = Case>>(cases: I) -> Self {
        let cases = cases.into_iter();
        let mut all = Self::with_capacity(cases.size_hint().0);
        all.extend(cases);
        all
    }
}

/// The samples of an engine, in a slice or packed: all of them, or those outside of one fold.
#[derive(Debug, Clone, Copy)]
pub struct Part<'a> {
    of: Of<'a>,
    /// the fold of each, and the one that is left out
    without: Option<(&'a [u32], u32)>,
}

#[derive(Debug, Clone, Copy)]
enum Of<'a> {
    Slice(&'a [Case]),
    Packed(&'a Cases),
}

impl<'a> From<&'a [Case]> for Part<'a> {
    fn from(cases: &'a [Case]) -> Self {
        Self { of: Of::Slice(cases), without: None }
    }
}

impl<'a> From<&'a Cases> for Part<'a> {
    fn from(cases: &'a Cases) -> Self {
        Self { of: Of::Packed(cases), without: None }
    }
}

impl<'a> Part<'a> {
    /// The cases whose fold is another one.
    pub(crate) fn without(cases: &'a Cases, folds: &'a [u32], fold: u32) -> Self {
        Self { of: Of::Packed(cases), without: Some((folds, fold)) }
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = Case> + Clone + 'a {
        let length = match self.of {
            Of::Slice(cases) => cases.len(),
            Of::Packed(cases) => cases.len(),
        };
        let is_in = move |i: &usize| self.without.is_none_or(|(folds, fold)| folds[*i] != fold);
        (0..length).filter(is_in).map(move |i| match self.of {
            Of::Slice(cases) => cases[i],
            Of::Packed(cases) => cases.at(i),
        })
    }

    /// The cases one after the other.
    pub(crate) fn cases(self) -> Cow<'a, [Case]> {
        match (self.of, self.without) {
            (Of::Slice(cases), None) => Cow::Borrowed(cases),
            _ => self.iter().collect(),
        }
    }
}

/// The median size of scores, at least 1: scores clipped to it count by sign, not by size.
pub fn median_size(scores: impl Iterator<Item = i32>) -> i32 {
    let mut sizes: Vec<i32> = scores.map(|score| score.saturating_abs()).collect();
    sizes.sort_unstable();
    sizes.get(sizes.len() / 2).map_or(1, |size| *size.max(&1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_cases_are_the_same() {
        let full = Situation {
            strength: Some(0.25),
            rating: Some(2700.5),
            seconds: Some(0.1),
            ply: Some(0),
            material: Some(78),
            engine: Some(7),
            players: Some([7, 0]),
            shared: Some(SharedPosition { engine: 3, score_cp: -41, replied: false }),
        };
        let replied = SharedPosition { engine: 0, score_cp: 9, replied: true };
        let situations = [
            Situation { engine: Some(7), ..Situation::default() },
            full,
            Situation { strength: None, seconds: None, shared: Some(replied), ..full },
            Situation { rating: None, players: None, material: None, shared: None, ..full },
            Situation::default(),
        ];
        for some in [&situations[..], &situations[..1]] {
            let outcomes = [Outcome::Win, Outcome::Draw, Outcome::Loss].into_iter().cycle();
            let case = |(situation, outcome): (&Situation, Outcome)| Case {
                game: u64::MAX,
                score_cp: -31_999,
                outcome,
                situation: *situation,
            };
            let cases: Vec<Case> = some.iter().zip(outcomes).map(case).collect();
            let packed: Cases = cases.iter().copied().collect();
            assert_eq!((packed.len(), packed.iter().collect()), (cases.len(), cases));
        }
        assert_eq!(size_of::<Packed>(), 40);
    }
}
