//! 5x5 shogi (5五将棋): king, gold, silver, bishop, rook and pawn on five files and ranks; the last rank promotes.
//!
//! As in shogi, two unpromoted pawns of a side on one file, a pawn on the last rank and a mate by a dropped pawn are
//! illegal.

use evalcurve_calibration::types::Color;

use super::position::Kind::{Bishop, Gold, King, Knight, Lance, Pawn, Rook, Silver};
use super::position::{Kind, Move, Piece, Position};
use super::{Game, ReadRules, Rules};

const SIZE: usize = 5;

/// The initial position as SFEN.
pub const START: &str = "rbsgk/4p/5/P4/KGSBR b - 1";

/// Steps as (columns to the right, ranks down) in Black's view: forward is -1.
type Steps = &'static [(isize, isize)];

const DIAGONAL: Steps = &[(-1, -1), (1, -1), (-1, 1), (1, 1)];
const STRAIGHT: Steps = &[(0, -1), (-1, 0), (1, 0), (0, 1)];
const AS_GOLD: Steps = &[(-1, -1), (0, -1), (1, -1), (-1, 0), (1, 0), (0, 1)];
const AS_SILVER: Steps = &[(-1, -1), (0, -1), (1, -1), (-1, 1), (1, 1)];

/// The directions in which a piece moves, with the most steps.
fn steps(piece: Piece) -> [(Steps, usize); 2] {
    match (piece.kind, piece.promoted) {
        (Pawn, false) => [(&[(0, -1)], 1), (&[], 0)],
        (Silver, false) => [(AS_SILVER, 1), (&[], 0)],
        (Gold, _) | (Pawn | Silver, true) => [(AS_GOLD, 1), (&[], 0)],
        (King, _) => [(DIAGONAL, 1), (STRAIGHT, 1)],
        (Bishop, promoted) => [(DIAGONAL, SIZE), (STRAIGHT, promoted.into())],
        (Rook, promoted) => [(STRAIGHT, SIZE), (DIAGONAL, promoted.into())],
        (Lance | Knight, _) => [(&[], 0); 2],
    }
}

/// A position of 5x5 shogi.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Minishogi(pub Position);

/// Reads an SFEN; a move number is ignored.
pub(super) fn read(text: Option<&str>) -> ReadRules {
    Ok(Box::new(parse(text.unwrap_or(START))?))
}

/// Reads an SFEN.
///
/// # Errors
/// What is wrong with it, in a few words.
pub fn parse(text: &str) -> Result<Minishogi, &'static str> {
    // the hands may be missing
    let board = Minishogi(Position::from_sfen(&format!("{text} -")).ok_or("its board, side or hands cannot be read")?);
    let most = |kind| if matches!(kind, Lance | Knight) { 0 } else { 2 };
    let kings = |color| board.0.pieces(color).filter(|(_, piece)| piece.kind == King).count();
    if board.0.game() != Game::Minishogi {
        Err("not five files and ranks")
    } else if Kind::ALL.into_iter().any(|kind| board.0.count(kind) > most(kind)) {
        Err("more pieces of a kind than the game has")
    } else if (kings(Color::Black), kings(Color::White)) != (1, 1) {
        Err("each side needs one king")
    } else if board.takes_king() {
        Err("the side to move can take the king")
    } else {
        Ok(board)
    }
}

impl Minishogi {
    /// Calls `visit` with the squares that a piece attacks.
    pub fn reach(&self, from: usize, piece: Piece, mut visit: impl FnMut(usize)) {
        let forward = if piece.color == Color::Black { 1 } else { -1 };
        let add = |at: usize, step| at.checked_add_signed(step).filter(|at| *at < SIZE);
        for (steps, most) in steps(piece) {
            for (right, down) in steps {
                let mut at = (from % SIZE, from / SIZE);
                for _ in 0..most {
                    let (Some(column), Some(rank)) = (add(at.0, *right), add(at.1, down * forward)) else { break };
                    at = (column, rank);
                    let to = rank * SIZE + column;
                    visit(to);
                    if self.0.at(to).is_some() {
                        break;
                    }
                }
            }
        }
    }

