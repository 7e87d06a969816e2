//! The fit of the joint model: the slopes of all engines with the strengths of their players.

mod covariance;
mod field;
mod fit;
mod objective;
#[cfg(test)]
mod tests;

use super::fitter::Fitter;
pub(super) use field::one_curve;

pub(super) const FIT: Fitter = Fitter::Near(fit::fit);
