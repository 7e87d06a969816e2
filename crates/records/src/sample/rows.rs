//! Records in the rows of a table, one game in each.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use evalcurve_words::language::Text;
use evalcurve_words::text;
use rayon::prelude::*;

use super::collect::Worker;
use super::found::{Found, FoundBlock};
use super::report::count;
use crate::parallel::{Collector, Progress};
use crate::record::source::{Block, Cleaned};
use crate::record::{Above, SkipReason};

/// Rows read by one task.
const CHUNK: usize = 1_024;

/// The texts of games in a table. Lines of samples and problems are numbers of rows, from 1.
#[derive(Debug, Clone, Default)]
pub struct Rows {
    name: Arc<str>,
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl Rows {
    /// No rows of a table with this name.
    pub fn new(name: &str) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// Adds a row; `write` appends its text, nothing for a row without a game.
    pub fn push(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let mut text = Vec::new();
        write(&mut text);
        self.text.append(&mut text);
        self.ends.push(self.text.len());
    }

    /// Size of all texts in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.text.len() as u64
    }

    /// Reads all rows, as file number `file` in the order of reading.
    pub(super) fn read<'a>(&self, file: u32, new: impl Fn() -> Worker<'a> + Sync, progress: &Progress) -> Vec<Found> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let rows: Vec<(usize, usize)> = starts.zip(self.ends.iter().copied()).collect();
        let chunk = |(c, rows): (usize, &[(usize, usize)])| {
            let mut worker = new();
            for (row, (start, end)) in rows.iter().enumerate() {
                if progress.stop.load(Relaxed) {
                    break;
                }
                let text = self.text.get(*start..*end).unwrap_or_default();
                self.row((file, (c * CHUNK + row) as u64), text, &mut worker);
                progress.bytes.fetch_add(text.len() as u64, Relaxed);
                progress.games.fetch_add(1, Relaxed);
            }
            worker.found
        };
        rows.par_chunks(CHUNK).enumerate().map(chunk).collect()
    }

    fn row(&self, key: (u32, u64), text: &[u8], worker: &mut Worker<'_>) {
        let Some(format) = worker.options.formats.detect(text) else {
            let value = match text.iter().all(u8::is_ascii_whitespace) {
                true => text!("the row holds no text"),
                false => {
                    text!("the text of the row is in no known format; known are {}", worker.options.formats.labels())
                }
            };
            let mut found = FoundBlock::new(key, &self.name, text.len() as u64, worker.found.games.len());
            without_game(&mut found, value);
            worker.found.blocks.push(found);
            return;
        };
        let (games, samples) = (worker.found.games.len(), worker.found.samples.len());
        worker.block(&Block {
            key,
            member: self.name.clone(),
            format,
            above: Above::default(),
            offset: 0,
            file_key: 0,
            bytes: text.to_vec(),
            filled: text.len(),
            cleaned: Cleaned::default(),
            is_whole: false,
        });
        // a row counts as one line
        let found = &mut worker.found;
        if let Some(block) = found.blocks.last_mut() {
            block.lines = 1;
            block.problems.iter_mut().for_each(|problem| problem.line = Some(0));
            block.copies.iter_mut().for_each(|copy| copy.line = 0);
            block.unread.iter_mut().for_each(|unread| unread.first.line = 0);
            if block.read == 0 && block.positions.is_none() {
                let name = format.label;
                without_game(block, text!("the text of the row ({name}) holds no game"));
            }
        }
        found.games.iter_mut().skip(games).for_each(|game| game.info.line = 0);
        found.samples.iter_mut().skip(samples).for_each(|sample| sample.position.line = 0);
    }
}

/// Counts a row without a game, so that every row is counted.
fn without_game(found: &mut FoundBlock, value: Text) {
    found.read = 1;
    count(&mut found.skipped, SkipReason::NoMoves, 1);
    found.problem(0, SkipReason::NoMoves, value, true);
    found.lines = 1;
}
