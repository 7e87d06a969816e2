//! Opens files and archives and hands out what is in them in blocks of whole games.
//!
//! Streams all the way: an archive is decoded as it is read, a member is cut at game boundaries into blocks of about
//! a mebibyte, and only blocks are held. What is inside decides what a file is, never its name.

use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use encoding_rs::Encoding;

use super::find::Entry;
pub use super::source_part::Part;
use super::{Format, Packed, encoding, votes};

/// Bytes of a block, as long as one game fits in.
pub const BLOCK: usize = 1 << 20;
/// Bytes that are asked for at first: most members of an archive are one short game.
pub(super) const FIRST: usize = 1 << 16;
/// The longest game that is read; a "game" beyond it is a broken file.
pub const LONGEST_GAME: usize = 64 << 20;
/// Archives inside archives are opened this deep (`a.zip` holding `b.tar.gz` is three).
const DEEPEST: u32 = 4;
/// Bytes asked for at once. A decoder that meets damage in the middle of a read gives an error and keeps what it had
/// decoded for that read to itself (lzma-rust2 does), so that this much is lost at the most.
const MOST_READ: usize = 1 << 16;
/// Bytes that tell what a stream is: a tar header holds its magic at 257.
const MAGIC: usize = 512;

/// Why a file (or a member of an archive) gave no games.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Refusal {
    /// Nothing in it.
    Empty,
    /// An archive inside an archive that cannot be read as a stream, or too deep.
    NestedArchive,
    /// Not a record in a format that evalcurve reads.
    UnknownFormat,
    /// Could not be read to its end.
    Unreadable,
}

impl Refusal {
    /// The word in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::NestedArchive => "nested_archive",
            Self::UnknownFormat => "unknown_format",
            Self::Unreadable => "unreadable",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
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
    pub format: Format,
    /// What the member declares.
    pub encoding: Option<&'static Encoding>,
    /// Where the block begins in the member.
    pub offset: u64,
    /// A number for the first bytes of the member, where it holds training data.
    pub file_key: u64,
    /// The games, in the first `filled` bytes; what stands behind is of earlier use.
    pub bytes: Vec<u8>,
    /// See `bytes`.
    pub filled: usize,
}

impl Block {
    /// The games.
    pub fn text(&self) -> &[u8] {
        self.bytes.get(..self.filled).unwrap_or(&self.bytes)
    }
}

/// Takes what a walk through the files finds.
pub trait Sink {
    /// The next block, in order.
    fn block(&mut self, block: Block);
    /// A stretch of a file that any thread may read, in order.
    fn part(&mut self, part: Part);
    /// A file or member without games.
    fn refuse(&mut self, key: Key, member: &str, refusal: Refusal, message: String);
    /// A buffer, used before if possible.
    fn buffer(&mut self) -> Vec<u8> {
        Vec::new()
    }
    /// Enough: nothing more is wanted.
    fn stop(&self) -> bool {
        false
    }
    /// The format that all members have, where content is not to decide.
    fn format(&self) -> Option<Format> {
        None
    }
    /// Counts the bytes taken from disk.
    fn byte_count(&self) -> Arc<AtomicU64>;
}

/// Reads one file to its end and gives its blocks to `sink`. Trouble is told to the sink as a refusal.
pub fn read_entry(index: u32, entry: &Entry, sink: &mut dyn Sink) {
    let mut walk = Walk { index, serial: 0, sink };
    let result = match &entry.path {
        None => {
            let count = walk.sink.byte_count();
            walk.any(&entry.display, &mut Counted { inner: io::stdin().lock(), count }, 0)
        }
        Some(path) => walk.file(&entry.display, path),
    };
    if let Err(error) = result {
        walk.refuse(&entry.display, Refusal::Unreadable, error.to_string());
    }
}

/// A file that counts the bytes taken from it, for the progress bar.
struct Counted<R> {
    inner: R,
    count: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.count.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}

impl<R: Seek> Seek for Counted<R> {
    fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
        self.inner.seek(to)
    }
}

/// The first bytes of a stream, and the stream as it was before they were looked at.
struct Peeked<'a> {
    head: Vec<u8>,
    at: usize,
    inner: &'a mut dyn Read,
}

impl<'a> Peeked<'a> {
    fn new(inner: &'a mut dyn Read) -> io::Result<Self> {
        let mut head = Vec::with_capacity(MAGIC);
        inner.take(MAGIC as u64).read_to_end(&mut head)?;
        Ok(Self { head, at: 0, inner })
    }
}

