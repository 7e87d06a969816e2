//! Reads lines up to a maximum length, whatever a program writes.

use std::io::{self, BufRead};
use std::time::Instant;

/// The longest line that is read; principal variations and positions of long games stay far below it.
pub const MAX_LINE_BYTES: usize = 64 * 1024;

/// A line without its line ending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadLine {
    /// Its text; invalid UTF-8 becomes U+FFFD. Control characters become blanks, since a GUI or a terminal may show the
    /// text: ESC begins a command there, and CR ends a line.
    Text(String),
    /// A line that exceeded the limit and was discarded, with its length in bytes.
    TooLong(u64),
}

/// Reads lines and stores at most [`MAX_LINE_BYTES`] of each.
#[derive(Debug)]
pub struct LineReader<R> {
    input: R,
    line: Vec<u8>,
    limit: usize,
}

impl<R: BufRead> LineReader<R> {
    /// A reader of lines up to [`MAX_LINE_BYTES`].
    pub fn new(input: R) -> Self {
        Self::with_limit(input, MAX_LINE_BYTES)
    }

    /// A reader of lines up to `limit` bytes.
    pub fn with_limit(input: R, limit: usize) -> Self {
        Self { input, line: Vec::new(), limit }
    }

    /// Reads the next line; `None` at the end. The last line needs no line ending.
    ///
    /// # Errors
    /// The input fails. Interrupted reads are retried.
    pub fn read(&mut self) -> io::Result<Option<ReadLine>> {
        self.line.clear();
        let mut length = 0u64;
        loop {
            let buffer = match self.input.fill_buf() {
                Ok(buffer) => buffer,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => return Err(e),
            };
            if buffer.is_empty() {
                return Ok((length > 0).then(|| self.finish(length)));
            }
            let end = buffer.iter().position(|&b| b == b'\n');
            let part = &buffer[..end.unwrap_or(buffer.len())];
            length += part.len() as u64;
            let free = self.limit.saturating_sub(self.line.len());
            self.line.extend_from_slice(&part[..part.len().min(free)]);
            let used = part.len() + usize::from(end.is_some());
            self.input.consume(used);
            if end.is_some() {
                return Ok(Some(self.finish(length)));
            }
        }
    }

    /// Calls `send` with every line and the time of its arrival, until the input ends or `send` returns false.
    /// Returns whether the input ended.
    pub fn forward(mut self, mut send: impl FnMut(ReadLine, Instant) -> bool) -> bool {
        while let Ok(Some(line)) = self.read() {
            if !send(line, Instant::now()) {
                return false;
            }
        }
        true
    }

    fn finish(&self, length: u64) -> ReadLine {
        if length > self.limit as u64 {
            return ReadLine::TooLong(length);
        }
        let line = self.line.strip_suffix(b"\r").unwrap_or(&self.line);
        let text = String::from_utf8_lossy(line);
        ReadLine::Text(if text.contains(char::is_control) {
            text.replace(char::is_control, " ")
        } else {
            text.into_owned()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(bytes: &[u8], limit: usize) -> Vec<ReadLine> {
        let mut reader = LineReader::with_limit(io::BufReader::with_capacity(3, bytes), limit);
        std::iter::from_fn(|| reader.read().unwrap()).collect()
    }

    #[test]
    fn lines_are_cut_cleaned_and_limited() {
        let text = |s: &str| ReadLine::Text(s.to_owned());
        assert_eq!(lines(b"a\r\n\nbc", 10), [text("a"), text(""), text("bc")]);
        assert_eq!(lines(b"0123456789\n01234567890\nx\n", 10), [text("0123456789"), ReadLine::TooLong(11), text("x")]);
        assert_eq!(lines(b"info \xff\xfe\n", 10), [text("info \u{fffd}\u{fffd}")]);
        assert_eq!(lines(b"a\x1b[31m\x00b\rc\td\r\n", 20), [text("a [31m b c d")]);
        assert_eq!(lines("\u{85}指\u{9b}し\n".as_bytes(), 20), [text(" 指 し")]);
        assert!(lines(b"", 10).is_empty());
    }

    #[test]
    fn ten_megabytes_without_a_line_end_use_no_memory() {
        let long = vec![b'x'; 10_000_000];
        let mut reader = LineReader::new(io::BufReader::new(long.as_slice()));
        assert_eq!(reader.read().unwrap(), Some(ReadLine::TooLong(10_000_000)));
        assert!(reader.line.capacity() <= 2 * MAX_LINE_BYTES);
        assert_eq!(reader.read().unwrap(), None);
    }
}
