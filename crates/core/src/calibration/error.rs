//! What can be wrong with a calibration file, always with the place and the remedy.

use std::io;
use std::path::PathBuf;

/// Why a calibration could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CalibrationError {
    /// The file system refused.
    #[error("cannot {action} {path}: {source}; {remedy}", path = path.display())]
    Io {
        /// What was tried: `read`, `create`, `write` …
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
        /// What to do about it.
        remedy: &'static str,
    },
    /// The text is not JSON, names a field twice, or holds a number beyond the range of a 64-bit float.
    #[error(
        "{source_name}: {json_path}: {problem} (line {line}, column {column}); correct or recreate the file with `evalcurve calibrate`"
    )]
    Syntax {
        /// The file or whatever else the text came from.
        source_name: String,
        /// Where in the document, as `$.models.least_squares.w1`.
        json_path: String,
        /// What is wrong.
        problem: String,
        /// Line, from 1.
        line: usize,
        /// Column in bytes, from 1.
        column: usize,
    },
    /// The text is JSON, but a value is not what version 1 of the format allows there.
    #[error("{source_name}: {json_path}: {problem}; {remedy}")]
    Field {
        /// The file or whatever else the text came from.
        source_name: String,
        /// Where in the document, as `$.models.least_squares.w1`.
        json_path: String,
        /// What is wrong, with the value found.
        problem: String,
        /// What to do about it.
        remedy: String,
    },
    /// The calibration in memory could not be turned into JSON.
    #[error("the calibration of {engine} cannot be written as JSON: {problem}")]
    Serialise {
        /// The engine's name.
        engine: String,
        /// What the serialiser said.
        problem: String,
    },
}

impl CalibrationError {
    /// The place in the document, as `$.models.least_squares.w1`; `None` for errors that have no such place.
    pub fn json_path(&self) -> Option<&str> {
        match self {
            Self::Syntax { json_path, .. } | Self::Field { json_path, .. } => Some(json_path),
            Self::Io { .. } | Self::Serialise { .. } => None,
        }
    }
}
