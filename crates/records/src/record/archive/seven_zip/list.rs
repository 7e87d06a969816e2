//! Checks how long the list of members of a 7z archive is before the library reads it, which holds it in memory whole:
//! a list of 1 GB is packed into 150 KB. The list is walked as DOC/7zFormat.txt of 7-Zip describes it.

use std::io::{self, Read, Seek, SeekFrom};

use sevenz_rust2::{Archive, BlockDecoder, Password};

use super::super::Opened;
use super::{DICTIONARIES, dictionary, dictionary_problem, failed};

/// Most members of an archive.
const MOST_MEMBERS: u64 = 1_000_000;
/// Most blocks, in which members are packed together or alone.
const MOST_BLOCKS: u64 = 250_000;
/// Most coders of all blocks; 7-Zip uses up to four for a block.
const MOST_CODERS: u64 = 4 * MOST_BLOCKS;
/// Bytes of the largest list.
const LARGEST_LIST: u64 = 128 << 20;
/// Bytes of the largest description of a packed list; 7-Zip writes about 40.
const LARGEST_DESCRIPTION: u64 = 1 << 10;

/// Bytes of the header at the begin of an archive.
const START: usize = 32;

const END: u8 = 0x00;
const HEADER: u8 = 0x01;
const ARCHIVE_PROPERTIES: u8 = 0x02;
const MAIN_STREAMS: u8 = 0x04;
const FILES: u8 = 0x05;
const PACK_INFO: u8 = 0x06;
const UNPACK_INFO: u8 = 0x07;
const SUB_STREAMS: u8 = 0x08;
const SIZE: u8 = 0x09;
const CRC: u8 = 0x0A;
const FOLDER: u8 = 0x0B;
const UNPACK_SIZE: u8 = 0x0C;
const NUM_UNPACK_STREAM: u8 = 0x0D;
const NAMES: u8 = 0x11;
const ENCODED_HEADER: u8 = 0x17;

/// Whether the library can read the list of members in bounded memory. What is no archive at all is left to the
/// library.
///
/// # Errors
/// Why not, in words for the user; or the file cannot be read.
pub(super) fn check(file: &mut dyn Opened) -> io::Result<()> {
    let length = file.seek(SeekFrom::End(0))?;
    file.rewind()?;
    let mut start = [0; START];
    if file.read_exact(&mut start).is_err() {
        return Ok(());
    }
    // a program that packs writes these bytes last; without them, the library would try every place
    if start[8..].iter().all(|byte| *byte == 0) {
        return Err(io::Error::other("the 7z archive is damaged: it was not written to its end"));
    }
    let field = |from: usize| start[from..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
    let (offset, size) = (field(12), field(20));
    let Some(at) = offset.checked_add(START as u64).filter(|at| length.checked_sub(*at) >= Some(size)) else {
        return Ok(());
    };
    if size == 0 {
        return Err(io::Error::other("the 7z archive is empty"));
    }
    file.seek(SeekFrom::Start(at))?;
    let mut rest = (&mut *file).take(size);
    let mut list = Input(&mut rest);
    match list.byte() {
        Ok(HEADER) if size > LARGEST_LIST => Err(too_large()),
        Ok(HEADER) => list.header(),
        Ok(ENCODED_HEADER) if size > LARGEST_DESCRIPTION => Err(damaged()),
        Ok(ENCODED_HEADER) => {
            let mut description = Vec::new();
            list.0.read_to_end(&mut description)?;
            packed(file, length, &description)
        }
        _ => Ok(()),
    }
}

/// Checks a packed list. The library reads it as the only member of an archive, without holding it.
fn packed(file: &mut dyn Opened, length: u64, description: &[u8]) -> io::Result<()> {
    let mut rest = description;
    let has_sub_streams = Input(&mut rest).streams()?;
    let used = description.len() - rest.len();
    let mut tail = vec![HEADER, MAIN_STREAMS];
    tail.extend(&description[..used]);
    if !has_sub_streams {
        tail.pop();
        tail.extend([SUB_STREAMS, END, END]);
    }
    tail.extend([FILES, 1, NAMES, 5, 0, b'l', 0, 0, 0, END, END]);

    let (mut patched, password) = (Patched::new(file, length, tail), Password::empty());
    let mut file: &mut dyn Opened = &mut patched;
    let archive = Archive::read(&mut file, &password).map_err(failed)?;
    let Some(block) = archive.blocks.first() else { return Err(damaged()) };
    if dictionary(block) > DICTIONARIES {
        return Err(io::Error::other(dictionary_problem()));
    }
    if block.get_unpack_size() > LARGEST_LIST {
        return Err(too_large());
    }
    let mut result = Err(damaged());
    let decoder = BlockDecoder::new(1, 0, &archive, &password, &mut file);
    let read = decoder.for_each_entries(&mut |_, reader| {
        let mut list = Input(reader);
        result = list.must_be(HEADER).and_then(|()| list.header());
        Ok(false)
    });
    read.map_err(failed)?;
    result
}

fn damaged() -> io::Error {
    io::Error::other("the 7z archive is damaged: its list of members cannot be read")
}

fn too_large() -> io::Error {
    io::Error::other(format!(
        "the 7z archive has more than {MOST_MEMBERS} members, {MOST_BLOCKS} blocks of data or {} MiB of names; pack it \
         again in several parts",
        LARGEST_LIST >> 20
    ))
}

/// A list of members, or a part of it, that is walked from its first byte to its last.
struct Input<'a>(&'a mut dyn Read);

