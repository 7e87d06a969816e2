//! The folder of a tournament: results, game records, and the settings they were played with.
//!
//! | file | content |
//! |---|---|
//! | `results.csv` | one row per game; `evalcurve match-stats` reads it |
//! | `games.csa`, `games.pgn` | the records |
//! | `settings.json` | what must not change between two runs |
//! | `.play.lock` | empty; locked by the run that plays into the folder |
//!
//! The records of a pair are written first, then both rows of the pair in one call. A run that was killed in between
//! leaves records without rows, which the next run cuts off, or an incomplete row, which it drops with its pair. Of
//! every other row, the next run reads the record: an edited table is refused.
//!
//! At the end both files are sorted: written beside the old ones, as `games.csa.sorted` and `results.csv.sorted` in
//! this order, and renamed in this order. The next run completes what a kill in between left, or takes it back.

mod rows;
mod settings;

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use thiserror::Error;

pub(crate) use self::rows::GameRow;
use self::rows::{TableError, csv_text, whole_pairs};
use self::settings::Settings;
use super::record;
use super::tournament::Tournament;
use evalcurve_engine::Game;
use evalcurve_words::text::shown_path as shown;
use evalcurve_words::whole_file::{self, WriteError};

/// Why the folder cannot be used.
#[derive(Debug, Error, evalcurve_words::language::ToText)]
pub enum StoreError {
    /// A file cannot be read or written.
    #[error("{path}: cannot {action}: {source}; {remedy}")]
    File { path: String, action: &'static str, source: io::Error, remedy: &'static str },
    /// A file cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// Another run writes to the folder. It may be a tournament of another game.
    #[error("{0} is in use by another run of evalcurve; wait until it has finished")]
    Busy(String),
    /// The games in the folder were played with other settings.
    #[error(
        "{path}: the games in this folder were played with other settings: {difference}; rename the folder to keep \
         them, or delete them with `force`"
    )]
    Settings {
        path: String,
        /// The first key that differs, with both values.
        difference: String,
    },
    /// The settings of the games in the folder are not known.
    #[error(
        "{path}: {why}, so that it is unknown how the games in this folder were played; restore the file, rename the \
         folder to keep the games, or delete them with `force`"
    )]
    NoSettings {
        path: String,
        /// What is wrong with it.
        why: String,
    },
    /// A file of settings that another program wrote.
    #[error("{0}: this is no file of `evalcurve play`; move it elsewhere, or replace it with `force`")]
    Foreign(String),
    /// The table of results is not as this program writes it.
    #[error(
        "{path}:{line}: {problem}; restore the file as `evalcurve play` wrote it, rename the folder to keep the games, \
         or delete them with `force`"
    )]
    Table {
        path: String,
        /// The line, from 1.
        line: u64,
        /// What is wrong, with the value.
        problem: String,
    },
    /// There are records of games that are not in the results.
    #[error(
        "{path}: the games from byte {from} to byte {to} are not in {results}; restore that file, rename the folder to \
         keep the games, or delete them with `force`"
    )]
    Unlisted { path: String, from: u64, to: u64, results: String },
    /// The records are not those of the results.
    #[error(
        "{path}: the file has {length} bytes, and the results need {needed}; restore it, or start again with `force`"
    )]
    Records {
        path: String,
        length: u64,
        /// The end of the last record.
        needed: u64,
    },
}

