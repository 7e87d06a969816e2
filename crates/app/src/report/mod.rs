//! What every command shows with: tables and blocks for people, JSON for machines, figures as files.
//!
//! Text and JSON need no feature; pages and figures need `plot`.

pub mod columns;
#[cfg(feature = "plot")]
pub mod figures;
#[cfg(feature = "plot")]
pub mod html;
pub mod json;
#[cfg(feature = "plot")]
pub mod model;
mod reading;
pub mod text;
pub mod verdict;
