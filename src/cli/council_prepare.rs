//! `evalcurve council --init` and `--prepare`: from engine commands to a council with calibrations.

use std::ffi::OsStr;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use anyhow::bail;

use super::calibrate::{self, Limits};
use super::files::{check_replace, shown};
use super::{Done, play, terminal};
use crate::calibrate::DEFAULT_MIN_GAMES;
use crate::calibration::{Calibration, file_stems};
use crate::council::usi::Launch;
use crate::council::{ConfigText, EngineConfig, Game, try_limits};
use crate::language::Language;
use crate::play::{RunOptions, Tournament, estimate as play_estimate, extension};
use crate::{say, text, whole_file};

/// The limit of each member in a first configuration.
const FIRST_LIMIT: &str = "{ movetime-ms = 200 }";

/// Pairs between two reports of games where no terminal shows them.
const REPORT_EVERY: u64 = 10;

/// Games in a row in which one member may crash.
const MOST_CRASHES: u32 = 2;

/// Writes a first configuration: each engine is started, with the first limit that it obeys. `force` replaces a file.
pub(super) fn init(
    path: &Path,
    game: Game,
    commands: &[String],
    force: bool,
    language: Language,
) -> anyhow::Result<Done> {
    check_replace(path, force)?;
    let text = |value: &str| toml::Value::String(value.to_owned()).to_string();
    let mut names: Vec<String> = Vec::new();
    let mut config = format!(
        "# A council: evalcurve council {file} --prepare, then register evalcurve council {file} in a GUI.\n\
         # docs/council.md describes all keys.\nname = \"Council\"\ngame = \"{game}\"\nrule = \"cross-examination\"\n",
        file = shown(path),
        game = game.as_str(),
    );
    crate::council::usi::stop_engines_on_signals()?;
    let mut all_move = true;
    let commands = commands.iter().map(|command| Command::parse(command)).collect::<anyhow::Result<Vec<_>>>()?;
    for Command { program, args } in commands {
        let stem = Path::new(&program).file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let numbered = (2..).map(|number| format!("{stem} {number}"));
        let Some(name) = [stem.clone()].into_iter().chain(numbered).find(|name| !names.contains(name)) else {
            continue;
        };
        names.push(name.clone());
        let launch = Launch {
            command: program.clone().into(),
            args: args.iter().map(Into::into).collect(),
            ..Launch::default()
        };
        let engine = EngineConfig { name: name.clone(), launch, protocol: game.protocol(), ..EngineConfig::default() };
        let trial = try_limits(&engine, game);
        trial.failures.iter().for_each(|failure| terminal::warning(&format!("{name}: {failure}")));
        if trial.limit.is_none() {
            let others = namesakes(&program, game);
            let hint = match &others[..] {
                [] => String::new(),
                all => say!(language, "; perhaps one of these is meant: {}", all.join(language.word(", "))),
            };
            terminal::error(&say!(
                language,
                "{name} made no move at any limit; correct its table before --prepare{hint}"
            ));
            all_move = false;
        }
        let args: Vec<String> = args.iter().map(|argument| text(argument)).collect();
        let _ = write!(config, "\n[[engine]]\nname = {}\ncommand = {}\n", text(&name), text(&program));
        if !args.is_empty() {
            let _ = writeln!(config, "args = [{}]", args.join(", "));
        }
        let limit = match trial.limit {
            Some(limit) => format!("limit = {}", limit.toml()),
            // a council without it does not begin to play
            None => format!("# it made no move at any limit\n# limit = {FIRST_LIMIT}"),
        };
        let _ = writeln!(config, "{limit} # nodes, depth, movetime-ms or byoyomi-ms");
    }
    whole_file::write(path, config.as_bytes())?;
    let file = shown(path);
    terminal::print(&say!(
        language,
        "written {file}; adapt limits and options, then: evalcurve council {file} --prepare\n"
    ))?;
    Ok(if all_move { Done::Yes } else { Done::Nothing })
}

