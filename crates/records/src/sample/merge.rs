//! Merges what the workers found into one table, in the order of reading.

use std::cmp::Reverse;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use foldhash::fast::FixedState;

use super::collect::Collected;
use super::copies::{Rank, drawn_digest};
use super::packed::{Drawn, FoundPositions, game_info};
use super::positions::Positions;
use super::report::{Problem, ReadReport, add_counts, count};
use super::{GameInfo, NameId, Names, Sample, SampleTable};
use crate::record::source::{Key, Refusal};
use crate::record::{ScoredPosition, SkipReason, StartTime};
use evalcurve_core::language::Text;
use evalcurve_core::text;

/// Problems of each kind that are reported with their text; the others are only counted.
const SHOWN: usize = 20;

/// What one worker found, in the order in which it read it.
#[derive(Default)]
pub(super) struct Found {
    pub names: Names,
    pub blocks: Vec<FoundBlock>,
    pub games: Vec<FoundGame>,
    pub samples: Vec<FoundSample>,
    pub drawn: Vec<Drawn>,
    pub positions: Positions,
}

/// One block, or refused file, with ranges into the lists of [`Found`].
#[derive(Default)]
pub(super) struct FoundBlock {
    pub key: Key,
    pub member: Arc<str>,
    pub refusal: Option<Refusal>,
    /// It only holds a problem of a file that other blocks are of.
    pub is_note: bool,
    /// All games that gave samples are chess.
    pub chess: bool,
    pub lines: u64,
    pub bytes: u64,
    pub read: u64,
    pub book_moves: u64,
    pub scores: u64,
    pub verified: u64,
    pub skipped: BTreeMap<SkipReason, u64>,
    pub oddities: BTreeMap<&'static str, u64>,
    /// Problems with their line from 0 in the block; `u64::MAX` means the whole file. The source is empty.
    pub problems: Vec<Problem>,
    pub games: Range<usize>,
    /// The first games that the worker had read before, in the same words, and did not keep again.
    pub copies: Vec<Copy>,
    /// How many more of them there are.
    pub more_copies: u64,
    pub positions: Option<FoundPositions>,
}

/// A game that is not kept, because it says the same as one that is.
pub(super) struct Copy {
    /// Its line from 0 in the block.
    pub line: u64,
    /// The index of the game that is kept.
    pub kept: usize,
    /// The index of the game that was kept next.
    pub before: usize,
}

pub(super) struct FoundGame {
    pub info: GameInfo,
    /// The engine that gave the scores of both sides, if it was not the players.
    pub annotator: Option<NameId>,
    pub samples: Range<usize>,
    pub rank: Rank,
}

#[derive(Clone, Copy)]
pub(super) struct FoundSample {
    pub position: ScoredPosition,
    pub window: u32,
    pub reply_cp: Option<i32>,
    pub material: Option<u16>,
}

impl FoundBlock {
    pub fn new(key: Key, member: &Arc<str>, bytes: u64, first_game: usize) -> Self {
        Self { key, member: member.clone(), bytes, games: first_game..first_game, ..Self::default() }
    }

    pub fn problem(&mut self, line: u64, kind: &'static str, value: impl Into<Text>, strict: bool) {
        if self.problems.iter().filter(|p| p.kind == kind).count() < SHOWN {
            self.problems.push(Problem { source: String::new(), line, kind, value: value.into(), strict });
        }
    }

    /// Counts a game that is not kept. Texts are only needed for the first ones.
    pub fn copy(&mut self, copy: Copy) {
        match self.copies.len() < SHOWN {
            true => self.copies.push(copy),
            false => self.more_copies += 1,
        }
    }

    pub fn oddity(&mut self, line: u64, kind: &'static str, value: impl Into<Text>) {
        count(&mut self.oddities, kind, 1);
        self.problem(line, kind, value, true);
    }
}

/// A game that goes into the table: the worker that found it, and its index there.
struct MergedGame<'a> {
    part: usize,
    game: usize,
    source: NameId,
    first_line: u64,
    /// The sort key: start time (games without one come last), identity, and the annotator: a game counts once for its
    /// players and once for each engine that annotates it.
    order: (bool, Option<StartTime>, u64, Option<&'a str>),
    /// The format, if it is training data.
    packed: Option<&'static str>,
    /// Two sources whose records of the game have different results.
    differ: Option<[NameId; 2]>,
}

/// A block with drawn records that goes into the table.
struct MergedBlock<'a> {
    drawn: &'a [Drawn],
    positions: &'a FoundPositions,
    engine: NameId,
    source: NameId,
    first_line: u64,
}

/// The numbers of the workers' names in the table. A name gets its number when the table first needs it, so that
/// numbers do not depend on which worker read what.
struct Numbers<'a> {
    found: &'a [Found],
    known: Vec<Vec<Option<NameId>>>,
}

