//! Training data, which holds hundreds of millions of positions: HCPE, HCPE3 and PSV below, [`plain`] text, and
//! [`binpack`].
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

pub mod binpack;
pub mod hcpe;
pub mod hcpe3;
pub mod plain;
pub mod position;
pub mod psv;

use super::format::BOM;
pub use super::format::Packed;
use super::game::SkipReason;
use super::identity::GameHash;
use evalcurve_calibration::types::{Color, Outcome, Termination};
use position::{is_position, side_to_move};
use std::ops::Range;

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
    pub black_outcome: Outcome,
    /// How the game ended, if the format holds it.
    pub termination: Termination,
    /// Number of the move to be played; `None` in HCPE and HCPE3.
    pub ply: Option<u32>,
}

impl Packed {
    /// Bytes of a record; `None` where the lengths differ.
    pub fn record_bytes(self) -> Option<usize> {
        match self {
            Self::Hcpe => Some(hcpe::RECORD),
            Self::Psv => Some(psv::RECORD),
            Self::Hcpe3 | Self::Plain | Self::Binpack => None,
        }
    }

    /// Whether a block of this format holds chess.
    pub(crate) fn is_chess(self, block: &[u8]) -> bool {
        match self {
            Self::Binpack => true,
            Self::Plain => block.strip_prefix(BOM).unwrap_or(block).trim_ascii_start().starts_with(b"fen"),
            Self::Hcpe | Self::Hcpe3 | Self::Psv => false,
        }
    }

    /// Tells if a file that begins with these bytes is in this format.
    pub(super) fn recognises(self, head: &[u8], is_text: bool) -> bool {
        match self {
            Self::Plain => is_text && plain::recognise(head.strip_prefix(BOM).unwrap_or(head)),
            _ => !is_text && Self::detect(head) == Some(self),
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
        if binpack::recognise(head) {
            return Some(Self::Binpack);
        }
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
            None => match self {
                Self::Plain => plain::last_boundary(block),
                Self::Binpack => binpack::last_boundary(block),
                _ => hcpe3::last_boundary(block),
            },
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

    /// Calls `visit` with the bytes and the content of each scored position of a block of whole records, or the reason
    /// why there is none, and appends the block to `out` with the scores that `visit` returns. What cannot be read is
    /// copied. The position of a record of HCPE or PSV is not checked.
    pub fn walk(self, text: &[u8], out: Option<&mut Vec<u8>>, visit: &mut Visitor<'_>) {
        let mut visit = Visit { visit, out };
        match self {
            Self::Hcpe | Self::Psv => self.walk_records(text, &mut visit),
            Self::Hcpe3 => hcpe3::walk(text, &mut visit),
            Self::Plain => plain::walk(text, &mut visit),
            Self::Binpack => binpack::walk(text, &mut visit),
        }
    }

    fn walk_records(self, text: &[u8], visit: &mut Visit<'_>) {
        let size = self.record_bytes().unwrap_or(1);
        let written = visit.copy(text);
        for (number, record) in text.chunks(size).enumerate() {
            let range = number * size..number * size + record.len();
            match self.without_check(record) {
                Ok(position) => {
                    let score = visit.position(range.clone(), &position);
                    visit.set_short(written + range.start + 32, score);
                }
                Err(reason) => visit.damage(range, reason),
            }
        }
    }

    /// Reads one record of HCPE or PSV.
    ///
    /// # Errors
    /// [`SkipReason::IllegalResult`] or [`SkipReason::BrokenPosition`]; [`SkipReason::BrokenRecord`] if it is cut.
    pub fn single(self, record: &[u8]) -> Result<PackedPosition, SkipReason> {
        let found = self.without_check(record)?;
        match record.first_chunk().is_some_and(is_position) {
            true => Ok(found),
            false => Err(SkipReason::BrokenPosition),
        }
    }

    /// The same, whether or not the first bytes are a position.
    fn without_check(self, record: &[u8]) -> Result<PackedPosition, SkipReason> {
        let is_whole = self.record_bytes().is_some_and(|size| record.len() >= size);
        let position = record.first_chunk().filter(|_| is_whole).ok_or(SkipReason::BrokenRecord)?;
        let color = side_to_move(position);
        let result = match self {
            Self::Psv => psv::result(record, color),
            _ => hcpe::result(record),
        };
        let (black_outcome, termination) = result.ok_or(SkipReason::IllegalResult)?;
        let ply = if self == Self::Psv { psv::ply(record) } else { None };
        Ok(PackedPosition { color, score_cp: i32::from(Self::score(record)), black_outcome, termination, ply })
    }
}

/// Is called with the bytes of a position, and with its content or why it cannot be read; returns its new score.
pub type Visitor<'a> = dyn FnMut(Range<usize>, Result<&PackedPosition, SkipReason>) -> i32 + 'a;

/// Visits the positions of a block, and writes the block with their new scores.
struct Visit<'a> {
    visit: &'a mut Visitor<'a>,
    out: Option<&'a mut Vec<u8>>,
}

impl Visit<'_> {
    fn position(&mut self, range: Range<usize>, position: &PackedPosition) -> i32 {
        (self.visit)(range, Ok(position))
    }

    fn damage(&mut self, range: Range<usize>, reason: SkipReason) {
        (self.visit)(range, Err(reason));
    }

    /// Writes these bytes, and returns their place.
    fn copy(&mut self, bytes: &[u8]) -> usize {
        let Some(out) = &mut self.out else { return 0 };
        out.extend_from_slice(bytes);
        out.len() - bytes.len()
    }

    /// Writes a score of 16 bits over what is there, little-endian.
    fn set_short(&mut self, at: usize, score: i32) {
        if let Some(place) = self.out.as_mut().and_then(|out| out.get_mut(at..at + 2)) {
            let score = score.clamp(i16::MIN.into(), i16::MAX.into()) as i16;
            place.copy_from_slice(&score.to_le_bytes());
        }
    }

    /// Sets the length of a chunk whose head is at `head` to that of what follows.
    fn set_length(&mut self, head: usize) {
        let Some(out) = &mut self.out else { return };
        let length = u32::try_from(out.len().saturating_sub(head + 8)).unwrap_or(u32::MAX);
        if let Some(place) = out.get_mut(head + 4..head + 8) {
            place.copy_from_slice(&length.to_le_bytes());
        }
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
