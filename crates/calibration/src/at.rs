//! A calibration in one situation: every question with the same kind of answer.

use crate::estimate::Estimate;
use crate::file::Calibration;
use crate::situation::{Reading, Situation};
use crate::wdl::WdlEstimate;
use crate::win_rate::Score;

/// A calibration in one situation, from [`Calibration::at`].
#[derive(Debug, Clone, Copy)]
pub struct At<'a> {
    calibration: &'a Calibration,
    situation: Situation,
    reading: Reading,
}

impl Calibration {
    /// The win rate in 0..=1 of a score between players of equal strength, with its 95% interval: see [`At::estimate`].
    pub fn estimate(&self, score: impl Into<Score>) -> Estimate {
        self.at(Situation::default()).estimate(score)
    }

    /// The calibration in a situation, between players of equal strength.
    pub fn at(&self, situation: Situation) -> At<'_> {
        At { calibration: self, situation, reading: Reading::Equal }
    }
}

impl At<'_> {
    /// The same against the opponents that the engine met in the games of the calibration, see [`Reading::Field`].
    #[must_use]
    pub fn in_the_field(self) -> Self {
        Self { reading: Reading::Field, ..self }
    }

    /// The win rate in 0..=1 of a score, in the view of the side to move, with its 95% interval. A number is
    /// centipawns, and a mate from the mate threshold of the file on. The win rate of a mate is 1 or 0,
    /// and that of NaN is NaN, both without an interval.
    pub fn estimate(&self, score: impl Into<Score>) -> Estimate {
        let score = self.calibration.classify_score(score.into());
        let interval = self.calibration.interval(self.reading, score, &self.situation);
        Estimate {
            value: self.calibration.win_rate_in(self.reading, score, &self.situation),
            interval: interval.map(<[f64; 2]>::from),
        }
    }

    /// The shares of wins, draws and losses of a score with their 95% intervals; `None` for a model of the win rate
    /// alone. A mate leaves no draws and no losses, or no wins.
    pub fn wdl(&self, score: impl Into<Score>) -> Option<WdlEstimate> {
        match self.calibration.classify_score(score.into()) {
            Score::Cp(cp) => self.calibration.wdl(self.reading, cp, &self.situation),
            Score::Mate { wins, .. } => self.calibration.separates_draws().then(|| {
                let share = |all: bool| Estimate { value: f64::from(u8::from(all)), interval: None };
                WdlEstimate { win: share(wins), draw: share(false), loss: share(!wins) }
            }),
        }
    }

    /// The score in centipawns with this win rate, the inverse of [`At::estimate`]; `None` unless 0 < `win_rate` < 1,
    /// and if no score has it.
    pub fn score(&self, win_rate: f64) -> Option<f64> {
        self.calibration.score(self.reading, win_rate, &self.situation)
    }
}

impl From<f64> for Score {
    fn from(cp: f64) -> Self {
        Self::Cp(cp)
    }
}

impl From<i32> for Score {
    fn from(cp: i32) -> Self {
        Self::Cp(cp.into())
    }
}
