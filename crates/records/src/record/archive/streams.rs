//! Decodes compressed files: streams one after the other, as `cat`, pbzip2 and bgzip write them, and what follows them.
//!
//! As gzip and bzip2 do, zeros and other data after a whole stream are taken as its end. The decoders themselves make
//! an error of them, and the last game before an error is not certain.

use std::io::{self, BufRead, BufReader, Read};

use super::{Container, DECODER_KIB, LARGEST_DICTIONARY, container};

/// Bytes that show whether another stream follows.
const LOOK: usize = 10;

/// A read of so many bytes or fewer gives all of them.
const FEW: usize = 8;

/// Bytes that are read at once.
const BUFFER: usize = 1 << 16;

/// The content of a compressed file.
pub(super) struct Streams<'a> {
    ending: &'static str,
    /// The current stream; `None` after the last one.
    stream: Option<Stream<'a>>,
    has_other_data: bool,
}

impl<'a> Streams<'a> {
    /// Decodes what [`container`] recognises as compressed, with the ending of such a file's name.
    pub(super) fn new(ending: &'static str, source: impl Read + 'a) -> io::Result<Self> {
        let source = Source { ahead: Vec::new(), at: 0, inner: BufReader::with_capacity(BUFFER, Box::new(source)) };
        Ok(Self { ending, stream: Some(Stream::new(ending, source)?), has_other_data: false })
    }

    /// Whether data that is neither zero nor a stream follows the last stream; known when all has been read.
    pub(super) fn has_other_data(&self) -> bool {
        self.has_other_data
    }

    /// Opens the stream after one that has ended, if there is one.
    fn follow(&mut self, mut source: Source<'a>) -> io::Result<()> {
        if self.ending == ".xz" {
            // the format has zeros between streams
            source.skip_zeros()?;
        }
        let head = source.look()?;
        if container(head) == Container::Compressed(self.ending) {
            self.stream = Some(Stream::new(self.ending, source)?);
            return Ok(());
        }
        // the file may break off within the first bytes of a stream
        if head.len() < LOOK && head.first().is_some_and(|&byte| begins(self.ending, byte)) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        loop {
            let bytes = source.fill_buf()?;
            self.has_other_data |= bytes.iter().any(|&byte| byte != 0);
            match bytes.len() {
                0 => return Ok(()),
                length => source.consume(length),
            }
        }
    }
}

impl Read for Streams<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(stream) = self.stream.as_mut().filter(|_| !buffer.is_empty()) {
            let length = stream.reader().read(buffer)?;
            if length > 0 {
                return Ok(length);
            }
            if let Some(stream) = self.stream.take() {
                self.follow(stream.into_source())?;
            }
        }
        Ok(0)
    }
}

/// Whether streams of a kind begin with this byte.
fn begins(ending: &str, byte: u8) -> bool {
    match ending {
        ".gz" => byte == 0x1f,
        ".zst" => matches!(byte, 0x28 | 0x50..=0x5f),
        ".bz2" => byte == b'B',
        _ => byte == 0xfd,
    }
}

/// The decoder of one stream.
enum Stream<'a> {
    Gzip(Box<flate2::bufread::GzDecoder<Source<'a>>>),
    Zstd(zstd::stream::read::Decoder<'static, Source<'a>>),
    Bzip2(bzip2::bufread::BzDecoder<Source<'a>>),
    Xz(Box<lzma_rust2::XzReader<Source<'a>>>),
}

impl<'a> Stream<'a> {
    fn new(ending: &str, source: Source<'a>) -> io::Result<Self> {
        Ok(match ending {
            ".gz" => Self::Gzip(Box::new(flate2::bufread::GzDecoder::new(source))),
            ".zst" => Self::Zstd(zstd::stream::read::Decoder::with_buffer(source)?.single_frame()),
            ".bz2" => Self::Bzip2(bzip2::bufread::BzDecoder::new(source)),
            _ => {
                let most_kib = (LARGEST_DICTIONARY >> 10) as u32 + DECODER_KIB;
                Self::Xz(Box::new(lzma_rust2::XzReader::new_mem_limit(source, false, most_kib)))
            }
        })
    }

    fn reader(&mut self) -> &mut dyn Read {
        match self {
            Self::Gzip(decoder) => decoder.as_mut(),
            Self::Zstd(decoder) => decoder,
            Self::Bzip2(decoder) => decoder,
            Self::Xz(decoder) => decoder.as_mut(),
        }
    }

    /// What follows the stream, which has been read to its end.
    fn into_source(self) -> Source<'a> {
        match self {
            Self::Gzip(decoder) => decoder.into_inner(),
            Self::Zstd(decoder) => decoder.into_inner(),
            Self::Bzip2(decoder) => decoder.into_inner(),
            Self::Xz(decoder) => decoder.into_inner(),
        }
    }
}

/// A compressed file of which some bytes can be looked at before they are read.
struct Source<'a> {
    /// Bytes that were looked at, read from `at` on.
    ahead: Vec<u8>,
    at: usize,
    inner: BufReader<Box<dyn Read + 'a>>,
}

