//! What must not change between two runs of a tournament.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use evalcurve_engine::EngineConfig;
use evalcurve_engine::usi::Launch;
use evalcurve_words::text::shown_path as shown;
use evalcurve_words::whole_file;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::StoreError;
use crate::play::tournament::Tournament;

/// The settings of a tournament, and the file in its folder that has those of the games there.
#[derive(Debug)]
pub(super) struct Settings {
    path: PathBuf,
    settings: Value,
}

impl Settings {
    pub(crate) fn of(folder: &Path, tournament: &Tournament) -> Self {
        Self { path: folder.join("settings.json"), settings: settings(tournament) }
    }

    /// Compares the settings with those of the games in the folder. If there are no games, the file may have other
    /// settings, but not be that of another program, unless it may be deleted.
    pub(crate) fn check(&self, is_new: bool, restart: bool) -> Result<(), StoreError> {
        let read = match fs::read(&self.path) {
            Err(e) if is_new && e.kind() == io::ErrorKind::NotFound => return Ok(()),
            read => read.map_err(|e| e.to_string()),
        };
        let known = read.and_then(|bytes| serde_json::from_slice::<Value>(&bytes).map_err(|e| e.to_string()));
        let is_own = known.as_ref().is_ok_and(|known| known.get("game").is_some() && known.get("engines").is_some());
        match known {
            _ if restart || is_new && is_own => Ok(()),
            _ if is_new => Err(StoreError::Foreign(shown(&self.path))),
            Err(why) => Err(StoreError::NoSettings { path: shown(&self.path), why }),
            Ok(_) if !is_own => {
                Err(StoreError::NoSettings { path: shown(&self.path), why: "it has no game and engines".to_owned() })
            }
            Ok(known) => match difference("", &known, &self.settings) {
                None => Ok(()),
                Some(difference) => {
                    let folder = self.path.parent().unwrap_or(&self.path);
                    Err(StoreError::Settings { path: shown(folder), difference })
                }
            },
        }
    }

    /// Writes the file.
    pub(crate) fn write(&self) -> Result<(), StoreError> {
        Ok(whole_file::write(&self.path, format!("{:#}\n", self.settings).as_bytes())?)
    }
}

/// Everything that changes games. The number of pairs, concurrency and sequential test may change.
fn settings(tournament: &Tournament) -> Value {
    let openings = &tournament.openings;
    json!({
        "game": tournament.game.as_str(),
        "format": tournament.format,
        "seed": tournament.seed,
        "max_plies": tournament.most_plies(),
        "keep_engines": tournament.keep_engines,
        "replays": tournament.replays,
        "margin_ms": tournament.margin_ms,
        "patience_ms": tournament.patience_ms,
        "openings": {
            "file": openings.file.as_deref().map(digest),
            "order": openings.order,
            "start": openings.start,
            "plies": openings.plies,
        },
        "chess960": tournament.chess960,
        "resign": tournament.resign,
        "draw": tournament.draw,
        "adjudication": tournament.adjudication.map(|a| json!({ "win_rate": a.win_rate, "moves": a.moves })),
        "engines": tournament.engines.iter().map(|e| engine_settings(e, tournament)).collect::<Vec<Value>>(),
    })
}

fn engine_settings(engine: &EngineConfig, tournament: &Tournament) -> Value {
    let (launch, members) = (&engine.launch, members(engine));
    let environment = launch.environment.iter().map(|(k, v)| format!("{}={}", k.display(), v.display()));
    json!({
        "name": engine.name,
        "protocol": engine.protocol.greeting(),
        "command": if engine.council.is_some() { "evalcurve".to_owned() } else { name_of(Path::new(&launch.command)) },
        "program": program(engine),
        "args": launch.args.iter().map(argument).collect::<Vec<String>>(),
        "environment": environment.collect::<Vec<String>>(),
        "files": files(engine),
        "options": engine.options,
        "limit": Tournament::limit_text(engine),
        "calibration": engine.calibration.as_ref().map(|c| c.engine.name.clone()),
        "calibrations": calibrations(engine, members, tournament),
        "mate_threshold_cp": engine.mate_threshold_cp,
        // the digest of the configuration has all that is not a file
        "members": members.iter().map(|m| json!({ "program": program(m), "files": files(m) })).collect::<Vec<Value>>(),
    })
}

