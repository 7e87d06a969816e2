//! Counts of outcomes by distinct score, on which every fit works.
//!
//! The cost of a pass then depends on the number of distinct scores and not on the number of samples.

use evalcurve_calibration::types::Outcome;
use rayon::prelude::*;

use crate::parallel;

/// Scores of this size and more are counted by sorting; nearer ones in an array.
const WINDOW: i32 = 1 << 19;

/// Rows counted by one task. Counts are integers, so the split has no influence on the result.
const CHUNK: usize = 1 << 21;

/// One sample: a score and the outcome of the game, both in the view of the side to move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Observation {
    /// Identity of the game. Samples of one game are not independent; intervals treat them as one cluster.
    pub game: u64,
    /// Score in centipawns.
    pub score_cp: i32,
    /// Outcome of the game for the side to move.
    pub outcome: Outcome,
}

/// How many games some samples are of, given the game of each.
pub fn count_games(mut games: Vec<u64>) -> u64 {
    games.sort_unstable();
    games.dedup();
    games.len() as u64
}

/// How often each outcome followed one score.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScoreCount {
    /// Score in centipawns.
    pub score_cp: i32,
    /// Samples of won games.
    pub wins: u64,
    /// Samples of drawn games.
    pub draws: u64,
    /// Samples of lost games.
    pub losses: u64,
}

impl ScoreCount {
    fn new(score_cp: i32, [losses, draws, wins]: [u64; 3]) -> Self {
        Self { score_cp, wins, draws, losses }
    }

    /// Number of samples.
    pub fn total(&self) -> u64 {
        self.wins + self.draws + self.losses
    }
}

/// Outcome counts by score: sorted by score, every score once, no empty rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScoreCounts {
    rows: Vec<ScoreCount>,
}

impl ScoreCounts {
    /// Counts samples; the order of the samples does not matter.
    pub fn from_observations(observations: &[Observation]) -> Self {
        let Some((low, high)) = range(observations) else {
            return Self::default();
        };
        let (low, high) = (low.max(-WINDOW), high.min(WINDOW - 1));
        let width = (i64::from(high) - i64::from(low) + 1).max(0) as usize;
        // an array much larger than the data costs more than sorting
        if width / 4 > observations.len() {
            return Self { rows: count_by_sorting(observations.iter().map(|o| (o.score_cp, o.outcome)).collect()) };
        }
        let (dense, outside) = observations
            .par_chunks(CHUNK)
            .map(|chunk| {
                let mut dense = vec![[0u64; 3]; width];
                let mut outside = Vec::new();
                for o in chunk {
                    let index = i64::from(o.score_cp) - i64::from(low);
                    match usize::try_from(index).ok().and_then(|i| dense.get_mut(i)) {
                        Some(cell) => cell[o.outcome as usize] += 1,
                        None => outside.push((o.score_cp, o.outcome)),
                    }
                }
                (dense, outside)
            })
            .reduce(
                || (Vec::new(), Vec::new()),
                |(mut dense, mut outside), (other, more)| {
                    if dense.is_empty() {
                        dense = other;
                    } else {
                        dense.iter_mut().zip(&other).for_each(|(a, b)| (0..3).for_each(|k| a[k] += b[k]));
                    }
                    outside.extend(more);
                    (dense, outside)
                },
            );
        let inside = dense.iter().zip(low..).filter(|(c, _)| **c != [0; 3]).map(|(c, s)| ScoreCount::new(s, *c));
        let outside = count_by_sorting(outside);
        let split = outside.partition_point(|r| r.score_cp < low);
        let rows = outside[..split].iter().copied().chain(inside).chain(outside[split..].iter().copied()).collect();
        Self { rows }
    }

    /// Counts given as rows in any order; equal scores are added up, empty rows left out.
    pub(crate) fn from_rows(mut rows: Vec<ScoreCount>) -> Self {
        rows.retain(|r| r.total() > 0);
        rows.sort_unstable_by_key(|r| r.score_cp);
        rows.dedup_by(|next, sum| {
            let same = next.score_cp == sum.score_cp;
            if same {
                sum.wins += next.wins;
                sum.draws += next.draws;
                sum.losses += next.losses;
            }
            same
        });
        Self { rows }
    }

    /// Adds the counts of another part of the samples.
    pub fn merge(&mut self, other: &Self) {
        let mut rows = std::mem::take(&mut self.rows);
        rows.extend_from_slice(&other.rows);
        *self = Self::from_rows(rows);
    }

    /// The rows, lowest score first.
    pub fn rows(&self) -> &[ScoreCount] {
        &self.rows
    }

    pub fn samples(&self) -> u64 {
        self.rows.iter().map(ScoreCount::total).sum()
    }

    /// Returns `true` if some score splits the outcomes, so that no finite curve is best.
    ///
    /// A draw counts half for each side and is therefore on both sides of the split. Samples at the score of the split
    /// itself may have either outcome (quasi-complete separation; Albert and Anderson, *On the
    /// existence of maximum likelihood estimates in logistic regression models*, Biometrika 1984).
    pub fn separable(&self) -> bool {
        Ends::new(self.each()).separable()
    }

    /// Each score and outcome, and its samples.
    pub(crate) fn each(&self) -> impl Iterator<Item = (i32, Outcome, u64)> {
        let of = |r: &ScoreCount| [(Outcome::Win, r.wins), (Outcome::Draw, r.draws), (Outcome::Loss, r.losses)];
        self.rows.iter().flat_map(move |r| of(r).map(|(outcome, n)| (r.score_cp, outcome, n)))
    }
}

