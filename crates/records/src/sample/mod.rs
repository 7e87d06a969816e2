//! One position per window and side of every game: the sample table.
//!
//! From ply 30 on a game is cut into windows of 60 plies, and from each window one scored position of each side is
//! drawn (Takeuchi 2018, section 4.2.1). The draw depends on the seed, the game's identity, the colour and the window
//! alone, so that the same games give the same samples in any order, from any archive, on any number of threads.

pub mod alias;
pub mod collect;
pub mod expression;
pub mod filter;
mod merge;
mod packed;
pub mod sampler;

use std::collections::{BTreeMap, BTreeSet, HashMap};

pub use alias::Aliases;
pub use collect::{CollectOptions, Collected, PositionCount, Progress, ReadReport, collect};
pub use filter::Filter;

use crate::record::StartTime;
use evalcurve_core::types::{Color, Outcome, Termination};

/// How positions are drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SamplingOptions {
    /// The first ply that is sampled (30).
    pub from_ply: u32,
    /// Plies in a window (60).
    pub window: u32,
    /// Number of the first move of a record (1: by the record's own word where it has one, as in a FEN).
    pub start_ply: u32,
    /// Seed of the draw.
    pub seed: u64,
    /// Leave drawn games out instead of counting them half.
    pub drop_draws: bool,
    /// Draw from the analyses in the records, and call the engine that made them so, for both sides. Without it an
    /// analysis counts where the record names its engine and holds no scores of the players.
    pub annotator: Option<String>,
    /// Training data gives one position of every so many ([`DEFAULT_PACKED_EVERY`]).
    pub packed_every: u32,
}

/// Positions of training data of which one is drawn: about one a game, so that samples depend little on each other even
/// where the format does not tell one game from the next.
pub const DEFAULT_PACKED_EVERY: u32 = 100;

pub use evalcurve_core::random::DEFAULT_SEED;

impl Default for SamplingOptions {
    fn default() -> Self {
        Self {
            from_ply: 30,
            window: 60,
            start_ply: 1,
            seed: DEFAULT_SEED,
            drop_draws: false,
            annotator: None,
            packed_every: DEFAULT_PACKED_EVERY,
        }
    }
}

/// A name by its number in [`Names`].
pub type NameId = u32;

/// Every name once.
#[derive(Debug, Clone, Default)]
pub struct Names {
    list: Vec<String>,
    index: HashMap<String, NameId>,
}

impl Names {
    /// The number of `name`, which is added if it is new.
    pub fn intern(&mut self, name: &str) -> NameId {
        if let Some(&id) = self.index.get(name) {
            return id;
        }
        let id = self.list.len() as NameId;
        self.list.push(name.to_owned());
        self.index.insert(name.to_owned(), id);
        id
    }

    /// The name of a number; empty for a number that was never given.
    pub fn get(&self, id: NameId) -> &str {
        self.list.get(id as usize).map_or("", String::as_str)
    }

    /// Gives every name the one that `map` says.
    pub fn rename(&self, mut map: impl FnMut(&str) -> String) -> (Self, Vec<NameId>) {
        let mut renamed = Self::default();
        let ids = self.list.iter().map(|name| renamed.intern(&map(name))).collect();
        (renamed, ids)
    }
}

/// What the samples of one game have in common.
#[derive(Debug, Clone, PartialEq)]
pub struct GameInfo {
    /// Identity (see [`crate::record::identity`]).
    pub id: u64,
    /// Players, Black first.
    pub players: [NameId; 2],
    /// Their ratings, Black first.
    pub ratings: [Option<f64>; 2],
    /// When it began.
    pub start_time: Option<StartTime>,
    /// Time control as the record writes it, empty where unknown.
    pub time_control: NameId,
    /// How it ended.
    pub termination: Termination,
    /// The result for Black.
    pub black_outcome: Outcome,
    /// File, or archive and member.
    pub source: NameId,
    /// The game's first line in it, from 1.
    pub line: u64,
}

/// One drawn position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// Index of the game in [`SampleTable::games`].
    pub game: u32,
    /// Who gave the score.
    pub engine: NameId,
    /// Whom it played.
    pub opponent: NameId,
    /// The side to move, which is the engine's.
    pub color: Color,
    /// Number of the move that was played in the position.
    pub ply: u32,
    /// Number of the window, from 0.
    pub window: u32,
    /// Centipawns in the engine's view.
    pub score_cp: i32,
    /// A mate: the record says so, or the score lies beyond the engine's mate threshold.
    pub mate: bool,
    /// The game's result for the engine.
    pub outcome: Outcome,
    /// Material on the board, 9Q + 5R + 3B + 3N + P of both sides, where it was counted (chess).
    pub material: Option<u16>,
    /// Line of the score in the source, from 1.
    pub line: u64,
}