impl Read for Peeked<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at < self.head.len() {
            let n = buffer.len().min(self.head.len() - self.at);
            buffer[..n].copy_from_slice(&self.head[self.at..self.at + n]);
            self.at += n;
            return Ok(n);
        }
        self.inner.read(buffer)
    }
}

/// What the first bytes of a stream say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Container {
    Gzip,
    Zstd,
    Xz,
    Zip,
    SevenZip,
    Tar,
    Plain,
}

fn container(head: &[u8]) -> Container {
    match head {
        [0x1f, 0x8b, ..] => Container::Gzip,
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Container::Zstd,
        // a skippable frame of zstd, as pzstd writes it first
        [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Container::Zstd,
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Container::Xz,
        [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => Container::Zip,
        [b'7', b'z', 0xbc, 0xaf, 0x27, 0x1c, ..] => Container::SevenZip,
        _ if head.get(257..262) == Some(b"ustar") => Container::Tar,
        _ => Container::Plain,
    }
}

struct Walk<'s> {
    index: u32,
    serial: u64,
    sink: &'s mut dyn Sink,
}

impl Walk<'_> {
    fn key(&mut self) -> Key {
        self.serial += 1;
        (self.index, self.serial)
    }

    fn refuse(&mut self, member: &str, refusal: Refusal, message: String) {
        let key = self.key();
        self.sink.refuse(key, member, refusal, message);
    }

    fn file(&mut self, display: &str, path: &Path) -> io::Result<()> {
        let mut file = File::open(path)?;
        let mut head = Vec::new();
        (&mut file).take(MAGIC as u64).read_to_end(&mut head)?;
        file.rewind()?;
        let mut counted = Counted { inner: file, count: self.sink.byte_count() };
        match container(&head) {
            Container::Plain if self.parts(display, &mut counted.inner, &head)? => Ok(()),
            Container::Zip => self.zip(display, counted),
            Container::SevenZip => self.seven_zip(display, counted),
            _ => self.any(display, &mut counted, 0),
        }
    }

    /// Hands out a file of equal records by its places; `false`, with the file at its beginning, for any other.
    fn parts(&mut self, display: &str, file: &mut File, head: &[u8]) -> io::Result<bool> {
        let forced = self.sink.format();
        let mut head = head.to_vec();
        let look = match forced {
            None => memchr::memchr(0, &head).is_some(),
            Some(format) => matches!(format, Format::Packed(_)),
        };
        if look {
            file.seek(io::SeekFrom::Start(head.len() as u64))?;
            Read::by_ref(file).take((FIRST - head.len()) as u64).read_to_end(&mut head)?;
            file.rewind()?;
        }
        let Some(Format::Packed(packed)) = forced.or_else(|| Packed::detect(&head).map(Format::Packed)) else {
            return Ok(false);
        };
        let Some(record) = packed.record_bytes() else { return Ok(false) };
        let (size, block) = (file.metadata()?.len(), (BLOCK / record * record) as u64);
        if size == 0 {
            return Ok(false);
        }
        let member: Arc<str> = Arc::from(display);
        let file = Arc::new(file.try_clone()?);
        for offset in (0..size).step_by(block as usize) {
            if self.sink.stop() {
                break;
            }
            let part = Part {
                key: self.key(),
                member: member.clone(),
                format: Format::Packed(packed),
                file_key: Packed::file_key(&head),
                offset,
                length: block.min(size - offset) as usize,
                file: file.clone(),
                count: self.sink.byte_count(),
            };
            self.sink.part(part);
        }
        Ok(true)
    }

    /// Opens what `reader` holds, whatever it is.
    fn any(&mut self, display: &str, reader: &mut dyn Read, depth: u32) -> io::Result<()> {
        let mut peeked = Peeked::new(reader)?;
        let kind = container(&peeked.head);
        if kind != Container::Plain && depth >= DEEPEST {
            self.refuse(
                display,
                Refusal::NestedArchive,
                format!("archives are opened {DEEPEST} deep; unpack it first"),
            );
            return Ok(());
        }
        let shorter = |ending: &str| display.strip_suffix(ending).unwrap_or(display).to_owned();
        match kind {
            Container::Plain => self.member(display, &mut peeked),
            Container::Tar => self.tar(display, &mut peeked, depth),
            Container::Gzip => {
                let mut decoder = flate2::read::MultiGzDecoder::new(&mut peeked);
                self.any(&shorter(".gz"), &mut decoder, depth + 1)
            }
            Container::Zstd => {
                let mut decoder = zstd::stream::read::Decoder::new(&mut peeked)?;
                self.any(&shorter(".zst"), &mut decoder, depth + 1)
            }
            Container::Xz => {
                let mut decoder = lzma_rust2::XzReader::new(&mut peeked, true);
                self.any(&shorter(".xz"), &mut decoder, depth + 1)
            }
            Container::Zip | Container::SevenZip => {
                let what = if kind == Container::Zip { "a zip" } else { "a 7z" };
                let message = format!("{what} archive inside another or on standard input; save or unpack it first");
                self.refuse(display, Refusal::NestedArchive, message);
                Ok(())
            }
        }
    }

    fn tar(&mut self, display: &str, reader: &mut dyn Read, depth: u32) -> io::Result<()> {
        let mut archive = tar::Archive::new(reader);
        for found in archive.entries()? {
            let mut found = found?;
            if self.sink.stop() {
                return Ok(());
            }
            if !found.header().entry_type().is_file() {
                continue;
            }
            let name = encoding::decode(&found.path_bytes(), None, &[]);
            let name = inside(display, &name);
            if let Err(error) = self.any(&name, &mut found, depth + 1) {
                self.refuse(&name, Refusal::Unreadable, error.to_string());
            }
        }
        Ok(())
    }

    fn zip(&mut self, display: &str, mut file: Counted<File>) -> io::Result<()> {
        let mut archive = match zip::ZipArchive::new(BufReader::new(&mut file)) {
            Ok(archive) => archive,
            Err(error) => {
                self.zip_without_directory(display, &mut file)?;
                return Err(error.into());
            }
        };
        for index in 0..archive.len() {
            if self.sink.stop() {
                return Ok(());
            }
            let mut found = match archive.by_index(index) {
                Ok(found) => found,
                Err(error) => {
                    self.refuse(display, Refusal::Unreadable, format!("member {index}: {error}"));
                    continue;
                }
            };
            if !found.is_file() {
                continue;
            }
            let raw = found.name_raw().to_vec();
            let name = inside(display, &encoding::decode(&raw, None, &raw));
            if let Err(error) = self.any(&name, &mut found, 1) {
                self.refuse(&name, Refusal::Unreadable, error.to_string());
            }
        }
        Ok(())
    }

    /// The directory stands at the end of a zip: where the end is missing, the members are read one after the other
    /// as far as they go.
    fn zip_without_directory(&mut self, display: &str, file: &mut Counted<File>) -> io::Result<()> {
        file.rewind()?;
        let mut reader = BufReader::new(file);
        while let Ok(Some(mut found)) = zip::read::read_zipfile_from_stream(&mut reader) {
            if self.sink.stop() {
                return Ok(());
            }
            if !found.is_file() {
                continue;
            }
            let raw = found.name_raw().to_vec();
            let name = inside(display, &encoding::decode(&raw, None, &raw));
            // the archive as a whole is told as unreadable by the caller
            if self.any(&name, &mut found, 1).is_err() {
                break;
            }
        }
        Ok(())
    }

    fn seven_zip(&mut self, display: &str, file: Counted<File>) -> io::Result<()> {
        let mut archive = sevenz_rust2::ArchiveReader::new(BufReader::new(file), sevenz_rust2::Password::empty())
            .map_err(io::Error::other)?;
        archive
            .for_each_entries(|found, reader| {
                if self.sink.stop() {
                    return Ok(false);
                }
                if found.is_directory() {
                    return Ok(true);
                }
                let name = inside(display, found.name());
                if let Err(error) = self.any(&name, reader, 1) {
                    self.refuse(&name, Refusal::Unreadable, error.to_string());
                }
                // a solid archive goes on behind what was not read
                io::copy(reader, &mut io::sink())?;
                Ok(true)
            })
            .map_err(io::Error::other)
    }

    /// The format of a member that begins so: the one that the user says, else by content.
    fn format_of(&self, head: &[u8]) -> Option<Format> {
        self.sink.format().or_else(|| Format::detect(head))
    }

    /// Cuts a plain text into blocks of whole games.
    fn member(&mut self, display: &str, reader: &mut dyn Read) -> io::Result<()> {
        let member: Arc<str> = Arc::from(display);
        let mut buffer = self.sink.buffer();
        let mut filled = 0;
        let mut known: Option<(Format, Option<&'static Encoding>)> = None;
        let (mut offset, mut file_key) = (0, 0);
        let mut want = FIRST;
        loop {
            if self.sink.stop() {
                return Ok(());
            }
            let (at_end, trouble) = match fill(reader, &mut buffer, &mut filled, want) {
                Ok(at_end) => (at_end, None),
                // what was read before the trouble stays in the buffer, and its whole games count
                Err(error) => (false, Some(error)),
            };
            if want < BLOCK && !at_end && trouble.is_none() {
                want = BLOCK;
                continue;
            }
            let text = &buffer[..filled];
            let (format, encoding) = match known {
                Some(known) => known,
                None if trouble.is_some() && self.format_of(text).is_none() => return trouble.map_or(Ok(()), Err),
                None if text.is_empty() => {
                    self.refuse(display, Refusal::Empty, "the file is empty".to_owned());
                    return Ok(());
                }
                None => match self.format_of(text) {
                    Some(format) => {
                        let packed = matches!(format, Format::Packed(_));
                        file_key = if packed { Packed::file_key(text) } else { 0 };
                        *known.insert((format, if packed { None } else { encoding::declared(text) }))
                    }
                    None => {
                        self.refuse(display, Refusal::UnknownFormat, unknown_format(text));
                        return Ok(());
                    }
                },
            };
            let cut = if at_end { Some(filled) } else { format.last_boundary(text) };
            let Some(cut) = cut else {
                if let Some(error) = trouble {
                    return Err(error);
                }
                if want >= LONGEST_GAME {
                    let limit = LONGEST_GAME >> 20;
                    let message = format!("no game ends within {limit} MiB; the rest of the file is passed over");
                    self.refuse(display, Refusal::Unreadable, message);
                    return Ok(());
                }
                want *= 2;
                continue;
            };
            if cut == 0 {
                return Ok(());
            }
            let key = self.key();
            let member = member.clone();
            let block = |bytes| Block { key, member, format, encoding, offset, file_key, bytes, filled: cut };
            if at_end {
                self.sink.block(block(buffer));
                return Ok(());
            }
            let mut next = self.sink.buffer();
            let left = filled - cut;
            if next.len() < left {
                next.resize(left.max(BLOCK), 0);
            }
            next[..left].copy_from_slice(&buffer[cut..filled]);
            self.sink.block(block(buffer));
            offset += cut as u64;
            if let Some(error) = trouble {
                return Err(error);
            }
            (buffer, filled) = (next, left);
            want = BLOCK.max(left + BLOCK / 2);
        }
    }
}

/// Reads until `want` bytes are there or the stream ends, which it says. The buffer stays as long as it ever was, so
/// that its bytes are set to zero once and not for every block.
fn fill(reader: &mut dyn Read, buffer: &mut Vec<u8>, filled: &mut usize, want: usize) -> io::Result<bool> {
    if buffer.len() < want {
        buffer.resize(want, 0);
    }
    while *filled < want {
        let to = want.min(*filled + MOST_READ);
        match reader.read(&mut buffer[*filled..to]) {
            Ok(0) => return Ok(true),
            Ok(n) => *filled += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(false)
}

fn inside(archive: &str, member: &str) -> String {
    format!("{archive}/{}", member.trim_start_matches("./"))
}

fn unknown_format(head: &[u8]) -> String {
    let look = &head[..head.len().min(4096)];
    if look.starts_with(b"\xFF\xFE") || look.starts_with(b"\xFE\xFF") {
        return "UTF-16 text; save the record as UTF-8 or Shift_JIS".to_owned();
    }
    if look.contains(&0) {
        return "binary data, not a record that evalcurve reads (CSA, KIF, PGN, HCPE, HCPE3, PSV, USI logs, logs of councils); if it is one, say which by --format".to_owned();
    }
    if let Some(version) = votes::version(look) {
        let known = votes::VERSION;
        return format!(
            "the log of a council of version {version}, this program reads {known}; use the one that wrote it"
        );
    }
    "not a record that evalcurve reads (CSA, KIF, PGN, HCPE, HCPE3, PSV, USI logs, logs of councils); if it is one, say which by --format"
        .to_owned()
}
