//! Reads a configuration file with engines: TOML, with file and line in every error.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::ops::Range;
use std::path::{Path, PathBuf};

use evalcurve_calibration::Calibration;
use evalcurve_calibration::file::{MatePolicy, Mates};
use evalcurve_rules::log::MOST_VOTERS;
use evalcurve_rules::{self, Role, Rule};
use evalcurve_words::language::{Text, ToText, of_parser};
use evalcurve_words::text;
use evalcurve_words::text::{plain_types, shortened};
use evalcurve_words::whole_file::read_text;
use serde::Deserialize;
use serde::de::{DeserializeOwned, IntoDeserializer};
use thiserror::Error;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Deserializer};

use super::board::Game;
use super::config::{CouncilConfig, EngineConfig, Limit, TimeControl, centipawns};
use crate::usi::{Launch, Protocol};

/// The nearest of some names to one that is none of them; `None` if none is near.
pub(crate) fn nearest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = wanted.to_lowercase();
    let far = |name: &&str| strsim::damerau_levenshtein(&wanted, &name.to_lowercase());
    let (name, distance) = names.map(|name| (name, far(&name))).min_by_key(|(_, distance)| *distance)?;
    (distance <= 1 + wanted.chars().count() / 4).then_some(name)
}

/// A message of serde or toml; one about an unknown key with the nearest of those that are expected.
fn with_nearest(message: &str) -> Text {
    let mut quoted = message.split('\'').skip(1).step_by(2);
    let near = quoted.next().and_then(|key| nearest(key, quoted)).filter(|_| message.starts_with("unknown field"));
    let message = of_parser(message);
    near.map_or(message.clone(), |near| text!("{message}; did you mean '{near}'?"))
}

/// What is wrong with a configuration, where, and what to do.
#[derive(Debug, Error, ToText)]
#[error("{file}{}: {message}", .line.map_or_else(String::new, |line| format!(":{line}")))]
pub struct ConfigError {
    pub file: String,
    /// The line, from 1.
    pub line: Option<usize>,
    /// What is wrong and what to do.
    pub message: Text,
}

/// The calibration of an engine that votes with the win rates that it declares.
const DECLARED: &str = "declared";
/// Before the name of an engine whose calibration the program has.
const KNOWN: &str = "known:";

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct EngineTable {
    name: Spanned<Name>,
    command: Option<Spanned<String>>,
    #[serde(default)]
    args: Vec<String>,
    council: Option<Spanned<PathBuf>>,
    listen: Option<Spanned<String>>,
    login: Option<String>,
    password_file: Option<PathBuf>,
    directory: Option<Spanned<PathBuf>>,
    protocol: Option<Protocol>,
    #[serde(default)]
    options: BTreeMap<String, OptionValue>,
    #[serde(default)]
    environment: BTreeMap<String, String>,
    calibration: Option<Spanned<String>>,
    #[serde(default, deserialize_with = "centipawns")]
    mate_threshold: Option<f64>,
    weight: Option<f64>,
    role: Option<Role>,
    noise: Option<f64>,
    strength: Option<f64>,
    limit: Option<Limit>,
    clock: Option<Spanned<TimeControl>>,
    stop_patience_ms: Option<u64>,
    start_ms: Option<u64>,
    ready_ms: Option<u64>,
}

/// The name of a member, without surrounding blanks.
#[derive(Deserialize)]
#[serde(try_from = "String")]
struct Name(String);

impl TryFrom<String> for Name {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match text.trim() {
            name if name.is_empty() || name.contains(char::is_control) => {
                Err(format!("the name {name:?} cannot be displayed; write a word"))
            }
            name => Ok(Self(name.to_owned())),
        }
    }
}

/// The value of an engine option, as `setoption` writes it; "" presses a button.
#[derive(Deserialize)]
#[serde(try_from = "toml::Value")]
struct OptionValue(String);

impl TryFrom<toml::Value> for OptionValue {
    type Error = String;

