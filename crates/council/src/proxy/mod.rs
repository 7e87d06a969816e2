//! A proxy between a GUI and an engine: it puts the engine's scores on a common scale and passes on everything else as
//! it is, byte for byte.
//!
//! Three threads: one reads the GUI and follows its positions, one writes to the engine, and the caller's rewrites the
//! engine's lines. An engine that stops reading therefore blocks no `quit`.

mod position;
mod rewrite;

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::Stdio;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use evalcurve_core::calibration::Situation;
use thiserror::Error;

use crate::usi::{FromGui, Launch, Owned, Protocol, SpawnError};

use position::Follower;
pub use rewrite::Rewriter;

/// Longest line that is examined; the rest of a longer one is passed on as it comes.
const LONGEST_LINE: usize = 1 << 16;

/// How long an engine may take to end after `quit` or the end of its input.
const PATIENCE: Duration = Duration::from_secs(3);

/// Why a proxy ended early.
#[derive(Debug, Error)]
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

/// What a proxy does.
#[derive(Debug, Clone)]
pub struct Proxy {
    /// The engine.
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
}

type Locked<'a> = MutexGuard<'a, Shared>;

fn lock(shared: &Mutex<Shared>) -> Locked<'_> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Proxy {
    /// Runs until the engine has ended. After `quit`, or at the end of the GUI's input, an engine that does not end by
    /// itself is stopped after three seconds, with everything that it started.
    ///
    /// # Errors
    /// [`ProxyError`]. A GUI that no longer reads is no error.
    pub fn run(self, gui_in: impl Read + Send + 'static, gui_out: impl Write) -> Result<(), ProxyError> {
        let name = self.launch.command.to_string_lossy().into_owned();
        let (owned, (stdin, stdout, _)) = Owned::start(&self.launch, Stdio::inherit())?;
        // taking it ends the engine
        let owned = Arc::new(Mutex::new(Some(owned)));
        let shared = Arc::new(Mutex::new(Shared::default()));
        let (sender, lines) = channel();
        if let Some(stdin) = stdin {
            thread::spawn(move || write_all(stdin, &lines));
        }
        let follower = Follower::new(self.rewriter.calibration());
        {
            let (owned, shared) = (Arc::clone(&owned), Arc::clone(&shared));
            thread::spawn(move || {
                read_gui(gui_in, &sender, follower, &shared);
                drop(sender);
                thread::sleep(PATIENCE);
                drop(owned.lock().unwrap_or_else(PoisonError::into_inner).take());
            });
        }
        let forwarded = stdout.map_or(Ok(End::Engine), |out| forward(out, gui_out, &self.rewriter, &shared));
        let ending = lock(&shared).ending;
        // ends the engine if it only closed its output, or if the GUI did
        drop(owned.lock().unwrap_or_else(PoisonError::into_inner).take());
        match forwarded {
            Ok(End::Engine) if !ending => Err(ProxyError::Ended(name)),
            Ok(_) => Ok(()),
            Err(error) => Err(ProxyError::Read(error)),
        }
    }
}

/// Which side ended.
enum End {
    Engine,
    Gui,
}

/// Reads the GUI until `quit` or the end of its input.
fn read_gui(gui: impl Read, engine: &Sender<Vec<u8>>, mut follower: Follower, shared: &Mutex<Shared>) {
    let mut gui = BufReader::new(gui);
    loop {
        let mut line = Vec::new();
        let quits = match gui.read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => true,
            Ok(_) => observe(&line, &mut follower, shared),
        };
        if quits {
            lock(shared).ending = true;
        }
        let is_end = line.is_empty();
        let _ = engine.send(line);
        if quits || is_end {
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
            shared.searches.push_back(situation);
            shared.last = situation;
        }
        FromGui::NewGame => lock(shared).searches.clear(),
        FromGui::Quit => return true,
        _ => {}
    }
    false
}

/// Writes lines to the engine as they come.
fn write_all(mut engine: impl Write, lines: &Receiver<Vec<u8>>) {
    while let Ok(mut text) = lines.recv() {
        while let Ok(line) = lines.try_recv() {
            text.extend(line);
        }
        if engine.write_all(&text).and_then(|()| engine.flush()).is_err() {
            return;
        }
    }
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
