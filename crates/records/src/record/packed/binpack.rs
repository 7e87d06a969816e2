//! Binpack: chains of chess positions that differ by one move, from Stockfish's tools; `docs/binpack.md` of their
//! branch describes it.
//!
//! ```text
//! file    chunks of   "BINP"  u32 length, little-endian  chains
//! chain   position[24]  u16 move  u16 score  u16 ply and result  u16 rule 50  u16 n, all big-endian, then n times
//!         the bits of a move and a score, to a whole byte
//! ```
//!
//! A position is the occupied squares (u64) and a nibble for each. Signed numbers are stored with the sign as their
//! lowest bit, the others flipped where it is set. A move of the list is the number of its piece among those of the
//! side to move, and the number of its target among those that the piece attacks, each in as few bits as such a number
//! can need; so a list can only be read while its moves are played. The score follows as the difference from the
//! negative of the score before it, in blocks of four bits, each with a bit that says whether another follows. All
//! scores and results are from the point of view of the side to move, and the ply counts from 0.

use std::ops::Range;

use cozy_chess::{
    BitBoard, Color as Side, File, Piece, Rank, Square, get_bishop_moves, get_king_moves, get_knight_moves,
    get_pawn_attacks, get_rook_moves,
};
use evalcurve_calibration::types::{Color, Outcome, Termination};

use super::{Packed, PackedPosition, Visit};
use crate::record::format::Format;
use crate::record::game::SkipReason;

/// The entry in the list of formats.
pub static FORMAT: Format =
    Format::of_positions(Packed::Binpack, "binpack", "training data of Stockfish, chains of chess positions");

/// The first bytes of a chunk.
const MAGIC: &[u8] = b"BINP";
/// Bytes of the head of a chunk.
const HEAD: usize = 8;
/// Bytes of the first position of a chain, with the number of moves after it.
const STEM: usize = 34;
/// Bits of a block of a score, without the one that says whether another follows.
const BLOCK: u32 = 4;

/// Whether a file begins like this one.
pub(super) fn recognise(head: &[u8]) -> bool {
    head.starts_with(MAGIC) && chunk(head).is_some_and(|length| length >= STEM)
}

/// The length of the chunk that begins here, without its head.
fn chunk(text: &[u8]) -> Option<usize> {
    let length = text.strip_prefix(MAGIC)?.first_chunk()?;
    usize::try_from(u32::from_le_bytes(*length)).ok()
}

/// The end of the part at `at`, a chunk or bytes that are none; `None` if it is beyond the text.
fn end_of_part(text: &[u8], at: usize) -> Option<usize> {
    match chunk(&text[at..]) {
        Some(length) => (at + HEAD).checked_add(length).filter(|end| *end <= text.len()),
        // damage up to the next chunk
        None => memchr::memmem::find(text.get(at + 1..)?, MAGIC).map(|next| at + 1 + next),
    }
}

/// Where the last chunk of a block ends.
pub(super) fn last_boundary(block: &[u8]) -> usize {
    let mut at = 0;
    while let Some(end) = end_of_part(block, at) {
        at = end;
    }
    at
}

/// Walks over the positions of a block of whole chunks, as [`Packed::walk`] says.
pub(super) fn walk(text: &[u8], visit: &mut Visit<'_>) {
    let mut at = 0;
    while at < text.len() {
        let end = end_of_part(text, at).unwrap_or(text.len());
        let part = &text[at..end];
        let (head, chains) = part.split_at(part.len().min(HEAD));
        // a chunk that the end of the file cuts counts up to there
        if chunk(part).is_none() {
            visit.damage(at..end, SkipReason::BrokenRecord);
            visit.copy(part);
        } else {
            let head_at = visit.copy(head);
            walk_chains(chains, at + HEAD, visit);
            if chunk(part) == Some(chains.len()) {
                visit.set_length(head_at);
            } else {
                visit.damage(end..end, SkipReason::BrokenRecord);
            }
        }
        at = end;
    }
}

