//! Reads game records with engine scores and draws samples from them.

pub mod csv_text;
pub mod match_stats;
mod parallel;
pub mod record;
pub mod sample;
