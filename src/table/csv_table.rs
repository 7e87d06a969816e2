//! CSV text as a table and tables as CSV text, without polars.

use std::borrow::Cow;

use csv::{ReaderBuilder, StringRecord};

use super::games::game_columns;
use super::lines::{csv_rows, stray_quote_message};
use super::source::{CellKind, Cells, Source, Values};
use super::{MOST_HEADER, TableOptions, holds_samples, with_columns};
use crate::csv_text::{first_line, separator, unclosed_quote};
use crate::record::encoding::whole_text;
use crate::sample::SampleTable;

/// Whether a file with this beginning is a CSV table: its header has the columns of samples or games.
pub fn looks_like_csv(head: &[u8], options: &TableOptions) -> bool {
    let head = &head[..head.len().min(MOST_HEADER as usize)];
    let text = whole_text(head.to_vec());
    let names = header_cells(first_line(&text));
    holds_samples(&names, options) || game_columns(&names).is_some()
}

/// The cells of the header of a CSV file.
pub(super) fn header_cells(line: &str) -> Vec<&str> {
    let separator = char::from(separator(line));
    line.trim_end().split(separator).map(|cell| cell.trim_matches('"')).collect()
}

/// The rows of a CSV text.
#[derive(Debug)]
pub struct CsvTable {
    head: StringRecord,
    rows: Vec<StringRecord>,
    /// The line of each row, unless each has the next line.
    lines: Option<Vec<u64>>,
}

impl CsvTable {
    /// Reads a table in any encoding of [`whole_text`].
    ///
    /// # Errors
    /// A message about a quote that takes other cells into its own.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        let text = whole_text(bytes.to_vec());
        if let Some(problem) = unclosed_quote(&text) {
            return Err(problem);
        }
        let separator = separator(first_line(&text));
        let rows = csv_rows(&text, separator)?;
        let mut reader = ReaderBuilder::new().flexible(true).delimiter(separator).from_reader(rows.text.as_bytes());
        let failed = |error: csv::Error| stray_quote_message(&text, separator).unwrap_or_else(|| error.to_string());
        let head = reader.headers().map_err(failed)?.clone();
        let read: Vec<StringRecord> = reader.records().collect::<Result<_, _>>().map_err(failed)?;
        // none is lost: a quote may join rows
        match rows.lines.as_ref().is_some_and(|lines| lines.len() != read.len()) {
            true => Err(stray_quote_message(&text, separator).unwrap_or_else(|| "the file is damaged".to_owned())),
            false => Ok(Self { head, rows: read, lines: rows.lines }),
        }
    }
}

impl Source for CsvTable {
    fn names(&self) -> Vec<&str> {
        self.head.iter().collect()
    }

    fn height(&self) -> usize {
        self.rows.len()
    }

    fn first_line(&self) -> u64 {
        2
    }

    fn line(&self, row: usize) -> u64 {
        let known = self.lines.as_ref().and_then(|lines| lines.get(row)).copied();
        known.unwrap_or_else(|| row as u64 + self.first_line())
    }

    fn cells(&self, name: &str, _: CellKind) -> Result<Box<dyn Cells + '_>, String> {
        let column = self.head.iter().position(|n| n == name).ok_or_else(|| format!("no column '{name}'"))?;
        Ok(Box::new(CsvColumn { rows: &self.rows, column }))
    }
}

#[derive(Debug)]
struct CsvColumn<'a> {
    rows: &'a [StringRecord],
    column: usize,
}

impl Cells for CsvColumn<'_> {
    fn number(&self, row: usize) -> Option<f64> {
        self.text(row)?.trim().parse().ok()
    }

    fn text(&self, row: usize) -> Option<&str> {
        self.rows.get(row)?.get(self.column).filter(|cell| !cell.is_empty())
    }
}

/// The sample table as CSV, as [`write()`](super::write()) writes it.
pub fn to_csv(table: &SampleTable) -> String {
    with_columns(table, false, write_csv)
}

/// Columns as CSV text. An empty text is `""`, and no value an empty cell.
pub(super) fn write_csv(columns: Vec<(&str, Values<'_>)>) -> String {
    fn quoted(text: &str) -> Cow<'_, str> {
        match text.is_empty() || text.contains(['"', ',', '\n', '\r']) {
            true => format!("\"{}\"", text.replace('"', "\"\"")).into(),
            false => text.into(),
        }
    }
    let cell = |values: &Values<'_>, row: usize| match values {
        Values::Text(values) => values[row].map(|text| quoted(text).into_owned()),
        Values::Integer(values) => values[row].map(|n| n.to_string()),
        Values::Long(values) => Some(values[row].to_string()),
        // with a decimal, as 1.0
        Values::Float(values) => values[row].map(|x| format!("{x:?}")),
        Values::Flag(values) => Some(values[row].to_string()),
    };
    let height = columns.iter().map(|(_, values)| values.len()).max().unwrap_or(0);
    let mut out = columns.iter().map(|(name, _)| quoted(name)).collect::<Vec<_>>().join(",");
    for row in 0..height {
        for (i, (_, values)) in columns.iter().enumerate() {
            out += if i == 0 { "\n" } else { "," };
            out += &cell(values, row).unwrap_or_default();
        }
    }
    out + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_keep_their_text() {
        let table = CsvTable::parse("engine;score\n\"A;\"\"1\"\"\";12\n\n;x\nB\n".as_bytes()).unwrap();
        let engines = table.cells("engine", CellKind::Text).unwrap();
        let scores = table.cells("score", CellKind::Number).unwrap();
        assert_eq!((0..3).map(|row| engines.text(row)).collect::<Vec<_>>(), [Some("A;\"1\""), None, Some("B")]);
        assert_eq!((0..3).map(|row| scores.number(row)).collect::<Vec<_>>(), [Some(12.0), None, None]);
        assert_eq!((table.height(), [0, 1, 2].map(|row| table.line(row))), (3, [2, 4, 5]));
        assert!(CsvTable::parse(b"a,b\n\"x,1\n").unwrap_err().contains("line 2"));
    }

    #[test]
    fn values_are_written() {
        let columns = vec![
            ("a", Values::Text(vec![Some(""), None, Some("x,\"y\"")])),
            ("b", Values::Float(vec![Some(0.0), Some(-57.158005821448874), None])),
            ("c", Values::Flag(vec![true, false, true])),
        ];
        assert_eq!(write_csv(columns), "a,b,c\n\"\",0.0,true\n,-57.158005821448874,false\n\"x,\"\"y\"\"\",,true\n");
    }
}