fn walk_chains(chains: &[u8], offset: usize, visit: &mut Visit<'_>) {
    let mut at = 0;
    while let Some(stem) = chains.get(at..at + STEM) {
        let chain = Chain::read(stem, &chains[at + STEM..]);
        let range = offset + at..offset + chains.len();
        match chain {
            Ok(chain) => {
                let end = at + STEM + chain.bytes;
                chain.write(stem, offset + at..offset + end, visit);
                at = end;
            }
            // nothing marks the next chain
            Err(reason) => {
                visit.damage(range, reason);
                break;
            }
        }
    }
    visit.copy(&chains[at..]);
}

/// A 16-bit number, big-endian.
fn word(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..at + 2).and_then(<[u8]>::first_chunk).map_or(0, |bytes| u16::from_be_bytes(*bytes))
}

/// A signed number as it is stored.
fn folded(number: i16) -> u16 {
    let bits = number.cast_unsigned();
    (if number < 0 { bits ^ 0x7fff } else { bits }).rotate_left(1)
}

/// The signed number that is stored so.
fn unfolded(stored: u16) -> i16 {
    let bits = stored.rotate_right(1);
    (if bits & 0x8000 == 0 { bits } else { bits ^ 0x7fff }).cast_signed()
}

/// Bits that the number of one of `count` things can need.
fn bits_of(count: u32) -> u32 {
    count.max(1).next_power_of_two().trailing_zeros()
}

/// One chain of positions.
struct Chain {
    first: PackedPosition,
    /// The bits of each further move, how many they are, and its score.
    rest: Vec<(u16, u32, i16)>,
    /// The bytes of the moves.
    bytes: usize,
}

impl Chain {
    fn read(stem: &[u8], moves: &[u8]) -> Result<Self, SkipReason> {
        let (score, state, count) = (unfolded(word(stem, 26)), word(stem, 28), word(stem, 32));
        let mut board = Board::read(stem).ok_or(SkipReason::BrokenPosition)?;
        let own = match unfolded(state >> 14) {
            1 => Outcome::Win,
            0 => Outcome::Draw,
            -1 => Outcome::Loss,
            _ => return Err(SkipReason::IllegalResult),
        };
        let color = if board.side == Side::White { Color::White } else { Color::Black };
        let first = PackedPosition {
            color,
            score_cp: score.into(),
            black_outcome: own.in_view_of(color),
            termination: Termination::Unknown,
            ply: Some(u32::from(state & 0x3fff) + 1),
        };
        let mut bits = Bits { bytes: moves, at: 0 };
        let (mut played, mut last) = (Move::of(word(stem, 24)), score);
        let mut rest = Vec::with_capacity(count.into());
        for _ in 0..count {
            board.play(played).ok_or(SkipReason::BrokenMove)?;
            let (read, code, length) = board.read_move(&mut bits).ok_or(SkipReason::BrokenMove)?;
            let difference = bits.score().ok_or(SkipReason::BrokenRecord)?;
            last = last.wrapping_neg().wrapping_add(unfolded(difference));
            rest.push((code, length, last));
            played = read;
        }
        Ok(Self { first, rest, bytes: bits.at.div_ceil(8) })
    }

    fn write(&self, stem: &[u8], range: Range<usize>, visit: &mut Visit<'_>) {
        let short = |score: i32| i16::try_from(score).unwrap_or(if score < 0 { i16::MIN } else { i16::MAX });
        let mut position = self.first;
        let mut last = short(visit.position(range.clone(), &position));
        visit.copy(&stem[..26]);
        visit.copy(&folded(last).to_be_bytes());
        visit.copy(&stem[28..]);
        let mut bits = BitWriter::default();
        for &(code, length, score) in &self.rest {
            position.color = position.color.opponent();
            position.score_cp = score.into();
            position.ply = position.ply.map(|ply| ply + 1);
            let score = short(visit.position(range.clone(), &position));
            if visit.out.is_some() {
                bits.add(code, length);
                bits.add_score(folded(score.wrapping_sub(last.wrapping_neg())));
            }
            last = score;
        }
        visit.copy(&bits.finish());
    }
}

