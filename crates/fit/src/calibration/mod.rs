//! The calibration file of `evalcurve-calibration`, the pawn values of engines, and the names of its files.
//!
//! [`Normalization`] takes back what an engine did to its
//! scores, and [`file_stems`] names the files of several engines.

mod name;
mod normalization;

pub use evalcurve_calibration::file::*;
pub use evalcurve_calibration::model::{Method, Model, ModelKind};
pub use evalcurve_calibration::write::nine_digits;
pub use evalcurve_calibration::{
    CalibrationError, Estimate, PawnValue, Reading, Score, Situation, WdlEstimate, control_seconds, permille,
};
pub use name::{file_stem, file_stems};
pub use normalization::{Normalization, NormalizationError};

use std::path::Path;

/// Writes a calibration file, whole or not at all: into a new file in the same directory, flushed to the disk, then
/// renamed over the old one. The directory must exist.
///
/// # Errors
/// As [`Calibration::to_json`], and [`CalibrationError::Io`]; the old file is then unchanged.
pub fn write(calibration: &Calibration, path: impl AsRef<Path>) -> Result<(), CalibrationError> {
    let path = path.as_ref();
    evalcurve_words::whole_file::write(path, calibration.to_json()?.as_bytes()).map_err(|e| CalibrationError::Io {
        action: e.action,
        path: path.to_owned(),
        source: e.source,
        remedy: e.remedy,
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::*;

    fn calibration(name: &str, w1: f64) -> Calibration {
        Calibration::from_model(name, Method::LeastSquares, FittedModel::sigmoid(w1, 0.0))
    }

    /// A temporary directory, removed at the end.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("evalcurve-{name}-{}", std::process::id()));
            fs::create_dir_all(&path).unwrap();
            Self(path)
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn files_are_written_whole_or_not_at_all() {
        let scratch = Scratch::new("whole");
        let path = scratch.0.join("技巧.json");
        write(&calibration("技巧", 0.002), &path).unwrap();
        assert_eq!(Calibration::read(&path).unwrap(), calibration("技巧", 0.002));
        write(&calibration("技巧", 0.001), &path).unwrap();
        let before = fs::read(&path).unwrap();
        assert!(write(&calibration("技巧", -0.001), &path).is_err());
        assert_eq!(fs::read(&path).unwrap(), before);
        // a directory of the same name: the rename fails and leaves no file
        fs::create_dir(scratch.0.join("taken")).unwrap();
        let message = write(&calibration("技巧", 0.002), scratch.0.join("taken")).unwrap_err().to_string();
        assert!(message.starts_with("cannot replace "), "{message}");
        let names: Vec<_> = fs::read_dir(&scratch.0).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(names.len(), 2, "{names:?}");
        assert!(
            write(&calibration("技巧", 0.002), scratch.0.join("none").join("x.json"))
                .unwrap_err()
                .to_string()
                .contains("create the dir")
        );
        assert!(write(&calibration("技巧", 0.002), "..").is_err());
        assert!(Calibration::read(scratch.0.join("absent.json")).unwrap_err().to_string().starts_with("cannot read "));
    }
}
