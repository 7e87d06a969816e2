//! A proxy between a GUI and an engine: it puts the engine's scores on a common scale and passes on everything else as
//! it is, byte for byte.
//!
//! Three threads: one reads the GUI and follows its positions, one writes to the engine, and one rewrites the engine's
//! lines. An engine that stops reading therefore blocks no `quit`, and what waits for it has a limit; the caller sees
//! the end of the engine even if something that it started holds its output.

mod buffer;
mod position;
mod rewrite;

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::Stdio;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use buffer::Buffer;
use evalcurve_calibration::Situation;
use evalcurve_engine::lock;
use evalcurve_engine::usi::{FromGui, Launch, Owned, Protocol, SpawnError};
use position::Follower;
pub use rewrite::Rewriter;
use thiserror::Error;

/// Longest line that is examined; the rest of a longer one is passed on as it comes.
const LONGEST_LINE: usize = 1 << 16;

/// Searches without an answer whose positions are known; scores of further ones count for the last position.
const MOST_SEARCHES: usize = 1_000;

/// How long the GUI waits for an engine that reads nothing while much is to be read; lines are dropped then.
const READING_TIME: Duration = Duration::from_secs(3);

/// How long an engine may take to end after `quit` or the end of its input.
const PATIENCE: Duration = Duration::from_secs(3);

/// How often to look whether the engine has ended while something that it started holds its output.
const WATCH_TIME: Duration = Duration::from_millis(100);

/// How long the last output of an engine that has ended may take to arrive.
const LAST_OUTPUT_TIME: Duration = Duration::from_millis(500);

/// How long the greeting of an engine may take whose launcher has ended.
const GREETING_TIME: Duration = Duration::from_secs(10);