/// Reads bits, the highest of each byte first.
struct Bits<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Bits<'_> {
    /// The next bits, 9 at most.
    fn take(&mut self, count: u32) -> Option<u16> {
        let (first, used) = (self.at / 8, (self.at % 8) as u32);
        self.at += count as usize;
        if self.at > 8 * self.bytes.len() {
            return None;
        }
        let window = [0, 1].map(|next| self.bytes.get(first + next).copied().unwrap_or(0));
        Some(u16::from_be_bytes(window).checked_shl(used)?.checked_shr(16 - count).unwrap_or(0))
    }

    fn score(&mut self) -> Option<u16> {
        let mut value = 0;
        for shift in (0..16).step_by(BLOCK as usize) {
            let block = self.take(BLOCK + 1)?;
            value |= (block & ((1 << BLOCK) - 1)) << shift;
            if block >> BLOCK == 0 {
                return Some(value);
            }
        }
        None
    }
}

/// Writes bits as [`Bits`] reads them.
#[derive(Default)]
struct BitWriter {
    bytes: Vec<u8>,
    /// The bits that do not fill a byte yet, at the low end, and how many they are.
    rest: (u32, u32),
}

impl BitWriter {
    fn add(&mut self, value: u16, count: u32) {
        let (bits, mut left) = (self.rest.0 << count | u32::from(value), self.rest.1 + count);
        while left >= 8 {
            left -= 8;
            self.bytes.push((bits >> left) as u8);
        }
        self.rest = (bits & ((1 << left) - 1), left);
    }

    fn finish(mut self) -> Vec<u8> {
        match self.rest {
            (_, 0) => {}
            (bits, count) => self.bytes.push((bits << (8 - count)) as u8),
        }
        self.bytes
    }

    fn add_score(&mut self, mut value: u16) {
        loop {
            let more = value >> BLOCK;
            self.add(value & ((1 << BLOCK) - 1) | u16::from(more != 0) << BLOCK, BLOCK + 1);
            if more == 0 {
                break;
            }
            value = more;
        }
    }
}

/// A move as the format has it: castling is the king that takes its rook.
#[derive(Clone, Copy)]
struct Move {
    from: Square,
    to: Square,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Normal,
    Promotion(Piece),
    Castling,
    EnPassant,
}

/// The pieces that a pawn becomes, in the order of their numbers.
const PROMOTIONS: [Piece; 4] = [Piece::Knight, Piece::Bishop, Piece::Rook, Piece::Queen];

impl Move {
    /// The move of the first position: type (2 bits), from, to (6 each), promotion (2).
    fn of(bits: u16) -> Self {
        let square = |bits: u16| Square::index(usize::from(bits & 63));
        let kind = match bits >> 14 {
            0 => Kind::Normal,
            1 => Kind::Promotion(PROMOTIONS[usize::from(bits & 3)]),
            2 => Kind::Castling,
            _ => Kind::EnPassant,
        };
        Self { from: square(bits >> 8), to: square(bits >> 2), kind }
    }
}

/// A position, as far as the lists of moves need it.
#[derive(Debug, Clone)]
struct Board {
    pieces: [BitBoard; 6],
    sides: [BitBoard; 2],
    side: Side,
    /// Behind a pawn that made two steps and can be taken.
    en_passant: Option<Square>,
    /// The rooks that may castle.
    castling: BitBoard,
}

/// The square of this rank and file for a side.
fn corner(side: Side, file: File) -> Square {
    Square::new(file, Rank::First.relative_to(side))
}