impl<'a> Numbers<'a> {
    fn new(found: &'a [Found]) -> Self {
        Self { found, known: found.iter().map(|part| vec![None; part.names.len()]).collect() }
    }

    /// The number in `names` of a name of a worker.
    fn of(&mut self, part: usize, id: NameId, names: &mut Names) -> NameId {
        let name = self.found[part].names.get(id);
        match self.known[part].get_mut(id as usize) {
            Some(known) => *known.get_or_insert_with(|| names.intern(name)),
            None => names.intern(name),
        }
    }
}

/// The report, with the number of problems of each kind so far.
#[derive(Default)]
struct Reporter {
    report: ReadReport,
    seen: BTreeMap<&'static str, usize>,
}

impl Reporter {
    fn problem(&mut self, source: &str, line: u64, kind: &'static str, value: impl Into<Text>, strict: bool) {
        let seen = self.seen.entry(kind).or_default();
        *seen += 1;
        if *seen <= SHOWN {
            let value = value.into();
            self.report.problems.push(Problem { source: source.to_owned(), line, kind, value, strict });
        }
    }

    /// The game at this source and line is also in another source, and counts there.
    fn duplicate(&mut self, names: &Names, source: NameId, line: u64, other: NameId) {
        self.report.skip_games(SkipReason::Duplicate, 1);
        let text = text!("the game is also in {}", "同じ対局が {} にもあります", names.get(other));
        self.problem(names.get(source), line, SkipReason::Duplicate.as_str(), text, false);
    }

    /// The records of a game contradict each other, so that its result is not known.
    fn differ(&mut self, names: &Names, game: &MergedGame<'_>, entry: &FoundGame, sources: [NameId; 2]) {
        let reason = SkipReason::UnknownResult;
        self.report.skip_games(reason, 1);
        if let Some(format) = game.packed {
            self.report.skip_positions(format, reason, entry.samples.len() as u64);
        }
        let [one, other] = sources.map(|source| names.get(source));
        let text = text!(
            "the game has different results in {one} and in {other}; remove the wrong record",
            "対局の結果が {one} と {other} で異なります。誤った棋譜を除いてください"
        );
        self.problem(names.get(game.source), game.first_line + entry.info.line + 1, reason.as_str(), text, true);
    }

    /// A file in a known format without a game.
    fn no_games(&mut self, source: &str) {
        let kind = Refusal::NoGames.as_str();
        count(&mut self.report.files_refused, kind, 1);
        self.problem(source, 0, kind, Refusal::no_games(), false);
    }

    /// Adds the counts and problems of a block. `lines_before` are the lines of its member before it.
    fn block(&mut self, block: &FoundBlock, lines_before: u64) {
        let report = &mut self.report;
        if let Some(refusal) = block.refusal {
            count(&mut report.files_refused, refusal.as_str(), 1);
        }
        report.games_read += block.read;
        report.book_moves += block.book_moves;
        report.scores += block.scores;
        report.verified += block.verified;
        report.bytes += block.bytes;
        block.skipped.iter().for_each(|(reason, n)| report.skip_games(*reason, *n));
        add_counts(&mut report.oddities, &block.oddities);
        for problem in &block.problems {
            let line = if problem.line == u64::MAX { 0 } else { lines_before + problem.line + 1 };
            self.problem(&block.member, line, problem.kind, problem.value.clone(), problem.strict);
        }
    }
}

