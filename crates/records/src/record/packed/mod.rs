//! Training data: HCPE, HCPE3 and PSV, which hold positions by the hundred million and no text at all.
//!
//! All numbers are little-endian; every score is in the view of the side to move.
//!
//! ```text
//! HCPE   38 bytes   hcp[32]  i16 score  u16 move  u8 result  u8 unused
//! PSV    40 bytes   sfen[32] i16 score  u16 move  u16 ply  i8 result  u8 unused
//! HCPE3  games      hcp[32]  u16 moves  u8 result  u8 opponent, then for every move
//!                   u16 move  i16 score  u16 n,  and n times  u16 move  u16 visits
//! ```
//!
//! The result of HCPE and HCPE3 is the winner's colour in the low two bits (0 draw, 1 Black, 2 White; 3 is no result), and
//! bits that say why: 4 repetition, 8 declaration, 16 ply limit. A game that the ply limit ended is a draw
//! whatever the low bits say, since dlshogi's constant for it has bits of the others. The result of PSV is 1, 0 or -1
//! for the side to move. In HCPE3 the players move in turn from the side to move of the start position, and a move without
//! candidates (n is 0) was not searched: its score is none.
//!
//! What is not there: who gave the scores, ratings, times, and in HCPE and HCPE3 the ply.

pub mod hcpe3;
pub mod position;

use super::SkipReason;
use evalcurve_core::types::{Color, Outcome, Termination};
use position::{is_position, side_to_move};

/// Records that are looked at to tell a format.
const LOOK: usize = 16;

/// Bytes at the beginning of a file that name it in the draw.
const NAMING: usize = 2048;

/// Which of the formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Packed {
    /// Single positions of Apery and dlshogi, 38 bytes each.
    Hcpe,
    /// Games of dlshogi.
    Hcpe3,
    /// Single positions of YaneuraOu, 40 bytes each.
    Psv,
}

/// One position of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PackedPosition {
    /// The side to move, whose view the score is in.
    pub color: Color,
    /// Centipawns in the view of `color`.
    pub score_cp: i32,
    /// The result for Black.
    pub black_outcome: Outcome,
    /// How the game ended, where the format says it.
    pub termination: Termination,
    /// Number of the move to be played; `None` in HCPE and HCPE3.
    pub ply: Option<u32>,
}

