//! The server's side: a USI engine whose thinking is done by a program that logs in.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use thiserror::Error;

use super::message::{Candidate, MOST_CANDIDATES, Proposal, Question, parse_login, same_secret};
use super::position::{EVEN, Position};
use crate::clock::NO_CLOCK_MS;
use crate::usi::{FromGui, Go, Line, LineReader, Protocol, Start};
use evalcurve_core::types::Color;

/// The longest line of a program.
const LINE_BYTES: usize = 4096;
/// Programs that may be connected at once, logged in or not.
const MOST_CONNECTIONS: usize = 8;
/// A connection that has not logged in after so long is dropped.
const LOGIN_TIME: Duration = Duration::from_secs(10);
/// A program that does not take what it is sent for so long is dropped.
const WRITE_TIME: Duration = Duration::from_secs(2);
/// Silence that ends a list of fewer than five candidates.
const QUIET: Duration = Duration::from_millis(100);
/// Oddities told of one answer.
const MOST_NOTES: u32 = 5;

/// Where and for whom a server waits.
#[derive(Debug, Clone)]
pub struct ServeOptions {
    /// Address and port; port 0 takes a free one.
    pub listen: String,
    /// The only name that may log in; `None`: any.
    pub name: Option<String>,
    /// What the program must know; needed on every address but those of this machine.
    pub password: Option<String>,
    /// How long `isready` waits for a login.
    pub login_ms: u64,
    /// Time for an answer where `go` gives none (`infinite`, `ponder`, `depth`, `nodes`).
    pub answer_ms: u64,
    /// How much later than its time an answer may come before the program is dropped.
    pub grace_ms: u64,
    /// Whether the program may use its book.
    pub book: bool,
}