    fn try_from(value: toml::Value) -> Result<Self, String> {
        match value {
            toml::Value::String(text) if text.contains(char::is_control) => {
                Err("an option contains a line break or another control character; write it in one line".to_owned())
            }
            toml::Value::String(text) => Ok(Self(text)),
            toml::Value::Integer(n) => Ok(Self(n.to_string())),
            toml::Value::Float(x) => Ok(Self(x.to_string())),
            toml::Value::Boolean(b) => Ok(Self(b.to_string())),
            other => Err(format!("an option is {other}; write a text, a number, true or false")),
        }
    }
}

/// The text of a configuration file with engines: of a council, or of a tournament between engines.
#[derive(Debug)]
pub struct ConfigText {
    path: PathBuf,
    text: String,
}

type Checked<T> = Result<T, ConfigError>;

/// Reads the configuration of a council that is an engine of a tournament.
pub type ReadCouncil = fn(&Path) -> Result<CouncilConfig, ConfigError>;

impl ConfigText {
    /// Opens a file.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn open(path: &Path) -> Checked<Self> {
        let fail = |message: Text| ConfigError { file: path.display().to_string(), line: None, message };
        let text = read_text(path).map_err(|e| fail(text!("cannot read the configuration: {e}")))?;
        let path = std::path::absolute(path).map_err(|e| fail(text!("cannot find its folder: {e}")))?;
        Ok(Self { path, text })
    }

    /// A text that is no file, such as options of a command; `path` says where the paths in it begin and how errors
    /// call it.
    pub fn of(path: PathBuf, text: String) -> Self {
        Self { path, text }
    }

    pub fn file(&self) -> &Path {
        &self.path
    }

    /// Parses the file.
    ///
    /// # Errors
    /// The file is not TOML; the error has the line.
    pub fn document(&self) -> Checked<Document<'_>> {
        let table = DeTable::parse(&self.text).map_err(|e| self.toml_error(&e))?;
        let engines = table.get_ref().get("engine").cloned();
        Ok(Document { text: self, table, engines })
    }

    /// Where the value of a key is, such as `openings.start` or `engine.0.weight`; `None` if the file has no such key.
    pub fn span(&self, path: &str) -> Option<Range<usize>> {
        let table = DeTable::parse(&self.text).ok()?;
        let mut steps = path.split('.');
        let first = table.get_ref().get(steps.next()?)?;
        let found = steps.try_fold(first, |value, step| match step.parse::<usize>() {
            Ok(place) => value.get_ref().get(place),
            Err(_) => value.get_ref().get(step),
        });
        found.map(Spanned::span)
    }

    /// An error about a part of the file.
    pub fn error(&self, span: Option<Range<usize>>, message: Text) -> ConfigError {
        let line = span.map(|s| self.text.get(..s.start).map_or(0, |t| t.matches('\n').count()) + 1);
        ConfigError { file: self.name(), line, message }
    }

    /// The name of the file, without its folder.
    fn name(&self) -> String {
        self.path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
    }

    /// A syntax error or an invalid value, with the line that contains it.
    fn toml_error(&self, error: &toml::de::Error) -> ConfigError {
        let message = plain_types(&error.message().replace('\n', "; "))
            .replace("unknown variant", "invalid value")
            .replace("expected an object", "expected a table");
        let mut error = self.error(error.span(), with_nearest(&message));
        let line = error.line.and_then(|line| self.text.lines().nth(line - 1)).unwrap_or_default().trim();
        if !line.is_empty() {
            error.message = text!("{} (in the line {})", error.message, shortened(line, 200));
        }
        if line.contains('"') && line.contains('\\') {
            error.message = text!("{}; write a Windows path in single quotes", error.message);
        }
        error
    }

    /// A path in the file, which is relative to the folder of the file.
    pub fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        self.path.parent().unwrap_or(Path::new("")).join(path)
    }

    /// The path of a file that is read whole. A pipe could wait for its writer for ever.
    ///
    /// # Errors
    /// A folder, a device or a pipe.
    pub fn plain_file(&self, path: impl AsRef<Path>) -> Result<PathBuf, Text> {
        let path = self.path(path);
        match path.metadata() {
            Ok(found) if !found.is_file() => {
                Err(text!("{} is a folder, a device or a pipe; give a file", path.display()))
            }
            _ => Ok(path),
        }
    }

    /// The text with the path of a calibration in the table of each engine that has none; `path` gives it by the name.
    ///
    /// # Errors
    /// The file cannot be parsed, or its engines are not tables `[[engine]]` with a line for the name.
    pub fn with_calibrations(&self, path: impl Fn(&str) -> Option<String>) -> Checked<String> {
        let tables = self.document()?.tables()?;
        let mut text = self.text.clone();
        for table in tables.iter().rev() {
            let engine = table.get_ref();
            let Some(path) = path(&engine.name.get_ref().0).filter(|_| engine.calibration.is_none()) else { continue };
            let name = engine.name.span();
            let end = text[name.end..].find('\n').map_or(text.len(), |feed| name.end + feed);
            let feed = if text[..end].ends_with('\r') { "\r\n" } else { "\n" };
            let line = format!("{feed}calibration = {}", toml::Value::String(path));
            text.insert_str(text[..end].trim_end_matches('\r').len(), &line);
        }
        let changed = Self { path: self.path.clone(), text };
        match changed.engines_have_calibrations() {
            true => Ok(changed.text),
            false => {
                Err(self
                    .error(None, text!("write every engine as a table [[engine]] with its name on a line of its own")))
            }
        }
    }

    /// Whether the text can be parsed and every engine names a calibration.
    fn engines_have_calibrations(&self) -> bool {
        let tables = self.document().and_then(|document| document.tables());
        tables.is_ok_and(|tables| tables.iter().all(|engine| engine.get_ref().calibration.is_some()))
    }

    fn engine(
        &self,
        raw: Spanned<EngineTable>,
        game: Game,
        rule: Option<Rule>,
        read_council: ReadCouncil,
    ) -> Checked<EngineConfig> {
        let span = raw.span();
        let mut raw = raw.into_inner();
        let name = std::mem::take(&mut raw.name.get_mut().0);
        if raw.options.keys().any(|key| key.contains(char::is_control)) {
            let message =
                text!("the name of an option has a line break or another control character; write it in one line");
            return Err(self.error(Some(span), message));
        }
        self.check_server_keys(&raw, &name)?;
        if let (Some(council), Some(_)) = (&raw.council, rule) {
            let message = text!("engine '{name}' is a council, and a council cannot be a member; name its members");
            return Err(self.error(Some(council.span()), message));
        }
        match (&raw.clock, rule) {
            (Some(clock), Some(_)) => {
                let message = text!("engine '{name}' has a clock, but members share that of the council; use limit");
                return Err(self.error(Some(clock.span()), message));
            }
            (Some(clock), None) if raw.limit.is_some() || clock.get_ref().is_empty() => {
                let message = text!("engine '{name}' needs either a limit or a clock with some time");
                return Err(self.error(Some(clock.span()), message));
            }
            _ => {}
        }
        let (launch, council) = self.launch(&name, span.clone(), &mut raw, game, read_council)?;
        let mate_threshold_cp = raw.mate_threshold;
        let calibration = self.calibration(&raw, &name, span, rule)?;
        let default = EngineConfig::default();
        Ok(EngineConfig {
            name,
            launch,
            council,
            protocol: raw.protocol.unwrap_or_else(|| game.protocol()),
            options: raw.options.into_iter().map(|(key, value)| (key, value.0)).collect(),
            calibration_file: raw
                .calibration
                .as_ref()
                .filter(|_| calibration.is_some())
                .map(|f| self.path(f.get_ref())),
            calibration,
            votes_as_declared: raw.calibration.as_ref().is_some_and(|word| word.get_ref() == DECLARED),
            mate_threshold_cp,
            weight: raw.weight,
            role: raw.role.unwrap_or_default(),
            noise: raw.noise,
            strength: raw.strength,
            limit: raw.limit,
            clock: raw.clock.map(Spanned::into_inner),
            stop_patience_ms: raw.stop_patience_ms.unwrap_or(default.stop_patience_ms),
            start_ms: raw.start_ms.unwrap_or(default.start_ms),
            ready_ms: raw.ready_ms.unwrap_or(default.ready_ms),
            ..default
        })
    }

    /// The calibration that a member names; `None` for `"none"`, `"declared"`, and where the rule needs none.
    fn calibration(
        &self,
        raw: &EngineTable,
        name: &str,
        span: Range<usize>,
        rule: Option<Rule>,
    ) -> Checked<Option<Calibration>> {
        let Some(file) = &raw.calibration else {
            let Some(rule) = rule.filter(|rule| rule.needs_win_rates()) else { return Ok(None) };
            let message = text!(
                "engine '{name}' has no calibration, and rule {rule} compares win rates; evalcurve council {} \
                 --prepare calibrates the members. Or write the path of its calibration file, \"declared\" to use the \
                 W/D/L that it prints, or \"none\" to ignore its votes",
                self.name()
            );
            return Err(self.error(Some(span), message));
        };
        match file.get_ref().as_str() {
            "none" => Ok(None),
            DECLARED => match rule.filter(|rule| rule.needs().judged) {
                Some(rule) => {
                    let message = text!(
                        "engine '{name}' votes by declared rates, and rule {rule} compares scores of a second search, \
                         which have none; write the path of its calibration file, or choose another rule"
                    );
                    Err(self.error(Some(file.span()), message))
                }
                None => Ok(None),
            },
            known if known.starts_with(KNOWN) => {
                let message = text!(
                    "engine '{name}' votes by the calibration of a known engine, which is of other games, at another \
                     limit, against other players; calibrate this engine at its limit with `evalcurve analyse`, or \
                     let `evalcurve council --prepare` do it"
                );
                Err(self.error(Some(file.span()), message))
            }
            path => {
                let of_file = self.plain_file(path).map_err(|e| self.error(Some(file.span()), e))?;
                let mut calibration = Calibration::read(of_file)
                    .map_err(|e| self.error(Some(file.span()), text!("the calibration of '{name}': {e}")))?;
                set_threshold(&mut calibration, raw.mate_threshold);
                Ok(Some(calibration))
            }
        }
    }

    /// How to start a member: its command, or `evalcurve-lab` as the server that it logs in to; and what it
    /// is made of, if it is a council.
    fn launch(
        &self,
        name: &str,
        span: Range<usize>,
        raw: &mut EngineTable,
        game: Game,
        read_council: ReadCouncil,
    ) -> Checked<(Launch, Option<CouncilConfig>)> {
        let mut made_of = None;
        let directory = raw.directory.as_ref().map(|directory| self.path(directory.get_ref()));
        if let (Some(path), Some(given)) = (directory.as_ref().filter(|path| !path.is_dir()), &raw.directory) {
            let message = text!("there is no folder '{}'; write one that exists", path.display());
            return Err(self.error(Some(given.span()), message));
        }
        let own = |span, launch: std::io::Result<Launch>| match launch {
            Ok(launch) => Ok((launch.command, launch.args)),
            Err(e) => Err(self.error(Some(span), text!("cannot find evalcurve itself: {e}"))),
        };
        let (command, args) = match (&raw.command, &raw.council, &raw.listen) {
            (Some(command), None, None) => (self.command(command)?, raw.args.drain(..).map(Into::into).collect()),
            (None, Some(council), None) => {
                let path = self.path(council.get_ref());
                let read = read_council(&path);
                made_of = Some(read.map_err(|e| self.error(Some(council.span()), text!("council '{name}': {e}")))?);
                own(council.span(), Launch::this_program(vec!["council".into(), path.into_os_string()]))?
            }
            (None, None, Some(listen)) => {
                let fail = |message| self.error(Some(listen.span()), message);
                let login = raw.login.as_deref().unwrap_or(name);
                if login.contains(char::is_whitespace) {
                    return Err(fail(text!(
                        "'{login}' is not a valid login, it contains a blank; write login = \"…\""
                    )));
                }
                let mut args: Vec<OsString> =
                    ["serve", "--listen", listen.get_ref(), "--name", login, "--game", game.as_str()]
                        .map(Into::into)
                        .into();
                if let Some(file) = &raw.password_file {
                    args.extend(["--password-file".into(), self.path(file).into_os_string()]);
                }
                own(listen.span(), Launch::lab(args))?
            }
            _ => {
                let message = text!(
                    "engine '{name}' needs a command, or listen = \"127.0.0.1:4081\" for a program that logs in, \
                     but not both"
                );
                return Err(self.error(Some(span), message));
            }
        };
        let environment = std::mem::take(&mut raw.environment);
        let environment = environment.into_iter().map(|(key, value)| (key.into(), value.into())).collect();
        Ok((Launch { command, args, directory, environment }, made_of))
    }

    /// Refuses keys that would have no effect: those of a server where a command is started, and the other way round.
    fn check_server_keys(&self, raw: &EngineTable, name: &str) -> Checked<()> {
        let fail = |span, message| Err(self.error(Some(span), message));
        let span = raw.name.span();
        let Some(listen) = &raw.listen else {
            if raw.login.is_some() || raw.password_file.is_some() {
                let key = if raw.login.is_some() { "login" } else { "password-file" };
                return fail(span, text!("engine '{name}' has a {key} but does not listen; write listen or remove it"));
            }
            return Ok(());
        };
        if !raw.args.is_empty() {
            return fail(span, text!("engine '{name}' listens and has args; remove them, a server takes none"));
        }
        let address = listen.get_ref();
        let port = address.rsplit_once(':').map(|(_, port)| port.parse::<u16>());
        if !matches!(port, Some(Ok(_))) {
            let message = text!("'{address}' is not an address; write ADDRESS:PORT, for example 127.0.0.1:4081");
            return fail(listen.span(), message);
        }
        match &raw.password_file {
            Some(file) if !self.path(file).is_file() => {
                let shown = self.path(file).display().to_string();
                fail(
                    span,
                    text!("there is no file '{shown}' with the password of engine '{name}'; write one that exists"),
                )
            }
            _ => Ok(()),
        }
    }

    /// A command without a slash is looked up on PATH; any other is relative to this file.
    fn command(&self, raw: &Spanned<String>) -> Checked<OsString> {
        let text = raw.get_ref();
        if text.trim().is_empty() {
            return Err(self.error(Some(raw.span()), text!("the command is empty; write the path of the engine")));
        }
        let is_path = text.contains('/') || (cfg!(windows) && text.contains('\\'));
        if !is_path {
            return Ok(text.into());
        }
        let path = self.path(text);
        match path.exists() {
            true => Ok(path.into_os_string()),
            false => {
                let message = text!("there is no file '{}'; paths are relative to the configuration", path.display());
                Err(self.error(Some(raw.span()), message))
            }
        }
    }
}

