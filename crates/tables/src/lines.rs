//! Rows and cells of CSV text: cells in quotes may have separators and line ends, and blank lines are no rows.

use std::ops::Range;

/// A row of a table.
pub(super) struct Row<'t, 'c> {
    pub text: &'t str,
    /// The line of its beginning, from 1. The first row is the header.
    pub line: u64,
    /// The cells, as [`cells`] finds them.
    pub cells: &'c mut Vec<Range<usize>>,
}

/// Calls `use_row` with each row of a text that begins at `line`, the first of the table if it is 1, and returns the line
/// at which the next text begins.
///
/// # Errors
/// A message with the line of a quote that does not belong to a pair around a cell: it takes text behind the cell, or
/// the next rows, into one.
pub(super) fn each_row<'t>(
    text: &'t str,
    separator: u8,
    mut line: u64,
    mut use_row: impl FnMut(Row<'t, '_>),
) -> Result<u64, String> {
    let (mut start, mut first, mut quoted) = (0, line, false);
    let mut ranges = Vec::new();
    let ends = memchr::memchr2_iter(b'"', b'\n', text.as_bytes()).map(|at| (at + 1, text.as_bytes()[at]));
    for (end, byte) in ends.chain([(text.len(), b'\n')]) {
        if byte == b'"' {
            quoted = !quoted;
            continue;
        }
        if !quoted || end == text.len() {
            let row = &text[start..end];
            if first == 1 || !row.trim_end_matches(['\r', '\n']).is_empty() {
                let paired = cells(row.as_bytes(), separator, &mut ranges);
                let wrong = if paired && line == first { None } else { wrong_quote(row, separator) };
                if let Some((at, is_closed)) = wrong {
                    return Err(message(&row[..at], first, is_closed));
                }
                use_row(Row { text: row, line: first, cells: &mut ranges });
            }
            (start, first) = (end, line + 1);
        }
        line += 1;
    }
    // the end of the text ends no line
    Ok(line - 1)
}

/// The cells of a row as ranges, with their quotes and without the line end. Returns whether each quote that opens a
/// cell has one that ends it.
pub fn cells(row: &[u8], separator: u8, cells: &mut Vec<Range<usize>>) -> bool {
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

/// A message about a quote, with the text before it in its row.
fn message(before: &str, first_line: u64, is_closed: bool) -> String {
    let line = first_line + memchr::memchr_iter(b'\n', before.as_bytes()).count() as u64;
    if !is_closed {
        return format!("the quote in line {line} is never closed; write \" inside quotes as \"\"");
    }
    format!(
        "the quote in line {line} is not one of a pair around a cell; put the whole cell in quotes and write each \" \
         in it as \"\""
    )
}

/// The first quote within a cell without quotes, or that opens a cell whose end is not followed by a separator, and
/// whether that cell has an end.
fn wrong_quote(text: &str, separator: u8) -> Option<(usize, bool)> {
    let bytes = text.as_bytes();
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

    fn rows(text: &str) -> Result<Vec<(&str, u64)>, String> {
        let mut rows = Vec::new();
        each_row(text, b',', 1, |row| rows.push((row.text.trim_end(), row.line))).map(|_| rows)
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