/// Why a server ended before it was told to.
#[derive(Debug, Error)]
pub enum ServeError {
    /// The address cannot be understood or listened on.
    #[error("cannot listen on '{address}': {source}; give ADDRESS:PORT, for example 127.0.0.1:4081")]
    Listen {
        /// The address.
        address: String,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// Other machines could come in without a word.
    #[error("'{0}' can be reached from other machines: give a password with --password-file, or listen on 127.0.0.1")]
    NoPassword(String),
    /// Nobody came.
    #[error("nobody logged in within {0} ms; start the program, or allow more with --login-ms")]
    Nobody(u64),
    /// The program does not answer.
    #[error("'{name}' did not answer within {ms} ms and was dropped")]
    Stalled {
        /// Its login name.
        name: String,
        /// What it was allowed.
        ms: u64,
    },
    /// The program is gone.
    #[error("'{name}' left: {why}")]
    Left {
        /// Its login name.
        name: String,
        /// The system's word or the program's.
        why: String,
    },
    /// A GUI of the wrong kind.
    #[error("the protocol is for shogi: speak USI, not UCI")]
    NotUsi,
    /// The answer cannot be written.
    #[error("cannot write to standard output: {0}")]
    Output(#[from] io::Error),
}

enum Event {
    Gui(FromGui),
    GuiEnded,
    Joined { serial: usize, name: String, stream: TcpStream },
    Said { serial: usize, line: Line },
    Left { serial: usize, why: String },
}

/// Waits for one program at a time and lets it answer what comes by USI on `input`, until `quit` or its end.
///
/// # Errors
/// The address cannot be used, or the program never came, left, or stalled: whoever started the server starts it again.
pub fn serve(
    options: &ServeOptions,
    input: impl BufRead + Send + 'static,
    output: impl Write,
) -> Result<(), ServeError> {
    let (events, heard) = channel();
    let door = Door::open(options, events.clone())?;
    thread::spawn(move || listen_to_gui(input, &events));
    let mut server = Server {
        options,
        output,
        address: door.address,
        client: None,
        position: None,
        ready_until: None,
        asked: None,
        next: None,
    };
    let end = server.run(&heard);
    if let Some(mut client) = server.client.take() {
        // it may be gone already
        let _ = client.stream.write_all(b"LOGOUT\n");
        let _ = client.stream.shutdown(Shutdown::Both);
    }
    end
}

fn listen_to_gui(input: impl BufRead, events: &Sender<Event>) {
    let mut lines = LineReader::new(input);
    while let Ok(Some(line)) = lines.read() {
        if let Line::Text(text) = line
            && events.send(Event::Gui(FromGui::parse(&text))).is_err()
        {
            return;
        }
    }
    let _ = events.send(Event::GuiEnded);
}

/// The listening socket with its thread; both end when it is dropped.
struct Door {
    address: SocketAddr,
    closed: Arc<AtomicBool>,
}

impl Door {
    fn open(options: &ServeOptions, events: Sender<Event>) -> Result<Self, ServeError> {
        let fail = |source| ServeError::Listen { address: options.listen.clone(), source };
        let none = || io::Error::new(io::ErrorKind::InvalidInput, "no such address");
        let address = options.listen.to_socket_addrs().map_err(fail)?.next().ok_or_else(|| fail(none()))?;
        if options.password.as_deref().unwrap_or_default().is_empty() && !is_own(address.ip()) {
            return Err(ServeError::NoPassword(options.listen.clone()));
        }
        let listener = TcpListener::bind(address).map_err(fail)?;
        let address = listener.local_addr().map_err(fail)?;
        let closed = Arc::new(AtomicBool::new(false));
        let guest = Guest {
            name: options.name.clone(),
            password: options.password.clone().unwrap_or_default(),
            events,
            inside: Arc::new(AtomicUsize::new(0)),
        };
        let flag = Arc::clone(&closed);
        thread::spawn(move || {
            for (serial, stream) in listener.incoming().enumerate() {
                if flag.load(Ordering::Acquire) {
                    return;
                }
                let Ok(stream) = stream else { continue };
                if guest.inside.fetch_add(1, Ordering::AcqRel) >= MOST_CONNECTIONS {
                    guest.inside.fetch_sub(1, Ordering::AcqRel);
                    continue;
                }
                let guest = guest.clone();
                thread::spawn(move || {
                    guest.welcome(serial, stream);
                    guest.inside.fetch_sub(1, Ordering::AcqRel);
                });
            }
        });
        Ok(Self { address, closed })
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.closed.store(true, Ordering::Release);
        // the thread waits in `accept`: one more connection wakes it
        let _ = TcpStream::connect_timeout(&self.address, Duration::from_millis(200));
    }
}

fn is_own(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => v4.is_loopback(),
        IpAddr::V6(v6) => v6.is_loopback() || v6.to_ipv4_mapped().is_some_and(|v4| v4.is_loopback()),
    }
}

/// What a connection has to say to come in.
#[derive(Clone)]
struct Guest {
    name: Option<String>,
    password: String,
    events: Sender<Event>,
    inside: Arc<AtomicUsize>,
}

impl Guest {
    fn welcome(&self, serial: usize, stream: TcpStream) {
        let _ = stream.set_nodelay(true);
        let _ = stream.set_write_timeout(Some(WRITE_TIME));
        let until = Arc::new(Mutex::new(Some(Instant::now() + LOGIN_TIME)));
        let (Ok(reading), Ok(mut writing)) = (stream.try_clone(), stream.try_clone()) else { return };
        let mut lines =
            LineReader::with_limit(BufReader::new(Until { stream: reading, until: Arc::clone(&until) }), LINE_BYTES);
        let login = match lines.read() {
            Ok(Some(Line::Text(text))) => text,
            _ => {
                let _ = stream.shutdown(Shutdown::Both);
                return;
            }
        };
        let name = match parse_login(&login) {
            Some((name, password))
                if self.name.as_deref().is_none_or(|wanted| wanted == name)
                    && same_secret(password, &self.password) =>
            {
                name.to_owned()
            }
            _ => {
                let _ = writing.write_all(b"LOGIN:incorrect\n");
                let _ = stream.shutdown(Shutdown::Both);
                return;
            }
        };
        *until.lock().unwrap_or_else(PoisonError::into_inner) = None;
        if self.events.send(Event::Joined { serial, name, stream: writing }).is_err() {
            return;
        }
        let why = loop {
            match lines.read() {
                Ok(Some(line)) => {
                    if self.events.send(Event::Said { serial, line }).is_err() {
                        break String::new();
                    }
                }
                Ok(None) => break "it closed the connection".to_owned(),
                Err(error) => break error.to_string(),
            }
        };
        let _ = stream.shutdown(Shutdown::Both);
        let _ = self.events.send(Event::Left { serial, why });
    }
}

/// A stream whose reading ends at a moment, however slowly bytes come.
struct Until {
    stream: TcpStream,
    until: Arc<Mutex<Option<Instant>>>,
}

impl Read for Until {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let until = *self.until.lock().unwrap_or_else(PoisonError::into_inner);
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        if left.is_some_and(|left| left.is_zero()) {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.stream.set_read_timeout(left)?;
        self.stream.read(buffer)
    }
}

struct Client {
    serial: usize,
    name: String,
    stream: TcpStream,
}

/// A question that was sent.
struct Asked {
    position: Position,
    candidates: Vec<Candidate>,
    complete: bool,
    /// When the program is dropped.
    until: Instant,
    allowed_ms: u64,
    /// When the list ends unless more comes.
    quiet: Option<Instant>,
    /// Whether the answer is still of use.
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
    asked: Option<Asked>,
    /// A `go` that waits for the end of an answer that nobody wants any more.
    next: Option<Go>,
}

impl<W: Write> Server<'_, W> {
    fn run(&mut self, heard: &Receiver<Event>) -> Result<(), ServeError> {
        loop {
            let now = Instant::now();
            let waits = [
                self.ready_until,
                self.asked.as_ref().map(|asked| asked.until).filter(|_| !self.is_complete()),
                self.asked.as_ref().and_then(|asked| asked.quiet),
            ];
            let event = match waits.into_iter().flatten().min() {
                None => heard.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(until) => heard.recv_timeout(until.saturating_duration_since(now)),
            };
            match event {
                Ok(Event::Gui(said)) => {
                    if !self.gui(said)? {
                        return Ok(());
                    }
                }
                Ok(Event::GuiEnded) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
                Ok(Event::Joined { serial, name, stream }) => self.joined(serial, name, stream)?,
                Ok(Event::Said { serial, line }) => self.said(serial, line)?,
                Ok(Event::Left { serial, why }) => {
                    if let Some(client) = self.client.take_if(|client| client.serial == serial) {
                        return Err(ServeError::Left { name: client.name, why });
                    }
                }
                Err(RecvTimeoutError::Timeout) => self.woken()?,
            }
            self.output.flush()?;
        }
    }

