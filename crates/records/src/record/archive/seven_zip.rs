//! Reads the members of a 7z archive.

mod list;

use std::io::{self, BufReader, Read};

use sevenz_rust2::{Archive, ArchiveEntry, Block, BlockDecoder, EncoderMethod, Error, Password};

use super::super::source::{Refusal, Walk};
use super::{Counted, LARGEST_DICTIONARY, Opened, REMEDY, UntilError, dictionary_problem, member_name};

/// Bytes of the dictionaries of a block: the largest one, and the small ones of BCJ2 beside it.
const DICTIONARIES: u64 = LARGEST_DICTIONARY + (4 << 20);

impl Walk<'_> {
    pub(super) fn seven_zip(&mut self, display: &str, file: Counted<Box<dyn Opened>>) -> io::Result<()> {
        let (mut file, password) = (BufReader::new(file), Password::empty());
        let mut source: &mut dyn Opened = &mut file;
        list::check(source)?;
        let archive = Archive::read(&mut source, &password).map_err(failed)?;
        for (number, block) in archive.blocks.iter().enumerate() {
            // with more threads, the library would hold a part of the archive for each of them
            let decoder = BlockDecoder::new(1, number, &archive, &password, &mut source);
            if dictionary(block) > DICTIONARIES {
                for file in decoder.entries() {
                    self.refuse(&member_name(display, file.name()), Refusal::Unreadable, dictionary_problem());
                }
                continue;
            }
            let (members, mut begun) = (decoder.entry_count(), 0);
            let read = decoder.for_each_entries(&mut |file, reader| {
                begun += 1;
                self.seven_zip_member(display, file, reader)
            });
            match read {
                Ok(true) => {}
                Ok(false) => return Ok(()),
                // the other blocks do not depend on this one
                Err(error) if begun < members => {
                    let (problem, unread) = (problem(&error), members - begun);
                    let message = match archive.blocks.len() {
                        1 if begun == 0 => problem,
                        _ => format!("{problem}; {unread} members that are packed together are not read"),
                    };
                    self.refuse(display, Refusal::Unreadable, message);
                }
                // the damage is in the last member, which is refused
                Err(_) => {}
            }
        }
        let blocks = &archive.stream_map.file_block_index;
        for (file, _) in archive.files.iter().zip(blocks).filter(|(_, block)| block.is_none()) {
            self.seven_zip_member(display, file, &mut io::empty()).map_err(failed)?;
        }
        Ok(())
    }

    /// Reads a member; returns whether to go on.
    fn seven_zip_member(&mut self, display: &str, file: &ArchiveEntry, reader: &mut dyn Read) -> Result<bool, Error> {
        if self.sink.shared().stops() {
            return Ok(false);
        }
        if !file.is_directory() {
            let mut reader = UntilError::new(reader);
            let name = member_name(display, file.name());
            self.inside(&name, &mut reader, 1);
            let is_refused = reader.failed.is_some();
            // the next member of a solid archive begins after the unread rest of this one
            io::copy(&mut reader, &mut io::sink()).inspect_err(|error| {
                if !is_refused {
                    self.refuse(&name, Refusal::Unreadable, error.to_string());
                }
            })?;
        }
        Ok(true)
    }
}

/// Bytes of the dictionaries that the coders of a block need, all at once. Damaged properties count as none; the
/// library refuses them.
fn dictionary(block: &Block) -> u64 {
    let of_coder = |coder: &sevenz_rust2::Coder| match (coder.encoder_method_id(), coder.properties()) {
        (EncoderMethod::ID_LZMA, [_, size @ ..]) => {
            size.first_chunk().map_or(0, |bytes| u64::from(u32::from_le_bytes(*bytes)))
        }
        // the size is 2 or 3 times a power of two
        (EncoderMethod::ID_LZMA2, [bits @ 0..=40, ..]) => (2 | u64::from(bits & 1)) << (bits / 2 + 11),
        _ => 0,
    };
    block.coders.iter().map(of_coder).sum()
}

fn failed(error: Error) -> io::Error {
    io::Error::other(problem(&error))
}

/// The library only has texts for debugging.
pub(super) fn problem(error: &Error) -> String {
    match error {
        Error::UnsupportedCompressionMethod(method) => {
            format!("the 7z archive uses the method {method}, which is not supported; {REMEDY}")
        }
        Error::PasswordRequired | Error::MaybeBadPassword(_) => format!("the 7z archive is encrypted; {REMEDY}"),
        Error::ChecksumVerificationFailed | Error::NextHeaderCrcMismatch => {
            "the 7z archive is damaged: a checksum does not match".to_owned()
        }
        Error::Io(error, _) | Error::FileOpen(error, _) => match error.to_string() {
            text if error.raw_os_error().is_some() || text.starts_with("the 7z archive") => text,
            text => format!("the 7z archive is damaged ({text})"),
        },
        Error::Other(text) | Error::Unsupported(text) => format!("the 7z archive cannot be read: {text}"),
        Error::UnsupportedVersion { major, minor } => {
            format!("version {major}.{minor} of 7z is not supported; {REMEDY}")
        }
        Error::ExternalUnsupported => format!("the 7z archive keeps its list of members elsewhere; {REMEDY}"),
        Error::MaxMemLimited { .. } => format!("the 7z archive needs too much memory; {REMEDY}"),
        _ => "the 7z archive is damaged: its list of members cannot be read".to_owned(),
    }
}
