//! From paths to the sample table: finds records, reads them on several threads, draws, and merges in one fixed order.
//!
//! The calling thread walks through files and archives and hands out blocks; when every worker is busy it reads the
//! block itself, so that `threads` threads are at work and no more. Workers keep what they find under the block's
//! place in the order of reading; the merge goes through the places in order and the result does not depend on who
//! read what.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use thiserror::Error;

use super::merge::{Found, FoundBlock, FoundGame, FoundSample, merge};
use super::sampler::{Scratch, annotator, draw, plies_before, usable};
use super::{GameInfo, SampleTable, SamplingOptions, packed};
use crate::record::find::{Entry, SourceError, find};
use crate::record::format::{Content, CountMaterial};
use crate::record::source::{self, Block, Key, Part, Refusal, Sink};
use crate::record::{Cursor, Format, Game, ScoredPosition, SkipReason};
use evalcurve_core::types::Termination;

/// What an engine is called whose record does not name it.
const UNNAMED: &str = "unnamed";

/// Of a game whose material cannot be counted.
const NOT_REPLAYED: &str = "not_replayed";

/// Pieces that are handed to a worker at once, at the most, ...
const BATCH: usize = 8;
/// ... and bytes that are enough for a batch.
const BATCH_BYTES: usize = 1 << 18;

/// How records are read.
#[derive(Debug, Clone)]
pub struct CollectOptions {
    /// The draw.
    pub sampling: SamplingOptions,
    /// Threads at work, at least 1.
    pub threads: usize,
    /// Stop at the first problem.
    pub strict: bool,
    /// Check the moves of every CSA game with the `csa` crate.
    pub verify: bool,
    /// Count the material of the drawn positions of PGN games, by playing their moves.
    pub material: bool,
    /// The format of all files, where their content is not to decide.
    pub format: Option<&'static Format>,
}

/// What has been read so far; any thread may look.
#[derive(Debug, Default)]
pub struct Progress {
    /// Bytes taken from disk.
    pub bytes: Arc<AtomicU64>,
    /// Games met.
    pub games: AtomicU64,
    /// Bytes there are, where known.
    pub total_bytes: AtomicU64,
}

/// Something odd, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// File, or archive and member.
    pub source: String,
    /// Line from 1; 0 where the file as a whole is meant.
    pub line: u64,
    /// Its kind, as it is counted.
    pub kind: &'static str,
    /// The value, or what went wrong.
    pub value: String,
    /// `--strict` stops here.
    pub strict: bool,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.source)?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        write!(f, ": {}", self.kind.replace('_', " "))?;
        if self.value.is_empty() { Ok(()) } else { write!(f, ": {}", self.value) }
    }
}

/// What became of files and games. Games read = used + the sum of skipped.
#[derive(Debug, Clone, Default)]
pub struct ReadReport {
    /// Files and members of archives that held games.
    pub files_read: u64,
    /// Files and members that did not, by reason.
    pub files_refused: BTreeMap<&'static str, u64>,
    /// Games met.
    pub games_read: u64,
    /// Games that gave at least one sample.
    pub games_used: u64,
    /// Games that did not, by reason.
    pub games_skipped: BTreeMap<&'static str, u64>,
    /// Odd things in games that were used all the same, by kind.
    pub oddities: BTreeMap<&'static str, u64>,
    /// Moves marked as book moves, which carry no score.
    pub book_moves: u64,
    /// Scored positions, drawn or not.
    pub scores: u64,
    /// Positions of training data and rows of tables, by format.
    pub positions: BTreeMap<&'static str, PositionCount>,
    /// Games whose moves were checked by the `csa` crate.
    pub verified: u64,
    /// The first problems of each kind, in the order of reading.
    pub problems: Vec<Problem>,
    /// Bytes of game text.
    pub bytes: u64,
}

impl ReadReport {
    /// Counts `n` games that were used as skipped.
    pub fn skip_used(&mut self, reason: SkipReason, n: u64) {
        if n > 0 {
            self.games_used -= n.min(self.games_used);
            *self.games_skipped.entry(reason.as_str()).or_default() += n;
        }
    }

    /// Was training data read?
    pub fn has_packed(&self) -> bool {
        self.packed().next().is_some()
    }

    /// The positions of training data, a format after the other.
    pub fn packed(&self) -> impl Iterator<Item = &PositionCount> {
        self.positions.iter().filter(|(format, _)| **format != "table").map(|(_, count)| count)
    }

