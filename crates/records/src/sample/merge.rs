//! Merges what the workers found into one table, in the order of reading.

use std::cmp::{Ordering, Reverse};
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use evalcurve_calibration::types::Color;
use evalcurve_words::language::Text;
use evalcurve_words::text;
use foldhash::fast::FixedState;

use super::copies::copies;
use super::found::{
    Copy, Drawn, Found, FoundBlock, FoundGame, FoundPositions, FoundProblem, FoundUnread, SHOWN, drawn_digest,
};
use super::packed::game_info;
use super::positions::Positions;
use super::report::{Problem, ProblemKind, ReadReport, count};
use super::sampler::DrawnScore;
use super::view::{View, second, set_views};
use super::{GameInfo, NameId, Names, Sample, SampleTable};
use crate::record::packed::Packed;
use crate::record::source::Key;
use crate::record::{Convention, OddityKind, SkipReason};

/// The sample table and the report on reading it.
#[derive(Debug, Clone, Default)]
pub struct Collected {
    pub table: SampleTable,
    /// What was read and skipped.
    pub report: ReadReport,
    /// How the positions of the samples are reached, if [`SamplingOptions::unscored`](super::SamplingOptions) is set.
    pub positions: Positions,
}

/// A game that goes into the table, and the worker that found it. A game counts once for its players and once for each
/// engine that annotates it.
pub(super) struct MergedGame<'a> {
    pub part: usize,
    pub entry: &'a FoundGame,
    pub source: NameId,
    /// Its scores are in the other view than their convention says.
    pub other_view: bool,
    first_line: u64,
    /// The format, if it is training data.
    packed: Option<Packed>,
    /// Two sources whose records of the game have different results.
    differ: Option<[NameId; 2]>,
    chess: bool,
}

