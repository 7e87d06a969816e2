//! Lines of the GUI that wait until the members are ready, in their order.

use std::collections::VecDeque;

/// The most that waits, in bytes; a GUI that does not wait for `readyok` must not fill the memory.
pub(super) const HELD_BYTES: usize = 2 * evalcurve_engine::GUI_LINE_BYTES;

/// Lines that wait.
#[derive(Debug, Default)]
pub(super) struct Held {
    lines: VecDeque<String>,
    bytes: usize,
}

impl Held {
    /// Adds a line after the others. Returns false if there is no room for it.
    pub(crate) fn add(&mut self, line: &str) -> bool {
        let fits = size(line) <= HELD_BYTES.saturating_sub(self.bytes);
        if fits {
            self.bytes += size(line);
            self.lines.push_back(line.to_owned());
        }
        fits
    }

    /// Takes the first line.
    pub(crate) fn take(&mut self) -> Option<String> {
        let line = self.lines.pop_front()?;
        self.bytes -= size(&line);
        Some(line)
    }

    /// Puts a line before all others.
    pub(crate) fn put_back(&mut self, line: &str) {
        self.bytes += size(line);
        self.lines.push_front(line.to_owned());
    }
}

/// The memory that a line takes: empty lines are not free.
fn size(line: &str) -> usize {
    line.len() + size_of::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_keep_their_order_and_have_a_bound() {
        let mut held = Held::default();
        assert!(held.add("position startpos") && held.add("go infinite"));
        let first = held.take().unwrap();
        held.put_back(&first);
        assert_eq!([held.take(), held.take(), held.take()], [Some(first), Some("go infinite".into()), None]);
        let long = "x".repeat(HELD_BYTES / 4 + 1);
        assert_eq!([&long, &long, &long, &long].map(|line| held.add(line)), [true, true, true, false]);
        assert!(held.add("stop") && held.take().is_some() && held.take().is_some() && held.add(&long));
        let empty = (0..HELD_BYTES).take_while(|_| held.add("")).count();
        assert!(empty > 0 && empty < HELD_BYTES / 24, "{empty}");
    }
}
