//! The program's side: a USI engine that logs in to a server.

use std::collections::BTreeMap;
use std::io::{self, BufReader, Write};
use std::net::TcpStream;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use thiserror::Error;

use super::message::{Candidate, MOST_CANDIDATES, Proposal, Question};
use crate::usi::{
    BestMove, EngineOutput, FromEngine, Info, Launch, Line, LineReader, Process, Protocol, SpawnError, set_option,
};
use evalcurve_core::calibration::Score;
use evalcurve_core::types::ANNOUNCED_MATE_CP;

/// How long an engine may take to `usiok`, and from there to `readyok`.
const START_TIME: Duration = Duration::from_secs(60);
/// How long it may take to answer `stop`.
const STOP_PATIENCE: Duration = Duration::from_secs(5);
/// When to stop a search without a time limit.
const NO_LIMIT_MS: u64 = 10_000;

/// What joins which server.
#[derive(Debug, Clone)]
pub struct JoinOptions {
    /// The server, ADDRESS:PORT.
    pub server: String,
    /// The login name.
    pub name: String,
    /// The password; empty for none.
    pub password: String,
    /// The engine.
    pub engine: Launch,
    /// Its options.
    pub options: Vec<(String, String)>,
    /// Limits to send after `go` (`depth 8`), for engines that do not support `movetime`.
    pub go: Option<String>,
    /// Time to subtract from what the server gives.
    pub margin_ms: u64,
}

/// Why an engine could not join or had to leave.
#[derive(Debug, Error)]
pub enum JoinError {
    /// The engine cannot be started.
    #[error(transparent)]
    Start(#[from] SpawnError),
    /// The engine does not answer, or has ended.
    #[error("the engine {0}")]
    Engine(String),
    /// The server cannot be reached.
    #[error("cannot reach the server '{server}': {source}")]
    Connect {
        /// Its address.
        server: String,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// The server rejects the name or the password.
    #[error(
        "the server rejects the login '{0}': check the name and the password, and that no other program is logged in"
    )]
    Refused(String),
    /// The connection failed.
    #[error("the connection to the server failed: {0}")]
    Broken(#[from] io::Error),
}

enum Event {
    Engine(EngineOutput),
    Server(Line),
    ServerClosed,
}

/// Starts the engine, logs in, and answers questions until the server sends `LOGOUT` or closes the connection.
///
/// # Errors
/// The engine cannot be started or ends, or the server cannot be reached or rejects the login.
pub fn join(options: &JoinOptions) -> Result<(), JoinError> {
    let (sender, events) = channel();
    let listener = sender.clone();
    let engine = Process::start(&options.engine, move |output| listener.send(Event::Engine(output)).is_ok())?;
    let mut session = Session { options, engine, events, search: None };
    session.prepare()?;

    let fail = |source| JoinError::Connect { server: options.server.clone(), source };
    let mut server = TcpStream::connect(&options.server).map_err(fail)?;
    let _ = server.set_nodelay(true);
    let reading = server.try_clone().map_err(fail)?;
    let password = if options.password.is_empty() { String::new() } else { format!(" {}", options.password) };
    server.write_all(format!("LOGIN {}{password}\n", options.name).as_bytes())?;
    thread::spawn(move || {
        if LineReader::new(BufReader::new(reading)).forward(|line, _| sender.send(Event::Server(line)).is_ok()) {
            let _ = sender.send(Event::ServerClosed);
        }
    });
    let end = session.run(&mut server);
    session.engine.send("quit");
    let _ = server.shutdown(std::net::Shutdown::Both);
    end
}

/// The search for an answer.
struct Search {
    question: Question,
    /// The last exact line of every rank, or a bound if there is none.
    lines: BTreeMap<u32, Info>,
    /// When to send `stop`; after that, when to give up.
    until: Option<Instant>,
    stopped: bool,
}

struct Session<'a> {
    options: &'a JoinOptions,
    engine: Process,
    events: Receiver<Event>,
    search: Option<Search>,
}

