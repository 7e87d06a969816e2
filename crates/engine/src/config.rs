//! How an engine is started, what it searches, and what it is in a council.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use evalcurve_calibration::Calibration;
use evalcurve_rules::{Options, PhaseWeight, Role, Voter};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use strum::Display;

use super::board::Game;
use crate::usi::{Go, Launch, Protocol};

/// Centipawns per logit in chess: 1 / 0.00368208, the constant of lichess.
pub const CHESS_SCALE_CP: f64 = 271.6;

/// Passes over the tables of engines, which [`Document::engines`](super::Document::engines) reads.
///
/// # Errors
/// The value is not valid TOML.
pub fn read_later<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<EngineConfig>, D::Error> {
    serde::de::IgnoredAny::deserialize(deserializer).map(|_| Vec::new())
}

/// A number of centipawns above 0.
///
/// # Errors
/// The value is no such number.
pub fn centipawns<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    let cp = f64::deserialize(deserializer)?;
    match cp.is_finite() && cp > 0.0 {
        true => Ok(Some(cp)),
        false => Err(D::Error::custom(format!("{cp} is not valid; write a number of centipawns above 0"))),
    }
}

/// A search limit that a member gets instead of the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Display, Deserialize)]
#[serde(try_from = "BTreeMap<String, u64>")]
pub enum Limit {
    #[strum(to_string = "nodes {0}")]
    Nodes(u64),
    /// Plies.
    #[strum(to_string = "depth {0}")]
    Depth(u64),
    /// Time per move, in milliseconds.
    #[strum(to_string = "movetime {0} ms")]
    MoveTime(u64),
    /// Byoyomi with an empty clock, in milliseconds.
    #[strum(to_string = "byoyomi {0} ms")]
    Byoyomi(u64),
}

impl TryFrom<BTreeMap<String, u64>> for Limit {
    type Error = String;

    fn try_from(table: BTreeMap<String, u64>) -> Result<Self, String> {
        let problem = match table.iter().map(|(key, n)| (key.as_str(), *n)).collect::<Vec<_>>()[..] {
            [(key, 0)] => format!("the limit {key} is 0"),
            [("nodes", n)] => return Ok(Self::Nodes(n)),
            [("depth", n)] => return Ok(Self::Depth(n)),
            [("movetime-ms", ms)] => return Ok(Self::MoveTime(ms)),
            [("byoyomi-ms", ms)] => return Ok(Self::Byoyomi(ms)),
            [(key, _)] => format!("'{key}' is not a valid limit"),
            _ => "a limit is one number".to_owned(),
        };
        Err(format!(
            "{problem}; write one of {{ nodes = N }}, {{ depth = N }}, {{ movetime-ms = N }}, {{ byoyomi-ms = N }}"
        ))
    }
}

impl Limit {
    /// The limit as a `go` command.
    pub fn go(self) -> Go {
        let mut go = Go::default();
        match self {
            Self::Nodes(n) => go.nodes = Some(n),
            Self::Depth(n) => go.depth = Some(n),
            Self::MoveTime(ms) => go.movetime_ms = Some(ms),
            Self::Byoyomi(ms) => {
                (go.clock.btime_ms, go.clock.wtime_ms, go.clock.byoyomi_ms) = (Some(0), Some(0), Some(ms));
            }
        }
        go
    }

    /// The limit as a configuration has it.
    pub fn toml(self) -> String {
        match self {
            Self::Nodes(n) => format!("{{ nodes = {n} }}"),
            Self::Depth(n) => format!("{{ depth = {n} }}"),
            Self::MoveTime(ms) => format!("{{ movetime-ms = {ms} }}"),
            Self::Byoyomi(ms) => format!("{{ byoyomi-ms = {ms} }}"),
        }
    }

    /// The time of a limit of time.
    pub fn time(self) -> Option<Duration> {
        match self {
            Self::MoveTime(ms) | Self::Byoyomi(ms) => Some(Duration::from_millis(ms)),
            Self::Nodes(_) | Self::Depth(_) => None,
        }
    }

    /// The limit, shortened to the time that is left.
    pub(crate) fn within(self, left_ms: Option<u64>) -> Self {
        let left_ms = left_ms.unwrap_or(u64::MAX);
        match self {
            Self::MoveTime(ms) => Self::MoveTime(ms.min(left_ms)),
            Self::Byoyomi(ms) => Self::Byoyomi(ms.min(left_ms)),
            Self::Nodes(_) | Self::Depth(_) => self,
        }
    }
}

/// A clock for a whole game.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct TimeControl {
    /// Main time, in milliseconds.
    pub main_ms: u64,
    /// Time added at every move, in milliseconds.
    pub increment_ms: u64,
    /// Time per move once the main time is used up, in milliseconds.
    pub byoyomi_ms: u64,
    /// Moves after which the main time is added again; 0: it is for the whole game.
    pub moves: u64,
}