fn fail(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> StoreError {
    let path = shown(path);
    let remedy = match action {
        "read" => "check the permissions of the folder",
        "lock" => "use a folder on a disk that knows locks, such as a local one",
        _ => "check the permissions of the folder and the space on the disk",
    };
    move |source| StoreError::File { path, action, source, remedy }
}

/// The results and records of a tournament, open for more.
#[derive(Debug)]
pub(crate) struct Store {
    /// Held as long as the store.
    lock: File,
    results_path: PathBuf,
    records_path: PathBuf,
    results: File,
    records: File,
    pub rows: Vec<GameRow>,
    /// The length of the records.
    end: u64,
}

impl Store {
    /// Opens the folder, which is created if necessary. `restart` deletes the games in it. Nothing else deletes a game;
    /// only the pair that a killed run was writing is cut off.
    pub(crate) fn open(folder: &Path, tournament: &Tournament, restart: bool) -> Result<Self, StoreError> {
        fs::create_dir_all(folder).map_err(fail(folder, "create the folder"))?;
        let lock = lock(folder)?;
        let results_path = folder.join("results.csv");
        let records_path = records_of(folder, tournament.game);
        // also those of another game: they would count as a part of this tournament
        let all = [Game::Shogi, Game::Chess].map(|game| records_of(folder, game));
        end_sorting(&results_path, &all)?;
        if restart {
            all.iter().chain([&results_path]).try_for_each(|path| delete(path))?;
        }
        let text = match fs::read(&results_path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => None,
            read => Some(read.map_err(fail(&results_path, "read"))?),
        };
        let records_length = records_path.metadata().ok().map(|data| data.len());
        let table = |TableError { line, problem }| StoreError::Table { path: shown(&results_path), line, problem };
        let numbered = whole_pairs(text.as_deref().unwrap_or_default(), records_length).map_err(table)?;
        let lines: Vec<u64> = numbered.iter().map(|(line, _)| *line).collect();
        let rows: Vec<GameRow> = numbered.into_iter().map(|(_, row)| row).collect();
        let settings = Settings::of(folder, tournament);
        settings.check(rows.is_empty(), restart)?;
        let end = agree(&rows, &records_path, &results_path, tournament.game, text.is_some())?;
        if !rows.is_empty() {
            let mut records = File::open(&records_path).map_err(fail(&records_path, "read"))?;
            for (row, &line) in rows.iter().zip(&lines) {
                let record = record_of(&mut records, row).map_err(fail(&records_path, "read"))?;
                row.problem(tournament, &record).map_or(Ok(()), |problem| Err(table(TableError { line, problem })))?;
            }
        }
        if rows.is_empty() {
            let other = if tournament.game == Game::Chess { Game::Shogi } else { Game::Chess };
            agree(&[], &records_of(folder, other), &results_path, other, false)?;
            settings.write()?;
        }
        whole_file::write(&results_path, csv_text(&rows, true).as_bytes())?;
        let open = |path: &Path| {
            let file = OpenOptions::new().create(true).read(true).write(true).truncate(false).open(path);
            file.map_err(fail(path, "open"))
        };
        let [mut results, records] = [open(&results_path)?, open(&records_path)?];
        results.seek(SeekFrom::End(0)).map_err(fail(&results_path, "read"))?;
        records.set_len(end).map_err(fail(&records_path, "write"))?;
        let mut store = Self { lock, results_path, records_path, results, records, rows, end };
        store.records.seek(SeekFrom::End(0)).map_err(fail(&store.records_path, "write"))?;
        Ok(store)
    }

    /// Adds a pair of games with their records. `from` and `to` of the rows are set here.
    pub(crate) fn add(&mut self, mut pair: [(GameRow, String); 2]) -> Result<(), StoreError> {
        let mut text = String::new();
        for (row, record) in &mut pair {
            row.from = self.end + text.len() as u64;
            text += record;
            row.to = self.end + text.len() as u64;
        }
        let write = self.records.write_all(text.as_bytes()).and_then(|()| self.records.flush());
        write.map_err(fail(&self.records_path, "write"))?;
        self.end += text.len() as u64;
        let rows = pair.map(|(row, _)| row);
        let write = self.results.write_all(csv_text(&rows, false).as_bytes()).and_then(|()| self.results.flush());
        write.map_err(fail(&self.results_path, "write"))?;
        self.rows.extend(rows);
        Ok(())
    }

    /// Puts the games of a finished tournament into the order of the openings, so that the files do not depend on how
    /// many games were played at a time. The folder is free afterwards.
    pub(crate) fn sort(self) -> Result<(), StoreError> {
        let Self { lock, results_path, records_path, results, mut records, mut rows, .. } = self;
        if rows.is_sorted_by_key(|row| (row.pair, row.game)) {
            return Ok(());
        }
        let mut text = Vec::new();
        let read = records.seek(SeekFrom::Start(0)).and_then(|_| records.read_to_end(&mut text));
        read.map_err(fail(&records_path, "read"))?;
        rows.sort_by_key(|row| (row.pair, row.game));
        let mut sorted = Vec::with_capacity(text.len());
        for row in &mut rows {
            let from = sorted.len() as u64;
            sorted.extend_from_slice(text.get(row.from as usize..row.to as usize).unwrap_or_default());
            (row.from, row.to) = (from, sorted.len() as u64);
        }
        let [sorted_records, sorted_results] = [sorted_path(&records_path), sorted_path(&results_path)];
        whole_file::write(&sorted_records, &sorted)?;
        whole_file::write(&sorted_results, csv_text(&rows, true).as_bytes())?;
        // a file that is open cannot be replaced everywhere
        drop((results, records));
        whole_file::rename(&sorted_records, &records_path).map_err(fail(&records_path, "replace"))?;
        whole_file::rename(&sorted_results, &results_path).map_err(fail(&results_path, "replace"))?;
        drop(lock);
        Ok(())
    }
}

/// A file of records that gets a copy of each new game, beside the folder.
#[derive(Debug)]
pub(crate) struct Append {
    path: PathBuf,
    file: File,
}

impl Append {
    pub(crate) fn open(path: &Path) -> Result<Self, StoreError> {
        let file = OpenOptions::new().create(true).append(true).open(path).map_err(fail(path, "open"))?;
        Ok(Self { path: path.to_owned(), file })
    }

    /// Adds the records of a pair in one call.
    pub(crate) fn add(&mut self, [(_, first), (_, second)]: &[(GameRow, String); 2]) -> Result<(), StoreError> {
        self.file.write_all(format!("{first}{second}").as_bytes()).map_err(fail(&self.path, "write"))
    }
}

/// Takes the folder for this run. The file has one name for all games and is never replaced or deleted, so that every
/// run locks the same one. Its name begins with a dot, so that readers of records skip it. No other file can serve:
/// Windows keeps other programs from reading a locked file.
fn lock(folder: &Path) -> Result<File, StoreError> {
    let path = folder.join(".play.lock");
    let file = OpenOptions::new().create(true).read(true).write(true).truncate(false).open(&path);
    let file = file.map_err(fail(&path, "open"))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(StoreError::Busy(shown(folder))),
        Err(TryLockError::Error(source)) => Err(fail(&path, "lock")(source)),
    }
}

