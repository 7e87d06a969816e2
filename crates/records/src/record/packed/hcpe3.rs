//! HCPE3: games of dlshogi, found by their lengths.
//!
//! Nothing marks where a game begins: after one wrong length everything would be read at the wrong place. So the end of
//! a game must be the end of the file or the place of another header. If it is neither, the game is damaged, and the
//! next one begins at the next place that looks like a header.
//!
//! The players move in turn from the side to move of the start position. A move without candidates was not searched
//! and has no score. The result byte is that of [`hcpe`](super::hcpe).

use std::ops::Range;

use evalcurve_calibration::types::{Outcome, Termination};

use super::hcpe::result_of;
use super::position::{self, BYTES, is_position, side_to_move};
use super::{Packed, PackedPosition, Visit, digest};
use crate::record::format::Format;
use crate::record::game::SkipReason;
use crate::record::played::Played;
use crate::record::position::Position;

/// The entry in the list of formats.
pub static FORMAT: Format = Format::of_positions(Packed::Hcpe3, "HCPE3", "training data of dlshogi, whole games");

/// Bytes of the header.
const HEADER: usize = 36;
/// Bytes of a move without its candidates.
const MOVE: usize = 6;
/// No shogi game is longer and no position has more moves, so larger numbers are damage.
const MOST_MOVES: usize = 4_096;
const MOST_CANDIDATES: usize = 600;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PackedGame<'a> {
    bytes: &'a [u8],
    pub black_outcome: Outcome,
    /// How it ended, as far as the format holds it.
    pub termination: Termination,
    /// Hash of the whole record; equal records have equal ids.
    pub id: u64,
    /// Moves, searched or not.
    pub moves: u32,
}

/// A game that cannot be used, and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackedGameError {
    pub reason: SkipReason,
    /// Its bytes.
    pub range: Range<usize>,
}

impl<'a> PackedGame<'a> {
    /// The scored positions with their index in the game, from 0.
    pub fn positions(&self) -> impl Iterator<Item = (u32, PackedPosition)> + 'a {
        let (black_outcome, termination) = (self.black_outcome, self.termination);
        let bytes = self.bytes;
        let first = bytes.first_chunk::<BYTES>().map(side_to_move);
        let mut at = HEADER;
        (0..self.moves).filter_map(move |number| {
            let own = word(bytes, at + 2)? as i16;
            let candidates = usize::from(word(bytes, at + 4)?);
            at += MOVE + 4 * candidates;
            let color = if number % 2 == 0 { first? } else { first?.opponent() };
            let score_cp = i32::from(own);
            (candidates > 0)
                .then_some((number, PackedPosition { color, score_cp, black_outcome, termination, ply: None }))
        })
    }
}

impl PackedGame<'_> {
    /// The start position and the moves.
    pub fn played(&self) -> Option<Played> {
        let start = position::read(self.bytes.first_chunk()?, true)?;
        let start_sfen = (start != Position::EVEN).then(|| start.sfen());
        let mut played = Played { first: start.side_to_move, start: start_sfen, ..Played::default() };
        let mut at = HEADER;
        for _ in 0..self.moves {
            let Some(text) = word(self.bytes, at).and_then(usi_move) else { break };
            played.moves.push(text);
            at += MOVE + 4 * usize::from(word(self.bytes, at + 4)?);
        }
        Some(played)
    }
}

/// A move of Apery and dlshogi as USI writes it: to (7 bits), from (7 bits; from 81 on a piece in hand), promotes.
fn usi_move(bits: u16) -> Option<String> {
    const IN_HAND: [&str; 7] = ["P", "L", "N", "S", "B", "R", "G"];
    let [to, from] = [bits & 127, bits >> 7 & 127].map(usize::from);
    let name = |square: usize| {
        let (file, rank) = (square / 9, square % 9);
        (square < 81).then(|| format!("{}{}", file + 1, char::from(b'a' + rank as u8)))
    };
    match from.checked_sub(81) {
        Some(piece) => Some(format!("{}*{}", IN_HAND.get(piece)?, name(to)?)),
        None => Some(name(from)? + &name(to)? + if bits & 1 << 14 == 0 { "" } else { "+" }),
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..at + 2).and_then(<[u8]>::first_chunk).map(|b| u16::from_le_bytes(*b))
}

