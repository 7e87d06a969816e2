//! The configuration file: TOML, with the line in every complaint.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use thiserror::Error;
use toml::Spanned;

use super::board::Game;
use super::config::{Config, EngineConfig, Late, Limit, Resign, TimePolicy};
use crate::usi::{Launch, Protocol};
use evalcurve_core::calibration::{Calibration, MatePolicy, Mates};
use evalcurve_core::rule::{Role, Rule, RuleError, TieRule};

/// Centipawns of a logit in shogi, the constant known from Ponanza.
const SHOGI_SCALE_CP: f64 = 600.0;
/// Centipawns of a logit in chess: 1 / 0.00368208, the constant of lichess.
const CHESS_SCALE_CP: f64 = 271.6;

/// What is wrong with a configuration, where, and what to do.
#[derive(Debug, Error)]
#[error("{file}{}: {message}", Place(*.line))]
pub struct ConfigError {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: Option<usize>,
    /// What is wrong and what to do.
    pub message: String,
}

struct Place(Option<usize>);

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |line| write!(f, ":{line}"))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct RawConfig {
    name: Option<String>,
    game: Option<Spanned<String>>,
    rule: Option<Spanned<String>>,
    tie: Option<Spanned<String>>,
    mates: Option<bool>,
    gap: Option<f64>,
    noise: Option<f64>,
    caution: Option<f64>,
    seed: Option<u64>,
    score_scale: Option<Spanned<f64>>,
    log: Option<PathBuf>,
    early_stop: Option<bool>,
    resign: Option<Spanned<String>>,
    late: Option<Spanned<String>>,
    restarts: Option<u32>,
    time: Option<RawTime>,
    #[serde(default)]
    engine: Vec<Spanned<RawEngine>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct RawTime {
    margin_ms: Option<u64>,
    share: Option<Spanned<f64>>,
    longest_ms: Option<u64>,
    options_ms: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct RawEngine {
    name: Spanned<String>,
    command: Option<Spanned<String>>,
    #[serde(default)]
    args: Vec<String>,
    listen: Option<Spanned<String>>,
    login: Option<String>,
    password_file: Option<PathBuf>,
    directory: Option<Spanned<PathBuf>>,
    protocol: Option<Spanned<String>>,
    #[serde(default)]
    options: toml::Table,
    #[serde(default)]
    environment: BTreeMap<String, String>,
    calibration: Option<Spanned<String>>,
    mate_threshold: Option<Spanned<f64>>,
    weight: Option<f64>,
    role: Option<Spanned<String>>,
    noise: Option<f64>,
    strength: Option<f64>,
    limit: Option<Spanned<BTreeMap<String, u64>>>,
    stop_patience_ms: Option<u64>,
    start_ms: Option<u64>,
    ready_ms: Option<u64>,
}

impl Config {
    /// Reads a configuration and the calibrations that it names. Paths in it are relative to its own folder.
    ///
    /// # Errors
    /// The file cannot be read, is no TOML, has keys that are not known, values that make no sense together, or names a
    /// calibration that cannot be read; with the line and a remedy.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let fail = |message: String| ConfigError { file: path.display().to_string(), line: None, message };
        let text = std::fs::read_to_string(path)
            .map_err(|e| fail(format!("cannot read the configuration: {e}; give the path of a TOML file")))?;
        let path = std::path::absolute(path).map_err(|e| fail(format!("cannot find its folder: {e}")))?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        Reader { path: &path, text }.config()
    }
}

struct Reader<'a> {
    path: &'a Path,
    text: &'a str,
}

type Checked<T> = Result<T, ConfigError>;

