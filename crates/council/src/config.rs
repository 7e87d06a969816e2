//! The checked configuration of a council.

use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::time::Duration;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use strum::Display;

use super::board::Game;
use crate::usi::{Go, Launch, Protocol};
use evalcurve_core::calibration::{Calibration, Reading, Situation};
use evalcurve_core::fit::CP_PER_LOGIT;
use evalcurve_core::rule::{Options, PhaseWeight, Role, Rule, Stakes, TieRule, Voter};

/// A council. The fields are the keys of the configuration file.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    #[serde(skip)]
    pub file: PathBuf,
    /// The name that GUIs show.
    pub name: String,
    /// What is played; it decides the protocol of the members.
    pub game: Game,
    /// How votes become a move.
    pub rule: Rule,
    /// Which of several moves with the same value wins.
    pub tie: TieRule,
    /// Whether announced mates outrank the rule; `None`: the default of the rule.
    pub mates: Option<bool>,
    /// The gap d of the optimal rule and of the pools, in logits.
    pub gap: f64,
    /// The noise s of members without their own, in logits.
    pub noise: f64,
    /// The number of standard errors that the corrected rule subtracts.
    pub caution: f64,
    /// The most moves that the second round of cross-examination judges.
    pub most_judged: usize,
    /// How the win rates of calibrations are read: between equals, or against the opponents of the calibration games.
    pub reading: Reading,
    /// The rating of the council minus that of its opponent, Elo points. Models that were fitted with ratings use it.
    #[serde(deserialize_with = "elo")]
    pub rating_difference: Option<f64>,
    /// The seed of random tie breaks.
    pub seed: u64,
    /// The centipawns that represent a logit of 1 in the score for the GUI; `None`: what is usual in the game.
    #[serde(deserialize_with = "centipawns")]
    pub score_scale: Option<f64>,
    /// Whether the GUI gets each decision as JSON, too. The log has it in any case.
    pub verbose: bool,
    /// Learned weights of all members, by the path of their file.
    pub weights: Option<PathBuf>,
    /// The file for all decisions, in the form that `replay` reads; `None`: none is kept.
    pub log: Option<PathBuf>,
    /// Whether to stop all members as soon as the decision of the rule can no longer change.
    pub early_stop: bool,
    pub resign: Resign,
    /// How to count a member whose move does not arrive in time.
    pub late: Late,
    /// How often a member is restarted per game.
    pub restarts: u32,
    /// How the time of the GUI is shared.
    pub time: TimePolicy,
    /// How the rule `budget` spends the time of all members.
    pub budget: Spending,
    /// The members, at least one.
    #[serde(rename = "engine", deserialize_with = "read_later")]
    pub engines: Vec<EngineConfig>,
}

/// Centipawns per logit in chess: 1 / 0.00368208, the constant of lichess.
pub const CHESS_SCALE_CP: f64 = 271.6;

impl Default for Config {
    fn default() -> Self {
        let Options { tie, mates, gap, noise, caution, most_judged, seed, .. } = Options::default();
        Self {
            file: PathBuf::new(),
            name: "evalcurve council".to_owned(),
            game: Game::default(),
            rule: Rule::default(),
            tie,
            mates,
            gap,
            noise,
            caution,
            most_judged,
            reading: Reading::Equal,
            rating_difference: None,
            seed,
            score_scale: None,
            verbose: false,
            weights: None,
            log: None,
            early_stop: false,
            resign: Resign::default(),
            late: Late::default(),
            restarts: 3,
            time: TimePolicy::default(),
            budget: Spending::default(),
            engines: Vec::new(),
        }
    }
}

/// Passes over the tables of engines, which [`Document::engines`](super::Document::engines) reads.
///
/// # Errors
/// The value is not valid TOML.
pub fn read_later<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<EngineConfig>, D::Error> {
    serde::de::IgnoredAny::deserialize(deserializer).map(|_| Vec::new())
}

/// A finite rating difference.
fn elo<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    let elo = f64::deserialize(deserializer)?;
    match elo.is_finite() {
        true => Ok(Some(elo)),
        false => Err(D::Error::custom(format!("{elo} is not valid; write a rating difference in Elo points"))),
    }
}

