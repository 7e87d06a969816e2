//! A vote with every number that rules compare. The only place that turns votes into win rates and logits.

use evalcurve_calibration::{Calibration, Reading, Score, Situation};

use super::options::Options;
use super::vote::{Bound, Move, Vote, Voter};
use super::win_rate::{logit, standard_error};

/// One vote and its voter.
pub(super) struct Measured<'a> {
    /// The index of the voter.
    pub index: usize,
    pub voter: &'a Voter<'a>,
    pub vote: &'a Vote<'a>,
    /// The score; a number at or beyond the mate threshold is a mate.
    pub score: Option<Score>,
    /// In 0..=1.
    pub win_rate: Option<f64>,
    situation: Situation,
    reading: Reading,
}

impl<'a> Measured<'a> {
    pub(crate) fn new(index: usize, voter: &'a Voter<'a>, vote: &'a Vote<'a>, options: &Options<'_>) -> Self {
        let Options { situation, reading, .. } = *options;
        let score = vote.score.map(|s| classified(voter.calibration, s));
        let win_rate = vote
            .win_rate
            .or_else(|| Some(voter.calibration?.win_rate_in(reading, score?, &situation)))
            .filter(|p| !p.is_nan());
        Self { index, voter, vote, score, win_rate, situation, reading }
    }

    /// The score in centipawns; a mate is infinite.
    pub(crate) fn raw(&self) -> Option<f64> {
        match self.score? {
            Score::Cp(cp) => Some(cp),
            Score::Mate { wins, .. } => Some(if wins { f64::INFINITY } else { f64::NEG_INFINITY }),
        }
    }

    pub(crate) fn standardized(&self) -> Option<f64> {
        self.vote.standardized.or_else(|| {
            let standard = self.voter.calibration?.standardization?;
            Some(standard.z(self.raw()?))
        })
    }

    /// The logit of the win rate, within the limits of [`logit`].
    pub(crate) fn logit(&self) -> Option<f64> {
        self.win_rate.map(logit)
    }

    /// The logit of a vote that measures it: no bound and no mate, also where the voter gave a win rate.
    pub(crate) fn exact_logit(&self) -> Option<f64> {
        let mate = matches!(self.score, Some(Score::Mate { .. }));
        self.logit().filter(|_| !mate && self.vote.bound.is_none())
    }

    /// The standard error of the logit. A calibration without a covariance, such as published coefficients, adds
    /// nothing.
    pub(crate) fn standard_error(&self, options: &Options<'_>) -> f64 {
        let error = match (self.score, self.voter.calibration) {
            (Some(Score::Cp(cp)), Some(calibration)) if self.vote.win_rate.is_none() => {
                calibration.logit_error(self.reading, cp, &self.situation)
            }
            _ => None,
        };
        standard_error(self.noise(options), error.unwrap_or(0.0))
    }

    /// The win rates of its move and of the moves in its list, best first. A move may occur twice.
    pub(crate) fn win_rates(&self) -> impl Iterator<Item = (Move, f64)> + '_ {
        let own = self.win_rate.map(|p| (self.vote.best, p));
        own.into_iter().chain(self.rates(self.vote.list)).filter(|(_, p)| !p.is_nan())
    }

    /// The win rates of the moves that it judged in the second round, then of the others that it scored.
    pub(crate) fn all_win_rates(&self) -> Vec<(Move, f64)> {
        let mut all: Vec<(Move, f64)> = self.rates(self.vote.judged).filter(|(_, p)| !p.is_nan()).collect();
        for (m, p) in self.win_rates() {
            if !all.iter().any(|(other, _)| *other == m) {
                all.push((m, p));
            }
        }
        all
    }

    fn rates(&self, scores: &'a [(Move, Score)]) -> impl Iterator<Item = (Move, f64)> + '_ {
        scores.iter().filter_map(|&(m, score)| {
            let calibration = self.voter.calibration?;
            Some((m, calibration.win_rate_in(self.reading, calibration.classify_score(score), &self.situation)))
        })
    }

    /// The logits of its moves for pools, best first, each move once.
    pub(crate) fn logits(&self) -> Vec<(Move, f64)> {
        let mut all: Vec<(Move, f64)> = Vec::new();
        for (m, l) in self.win_rates().map(|(m, p)| (m, logit(p))) {
            if !l.is_nan() && !all.iter().any(|(other, _)| *other == m) {
                all.push((m, l));
            }
        }
        all
    }

    /// Whether its list shows that the move loses by force.
    pub(crate) fn refutes(&self, m: Move) -> bool {
        let entry = self.vote.list.iter().find(|(other, _)| *other == m);
        entry.is_some_and(|&(_, s)| matches!(classified(self.voter.calibration, s), Score::Mate { wins: false, .. }))
    }

    /// The noise s of the voter.
    pub(crate) fn noise(&self, options: &Options<'_>) -> f64 {
        self.voter.noise.unwrap_or(options.noise)
    }

    /// An announced mate that the vote proves: a lower bound proves a win, an upper bound a loss.
    pub(crate) fn proven(&self) -> Option<(bool, Score)> {
        match (self.score?, self.vote.bound) {
            (Score::Mate { wins: true, .. }, Some(Bound::Upper)) => None,
            (Score::Mate { wins: false, .. }, Some(Bound::Lower)) => None,
            (score @ Score::Mate { wins, .. }, _) => Some((wins, score)),
            _ => None,
        }
    }
}

/// The score, with numbers at or beyond the mate threshold as mates.
fn classified(calibration: Option<&Calibration>, score: Score) -> Score {
    calibration.map_or(score, |c| c.classify_score(score))
}

/// A voter's score of a move: from the moves searched on request, its list, or its vote.
pub(super) fn score_of(m: Move, voter: Option<&Measured<'_>>, searched: &[(Move, Score)]) -> Option<Score> {
    let calibration = voter.and_then(|v| v.voter.calibration);
    let own = voter.and_then(|v| Some((v.vote.best, v.score?)));
    let list = voter.map_or(&[][..], |v| v.vote.list);
    let found = searched.iter().chain(list).chain(own.iter()).find(|(other, _)| *other == m);
    found.map(|&(_, score)| classified(calibration, score))
}
