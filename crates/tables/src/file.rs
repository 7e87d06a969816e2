//! Tables as Parquet and CSV files.

use std::fs::{self, File};
use std::io::{BufReader, Read};
use std::path::Path;

use evalcurve_records::csv_text::{MOST_BYTES, first_line};
use evalcurve_records::record::encoding::whole_text;
use evalcurve_records::sample::{Rows, SampleTable};
use evalcurve_words::whole_file;

use super::csv_table::{CsvTable, header_cells, looks_like_csv, write_csv};
use super::games::{game_columns, games};
use super::read::holds_samples;
use super::source::Source;
use super::{
    MOST_HEADER, TableError, TableOptions, TableReader, Values, at_most, check_name, frame, has_ending, with_columns,
};

/// Whether a file with this beginning is Parquet.
pub fn is_parquet(head: &[u8]) -> bool {
    head.starts_with(b"PAR1")
}

/// Whether a file with this beginning is a table: Parquet by its first bytes, CSV by its header.
pub fn looks_like(head: &[u8], options: &TableOptions) -> bool {
    is_parquet(head) || looks_like_csv(head, options)
}

/// Opens a file that is not too large. A device has no size, so that no limit could be checked before it is read.
pub(super) fn open(path: &Path, file: &str) -> Result<File, TableError> {
    let found = fs::metadata(path).map_err(|error| TableError::damaged(file, error))?;
    if !found.is_file() {
        return Err(TableError::damaged(file, "it is no file; write the table into one"));
    }
    at_most(file, "bytes", found.len() as usize, MOST_BYTES as usize)?;
    File::open(path).map_err(|error| TableError::damaged(file, error))
}

/// The content of a file, or so many bytes of it. One that shrinks while it is mapped into memory would kill the
/// process, and one that grows is cut off.
pub(super) fn bytes_of(path: &Path, file: &str, most: u64) -> Result<Vec<u8>, TableError> {
    let mut bytes = Vec::new();
    let read = open(path, file)?.take(most).read_to_end(&mut bytes);
    read.map(|_| bytes).map_err(|error| TableError::damaged(file, error))
}

/// Reads any table, Parquet or CSV. The columns of Parquet are read when they are asked for. Of CSV the cells are kept,
/// each text once, and not the text of the file.
///
/// # Errors
/// [`TableError`] for a file that cannot be read.
pub fn read(path: &Path) -> Result<Box<dyn Source>, TableError> {
    let file = path.to_string_lossy();
    match is_parquet(&bytes_of(path, &file, MOST_HEADER)?) {
        true => frame::open(bytes_of(path, &file, MOST_BYTES)?, &file),
        false => Ok(Box::new(CsvTable::read(BufReader::new(open(path, &file)?), &file)?)),
    }
}

/// The games of a Parquet or CSV file that holds games instead of samples; `None` for another file.
///
/// # Errors
/// [`TableError`] for a file that cannot be read.
pub fn read_games(path: &Path, options: &TableOptions) -> Result<Option<Rows>, TableError> {
    let file = path.to_string_lossy();
    let holds = |names: &[&str]| !holds_samples(names, options) && game_columns(names).is_some();
    let head = bytes_of(path, &file, MOST_HEADER)?;
    // the header of CSV is enough to see that there are none
    if !is_parquet(&head) && !holds(&header_cells(first_line(&whole_text(head)))) {
        return Ok(None);
    }
    let table = read(path)?;
    if !holds(&table.names()) {
        return Ok(None);
    }
    games(table.as_ref(), &file).map_err(|problem| TableError::new(&file, problem))
}

impl TableReader<'_> {
    /// Adds the rows of a Parquet or CSV file, distinguished by content.
    ///
    /// # Errors
    /// [`TableError`] for a file that cannot be read or lacks a column. Single bad rows are reported and skipped.
    pub fn read(&mut self, path: &Path) -> Result<(), TableError> {
        self.add(read(path)?.as_ref(), &path.to_string_lossy())
    }
}

/// Writes the table completely or not at all, with further columns, which have a value for each sample. The file name
/// ends in `.parquet` or `.csv`.
///
/// # Errors
/// [`TableError`] for another ending or a file that cannot be written.
pub fn write(
    table: &SampleTable,
    further: Vec<(&str, Values<'_>)>,
    path: &Path,
    threads: usize,
) -> Result<(), TableError> {
    with_columns(table, false, |columns| write_columns(columns.into_iter().chain(further).collect(), path, threads))
}

/// Writes columns of equal length with their names.
///
/// # Errors
/// As [`write()`].
pub fn write_columns(columns: Vec<(&str, Values<'_>)>, path: &Path, threads: usize) -> Result<(), TableError> {
    check_name(path)?;
    let bytes = match has_ending(path, "parquet") {
        true => frame::write(columns, threads).map_err(|m| TableError::damaged(&path.to_string_lossy(), m))?,
        false => write_csv(columns).into_bytes(),
    };
    Ok(whole_file::write(path, &bytes)?)
}
