//! Finds files: folders, globs, standard input.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use evalcurve_core::language::Text;
use evalcurve_core::text;
use evalcurve_core::text::shown_path;
use thiserror::Error;

/// A plain file up to this size is passed to a worker by its path.
const SMALL: u64 = 1 << 18;

/// A path or glob without anything to read.
#[derive(Debug, Error)]
#[error("{path}: {message}")]
pub struct SourceError {
    /// As given.
    pub path: String,
    /// Why, with the remedy.
    pub message: Text,
}

impl SourceError {
    /// The message in every language.
    pub fn words(&self) -> Text {
        self.message.about(&self.path.clone().into())
    }
}

/// A file to read.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Its path; `None` for standard input.
    pub path: Option<PathBuf>,
    /// Its name in messages and in the sample table, with `/` between folders.
    pub display: String,
    /// Size in bytes, 0 if unknown.
    pub size: u64,
    /// Why it cannot be read: a link without a target, a folder without permission.
    pub problem: Option<String>,
}

impl Entry {
    /// Whether it is small enough to be passed to a worker by its path.
    pub fn is_small(&self) -> bool {
        self.path.is_some() && self.size <= SMALL
    }
}

/// Finds the files under the paths, in a fixed order: paths as given, the content of folders by name.
///
/// # Errors
/// [`SourceError`] for a path that does not exist or a glob without a match.
pub fn find(paths: &[PathBuf]) -> Result<Vec<Entry>, SourceError> {
    let mut entries = Vec::new();
    for path in expand_globs(paths)? {
        let display = path.to_string_lossy().into_owned();
        if display == "-" {
            entries.push(Entry { path: None, display, size: 0, problem: None });
            continue;
        }
        match std::fs::metadata(&path) {
            Ok(meta) if meta.is_dir() => find_in_folder(&path, &mut entries),
            Ok(meta) => entries.push(entry(&path, meta.len(), None)),
            // a link that leads nowhere or to itself exists, but cannot be read
            Err(error) if path.is_symlink() => entries.push(entry(&path, 0, Some(unreadable(&path, &error)))),
            Err(error) => {
                let missing = error.kind() == io::ErrorKind::NotFound;
                let message = match missing {
                    true => text!(
                        "no such file or folder; check the name, or quote a glob",
                        "ファイルもフォルダもありません。名前を確かめるか、ワイルドカードを引用符で囲んでください"
                    ),
                    false => error.to_string().into(),
                };
                return Err(SourceError { path: display, message });
            }
        }
    }
    Ok(entries)
}

fn entry(path: &Path, size: u64, problem: Option<String>) -> Entry {
    Entry { path: Some(path.to_owned()), display: shown_path(path), size, problem }
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

/// Adds the files of a folder. What cannot be read becomes an entry with a problem.
fn find_in_folder(folder: &Path, entries: &mut Vec<Entry>) {
    let hidden = |path: &Path| path.file_name().and_then(OsStr::to_str).is_some_and(|name| name.starts_with('.'));
    let walk = walkdir::WalkDir::new(folder).follow_links(true).sort_by_file_name();
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

/// Replaces the globs among the paths by the files that they match; shells on Windows leave that to the program.
///
/// # Errors
/// [`SourceError`] for a glob that matches nothing. Paths that are not globs are not checked.
pub fn expand_globs(paths: &[PathBuf]) -> Result<Vec<PathBuf>, SourceError> {
    let mut all = Vec::with_capacity(paths.len());
    for path in paths {
        let shown = path.to_string_lossy();
        if shown.contains(['*', '?', '[']) && !path.exists() {
            all.extend(matches_of(&shown)?);
        } else {
            all.push(path.clone());
        }
    }
    Ok(all)
}

/// The paths that a glob matches, sorted; at least one.
fn matches_of(pattern: &str) -> Result<Vec<PathBuf>, SourceError> {
    let failed = |message: Text| SourceError { path: pattern.to_owned(), message };
    let paths = glob::glob(pattern).map_err(|error| failed(error.to_string().into()))?;
    // a folder that cannot be read is reported when it is walked
    let mut found: Vec<PathBuf> = paths.map(|path| path.unwrap_or_else(|error| error.path().to_owned())).collect();
    found.sort();
    if found.is_empty() {
        return Err(failed(text!("no file matches", "合うファイルがありません")));
    }
    Ok(found)
}