/// Programs beside the one that is no engine, whose names begin alike and name the protocol: GPSShogi's `gpsshogi` is
/// for a terminal, and `gpsusi` is the engine.
fn namesakes(program: &str, game: Game) -> Vec<String> {
    let of_path = std::env::var_os("PATH").unwrap_or_default();
    let own = Path::new(program);
    let found = std::env::split_paths(&of_path).find(|folder| folder.join(own).is_file());
    let folder = own.parent().filter(|folder| !folder.as_os_str().is_empty()).map(Path::to_owned).or(found);
    let stem = own.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let start: String = stem.chars().take(3).collect();
    let protocol = game.protocol().greeting();
    let names = folder.and_then(|folder| folder.read_dir().ok()).into_iter().flatten().flatten();
    let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names
        .filter(|name| name.to_lowercase().starts_with(&start) && name.to_lowercase().contains(protocol))
        .filter(|name| name.to_lowercase() != stem)
        .collect();
    names.sort();
    names
}

/// An engine as `--init` gets it.
#[derive(Debug, PartialEq, Eq)]
struct Command {
    /// An absolute path, or a name that is looked up on PATH.
    program: String,
    args: Vec<String>,
}

impl Command {
    /// The program and its arguments. A file that exists is the program, blanks and all; otherwise double quotes keep
    /// words together.
    fn parse(text: &str) -> anyhow::Result<Self> {
        let is_path = |text: &str| text.contains('/') || (cfg!(windows) && text.contains('\\'));
        let is_file = (is_path(text) || text.contains(char::is_whitespace)) && Path::new(text).is_file();
        let mut words = if is_file { vec![text.to_owned()] } else { words(text)? };
        if words.first().is_none_or(String::is_empty) {
            bail!(text!("a command is empty; write the path of an engine"));
        }
        let program = words.remove(0);
        if !is_file && !is_path(&program) {
            return Ok(Self { program, args: words });
        }
        if !Path::new(&program).exists() {
            bail!(text!(
                "there is no file '{program}'; write the path of an engine, in double quotes if it has blanks and \
                 arguments follow"
            ));
        }
        // a path is relative to the configuration, not to this folder
        Ok(Self { program: std::path::absolute(program)?.to_string_lossy().into_owned(), args: words })
    }
}

