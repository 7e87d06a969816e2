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
//!
//! Without the feature `program`, as in the Python package, there is only [`simulate`].

pub mod cli;
#[cfg(feature = "program")]
pub mod estimate;
#[cfg(feature = "program")]
mod figures;
#[cfg(feature = "program")]
pub mod improvement;
#[cfg(feature = "program")]
pub mod playout;
#[cfg(feature = "program")]
pub mod plurality;
#[cfg(feature = "program")]
pub mod protocol;
#[cfg(feature = "program")]
mod quadrature;
#[cfg(feature = "program")]
pub mod report;
#[cfg(feature = "program")]
pub mod sato;
#[cfg(feature = "program")]
pub mod sato_map;
pub mod simulate;
mod ziggurat;

/// The Japanese of the texts of this use.
pub const JAPANESE: &str = include_str!("ja.json");
