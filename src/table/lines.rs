//! Rows and cells of CSV text: cells in quotes may have separators and line ends, and blank lines are no rows.

use std::ops::Range;

/// Calls `use_row` with the place of each row, its line end included, and its line, from 1. The first is the header.
///
/// # Errors
/// A message with the line of a quote that does not belong to a pair around a cell and takes the next rows into one.
pub(super) fn each_row(text: &str, separator: u8, mut use_row: impl FnMut(Range<usize>, u64)) -> Result<(), String> {
    let (mut start, mut first, mut line, mut quoted) = (0, 1, 1, false);
    let ends = memchr::memchr2_iter(b'"', b'\n', text.as_bytes()).map(|at| (at + 1, text.as_bytes()[at]));
    for (end, byte) in ends.chain([(text.len(), b'\n')]) {
        if byte == b'"' {
            quoted = !quoted;
            continue;
        }
        if !quoted || end == text.len() {
            let row = &text[start..end];
            if line > first && stray_quote(row, separator).is_some() {
                return Err(message(row, first, separator));
            }
            if start == 0 || !row.trim_end_matches(['\r', '\n']).is_empty() {
                use_row(start..end, first);
            }
            (start, first) = (end, line + 1);
        }
        line += 1;
    }
    Ok(())
}

/// The cells of a row as ranges, with their quotes and without the line end.
pub(super) fn cells(row: &[u8], separator: u8, cells: &mut Vec<Range<usize>>) {
    cells.clear();
    let end = row.len() - row.iter().rev().take_while(|b| matches!(b, b'\n' | b'\r')).count();
    let (row, mut from) = (&row[..end], 0);
    loop {
        let inside = if row.get(from) == Some(&b'"') { quoted(&row[from..]) } else { 0 };
        let to = memchr::memchr(separator, &row[from + inside..]).map_or(end, |at| from + inside + at);
        cells.push(from..to);
        if to == end {
            return;
        }
        from = to + 1;
    }
}

/// The length of a cell that begins with a quote, up to the quote that ends it; a doubled one does not.
fn quoted(cell: &[u8]) -> usize {
    let mut end = 1;
    while let Some(at) = memchr::memchr(b'"', &cell[end..]) {
        end += at + 1;
        if cell.get(end) != Some(&b'"') {
            return end;
        }
        end += 1;
    }
    cell.len()
}

/// A message about the quote of a row that [`stray_quote`] finds.
fn message(row: &str, first_line: u64, separator: u8) -> String {
    let before = &row.as_bytes()[..stray_quote(row, separator).unwrap_or(0)];
    let line = first_line + memchr::memchr_iter(b'\n', before).count() as u64;
    format!(
        "the quote in line {line} is not one of a pair around a cell; put the whole cell in quotes and write each \" \
         in it as \"\""
    )
}

/// The first quote within a cell without quotes, or that opens a cell whose end is not followed by a separator.
fn stray_quote(text: &str, separator: u8) -> Option<usize> {
    let bytes = text.as_bytes();
    let ends_cell = |byte: Option<&u8>| byte.is_none_or(|b| *b == separator || matches!(b, b'\r' | b'\n'));
    let mut at = 0;
    while let Some(quote) = memchr::memchr(b'"', &bytes[at..]).map(|found| at + found) {
        at = quote + quoted(&bytes[quote..]);
        if quote > 0 && !ends_cell(bytes.get(quote - 1)) || !ends_cell(bytes.get(at)) {
            return Some(quote);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Result<Vec<(&str, u64)>, String> {
        let mut rows = Vec::new();
        each_row(text, b',', |row, line| rows.push((text[row].trim_end(), line))).map(|()| rows)
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
            cells(row.as_bytes(), b',', &mut ranges);
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
            // on one line, a quote takes nothing away
            ("a,b\n5\" or 6\",2\n", None),
            ("a,b\nA\"x,10\nB,20\nC\"y,3\n", Some("2")),
        ] {
            let found = rows(text).err().map(|message| message.split(' ').nth(4).unwrap().to_owned());
            assert_eq!(found.as_deref(), line, "{text:?}");
        }
    }
}
