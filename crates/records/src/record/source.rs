//! Cuts files into blocks of whole games or records.
//!
//! Everything is streamed: an archive is decoded as it is read, a member is cut at game boundaries into blocks of about
//! a mebibyte, and only blocks are held in memory. The content decides what a file is, never its name.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use super::format::{Above, Format, has_zero, remove_marks_at};
use super::packed::{HEAD, Packed};
pub(crate) use super::work::BLOCK;
use super::work::LONGEST_GAME;
pub use super::work::{Block, Cleaned, Key, Note, Part, Refusal, Returns, Shared, Sink, Work};
use super::{Formats, encoding, votes};
use crate::sample::collect::ProblemKind;
use evalcurve_words::language::Text;
use evalcurve_words::text;

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
        self.note(member, Some(refusal), refusal, message.into());
    }

    pub(super) fn note(&mut self, member: &str, refusal: Option<Refusal>, kind: impl Into<ProblemKind>, message: Text) {
        let (key, member, kind) = (self.key(), Arc::from(member), kind.into());
        let note = Note { key, member, refusal, kind, message };
        self.sink.take(Work::Note(note));
    }

    /// Hands out stretches of a file of records of equal length. Returns `false` for any other file.
    pub(super) fn parts(&mut self, display: &str, path: &Path, head: &[u8]) -> io::Result<bool> {
        let mut head = head.to_vec();
        let look = match self.sink.shared().formats.only {
            None => memchr::memchr(0, &head).is_some(),
            Some(format) => format.packed().is_some(),
        };
        if !look {
            return Ok(false);
        }
        let mut file = File::open(path)?;
        head.clear();
        (&mut file).take(HEAD as u64).read_to_end(&mut head)?;
        let Some(format) = self.sink.shared().formats.detect(&head) else { return Ok(false) };
        let Some(record) = format.packed().and_then(Packed::record_bytes) else { return Ok(false) };
        let (size, length) = (file.metadata()?.len(), (BLOCK / record * record) as u64);
        if size == 0 {
            return Ok(false);
        }
        let member: Arc<str> = Arc::from(display);
        let (file, file_key) = (Arc::new(file), Packed::file_key(&head));
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
                cleaned: Cleaned::default(),
                is_whole: false,
            };
            self.sink.take(Work::Part(Part { block, file: file.clone() }));
        }
        Ok(true)
    }

    /// The format of a member that begins as the window does: the one that the user gives, else by content. `None` if
    /// the member is refused.
    fn recognise(
        &mut self,
        display: &str,
        window: &Window,
        failure: &mut Option<io::Error>,
    ) -> io::Result<Option<&'static Format>> {
        let found = self.sink.shared().formats.detect(window.text());
        if found.is_none()
            && let Some(error) = failure.take()
        {
            return Err(error);
        }
        let found = found.filter(|_| window.filled > 0);
        match (found, window.text()) {
            (Some(_), _) => {}
            (None, []) => self.refuse(display, Refusal::Empty, text!("the file is empty")),
            (None, text) => {
                let formats = &self.sink.shared().formats;
                let is_record = || formats.detect(encoding::whole_text(text.to_vec()).as_bytes()).is_some();
                let refusal = match encoding::is_utf_16(text) && is_record() {
                    true => Refusal::Unreadable,
                    false => Refusal::UnknownFormat,
                };
                let message = unknown_format(text, formats);
                self.refuse(display, refusal, message);
            }
        }
        Ok(found)
    }

    /// Cuts a plain file into blocks of whole games.
    pub(super) fn member(&mut self, display: &str, reader: &mut dyn Read) -> io::Result<()> {
        let member: Arc<str> = Arc::from(display);
        let mut window = Window::new(self.sink.shared().buffer());
        let mut known: Option<&'static Format> = None;
        let mut above = Above::default();
        let (mut offset, mut file_key) = (0, 0);
        let forced = self.sink.shared().formats.only;
        while !self.sink.shared().stops() {
            let (at_end, mut failure) = match window.fill(reader) {
                Ok(at_end) => (at_end, None),
                // what was read before the error stays in the buffer, and its whole games count
                Err(error) => (false, Some(error)),
            };
            if window.want < BLOCK && !at_end && failure.is_none() {
                window.want = BLOCK;
                continue;
            }
            if known.is_none() {
                let can_be_text = forced.is_none_or(|format| format.packed().is_none());
                window.returns = can_be_text && has_returns_alone(window.text());
            }
            window.replace_returns();
            let format = match known {
                Some(known) => known,
                None => {
                    let Some(format) = self.recognise(display, &window, &mut failure)? else { return Ok(()) };
                    match format.packed() {
                        Some(_) => file_key = Packed::file_key(window.text()),
                        None => above.encoding = encoding::declared(window.text()),
                    }
                    *known.insert(format)
                }
            };
            if format.packed().is_none() {
                window.remove_marks();
            }
            let Some(cut) = (if at_end { Some(window.filled) } else { format.last_boundary(window.text()) }) else {
                if let Some(error) = failure {
                    return Err(error);
                }
                if window.want >= LONGEST_GAME {
                    self.endless(display);
                    return Ok(());
                }
                window.want *= 2;
                continue;
            };
            if cut == 0 {
                return Ok(());
            }
            let (key, member, place) = (self.key(), member.clone(), above.clone());
            let next = if at_end { Vec::new() } else { self.sink.shared().buffer() };
            let (bytes, cleaned) = window.split(cut, next);
            if !at_end {
                format.note(&bytes[..cut], &mut above);
            }
            let is_whole = offset == 0 && (at_end || failure.is_some());
            let block =
                Block { key, member, format, above: place, offset, file_key, bytes, filled: cut, cleaned, is_whole };
            self.sink.take(Work::Block(block));
            if at_end {
                return Ok(());
            }
            offset += cut as u64;
            if let Some(error) = failure {
                return Err(error);
            }
        }
        Ok(())
    }

    fn endless(&mut self, display: &str) {
        let limit = LONGEST_GAME >> 20;
        let message = text!("no game ends within {limit} MiB; the rest of the file is skipped");
        self.refuse(display, Refusal::Unreadable, message);
    }
}

