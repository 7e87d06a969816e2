//! The published JSON Schema of the calibration file.

/// JSON Schema (draft 2020-12) of the calibration file, version 1.
///
/// It refuses whatever a schema can see. That bins ascend, that the chosen model is one of `models` and that a
/// covariance is symmetric and positive, only [`Calibration::read`](super::Calibration::read) checks.
pub const SCHEMA: &str = include_str!("schema.json");
