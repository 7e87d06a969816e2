//! `evalcurve council --init` and `--prepare`: from engine commands to a council with calibrations.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::bail;
use evalcurve_app::calibrate::DEFAULT_MIN_GAMES;
use evalcurve_app::cli::engines::thresholds;
use evalcurve_app::cli::files::{check_replace, shown};
use evalcurve_app::cli::messages::About;
use evalcurve_app::cli::{Done, Limits, PlayMembers, Program, ScoreMembers, terminal};
use evalcurve_app::shipped::{TARGET, enough_positions, shipped_positions};
use evalcurve_app::{Calibrate, Fitting, Input, Logs, Reading, Sampling};
use evalcurve_engine::usi::{Launch, Position};
use evalcurve_engine::{ConfigText, EngineConfig, Game, Limit, VotedGame, words};
use evalcurve_fit::calibration::{Calibration, file_stems};
use evalcurve_rules::Rule;
use evalcurve_rules::log::Session;
use evalcurve_rules::replay::Alone;
use evalcurve_words::language::{Language, Text};
use evalcurve_words::random::DEFAULT_SEED;
use evalcurve_words::{say, text, whole_file};

use super::council::{read_log, votes, without_votes};
use super::trial::try_limits;
use crate::{Config, LearnOptions, Replay};

/// The limit that messages have as an example.
const FIRST_LIMIT: &str = "{ movetime-ms = 200 }";

/// Positions of the program that measure the speed of an engine.
const TRIED: usize = 6;

/// How long `--prepare` takes with the limits of a first configuration.
const FIRST_MINUTES: f64 = 5.0;

/// The time of a search in milliseconds with which these members are calibrated in so many minutes.
fn search_ms(minutes: f64, members: usize, positions: f64) -> f64 {
    let processes = std::thread::available_parallelism().map_or(1, usize::from);
    60_000.0 * minutes * processes as f64 / (positions * members as f64)
}

/// Writes a first configuration: each engine is started, with the first limit that it obeys, so that `--prepare` takes
/// minutes. `force` replaces a file.
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
    let file = shown(path);
    let mut config = say!(
        language,
        "# A council: evalcurve council {file} --prepare; then docs/gui.md says how a GUI registers it.\n\
         # docs/council.md describes all keys.\n"
    );
    let _ = writeln!(config, "name = \"Council\"\ngame = \"{}\"\nrule = \"cross-examination\"", game.as_str());
    evalcurve_engine::usi::stop_engines_on_signals()?;
    let mut all_move = true;
    let commands = commands.iter().map(|command| Command::parse(command)).collect::<anyhow::Result<Vec<_>>>()?;
    let (mut positions, all) = shipped_positions(game, TRIED)?;
    // an engine needs the least or up to all until its constant is known within 10%: the middle, as a factor, is off by
    // at most 1.5 in chess, 1.8 in shogi
    let least = enough_positions(game, TARGET) as f64;
    let expected = (least * least.max(all as f64)).sqrt();
    let each = search_ms(FIRST_MINUTES, commands.len(), expected);
    // engines look at their clock every few milliseconds
    let ms = (each / 10.0).floor().clamp(2.0, 20.0) as u64 * 10;
    positions.extend(positions.is_empty().then(Position::default));
    let mut sum = Duration::ZERO;
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
        let (limit, time) = found_limit(&engine, &program, game, &positions, ms, language);
        all_move &= limit.is_some();
        sum += time;
        let args: Vec<String> = args.iter().map(|argument| text(argument)).collect();
        let _ = write!(config, "\n[[engine]]\nname = {}\ncommand = {}\n", text(&name), text(&program));
        if !args.is_empty() {
            let _ = writeln!(config, "args = [{}]", args.join(", "));
        }
        let limit = match limit {
            Some(limit) => format!("limit = {}", limit.toml()),
            // a council without it does not begin to play
            None => say!(language, "# it made no move at any limit\n# limit = {FIRST_LIMIT}"),
        };
        let _ = writeln!(config, "{limit} # {}", language.word("nodes, depth, movetime-ms or byoyomi-ms"));
    }
    whole_file::write(path, config.as_bytes())?;
    terminal::print(&say!(
        language,
        "written {file}; adapt limits and options, then: evalcurve council {file} --prepare\n"
    ))?;
    // the time of an engine that made no move is not known
    if all_move && matches!(game, Game::Shogi | Game::Chess) {
        let minutes = FIRST_MINUTES * sum.as_secs_f64() * 1_000.0 / (each * names.len() as f64);
        let most = minutes * all as f64 / expected;
        terminal::print(&say!(
            language,
            "with these limits --prepare takes about {minutes:.0} min, and {most:.0} at most; limits of four times the \
             time play better, and take about {:.0} min\n",
            4.0 * minutes
        ))?;
    }
    Ok(if all_move { Done::Yes } else { Done::Nothing })
}

