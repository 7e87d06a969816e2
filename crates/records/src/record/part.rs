//! Stretches of big files of records of equal length, which any free thread can read.
//!
//! A file of training data can be cut without a scan: each thread gets a place and reads there. All threads share one
//! handle, so each read gives its offset and does not move the position of the others.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::source::{Block, Refusal, Refused, Shared, Work};
use evalcurve_core::text;

/// A stretch of a file.
#[derive(Debug)]
pub struct Part {
    /// The block that it becomes, with its place and its length, but not its bytes.
    pub(super) block: Block,
    pub(super) file: Arc<File>,
}

impl Part {
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
                    true => text!("the file has become shorter", "ファイルが短くなりました"),
                    false => error.to_string().into(),
                };
                let Block { key, member, .. } = block;
                Work::Refused(Refused { key, member, refusal: Refusal::Unreadable, message })
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