/// Why a proxy ended early.
#[derive(Debug, Error, evalcurve_words::language::ToText)]
pub enum ProxyError {
    /// The engine does not start.
    #[error(transparent)]
    Start(#[from] SpawnError),
    /// The engine's output ended although the GUI had not ended it.
    #[error("the engine '{0}' ended before `quit`; its messages are above")]
    Ended(String),
    /// Reading from the engine failed.
    #[error("cannot read from the engine: {0}")]
    Read(io::Error),
}

#[derive(Debug, Clone)]
pub struct Proxy {
    /// The engine to put between.
    pub launch: Launch,
    /// How scores are changed.
    pub rewriter: Rewriter,
}

/// What the thread of the GUI and that of the engine share.
#[derive(Debug, Default)]
struct Shared {
    /// The protocol of the greeting.
    protocol: Option<Protocol>,
    /// The position of each search that the engine has not answered yet: its lines are about the first.
    searches: VecDeque<Situation>,
    /// The position of the last search.
    last: Situation,
    /// The GUI ended the engine.
    ending: bool,
    /// The engine has answered the greeting.
    greeted: bool,
}

impl Proxy {
    /// Runs until the engine has ended, whatever its children hold. After `quit`, or at the end of the GUI's input, an
    /// engine that does not end by itself is stopped after three seconds, with everything that it started.
    ///
    /// # Errors
    /// [`ProxyError`]. A GUI that no longer reads is no error.
    pub fn run(
        self,
        gui_in: impl Read + Send + 'static,
        gui_out: impl Write + Send + 'static,
    ) -> Result<(), ProxyError> {
        let name = self.launch.command.to_string_lossy().into_owned();
        let (owned, (stdin, stdout, _)) = Owned::start(&self.launch, Stdio::inherit())?;
        // taking it ends the engine
        let owned = Arc::new(Mutex::new(Some(owned)));
        let shared = Arc::new(Mutex::new(Shared::default()));
        let lines = Arc::new(Buffer::new(READING_TIME));
        if let Some(stdin) = stdin {
            let lines = Arc::clone(&lines);
            thread::spawn(move || write_all(stdin, &lines));
        }
        let follower = Follower::new(self.rewriter.calibration());
        {
            let (owned, shared) = (Arc::clone(&owned), Arc::clone(&shared));
            thread::spawn(move || {
                read_gui(gui_in, &lines, follower, &shared);
                lines.close();
                thread::sleep(PATIENCE);
                drop(lock(&owned).take());
            });
        }
        let (sender, forwarded) = channel();
        if let Some(stdout) = stdout {
            let shared = Arc::clone(&shared);
            thread::spawn(move || sender.send(forward(stdout, gui_out, &self.rewriter, &shared)));
        }
        let forwarded = wait(&forwarded, &owned, &shared);
        let ending = lock(&shared).ending;
        // ends the engine if it only closed its output, or if the GUI did
        drop(lock(&owned).take());
        match forwarded {
            Ok(End::Engine) if !ending => Err(ProxyError::Ended(name)),
            Ok(_) => Ok(()),
            Err(error) => Err(ProxyError::Read(error)),
        }
    }
}

/// Waits for the end of the engine's output, or of the engine itself. A program that has ended before the greeting was
/// answered has only launched the engine.
fn wait(
    forwarded: &Receiver<io::Result<End>>,
    engine: &Mutex<Option<Owned>>,
    shared: &Mutex<Shared>,
) -> io::Result<End> {
    let mut ended: Option<(Instant, bool)> = None;
    loop {
        match forwarded.recv_timeout(WATCH_TIME) {
            Ok(result) => return result,
            Err(RecvTimeoutError::Disconnected) => return Ok(End::Engine),
            Err(RecvTimeoutError::Timeout) => {}
        }
        let greeted = lock(shared).greeted;
        if !lock(engine).as_mut().is_none_or(Owned::has_ended) {
            continue;
        }
        let (at, is_engine) = *ended.get_or_insert((Instant::now(), greeted));
        let patience = if is_engine { LAST_OUTPUT_TIME } else { GREETING_TIME };
        if at.elapsed() >= patience && (is_engine || !greeted) {
            return Ok(End::Engine);
        }
    }
}

/// Which side ended.
enum End {
    Engine,
    Gui,
}

/// Reads the GUI until `quit` or the end of its input. A line that is too long to be examined is passed on in parts.
fn read_gui(gui: impl Read, engine: &Buffer, mut follower: Follower, shared: &Mutex<Shared>) {
    let mut gui = BufReader::new(gui);
    let mut line = Vec::new();
    let mut is_rest = false;
    loop {
        line.clear();
        let read = (&mut gui).take(LONGEST_LINE as u64).read_until(b'\n', &mut line).unwrap_or(0);
        let whole = line.ends_with(b"\n");
        let examined = !is_rest && (whole || read < LONGEST_LINE);
        let quits = read == 0 || (examined && observe(&line, &mut follower, shared));
        is_rest = !whole;
        if quits {
            lock(shared).ending = true;
        }
        engine.add(&line);
        if quits {
            return;
        }
    }
}

/// Follows a line of the GUI; returns whether it ends the engine.
fn observe(line: &[u8], follower: &mut Follower, shared: &Mutex<Shared>) -> bool {
    match FromGui::parse(&String::from_utf8_lossy(line)) {
        FromGui::Greeting(protocol) => lock(shared).protocol = Some(protocol),
        FromGui::SetOption { name, value } => follower.set_option(&name, value.as_deref()),
        FromGui::Position(position) => follower.set(position),
        FromGui::Go(_) => {
            let protocol = lock(shared).protocol.unwrap_or_default();
            let situation = follower.situation(protocol);
            let mut shared = lock(shared);
            if shared.searches.len() < MOST_SEARCHES {
                shared.searches.push_back(situation);
            }
            shared.last = situation;
        }
        FromGui::NewGame => lock(shared).searches.clear(),
        FromGui::Quit => return true,
        _ => {}
    }
    false
}

/// Writes what waits to the engine, as it comes.
fn write_all(mut engine: impl Write, lines: &Buffer) {
    while let Some(text) = lines.take() {
        if engine.write_all(&text).and_then(|()| engine.flush()).is_err() {
            break;
        }
    }
    lines.close();
}

/// Passes the engine's output on, line by line, with other scores.
fn forward(engine: impl Read, mut gui: impl Write, rewriter: &Rewriter, shared: &Mutex<Shared>) -> io::Result<End> {
    let mut engine = BufReader::new(engine);
    let mut line = Vec::new();
    let mut out = Vec::new();
    // within a line that is too long to be examined
    let mut is_rest = false;
    loop {
        let read = (&mut engine).take(LONGEST_LINE as u64).read_until(b'\n', &mut line)?;
        let whole = line.ends_with(b"\n");
        if is_rest || (!whole && read == LONGEST_LINE) {
            out.extend_from_slice(&line);
        } else {
            let (protocol, situation) = {
                let shared = lock(shared);
                (shared.protocol.unwrap_or_default(), *shared.searches.front().unwrap_or(&shared.last))
            };
            rewriter.rewrite(&line, protocol, &situation, &mut out);
            if line.starts_with(protocol.greeting_done().as_bytes()) {
                lock(shared).greeted = true;
            }
            if line.starts_with(b"bestmove") || line.starts_with(b"checkmate") {
                lock(shared).searches.pop_front();
            }
        }
        is_rest = !whole;
        line.clear();
        // everything that the engine has written so far goes out together
        let more = engine.buffer().contains(&b'\n');
        if (!more || read == 0 || out.len() > LONGEST_LINE) && !out.is_empty() {
            if gui.write_all(&out).and_then(|()| gui.flush()).is_err() {
                return Ok(End::Gui);
            }
            out.clear();
        }
        if read == 0 {
            return Ok(End::Engine);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The searches of an engine that answers none.
    #[test]
    fn searches_without_an_answer_do_not_fill_the_memory() {
        let shared = Mutex::new(Shared::default());
        let calibration = crate::proxy::rewrite::tests::calibration(0.002, 0.0);
        let engine = Buffer::new(READING_TIME);
        read_gui("go\n".repeat(10_000).as_bytes(), &engine, Follower::new(&calibration), &shared);
        assert_eq!(lock(&shared).searches.len(), MOST_SEARCHES);
    }

    /// The words of a line that is too long are no commands, and all of its bytes arrive.
    #[test]
    fn a_long_line_is_passed_on_in_parts() {
        let shared = Mutex::new(Shared::default());
        let calibration = crate::proxy::rewrite::tests::calibration(0.002, 0.0);
        let engine = Buffer::new(READING_TIME);
        let input = [&b"go\n"[..], &vec![b' '; LONGEST_LINE], b"quit\ngo\n", &vec![b' '; 3 * LONGEST_LINE]].concat();
        read_gui(input.as_slice(), &engine, Follower::new(&calibration), &shared);
        assert_eq!(lock(&shared).searches.len(), 2);
        assert!(engine.take().unwrap() == input);
    }
}
