//! The constants of engines.

use evalcurve_app::calibrate::{EngineResult, refusal};
use evalcurve_app::{Calibrate, Calibrated, Error, Fitting, Input, Outcome, Progress, Reading, known};
use evalcurve_fit::calibration::Calibration;
use evalcurve_fit::validate::Estimate;
use evalcurve_words::text;

/// The constants of engines: those in calibration files, or those of records.
#[derive(Debug, Clone, Default)]
pub struct Constant {
    /// What is read. Of calibration files, only a choice of engines applies.
    pub reading: Reading,
    /// How engines are fitted.
    pub fitting: Fitting,
}

/// One engine with its calibration.
#[derive(Debug, Clone)]
pub struct EngineConstant {
    /// The calibration; `None` where it cannot be calibrated.
    pub calibration: Option<Calibration>,
    /// Games that it is from.
    pub games: Option<u64>,
    /// What led to it, if it is not from a file.
    pub result: Option<EngineResult>,
    /// Whether it plays chess, as far as the games or the model tell.
    pub plays_chess: bool,
}

impl EngineConstant {
    /// The constant, unless it must not be used.
    pub fn usable(&self) -> Option<Estimate> {
        let calibration = self.calibration.as_ref().filter(|calibration| refusal(calibration).is_none())?;
        calibration.constant()
    }
}

impl Constant {
    /// Reads, and calibrates what is not a calibration file.
    ///
    /// # Errors
    /// [`Error`] if the input cannot be read, or no engine has the chosen name.
    pub fn run(&self, input: &Input, progress: &Progress) -> Result<Outcome<Vec<EngineConstant>>, Error> {
        if input.sources.is_empty() {
            return Err(text!("give a calibration file or records").into());
        }
        if input.are_calibrations()? {
            let (all, notes) = input.chosen_calibrations(&self.reading)?;
            let of_file = |calibration: Calibration| EngineConstant {
                games: calibration.provenance.as_ref().and_then(|p| p.games),
                plays_chess: calibration.wdl_model().is_some()
                    || known::row(&calibration).is_some_and(|known| known.is_chess()),
                calibration: Some(calibration),
                result: None,
            };
            let all: Vec<EngineConstant> = all.into_iter().map(of_file).collect();
            return Ok(Outcome::noted(all, notes));
        }
        let fitting = Fitting { bands: 0, ..self.fitting.clone() };
        let found = Calibrate { reading: self.reading.clone(), fitting }.run(input, progress)?;
        let of_result = |plays_chess| {
            move |result: EngineResult| EngineConstant {
                calibration: result.calibration.clone(),
                games: Some(result.games),
                result: Some(result),
                plays_chess,
            }
        };
        Ok(found.map(|Calibrated { results, table, .. }| results.into_iter().map(of_result(table.chess)).collect()))
    }
}
