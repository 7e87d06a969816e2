//! Queues of events: one thread waits for what others read.

use std::io::BufRead;
use std::sync::mpsc::{Receiver, SyncSender};
use std::thread;
use std::time::Instant;

use crate::usi::{LineReader, ReadLine};

/// The next event; `None` at the deadline. The caller keeps a sender, so that there is always one.
pub(super) fn wait<E>(events: &Receiver<E>, until: Option<Instant>) -> Option<E> {
    match until {
        Some(until) => events.recv_timeout(until.saturating_duration_since(Instant::now())).ok(),
        None => events.recv().ok(),
    }
}

/// Starts a thread that sends every line as an event, and at last the event of their end, for which `event` gets
/// `None`.
pub(super) fn forward<E: Send + 'static>(
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
