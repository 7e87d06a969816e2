//! What each format declares about itself: its names, how it is recognised and read, and its abilities.

use encoding_rs::Encoding;

use super::game::{Game, GameError};
use super::names::EngineNames;

/// Bytes that are searched for a zero byte, which tells training data from text.
const BINARY_CHECK: usize = 4_096;
/// Bytes that a text format looks at to recognise a file.
const TEXT_CHECK: usize = 65_536;

/// One format: its names, how it is recognised and read, and what else can be done with its games.
#[derive(Debug)]
pub struct Format {
    /// The value of options, and the key in reports.
    pub name: &'static str,
    /// The name in messages.
    pub label: &'static str,
    /// One line for the documentation.
    pub about: &'static str,
    /// How it is recognised and read.
    pub content: Content,
    /// Checks the moves of the text of one game with a second reader, for
    /// [`CollectOptions::verify`](crate::sample::CollectOptions::verify).
    pub verify: Option<CheckMoves>,
    /// Counts the material before the given half-moves of the text of one game, for
    /// [`CollectOptions::material`](crate::sample::CollectOptions::material).
    pub material: Option<CountMaterial>,
}

/// The error is a text for messages.
pub(crate) type CheckMoves = fn(&[u8]) -> Result<(), String>;

/// The error is a text for messages.
pub(crate) type CountMaterial = fn(&[u8], &mut dyn Iterator<Item = u32>) -> Result<Vec<u16>, String>;

/// What a file holds.
#[derive(Debug)]
pub enum Content {
    Games(Reading),
    /// Positions of training data.
    Positions(Packed),
}

/// A format of training data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Packed {
    /// Single positions of Apery and dlshogi.
    Hcpe,
    /// Games of dlshogi.
    Hcpe3,
    /// Single positions of YaneuraOu.
    Psv,
    /// Single positions of Stockfish's tools, as text.
    Plain,
    /// Chains of positions of Stockfish.
    Binpack,
}

impl Packed {
    /// The name of the format.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Hcpe => "hcpe",
            Self::Hcpe3 => "hcpe3",
            Self::Psv => "psv",
            Self::Plain => "plain",
            Self::Binpack => "binpack",
        }
    }
}

/// A reader of one text format. Each block has a reader of its own; its fields are what it keeps from game to game.
pub trait Reader: Send {
    /// Tells if a file that begins with these bytes is in this format. They hold no byte order mark, and there are at
    /// most 64 KiB of them.
    fn recognise(head: &[u8]) -> bool
    where
        Self: Sized;

    /// Where `block` can be cut so that the first part holds whole games only; `None` if none ends in it.
    fn last_boundary(block: &[u8]) -> Option<usize>
    where
        Self: Sized;

    /// Adds what these whole games say that the games below them can need.
    fn note(_block: &[u8], _above: &mut Above)
    where
        Self: Sized,
    {
    }

    /// A reader of the block below this text.
    fn below(above: &Above) -> Self
    where
        Self: Sized;

    /// Reads the game at the cursor into `game`, which is empty, and moves the cursor behind it. Returns `false` if
    /// there are no more. After an error the cursor is after the broken game.
    ///
    /// # Errors
    /// A [`GameError`] if the game is damaged.
    fn read_game(&mut self, block: &[u8], cursor: &mut Cursor, game: &mut Game) -> Result<bool, GameError>;
}

/// The functions of a reader of games.
#[derive(Debug)]
pub struct Reading {
    recognise: fn(&[u8]) -> bool,
    last_boundary: fn(&[u8]) -> Option<usize>,
    note: fn(&[u8], &mut Above),
    below: fn(&Above) -> Box<dyn Reader>,
}

/// What the text of a file above a block says that the games of the block can need.
#[derive(Debug, Clone, Default)]
pub struct Above {
    /// The encoding that the file declares.
    pub encoding: Option<&'static Encoding>,
    /// Names that engines of a log gave.
    pub names: EngineNames,
}

/// A place in a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cursor {
    /// Byte offset.
    pub offset: usize,
    /// Lines before it.
    pub line: u64,
}

impl Cursor {
    /// The next line without its end, behind which the cursor then is; `None` at the end of the block.
    pub fn next_line<'a>(&mut self, block: &'a [u8]) -> Option<&'a [u8]> {
        let rest = block.get(self.offset..).filter(|rest| !rest.is_empty())?;
        let line = rest.split_inclusive(|&byte| byte == b'\n').next()?;
        self.offset += line.len();
        self.line += u64::from(line.ends_with(b"\n"));
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    }
}

/// The boundary of a format whose games are lines: behind the last whole line.
pub fn last_line_end(block: &[u8]) -> Option<usize> {
    memchr::memrchr(b'\n', block).map(|feed| feed + 1)
}

/// The games of a block, one after another.
pub struct BlockGames<'a> {
    block: &'a [u8],
    cursor: Cursor,
    /// `None` for training data.
    reader: Option<Box<dyn Reader>>,
}

impl<'a> BlockGames<'a> {
    /// Reads the next game into `game`, and returns its text; `None` at the end. After an error it goes on behind the
    /// broken game.
    pub fn read(&mut self, game: &mut Game) -> Option<Result<&'a [u8], GameError>> {
        game.clear();
        let begin = self.cursor.offset;
        match self.reader.as_mut()?.read_game(self.block, &mut self.cursor, game) {
            Ok(false) => None,
            Ok(true) => Some(Ok(self.block.get(begin..self.cursor.offset).unwrap_or_default())),
            Err(error) => Some(Err(error)),
        }
    }

    /// The place behind the last game.
    pub fn place(&self) -> Cursor {
        self.cursor
    }
}

