//! Presents results: tables and pages for people, JSON for machines, figures as files.
//!
//! Text and JSON need the feature `records` alone; pages and figures need `plot`.

pub(crate) mod columns;
#[cfg(all(feature = "plot", feature = "theory"))]
pub mod estimate;
#[cfg(feature = "plot")]
pub mod figures;
#[cfg(feature = "plot")]
pub mod html;
pub mod json;
pub mod json_diagnosis;
pub mod matches;
#[cfg(all(feature = "plot", feature = "theory"))]
pub mod playouts;
#[cfg(all(feature = "plot", feature = "theory"))]
pub mod plurality;
#[cfg(all(feature = "plot", feature = "theory"))]
pub mod simulation;
pub mod text;
pub mod verdict;
pub mod votes;
