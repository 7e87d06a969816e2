//! Parquet as plain columns: the only part of the program that uses polars.

use std::collections::BTreeMap;
use std::io::Cursor;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use evalcurve_records::csv_text::MOST_BYTES;
use evalcurve_words::language::Text;
use evalcurve_words::text;
use polars::prelude::{
    ArrowDataType, ArrowSchema, Column, DataFrame, DataType, IntoColumn, NamedFrom, ParallelStrategy,
    ParquetCompression, ParquetReader, ParquetWriter, PolarsError, SerReader, Series,
};
use polars_io::parquet::metadata::FileMetadataRef;

use super::file::bytes_of;
use super::source::{CellKind, Cells, Source, Values};
use super::{MOST_COLUMNS, MOST_ROWS, TableError, at_most, first_line, pages};

/// Rows per row group of Parquet. The number is fixed, so that the bytes do not depend on the machine.
const ROW_GROUP: usize = 1 << 17;

/// Calls that are inside polars.
static INSIDE: AtomicUsize = AtomicUsize::new(0);

/// Tells a panic hook of the program that polars is at work: its panics become errors.
pub fn is_in_polars() -> bool {
    INSIDE.load(Ordering::Relaxed) > 0
}

/// The error for a file at which polars panics, or would ask for too much.
fn damaged() -> PolarsError {
    PolarsError::ComputeError("the file is damaged; write it again".into())
}

