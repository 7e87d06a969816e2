//! Reads files and archives on several threads.
//!
//! The calling thread walks through files and archives and hands out blocks. If all workers are busy, it reads the
//! block itself, so that exactly `threads` threads work. Each block carries its [`Key`], the position in the order of
//! reading. A caller that merges what the workers found in the order of the keys gets a result that does not depend on
//! which thread read what.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use crate::record::find::Entry;
use crate::record::source::{self, Block, Key, Part, Refusal, Sink};
use crate::record::{Cursor, Format, Game, GameError, Reader};

/// Most pieces of work in a batch.
const BATCH: usize = 8;
/// A batch with this many bytes is sent.
const BATCH_BYTES: usize = 1 << 18;

/// How much has been read so far. Any thread may look.
#[derive(Debug, Default)]
pub struct Progress {
    /// Bytes read from disk.
    pub bytes: Arc<AtomicU64>,
    /// Games read.
    pub games: AtomicU64,
    /// Size of all files, as far as it is known.
    pub total_bytes: AtomicU64,
}

/// Collects what one worker reads.
pub(crate) trait Collector: Send {
    /// Reads a block.
    fn block(&mut self, block: &Block) -> Step;
    /// Records a file or member without games.
    fn refuse(&mut self, key: Key, member: &str, refusal: Refusal, message: String) -> Step;
}

/// The outcome of one call of a [`Collector`].
#[derive(Default)]
pub(crate) struct Step {
    /// Games read.
    pub games: u64,
    /// Whether all reading must stop.
    pub stop: bool,
}

/// Reads `entries` with `threads` collectors made by `new`, and returns the collectors. `format` is the format of all
/// files; without it, their content decides.
pub(crate) fn read_all<C: Collector>(
    entries: &[Entry],
    threads: usize,
    format: Option<&'static Format>,
    progress: &Progress,
    new: impl Fn() -> C + Sync,
) -> Vec<C> {
    progress.total_bytes.store(entries.iter().map(|e| e.size).sum(), Ordering::Relaxed);
    let shared = Shared { format, progress, pool: Mutex::default(), stop: AtomicBool::new(false) };
    let threads = threads.max(1);
    let (sender, receiver) = sync_channel(threads * 2);
    let receiver = Mutex::new(receiver);
    let worker = || Worker { shared: &shared, collector: new() };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (1..threads).map(|_| scope.spawn(|| worker().run(&receiver))).collect();
        let sender = (!workers.is_empty()).then_some(sender);
        let mut dispatch = Dispatch { own: worker(), sender, batch: Vec::new(), batch_bytes: 0 };
        for (index, entry) in entries.iter().enumerate() {
            if dispatch.stop() {
                break;
            }
            dispatch.entry(index as u32, entry);
        }
        dispatch.flush();
        // the workers end when the sender is dropped
        let Dispatch { own, sender, .. } = dispatch;
        drop(sender);
        let mut collectors = vec![own.collector];
        for worker in workers {
            match worker.join() {
                Ok(collector) => collectors.push(collector),
                // readers are tested not to panic; without this, the games of the thread would be lost silently
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        collectors
    })
}

/// Reads the games of a block into `game` one by one and calls `each` with the game, or its error, and its text.
/// Returns the number of lines of the block.
pub(crate) fn read_games(
    block: &Block,
    reader: &dyn Reader,
    game: &mut Game,
    mut each: impl FnMut(Result<&Game, GameError>, &[u8]),
) -> u64 {
    let text = block.text();
    let mut cursor = Cursor { encoding: block.encoding, ..Cursor::default() };
    loop {
        let begin = cursor.offset;
        match reader.read_game(text, &mut cursor, game) {
            Ok(false) => break,
            Ok(true) => each(Ok(game), text.get(begin..cursor.offset).unwrap_or_default()),
            Err(error) => each(Err(error), &[]),
        }
    }
    cursor.line + u64::from(text.last().is_some_and(|&b| b != b'\n'))
}

struct Shared<'a> {
    format: Option<&'static Format>,
    progress: &'a Progress,
    /// Buffers for reuse.
    pool: Mutex<Vec<Vec<u8>>>,
    stop: AtomicBool,
}

enum Work {
    Entry(u32, Entry),
    Block(Block),
    Part(Part),
}

struct Worker<'a, C> {
    shared: &'a Shared<'a>,
    collector: C,
}

impl<C: Collector> Worker<'_, C> {
    fn run(mut self, receiver: &Mutex<Receiver<Vec<Work>>>) -> C {
        loop {
            let next = receiver.lock().unwrap_or_else(PoisonError::into_inner).recv();
            match next {
                Ok(batch) => batch.into_iter().for_each(|work| self.work(work)),
                Err(_) => return self.collector,
            }
        }
    }

    fn work(&mut self, work: Work) {
        match work {
            Work::Block(block) => self.block(block),
            Work::Part(part) => self.part(part),
            Work::Entry(index, entry) => source::read_entry(index, &entry, self),
        }
    }

    fn count(&self, step: &Step) {
        self.shared.progress.games.fetch_add(step.games, Ordering::Relaxed);
        if step.stop {
            self.shared.stop.store(true, Ordering::Relaxed);
        }
    }
}

impl<C: Collector> Sink for Worker<'_, C> {
    fn block(&mut self, block: Block) {
        let step = self.collector.block(&block);
        self.count(&step);
        // a buffer that one long game has stretched is freed
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

    fn refuse(&mut self, key: Key, member: &str, refusal: Refusal, message: String) {
        let step = self.collector.refuse(key, member, refusal, message);
        self.count(&step);
    }

    fn buffer(&mut self) -> Vec<u8> {
        self.shared.pool.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    fn stop(&self) -> bool {
        self.shared.stop.load(Ordering::Relaxed)
    }

    fn format(&self) -> Option<&'static Format> {
        self.shared.format
    }

    fn byte_count(&self) -> Arc<AtomicU64> {
        self.shared.progress.bytes.clone()
    }
}

/// The calling thread: it hands work out, or does it itself if no worker is free.
struct Dispatch<'a, C> {
    own: Worker<'a, C>,
    sender: Option<SyncSender<Vec<Work>>>,
    /// Small pieces are collected here, because waking a worker costs as much as reading a short game.
    batch: Vec<Work>,
    batch_bytes: usize,
}

impl<C: Collector> Dispatch<'_, C> {
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

impl<C: Collector> Sink for Dispatch<'_, C> {
    fn block(&mut self, block: Block) {
        let bytes = block.filled;
        self.hand_out(Work::Block(block), bytes);
    }

    fn part(&mut self, part: Part) {
        let bytes = part.length;
        self.hand_out(Work::Part(part), bytes);
    }

    fn refuse(&mut self, key: Key, member: &str, refusal: Refusal, message: String) {
        self.own.refuse(key, member, refusal, message);
    }

    fn buffer(&mut self) -> Vec<u8> {
        self.own.buffer()
    }

    fn stop(&self) -> bool {
        self.own.stop()
    }

    fn format(&self) -> Option<&'static Format> {
        self.own.format()
    }

    fn byte_count(&self) -> Arc<AtomicU64> {
        self.own.byte_count()
    }
}
