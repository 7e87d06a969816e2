//! Files that are read whole, but not without end.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Reads a file of at most `most` bytes, also one without a size, as a device or a pipe.
///
/// # Errors
/// The system's error; [`io::ErrorKind::FileTooLarge`] for a larger file, which is not read further.
pub fn read_bounded(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    let size = file.metadata()?.len();
    let mut bytes = Vec::new();
    if size <= most {
        bytes.try_reserve_exact(usize::try_from(size).unwrap_or(usize::MAX).saturating_add(1))?;
        file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    }
    if size.max(bytes.len() as u64) > most {
        let words = format!("it is larger than {} MiB; check its name", most >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, words));
    }
    Ok(bytes)
}