impl<'a> MergedGame<'a> {
    /// The engine that annotates it.
    fn annotator(&self, found: &'a [Found]) -> Option<&'a str> {
        self.entry.annotator.map(|id| found[self.part].names.get(id))
    }

    /// Its place: by start time (games without one come last), identity, and the annotator.
    fn order(&self, other: &Self, found: &'a [Found]) -> Ordering {
        let key = |game: &Self| {
            let GameInfo { start_time, id, .. } = game.entry.info;
            (start_time.is_none(), start_time, id)
        };
        key(self).cmp(&key(other)).then_with(|| self.annotator(found).cmp(&other.annotator(found)))
    }

    /// The view of its scores, if only a convention says it.
    pub(super) fn convention(&self) -> Option<Convention> {
        self.entry.view.map(|(convention, _)| convention)
    }

    /// The side whose scores have the wrong sign.
    fn inverted(&self) -> Option<Color> {
        self.convention().filter(|_| self.other_view).map(second)
    }

    /// Its line in the source, from 1.
    fn line(&self) -> u64 {
        self.first_line + self.entry.info.line + 1
    }
}

/// Where the samples of a game are, and how they go into the table.
struct SamplesOf {
    part: usize,
    samples: Range<usize>,
    annotator: Option<NameId>,
    inverted: Option<Color>,
    first_line: u64,
}

/// A block with drawn records that goes into the table.
struct MergedBlock {
    part: usize,
    drawn: Range<usize>,
    packed: Packed,
    place: (u64, u64),
    engine: NameId,
    source: NameId,
    first_line: u64,
}

impl MergedBlock {
    fn drawn<'a>(&self, of_parts: &'a [Vec<Drawn>]) -> &'a [Drawn] {
        &of_parts[self.part][self.drawn.clone()]
    }
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
    fn problem(
        &mut self,
        source: &str,
        line: u64,
        kind: impl Into<ProblemKind>,
        value: impl Into<Text>,
        is_error: bool,
    ) {
        let kind = kind.into();
        let seen = self.seen.entry(kind.as_str()).or_default();
        *seen += 1;
        if *seen <= SHOWN {
            let value = value.into();
            self.report.problems.push(Problem { source: source.to_owned(), line, kind, value, is_error });
        }
    }

    /// The game at this source and line is also in another source, and counts there.
    fn duplicate(&mut self, names: &Names, source: NameId, line: u64, other: NameId) {
        self.report.skip_games(SkipReason::Duplicate, 1);
        self.also_in(names, source, line, other);
    }

    /// Says so of a game that is counted already.
    fn also_in(&mut self, names: &Names, source: NameId, line: u64, other: NameId) {
        let text = text!("the game is also in {}", names.get(other));
        self.problem(names.get(source), line, SkipReason::Duplicate, text, false);
    }

    /// The records of a game contradict each other, so that its result is not known.
    fn differ(&mut self, names: &Names, game: &MergedGame<'_>, sources: [NameId; 2]) {
        let reason = SkipReason::UnknownResult;
        self.report.skip_games(reason, 1);
        if let Some(format) = game.packed {
            self.report.skip_positions(format.as_str(), reason, game.entry.samples.len() as u64);
        }
        let [one, other] = sources.map(|source| names.get(source));
        let text = text!("the game has different results in {one} and in {other}; remove the wrong record");
        self.problem(names.get(game.source), game.line(), reason, text, true);
    }

    /// The game has the moves of another one, which counts.
    fn copy(&mut self, names: &Names, game: &MergedGame<'_>, original: &MergedGame<'_>) {
        let reason = SkipReason::SameMoves;
        self.report.skip_games(reason, 1);
        let (file, line) = (names.get(original.source), original.line());
        let text = text!(
            "the moves are those of the game at {file}:{line}, which counts; `duplicates` by-identity counts both"
        );
        self.problem(names.get(game.source), game.line(), reason, text, false);
    }

    /// A block of a file of training data whose scores are all 0.
    fn without_scores(&mut self, block: &FoundBlock, positions: &FoundPositions, drawn: &[Drawn], is_first: bool) {
        let reason = SkipReason::AllScoresZero;
        let mut counts = positions.count.clone();
        let used = std::mem::take(&mut counts.used);
        counts.skip(reason, used);
        self.report.positions.entry(positions.packed.as_str()).or_default().add(&counts);
        let begun = drawn.iter().filter(|drawn| drawn.begins).count();
        self.report.skip_games(reason, (block.games.len() + begun) as u64);
        if is_first {
            self.report.files_read -= 1;
            count(&mut self.report.files_refused, reason.as_str(), 1);
            let text = text!("the file was written without scores; write it again with the scores of a search");
            self.problem(&block.member, 0, reason, text, true);
        }
    }

    /// A file in a known format without a game.
    fn no_games(&mut self, source: &str) {
        let FoundProblem { kind, value, is_error, .. } = FoundProblem::no_games();
        count(&mut self.report.files_refused, kind.as_str(), 1);
        self.problem(source, 0, kind, value, is_error);
    }

    /// Reports the comments of a file that are not read as scores.
    fn unread(&mut self, source: &str, scores: u64, unread: &FoundUnread) {
        if let Some(text) = unread.text(scores) {
            self.problem(source, unread.first.line, OddityKind::UnreadComment, text, false);
        }
    }

    /// Adds the counts and problems of a block. `lines_before` are the lines of its member before it.
    fn block(&mut self, block: &FoundBlock, lines_before: u64) {
        self.report.add_block(block);
        for problem in &block.problems {
            let line = problem.line.map_or(0, |line| lines_before + line + 1);
            self.problem(&block.member, line, problem.kind, problem.value.clone(), problem.is_error);
        }
    }
}

/// Merges what was found. Games with equal moves count once if `by_moves` is set.
pub(super) fn merge(mut found: Vec<Found>, by_moves: bool, view: View) -> Collected {
    let mut positions = Positions::default();
    found.iter_mut().for_each(|part| positions.add(std::mem::take(&mut part.positions)));
    let barren: Vec<ReadReport> = found.iter_mut().map(Found::take_barren).collect();
    let mut order: Vec<Place> = Vec::new();
    for (part, f) in found.iter().enumerate() {
        order.extend(f.blocks.iter().enumerate().map(|(i, b)| (b.key, part, i)));
    }
    order.sort_unstable();
    // apart: what was found of games goes before their samples are copied
    let samples: Vec<Vec<DrawnScore>> = found.iter_mut().map(|part| std::mem::take(&mut part.samples)).collect();
    let drawn: Vec<Vec<Drawn>> = found.iter_mut().map(|part| std::mem::take(&mut part.drawn)).collect();
    let mut merge = Merge::new(&found, &drawn);
    barren.iter().for_each(|counts| merge.reporter.report.add(counts));
    merge.blocks(&order);
    merge.drop_contradictions();
    if by_moves {
        merge.drop_copies();
    }
    merge.reporter.report.notes = set_views(&mut merge.games, &samples, &merge.names, view);
    let Games { mut table, of_games, unnamed, packed, mut reporter } = merge.into_games();
    drop((order, found));
    table.samples.reserve(samples.iter().map(Vec::len).chain(drawn.iter().map(Vec::len)).sum());
    add_samples(of_games, &samples, unnamed, &mut table);
    add_packed(packed, &drawn, unnamed, &mut table, &mut reporter);
    reporter.report.games_used = table.games.len() as u64;
    Collected { table, report: reporter.report, positions }
}

