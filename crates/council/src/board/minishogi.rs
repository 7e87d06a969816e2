//! 5x5 shogi (5五将棋): king, gold, silver, bishop, rook and pawn on five files and ranks; the last rank promotes.
//!
//! Squares are written as in USI, files 1 to 5 from the right and ranks a to e from White's side. As in shogi, two
//! unpromoted pawns of a side on one file, a pawn on the last rank and a mate by a dropped pawn are illegal.

use super::{ReadRules, Rules, csa_move};
use evalcurve_core::types::Color;

const SIZE: i8 = 5;

/// The game has two pieces of each kind.
const OF_A_KIND: u8 = 2;

/// The initial position as SFEN.
pub const START: &str = "rbsgk/4p/5/P4/KGSBR b - 1";

/// A kind of piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// 歩
    Pawn,
    /// 銀
    Silver,
    /// 金
    Gold,
    /// 角
    Bishop,
    /// 飛
    Rook,
    /// 王
    King,
}

use Kind::{Bishop, Gold, King, Pawn, Rook, Silver};

/// The kinds with their letters, names in CSA and the names of their promoted pieces. Those before the king may be in
/// hand; SFEN lists hands from the rook down.
const KINDS: [(Kind, char, &str, &str); 6] = [
    (Rook, 'R', "HI", "RY"),
    (Bishop, 'B', "KA", "UM"),
    (Gold, 'G', "KI", "KI"),
    (Silver, 'S', "GI", "NG"),
    (Pawn, 'P', "FU", "TO"),
    (King, 'K', "OU", "OU"),
];

impl Kind {
    fn row(self) -> (Self, char, &'static str, &'static str) {
        KINDS.into_iter().find(|row| row.0 == self).unwrap_or(KINDS[0])
    }

    fn of_letter(letter: char) -> Option<Self> {
        KINDS.into_iter().find(|row| row.1 == letter.to_ascii_uppercase()).map(|row| row.0)
    }
}

/// A piece on the board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// What it is, promoted or not.
    pub kind: Kind,
    pub promoted: bool,
    /// Whose it is.
    pub color: Color,
}

/// Steps as (columns to the right, ranks down) in Black's view: forward is -1.
type Steps = &'static [(i8, i8)];

const DIAGONAL: Steps = &[(-1, -1), (1, -1), (-1, 1), (1, 1)];
const STRAIGHT: Steps = &[(0, -1), (-1, 0), (1, 0), (0, 1)];
const AS_GOLD: Steps = &[(-1, -1), (0, -1), (1, -1), (-1, 0), (1, 0), (0, 1)];
const AS_SILVER: Steps = &[(-1, -1), (0, -1), (1, -1), (-1, 1), (1, 1)];

impl Piece {
    /// Its single steps and the directions in which it moves any distance.
    fn moves(self) -> [(Steps, i8); 2] {
        match (self.kind, self.promoted) {
            (Pawn, false) => [(&[(0, -1)], 1), (&[], 0)],
            (Silver, false) => [(AS_SILVER, 1), (&[], 0)],
            (Gold, _) | (Pawn | Silver, true) => [(AS_GOLD, 1), (&[], 0)],
            (King, _) => [(DIAGONAL, 1), (STRAIGHT, 1)],
            (Bishop, promoted) => [(DIAGONAL, SIZE), (STRAIGHT, i8::from(promoted))],
            (Rook, promoted) => [(STRAIGHT, SIZE), (DIAGONAL, i8::from(promoted))],
        }
    }
}

/// A square: column from the left (file 5) and rank from White's side, both from 0.
pub type Square = (i8, i8);

fn index((column, rank): Square) -> usize {
    (rank * SIZE + column) as usize
}

fn squares() -> impl Iterator<Item = Square> {
    (0..SIZE).flat_map(|rank| (0..SIZE).map(move |column| (column, rank)))
}

