//! The sample table: one position per window and side of each game.
//!
//! From ply 30 on, a game is cut into windows of 60 plies, and one scored position of each side is drawn from each
//! window (Takeuchi 2018, section 4.2.1). The draw depends only on the seed, the identity of the game, the colour and
//! the window. The same games therefore give the same samples in any order, from any archive and on any number of
//! threads.

pub mod alias;
pub mod collect;
mod copies;
mod end;
pub mod expression;
mod found;
mod merge;
mod packed;
mod positions;
mod report;
mod rows;
pub mod sampler;
mod terminations;
mod view;

use std::collections::{BTreeMap, BTreeSet};
use std::hash::BuildHasher;

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use rayon::prelude::*;

pub use alias::Aliases;
pub use collect::{CollectOptions, Collected, PositionCount, Progress, ReadReport, collect, collect_with_rows};
pub use copies::{LEAST_PLIES, Moves, copies};
pub use end::{GOES_ON, GameEnd, Level, RULES, RUNS, levels_of};
pub use expression::{Condition, Expression};
pub use positions::Positions;
pub use rows::Rows;
pub use terminations::Terminations;
pub use view::{View, turn_scores};

use crate::record::StartTime;
use evalcurve_calibration::types::{Color, Declared, Outcome, Termination};

/// How positions are drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SamplingOptions {
    /// The first ply that is sampled (default 30).
    pub from_ply: u32,
    /// Plies per window (default 60).
    pub window: u32,
    /// Seed of the draw.
    pub seed: u64,
    /// Leave drawn games out instead of counting them as half a win.
    pub drop_draws: bool,
    /// Draw from the analyses in the records, for both sides, and give their engine this name. Without it, an analysis
    /// counts only if the record names its engine and holds no scores of the players.
    pub annotator: Option<String>,
    /// One position out of this many is drawn from training data (default [`DEFAULT_PACKED_EVERY`]).
    pub packed_every: u32,
    /// How a game must have ended.
    pub terminations: Terminations,
    /// What makes two games one.
    pub duplicates: Duplicates,
    /// The point of view of scores that only a convention gives.
    pub view: View,
    /// Draw from all positions, scored or not, and keep how they are reached ([`Collected::positions`]): an engine will
    /// score them.
    pub unscored: bool,
}

/// What makes two games one. A game in two files always counts once: the one with equal moves, names and start time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Duplicates {
    /// Also equal moves of [`LEAST_PLIES`] plies or more, whatever the scores, the names and the start time.
    #[default]
    ByMoves,
    /// Nothing else.
    ByIdentity,
}

/// Default of [`SamplingOptions::packed_every`]: about one position per game, so that samples depend little on each
/// other even if the format does not separate games.
pub const DEFAULT_PACKED_EVERY: u32 = 100;

pub use evalcurve_words::random::DEFAULT_SEED;

impl Default for SamplingOptions {
    fn default() -> Self {
        Self {
            from_ply: 30,
            window: 60,
            seed: DEFAULT_SEED,
            drop_draws: false,
            annotator: None,
            packed_every: DEFAULT_PACKED_EVERY,
            terminations: Terminations::default(),
            duplicates: Duplicates::default(),
            view: View::default(),
            unscored: false,
        }
    }
}

/// Longest name of a player or an engine in bytes. Every message, table and figure shows it.
pub const MOST_NAME: usize = 200;

/// The number of a name in [`Names`].
pub type NameId = u32;

/// A list of distinct names, or of other texts. They lie behind each other, since millions of them would each take an
/// allocation.
#[derive(Debug, Clone, Default)]
pub struct Names {
    all: String,
    /// Where each name ends.
    ends: Vec<usize>,
    /// The numbers of the names, by their hash.
    index: HashTable<NameId>,
    hasher: RandomState,
}

impl Names {
    /// The number of `name`; a new name is added.
    pub fn intern(&mut self, name: &str) -> NameId {
        let Self { all, ends, index, hasher } = self;
        let hash = hasher.hash_one(name);
        if let Some(&id) = index.find(hash, |&id| name_at(all, ends, id) == Some(name)) {
            return id;
        }
        let id = ends.len() as NameId;
        all.push_str(name);
        ends.push(all.len());
        index.insert_unique(hash, id, |&id| hasher.hash_one(name_at(all, ends, id).unwrap_or_default()));
        id
    }

