//! What the GUI has written and the engine has not read yet, in a limited amount of memory.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use evalcurve_engine::lock;

/// Bytes that may wait for the engine to read them, in addition to those that are being written.
pub(super) const WAITING_BYTES: usize = 1 << 20;

/// A buffer between one thread that adds parts of lines and one that takes them.
#[derive(Debug)]
pub(super) struct Buffer {
    waiting: Mutex<Waiting>,
    changed: Condvar,
    /// How long a part waits for room; it is dropped then.
    patience: Duration,
}

#[derive(Debug, Default)]
struct Waiting {
    bytes: Vec<u8>,
    /// Nothing more is added or taken.
    closed: bool,
    /// The engine read nothing for so long that parts are dropped until there is room again.
    drops: bool,
    /// The last part that was added does not end a line.
    within_line: bool,
    /// The rest of a line, whose start was dropped or cut, is dropped too.
    skips_rest: bool,
}

impl Buffer {
    pub(crate) fn new(patience: Duration) -> Self {
        Self { waiting: Mutex::default(), changed: Condvar::new(), patience }
    }

    /// Adds a line or a part of it. Waits for room, but not longer than its patience: an engine that reads nothing for
    /// so long loses lines, so that the end of the GUI's input is seen. Never more than a line that is cut short comes
    /// through of a line that is dropped.
    pub(crate) fn add(&self, part: &[u8]) {
        let ends_line = part.ends_with(b"\n");
        let until = Instant::now() + self.patience;
        let mut waiting = lock(&self.waiting);
        let fits = |waiting: &Waiting| waiting.bytes.is_empty() || waiting.bytes.len() + part.len() < WAITING_BYTES;
        if waiting.skips_rest {
            waiting.skips_rest = !ends_line;
            return;
        }
        while !waiting.closed && !waiting.drops && !fits(&waiting) {
            let left = until.saturating_duration_since(Instant::now());
            waiting.drops = left.is_zero();
            waiting = self.changed.wait_timeout(waiting, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        if waiting.closed {
            return;
        }
        if !fits(&waiting) {
            waiting.skips_rest = !ends_line;
            if std::mem::take(&mut waiting.within_line) {
                // there is room for this byte: parts are added below the limit
                waiting.bytes.push(b'\n');
            }
            return;
        }
        waiting.drops = false;
        waiting.within_line = !ends_line;
        waiting.bytes.extend_from_slice(part);
        self.changed.notify_all();
    }

    /// Takes all that waits, once there is something; `None` after the end.
    pub(crate) fn take(&self) -> Option<Vec<u8>> {
        let mut waiting = lock(&self.waiting);
        while waiting.bytes.is_empty() && !waiting.closed {
            waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        self.changed.notify_all();
        let bytes = std::mem::take(&mut waiting.bytes);
        (!bytes.is_empty()).then_some(bytes)
    }

    /// Ends it: what waits can still be taken, and no one waits any more.
    pub(crate) fn close(&self) {
        lock(&self.waiting).closed = true;
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::thread;

    use super::*;

    const PATIENT: Duration = Duration::from_secs(60);

    #[test]
    fn all_parts_arrive_in_their_order() {
        let buffer = Arc::new(Buffer::new(PATIENT));
        let adding = Arc::clone(&buffer);
        let part =
            |i: usize| format!("{i} {}{}", "x".repeat(i * 37 % 60_000), if i.is_multiple_of(3) { "" } else { "\n" });
        let writer = thread::spawn(move || {
            (0..500).for_each(|i| adding.add(part(i).as_bytes()));
            adding.close();
        });
        let mut taken = Vec::new();
        while let Some(bytes) = buffer.take() {
            assert!(bytes.len() <= WAITING_BYTES);
            taken.extend(bytes);
            thread::sleep(Duration::from_millis(1));
        }
        writer.join().unwrap();
        assert!(taken == (0..500).map(part).collect::<String>().into_bytes());
    }

    #[test]
    fn what_no_one_takes_does_not_fill_the_memory() {
        let buffer = Buffer::new(Duration::from_millis(50));
        let line = [vec![b'y'; 60_000], b"\n".to_vec()].concat();
        let start = Instant::now();
        for _ in 0..10_000 {
            buffer.add(&line);
        }
        // only the first line that has no room waits
        assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
        let taken = buffer.take().unwrap();
        assert!(taken.len() <= WAITING_BYTES && taken.len().is_multiple_of(line.len()), "{}", taken.len());
        buffer.add(b"isready\n");
        assert_eq!(buffer.take().unwrap(), b"isready\n");
    }

    /// The parts of a line that has no room: the engine gets its start with a line ending, and then whole lines.
    #[test]
    fn a_line_that_is_cut_ends() {
        let buffer = Buffer::new(Duration::from_millis(1));
        let part = vec![b'z'; 60_000];
        for _ in 0..50 {
            buffer.add(&part);
        }
        let taken = buffer.take().unwrap();
        assert!(taken.len() <= WAITING_BYTES && taken.ends_with(b"z\n"), "{}", taken.len());
        buffer.add(b"the rest\n");
        buffer.add(b"isready\n");
        assert_eq!(buffer.take().unwrap(), b"isready\n");
        // a line that has no room from its start on
        buffer.add(&[&vec![b'z'; WAITING_BYTES - 10], &b"\n"[..]].concat());
        for part in ["a long start", "its rest", " and its end\n", "go\n"] {
            buffer.add(part.as_bytes());
        }
        assert!(buffer.take().unwrap().ends_with(b"z\ngo\n"));
    }

    #[test]
    fn the_end_wakes_both_sides() {
        let buffer = Arc::new(Buffer::new(PATIENT));
        let taking = Arc::clone(&buffer);
        let reader = thread::spawn(move || taking.take());
        buffer.close();
        assert_eq!(reader.join().unwrap(), None);
        buffer.add(b"late\n");
        assert_eq!(buffer.take(), None);
    }
}