fn square_text((column, rank): Square) -> String {
    format!("{}{}", SIZE - column, char::from(b'a' + rank as u8))
}

fn last_rank(color: Color) -> i8 {
    if color == Color::Black { 0 } else { SIZE - 1 }
}

/// A move or a drop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Move {
    /// A piece in hand onto an empty square.
    Drop(Kind, Square),
    /// A piece on the board.
    Board {
        /// The square that it leaves.
        from: Square,
        /// The square that it moves to.
        to: Square,
        promotes: bool,
    },
}

impl Move {
    /// The move in USI.
    pub fn text(self) -> String {
        match self {
            Self::Drop(kind, to) => format!("{}*{}", kind.row().1, square_text(to)),
            Self::Board { from, to, promotes } => {
                format!("{}{}{}", square_text(from), square_text(to), if promotes { "+" } else { "" })
            }
        }
    }
}

/// The board, the hands and the side to move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Minishogi {
    squares: [Option<Piece>; 25],
    /// Pieces in hand by colour and place in `KINDS`.
    hands: [[u8; 5]; 2],
    side: Color,
}

/// Reads an SFEN; a move number is ignored.
pub(super) fn read(text: Option<&str>) -> ReadRules {
    Ok(Box::new(parse(text.unwrap_or(START))?))
}

/// Reads an SFEN.
///
/// # Errors
/// What is wrong with it, in a few words.
pub fn parse(text: &str) -> Result<Minishogi, &'static str> {
    let mut fields = text.split_whitespace();
    let rows: Vec<&str> = fields.next().unwrap_or_default().split('/').collect();
    let side = match fields.next() {
        Some("b") => Color::Black,
        Some("w") => Color::White,
        _ => return Err("no side to move"),
    };
    let mut board = Minishogi { squares: [None; 25], hands: [[0; 5]; 2], side };
    if rows.len() != SIZE as usize {
        return Err("not five ranks");
    }
    for (rank, row) in (0..).zip(rows) {
        let (mut column, mut promoted) = (0, false);
        for letter in row.chars() {
            match (letter, letter.to_digit(10)) {
                ('+', _) => promoted = true,
                // no rank is longer, however many squares the text has
                (_, Some(run)) => column = (column + run.min(9) as i8).min(SIZE + 1),
                _ => {
                    let kind = Kind::of_letter(letter).ok_or("an unknown piece")?;
                    if column >= SIZE {
                        return Err("a rank of more than five squares");
                    }
                    let piece =
                        Piece { kind, promoted: promoted && !matches!(kind, Gold | King), color: owner(letter) };
                    board.squares[index((column, rank))] = Some(piece);
                    (column, promoted) = (column + 1, false);
                }
            }
        }
        if column != SIZE {
            return Err("a rank without five squares");
        }
    }
    read_hands(&mut board, fields.next().unwrap_or("-"))?;
    for (kind, ..) in KINDS.into_iter().filter(|(kind, ..)| *kind != King) {
        let on_board = board.squares.iter().flatten().filter(|piece| piece.kind == kind).count() as u8;
        let all = [Color::Black, Color::White].map(|color| board.in_hand(color, kind));
        if all.into_iter().fold(on_board, u8::saturating_add) > OF_A_KIND {
            return Err("more pieces of a kind than the game has");
        }
    }
    let kings = |color| board.pieces(color).filter(|(_, piece)| piece.kind == King).count();
    match (kings(Color::Black), kings(Color::White)) {
        (1, 1) if board.attacks(side, board.king(side.opponent())) => Err("the side to move can take the king"),
        (1, 1) => Ok(board),
        _ => Err("each side needs one king"),
    }
}

/// Whose piece a letter is.
fn owner(letter: char) -> Color {
    if letter.is_ascii_uppercase() { Color::Black } else { Color::White }
}

