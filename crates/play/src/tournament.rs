//! The tournament file.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::problem;
use evalcurve_council::{ConfigError, ConfigText, EngineConfig, Game, Limit};
use evalcurve_records::match_stats::{EloModel, SprtOptions};

/// A tournament. The fields are the keys of the file.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Tournament {
    #[serde(skip)]
    pub file: PathBuf,
    /// The name in records.
    pub name: String,
    /// Shogi, 5x5 shogi or chess.
    pub game: Game,
    /// Round robin or gauntlet.
    pub format: Format,
    /// Pairs of games of every two engines that meet.
    pub pairs: u32,
    /// Whether the user gave their number. Without one, a sequential test has as many as it needs.
    #[serde(skip)]
    pub pairs_given: bool,
    /// Games at the same time; `None`: one per processor.
    pub concurrency: Option<usize>,
    /// The seed of openings.
    pub seed: u64,
    /// A game of this many plies is a draw; 0: no limit. `None`: what is usual in the game.
    pub max_plies: Option<u32>,
    /// Whether engines keep running after a pair of games. They start anew by default, so that a pair depends on
    /// nothing but its opening.
    pub keep_engines: bool,
    /// How much later than its time a move may arrive, in milliseconds.
    pub margin_ms: u64,
    /// How long to wait for a move of an engine that has a limit without time, in milliseconds.
    pub patience_ms: u64,
    /// Where games begin.
    pub openings: Openings,
    /// Ends games that are decided; `None`: all games are played to their ends.
    pub adjudication: Option<Adjudication>,
    /// Stops the games of two engines when the test decides.
    pub sprt: Option<SprtBounds>,
    /// The engines, at least two.
    #[serde(rename = "engine", deserialize_with = "evalcurve_council::read_later")]
    pub engines: Vec<EngineConfig>,
}

/// Who plays whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// Everyone against everyone.
    #[default]
    RoundRobin,
    /// The first engine against every other.
    Gauntlet,
}

/// Where games begin.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Openings {
    pub file: Option<PathBuf>,
    /// The order of the openings in the file.
    pub order: Order,
    /// The first opening of the file to use, from 1.
    pub start: Option<usize>,
    /// Random plies from the initial position if there is no file; the most plies of an opening to play if there is.
    pub plies: Option<u32>,
}

/// The order of openings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    #[default]
    File,
    /// Shuffled by the seed.
    Random,
}

/// When a game is decided.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Adjudication {
    /// The calibrated win rate of one side, above ½ and below 1, on which both engines agree.
    pub win_rate: f64,
    /// For how many moves of each engine.
    pub moves: u32,
}

/// A sequential test between the two engines of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SprtBounds {
    /// Elo difference of the null hypothesis.
    pub elo0: f64,
    /// Elo difference of the alternative.
    pub elo1: f64,
    /// Probability of accepting `elo1` if `elo0` is true.
    #[serde(default = "five_percent")]
    pub alpha: f64,
    /// Probability of accepting `elo0` if `elo1` is true.
    #[serde(default = "five_percent")]
    pub beta: f64,
    /// Whether the bounds are normalised Elo.
    #[serde(default)]
    pub normalized: bool,
}

fn five_percent() -> f64 {
    0.05
}

impl From<SprtBounds> for SprtOptions {
    fn from(bounds: SprtBounds) -> Self {
        let SprtBounds { elo0, elo1, alpha, beta, normalized } = bounds;
        let model = if normalized { EloModel::Normalized } else { EloModel::Logistic };
        Self { elo0, elo1, alpha, beta, model }
    }
}

impl Default for Tournament {
    fn default() -> Self {
        Self {
            file: PathBuf::new(),
            name: "evalcurve play".to_owned(),
            game: Game::default(),
            format: Format::default(),
            pairs: 50,
            pairs_given: true,
            concurrency: None,
            seed: 1,
            max_plies: None,
            keep_engines: false,
            margin_ms: 100,
            patience_ms: 300_000,
            openings: Openings::default(),
            adjudication: None,
            sprt: None,
            engines: Vec::new(),
        }
    }
}

impl Tournament {
    /// Reads a tournament. Paths in it are relative to its own folder.
    ///
    /// # Errors
    /// The file cannot be read, or it has unknown keys or invalid values. The error has the line and a remedy.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let text = ConfigText::open(path)?;
        let document = text.document()?;
        let mut tournament: Self = document.rest()?;
        tournament.engines = document.engines(tournament.game, None)?;
        tournament.openings.file = tournament.openings.file.map(|file| text.path(file));
        tournament.checked(&text)
    }

    /// Checks a tournament between the engines of a file.
    ///
    /// # Errors
    /// What cannot be played and why, with the line and a remedy.
    pub fn checked(mut self, text: &ConfigText) -> Result<Self, ConfigError> {
        text.file().clone_into(&mut self.file);
        self.pairs_given = text.span("pairs").is_some();
        problem::check(&self, text)?;
        Ok(self)
    }

    /// The engines that meet, as places in the list, the first of the two first.
    pub fn encounters(&self) -> Vec<(usize, usize)> {
        let all = |first: usize| (first + 1..self.engines.len()).map(move |second| (first, second));
        match self.format {
            Format::RoundRobin => (0..self.engines.len()).flat_map(all).collect(),
            Format::Gauntlet => all(0).collect(),
        }
    }

    /// Whether games are played until the sequential test decides.
    pub fn is_unbounded(&self) -> bool {
        self.sprt.is_some() && !self.pairs_given
    }

    /// Whether any engine searches by time, so that games cannot be repeated.
    pub fn is_timed(&self) -> bool {
        let timed = |engine: &EngineConfig| {
            engine.clock.is_some() || matches!(engine.limit, Some(Limit::MoveTime(_) | Limit::Byoyomi(_)))
        };
        self.engines.iter().any(timed)
    }

    /// The most plies of a game; `None`: no limit.
    pub fn most_plies(&self) -> Option<u32> {
        let usual = match self.game {
            Game::Shogi => 512,
            Game::Minishogi => 300,
            _ => 0,
        };
        Some(self.max_plies.unwrap_or(usual)).filter(|plies| *plies > 0)
    }

    /// The limit of an engine as text, for records; empty for a council that decides by the limits of its members.
    pub(crate) fn limit_text(engine: &EngineConfig) -> String {
        match (engine.clock, engine.limit) {
            (Some(clock), _) => clock.to_string(),
            (None, Some(limit)) => limit.to_string(),
            (None, None) => String::new(),
        }
    }
}
