//! PSV: single positions of YaneuraOu (PackedSfenValue). The result is 1, 0 or -1 for the side to move.

use evalcurve_calibration::types::{Color, Outcome, Termination};

use super::Packed;
use crate::record::format::Format;

/// The entry in the list of formats.
pub static FORMAT: Format =
    Format::of_positions(Packed::Psv, "PSV", "training data of YaneuraOu (PackedSfenValue), 40 bytes per position");

/// Bytes of a record.
pub(super) const RECORD: usize = 40;
/// Place of the result byte.
const RESULT: usize = 38;

/// Whether the result byte is valid.
#[inline]
pub(super) fn has_result(record: &[u8]) -> bool {
    matches!(record.get(RESULT), Some(0 | 1 | 0xff))
}

/// The outcome for Black; the format does not hold how the game ended.
pub(super) fn result(record: &[u8], color: Color) -> Option<(Outcome, Termination)> {
    let outcome = match record.get(RESULT)? {
        0 => Outcome::Draw,
        1 => Outcome::Win,
        0xff => Outcome::Loss,
        _ => return None,
    };
    Some((outcome.in_view_of(color), Termination::Unknown))
}

/// Number of the move to be played.
pub(super) fn ply(record: &[u8]) -> Option<u32> {
    record.get(36..38).and_then(<[u8]>::first_chunk).map(|bytes| u32::from(u16::from_le_bytes(*bytes)))
}

/// Whether `record` is a later position of the same game as `before`: the ply grows and Black's result stays.
///
/// Generators of training data write the positions of a game one after the other. In a shuffled file about one record
/// of four passes by chance, which makes intervals slightly wider than necessary.
#[inline]
pub fn goes_on(before: &[u8], record: &[u8]) -> bool {
    let key = |r: &[u8]| match r {
        [first, ..] if r.len() >= RECORD => {
            let own = r[RESULT] as i8;
            (u16::from_le_bytes([r[36], r[37]]), if first & 1 == 0 { own } else { own.wrapping_neg() })
        }
        _ => (0, 0),
    };
    let ((ply_before, black_before), (ply, black)) = (key(before), key(record));
    ply > ply_before && black == black_before
}
