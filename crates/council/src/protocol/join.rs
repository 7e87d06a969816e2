//! The program's side: a USI engine that logs in to a server.

use std::io::{self, BufReader, Write};
use std::net::TcpStream;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use thiserror::Error;

use super::message::{Candidate, MOST_CANDIDATES, Proposal, Question};
use crate::usi::{
    BestMove, FromEngine, Heard, Info, Launch, Line, LineReader, Process, Protocol, SetOption, SpawnError,
};
use evalcurve_core::calibration::Score;
use evalcurve_core::types::ANNOUNCED_MATE_CP;

/// How long an engine may take to start and to get ready.
const START_TIME: Duration = Duration::from_secs(60);
/// How long it may go on after `stop`.
const STOP_PATIENCE: Duration = Duration::from_secs(5);

/// Who joins what.
#[derive(Debug, Clone)]
pub struct JoinOptions {
    /// The server, ADDRESS:PORT.
    pub server: String,
    /// The login name.
    pub name: String,
    /// The password, empty for none.
    pub password: String,
    /// The engine.
    pub engine: Launch,
    /// Its options.
    pub options: Vec<(String, String)>,
    /// Instead of `movetime`: what stands behind `go`, for engines that do not know `movetime` (`depth 8`).
    pub go: Option<String>,
    /// Time kept back from what the server gives.
    pub margin_ms: u64,
}

/// Why an engine could not join or had to leave.
#[derive(Debug, Error)]
pub enum JoinError {
    /// The engine does not start.
    #[error(transparent)]
    Start(#[from] SpawnError),
    /// The engine does not speak, or ended.
    #[error("the engine {0}")]
    Engine(String),
    /// The server cannot be reached.
    #[error("cannot reach the server '{server}': {source}")]
    Connect {
        /// Its address.
        server: String,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// The server does not take the name or the password.
    #[error("the server does not let '{0}' in: check the name and the password, and that nobody else is logged in")]
    Refused(String),
    /// The connection broke.
    #[error("the connection to the server broke: {0}")]
    Broken(#[from] io::Error),
}

enum Event {
    Engine(Heard),
    Server(Line),
    ServerEnded,
}

/// Starts the engine, logs in, and answers until the server says `LOGOUT` or closes.
///
/// # Errors
/// The engine does not start or ends, or the server cannot be reached or refuses the login.
pub fn join(options: &JoinOptions) -> Result<(), JoinError> {
    let (events, heard) = channel();
    let listener = events.clone();
    let engine = Process::start(&options.engine, move |h| listener.send(Event::Engine(h)).is_ok())?;
    let mut session = Session { options, engine, heard, asked: None };
    session.prepare()?;

    let fail = |source| JoinError::Connect { server: options.server.clone(), source };
    let mut server = TcpStream::connect(&options.server).map_err(fail)?;
    let _ = server.set_nodelay(true);
    let reading = server.try_clone().map_err(fail)?;
    let password = if options.password.is_empty() { String::new() } else { format!(" {}", options.password) };
    server.write_all(format!("LOGIN {}{password}\n", options.name).as_bytes())?;
    thread::spawn(move || listen_to_server(reading, &events));
    let ended = session.run(&mut server);
    session.engine.send("quit");
    let _ = server.shutdown(std::net::Shutdown::Both);
    ended
}

fn listen_to_server(stream: TcpStream, events: &Sender<Event>) {
    let mut lines = LineReader::new(BufReader::new(stream));
    while let Ok(Some(line)) = lines.read() {
        if events.send(Event::Server(line)).is_err() {
            return;
        }
    }
    let _ = events.send(Event::ServerEnded);
}

struct Asked {
    question: Question,
    /// The last exact line of every rank; a bound where there is none.
    lines: Vec<(u32, Info)>,
    /// When `stop` is said, and then when the engine is given up.
    until: Option<Instant>,
    stopped: bool,
}

struct Session<'a> {
    options: &'a JoinOptions,
    engine: Process,
    heard: Receiver<Event>,
    asked: Option<Asked>,
}

impl Session<'_> {
    /// Greets the engine, sets its options and gets it ready.
    fn prepare(&mut self) -> Result<(), JoinError> {
        self.engine.send(Protocol::Usi.greeting());
        let mut many = false;
        self.wait_for(|said| match said {
            FromEngine::Option(option) => {
                many |= option.name == "MultiPV";
                false
            }
            FromEngine::Greeted => true,
            _ => false,
        })?;
        let most = MOST_CANDIDATES.to_string();
        let own = many.then_some(("MultiPV", most.as_str()));
        let given = self.options.options.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        for (name, value) in own.into_iter().chain(given) {
            self.engine.send(SetOption { name, value: Some(value) }.to_string());
        }
        self.engine.send("isready");
        self.wait_for(|said| *said == FromEngine::Ready)?;
        self.engine.send(Protocol::Usi.new_game());
        Ok(())
    }

    fn wait_for(&mut self, mut wanted: impl FnMut(&FromEngine) -> bool) -> Result<(), JoinError> {
        let until = Instant::now() + START_TIME;
        loop {
            match self.heard.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(Event::Engine(Heard::Line(Line::Text(text), _))) => {
                    if wanted(&FromEngine::parse(&text, Protocol::Usi)) {
                        return Ok(());
                    }
                }
                Ok(Event::Engine(Heard::Closed(closed))) => return Err(ended(&closed.last_words)),
                Ok(_) => {}
                Err(_) => {
                    return Err(JoinError::Engine(format!("was not ready within {} s", START_TIME.as_secs())));
                }
            }
        }
    }

