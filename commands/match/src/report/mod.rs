//! Tables of matches and tournaments.

pub mod matches;
pub mod tournament;
