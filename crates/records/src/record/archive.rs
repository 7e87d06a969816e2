//! Opens files and archives: finds out by content what a stream is, and decodes it while it is read.

mod seven_zip;
mod streams;
mod tar_members;

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use evalcurve_words::text;
use streams::Streams;
use tar_members::Files;
use zip::ZipReadOptions;
use zip::read::Config;
use zip::result::ZipError;
use zip::unstable::read::ZipIterable;

use super::find::Entry;
use super::source::{Refusal, Sink, Walk};
use super::{OddityKind, encoding};

/// Archives inside archives are opened to this depth (`a.zip` holding `b.tar.gz` is three).
const MAX_DEPTH: u32 = 4;
/// Bytes that show what a stream is: a tar header holds its magic at 257.
const MAGIC: usize = 512;
/// Bytes of the largest dictionary of xz and 7z: they are held in memory. No level of xz or 7-Zip has a larger one;
/// zstd allows 128 MiB.
const LARGEST_DICTIONARY: u64 = 256 << 20;
/// The most that a decoder of xz needs beside its dictionary, in KiB.
const DECODER_KIB: u32 = 1 << 10;

/// Reads one file to its end and gives its blocks to `sink`. An error becomes a refusal.
pub(crate) fn read_entry(index: u32, entry: &Entry, sink: &mut dyn Sink) {
    let mut walk = Walk { index, serial: 0, sink };
    let Entry { display, path, bytes, problem: damage, .. } = entry;
    let result = match (path, bytes) {
        _ if damage.is_some() => Err(io::Error::other(damage.clone().unwrap_or_default())),
        (Some(path), _) => {
            let parts = |walk: &mut Walk<'_>, head: &[u8]| walk.parts(display, path, head);
            walk.file(display, &|| Ok(Box::new(File::open(path)?)), &parts)
        }
        (None, Some(bytes)) => walk.file(display, &|| Ok(Box::new(Cursor::new(bytes.clone()))), &|_, _| Ok(false)),
        (None, None) => {
            let count = walk.sink.shared().bytes.clone();
            walk.any(display, &mut Counted { inner: io::stdin().lock(), count }, 0)
        }
    };
    if let Err(error) = result {
        walk.refuse(display, Refusal::Unreadable, problem(&error));
    }
}

/// A file or bytes in memory. The libraries that read archives are compiled for this one type.
trait Opened: Read + Seek {}

impl<T: Read + Seek> Opened for T {}

type Open<'a> = &'a dyn Fn() -> io::Result<Box<dyn Opened>>;

/// A file that counts the bytes read from it, for the progress bar.
#[derive(Clone)]
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

/// Reads nothing more after an error. A decoder that goes on after damage can end the program (libbz2-rs-sys 0.2.6
/// does), and archives read on to reach the next member.
struct UntilError<R> {
    inner: R,
    failed: Option<(io::ErrorKind, String)>,
}

impl<R: Read> UntilError<R> {
    fn new(inner: R) -> Self {
        Self { inner, failed: None }
    }
}

impl<R: Read> Read for UntilError<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some((kind, text)) = &self.failed {
            return Err(io::Error::new(*kind, text.clone()));
        }
        self.inner.read(buffer).map_err(|error| match error.kind() {
            io::ErrorKind::Interrupted => error,
            kind => {
                let text = problem(&error);
                self.failed = Some((kind, text.clone()));
                io::Error::new(kind, text)
            }
        })
    }
}