impl Input<'_> {
    fn byte(&mut self) -> io::Result<u8> {
        let mut byte = [0];
        self.0.read_exact(&mut byte).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => damaged(),
            _ => error,
        })?;
        Ok(byte[0])
    }

    fn must_be(&mut self, expected: u8) -> io::Result<()> {
        if self.byte()? == expected { Ok(()) } else { Err(damaged()) }
    }

    fn skip(&mut self, bytes: u64) -> io::Result<()> {
        if io::copy(&mut (&mut *self.0).take(bytes), &mut io::sink())? == bytes { Ok(()) } else { Err(damaged()) }
    }

    /// A number: the ones at the begin of the first byte say how many bytes follow, the lowest first.
    fn number(&mut self) -> io::Result<u64> {
        let first = self.byte()?;
        let more = first.leading_ones();
        let mut value = 0;
        for i in 0..more {
            value |= u64::from(self.byte()?) << (8 * i);
        }
        // what is left of the first byte is the highest part
        let high = u64::from(first) & (0x7f >> more);
        Ok(value | high.checked_shl(8 * more).unwrap_or(0))
    }

    /// A number of things that the library will hold.
    fn count(&mut self, most: u64) -> io::Result<u64> {
        self.number().and_then(|count| if count <= most { Ok(count) } else { Err(too_large()) })
    }

    fn numbers(&mut self, count: u64) -> io::Result<()> {
        (0..count).try_for_each(|_| self.number().map(|_| ()))
    }

    /// Whether each of `count` things has a checksum; the checksums follow.
    fn checksums(&mut self, count: u64) -> io::Result<Vec<bool>> {
        let mut known = vec![true; count as usize];
        if self.byte()? == 0 {
            for eight in known.chunks_mut(8) {
                let bits = self.byte()?;
                eight.iter_mut().enumerate().for_each(|(i, known)| *known = bits & (0x80 >> i) != 0);
            }
        }
        self.skip(4 * known.iter().filter(|known| **known).count() as u64)?;
        Ok(known)
    }

    /// The list after its first byte, up to the number of members. What follows has no more parts than there are
    /// members.
    fn header(&mut self) -> io::Result<()> {
        let mut id = self.byte()?;
        if id == ARCHIVE_PROPERTIES {
            while self.byte()? != END {
                let size = self.number()?;
                self.skip(size)?;
            }
            id = self.byte()?;
        }
        if id == MAIN_STREAMS {
            self.streams()?;
            id = self.byte()?;
        }
        if id == FILES {
            self.count(MOST_MEMBERS)?;
        }
        Ok(())
    }

    /// Where the data is and how it is packed. Returns whether blocks are divided into members.
    fn streams(&mut self) -> io::Result<bool> {
        let mut id = self.byte()?;
        if id == PACK_INFO {
            self.number()?;
            let streams = self.count(MOST_CODERS)?;
            id = self.byte()?;
            if id == SIZE {
                self.numbers(streams)?;
                id = self.byte()?;
            }
            if id == CRC {
                self.checksums(streams)?;
                id = self.byte()?;
            }
            if id != END {
                return Err(damaged());
            }
            id = self.byte()?;
        }
        let mut blocks = Vec::new();
        if id == UNPACK_INFO {
            blocks = self.blocks()?;
            id = self.byte()?;
        }
        let has_sub_streams = id == SUB_STREAMS;
        if has_sub_streams {
            self.sub_streams(&blocks)?;
            id = self.byte()?;
        }
        if id == END { Ok(has_sub_streams) } else { Err(damaged()) }
    }

    /// The blocks: whether each has a checksum.
    fn blocks(&mut self) -> io::Result<Vec<bool>> {
        self.must_be(FOLDER)?;
        let blocks = self.count(MOST_BLOCKS)?;
        // the descriptions follow, and are not elsewhere
        self.must_be(0)?;
        let mut outputs = 0;
        for _ in 0..blocks {
            outputs += self.block()?;
            if outputs > MOST_CODERS {
                return Err(too_large());
            }
        }
        self.must_be(UNPACK_SIZE)?;
        self.numbers(outputs)?;
        match self.byte()? {
            END => Ok(vec![false; blocks as usize]),
            CRC => {
                let known = self.checksums(blocks)?;
                self.must_be(END)?;
                Ok(known)
            }
            _ => Err(damaged()),
        }
    }

    /// The coders of a block: how many outputs they have.
    fn block(&mut self) -> io::Result<u64> {
        let (mut inputs, mut outputs) = (0, 0);
        // the library allows no more
        let coders = self.number().and_then(|coders| if coders <= 64 { Ok(coders) } else { Err(damaged()) })?;
        for _ in 0..coders {
            let bits = self.byte()?;
            self.skip(u64::from(bits & 0xf))?;
            let of_coder = if bits & 0x10 == 0 { [1, 1] } else { [self.number()?, self.number()?] };
            if of_coder.iter().any(|streams| *streams > 64) {
                return Err(damaged());
            }
            inputs += of_coder[0];
            outputs += of_coder[1];
            if bits & 0x20 != 0 {
                let size = self.number()?;
                self.skip(size)?;
            }
        }
        let pairs = outputs.checked_sub(1).ok_or_else(damaged)?;
        self.numbers(2 * pairs)?;
        match inputs.checked_sub(pairs).ok_or_else(damaged)? {
            0 | 1 => {}
            packed => self.numbers(packed)?,
        }
        Ok(outputs)
    }

    /// How the blocks are divided into members.
    fn sub_streams(&mut self, blocks: &[bool]) -> io::Result<()> {
        let mut members = vec![1; blocks.len()];
        let mut id = self.byte()?;
        if id == NUM_UNPACK_STREAM {
            let mut left = MOST_MEMBERS;
            for members in &mut members {
                *members = self.count(left)?;
                left -= *members;
            }
            id = self.byte()?;
        }
        if id == SIZE {
            // that of the last member of a block is what is left
            self.numbers(members.iter().map(|members| members.saturating_sub(1)).sum())?;
            id = self.byte()?;
        }
        if id == CRC {
            let missing = members.iter().zip(blocks).filter(|(members, known)| **members != 1 || !**known);
            self.checksums(missing.map(|(members, _)| *members).sum())?;
            id = self.byte()?;
        }
        if id == END { Ok(()) } else { Err(damaged()) }
    }
}