    /// Counts `n` positions of a format that were used as those of a game met before.
    pub(super) fn skip_duplicates(&mut self, format: &str, n: u64) {
        if let Some(count) = self.positions.get_mut(format) {
            count.used -= n;
            count.skip(SkipReason::Duplicate, n);
        }
    }

    /// Does the sum hold?
    pub fn adds_up(&self) -> bool {
        self.games_read == self.games_used + self.games_skipped.values().sum::<u64>()
            && self.positions.values().all(PositionCount::adds_up)
    }
}

/// What became of positions that stand alone, in training data or in a table: read = used + the sum of skipped.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PositionCount {
    /// Positions met.
    pub read: u64,
    /// Positions in the sample table, before filters.
    pub used: u64,
    /// The others, by reason.
    pub skipped: BTreeMap<&'static str, u64>,
}

impl PositionCount {
    /// Adds `n` positions under `reason`.
    pub(crate) fn skip(&mut self, reason: SkipReason, n: u64) {
        if n > 0 {
            *self.skipped.entry(reason.as_str()).or_default() += n;
        }
    }

    /// Adds the counts of another block.
    pub(crate) fn add(&mut self, other: &Self) {
        self.read += other.read;
        self.used += other.used;
        for (reason, n) in &other.skipped {
            *self.skipped.entry(reason).or_default() += n;
        }
    }

    /// Does the sum hold?
    pub fn adds_up(&self) -> bool {
        self.read == self.used + self.skipped.values().sum::<u64>()
    }
}

/// The table and the report on how it came about.
#[derive(Debug, Clone, Default)]
pub struct Collected {
    /// The samples.
    pub table: SampleTable,
    /// What was read and skipped.
    pub report: ReadReport,
}

/// Reading could not begin, or was to stop at the first problem.
#[derive(Debug, Error)]
pub enum CollectError {
    /// A path that names nothing.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The first problem, under `--strict`.
    #[error("{0} (--strict stops at the first problem)")]
    Strict(Problem),
}

/// Reads all records under `paths` and draws their samples.
///
/// # Errors
/// [`CollectError::Source`] for a path that does not exist; [`CollectError::Strict`] for the first problem where
/// `options.strict` asks for it.
pub fn collect(paths: &[PathBuf], options: &CollectOptions, progress: &Progress) -> Result<Collected, CollectError> {
    let entries = find(paths)?;
    progress.total_bytes.store(entries.iter().map(|e| e.size).sum(), Ordering::Relaxed);
    let shared = Shared { options, progress, pool: Mutex::default(), stop: AtomicBool::new(false) };
    let (sender, receiver) = sync_channel(options.threads.max(1) * 2);
    let receiver = Mutex::new(receiver);
    let found: Vec<Found> = std::thread::scope(|scope| {
        let workers: Vec<_> = (1..options.threads.max(1)).map(|_| scope.spawn(|| work(&receiver, &shared))).collect();
        let sender = (!workers.is_empty()).then_some(sender);
        let mut dispatch = Dispatch { own: Worker::new(&shared), sender, batch: Vec::new(), batch_bytes: 0 };
        for (index, entry) in entries.iter().enumerate() {
            if shared.stop.load(Ordering::Relaxed) {
                break;
            }
            dispatch.entry(index as u32, entry);
        }
        dispatch.flush();
        let Dispatch { own, sender, .. } = dispatch;
        drop(sender);
        let mut found = vec![own.found];
        // a worker does not panic: readers are checked for that; if one did, its games would be missing silently
        for worker in workers {
            match worker.join() {
                Ok(part) => found.push(part),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        found
    });
    let collected = merge(found);
    match collected.report.problems.iter().find(|p| p.strict).filter(|_| options.strict) {
        Some(problem) => Err(CollectError::Strict(problem.clone())),
        None => Ok(collected),
    }
}

struct Shared<'a> {
    options: &'a CollectOptions,
    progress: &'a Progress,
    /// Buffers to be used again.
    pool: Mutex<Vec<Vec<u8>>>,
    stop: AtomicBool,
}

enum Work {
    Entry(u32, Entry),
    Block(Block),
    Part(Part),
}

impl Worker<'_> {
    fn work(&mut self, work: Work) {
        match work {
            Work::Block(block) => self.block(block),
            Work::Part(part) => self.part(part),
            Work::Entry(index, entry) => source::read_entry(index, &entry, self),
        }
    }
}

fn work(receiver: &Mutex<Receiver<Vec<Work>>>, shared: &Shared<'_>) -> Found {
    let mut worker = Worker::new(shared);
    loop {
        let next = receiver.lock().unwrap_or_else(PoisonError::into_inner).recv();
        match next {
            Ok(batch) => batch.into_iter().for_each(|work| worker.work(work)),
            Err(_) => return worker.found,
        }
    }
}