    fn is_complete(&self) -> bool {
        self.asked.as_ref().is_some_and(|asked| asked.complete)
    }

    fn woken(&mut self) -> Result<(), ServeError> {
        let now = Instant::now();
        if self.ready_until.is_some_and(|until| now >= until) {
            return Err(ServeError::Nobody(self.options.login_ms));
        }
        let Some(asked) = &mut self.asked else { return Ok(()) };
        if asked.quiet.is_some_and(|quiet| now >= quiet) {
            return self.completed();
        }
        if !asked.complete && now >= asked.until {
            let ms = asked.allowed_ms;
            let name = self.client.as_ref().map_or_else(String::new, |client| client.name.clone());
            return Err(ServeError::Stalled { name, ms });
        }
        Ok(())
    }

    fn joined(&mut self, serial: usize, name: String, mut stream: TcpStream) -> Result<(), ServeError> {
        if self.client.is_some() {
            let _ = stream.write_all(b"LOGIN:incorrect\n");
            let _ = stream.shutdown(Shutdown::Both);
            return Ok(());
        }
        if stream.write_all(format!("LOGIN:{name} OK\n").as_bytes()).is_err() {
            return Ok(());
        }
        writeln!(self.output, "info string {name} logged in")?;
        self.client = Some(Client { serial, name, stream });
        if self.ready_until.take().is_some() {
            writeln!(self.output, "readyok")?;
        }
        Ok(())
    }

