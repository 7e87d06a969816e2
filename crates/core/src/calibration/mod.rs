//! The calibration file: what is known of one engine's scores, and the win rate of a score by it.
//!
//! [`Calibration::read`] and [`Calibration::write`] go between file and types, [`schema`] is the published JSON
//! Schema of the file, [`export`] gives the constants that other programs take, and [`file_stems`] names the
//! files of several engines.

mod check;
#[cfg(test)]
mod checker;
mod error;
mod export;
mod file;
mod model;
mod name;
#[cfg(test)]
mod published;
mod read;
mod schema;
#[cfg(test)]
mod tests;
mod write;

pub use error::CalibrationError;
pub use export::{ExportError, Target, export};
pub use file::*;
pub use name::{file_stem, file_stems};
pub use schema::schema;
pub use write::nine_digits;

/// A score in the view of the side to move, as engines give it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Score {
    /// Centipawns; plus means that the side to move expects to win.
    Cp(f64),
    /// A mate that the engine announces.
    Mate {
        /// Whether the side to move gives it (`mate 5`, `mate +`) or suffers it (`mate -4`, `mate -`).
        wins: bool,
        /// Plies to the mate, where the engine says.
        plies: Option<u32>,
    },
}

impl Calibration {
    /// The win rate in 0..=1 of a score, the view of the side to move, between equals and in the middle of a game.
    ///
    /// [`Calibration::win_rate_in`] with nothing known of the situation.
    pub fn win_rate(&self, score: Score) -> f64 {
        self.win_rate_in(score, &Situation::default())
    }

    /// The win rate in 0..=1 of a score, the view of the side to move, in a situation.
    ///
    /// Models look at what they were fitted with and at nothing else; what is not known counts as rating difference 0,
    /// or as the middle of the plies or of the material that the model has seen. A council gives all its members one
    /// rating difference and the ply. An announced mate is 1 or 0, whatever its distance. Centipawns go through the chosen
    /// model, however large (see [`Calibration::classify`] for sizes that mean a mate); NaN gives NaN.
    pub fn win_rate_in(&self, score: Score, situation: &Situation) -> f64 {
        match score {
            Score::Cp(cp) => self.model.model.win_rate(cp, situation),
            Score::Mate { wins, .. } => f64::from(u8::from(wins)),
        }
    }

    /// The score in centipawns that has this win rate by the chosen model, the inverse of
    /// [`Calibration::win_rate`]; `None` unless 0 < `win_rate` < 1, and where no score has it.
    pub fn score(&self, win_rate: f64) -> Option<f64> {
        self.score_in(win_rate, &Situation::default())
    }

    /// The inverse of [`Calibration::win_rate_in`]; `None` unless 0 < `win_rate` < 1, and where no score has it.
    pub fn score_in(&self, win_rate: f64, situation: &Situation) -> Option<f64> {
        self.model.model.score(win_rate, situation)
    }

    /// [`Calibration::win_rate_interval_in`] with nothing known of the situation.
    pub fn win_rate_interval(&self, score_cp: f64) -> Option<(f64, f64)> {
        self.win_rate_interval_in(score_cp, &Situation::default())
    }

    /// The 95% interval of the win rate of a score in centipawns; `None` where the chosen model has no covariance.
    ///
    /// By the delta method on the logit (see [`Calibration::logit_error_in`]); the ends of its normal interval go through
    /// the sigmoid, so that they stay within 0..=1. The covariance is clustered by game; the interval says how well the
    /// curve is known, not how far results scatter around it.
    pub fn win_rate_interval_in(&self, score_cp: f64, situation: &Situation) -> Option<(f64, f64)> {
        let half = crate::curve::Z_95 * self.logit_error_in(score_cp, situation)?;
        let logit = self.model.model.logit(score_cp, situation);
        let at = |logit: f64| crate::fit::Sigmoid { w1: 1.0, w2: 0.0 }.win_rate(logit);
        Some((at(logit - half), at(logit + half)))
    }

    /// The standard error of the logit at a score in centipawns, between equals and where ply and material are not known;
    /// `None` where the chosen model has no covariance.
    pub fn logit_error(&self, score_cp: f64) -> Option<f64> {
        self.logit_error_in(score_cp, &Situation::default())
    }

    /// The standard error of the logit at a score in centipawns: √(gᵀVg) with g its gradient by the parameters (for the
    /// sigmoid x² V11 - 2 x V12 + V22); `None` where the chosen model has no covariance.
    pub fn logit_error_in(&self, score_cp: f64, situation: &Situation) -> Option<f64> {
        let covariance = self.models.get(&self.model.kind)?.covariance.as_ref()?;
        let gradient = self.model.model.logit_gradient(score_cp, situation)?;
        let product = |row: &Vec<f64>| row.iter().zip(&gradient).map(|(v, g)| v * g).sum::<f64>();
        let variance: f64 = covariance.iter().zip(&gradient).map(|(row, g)| g * product(row)).sum();
        // below 0 by rounding alone, where the correlation is 1
        Some(variance.max(0.0).sqrt())
    }

    /// A number that the engine gave as centipawns, as the score that it means: at the mate threshold of the
    /// file and beyond it is an announced mate of unknown distance.
    pub fn classify(&self, score_cp: f64) -> Score {
        match self.mates.and_then(|mates| mates.threshold_cp) {
            Some(threshold) if score_cp.abs() >= threshold => Score::Mate { wins: score_cp > 0.0, plies: None },
            _ => Score::Cp(score_cp),
        }
    }

    /// [`Calibration::classify`] of a score that may be a mate already.
    pub fn classify_score(&self, score: Score) -> Score {
        match score {
            Score::Cp(cp) => self.classify(cp),
            mate => mate,
        }
    }

    /// The calibration with all that turns scores into win rates, and without what shows where it came from: other
    /// models, curve, samples, provenance. Still a calibration file; floats have the 9 digits of one.
    pub fn without_evidence(&self) -> Self {
        let kind = self.model.kind;
        let bare = Self {
            models: self.models.iter().filter(|(k, _)| **k == kind).map(|(k, fit)| (*k, fit.clone())).collect(),
            curve: None,
            scores: None,
            sampling: None,
            provenance: None,
            proper_scores: None,
            ..self.clone()
        };
        // what a file would hold: a number in memory may have more digits
        match bare.to_json().and_then(|text| Self::from_json(&text, &self.engine.name)) {
            Ok(read) => read,
            Err(_) => bare,
        }
    }

    /// The chosen model as a sigmoid of the score; `None` for models that are none. By [`Model::Strength`] it is the one
    /// between equals.
    pub fn sigmoid(&self) -> Option<crate::fit::Sigmoid> {
        self.model.model.sigmoid()
    }
}
