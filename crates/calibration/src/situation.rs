//! What a model knows of a position besides its score, and the two readings of a calibration.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

/// Elo points in one natural logit, 400/ln 10: the odds of a win are 10 to the power of (rating difference)/400.
pub const ELO_PER_LOGIT: f64 = 400.0 / std::f64::consts::LN_10;

/// Logits in one Elo point, ln 10/400.
pub const LOGITS_PER_ELO: f64 = 1.0 / ELO_PER_LOGIT;

/// Plausible ratings of players. Among the games of an engine, one rating far beyond them would spoil all of its fits.
pub const RATINGS: RangeInclusive<f64> = -1_000.0..=10_000.0;

/// The two readings of one calibration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reading {
    /// What happened against the opponents that the engine met. Curves and proper scores show it.
    Field,
    /// The win rate between players of equal strength: the only one that may be compared between engines, exported to a
    /// GUI, or used by a council.
    #[default]
    Equal,
}

/// A position beyond its score, as far as it is known. A field that is `None` is not known; models then use their
/// default.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Situation {
    /// How much stronger the side to move is than its opponent, in logits: (own - opponent's rating)·ln 10/400. The
    /// default is 0, equal players.
    pub strength: Option<f64>,
    /// Mean rating of the two players.
    pub rating: Option<f64>,
    /// Seconds of a player, see [`crate::control_seconds`].
    pub seconds: Option<f64>,
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
    /// Nothing is known.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the number of the move to be made.
    pub fn ply(mut self, ply: u32) -> Self {
        self.ply = Some(ply);
        self
    }

    /// Sets the material on the board.
    pub fn material(mut self, material: u32) -> Self {
        self.material = Some(material);
        self
    }

    /// Sets the strength to a rating difference in Elo points, own rating minus the opponent's.
    pub fn with_rating_difference(mut self, elo: f64) -> Self {
        self.strength = Some(elo * LOGITS_PER_ELO);
        self
    }
}

/// Material at which a and b are the sums of their coefficients, as in Stockfish.
const MATERIAL_TARGET: f64 = 58.0;

/// The same for plies: move 32.
const PLY_TARGET: f64 = 64.0;

/// What the stage of a game is measured by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum StageUnit {
    /// Number of the move to be made.
    Ply,
    /// Pawns and pieces on the board, counted 1, 3, 3, 5, 9.
    Material,
}

impl StageUnit {
    /// `ply` or `material`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ply => "ply",
            Self::Material => "material",
        }
    }

    /// The stage in which a and b are the sums of their coefficients.
    pub fn target(self) -> f64 {
        match self {
            Self::Ply => PLY_TARGET,
            Self::Material => MATERIAL_TARGET,
        }
    }

    /// The situation at the target stage.
    pub fn at_target(self) -> Situation {
        match self {
            Self::Ply => Situation { ply: Some(PLY_TARGET as u32), ..Situation::default() },
            Self::Material => Situation { material: Some(MATERIAL_TARGET as u32), ..Situation::default() },
        }
    }

    /// The ply or the material of a situation, where it is known.
    pub fn of(self, situation: &Situation) -> Option<u32> {
        match self {
            Self::Ply => situation.ply,
            Self::Material => situation.material,
        }
    }
}