/// The part of a file that is in memory.
struct Window {
    bytes: Vec<u8>,
    /// The bytes that are read. The buffer never shrinks, so that its bytes are set to zero once and not for every
    /// block.
    filled: usize,
    /// How many bytes to read.
    want: usize,
    /// The bytes without marks within and returns.
    cleaned: usize,
    /// Lines end with CR alone.
    returns: bool,
    /// What was changed in the text.
    changed: Cleaned,
}

impl Window {
    fn new(bytes: Vec<u8>) -> Self {
        Self { bytes, filled: 0, want: HEAD, cleaned: 0, returns: false, changed: Cleaned::default() }
    }

    fn text(&self) -> &[u8] {
        &self.bytes[..self.filled]
    }

    /// Reads until `want` bytes are there or the stream ends, and returns whether it ended.
    fn fill(&mut self, reader: &mut dyn Read) -> io::Result<bool> {
        if self.bytes.len() < self.want {
            self.bytes.resize(self.want, 0);
        }
        while self.filled < self.want {
            let to = self.want.min(self.filled + MOST_READ);
            match reader.read(&mut self.bytes[self.filled..to]) {
                Ok(0) => return Ok(true),
                Ok(n) => self.filled += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(false)
    }

    fn replace_returns(&mut self) {
        if self.returns {
            let new = &mut self.bytes[self.cleaned..self.filled];
            if memchr::memchr(b'\n', new).is_some() {
                self.changed.returns = Returns::Mixed;
            } else if self.changed.returns == Returns::Kept {
                self.changed.returns = Returns::Replaced;
            }
            new.iter_mut().filter(|byte| **byte == b'\r').for_each(|byte| *byte = b'\n');
        }
    }

    fn remove_marks(&mut self) {
        let marks = &mut self.changed.marks;
        self.filled = remove_marks_at(&mut self.bytes[..self.filled], self.cleaned, |at| marks.push(at));
        self.cleaned = self.filled;
    }

    /// Returns the buffer with the first `cut` bytes, and what was changed in them; the rest goes on in `next`.
    fn split(&mut self, cut: usize, mut next: Vec<u8>) -> (Vec<u8>, Cleaned) {
        let left = self.filled - cut;
        if next.len() < left {
            next.resize(left.max(BLOCK), 0);
        }
        next[..left].copy_from_slice(&self.bytes[cut..self.filled]);
        (self.filled, self.cleaned, self.want) = (left, left, BLOCK.max(left + BLOCK / 2));
        let first = self.changed.marks.partition_point(|at| *at <= cut);
        let rest = self.changed.marks.split_off(first).into_iter().map(|at| at - cut).collect();
        let rest = Cleaned { marks: rest, returns: self.changed.returns };
        (std::mem::replace(&mut self.bytes, next), std::mem::replace(&mut self.changed, rest))
    }
}

/// Whether a file that begins with these bytes is a text whose lines end with CR alone, as those of the classic Mac OS
/// did. Readers expect LF or CRLF.
fn has_returns_alone(head: &[u8]) -> bool {
    memchr::memchr(b'\n', head).is_none() && memchr::memchr(b'\r', head).is_some() && !has_zero(head)
}

fn unknown_format(head: &[u8], formats: &Formats) -> Text {
    let look = &head[..head.len().min(4096)];
    if encoding::is_utf_16(look) {
        return text!("UTF-16 text; save the record as UTF-8 or Shift_JIS");
    }
    if look.starts_with(b"Rar!") {
        return text!("a RAR archive, which evalcurve does not unpack; unpack it, or pack the records as .zip or .7z");
    }
    let binary = look.contains(&0);
    if let Some(version) = votes::version(look).filter(|_| !binary) {
        let known = votes::VERSION;
        return text!("a vote log of version {version}; this program reads version {known}, use the one that wrote it");
    }
    let known = formats.labels();
    let unknown =
        text!("not a record in a format that evalcurve reads ({known}); if it is one, name the format with `format`");
    if binary { text!("binary data, {unknown}") } else { unknown }
}
