//! The folder of a tournament: results, game records, and the settings they were played with.
//!
//! | file | content |
//! |---|---|
//! | `results.csv` | one row per game; `evalcurve match-stats` reads it |
//! | `games.csa`, `games.pgn` | the records |
//! | `settings.json` | what must not change between two runs |
//!
//! The records of a pair are written first, then both rows of the pair in one call. A run that was killed in between
//! leaves records without rows, which the next run cuts off, or an incomplete row, which it drops with its pair.
//!
//! At the end both files are sorted: written beside the old ones, as `games.csa.sorted` and `results.csv.sorted` in
//! this order, and renamed in this order. The next run completes what a kill in between left, or takes it back.

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use thiserror::Error;

use super::record;
use super::tournament::Tournament;
use evalcurve_core::text::shown_path as shown;
use evalcurve_core::types::{Color, Outcome, Termination};
use evalcurve_core::whole_file::{self, WriteError};
use evalcurve_council::{Config, EngineConfig};

/// A finished game.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Number of the pair in the tournament, from 1.
    pub pair: u32,
    /// 1 or 2.
    pub game: u8,
    /// The first engine of the encounter.
    pub player: String,
    /// The second.
    pub opponent: String,
    /// Number of the opening, from 1.
    pub opening: u32,
    /// The colour of the player.
    pub colour: Color,
    /// The result for the player.
    pub result: Outcome,
    /// Why the game ended.
    pub termination: String,
    /// What happened, for faults.
    pub detail: String,
    /// Moves played, those of the opening included.
    pub plies: u32,
    /// The time that the player used.
    pub player_ms: u64,
    /// The time that the opponent used.
    pub opponent_ms: u64,
    /// Where the record of the game begins in the file of records, in bytes.
    pub from: u64,
    /// Where it ends.
    pub to: u64,
}

impl Row {
    /// The place of the encounter among the encounters of the tournament.
    pub(crate) fn encounter(&self, encounters: usize) -> usize {
        (self.pair.saturating_sub(1) as usize) % encounters.max(1)
    }

    pub(crate) fn result(&self) -> Outcome {
        self.result
    }

    /// Why the game ended.
    pub fn termination(&self) -> Termination {
        self.termination.parse().unwrap_or(Termination::Unknown)
    }
}

/// Why the folder cannot be used.
#[derive(Debug, Error)]
pub enum StoreError {
    /// A file cannot be read or written.
    #[error("{path}: cannot {action}: {source}; {remedy}")]
    File {
        /// The file.
        path: String,
        /// What was tried.
        action: &'static str,
        /// Why.
        source: io::Error,
        /// What to do.
        remedy: &'static str,
    },
    /// A file cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// Another run writes to the folder.
    #[error("{0}: another run of evalcurve plays into this folder; wait for its end")]
    Busy(String),
    /// The games in the folder were played with other settings.
    #[error(
        "{path}: the games in this folder were played with other settings: {difference}; rename the folder to keep \
         them, or delete them with --force"
    )]
    Settings {
        /// The folder.
        path: String,
        /// The first difference.
        difference: String,
    },
    /// The records are not those of the results.
    #[error(
        "{path}: the file has {length} bytes, and the results need {needed}; restore it, or start again with --force"
    )]
    Records {
        /// The file of records.
        path: String,
        /// Its length.
        length: u64,
        /// The end of the last record.
        needed: u64,
    },
}