/// Calls polars, which panics on some damaged files, also in its own threads. The host's panic hook sees such a panic,
/// and can ask `is_in_polars`.
fn polars<T>(call: impl FnOnce() -> Result<T, PolarsError>) -> Result<T, Text> {
    INSIDE.fetch_add(1, Ordering::Relaxed);
    let called = catch_unwind(AssertUnwindSafe(call));
    INSIDE.fetch_sub(1, Ordering::Relaxed);
    called.unwrap_or_else(|_| Err(damaged())).map_err(first_line)
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

/// Columns as Parquet (zstd).
pub(super) fn write(columns: Vec<(&str, Values<'_>)>, threads: usize) -> Result<Vec<u8>, String> {
    let columns: Vec<Column> = columns.into_iter().map(|(name, values)| column(name, values)).collect();
    let rows = columns.first().map_or(0, Column::len);
    DataFrame::new(rows, columns).and_then(|frame| into_parquet(frame, threads)).map_err(|e| e.to_string())
}

/// A file, of which no column is read yet.
pub(super) fn open(bytes: Vec<u8>, file: &str) -> Result<Box<dyn Source>, TableError> {
    Ok(Box::new(ParquetFile::open(bytes, file)?))
}

/// A file whose columns are read when they are asked for.
#[derive(Debug)]
struct ParquetFile {
    bytes: Vec<u8>,
    metadata: FileMetadataRef,
    schema: Arc<ArrowSchema>,
    /// The columns that polars can read, with their sizes without compression.
    checked: Mutex<BTreeMap<String, u64>>,
}

impl ParquetFile {
    fn open(bytes: Vec<u8>, file: &str) -> Result<Self, TableError> {
        let mut reader = ParquetReader::new(Cursor::new(bytes.as_slice()));
        let opened = polars(|| {
            let metadata = reader.get_metadata()?.clone();
            let rows = metadata.row_groups.iter().try_fold(0_usize, |rows, group| rows.checked_add(group.num_rows()));
            if rows == Some(metadata.num_rows) { Ok((metadata, reader.schema()?)) } else { Err(damaged()) }
        });
        let (metadata, schema) = opened.map_err(|problem| TableError::new(file, problem))?;
        at_most(file, "rows", metadata.num_rows, MOST_ROWS)?;
        at_most(file, "columns", schema.len(), MOST_COLUMNS)?;
        Ok(Self { bytes, metadata, schema, checked: Mutex::default() })
    }

    /// Checks a column once. polars is built without some types, and must not see them; nor may all columns together
    /// be too large.
    fn check(&self, name: &str) -> Result<(), Text> {
        if let Some(field) = self.schema.get(name).filter(|field| !is_supported(&field.dtype)) {
            return Err(unsupported(name, &format!("{:?}", field.dtype)));
        }
        let mut checked = self.checked.lock().unwrap_or_else(PoisonError::into_inner);
        if !checked.contains_key(name) {
            let size = pages::size_of(&self.bytes, &self.metadata, name);
            let size = size.filter(|size| checked.values().sum::<u64>() + size <= MOST_BYTES);
            checked.insert(name.to_owned(), size.ok_or_else(|| first_line(damaged()))?);
        }
        Ok(())
    }

    /// Reads rows of columns.
    fn frame(&self, names: &[&str], rows: &Range<usize>) -> Result<DataFrame, Text> {
        names.iter().try_for_each(|name| self.check(name))?;
        polars(|| {
            let mut reader = ParquetReader::new(Cursor::new(self.bytes.as_slice()));
            reader.set_metadata(self.metadata.clone());
            let names = names.iter().map(|name| (*name).to_owned()).collect();
            let reader = reader.with_columns(Some(names)).with_slice(Some((rows.start, rows.len())));
            let mut frame = reader.read_parallel(ParallelStrategy::None).finish()?;
            // in one piece: to find a cell, polars walks over all pieces, and a file can have one for each row
            frame.rechunk_mut();
            let is_whole = frame.columns().iter().all(|column| column.len() == rows.len());
            if is_whole { Ok(frame) } else { Err(damaged()) }
        })
    }
}

impl Source for ParquetFile {
    fn names(&self) -> Vec<&str> {
        self.schema.iter_names().map(|name| name.as_str()).collect()
    }

    fn height(&self) -> usize {
        self.metadata.num_rows
    }

    fn cells(&self, name: &str, kind: CellKind) -> Result<Box<dyn Cells + '_>, Text> {
        self.part(name, kind, &(0..self.height()))
    }

    /// Row groups, small ones together.
    fn parts(&self) -> Vec<Range<usize>> {
        let (mut parts, mut rows) = (Vec::new(), 0..0);
        for group in &self.metadata.row_groups {
            rows.end += group.num_rows();
            if rows.len() >= ROW_GROUP {
                parts.push(rows.clone());
                rows.start = rows.end;
            }
        }
        parts.extend((!rows.is_empty()).then_some(rows));
        parts
    }

    fn part(&self, name: &str, kind: CellKind, rows: &Range<usize>) -> Result<Box<dyn Cells + '_>, Text> {
        let frame = self.frame(&[name], rows)?;
        let cells = polars(|| {
            let column = frame.column(name)?;
            match column.dtype() {
                DataType::String => Ok(column.clone()),
                found if kind == CellKind::Number && found.is_primitive_numeric() => column.cast(&DataType::Float64),
                // a flag may be a number
                _ if kind == CellKind::Flag => column.cast(&DataType::Boolean)?.cast(&DataType::String),
                _ => column.cast(&DataType::String),
            }
        })?;
        Ok(Box::new(cells))
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

/// Replaces the numbers of a column, which keeps its type.
fn replace(frame: &mut DataFrame, name: &str, numbers: &[Option<f64>]) -> Result<(), PolarsError> {
    let kind = frame.column(name)?.dtype().clone();
    let new = match kind {
        DataType::String => {
            Series::new(name.into(), numbers.iter().map(|n| n.map(|n| n.to_string())).collect::<Vec<_>>())
        }
        kind => {
            let whole = kind.is_integer();
            let round = |n: f64| if whole { n.round() } else { n };
            Series::new(name.into(), numbers.iter().map(|n| n.map(round)).collect::<Vec<_>>()).cast(&kind)?
        }
    };
    frame.replace(name, new.into_column()).map(|_| ())
}

fn into_parquet(mut frame: DataFrame, threads: usize) -> Result<Vec<u8>, PolarsError> {
    let mut bytes = Vec::new();
    let writer = ParquetWriter::new(&mut bytes).with_compression(ParquetCompression::Zstd(None));
    writer.with_row_group_size(Some(ROW_GROUP)).set_parallel(threads > 1).finish(&mut frame)?;
    Ok(bytes)
}

/// What is wrong with a column of another type.
fn unsupported(column: &str, kind: &str) -> Text {
    text!(
        "column '{column}' has the type {kind}; write it as 32- or 64-bit integers, floats, booleans or text (DOUBLE \
         in SQL, .astype(\"float64\") in pandas), or ignore it with `column` ROLE="
    )
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

/// A Parquet file in which columns have other numbers, as bytes: `edit` returns them by the name of their column. The
/// columns and their types stay; the file is compressed anew.
///
/// # Errors
/// [`TableError`] for a file that cannot be read or written, and those of `edit`.
pub fn edit_parquet(
    path: &Path,
    threads: usize,
    edit: impl FnOnce(&dyn Source) -> Result<Vec<(String, Vec<Option<f64>>)>, TableError>,
) -> Result<Vec<u8>, TableError> {
    let file = path.to_string_lossy().into_owned();
    let table = ParquetFile::open(bytes_of(path, &file, MOST_BYTES)?, &file)?;
    let edited = edit(&table)?;
    let frame = table.frame(&table.names(), &(0..table.height()));
    let write = |mut frame: DataFrame| {
        edited.iter().try_for_each(|(name, numbers)| replace(&mut frame, name, numbers))?;
        into_parquet(frame, threads)
    };
    frame.and_then(|frame| polars(|| write(frame))).map_err(|problem| TableError::new(&file, problem))
}

#[cfg(test)]
mod tests {
    use std::fs;

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

    fn read(path: &Path) -> Result<ParquetFile, TableError> {
        ParquetFile::open(fs::read(path).unwrap(), "file")
    }

    /// A file can have a row group for every row: they are read in one piece.
    #[test]
    fn parts_are_row_groups() {
        for (rows, group, last) in [(50, 1, 0..50), (300_000, 100_000, 200_000..300_000)] {
            let path = write_file("groups", rows, group, ParquetCompression::Zstd(None));
            let read = read(&path).unwrap();
            assert_eq!((read.parts().first().unwrap().start, read.parts().last().unwrap()), (0, &last));
            assert_eq!(read.frame(&read.names(), &last).unwrap().max_n_chunks(), 1);
            let cells = read.part("score_cp", CellKind::Number, &last).unwrap();
            let numbers = [0, last.len() - 1].map(|row| cells.number(row));
            assert_eq!(numbers, [last.start, last.end - 1].map(|row| Some(row as f64)));
            fs::remove_file(path).unwrap();
        }
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
                    let is_read = |file: ParquetFile| {
                        let parts = file.parts();
                        assert_eq!(parts.iter().map(Range::len).sum::<usize>(), file.height());
                        let mut is_read = true;
                        for (name, rows) in file.names().iter().flat_map(|n| parts.iter().map(move |rows| (n, rows))) {
                            match file.part(name, CellKind::Number, rows) {
                                // polars panics at a row that a column does not have
                                Ok(cells) => (0..rows.len()).for_each(|row| {
                                    let _ = cells.number(row);
                                }),
                                Err(_) => is_read = false,
                            }
                        }
                        is_read
                    };
                    refused += usize::from(!read(&path).is_ok_and(is_read));
                }
            }
            assert!(refused > whole.len(), "{refused}");
            fs::remove_file(path).unwrap();
        }
    }
}
