//! The server's side: a USI engine whose moves come from a program that logs in.

use std::io::{self, BufRead, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};

use thiserror::Error;

use super::login::{LINE_BYTES, Listener};
use super::message::{Candidate, MOST_CANDIDATES, Question, is_move};
use super::position::{Position, STARTPOS};
use crate::clock::NO_CLOCK_MS;
use crate::queue::{forward_lines, wait};
use crate::usi::{FromGui, Go, Line, Protocol};
use evalcurve_core::types::Color;

/// Lines that wait to be processed. A program or a GUI that floods its output waits for the queue.
const QUEUE_CAPACITY: usize = 256;
/// A pause of this length ends a list of fewer than five candidates.
const PAUSE: Duration = Duration::from_millis(100);
/// Invalid lines to report per answer.
const MOST_NOTES: u32 = 5;

/// Where a server listens and whom it admits.
#[derive(Debug, Clone)]
pub struct ServeOptions {
    /// Address and port; port 0 selects a free one.
    pub listen: String,
    /// The only name that may log in; `None`: any.
    pub name: Option<String>,
    /// The password; required on every address except those of this machine.
    pub password: Option<String>,
    /// How long `isready` waits for a login.
    pub login_ms: u64,
    /// Time for an answer if `go` gives none (`infinite`, `ponder`, `depth`, `nodes`).
    pub answer_ms: u64,
    /// How late an answer may be before the program is dropped.
    pub grace_ms: u64,
    /// Whether the program may use its book.
    pub book: bool,
}

/// Why a server ended before `quit`.
#[derive(Debug, Error)]
pub enum ServeError {
    /// The address is invalid or cannot be used.
    #[error("cannot listen on '{address}': {source}; give ADDRESS:PORT, for example 127.0.0.1:4081")]
    Listen {
        /// The address.
        address: String,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// Other machines could log in without a password.
    #[error("'{0}' can be reached from other machines: give a password with --password-file, or listen on 127.0.0.1")]
    NoPassword(String),
    /// No program logged in.
    #[error("no program logged in within {0} ms; start the program, or allow more with --login-ms")]
    NoLogin(u64),
    /// The program does not answer.
    #[error("'{name}' did not answer within {ms} ms and was dropped")]
    Stalled {
        /// Its login name.
        name: String,
        /// The time that it was allowed.
        ms: u64,
    },
    /// The program has left.
    #[error("'{name}' left: {why}")]
    Left {
        /// Its login name.
        name: String,
        /// Why.
        why: String,
    },
    /// The GUI uses UCI.
    #[error("the protocol is for shogi: use USI, not UCI")]
    NotUsi,
    /// The answer cannot be written.
    #[error("cannot write to standard output: {0}")]
    Output(#[from] io::Error),
}

/// What a server waits for.
pub(super) enum Event {
    Gui(FromGui),
    GuiClosed,
    LoggedIn { connection: usize, name: String, stream: TcpStream },
    Line { connection: usize, line: Line },
    Left { connection: usize, why: String },
}

/// Reads USI commands from `input` and lets one program at a time answer them, until `quit` or the end of the input.
///
/// # Errors
/// The address cannot be used, or the program did not log in, left, or stalled. The caller can start the server again.
pub fn serve(
    options: &ServeOptions,
    input: impl BufRead + Send + 'static,
    output: impl Write,
) -> Result<(), ServeError> {
    let (sender, events) = sync_channel(QUEUE_CAPACITY);
    let listener = Listener::open(options, sender.clone())?;
    forward_lines(input, sender, |line| match line {
        Some((Line::Text(text), _)) => Some(Event::Gui(FromGui::parse(&text))),
        Some((Line::TooLong(_), _)) => None,
        None => Some(Event::GuiClosed),
    });
    let mut server = Server {
        options,
        output,
        address: listener.address,
        client: None,
        position: None,
        ready_until: None,
        question: None,
        next: None,
    };
    let end = server.run(&events);
    if let Some(client) = server.client {
        close(client.stream, b"LOGOUT\n");
    }
    end
}

/// Sends a last line and closes the connection, which may be broken already.
fn close(mut stream: TcpStream, line: &[u8]) {
    let _ = stream.write_all(line);
    let _ = stream.shutdown(Shutdown::Both);
}

struct Client {
    connection: usize,
    name: String,
    stream: TcpStream,
}

/// A question that was sent to the program, and its answer so far.
struct Pending {
    position: Position,
    candidates: Vec<Candidate>,
    complete: bool,
    /// When the program is dropped.
    until: Instant,
    allowed_ms: u64,
    /// When the list ends if no more candidates arrive.
    pause_until: Option<Instant>,
    /// Whether the GUI still waits for the answer.
    wanted: bool,
    /// The answer waits for `stop` or `ponderhit`.
    held: bool,
    notes: u32,
}

struct Server<'a, W> {
    options: &'a ServeOptions,
    output: W,
    address: SocketAddr,
    client: Option<Client>,
    position: Option<Position>,
    ready_until: Option<Instant>,
    question: Option<Pending>,
    /// A `go` that waits for the end of the previous answer.
    next: Option<Go>,
}

impl<W: Write> Server<'_, W> {
    fn run(&mut self, events: &Receiver<Event>) -> Result<(), ServeError> {
        loop {
            let question = self.question.as_ref();
            let deadlines = [
                self.ready_until,
                question.filter(|question| !question.complete).map(|question| question.until),
                question.and_then(|question| question.pause_until),
            ];
            match wait(events, deadlines.into_iter().flatten().min()) {
                Some(Event::Gui(FromGui::Quit) | Event::GuiClosed) => return Ok(()),
                Some(Event::Gui(command)) => self.on_gui(command)?,
                Some(Event::LoggedIn { connection, name, stream }) => self.on_login(connection, name, stream)?,
                Some(Event::Line { connection, line }) => self.on_line(connection, line)?,
                Some(Event::Left { connection, why }) => {
                    if let Some(client) = self.client.take_if(|client| client.connection == connection) {
                        return Err(ServeError::Left { name: client.name, why });
                    }
                }
                None => {}
            }
            // also after an event: a program that floods its output cannot put a deadline off
            self.on_deadline(Instant::now())?;
            self.output.flush()?;
        }
    }

