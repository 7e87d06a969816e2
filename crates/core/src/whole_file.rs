//! Files that are written whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use thiserror::Error;

/// A file that could not be written; what stood there before is untouched.
#[derive(Debug, Error)]
#[error("{path}: cannot {action} the file: {source}; {remedy}")]
pub struct WriteError {
    /// `create`, `write` or `replace`.
    pub action: &'static str,
    /// The file.
    pub path: String,
    /// Why.
    pub source: io::Error,
    /// What to do.
    pub remedy: &'static str,
}

/// Writes a file into a new file beside it, flushes that to the disk and renames it over whatever stood there.
///
/// # Errors
/// [`WriteError`] with a remedy. The folder must exist.
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
        written.map_err(fail("write", path, "make room on the disk or choose another directory")).and_then(|()| {
            fs::rename(&temporary, path).map_err(fail(
                "replace",
                path,
                "close the program that holds it open, or choose another name",
            ))
        });
    if done.is_err() {
        // the error that is reported is the first one
        let _ = fs::remove_file(&temporary);
    } else if cfg!(unix)
        && let Ok(handle) = File::open(directory)
    {
        // makes the rename itself durable; not every file system can
        let _ = handle.sync_all();
    }
    done
}

/// A new file in the directory, with its path; a leftover of the same name is passed over.
fn create_beside(directory: &Path, name: &std::ffi::OsStr) -> io::Result<(File, PathBuf)> {
    let mut attempt = 0u32;
    loop {
        let mut temporary = std::ffi::OsString::from(".evalcurve-");
        // a prefix alone: name and additions together may pass the limit of the file system
        temporary.push(format!("{}-{attempt}-{:016x}.tmp", std::process::id(), fingerprint(name)));
        let temporary = directory.join(temporary);
        match OpenOptions::new().write(true).create_new(true).open(&temporary) {
            Ok(file) => return Ok((file, temporary)),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists && attempt < 1000 => attempt += 1,
            Err(e) => return Err(e),
        }
    }
}

/// Tells the names of one directory apart.
fn fingerprint(name: &std::ffi::OsStr) -> u64 {
    name.as_encoded_bytes().iter().fold(0, |state, &b| crate::random::mix(state ^ u64::from(b)))
}