impl Source<'_> {
    /// The next [`LOOK`] bytes, or fewer at the end.
    fn look(&mut self) -> io::Result<&[u8]> {
        self.ahead.drain(..self.at);
        self.at = 0;
        let missing = LOOK.saturating_sub(self.ahead.len()) as u64;
        (&mut self.inner).take(missing).read_to_end(&mut self.ahead)?;
        Ok(&self.ahead)
    }

    fn skip_zeros(&mut self) -> io::Result<()> {
        loop {
            let bytes = self.fill_buf()?;
            let (zeros, all) = (bytes.iter().take_while(|byte| **byte == 0).count(), bytes.len());
            self.consume(zeros);
            if zeros < all || all == 0 {
                return Ok(());
            }
        }
    }
}

impl BufRead for Source<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        match self.ahead.get(self.at..) {
            Some(ahead) if !ahead.is_empty() => Ok(ahead),
            _ => self.inner.fill_buf(),
        }
    }

    fn consume(&mut self, amount: usize) {
        if self.at < self.ahead.len() {
            self.at = self.ahead.len().min(self.at.saturating_add(amount));
        } else {
            self.inner.consume(amount);
        }
    }
}

impl Read for Source<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut read = 0;
        while read < buffer.len() {
            let mut bytes = match self.fill_buf() {
                // the source gives it again
                Err(_) if read > 0 => break,
                bytes => bytes?,
            };
            let length = bytes.read(&mut buffer[read..])?;
            self.consume(length);
            read += length;
            // the decoder of xz takes a part of a few bytes for damage
            if length == 0 || buffer.len() > FEW {
                break;
            }
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// What `printf one | xz` and `printf two | xz` write.
    const XZ: [&[u8]; 2] = [
        b"\xfd7zXZ\x00\x00\x04\xe6\xd6\xb4F\
          \x02\x00!\x01\x16\x00\x00\x00t/\xe5\xa3\x01\x00\x02one\x00\x00~\xe5\x10\xc5\
          \xd5jl\x9a\x00\x01\x1b\x03\
          \x0b/\xb9\x10\x1f\xb6\xf3}\x01\x00\x00\x00\x00\x04YZ",
        b"\xfd7zXZ\x00\x00\x04\xe6\xd6\xb4F\
          \x02\x00!\x01\x16\x00\x00\x00t/\xe5\xa3\x01\x00\x02two\
          \x00\x00]\xd3y)u(R\x03\x00\x01\x1b\x03\
          \x0b/\xb9\x10\x1f\xb6\xf3}\x01\x00\x00\x00\x00\x04YZ",
    ];

    fn packed(ending: &str, bytes: &[u8]) -> Vec<u8> {
        match ending {
            ".gz" => {
                let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
                encoder.write_all(bytes).unwrap();
                encoder.finish().unwrap()
            }
            ".zst" => zstd::stream::encode_all(bytes, 1).unwrap(),
            ".xz" => XZ[usize::from(bytes == b"two")].to_vec(),
            _ => {
                let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
                encoder.write_all(bytes).unwrap();
                encoder.finish().unwrap()
            }
        }
    }

    /// The content, whether other data follows it, and whether it ended with an error.
    fn content(ending: &'static str, bytes: &[u8]) -> (Vec<u8>, bool, bool) {
        // one byte at a time, which no decoder may mind
        let mut streams = Streams::new(ending, BufReader::with_capacity(1, bytes)).unwrap();
        let mut out = Vec::new();
        let failed = streams.read_to_end(&mut out).is_err();
        (out, streams.has_other_data(), failed)
    }

    #[test]
    fn what_follows_a_stream_is_another_one_or_its_end() {
        for ending in [".gz", ".zst", ".bz2", ".xz"] {
            let [one, two] = [packed(ending, b"one"), packed(ending, b"two")];
            let with = |rest: &[u8]| content(ending, &[&one[..], rest].concat());
            assert_eq!(with(&[]), (b"one".to_vec(), false, false), "{ending}");
            assert_eq!(with(&two), (b"onetwo".to_vec(), false, false), "{ending}");
            assert_eq!(with(&[0; 100_000]), (b"one".to_vec(), false, false), "{ending}");
            if ending == ".xz" {
                assert_eq!(with(&[&[0; 8][..], &two].concat()), (b"onetwo".to_vec(), false, false));
            }
            assert_eq!(with(b"junk"), (b"one".to_vec(), true, false), "{ending}");
            assert!(with(&[&[0; 20][..], b"junk that is longer"].concat()).1, "{ending}");
            // a stream that is cut, also within its first bytes, is no end
            for length in [1, 2, 5, two.len() - 1] {
                assert!(with(&two[..length]).2, "{ending} {length}");
            }
        }
    }
}
