//! Splits protocol lines into words.

use std::iter::Peekable;
use std::str::{FromStr, SplitWhitespace};

/// The first word of a line and the rest, both trimmed.
pub(crate) fn first_word(line: &str) -> (&str, &str) {
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    (word, rest.trim())
}

/// The words of a line, separated by whitespace.
pub(super) struct Words<'a>(Peekable<SplitWhitespace<'a>>);

impl<'a> Words<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self(text.split_whitespace().peekable())
    }

    /// Takes the next word if `parse` accepts it; otherwise leaves it.
    pub(crate) fn parsed<T>(&mut self, parse: impl FnOnce(&str) -> Option<T>) -> Option<T> {
        let value = parse(self.0.peek()?)?;
        self.0.next();
        Some(value)
    }

    /// Takes the next word if it is a `T`; otherwise leaves it.
    pub(crate) fn value<T: FromStr>(&mut self) -> Option<T> {
        self.parsed(|word| word.parse().ok())
    }

    /// Takes words as long as they match, and gives each to `take`.
    pub(crate) fn each_matching(&mut self, matches: impl Fn(&str) -> bool, mut take: impl FnMut(&str)) {
        while let Some(word) = self.0.next_if(|word| matches(word)) {
            take(word);
        }
    }
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        self.0.next()
    }
}