impl Packed {
    /// Its name in messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Hcpe => "hcpe",
            Self::Hcpe3 => "hcpe3",
            Self::Psv => "psv",
        }
    }

    /// Bytes of a record; `None` in HCPE3, where they differ.
    pub fn record_bytes(self) -> Option<usize> {
        match self {
            Self::Hcpe => Some(38),
            Self::Psv => Some(40),
            Self::Hcpe3 => None,
        }
    }

    /// The format of a file that begins with these bytes, by content alone: three of four of the first records
    /// hold a position and a result. Of two formats that fit, the one that fits better.
    pub fn detect(head: &[u8]) -> Option<Self> {
        // all three have a zero byte somewhere, and text has none
        memchr::memchr(0, &head[..head.len().min(4_096)])?;
        let single = |packed: Self, size: usize| {
            let records = head.chunks_exact(size).take(LOOK);
            let all = records.len();
            (records.filter(|r| packed.single(r).is_ok()).count(), all, head.len().is_multiple_of(size), packed)
        };
        let games = hcpe3::Games::new(head, head.len() < super::source::FIRST).take(LOOK);
        let (good, all) = games.fold((0, 0), |(good, all), game| (good + usize::from(game.is_ok()), all + 1));
        // of equals the last, which is the hardest to meet by chance
        [single(Self::Hcpe, 38), single(Self::Psv, 40), (good, all, good == all, Self::Hcpe3)]
            .into_iter()
            .filter(|(good, all, ..)| *good > 0 && 4 * good >= 3 * all)
            .max_by_key(|(good, all, exact, _)| (1_000 * good / all, *exact))
            .map(|(.., packed)| packed)
    }

    /// The number that stands for a file in the draw, by its first bytes.
    pub fn file_key(head: &[u8]) -> u64 {
        digest(&head[..head.len().min(NAMING)])
    }

    /// Where `block` may be cut so that what lies before holds whole records only.
    pub fn last_boundary(self, block: &[u8]) -> Option<usize> {
        let cut = match self.record_bytes() {
            Some(size) => block.len() / size * size,
            None => hcpe3::last_boundary(block),
        };
        (cut > 0).then_some(cut)
    }

    /// Is the result of this record one? Cheap, for records that are only counted.
    #[inline]
    pub fn has_result(self, record: &[u8]) -> bool {
        match self {
            Self::Psv => matches!(record.get(38), Some(0 | 1 | 0xff)),
            _ => record.get(36).is_some_and(|&r| r < 32 && (r & 3 != 3 || r & 16 != 0)),
        }
    }

    /// The score of this record of HCPE or PSV.
    #[inline]
    pub fn score(record: &[u8]) -> i16 {
        record.get(32..34).and_then(<[u8]>::first_chunk).map_or(0, |bytes| i16::from_le_bytes(*bytes))
    }

    /// Reads one record of HCPE or PSV.
    ///
    /// # Errors
    /// [`SkipReason::IllegalResult`] or [`SkipReason::BrokenPosition`]; [`SkipReason::BrokenRecord`] where it is cut.
    pub fn single(self, record: &[u8]) -> Result<PackedPosition, SkipReason> {
        let (Some(position), Some(&[low, high])) =
            (record.first_chunk::<32>(), record.get(32..34).and_then(<[u8]>::first_chunk))
        else {
            return Err(SkipReason::BrokenRecord);
        };
        let color = side_to_move(position);
        let (black_outcome, termination) = match self {
            Self::Psv => {
                let own = match record.get(38) {
                    Some(0) => Outcome::Draw,
                    Some(1) => Outcome::Win,
                    Some(0xff) => Outcome::Loss,
                    _ => return Err(SkipReason::IllegalResult),
                };
                (own.in_view_of(color), Termination::Unknown)
            }
            _ => record.get(36).and_then(|&r| result(r)).ok_or(SkipReason::IllegalResult)?,
        };
        if !is_position(position) {
            return Err(SkipReason::BrokenPosition);
        }
        let score_cp = i32::from(i16::from_le_bytes([low, high]));
        Ok(PackedPosition { color, score_cp, black_outcome, termination, ply: psv_ply(self, record) })
    }

    /// Is this record of PSV a later position of the game of the one before it? The ply grows and Black's result stays.
    ///
    /// Generators of training data write the positions of a game one after the other. In a shuffled file about one
    /// record of four goes on so by chance, which costs intervals a little of their sharpness.
    #[inline]
    pub fn goes_on(before: &[u8], record: &[u8]) -> bool {
        let key = |r: &[u8]| match r {
            [first, ..] if r.len() >= 40 => {
                let own = r[38] as i8;
                (u16::from_le_bytes([r[36], r[37]]), if first & 1 == 0 { own } else { own.wrapping_neg() })
            }
            _ => (0, 0),
        };
        let ((ply_before, black_before), (ply, black)) = (key(before), key(record));
        ply > ply_before && black == black_before
    }
}

fn psv_ply(packed: Packed, record: &[u8]) -> Option<u32> {
    match (packed, record.get(36..38)) {
        (Packed::Psv, Some(&[low, high])) => Some(u32::from(u16::from_le_bytes([low, high]))),
        _ => None,
    }
}

/// The result byte of HCPE and HCPE3, for Black.
fn result(byte: u8) -> Option<(Outcome, Termination)> {
    if byte >= 32 {
        return None;
    }
    if byte & 16 != 0 {
        return Some((Outcome::Draw, Termination::MaxMoves));
    }
    let outcome = match byte & 3 {
        0 => Outcome::Draw,
        1 => Outcome::Win,
        2 => Outcome::Loss,
        _ => return None,
    };
    let termination = match (byte & 4 != 0, byte & 8 != 0) {
        (true, _) => Termination::Repetition,
        (_, true) => Termination::Declaration,
        _ => Termination::Unknown,
    };
    Some((outcome, termination))
}

/// A number for these bytes.
pub fn digest(bytes: &[u8]) -> u64 {
    let mut hash = super::GameHash::default();
    hash.bytes(bytes);
    hash.finish(&[String::new(), String::new()], None)
}

#[cfg(test)]
mod tests;