    fn run(&mut self, server: &mut TcpStream) -> Result<(), JoinError> {
        let mut let_in = false;
        let mut block: Option<Vec<String>> = None;
        loop {
            let event = match self.asked.as_ref().and_then(|asked| asked.until) {
                None => self.heard.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(until) => self.heard.recv_timeout(until.saturating_duration_since(Instant::now())),
            };
            match event {
                Ok(Event::Server(Line::Text(text))) => match (&mut block, text.trim_end()) {
                    (_, "LOGOUT") => return Ok(()),
                    (_, "LOGIN:incorrect") if !let_in => return Err(JoinError::Refused(self.options.name.clone())),
                    (_, text) if text.starts_with("LOGIN:") && text.ends_with(" OK") => let_in = true,
                    (_, "BEGIN Position") => block = Some(Vec::new()),
                    (Some(lines), "END Position") => {
                        let question = Question::parse(lines).map_err(JoinError::Engine);
                        block = None;
                        // a question that makes no sense has no answer
                        if let Ok(question) = question {
                            self.ask(question);
                        }
                    }
                    (Some(lines), text) if lines.len() < 64 => lines.push(text.to_owned()),
                    _ => {}
                },
                Ok(Event::Server(Line::TooLong(_))) => {}
                Ok(Event::ServerEnded) | Err(RecvTimeoutError::Disconnected) => {
                    return if let_in { Ok(()) } else { Err(JoinError::Refused(self.options.name.clone())) };
                }
                Ok(Event::Engine(Heard::Closed(closed))) => return Err(ended(&closed.last_words)),
                Ok(Event::Engine(Heard::Line(Line::Text(text), _))) => {
                    match (FromEngine::parse(&text, Protocol::Usi), &mut self.asked) {
                        (FromEngine::Info(info), Some(asked)) => asked.add(info),
                        (FromEngine::BestMove(best), Some(_)) => self.answer(&best, server)?,
                        _ => {}
                    }
                }
                Ok(Event::Engine(Heard::Line(Line::TooLong(_), _))) => {}
                Err(RecvTimeoutError::Timeout) => {
                    let Some(asked) = &mut self.asked else { continue };
                    if asked.stopped {
                        let ms = STOP_PATIENCE.as_millis();
                        return Err(JoinError::Engine(format!("did not answer within {ms} ms after stop")));
                    }
                    asked.stopped = true;
                    asked.until = Some(Instant::now() + STOP_PATIENCE);
                    self.engine.send("stop");
                }
            }
        }
    }