pub(super) fn merge(mut found: Vec<Found>) -> Collected {
    let mut positions = Positions::default();
    found.iter_mut().for_each(|part| positions.add(std::mem::take(&mut part.positions)));
    let mut reporter = Reporter::default();
    let mut names = Names::default();
    let mut numbers = Numbers::new(&found);
    let mut order: Vec<(Key, usize, usize)> = Vec::new();
    for (part, f) in found.iter().enumerate() {
        order.extend(f.blocks.iter().enumerate().map(|(i, b)| (b.key, part, i)));
    }
    order.sort_unstable();

    let without_scores = without_scores(&found);
    let without_games = without_games(&found, &order);
    let games = found.iter().map(|part| part.games.len()).sum();
    let mut merged: Vec<MergedGame<'_>> = Vec::with_capacity(games);
    let mut packed: Vec<MergedBlock<'_>> = Vec::new();
    let mut by_id: HashMap<(u64, Option<&str>), usize, FixedState> =
        HashMap::with_capacity_and_hasher(games, FixedState::default());
    let mut last: Option<&Arc<str>> = None;
    let mut lines_before = 0;
    for (key, part, index) in order {
        let block = &found[part].blocks[index];
        if block.is_note {
            reporter.block(block, 0);
            continue;
        }
        // members of one name are different members
        if !last.is_some_and(|last| Arc::ptr_eq(last, &block.member)) {
            lines_before = 0;
            last = Some(&block.member);
            match without_games.contains(&key) {
                true => reporter.no_games(&block.member),
                false => reporter.report.files_read += u64::from(block.refusal.is_none()),
            }
        }
        reporter.block(block, lines_before);
        let first_line = lines_before;
        lines_before += block.lines;
        if let Some(positions) = &block.positions {
            let mut counts = positions.count.clone();
            let skipped = without_scores.contains(&(key.0, &block.member));
            if skipped {
                let reason = SkipReason::AllScoresZero;
                let drawn = std::mem::take(&mut counts.used);
                counts.skip(reason, drawn);
                let begun = found[part].drawn[positions.drawn.clone()].iter().filter(|drawn| drawn.begins).count();
                reporter.report.skip_games(reason, (block.games.len() + begun) as u64);
                if first_line == 0 {
                    reporter.report.files_read -= 1;
                    count(&mut reporter.report.files_refused, reason.as_str(), 1);
                    let text = text!(
                        "the file was written without scores; write it again with the scores of a search",
                        "評価値なしで書かれたファイルです。探索の評価値つきで書き直してください"
                    );
                    reporter.problem(&block.member, 0, reason.as_str(), text, true);
                }
            }
            reporter.report.positions.entry(positions.packed.as_str()).or_default().add(&counts);
            if skipped {
                continue;
            }
        }
        let source = names.intern(&block.member);
        if let Some(positions) = block.positions.as_ref().filter(|positions| !positions.drawn.is_empty()) {
            packed.push(MergedBlock {
                drawn: &found[part].drawn[positions.drawn.clone()],
                positions,
                engine: numbers.of(part, positions.engine, &mut names),
                source,
                first_line,
            });
        }
        let mut copies = block.copies.iter().peekable();
        for game in block.games.clone().chain([usize::MAX]) {
            while let Some(copy) = copies.next_if(|copy| copy.before <= game) {
                let FoundGame { info, annotator, .. } = &found[part].games[copy.kept];
                let kept = by_id.get(&(info.id, annotator.map(|id| found[part].names.get(id))));
                let other = kept.map_or(source, |slot| merged[*slot].source);
                reporter.duplicate(&names, source, first_line + copy.line + 1, other);
            }
            if game == usize::MAX {
                reporter.report.skip_games(SkipReason::Duplicate, block.more_copies);
                break;
            }
            let FoundGame { info, annotator, .. } = &found[part].games[game];
            let annotator = annotator.map(|id| found[part].names.get(id));
            let order = (info.start_time.is_none(), info.start_time, info.id, annotator);
            let packed = block.positions.as_ref().map(|positions| positions.packed.as_str());
            let mut candidate = MergedGame { part, game, source, first_line, order, packed, differ: None };
            let slot = match by_id.entry((info.id, annotator)) {
                Entry::Occupied(slot) => *slot.get(),
                Entry::Vacant(free) => {
                    free.insert(merged.len());
                    merged.push(candidate);
                    continue;
                }
            };
            // a duplicate: which of the two counts must not depend on their order
            let kept = &mut merged[slot];
            let [old, new] = [&*kept, &candidate].map(|game| &found[game.part].games[game.game]);
            if old.info.black_outcome != new.info.black_outcome {
                kept.differ.get_or_insert([kept.source, source]);
            }
            let dropped = if new.rank > old.rank {
                candidate.differ = kept.differ;
                std::mem::replace(kept, candidate)
            } else {
                candidate
            };
            if let Some(format) = dropped.packed {
                let samples = found[dropped.part].games[dropped.game].samples.len() as u64;
                reporter.report.skip_positions(format, SkipReason::Duplicate, samples);
            }
            let line = dropped.first_line + found[dropped.part].games[dropped.game].info.line + 1;
            reporter.duplicate(&names, dropped.source, line, merged[slot].source);
        }
    }
    drop(by_id);
    merged.retain(|game| {
        let entry = &found[game.part].games[game.game];
        game.differ.inspect(|sources| reporter.differ(&names, game, entry, *sources)).is_none()
    });
    // no two keys are equal, because identities or annotators differ
    merged.sort_unstable_by_key(|game| game.order);

    let unnamed = names.intern("");
    let mut with_games =
        found.iter().flat_map(|part| &part.blocks).filter(|b| !b.games.is_empty() || b.positions.is_some());
    let chess = with_games.clone().next().is_some() && with_games.all(|block| block.chess);
    let mut table = SampleTable { names, chess, ..SampleTable::default() };
    let drawn: usize = packed.iter().map(|block| block.drawn.len()).sum();
    table.games.reserve(merged.len() + drawn);
    table.samples.reserve(found.iter().map(|part| part.samples.len()).sum::<usize>() + drawn);
    for game in &merged {
        let part = &found[game.part];
        let entry = &part.games[game.game];
        let mut name = |id: NameId| numbers.of(game.part, id, &mut table.names);
        let info = GameInfo {
            players: entry.info.players.map(&mut name),
            time_control: name(entry.info.time_control),
            source: game.source,
            line: game.first_line + entry.info.line + 1,
            ..entry.info.clone()
        };
        let annotator = entry.annotator.map(&mut name);
        for sample in &part.samples[entry.samples.clone()] {
            let position = sample.position;
            table.samples.push(Sample {
                game: table.games.len() as u32,
                engine: annotator.unwrap_or(info.players[position.color.index()]),
                opponent: match annotator {
                    Some(_) => unnamed,
                    None => info.players[position.color.opponent().index()],
                },
                color: position.color,
                ply: position.ply,
                window: sample.window,
                score_cp: position.score_cp,
                reply_cp: sample.reply_cp,
                declared: position.declared,
                mate: position.mate,
                outcome: info.black_outcome.in_view_of(position.color),
                material: sample.material,
                line: game.first_line + position.line + 1,
            });
        }
        table.games.push(info);
    }
    add_packed(packed, unnamed, &mut table, &mut reporter);
    let mut report = reporter.report;
    report.games_used = table.games.len() as u64;
    Collected { table, report, positions }
}

