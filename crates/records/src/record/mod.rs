//! Game records: one reader per format, listed in [`FORMATS`], and the game that a reader fills.
//!
//! A reader scans a block of bytes that holds whole games and fills a [`Game`] that the caller lends, so that it
//! allocates nothing per game. It never panics: a game that cannot be read gives a [`SkipReason`] with its line, and
//! the next call continues with the next game.

mod archive;
mod board;
mod comment;
pub mod csa;
pub mod encoding;
pub mod find;
pub mod format;
mod game;
pub mod identity;
pub mod kif;
pub mod packed;
mod part;
pub mod pgn;
mod position;
mod search;
pub mod source;
pub mod usi_log;
pub mod votes;

pub use format::{Cursor, FORMATS, Format, Reader};
pub use game::{Game, GameError, Oddity, OddityKind, ScoredPosition, SkipReason};
pub use identity::{GameHash, StartTime};
pub use packed::Packed;

pub use evalcurve_core::types::ANNOUNCED_MATE_CP;
