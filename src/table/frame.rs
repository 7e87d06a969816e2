//! Table files as plain columns: the only part of the program that uses polars.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

use polars::prelude::{
    ArrowDataType, Column, CsvEncoding, CsvParseOptions, CsvReadOptions, CsvWriter, DataFrame, DataType, IntoColumn,
    NamedFrom, ParallelStrategy, ParquetCompression, ParquetReader, ParquetWriter, PolarsError, SerReader, SerWriter,
    Series,
};

use super::TableError;

/// Rows per row group of Parquet. The number is fixed, so that the bytes do not depend on the machine.
const ROW_GROUP: usize = 1 << 17;

/// A column to write.
pub(super) fn column<T, Kind: ?Sized>(name: &str, values: impl Iterator<Item = T>) -> Column
where
    Series: NamedFrom<Vec<T>, Kind>,
{
    Series::new(name.into(), values.collect::<Vec<T>>()).into_column()
}

/// Writes columns of `rows` values each as Parquet (zstd) or CSV.
pub(super) fn write(
    columns: Vec<Column>,
    rows: usize,
    parquet: bool,
    threads: usize,
    out: impl Write,
) -> Result<(), String> {
    let written = DataFrame::new(rows, columns).and_then(|mut frame| {
        if parquet {
            let writer = ParquetWriter::new(out).with_compression(ParquetCompression::Zstd(None));
            writer.with_row_group_size(Some(ROW_GROUP)).set_parallel(threads > 1).finish(&mut frame).map(|_| ())
        } else {
            CsvWriter::new(out).n_threads(threads).finish(&mut frame)
        }
    });
    written.map_err(|e| e.to_string())
}

/// The columns of a file.
pub(super) struct Frame {
    frame: DataFrame,
    /// The line of the first row in messages.
    pub first_line: u64,
}

impl Frame {
    /// Reads a Parquet or CSV file, distinguished by content. `select` checks the names of all columns and returns
    /// those that are needed.
    pub fn read(
        path: &Path,
        file: &str,
        threads: usize,
        select: impl Fn(&[&str]) -> Result<BTreeSet<String>, TableError>,
    ) -> Result<Self, TableError> {
        let error = |message: String| TableError::File { file: file.to_owned(), message };
        let open = || File::open(path).map_err(|e| error(e.to_string()));
        let mut head = Vec::new();
        open()?.take(1 << 16).read_to_end(&mut head).map_err(|e| error(e.to_string()))?;
        let (frame, first_line) = if is_parquet(&head) {
            let strategy = if threads > 1 { ParallelStrategy::Auto } else { ParallelStrategy::None };
            let mut reader = ParquetReader::new(open()?);
            let schema = reader.schema().map_err(|e| error(e.to_string()))?;
            let names: Vec<&str> = schema.iter_names().map(|name| name.as_str()).collect();
            // polars is built without the types of some other columns, and must not see them
            let needed = select(&names)?;
            for (name, field) in schema.iter().filter(|(name, _)| needed.contains(name.as_str())) {
                if !is_supported(&field.dtype) {
                    let kind = format!("{:?}", field.dtype);
                    return Err(TableError::Type { file: file.to_owned(), column: name.to_string(), kind });
                }
            }
            (reader.with_columns(Some(needed.into_iter().collect())).read_parallel(strategy).finish(), 1)
        } else {
            let header = String::from_utf8_lossy(first_line(&head)).into_owned();
            select(&header_cells(&header))?;
            let parse = CsvParseOptions::default()
                .with_separator(separator(&header))
                .with_encoding(CsvEncoding::LossyUtf8)
                .with_truncate_ragged_lines(true);
            let reader = CsvReadOptions::default()
                .with_n_threads(Some(threads))
                .with_infer_schema_length(Some(0))
                .with_parse_options(parse)
                .try_into_reader_with_file_path(Some(path.to_owned()));
            (reader.and_then(SerReader::finish), 2)
        };
        Ok(Self { frame: frame.map_err(|e| error(e.to_string()))?, first_line })
    }

    /// Number of rows.
    pub fn height(&self) -> usize {
        self.frame.height()
    }

    /// The names of the columns.
    pub fn names(&self) -> Vec<&str> {
        self.frame.get_column_names().iter().map(|n| n.as_str()).collect()
    }

    /// The column with this name as text, or as numbers if it holds numbers and `kind` asks for them.
    pub fn cells(&self, name: &str, kind: CellKind) -> Result<Cells, String> {
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
        cells().map(Cells).map_err(|e| e.to_string())
    }
}

/// What a column should hold.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum CellKind {
    Number,
    Flag,
    Text,
}

/// The cells of one column, as numbers or as text.
pub(super) struct Cells(Column);

impl Cells {
    /// A cell as a number; `None` if it is missing or is not a number.
    pub fn number(&self, row: usize) -> Option<f64> {
        match self.0.dtype() {
            DataType::Float64 => self.0.f64().ok()?.get(row),
            _ => self.text(row)?.trim().parse().ok(),
        }
    }

    /// A cell as text; `None` if it is missing or the column holds numbers.
    pub fn text(&self, row: usize) -> Option<&str> {
        self.0.str().ok()?.get(row)
    }
}

/// Whether a file with this beginning is Parquet.
pub(super) fn is_parquet(head: &[u8]) -> bool {
    head.starts_with(b"PAR1")
}

/// The first line of a file, without its line end.
pub(super) fn first_line(head: &[u8]) -> &[u8] {
    head.split(|&b| b == b'\n').next().unwrap_or(head)
}

/// The cells of the header of a CSV file.
pub(super) fn header_cells(line: &str) -> Vec<&str> {
    let separator = char::from(separator(line));
    let line = line.trim_start_matches('\u{feff}').trim_end();
    line.split(separator).map(|cell| cell.trim_matches('"')).collect()
}

/// The separator of a CSV file: the most frequent of comma, tab and semicolon.
fn separator(line: &str) -> u8 {
    let count = |wanted: u8| line.bytes().filter(|&b| b == wanted).count();
    // of equals, the last one counts
    [b';', b'\t', b','].into_iter().max_by_key(|&b| count(b)).unwrap_or(b',')
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