/// Adds the drawn records of HCPE and PSV after the games, ordered by file key and position in the file, so that the
/// order of the given files does not matter.
fn add_packed(mut blocks: Vec<MergedBlock<'_>>, unnamed: NameId, table: &mut SampleTable, reporter: &mut Reporter) {
    // of two blocks at one place the longer one comes first: it holds all records of the other
    blocks.sort_by_cached_key(|block| (block.positions.place, Reverse(block.drawn.len()), drawn_digest(block.drawn)));
    for copies in blocks.chunk_by(|a, b| a.positions.place == b.positions.place) {
        // several blocks at one place: copies of a file, whole or in part
        let mut added: HashMap<u64, NameId> = HashMap::new();
        for block in copies {
            let mut duplicates = 0;
            for game in block.drawn.chunk_by(|_, next| !next.begins) {
                let Some(first) = game.first() else { continue };
                let line = |drawn: &Drawn| block.first_line + u64::from(drawn.index) + 1;
                if let Some(&source) = added.get(&first.id) {
                    duplicates += game.len() as u64;
                    reporter.duplicate(&table.names, block.source, line(first), source);
                    continue;
                }
                if copies.len() > 1 {
                    added.insert(first.id, block.source);
                }
                let info = game_info(first.id, &first.position, block.engine, unnamed);
                table.games.push(GameInfo { source: block.source, line: line(first), ..info });
                let number = table.games.len() as u32 - 1;
                table.samples.extend(game.iter().map(|drawn| Sample {
                    game: number,
                    engine: block.engine,
                    opponent: unnamed,
                    color: drawn.position.color,
                    ply: drawn.position.ply.unwrap_or(0),
                    window: drawn.window,
                    score_cp: drawn.position.score_cp,
                    reply_cp: None,
                    declared: None,
                    mate: false,
                    outcome: drawn.position.black_outcome.in_view_of(drawn.position.color),
                    material: None,
                    line: line(drawn),
                }));
            }
            reporter.report.skip_positions(block.positions.packed.as_str(), SkipReason::Duplicate, duplicates);
        }
    }
}

/// The first blocks of the files in a known format that hold no game.
fn without_games(found: &[Found], order: &[(Key, usize, usize)]) -> HashSet<Key> {
    let block = |(_, part, index): &(Key, usize, usize)| &found[*part].blocks[*index];
    let files = order.chunk_by(|a, b| Arc::ptr_eq(&block(a).member, &block(b).member));
    let is_empty =
        |block: &FoundBlock| block.refusal.is_none() && !block.is_note && block.read == 0 && block.positions.is_none();
    let empty = files.filter(|file| file.iter().all(|at| is_empty(block(at))));
    empty.filter_map(|file| file.first()).map(|(key, ..)| *key).collect()
}

/// The files of training data whose scores are all 0.
fn without_scores(found: &[Found]) -> HashSet<(u32, &Arc<str>)> {
    let mut any: HashMap<(u32, &Arc<str>), bool> = HashMap::new();
    for block in found.iter().flat_map(|part| &part.blocks) {
        if let Some(positions) = block.positions.as_ref().filter(|p| p.count.read > 0) {
            *any.entry((block.key.0, &block.member)).or_default() |= positions.any_score;
        }
    }
    any.into_iter().filter(|(_, any)| !any).map(|(file, _)| file).collect()
}