impl Reader<'_> {
    fn error(&self, span: Option<Range<usize>>, message: impl Into<String>) -> ConfigError {
        let line = span.map(|s| self.text.get(..s.start).map_or(0, |t| t.matches('\n').count()) + 1);
        let name = self.path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
        ConfigError { file: name, line, message: message.into() }
    }

    fn config(&self) -> Checked<Config> {
        let raw: RawConfig =
            toml::from_str(self.text).map_err(|e| self.error(e.span(), e.message().replace('\n', "; ")))?;
        let word = |value: Option<Spanned<String>>, default: &str| match value {
            Some(v) => (Some(v.span()), v.into_inner()),
            None => (None, default.to_owned()),
        };
        let games = ["shogi", "chess", "other-usi", "other-uci"];
        let (span, game) = word(raw.game, "shogi");
        let game = Game::parse(&game).ok_or_else(|| self.one_of(span, "game", &game, &games))?;
        let rules: Vec<&str> = Rule::ALL.iter().map(|r| r.as_str()).collect();
        let (rule_span, rule) = word(raw.rule, Rule::default().as_str());
        let rule = Rule::parse(&rule).ok_or_else(|| self.one_of(rule_span.clone(), "rule", &rule, &rules))?;
        let ties: Vec<&str> = TieRule::ALL.iter().map(<&str>::from).collect();
        let (span, tie) = word(raw.tie, TieRule::default().into());
        let tie = tie.parse().map_err(|_| self.one_of(span, "tie", &tie, &ties))?;
        let (span, resign) = word(raw.resign, "all");
        let resign = match resign.as_str() {
            "all" => Resign::All,
            "majority" => Resign::Majority,
            "never" => Resign::Never,
            other => return Err(self.one_of(span, "resign", other, &["all", "majority", "never"])),
        };
        let (span, late) = word(raw.late, "abstain");
        let late = match late.as_str() {
            "abstain" => Late::Abstain,
            "last-line" => Late::LastLine,
            other => return Err(self.one_of(span, "late", other, &["abstain", "last-line"])),
        };
        let default_scale = if game == Game::Chess { CHESS_SCALE_CP } else { SHOGI_SCALE_CP };
        let score_scale_cp =
            self.positive("score-scale", raw.score_scale, "centipawns of a logit")?.unwrap_or(default_scale);
        let time = self.time(raw.time)?;
        if raw.engine.is_empty() {
            return Err(self.error(None, "there is no engine; add a table [[engine]] with name and command"));
        }
        let mut engines: Vec<EngineConfig> = Vec::new();
        for engine in raw.engine {
            let span = engine.get_ref().name.span();
            let engine = self.engine(engine, game, rule)?;
            if engines.iter().any(|e| e.name == engine.name) {
                let message = format!("two engines are called '{}'; give each a name of its own", engine.name);
                return Err(self.error(Some(span), message));
            }
            engines.push(engine);
        }
        let options = evalcurve_core::rule::Options::default();
        let config = Config {
            file: self.path.to_owned(),
            name: raw.name.unwrap_or_else(|| "evalcurve council".to_owned()),
            game,
            rule,
            tie,
            mates: raw.mates,
            gap: raw.gap.unwrap_or(options.gap),
            noise: raw.noise.unwrap_or(options.noise),
            caution: raw.caution.unwrap_or(options.caution),
            seed: raw.seed.unwrap_or(0),
            score_scale_cp,
            log: raw.log.map(|log| self.folder().join(log)),
            early_stop: raw.early_stop.unwrap_or(false),
            resign,
            late,
            restarts: raw.restarts.unwrap_or(3),
            time,
            engines,
        };
        match evalcurve_core::rule::check(config.rule, &config.voters(), &config.rule_options()) {
            Ok(()) => Ok(config),
            Err(e @ RuleError::Needs { .. }) => Err(self.error(rule_span, e.to_string())),
            Err(e) => Err(self.error(None, e.to_string())),
        }
    }

    fn time(&self, raw: Option<RawTime>) -> Checked<TimePolicy> {
        let default = TimePolicy::default();
        let Some(raw) = raw else { return Ok(default) };
        let share = match raw.share {
            Some(share) if !(*share.get_ref() > 0.0 && *share.get_ref() <= 1.0) => {
                let message = format!("share is {}; write a number above 0, up to 1", share.get_ref());
                return Err(self.error(Some(share.span()), message));
            }
            Some(share) => share.into_inner(),
            None => default.share,
        };
        Ok(TimePolicy {
            margin_ms: raw.margin_ms.unwrap_or(default.margin_ms),
            share,
            longest_ms: raw.longest_ms.unwrap_or(default.longest_ms).max(1),
            options_ms: raw.options_ms.unwrap_or(default.options_ms).min(1_900),
        })
    }

    /// A name alone is looked up on PATH, everything else stands beside this file.
    fn command(&self, raw: &Spanned<String>) -> Checked<OsString> {
        let text = raw.get_ref();
        if text.trim().is_empty() {
            return Err(self.error(Some(raw.span()), "the command is empty; write the engine's path"));
        }
        let is_path = text.contains('/') || (cfg!(windows) && text.contains('\\'));
        let command = if is_path { self.folder().join(text).into_os_string() } else { text.into() };
        if is_path && !Path::new(&command).exists() {
            let message = format!(
                "there is no file '{}'; paths are relative to the configuration",
                Path::new(&command).display()
            );
            return Err(self.error(Some(raw.span()), message));
        }
        Ok(command)
    }

    /// This program as the server of a member that logs in (see [`super::protocol`]).
    fn server(
        &self,
        listen: &Spanned<String>,
        login: &str,
        password: Option<PathBuf>,
    ) -> Checked<(OsString, Vec<OsString>)> {
        if login.contains(char::is_whitespace) {
            let message = format!("nobody can log in as '{login}', which has a blank; write login = \"…\"");
            return Err(self.error(Some(listen.span()), message));
        }
        let own = std::env::current_exe()
            .map_err(|e| self.error(Some(listen.span()), format!("cannot find evalcurve itself: {e}")))?;
        let mut args: Vec<OsString> = ["serve", "--listen", listen.get_ref(), "--name", login].map(Into::into).into();
        if let Some(file) = password {
            args.extend(["--password-file".into(), file.into_os_string()]);
        }
        Ok((own.into_os_string(), args))
    }

    fn engine(&self, raw: Spanned<RawEngine>, game: Game, rule: Rule) -> Checked<EngineConfig> {
        let whole = raw.span();
        let raw = raw.into_inner();
        let name = raw.name.get_ref().trim().to_owned();
        if name.is_empty() || name.chars().any(char::is_control) {
            return Err(self.error(Some(raw.name.span()), format!("the name '{name}' cannot be shown; write a word")));
        }
        let directory = raw.directory.map(|d| (d.span(), self.folder().join(d.into_inner())));
        if let Some((span, directory)) = directory.as_ref().filter(|(_, d)| !d.is_dir()) {
            let message = format!("there is no folder '{}'; write one that exists", directory.display());
            return Err(self.error(Some(span.clone()), message));
        }
        let (command, args) = match (&raw.command, &raw.listen) {
            (Some(command), None) => (self.command(command)?, raw.args.into_iter().map(Into::into).collect()),
            (None, Some(listen)) => {
                let password = raw.password_file.map(|file| self.folder().join(file));
                self.server(listen, raw.login.as_deref().unwrap_or(&name), password)?
            }
            _ => {
                let message = format!(
                    "engine '{name}' needs a command, or listen = \"127.0.0.1:4081\" for a program that logs in, not both"
                );
                return Err(self.error(Some(whole), message));
            }
        };
        let protocol = match raw.protocol {
            None => game.protocol(),
            Some(p) => match p.get_ref().as_str() {
                "usi" => Protocol::Usi,
                "uci" => Protocol::Uci,
                other => return Err(self.one_of(Some(p.span()), "protocol", other, &["usi", "uci"])),
            },
        };
        let role = match &raw.role {
            None => Role::Member,
            Some(r) => match r.get_ref().as_str() {
                "leader" => Role::Leader,
                "member" => Role::Member,
                "chooser" => Role::Chooser,
                other => return Err(self.one_of(Some(r.span()), "role", other, &["leader", "member", "chooser"])),
            },
        };
        let limit = raw.limit.map(|limit| self.limit(&limit)).transpose()?;
        let options = raw
            .options
            .iter()
            .map(|(key, value)| Ok((key.clone(), self.option(whole.clone(), key, value)?)))
            .collect::<Checked<_>>()?;
        let mate_threshold_cp = self.positive("mate-threshold", raw.mate_threshold, "centipawns")?;
        let calibration = match &raw.calibration {
            None if rule.needs_win_rates() => {
                let message = format!(
                    "engine '{name}' has no calibration, and rule {rule} compares win rates; write the path of its \
                     calibration file, or \"none\" for an engine that shall be passed over"
                );
                return Err(self.error(Some(whole), message));
            }
            None => None,
            Some(c) if c.get_ref() == "none" => None,
            Some(c) => {
                let path = self.folder().join(c.get_ref());
                let read = Calibration::read(&path);
                let mut read =
                    read.map_err(|e| self.error(Some(c.span()), format!("the calibration of '{name}': {e}")))?;
                set_threshold(&mut read, mate_threshold_cp);
                Some(read)
            }
        };
        Ok(EngineConfig {
            name,
            launch: Launch {
                command,
                args,
                directory: directory.map(|(_, d)| d),
                environment: raw.environment.into_iter().map(|(k, v)| (k.into(), v.into())).collect(),
            },
            protocol,
            options,
            calibration,
            mate_threshold_cp,
            weight: raw.weight,
            role,
            noise: raw.noise,
            strength: raw.strength,
            limit,
            stop_patience_ms: raw.stop_patience_ms.unwrap_or(1_000),
            start_ms: raw.start_ms.unwrap_or(10_000),
            ready_ms: raw.ready_ms.unwrap_or(60_000),
        })
    }

    fn limit(&self, limit: &Spanned<BTreeMap<String, u64>>) -> Checked<Limit> {
        let remedy = "write one of { nodes = N }, { depth = N }, { movetime-ms = N }, { byoyomi-ms = N }";
        let mut entries = limit.get_ref().iter();
        match (entries.next(), entries.next()) {
            (Some((key, &n)), None) if n > 0 => match key.as_str() {
                "nodes" => Ok(Limit::Nodes(n)),
                "depth" => Ok(Limit::Depth(n)),
                "movetime-ms" => Ok(Limit::MoveTime(n)),
                "byoyomi-ms" => Ok(Limit::Byoyomi(n)),
                _ => Err(self.error(Some(limit.span()), format!("the limit '{key}' is not known; {remedy}"))),
            },
            (Some((key, _)), None) => Err(self.error(Some(limit.span()), format!("the limit {key} is 0; {remedy}"))),
            _ => Err(self.error(Some(limit.span()), format!("a limit is one number; {remedy}"))),
        }
    }

    /// The value of an engine's option as `setoption` writes it; a button is pressed with "".
    fn option(&self, span: Range<usize>, key: &str, value: &toml::Value) -> Checked<String> {
        let text = match value {
            toml::Value::String(s) => s.clone(),
            toml::Value::Integer(n) => n.to_string(),
            toml::Value::Float(x) => x.to_string(),
            toml::Value::Boolean(b) => b.to_string(),
            other => {
                return Err(
                    self.error(Some(span), format!("option '{key}' is {other}; write a text, a number or true"))
                );
            }
        };
        if text.chars().chain(key.chars()).any(|c| c == '\n' || c == '\r') {
            return Err(self.error(Some(span), format!("option '{key}' holds a line end; write it in one line")));
        }
        Ok(text)
    }

    fn positive(&self, key: &str, value: Option<Spanned<f64>>, unit: &str) -> Checked<Option<f64>> {
        match value {
            Some(v) if !(v.get_ref().is_finite() && *v.get_ref() > 0.0) => {
                Err(self.error(Some(v.span()), format!("{key} is {}; write a number of {unit} above 0", v.get_ref())))
            }
            other => Ok(other.map(Spanned::into_inner)),
        }
    }

    fn one_of(&self, span: Option<Range<usize>>, key: &str, value: &str, known: &[&str]) -> ConfigError {
        self.error(span, format!("{key} is \"{value}\"; write one of {}", known.join(", ")))
    }

    fn folder(&self) -> PathBuf {
        self.path.parent().map(Path::to_owned).unwrap_or_default()
    }
}

