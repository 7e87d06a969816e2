//! Stretches of big files of records of equal length, which any free thread can read.
//!
//! A file of training data can be cut without a scan: each thread gets a place and reads there. All threads share one
//! handle, so each read gives its offset and does not move the position of the others.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Format;
use super::source::{Block, Key};

/// A stretch of a file.
#[derive(Debug)]
pub struct Part {
    /// Its place in the order of reading.
    pub key: Key,
    /// The file's name in messages.
    pub member: Arc<str>,
    /// How to read it.
    pub format: &'static Format,
    /// See [`Block::file_key`].
    pub file_key: u64,
    /// Where it begins.
    pub offset: u64,
    /// Its bytes.
    pub length: usize,
    pub(super) file: Arc<File>,
    pub(super) count: Arc<AtomicU64>,
}

impl Part {
    /// Reads the stretch into `buffer`, reusing its capacity.
    ///
    /// # Errors
    /// The error of the system, or that the file has become shorter.
    pub fn read(&self, mut buffer: Vec<u8>) -> io::Result<Block> {
        if buffer.len() < self.length {
            buffer.resize(self.length, 0);
        }
        let mut filled = 0;
        while filled < self.length {
            match read_at(&self.file, &mut buffer[filled..self.length], self.offset + filled as u64) {
                Ok(0) => return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file has become shorter")),
                Ok(n) => filled += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.count.fetch_add(filled as u64, Ordering::Relaxed);
        Ok(Block {
            key: self.key,
            member: self.member.clone(),
            format: self.format,
            encoding: None,
            offset: self.offset,
            file_key: self.file_key,
            bytes: buffer,
            filled,
        })
    }
}

#[cfg(unix)]
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, offset)
}

/// This also moves the position of the handle, which is not used.
#[cfg(windows)]
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, offset)
}

#[cfg(not(any(unix, windows)))]
fn read_at(_: &File, _: &mut [u8], _: u64) -> io::Result<usize> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "no positioned reads on this system; give the file on standard input",
    ))
}