/// A parsed configuration file.
#[derive(Debug)]
pub struct Document<'t> {
    text: &'t ConfigText,
    table: Spanned<DeTable<'t>>,
    engines: Option<Spanned<DeValue<'t>>>,
}

impl Document<'_> {
    /// Everything but the engines.
    ///
    /// # Errors
    /// The file does not fit the type; the error has the line.
    pub fn rest<T: DeserializeOwned>(&self) -> Checked<T> {
        T::deserialize(Deserializer::from(self.table.clone())).map_err(|e| self.text.toml_error(&e))
    }

    fn tables(&self) -> Checked<Vec<Spanned<EngineTable>>> {
        let Some(engines) = self.engines.clone() else { return Ok(Vec::new()) };
        Vec::deserialize(engines.into_deserializer()).map_err(|e| self.text.toml_error(&e))
    }

    /// The tables `[[engine]]` of the file, at least one, with their calibrations. Every name is unique. A
    /// council, which has a `rule`, has at most [`MOST_VOTERS`], none of which is a council; `read_council` reads those
    /// of a tournament.
    ///
    /// # Errors
    /// An engine has unknown keys, invalid values, or no calibration although `rule` needs win rates; or a council
    /// has too many engines.
    pub fn engines(&self, game: Game, rule: Option<Rule>, read_council: ReadCouncil) -> Checked<Vec<EngineConfig>> {
        let tables = self.tables()?;
        if tables.is_empty() {
            return Err(self
                .text
                .error(None, text!("there is no engine; add a table [[engine]] with name and command")));
        }
        if let (Some(_), Some(more)) = (rule, tables.get(MOST_VOTERS)) {
            let message = text!("a council has at most {MOST_VOTERS} engines; remove this one and those after it");
            return Err(self.text.error(Some(more.span()), message));
        }
        let mut engines: Vec<EngineConfig> = Vec::new();
        for table in tables {
            let span = table.get_ref().name.span();
            let engine = self.text.engine(table, game, rule, read_council)?;
            if engines.iter().any(|e| e.name == engine.name) {
                let message = text!("two engines have the name '{}'; give each its own name", engine.name);
                return Err(self.text.error(Some(span), message));
            }
            engines.push(engine);
        }
        Ok(engines)
    }
}

