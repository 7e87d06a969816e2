//! Games of tables that are in them again under another identity. Tables of this program have a hash of the moves; of
//! others, rows are compared.

use std::collections::{BTreeMap, HashMap, HashSet};

use evalcurve_records::record::GameHash;
use evalcurve_records::sample::{Sample, SampleTable, copies};

/// Fewest rows, and fewest different scores, of a game that is compared: less can be equal by chance ...
const LEAST_ROWS: u32 = 4;
const LEAST_SCORES: usize = 3;
/// ... unless more than this share of the longer games are copies: then shorter ones are, too.
const OFTEN: f64 = 0.05;
/// Scores of a copy may differ by so many centipawns, as those of a new search do, if the rows have plies. Different
/// scores of a game are of sizes further apart.
const NEAR: u32 = 10;
/// The sizes of the scores of such a game are further apart than this, in all.
const SPREAD: u32 = 100;

/// The samples of each game.
type Games<'s> = BTreeMap<u32, &'s [&'s Sample]>;

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

/// Removes the samples from `from` on of games that have the moves and the result of another game, or if these are not
/// known its engines, opponents, plies, results and about its scores. The earliest counts, whatever the order of the
/// files.
pub(super) fn drop_copies(table: &mut SampleTable, from: usize) -> Option<Copies> {
    let mut samples: Vec<&Sample> = table.samples[from..].iter().collect();
    samples.sort_by_key(|sample| sample.game);
    let games: Games<'_> = samples.chunk_by(|a, b| a.game == b.game).map(|of| (of[0].game, of)).collect();
    let order = |game: u32| table.games.get(game as usize).map(|g| (g.start_time.is_none(), g.start_time, g.id, game));
    let mut sorted: Vec<u32> = games.keys().copied().collect();
    sorted.sort_unstable_by_key(|game| order(*game));
    let mut dropped = by_moves(table, &games, &sorted);
    sorted.retain(|game| !dropped.contains(game) && table.games[*game as usize].moves.is_none());
    dropped.extend(by_rows(table, &games, &sorted));
    sorted.retain(|game| !dropped.contains(game));
    dropped.extend(by_near_rows(table, &games, &sorted));
    let copy = |sample: &&Sample| dropped.contains(&sample.game);
    let first = table.samples[from..].iter().find(copy)?;
    let file = table.game(first).map_or("", |game| table.names.get(game.source)).to_owned();
    let rows = table.samples[from..].iter().filter(copy).count() as u64;
    let found = Copies { games: dropped.len() as u64, rows, file, line: first.line };
    let mut at = 0;
    table.samples.retain(|sample| {
        at += 1;
        at <= from || !dropped.contains(&sample.game)
    });
    Some(found)
}

/// The copies among games whose moves are known.
fn by_moves(table: &SampleTable, games: &Games<'_>, sorted: &[u32]) -> HashSet<u32> {
    let of = |game: &u32| {
        let (info, samples) = (&table.games[*game as usize], games[game]);
        let annotator = samples.first().filter(|s| table.annotates(s)).map(|s| table.names.get(s.engine));
        let by_rows = |side: usize| samples.iter().any(|sample| sample.color.index() == side);
        let scored = [0, 1].map(|side| info.end.map_or_else(|| by_rows(side), |end| end.scores[side].is_some()));
        ((info.moves, info.black_outcome, annotator), scored)
    };
    let originals = copies(&sorted.iter().map(of).collect::<Vec<_>>());
    sorted.iter().zip(originals).filter(|(_, original)| original.is_some()).map(|(game, _)| *game).collect()
}

/// The copies among games that have the same rows.
fn by_rows(table: &SampleTable, games: &Games<'_>, sorted: &[u32]) -> HashSet<u32> {
    let of = |game: &u32| {
        let mut rows = Rows::default();
        for sample in games[game] {
            rows.count += 1;
            rows.digest = rows.digest.wrapping_add(digest(table, sample, true));
            if rows.scores.len() < LEAST_SCORES && !rows.scores.contains(&sample.score_cp) {
                rows.scores.push(sample.score_cp);
            }
        }
        (*game, rows)
    };
    let mut rows: Vec<(u32, Rows)> = sorted.iter().map(of).collect();
    let is_long = |rows: &Rows| rows.count >= LEAST_ROWS && rows.scores.len() == LEAST_SCORES;
    let long = || rows.iter().filter(|(_, rows)| is_long(rows)).map(|(_, rows)| (rows.count, rows.digest));
    let (all, different) = (long().count(), long().collect::<HashSet<_>>().len());
    if (all - different) as f64 <= OFTEN * all as f64 {
        rows.retain(|(_, rows)| is_long(rows));
    }
    let mut kept: HashSet<(u32, u64)> = HashSet::new();
    rows.into_iter().filter(|(_, rows)| !kept.insert((rows.count, rows.digest))).map(|(game, _)| game).collect()
}

/// The copies among games whose rows are the same but for small differences of the scores.
fn by_near_rows(table: &SampleTable, games: &Games<'_>, sorted: &[u32]) -> HashSet<u32> {
    // scores that were cut, and those near 0 or near each other, are alike by chance
    let sizes = |game: &u32| {
        let mut sizes: Vec<u32> = games[game].iter().map(|sample| sample.score_cp.unsigned_abs()).collect();
        sizes.sort_unstable();
        let spread = sizes.last().zip(sizes.first()).map_or(0, |(last, first)| last - first);
        sizes.dedup_by(|size, last| *size - *last <= NEAR);
        if spread > SPREAD { sizes.len() } else { 0 }
    };
    let with = |rows: usize, differ: usize| -> Vec<u32> {
        let has = |game: &&u32| games[*game].len() >= rows && sizes(game) >= differ;
        sorted.iter().filter(has).copied().collect()
    };
    let long = with(LEAST_ROWS as usize, LEAST_SCORES);
    let found = near(table, games, &long);
    match found.len() as f64 <= OFTEN * long.len() as f64 {
        true => found,
        false => near(table, games, &with(2, 2)),
    }
}

fn near(table: &SampleTable, games: &Games<'_>, sorted: &[u32]) -> HashSet<u32> {
    let mut copies = HashSet::new();
    let mut kept: HashMap<u64, Vec<Vec<i32>>> = HashMap::new();
    for game in sorted {
        let mut samples = games[game].to_vec();
        samples.sort_by_key(|sample| (sample.ply, sample.color.index(), sample.engine));
        let scores: Vec<i32> = samples.iter().map(|sample| sample.score_cp).collect();
        if samples.iter().any(|sample| sample.ply == 0) {
            continue;
        }
        let key = samples.iter().fold(0, |key: u64, sample| key.wrapping_add(digest(table, sample, false)));
        let others = kept.entry(key).or_default();
        let is_near = |other: &Vec<i32>| {
            other.len() == scores.len() && other.iter().zip(&scores).all(|(a, b)| a.abs_diff(*b) <= NEAR)
        };
        match others.iter().any(is_near) {
            true => drop(copies.insert(*game)),
            false => others.push(scores),
        }
    }
    copies
}

fn digest(table: &SampleTable, sample: &Sample, with_score: bool) -> u64 {
    let mut hash = GameHash::default();
    [sample.engine, sample.opponent].iter().for_each(|name| hash.bytes(table.names.get(*name).as_bytes()));
    let score = if with_score { sample.score_cp as u64 } else { 0 };
    let values = [sample.color as u64, sample.ply.into(), score, sample.outcome as u64];
    values.into_iter().for_each(|value| hash.word(value));
    hash.digest()
}
