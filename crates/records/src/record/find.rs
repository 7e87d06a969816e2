//! Finds files: folders, globs, standard input.

mod globs;

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use evalcurve_words::language::{Text, ToText};
use evalcurve_words::text;
use evalcurve_words::text::{portable_path, shown_source};
use thiserror::Error;

pub use globs::expand_globs;

/// A plain file up to this size is passed to a worker by its path.
const SMALL: u64 = 1 << 18;

/// The problem of a device, a pipe or a socket.
const NOT_A_FILE: &str =
    "it is a device, a pipe or a socket; read it by standard input (-), as in '< FILE evalcurve … -'";

/// A path or glob without anything to read.
#[derive(Debug, Error)]
#[error("{path}: {message}")]
pub struct SourceError {
    pub path: String,
    /// The error of the system: `NotFound`, `PermissionDenied` …; `InvalidInput` for what is no glob.
    pub kind: io::ErrorKind,
    /// Why, with the remedy.
    pub message: Text,
}

impl ToText for SourceError {
    fn to_text(&self) -> Text {
        self.message.about(&self.path.clone().into())
    }
}

/// A file, or bytes in memory, to read.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Its path; without a path and without bytes, it is standard input.
    pub path: Option<PathBuf>,
    /// The content of what is no file.
    pub bytes: Option<Arc<[u8]>>,
    /// Its name in messages and in the sample table, with `/` between folders.
    pub display: String,
    /// Size in bytes, 0 if unknown.
    pub size: u64,
    /// Why it cannot be read: a link without a target, a folder without permission.
    pub problem: Option<String>,
}

impl Entry {
    /// The content of a file in memory, under this name: records, or an archive of them.
    pub fn in_memory(name: impl Into<String>, bytes: impl Into<Arc<[u8]>>) -> Self {
        let bytes = bytes.into();
        Self { path: None, display: name.into(), size: bytes.len() as u64, bytes: Some(bytes), problem: None }
    }

    /// Whether it is small enough to be passed to a worker by its path.
    pub(crate) fn is_small(&self) -> bool {
        (self.path.is_some() || self.bytes.is_some()) && self.size <= SMALL
    }
}

/// Finds the files under the paths, in a fixed order: paths as given, the content of folders by name.
///
/// # Errors
/// [`SourceError`] for a path that does not exist or a glob without a match.
pub fn find(paths: &[PathBuf]) -> Result<Vec<Entry>, SourceError> {
    let mut entries = Vec::new();
    let paths = expand_globs(paths)?;
    for (at, path) in paths.iter().enumerate() {
        let display = path.to_string_lossy().into_owned();
        if display == "-" {
            entries.push(Entry { path: None, bytes: None, display, size: 0, problem: None });
            continue;
        }
        match std::fs::metadata(path) {
            Ok(meta) if meta.is_dir() => find_in_folder(path, &mut entries),
            Ok(meta) if meta.is_file() => entries.push(entry(path, meta.len(), None)),
            // a device may have no end, and a pipe no writer
            Ok(_) => entries.push(entry(path, 0, Some(NOT_A_FILE.to_owned()))),
            // a link that leads nowhere or to itself exists, but cannot be read
            Err(error) if path.is_symlink() => entries.push(entry(path, 0, Some(unreadable(path, &error)))),
            Err(error) => {
                let missing = error.kind() == io::ErrorKind::NotFound;
                let message = match missing {
                    true => match whole_of(&paths[at..]) {
                        Some(whole) => {
                            text!("no such file or folder; put a path with blanks in double quotes: \"{whole}\"")
                        }
                        None => text!("no such file or folder; check the name, or quote a glob"),
                    },
                    false => error.to_string().into(),
                };
                return Err(SourceError { path: shown_source(&display), kind: error.kind(), message });
            }
        }
    }
    Ok(entries)
}

/// The path that the first arguments are parts of, because it has blanks and stood without quotes.
fn whole_of(parts: &[PathBuf]) -> Option<String> {
    let parts: Vec<_> = parts.iter().map(|part| part.to_string_lossy()).collect();
    (2..=parts.len()).map(|count| parts[..count].join(" ")).find(|path| Path::new(path).exists())
}

fn entry(path: &Path, size: u64, problem: Option<String>) -> Entry {
    Entry { path: Some(path.to_owned()), bytes: None, display: portable_path(path), size, problem }
}

/// Why a file that a folder lists cannot be read.
fn unreadable(path: &Path, error: &io::Error) -> String {
    if path.is_symlink() && error.kind() == io::ErrorKind::NotFound {
        return "the link leads to a file that does not exist".to_owned();
    }
    match error.kind() {
        io::ErrorKind::PermissionDenied => "no permission to read it; change its permissions".to_owned(),
        _ => error.to_string(),
    }
}

/// Why a walk cannot go on at a path.
fn unwalkable(path: &Path, error: walkdir::Error) -> String {
    match (error.loop_ancestor(), error.io_error()) {
        (Some(folder), _) => format!("the link leads back to the folder {}", folder.display()),
        // without the path, which the report names
        (None, Some(io)) => unreadable(path, io),
        (None, None) => error.to_string(),
    }
}

/// Whether a name begins with a dot, in any encoding.
fn is_hidden(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".")
}

/// Adds the files of a folder. What cannot be read becomes an entry with a problem.
fn find_in_folder(folder: &Path, entries: &mut Vec<Entry>) {
    let hidden = |path: &Path| path.file_name().is_some_and(is_hidden);
    // the names in a folder differ in what follows its path
    let walk = walkdir::WalkDir::new(folder).follow_links(true);
    let walk = walk.sort_by(|a, b| a.path().as_os_str().cmp(b.path().as_os_str()));
    for found in walk.into_iter().filter_entry(|e| e.depth() == 0 || !hidden(e.path())) {
        match found {
            Ok(found) if found.file_type().is_file() => {
                let size = found.metadata().map_or(0, |m| m.len());
                entries.push(entry(found.path(), size, None));
            }
            Ok(_) => {}
            Err(error) => {
                let path = error.path().unwrap_or(folder).to_owned();
                if error.depth() == 0 || !hidden(&path) {
                    let problem = unwalkable(&path, error);
                    entries.push(entry(&path, 0, Some(problem)));
                }
            }
        }
    }
}