    /// Whether a side attacks the king of the other.
    fn attacks_king(&self, color: Color) -> bool {
        let mut found = false;
        let is_king = |to| self.0.at(to).is_some_and(|piece| piece.kind == King && piece.color != color);
        self.0.pieces(color).for_each(|(from, piece)| self.reach(from, piece, |to| found |= is_king(to)));
        found
    }

    /// Whether the king of the side that has just moved can be taken.
    fn takes_king(&self) -> bool {
        self.attacks_king(self.0.side())
    }

    /// The position after a move.
    #[must_use]
    pub fn after(&self, m: Move) -> Self {
        Self(self.0.after(m))
    }

    /// Moves by the steps of the pieces, which may leave the king in check or mate by a dropped pawn.
    pub fn candidates(&self) -> Vec<Move> {
        let (board, side) = (&self.0, self.0.side());
        let is_last = |square: usize| square / SIZE == if side == Color::Black { 0 } else { SIZE - 1 };
        let mut moves = Vec::new();
        for (from, piece) in board.pieces(side) {
            self.reach(from, piece, |to| {
                if board.at(to).is_some_and(|taken| taken.color == side) {
                    return;
                }
                let may = !piece.promoted && !matches!(piece.kind, Gold | King) && (is_last(to) || is_last(from));
                let must = piece.kind == Pawn && is_last(to);
                moves.extend(may.then_some(Move::Board { from, to, promotes: true }));
                moves.extend((!(may && must)).then_some(Move::Board { from, to, promotes: false }));
            });
        }
        for kind in [Rook, Bishop, Gold, Silver, Pawn].into_iter().filter(|kind| board.in_hand(side, *kind) > 0) {
            let has_pawn = |column| {
                let mut pawns = board.pieces(side).filter(|(_, piece)| piece.kind == Pawn && !piece.promoted);
                pawns.any(|(square, _)| square % SIZE == column)
            };
            let fits = |to: &usize| kind != Pawn || (!is_last(*to) && !has_pawn(to % SIZE));
            let empty = (0..SIZE * SIZE).filter(|to| board.at(*to).is_none());
            moves.extend(empty.filter(fits).map(|to| Move::Drop(kind, to)));
        }
        moves
    }

    fn is_legal(&self, m: Move) -> bool {
        let next = self.after(m);
        if next.takes_king() {
            return false;
        }
        // no move that answers the check of a dropped pawn can be such a mate itself
        let pawn_check = matches!(m, Move::Drop(Pawn, _)) && next.in_check();
        !pawn_check || next.candidates().into_iter().any(|reply| !next.after(reply).takes_king())
    }

    /// The legal moves.
    pub fn legal(&self) -> impl Iterator<Item = Move> + '_ {
        self.candidates().into_iter().filter(|m| self.is_legal(*m))
    }

    fn find(&self, text: &str) -> Option<Move> {
        self.candidates().into_iter().find(|m| self.0.usi(*m) == text).filter(|m| self.is_legal(*m))
    }
}

impl Rules for Minishogi {
    fn boxed(&self) -> Box<dyn Rules> {
        Box::new(self.clone())
    }

    fn side(&self) -> Color {
        self.0.side()
    }

    fn legal_moves(&self) -> Vec<String> {
        self.legal().map(|m| self.0.usi(m)).collect()
    }

    fn normalized(&self, text: &str) -> Option<String> {
        self.find(text).map(|_| text.to_owned())
    }

    fn play(&mut self, text: &str) -> bool {
        let found = self.find(text);
        if let Some(m) = found {
            *self = self.after(m);
        }
        found.is_some()
    }

    fn in_check(&self) -> bool {
        self.attacks_king(self.0.side().opponent())
    }

    fn text(&self) -> String {
        self.0.to_sfen()
    }

    fn identity(&self) -> String {
        self.0.to_sfen().trim_end_matches(" 1").to_owned()
    }

    fn record_text(&self, text: &str) -> Option<String> {
        self.find(text).map(|m| self.0.csa(m))
    }
}
