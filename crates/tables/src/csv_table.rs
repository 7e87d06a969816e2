//! CSV text as a table and tables as CSV text, without polars.

use std::borrow::Cow;
use std::io::{BufRead, Read};

use evalcurve_records::csv_text::{MOST_BYTES, first_line, separator};
use evalcurve_records::record::encoding::{decode, guess, is_utf_16, whole_text};
use evalcurve_records::sample::{Names, SampleTable};
use evalcurve_words::language::Text;
use evalcurve_words::text;

use super::games::game_columns;
use super::lines::{cells_of, read_row};
use super::source::{CellKind, Cells, Source, Values};
use super::{MOST_COLUMNS, MOST_HEADER, MOST_ROWS, TableError, TableOptions, at_most, holds_samples, with_columns};

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
    names: Vec<String>,
    /// Each text once.
    texts: Names,
    /// The cells, row by row: the number of their text + 1, and 0 without one.
    cells: Vec<u32>,
    /// The line of each row, and where its cells end.
    rows: Vec<(u32, u32)>,
}

impl CsvTable {
    /// Reads a table in any encoding of [`whole_text`], whose name is for messages, row by row: the cells are kept, not
    /// the text. What short rows do not have is missing, and what rows have beyond the header is left out.
    ///
    /// # Errors
    /// [`TableError`] for a table that is too large, and for a quote that takes other cells into its own.
    pub fn read(mut from: impl BufRead, file: &str) -> Result<Self, TableError> {
        let damaged = |error| TableError::damaged(file, error);
        if is_utf_16(from.fill_buf().map_err(damaged)?) {
            let mut bytes = Vec::new();
            from.take(MOST_BYTES).read_to_end(&mut bytes).map_err(damaged)?;
            return Self::read(whole_text(bytes).as_bytes(), file);
        }
        let (mut names, mut texts, mut cells, mut rows) = (Vec::new(), Names::default(), Vec::new(), Vec::new());
        let (mut row, mut ranges, mut encoding) = (Vec::new(), Vec::new(), None);
        let (mut read, mut comma, mut next) = (0, None, 1);
        loop {
            let line = next;
            next += read_row(&mut from, &mut row).map_err(damaged)?;
            if line == next {
                return Ok(Self { names, texts, cells, rows });
            }
            read += row.len();
            // then numbers of 32 bits suffice for lines and cells
            at_most(file, "bytes", read, u32::MAX as usize)?;
            let decoded = match std::str::from_utf8(&row) {
                Ok(text) => Cow::from(text),
                Err(_) => {
                    let ahead = from.fill_buf().map_err(damaged)?;
                    let known = *encoding.get_or_insert_with(|| guess(&[&row, ahead].concat()));
                    decode(&row, Some(known), &[]).into()
                }
            };
            let text = decoded.trim_start_matches('\u{feff}');
            let comma = *comma.get_or_insert_with(|| separator(first_line(text)));
            if line > 1 && text.trim_end_matches(['\r', '\n']).is_empty() {
                continue;
            }
            cells_of(text.as_bytes(), line, comma, &mut ranges).map_err(damaged)?;
            let found = ranges.iter().map(|range| &text[range.clone()]);
            if line == 1 {
                let head = text.trim_end();
                if head.contains('\r') && !head.contains('\n') {
                    let problem = text!("its lines end with CR alone, so that all are one; save it with LF or CRLF");
                    return Err(TableError::new(file, problem));
                }
                at_most(file, "columns", ranges.len(), MOST_COLUMNS)?;
                names.extend(found.map(|cell| cell.trim_matches('"').to_owned()));
            } else {
                cells.extend(found.take(names.len()).map(|cell| match within_quotes(cell) {
                    Some(inside) if inside.contains("\"\"") => texts.intern(&inside.replace("\"\"", "\"")) + 1,
                    None if cell.is_empty() => 0,
                    inside => texts.intern(inside.unwrap_or(cell)) + 1,
                }));
                rows.push((line as u32, cells.len() as u32));
                if rows.len() > MOST_ROWS {
                    let rest = from.by_ref().split(b'\n').map_while(Result::ok).count();
                    at_most(file, "rows", rows.len() + rest, MOST_ROWS)?;
                }
            }
        }
    }
}

impl Source for CsvTable {
    fn names(&self) -> Vec<&str> {
        self.names.iter().map(String::as_str).collect()
    }

    fn height(&self) -> usize {
        self.rows.len()
    }

    fn line(&self, row: usize) -> u64 {
        self.rows.get(row).map_or(0, |(line, _)| (*line).into())
    }

    fn cells(&self, name: &str, _: CellKind) -> Result<Box<dyn Cells + '_>, Text> {
        let mut columns = (0..self.names.len()).filter(|column| self.names[*column] == name);
        let column = columns.next().ok_or_else(|| Text::same(format!("no column '{name}'")))?;
        if let Some(second) = columns.next() {
            let (first, second) = (column + 1, second + 1);
            return Err(text!("columns {first} and {second} are both named '{name}'; rename or remove one of them"));
        }
        Ok(Box::new(CsvColumn { table: self, column }))
    }
}

/// What a pair of quotes around a cell holds.
fn within_quotes(cell: &str) -> Option<&str> {
    cell.strip_prefix('"')?.strip_suffix('"')
}

#[derive(Debug)]
struct CsvColumn<'a> {
    table: &'a CsvTable,
    column: usize,
}