impl Board {
    /// The pieces of the first position of a chain; `None` without one king of each side, or with a pawn at either end.
    fn read(stem: &[u8]) -> Option<Self> {
        let occupied = BitBoard(u64::from_be_bytes(*stem.first_chunk()?));
        if occupied.len() > 32 {
            return None;
        }
        let mut board = Self {
            pieces: [BitBoard::EMPTY; 6],
            sides: [BitBoard::EMPTY; 2],
            side: Side::White,
            en_passant: None,
            castling: BitBoard::EMPTY,
        };
        for (at, square) in occupied.into_iter().enumerate() {
            let nibble = stem.get(8 + at / 2)? >> (4 * (at % 2)) & 15;
            let (piece, side) = match nibble {
                12 => {
                    let side = if square.rank() == Rank::Fourth { Side::White } else { Side::Black };
                    let is_there = square.rank() == Rank::Fourth.relative_to(side);
                    board.en_passant = is_there.then(|| Square::new(square.file(), Rank::Third.relative_to(side)));
                    (Piece::Pawn, side)
                }
                13 | 14 => {
                    let side = if nibble == 13 { Side::White } else { Side::Black };
                    board.castling |= square.bitboard();
                    (Piece::Rook, side)
                }
                15 => {
                    board.side = Side::Black;
                    (Piece::King, Side::Black)
                }
                _ => (Piece::index(usize::from(nibble / 2)), if nibble % 2 == 0 { Side::White } else { Side::Black }),
            };
            board.pieces[piece as usize] |= square.bitboard();
            board.sides[side as usize] |= square.bitboard();
        }
        let kings = board.sides.map(|side| (side & board.pieces[Piece::King as usize]).len());
        let corners = [Side::White, Side::Black].map(|s| [File::A, File::H].map(|file| corner(s, file)));
        let are_corners = board.castling.into_iter().all(|square| corners.as_flattened().contains(&square));
        let ends = Rank::First.bitboard() | Rank::Eighth.bitboard();
        let pawns_are_between = (board.pieces[Piece::Pawn as usize] & ends).is_empty();
        (kings == [1; 2] && are_corners && pawns_are_between).then_some(board)
    }

    fn piece_at(&self, square: Square) -> Option<Piece> {
        Piece::ALL.into_iter().find(|piece| self.pieces[*piece as usize].has(square))
    }

    /// The squares that the piece on `from` may go to by the numbers of the format, without castling.
    fn targets(&self, from: Square, piece: Piece) -> BitBoard {
        let (own, other) = (self.sides[self.side as usize], self.sides[!self.side as usize]);
        let occupied = own | other;
        let attacked = match piece {
            Piece::Pawn => {
                let en_passant = self.en_passant.map_or(BitBoard::EMPTY, Square::bitboard);
                let takes = get_pawn_attacks(from, self.side) & (other | en_passant);
                return takes | cozy_chess::get_pawn_quiets(from, self.side, occupied);
            }
            Piece::Knight => get_knight_moves(from),
            Piece::Bishop => get_bishop_moves(from, occupied),
            Piece::Rook => get_rook_moves(from, occupied),
            Piece::Queen => get_bishop_moves(from, occupied) | get_rook_moves(from, occupied),
            Piece::King => get_king_moves(from),
        };
        attacked & !own
    }

    /// Reads a move, and returns its bits and how many they are; `None` if there is no such move.
    fn read_move(&self, bits: &mut Bits<'_>) -> Option<(Move, u16, u32)> {
        let own = self.sides[self.side as usize];
        let nth = |squares: BitBoard, n: u16| squares.into_iter().nth(n.into());
        let of_piece = bits_of(own.len());
        let piece_code = bits.take(of_piece)?;
        let from = nth(own, piece_code)?;
        let piece = self.piece_at(from)?;
        let targets = self.targets(from, piece);
        let promotes = piece == Piece::Pawn && from.rank() == Rank::Seventh.relative_to(self.side);
        let rooks = if piece == Piece::King { self.castling & own } else { BitBoard::EMPTY };
        let count = if promotes { 4 * targets.len() } else { targets.len() + rooks.len() };
        let code = bits.take(bits_of(count))?;
        let length = of_piece + bits_of(count);
        let read = if promotes {
            Move { from, to: nth(targets, code / 4)?, kind: Kind::Promotion(PROMOTIONS[usize::from(code % 4)]) }
        } else if u32::from(code) >= targets.len() {
            // the long side comes first, and the squares of the first rank are in this order
            Move { from, to: nth(rooks, code - targets.len() as u16)?, kind: Kind::Castling }
        } else {
            let to = nth(targets, code)?;
            let is_en_passant = piece == Piece::Pawn && self.en_passant == Some(to);
            Move { from, to, kind: if is_en_passant { Kind::EnPassant } else { Kind::Normal } }
        };
        Some((read, piece_code << bits_of(count) | code, length))
    }

