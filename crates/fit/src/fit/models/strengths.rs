//! The strengths of players that a joint fit finds.

use std::collections::BTreeMap;

use evalcurve_calibration::Situation;

/// What an engine's games say of its slope with an optimism and lapses of their own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Alone {
    /// The slope per centipawn; it may be negative.
    pub w1: f64,
    /// The share of lapses on either side.
    pub lapse: f64,
    /// Chance of a difference from the joint slope, optimism and lapses as large as this one, if these hold.
    pub p_value: f64,
}

/// The strengths of the players of a joint fit.
#[derive(Debug, Clone, PartialEq)]
pub struct Strengths {
    /// By player, in logits beyond what the rating explains; players with few games have none.
    pub(super) players: BTreeMap<u32, f64>,
    /// Weight of the rating difference.
    pub(super) w3: f64,
    /// How many engines share them.
    pub(super) engines: usize,
    /// Whether a fit with others was tried, and did not converge.
    pub(super) apart: bool,
}

impl Strengths {
    /// How many engines were fitted with them.
    pub fn engines(&self) -> usize {
        self.engines
    }

    /// Whether the engine has a fit of its own because that with the others did not converge.
    pub fn is_apart(&self) -> bool {
        self.apart
    }

    /// The strength of a player; `None` for one with few games.
    pub fn of(&self, player: u32) -> Option<f64> {
        self.players.get(&player).copied()
    }

    /// The logit that a case of these players adds: rating difference and strengths. Unknown players count as 0.
    pub fn advantage(&self, situation: &Situation) -> f64 {
        let of = |player: u32| self.players.get(&player).copied().unwrap_or(0.0);
        let players = situation.players.map_or(0.0, |[own, opponent]| of(own) - of(opponent));
        self.w3 * situation.strength.unwrap_or(0.0) + players
    }
}
