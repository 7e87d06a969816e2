//! Parquet in a build without polars: it is refused.

use std::path::Path;

use super::source::{Source, Values};
use super::{TableError, no_parquet};

fn refused<T>(file: &str) -> Result<T, TableError> {
    Err(TableError::new(file, no_parquet()))
}

pub(super) fn open(_: Vec<u8>, file: &str) -> Result<Box<dyn Source>, TableError> {
    refused(file)
}

pub(super) fn write(_: Vec<(&str, Values<'_>)>, _: usize) -> Result<Vec<u8>, String> {
    Err(no_parquet().to_string())
}

/// Refuses: this build reads no Parquet.
///
/// # Errors
/// [`TableError`], always.
pub fn edit_parquet(
    path: &Path,
    _: usize,
    _: impl FnOnce(&dyn Source) -> Result<Vec<(String, Vec<Option<f64>>)>, TableError>,
) -> Result<Vec<u8>, TableError> {
    refused(&path.to_string_lossy())
}