    fn ask(&mut self, question: Question) {
        self.engine.send(format!("position sfen {}", question.position.to_sfen()));
        let time_ms = match question.time_ms {
            0 => None,
            given => Some(given.saturating_sub(self.options.margin_ms).max(1)),
        };
        match (&self.options.go, time_ms) {
            (Some(go), _) => self.engine.send(format!("go {go}")),
            (None, Some(ms)) => self.engine.send(format!("go movetime {ms}")),
            (None, None) => self.engine.send("go infinite"),
        }
        let until = time_ms.map(|ms| Instant::now() + Duration::from_millis(ms));
        // without a time limit `stop` would never come
        let until = until.or_else(|| self.options.go.is_none().then(|| Instant::now() + Duration::from_secs(10)));
        self.asked = Some(Asked { question, lines: Vec::new(), until, stopped: false });
    }

    /// The candidates, that of `bestmove` first.
    fn answer(&mut self, best: &BestMove, server: &mut TcpStream) -> Result<(), JoinError> {
        let Some(asked) = self.asked.take() else { return Ok(()) };
        let mut candidates: Vec<Candidate> = Vec::new();
        match best.best.as_str() {
            "resign" | "(none)" | "" => {
                candidates.push(Candidate { proposal: Proposal::Resign, score: 0.0, comment: String::new() });
            }
            "win" => candidates.push(Candidate { proposal: Proposal::Win, score: 0.0, comment: String::new() }),
            first => {
                let known = asked.lines.iter().filter_map(|(_, info)| {
                    let score = number(info.score?.score);
                    let comment = info.depth.map_or_else(String::new, |depth| format!("depth {depth}"));
                    Some(Candidate { proposal: Proposal::Move(info.pv.first()?.clone()), score, comment })
                });
                candidates.extend(known);
                candidates.sort_by_key(|c| c.proposal != Proposal::Move(first.to_owned()));
                if candidates.first().is_none_or(|c| c.proposal != Proposal::Move(first.to_owned())) {
                    // a move without a line of its own: the best line's score is the nearest there is
                    let score = candidates.first().map_or(0.0, |c| c.score);
                    let proposal = Proposal::Move(first.to_owned());
                    candidates.insert(0, Candidate { proposal, score, comment: "no line of its own".to_owned() });
                }
            }
        }
        let position = &asked.question.position;
        let lines: Vec<String> = candidates.iter().filter_map(|c| c.to_line(position)).take(MOST_CANDIDATES).collect();
        // a shorter list ends with an empty line
        let tail = if lines.len() < MOST_CANDIDATES { "\n" } else { "" };
        server.write_all(format!("{}\n{tail}", lines.join("\n")).as_bytes())?;
        Ok(())
    }
}

impl Asked {
    fn add(&mut self, info: Info) {
        let Some(said) = info.score.filter(|_| !info.pv.is_empty()) else { return };
        let rank = info.multipv.unwrap_or(1);
        match self.lines.iter_mut().find(|(r, _)| *r == rank) {
            // an exact line is not replaced by a bound
            Some((_, old)) if said.bound.is_some() && old.score.is_some_and(|s| s.bound.is_none()) => {}
            Some((_, old)) => *old = info,
            None => {
                self.lines.push((rank, info));
                self.lines.sort_by_key(|(rank, _)| *rank);
            }
        }
    }
}

/// A mate as a number: beyond every mate threshold, the shorter the larger.
fn number(score: Score) -> f64 {
    match score {
        Score::Cp(cp) => cp,
        Score::Mate { wins, plies } => {
            let size = f64::from(ANNOUNCED_MATE_CP) - f64::from(plies.unwrap_or(0).min(1000));
            if wins { size } else { -size }
        }
    }
}

fn ended(last_words: &str) -> JoinError {
    let words = if last_words.is_empty() { String::new() } else { format!(" ({last_words})") };
    JoinError::Engine(format!("ended{words}"))
}
