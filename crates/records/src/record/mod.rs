//! Game records: one reader per format, listed in [`FORMATS`], and the game that a reader fills.
//!
//! A reader scans a block of bytes that holds whole games and fills a [`Game`] that the caller lends, so that it
//! allocates nothing per game. It never panics: a game that cannot be read gives a [`SkipReason`] with its line, and
//! the next call continues with the next game.

pub(crate) mod archive;
mod board;
pub mod comment;
pub mod csa;
pub mod encoding;
pub mod find;
pub mod format;
mod game;
pub mod identity;
pub mod kif;
mod lines;
mod names;
pub mod packed;
pub mod pgn;
mod played;
pub mod position;
pub mod positions;
mod search;
pub mod source;
pub mod usi_log;
pub mod votes;
mod work;

pub use format::{Above, BlockGames, Cursor, Format};
pub use game::{Convention, Game, GameError, Oddity, OddityKind, ScoredPosition, SkipReason, UnreadComment};
pub use identity::{GameHash, StartTime};
pub use packed::Packed;
pub use played::Played;

pub use evalcurve_calibration::types::ANNOUNCED_MATE_CP;

/// All formats, in the order of detection: the first one that recognises a file reads it.
///
/// A new format is one file with a `format::Reader` and its [`Format`], its `mod` line above and one line
/// here. Detection, the values and the help of `--format`, messages and the abilities (`--verify`, `--material`) come
/// from this list.
pub static FORMATS: &[&Format] = &[
    &packed::hcpe::FORMAT,
    &packed::hcpe3::FORMAT,
    &packed::psv::FORMAT,
    &packed::binpack::FORMAT,
    &packed::plain::FORMAT,
    &votes::FORMAT,
    &positions::FORMAT,
    &csa::FORMAT,
    &kif::FORMAT,
    &usi_log::FORMAT,
    &pgn::FORMAT,
];

impl Format {
    /// The format of a file that begins with these bytes, by its content alone. A text may hold zero bytes by accident,
    /// so bytes that are no training data can still be one.
    pub fn detect(head: &[u8]) -> Option<&'static Self> {
        let find = |is_text| FORMATS.iter().copied().find(|format| format.recognises_as(head, is_text));
        if format::has_zero(head) { find(false).or_else(|| find(true)) } else { find(true) }
    }

    /// The format with this name.
    pub fn by_name(name: &str) -> Option<&'static Self> {
        FORMATS.iter().copied().find(|format| format.name == name)
    }

    /// The labels of all formats, joined by commas.
    pub fn labels() -> String {
        FORMATS.iter().map(|format| format.label).collect::<Vec<_>>().join(", ")
    }
}
