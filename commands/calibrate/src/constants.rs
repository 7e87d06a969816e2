//! The constants of engines.

use std::path::Path;

use evalcurve_app::calibrate::{EngineResult, refusal};
use evalcurve_app::{
    Calibrate, Calibrated, Error, Fitting, Input, InputSource, Outcome, Progress, Reading, is_calibration,
    keep_engines, known, with_calibrations_of_folders,
};
use evalcurve_fit::calibration::Calibration;
use evalcurve_fit::validate::Estimate;
use evalcurve_words::language::Text;
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
    /// What led to it, if it is not from a file.
    pub result: Option<EngineResult>,
    /// Whether it plays chess, as far as the games or the model tell.
    pub plays_chess: bool,
}

impl EngineConstant {
    /// Games whose samples it is fitted to; `None` if the file does not say.
    pub fn games(&self) -> Option<u64> {
        let calibration = self.calibration.as_ref()?;
        let of_fit = calibration.models.get(&calibration.model.kind).and_then(|fit| fit.games);
        of_fit.or(calibration.provenance.as_ref()?.games)
    }

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
        if are_calibrations(input)? {
            let (all, notes) = chosen_calibrations(input, &self.reading)?;
            let of_file = |calibration: Calibration| EngineConstant {
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
                result: Some(result),
                plays_chess,
            }
        };
        Ok(found.map(|Calibrated { results, table, .. }| results.into_iter().map(of_result(table.chess)).collect()))
    }
}

/// Whether all sources are calibration files by their names.
fn are_calibrations(input: &Input) -> Result<bool, Error> {
    let in_memory = |source: &InputSource| match source {
        InputSource::Path(_) => true,
        InputSource::Bytes(name, _) => is_calibration(Path::new(name)),
        InputSource::Table(..) => false,
    };
    let files = with_calibrations_of_folders(&input.files())?;
    Ok(files.iter().all(|path| is_calibration(path)) && input.sources.iter().all(in_memory))
}

/// The calibration files of the engines that the filters name, with notes for names that match nothing.
pub(crate) fn chosen_calibrations(input: &Input, reading: &Reading) -> Result<(Vec<Calibration>, Vec<Text>), Error> {
    if let Some(option) = reading.filters.other_than_engine() {
        return Err(text!(
            "`{option}`: a calibration file has no samples to filter; only `engine` chooses among calibration files"
        )
        .into());
    }
    let mut all: Vec<Calibration> = input.calibrations()?.into_iter().map(|(_, calibration)| calibration).collect();
    let mut notes = keep_engines(&mut all, &reading.filters.engine, |c| &c.engine.name)?;
    notes.extend(known::notes(&all));
    Ok((all, notes))
}