/// The calling thread: hands work out, or does it itself when nobody is free.
struct Dispatch<'a> {
    own: Worker<'a>,
    sender: Option<SyncSender<Vec<Work>>>,
    /// Small pieces wait here for company, since waking a worker costs as much as reading a short game.
    batch: Vec<Work>,
    batch_bytes: usize,
}

impl Dispatch<'_> {
    fn entry(&mut self, index: u32, entry: &Entry) {
        if entry.is_small() {
            self.hand_out(Work::Entry(index, entry.clone()), usize::try_from(entry.size).unwrap_or(usize::MAX));
        } else {
            source::read_entry(index, entry, self);
        }
    }

    fn hand_out(&mut self, work: Work, bytes: usize) {
        self.batch.push(work);
        self.batch_bytes = self.batch_bytes.saturating_add(bytes);
        if self.batch_bytes >= BATCH_BYTES || self.batch.len() >= BATCH {
            self.flush();
        }
    }

    fn flush(&mut self) {
        self.batch_bytes = 0;
        let batch = std::mem::take(&mut self.batch);
        let refused = match &self.sender {
            Some(sender) if !batch.is_empty() => match sender.try_send(batch) {
                Ok(()) => Vec::new(),
                Err(TrySendError::Full(batch) | TrySendError::Disconnected(batch)) => batch,
            },
            _ => batch,
        };
        refused.into_iter().for_each(|work| self.own.work(work));
    }
}

impl Sink for Dispatch<'_> {
    fn block(&mut self, block: Block) {
        let bytes = block.filled;
        self.hand_out(Work::Block(block), bytes);
    }

    fn part(&mut self, part: Part) {
        let bytes = part.length;
        self.hand_out(Work::Part(part), bytes);
    }

    fn format(&self) -> Option<&'static Format> {
        self.own.format()
    }

    fn refuse(&mut self, key: Key, member: &str, refusal: Refusal, message: String) {
        self.own.refuse(key, member, refusal, message);
    }

    fn buffer(&mut self) -> Vec<u8> {
        self.own.buffer()
    }

    fn stop(&self) -> bool {
        self.own.shared.stop.load(Ordering::Relaxed)
    }

    fn byte_count(&self) -> Arc<AtomicU64> {
        self.own.byte_count()
    }
}

struct Worker<'a> {
    shared: &'a Shared<'a>,
    found: Found,
    game: Game,
    scratch: Scratch,
    drawn: Vec<(ScoredPosition, u32)>,
}

impl<'a> Worker<'a> {
    fn new(shared: &'a Shared<'a>) -> Self {
        Self { shared, found: Found::default(), game: Game::default(), scratch: Scratch::default(), drawn: Vec::new() }
    }

    /// Reads every game of a block.
    fn read(&mut self, block: &Block) -> FoundBlock {
        let options = self.shared.options;
        let reader = match block.format.content {
            Content::Games { reader, .. } => reader,
            Content::Positions(kind) => {
                let out = packed::read(block, kind, &options.sampling, &mut self.found);
                self.shared.progress.games.fetch_add(out.read, Ordering::Relaxed);
                return out;
            }
        };
        let first = self.found.games.len();
        let mut out = FoundBlock::new(block.key, &block.member, block.filled as u64, first);
        let mut cursor = Cursor { encoding: block.encoding, ..Cursor::default() };
        let text = block.text();
        loop {
            let begin = cursor.offset;
            match reader.read_game(text, &mut cursor, &mut self.game) {
                Ok(false) => break,
                Ok(true) => {
                    out.read += 1;
                    let played = &text[begin..cursor.offset];
                    let material = block.format.material.filter(|_| options.material);
                    self.take(&mut out, options, material.map(|count| (count, played)));
                    if let Some(check) = block.format.verify.filter(|_| options.verify) {
                        match check(played) {
                            Ok(()) => out.verified += 1,
                            Err(error) => out.problem(self.game.line, "moves_differ", error.to_string(), true),
                        }
                    }
                }
                Err(error) => {
                    out.read += 1;
                    *out.skipped.entry(error.reason).or_default() += 1;
                    let kind = error.reason.as_str();
                    out.problem(error.line, kind, format!("'{}'; the game is skipped", error.value), true);
                }
            }
        }
        out.lines = cursor.line + u64::from(text.last().is_some_and(|&b| b != b'\n'));
        out.games.end = self.found.games.len();
        self.shared.progress.games.fetch_add(out.read, Ordering::Relaxed);
        out
    }