/// The threshold of the configuration stands above that of the calibration.
fn set_threshold(calibration: &mut Calibration, threshold_cp: Option<f64>) {
    let Some(threshold) = threshold_cp else { return };
    match &mut calibration.mates {
        Some(mates) => mates.threshold_cp = Some(threshold),
        none => {
            let policy = MatePolicy::Exclude;
            *none = Some(Mates { policy, clip_cp: None, threshold_cp: Some(threshold), beyond: 0, wrong_sided: 0 });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example(name: &str) -> Config {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join("examples").join(name);
        Config::read(&path).unwrap_or_else(|e| panic!("{e}"))
    }

    #[test]
    fn the_examples_can_be_read() {
        let shogi = example("shogi.toml");
        let names: Vec<&str> = shogi.engines.iter().map(|e| e.name.as_str()).collect();
        assert_eq!(names, ["Fairy-Stockfish", "sekirei", "zshogi"]);
        for engine in &shogi.engines {
            let calibration = engine.calibration.as_ref().map(|c| c.engine.name.as_str());
            assert_eq!(calibration, Some(engine.name.as_str()));
        }
        assert_eq!(shogi.engines[0].limit, Some(Limit::Nodes(6000)));
        assert_eq!((shogi.score_scale_cp, shogi.rule), (600.0, Rule::WinRateOptimistic));
        let chess = example("chess.toml");
        assert_eq!((chess.game, chess.engines.len(), chess.score_scale_cp), (Game::Chess, 3, 271.6));
        assert_eq!(chess.engines[0].role, Role::Leader);
    }

    #[test]
    fn thresholds_of_the_configuration_stand_above_the_file() {
        let mut calibration = example("shogi.toml").engines.remove(0).calibration.unwrap();
        set_threshold(&mut calibration, Some(15_000.0));
        assert_eq!(calibration.mates.unwrap().threshold_cp, Some(15_000.0));
        calibration.mates = None;
        set_threshold(&mut calibration, Some(9_000.0));
        assert_eq!(calibration.mates.unwrap().threshold_cp, Some(9_000.0));
    }
}