    fn put(&mut self, square: Square, piece: Piece, side: Side) {
        self.remove(square);
        self.pieces[piece as usize] |= square.bitboard();
        self.sides[side as usize] |= square.bitboard();
    }

    fn remove(&mut self, square: Square) {
        let all = self.pieces.iter_mut().chain(&mut self.sides);
        all.for_each(|squares| *squares &= !square.bitboard());
    }

    /// Plays a move; `None` if the side to move has no piece there, a king is taken, or a pawn stays one.
    fn play(&mut self, Move { from, to, kind }: Move) -> Option<()> {
        let side = self.side;
        let piece = self.piece_at(from).filter(|_| self.sides[side as usize].has(from))?;
        let is_odd =
            piece == Piece::Pawn && matches!(kind, Kind::Normal) && matches!(to.rank(), Rank::First | Rank::Eighth);
        if is_odd || self.piece_at(to) == Some(Piece::King) {
            return None;
        }
        let home = BitBoard::from_iter([corner(side, File::A), corner(side, File::H)]);
        if from == corner(side, File::E) {
            self.castling &= !home;
        }
        self.castling &= !(from.bitboard() | to.bitboard());
        match kind {
            Kind::Castling => {
                let files = if to.file() > from.file() { [File::G, File::F] } else { [File::C, File::D] };
                self.remove(from);
                self.remove(to);
                self.put(corner(side, files[0]), Piece::King, side);
                self.put(corner(side, files[1]), Piece::Rook, side);
            }
            _ => {
                if kind == Kind::EnPassant {
                    self.remove(Square::new(to.file(), from.rank()));
                }
                self.remove(from);
                self.put(to, if let Kind::Promotion(piece) = kind { piece } else { piece }, side);
            }
        }
        let two_steps = piece == Piece::Pawn && (from as u8).abs_diff(to as u8) == 16;
        self.side = !side;
        self.en_passant = None;
        if two_steps {
            let behind = Square::index(usize::midpoint(from as usize, to as usize));
            self.en_passant = self.can_take(behind, to).then_some(behind);
        }
        Some(())
    }

    /// Whether a pawn of the side to move can take the pawn on `taken` in passing without a slider on its king. No
    /// other check is looked for: the pawn that moved last is the only piece that can give one.
    fn can_take(&self, behind: Square, taken: Square) -> bool {
        let (own, other) = (self.sides[self.side as usize], self.sides[!self.side as usize]);
        let Some(king) = (own & self.pieces[Piece::King as usize]).next_square() else { return false };
        let of = |piece: Piece| self.pieces[piece as usize] & other;
        let pawns = get_pawn_attacks(behind, !self.side) & own & self.pieces[Piece::Pawn as usize];
        pawns.into_iter().any(|pawn| {
            let left = ((own | other) & !pawn.bitboard() & !taken.bitboard()) | behind.bitboard();
            let straight = get_rook_moves(king, left) & (of(Piece::Rook) | of(Piece::Queen));
            let diagonal = get_bishop_moves(king, left) & (of(Piece::Bishop) | of(Piece::Queen));
            (straight | diagonal).is_empty()
        })
    }
}