/// The samples of many games, ordered by start time, identity and ply; behind them those of HCPE and PSV, by file and place.
#[derive(Debug, Clone, Default)]
pub struct SampleTable {
    /// Engine, player, source and time control names.
    pub names: Names,
    /// The games that gave samples.
    pub games: Vec<GameInfo>,
    /// The samples, those of one game together.
    pub samples: Vec<Sample>,
    /// The ratings are ours, since the records hold none.
    pub bradley_terry: bool,
    /// The names in the records of engines that an alias renamed, by the new name.
    pub aliases: BTreeMap<String, BTreeSet<String>>,
}

impl SampleTable {
    /// Engines with samples, by name.
    pub fn engines(&self) -> Vec<NameId> {
        let mut seen: Vec<NameId> = Vec::new();
        let mut known = vec![false; self.names.list.len()];
        for sample in &self.samples {
            if let Some(flag) = known.get_mut(sample.engine as usize).filter(|f| !**f) {
                *flag = true;
                seen.push(sample.engine);
            }
        }
        seen.sort_by(|a, b| self.names.get(*a).cmp(self.names.get(*b)));
        seen
    }

    /// The samples of one engine, in order.
    pub fn of_engine(&self, engine: NameId) -> impl Iterator<Item = &Sample> {
        self.samples.iter().filter(move |s| s.engine == engine)
    }

    /// The game of a sample.
    pub fn game(&self, sample: &Sample) -> Option<&GameInfo> {
        self.games.get(sample.game as usize)
    }

    /// Gives engines and players the names of `aliases`.
    pub fn apply_aliases(&mut self, aliases: &Aliases) {
        if aliases.is_empty() {
            return;
        }
        let mut players = vec![false; self.names.list.len()];
        let mut mark = |id: NameId| {
            if let Some(flag) = players.get_mut(id as usize) {
                *flag = true;
            }
        };
        self.games.iter().for_each(|g| g.players.iter().for_each(|&p| mark(p)));
        self.samples.iter().for_each(|s| mark(s.engine));
        // sources and time controls are not engines, even where one is written like the other
        let old = std::mem::take(&mut self.names);
        let (mut names, new_id) = old.rename(str::to_owned);
        let mut alias_id: Vec<NameId> = Vec::with_capacity(old.list.len());
        for (raw, is_player) in old.list.iter().zip(&players) {
            let name = if *is_player { aliases.resolve(raw) } else { raw.clone() };
            if name != *raw {
                self.aliases.entry(name.clone()).or_default().insert(raw.clone());
            }
            alias_id.push(names.intern(&name));
        }
        let alias = |id: NameId| alias_id.get(id as usize).copied().unwrap_or(id);
        let plain = |id: NameId| new_id.get(id as usize).copied().unwrap_or(id);
        for game in &mut self.games {
            game.players = game.players.map(alias);
            game.source = plain(game.source);
            game.time_control = plain(game.time_control);
        }
        for sample in &mut self.samples {
            sample.engine = alias(sample.engine);
            sample.opponent = alias(sample.opponent);
        }
        self.names = names;
    }

    /// Keeps the samples that pass `filter`. Gives the number of games that lost all of theirs.
    pub fn apply_filter(&mut self, filter: &Filter) -> u64 {
        if filter.is_empty() {
            return 0;
        }
        let mut samples = std::mem::take(&mut self.samples);
        samples.retain(|s| self.game(s).is_some_and(|game| filter.accepts(&self.names, game, s)));
        self.samples = samples;
        let mut used = vec![false; self.games.len()];
        for sample in &self.samples {
            if let Some(flag) = used.get_mut(sample.game as usize) {
                *flag = true;
            }
        }
        let mut new_index = Vec::with_capacity(used.len());
        let mut next = 0u32;
        for flag in &used {
            new_index.push(next);
            next += u32::from(*flag);
        }
        let before = self.games.len() as u64;
        let mut keep = used.iter();
        self.games.retain(|_| keep.next().copied().unwrap_or(false));
        for sample in &mut self.samples {
            sample.game = new_index.get(sample.game as usize).copied().unwrap_or(0);
        }
        before - self.games.len() as u64
    }
}

/// The engine of a sample and what it may be told about it: for callers that go through engines one by one.
#[derive(Debug, Clone)]
pub struct EngineSamples<'a> {
    /// The engine.
    pub id: NameId,
    /// Its name.
    pub name: &'a str,
    /// Its samples, in the table's order.
    pub samples: Vec<Sample>,
}

/// The table split by engine, engines by name.
pub fn by_engine(table: &SampleTable) -> Vec<EngineSamples<'_>> {
    let engines = table.engines();
    let mut slot = vec![usize::MAX; table.names.list.len()];
    for (i, &engine) in engines.iter().enumerate() {
        slot[engine as usize] = i;
    }
    let mut split: Vec<EngineSamples<'_>> =
        engines.iter().map(|&e| EngineSamples { id: e, name: table.names.get(e), samples: Vec::new() }).collect();
    for sample in &table.samples {
        if let Some(engine) = split.get_mut(slot[sample.engine as usize]) {
            engine.samples.push(*sample);
        }
    }
    split
}