/// The first limit that the engine obeys, for moves of these milliseconds, and the time of a move. Says which limits it
/// does not obey, and what to do if it obeys none.
fn found_limit(
    engine: &EngineConfig,
    program: &str,
    game: Game,
    positions: &[Position],
    ms: u64,
    language: Language,
) -> (Option<Limit>, Duration) {
    let name = &engine.name;
    let trial = try_limits(engine, game, positions, ms);
    for failure in &trial.failures {
        let failure = format!("{name}: {}", failure.text(language));
        // a limit that it does not obey is no fault if it obeys another
        if trial.limit.is_some() { terminal::note(&failure) } else { terminal::warning(&failure) }
    }
    if trial.limit.is_none() {
        let others = namesakes(program, game);
        let hint = match &others[..] {
            [] => String::new(),
            all => say!(language, "; perhaps one of these is meant: {}", all.join(language.word(", "))),
        };
        terminal::error(&say!(language, "{name} made no move at any limit; correct its table before --prepare{hint}"));
    }
    (trial.limit, trial.time)
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

/// What `--prepare` needs of a configuration; the other keys are read with the council.
#[derive(serde::Deserialize)]
struct GameKey {
    #[serde(default)]
    game: Game,
}

/// What members are calibrated on.
#[derive(Clone, Copy)]
pub(super) enum By {
    /// The positions in the program, until every constant is known within `target`.
    Positions { target: Option<f64> },
    /// Games of the members against each other.
    Games { pairs: u32 },
}

/// The configuration, and the files beside it.
struct Place<'a> {
    path: &'a Path,
    stem: String,
    config: ConfigText,
    /// Drop what is left of an earlier run.
    force: bool,
    language: Language,
}

impl<'a> Place<'a> {
    fn open(path: &'a Path, force: bool, language: Language) -> anyhow::Result<Self> {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { path, stem, config: ConfigText::open(path)?, force, language })
    }

    fn beside(&self, ending: &str) -> PathBuf {
        self.path.with_file_name(format!("{}-{ending}", self.stem))
    }

    /// Lets the members without a calibration score the positions in the program. Returns what calibrates them.
    fn scored(
        &self,
        program: &Program,
        engines: Vec<EngineConfig>,
        game: Game,
        target: Option<f64>,
    ) -> anyhow::Result<(PathBuf, Calibrate)> {
        if !matches!(game, Game::Shogi | Game::Chess) {
            bail!(text!("the program has positions of shogi and chess only; add --by-playing"));
        }
        let members: Vec<EngineConfig> = engines.into_iter().filter(|engine| engine.calibration.is_none()).collect();
        let table = self.beside("positions.parquet");
        let thresholds = thresholds(&members);
        // the journal of a run that did not end says which answers need no search
        let force = self.force || table.exists();
        let language = self.language;
        (program.services.score_members)(ScoreMembers { members, game, target, table: &table, force, language })?;
        let fitting = Fitting { mate_threshold: thresholds, ..Fitting::default() };
        Ok((table, Calibrate { fitting, ..Calibrate::default() }))
    }

