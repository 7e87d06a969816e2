//! Files that are written whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why a file could not be written; the old file is unchanged.
#[derive(Debug, Error)]
#[error("{path}: cannot {action} the file: {source}; {remedy}")]
pub struct WriteError {
    /// `create`, `write` or `replace`.
    pub action: &'static str,
    /// The file.
    pub path: String,
    /// The system's error.
    pub source: io::Error,
    /// The remedy.
    pub remedy: &'static str,
}

/// Writes a new file in the same folder, flushes it to the disk and renames it over the old one. The folder must exist.
///
/// # Errors
/// [`WriteError`] with a remedy.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
    let fail = |action, path: &Path, remedy| {
        let path = path.to_string_lossy().into_owned();
        move |source| WriteError { action, path, source, remedy }
    };
    let Some(name) = path.file_name() else {
        let source = io::Error::from(io::ErrorKind::InvalidInput);
        return Err(fail("create", path, "give the name of a file, not of a directory")(source));
    };
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let (mut file, temporary) =
        create_beside(directory, name).map_err(fail("create", path, "create the directory or choose another"))?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    drop(file);
    let done =
        written.map_err(fail("write", path, "free space on the disk or choose another directory")).and_then(|()| {
            fs::rename(&temporary, path).map_err(fail(
                "replace",
                path,
                "close the program that has it open, or choose another name",
            ))
        });
    if done.is_err() {
        // report the first error only
        let _ = fs::remove_file(&temporary);
    } else if cfg!(unix)
        && let Ok(handle) = File::open(directory)
    {
        // makes the rename itself durable, if the file system supports it
        let _ = handle.sync_all();
    }
    done
}

/// Creates a new file in the directory and returns its path; skips names of leftover files.
fn create_beside(directory: &Path, name: &std::ffi::OsStr) -> io::Result<(File, PathBuf)> {
    let mut attempt = 0u32;
    loop {
        let mut temporary = std::ffi::OsString::from(".evalcurve-");
        // a hash of the name, since the name itself with additions may exceed the limit of the file system
        temporary.push(format!("{}-{attempt}-{:016x}.tmp", std::process::id(), fingerprint(name)));
        let temporary = directory.join(temporary);
        match OpenOptions::new().write(true).create_new(true).open(&temporary) {
            Ok(file) => return Ok((file, temporary)),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists && attempt < 1000 => attempt += 1,
            Err(e) => return Err(e),
        }
    }
}

/// A hash that distinguishes the names in one directory.
fn fingerprint(name: &std::ffi::OsStr) -> u64 {
    name.as_encoded_bytes().iter().fold(0, |state, &b| crate::random::mix(state ^ u64::from(b)))
}