    /// How many names there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no name.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The name with this number; empty for an unknown number.
    pub fn get(&self, id: NameId) -> &str {
        name_at(&self.all, &self.ends, id).unwrap_or_default()
    }

    /// The number of each name in alphabetical order: ids depend on the order of reading, and with them the last digits
    /// of a fit of several engines would.
    pub fn numbers(&self) -> Vec<u32> {
        let mut ids: Vec<NameId> = (0..self.len() as NameId).collect();
        ids.sort_by_key(|id| self.get(*id));
        let mut numbers = vec![0; ids.len()];
        ids.into_iter().zip(0..).for_each(|(id, number)| numbers[id as usize] = number);
        numbers
    }
}

fn name_at<'n>(all: &'n str, ends: &[usize], id: NameId) -> Option<&'n str> {
    let end = *ends.get(id as usize)?;
    let start = id.checked_sub(1).map_or(0, |before| ends[before as usize]);
    all.get(start..end)
}

/// The data that all samples of one game share.
#[derive(Debug, Clone, PartialEq)]
pub struct GameInfo {
    /// Identity of the game (see [`crate::record::identity`]).
    pub id: u64,
    /// The players, Black first.
    pub players: [NameId; 2],
    /// Ratings of the players, Black first.
    pub ratings: [Option<f64>; 2],
    /// When the game began.
    pub start_time: Option<StartTime>,
    /// Time control as the record writes it; empty if unknown.
    pub time_control: NameId,
    /// How the game ended.
    pub termination: Termination,
    pub black_outcome: Outcome,
    /// Nothing says who had Black. The colours of its samples only keep its players apart.
    pub without_colors: bool,
    /// The file, or the archive and member.
    pub source: NameId,
    /// The first line of the game in the source, from 1.
    pub line: u64,
    /// How its scores end, if all of them were read.
    pub end: Option<GameEnd>,
    /// A hash of its start position and moves, if it has [`LEAST_PLIES`] or more.
    pub moves: Option<u64>,
    /// Of its comments that are scores or look like scores, percent that were not read.
    pub unread: u8,
}

/// One drawn position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// Index of the game in [`SampleTable::games`].
    pub game: u32,
    /// The engine that gave the score.
    pub engine: NameId,
    /// The opponent of the engine.
    pub opponent: NameId,
    /// The side to move, which is the side of the engine.
    pub color: Color,
    /// Number of the move that was played in the position.
    pub ply: u32,
    /// The window, from 0.
    pub window: u32,
    /// The score in centipawns, in the view of the engine.
    pub score_cp: i32,
    /// The opponent's score of the next position, in its own view, where it gave one that is no mate.
    pub reply_cp: Option<i32>,
    /// The rates of wins, draws and losses that the engine declared with the score.
    pub declared: Option<Declared>,
    /// The score is a mate: the record marks it so, or it reaches the mate threshold of the engine.
    pub mate: bool,
    /// The outcome for the engine.
    pub outcome: Outcome,
    /// Material on the board, 9Q + 5R + 3B + 3N + P of both sides, if it was counted (chess only).
    pub material: Option<u16>,
    /// Line of the score in the source, from 1.
    pub line: u64,
}

/// The samples of many games, ordered by start time, identity and ply. Samples from HCPE and PSV files follow, ordered
/// by file and position in the file.
#[derive(Debug, Clone, Default)]
pub struct SampleTable {
    /// Engine, player, source and time control names.
    pub names: Names,
    /// The games that gave samples.
    pub games: Vec<GameInfo>,
    /// The samples; those of one game are adjacent.
    pub samples: Vec<Sample>,
    /// The ratings are Bradley-Terry estimates, because the records hold none.
    pub bradley_terry: bool,
    /// Rows of a table without games are here, each as a game of its own.
    pub rows_as_games: bool,
    /// The games are chess: their records are, or the table says so, or their material was counted.
    pub chess: bool,
    /// The original names of renamed engines, by the new name.
    pub aliases: BTreeMap<String, BTreeSet<String>>,
    /// Games in which the sign of an engine's scores was turned.
    pub turned: BTreeMap<NameId, u64>,
    /// The size to which an engine's larger scores were cut.
    pub cut_at: BTreeMap<NameId, u32>,
}