impl TimeControl {
    /// Whether it leaves no time for any move.
    pub(crate) fn is_empty(self) -> bool {
        Self { moves: 0, ..self } == Self::default()
    }
}

impl std::fmt::Display for TimeControl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.moves > 0 {
            write!(f, "{}/", self.moves)?;
        }
        write!(f, "{}", self.main_ms as f64 / 1000.0)?;
        if self.increment_ms > 0 {
            write!(f, "+{}", self.increment_ms as f64 / 1000.0)?;
        }
        if self.byoyomi_ms > 0 {
            write!(f, " byoyomi {}", self.byoyomi_ms as f64 / 1000.0)?;
        }
        Ok(())
    }
}

/// How long an engine may take to `usiok` and `readyok`, and after `stop`.
const START_MS: u64 = 10_000;
const READY_MS: u64 = 60_000;
const STOP_MS: u64 = 1_000;

/// A member of a council, or an engine of a tournament.
#[derive(Debug, Clone)]
pub struct EngineConfig {
    /// Its name, which no other member has.
    pub name: String,
    /// How to start it.
    pub launch: Launch,
    /// If it is `evalcurve council`: what that is made of.
    pub council: Option<CouncilConfig>,
    /// USI or UCI.
    pub protocol: Protocol,
    /// Options to set at every start, in the order of their names.
    pub options: Vec<(String, String)>,
    /// The calibration that turns its scores into win rates; `None`: `"none"` or `"declared"`.
    pub calibration: Option<Calibration>,
    /// The file of this calibration.
    pub calibration_file: Option<PathBuf>,
    /// Whether it votes with the win rates that it declares itself (`calibration = "declared"`).
    pub votes_as_declared: bool,
    /// Scores of at least this size are mates, in centipawns; overrides the mate threshold of the calibration.
    pub mate_threshold_cp: Option<f64>,
    /// How much its vote counts; `None`: as the rule says.
    pub weight: Option<f64>,
    /// How much it counts in later phases of a game, by learned weights.
    pub phases: Vec<PhaseWeight>,
    /// Whether it leads, chooses or votes like the others.
    pub role: Role,
    /// The noise s, in logits.
    pub noise: Option<f64>,
    /// Its rating, in Elo points.
    pub strength: Option<f64>,
    /// The search limit that it gets instead of the clock.
    pub limit: Option<Limit>,
    /// In a tournament: its clock for a game, instead of a limit.
    pub clock: Option<TimeControl>,
    /// How long its move may take after `stop`; a longer delay is a fault.
    pub stop_patience_ms: u64,
    /// How long it may take from its start to `usiok`.
    pub start_ms: u64,
    /// How long it may take to `readyok`.
    pub ready_ms: u64,
}

impl Default for EngineConfig {
    /// No program, and patience that suits most engines.
    fn default() -> Self {
        Self {
            name: String::new(),
            launch: Launch::default(),
            council: None,
            protocol: Protocol::default(),
            options: Vec::new(),
            calibration: None,
            calibration_file: None,
            votes_as_declared: false,
            mate_threshold_cp: None,
            weight: None,
            phases: Vec::new(),
            role: Role::default(),
            noise: None,
            strength: None,
            limit: None,
            clock: None,
            stop_patience_ms: STOP_MS,
            start_ms: START_MS,
            ready_ms: READY_MS,
        }
    }
}

impl EngineConfig {
    /// The council of a file, which this program runs in a process of its own, with so much time to start and again to
    /// get ready.
    ///
    /// # Errors
    /// Those of [`Launch::this_program`].
    pub fn of_council(file: &Path, council: CouncilConfig, patience: Duration) -> io::Result<Self> {
        let patience_ms = patience.as_millis() as u64;
        Ok(Self {
            name: council.name.clone(),
            launch: Launch::this_program(vec!["council".into(), file.to_owned().into_os_string()])?,
            protocol: council.game.protocol(),
            council: Some(council),
            start_ms: patience_ms,
            ready_ms: patience_ms,
            ..Self::default()
        })
    }

    /// The member as a voter.
    pub fn voter(&self) -> Voter<'_> {
        Voter {
            name: &self.name,
            role: self.role,
            weight: self.weight,
            phases: &self.phases,
            calibration: self.calibration.as_ref(),
            noise: self.noise,
            strength: self.strength,
            brings_win_rates: self.votes_as_declared,
        }
    }
}

/// A council that plays as an engine, as its configuration describes it.
#[derive(Debug, Clone, Default)]
pub struct CouncilConfig {
    pub name: String,
    pub game: Game,
    pub members: Vec<EngineConfig>,
    /// The options of every decision.
    pub options: Options<'static>,
}