/// Whether these bytes are a position.
fn is_position_at(bytes: &[u8], at: usize) -> bool {
    bytes.get(at..at + BYTES).and_then(<[u8]>::first_chunk).is_some_and(is_position)
}

/// Whether these bytes are a header. An invalid result concerns its own game only.
fn is_header(bytes: &[u8], at: usize) -> bool {
    let Some(header) = bytes.get(at..at + HEADER) else { return false };
    let moves = usize::from(u16::from_le_bytes([header[32], header[33]]));
    moves <= MOST_MOVES && header[35] <= 2 && is_position_at(bytes, at)
}

/// Where the game at `at` ends according to its lengths.
fn end(bytes: &[u8], at: usize) -> End {
    let Some(moves) = word(bytes, at + BYTES) else { return End::Open };
    let mut next = at + HEADER;
    if usize::from(moves) > MOST_MOVES {
        return End::Broken;
    }
    for _ in 0..moves {
        let Some(candidates) = word(bytes, next + 4) else { return End::Open };
        if usize::from(candidates) > MOST_CANDIDATES {
            return End::Broken;
        }
        next += MOVE + 4 * usize::from(candidates);
    }
    if next <= bytes.len() { End::At(next) } else { End::Open }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// The game ends here.
    At(usize),
    /// More bytes are needed.
    Open,
    /// No game is that long.
    Broken,
}

/// Iterates over the games of a block that begins with one.
#[derive(Debug)]
pub struct Games<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Whether the block ends where a game does; if not, the game that its end cuts is not given.
    whole: bool,
}

impl<'a> Games<'a> {
    /// The games of `bytes`; all of them if `whole` states that no game continues after it.
    pub fn new(bytes: &'a [u8], whole: bool) -> Self {
        Self { bytes, at: 0, whole }
    }

    /// Where the next game begins.
    pub fn offset(&self) -> usize {
        self.at
    }

    /// Whether a game can end at `at`: the bytes there are another game or the end of the file. `None` if bytes after
    /// the block decide.
    fn is_end(&self, at: usize) -> Option<bool> {
        // a position is enough: damage after it concerns the next game
        if self.is_position_or_end(at)? {
            return Some(true);
        }
        // if the next position is damaged, its lengths still lead to another header or to the end
        match end(self.bytes, at) {
            End::At(next) => self.is_position_or_end(next),
            End::Open => self.whole.then_some(self.bytes.len() - at < BYTES),
            End::Broken => Some(false),
        }
    }

    fn is_position_or_end(&self, at: usize) -> Option<bool> {
        let left = self.bytes.len() - at;
        match left {
            0..BYTES => self.whole.then_some(left == 0),
            _ => Some(is_position_at(self.bytes, at)),
        }
    }

    /// The next place from `from` on with a header whose game ends at a valid place, or the end of the file. `None` if
    /// bytes after the block decide.
    fn resume(&self, from: usize) -> Option<usize> {
        for at in from..self.bytes.len() {
            if self.bytes.len() - at < HEADER {
                break;
            }
            let is_game = is_header(self.bytes, at)
                && match end(self.bytes, at) {
                    End::At(next) => self.is_end(next)?,
                    End::Open if !self.whole => return None,
                    End::Open | End::Broken => false,
                };
            if is_game {
                return Some(at);
            }
        }
        self.whole.then_some(self.bytes.len())
    }
}

impl<'a> Iterator for Games<'a> {
    type Item = Result<PackedGame<'a>, PackedGameError>;

