//! Tables as CSV files, in a build without polars; Parquet is refused.

use std::path::Path;

use super::columns::Columns;
use super::csv_table::{CsvTable, looks_like_csv, write_csv};
use super::games::games;
use super::rescore::Map;
use super::source::Source;
use super::{
    TableError, TableOptions, TableReader, Values, check_name, has_ending, holds_samples, with_columns, with_forecasts,
};
use crate::calibrate::EngineForecasts;
use crate::csv_text::MOST_BYTES;
use crate::record::packed::Rescored;
use crate::sample::{Rows, SampleTable};
use crate::whole_file::read_bounded;

/// Whether a file with this beginning is a CSV table by its header.
pub fn looks_like(head: &[u8], options: &TableOptions) -> bool {
    looks_like_csv(head, options)
}

/// The rows of a file, and its name in messages.
fn rows(path: &Path) -> Result<(CsvTable, String), TableError> {
    let file = path.to_string_lossy().into_owned();
    if has_ending(path, "parquet") {
        return Err(TableError::NoParquet(file));
    }
    let bytes = read_bounded(path, MOST_BYTES).map_err(|error| TableError::damaged(&file, error))?;
    let table = CsvTable::parse(&bytes).map_err(|message| TableError::damaged(&file, message))?;
    Ok((table, file))
}

/// The games of a CSV file that holds games instead of samples; `None` for another file.
///
/// # Errors
/// [`TableError`] for a file that cannot be read.
pub fn read_games(path: &Path, options: &TableOptions) -> Result<Option<Rows>, TableError> {
    let (table, file) = rows(path)?;
    if holds_samples(&table.names(), options) {
        return Ok(None);
    }
    games(&table, &file).map_err(|message| TableError::damaged(&file, message))
}

impl TableReader<'_> {
    /// Adds the rows of a CSV file.
    ///
    /// # Errors
    /// [`TableError`] for a file that cannot be read or lacks a column. Single bad rows are reported and skipped.
    pub fn read(&mut self, path: &Path) -> Result<(), TableError> {
        let (table, file) = rows(path)?;
        self.require(&file, &table.names())?;
        self.add(&table, &file)
    }
}

/// Writes the table completely or not at all. The file name ends in `.csv`.
///
/// # Errors
/// [`TableError`] for another ending or a file that cannot be written.
pub fn write(table: &SampleTable, path: &Path, _: usize) -> Result<(), TableError> {
    with_columns(table, false, |columns| write_columns(columns, path))
}

/// Writes the table with further columns, which have a value for each sample.
///
/// # Errors
/// As [`write()`].
pub fn write_with(table: &SampleTable, more: Vec<(&str, Values<'_>)>, path: &Path, _: usize) -> Result<(), TableError> {
    with_columns(table, false, |columns| write_columns(columns.into_iter().chain(more).collect(), path))
}

/// Writes forecasts, as [`write()`] does.
///
/// # Errors
/// As [`write()`].
pub fn write_forecasts(
    table: &SampleTable,
    forecasts: &[EngineForecasts],
    path: &Path,
    _: usize,
) -> Result<(), TableError> {
    with_forecasts(table, forecasts, |columns| write_columns(columns, path))
}

fn write_columns(columns: Vec<(&str, Values<'_>)>, path: &Path) -> Result<(), TableError> {
    check_name(path)?;
    Ok(crate::whole_file::write(path, write_csv(columns).as_bytes())?)
}

/// Refuses: this build reads no Parquet.
///
/// # Errors
/// [`TableError::NoParquet`].
pub fn rescore_parquet(path: &Path, _: &Columns, _: &Map<'_>, _: usize) -> Result<(Vec<u8>, Rescored), TableError> {
    Err(TableError::NoParquet(path.to_string_lossy().into_owned()))
}
