//! Why and when councils work.

pub mod playout;