impl Iterator for BlockGames<'_> {
    type Item = Result<Game, GameError>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut game = Game::default();
        self.read(&mut game).map(|read| read.map(|_| game))
    }
}

impl Format {
    /// A format of games, which `R` reads, with its name in reports, its label in messages, and a line on it.
    pub const fn of_games<R: Reader + 'static>(name: &'static str, label: &'static str, about: &'static str) -> Self {
        let below = |above: &Above| -> Box<dyn Reader> { Box::new(R::below(above)) };
        let reading = Reading { recognise: R::recognise, last_boundary: R::last_boundary, note: R::note, below };
        Self { name, label, about, content: Content::Games(reading), verify: None, material: None }
    }

    /// A format of training data.
    pub(super) const fn of_positions(packed: Packed, label: &'static str, about: &'static str) -> Self {
        let content = Content::Positions(packed);
        Self { name: packed.as_str(), label, about, content, verify: None, material: None }
    }

    /// Tells if a file that begins with these bytes is in this format.
    pub(super) fn recognises_as(&self, head: &[u8], is_text: bool) -> bool {
        match self.content {
            Content::Games(Reading { recognise, .. }) => {
                let text = head.strip_prefix(BOM).unwrap_or(head);
                is_text && recognise(&text[..text.len().min(TEXT_CHECK)])
            }
            Content::Positions(packed) => packed.recognises(head, is_text),
        }
    }

    /// The training data that it holds; `None` for games.
    pub fn packed(&self) -> Option<Packed> {
        match self.content {
            Content::Games(_) => None,
            Content::Positions(packed) => Some(packed),
        }
    }

    /// Where `block` can be cut so that the first part holds whole games or records only; `None` if none ends in it.
    pub fn last_boundary(&self, block: &[u8]) -> Option<usize> {
        match &self.content {
            Content::Games(reading) => (reading.last_boundary)(block),
            Content::Positions(packed) => packed.last_boundary(block),
        }
    }

    /// Adds what these whole games say that the games below them can need.
    pub fn note(&self, block: &[u8], above: &mut Above) {
        if let Content::Games(reading) = &self.content {
            (reading.note)(block, above);
        }
    }

    /// The games of a block, none of training data. The block may begin with a byte order mark; see [`remove_marks`]
    /// for those within.
    pub fn games<'a>(&self, block: &'a [u8], above: &Above) -> BlockGames<'a> {
        let reader = match &self.content {
            Content::Games(reading) => Some((reading.below)(above)),
            Content::Positions(_) => None,
        };
        BlockGames { block, cursor: Cursor::default(), reader }
    }
}

impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Format {}

/// The byte order mark of UTF-8.
pub const BOM: &[u8] = b"\xEF\xBB\xBF";

/// Removes the byte order marks at the beginning of lines but the first, and returns the length of what is left at the
/// beginning of `text`. Files that begin with a mark have them within when they are joined. Before `from` there are
/// none.
pub fn remove_marks(text: &mut [u8], from: usize) -> usize {
    remove_marks_at(text, from, |_| {})
}

/// As [`remove_marks`], and tells the places of what is left before which the marks stood.
pub(super) fn remove_marks_at(text: &mut [u8], from: usize, mut removed: impl FnMut(usize)) -> usize {
    const AFTER_LINE: &[u8] = b"\n\xEF\xBB\xBF";
    let finder = memchr::memmem::Finder::new(AFTER_LINE);
    // all of a mark but its last byte may be before `from`
    let from = from.saturating_sub(AFTER_LINE.len() - 1);
    let Some(first) = finder.find(&text[from..]) else { return text.len() };
    let mut kept = from + first + 1;
    let mut at = kept;
    while at < text.len() {
        while text[at..].starts_with(BOM) {
            removed(kept);
            at += BOM.len();
        }
        let end = finder.find(&text[at..]).map_or(text.len(), |feed| at + feed + 1);
        text.copy_within(at..end, kept);
        (kept, at) = (kept + end - at, end);
    }
    kept
}

/// Whether a file that begins with these bytes can be training data: text has no zero bytes, except by accident.
pub(crate) fn has_zero(head: &[u8]) -> bool {
    memchr::memchr(0, &head[..head.len().min(BINARY_CHECK)]).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_within_are_removed_wherever_a_read_ends() {
        const JOINED: &str = "\u{feff}V2.2\r\n\u{feff}N+\u{feff}甲\n\u{feff}\u{feff}\n\u{feff}\u{3000}\n\u{feff}";
        const CLEAN: &str = "\u{feff}V2.2\r\nN+\u{feff}甲\n\n\u{3000}\n";
        for parts in 1..JOINED.len() {
            let mut text = Vec::new();
            for part in JOINED.as_bytes().chunks(parts) {
                let before = text.len();
                text.extend_from_slice(part);
                let length = remove_marks(&mut text, before);
                text.truncate(length);
            }
            assert_eq!(String::from_utf8_lossy(&text), CLEAN, "{parts} bytes per read");
        }
    }
}
