//! Moves on a shogi board, for records that do not write the square that a piece comes from (KI2).
//!
//! Moves follow the rules for each piece; whether a move leaves the king in check is not checked.

use evalcurve_calibration::types::Color;

use super::position::{Position, WHITE, lettered, owned, promote, square, unpromoted};

/// The direction and distance of a move from its mover's point of view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    /// Columns to the mover's right.
    pub(super) right: i8,
    /// Ranks towards the opponent.
    pub(super) forward: i8,
}

/// How a piece moves: single steps, and directions in which it slides.
struct Moves {
    steps: &'static [(i8, i8)],
    slides: &'static [(i8, i8)],
}

const GOLD: &[(i8, i8)] = &[(-1, 1), (0, 1), (1, 1), (-1, 0), (1, 0), (0, -1)];
const STRAIGHT: &[(i8, i8)] = &[(0, 1), (0, -1), (1, 0), (-1, 0)];
const DIAGONAL: &[(i8, i8)] = &[(1, 1), (1, -1), (-1, 1), (-1, -1)];
const AROUND: &[(i8, i8)] = &[(1, 1), (1, -1), (-1, 1), (-1, -1), (0, 1), (0, -1), (1, 0), (-1, 0)];

/// How the piece of this code (1 to 14, see [`super::position::PIECES`]) moves.
fn moves(code: u8) -> Moves {
    let (steps, slides): (&[_], &[_]) = match code {
        1 => (&[(0, 1)], &[]),
        2 => (&[], &[(0, 1)]),
        3 => (&[(-1, 2), (1, 2)], &[]),
        4 => (&[(-1, 1), (0, 1), (1, 1), (-1, -1), (1, -1)], &[]),
        5 | 9..=12 => (GOLD, &[]),
        6 => (&[], DIAGONAL),
        7 => (&[], STRAIGHT),
        8 => (AROUND, &[]),
        13 => (STRAIGHT, DIAGONAL),
        14 => (DIAGONAL, STRAIGHT),
        _ => (&[], &[]),
    };
    Moves { steps, slides }
}

impl Position {
    /// The squares from which a piece `code` of `color` can move to `to`, each with the step of the move.
    pub(super) fn origins(&self, color: Color, code: u8, to: usize) -> Vec<(usize, Step)> {
        let own = owned(code, color);
        let on_target = self.squares.get(to).copied().unwrap_or(0);
        if on_target != 0 && (on_target >= WHITE) == (color == Color::White) {
            return Vec::new();
        }
        let moves = moves(code);
        (0..self.squares.len())
            .filter(|&from| self.squares[from] == own)
            .filter_map(|from| Some((from, self.step(color, &moves, from, to)?)))
            .collect()
    }

    /// The step between two squares, if such a piece can make it.
    fn step(&self, color: Color, moves: &Moves, from: usize, to: usize) -> Option<Step> {
        let place = |square: usize| ((square % 9) as i8, (square / 9) as i8);
        let ((from_column, from_rank), (to_column, to_rank)) = (place(from), place(to));
        let turn = if color == Color::Black { 1 } else { -1 };
        let (right, forward) = ((to_column - from_column) * turn, (from_rank - to_rank) * turn);
        let found = Step { right, forward };
        if moves.steps.contains(&(right, forward)) {
            return Some(found);
        }
        let distance = right.abs().max(forward.abs());
        let straight = right == 0 || forward == 0 || right.abs() == forward.abs();
        if distance == 0 || !straight || !moves.slides.contains(&(right.signum(), forward.signum())) {
            return None;
        }
        let towards = (to as isize - from as isize) / isize::from(distance);
        let free = (1..isize::from(distance))
            .all(|n| usize::try_from(from as isize + n * towards).is_ok_and(|between| self.squares[between] == 0));
        free.then_some(found)
    }

