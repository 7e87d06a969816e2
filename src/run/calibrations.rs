//! What calibration files say: constants, whether a scale moved, and code for another program.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::calibrate::{Calibrate, Calibrated};
use super::load::keep_engines;
use super::options::{Fitting, Reading};
use super::{Error, Input, InputSource, Outcome, Progress};
use crate::calibrate::{EngineResult, refusal};
use crate::calibration::{Calibration, CalibrationError, Normalization, Target, export};
use crate::diagnose::drift::{Drift, DriftOptions, drift};
use crate::language::Text;
use crate::record::find::expand_globs;
use crate::text;
use crate::validate::Estimate;

/// Whether a file is a calibration file by its name.
pub(crate) fn is_calibration(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("json"))
}

/// The files that paths and globs name; of a folder that holds calibration files and nothing but outputs beside them,
/// the calibration files.
pub(crate) fn with_calibrations_of_folders(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
    let of_path = |path: PathBuf| match calibrations_in(&path) {
        files if files.is_empty() => vec![path],
        files => files,
    };
    Ok(expand_globs(paths)?.into_iter().flat_map(of_path).collect())
}

/// The calibration files directly in a folder, by name; none if it holds other files that may be records.
pub(crate) fn calibrations_in(folder: &Path) -> Vec<PathBuf> {
    const OUTPUTS: [&str; 6] = ["csv", "html", "json", "parquet", "png", "svg"];
    let entries = folder.read_dir().into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    let extension = |path: &PathBuf| path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
    if !files.iter().all(|path| extension(path).is_some_and(|e| OUTPUTS.contains(&&*e))) {
        return Vec::new();
    }
    files.retain(|path| is_calibration(path) && head(path).is_ok_and(|bytes| names_the_format(&bytes)));
    files.sort();
    files
}

/// The one file that a path or a glob names.
pub(crate) fn one_file(path: &Path) -> Result<PathBuf, Error> {
    match expand_globs(&[path.to_owned()])?.as_slice() {
        [one] => Ok(one.clone()),
        all => Err(text!("{}: {} files match; give one", path.display(), all.len()).into()),
    }
}

/// Reads the calibration file that a path or a glob names; the error says so if the file is of another kind.
pub(crate) fn calibration(path: &Path) -> Result<Calibration, Error> {
    let path = one_file(path)?;
    Calibration::read(&path).map_err(|error| match head(&path) {
        Ok(bytes) if !is_too_large(&error) && !names_the_format(&bytes) => {
            text!("{}: not a calibration file; `calibrate` writes calibration files", path.display()).into()
        }
        _ => error.into(),
    })
}

fn is_too_large(error: &CalibrationError) -> bool {
    matches!(error, CalibrationError::Io { source, .. } if source.kind() == io::ErrorKind::FileTooLarge)
}

fn names_the_format(head: &[u8]) -> bool {
    let format = b"evalcurve-calibration";
    head.windows(format.len()).any(|bytes| bytes == format)
}

/// The beginning of a file, longer than most calibration files.
fn head(path: &Path) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    File::open(path)?.take(1 << 20).read_to_end(&mut head)?;
    Ok(head)
}

impl Input {
    /// Reads calibration files, each with its name in messages.
    ///
    /// # Errors
    /// [`Error`] for the first that cannot be read.
    pub fn calibrations(&self) -> Result<Vec<(String, Calibration)>, Error> {
        let mut all = Vec::new();
        for source in &self.sources {
            match source {
                InputSource::Path(path) => {
                    for path in with_calibrations_of_folders(std::slice::from_ref(path))? {
                        all.push((crate::text::shown_path(&path), calibration(&path)?));
                    }
                }
                InputSource::Bytes(name, bytes) => {
                    let text = String::from_utf8_lossy(bytes);
                    all.push((name.clone(), Calibration::from_json(&text, name)?));
                }
                InputSource::Table(name, _) => {
                    return Err(text!("{name}: a table, not a calibration").into());
                }
            }
        }
        Ok(all)
    }

    /// Whether all sources are calibration files by their names.
    fn are_calibrations(&self) -> Result<bool, Error> {
        let in_memory = |source: &InputSource| match source {
            InputSource::Path(_) => true,
            InputSource::Bytes(name, _) => is_calibration(Path::new(name)),
            InputSource::Table(..) => false,
        };
        let files = with_calibrations_of_folders(&self.files())?;
        Ok(files.iter().all(|path| is_calibration(path)) && self.sources.iter().all(in_memory))
    }

    /// As many calibrations as an array has places.
    fn exactly<const N: usize>(&self) -> Result<[Calibration; N], Error> {
        let all: Vec<Calibration> = self.calibrations()?.into_iter().map(|(_, calibration)| calibration).collect();
        let found = all.len();
        all.try_into().map_err(|_| text!("{found} calibration files, {N} expected").into())
    }

    /// The calibration files of the engines that the filters name, with notes for names that match nothing.
    ///
    /// # Errors
    /// [`Error`] if a file cannot be read, or a filter needs samples.
    pub(crate) fn chosen_calibrations(&self, reading: &Reading) -> Result<(Vec<Calibration>, Vec<Text>), Error> {
        if let Some(option) = reading.filters.other_than_engine() {
            return Err(text!(
                "`{option}`: a calibration file has no samples to filter; only `engine` chooses among calibration files"
            )
            .into());
        }
        let mut all: Vec<Calibration> = self.calibrations()?.into_iter().map(|(_, calibration)| calibration).collect();
        let notes = keep_engines(&mut all, &reading.filters.engine, |c| &c.engine.name)?;
        Ok((all, notes))
    }
}

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
                plays_chess: calibration.wdl_model().is_some(),
                calibration: Some(calibration),
                result: None,
            };
            let all: Vec<EngineConstant> = all.into_iter().map(of_file).collect();
            return Ok(Outcome { notes, ..Outcome::from(all) });
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
        Ok(Outcome { notes: vec![lost], ..Outcome::from((calibration, text)) })
    }
}
