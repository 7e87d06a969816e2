//! Parquet in a build without polars: it is refused.

use std::path::Path;

use evalcurve_records::record::packed::Rescored;

use super::columns::Columns;
use super::file::Select;
use super::rescore::Map;
use super::source::{Source, Values};
use super::{TableError, no_parquet};

fn refused<T>(file: &str) -> Result<T, TableError> {
    Err(TableError::new(file, no_parquet()))
}

pub(super) fn names(_: &Path, file: &str) -> Result<Vec<String>, TableError> {
    refused(file)
}

pub(super) fn read(_: &[u8], file: &str, _: usize, _: &Select<'_>) -> Result<Box<dyn Source>, TableError> {
    refused(file)
}

pub(super) fn write(_: Vec<(&str, Values<'_>)>, _: usize) -> Result<Vec<u8>, String> {
    Err(no_parquet().to_string())
}

/// Refuses: this build reads no Parquet.
///
/// # Errors
/// [`TableError`], always.
pub fn rescore_parquet(path: &Path, _: &Columns, _: &Map<'_>, _: usize) -> Result<(Vec<u8>, Rescored), TableError> {
    refused(&path.to_string_lossy())
}
