//! Theory of councils: which rule wins for which engines, and by how much.
//!
//! | module | contents |
//! |---|---|
//! | [`plurality`] | the exact probability that a move wins the plurality of independent voters |
//! | [`sato`] | the bounds of Sato (2013) for it, as printed and corrected |
//! | [`sato_map`] | where the printed bounds hold |
//! | [`improvement`] | the gain of a council over the engine that its voters derive from |
//! | [`simulate`] | simulated councils: engines with noise, common errors and different scales |
//! | [`playout`] | win rates of moves by play-outs |
//! | [`estimate`] | noise, gap and synchronisation from the votes of a council, and the gain of each rule |
//! | [`protocol`] | councils over TCP: the server and the client of 2009 |

pub mod cli;
pub mod estimate;
mod figures;
pub mod improvement;
pub mod playout;
pub mod plurality;
pub mod protocol;
mod quadrature;
pub mod report;
pub mod sato;
pub mod sato_map;
pub mod simulate;
mod ziggurat;

/// The Japanese of the texts of this use.
pub const JAPANESE: &str = include_str!("ja.json");
