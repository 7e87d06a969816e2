//! The journal of answers: one line of JSON for each, appended as it comes, so that no kill loses more than the
//! searches that run.
//!
//! An answer belongs to an engine, with its command, options, limit and reported name, and to a position with its
//! moves. So a run with more positions, or with another engine beside, uses the answers that are there.

use std::collections::HashMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use evalcurve_words::text::shown_path;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::answer::Answer;

/// Why the journal cannot be used.
#[derive(Debug, Error, evalcurve_words::language::ToText)]
pub enum JournalError {
    /// The file cannot be opened, read or written.
    #[error(
        "{path}: cannot {action} the journal: {source}; check the permissions of the folder and the space on the disk"
    )]
    File {
        path: String,
        /// What was tried.
        action: &'static str,
        source: io::Error,
    },
    /// Another run writes it.
    #[error("{0}: another run of evalcurve analyses into this file; wait for its end, or choose another `out`")]
    Busy(String),
    /// The file is something else.
    #[error("{0}: this is no journal of `evalcurve analyse`; move it elsewhere, or choose another `out`")]
    Foreign(String),
}

/// One line.
#[derive(Serialize, Deserialize)]
struct Entry<A> {
    engine: u64,
    position: u64,
    answer: A,
}

/// The first line.
const HEADER: &str = "{\"format\":\"evalcurve-analysis-journal\",\"version\":1}\n";

/// A journal that is open, and locked, for more.
pub(crate) struct Journal {
    path: PathBuf,
    file: File,
    /// The answers in it, by engine and position.
    pub answers: HashMap<(u64, u64), Answer>,
}

impl Journal {
    /// Opens a journal, which is created if there is none. `restart` drops what it holds.
    pub(crate) fn open(path: &Path, restart: bool) -> Result<Self, JournalError> {
        let fail = |action| {
            let path = shown_path(path);
            move |source| JournalError::File { path, action, source }
        };
        let file = OpenOptions::new().create(true).read(true).write(true).truncate(false).open(path);
        let mut file = file.map_err(fail("open"))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(JournalError::Busy(shown_path(path))),
            Err(TryLockError::Error(source)) => return Err(fail("lock")(source)),
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(fail("read"))?;
        let is_own = bytes.starts_with(HEADER.as_bytes()) || HEADER.as_bytes().starts_with(&bytes);
        if !is_own {
            return Err(JournalError::Foreign(shown_path(path)));
        }
        if restart {
            bytes.clear();
        }
        // a kill may have cut the last line
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |feed| feed + 1);
        let lines = bytes[..whole].split(|byte| *byte == b'\n').skip(1);
        let read = |line: &[u8]| serde_json::from_slice::<Entry<Answer>>(line).ok();
        let answers = lines.filter_map(read).map(|entry| ((entry.engine, entry.position), entry.answer)).collect();
        file.set_len(whole as u64).map_err(fail("write"))?;
        file.seek(SeekFrom::End(0)).map_err(fail("write"))?;
        if whole == 0 {
            file.write_all(HEADER.as_bytes()).map_err(fail("write"))?;
        }
        Ok(Self { path: path.to_owned(), file, answers })
    }

    /// Appends an answer.
    pub(crate) fn add(&mut self, engine: u64, position: u64, answer: &Answer) -> Result<(), JournalError> {
        let write = || {
            let mut line = serde_json::to_vec(&Entry { engine, position, answer })?;
            line.push(b'\n');
            (&self.file).write_all(&line)
        };
        write().map_err(|source| JournalError::File { path: shown_path(&self.path), action: "write", source })
    }
}