/// The words of a command. Double quotes keep blanks, and a backslash is one, as in the paths of Windows.
fn words(command: &str) -> anyhow::Result<Vec<String>> {
    let mut words = Vec::new();
    let (mut word, mut quoted) = (None::<String>, false);
    for c in command.chars() {
        match c {
            '"' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            c if c.is_whitespace() && !quoted => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    if quoted {
        bail!(text!("a double quote is missing in the command: {command}"));
    }
    words.extend(word);
    Ok(words)
}

/// What `--prepare` needs of a configuration; the other keys are read with the council.
#[derive(serde::Deserialize)]
struct GameKey {
    #[serde(default)]
    game: Game,
}

/// Plays the members against each other, calibrates them, and writes the paths of the calibrations into the
/// configuration. `force` deletes the games of an earlier run.
pub(super) fn prepare(path: &Path, pairs: u32, force: bool, language: Language) -> anyhow::Result<()> {
    let config = ConfigText::open(path)?;
    let document = config.document()?;
    let GameKey { game } = document.rest()?;
    let engines = document.engines(game, None)?;
    if let Some(engine) = engines.iter().find(|engine| engine.limit.is_none()) {
        bail!(text!(
            "{}: engine '{}' has no limit, and a calibration is valid for one limit only; write limit = {FIRST_LIMIT}",
            shown(path),
            engine.name
        ));
    }
    let names: Vec<String> = engines.iter().map(|engine| engine.name.clone()).collect();
    let stems = file_stems(&names);
    let missing = engines.iter().zip(&stems).filter(|(engine, _)| engine.calibration.is_none());
    let limits: Limits = missing.filter_map(|(e, stem)| Some((stem.clone(), e.limit?.to_string()))).collect();
    if limits.is_empty() {
        return terminal::print(
            language.word("every member has a calibration already; remove the keys to calibrate again\n"),
        );
    }
    // every member plays each of the others twice per pair
    let per_pair = 2 * (names.len() as u64).saturating_sub(1).max(1);
    let (given, least) = (per_pair * u64::from(pairs), DEFAULT_MIN_GAMES.div_ceil(per_pair));
    if given < DEFAULT_MIN_GAMES {
        bail!(text!(
            "a calibration needs {DEFAULT_MIN_GAMES} games of each member, and --pairs {pairs} gives {given}; give \
             --pairs {least} or more"
        ));
    }
    let name = format!("members of {}", shown(path));
    let tournament = Tournament { name, game, pairs, engines, ..Tournament::default() }.checked(&config)?;
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let games = path.with_file_name(format!("{stem}-games"));
    let calibrations = path.with_file_name(format!("{stem}-calibrations"));
    let options = RunOptions { restart: force, most_crashes: Some(MOST_CRASHES), ..RunOptions::default() };
    let minutes = play_estimate(&tournament)?.as_secs().div_ceil(60);
    let count = 2 * u64::from(pairs) * tournament.encounters().len() as u64;
    terminal::note(&say!(language, "{count} games take about {minutes} min; after Ctrl-C, the same command goes on"));
    let command = format!("evalcurve council {} --prepare", shown(path));
    play::watch(&tournament, &games, &options, play::Live::of(false, REPORT_EVERY, command, language))?;
    let records: PathBuf = games.join(format!("games.{}", extension(game)));
    // 5x5 shogi is short, and its games are decided early
    let from_ply = if game == Game::Minishogi { "9" } else { "17" };
    let lang = language.word("en");
    let options = ["--from-ply", from_ply, "--window", "20", "--no-plots", "--lang", lang, "--out"].map(OsStr::new);
    let written =
        calibrate::run_for(&limits, &[&[records.as_os_str()], &options[..], &[calibrations.as_os_str()]].concat())?;
    // a file of an earlier run is no calibration at these limits
    let missing = names.iter().zip(&stems).find(|(_, stem)| limits.contains_key(*stem) && !written.contains(*stem));
    if let Some((name, _)) = missing {
        bail!(text!(
            "there is no calibration of '{name}'; the table above says why. More games may help: evalcurve council {} \
             --prepare --pairs {}",
            shown(path),
            2 * pairs
        ));
    }
    let file = |name: &str| {
        let (_, file) = names.iter().zip(&stems).find(|(known, file)| *known == name && written.contains(*file))?;
        Some(format!("{stem}-calibrations/{file}.json"))
    };
    let text = config.with_calibrations(file)?;
    whole_file::write(path, text.as_bytes())?;
    let written: Vec<(&String, &String)> = names.iter().zip(&stems).filter(|(_, s)| written.contains(*s)).collect();
    terminal::print(&certainty(&written, &calibrations, pairs, path, language))
}

/// How sure the calibrations are, given by name and stem of the file, and what makes them surer.
fn certainty(written: &[(&String, &String)], folder: &Path, pairs: u32, path: &Path, language: Language) -> String {
    let mut text = language.word("\ncentipawns per logit, with 95% intervals\n").to_owned();
    for (name, stem) in written {
        let calibration = Calibration::read(folder.join(format!("{stem}.json")));
        let Some(constant) = calibration.ok().and_then(|calibration| calibration.constant()) else { continue };
        let interval = constant.interval.map(|[a, b]| format!("[{a:.0}, {b:.0}]"));
        let interval = interval.unwrap_or_else(|| language.word("without an interval").to_owned());
        let _ = writeln!(text, "  {name}: {:.0} {interval}", constant.value);
    }
    text + &say!(
        language,
        "four times the games halve the intervals: remove the calibration keys, then evalcurve council {0} --prepare \
         --pairs {1}\n\nthe calibrations are in {2}, and their paths in {0}\n",
        shown(path),
        4 * u64::from(pairs),
        shown(folder),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_have_words_and_quotes() {
        let split = |command: &str| words(command).map_err(|error| error.to_string());
        let of = |list: &[&str]| Ok(list.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        assert_eq!(split("  engine  --threads 1 "), of(&["engine", "--threads", "1"]));
        assert_eq!(split(r#""C:\Program Files\e.exe" -o "a b" """#), of(&[r"C:\Program Files\e.exe", "-o", "a b", ""]));
        assert_eq!(split(r#"/opt/"my engines"/e"#), of(&["/opt/my engines/e"]));
        assert_eq!(split(""), of(&[]));
        assert!(split("\"engine -x").is_err_and(|error| error.contains("a double quote is missing")));
    }
}
