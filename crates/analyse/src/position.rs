//! The positions that are searched, and their numbers.

use evalcurve_council::usi;

/// A position to search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position {
    /// The start of the game and the moves to the position.
    pub at: usi::Position,
}

impl Position {
    /// A number for the start and the moves.
    pub(super) fn key(&self) -> u64 {
        let start = self.at.start.iter().flat_map(|text| text.bytes());
        let moves = self.at.moves.iter().flat_map(|text| text.bytes().chain([b' ']));
        digest(start.chain([b'|']).chain(moves))
    }
}

/// A number for these bytes.
pub(super) fn digest(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0, |hash, byte| evalcurve_core::random::mix(hash ^ (u64::from(byte) + 1)))
}
