//! The lines of the rows of a CSV text: cells in quotes may have line ends, and blank lines are no rows.

use std::borrow::Cow;

/// The rows of a CSV text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CsvRows<'t> {
    /// The header and the rows, without blank lines.
    pub text: Cow<'t, str>,
    /// The line of each row, from 1; `None` if every line after the first is a row.
    pub lines: Option<Vec<u64>>,
}

/// Finds the rows of a text.
///
/// # Errors
/// A message with the line of a quote that does not belong to a pair around a cell and takes the next rows into one.
pub(super) fn csv_rows(text: &str, separator: u8) -> Result<CsvRows<'_>, String> {
    let bytes = text.as_bytes();
    let has_blank = ["\n\n", "\n\r\n"].iter().any(|ends| memchr::memmem::find(bytes, ends.as_bytes()).is_some());
    if !has_blank && memchr::memchr(b'"', bytes).is_none() {
        return Ok(CsvRows { text: text.into(), lines: None });
    }
    let (mut lines, mut kept) = (Vec::new(), String::new());
    let mut row = |row: &str, first: u64, last: u64, is_header: bool| {
        if last > first && stray_quote(row, separator).is_some() {
            return Err(message(row, first, separator));
        }
        let is_blank = row.trim_end_matches(['\r', '\n']).is_empty();
        if has_blank && (!is_blank || is_header) {
            kept.push_str(row);
        }
        if !is_blank && !is_header {
            lines.push(first);
        }
        Ok(())
    };
    let (mut start, mut first, mut line, mut quoted) = (0, 1, 1, false);
    for at in memchr::memchr2_iter(b'"', b'\n', bytes) {
        if bytes[at] == b'"' {
            quoted = !quoted;
            continue;
        }
        if !quoted {
            row(&text[start..=at], first, line, start == 0)?;
            (start, first) = (at + 1, line + 1);
        }
        line += 1;
    }
    if start < text.len() {
        row(&text[start..], first, line, start == 0)?;
    }
    let text = if has_blank { kept.into() } else { text.into() };
    Ok(CsvRows { text, lines: Some(lines) })
}

/// The first quote of a text that does not belong to a pair around a cell, as a message with its line.
pub(super) fn stray_quote_message(text: &str, separator: u8) -> Option<String> {
    stray_quote(text, separator).is_some().then(|| message(text, 1, separator))
}

fn message(text: &str, first_line: u64, separator: u8) -> String {
    let before = &text.as_bytes()[..stray_quote(text, separator).unwrap_or(0)];
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
        if quote > 0 && !ends_cell(bytes.get(quote - 1)) {
            return Some(quote);
        }
        // the end of the cell: a quote that is not doubled
        let mut end = quote + 1;
        loop {
            end += memchr::memchr(b'"', &bytes[end..])?;
            if bytes.get(end + 1) != Some(&b'"') {
                break;
            }
            end += 2;
        }
        if !ends_cell(bytes.get(end + 1)) {
            return Some(quote);
        }
        at = end + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> (String, Option<Vec<u64>>) {
        let rows = csv_rows(text, b',').unwrap();
        (rows.text.into_owned(), rows.lines)
    }

    #[test]
    fn rows_have_lines() {
        let plain = "a,b\n1,2\n3,4\n";
        assert_eq!(lines(plain), (plain.to_owned(), None));
        let quoted = "a,b\r\n\"1\r\n\"\"1\",2\r\n3,4";
        assert_eq!(lines(quoted), (quoted.to_owned(), Some(vec![2, 4])));
        assert_eq!(lines("a,b\n\n1,2\n\r\n\"\n\n\",4\n\n"), ("a,b\n1,2\n\"\n\n\",4\n".to_owned(), Some(vec![3, 5])));
    }

    #[test]
    fn stray_quotes_have_lines() {
        let stray = |text: &str| stray_quote_message(text, b',').map(|m| m.split(' ').nth(4).map(str::to_owned));
        for (text, line) in [
            ("a\nA\"x,10\nB,20\n", Some("2")),
            ("a\n\"x\"\nB,\"5 in\nC,\"5 in\n", Some("3")),
            ("a\nB,\"5\" in\n", Some("2")),
            ("a\n\"x\"\"\",\"\"\r\n\"\n\"", None),
        ] {
            assert_eq!(stray(text), line.map(|line| Some(line.to_owned())), "{text:?}");
        }
        // on one line, a quote takes nothing away
        assert_eq!(lines("a,b\n5\" or 6\",2\n").1, Some(vec![2]));
        assert!(csv_rows("a,b\nA\"x,10\nB,20\nC\"y,3\n", b',').unwrap_err().contains("line 2"));
    }
}
