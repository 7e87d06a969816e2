//! Reads files and archives on several threads.
//!
//! The calling thread walks through files and archives and hands out blocks. If all workers are busy, it reads the
//! block itself, so that exactly `threads` threads work. Each block carries its key, the position in the
//! order of reading. A caller that merges what the workers found in the order of the keys gets a result that does not
//! depend on which thread read what.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use crate::record::archive;
use crate::record::find::Entry;
use crate::record::source::{BLOCK, Block, Note, Shared, Sink, Work};
use crate::record::{Formats, Game, GameError};

/// Most pieces of work in a batch.
const BATCH: usize = 8;
/// A batch with this many bytes is sent.
const BATCH_BYTES: u64 = 1 << 18;

/// How much has been read so far. Any thread may look.
#[derive(Debug, Default)]
pub struct Progress {
    /// Bytes read from disk.
    pub bytes: Arc<AtomicU64>,
    /// Games read.
    pub games: AtomicU64,
    /// Size of all files, as far as it is known.
    pub total_bytes: AtomicU64,
    /// Whether all is read.
    pub ended: AtomicBool,
    /// Set by any thread to end the reading early; what was read until then is returned.
    pub stop: AtomicBool,
    /// Called after each piece of work, by the thread that did it: for hosts where no other thread can look.
    pub each: Option<fn(&Self)>,
}

/// Collects what one worker reads.
pub trait Collector: Send {
    /// Reads a block.
    fn block(&mut self, block: &Block) -> Step;
    /// Records what is to be reported about a file or member.
    fn note(&mut self, note: Note) -> Step;
}

/// The outcome of one call of a [`Collector`].
#[derive(Default)]
pub struct Step {
    /// Games read.
    pub games: u64,
    /// Whether all reading must stop.
    pub stop: bool,
}

/// Reads `entries` with `threads` collectors made by `new`, and returns the collectors. `formats`
/// says how files are read.
pub fn read_all<C: Collector>(
    entries: &[Entry],
    threads: usize,
    formats: &Formats,
    progress: &Progress,
    new: impl Fn() -> C + Sync,
) -> Vec<C> {
    progress.total_bytes.store(entries.iter().map(|e| e.size).sum(), Ordering::Relaxed);
    let shared = Shared { formats: formats.clone(), bytes: progress.bytes.clone(), ..Shared::default() };
    let threads = threads.max(1);
    let (sender, receiver) = sync_channel(threads * 2);
    let receiver = Mutex::new(receiver);
    let worker = || Worker { shared: &shared, progress, collector: new() };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (1..threads).map(|_| scope.spawn(|| worker().run(&receiver))).collect();
        let sender = (!workers.is_empty()).then_some(sender);
        let mut dispatch = Dispatch { own: worker(), sender, batch: Vec::new(), batch_bytes: 0 };
        for (index, entry) in entries.iter().enumerate() {
            if shared.stops() {
                break;
            }
            dispatch.take(Work::Entry(index as u32, entry.clone()));
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
pub fn read_games(block: &Block, game: &mut Game, mut each: impl FnMut(Result<&Game, GameError>, &[u8])) -> u64 {
    let text = block.text();
    let mut games = block.format.games(text, &block.above);
    while let Some(read) = games.read(game) {
        match read {
            Ok(text) => each(Ok(game), text),
            Err(error) => each(Err(error), &[]),
        }
    }
    games.place().line + u64::from(text.last().is_some_and(|&b| b != b'\n'))
}

struct Worker<'a, C> {
    shared: &'a Shared,
    progress: &'a Progress,
    collector: C,
}

impl<C: Collector> Worker<'_, C> {
    fn run(mut self, receiver: &Mutex<Receiver<Vec<Work>>>) -> C {
        loop {
            let next = receiver.lock().unwrap_or_else(PoisonError::into_inner).recv();
            match next {
                Ok(batch) => batch.into_iter().for_each(|work| self.take(work)),
                Err(_) => return self.collector,
            }
        }
    }
}

impl<C: Collector> Sink for Worker<'_, C> {
    fn take(&mut self, work: Work) {
        let step = match work {
            Work::Entry(index, entry) => return archive::read_entry(index, &entry, self),
            Work::Part(part) => return self.take(part.read(self.shared)),
            Work::Note(note) => self.collector.note(note),
            Work::Block(block) => {
                let step = self.collector.block(&block);
                // a buffer that one long game has stretched is freed
                if block.bytes.len() <= 2 * BLOCK {
                    self.shared.pool.lock().unwrap_or_else(PoisonError::into_inner).push(block.bytes);
                }
                step
            }
        };
        self.progress.games.fetch_add(step.games, Ordering::Relaxed);
        if let Some(tell) = self.progress.each {
            tell(self.progress);
        }
        let stop = step.stop || self.progress.stop.load(Ordering::Relaxed);
        self.shared.stop.fetch_or(stop, Ordering::Relaxed);
    }

    fn shared(&self) -> &Shared {
        self.shared
    }
}

/// The calling thread: it hands work out, or does it itself if no worker is free.
struct Dispatch<'a, C> {
    own: Worker<'a, C>,
    sender: Option<SyncSender<Vec<Work>>>,
    /// Small pieces are collected here, because waking a worker costs as much as reading a short game.
    batch: Vec<Work>,
    batch_bytes: u64,
}

impl<C: Collector> Dispatch<'_, C> {
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
        refused.into_iter().for_each(|work| self.own.take(work));
    }
}

impl<C: Collector> Sink for Dispatch<'_, C> {
    fn take(&mut self, work: Work) {
        let bytes = match &work {
            Work::Entry(index, entry) if !entry.is_small() => return archive::read_entry(*index, entry, self),
            Work::Entry(_, entry) => entry.size,
            Work::Part(part) => part.length() as u64,
            Work::Block(block) => block.filled as u64,
            Work::Note(_) => return self.own.take(work),
        };
        self.batch.push(work);
        self.batch_bytes = self.batch_bytes.saturating_add(bytes);
        if self.batch_bytes >= BATCH_BYTES || self.batch.len() >= BATCH {
            self.flush();
        }
    }

    fn shared(&self) -> &Shared {
        self.own.shared
    }
}