impl Session<'_> {
    /// Greets the engine, sets its options and waits for `readyok`.
    fn prepare(&mut self) -> Result<(), JoinError> {
        self.engine.send(Protocol::Usi.greeting());
        let mut has_multipv = false;
        self.wait_for(|message| match message {
            FromEngine::Option(option) => {
                has_multipv |= option.name == "MultiPV";
                false
            }
            message => *message == FromEngine::Greeted,
        })?;
        let most = MOST_CANDIDATES.to_string();
        let multipv = has_multipv.then_some(("MultiPV", most.as_str()));
        let given = self.options.options.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        for (name, value) in multipv.into_iter().chain(given) {
            self.engine.send(set_option(name, Some(value)));
        }
        self.engine.send("isready");
        self.wait_for(|message| *message == FromEngine::Ready)?;
        self.engine.send(Protocol::Usi.new_game());
        Ok(())
    }

    fn wait_for(&mut self, mut wanted: impl FnMut(&FromEngine) -> bool) -> Result<(), JoinError> {
        let until = Instant::now() + START_TIME;
        loop {
            match self.events.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(Event::Engine(EngineOutput::Line(Line::Text(text), _))) => {
                    if wanted(&FromEngine::parse(&text, Protocol::Usi)) {
                        return Ok(());
                    }
                }
                Ok(Event::Engine(EngineOutput::Closed { stderr })) => return Err(engine_ended(&stderr)),
                Ok(_) => {}
                Err(_) => {
                    return Err(JoinError::Engine(format!("was not ready within {} s", START_TIME.as_secs())));
                }
            }
        }
    }

    fn run(&mut self, server: &mut TcpStream) -> Result<(), JoinError> {
        let refused = || JoinError::Refused(self.options.name.clone());
        let mut logged_in = false;
        let mut block: Option<Vec<String>> = None;
        loop {
            let event = match self.search.as_ref().and_then(|search| search.until) {
                None => self.events.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(until) => self.events.recv_timeout(until.saturating_duration_since(Instant::now())),
            };
            match event {
                Ok(Event::Server(Line::Text(text))) => match (&mut block, text.trim_end()) {
                    (_, "LOGOUT") => return Ok(()),
                    (_, "LOGIN:incorrect") if !logged_in => return Err(refused()),
                    (_, text) if text.starts_with("LOGIN:") && text.ends_with(" OK") => logged_in = true,
                    (_, "BEGIN Position") => block = Some(Vec::new()),
                    (Some(lines), "END Position") => {
                        // an invalid question gets no answer
                        if let Ok(question) = Question::parse(lines) {
                            self.ask(question);
                        }
                        block = None;
                    }
                    (Some(lines), text) if lines.len() < 64 => lines.push(text.to_owned()),
                    _ => {}
                },
                Ok(Event::ServerClosed) | Err(RecvTimeoutError::Disconnected) => {
                    return if logged_in { Ok(()) } else { Err(refused()) };
                }
                Ok(Event::Engine(EngineOutput::Closed { stderr })) => return Err(engine_ended(&stderr)),
                Ok(Event::Engine(EngineOutput::Line(Line::Text(text), _))) => {
                    match (FromEngine::parse(&text, Protocol::Usi), &mut self.search) {
                        (FromEngine::Info(info), Some(search)) => search.add(info),
                        (FromEngine::BestMove(best), Some(_)) => self.answer(&best, server)?,
                        _ => {}
                    }
                }
                Ok(Event::Server(Line::TooLong(_)) | Event::Engine(EngineOutput::Line(Line::TooLong(_), _))) => {}
                Err(RecvTimeoutError::Timeout) => {
                    let Some(search) = &mut self.search else { continue };
                    if search.stopped {
                        let ms = STOP_PATIENCE.as_millis();
                        return Err(JoinError::Engine(format!("did not answer within {ms} ms after stop")));
                    }
                    search.stopped = true;
                    search.until = Some(Instant::now() + STOP_PATIENCE);
                    self.engine.send("stop");
                }
            }
        }
    }

    fn ask(&mut self, question: Question) {
        self.engine.send(format!("position sfen {}", question.position.to_sfen()));
        let time = match question.time_ms {
            0 => None,
            given => Some(given.saturating_sub(self.options.margin_ms).max(1)),
        };
        self.engine.send(match (&self.options.go, time) {
            (Some(go), _) => format!("go {go}"),
            (None, Some(ms)) => format!("go movetime {ms}"),
            (None, None) => "go infinite".to_owned(),
        });
        // `go infinite` needs a `stop`
        let default_ms = self.options.go.is_none().then_some(NO_LIMIT_MS);
        let until = time.or(default_ms).map(|ms| Instant::now() + Duration::from_millis(ms));
        self.search = Some(Search { question, lines: BTreeMap::new(), until, stopped: false });
    }

    /// Sends the candidates; that of `bestmove` comes first.
    fn answer(&mut self, best: &BestMove, server: &mut TcpStream) -> Result<(), JoinError> {
        let Some(search) = self.search.take() else { return Ok(()) };
        let candidate = |proposal, score, comment| Candidate { proposal, score, comment };
        let candidates = match best.best.as_str() {
            "resign" | "(none)" | "" => vec![candidate(Proposal::Resign, 0.0, String::new())],
            "win" => vec![candidate(Proposal::Win, 0.0, String::new())],
            best => {
                let best = Proposal::Move(best.to_owned());
                let lines = search.lines.values().filter_map(|info| {
                    let score = centipawns(info.score?.score);
                    let comment = info.depth.map_or_else(String::new, |depth| format!("depth {depth}"));
                    Some(candidate(Proposal::Move(info.pv.first()?.clone()), score, comment))
                });
                let mut candidates: Vec<Candidate> = lines.collect();
                candidates.sort_by_key(|c| c.proposal != best);
                if candidates.first().is_none_or(|c| c.proposal != best) {
                    // the score of the best line is the nearest substitute for a line of the move
                    let score = candidates.first().map_or(0.0, |c| c.score);
                    candidates.insert(0, candidate(best, score, "no line for this move".to_owned()));
                }
                candidates
            }
        };
        let position = &search.question.position;
        let lines: Vec<String> = candidates.iter().filter_map(|c| c.to_line(position)).take(MOST_CANDIDATES).collect();
        // an empty line ends a shorter list
        let end = if lines.len() < MOST_CANDIDATES { "\n" } else { "" };
        server.write_all(format!("{}\n{end}", lines.join("\n")).as_bytes())?;
        Ok(())
    }
}

impl Search {
    /// Stores a line, unless it is a bound and the rank has an exact line.
    fn add(&mut self, info: Info) {
        let Some(score) = info.score.filter(|_| !info.pv.is_empty()) else { return };
        let rank = info.multipv.unwrap_or(1);
        let is_exact = |info: &Info| info.score.is_some_and(|score| score.bound.is_none());
        if score.bound.is_none() || !self.lines.get(&rank).is_some_and(is_exact) {
            self.lines.insert(rank, info);
        }
    }
}

/// The score as a number. A mate exceeds every mate threshold, and a shorter mate is a larger number.
fn centipawns(score: Score) -> f64 {
    match score {
        Score::Cp(cp) => cp,
        Score::Mate { wins, plies } => {
            let size = f64::from(ANNOUNCED_MATE_CP) - f64::from(plies.unwrap_or(0).min(1000));
            if wins { size } else { -size }
        }
    }
}

fn engine_ended(stderr: &str) -> JoinError {
    let stderr = if stderr.is_empty() { String::new() } else { format!(" ({stderr})") };
    JoinError::Engine(format!("ended{stderr}"))
}
