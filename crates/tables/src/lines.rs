//! Rows and cells of CSV text: cells in quotes may have separators and line ends, and blank lines are no rows.

use std::io::{self, BufRead};
use std::ops::Range;

/// The longest row of several lines, in bytes: a longer one is a quote that nothing closes.
const LONGEST_ROW: usize = 1 << 20;

/// Reads a row, with the lines that a quote joins. Returns the number of its lines, 0 at the end.
pub fn read_row(from: &mut dyn BufRead, row: &mut Vec<u8>) -> io::Result<u64> {
    row.clear();
    let (mut lines, mut quotes) = (0, 0);
    loop {
        let begin = row.len();
        if from.read_until(b'\n', row)? == 0 {
            return Ok(lines);
        }
        lines += 1;
        quotes += memchr::memchr_iter(b'"', &row[begin..]).count();
        if quotes % 2 == 0 || row.len() > LONGEST_ROW {
            return Ok(lines);
        }
    }
}

/// Finds the cells of a row that begins at a line, as ranges with their quotes and without the line end.
///
/// # Errors
/// A message with the line of a quote that does not belong to a pair around a cell: it takes text behind the cell, or
/// the next rows, into one.
pub fn cells_of(row: &[u8], first_line: u64, separator: u8, ranges: &mut Vec<Range<usize>>) -> io::Result<()> {
    let paired = cells(row, separator, ranges);
    let has_lines = memchr::memchr(b'\n', row).is_some_and(|end| end + 1 < row.len());
    let Some((at, is_closed)) = (!paired || has_lines).then(|| wrong_quote(row, separator)).flatten() else {
        return Ok(());
    };
    let line = first_line + memchr::memchr_iter(b'\n', &row[..at]).count() as u64;
    let problem = match is_closed {
        true => "not one of a pair around a cell; put the whole cell in quotes and write each \" in it as \"\"",
        // of what follows nothing is known
        false if row.len() > LONGEST_ROW => "never closed, or not within 1 MiB; write \" inside quotes as \"\"",
        false => "never closed; write \" inside quotes as \"\"",
    };
    Err(io::Error::new(io::ErrorKind::InvalidData, format!("the quote in line {line} is {problem}")))
}

/// The cells of a row as ranges, with their quotes and without the line end. Returns whether each quote that opens a
/// cell has one that ends it.
fn cells(row: &[u8], separator: u8, cells: &mut Vec<Range<usize>>) -> bool {
    cells.clear();
    let end = row.len() - row.iter().rev().take_while(|b| matches!(b, b'\n' | b'\r')).count();
    let (row, mut from, mut paired) = (&row[..end], 0, true);
    loop {
        let rest = &row[from..];
        let opens = rest.first() == Some(&b'"');
        let closed = if opens { quoted(rest) } else { Some(0) };
        let inside = closed.unwrap_or(rest.len());
        let to = memchr::memchr(separator, &rest[inside..]).map_or(end, |at| from + inside + at);
        paired &= closed.is_some() && (!opens || from + inside == to);
        cells.push(from..to);
        if to == end {
            return paired;
        }
        from = to + 1;
    }
}

/// The length of a cell that begins with a quote, up to the quote that ends it; a doubled one does not.
fn quoted(cell: &[u8]) -> Option<usize> {
    let mut end = 1;
    loop {
        end += memchr::memchr(b'"', &cell[end..])? + 1;
        if cell.get(end) != Some(&b'"') {
            return Some(end);
        }
        end += 1;
    }
}

/// The first quote within a cell without quotes, or that opens a cell whose end is not followed by a separator, and
/// whether that cell has an end.
fn wrong_quote(bytes: &[u8], separator: u8) -> Option<(usize, bool)> {
    let ends_cell = |byte: Option<&u8>| byte.is_none_or(|b| *b == separator || matches!(b, b'\r' | b'\n'));
    let mut at = 0;
    while let Some(quote) = memchr::memchr(b'"', &bytes[at..]).map(|found| at + found) {
        if quote > 0 && !ends_cell(bytes.get(quote - 1)) {
            return Some((quote, true));
        }
        let Some(length) = quoted(&bytes[quote..]) else { return Some((quote, false)) };
        at = quote + length;
        if !ends_cell(bytes.get(at)) {
            return Some((quote, true));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(mut text: &str) -> Result<Vec<(&str, u64)>, String> {
        let (mut rows, mut row, mut line) = (Vec::new(), Vec::new(), 1);
        loop {
            let lines = read_row(&mut text.as_bytes(), &mut row).unwrap();
            if lines == 0 {
                return Ok(rows);
            }
            cells_of(&row, line, b',', &mut Vec::new()).map_err(|error| error.to_string())?;
            let (row, rest) = text.split_at(row.len());
            if !row.trim_end().is_empty() {
                rows.push((row.trim_end(), line));
            }
            (text, line) = (rest, line + lines);
        }
    }

    #[test]
    fn rows_have_lines() {
        assert_eq!(rows("a,b\n1,2\n3,4\n").unwrap(), [("a,b", 1), ("1,2", 2), ("3,4", 3)]);
        let quoted = rows("a,b\r\n\"1\r\n\"\"1\",2\r\n3,4").unwrap();
        assert_eq!(quoted, [("a,b", 1), ("\"1\r\n\"\"1\",2", 2), ("3,4", 4)]);
        let blank = rows("a,b\n\n1,2\n\r\n\"\n\n\",4\n\n").unwrap();
        assert_eq!(blank, [("a,b", 1), ("1,2", 3), ("\"\n\n\",4", 5)]);
    }

    #[test]
    fn cells_end_at_separators_outside_quotes() {
        let mut ranges = Vec::new();
        let mut of = |row: &str| {
            let paired = cells(row.as_bytes(), b',', &mut ranges);
            assert_eq!(paired, row != "\"a", "{row}");
            ranges.iter().map(|range| row[range.clone()].to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(of("a,\"b,\"\"c\",,5\" or 6\",d\r\n"), ["a", "\"b,\"\"c\"", "", "5\" or 6\"", "d"]);
        assert_eq!([of(""), of("a,"), of("\"a")], [vec![""], vec!["a", ""], vec!["\"a"]]);
    }

    #[test]
    fn stray_quotes_have_lines() {
        for (text, line) in [
            ("a\nA\"x,10\nB,20\n", Some("2")),
            ("a\n\"x\"\nB,\"5 in\nC,\"5 in\n", Some("3")),
            ("a\n\"x\"\"\",\"\"\r\n\"\n\"", None),
            // on one line, a quote within a cell takes nothing away
            ("a,b\n5\" or 6\",2\n", None),
            ("a,b\n1,2\n\"あ\"い,2\n", Some("3")),
            ("a,b\n\"あ,\"い,2\n", Some("2")),
            ("a,b\n5\",\"2\n", Some("2")),
            ("a,b\nA\"x,10\nB,20\nC\"y,3\n", Some("2")),
        ] {
            let found = rows(text).err().map(|message| message.split(' ').nth(4).unwrap().to_owned());
            assert_eq!(found.as_deref(), line, "{text:?}");
        }
    }
}