    fn on_deadline(&mut self, now: Instant) -> Result<(), ServeError> {
        if self.ready_until.is_some_and(|until| now >= until) {
            return Err(ServeError::NoLogin(self.options.login_ms));
        }
        let Some(question) = &self.question else { return Ok(()) };
        if question.pause_until.is_some_and(|until| now >= until) {
            return self.complete();
        }
        if !question.complete && now >= question.until {
            let name = self.client.as_ref().map_or_else(String::new, |client| client.name.clone());
            return Err(ServeError::Stalled { name, ms: question.allowed_ms });
        }
        Ok(())
    }

    fn on_login(&mut self, connection: usize, name: String, mut stream: TcpStream) -> Result<(), ServeError> {
        if self.client.is_some() {
            close(stream, b"LOGIN:incorrect\n");
            return Ok(());
        }
        if stream.write_all(format!("LOGIN:{name} OK\n").as_bytes()).is_err() {
            return Ok(());
        }
        writeln!(self.output, "info string {name} logged in")?;
        self.client = Some(Client { connection, name, stream });
        if self.ready_until.take().is_some() {
            writeln!(self.output, "readyok")?;
        }
        Ok(())
    }

    fn on_gui(&mut self, command: FromGui) -> Result<(), ServeError> {
        match command {
            FromGui::Greeting(Protocol::Usi) => {
                let name = self.options.name.as_deref().unwrap_or("program");
                writeln!(self.output, "id name {name} at {}\nid author evalcurve\nusiok", self.address)?;
            }
            FromGui::Greeting(Protocol::Uci) => return Err(ServeError::NotUsi),
            FromGui::IsReady if self.client.is_some() => writeln!(self.output, "readyok")?,
            FromGui::IsReady => {
                self.ready_until = Some(Instant::now() + Duration::from_millis(self.options.login_ms));
            }
            FromGui::Position(given) => {
                let start = Position::from_sfen(given.start.as_deref().unwrap_or(STARTPOS));
                self.position = start.and_then(|start| given.moves.iter().try_fold(start, |p, usi| p.play(usi)));
                if self.position.is_none() {
                    writeln!(self.output, "info string the position cannot be read")?;
                }
            }
            FromGui::Go(go) if go.mate.is_some() => writeln!(self.output, "checkmate notimplemented")?,
            FromGui::Go(go) if self.question.as_ref().is_some_and(|question| !question.complete) => {
                self.next = Some(go);
            }
            FromGui::Go(go) => self.ask(&go)?,
            FromGui::Stop => self.release(true)?,
            FromGui::PonderHit => self.release(false)?,
            _ => {}
        }
        Ok(())
    }

    fn ask(&mut self, go: &Go) -> Result<(), ServeError> {
        let Some(position) = self.position.clone().or_else(|| Position::from_sfen(STARTPOS)) else { return Ok(()) };
        let Some(client) = &mut self.client else {
            writeln!(self.output, "info string no program is logged in\nbestmove resign")?;
            return Ok(());
        };
        let held = go.is_open();
        let time_ms = if held { self.options.answer_ms } else { time_of(go, position.side(), self.options.answer_ms) };
        let question = Question { position: position.clone(), book: self.options.book, time_ms };
        if let Err(error) = client.stream.write_all(question.to_text().as_bytes()) {
            return Err(ServeError::Left { name: client.name.clone(), why: error.to_string() });
        }
        let allowed_ms = time_ms.saturating_add(self.options.grace_ms);
        self.question = Some(Pending {
            position,
            candidates: Vec::new(),
            complete: false,
            until: Instant::now() + Duration::from_millis(allowed_ms),
            allowed_ms,
            pause_until: None,
            wanted: true,
            held,
            notes: 0,
        });
        Ok(())
    }

