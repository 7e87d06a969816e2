//! Why and when councils work: before four machines are bought.
//!
//! | module | what it gives |
//! |---|---|
//! | [`plurality`] | the exact probability that a move wins the plurality of independent voters |
//! | [`sato`] | the bounds that Sato (2013) gives for it, as printed and mended |
//! | [`sato_map`] | where the printed ones hold |
//! | [`improvement`] | what a council gains over the engine that its voters were made from |
//! | [`simulate`] | councils drawn at random: engines that see with noise, think alike, and score on scales of their own |
//! | [`playout`] | win rates of moves by play-outs, as a player of their own |
//! | [`estimate`] | noise, gap and synchronisation from a council's votes, and what each rule would gain |

pub mod estimate;
pub mod improvement;
pub mod playout;
pub mod plurality;
mod quadrature;
pub mod sato;
pub mod sato_map;
pub mod simulate;
mod ziggurat;
