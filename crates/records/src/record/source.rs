//! Cuts files into blocks of whole games or records.
//!
//! Everything is streamed: an archive is decoded as it is read, a member is cut at game boundaries into blocks of about
//! a mebibyte, and only blocks are held in memory. The content decides what a file is, never its name.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::sync::Arc;

use super::format::{Above, Format, has_zero, remove_marks};
use super::packed::{HEAD, Packed};
pub use super::work::{Block, Key, Note, Part, Refusal, Refused, Shared, Sink, Work};
use super::{encoding, votes};
use evalcurve_core::language::Text;
use evalcurve_core::{say, text};

/// Bytes of a block, unless one game is longer.
pub const BLOCK: usize = 1 << 20;
/// The longest game that is read; a longer "game" is a broken file.
pub const LONGEST_GAME: usize = 64 << 20;
/// Bytes asked for at once. A decoder that meets damage in the middle of a read returns an error and drops what it
/// decoded for that read (lzma-rust2 does), so this is the most that is lost.
const MOST_READ: usize = 1 << 16;

/// The reading of one file.
pub(super) struct Walk<'s> {
    pub(super) index: u32,
    pub(super) serial: u64,
    pub(super) sink: &'s mut dyn Sink,
}

impl Walk<'_> {
    fn key(&mut self) -> Key {
        self.serial += 1;
        (self.index, self.serial)
    }

    pub(super) fn refuse(&mut self, member: &str, refusal: Refusal, message: impl Into<Text>) {
        let message = message.into();
        let refused = Refused { key: self.key(), member: Arc::from(member), refusal, message };
        self.sink.take(Work::Refused(refused));
    }

    pub(super) fn note(&mut self, member: &str, kind: &'static str, message: Text) {
        let note = Note { key: self.key(), member: Arc::from(member), kind, message };
        self.sink.take(Work::Note(note));
    }

    /// Hands out stretches of a file of records of equal length. Returns `false`, with the file at its beginning, for
    /// any other file.
    pub(super) fn parts(&mut self, display: &str, file: &mut File, head: &[u8]) -> io::Result<bool> {
        let forced = self.sink.shared().format;
        let mut head = head.to_vec();
        let look = match forced {
            None => memchr::memchr(0, &head).is_some(),
            Some(format) => format.packed().is_some(),
        };
        if look {
            file.seek(io::SeekFrom::Start(head.len() as u64))?;
            Read::by_ref(file).take((HEAD - head.len()) as u64).read_to_end(&mut head)?;
            file.rewind()?;
        }
        let Some(format) = forced.or_else(|| if look { Format::detect(&head) } else { None }) else { return Ok(false) };
        let Some(record) = format.packed().and_then(Packed::record_bytes) else { return Ok(false) };
        let (size, length) = (file.metadata()?.len(), (BLOCK / record * record) as u64);
        if size == 0 {
            return Ok(false);
        }
        let member: Arc<str> = Arc::from(display);
        let (file, file_key) = (Arc::new(file.try_clone()?), Packed::file_key(&head));
        for offset in (0..size).step_by(length as usize) {
            if self.sink.shared().stops() {
                break;
            }
            let block = Block {
                key: self.key(),
                member: member.clone(),
                format,
                above: Above::default(),
                offset,
                file_key,
                bytes: Vec::new(),
                filled: length.min(size - offset) as usize,
            };
            self.sink.take(Work::Part(Part { block, file: file.clone() }));
        }
        Ok(true)
    }

    /// The format of a member that begins with these bytes: the one that the user gives, else by content.
    fn format_of(&self, head: &[u8]) -> Option<&'static Format> {
        self.sink.shared().format.or_else(|| Format::detect(head))
    }

    /// Cuts a plain file into blocks of whole games.
    pub(super) fn member(&mut self, display: &str, reader: &mut dyn Read) -> io::Result<()> {
        let member: Arc<str> = Arc::from(display);
        let mut buffer = self.sink.shared().buffer();
        let mut filled = 0;
        let mut known: Option<&'static Format> = None;
        let (mut offset, mut file_key) = (0, 0);
        let mut above = Above::default();
        let (mut want, mut cleaned) = (HEAD, 0);
        let forced = self.sink.shared().format;
        let mut returns = false;
        loop {
            if self.sink.shared().stops() {
                return Ok(());
            }
            let (at_end, failure) = match fill(reader, &mut buffer, &mut filled, want) {
                Ok(at_end) => (at_end, None),
                // what was read before the error stays in the buffer, and its whole games count
                Err(error) => (false, Some(error)),
            };
            if want < BLOCK && !at_end && failure.is_none() {
                want = BLOCK;
                continue;
            }
            if known.is_none() {
                returns = forced.is_none_or(|format| format.packed().is_none()) && has_returns_alone(&buffer[..filled]);
            }
            if returns {
                buffer[cleaned..filled].iter_mut().filter(|byte| **byte == b'\r').for_each(|byte| *byte = b'\n');
            }
            let text = &buffer[..filled];
            let format = match known {
                Some(known) => known,
                None if failure.is_some() && self.format_of(text).is_none() => return failure.map_or(Ok(()), Err),
                None if text.is_empty() => {
                    self.refuse(display, Refusal::Empty, text!("the file is empty", "ファイルが空です"));
                    return Ok(());
                }
                None => match self.format_of(text) {
                    Some(format) => {
                        let packed = format.packed().is_some();
                        file_key = if packed { Packed::file_key(text) } else { 0 };
                        above.encoding = if packed { None } else { encoding::declared(text) };
                        *known.insert(format)
                    }
                    None => {
                        self.refuse(display, Refusal::UnknownFormat, unknown_format(text));
                        return Ok(());
                    }
                },
            };
            if format.packed().is_none() {
                filled = remove_marks(&mut buffer[..filled], cleaned);
                cleaned = filled;
            }
            let text = &buffer[..filled];
            let cut = if at_end { Some(filled) } else { format.last_boundary(text) };
            let Some(cut) = cut else {
                if let Some(error) = failure {
                    return Err(error);
                }
                if want >= LONGEST_GAME {
                    let limit = LONGEST_GAME >> 20;
                    let message = text!(
                        "no game ends within {limit} MiB; the rest of the file is skipped",
                        "{limit} MiB の中に対局の終わりがありません。ファイルの残りは除きます"
                    );
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
            let place = above.clone();
            let block = |bytes| Block { key, member, format, above: place, offset, file_key, bytes, filled: cut };
            if at_end {
                self.sink.take(Work::Block(block(buffer)));
                return Ok(());
            }
            let mut next = self.sink.shared().buffer();
            let left = filled - cut;
            if next.len() < left {
                next.resize(left.max(BLOCK), 0);
            }
            next[..left].copy_from_slice(&buffer[cut..filled]);
            format.note(&buffer[..cut], &mut above);
            self.sink.take(Work::Block(block(buffer)));
            offset += cut as u64;
            if let Some(error) = failure {
                return Err(error);
            }
            (buffer, filled, cleaned) = (next, left, left);
            want = BLOCK.max(left + BLOCK / 2);
        }
    }
}

/// Whether a file that begins with these bytes is a text whose lines end with CR alone, as those of the classic Mac OS
/// did. Readers expect LF or CRLF.
fn has_returns_alone(head: &[u8]) -> bool {
    memchr::memchr(b'\n', head).is_none() && memchr::memchr(b'\r', head).is_some() && !has_zero(head)
}

/// Reads until `want` bytes are there or the stream ends, and returns whether it ended. The buffer never shrinks, so
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

fn unknown_format(head: &[u8]) -> Text {
    let look = &head[..head.len().min(4096)];
    if look.starts_with(b"\xFF\xFE") || look.starts_with(b"\xFE\xFF") {
        return text!(
            "UTF-16 text; save the record as UTF-8 or Shift_JIS",
            "UTF-16 のテキストです。棋譜を UTF-8 か Shift_JIS で保存してください"
        );
    }
    let binary = look.contains(&0);
    if let Some(version) = votes::version(look).filter(|_| !binary) {
        let known = votes::VERSION;
        return text!(
            "a vote log of version {version}; this program reads version {known}, use the one that wrote it",
            "投票ログの版 {version} です。このプログラムが読むのは版 {known} なので、書き出したプログラムを使ってください"
        );
    }
    let (what, japanese) = if binary { ("binary data, not", "バイナリデータで、") } else { ("not", "") };
    let known = Format::labels();
    Text::of(|language| {
        say!(
            language,
            "{what} a record in a format that evalcurve reads ({known}); if it is one, name the format with `format`",
            "{japanese}evalcurve が読める形式の棋譜ではありません({known})。棋譜なら `format` で形式を指定してください"
        )
    })
}