    /// Gives whether to go on.
    fn gui(&mut self, said: FromGui) -> Result<bool, ServeError> {
        match said {
            FromGui::Greeting(Protocol::Usi) => {
                let name = self.options.name.as_deref().unwrap_or("program");
                writeln!(self.output, "id name {name} at {}\nid author evalcurve\nusiok", self.address)?;
            }
            FromGui::Greeting(Protocol::Uci) => return Err(ServeError::NotUsi),
            FromGui::IsReady if self.client.is_some() => writeln!(self.output, "readyok")?,
            FromGui::IsReady => {
                self.ready_until = Some(Instant::now() + Duration::from_millis(self.options.login_ms));
            }
            FromGui::Position(said) => {
                let start = match &said.start {
                    Start::Even => EVEN,
                    Start::Text(text) => text,
                };
                let position = Position::from_sfen(start);
                self.position =
                    said.moves.iter().try_fold(position, |p, usi| Some(p.and_then(|p| p.play(usi)))).flatten();
                if self.position.is_none() {
                    writeln!(self.output, "info string the position cannot be read")?;
                }
            }
            FromGui::Go(go) if go.mate.is_some() => writeln!(self.output, "checkmate notimplemented")?,
            FromGui::Go(go) => {
                if self.asked.as_ref().is_some_and(|asked| !asked.complete) {
                    self.next = Some(go);
                } else {
                    self.ask(&go)?;
                }
            }
            FromGui::Stop => self.released(true)?,
            FromGui::PonderHit => self.released(false)?,
            FromGui::Quit => return Ok(false),
            FromGui::SetOption { .. } | FromGui::NewGame | FromGui::GameOver(_) | FromGui::Other(_) => {}
        }
        Ok(true)
    }

    fn ask(&mut self, go: &Go) -> Result<(), ServeError> {
        let position = match &self.position {
            Some(position) => position.clone(),
            None => match Position::from_sfen(EVEN) {
                Some(even) => even,
                None => return Ok(()),
            },
        };
        let Some(client) = &mut self.client else {
            writeln!(self.output, "info string nobody is logged in\nbestmove resign")?;
            return Ok(());
        };
        let held = go.infinite || go.ponder;
        let time_ms = if held { self.options.answer_ms } else { time_of(go, position.side(), self.options.answer_ms) };
        let question = Question { position: position.clone(), book: self.options.book, time_ms };
        if let Err(error) = client.stream.write_all(question.to_text().as_bytes()) {
            return Err(ServeError::Left { name: client.name.clone(), why: error.to_string() });
        }
        let allowed_ms = time_ms.saturating_add(self.options.grace_ms);
        self.asked = Some(Asked {
            position,
            candidates: Vec::new(),
            complete: false,
            until: Instant::now() + Duration::from_millis(allowed_ms),
            allowed_ms,
            quiet: None,
            wanted: true,
            held,
            notes: 0,
        });
        Ok(())
    }

