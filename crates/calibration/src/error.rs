//! Errors of calibration files, with place and remedy.

use std::io;
use std::path::PathBuf;

/// Why a calibration could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum CalibrationError {
    /// A file system error.
    #[error("cannot {action} {path}: {source}; {remedy}", path = path.display())]
    Io {
        /// The failed action: `read`, `create`, `write` …
        action: &'static str,
        path: PathBuf,
        source: io::Error,
        remedy: &'static str,
    },
    /// The text is not JSON, repeats a field, or holds a number beyond the range of a 64-bit float.
    #[error(
        "{source_name}: {json_path}: {problem} (line {line}, column {column}); correct the file or calibrate again"
    )]
    Syntax {
        /// The file or other source of the text.
        source_name: String,
        /// Path of the value, such as `$.models.least_squares.w1`.
        json_path: String,
        problem: String,
        /// Line, from 1.
        line: usize,
        /// Column in bytes, from 1.
        column: usize,
    },
    /// The text is JSON, but version 1 of the format does not allow a value.
    #[error("{source_name}: {json_path}: {problem}; {remedy}")]
    Field {
        /// The file or other source of the text.
        source_name: String,
        /// Path of the value, such as `$.models.least_squares.w1`.
        json_path: String,
        /// The problem, with the value found.
        problem: String,
        remedy: String,
    },
    /// The calibration cannot be written as JSON.
    #[error("the calibration of {engine} cannot be written as JSON: {problem}")]
    Serialise { engine: String, problem: String },
}

impl CalibrationError {
    /// Path of the value, such as `$.models.least_squares.w1`; `None` for errors without a path.
    #[cfg(test)]
    pub(crate) fn json_path(&self) -> Option<&str> {
        match self {
            Self::Syntax { json_path, .. } | Self::Field { json_path, .. } => Some(json_path),
            Self::Io { .. } | Self::Serialise { .. } => None,
        }
    }
}