/// An archive whose list of members is replaced by `tail`, which is at the end.
struct Patched<'a> {
    file: &'a mut dyn Opened,
    length: u64,
    start: [u8; START],
    tail: Vec<u8>,
    at: u64,
    /// Where `file` is, if that is known: its buffer is lost with every seek.
    file_at: Option<u64>,
}

impl<'a> Patched<'a> {
    fn new(file: &'a mut dyn Opened, length: u64, tail: Vec<u8>) -> Self {
        let checksum = |bytes: &[u8]| {
            let mut crc = flate2::Crc::new();
            crc.update(bytes);
            crc.sum().to_le_bytes()
        };
        let mut start = [0; START];
        start[..8].copy_from_slice(b"7z\xbc\xaf\x27\x1c\0\x04");
        start[12..20].copy_from_slice(&(length - START as u64).to_le_bytes());
        start[20..28].copy_from_slice(&(tail.len() as u64).to_le_bytes());
        start[28..].copy_from_slice(&checksum(&tail));
        let of_start = checksum(&start[12..]);
        start[8..12].copy_from_slice(&of_start);
        Self { file, length, start, tail, at: 0, file_at: None }
    }
}

impl Read for Patched<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let copy = |part: &[u8], from: u64, buffer: &mut [u8]| {
            let part = part.get(from as usize..).unwrap_or_default();
            let count = part.len().min(buffer.len());
            buffer[..count].copy_from_slice(&part[..count]);
            count
        };
        let read = match self.at {
            at if at < START as u64 => copy(&self.start, at, buffer),
            at if at < self.length => {
                if self.file_at.take() != Some(at) {
                    self.file.seek(SeekFrom::Start(at))?;
                }
                let most = usize::try_from(self.length - at).map_or(buffer.len(), |left| left.min(buffer.len()));
                let read = self.file.read(&mut buffer[..most])?;
                self.file_at = Some(at + read as u64);
                read
            }
            at => copy(&self.tail, at - self.length, buffer),
        };
        self.at += read as u64;
        Ok(read)
    }
}

impl Seek for Patched<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let end = self.length + self.tail.len() as u64;
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => end.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = at.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        Ok(self.at)
    }
}
