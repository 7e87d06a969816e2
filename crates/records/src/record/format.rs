//! What each format declares about itself: its names, how it is recognised and read, and its abilities.

use std::collections::VecDeque;

use encoding_rs::Encoding;

use super::csa::verify::VerifyError;
use super::pgn::replay::ReplayError;
use super::usi_log::EngineNames;
use super::{FORMATS, Game, GameError, Packed};

/// Bytes that are searched for a zero byte, which tells training data from text.
const BINARY_CHECK: usize = 4_096;
/// Bytes that a text format looks at to recognise a file.
const TEXT_CHECK: usize = 65_536;

/// One format: its names, how it is recognised and read, and what else can be done with its games.
#[derive(Debug)]
pub struct Format {
    /// The value of `--format`, and the key in reports.
    pub name: &'static str,
    /// The name in messages.
    pub label: &'static str,
    /// One line for the documentation.
    pub about: &'static str,
    /// How it is recognised and read.
    pub content: Content,
    /// Checks the moves of the text of one game with a second reader, for `--verify`.
    pub verify: Option<CheckMoves>,
    /// Counts the material before the given half-moves of the text of one game, for `--material`.
    pub material: Option<CountMaterial>,
}

/// See [`csa::verify`](super::csa::verify).
pub type CheckMoves = fn(&[u8]) -> Result<(), VerifyError>;

/// See [`pgn::replay::material`](super::pgn::replay::material).
pub type CountMaterial = fn(&[u8], &mut dyn Iterator<Item = u32>) -> Result<Vec<u16>, ReplayError>;

/// What a file holds.
#[derive(Debug)]
pub enum Content {
    /// Games, as text.
    Games(Reader),
    /// Positions of training data.
    Positions(Packed),
}

/// How the games of one text format are recognised and read.
#[derive(Debug)]
pub struct Reader {
    /// Whether a file that begins with these bytes is in this format. The bytes hold no byte order mark; there
    /// are at most 64 KiB of them.
    pub recognise: fn(&[u8]) -> bool,
    /// See [`Format::last_boundary`].
    pub last_boundary: fn(&[u8]) -> Option<usize>,
    /// See [`Format::read_game`], which empties the game.
    pub read_game: fn(&[u8], &mut Cursor, &mut Game) -> Result<bool, GameError>,
    /// See [`Format::note_names`].
    pub names: Option<fn(&mut EngineNames, &[u8])>,
}

impl Format {
    /// The format of a file that begins with these bytes, by its content alone. A text may hold zero bytes by accident,
    /// so bytes that are no training data can still be one.
    pub fn detect(head: &[u8]) -> Option<&'static Self> {
        let find = |is_text| FORMATS.iter().copied().find(|format| format.recognises_as(head, is_text));
        if has_zero(head) { find(false).or_else(|| find(true)) } else { find(true) }
    }

    /// The format with this name.
    pub fn by_name(name: &str) -> Option<&'static Self> {
        FORMATS.iter().copied().find(|format| format.name == name)
    }

    /// The labels of all formats, joined by commas.
    pub fn labels() -> String {
        FORMATS.iter().map(|format| format.label).collect::<Vec<_>>().join(", ")
    }

    fn recognises_as(&self, head: &[u8], is_text: bool) -> bool {
        match self.content {
            Content::Games(Reader { recognise, .. }) => {
                let text = head.strip_prefix(BOM).unwrap_or(head);
                is_text && recognise(&text[..text.len().min(TEXT_CHECK)])
            }
            Content::Positions(packed) => !is_text && Packed::detect(head) == Some(packed),
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
            Content::Games(reader) => (reader.last_boundary)(block),
            Content::Positions(packed) => packed.last_boundary(block),
        }
    }

    /// Notes the names in these whole games that the games after them can need.
    pub fn note_names(&self, block: &[u8], names: &mut EngineNames) {
        if let Content::Games(Reader { names: Some(note), .. }) = self.content {
            note(names, block);
        }
    }

    /// Reads the next game of `block`, starting at the cursor, into `game`. The block may begin with a byte order mark;
    /// see [`remove_marks`] for those within.
    ///
    /// Returns `Ok(false)` at the end of the block, and for training data. After an error the cursor is after the
    /// broken game.
    ///
    /// # Errors
    /// A [`GameError`] if the game is damaged.
    pub fn read_game(&self, block: &[u8], cursor: &mut Cursor, game: &mut Game) -> Result<bool, GameError> {
        game.clear();
        match &self.content {
            Content::Games(reader) => (reader.read_game)(block, cursor, game),
            Content::Positions(_) => Ok(false),
        }
    }
}

impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Format {}

/// The byte order mark of UTF-8.
pub(super) const BOM: &[u8] = b"\xEF\xBB\xBF";

/// Removes the byte order marks at the beginning of lines but the first, and returns the length of what is left at the
/// beginning of `text`. Files that begin with a mark have them within when they are joined. Before `from` there are
/// none.
pub fn remove_marks(text: &mut [u8], from: usize) -> usize {
    const AFTER_LINE: &[u8] = b"\n\xEF\xBB\xBF";
    let finder = memchr::memmem::Finder::new(AFTER_LINE);
    // all of a mark but its last byte may be before `from`
    let from = from.saturating_sub(AFTER_LINE.len() - 1);
    let Some(first) = finder.find(&text[from..]) else { return text.len() };
    let mut kept = from + first + 1;
    let mut at = kept;
    while at < text.len() {
        while text[at..].starts_with(BOM) {
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

/// The position of a reader in a block.
#[derive(Debug, Clone, Default)]
pub struct Cursor {
    /// Byte offset.
    pub offset: usize,
    /// Lines before it.
    pub line: u64,
    /// The encoding that the file declares, if any.
    pub encoding: Option<&'static Encoding>,
    /// Games before `offset` that are still to be given: a vote log gives a game once per voter.
    pub later: VecDeque<Game>,
    /// Whether a comment of the block can hold rates of wins, draws and losses; `None` until it is known.
    pub declares: Option<bool>,
    /// Names that engines of a log gave before `offset`.
    pub names: EngineNames,
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
