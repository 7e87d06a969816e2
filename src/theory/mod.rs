//! Why and when councils work: before four machines are bought.
//!
//! | module | what it gives |
//! |---|---|
//! | [`plurality`] | the exact probability that a move wins the plurality of independent voters |

pub mod plurality;
mod quadrature;
