//! Table files as plain columns: the only part of the program that uses polars.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::fs;
use std::io::{Cursor, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use polars::prelude::{
    ArrowDataType, Column, CsvParseOptions, CsvReadOptions, DataFrame, DataType, IntoColumn, NamedFrom,
    ParallelStrategy, ParquetCompression, ParquetReader, ParquetWriter, PolarsError, SerReader, Series,
};

use super::csv_table::{header_cells, write_csv};
use super::lines::{csv_rows, stray_quote_message};
use super::source::{CellKind, Cells, Source, Values};
use super::{MOST_HEADER, TableError, pages};
use crate::csv_text::{MOST_BYTES, first_line, separator, unclosed_quote};
use crate::record::encoding::whole_text;
use crate::whole_file::read_bounded;

/// Rows per row group of Parquet. The number is fixed, so that the bytes do not depend on the machine.
const ROW_GROUP: usize = 1 << 17;

/// Largest number of rows of a table file.
const MOST_ROWS: usize = 20_000_000;
/// Largest number of columns of a table file.
const MOST_COLUMNS: usize = 4_096;

/// Calls that are inside polars.
static INSIDE: AtomicUsize = AtomicUsize::new(0);

/// The message for a file at which polars panics.
const DAMAGED: &str = "the file is damaged; write it again";

/// Tells a panic hook of the program that polars is at work: its panics become errors.
#[cfg(feature = "cli")]
pub(crate) fn is_in_polars() -> bool {
    INSIDE.load(Ordering::Relaxed) > 0
}

/// Calls polars, which panics on some damaged files, also in its own threads. Such a panic becomes `None`. The host's
/// panic hook sees it, and can ask `is_in_polars`.
fn guarded<T>(call: impl FnOnce() -> T) -> Option<T> {
    INSIDE.fetch_add(1, Ordering::Relaxed);
    let called = catch_unwind(AssertUnwindSafe(call));
    INSIDE.fetch_sub(1, Ordering::Relaxed);
    called.ok()
}

/// A column to write.
fn column(name: &str, values: Values<'_>) -> Column {
    let name = name.into();
    match values {
        Values::Text(values) => Series::new(name, values),
        Values::Integer(values) => Series::new(name, values),
        Values::Long(values) => Series::new(name, values),
        Values::Float(values) => Series::new(name, values),
        Values::Flag(values) => Series::new(name, values),
    }
    .into_column()
}

/// Writes columns as Parquet (zstd) or CSV.
pub(super) fn write(
    columns: Vec<(&str, Values<'_>)>,
    parquet: bool,
    threads: usize,
    mut out: impl Write,
) -> Result<(), String> {
    if !parquet {
        return out.write_all(write_csv(columns).as_bytes()).map_err(|e| e.to_string());
    }
    let columns: Vec<Column> = columns.into_iter().map(|(name, values)| column(name, values)).collect();
    let rows = columns.first().map_or(0, Column::len);
    let written = DataFrame::new(rows, columns).and_then(|mut frame| write_parquet(&mut frame, threads, &mut out));
    written.map_err(|e| e.to_string())
}

fn write_parquet(frame: &mut DataFrame, threads: usize, out: &mut impl Write) -> Result<(), PolarsError> {
    let writer = ParquetWriter::new(out).with_compression(ParquetCompression::Zstd(None));
    writer.with_row_group_size(Some(ROW_GROUP)).set_parallel(threads > 1).finish(frame).map(|_| ())
}

/// The columns of a file.
#[derive(Debug)]
pub(super) struct Frame {
    frame: DataFrame,
    first_line: u64,
    /// The line of each row of a CSV file, unless each has the next line.
    lines: Option<Vec<u64>>,
}

/// Opens a file. A device has no size, so that no limit could be checked before it is read.
fn open(path: &Path, file: &str) -> Result<fs::File, TableError> {
    match fs::metadata(path) {
        Ok(found) if !found.is_file() => Err(TableError::damaged(file, "it is no file; write the table into one")),
        _ => fs::File::open(path).map_err(|error| TableError::damaged(file, error)),
    }
}

/// The names of the columns of a Parquet or CSV file.
pub(super) fn names(path: &Path, file: &str) -> Result<Vec<String>, TableError> {
    let error = |message: &dyn Display| TableError::damaged(file, message);
    let mut head = Vec::new();
    open(path, file)?.take(MOST_HEADER).read_to_end(&mut head).map_err(|e| error(&e))?;
    if !is_parquet(&head) {
        return Ok(header_cells(first_line(&whole_text(head))).into_iter().map(str::to_owned).collect());
    }
    let read = || {
        let schema = ParquetReader::new(open(path, file)?).schema().map_err(|e| error(&e))?;
        Ok(schema.iter_names().map(|name| name.to_string()).collect())
    };
    guarded(read).unwrap_or_else(|| Err(error(&DAMAGED)))
}

impl Frame {
    /// Columns in one piece: to find a cell, polars walks over all pieces, and a file can have one for each row.
    fn new(mut frame: DataFrame, first_line: u64) -> Self {
        frame.rechunk_mut();
        Self { frame, first_line, lines: None }
    }

    /// Reads a Parquet or CSV file, distinguished by content. `select` checks the names of all columns and returns
    /// those that are needed.
    pub(crate) fn read(
        path: &Path,
        file: &str,
        threads: usize,
        select: impl Fn(&[&str]) -> Result<BTreeSet<String>, TableError>,
    ) -> Result<Self, TableError> {
        let error = |message: &dyn Display| TableError::damaged(file, message);
        let opened = open(path, file)?;
        at_most(file, "bytes", opened.metadata().map_err(|e| error(&e))?.len(), MOST_BYTES)?;
        drop(opened);
        // a file that shrinks while it is mapped into memory would kill the process, and one that grows is cut off
        let bytes = read_bounded(path, MOST_BYTES).map_err(|e| error(&e))?;
        let read = move || match is_parquet(&bytes) {
            true => Self::read_parquet(&bytes, file, threads, select),
            false => Self::read_csv(bytes, file, threads, select),
        };
        guarded(read).unwrap_or_else(|| Err(error(&DAMAGED)))
    }

    fn read_parquet(
        bytes: &[u8],
        file: &str,
        threads: usize,
        select: impl Fn(&[&str]) -> Result<BTreeSet<String>, TableError>,
    ) -> Result<Self, TableError> {
        let error = |message: &dyn Display| TableError::damaged(file, message);
        let strategy = if threads > 1 { ParallelStrategy::Auto } else { ParallelStrategy::None };
        let mut reader = ParquetReader::new(Cursor::new(bytes));
        let rows = reader.num_rows().map_err(|e| error(&e))?;
        at_most(file, "rows", rows as u64, MOST_ROWS as u64)?;
        let schema = reader.schema().map_err(|e| error(&e))?;
        at_most(file, "columns", schema.len() as u64, MOST_COLUMNS as u64)?;
        let names: Vec<&str> = schema.iter_names().map(|name| name.as_str()).collect();
        // polars is built without the types of some other columns, and must not see them
        let needed = select(&names)?;
        for (name, field) in schema.iter().filter(|(name, _)| needed.contains(name.as_str())) {
            if !is_supported(&field.dtype) {
                let kind = format!("{:?}", field.dtype);
                return Err(TableError::Type { file: file.to_owned(), column: name.to_string(), kind });
            }
        }
        let metadata = reader.get_metadata().map_err(|e| error(&e))?;
        if !pages::are_sound(bytes, metadata, |name| needed.contains(name)) {
            return Err(error(&DAMAGED));
        }
        let reader = reader.with_columns(Some(needed.into_iter().collect())).read_parallel(strategy);
        let frame = reader.finish().map_err(|e| error(&e))?;
        if frame.columns().iter().any(|column| column.len() != rows) {
            return Err(error(&DAMAGED));
        }
        Ok(Self::new(frame, 1))
    }

    fn read_csv(
        bytes: Vec<u8>,
        file: &str,
        threads: usize,
        select: impl Fn(&[&str]) -> Result<BTreeSet<String>, TableError>,
    ) -> Result<Self, TableError> {
        let error = |message: &dyn Display| TableError::damaged(file, message);
        let text = whole_text(bytes);
        let header = first_line(&text);
        let names = header_cells(header);
        at_most(file, "columns", names.len() as u64, MOST_COLUMNS as u64)?;
        // the first line is the header
        let lines = memchr::memchr_iter(b'\n', text.as_bytes()).count();
        at_most(file, "rows", lines.saturating_sub(1) as u64, MOST_ROWS as u64)?;
        select(&names)?;
        if let Some(problem) = unclosed_quote(&text) {
            return Err(error(&problem));
        }
        let separator = separator(header);
        let rows = csv_rows(&text, separator).map_err(|e| error(&e))?;
        let parse = CsvParseOptions::default().with_separator(separator).with_truncate_ragged_lines(true);
        let reader = CsvReadOptions::default()
            .with_n_threads(Some(threads))
            .with_infer_schema_length(Some(0))
            .with_parse_options(parse)
            .into_reader_with_file_handle(Cursor::new(rows.text.as_bytes()));
        let stray = || stray_quote_message(&text, separator);
        let frame = reader.finish().map_err(|e| error(&stray().unwrap_or_else(|| e.to_string())))?;
        // none is lost: a quote may join rows
        if rows.lines.as_ref().is_some_and(|lines| lines.len() != frame.height()) {
            return Err(error(&stray().unwrap_or_else(|| DAMAGED.to_owned())));
        }
        Ok(Self { lines: rows.lines, ..Self::new(frame, 2) })
    }

    /// Replaces the numbers of a column, which keeps its type.
    pub(crate) fn replace(&mut self, name: &str, numbers: &[Option<f64>]) -> Result<(), String> {
        let replace = || -> Result<(), PolarsError> {
            let kind = self.frame.column(name)?.dtype().clone();
            let new = match kind {
                DataType::String => {
                    let texts = numbers.iter().map(|n| n.map(|n| n.to_string()));
                    Series::new(name.into(), texts.collect::<Vec<_>>())
                }
                kind => {
                    let whole = kind.is_integer();
                    let round = |n: f64| if whole { n.round() } else { n };
                    Series::new(name.into(), numbers.iter().map(|n| n.map(round)).collect::<Vec<_>>()).cast(&kind)?
                }
            };
            self.frame.replace(name, new.into_column()).map(|_| ())
        };
        guarded(replace).unwrap_or_else(|| Err(PolarsError::ComputeError(DAMAGED.into()))).map_err(|e| e.to_string())
    }

    /// The columns as Parquet.
    pub(crate) fn into_parquet(mut self, threads: usize) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        write_parquet(&mut self.frame, threads, &mut bytes).map_err(|e| e.to_string())?;
        Ok(bytes)
    }
}

impl Source for Frame {
    fn names(&self) -> Vec<&str> {
        self.frame.get_column_names().iter().map(|n| n.as_str()).collect()
    }

    fn height(&self) -> usize {
        self.frame.height()
    }

    fn first_line(&self) -> u64 {
        self.first_line
    }

    fn line(&self, row: usize) -> u64 {
        let known = self.lines.as_ref().and_then(|lines| lines.get(row)).copied();
        known.unwrap_or_else(|| row as u64 + self.first_line)
    }

    fn cells(&self, name: &str, kind: CellKind) -> Result<Box<dyn Cells + '_>, String> {
        let cells = || -> Result<Column, PolarsError> {
            let column = self.frame.column(name)?;
            Ok(match column.dtype() {
                DataType::String => column.clone(),
                found if kind == CellKind::Number && found.is_primitive_numeric() => column.cast(&DataType::Float64)?,
                // a flag may be a number
                _ if kind == CellKind::Flag => column.cast(&DataType::Boolean)?.cast(&DataType::String)?,
                _ => column.cast(&DataType::String)?,
            })
        };
        let cells = guarded(cells).unwrap_or_else(|| Err(PolarsError::ComputeError(DAMAGED.into())));
        cells.map(|column| Box::new(column) as Box<dyn Cells>).map_err(|e| e.to_string())
    }
}

