//! How a game ends by its rules.

use std::collections::HashMap;

use evalcurve_calibration::types::{Color, Termination};
use evalcurve_engine::{Board, Game};

/// How a game ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct End {
    pub termination: Termination,
    /// The winner; `None` for a draw.
    pub winner: Option<Color>,
    /// Whose fault it was and what happened, for illegal moves, losses on time and crashes; else empty.
    pub detail: String,
}

impl End {
    pub(crate) fn draw(termination: Termination) -> Self {
        Self { termination, winner: None, detail: String::new() }
    }

    pub(crate) fn won(termination: Termination, winner: Color) -> Self {
        Self { termination, winner: Some(winner), detail: String::new() }
    }

    pub(crate) fn lost(termination: Termination, loser: Color, detail: impl Into<String>) -> Self {
        Self { termination, winner: Some(loser.opponent()), detail: detail.into() }
    }
}

/// Moves without capture or pawn move, of both sides, after which a game of chess is drawn.
const QUIET_PLIES: u32 = 100;

/// The positions of a game, for repetitions.
#[derive(Debug, Default)]
pub(crate) struct History {
    /// The places of each position.
    places: HashMap<String, Vec<usize>>,
    /// Whether the side to move was in check, by place.
    checks: Vec<bool>,
}

impl History {
    /// Adds a position and returns the end of the game if it is over by the rules.
    pub(crate) fn add(&mut self, game: Game, board: &Board) -> Option<End> {
        let place = self.checks.len();
        let in_check = board.in_check();
        self.checks.push(in_check);
        let places = self.places.entry(board.identity().unwrap_or_default()).or_default();
        places.push(place);
        let side = board.side();
        if board.legal_moves().is_empty() {
            let stalemate = game == Game::Chess && !in_check;
            return Some(match stalemate {
                true => End { detail: "stalemate".to_owned(), ..End::draw(Termination::Draw) },
                false => End::won(Termination::Checkmate, side.opponent()),
            });
        }
        let times = if game == Game::Chess { 3 } else { 4 };
        if places.len() >= times {
            let first = places[0];
            return Some(self.repetition(game, side, first));
        }
        if board.is_dead() {
            return Some(End { detail: "insufficient material".to_owned(), ..End::draw(Termination::Draw) });
        }
        let quiet = board.quiet_plies() >= QUIET_PLIES;
        quiet.then(|| End { detail: "fifty moves".to_owned(), ..End::draw(Termination::Draw) })
    }

    /// A position with `side` to move has occurred often enough, first at `first`. In both kinds of shogi, a side that
    /// gave check with every move since then loses; else a game of 5x5 shogi is lost by the first player.
    fn repetition(&self, game: Game, side: Color, first: usize) -> End {
        if game == Game::Chess {
            return End::draw(Termination::Repetition);
        }
        // positions alternate: `side` is to move at the last one
        let since: Vec<bool> = self.checks[first + 1..].iter().rev().copied().collect();
        let always = |from: usize| since.iter().skip(from).step_by(2).all(|check| *check);
        if always(0) {
            return End::won(Termination::PerpetualCheck, side);
        }
        if always(1) {
            return End::won(Termination::PerpetualCheck, side.opponent());
        }
        match game {
            Game::Minishogi => End::won(Termination::Repetition, Color::White),
            _ => End::draw(Termination::Repetition),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evalcurve_engine::usi::Position;

    /// The end of a game that begins at a position and repeats some moves.
    fn repeated(game: Game, start: &str, moves: &str, times: usize) -> (usize, Option<End>) {
        let (mut board, problem) = Board::new(game, &Position::parse(start));
        assert_eq!(problem, None);
        let mut history = History::default();
        let mut end = history.add(game, &board);
        let mut plies = 0;
        for text in std::iter::repeat_n(moves.split(' '), times).flatten() {
            if end.is_some() {
                break;
            }
            assert!(board.play(text), "{text}");
            plies += 1;
            end = history.add(game, &board);
        }
        (plies, end)
    }

    #[test]
    fn repetitions_end_by_the_rule_of_each_game() {
        let shogi = repeated(Game::Shogi, "startpos", "2h3h 8b7b 3h2h 7b8b", 9);
        assert_eq!(shogi, (12, Some(End::draw(Termination::Repetition))));
        let chess = repeated(Game::Chess, "startpos", "g1f3 g8f6 f3g1 f6g8", 9);
        assert_eq!(chess, (8, Some(End::draw(Termination::Repetition))));
        let mini = repeated(Game::Minishogi, "startpos", "5e4d 1a2b 4d5e 2b1a", 9);
        assert_eq!(mini.0, 12);
        assert_eq!(mini.1, Some(End::won(Termination::Repetition, Color::White)));
    }

    #[test]
    fn who_checks_for_ever_loses() {
        // Black's rook checks on both sides, and White's king walks between two squares
        let start = "sfen 4k4/9/9/9/9/9/9/9/R3K4 b - 1";
        let moves = "9i9a+ 5a5b 9a9b 5b5a 9b9a 5a5b 9a9b 5b5a 9b9a 5a5b 9a9b 5b5a 9b9a 5a5b 9a9b 5b5a 9b9a";
        let (_, end) = repeated(Game::Shogi, start, moves, 1);
        assert_eq!(end, Some(End::won(Termination::PerpetualCheck, Color::White)));
        let swapped = "sfen r3k4/9/9/9/9/9/9/9/4K4 w - 1";
        let moves = "9a9i+ 5i5h 9i9h 5h5i 9h9i 5i5h 9i9h 5h5i 9h9i 5i5h 9i9h 5h5i 9h9i 5i5h 9i9h 5h5i 9h9i";
        let (_, end) = repeated(Game::Shogi, swapped, moves, 1);
        assert_eq!(end, Some(End::won(Termination::PerpetualCheck, Color::Black)));
    }

    #[test]
    fn games_end_without_legal_moves_or_material() {
        let end = |game, start: &str| repeated(game, start, "", 0).1;
        let stalemate = end(Game::Chess, "fen 7k/5Q2/6K1/8/8/8/8/8 b - - 0 1").unwrap();
        assert_eq!((stalemate.termination, stalemate.winner), (Termination::Draw, None));
        let mate = end(Game::Chess, "fen 7k/6Q1/6K1/8/8/8/8/8 b - - 0 1").unwrap();
        assert_eq!((mate.termination, mate.winner), (Termination::Checkmate, Some(Color::White)));
        // no legal move without check: in shogi the side to move has lost
        let stuck = end(Game::Shogi, "sfen 8k/6G2/7K1/9/9/9/9/9/9 w - 1").map(|end| end.winner);
        assert_eq!(stuck, Some(Some(Color::Black)));
        assert_eq!(end(Game::Shogi, "sfen 8k/6G2/9/8K/9/9/9/9/9 w P 1"), None, "White's king still has 1b");
        assert_eq!(end(Game::Chess, "fen 4k3/8/8/8/8/8/8/4KB2 w - - 0 1").unwrap().detail, "insufficient material");
        assert_eq!(end(Game::Chess, "fen 4k3/8/8/8/8/8/4P3/4K3 w - - 100 80").unwrap().detail, "fifty moves");
    }
}
