//! Queues of events: one thread waits for what others read.

use std::io::BufRead;
use std::sync::mpsc::{Receiver, SyncSender};
use std::thread;
use std::time::Instant;

use crate::usi::{Line, LineReader};

/// The next event; `None` at the deadline. The caller keeps a sender, so that there is always one.
pub(super) fn wait<E>(events: &Receiver<E>, until: Option<Instant>) -> Option<E> {
    match until {
        Some(until) => events.recv_timeout(until.saturating_duration_since(Instant::now())).ok(),
        None => events.recv().ok(),
    }
}

/// Starts a thread that sends every line of an input as an event, and at last the event of its end, for which `event`
/// gets `None`. Lines without an event are left out.
pub(super) fn forward_lines<E: Send + 'static>(
    input: impl BufRead + Send + 'static,
    sender: SyncSender<E>,
    event: impl Fn(Option<(Line, Instant)>) -> Option<E> + Send + 'static,
) {
    forward(LineReader::new(input), sender, event);
}

/// The same for lines with a limit of their own.
pub(super) fn forward<E: Send + 'static>(
    lines: LineReader<impl BufRead + Send + 'static>,
    sender: SyncSender<E>,
    event: impl Fn(Option<(Line, Instant)>) -> Option<E> + Send + 'static,
) {
    thread::spawn(move || {
        let send = |line| event(line).is_none_or(|event| sender.send(event).is_ok());
        if lines.forward(|line, at| send(Some((line, at)))) {
            send(None);
        }
    });
}
