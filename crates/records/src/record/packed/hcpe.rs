//! HCPE: single positions of Apery and dlshogi.
//!
//! The result byte of HCPE and HCPE3 holds the winner in its low two bits (0 draw, 1 Black, 2 White; 3 is not a result)
//! and flags for the reason: 4 repetition, 8 declaration, 16 ply limit. A game that the ply limit ended is a draw
//! whatever the low bits are, because dlshogi's constant for it (22) also has the bit of a win of White.

use evalcurve_calibration::types::{Outcome, Termination};

use super::Packed;
use crate::record::format::Format;

/// The entry in the list of formats.
pub static FORMAT: Format =
    Format::of_positions(Packed::Hcpe, "HCPE", "training data of Apery and dlshogi, 38 bytes per position");

/// Bytes of a record.
pub(super) const RECORD: usize = 38;
/// Place of the result byte.
const RESULT: usize = 36;

/// Whether the result byte is valid.
#[inline]
pub(super) fn has_result(record: &[u8]) -> bool {
    record.get(RESULT).is_some_and(|&r| r < 32 && (r & 3 != 3 || r & 16 != 0))
}

/// The outcome for Black, and how the game ended.
pub(super) fn result(record: &[u8]) -> Option<(Outcome, Termination)> {
    record.get(RESULT).and_then(|&byte| result_of(byte))
}

/// The meaning of a result byte.
pub(super) fn result_of(byte: u8) -> Option<(Outcome, Termination)> {
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