/// What a stream is, by its first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Container {
    /// Compressed: the ending of such a file's name.
    Compressed(&'static str),
    /// An archive that cannot be read as a stream: its ending.
    Archive(&'static str),
    Tar,
    Plain,
}

const ZIP: Container = Container::Archive("zip");
const SEVEN_ZIP: Container = Container::Archive("7z");

fn container(head: &[u8]) -> Container {
    match head {
        [0x1f, 0x8b, ..] => Container::Compressed(".gz"),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Container::Compressed(".zst"),
        // a skippable frame of zstd, which pzstd writes first
        [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Container::Compressed(".zst"),
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Container::Compressed(".xz"),
        // a block of data, or the end of an empty stream
        [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, ..]
        | [b'B', b'Z', b'h', b'1'..=b'9', 0x17, 0x72, 0x45, 0x38, 0x50, 0x90, ..] => Container::Compressed(".bz2"),
        [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => ZIP,
        [b'7', b'z', 0xbc, 0xaf, 0x27, 0x1c, ..] => SEVEN_ZIP,
        _ if head.get(257..262) == Some(b"ustar") => Container::Tar,
        _ => Container::Plain,
    }
}

impl Walk<'_> {
    /// Reads a file or bytes in memory, which `open` opens. `parts` may hand out the stretches of a plain one, and
    /// tells if it did.
    fn file(
        &mut self,
        display: &str,
        open: Open<'_>,
        parts: &dyn Fn(&mut Self, &[u8]) -> io::Result<bool>,
    ) -> io::Result<()> {
        let mut file = open()?;
        let mut head = Vec::new();
        (&mut file).take(MAGIC as u64).read_to_end(&mut head)?;
        file.rewind()?;
        let mut counted = Counted { inner: file, count: self.sink.shared().bytes.clone() };
        match container(&head) {
            Container::Plain if parts(self, &head)? => Ok(()),
            ZIP => self.zip(display, open),
            SEVEN_ZIP => self.seven_zip(display, counted),
            _ => self.any(display, &mut counted, 0),
        }
    }

    /// Opens the content of `reader`, whatever it is.
    fn any(&mut self, display: &str, reader: &mut dyn Read, depth: u32) -> io::Result<()> {
        let mut reader = UntilError::new(reader);
        let mut head = Vec::with_capacity(MAGIC);
        match (&mut reader).take(MAGIC as u64).read_to_end(&mut head) {
            Err(error) if head.is_empty() => return Err(error),
            // the reader gives the error again, after what was read before it
            _ => {}
        }
        let kind = container(&head);
        let mut stream = head.as_slice().chain(reader);
        if kind != Container::Plain && depth >= MAX_DEPTH {
            let message = text!("archives are opened {MAX_DEPTH} deep; unpack it first");
            self.refuse(display, Refusal::NestedArchive, message);
            return Ok(());
        }
        match kind {
            Container::Plain => self.member(display, &mut stream),
            Container::Tar => self.tar(display, &mut stream, depth),
            Container::Compressed(ending) => {
                let name = display.strip_suffix(ending).unwrap_or(display);
                let mut streams = Streams::new(ending, stream)?;
                let result = self.any(name, &mut streams, depth + 1);
                if streams.has_other_data() {
                    let message = text!(
                        "data after the end of the compressed file is not read; if games are missing, the file is \
                         damaged"
                    );
                    self.note(display, None, OddityKind::TrailingData, message);
                }
                result
            }
            Container::Archive(kind) => {
                let message = text!("a {kind} archive inside another or on standard input; save or unpack it first");
                self.refuse(display, Refusal::NestedArchive, message);
                Ok(())
            }
        }
    }

    /// Opens a member of an archive. An error refuses this member alone.
    fn inside(&mut self, name: &str, reader: &mut dyn Read, depth: u32) {
        if let Err(error) = self.any(name, reader, depth) {
            self.refuse(name, Refusal::Unreadable, problem(&error));
        }
    }

    fn tar(&mut self, display: &str, reader: &mut dyn Read, depth: u32) -> io::Result<()> {
        let mut files = Files::new(reader);
        while let Some(member) = files.next()? {
            if self.sink.shared().stops() {
                return Ok(());
            }
            let name = member_name(display, &encoding::decode(&member.name, None, &[]));
            match member.problem {
                Some(problem) => self.refuse(&name, Refusal::Unreadable, problem.to_owned()),
                None => self.inside(&name, files.content(), depth + 1),
            }
        }
        Ok(())
    }

    /// Reads the members in the order of the directory, which may list one name several times.
    fn zip(&mut self, display: &str, open: Open<'_>) -> io::Result<()> {
        let count = self.sink.shared().bytes.clone();
        let open = || Ok::<_, io::Error>(BufReader::new(Counted { inner: open()?, count: count.clone() }));
        let mut archive = match ZipIterable::try_new(open()?, Config::default()) {
            Ok(archive) => archive,
            Err(error) => {
                self.zip_without_directory(display, open()?);
                return Err(error.into());
            }
        };
        let mut members = archive.files_with_reader(open()?, ZipReadOptions::default())?;
        let (mut number, mut left) = (0, open()?.seek(SeekFrom::End(0))?);
        while let Some(found) = members.next() {
            if self.sink.shared().stops() {
                break;
            }
            number += 1;
            if let Ok(found) = &found {
                // members that share their data make 40 GB of a small file
                let Some(rest) = left.checked_sub(found.compressed_size()) else {
                    let message = text!(
                        "the members of the zip archive overlap; those from number {number} on are not read; pack it \
                         again"
                    );
                    self.refuse(display, Refusal::Unreadable, message);
                    break;
                };
                left = rest;
            }
            match found {
                Ok(mut found) if found.is_file() => {
                    let name = zip_name(display, found.name_raw());
                    self.inside(&name, &mut found, 1);
                }
                Ok(_) => {}
                Err(error) => {
                    let message = format!("member {number}: {}", problem(&error.into()));
                    self.refuse(display, Refusal::Unreadable, message);
                }
            }
        }
        Ok(())
    }

    /// Reads a zip whose end, and with it the directory, is missing: one member after the other, as far as possible.
    fn zip_without_directory(&mut self, display: &str, mut reader: impl Read) {
        while let Ok(Some(mut found)) = zip::read::read_zipfile_from_stream(&mut reader) {
            if self.sink.shared().stops() {
                return;
            }
            if found.is_file() {
                let name = zip_name(display, found.name_raw());
                // the caller reports the archive as a whole as unreadable
                if self.any(&name, &mut found, 1).is_err() {
                    break;
                }
            }
        }
    }
}

/// What a user can do about a member that cannot be read.
const REMEDY: &str = "unpack it with another program first";

/// Why a member cannot be read.
fn problem(error: &io::Error) -> String {
    if let Some(error) = error.get_ref().and_then(|inner| inner.downcast_ref()) {
        return seven_zip::problem(error);
    }
    match error.get_ref().and_then(|inner| inner.downcast_ref()) {
        Some(ZipError::CompressionMethodNotSupported(id)) => {
            format!("compression method {id} of zip is not supported; {REMEDY}")
        }
        Some(other) => format!("{other}; {REMEDY}"),
        // of all readers, only that of xz counts its memory
        None if error.kind() == io::ErrorKind::OutOfMemory => dictionary_problem(),
        None => error.to_string(),
    }
}

/// The problem of a dictionary beyond [`LARGEST_DICTIONARY`].
fn dictionary_problem() -> String {
    format!("its dictionary is larger than {} MiB; pack it again with a smaller one", LARGEST_DICTIONARY >> 20)
}

fn member_name(archive: &str, member: &str) -> String {
    format!("{archive}/{}", member.trim_start_matches("./"))
}

fn zip_name(archive: &str, raw: &[u8]) -> String {
    member_name(archive, &encoding::decode(raw, None, raw))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives some bytes, then an error, and panics on a further call.
    struct Fragile(Vec<io::Result<usize>>);

    impl Read for Fragile {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            self.0.pop().expect("read after an error")
        }
    }

    #[test]
    fn nothing_is_read_after_an_error() {
        let steps = [Ok(2), Err(io::ErrorKind::Interrupted.into()), Ok(1), Err(io::Error::other("damaged"))];
        let mut reader = UntilError::new(Fragile(steps.into_iter().rev().collect()));
        let mut read = || reader.read(&mut [0; 4]).map_err(|error| error.to_string());
        assert_eq!(read(), Ok(2));
        assert!(read().is_err());
        assert_eq!(read(), Ok(1));
        assert_eq!((read(), read(), read()), (Err("damaged".into()), Err("damaged".into()), Err("damaged".into())));
    }
}
