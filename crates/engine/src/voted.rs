//! Positions that an engine is asked about without a game.

use crate::usi::Position;

/// Positions of one line or game, in the order of play.
#[derive(Debug, Clone, PartialEq)]
pub struct VotedGame {
    pub positions: Vec<Position>,
    /// How the game ended, as `gameover` tells a council that did not play it; `None` if that is unknown.
    pub result: Option<&'static str>,
}
