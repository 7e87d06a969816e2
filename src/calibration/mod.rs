//! The calibration file: what is known of one engine's scores, and the win rate of a score by it.
//!
//! [`Calibration::read`] and [`Calibration::write`] go between file and types, [`SCHEMA`] is the published JSON
//! Schema of the file, [`export`] gives the constants that other programs take, and [`file_stems`] names the
//! files of several engines.

#[cfg(test)]
mod checker;
mod error;
mod export;
mod file;
mod json;
mod name;
mod node;
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
pub use schema::SCHEMA;

/// The 0.975 quantile of the normal distribution: 95% lie within as many standard errors.
const Z95: f64 = 1.959_963_984_540_054;

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
    /// The win rate in 0..=1 of a score, the view of the side to move.
    ///
    /// An announced mate is 1 or 0, whatever its distance. Centipawns go through the chosen model, however large
    /// (see [`Calibration::classify`] for sizes that mean a mate); NaN gives NaN.
    pub fn win_rate(&self, score: Score) -> f64 {
        match (score, self.model) {
            (Score::Cp(cp), Model::Sigmoid(chosen)) => chosen.sigmoid().win_rate(cp),
            (Score::Mate { wins, .. }, _) => f64::from(u8::from(wins)),
        }
    }

    /// The score in centipawns that has this win rate by the chosen model, the inverse of
    /// [`Calibration::win_rate`]; `None` unless 0 < `win_rate` < 1.
    pub fn score(&self, win_rate: f64) -> Option<f64> {
        match self.model {
            Model::Sigmoid(chosen) => chosen.sigmoid().score(win_rate),
        }
    }

    /// The 95% interval of the win rate of a score in centipawns; `None` where the chosen model has no covariance.
    ///
    /// By the delta method on the logit: w1 x - w2 has the variance x² V11 - 2 x V12 + V22, and the ends of its
    /// normal interval go through the sigmoid, so that they stay within 0..=1. The covariance is clustered by
    /// game; the interval says how well the curve is known, not how far results scatter around it.
    pub fn win_rate_interval(&self, score_cp: f64) -> Option<(f64, f64)> {
        let half = Z95 * self.logit_error(score_cp)?;
        let Model::Sigmoid(chosen) = self.model;
        let at = |shift: f64| crate::fit::Sigmoid { w1: chosen.w1, w2: chosen.w2 - shift }.win_rate(score_cp);
        Some((at(-half), at(half)))
    }

    /// The standard error of the logit w1 x - w2 at a score in centipawns, √(x² V11 - 2 x V12 + V22); `None` where the
    /// chosen model has no covariance.
    pub fn logit_error(&self, score_cp: f64) -> Option<f64> {
        let FittedModel::Sigmoid(fit) = self.models.get(&self.model.method())?;
        let [[v11, v12], [_, v22]] = fit.covariance?;
        // below 0 by rounding alone, where the correlation is 1
        Some((score_cp * score_cp * v11 - 2.0 * score_cp * v12 + v22).max(0.0).sqrt())
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
        let method = self.model.method();
        let bare = Self {
            models: self.models.iter().filter(|(m, _)| **m == method).map(|(m, fit)| (*m, *fit)).collect(),
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

    /// The chosen model as a sigmoid; `None` for kinds that are none.
    pub fn sigmoid(&self) -> Option<crate::fit::Sigmoid> {
        match self.model {
            Model::Sigmoid(chosen) => Some(chosen.sigmoid()),
        }
    }
}
