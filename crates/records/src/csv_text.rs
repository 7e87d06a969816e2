//! The text of CSV files, as programs for tables write it.

use std::fs;
use std::path::Path;

use csv::StringRecord;
use evalcurve_words::whole_file::read_bounded;

use crate::record::encoding::whole_text;

/// Largest size of a table file in bytes.
pub const MOST_BYTES: u64 = 4 << 30;

/// Largest size of what is read from a pipe, in bytes.
const MOST_PIPED: u64 = 64 << 20;

/// The text of a CSV file, in any encoding of [`whole_text`].
///
/// # Errors
/// What is wrong with the file: it cannot be opened, is too large, or has a quote that is never closed.
pub fn read(path: &Path) -> Result<String, String> {
    // a pipe has no size; nor has a device, which may have no end
    let is_file = fs::metadata(path).map_err(|error| error.to_string())?.is_file();
    let most = if is_file { MOST_BYTES } else { MOST_PIPED };
    let text = whole_text(read_bounded(path, most).map_err(|error| error.to_string())?);
    unclosed_quote(&text).map_or(Ok(text), Err)
}

/// The first line, without its line end.
pub fn first_line(text: &str) -> &str {
    text.split('\n').next().unwrap_or_default().trim_end_matches('\r')
}

/// The separator of cells: the most frequent of comma, tab and semicolon in the header.
pub fn separator(header: &str) -> u8 {
    let count = |wanted: u8| header.bytes().filter(|&b| b == wanted).count();
    // of equals, the last one counts
    [b';', b'\t', b','].into_iter().max_by_key(|&b| count(b)).unwrap_or(b',')
}

/// Says that a quote opens a cell and none closes it: readers would take the rest of the file for that cell.
fn unclosed_quote(text: &str) -> Option<String> {
    let quotes = memchr::memchr_iter(b'"', text.as_bytes());
    let (count, last) = quotes.fold((0_u64, 0), |(count, _), at| (count + 1, at));
    let line = || memchr::memchr_iter(b'\n', &text.as_bytes()[..last]).count() + 1;
    (count % 2 == 1).then(|| format!("the quote in line {} is never closed; write \" inside quotes as \"\"", line()))
}

/// The line of a row from 1. The position of the `csv` crate may be that of line ends before the row, which it skips.
pub fn line_of(row: &StringRecord, text: &str) -> u64 {
    let Some(position) = row.position() else { return 0 };
    let before = text.bytes().skip(position.byte() as usize).take_while(|b| matches!(b, b'\r' | b'\n'));
    position.line() + before.filter(|b| *b == b'\n').count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_and_quotes_are_found() {
        assert_eq!(["a,b;c,d", "a;b;c,d", "a\tb", "a", ""].map(separator), [b',', b';', b'\t', b',', b',']);
        assert_eq!(["a,b\r\nc", "a", "\nb"].map(first_line), ["a,b", "a", ""]);
        assert_eq!(unclosed_quote("a,\"b\"\n\"c \"\" d\"\n"), None);
        let problem = unclosed_quote("a,\"b\"\n\"c,d\ne,f\n").unwrap();
        assert!(problem.starts_with("the quote in line 2 is never closed"), "{problem}");
    }
}