    fn on_line(&mut self, connection: usize, line: Line) -> Result<(), ServeError> {
        let Some(client) = self.client.as_ref().filter(|client| client.connection == connection) else {
            return Ok(());
        };
        let left = |why: String| Err(ServeError::Left { name: client.name.clone(), why });
        let text = match line {
            Line::Text(text) => text,
            Line::TooLong(bytes) => return left(format!("a line has {bytes} bytes, {LINE_BYTES} are allowed")),
        };
        if text.trim() == "LOGOUT" {
            return left("it logged out".to_owned());
        }
        let Some(question) = self.question.as_mut().filter(|question| !question.complete) else { return Ok(()) };
        if text.trim().is_empty() {
            return if question.candidates.is_empty() { Ok(()) } else { self.complete() };
        }
        match Candidate::parse(&text, &question.position) {
            Ok(candidate) => {
                let last = !is_move(&candidate.best);
                question.candidates.push(candidate);
                question.pause_until = Some(Instant::now() + PAUSE);
                if last || question.candidates.len() == MOST_CANDIDATES {
                    return self.complete();
                }
            }
            Err(error) if question.notes < MOST_NOTES => {
                question.notes += 1;
                writeln!(self.output, "info string {}: {error}", client.name)?;
            }
            Err(_) => {}
        }
        Ok(())
    }

    /// The list of candidates is complete: answers, unless the answer waits for `stop` or `ponderhit`.
    fn complete(&mut self) -> Result<(), ServeError> {
        if let Some(question) = &mut self.question {
            question.complete = true;
            question.pause_until = None;
            if !question.held {
                self.answer()?;
            }
        }
        match self.next.take() {
            Some(go) => self.ask(&go),
            None => Ok(()),
        }
    }

    /// `stop` (which takes an incomplete list) or `ponderhit`.
    fn release(&mut self, at_once: bool) -> Result<(), ServeError> {
        let Some(question) = &mut self.question else { return Ok(()) };
        question.held = false;
        if question.complete || (at_once && !question.candidates.is_empty()) { self.answer() } else { Ok(()) }
    }

    fn answer(&mut self) -> Result<(), ServeError> {
        let Some(question) = self.question.as_mut().filter(|question| question.wanted) else { return Ok(()) };
        question.wanted = false;
        for (rank, candidate) in (1..).zip(&question.candidates) {
            if is_move(&candidate.best) {
                let (score, usi) = (candidate.score.round() as i64, &candidate.best);
                writeln!(self.output, "info multipv {rank} score cp {score} pv {usi}")?;
            }
            if !candidate.comment.is_empty() {
                writeln!(self.output, "info string {}", candidate.comment)?;
            }
        }
        let best = question.candidates.first().map_or("resign", |candidate| &candidate.best);
        writeln!(self.output, "bestmove {best}")?;
        Ok(())
    }
}

/// Milliseconds for one move: what `go` gives, or a thirtieth of the clock plus increment and byoyomi. Never 0, since a
/// question with time 0 has no time limit; `default_ms` if `go` gives no time.
fn time_of(go: &Go, side: Color, default_ms: u64) -> u64 {
    let clock = &go.clock;
    let ms = if let Some(ms) = go.movetime_ms {
        ms
    } else if !clock.given() {
        return default_ms;
    } else if clock.is_empty(side) {
        NO_CLOCK_MS
    } else {
        let (main, increment) = clock.own(side);
        (main / 30).saturating_add(increment).saturating_add(clock.byoyomi_ms.unwrap_or(0))
    };
    ms.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A question with time 0 has no time limit: no `go` with clocks may become one, even if the clocks are empty.
    #[test]
    fn every_clock_leaves_a_time() {
        let time = |text: &str, side| time_of(&Go::parse(text), side, 7_000);
        assert_eq!(time("btime 60000 wtime 30000 binc 100 winc 200", Color::Black), 2_100);
        assert_eq!(time("btime 60000 wtime 30000 binc 100 winc 200", Color::White), 1_200);
        assert_eq!(time("btime 0 wtime 0 byoyomi 900", Color::White), 900);
        assert_eq!(time("movetime 400", Color::Black), 400);
        assert_eq!(time("nodes 4000", Color::Black), 7_000);
        // some GUIs send empty clocks if there is no clock
        assert_eq!(time("btime 0 wtime 0 byoyomi 0", Color::Black), 1_000);
        assert_eq!(time("btime 0 wtime 5000", Color::Black), 1_000);
        // a thirtieth of the clock is less than a millisecond
        assert_eq!(time("btime 20 wtime 5000", Color::Black), 1);
        assert_eq!(time("movetime 0", Color::White), 1);
    }
}
