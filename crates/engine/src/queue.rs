//! Queues of events: one thread waits for what others read.

use std::io::BufRead;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Instant;

use crate::usi::{EngineOutput, LineReader, ReadLine};

/// The capacity of the event queue. An engine that floods its output waits for the queue and does not fill the memory.
/// A line of the GUI waits for what is in the queue before it.
pub(crate) const QUEUE_CAPACITY: usize = 512;

/// The longest line of the GUI: the `position` of a game of 100,000 moves. A shorter limit would lose it, and the next
/// `go` would search the position before.
pub const GUI_LINE_BYTES: usize = 1 << 19;

/// An event of a program between a GUI and engines.
#[derive(Debug)]
pub enum Event {
    /// A line from the GUI, and when it arrived.
    Gui(ReadLine, Instant),
    /// The GUI closed its output.
    GuiClosed,
    /// Output of an engine: its place, the number of its process, and the output.
    Member(usize, u64, EngineOutput),
}

/// The event queue of such a program.
pub fn events() -> (SyncSender<Event>, Receiver<Event>) {
    sync_channel(QUEUE_CAPACITY)
}

/// The next event; `None` at the deadline. The caller keeps a sender, so that there is always one.
pub fn wait<E>(events: &Receiver<E>, until: Option<Instant>) -> Option<E> {
    match until {
        Some(until) => events.recv_timeout(until.saturating_duration_since(Instant::now())).ok(),
        None => events.recv().ok(),
    }
}

/// Starts a thread that sends every line as an event, and at last the event of their end, for which `event` gets
/// `None`.
pub fn forward<E: Send + 'static>(
    lines: LineReader<impl BufRead + Send + 'static>,
    sender: SyncSender<E>,
    event: impl Fn(Option<(ReadLine, Instant)>) -> E + Send + 'static,
) {
    thread::spawn(move || {
        let send = |line| sender.send(event(line)).is_ok();
        if lines.forward(|line, at| send(Some((line, at)))) {
            send(None);
        }
    });
}
