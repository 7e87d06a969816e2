//! Games of tables that are in them again under another identity: tables hold no moves, so their rows are compared.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use crate::record::GameHash;
use crate::sample::{Sample, SampleTable};

/// Fewest rows, and fewest different scores, of a game that is compared: less can be equal by chance ...
const LEAST_ROWS: u32 = 4;
const LEAST_SCORES: usize = 3;
/// ... unless more than this share of the longer games are copies: then shorter ones are, too.
const OFTEN: f64 = 0.05;

/// What was removed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Copies {
    pub games: u64,
    pub rows: u64,
    /// The file and the line of the first row.
    pub file: String,
    pub line: u64,
}

/// The rows of a game in any order: their number, the sum of their hashes, and their first scores that differ.
#[derive(Debug, Default)]
struct Rows {
    count: u32,
    digest: u64,
    scores: Vec<i32>,
}

/// Removes the samples from `from` on of games that have the engines, opponents, plies, scores and results of another
/// game. The earliest counts, whatever the order of the files.
pub(super) fn drop_copies(table: &mut SampleTable, from: usize) -> Option<Copies> {
    let mut games: HashMap<u32, Rows> = HashMap::new();
    for sample in &table.samples[from..] {
        let rows = games.entry(sample.game).or_default();
        rows.count += 1;
        rows.digest = rows.digest.wrapping_add(digest(table, sample));
        if rows.scores.len() < LEAST_SCORES && !rows.scores.contains(&sample.score_cp) {
            rows.scores.push(sample.score_cp);
        }
    }
    let is_long = |rows: &Rows| rows.count >= LEAST_ROWS && rows.scores.len() == LEAST_SCORES;
    let long = || games.values().filter(|rows| is_long(rows)).map(|rows| (rows.count, rows.digest));
    let (all, different) = (long().count(), long().collect::<HashSet<_>>().len());
    if (all - different) as f64 <= OFTEN * all as f64 {
        games.retain(|_, rows| is_long(rows));
    }
    let order = |game: u32| table.games.get(game as usize).map(|g| (g.start_time.is_none(), g.start_time, g.id, game));
    let mut kept: HashMap<(u32, u64), u32> = HashMap::new();
    for (game, rows) in &games {
        match kept.entry((rows.count, rows.digest)) {
            Entry::Vacant(free) => *free.insert(*game),
            Entry::Occupied(mut other) if order(*game) < order(*other.get()) => other.insert(*game),
            Entry::Occupied(other) => *other.get(),
        };
    }
    let counts = |game: &u32| games.get(game).is_none_or(|rows| kept[&(rows.count, rows.digest)] == *game);
    let copy = |sample: &&Sample| !counts(&sample.game);
    let first = table.samples[from..].iter().find(copy)?;
    let file = table.game(first).map_or("", |game| table.names.get(game.source)).to_owned();
    let rows = table.samples[from..].iter().filter(copy).count() as u64;
    let found = Copies { games: (games.len() - kept.len()) as u64, rows, file, line: first.line };
    let mut at = 0;
    table.samples.retain(|sample| {
        at += 1;
        at <= from || counts(&sample.game)
    });
    Some(found)
}

fn digest(table: &SampleTable, sample: &Sample) -> u64 {
    let mut hash = GameHash::default();
    [sample.engine, sample.opponent].iter().for_each(|name| hash.bytes(table.names.get(*name).as_bytes()));
    let values = [sample.color as u64, sample.ply.into(), sample.score_cp as u64, sample.outcome as u64];
    values.into_iter().for_each(|value| hash.word(value));
    hash.digest()
}
