//! Lays results out: tables and pages for people, JSON for machines, figures as files.

pub mod estimate;
pub mod figures;
pub mod html;
pub mod json;
pub mod json_diagnosis;
pub mod matches;
pub mod playouts;
pub mod plurality;
pub mod simulation;
pub mod text;
pub mod verdict;
pub mod votes;