/// The key of a block, the worker that found it, and its index there.
type Place = (Key, usize, usize);

/// What is merged so far.
struct Merge<'a> {
    found: &'a [Found],
    drawn: &'a [Vec<Drawn>],
    reporter: Reporter,
    names: Names,
    numbers: Numbers<'a>,
    games: Vec<MergedGame<'a>>,
    packed: Vec<MergedBlock>,
    /// The indices of the games, by identity and annotator.
    by_id: HashMap<(u64, Option<&'a str>), usize, FixedState>,
}

impl<'a> Merge<'a> {
    fn new(found: &'a [Found], drawn: &'a [Vec<Drawn>]) -> Self {
        let games = found.iter().map(|part| part.games.len()).sum();
        Self {
            found,
            drawn,
            reporter: Reporter::default(),
            names: Names::default(),
            numbers: Numbers::new(found),
            games: Vec::with_capacity(games),
            packed: Vec::new(),
            by_id: HashMap::with_capacity_and_hasher(games, FixedState::default()),
        }
    }

    /// Adds all blocks, in the order of reading.
    fn blocks(&mut self, order: &[Place]) {
        let found = self.found;
        let (without_scores, without_games) = (without_scores(found), without_games(found, order));
        let mut last: Option<&Arc<str>> = None;
        let (mut lines_before, mut scores, mut unread) = (0, 0, None);
        for &(key, part, index) in order {
            let block = &found[part].blocks[index];
            if block.is_note {
                self.reporter.block(block, 0);
                continue;
            }
            // members of one name are different members
            if !last.is_some_and(|last| Arc::ptr_eq(last, &block.member)) {
                if let Some((last, unread)) = last.zip(unread.take()) {
                    self.reporter.unread(last, scores, &unread);
                }
                (lines_before, scores) = (0, 0);
                last = Some(&block.member);
                match without_games.contains(&key) {
                    true => self.reporter.no_games(&block.member),
                    false => self.reporter.report.files_read += u64::from(block.refusal.is_none()),
                }
            }
            self.reporter.block(block, lines_before);
            let first_line = lines_before;
            lines_before += block.lines;
            scores += block.scores;
            if let Some(mut later) = block.unread.clone() {
                later.first.line += first_line + 1;
                FoundUnread::add(&mut unread, later);
            }
            if let Some(positions) = &block.positions {
                if without_scores.contains(&(key.0, &block.member)) {
                    let drawn = &self.drawn[part][positions.drawn.clone()];
                    self.reporter.without_scores(block, positions, drawn, first_line == 0);
                    continue;
                }
                self.reporter.report.positions.entry(positions.packed.as_str()).or_default().add(&positions.count);
            }
            let source = self.names.intern(&block.member);
            if let Some(positions) = block.positions.as_ref().filter(|positions| !positions.drawn.is_empty()) {
                self.packed.push(MergedBlock {
                    part,
                    drawn: positions.drawn.clone(),
                    packed: positions.packed,
                    place: positions.place,
                    engine: self.numbers.of(part, positions.engine, &mut self.names),
                    source,
                    first_line,
                });
            }
            self.block_games(part, block, source, first_line);
        }
        if let Some((last, unread)) = last.zip(unread) {
            self.reporter.unread(last, scores, &unread);
        }
    }

    /// Adds the games of a block, and reports those that its worker did not keep, in the order of reading.
    fn block_games(&mut self, part: usize, block: &'a FoundBlock, source: NameId, first_line: u64) {
        let mut copies = block.copies.as_slice();
        for game in block.games.clone() {
            let before = copies.partition_point(|copy| copy.before <= game);
            self.unkept(part, &copies[..before], source, first_line);
            copies = &copies[before..];
            self.game(part, game, block, source, first_line);
        }
        self.unkept(part, copies, source, first_line);
    }

    fn unkept(&mut self, part: usize, copies: &[Copy], source: NameId, first_line: u64) {
        for copy in copies {
            let FoundGame { info, annotator, .. } = &self.found[part].games[copy.kept];
            let kept = self.by_id.get(&(info.id, annotator.map(|id| self.found[part].names.get(id))));
            let other = kept.map_or(source, |slot| self.games[*slot].source);
            self.reporter.also_in(&self.names, source, first_line + copy.line + 1, other);
        }
    }

