//! Parquet as plain columns: the only part of the program that uses polars.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use evalcurve_words::language::Text;
use evalcurve_words::text;
use polars::prelude::{
    ArrowDataType, Column, DataFrame, DataType, IntoColumn, NamedFrom, ParallelStrategy, ParquetCompression,
    ParquetReader, ParquetWriter, PolarsError, SerReader, Series,
};

use super::file::{Select, bytes_of, open};
use super::source::{CellKind, Cells, Source, Values};
use super::{MOST_COLUMNS, MOST_ROWS, TableError, at_most, pages};

/// Rows per row group of Parquet. The number is fixed, so that the bytes do not depend on the machine.
const ROW_GROUP: usize = 1 << 17;

/// Calls that are inside polars.
static INSIDE: AtomicUsize = AtomicUsize::new(0);

/// The message for a file at which polars panics.
const DAMAGED: &str = "the file is damaged; write it again";

/// Tells a panic hook of the program that polars is at work: its panics become errors.
pub fn is_in_polars() -> bool {
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

/// Columns as Parquet (zstd).
pub(super) fn write(columns: Vec<(&str, Values<'_>)>, threads: usize) -> Result<Vec<u8>, String> {
    let columns: Vec<Column> = columns.into_iter().map(|(name, values)| column(name, values)).collect();
    let rows = columns.first().map_or(0, Column::len);
    DataFrame::new(rows, columns).map_err(|e| e.to_string()).and_then(|frame| Frame(frame).into_parquet(threads))
}

/// The names of the columns of a file.
pub(super) fn names(path: &Path, file: &str) -> Result<Vec<String>, TableError> {
    let error = |message: &dyn Display| TableError::damaged(file, message);
    let read = || {
        let schema = ParquetReader::new(open(path, file)?).schema().map_err(|e| error(&e))?;
        Ok(schema.iter_names().map(|name| name.to_string()).collect())
    };
    guarded(read).unwrap_or_else(|| Err(error(&DAMAGED)))
}

/// Some of the columns of a file.
pub(super) fn read(
    bytes: &[u8],
    file: &str,
    threads: usize,
    select: &Select<'_>,
) -> Result<Box<dyn Source>, TableError> {
    Ok(Box::new(Frame::read(bytes, file, threads, select)?))
}

/// The columns of a file.
#[derive(Debug)]
struct Frame(DataFrame);

impl Frame {
    /// Reads the columns that `select` returns.
    fn read(bytes: &[u8], file: &str, threads: usize, select: &Select<'_>) -> Result<Self, TableError> {
        let damaged = || TableError::damaged(file, DAMAGED);
        guarded(|| Self::read_unguarded(bytes, file, threads, select)).unwrap_or_else(|| Err(damaged()))
    }

    fn read_unguarded(bytes: &[u8], file: &str, threads: usize, select: &Select<'_>) -> Result<Self, TableError> {
        let error = |message: &dyn Display| TableError::damaged(file, message);
        let strategy = if threads > 1 { ParallelStrategy::Auto } else { ParallelStrategy::None };
        let mut reader = ParquetReader::new(Cursor::new(bytes));
        let rows = reader.num_rows().map_err(|e| error(&e))?;
        at_most(file, "rows", rows, MOST_ROWS)?;
        let schema = reader.schema().map_err(|e| error(&e))?;
        at_most(file, "columns", schema.len(), MOST_COLUMNS)?;
        let names: Vec<&str> = schema.iter_names().map(|name| name.as_str()).collect();
        // polars is built without the types of some other columns, and must not see them
        let needed: BTreeSet<String> = select(&names)?.into_iter().collect();
        for (name, field) in schema.iter().filter(|(name, _)| needed.contains(name.as_str())) {
            if !is_supported(&field.dtype) {
                return Err(TableError::new(file, unsupported(name, &format!("{:?}", field.dtype))));
            }
        }
        let metadata = reader.get_metadata().map_err(|e| error(&e))?;
        if !pages::are_sound(bytes, metadata, |name| needed.contains(name)) {
            return Err(error(&DAMAGED));
        }
        let reader = reader.with_columns(Some(needed.into_iter().collect())).read_parallel(strategy);
        let mut frame = reader.finish().map_err(|e| error(&e))?;
        if frame.columns().iter().any(|column| column.len() != rows) {
            return Err(error(&DAMAGED));
        }
        // in one piece: to find a cell, polars walks over all pieces, and a file can have one for each row
        frame.rechunk_mut();
        Ok(Self(frame))
    }

    /// Replaces the numbers of a column, which keeps its type.
    fn replace(&mut self, name: &str, numbers: &[Option<f64>]) -> Result<(), String> {
        let replace = || -> Result<(), PolarsError> {
            let kind = self.0.column(name)?.dtype().clone();
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
            self.0.replace(name, new.into_column()).map(|_| ())
        };
        guarded(replace).unwrap_or_else(|| Err(PolarsError::ComputeError(DAMAGED.into()))).map_err(|e| e.to_string())
    }

    fn into_parquet(mut self, threads: usize) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        let writer = ParquetWriter::new(&mut bytes).with_compression(ParquetCompression::Zstd(None));
        let writer = writer.with_row_group_size(Some(ROW_GROUP)).set_parallel(threads > 1);
        writer.finish(&mut self.0).map_err(|e| e.to_string())?;
        Ok(bytes)
    }
}

impl Source for Frame {
    fn names(&self) -> Vec<&str> {
        self.0.get_column_names().iter().map(|n| n.as_str()).collect()
    }

    fn height(&self) -> usize {
        self.0.height()
    }

    fn cells(&self, name: &str, kind: CellKind) -> Result<Box<dyn Cells + '_>, String> {
        let cells = || -> Result<Column, PolarsError> {
            let column = self.0.column(name)?;
            Ok(match column.dtype() {
                DataType::String => column.clone(),
                DataType::Int32 | DataType::Int64 if kind == CellKind::Number => column.clone(),
                found if kind == CellKind::Number && found.is_primitive_numeric() => column.cast(&DataType::Float64)?,
                // a flag may be a number
                _ if kind == CellKind::Flag => column.cast(&DataType::Boolean)?,
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
            DataType::Int32 => self.i32().ok()?.get(row).map(f64::from),
            DataType::Int64 => self.i64().ok()?.get(row).map(|number| number as f64),
            _ => self.text(row)?.trim().parse().ok(),
        }
    }

    fn text(&self, row: usize) -> Option<&str> {
        match self.dtype() {
            DataType::Boolean => self.bool().ok()?.get(row).map(|is_true| if is_true { "true" } else { "false" }),
            _ => self.str().ok()?.get(row),
        }
    }
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
    let every = |names: &[&str]| Ok(names.iter().map(|name| (*name).to_owned()).collect());
    let damaged = |message: String| TableError::damaged(&file, message);
    let mut frame = Frame::read(&bytes_of(path, &file)?, &file, threads, &every)?;
    for (name, numbers) in edit(&frame)? {
        frame.replace(&name, &numbers).map_err(damaged)?;
    }
    frame.into_parquet(threads).map_err(damaged)
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

    fn read(path: &Path) -> Result<Frame, TableError> {
        let every = |names: &[&str]| Ok(names.iter().map(|name| (*name).to_owned()).collect());
        Frame::read(&fs::read(path).unwrap(), "file", 1, &every)
    }

    /// Otherwise a file with a row group for every row takes quadratic time.
    #[test]
    fn columns_are_in_one_piece() {
        let path = write_file("groups", 50, 1, ParquetCompression::Zstd(None));
        let read = read(&path).unwrap();
        assert_eq!((read.0.height(), read.0.max_n_chunks()), (50, 1));
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