    fn next(&mut self) -> Option<Self::Item> {
        let begin = self.at;
        if begin >= self.bytes.len() {
            return None;
        }
        let found = match end(self.bytes, begin) {
            End::At(next) if self.is_end(next)? => Some(next),
            End::Open if !self.whole => return None,
            _ => None,
        };
        let Some(next) = found else {
            let next = self.resume(begin + 2)?;
            self.at = next;
            return Some(Err(PackedGameError { reason: SkipReason::BrokenRecord, range: begin..next }));
        };
        self.at = next;
        let bytes = &self.bytes[begin..next];
        let error = |reason| Some(Err(PackedGameError { reason, range: begin..next }));
        if !is_position_at(bytes, 0) {
            return error(SkipReason::BrokenPosition);
        }
        let Some((black_outcome, termination)) = bytes.get(34).and_then(|&r| result_of(r)) else {
            return error(SkipReason::IllegalResult);
        };
        let moves = word(bytes, BYTES).map_or(0, u32::from);
        Some(Ok(PackedGame { bytes, black_outcome, termination, id: digest(bytes), moves }))
    }
}

/// Walks over the scored positions of a block of whole games, as [`Packed::walk`] says.
pub(super) fn walk(text: &[u8], visit: &mut Visit<'_>) {
    let mut games = Games::new(text, true);
    loop {
        let begin = games.offset();
        let Some(game) = games.next() else { break };
        let range = begin..games.offset();
        let written = visit.copy(&text[range.clone()]);
        match game {
            Ok(game) => {
                let mut at = HEADER;
                let mut positions = game.positions().peekable();
                for number in 0..game.moves {
                    if let Some((_, position)) = positions.next_if(|(n, _)| *n == number) {
                        let score = visit.position(range.clone(), &position);
                        visit.set_short(written + at + 2, score);
                    }
                    at += MOVE + 4 * usize::from(word(game.bytes, at + 4).unwrap_or(0));
                }
            }
            Err(error) => visit.damage(range, error.reason),
        }
    }
}

/// Boundaries that are tried after damage.
const MOST_CUTS: usize = 8;

/// Where `block` can be cut so that the first part holds whole games only; 0 if no game ends in it.
pub fn last_boundary(block: &[u8]) -> usize {
    let ends = |block, whole| {
        let mut games = Games::new(block, whole);
        std::iter::from_fn(move || games.next().map(|game| (games.offset(), game.is_ok()))).collect::<Vec<_>>()
    };
    let found = ends(block, false);
    let last = |count: usize| count.checked_sub(1).and_then(|at| found.get(at)).map_or(0, |(end, _)| *end);
    if found.iter().all(|(_, is_ok)| *is_ok) {
        return last(found.len());
    }
    // where a game begins after damage depends on the bytes after it, so the part must read the same without them
    let cuts = (1..=found.len()).rev().take(MOST_CUTS);
    let mut same = cuts.filter(|&count| ends(&block[..last(count)], true) == found[..count]);
    same.next().map_or(0, last)
}

#[cfg(test)]
mod tests {
    use super::super::position::tests::START_HCP;
    use super::*;

    #[test]
    fn moves_are_those_of_usi() {
        // squares from 1一 down the files: 7七 is 60, 7六 59, 3三 20, 3四 21, 8八 70, 2二 10
        let moves = [60 << 7 | 59, 20 << 7 | 21, 70 << 7 | 10 | 1 << 14, 85 << 7 | 40];
        let mut bytes = START_HCP.to_vec();
        bytes.extend([4, 0, 1, 0]);
        bytes.extend(moves.into_iter().flat_map(|word: u16| {
            let [low, high] = word.to_le_bytes();
            [low, high, 7, 0, 0, 0]
        }));
        let game = Games::new(&bytes, true).next().unwrap().unwrap();
        let played = game.played().unwrap();
        assert_eq!((played.start, played.first), (None, evalcurve_calibration::types::Color::Black));
        assert_eq!(played.moves, ["7g7f", "3c3d", "8h2b+", "B*5e"]);
        assert_eq!(usi_move(127), None);
    }
}
