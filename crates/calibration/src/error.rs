//! Errors of calibration files, with place and remedy.

use std::io;
use std::path::PathBuf;

/// The remedy of what only another version can read.
pub(crate) const OF_ANOTHER_VERSION: &str = "use the program that wrote the file";

/// What a program can do about a [`CalibrationError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// There is no such file.
    NotFound,
    /// There is one, but it cannot be read or written: a folder, no permission, a full disk.
    Io,
    /// The file is no calibration file.
    OtherFormat,
    /// A later version wrote the file, with a model or a format that this one does not know: update the program. Or
    /// another program did, with a model of its own.
    NewerVersion,
    /// The file is damaged, or was changed by hand: calibrate again.
    Damaged,
}

/// Why a calibration could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
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
    /// What a program can do about it.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Io { source, .. } => match source.kind() {
                io::ErrorKind::NotFound => ErrorKind::NotFound,
                // not UTF-8, or too large
                io::ErrorKind::InvalidData | io::ErrorKind::FileTooLarge => ErrorKind::OtherFormat,
                _ => ErrorKind::Io,
            },
            // an object is damaged, other text is something else
            Self::Syntax { json_path, line, column, .. }
                if json_path.starts_with("$[") || (*line, *column) == (1, 1) =>
            {
                ErrorKind::OtherFormat
            }
            Self::Field { json_path, .. } if matches!(json_path.as_str(), "$" | "$.format") => ErrorKind::OtherFormat,
            Self::Field { problem, remedy, .. }
                if remedy.contains(OF_ANOTHER_VERSION) || problem.contains(OF_ANOTHER_VERSION) =>
            {
                ErrorKind::NewerVersion
            }
            Self::Syntax { .. } | Self::Field { .. } | Self::Serialise { .. } => ErrorKind::Damaged,
        }
    }

    /// Path of the value, such as `$.models.least_squares.w1`; `None` for errors without a path.
    #[cfg(test)]
    pub(crate) fn json_path(&self) -> Option<&str> {
        match self {
            Self::Syntax { json_path, .. } | Self::Field { json_path, .. } => Some(json_path),
            Self::Io { .. } | Self::Serialise { .. } => None,
        }
    }
}
