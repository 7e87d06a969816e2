//! Whether the scale of an engine moved.

use evalcurve_app::{Error, Input, Outcome, Progress};
use evalcurve_fit::calibration::{Calibration, Normalization};
use evalcurve_words::text;

use crate::drift::{Drift, DriftOptions, drift};

/// Tests whether the scale of an engine's scores moved between two calibration files, the old and the new one.
#[derive(Debug, Clone, Default)]
pub struct Compare {
    /// What is compared, and what is tolerated.
    pub options: DriftOptions,
    /// The pawn values by which the engine normalised its scores: one for both files, or one for each.
    pub undo_normalization: Vec<Normalization>,
}

impl Compare {
    /// Reads and compares.
    ///
    /// # Errors
    /// [`Error`] if the input is not two calibration files, or they cannot be compared.
    pub fn run(&self, input: &Input, _: &Progress) -> Result<Outcome<Drift>, Error> {
        let [old, new] = input.exactly()?;
        let undone = match self.undo_normalization.as_slice() {
            [] => [old, new],
            [both] => [internal(&old, both)?, internal(&new, both)?],
            [of_old, of_new] => [internal(&old, of_old)?, internal(&new, of_new)?],
            more => {
                return Err(
                    text!("`undo-normalization` is given {} times; OLD and NEW have one each", more.len()).into()
                );
            }
        };
        let [old, new] = &undone;
        Ok(Outcome::from(drift(old, new, &self.options).map_err(Error::said)?))
    }
}

/// The calibration in the engine's internal units.
fn internal(calibration: &Calibration, normalization: &Normalization) -> Result<Calibration, Error> {
    let undone = normalization.undo(calibration);
    let undone = undone.map_err(|error| Error::said(format!("{}: {error}", calibration.engine.name)))?;
    Ok(undone.0)
}