impl SampleTable {
    /// The engines with samples, sorted by name.
    pub fn engines(&self) -> Vec<NameId> {
        let mut has_samples = vec![false; self.names.len()];
        for sample in &self.samples {
            mark(&mut has_samples, sample.engine);
        }
        let mut engines: Vec<NameId> = (0..).zip(&has_samples).filter(|(_, has)| **has).map(|(id, _)| id).collect();
        engines.sort_by(|a, b| self.names.get(*a).cmp(self.names.get(*b)));
        engines
    }

    /// The samples of one engine, in the order of the table.
    pub fn of_engine(&self, engine: NameId) -> impl Iterator<Item = &Sample> {
        self.samples.iter().filter(move |s| s.engine == engine)
    }

    /// The game of a sample.
    pub fn game(&self, sample: &Sample) -> Option<&GameInfo> {
        self.games.get(sample.game as usize)
    }

    /// Whether the engine of a sample annotates the game of others. A player may have its name.
    pub fn annotates(&self, sample: &Sample) -> bool {
        let players = self.game(sample).map(|game| game.players);
        self.names.get(sample.opponent).is_empty() && players.is_some_and(|players| players != [sample.engine; 2])
    }

    /// Puts the samples into the order in which records are read, whatever the order of the tables: games by start time
    /// (those without one last) and identity, and their samples by ply and line, then by what else they say.
    pub fn sort(&mut self) {
        let mut samples = std::mem::take(&mut self.samples);
        let key = |sample: &Sample| {
            let game = self.game(sample);
            let annotator = self.annotates(sample).then(|| self.names.get(sample.engine));
            let start_time = game.and_then(|g| g.start_time);
            (start_time.is_none(), start_time, game.map(|g| g.id), annotator, sample.ply)
        };
        // for samples of several tables without plies
        let more = |sample: &Sample| {
            let engine = self.names.get(sample.engine);
            let rates = sample.declared.map(<[u16; 3]>::from);
            let rest = (sample.outcome, sample.reply_cp, sample.mate, sample.material, rates, sample.game);
            (sample.line, sample.color, engine, sample.window, sample.score_cp, rest)
        };
        let order = |a: &Sample, b: &Sample| key(a).cmp(&key(b)).then_with(|| more(a).cmp(&more(b)));
        if !samples.is_sorted_by(|a, b| order(a, b).is_le()) {
            // without a buffer of their size, so that the order must be complete
            samples.par_sort_unstable_by(order);
        }
        self.samples = samples;
    }

    /// Renames engines and players by `aliases`.
    pub fn apply_aliases(&mut self, aliases: &Aliases) {
        if aliases.is_empty() {
            return;
        }
        // sources and time controls are not engines, even if one has the same name
        let mut is_player = vec![false; self.names.len()];
        self.games.iter().flat_map(|g| g.players).for_each(|id| mark(&mut is_player, id));
        self.samples.iter().for_each(|s| mark(&mut is_player, s.engine));
        let mut alias_ids: Vec<NameId> = (0..self.names.len() as NameId).collect();
        for (id, _) in is_player.iter().enumerate().filter(|(_, is)| **is) {
            let raw = self.names.get(id as NameId).to_owned();
            let name = aliases.resolve(&raw);
            if name != raw {
                alias_ids[id] = self.names.intern(&name);
                self.aliases.entry(name).or_default().insert(raw);
            }
        }
        let alias = |id: NameId| alias_ids.get(id as usize).copied().unwrap_or(id);
        for game in &mut self.games {
            game.players = game.players.map(alias);
        }
        for sample in &mut self.samples {
            sample.engine = alias(sample.engine);
            sample.opponent = alias(sample.opponent);
        }
    }

