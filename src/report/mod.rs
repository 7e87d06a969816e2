//! Presents results: tables and pages for people, JSON for machines, figures as files.
//!
//! Text and JSON need the feature `records` alone; pages and figures need `plot`.

pub(crate) mod columns;
#[cfg(feature = "plot")]
pub mod diagnosis;
#[cfg(all(feature = "plot", feature = "theory"))]
pub mod estimate;
#[cfg(feature = "plot")]
pub mod figures;
pub mod headline;
#[cfg(feature = "plot")]
pub mod html;
pub mod json;
#[cfg(feature = "plot")]
pub mod judge_figures;
pub mod matches;
#[cfg(feature = "plot")]
pub(crate) mod model;
#[cfg(feature = "plot")]
mod people_figures;
#[cfg(all(feature = "plot", feature = "theory"))]
pub mod playouts;
#[cfg(all(feature = "plot", feature = "theory"))]
pub mod plurality;
mod reading;
#[cfg(all(feature = "plot", feature = "theory"))]
pub mod simulation;
#[cfg(feature = "plot")]
pub mod small_plot;
pub mod text;
#[cfg(feature = "play")]
pub mod tournament;
pub mod votes;
#[cfg(feature = "plot")]
pub mod wdl_figures;
pub mod weights;