fn fail(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> StoreError {
    let path = shown(path);
    let remedy = match action {
        "read" => "check the permissions of the folder",
        _ => "check the permissions of the folder and the space on the disk",
    };
    move |source| StoreError::File { path, action, source, remedy }
}

/// The results and records of a tournament, open for more.
#[derive(Debug)]
pub(crate) struct Store {
    results_path: PathBuf,
    records_path: PathBuf,
    results: File,
    records: File,
    pub rows: Vec<Row>,
    /// The length of the records.
    end: u64,
}

impl Store {
    /// Opens the folder, which is created if necessary. `restart` deletes the games in it.
    pub fn open(folder: &Path, tournament: &Tournament, restart: bool) -> Result<Self, StoreError> {
        fs::create_dir_all(folder).map_err(fail(folder, "create the folder"))?;
        let results_path = folder.join("results.csv");
        let records_path = folder.join(format!("games.{}", record::extension(tournament.game)));
        let open = |path: &Path| {
            let file = OpenOptions::new().create(true).read(true).write(true).truncate(false).open(path);
            file.map_err(fail(path, "open"))
        };
        let records = open(&records_path)?;
        if records.try_lock().is_err() {
            return Err(StoreError::Busy(shown(folder)));
        }
        end_sorting(&results_path, &records_path)?;
        if restart && results_path.exists() {
            fs::remove_file(&results_path).map_err(fail(&results_path, "delete"))?;
        }
        let text = match fs::read(&results_path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Vec::new(),
            read => read.map_err(fail(&results_path, "read"))?,
        };
        let rows = whole_pairs(&text);
        check_settings(folder, tournament, rows.is_empty())?;
        whole_file::write(&results_path, csv_text(&rows, true).as_bytes())?;
        let mut results = open(&results_path)?;
        results.seek(SeekFrom::End(0)).map_err(fail(&results_path, "read"))?;
        let length = records.metadata().map_err(fail(&records_path, "read"))?.len();
        let end = rows.iter().map(|row| row.to).max().unwrap_or(0);
        if length < end {
            let path = shown(&records_path);
            return Err(StoreError::Records { path, length, needed: end });
        }
        records.set_len(end).map_err(fail(&records_path, "write"))?;
        let mut store = Self { results_path, records_path, results, records, rows, end };
        store.records.seek(SeekFrom::End(0)).map_err(fail(&store.records_path, "write"))?;
        Ok(store)
    }

    /// Adds a pair of games with their records. `from` and `to` of the rows are set here.
    pub fn add(&mut self, mut pair: [(Row, String); 2]) -> Result<(), StoreError> {
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
    pub fn sort(self) -> Result<(), StoreError> {
        let Self { results_path, records_path, results, mut records, mut rows, .. } = self;
        if rows.is_sorted_by_key(|row| (row.pair, row.game)) {
            return Ok(());
        }
        // by the handle that holds the lock: on Windows no other one can read the file, and it cannot be replaced
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
        fs::rename(&sorted_records, &records_path).map_err(fail(&records_path, "replace"))?;
        fs::rename(&sorted_results, &results_path).map_err(fail(&results_path, "replace"))
    }
}

/// Where the sorted form of a file is until it replaces the file.
fn sorted_path(path: &Path) -> PathBuf {
    let mut sorted = path.as_os_str().to_owned();
    sorted.push(".sorted");
    sorted.into()
}

/// Ends a [`Store::sort`] that was killed: sorted results belong to the records once these are sorted, too.
fn end_sorting(results_path: &Path, records_path: &Path) -> Result<(), StoreError> {
    let [records, results] = [sorted_path(records_path), sorted_path(results_path)];
    if !records.exists() {
        return match fs::rename(&results, results_path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(fail(results_path, "replace")(e)),
            _ => Ok(()),
        };
    }
    // the records go last: without them the results would count as theirs
    for path in [results, records] {
        match fs::remove_file(&path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(fail(&path, "delete")(e)),
            _ => {}
        }
    }
    Ok(())
}

/// The rows of all pairs that are whole; anything else is dropped.
fn whole_pairs(text: &[u8]) -> Vec<Row> {
    // a row without its line end may be incomplete even if it can be read
    let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(&[][..], |end| &text[..=end]);
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(whole);
    let rows: Vec<Row> = reader.deserialize().flatten().collect();
    let mut pairs: Vec<Row> = Vec::new();
    let mut known = HashSet::new();
    for pair in rows.chunk_by(|a, b| a.pair == b.pair) {
        if let [first, second] = pair
            && (first.game, second.game) == (1, 2)
            && known.insert(first.pair)
        {
            pairs.extend_from_slice(pair);
        }
    }
    pairs
}

fn csv_text(rows: &[Row], with_head: bool) -> String {
    const HEAD: &str =
        "pair,game,player,opponent,opening,colour,result,termination,detail,plies,player_ms,opponent_ms,from,to\n";
    let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
    for row in rows {
        // writing to memory does not fail
        let _ = writer.serialize(row);
    }
    let rows = writer.into_inner().unwrap_or_default();
    let head = if with_head { HEAD } else { "" };
    head.to_owned() + &String::from_utf8_lossy(&rows)
}

/// Compares the settings with those of the games in the folder, or writes them if there are none.
fn check_settings(folder: &Path, tournament: &Tournament, is_new: bool) -> Result<(), StoreError> {
    let path = folder.join("settings.json");
    let settings = settings(tournament);
    let known = fs::read(&path).ok().and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
    match known {
        Some(known) if !is_new => match difference("", &known, &settings) {
            None => Ok(()),
            Some(difference) => Err(StoreError::Settings { path: shown(folder), difference }),
        },
        _ => Ok(whole_file::write(&path, format!("{settings:#}\n").as_bytes())?),
    }
}

/// Everything that changes games. The number of pairs, concurrency and sequential test may change.
fn settings(tournament: &Tournament) -> Value {
    let openings = &tournament.openings;
    json!({
        "game": tournament.game.as_str(),
        "format": format!("{:?}", tournament.format),
        "seed": tournament.seed,
        "max_plies": tournament.most_plies(),
        "keep_engines": tournament.keep_engines,
        "margin_ms": tournament.margin_ms,
        "patience_ms": tournament.patience_ms,
        "openings": {
            "file": openings.file.as_deref().map(digest),
            "order": format!("{:?}", openings.order),
            "start": openings.start,
            "plies": openings.plies,
        },
        "adjudication": tournament.adjudication.map(|a| json!({ "win_rate": a.win_rate, "moves": a.moves })),
        "engines": tournament.engines.iter().map(|e| engine_settings(e, tournament)).collect::<Vec<Value>>(),
    })
}

fn engine_settings(engine: &EngineConfig, tournament: &Tournament) -> Value {
    let launch = &engine.launch;
    // the files that it is given, such as the configuration of a council
    let files = launch.args.iter().map(Path::new).filter(|path| path.is_file());
    let environment = launch.environment.iter().map(|(k, v)| format!("{}={}", k.display(), v.display()));
    json!({
        "name": engine.name,
        "protocol": engine.protocol.greeting(),
        "command": if engine.is_council { "evalcurve".to_owned() } else { name_of(Path::new(&launch.command)) },
        "args": launch.args.iter().map(|arg| name_of(Path::new(arg))).collect::<Vec<String>>(),
        "environment": environment.collect::<Vec<String>>(),
        "files": files.map(digest).collect::<Vec<String>>(),
        "options": engine.options,
        "limit": Tournament::limit_text(engine),
        "calibration": engine.calibration.as_ref().map(|c| c.engine.name.clone()),
        "calibrations": calibrations(engine, tournament),
        "mate_threshold_cp": engine.mate_threshold_cp,
    })
}

/// The calibrations that can decide a game, by adjudication, or a vote of a council.
fn calibrations(engine: &EngineConfig, tournament: &Tournament) -> Vec<String> {
    let own = engine.calibration_file.iter().filter(|_| tournament.adjudication.is_some());
    let config = engine.launch.args.last().filter(|_| engine.is_council);
    // it was read with the tournament
    let members = config.and_then(|path| Config::read(Path::new(path)).ok()).map_or_else(Vec::new, |c| c.engines);
    own.chain(members.iter().filter_map(|member| member.calibration_file.as_ref())).map(|file| digest(file)).collect()
}

/// The name of a file without its folders, so that a folder may be moved.
fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// A name for the content of a file: its beginning as SHA-256.
fn digest(path: &Path) -> String {
    let bytes = fs::read(path).unwrap_or_default();
    let hash: String = Sha256::digest(&bytes).iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    format!("{} {hash}", name_of(path))
}

/// The first difference of two documents. A field that the old one does not have, because an older version wrote it, is
/// unknown and not different.
fn difference(place: &str, old: &Value, new: &Value) -> Option<String> {
    match (old, new) {
        (Value::Object(a), Value::Object(b)) => a.iter().find_map(|(key, old)| {
            let place = if place.is_empty() { key.clone() } else { format!("{place}.{key}") };
            difference(&place, old, b.get(key).unwrap_or(&Value::Null))
        }),
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            let numbered = (1..).zip(a.iter().zip(b));
            numbered.into_iter().find_map(|(number, (a, b))| difference(&format!("{place}.{number}"), a, b))
        }
        _ => (old != new).then(|| format!("{place} was {old}, and is {new}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(pair: u32, game: u8) -> Row {
        Row {
            pair,
            game,
            player: "A, the first".into(),
            opponent: "後手".into(),
            opening: pair,
            colour: Color::Black,
            result: Outcome::Draw,
            termination: "repetition".into(),
            detail: "said \"no\", and\nended".into(),
            plies: 9,
            player_ms: 3,
            opponent_ms: 4,
            from: 0,
            to: 0,
        }
    }

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("evalcurve-store-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        folder
    }

    #[test]
    fn a_killed_run_leaves_whole_pairs() {
        let folder = folder("killed");
        let tournament = Tournament::default();
        let mut store = Store::open(&folder, &tournament, false).unwrap();
        for pair in [2, 1, 3] {
            let record = |game| format!("pair {pair} game {game}\n");
            store.add([(row(pair, 1), record(1)), (row(pair, 2), record(2))]).unwrap();
        }
        let (results, records) = (store.results_path.clone(), store.records_path.clone());
        assert!(matches!(Store::open(&folder, &tournament, false), Err(StoreError::Busy(_))));
        drop(store);
        // killed while it wrote the last row, at any byte
        let whole = fs::read(&results).unwrap();
        let last = whole.windows(3).rposition(|w| w == b"\n3,").unwrap() + 1;
        for cut in last..whole.len() {
            fs::write(&results, &whole[..cut]).unwrap();
            let store = Store::open(&folder, &tournament, false).unwrap();
            let pairs: Vec<(u32, u8)> = store.rows.iter().map(|row| (row.pair, row.game)).collect();
            assert_eq!(pairs, [(2, 1), (2, 2), (1, 1), (1, 2)], "cut at {cut}");
            drop(store);
            fs::write(&records, "pair 2 game 1\npair 2 game 2\npair 1 game 1\npair 1 game 2\npair 3 ga").unwrap();
        }
        let mut store = Store::open(&folder, &tournament, false).unwrap();
        store.add([(row(3, 1), "pair 3 game 1\n".into()), (row(3, 2), "pair 3 game 2\n".into())]).unwrap();
        store.sort().unwrap();
        let text = fs::read_to_string(&records).unwrap();
        assert!(text.starts_with("pair 1 game 1\npair 1 game 2\npair 2 game 1") && text.lines().count() == 6);
        let store = Store::open(&folder, &tournament, false).unwrap();
        assert_eq!((store.rows.len(), &store.rows[0].detail), (6, &row(1, 1).detail));
        drop(store);
        fs::write(&records, "short").unwrap();
        assert!(matches!(Store::open(&folder, &tournament, false), Err(StoreError::Records { .. })));
        assert!(Store::open(&folder, &tournament, true).unwrap().rows.is_empty());
        let _ = fs::remove_dir_all(&folder);
    }

    /// A kill while files are sorted loses no game, wherever it comes.
    #[test]
    fn sorting_is_completed_or_taken_back() {
        let [folder, sorted] = ["unsorted", "sorted"].map(folder);
        for folder in [&folder, &sorted] {
            let mut store = Store::open(folder, &Tournament::default(), false).unwrap();
            for pair in [2, 1] {
                store.add([1, 2].map(|game| (row(pair, game), format!("pair {pair} game {game}\n")))).unwrap();
            }
        }
        Store::open(&sorted, &Tournament::default(), false).unwrap().sort().unwrap();
        let read = |folder: &Path, name: &str| fs::read_to_string(folder.join(name)).unwrap();
        let good = "pair 1 game 1\npair 1 game 2\npair 2 game 1\npair 2 game 2\n";
        assert_eq!(read(&sorted, "games.csa"), good);
        assert_eq!(fs::read_dir(&sorted).unwrap().count(), 3);
        let copy = |from: &str, to: &str| fs::copy(sorted.join(from), folder.join(to)).unwrap();
        let states: [&[(&str, &str)]; 3] = [
            &[("games.csa", "games.csa.sorted")],
            &[("games.csa", "games.csa.sorted"), ("results.csv", "results.csv.sorted")],
            &[("games.csa", "games.csa"), ("results.csv", "results.csv.sorted")],
        ];
        for state in states {
            for (from, to) in state {
                copy(from, to);
            }
            let store = Store::open(&folder, &Tournament::default(), false).unwrap();
            let text = read(&folder, "games.csa");
            let records = store.rows.iter().map(|row| &text[row.from as usize..row.to as usize]);
            let wanted = store.rows.iter().map(|row| format!("pair {} game {}\n", row.pair, row.game));
            assert!(records.eq(wanted) && store.rows.len() == 4, "{state:?}");
            assert_eq!(fs::read_dir(&folder).unwrap().count(), 3, "{state:?}");
        }
        assert_eq!(
            (read(&folder, "games.csa"), read(&folder, "results.csv")),
            (good.into(), read(&sorted, "results.csv"))
        );
        [folder, sorted].iter().for_each(|folder| drop(fs::remove_dir_all(folder)));
    }

    #[test]
    fn other_settings_are_refused_by_name() {
        let folder = folder("settings");
        let tournament = Tournament::default();
        let mut store = Store::open(&folder, &tournament, false).unwrap();
        store.add([(row(1, 1), "a\n".into()), (row(1, 2), "b\n".into())]).unwrap();
        drop(store);
        let error = Store::open(&folder, &Tournament { seed: 2, ..tournament.clone() }, false).unwrap_err();
        assert!(error.to_string().contains("seed was 1, and is 2"), "{error}");
        assert!(Store::open(&folder, &Tournament { pairs: 900, ..tournament }, false).is_ok());
        let _ = fs::remove_dir_all(&folder);
    }

    /// The names of the engines stay the same, and what decides games and votes changes.
    #[test]
    fn other_calibrations_and_protocols_are_other_settings() {
        let folder = folder("calibrations");
        fs::create_dir_all(&folder).unwrap();
        let published = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/published/gikou.json");
        let published = fs::read_to_string(published).unwrap();
        let calibrate = |w1: &str| fs::write(folder.join("a.json"), published.replace("0.0026", w1)).unwrap();
        let member = |name: &str| format!("[[engine]]\nname = '{name}'\ncommand = 'sh'\n");
        let limit = "limit = { nodes = 9 }\n";
        calibrate("0.0026");
        let council = format!("rule = 'optimistic'\n{}calibration = 'a.json'\n", member("M"));
        fs::write(folder.join("council.toml"), council).unwrap();
        let read = |text: String| {
            fs::write(folder.join("t.toml"), text).unwrap();
            Tournament::read(&folder.join("t.toml")).unwrap()
        };
        let out = folder.join("out");
        let problem = |tournament: &Tournament| Store::open(&out, tournament, false).err().map(|e| e.to_string());
        let plays = |tournament: &Tournament| {
            let mut store = Store::open(&out, tournament, true).unwrap();
            store.add([1, 2].map(|game| (row(1, game), "record\n".into()))).unwrap();
        };
        let engine = |name, more: &str| format!("{}{limit}calibration = 'a.json'\n{more}", member(name));
        let adjudicated = |more| {
            let head = "[adjudication]\nwin-rate = 0.9\nmoves = 3\n";
            read(format!("{head}{}{}", engine("A", ""), engine("B", more)))
        };
        let of_council = || read(format!("{}{limit}[[engine]]\nname = 'C'\ncouncil = 'council.toml'\n", member("A")));
        for tournament in [adjudicated(""), of_council()] {
            calibrate("0.0026");
            plays(&tournament);
            assert_eq!(problem(&tournament), None);
            calibrate("0.0027");
            let found = problem(&tournament).unwrap_or_default();
            assert!(found.contains("calibrations.1 was \"a.json "), "{found}");
        }
        // without adjudication, no game depends on it
        let plain = read(engine("A", "") + &engine("B", ""));
        plays(&plain);
        calibrate("0.0026");
        assert_eq!(problem(&plain), None);
        plays(&adjudicated(""));
        for (more, expected) in [
            ("protocol = 'uci'\n", "engines.2.protocol was \"usi\", and is \"uci\""),
            ("mate-threshold = 3000\n", "engines.2.mate_threshold_cp was null, and is 3000.0"),
        ] {
            let found = problem(&adjudicated(more)).unwrap_or_default();
            assert!(found.contains(expected), "{found}");
        }
        // as version 0.1.0 wrote it before: what it does not say is unknown
        let path = out.join("settings.json");
        let mut old: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        for engine in old["engines"].as_array_mut().unwrap() {
            for key in ["calibrations", "protocol", "mate_threshold_cp"] {
                assert!(engine.as_object_mut().unwrap().remove(key).is_some());
            }
        }
        fs::write(&path, old.to_string()).unwrap();
        assert_eq!(problem(&adjudicated("protocol = 'uci'\n")), None);
        let _ = fs::remove_dir_all(&folder);
    }
}
