//! Ply and material of the position that the GUI sends, for models that use them.

use evalcurve_calibration::{Calibration, Situation};
use evalcurve_engine::board::{Board, Game};
use evalcurve_engine::usi::{Position, Protocol};
use evalcurve_rules::log::plies_before;

/// Follows `position`.
#[derive(Debug)]
pub(super) struct Follower {
    uses_ply: bool,
    uses_material: bool,
    chess960: bool,
    position: Position,
}

impl Follower {
    pub(crate) fn new(calibration: &Calibration) -> Self {
        let needs = calibration.model.kind.needs();
        Self { uses_ply: needs.ply, uses_material: needs.material, chess960: false, position: Position::default() }
    }

    pub(crate) fn set(&mut self, position: Position) {
        self.position = position;
    }

    pub(crate) fn set_option(&mut self, name: &str, value: Option<&str>) {
        if name.eq_ignore_ascii_case("UCI_Chess960") {
            self.chess960 = value == Some("true");
        }
    }

    /// What the model uses of the last position; material only of chess that follows the rules.
    pub(crate) fn situation(&self, protocol: Protocol) -> Situation {
        let material = (self.uses_material && protocol == Protocol::Uci).then(|| {
            let (board, _) =
                if self.chess960 { Board::chess960(&self.position) } else { Board::new(Game::Chess, &self.position) };
            board.material()
        });
        Situation {
            ply: self.uses_ply.then(|| self.ply(protocol)),
            material: material.flatten(),
            ..Situation::default()
        }
    }

    /// The number of the move to be made, counted from the start of the game.
    fn ply(&self, protocol: Protocol) -> u32 {
        let before = plies_before(&self.position.line(protocol));
        (self.position.moves.len() as u32).saturating_add(before).saturating_add(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn follower(position: &str) -> Follower {
        let position = Position::parse(position);
        Follower { uses_ply: true, uses_material: true, chess960: false, position }
    }

    #[test]
    fn plies_count_from_the_start_of_the_game() {
        let ply = |text, protocol| follower(text).situation(protocol).ply.unwrap();
        assert_eq!(ply("startpos", Protocol::Uci), 1);
        assert_eq!(ply("startpos moves e2e4 e7e5", Protocol::Uci), 3);
        assert_eq!(ply("fen 4k3/8/8/8/8/8/4P3/4K3 w - - 0 30", Protocol::Uci), 59);
        assert_eq!(ply("fen 4k3/8/8/8/8/8/4P3/4K3 b - - 0 30 moves e8e7", Protocol::Uci), 61);
        assert_eq!(ply("sfen lnsgkgsnl/1r5b1/p1ppppppp/1p7/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 3", Protocol::Usi), 3);
        assert_eq!(ply("startpos moves 7g7f", Protocol::Usi), 2);
    }

    #[test]
    fn material_is_that_of_both_sides() {
        let material = |text| follower(text).situation(Protocol::Uci).material;
        assert_eq!(material("startpos"), Some(78));
        assert_eq!(material("startpos moves e2e4 d7d5 e4d5"), Some(77));
        assert_eq!(material("fen 4k3/8/8/8/8/8/4P3/4K3 w - - 0 30"), Some(1));
        // no rules, no material
        assert_eq!(material("startpos moves e2e5"), None);
        assert_eq!(follower("startpos").situation(Protocol::Usi).material, None);
    }
}
