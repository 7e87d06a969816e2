//! What is handed to the threads that read: files, blocks of games, and what is to be reported about files.

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use evalcurve_words::language::Text;
use evalcurve_words::text;
use strum::{Display, IntoStaticStr, VariantNames};

use super::Formats;
use super::find::Entry;
use super::format::{Above, Format};
use crate::sample::collect::ProblemKind;

/// Bytes of a block, unless one game is longer.
pub(crate) const BLOCK: usize = 1 << 20;
/// The longest game that is read; a longer "game" is a broken file.
pub(crate) const LONGEST_GAME: usize = 64 << 20;

/// Why a file (or a member of an archive) gave no games.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Display, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum Refusal {
    /// The file is empty.
    Empty,
    /// An archive inside an archive that cannot be read as a stream, or is nested too deep.
    NestedArchive,
    /// Not a record in a format that evalcurve reads.
    UnknownFormat,
    /// Could not be read to its end.
    Unreadable,
    /// In a known format, but without a game; known when the file has been read.
    NoGames,
}

impl Refusal {
    /// The word in reports.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// The message for [`Refusal::NoGames`].
    pub fn no_games() -> Text {
        text!("the file holds no game; it may be cut off, or in another format (`format`)")
    }
}

/// The place of a block in the order of reading: file, then block within the file.
pub type Key = (u32, u64);

/// Whole games of one member.
#[derive(Debug)]
pub struct Block {
    /// Its place in the order of reading.
    pub key: Key,
    /// The file, or the member of an archive.
    pub member: Arc<str>,
    /// How to read it.
    pub format: &'static Format,
    /// What the member says above the block.
    pub above: Above,
    /// Where the block begins in the member.
    pub offset: u64,
    /// A number for the first bytes of the member, if it holds training data.
    pub file_key: u64,
    /// The games, in the first `filled` bytes; the bytes after them are left from an earlier use.
    pub bytes: Vec<u8>,
    /// See `bytes`.
    pub filled: usize,
    /// What the games show differently from the file.
    pub cleaned: Cleaned,
    /// Whether it is all that is read of the member.
    pub is_whole: bool,
}

/// What was changed in the text of a file, so that no format needs to know of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cleaned {
    /// The places in the text before which a byte order mark stood.
    pub marks: Vec<usize>,
    pub returns: Returns,
}

/// What became of carriage returns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Returns {
    #[default]
    Kept,
    /// Every line feed was a carriage return.
    Replaced,
    /// Some line feeds were.
    Mixed,
}

impl Block {
    /// The games.
    pub fn text(&self) -> &[u8] {
        self.bytes.get(..self.filled).unwrap_or(&self.bytes)
    }
}

/// What is to be reported about a file or member.
#[derive(Debug)]
pub struct Note {
    /// Its place in the order of reading.
    pub key: Key,
    /// The file, or the member of an archive.
    pub member: Arc<str>,
    /// Why it gave no games; `None` if something is odd about it, but it is read nevertheless.
    pub refusal: Option<Refusal>,
    /// The kind under which it is counted.
    pub kind: ProblemKind,
    pub message: Text,
}

/// A piece of work for a thread.
#[derive(Debug)]
pub enum Work {
    /// A small file, and its number in the order of reading.
    Entry(u32, Entry),
    /// A stretch of a file.
    Part(Part),
    /// Games to be read.
    Block(Block),
    /// Something to be reported about a file or member.
    Note(Note),
}

/// Receives what is found in the files, in order.
pub trait Sink {
    /// Takes the next piece of work.
    fn take(&mut self, work: Work);
    /// What all threads share.
    fn shared(&self) -> &Shared;
}

/// What all threads share.
#[derive(Debug, Default)]
pub struct Shared {
    pub formats: Formats,
    /// Counts the bytes read from disk.
    pub bytes: Arc<AtomicU64>,
    /// Whether to stop reading.
    pub stop: AtomicBool,
    /// Used buffers.
    pub pool: Mutex<Vec<Vec<u8>>>,
}

impl Shared {
    /// A buffer, a used one if possible.
    pub fn buffer(&self) -> Vec<u8> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    /// Whether to stop reading.
    pub fn stops(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// A stretch of a big file of records of equal length, which any free thread can read: such a file can be cut without a
/// scan. All threads share one handle, so each read gives its offset and does not move the position of the others.
#[derive(Debug)]
pub struct Part {
    /// The block that it becomes, with its place and its length, but not its bytes.
    pub(super) block: Block,
    pub(super) file: Arc<File>,
}

impl Part {
    /// The file.
    pub(crate) fn member(&self) -> &Arc<str> {
        &self.block.member
    }

    /// Its length in bytes.
    pub fn length(&self) -> usize {
        self.block.filled
    }

    /// Reads the stretch: a block, or the refusal of the file.
    pub fn read(self, shared: &Shared) -> Work {
        let Self { mut block, file } = self;
        block.bytes = shared.buffer();
        if block.bytes.len() < block.filled {
            block.bytes.resize(block.filled, 0);
        }
        match read_exact_at(&file, &mut block.bytes[..block.filled], block.offset) {
            Ok(()) => {
                shared.bytes.fetch_add(block.filled as u64, Ordering::Relaxed);
                Work::Block(block)
            }
            Err(error) => {
                let shorter = error.kind() == io::ErrorKind::UnexpectedEof;
                let message = match shorter {
                    true => text!("the file has become shorter"),
                    false => error.to_string().into(),
                };
                let (Block { key, member, .. }, refusal) = (block, Refusal::Unreadable);
                Work::Note(Note { key, member, refusal: Some(refusal), kind: refusal.into(), message })
            }
        }
    }
}

#[cfg(unix)]
fn read_exact_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, offset)
}

/// All threads share the position of the handle, so they read in turn.
#[cfg(not(unix))]
fn read_exact_at(mut file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    use std::io::{Read, Seek, SeekFrom};
    static TURN: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _turn = TURN.lock();
    file.seek(SeekFrom::Start(offset))?;
    file.read_exact(buffer)
}