    /// Plays the members against each other. Returns what calibrates them.
    fn played(
        &self,
        program: &Program,
        engines: &[EngineConfig],
        game: Game,
        pairs: u32,
    ) -> anyhow::Result<(PathBuf, Calibrate)> {
        // every member plays each of the others twice per pair
        let per_pair = 2 * (engines.len() as u64).saturating_sub(1).max(1);
        let (given, least) = (per_pair * u64::from(pairs), DEFAULT_MIN_GAMES.div_ceil(per_pair));
        if given < DEFAULT_MIN_GAMES {
            bail!(text!(
                "a calibration needs {DEFAULT_MIN_GAMES} games of each member, and --pairs {pairs} gives {given}; give \
                 --pairs {least} or more"
            ));
        }
        let (config, games) = (self.path, self.beside("games"));
        let (force, language) = (self.force, self.language);
        let wanted = PlayMembers { config, engines, game, pairs, games: &games, force, language };
        let records = (program.services.play_members)(&wanted)?;
        // 5x5 shogi is short, and its games are decided early
        let from_ply = if game == Game::Minishogi { 9 } else { 17 };
        let sampling = Sampling { from_ply: Some(from_ply), window: Some(20), ..Sampling::default() };
        let reading = Reading { sampling, ..Reading::default() };
        Ok((records, Calibrate { reading, ..Calibrate::default() }))
    }
}

/// Calibrates the members without a calibration, and writes the paths of the calibrations into the configuration.
/// `force` drops the scores or games of an earlier run.
pub(super) fn prepare(program: &Program, path: &Path, by: By, force: bool, language: Language) -> anyhow::Result<()> {
    let place = Place::open(path, force, language)?;
    let document = place.config.document()?;
    let GameKey { game } = document.rest()?;
    let engines = document.engines(game, None, Config::read_as_player)?;
    if let Some(engine) = engines.iter().find(|engine| engine.limit.is_none()) {
        bail!(text!(
            "{}: engine '{}' has no limit, and a calibration is valid for one limit only; write limit = {FIRST_LIMIT}",
            shown(path),
            engine.name
        ));
    }
    let names: Vec<String> = engines.iter().map(|engine| engine.name.clone()).collect();
    let stems = file_stems(&names);
    let missing = engines.iter().filter(|engine| engine.calibration.is_none());
    let limits: Limits = missing.filter_map(|e| Some((e.name.clone(), e.limit?.to_string()))).collect();
    if limits.is_empty() {
        return terminal::print(
            language.word("every member has a calibration already; remove the keys to calibrate again\n"),
        );
    }
    let (records, command) = match by {
        By::Positions { target } => place.scored(program, engines, game, target)?,
        By::Games { pairs } => place.played(program, &engines, game, pairs)?,
    };
    let calibrations = place.beside("calibrations");
    let written = (program.services.calibrate)(&limits, &records, command, &calibrations, language)?;
    // a file of an earlier run is no calibration at these limits
    let missing = names.iter().zip(&stems).find(|(name, stem)| limits.contains_key(*name) && !written.contains(*stem));
    if let Some((name, _)) = missing {
        bail!(by.why_missing(name, path));
    }
    let file = |name: &str| {
        let (_, file) = names.iter().zip(&stems).find(|(known, file)| *known == name && written.contains(*file))?;
        Some(format!("{}-calibrations/{file}.json", place.stem))
    };
    let text = place.config.with_calibrations(file)?;
    whole_file::write(path, text.as_bytes())?;
    let written: Vec<(&String, &String)> = names.iter().zip(&stems).filter(|(_, s)| written.contains(*s)).collect();
    terminal::print(&certainty(&written, &calibrations, by, path, language))
}

/// Positions, each of another game, that a teacher judges.
const LESSONS: usize = 1_000;

/// How much deeper a teacher searches than the member, if its limit is a depth: about ten times as long.
const DEEPER: u64 = 4;

