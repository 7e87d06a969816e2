//! Lays results out: tables for people, JSON for machines, figures as files.

pub mod estimate;
pub mod figures;
pub mod json;
pub mod matches;
pub mod playouts;
pub mod plurality;
pub mod simulation;
pub mod text;
pub mod votes;