/// A number of centipawns above 0.
pub(super) fn centipawns<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    let cp = f64::deserialize(deserializer)?;
    match cp.is_finite() && cp > 0.0 {
        true => Ok(Some(cp)),
        false => Err(D::Error::custom(format!("{cp} is not valid; write a number of centipawns above 0"))),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Resign {
    /// When all members that answered resign.
    #[default]
    All,
    /// When more members resign than vote.
    Majority,
    /// Never while there is a legal move.
    Never,
}

/// How to count a member whose move does not arrive in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Late {
    #[default]
    Abstain,
    /// It votes for the first move of its last line.
    LastLine,
}

/// How the time that the GUI gives is shared between the members and the council.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct TimePolicy {
    /// The part of the time per move that is reserved for the council itself and the way to the GUI.
    pub margin_ms: u64,
    /// The largest share of the remaining main time to spend on one move, in (0, 1].
    #[serde(deserialize_with = "share")]
    pub share: f64,
    /// The longest search if the GUI gives no time (`go nodes`, `go depth`).
    pub longest_ms: u64,
    /// How long `usiok` waits for the options of the members.
    pub options_ms: u64,
}

impl Default for TimePolicy {
    fn default() -> Self {
        Self { margin_ms: 50, share: 0.25, longest_ms: 600_000, options_ms: 1_500 }
    }
}

fn share<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let share = f64::deserialize(deserializer)?;
    match share > 0.0 && share <= 1.0 {
        true => Ok(share),
        false => Err(D::Error::custom(format!("share is {share}; write a number above 0, up to 1"))),
    }
}

/// How the rule `budget` spends the time of all members.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Spending {
    /// Nodes per move of all members together; `None`: the time on the clock.
    pub nodes: Option<NonZeroU64>,
    /// The share of the first look, in (0, 1].
    #[serde(deserialize_with = "share")]
    pub first: f64,
    /// The threshold of [`Stakes`] of this name, as are the next three.
    pub agreed: f64,
    /// See [`Stakes`].
    pub decided: f64,
    /// See [`Stakes`].
    pub close: f64,
    /// See [`Stakes`].
    pub doubt: f64,
}

impl Default for Spending {
    fn default() -> Self {
        let Stakes { agreed, decided, close, doubt } = Stakes::default();
        Self { nodes: None, first: 0.5, agreed, decided, close, doubt }
    }
}

impl Spending {
    fn stakes(&self) -> Stakes {
        let Self { agreed, decided, close, doubt, .. } = *self;
        Stakes { agreed, decided, close, doubt }
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
    pub(super) fn within(self, left_ms: Option<u64>) -> Self {
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
    pub(super) fn is_empty(self) -> bool {
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

/// A member of a council, or an engine of a tournament.
#[derive(Debug, Clone, Default)]
pub struct EngineConfig {
    /// Its name, which no other member has.
    pub name: String,
    /// How to start it.
    pub launch: Launch,
    /// Whether it is `evalcurve council`.
    pub is_council: bool,
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

impl Config {
    /// The members as voters.
    pub fn voters(&self) -> Vec<Voter<'_>> {
        self.engines
            .iter()
            .map(|engine| Voter {
                name: &engine.name,
                role: engine.role,
                weight: engine.weight,
                phases: &engine.phases,
                calibration: engine.calibration.as_ref(),
                noise: engine.noise,
                strength: engine.strength,
            })
            .collect()
    }

    /// The centipawns that represent a logit of 1 in the score for the GUI.
    pub(crate) fn score_scale_cp(&self) -> f64 {
        self.score_scale.unwrap_or(if self.game == Game::Chess { CHESS_SCALE_CP } else { CP_PER_LOGIT })
    }

    /// The options of every decision.
    pub fn rule_options(&self) -> Options<'static> {
        Options {
            tie: self.tie,
            mates: self.mates,
            gap: self.gap,
            noise: self.noise,
            caution: self.caution,
            most_judged: self.most_judged,
            stakes: self.budget.stakes(),
            seed: self.seed,
            reading: self.reading,
            situation: match self.rating_difference {
                Some(elo) => Situation::default().with_rating_difference(elo),
                None => Situation::default(),
            },
            ..Options::default()
        }
    }
}
