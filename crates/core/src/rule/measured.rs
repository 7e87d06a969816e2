//! A vote with all numbers that rules compare.

use super::options::Options;
use super::vote::{Bound, Move, Vote, Voter};
use super::winrate::logit;
use crate::calibration::{Calibration, Score};

/// What is known of one vote.
pub(super) struct Measured<'a> {
    /// The voter's place.
    pub index: usize,
    pub voter: &'a Voter<'a>,
    pub vote: &'a Vote<'a>,
    /// With sentinel scores read as mates, by the voter's calibration.
    pub score: Option<Score>,
    /// In 0..=1.
    pub win_rate: Option<f64>,
}

impl<'a> Measured<'a> {
    pub fn new(index: usize, voter: &'a Voter<'a>, vote: &'a Vote<'a>) -> Self {
        let score = vote.score.map(|s| classified(voter.calibration, s));
        let win_rate = vote.win_rate.or_else(|| Some(voter.calibration?.win_rate(score?))).filter(|p| !p.is_nan());
        Self { index, voter, vote, score, win_rate }
    }

    /// The score in centipawns; a mate is infinite.
    pub fn raw(&self) -> Option<f64> {
        match self.score? {
            Score::Cp(cp) => Some(cp),
            Score::Mate { wins, .. } => Some(if wins { f64::INFINITY } else { f64::NEG_INFINITY }),
        }
    }

    pub fn standardized(&self) -> Option<f64> {
        self.vote.standardized.or_else(|| {
            let standard = self.voter.calibration?.standardization?;
            Some((self.raw()? - standard.mean) / standard.sd)
        })
    }

    /// The log odds of the win rate, within the limits of [`logit`].
    pub fn logit(&self) -> Option<f64> {
        self.win_rate.map(logit)
    }

    /// The standard error of the logit by the calibration; 0 where it has none, as for published coefficients.
    pub fn calibration_error(&self) -> f64 {
        let error = match (self.score, self.voter.calibration) {
            (Some(Score::Cp(cp)), Some(calibration)) if self.vote.win_rate.is_none() => calibration.logit_error(cp),
            _ => None,
        };
        error.unwrap_or(0.0)
    }

    /// Its moves with their logits, best first, for pools; empty where it has no win rate.
    pub fn logits(&self) -> Vec<(Move, f64)> {
        let rate = |score| self.voter.calibration.map(|c| logit(c.win_rate(c.classify_score(score))));
        let own = self.logit().map(|l| (self.vote.best, l));
        let list = self.vote.list.iter().filter_map(|&(m, score)| Some((m, rate(score)?)));
        let mut all: Vec<(Move, f64)> = Vec::new();
        for (m, l) in own.into_iter().chain(list) {
            if !l.is_nan() && !all.iter().any(|(other, _)| *other == m) {
                all.push((m, l));
            }
        }
        all
    }

    /// Whether its list says that the move loses by force.
    pub fn refutes(&self, m: Move) -> bool {
        let entry = self.vote.list.iter().find(|(other, _)| *other == m);
        entry.is_some_and(|&(_, s)| matches!(classified(self.voter.calibration, s), Score::Mate { wins: false, .. }))
    }

    /// s of the voter.
    pub fn noise(&self, options: &Options<'_>) -> f64 {
        self.voter.noise.unwrap_or(options.noise)
    }

    /// An announced mate that the vote proves: a lower bound proves a win, an upper bound a loss.
    pub fn proven(&self) -> Option<(bool, Score)> {
        match (self.score?, self.vote.bound) {
            (Score::Mate { wins: true, .. }, Some(Bound::Upper)) => None,
            (Score::Mate { wins: false, .. }, Some(Bound::Lower)) => None,
            (score @ Score::Mate { wins, .. }, _) => Some((wins, score)),
            _ => None,
        }
    }
}

/// A score with the engine's sentinel numbers read as mates.
fn classified(calibration: Option<&Calibration>, score: Score) -> Score {
    calibration.map_or(score, |c| c.classify_score(score))
}

/// What a voter scores a move, by the moves searched on request, its list, or its vote.
pub(super) fn score_of(m: Move, voter: Option<&Measured<'_>>, searched: &[(Move, Score)]) -> Option<Score> {
    let calibration = voter.and_then(|v| v.voter.calibration);
    let own = voter.and_then(|v| Some((v.vote.best, v.score?)));
    let list = voter.map_or(&[][..], |v| v.vote.list);
    let found = searched.iter().chain(list).chain(own.iter()).find(|(other, _)| *other == m);
    found.map(|&(_, score)| classified(calibration, score))
}
