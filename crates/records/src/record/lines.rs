//! The place of a reader of text in a block.

use super::format::{BOM, Cursor};
use super::game::{Game, OddityKind};
use super::search::LineFeed;

/// The place of a reader in a block, with the searches for line ends that all readers of text need.
#[derive(Default, Clone, Copy)]
pub(super) struct Lines<'a> {
    pub block: &'a [u8],
    /// Byte offset.
    pub at: usize,
    /// Lines before it.
    pub line: u64,
    /// Whether a statement of this game was read.
    pub begun: bool,
    feed: LineFeed,
}

impl<'a> Lines<'a> {
    /// The place of `cursor`, after the byte order mark that may begin a file.
    pub(super) fn new(block: &'a [u8], cursor: &Cursor) -> Self {
        let mark = cursor.offset == 0 && block.starts_with(BOM);
        let at = if mark { BOM.len() } else { cursor.offset };
        Self { block, at, line: cursor.line, ..Self::default() }
    }

    /// Moves the cursor of the caller to this place.
    pub(super) fn store(&self, cursor: &mut Cursor) {
        (cursor.offset, cursor.line) = (self.at, self.line);
    }

    /// The text from this place on.
    #[inline]
    pub(super) fn rest(&self) -> &'a [u8] {
        &self.block[self.at..]
    }

    /// Notes that the rest of the line is odd.
    #[cold]
    pub(super) fn odd(&self, game: &mut Game, kind: OddityKind) {
        game.odd(kind, self.line, self.text(self.at));
    }

    /// Notes the first statement of a game.
    #[inline]
    pub(super) fn begin(&mut self, game: &mut Game) {
        if !self.begun {
            self.begun = true;
            game.line = self.line;
        }
    }

    /// The end of the line of the byte at `from`.
    #[inline]
    pub(super) fn line_end(&self, from: usize) -> usize {
        self.block.get(from..).and_then(|rest| self.feed.find(rest)).map_or(self.block.len(), |i| from + i)
    }

    /// The end of the line, less a carriage return.
    #[inline]
    pub(super) fn text_end(&self, from: usize) -> usize {
        let end = self.line_end(from);
        if end > from && self.block[end - 1] == b'\r' { end - 1 } else { end }
    }

    /// The text from `from` to the end of its line.
    #[inline]
    pub(super) fn text(&self, from: usize) -> &'a [u8] {
        &self.block[from..self.text_end(from)]
    }

    #[inline]
    pub(super) fn skip_line(&mut self) {
        let end = self.line_end(self.at);
        self.at = (end + 1).min(self.block.len());
        self.line += u64::from(end < self.block.len());
    }

    /// Skips the line feed at the cursor.
    #[inline]
    pub(super) fn skip_feed(&mut self) {
        self.at += 1;
        self.line += 1;
    }
}
