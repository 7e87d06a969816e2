//! Lines of a limited length, whatever a program writes.

use std::io::{self, BufRead};

/// The longest line that is read whole; principal variations and positions of long games stay far below.
pub const MAX_LINE_BYTES: usize = 64 * 1024;

/// A line without its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// Its text; bytes that are no UTF-8 are U+FFFD.
    Text(String),
    /// It was longer than the limit and was thrown away; its length in bytes.
    TooLong(u64),
}

/// Reads lines and keeps no more than [`MAX_LINE_BYTES`] of one.
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

    /// The next line, `None` at the end. A last line needs no end.
    ///
    /// # Errors
    /// What the input says; an interruption is none.
    pub fn read(&mut self) -> io::Result<Option<Line>> {
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
            let room = self.limit.saturating_sub(self.line.len());
            self.line.extend_from_slice(&part[..part.len().min(room)]);
            let used = part.len() + usize::from(end.is_some());
            self.input.consume(used);
            if end.is_some() {
                return Ok(Some(self.finish(length)));
            }
        }
    }

    fn finish(&self, length: u64) -> Line {
        if length > self.limit as u64 {
            return Line::TooLong(length);
        }
        let line = self.line.strip_suffix(b"\r").unwrap_or(&self.line);
        Line::Text(String::from_utf8_lossy(line).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(bytes: &[u8], limit: usize) -> Vec<Line> {
        let mut reader = LineReader::with_limit(io::BufReader::with_capacity(3, bytes), limit);
        std::iter::from_fn(|| reader.read().unwrap()).collect()
    }

    #[test]
    fn lines_are_cut_cleaned_and_limited() {
        let text = |s: &str| Line::Text(s.to_owned());
        assert_eq!(lines(b"a\r\n\nbc", 10), [text("a"), text(""), text("bc")]);
        assert_eq!(lines(b"0123456789\n01234567890\nx\n", 10), [text("0123456789"), Line::TooLong(11), text("x")]);
        assert_eq!(lines(b"info \xff\xfe\n", 10), [text("info \u{fffd}\u{fffd}")]);
        assert!(lines(b"", 10).is_empty());
    }

    #[test]
    fn ten_megabytes_without_an_end_take_no_memory() {
        let long = vec![b'x'; 10_000_000];
        let mut reader = LineReader::new(io::BufReader::new(long.as_slice()));
        assert_eq!(reader.read().unwrap(), Some(Line::TooLong(10_000_000)));
        assert!(reader.line.capacity() <= 2 * MAX_LINE_BYTES);
        assert_eq!(reader.read().unwrap(), None);
    }
}
