//! What a build without polars says about Parquet and CSV files.

use std::path::Path;

use super::{TableError, TableOptions, TableReader, Values};
use crate::calibrate::EngineForecasts;
use crate::sample::{Rows, SampleTable};

/// No file is a table that this build reads.
pub fn looks_like(_: &[u8], _: &TableOptions) -> bool {
    false
}

/// Refuses the file.
///
/// # Errors
/// Always [`TableError::NoFiles`].
pub fn read_games(path: &Path, _: &TableOptions) -> Result<Option<Rows>, TableError> {
    refused(path)
}

fn refused<T>(path: &Path) -> Result<T, TableError> {
    Err(TableError::NoFiles(path.to_string_lossy().into_owned()))
}

impl TableReader<'_> {
    /// Refuses the file.
    ///
    /// # Errors
    /// Always [`TableError::NoFiles`].
    pub fn read(&mut self, path: &Path) -> Result<(), TableError> {
        refused(path)
    }
}

/// Refuses to write.
///
/// # Errors
/// Always [`TableError::NoFiles`].
pub fn write(_: &SampleTable, path: &Path, _: usize) -> Result<(), TableError> {
    refused(path)
}

/// Refuses to write.
///
/// # Errors
/// Always [`TableError::NoFiles`].
pub fn write_with(_: &SampleTable, _: Vec<(&str, Values<'_>)>, path: &Path, _: usize) -> Result<(), TableError> {
    refused(path)
}

/// Refuses to write.
///
/// # Errors
/// Always [`TableError::NoFiles`].
pub fn write_forecasts(_: &SampleTable, _: &[EngineForecasts], path: &Path, _: usize) -> Result<(), TableError> {
    refused(path)
}
