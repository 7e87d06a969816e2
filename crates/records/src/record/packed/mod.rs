//! Training data: HCPE, HCPE3 and PSV, which hold hundreds of millions of positions and no text.
//!
//! All numbers are little-endian; every score is from the point of view of the side to move.
//!
//! ```text
//! HCPE   38 bytes   hcp[32]  i16 score  u16 move  u8 result  u8 unused
//! PSV    40 bytes   sfen[32] i16 score  u16 move  u16 ply  i8 result  u8 unused
//! HCPE3  games      hcp[32]  u16 moves  u8 result  u8 opponent, then for each move
//!                   u16 move  i16 score  u16 n,  and n times  u16 move  u16 visits
//! ```
//!
//! None of them holds the engine that gave the scores, ratings or times; HCPE and HCPE3 do not hold the ply either.

pub mod hcpe;
pub mod hcpe3;
pub mod position;
pub mod psv;

pub use super::format::Packed;
use super::game::SkipReason;
use super::identity::GameHash;
use evalcurve_core::types::{Color, Outcome, Termination};
use position::{is_position, side_to_move};

/// Bytes that are asked for to detect a format: most members of an archive are one short game, and end before.
pub(super) const HEAD: usize = 1 << 16;
/// Records that detection looks at.
const LOOK: usize = 16;

/// Bytes at the beginning of a file that identify it in the sampling.
const KEY_BYTES: usize = 2048;

/// One position of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PackedPosition {
    /// The side to move; the score is from its point of view.
    pub color: Color,
    /// Centipawns from the point of view of `color`.
    pub score_cp: i32,
    /// The outcome for Black.
    pub black_outcome: Outcome,
    /// How the game ended, if the format holds it.
    pub termination: Termination,
    /// Number of the move to be played; `None` in HCPE and HCPE3.
    pub ply: Option<u32>,
}

impl Packed {
    /// Bytes of a record; `None` in HCPE3, where the lengths differ.
    pub fn record_bytes(self) -> Option<usize> {
        match self {
            Self::Hcpe => Some(hcpe::RECORD),
            Self::Psv => Some(psv::RECORD),
            Self::Hcpe3 => None,
        }
    }

    /// The format of a file that begins with these bytes, by its content alone: three of four of the first records hold
    /// a position and a result. If two formats fit, the better fit counts.
    pub fn detect(head: &[u8]) -> Option<Self> {
        let single = |packed: Self, size: usize| {
            let records = head.chunks_exact(size).take(LOOK);
            let all = records.len();
            (records.filter(|r| packed.single(r).is_ok()).count(), all, head.len().is_multiple_of(size), packed)
        };
        let games = hcpe3::Games::new(head, head.len() < HEAD).take(LOOK);
        let (good, all) = games.fold((0, 0), |(good, all), game| (good + usize::from(game.is_ok()), all + 1));
        // of equals the last, which is the least likely to fit by chance
        [single(Self::Hcpe, hcpe::RECORD), single(Self::Psv, psv::RECORD), (good, all, good == all, Self::Hcpe3)]
            .into_iter()
            .filter(|(good, all, ..)| *good > 0 && 4 * good >= 3 * all)
            .max_by_key(|(good, all, exact, _)| (1_000 * good / all, *exact))
            .map(|(.., packed)| packed)
    }

    /// The number that identifies a file in the sampling, by its first bytes.
    pub fn file_key(head: &[u8]) -> u64 {
        digest(&head[..head.len().min(KEY_BYTES)])
    }

    /// Where `block` can be cut so that the first part holds whole records only.
    pub fn last_boundary(self, block: &[u8]) -> Option<usize> {
        let cut = match self.record_bytes() {
            Some(size) => block.len() / size * size,
            None => hcpe3::last_boundary(block),
        };
        (cut > 0).then_some(cut)
    }

    /// Whether this record holds a valid result. Cheap, for records that are only counted.
    #[inline]
    pub fn has_result(self, record: &[u8]) -> bool {
        match self {
            Self::Psv => psv::has_result(record),
            _ => hcpe::has_result(record),
        }
    }

    /// The score of this record of HCPE or PSV.
    #[inline]
    pub fn score(record: &[u8]) -> i16 {
        record.get(32..34).and_then(<[u8]>::first_chunk).map_or(0, |bytes| i16::from_le_bytes(*bytes))
    }

    /// The position of a record, or at the beginning of a game, as SFEN; `None` if it is not one.
    pub fn sfen(self, record: &[u8]) -> Option<String> {
        position::read(record.first_chunk()?, self != Self::Psv).map(|position| position.sfen())
    }

    /// Reads one record of HCPE or PSV.
    ///
    /// # Errors
    /// [`SkipReason::IllegalResult`] or [`SkipReason::BrokenPosition`]; [`SkipReason::BrokenRecord`] if it is cut.
    pub fn single(self, record: &[u8]) -> Result<PackedPosition, SkipReason> {
        let position = record.first_chunk().filter(|_| record.len() >= 34).ok_or(SkipReason::BrokenRecord)?;
        let color = side_to_move(position);
        let result = match self {
            Self::Psv => psv::result(record, color),
            _ => hcpe::result(record),
        };
        let (black_outcome, termination) = result.ok_or(SkipReason::IllegalResult)?;
        if !is_position(position) {
            return Err(SkipReason::BrokenPosition);
        }
        let ply = if self == Self::Psv { psv::ply(record) } else { None };
        Ok(PackedPosition { color, score_cp: i32::from(Self::score(record)), black_outcome, termination, ply })
    }
}

/// The hash of these bytes.
pub fn digest(bytes: &[u8]) -> u64 {
    let mut hash = GameHash::default();
    hash.bytes(bytes);
    hash.finish(&[String::new(), String::new()], None)
}

#[cfg(test)]
mod tests;