    /// Draws the samples of the game that was read last, and counts their material in its text where that is given.
    fn take(&mut self, out: &mut FoundBlock, options: &CollectOptions, played: Option<(CountMaterial, &[u8])>) {
        let game = &self.game;
        out.book_moves += u64::from(game.book_moves);
        out.scores += game.scores.len() as u64;
        for oddity in &game.oddities {
            *out.odd.entry(oddity.kind.as_str()).or_default() += 1;
            out.problem(oddity.line, oddity.kind.as_str(), format!("'{}' is passed over", oddity.value), true);
        }
        let outcome = match usable(game, &options.sampling) {
            Ok(outcome) => outcome,
            Err(reason) => {
                *out.skipped.entry(reason).or_default() += 1;
                if reason == SkipReason::AnalysisWithoutEngine {
                    let text = "the scores are an analysis and the record does not name its engine; name it with \
                                --annotator NAME"
                        .to_owned();
                    out.problem(game.line, reason.as_str(), text, false);
                }
                return;
            }
        };
        self.drawn.clear();
        draw(game, &options.sampling, &mut self.scratch, &mut self.drawn);
        if self.drawn.is_empty() {
            *out.skipped.entry(SkipReason::NoScoresInWindows).or_default() += 1;
            return;
        }
        let from = self.found.samples.len();
        let of = |&(position, window): &(ScoredPosition, u32)| FoundSample { position, window, material: None };
        self.found.samples.extend(self.drawn.iter().map(of));
        if let Some((count, text)) = played {
            let before = plies_before(game, &options.sampling);
            let mut plies = self.drawn.iter().map(|(position, _)| position.ply.saturating_sub(before));
            match count(text, &mut plies) {
                Ok(counts) => {
                    let samples = self.found.samples.iter_mut().skip(from);
                    samples.zip(counts).for_each(|(sample, count)| sample.material = Some(count));
                }
                Err(error) => {
                    *out.odd.entry(NOT_REPLAYED).or_default() += 1;
                    out.problem(game.line, NOT_REPLAYED, format!("{error}; its samples have no material"), true);
                }
            }
        }
        let names = &mut self.found.names;
        let annotator = annotator(game, &options.sampling).map(|name| names.intern(name));
        let info = GameInfo {
            id: game.id,
            players: [0, 1]
                .map(|side| names.intern(if game.names[side].is_empty() { UNNAMED } else { &game.names[side] })),
            // they are the players', not an annotator's
            ratings: if annotator.is_some() { [None; 2] } else { game.ratings },
            start_time: game.start_time,
            time_control: names.intern(&game.time_control),
            termination: game.termination.unwrap_or(Termination::Unknown),
            black_outcome: outcome,
            source: 0,
            line: game.line,
        };
        self.found.games.push(FoundGame { info, annotator, samples: from..self.found.samples.len() });
    }
}

impl Sink for Worker<'_> {
    fn block(&mut self, block: Block) {
        let found = self.read(&block);
        if found.problems.iter().any(|(.., strict)| *strict) && self.shared.options.strict {
            self.shared.stop.store(true, Ordering::Relaxed);
        }
        self.found.blocks.push(found);
        // a buffer that one long game has stretched is given back to the system
        if block.bytes.len() <= 2 * source::BLOCK {
            self.shared.pool.lock().unwrap_or_else(PoisonError::into_inner).push(block.bytes);
        }
    }

    fn part(&mut self, part: Part) {
        let buffer = self.buffer();
        match part.read(buffer) {
            Ok(block) => self.block(block),
            Err(error) => self.refuse(part.key, &part.member, Refusal::Unreadable, error.to_string()),
        }
    }

    fn format(&self) -> Option<&'static Format> {
        self.shared.options.format
    }

    fn refuse(&mut self, key: Key, member: &str, refusal: Refusal, message: String) {
        let mut found = FoundBlock::new(key, &Arc::from(member), 0, self.found.games.len());
        found.refusal = Some(refusal);
        let strict = !matches!(refusal, Refusal::UnknownFormat | Refusal::Empty);
        found.problems.push((u64::MAX, refusal.as_str(), message, strict));
        if strict && self.shared.options.strict {
            self.shared.stop.store(true, Ordering::Relaxed);
        }
        self.found.blocks.push(found);
    }

    fn buffer(&mut self) -> Vec<u8> {
        self.shared.pool.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    fn byte_count(&self) -> Arc<AtomicU64> {
        self.shared.progress.bytes.clone()
    }
}
