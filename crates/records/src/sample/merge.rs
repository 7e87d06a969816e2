//! What the workers found, merged into one table in the order of reading, whoever read what.

use std::cmp::Reverse;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use super::collect::{Collected, Problem, ReadReport};
use super::packed::{Drawn, FoundPositions, game_info};
use super::{GameInfo, NameId, Names, Sample, SampleTable};
use crate::record::source::{Key, Refusal};
use crate::record::{ScoredPosition, SkipReason, StartTime};
use evalcurve_core::random;

/// Problems kept with their text, of each kind; the others are only counted.
const SHOWN: usize = 20;

/// What one worker found, in the order in which it came by it.
#[derive(Default)]
pub(super) struct Found {
    pub names: Names,
    pub blocks: Vec<FoundBlock>,
    pub games: Vec<FoundGame>,
    pub samples: Vec<FoundSample>,
    pub drawn: Vec<Drawn>,
}

/// One block (or refused file) with what was read in it: ranges into the lists of [`Found`].
pub(super) struct FoundBlock {
    pub key: Key,
    pub member: Arc<str>,
    pub refusal: Option<Refusal>,
    pub lines: u64,
    pub bytes: u64,
    pub read: u64,
    pub book_moves: u64,
    pub scores: u64,
    pub verified: u64,
    pub skipped: BTreeMap<SkipReason, u64>,
    pub odd: BTreeMap<&'static str, u64>,
    pub problems: Vec<(u64, &'static str, String, bool)>,
    pub games: std::ops::Range<usize>,
    pub positions: Option<FoundPositions>,
}

pub(super) struct FoundGame {
    pub info: GameInfo,
    /// Who gave the scores of both sides, where it was not the players.
    pub annotator: Option<NameId>,
    pub samples: std::ops::Range<usize>,
}

#[derive(Clone, Copy)]
pub(super) struct FoundSample {
    pub position: ScoredPosition,
    pub window: u32,
    pub material: Option<u16>,
}

impl FoundBlock {
    pub fn new(key: Key, member: &Arc<str>, bytes: u64, first_game: usize) -> Self {
        Self {
            key,
            member: member.clone(),
            refusal: None,
            lines: 0,
            bytes,
            read: 0,
            book_moves: 0,
            scores: 0,
            verified: 0,
            skipped: BTreeMap::new(),
            odd: BTreeMap::new(),
            problems: Vec::new(),
            games: first_game..first_game,
            positions: None,
        }
    }

    pub fn problem(&mut self, line: u64, kind: &'static str, value: String, strict: bool) {
        if self.problems.iter().filter(|(_, k, ..)| *k == kind).count() < SHOWN {
            self.problems.push((line, kind, value, strict));
        }
    }
}

/// A game on its way into the table: who found it, and which.
struct Kept {
    part: usize,
    game: usize,
    source: NameId,
    first_line: u64,
    /// Its place in the table: by start time, those without behind the others, then by identity.
    place: (bool, Option<StartTime>, u64),
}

/// A block with drawn records on its way into the table.
struct KeptBlock<'a> {
    drawn: &'a [Drawn],
    positions: &'a FoundPositions,
    engine: NameId,
    source: NameId,
    first_line: u64,
}

/// Identities are hashes already.
#[derive(Default)]
struct Identity(u64);

impl Hasher for Identity {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |hash, &b| random::mix(hash ^ u64::from(b)));
    }

    fn write_u64(&mut self, id: u64) {
        self.0 = id;
    }
}