/// Lets a teacher judge the votes of all members, learns their weights from its preferences, and writes the weights and
/// their path into the configuration. The teacher is a member with ten times its limit. `force` drops the votes of an
/// earlier run.
pub(super) fn teach(
    program: &Program,
    path: &Path,
    member: &str,
    force: bool,
    language: Language,
) -> anyhow::Result<()> {
    let place = Place::open(path, force, language)?;
    let Config { game, rule, engines, .. } = Config::read(path)?;
    if !matches!(game, Game::Shogi | Game::Chess) {
        bail!(text!(
            "the program has positions of shogi and chess only; add a stronger engine as a member, and see \
                     --positions and replay --learn"
        ));
    }
    let Some(engine) = engines.iter().find(|engine| engine.name == member) else {
        let known: Vec<&str> = engines.iter().map(|engine| engine.name.as_str()).collect();
        bail!(text!("no member is called '{member}'; the council has {}", known.join(", ")));
    };
    let rule = rule.weighed_as();
    if !Rule::weighed().any(|weighed| weighed == rule) {
        bail!(text!("rule {rule} uses no weights; write rule = \"cross-examination\""));
    }
    let teacher = format!("{member}, ten times");
    let (of_teacher, log) = (place.beside("teacher.toml"), place.beside("votes.jsonl"));
    let text = with_teacher(path, engine, &teacher, &log)?;
    if force && log.exists() {
        std::fs::remove_file(&log)?;
    }
    let votes_of = if log.exists() { read_log(&log)?.sessions } else { Vec::new() };
    let known: Vec<&str> = engines.iter().map(|engine| &*engine.name).chain([&*teacher]).collect();
    let is_other = |session: &Session| session.header.voters.iter().map(|voter| &*voter.name).ne(known.iter().copied());
    // votes must not be deleted because a file could not be read
    let is_same = match whole_file::read_text(&of_teacher) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => false,
        read => configuration(read, &of_teacher)? == text,
    };
    if log.exists() && (!is_same || votes_of.iter().any(is_other)) {
        bail!(text!(
            "{} has votes of another configuration of these members; begin again with --force, which deletes them",
            shown(&log)
        ));
    }
    whole_file::write(&of_teacher, text.as_bytes())?;
    let council = Config::read(&of_teacher)?;
    let voted = if log.exists() { read_log(&log)?.decisions() } else { 0 };
    let positions = shipped_positions(game, LESSONS)?.0.into_iter().skip(voted);
    let games: Vec<VotedGame> = positions.map(|at| VotedGame { positions: vec![at], result: None }).collect();
    if !games.is_empty() {
        votes(&of_teacher, &council, &games, None, language)?.1?;
        if without_votes(&log, games.len())? == games.len() {
            std::fs::remove_file(&log)?;
            bail!(text!("no member voted on any position; see evalcurve council {} --check", shown(path)));
        }
    }
    let lesson = LearnOptions { teacher, rule: Some(rule), seed: DEFAULT_SEED, ..LearnOptions::default() };
    let mut logs = Logs::read(&Input::paths([&log]))?;
    let Some(found) = Replay::default().learn(&mut logs, &lesson)? else { return Ok(()) };
    // a configuration that its weights do not fit cannot be read any more
    if let Err(message) = found.weights.check(engines.iter().map(|engine| engine.name.as_str())) {
        bail!(message);
    }
    let weights = place.beside("weights.json");
    whole_file::write(&weights, found.weights.to_json()?.as_bytes())?;
    let name = format!("{}-weights.json", place.stem);
    let text = configuration(whole_file::read_text(path), path)?;
    if place.config.span("weights").is_none() {
        let line = format!("weights = {}\n", toml::Value::String(name.clone()));
        whole_file::write(path, (line + &text).as_bytes())?;
    }
    terminal::print(&crate::weights::text(&found, Some(&name), language))?;
    let games = place.beside("games").join("results.csv");
    if games.exists() {
        let alone: Vec<Alone> = found.members.iter().map(|member| member.alone.clone()).collect();
        (program.services.judged_as_games)(&alone, &games, language)?;
    }
    Ok(())
}

