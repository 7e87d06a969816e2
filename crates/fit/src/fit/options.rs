//! What a fit can be told.

use evalcurve_calibration::quantile::Z_95;
use serde::{Deserialize, Serialize};

/// Fewest samples for a fit, unless the options set another number.
pub const DEFAULT_MIN_SAMPLES: u64 = 30;

/// Fewest games for a covariance of two parameters: with fewer it would be singular.
pub const MIN_GAMES: u64 = 3;

/// How many samples a fit needs, and how wide its intervals are.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FitOptions {
    /// Fewest samples.
    pub min_samples: u64,
    /// Normal quantile of the intervals: 1.959963984540054 for 95%.
    pub confidence_z: f64,
    /// Whether the ratings were made from the results that are fitted; a joint fit does not use such ratings.
    #[serde(default)]
    pub rated_by_these_games: bool,
    /// Whether the games are chess, whose baselines are not those of shogi.
    #[serde(default)]
    pub chess: bool,
    /// Whether only the forecasts of the fit are wanted: most models then have no covariance, and a joint fit no slopes
    /// of engines alone.
    #[serde(skip)]
    pub forecasts_only: bool,
}

impl Default for FitOptions {
    fn default() -> Self {
        Self {
            min_samples: DEFAULT_MIN_SAMPLES,
            confidence_z: Z_95,
            rated_by_these_games: false,
            chess: false,
            forecasts_only: false,
        }
    }
}