pub(super) fn merge(found: Vec<Found>) -> Collected {
    let mut report = ReadReport::default();
    let mut names = Names::default();
    let name_ids: Vec<Vec<NameId>> =
        found.iter().map(|part| part.names.list.iter().map(|name| names.intern(name)).collect()).collect();
    let mut order: Vec<(Key, usize, usize)> = Vec::new();
    for (part, f) in found.iter().enumerate() {
        order.extend(f.blocks.iter().enumerate().map(|(i, b)| (b.key, part, i)));
    }
    order.sort_unstable();

    let without_scores = without_scores(&found);
    let mut kept: Vec<Kept> = Vec::new();
    let mut packed: Vec<KeptBlock<'_>> = Vec::new();
    let games = found.iter().map(|part| part.games.len()).sum();
    let mut by_id: HashMap<u64, usize, BuildHasherDefault<Identity>> =
        HashMap::with_capacity_and_hasher(games, BuildHasherDefault::default());
    kept.reserve(games);
    let mut shown: BTreeMap<&'static str, usize> = BTreeMap::new();
    let mut last: Option<(u32, Arc<str>)> = None;
    let mut lines_before = 0;
    for (key, part, index) in order {
        let block = &found[part].blocks[index];
        let this = (key.0, block.member.clone());
        if last.as_ref() != Some(&this) {
            lines_before = 0;
            report.files_read += u64::from(block.refusal.is_none());
            last = Some(this);
        }
        if let Some(refusal) = block.refusal {
            *report.files_refused.entry(refusal.as_str()).or_default() += 1;
        }
        report.games_read += block.read;
        report.book_moves += block.book_moves;
        report.scores += block.scores;
        report.verified += block.verified;
        report.bytes += block.bytes;
        for (reason, n) in &block.skipped {
            *report.games_skipped.entry(reason.as_str()).or_default() += n;
        }
        for (kind, n) in &block.odd {
            *report.oddities.entry(kind).or_default() += n;
        }
        for (line, kind, value, strict) in &block.problems {
            let line = if *line == u64::MAX { 0 } else { lines_before + line + 1 };
            add_problem(&mut report, &mut shown, &block.member, line, kind, value.clone(), *strict);
        }
        if let Some(positions) = &block.positions {
            let mut count = positions.count.clone();
            let skipped = without_scores.contains(&(key.0, &block.member));
            if skipped {
                let reason = SkipReason::AllScoresZero;
                let drawn = std::mem::take(&mut count.used);
                count.skip(reason, drawn);
                let begun = found[part].drawn[positions.drawn.clone()].iter().filter(|drawn| drawn.begins).count();
                let games = (block.games.len() + begun) as u64;
                if games > 0 {
                    *report.games_skipped.entry(reason.as_str()).or_default() += games;
                }
                if lines_before == 0 {
                    report.files_read -= 1;
                    *report.files_refused.entry(reason.as_str()).or_default() += 1;
                    let text = "the file was written without scores, so that it says nothing of an engine; write it \
                                again with the scores of a search";
                    add_problem(&mut report, &mut shown, &block.member, 0, reason.as_str(), text.to_owned(), true);
                }
            }
            report.positions.entry(positions.packed.as_str()).or_default().add(&count);
            if skipped {
                lines_before += block.lines;
                continue;
            }
        }
        let source = names.intern(&block.member);
        if let Some(positions) = block.positions.as_ref().filter(|positions| !positions.drawn.is_empty()) {
            packed.push(KeptBlock {
                drawn: &found[part].drawn[positions.drawn.clone()],
                positions,
                engine: name_ids[part].get(positions.engine as usize).copied().unwrap_or(0),
                source,
                first_line: lines_before,
            });
        }
        for game in block.games.clone() {
            let info = &found[part].games[game].info;
            let place = (info.start_time.is_none(), info.start_time, info.id);
            let candidate = Kept { part, game, source, first_line: lines_before, place };
            let slot = match by_id.entry(info.id) {
                Entry::Occupied(slot) => *slot.get(),
                Entry::Vacant(free) => {
                    free.insert(kept.len());
                    kept.push(candidate);
                    continue;
                }
            };
            // The same game again. Which of the two counts must not depend on their order.
            let dropped = if rank(&found, &candidate) > rank(&found, &kept[slot]) {
                std::mem::replace(&mut kept[slot], candidate)
            } else {
                candidate
            };
            if let Some(positions) = &block.positions {
                let samples = found[dropped.part].games[dropped.game].samples.len() as u64;
                report.skip_duplicates(positions.packed.as_str(), samples);
            }
            let line = dropped.first_line + found[dropped.part].games[dropped.game].info.line + 1;
            add_duplicate(&mut report, &mut shown, &names, (dropped.source, line), kept[slot].source);
        }
        lines_before += block.lines;
    }
    drop(by_id);
    // identities differ, so that no two are equal
    kept.sort_unstable_by_key(|k| k.place);

    let nobody = names.intern("");
    let mut table = SampleTable { names, ..SampleTable::default() };
    let drawn: usize = packed.iter().map(|block| block.drawn.len()).sum();
    table.games.reserve(kept.len() + drawn);
    table.samples.reserve(found.iter().map(|part| part.samples.len()).sum::<usize>() + drawn);
    for game in &kept {
        let part = &found[game.part];
        let entry = &part.games[game.game];
        let name = |id: NameId| name_ids[game.part].get(id as usize).copied().unwrap_or(0);
        let info = GameInfo {
            players: entry.info.players.map(name),
            time_control: name(entry.info.time_control),
            source: game.source,
            line: game.first_line + entry.info.line + 1,
            ..entry.info.clone()
        };
        let annotator = entry.annotator.map(name);
        for sample in &part.samples[entry.samples.clone()] {
            let position = sample.position;
            table.samples.push(Sample {
                game: table.games.len() as u32,
                engine: annotator.unwrap_or(info.players[position.color.index()]),
                opponent: match annotator {
                    Some(_) => nobody,
                    None => info.players[position.color.opponent().index()],
                },
                color: position.color,
                ply: position.ply,
                window: sample.window,
                score_cp: position.score_cp,
                mate: position.mate,
                outcome: info.black_outcome.in_view_of(position.color),
                material: sample.material,
                line: game.first_line + position.line + 1,
            });
        }
        table.games.push(info);
    }
    add_packed(packed, nobody, &mut table, &mut report, &mut shown);
    report.games_used = table.games.len() as u64;
    Collected { table, report }
}