    fn said(&mut self, serial: usize, line: Line) -> Result<(), ServeError> {
        let Some(client) = self.client.as_ref().filter(|client| client.serial == serial) else { return Ok(()) };
        let name = client.name.clone();
        let text = match line {
            Line::Text(text) => text,
            Line::TooLong(bytes) => {
                let why = format!("a line of {bytes} bytes, {LINE_BYTES} are allowed");
                return Err(ServeError::Left { name, why });
            }
        };
        if text.trim() == "LOGOUT" {
            return Err(ServeError::Left { name, why: "it logged out".to_owned() });
        }
        let Some(asked) = self.asked.as_mut().filter(|asked| !asked.complete) else { return Ok(()) };
        if text.trim().is_empty() {
            return if asked.candidates.is_empty() { Ok(()) } else { self.completed() };
        }
        match Candidate::parse(&text, &asked.position) {
            Ok(candidate) => {
                let last = candidate.proposal == Proposal::Resign || candidate.proposal == Proposal::Win;
                asked.candidates.push(candidate);
                asked.quiet = Some(Instant::now() + QUIET);
                if last || asked.candidates.len() == MOST_CANDIDATES {
                    return self.completed();
                }
            }
            Err(error) if asked.notes < MOST_NOTES => {
                asked.notes += 1;
                writeln!(self.output, "info string {name}: {error}")?;
            }
            Err(_) => {}
        }
        Ok(())
    }

    /// The list is whole: told at once, or when somebody asks.
    fn completed(&mut self) -> Result<(), ServeError> {
        if let Some(asked) = &mut self.asked {
            asked.complete = true;
            asked.quiet = None;
            if !asked.held {
                self.answer()?;
            }
        }
        match self.next.take() {
            Some(go) => self.ask(&go),
            None => Ok(()),
        }
    }

    /// `stop` (with the last word now) or `ponderhit`.
    fn released(&mut self, now: bool) -> Result<(), ServeError> {
        let Some(asked) = &mut self.asked else { return Ok(()) };
        asked.held = false;
        if asked.complete || (now && !asked.candidates.is_empty()) { self.answer() } else { Ok(()) }
    }

    fn answer(&mut self) -> Result<(), ServeError> {
        let Some(asked) = self.asked.as_mut().filter(|asked| asked.wanted) else { return Ok(()) };
        asked.wanted = false;
        for (rank, candidate) in (1..).zip(&asked.candidates) {
            if let Proposal::Move(usi) = &candidate.proposal {
                writeln!(self.output, "info multipv {rank} score cp {} pv {usi}", candidate.score.round() as i64)?;
            }
            if !candidate.comment.is_empty() {
                writeln!(self.output, "info string {}", candidate.comment)?;
            }
        }
        let best = match asked.candidates.first().map(|c| &c.proposal) {
            Some(Proposal::Move(usi)) => usi,
            Some(Proposal::Win) => "win",
            Some(Proposal::Resign) | None => "resign",
        };
        writeln!(self.output, "bestmove {best}")?;
        Ok(())
    }
}

/// Milliseconds for one move: what `go` says, or a thirtieth of the clock with what is added to it. Time 0, by which
/// a question allows any time, comes from `otherwise_ms` alone.
fn time_of(go: &Go, side: Color, otherwise_ms: u64) -> u64 {
    let clock = &go.clock;
    let ms = if let Some(ms) = go.movetime_ms {
        ms
    } else if !clock.given() {
        return otherwise_ms;
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

    /// A question with time 0 has no end: no `go` with clocks may become one, however empty they are.
    #[test]
    fn every_clock_leaves_a_time() {
        let time = |text: &str, side| time_of(&Go::parse(text), side, 7_000);
        assert_eq!(time("btime 60000 wtime 30000 binc 100 winc 200", Color::Black), 2_100);
        assert_eq!(time("btime 60000 wtime 30000 binc 100 winc 200", Color::White), 1_200);
        assert_eq!(time("btime 0 wtime 0 byoyomi 900", Color::White), 900);
        assert_eq!(time("movetime 400", Color::Black), 400);
        assert_eq!(time("nodes 4000", Color::Black), 7_000);
        // empty clocks are how some GUIs say that there is no clock
        assert_eq!(time("btime 0 wtime 0 byoyomi 0", Color::Black), 1_000);
        assert_eq!(time("btime 0 wtime 5000", Color::Black), 1_000);
        // less than one part of it is left
        assert_eq!(time("btime 20 wtime 5000", Color::Black), 1);
        assert_eq!(time("movetime 0", Color::White), 1);
    }
}