/// The file of the records of a game.
fn records_of(folder: &Path, game: Game) -> PathBuf {
    folder.join(format!("games.{}", record::extension(game)))
}

/// Deletes a file if there is one.
fn delete(path: &Path) -> Result<(), StoreError> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(fail(path, "delete")(e)),
        _ => Ok(()),
    }
}

/// The record of a game.
fn record_of(records: &mut File, row: &GameRow) -> io::Result<String> {
    records.seek(SeekFrom::Start(row.from))?;
    let mut text = Vec::new();
    records.take(row.to - row.from).read_to_end(&mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Where the records of some results end. After them is nothing, or the pair that a killed run was writing; that run
/// had written a table before.
fn agree(
    rows: &[GameRow],
    records_path: &Path,
    results_path: &Path,
    game: Game,
    has_table: bool,
) -> Result<u64, StoreError> {
    let unlisted = |from, to| {
        let (path, results) = (shown(records_path), shown(results_path));
        Err(StoreError::Unlisted { path, from, to, results })
    };
    let mut places: Vec<(u64, u64)> = rows.iter().map(|row| (row.from, row.to)).collect();
    places.sort_unstable();
    let mut end = 0;
    for (from, to) in places {
        if from > end {
            return unlisted(end, from);
        }
        end = to;
    }
    let mut records = match File::open(records_path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => None,
        opened => Some(opened.map_err(fail(records_path, "read"))?),
    };
    let length = records.as_ref().map_or(Ok(0), |file| file.metadata().map(|data| data.len()));
    let length = length.map_err(fail(records_path, "read"))?;
    if length < end {
        return Err(StoreError::Records { path: shown(records_path), length, needed: end });
    }
    if let Some(records) = records.as_mut().filter(|_| length > end) {
        let unfinished = is_unfinished_pair(records, end, game).map_err(fail(records_path, "read"))?;
        if !(unfinished && has_table) {
            return unlisted(end, length);
        }
    }
    Ok(end)
}

/// Whether nothing follows in a file of records but the beginning of a pair: at most two games.
fn is_unfinished_pair(records: &mut File, from: u64, game: Game) -> io::Result<bool> {
    let beginning = record::beginning(game).as_bytes();
    records.seek(SeekFrom::Start(from))?;
    let mut start = Vec::new();
    records.take(beginning.len() as u64).read_to_end(&mut start)?;
    if !beginning.starts_with(&start) {
        return Ok(false);
    }
    let (mut reader, mut line, mut more) = (BufReader::new(records), Vec::new(), 0);
    while reader.read_until(b'\n', &mut line)? > 0 && more < 2 {
        more += usize::from(line.starts_with(beginning));
        line.clear();
    }
    Ok(more < 2)
}

/// Where the sorted form of a file is until it replaces the file.
fn sorted_path(path: &Path) -> PathBuf {
    let mut sorted = path.as_os_str().to_owned();
    sorted.push(".sorted");
    sorted.into()
}

/// Ends a [`Store::sort`] that was killed, of whichever game: sorted results belong to the records once these are
/// sorted, too.
fn end_sorting(results_path: &Path, records_paths: &[PathBuf]) -> Result<(), StoreError> {
    let results = sorted_path(results_path);
    let records: Vec<PathBuf> = records_paths.iter().map(|path| sorted_path(path)).collect();
    if !records.iter().any(|path| path.exists()) {
        return match whole_file::rename(&results, results_path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(fail(results_path, "replace")(e)),
            _ => Ok(()),
        };
    }
    // the records go last: without them the results would count as theirs
    std::iter::once(&results).chain(&records).try_for_each(|path| delete(path))
}

#[cfg(test)]
mod tests;
