//! The fit of the model of wins, draws and losses.

mod fit;
#[cfg(test)]
mod tests;

use evalcurve_calibration::StageUnit;

use super::fitter::Fitter;
pub use fit::{WdlCount, fit_wdl_counts};

pub(super) const BY_PLY: Fitter = Fitter::Each(|kind, cases, options| fit::fit(StageUnit::Ply, kind, cases, options));

pub(super) const BY_MATERIAL: Fitter =
    Fitter::Each(|kind, cases, options| fit::fit(StageUnit::Material, kind, cases, options));

/// Centipawns in the unit of the search, so that a and b are of the order of one.
const UNIT: f64 = 100.0;