impl Cells for CsvColumn<'_> {
    fn number(&self, row: usize) -> Option<f64> {
        self.text(row)?.trim().parse().ok()
    }

    fn text(&self, row: usize) -> Option<&str> {
        let CsvTable { texts, cells, rows, .. } = self.table;
        let last = rows.get(row)?.1;
        let first = row.checked_sub(1).map_or(0, |before| rows[before].1);
        let cell = cells[first as usize..last as usize].get(self.column)?;
        cell.checked_sub(1).map(|text| texts.get(text))
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
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn cells_keep_their_text() {
        let table = CsvTable::read(&b"engine;score\n\"A;\"\"1\"\"\";12\n\n;x\nB\n\"\"\n"[..], "file").unwrap();
        let engines = table.cells("engine", CellKind::Text).unwrap();
        let scores = table.cells("score", CellKind::Number).unwrap();
        let texts: Vec<_> = (0..4).map(|row| engines.text(row)).collect();
        assert_eq!(texts, [Some("A;\"1\""), None, Some("B"), Some("")]);
        assert_eq!((0..3).map(|row| scores.number(row)).collect::<Vec<_>>(), [Some(12.0), None, None]);
        assert_eq!((table.height(), [0, 1, 2].map(|row| table.line(row))), (4, [2, 4, 5]));
        assert!(CsvTable::read(&b"a,b\n\"x,1\n"[..], "file").unwrap_err().to_string().contains("line 2"));
    }

    #[test]
    fn a_column_whose_name_is_there_twice_is_refused_where_it_is_used() {
        let table = CsvTable::read(&b"a,b,a\n1,2,3\n"[..], "file").unwrap();
        assert!(table.cells("b", CellKind::Number).is_ok());
        let error = table.cells("a", CellKind::Number).err().unwrap().to_string();
        assert!(error.starts_with("columns 1 and 3 are both named 'a'; rename"), "{error}");
    }

    #[test]
    fn lines_that_end_with_cr_alone_are_named() {
        for text in ["engine,score_cp\rA,1\r", "engine,score_cp\rA,1\n"] {
            let error = CsvTable::read(text.as_bytes(), "file").unwrap_err().to_string();
            assert!(error.starts_with("file: its lines end with CR alone"), "{error}");
        }
        assert!(["a\r\n1\r\n", "a\r", "a"].iter().all(|text| CsvTable::read(text.as_bytes(), "file").is_ok()));
    }

    /// A file of 420 KB with short rows would have taken 13 GB.
    #[test]
    fn short_rows_take_no_memory_for_what_they_do_not_have() {
        let wide = format!("a,b{}\n", ",c".repeat(3_999)) + &"1\n".repeat(200_000);
        let table = CsvTable::read(wide.as_bytes(), "file").unwrap();
        assert_eq!((table.height(), table.cells.len()), (200_000, 200_000));
        let cells = |name| table.cells(name, CellKind::Number).unwrap().number(199_999);
        assert_eq!((cells("a"), cells("b")), (Some(1.0), None));
    }

    /// Also where rows have several lines and are not UTF-8.
    #[test]
    fn rows_know_their_line() {
        let rows = 100_000;
        let row = |i: usize| format!("\"技\n巧{}\",{i}\r\n", i % 3);
        let text: String = std::iter::once("engine,score\n".to_owned()).chain((0..rows).map(row)).collect();
        let utf_16 = |text: &str| {
            let units = std::iter::once(0xFEFF).chain(text.encode_utf16());
            units.flat_map(u16::to_le_bytes).collect::<Vec<u8>>()
        };
        let shift_jis = |text: &str| encoding_rs::SHIFT_JIS.encode(text).0.into_owned();
        let utf_8 = |text: &str| format!("\u{feff}{text}").into_bytes();
        for encoded in [utf_8, utf_16, shift_jis] as [fn(&str) -> Vec<u8>; 3] {
            let bytes = encoded(&text);
            let table = CsvTable::read(bytes.as_slice(), "file").unwrap();
            assert_eq!((table.names(), table.height()), (vec!["engine", "score"], rows));
            let engines = table.cells("engine", CellKind::Text).unwrap();
            let scores = table.cells("score", CellKind::Number).unwrap();
            for i in 0..rows {
                assert_eq!(engines.text(i), Some(["技\n巧0", "技\n巧1", "技\n巧2"][i % 3]), "{i}");
                assert_eq!((scores.number(i), table.line(i)), (Some(i as f64), 2 + 2 * i as u64));
            }
            for (last, problem) in [("B,1\n\"C,2\nD,3\n", "never closed"), ("B,1\n\"C\"x,2\n", "not one of a pair")] {
                let error = CsvTable::read(encoded(&format!("{text}{last}")).as_slice(), "file").unwrap_err();
                let line = format!("the quote in line {} is {problem}", 3 + 2 * rows);
                assert!(error.to_string().contains(&line), "{error}");
            }
        }
    }

    proptest! {
        /// Whatever the text, it is refused or has the cells that the csv crate finds.
        #[test]
        fn cells_are_those_of_the_csv_crate(rows in "([\",\na あ]|\r\n|\"\"){0,20}") {
            let text = format!("a,b\n{rows}");
            let Ok(table) = CsvTable::read(text.as_bytes(), "file") else { return Ok(()) };
            let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(text.as_bytes());
            let expected: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
            prop_assert_eq!(table.height(), expected.len());
            for (column, name) in ["a", "b"].into_iter().enumerate() {
                let cells = table.cells(name, CellKind::Text).unwrap();
                for (row, expected) in expected.iter().enumerate() {
                    prop_assert_eq!(cells.text(row).unwrap_or_default(), expected.get(column).unwrap_or_default());
                }
            }
        }
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