fn read_hands(board: &mut Minishogi, text: &str) -> Result<(), &'static str> {
    let mut count = 0u8;
    for letter in text.chars().filter(|letter| *letter != '-') {
        match letter.to_digit(10) {
            Some(digit) => count = count.saturating_mul(10).saturating_add(digit as u8),
            None => {
                let kind = Kind::of_letter(letter).filter(|kind| *kind != King).ok_or("an unknown piece in hand")?;
                let hand = &mut board.hands[owner(letter).index()];
                hand[place(kind)] = hand[place(kind)].saturating_add(count.max(1));
                count = 0;
            }
        }
    }
    if count > 0 {
        return Err("a number in the hands without a piece");
    }
    Ok(())
}

/// The place of a kind in a hand.
fn place(kind: Kind) -> usize {
    KINDS.iter().position(|row| row.0 == kind).unwrap_or_default().min(4)
}

impl Minishogi {
    /// The side to move.
    pub fn side(&self) -> Color {
        self.side
    }

    /// The piece on a square.
    pub fn at(&self, square: Square) -> Option<Piece> {
        self.squares[index(square)]
    }

    /// How many pieces of a kind a side has in hand.
    pub fn in_hand(&self, color: Color, kind: Kind) -> u8 {
        if kind == King { 0 } else { self.hands[color.index()][place(kind)] }
    }

    /// The pieces of a side on the board.
    pub fn pieces(&self, color: Color) -> impl Iterator<Item = (Square, Piece)> + '_ {
        let own = move |square| Some((square, self.at(square).filter(|piece| piece.color == color)?));
        squares().filter_map(own)
    }

    fn king(&self, color: Color) -> Square {
        self.pieces(color).find(|(_, piece)| piece.kind == King).map_or((0, 0), |(square, _)| square)
    }

    /// Calls `visit` with the squares that a piece attacks.
    pub fn reach(&self, from: Square, piece: Piece, mut visit: impl FnMut(Square)) {
        let forward = if piece.color == Color::Black { 1 } else { -1 };
        for (steps, most) in piece.moves() {
            for (right, down) in steps {
                let mut to = from;
                for _ in 0..most {
                    to = (to.0 + right, to.1 + down * forward);
                    if !(0..SIZE).contains(&to.0) || !(0..SIZE).contains(&to.1) {
                        break;
                    }
                    visit(to);
                    if self.at(to).is_some() {
                        break;
                    }
                }
            }
        }
    }

    fn attacks(&self, color: Color, target: Square) -> bool {
        let mut found = false;
        self.pieces(color).for_each(|(from, piece)| self.reach(from, piece, |to| found |= to == target));
        found
    }

    /// The position after a move.
    pub fn after(&self, m: Move) -> Self {
        let mut next = self.clone();
        match m {
            Move::Drop(kind, to) => {
                let hand = &mut next.hands[self.side.index()][place(kind)];
                *hand = hand.saturating_sub(1);
                next.squares[index(to)] = Some(Piece { kind, promoted: false, color: self.side });
            }
            Move::Board { from, to, promotes } => {
                if let Some(taken) = self.at(to).filter(|piece| piece.kind != King) {
                    next.hands[self.side.index()][place(taken.kind)] += 1;
                }
                let moved = next.squares[index(from)].take();
                next.squares[index(to)] = moved.map(|piece| Piece { promoted: piece.promoted || promotes, ..piece });
            }
        }
        next.side = self.side.opponent();
        next
    }

    /// Moves by the steps of the pieces, which may leave the king in check or mate by a dropped pawn.
    pub fn candidates(&self) -> Vec<Move> {
        let mut moves = Vec::new();
        let last = last_rank(self.side);
        for (from, piece) in self.pieces(self.side) {
            self.reach(from, piece, |to| {
                if self.at(to).is_some_and(|taken| taken.color == self.side) {
                    return;
                }
                let may = !piece.promoted && !matches!(piece.kind, Gold | King) && (to.1 == last || from.1 == last);
                let must = piece.kind == Pawn && to.1 == last;
                moves.extend(may.then_some(Move::Board { from, to, promotes: true }));
                moves.extend((!(may && must)).then_some(Move::Board { from, to, promotes: false }));
            });
        }
        let hand = self.hands[self.side.index()];
        for (kind, ..) in KINDS.into_iter().filter(|(kind, ..)| *kind != King && hand[place(*kind)] > 0) {
            let pawns = |column| {
                let is_pawn =
                    |(square, piece): (Square, Piece)| square.0 == column && piece.kind == Pawn && !piece.promoted;
                self.pieces(self.side).any(is_pawn)
            };
            let fits = |to: &Square| kind != Pawn || (to.1 != last && !pawns(to.0));
            let empty = squares().filter(|to| self.at(*to).is_none());
            moves.extend(empty.filter(fits).map(|to| Move::Drop(kind, to)));
        }
        moves
    }

    fn is_legal(&self, m: Move) -> bool {
        let next = self.after(m);
        if next.attacks(next.side, next.king(self.side)) {
            return false;
        }
        // no move that answers the check of a dropped pawn can be such a mate itself
        let pawn_check = matches!(m, Move::Drop(Pawn, _)) && self.after(m).in_check();
        !pawn_check || next.candidates().into_iter().any(|reply| !next.after(reply).leaves_king(next.side))
    }

    /// Whether the king of the side that has just moved can be taken.
    fn leaves_king(&self, moved: Color) -> bool {
        self.attacks(self.side, self.king(moved))
    }

    pub fn legal(&self) -> impl Iterator<Item = Move> + '_ {
        self.candidates().into_iter().filter(|m| self.is_legal(*m))
    }

    fn find(&self, text: &str) -> Option<Move> {
        self.candidates().into_iter().find(|m| m.text() == text).filter(|m| self.is_legal(*m))
    }
}

