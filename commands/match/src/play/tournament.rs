//! The tournament file.

use std::path::{Path, PathBuf};

use evalcurve_engine::usi::Position;
use evalcurve_engine::{Board, ConfigError, ConfigText, EngineConfig, Game, Limit, PositionFault, ReadCouncil};
use evalcurve_words::language::Text;
use evalcurve_words::text;
use evalcurve_words::text::shortened;
use serde::{Deserialize, Serialize};

use crate::match_stats::SprtOptions;

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
    /// Whether chess is Chess960: engines get `UCI_Chess960`, and castle by taking the rook.
    pub chess960: bool,
    /// Round robin or gauntlet.
    pub format: Format,
    /// Pairs of games of every two engines that meet.
    pub pairs: u32,
    /// Whether the user gave their number. Without one, a sequential test has as many as it needs.
    #[serde(skip)]
    pub pairs_given: bool,
    /// Games at the same time; `None`: one per processor.
    pub concurrency: Option<usize>,
    /// The processors that engines are bound to, one for each game at the same time; `None`: the system chooses.
    pub affinity: Option<Processors>,
    /// The seed of openings.
    pub seed: u64,
    /// A game of this many plies is a draw; 0: no limit. `None`: what is usual in the game.
    pub max_plies: Option<u32>,
    /// Whether engines keep running after a pair of games. They start anew by default, so that a pair depends on
    /// nothing but its opening.
    pub keep_engines: bool,
    /// How often a pair is played again in which an engine lost by the clock or by breaking off.
    pub replays: u32,
    /// How much later than its time a move may arrive, in milliseconds.
    pub margin_ms: u64,
    /// How long to wait for a move of an engine that has a limit without time, in milliseconds.
    pub patience_ms: u64,
    /// Where games begin.
    pub openings: Openings,
    /// Ends games that are decided; `None`: all games are played to their ends.
    pub adjudication: Option<Adjudication>,
    /// Ends games that a side has lost by its score.
    pub resign: Option<ResignRule>,
    /// Ends games that are drawn by their scores.
    pub draw: Option<DrawRule>,
    /// Stops the games of two engines when the test decides.
    pub sprt: Option<SprtOptions>,
    /// The engines, at least two.
    #[serde(rename = "engine", deserialize_with = "evalcurve_engine::read_later")]
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

/// A game is lost by the side that moved last with a negative score after so many scores in a row, as in fastchess.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ResignRule {
    /// Centipawns: of this side it is behind by as many or more; of two-sided rules, both see them.
    pub score: u32,
    /// Scores in a row, of each engine that must see it.
    #[serde(default = "one")]
    pub moves: u32,
    /// Whether both engines must see it.
    #[serde(default)]
    pub two_sided: bool,
    /// The first move after which a game may end so.
    #[serde(default)]
    pub from_move: u32,
}

/// A game is drawn after so many scores in a row near 0, as in fastchess.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct DrawRule {
    /// The largest number of centipawns, of either sign.
    pub score: u32,
    /// Scores in a row, of each engine; in chess without a capture or a pawn move.
    #[serde(default = "one")]
    pub moves: u32,
    /// The first move after which a game may end so.
    #[serde(default)]
    pub from_move: u32,
}

fn one() -> u32 {
    1
}

/// Processors by their numbers, as `0,2,5-7`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Processors(pub(crate) Vec<usize>);

/// The largest number of a processor.
const MOST_PROCESSORS: usize = 4_096;

impl TryFrom<String> for Processors {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let part = |part: &str| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let [first, last] = [first, last].map(|number| number.trim().parse::<usize>().ok());
            first.zip(last).filter(|(first, last)| first <= last && *last < MOST_PROCESSORS)
        };
        let parts: Option<Vec<(usize, usize)>> = text.split(',').map(part).collect();
        let parts = parts.filter(|parts| parts.len() <= MOST_PROCESSORS).ok_or_else(|| {
            let text = shortened(&text, 80);
            format!("'{text}' is no list of processors; write their numbers, such as 0,2,5-7")
        })?;
        Ok(Self(parts.into_iter().flat_map(|(first, last)| first..=last).collect()))
    }
}

impl Default for Tournament {
    fn default() -> Self {
        Self {
            file: PathBuf::new(),
            name: "evalcurve play".to_owned(),
            game: Game::default(),
            chess960: false,
            format: Format::default(),
            pairs: 50,
            pairs_given: true,
            concurrency: None,
            affinity: None,
            seed: 1,
            max_plies: None,
            keep_engines: false,
            replays: 0,
            margin_ms: 100,
            patience_ms: 300_000,
            openings: Openings::default(),
            adjudication: None,
            resign: None,
            draw: None,
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
    pub fn read(path: &Path, read_council: ReadCouncil) -> Result<Self, ConfigError> {
        Self::parse(&ConfigText::open(path)?, read_council)
    }

    /// The same from a text.
    ///
    /// # Errors
    /// As [`Tournament::read`].
    pub fn parse(text: &ConfigText, read_council: ReadCouncil) -> Result<Self, ConfigError> {
        let document = text.document()?;
        let mut tournament: Self = document.rest()?;
        tournament.engines = document.engines(tournament.game, None, read_council)?;
        tournament.openings.file = tournament.openings.file.map(|file| text.path(file));
        tournament.checked(text)
    }

    /// Why the engines cannot be bound to the processors of `affinity`.
    pub fn affinity_problem(&self) -> Option<Text> {
        let (count, games) = (self.affinity.as_ref()?.0.len(), self.concurrency.unwrap_or(1));
        if !cfg!(target_os = "linux") {
            return Some(text!("affinity binds engines to processors on Linux alone; leave it out"));
        }
        (count < games)
            .then(|| text!("affinity has {count} processors for {games} games at the same time; write as many"))
    }

    /// The board of a position in the notation of the game, and what is wrong with the position.
    pub(crate) fn board(&self, position: &Position) -> (Board, Option<PositionFault>) {
        if self.chess960 { Board::chess960(position) } else { Board::new(self.game, position) }
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