impl Cells for Column {
    fn number(&self, row: usize) -> Option<f64> {
        match self.dtype() {
            DataType::Float64 => self.f64().ok()?.get(row),
            _ => self.text(row)?.trim().parse().ok(),
        }
    }

    fn text(&self, row: usize) -> Option<&str> {
        self.str().ok()?.get(row)
    }
}

/// Whether a file with this beginning is Parquet.
pub(super) fn is_parquet(head: &[u8]) -> bool {
    head.starts_with(b"PAR1")
}

/// The types of Parquet that polars is built for here. It panics at others.
fn is_supported(kind: &ArrowDataType) -> bool {
    use ArrowDataType::{
        Boolean, Dictionary, Float32, Float64, Int32, Int64, LargeUtf8, Null, UInt32, UInt64, Utf8, Utf8View,
    };
    match kind {
        Null | Boolean | Int32 | Int64 | UInt32 | UInt64 | Float32 | Float64 | Utf8 | LargeUtf8 | Utf8View => true,
        Dictionary(_, values, _) => matches!(**values, Utf8 | LargeUtf8 | Utf8View),
        _ => false,
    }
}

/// Refuses a file that has more of something than is read.
fn at_most(file: &str, what: &'static str, found: u64, most: u64) -> Result<(), TableError> {
    match found > most {
        true => Err(TableError::Limit { file: file.to_owned(), what, found, most }),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names and results of as many rows, with a row group for every `group` rows.
    fn write_file(name: &str, rows: usize, group: usize, compression: ParquetCompression) -> std::path::PathBuf {
        let path = std::env::temp_dir().join(format!("evalcurve-{name}-{}.parquet", std::process::id()));
        let cells = |name, cell| column(name, Values::Text(vec![Some(cell); rows]));
        let mut frame = DataFrame::new(rows, vec![cells("engine", "A"), cells("result", "1")]).unwrap();
        frame.with_column(column("score_cp", Values::Float((0..rows).map(|i| Some(i as f64)).collect()))).unwrap();
        let file = fs::File::create(&path).unwrap();
        let writer = ParquetWriter::new(file).with_compression(compression);
        writer.with_row_group_size(Some(group)).finish(&mut frame).unwrap();
        path
    }

    fn read(path: &Path) -> Result<Frame, TableError> {
        Frame::read(path, "file", 1, |names| Ok(names.iter().map(|name| (*name).to_owned()).collect()))
    }

    /// Otherwise a file with a row group for every row takes quadratic time.
    #[test]
    fn columns_are_in_one_piece() {
        let path = write_file("groups", 50, 1, ParquetCompression::Zstd(None));
        let read = read(&path).unwrap();
        assert_eq!((read.frame.height(), read.frame.max_n_chunks()), (50, 1));
        assert_eq!(read.cells("engine", CellKind::Text).unwrap().text(49), Some("A"));
        fs::remove_file(path).unwrap();
    }

    /// polars asked for 2^61 bytes at one such file, which ends a program, and gave unequal columns at others.
    #[test]
    fn a_changed_byte_is_an_error_or_another_value() {
        for compression in [ParquetCompression::Uncompressed, ParquetCompression::Zstd(None)] {
            let path = write_file("changed", 6, 4, compression);
            let whole = fs::read(&path).unwrap();
            let mut refused = 0;
            for at in 0..whole.len() {
                for value in [0, 0x7F, 0x80, 0xFF, whole[at] ^ 1] {
                    let mut changed = whole.clone();
                    changed[at] = value;
                    fs::write(&path, changed).unwrap();
                    let Ok(frame) = read(&path) else {
                        refused += 1;
                        continue;
                    };
                    for name in frame.names() {
                        let Ok(cells) = frame.cells(name, CellKind::Number) else { continue };
                        for row in 0..frame.height() {
                            // polars panics at a row that a column does not have
                            let _ = cells.number(row);
                        }
                    }
                }
            }
            assert!(refused > whole.len(), "{refused}");
            fs::remove_file(path).unwrap();
        }
    }
}