    /// Plays a move of the side to move as USI writes it; `None` where no piece stands.
    pub(super) fn play_usi(&mut self, text: &[u8]) -> Option<()> {
        let [a, b, c, d, promotes @ ..] = text else { return None };
        let named = |file: u8, rank: u8| square([file, rank.wrapping_sub(b'a').wrapping_add(b'1')]);
        let (from, code) = match b {
            b'*' => (None, lettered(*a)?.0),
            _ => {
                let from = named(*a, *b)?;
                let piece = self.squares[from] & (WHITE - 1);
                (Some(from), if promotes == b"+" { promote(piece)? } else { piece })
            }
        };
        self.play(self.side_to_move, from, named(*c, *d)?, Some(code).filter(|code| *code > 0)?);
        self.side_to_move = self.side_to_move.opponent();
        Some(())
    }

    /// Plays a move of the piece on `from`, or of one in hand if that is `None`; `code` is the piece after the move.
    pub(super) fn play(&mut self, color: Color, from: Option<usize>, to: usize, code: u8) {
        match from {
            Some(from) => self.squares[from] = 0,
            None => {
                if let Some(held) = self.held(color, code) {
                    *held = held.saturating_sub(1);
                }
            }
        }
        let taken = unpromoted(self.squares[to] & (WHITE - 1));
        if let Some(held) = self.held(color, taken) {
            *held = held.saturating_add(1);
        }
        self.squares[to] = owned(code, color);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::position::square_name;

    fn at(name: &[u8; 2]) -> usize {
        square(*name).unwrap()
    }

    #[test]
    fn squares_and_names_are_one_to_one() {
        for index in 0..81 {
            assert_eq!(square(square_name(index)), Some(index));
        }
    }

    #[test]
    fn pieces_of_the_even_game_reach_what_they_should() {
        let board = Position::EVEN;
        let from = |color, code, to: &[u8; 2]| {
            board.origins(color, code, at(to)).iter().map(|(s, _)| square_name(*s)).collect::<Vec<_>>()
        };
        assert_eq!(from(Color::Black, 1, b"76"), [*b"77"]);
        assert_eq!(from(Color::White, 1, b"34"), [*b"33"]);
        assert_eq!(from(Color::Black, 5, b"58"), [*b"69", *b"49"]);
        assert_eq!(from(Color::Black, 4, b"48"), [*b"39"]);
        assert_eq!(from(Color::Black, 7, b"58"), [*b"28"]);
        assert_eq!(from(Color::White, 7, b"52"), [*b"82"]);
        // the bishop is shut in, the lance meets its own pawn
        assert!(from(Color::Black, 6, b"22").is_empty() && from(Color::Black, 2, b"97").is_empty());
        let gold = board.origins(Color::Black, 5, at(b"58"));
        assert_eq!(gold.iter().map(|(_, s)| (s.right, s.forward)).collect::<Vec<_>>(), [(1, 1), (-1, 1)]);
        // White looks from the other side
        let gold = board.origins(Color::White, 5, at(b"52"));
        assert_eq!(gold.iter().map(|(_, s)| (s.right, s.forward)).collect::<Vec<_>>(), [(-1, 1), (1, 1)]);
    }

    #[test]
    fn taken_pieces_come_to_hand_unpromoted() {
        let mut board = Position::EVEN;
        board.play(Color::Black, Some(at(b"77")), at(b"76"), 1);
        board.play(Color::White, Some(at(b"33")), at(b"34"), 1);
        assert!(board.held(Color::Black, 6).is_none_or(|n| *n == 0));
        board.play(Color::Black, Some(at(b"88")), at(b"22"), 13);
        assert!(board.held(Color::Black, 6).is_some_and(|n| *n > 0));
        board.play(Color::White, Some(at(b"31")), at(b"22"), 4);
        assert!(board.held(Color::White, 6).is_some_and(|n| *n > 0));
        board.play(Color::White, None, at(b"55"), 6);
        assert!(board.held(Color::White, 6).is_none_or(|n| *n == 0));
    }
}
