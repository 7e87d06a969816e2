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

    /// Whether a file that begins with these bytes is in this format.
    pub fn recognises(&self, head: &[u8]) -> bool {
        self.recognises_as(head, !has_zero(head))
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

    /// Reads the next game of `block`, starting at the cursor, into `game`.
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
