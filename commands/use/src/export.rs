//! Constants for another program, or as source code.

use evalcurve_app::{Error, Input, Outcome, Progress, known};
use evalcurve_fit::calibration::{Calibration, Normalization};
use evalcurve_words::text;

use crate::targets::{Target, export};

/// Writes the constants of one calibration file for another program.
#[derive(Debug, Clone)]
pub struct Export {
    /// The program or language.
    pub target: Target,
    /// The pawn value by which the engine normalised its scores.
    pub undo_normalization: Option<Normalization>,
}

impl Export {
    /// Reads and writes. The value is the calibration and the text; the notes say what the target cannot hold.
    ///
    /// # Errors
    /// [`Error`] if the input is not one calibration file, or the target cannot hold it.
    pub fn run(&self, input: &Input, _: &Progress) -> Result<Outcome<(Calibration, String)>, Error> {
        let [calibration] = input.exactly()?;
        let text = export(&calibration, self.target, self.undo_normalization.as_ref()).map_err(Error::said)?;
        let lost = text!("for {}: {}", self.target.as_str(), self.target.lost(&calibration));
        let notes = known::notes([&calibration]).into_iter().chain([lost]).collect();
        Ok(Outcome::noted((calibration, text), notes))
    }
}