impl Rules for Minishogi {
    fn boxed(&self) -> Box<dyn Rules> {
        Box::new(self.clone())
    }

    fn side(&self) -> Color {
        self.side
    }

    fn legal_moves(&self) -> Vec<String> {
        self.legal().map(Move::text).collect()
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
        self.attacks(self.side.opponent(), self.king(self.side))
    }

    fn text(&self) -> String {
        self.identity() + " 1"
    }

    fn identity(&self) -> String {
        let cased = |letter: char, color| if color == Color::Black { letter } else { letter.to_ascii_lowercase() };
        let mut text = String::new();
        for rank in 0..SIZE {
            let mut run = 0;
            for column in 0..SIZE {
                let Some(piece) = self.at((column, rank)) else {
                    run += 1;
                    continue;
                };
                if run > 0 {
                    text += &run.to_string();
                    run = 0;
                }
                text += if piece.promoted { "+" } else { "" };
                text.push(cased(piece.kind.row().1, piece.color));
            }
            if run > 0 {
                text += &run.to_string();
            }
            text += if rank + 1 < SIZE { "/" } else { "" };
        }
        text += if self.side == Color::Black { " b " } else { " w " };
        let none = text.len();
        for color in [Color::Black, Color::White] {
            for (count, (_, letter, ..)) in self.hands[color.index()].into_iter().zip(KINDS).filter(|(n, _)| *n > 0) {
                if count > 1 {
                    text += &count.to_string();
                }
                text.push(cased(letter, color));
            }
        }
        let hands = if text.len() == none { "-" } else { "" };
        text + hands
    }

    fn record_text(&self, text: &str) -> Option<String> {
        let (kind, promoted) = match self.find(text)? {
            Move::Drop(kind, _) => (kind, false),
            Move::Board { from, promotes, .. } => {
                let piece = self.at(from)?;
                (piece.kind, piece.promoted || promotes)
            }
        };
        let (.., name, promoted_name) = kind.row();
        csa_move(self.side, text, if promoted { promoted_name } else { name })
    }
}