    /// Adds a game, or the better record of one that is there. Which of the two counts does not depend on their order.
    fn game(&mut self, part: usize, game: usize, block: &FoundBlock, source: NameId, first_line: u64) {
        let found = self.found;
        let entry = &found[part].games[game];
        let annotator = entry.annotator.map(|id| found[part].names.get(id));
        let packed = block.positions.as_ref().map(|positions| positions.packed);
        let mut candidate =
            MergedGame { part, entry, source, other_view: false, first_line, packed, chess: block.chess, differ: None };
        let slot = match self.by_id.entry((entry.info.id, annotator)) {
            Entry::Occupied(slot) => *slot.get(),
            Entry::Vacant(free) => {
                free.insert(self.games.len());
                return self.games.push(candidate);
            }
        };
        let kept = &mut self.games[slot];
        if kept.entry.info.black_outcome != entry.info.black_outcome {
            kept.differ.get_or_insert([kept.source, source]);
        }
        if entry.rank > kept.entry.rank {
            candidate.differ = kept.differ;
            std::mem::swap(kept, &mut candidate);
        }
        if let Some(format) = candidate.packed {
            let samples = candidate.entry.samples.len() as u64;
            self.reporter.report.skip_positions(format.as_str(), SkipReason::Duplicate, samples);
        }
        self.reporter.duplicate(&self.names, candidate.source, candidate.line(), kept.source);
    }

    /// Drops the games whose records have different results, and puts the others into the order of the table.
    fn drop_contradictions(&mut self) {
        self.by_id = HashMap::default();
        let (names, reporter) = (&self.names, &mut self.reporter);
        self.games.retain(|game| game.differ.inspect(|sources| reporter.differ(names, game, *sources)).is_none());
        // no two keys are equal, because identities or annotators differ
        let found = self.found;
        self.games.sort_unstable_by(|one, other| one.order(other, found));
    }

    /// Drops the copies of games under other names or another start time.
    fn drop_copies(&mut self) {
        let prints: Vec<_> = self
            .games
            .iter()
            .map(|game| {
                let GameInfo { moves, black_outcome, .. } = game.entry.info;
                ((moves, black_outcome, game.annotator(self.found)), game.entry.scored)
            })
            .collect();
        let originals = copies(&prints);
        for (game, original) in self.games.iter().zip(&originals) {
            let Some(original) = original.map(|index| &self.games[index]) else { continue };
            self.reporter.copy(&self.names, game, original);
        }
        let mut originals = originals.into_iter();
        self.games.retain(|_| originals.next().flatten().is_none());
    }

    /// The names that play chess and another game, with those that they have in chess: scores of two games share no
    /// scale, and their players no strengths.
    fn names_of_two_games(&mut self) -> BTreeMap<String, String> {
        let chess = self.games.iter().filter(|game| game.chess).count();
        if chess == 0 || chess == self.games.len() {
            return BTreeMap::new();
        }
        let mut games: BTreeMap<&str, [Option<usize>; 2]> = BTreeMap::new();
        for (i, game) in self.games.iter().enumerate() {
            let names = &self.found[game.part].names;
            for id in game.entry.info.players.into_iter().chain(game.entry.annotator) {
                games.entry(names.get(id)).or_default()[usize::from(game.chess)].get_or_insert(i);
            }
        }
        let both = games.into_iter().filter_map(|(name, of)| Some((name, of[0]?, of[1]?)));
        let both: Vec<_> = both.filter(|(name, ..)| !name.is_empty()).collect();
        for (name, _, chess) in &both {
            let (game, own) = (&self.games[*chess], format!("{name} (chess)"));
            let text = text!("{name} plays chess and another game: in chess it counts as '{own}'");
            self.reporter.problem(self.names.get(game.source), game.line(), OddityKind::SameName, text, false);
        }
        both.into_iter().map(|(name, ..)| (name.to_owned(), format!("{name} (chess)"))).collect()
    }

