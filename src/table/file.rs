//! Tables as Parquet and CSV files.

use std::path::Path;

use super::csv_table::looks_like_csv;
use super::frame::{self, Frame, is_parquet};
use super::games::{game_columns, games};
use super::read::holds_samples;
use super::{
    Role, TableError, TableOptions, TableReader, Values, check_name, has_ending, with_columns, with_forecasts,
};
use crate::calibrate::EngineForecasts;
use crate::sample::{Rows, SampleTable};

/// Whether a file with this beginning is a table: Parquet by its first bytes, CSV by its header.
pub fn looks_like(head: &[u8], options: &TableOptions) -> bool {
    is_parquet(head) || looks_like_csv(head, options)
}

/// The games of a Parquet or CSV file that holds games instead of samples; `None` for another file.
///
/// # Errors
/// [`TableError`] for a file that cannot be read.
pub fn read_games(path: &Path, options: &TableOptions) -> Result<Option<Rows>, TableError> {
    let file = path.to_string_lossy().into_owned();
    let names = frame::names(path, &file)?;
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    if holds_samples(&names, options) || game_columns(&names).is_none() {
        return Ok(None);
    }
    let select = |names: &[&str]| Ok(game_columns(names).unwrap_or_default().into_iter().map(str::to_owned).collect());
    let frame = Frame::read(path, &file, options.threads.max(1), select)?;
    games(&frame, &file).map_err(|message| TableError::damaged(&file, message))
}

impl TableReader<'_> {
    /// Adds the rows of a Parquet or CSV file, distinguished by content.
    ///
    /// # Errors
    /// [`TableError`] for a file that cannot be read or lacks a column. Single bad rows are reported and skipped.
    pub fn read(&mut self, path: &Path) -> Result<(), TableError> {
        let file = path.to_string_lossy().into_owned();
        let frame = Frame::read(path, &file, self.options.threads.max(1), |names| {
            self.require(&file, names)?;
            let columns = &self.options.columns;
            Ok(Role::ALL.iter().filter_map(|role| columns.find(*role, names)).map(str::to_owned).collect())
        })?;
        self.add(&frame, &file)
    }
}

/// Writes the table completely or not at all. The file name ends in `.parquet` or `.csv`.
///
/// # Errors
/// [`TableError`] for another ending or a file that cannot be written.
pub fn write(table: &SampleTable, path: &Path, threads: usize) -> Result<(), TableError> {
    with_columns(table, false, |columns| write_columns(columns, path, threads))
}

/// Writes the table with further columns, which have a value for each sample.
///
/// # Errors
/// As [`write()`].
pub fn write_with(
    table: &SampleTable,
    further: Vec<(&str, Values<'_>)>,
    path: &Path,
    threads: usize,
) -> Result<(), TableError> {
    with_columns(table, false, |columns| write_columns(columns.into_iter().chain(further).collect(), path, threads))
}

/// Writes forecasts, as [`write()`] does.
///
/// # Errors
/// As [`write()`].
pub fn write_forecasts(
    table: &SampleTable,
    forecasts: &[EngineForecasts],
    path: &Path,
    threads: usize,
) -> Result<(), TableError> {
    with_forecasts(table, forecasts, |columns| write_columns(columns, path, threads))
}

fn write_columns(columns: Vec<(&str, Values<'_>)>, path: &Path, threads: usize) -> Result<(), TableError> {
    let file = path.to_string_lossy().into_owned();
    check_name(path)?;
    let mut bytes = Vec::new();
    frame::write(columns, has_ending(path, "parquet"), threads, &mut bytes)
        .map_err(|message| TableError::File { file, message })?;
    crate::whole_file::write(path, &bytes)?;
    Ok(())
}