/// Adds the records drawn of HCPE and PSV, behind the games and in the order of their files' keys and places, so that the order of the
/// files as given does not matter.
fn add_packed(
    mut blocks: Vec<KeptBlock<'_>>,
    nobody: NameId,
    table: &mut SampleTable,
    report: &mut ReadReport,
    shown: &mut BTreeMap<&'static str, usize>,
) {
    // of two blocks at one place the longer, which holds all of the other
    blocks.sort_by_key(|block| (block.positions.place, Reverse(block.drawn.len())));
    for alike in blocks.chunk_by(|a, b| a.positions.place == b.positions.place) {
        // the same file again, whole or in part
        let mut before: HashMap<u64, NameId> = HashMap::new();
        for block in alike {
            let mut again = 0;
            for game in block.drawn.chunk_by(|_, next| !next.begins) {
                let Some(first) = game.first() else { continue };
                let line = |drawn: &Drawn| block.first_line + u64::from(drawn.index) + 1;
                if let Some(&source) = before.get(&first.id) {
                    again += game.len() as u64;
                    add_duplicate(report, shown, &table.names, (block.source, line(first)), source);
                    continue;
                }
                if alike.len() > 1 {
                    before.insert(first.id, block.source);
                }
                let info = game_info(first.id, &first.position, block.engine, nobody);
                table.games.push(GameInfo { source: block.source, line: line(first), ..info });
                let number = table.games.len() as u32 - 1;
                table.samples.extend(game.iter().map(|drawn| Sample {
                    game: number,
                    engine: block.engine,
                    opponent: nobody,
                    color: drawn.position.color,
                    ply: drawn.position.ply.unwrap_or(0),
                    window: drawn.window,
                    score_cp: drawn.position.score_cp,
                    mate: false,
                    outcome: drawn.position.black_outcome.in_view_of(drawn.position.color),
                    material: None,
                    line: line(drawn),
                }));
            }
            report.skip_duplicates(block.positions.packed.as_str(), again);
        }
    }
}

/// Files of training data whose scores are all 0.
fn without_scores(found: &[Found]) -> HashSet<(u32, &Arc<str>)> {
    let mut any: HashMap<(u32, &Arc<str>), bool> = HashMap::new();
    for block in found.iter().flat_map(|part| &part.blocks) {
        if let Some(positions) = block.positions.as_ref().filter(|p| p.count.read > 0) {
            *any.entry((block.key.0, &block.member)).or_default() |= positions.any_score;
        }
    }
    any.into_iter().filter(|(_, any)| !any).map(|(file, _)| file).collect()
}

/// Of two records of one game the one with more samples counts; among equals, what they say decides.
fn rank(found: &[Found], kept: &Kept) -> (usize, u64) {
    let entry = &found[kept.part].games[kept.game];
    let samples = &found[kept.part].samples[entry.samples.clone()];
    let digest = samples.iter().fold(0, |h, s| {
        random::bits(&[h, u64::from(s.position.ply), s.position.score_cp as u64, u64::from(s.position.mate)])
    });
    (samples.len(), digest)
}

/// The game at this source and line stands in another, too, and counts there.
fn add_duplicate(
    report: &mut ReadReport,
    shown: &mut BTreeMap<&'static str, usize>,
    names: &Names,
    (source, line): (NameId, u64),
    other: NameId,
) {
    let reason = SkipReason::Duplicate.as_str();
    *report.games_skipped.entry(reason).or_default() += 1;
    let text = format!("the game also stands in {}", names.get(other));
    add_problem(report, shown, names.get(source), line, reason, text, false);
}

fn add_problem(
    report: &mut ReadReport,
    shown: &mut BTreeMap<&'static str, usize>,
    source: &str,
    line: u64,
    kind: &'static str,
    value: String,
    strict: bool,
) {
    let count = shown.entry(kind).or_default();
    *count += 1;
    if *count <= SHOWN {
        report.problems.push(Problem { source: source.to_owned(), line, kind, value, strict });
    }
}
