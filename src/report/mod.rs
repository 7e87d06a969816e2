//! Lays results out: tables and pages for people, JSON for machines, figures as files.

pub mod figures;
pub mod html;
pub mod json;
pub mod json_diagnosis;
pub mod text;
pub mod verdict;
