//! Calibration files as input.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use evalcurve_fit::calibration::{Calibration, CalibrationError};
use evalcurve_records::record::find::expand_globs;
use evalcurve_words::text;

use crate::{Error, Input, InputSource, known};

/// Whether a path is a calibration file by its name, or a known engine.
pub fn is_calibration(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("json")) || known::is_name(path)
}

/// The files that paths and globs name; of a folder that holds calibration files and nothing but outputs beside them,
/// the calibration files.
pub fn with_calibrations_of_folders(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
    let of_path = |path: PathBuf| match calibrations_in(&path) {
        files if files.is_empty() => vec![path],
        files => files,
    };
    Ok(expand_globs(paths)?.into_iter().flat_map(of_path).collect())
}

/// The calibration files directly in a folder, by name; none if it holds other files that may be records.
pub fn calibrations_in(folder: &Path) -> Vec<PathBuf> {
    // a journal is what a run leaves that did not end
    const OUTPUTS: [&str; 7] = ["csv", "html", "journal", "json", "parquet", "png", "svg"];
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
pub fn one_file(path: &Path) -> Result<PathBuf, Error> {
    match expand_globs(&[path.to_owned()])?.as_slice() {
        [one] => Ok(one.clone()),
        all => Err(text!("{}: {} files match; give one", path.display(), all.len()).into()),
    }
}

/// Reads the calibration file that a path or a glob names, or takes that of a known engine; the error says so if the
/// file is of another kind.
pub fn calibration(path: &Path) -> Result<Calibration, Error> {
    if known::is_name(path) {
        let name = path.to_string_lossy();
        return known::find(&name).and_then(|known| known.calibration()).ok_or_else(|| known::not_known(&name).into());
    }
    let path = one_file(path)?;
    Calibration::read(&path).map_err(|error| match head(&path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound && could_be_name(&path) => {
            let known = known::not_known(&path.to_string_lossy());
            text!("{}: no such file, and {known}", path.display()).into()
        }
        Ok(bytes) if !is_too_large(&error) && !names_the_format(&bytes) => {
            text!("{}: not a calibration file; `calibrate` writes calibration files", path.display()).into()
        }
        _ => error.into(),
    })
}

/// Whether a path that is not there looks like a name: it has no folder and no extension of letters.
fn could_be_name(path: &Path) -> bool {
    let letters = |e: &std::ffi::OsStr| e.to_string_lossy().chars().all(char::is_alphabetic);
    path.components().count() == 1 && !path.extension().is_some_and(letters)
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
                        all.push((evalcurve_words::text::shown_path(&path), calibration(&path)?));
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

    /// As many calibrations as an array has places.
    pub fn exactly<const N: usize>(&self) -> Result<[Calibration; N], Error> {
        let all: Vec<Calibration> = self.calibrations()?.into_iter().map(|(_, calibration)| calibration).collect();
        let found = all.len();
        all.try_into().map_err(|_| text!("{found} calibration files, {N} expected").into())
    }
}