/// The text of a configuration; an error names the file.
fn configuration(read: std::io::Result<String>, path: &Path) -> anyhow::Result<String> {
    read.about(|| text!("{}: cannot read the configuration", shown(path)))
}

/// The configuration of a council with a teacher, in which every member judges every voted move.
fn with_teacher(path: &Path, engine: &EngineConfig, teacher: &str, log: &Path) -> anyhow::Result<String> {
    let mut table: toml::Table = configuration(whole_file::read_text(path), path)?.parse()?;
    ["weights", "early-stop", "budget"].iter().for_each(|key| drop(table.remove(*key)));
    let longer = match engine.limit {
        Some(Limit::Depth(plies)) => ("depth", plies.saturating_add(DEEPER)),
        Some(Limit::Nodes(nodes)) => ("nodes", nodes.saturating_mul(10)),
        Some(Limit::MoveTime(ms)) => ("movetime-ms", ms.saturating_mul(10)),
        Some(Limit::Byoyomi(ms)) => ("byoyomi-ms", ms.saturating_mul(10)),
        None => bail!(text!("{}: engine '{}' has no limit; give it one", shown(path), engine.name)),
    };
    let limit = toml::Table::from_iter([(longer.0.to_owned(), toml::Value::Integer(i64::try_from(longer.1)?))]);
    let Some(engines) = table.get_mut("engine").and_then(toml::Value::as_array_mut) else {
        bail!(text!("there is no engine; add a table [[engine]] with name and command"));
    };
    let of_name = |value: &&toml::Value| value.get("name").and_then(toml::Value::as_str) == Some(&engine.name);
    let Some(mut added) = engines.iter().find(of_name).and_then(toml::Value::as_table).cloned() else {
        bail!(text!("no member is called '{}'", engine.name));
    };
    ["role", "weight"].iter().for_each(|key| drop(added.remove(*key)));
    added.insert("name".to_owned(), teacher.into());
    added.insert("limit".to_owned(), limit.into());
    engines.push(added.into());
    let count = i64::try_from(engines.len())?;
    table.insert("rule".to_owned(), Rule::CrossExamination.as_str().into());
    table.insert("most-judged".to_owned(), count.max(2).into());
    table.insert("log".to_owned(), log.file_name().unwrap_or_default().to_string_lossy().into_owned().into());
    Ok(table.to_string())
}

impl By {
    /// Why a member has no calibration, and what helps.
    fn why_missing(self, name: &str, path: &Path) -> Text {
        match self {
            Self::Positions { .. } => text!(
                "there is no calibration of '{name}'; the table above says why. A limit with more search may help"
            ),
            Self::Games { pairs } => text!(
                "there is no calibration of '{name}'; the table above says why. More games may help: evalcurve council \
                 {} --prepare --by-playing --pairs {}",
                shown(path),
                2 * pairs
            ),
        }
    }
}

/// How sure the calibrations are, given by name and stem of the file, and what makes them surer.
fn certainty(written: &[(&String, &String)], folder: &Path, by: By, path: &Path, language: Language) -> String {
    let mut text = say!(language, "\ncentipawns per logit, with 95% intervals\n");
    for (name, stem) in written {
        let calibration = Calibration::read(folder.join(format!("{stem}.json")));
        let Some(constant) = calibration.ok().and_then(|calibration| calibration.constant()) else { continue };
        let interval = constant.interval.map(|[a, b]| format!("[{a:.0}, {b:.0}]"));
        let interval = interval.unwrap_or_else(|| say!(language, "without an interval"));
        let _ = writeln!(text, "  {name}: {:.0} {interval}", constant.value);
    }
    if let By::Games { pairs } = by {
        text += &say!(
            language,
            "four times the games halve the intervals: remove the calibration keys, then evalcurve council {0} \
             --prepare --by-playing --pairs {1}\n",
            shown(path),
            4 * u64::from(pairs),
        );
    }
    text + &say!(language, "\nthe calibrations are in {0}, and their paths in {1}\n", shown(folder), shown(path))
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
