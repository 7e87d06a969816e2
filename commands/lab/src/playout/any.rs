//! Games by name.

use evalcurve_calibration::types::Outcome;

use super::board::Board;
use super::game::{Game, Side};
use super::tic_tac_toe::TicTacToe;

/// A game for play-outs.
#[derive(Debug, Clone)]
pub enum AnyGame {
    TicTacToe(TicTacToe),
    /// Hex or Y.
    Board(Board),
}

impl AnyGame {
    /// The game with this name: `tic-tac-toe`, `hex:11`, `y:13`, `bent-y:5:4` (core and rings).
    ///
    /// # Errors
    /// A message with the valid names.
    pub fn parse(name: &str) -> Result<Self, String> {
        let mut parts = name.split(':');
        let game = parts.next().unwrap_or_default();
        let sizes: Option<Vec<usize>> = parts.map(|size| size.parse().ok()).collect();
        let board = match (game, sizes.as_deref()) {
            ("tic-tac-toe", Some([])) => return Ok(Self::TicTacToe(TicTacToe::default())),
            ("hex", Some([])) => Board::hex(11),
            ("hex", Some([size])) => Board::hex(*size),
            ("y", Some([])) => Board::y(13),
            ("y", Some([size])) => Board::y(*size),
            ("bent-y", Some([])) => Board::bent_y(5, 4),
            ("bent-y", Some([core, rings])) => Board::bent_y(*core, *rings),
            _ => return Err(format!("'{name}' is not a game; expected tic-tac-toe, hex:11, y:13 or bent-y:5:4")),
        };
        board.map(Self::Board).map_err(|e| e.to_string())
    }

    /// The game together with its name, for a command line.
    ///
    /// # Errors
    /// As [`AnyGame::parse`].
    pub fn parse_named(name: &str) -> Result<(String, Self), String> {
        Self::parse(name).map(|game| (name.to_owned(), game))
    }

    /// The coordinates of each action on paper, y downwards.
    pub fn places(&self) -> Vec<(f64, f64)> {
        match self {
            Self::TicTacToe(_) => (0..9u8).map(|c| (f64::from(c % 3), f64::from(2 - c / 3))).collect(),
            Self::Board(board) => board.places().to_vec(),
        }
    }

    /// The pairs of actions with adjacent cells, each once.
    pub fn links(&self) -> Vec<(usize, usize)> {
        match self {
            Self::TicTacToe(_) => {
                let beside = |c: usize| {
                    let right = (c % 3 < 2).then_some((c, c + 1));
                    right.into_iter().chain((c < 6).then_some((c, c + 3)))
                };
                (0..9).flat_map(beside).collect()
            }
            Self::Board(board) => board.links(),
        }
    }
}

macro_rules! either {
    ($self:ident, $game:ident => $do:expr) => {
        match $self {
            Self::TicTacToe($game) => $do,
            Self::Board($game) => $do,
        }
    };
}

impl Game for AnyGame {
    fn actions(&self) -> usize {
        either!(self, game => game.actions())
    }

    fn mover(&self) -> Side {
        either!(self, game => game.mover())
    }

    fn legal(&self, out: &mut Vec<u16>) {
        either!(self, game => game.legal(out));
    }

    fn legal_after(&self, action: u16, legal: &mut Vec<u16>) {
        either!(self, game => game.legal_after(action, legal));
    }

    fn play(&mut self, action: u16) {
        either!(self, game => game.play(action));
    }

    fn outcome(&self) -> Option<Outcome> {
        either!(self, game => game.outcome())
    }

    fn name(&self, action: u16) -> String {
        either!(self, game => game.name(action))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn games_have_names() {
        for (name, actions, links) in
            [("tic-tac-toe", 9, 12), ("hex:3", 9, 16), ("hex", 121, 320), ("y:13", 91, 234), ("bent-y", 93, 252)]
        {
            let game = AnyGame::parse(name).unwrap();
            assert_eq!((game.actions(), game.places().len(), game.links().len()), (actions, actions, links), "{name}");
        }
        for bad in ["", "go", "hex:x", "hex:0", "y:99", "bent-y:5", "tic-tac-toe:3"] {
            assert!(AnyGame::parse(bad).is_err(), "{bad}");
        }
    }
}