/// The members of a council; none of any other engine.
fn members(engine: &EngineConfig) -> &[EngineConfig] {
    engine.council.as_ref().map_or(&[], |council| &council.members)
}

/// The calibrations that can decide a game, by adjudication, or a vote of a council.
fn calibrations(engine: &EngineConfig, members: &[EngineConfig], tournament: &Tournament) -> Vec<String> {
    let decides = tournament.adjudication.is_some() || tournament.resign.is_some() || tournament.draw.is_some();
    let own = engine.calibration_file.iter().filter(|_| decides);
    own.chain(members.iter().filter_map(|member| member.calibration_file.as_ref())).map(|file| digest(file)).collect()
}

/// The digest of the program of an engine. `None` for this program itself, as the server of a member or as a council,
/// whose members count instead, and for a command that is no file.
fn program(engine: &EngineConfig) -> Option<String> {
    let file = program_file(&engine.launch)?;
    let is_own = engine.council.is_some() || std::env::current_exe().is_ok_and(|own| own == file);
    (!is_own).then(|| digest(&file))
}

/// The file that a command starts: a path, or a name to look up on PATH.
fn program_file(launch: &Launch) -> Option<PathBuf> {
    let command = Path::new(&launch.command);
    // on Windows, a command has no need of the ending
    let with_ending = |path: PathBuf| {
        let mut longer = path.clone().into_os_string();
        longer.push(std::env::consts::EXE_SUFFIX);
        [path, longer.into()].into_iter().find(|path| path.is_file())
    };
    if command.components().count() > 1 {
        return with_ending(in_directory(launch, command));
    }
    let own = launch.environment.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value.clone());
    let folders = own.or_else(|| std::env::var_os("PATH"))?;
    std::env::split_paths(&folders).find_map(|folder| with_ending(in_directory(launch, &folder).join(command)))
}

/// Words in the name of an argument, an option or a file that the engine itself writes while it plays.
const WRITTEN: [&str; 3] = ["log", "learn", "experience"];

/// The files that an engine is given in arguments, alone or after `=`, and in options: networks, books, scripts, or the
/// configuration of a council.
fn files(engine: &EngineConfig) -> Vec<String> {
    let launch = &engine.launch;
    // the name of an argument may be the argument before it, as in `--logfile trace.txt`
    let before =
        std::iter::once(String::new()).chain(launch.args.iter().map(|arg| arg.to_string_lossy().to_lowercase()));
    let flag = |arg: String| if arg.starts_with('-') { arg } else { String::new() };
    let alone = before.map(flag).zip(launch.args.iter().map(PathBuf::from));
    let named = launch.args.iter().filter_map(|arg| arg.to_str()?.split_once('='));
    let options = engine.options.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let named = named.chain(options).map(|(name, value)| (name.to_lowercase(), PathBuf::from(value)));
    let is_written = |name: &str, path: &Path| {
        let file = name_of(path).to_lowercase();
        WRITTEN.iter().any(|word| name.contains(word) || file.contains(word))
    };
    let given = alone.chain(named).filter(|(name, path)| !is_written(name, path));
    given.map(|(_, path)| in_directory(launch, &path)).filter(|path| path.is_file()).map(|path| digest(&path)).collect()
}

/// An argument. Of an absolute path, also after `=`, only the last name counts, so that a folder may be moved.
fn argument(arg: &OsString) -> String {
    let text = arg.to_string_lossy();
    let short = |path: &str| Some(Path::new(path)).filter(|path| path.is_absolute()).map(name_of);
    match (short(&text), text.split_once('=')) {
        (Some(name), _) => name,
        (None, Some((key, value))) => short(value).map_or_else(|| text.to_string(), |name| format!("{key}={name}")),
        (None, None) => text.into_owned(),
    }
}

/// A path as an engine sees it, which may have a working directory of its own.
fn in_directory(launch: &Launch, path: &Path) -> PathBuf {
    launch.directory.as_deref().unwrap_or(Path::new("")).join(path)
}