/// The mate threshold of the configuration overrides that of the calibration.
fn set_threshold(calibration: &mut Calibration, threshold_cp: Option<f64>) {
    if threshold_cp.is_some() {
        let none = Mates { policy: MatePolicy::Exclude, clip_cp: None, threshold_cp, beyond: 0, wrong_sided: 0 };
        calibration.mates.get_or_insert(none).threshold_cp = threshold_cp;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn no_council(_: &Path) -> Checked<CouncilConfig> {
        Ok(CouncilConfig::default())
    }

    #[test]
    fn byte_order_marks_are_no_part_of_the_text() {
        let path = std::env::temp_dir().join(format!("evalcurve-marks-{}.toml", std::process::id()));
        std::fs::write(&path, "\u{feff}\u{feff}seed = 1\n").unwrap();
        let text = ConfigText::open(&path).map(|read| read.text);
        std::fs::remove_file(&path).unwrap();
        assert_eq!(text.ok().as_deref(), Some("seed = 1\n"));
    }

    #[test]
    fn calibrations_are_added_after_the_names() {
        let of = |text: &str| ConfigText { path: "c.toml".into(), text: text.into() };
        let path = |name: &str| Some(format!("cal/{name}.json"));
        let text = "rule = \"majority\"\r\n[[engine]]\r\nname = \"甲 1\" # first\r\ncommand = \"a\"\r\n\
                    [[engine]]\ncommand = \"b\"\ncalibration = \"none\"\nname = \"B\"\n[[engine]]\nname = \"C\"";
        let added = of(text).with_calibrations(path).unwrap();
        let first = "name = \"甲 1\" # first\r\ncalibration = \"cal/甲 1.json\"\r\ncommand";
        assert!(added.contains(first) && added.ends_with("name = \"C\"\ncalibration = \"cal/C.json\""), "{added}");
        assert_eq!(added.matches("calibration").count(), 3);
        let inline = "engine = [{ name = \"A\", command = \"a\" }]";
        assert!(of(inline).with_calibrations(path).is_err());
    }

    #[test]
    fn a_council_has_as_many_engines_as_a_vote_log() {
        let engines = |count: usize| {
            let engine = |i| format!("[[engine]]\nname = \"e{i}\"\ncommand = \"e\"\ncalibration = \"none\"\n");
            ConfigText { path: "c.toml".into(), text: (0..count).map(engine).collect() }
        };
        let of_council = |count| {
            engines(count)
                .document()
                .and_then(|text| text.engines(Game::Shogi, Some(Rule::Majority), no_council))
                .map(|found| found.len())
        };
        assert_eq!(of_council(MOST_VOTERS).ok(), Some(100));
        let error = of_council(MOST_VOTERS + 1).unwrap_err().to_string();
        assert_eq!(error, "c.toml:401: a council has at most 100 engines; remove this one and those after it");
        // engines of a tournament
        assert_eq!(
            engines(MOST_VOTERS + 1)
                .document()
                .unwrap()
                .engines(Game::Shogi, None, no_council)
                .ok()
                .map(|found| found.len()),
            Some(101)
        );
    }

    #[test]
    fn thresholds_of_the_configuration_override_the_file() {
        let Some(text) = crate::of_repository("data/calibrations/zshogi.json") else { return };
        let mut calibration = Calibration::from_json(&text, "zshogi.json").unwrap();
        set_threshold(&mut calibration, Some(15_000.0));
        assert_eq!(calibration.mates.unwrap().threshold_cp, Some(15_000.0));
        calibration.mates = None;
        set_threshold(&mut calibration, Some(9_000.0));
        assert_eq!(calibration.mates.unwrap().threshold_cp, Some(9_000.0));
    }
}