    /// The table with its games. What was found of them is not needed from then on.
    fn into_games(mut self) -> Games {
        let both = self.names_of_two_games();
        let found = self.found;
        let unnamed = self.names.intern("");
        let mut with_games =
            found.iter().flat_map(|part| &part.blocks).filter(|b| !b.games.is_empty() || b.positions.is_some());
        let chess = with_games.clone().next().is_some() && with_games.all(|block| block.chess);
        let mut table = SampleTable { names: self.names, chess, ..SampleTable::default() };
        table.games.reserve(self.games.len() + self.packed.iter().map(|block| block.drawn.len()).sum::<usize>());
        let mut of_games = Vec::with_capacity(self.games.len());
        for game in &self.games {
            let entry = game.entry;
            let mut name = |id: NameId| self.numbers.of(game.part, id, &mut table.names);
            let mut info = GameInfo {
                players: entry.info.players.map(&mut name),
                time_control: name(entry.info.time_control),
                source: game.source,
                line: game.line(),
                ..entry.info.clone()
            };
            let mut annotator = entry.annotator.map(&mut name);
            for name in info.players.iter_mut().chain(&mut annotator).filter(|_| game.chess) {
                if let Some(own) = both.get(table.names.get(*name)) {
                    *name = table.names.intern(own);
                }
            }
            let inverted = game.inverted();
            if inverted.is_some() {
                info.end = entry.view.and_then(|(_, end)| end);
            }
            table.games.push(info);
            let (part, first_line) = (game.part, game.first_line);
            of_games.push(SamplesOf { part, samples: entry.samples.clone(), annotator, inverted, first_line });
        }
        Games { table, of_games, unnamed, packed: self.packed, reporter: self.reporter }
    }
}

/// The table while its samples come to it.
struct Games {
    table: SampleTable,
    /// where the samples of each game are
    of_games: Vec<SamplesOf>,
    unnamed: NameId,
    packed: Vec<MergedBlock>,
    reporter: Reporter,
}

/// Adds the samples of the games, given those that each worker found.
fn add_samples(of_games: Vec<SamplesOf>, found: &[Vec<DrawnScore>], unnamed: NameId, table: &mut SampleTable) {
    for (number, (info, of)) in (0..).zip(table.games.iter().zip(of_games)) {
        let cp = |color, cp: i32| if of.inverted == Some(color) { cp.saturating_neg() } else { cp };
        table.samples.extend(found[of.part][of.samples].iter().map(|sample| {
            let position = sample.position;
            let is_inverted = of.inverted == Some(position.color);
            Sample {
                game: number,
                engine: of.annotator.unwrap_or(info.players[position.color.index()]),
                opponent: match of.annotator {
                    Some(_) => unnamed,
                    None => info.players[position.color.opponent().index()],
                },
                color: position.color,
                ply: position.ply,
                window: sample.window,
                score_cp: cp(position.color, position.score_cp),
                reply_cp: sample.reply_cp.map(|reply| cp(position.color.opponent(), reply)),
                declared: position.declared.map(|d| if is_inverted { d.reversed() } else { d }),
                mate: position.mate,
                outcome: info.black_outcome.in_view_of(position.color),
                material: sample.material,
                line: of.first_line + position.line + 1,
            }
        }));
    }
}

/// Adds the drawn records of HCPE and PSV after the games, ordered by file key and position in the file, so that
/// the order of the given files does not matter.
fn add_packed(
    mut blocks: Vec<MergedBlock>,
    drawn: &[Vec<Drawn>],
    unnamed: NameId,
    table: &mut SampleTable,
    reporter: &mut Reporter,
) {
    // of two blocks at one place the longer one comes first: it holds all records of the other
    blocks.sort_by_cached_key(|block| (block.place, Reverse(block.drawn.len()), drawn_digest(block.drawn(drawn))));
    for copies in blocks.chunk_by(|a, b| a.place == b.place) {
        // several blocks at one place: copies of a file, whole or in part
        let mut added: HashMap<u64, NameId> = HashMap::new();
        for block in copies {
            let mut duplicates = 0;
            for game in block.drawn(drawn).chunk_by(|_, next| !next.begins) {
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
            reporter.report.skip_positions(block.packed.as_str(), SkipReason::Duplicate, duplicates);
        }
    }
}

/// The first blocks of the files in a known format that hold no game.
fn without_games(found: &[Found], order: &[(Key, usize, usize)]) -> HashSet<Key> {
    let block = |(_, part, index): &(Key, usize, usize)| &found[*part].blocks[*index];
    let files = order.chunk_by(|a, b| Arc::ptr_eq(&block(a).member, &block(b).member));
    let empty = files.filter(|file| file.iter().all(|at| block(at).holds_nothing()));
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