    /// Keeps the samples that meet all `conditions`; a sample that lacks a compared value is removed. Returns the
    /// number of games that lost all their samples.
    pub fn apply_filter(&mut self, conditions: &[Condition]) -> u64 {
        if conditions.is_empty() {
            return 0;
        }
        let (names, games) = (&self.names, &self.games);
        self.samples.retain(|sample| {
            let game = games.get(sample.game as usize);
            game.is_some_and(|game| conditions.iter().all(|c| c.holds(names, game, sample) == Some(true)))
        });
        let mut used = vec![false; self.games.len()];
        self.samples.iter().for_each(|s| mark(&mut used, s.game));
        let new_index: Vec<u32> = used
            .iter()
            .scan(0, |next, used| {
                let index = *next;
                *next += u32::from(*used);
                Some(index)
            })
            .collect();
        let before = self.games.len() as u64;
        let mut used = used.iter();
        self.games.retain(|_| used.next().copied().unwrap_or(false));
        for sample in &mut self.samples {
            sample.game = new_index.get(sample.game as usize).copied().unwrap_or(0);
        }
        before - self.games.len() as u64
    }
}

fn mark(flags: &mut [bool], index: u32) {
    if let Some(flag) = flags.get_mut(index as usize) {
        *flag = true;
    }
}

/// One engine with its samples.
#[derive(Debug, Clone)]
pub struct EngineSamples<'a> {
    /// The number of the engine.
    pub id: NameId,
    /// The name of the engine.
    pub name: &'a str,
    /// Its samples, in the order of the table.
    pub samples: Vec<Sample>,
}

/// Where the samples of each engine are in a table, engines sorted by name.
#[derive(Debug)]
pub struct ByEngine<'a> {
    table: &'a SampleTable,
    engines: Vec<NameId>,
    /// Where those of each engine begin in `order`, and the end.
    starts: Vec<usize>,
    /// The places of the samples, in the order of the table.
    order: Vec<u32>,
}

impl<'a> ByEngine<'a> {
    /// Sorts the samples of a table by engine.
    pub fn new(table: &'a SampleTable) -> Self {
        let engines = table.engines();
        let mut slot = vec![usize::MAX; table.names.len()];
        engines.iter().enumerate().for_each(|(i, engine)| slot[*engine as usize] = i);
        let mut starts = vec![0; engines.len() + 1];
        table.samples.iter().for_each(|sample| starts[slot[sample.engine as usize] + 1] += 1);
        (0..engines.len()).for_each(|i| starts[i + 1] += starts[i]);
        let (mut next, mut order) = (starts.clone(), vec![0; table.samples.len()]);
        for (sample, place) in table.samples.iter().zip(0..) {
            let next = &mut next[slot[sample.engine as usize]];
            order[*next] = place;
            *next += 1;
        }
        Self { table, engines, starts, order }
    }

    /// The engines.
    pub fn ids(&self) -> impl Iterator<Item = NameId> {
        self.engines.iter().copied()
    }

    /// How many engines there are.
    pub fn len(&self) -> usize {
        self.engines.len()
    }

    /// Whether there is no engine.
    pub fn is_empty(&self) -> bool {
        self.engines.is_empty()
    }

    /// How many samples an engine has.
    pub fn samples(&self, engine: usize) -> usize {
        self.starts[engine + 1] - self.starts[engine]
    }

    /// The name of an engine.
    pub fn name(&self, engine: usize) -> &'a str {
        self.table.names.get(self.engines[engine])
    }

    /// The samples of an engine, in the order of the table.
    pub fn samples_of(&self, engine: usize) -> impl Iterator<Item = &'a Sample> {
        let places = &self.order[self.starts[engine]..self.starts[engine + 1]];
        places.iter().map(|place| &self.table.samples[*place as usize])
    }

    /// An engine with its samples.
    pub fn of(&self, engine: usize) -> EngineSamples<'a> {
        let samples = self.samples_of(engine).copied().collect();
        EngineSamples { id: self.engines[engine], name: self.name(engine), samples }
    }
}

/// Splits the table by engine, sorted by name.
pub fn by_engine(table: &SampleTable) -> Vec<EngineSamples<'_>> {
    let split = ByEngine::new(table);
    (0..split.len()).map(|engine| split.of(engine)).collect()
}