/// How many samples each outcome has, and their lowest and highest score.
pub(crate) struct Ends {
    pub samples: [u64; 3],
    scores: [(i32, i32); 3],
}

impl Ends {
    pub(crate) fn new(samples: impl Iterator<Item = (i32, Outcome, u64)>) -> Self {
        let mut ends = Self { samples: [0; 3], scores: [(i32::MAX, i32::MIN); 3] };
        for (score_cp, outcome, n) in samples.filter(|(.., n)| *n > 0) {
            ends.samples[outcome as usize] += n;
            let (low, high) = &mut ends.scores[outcome as usize];
            (*low, *high) = (score_cp.min(*low), score_cp.max(*high));
        }
        ends
    }

    /// The lowest and the highest score of some outcomes; the wrong way round where they have none.
    pub(crate) fn of(&self, outcomes: &[Outcome]) -> (i32, i32) {
        let scores = outcomes.iter().map(|outcome| self.scores[*outcome as usize]);
        scores.fold((i32::MAX, i32::MIN), |a, b| (a.0.min(b.0), a.1.max(b.1)))
    }

    /// See [`ScoreCounts::separable`].
    pub(crate) fn separable(&self) -> bool {
        let [winners, losers] = [Outcome::Win, Outcome::Loss].map(|side| self.of(&[side, Outcome::Draw]));
        losers.1 <= winners.0 || winners.1 <= losers.0
    }
}

/// Lowest and highest score.
fn range(observations: &[Observation]) -> Option<(i32, i32)> {
    let of = |chunk: &[Observation]| {
        chunk.iter().fold((i32::MAX, i32::MIN), |(l, h), o| (l.min(o.score_cp), h.max(o.score_cp)))
    };
    parallel::map_chunks(observations, CHUNK, of).into_iter().reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
}

fn count_by_sorting(mut pairs: Vec<(i32, Outcome)>) -> Vec<ScoreCount> {
    pairs.par_sort_unstable();
    pairs
        .chunk_by(|a, b| a.0 == b.0)
        .filter_map(|run| {
            let (score, _) = *run.first()?;
            let mut cell = [0u64; 3];
            run.iter().for_each(|&(_, outcome)| cell[outcome as usize] += 1);
            Some(ScoreCount::new(score, cell))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn observation(score_cp: i32, i: u8) -> Observation {
        Observation { game: 0, score_cp, outcome: [Outcome::Loss, Outcome::Draw, Outcome::Win][usize::from(i % 3)] }
    }

    fn plainly(observations: &[Observation]) -> Vec<ScoreCount> {
        let mut map: BTreeMap<i32, [u64; 3]> = BTreeMap::new();
        observations.iter().for_each(|o| map.entry(o.score_cp).or_default()[o.outcome as usize] += 1);
        map.into_iter().map(|(s, c)| ScoreCount::new(s, c)).collect()
    }

    #[test]
    fn both_ways_of_counting_agree_with_a_map() {
        let near: Vec<_> = (0..5000).map(|i| observation((i * 37) % 901 - 450, (i % 7) as u8)).collect();
        assert_eq!(ScoreCounts::from_observations(&near).rows(), plainly(&near));
        // wide enough for scores beyond the array on both sides, with enough samples to use the array
        let mut wide: Vec<_> =
            (0..300_000).map(|i| observation((i * 7) % 1_000_000 - 500_000, (i % 5) as u8)).collect();
        for score in [i32::MIN, i32::MAX, 1_148_897, -1_148_897, WINDOW, -WINDOW, -WINDOW - 1] {
            wide.push(observation(score, 2));
        }
        assert_eq!(ScoreCounts::from_observations(&wide).rows(), plainly(&wide));
        // every score beyond the array
        let far = vec![observation(i32::MAX, 0), observation(i32::MAX, 2), observation(i32::MAX - 1, 1)];
        assert_eq!(ScoreCounts::from_observations(&far).rows(), plainly(&far));
        assert_eq!(ScoreCounts::from_observations(&[]), ScoreCounts::default());
    }

    #[test]
    fn separation_is_seen_in_both_directions_and_at_ties() {
        let separable = |rows: &[(i32, u8)]| {
            ScoreCounts::from_observations(&rows.iter().map(|&(s, o)| observation(s, o)).collect::<Vec<_>>())
                .separable()
        };
        assert!(separable(&[(-1, 0), (1, 2)]));
        assert!(separable(&[(-1, 2), (1, 0)]));
        assert!(separable(&[(-1, 0), (0, 0), (0, 2), (1, 2)]));
        assert!(separable(&[(-1, 0), (0, 1), (1, 2)]));
        assert!(!separable(&[(-1, 0), (0, 2), (1, 0), (2, 2)]));
        assert!(!separable(&[(-1, 1), (1, 1)]));
        assert!(!separable(&[(-1, 0), (0, 1), (1, 1), (2, 2)]));
    }

    proptest! {
        #[test]
        fn merging_in_any_order_equals_counting_at_once(
            rows in prop::collection::vec((-50i32..50, 0u8..3), 0..200), cut in 0usize..200,
        ) {
            let rows: Vec<_> = rows.into_iter().map(|(s, o)| observation(s, o)).collect();
            let (left, right) = rows.split_at(cut.min(rows.len()));
            let (l, r) = (ScoreCounts::from_observations(left), ScoreCounts::from_observations(right));
            let (mut ab, mut ba) = (l.clone(), r.clone());
            ab.merge(&r);
            ba.merge(&l);
            prop_assert_eq!(&ab, &ba);
            prop_assert_eq!(&ab, &ScoreCounts::from_observations(&rows));
            prop_assert_eq!(ab.samples(), rows.len() as u64);
        }
    }
}
