//! Training data with other scores: block after block, in constant memory.

use std::io::{self, Read, Write};

use evalcurve_records::record::SkipReason;
use evalcurve_records::record::packed::{Packed, PackedPosition};
use rayon::prelude::*;

/// Bytes of a block of whole records, and those of the longest record, as in reading.
const BLOCK: usize = 1 << 20;
const LONGEST_RECORD: usize = 64 << 20;

/// A score in the place of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NewScore<T = i32> {
    Scaled(T),
    /// The largest that is written, as the new one is larger.
    Clipped(T),
    /// The score is a mate, and stays.
    Mate,
}

/// What was written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Rescored {
    /// Positions with a score.
    pub positions: u64,
    /// Those of them whose score is a mate.
    pub mates: u64,
    /// Those whose new score was clipped.
    pub clipped: u64,
    /// Bytes read.
    pub bytes: u64,
    /// Records that cannot be read, which are copied.
    pub damaged: u64,
    /// The first of them: why, and the byte where they begin; in a table the line.
    pub first_damaged: Vec<(SkipReason, u64)>,
}

/// Damaged records that are named.
const NAMED: usize = 3;

impl Rescored {
    /// Counts a position, and returns its score, or `old`.
    pub(crate) fn count<T>(&mut self, new: NewScore<T>, old: T) -> T {
        self.positions += 1;
        match new {
            NewScore::Scaled(score) => score,
            NewScore::Clipped(score) => {
                self.clipped += 1;
                score
            }
            NewScore::Mate => {
                self.mates += 1;
                old
            }
        }
    }

    /// Counts a record that cannot be read, from this byte or line on.
    pub(crate) fn damage(&mut self, reason: SkipReason, at: u64) {
        self.damaged += 1;
        if self.first_damaged.len() < NAMED {
            self.first_damaged.push((reason, at));
        }
    }

    fn add(&mut self, other: &Self, offset: u64) {
        self.positions += other.positions;
        self.mates += other.mates;
        self.clipped += other.clipped;
        self.damaged += other.damaged;
        let room = NAMED.saturating_sub(self.first_damaged.len());
        self.first_damaged.extend(other.first_damaged.iter().take(room).map(|(reason, at)| (*reason, at + offset)));
    }
}

/// A block on its way, with its buffers.
#[derive(Default)]
struct Slot {
    read: Vec<u8>,
    written: Vec<u8>,
    found: Rescored,
}

impl Slot {
    fn rescore(&mut self, packed: Packed, map: &(dyn Fn(&PackedPosition) -> NewScore + Sync)) {
        let found = &mut self.found;
        *found = Rescored::default();
        self.written.clear();
        self.written.reserve(self.read.len() + self.read.len() / 4);
        packed.walk(&self.read, Some(&mut self.written), &mut |range, position| match position {
            Ok(position) => found.count(map(position), position.score_cp),
            Err(reason) => {
                found.damage(reason, range.start as u64);
                0
            }
        });
    }
}

/// Copies training data with the scores that `map` gives. Everything else stays, to the byte; lengths of the format
/// that depend on the digits of a score follow. Blocks are worked on by the threads of the current rayon pool, and
/// written in order.
///
/// # Errors
/// The data cannot be read or written, or no record ends within 64 MiB.
pub(crate) fn rescore(
    packed: Packed,
    from: &mut dyn Read,
    to: &mut dyn Write,
    map: &(dyn Fn(&PackedPosition) -> NewScore + Sync),
) -> io::Result<Rescored> {
    let mut slots: Vec<Slot> = Vec::new();
    slots.resize_with(rayon::current_num_threads().max(1), Slot::default);
    let (mut all, mut rest, mut is_open, mut offset) = (Rescored::default(), Vec::new(), true, 0);
    while is_open {
        let mut filled = 0;
        while is_open && filled < slots.len() {
            is_open = fill(packed, from, &mut slots[filled].read, &mut rest, offset)?;
            offset += slots[filled].read.len() as u64;
            filled += 1;
        }
        let slots = &mut slots[..filled];
        if let [one] = slots {
            one.rescore(packed, map);
        } else {
            slots.par_iter_mut().for_each(|slot| slot.rescore(packed, map));
        }
        for slot in slots {
            to.write_all(&slot.written)?;
            all.add(&slot.found, all.bytes);
            all.bytes += slot.read.len() as u64;
        }
    }
    Ok(all)
}

/// Reads whole records into `block`; `rest` is what is read beyond them. Returns whether the data may go on.
fn fill(packed: Packed, from: &mut dyn Read, block: &mut Vec<u8>, rest: &mut Vec<u8>, offset: u64) -> io::Result<bool> {
    block.clear();
    block.append(rest);
    let mut want = BLOCK;
    loop {
        let missing = want.saturating_sub(block.len()) as u64;
        let read = Read::take(&mut *from, missing).read_to_end(block)?;
        if (read as u64) < missing {
            return Ok(false);
        }
        if let Some(cut) = packed.last_boundary(block) {
            rest.extend_from_slice(&block[cut..]);
            block.truncate(cut);
            return Ok(true);
        }
        if want >= LONGEST_RECORD {
            let limit = LONGEST_RECORD >> 20;
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("no record ends within {limit} MiB after byte {offset}; the file is damaged from there on"),
            ));
        }
        want *= 2;
    }
}