/// The name of a file without its folders, so that a folder may be moved.
fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// A name for the content of a file: its beginning as SHA-256.
fn digest(path: &Path) -> String {
    let hash = sha256(path).unwrap_or_else(|why| why.to_string());
    format!("{} {hash}", name_of(path))
}

/// The first 8 bytes of the SHA-256 of a file, which may be larger than the memory.
fn sha256(path: &Path) -> io::Result<String> {
    let mut reader = BufReader::with_capacity(1 << 20, File::open(path)?);
    let mut hash = Sha256::new();
    loop {
        let part = match reader.fill_buf() {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        if part.is_empty() {
            return Ok(hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect());
        }
        hash.update(part);
        let length = part.len();
        reader.consume(length);
    }
}

/// The first difference of two documents.
fn difference(place: &str, old: &Value, new: &Value) -> Option<String> {
    match (old, new) {
        (Value::Object(a), Value::Object(b)) => a.keys().chain(b.keys()).find_map(|key| {
            let place = if place.is_empty() { key.clone() } else { format!("{place}.{key}") };
            let [old, new] = [a, b].map(|of| of.get(key).unwrap_or(&Value::Null));
            difference(&place, old, new)
        }),
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            (1..).zip(a.iter().zip(b)).find_map(|(number, (a, b))| difference(&format!("{place}.{number}"), a, b))
        }
        _ => (old != new).then(|| format!("{place} was {old}, and is {new}")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Store;
    use super::super::tests::{folder, pair};
    use super::*;

    #[test]
    fn other_settings_are_refused_by_name() {
        let folder = folder("settings");
        let tournament = Tournament::default();
        let mut store = Store::open(&folder, &tournament, false).unwrap();
        store.add(pair(&tournament, 1)).unwrap();
        drop(store);
        let error = Store::open(&folder, &Tournament { seed: 2, ..tournament.clone() }, false).unwrap_err();
        assert!(error.to_string().contains("seed was 1, and is 2"), "{error}");
        assert!(Store::open(&folder, &Tournament { pairs: 900, ..tournament.clone() }, false).is_ok());
        let path = folder.join("settings.json");
        for text in ["", "{\"engines\": [", "{}", "7"] {
            fs::write(&path, text).unwrap();
            let error = Store::open(&folder, &tournament, false).unwrap_err().to_string();
            assert!(error.contains("settings.json: ") && error.contains("is unknown how the games"), "{error}");
        }
        fs::remove_file(&path).unwrap();
        assert!(matches!(Store::open(&folder, &tournament, false), Err(StoreError::NoSettings { .. })));
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
            Tournament::read(&folder.join("t.toml"), crate::play::tests::read_council).unwrap()
        };
        let out = folder.join("out");
        let problem = |tournament: &Tournament| Store::open(&out, tournament, false).err().map(|e| e.to_string());
        let plays = |tournament: &Tournament| {
            let mut store = Store::open(&out, tournament, true).unwrap();
            store.add(pair(tournament, 1)).unwrap();
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
        let _ = fs::remove_dir_all(&folder);
    }

    /// The tournament of a folder that has an engine in a folder of its own, and the problem of going on with it.
    fn played(name: &str) -> (PathBuf, impl Fn(&str) -> Tournament, impl Fn(&Tournament) -> Option<String>) {
        let folder = folder(name);
        for (file, text) in [("a/engine", "1"), ("b/engine", "2"), ("script.py", "1"), ("a/net.bin", "1")] {
            fs::create_dir_all(folder.join(file).parent().unwrap()).unwrap();
            fs::write(folder.join(file), text).unwrap();
        }
        let own = folder.clone();
        let read = move |engine: &str| {
            let limit = "limit = { nodes = 9 }\n";
            let text =
                format!("[[engine]]\nname = 'A'\n{limit}{engine}\n[[engine]]\nname = 'B'\ncommand = 'b/engine'\n");
            fs::write(own.join("t.toml"), text + limit).unwrap();
            Tournament::read(&own.join("t.toml"), crate::play::tests::read_council).unwrap()
        };
        let out = folder.join("out");
        let goes_on = move |tournament: &Tournament| Store::open(&out, tournament, false).err().map(|e| e.to_string());
        (folder, read, goes_on)
    }

    fn play(folder: &Path, tournament: &Tournament) {
        let mut store = Store::open(&folder.join("out"), tournament, true).unwrap();
        store.add(pair(tournament, 1)).unwrap();
    }

    /// The same name and the same arguments do not make the same engine.
    #[test]
    fn other_programs_and_files_are_other_engines() {
        let (folder, read, goes_on) = played("programs");
        for (engine, file, other, expected) in [
            ("command = 'a/engine'", "", "command = 'b/engine'", "engines.1.program was \"engine "),
            // built again in its place
            ("command = 'a/engine'", "a/engine", "command = 'a/engine'", "engines.1.program was \"engine "),
            (
                "command = 'sh'\nargs = ['script.py']\ndirectory = '.'",
                "script.py",
                "command = 'sh'\nargs = ['script.py']\ndirectory = '.'",
                "engines.1.files.1 was \"script.py ",
            ),
            (
                "command = 'sh'\nargs = ['--net=net.bin']\ndirectory = 'a'",
                "a/net.bin",
                "command = 'sh'\nargs = ['--net=net.bin']\ndirectory = 'a'",
                "engines.1.files.1 was \"net.bin ",
            ),
            (
                "command = 'sh'\noptions = { EvalFile = 'net.bin' }\ndirectory = 'a'",
                "a/net.bin",
                "command = 'sh'\noptions = { EvalFile = 'net.bin' }\ndirectory = 'a'",
                "engines.1.files.1 was \"net.bin ",
            ),
            (
                "command = 'sh'\nargs = ['--net=a/x']",
                "",
                "command = 'sh'\nargs = ['--net=b/x']",
                "engines.1.args.1 was",
            ),
        ] {
            let tournament = read(engine);
            play(&folder, &tournament);
            assert_eq!(goes_on(&tournament), None, "{engine}");
            let before = (!file.is_empty()).then(|| fs::read(folder.join(file)).unwrap());
            before.iter().for_each(|_| fs::write(folder.join(file), "changed").unwrap());
            let found = goes_on(&read(other)).unwrap_or_default();
            assert!(found.contains(expected), "{engine}: {found}");
            before.iter().for_each(|text| fs::write(folder.join(file), text).unwrap());
        }
        // what an engine writes while it plays
        let args = "['log=a/net.bin', 'games.LOG', '--logfile', 'a/net.bin']";
        let logs = read(&format!("command = 'sh'\nargs = {args}\noptions = {{ LogFile = 'a/net.bin' }}"));
        play(&folder, &logs);
        fs::write(folder.join("a/net.bin"), "more").unwrap();
        assert_eq!(goes_on(&logs), None);
        let _ = fs::remove_dir_all(&folder);
    }

    #[test]
    fn a_rebuilt_member_is_another_council() {
        let (folder, read, goes_on) = played("members");
        let member = "rule = 'majority'\n[[engine]]\nname = 'M'\ncommand = 'a/engine'\n";
        fs::write(folder.join("council.toml"), member).unwrap();
        let tournament = read("council = 'council.toml'");
        play(&folder, &tournament);
        assert_eq!(goes_on(&tournament), None);
        fs::write(folder.join("a/engine"), "changed").unwrap();
        let found = goes_on(&tournament).unwrap_or_default();
        assert!(found.contains("engines.1.members.1.program was \"engine "), "{found}");
        let _ = fs::remove_dir_all(&folder);
    }

    /// The files of an engine are those in its own working directory, whatever the one of this program is.
    #[test]
    fn settings_do_not_depend_on_the_working_directory_of_evalcurve() {
        let (folder, read, _) = played("directory");
        fs::write(folder.join("Cargo.toml"), "not that of this crate").unwrap();
        let tournament = read("command = 'sh'\nargs = ['Cargo.toml']\ndirectory = '.'");
        assert!(Path::new("Cargo.toml").is_file());
        assert_eq!(files(&tournament.engines[0]), [digest(&folder.join("Cargo.toml"))]);
        let _ = fs::remove_dir_all(&folder);
    }
}
