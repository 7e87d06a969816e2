//! The program's side: a USI engine that logs in to a server.

use std::io::{self, BufReader, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use evalcurve_calibration::Score;
use evalcurve_calibration::types::{ANNOUNCED_MATE_CP, Color};
use evalcurve_engine::board::{Board, quoted};
use evalcurve_engine::usi::{Go, Launch, LineReader, Position, ReadLine};
use evalcurve_engine::{EngineConfig, Event, Limit, Member, MemberEvent, Task, events, forward, wait};
use evalcurve_words::language::Text;
use evalcurve_words::text;
use thiserror::Error;

use super::message::{Candidate, MOST_CANDIDATES, Question, is_move};

/// How long an engine may take to `usiok`, and from there to `readyok`.
const START_MS: u64 = 60_000;
/// How long it may take to answer `stop`.
const STOP_PATIENCE_MS: u64 = 5_000;
/// How long the server may take to accept a connection, and to answer the login. Tests do not wait so long.
const LOGIN_TIME: Duration = Duration::from_secs(if cfg!(test) { 3 } else { 10 });
/// The trial search by which an engine shows that it knows `movetime`, and how long it may take for it.
const TRIAL_MS: u64 = 20;
const TRIAL_PATIENCE: Duration = Duration::from_secs(2);
/// When to stop a search without a time limit.
const NO_LIMIT_MS: u64 = 10_000;

/// What joins which server. The comments of the fields are the help of the command.
#[derive(Debug, Clone, clap::Args)]
pub struct JoinOptions {
    /// The server
    #[arg(value_name = "ADDRESS:PORT")]
    pub server: String,

    /// The login name
    #[arg(long)]
    pub name: String,

    /// A file with the password in its first line
    #[arg(long, value_name = "FILE")]
    pub password_file: Option<PathBuf>,

    /// An option of the engine; may be repeated
    #[arg(long = "option", value_name = "NAME=VALUE", value_parser = option)]
    pub options: Vec<(String, String)>,

    /// Limits to send after go instead of movetime
    // such as `depth 8`, for engines that do not support `movetime`
    #[arg(long, value_name = "LIMIT")]
    pub go: Option<String>,

    /// Time to subtract from what the server gives
    #[arg(long, value_name = "MS", default_value_t = 100)]
    pub margin_ms: u64,

    /// The password; empty for none.
    #[arg(skip)]
    pub password: String,

    #[arg(skip)]
    pub engine: Launch,
}

fn option(text: &str) -> Result<(String, String), Text> {
    let (name, value) = text.split_once('=').ok_or_else(|| text!("write NAME=VALUE"))?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

/// Why an engine could not join or had to leave.
#[derive(Debug, Error, evalcurve_words::language::ToText)]
pub enum JoinError {
    /// The engine cannot be started, does not answer, or has ended.
    #[error("the engine failed: {0}")]
    Engine(Text),
    /// The server cannot be reached.
    #[error("cannot reach the server '{server}': {source}")]
    Connect {
        server: String,
        #[source]
        source: io::Error,
    },
    /// The server rejects the name or the password.
    #[error(
        "the server rejects the login '{0}': check the name and the password, and that no other program is logged in"
    )]
    Refused(String),
    /// The server does not answer the login.
    #[error("the server '{server}' did not answer the login within {} s; check the address", LOGIN_TIME.as_secs())]
    NoAnswer { server: String },
    /// The connection failed.
    #[error("the connection to the server failed: {0}")]
    Broken(#[from] io::Error),
}

/// Starts the engine, logs in, and answers questions until the server sends `LOGOUT` or closes the connection.
///
/// # Errors
/// The engine cannot be started or ends, or the server cannot be reached or rejects the login.
pub fn join(options: &JoinOptions) -> Result<(), JoinError> {
    let (sender, events) = events();
    let config = EngineConfig {
        launch: options.engine.clone(),
        options: options.options.clone(),
        start_ms: START_MS,
        ready_ms: START_MS,
        stop_patience_ms: STOP_PATIENCE_MS,
        ..EngineConfig::default()
    };
    let listener = sender.clone();
    let listener = Arc::new(move |process, output| listener.send(Event::Member(0, process, output)).is_ok());
    let engine = Member::new(config, 0, listener);
    let mut session =
        Session { options, engine, events, limit: Limit::MoveTime, question: None, stop_at: None, login_until: None };
    session.prepare()?;
    if options.go.is_none() && session.ends_at_movetime() {
        session.limit = Limit::Byoyomi;
        session.prepare()?;
    }
    session.engine.new_game(Instant::now());

    let fail = |source| JoinError::Connect { server: options.server.clone(), source };
    let mut server = connect(&options.server).map_err(fail)?;
    let _ = server.set_nodelay(true);
    let reading = server.try_clone().map_err(fail)?;
    let password = if options.password.is_empty() { String::new() } else { format!(" {}", options.password) };
    server.write_all(format!("LOGIN {}{password}\n", options.name).as_bytes())?;
    forward(LineReader::new(BufReader::new(reading)), sender, |line| {
        line.map_or(Event::GuiClosed, |(line, at)| Event::Gui(line, at))
    });
    let end = session.run(&mut server);
    if end.is_err() {
        // the server need not wait for an answer
        let _ = server.write_all(b"LOGOUT\n");
    }
    session.engine.quit();
    let _ = server.shutdown(std::net::Shutdown::Both);
    end
}

/// Connects to the first address of the server that answers in time.
fn connect(server: &str) -> io::Result<TcpStream> {
    let mut failed = io::Error::new(io::ErrorKind::InvalidInput, "no such address");
    for address in server.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, LOGIN_TIME) {
            Ok(stream) => return Ok(stream),
            Err(error) => failed = error,
        }
    }
    Err(failed)
}

struct Session<'a> {
    options: &'a JoinOptions,
    engine: Member,
    /// To this engine, the server is the GUI.
    events: Receiver<Event>,
    /// How it gets its time for a move.
    limit: fn(u64) -> Limit,
    /// The question that the engine searches.
    question: Option<Question>,
    /// When to stop this search.
    stop_at: Option<Instant>,
    /// When the server must have answered the login; `None` afterwards.
    login_until: Option<Instant>,
}

impl Session<'_> {
    /// Starts the engine, sets its options and waits for `readyok`.
    fn prepare(&mut self) -> Result<(), JoinError> {
        self.engine.start(Instant::now());
        self.wait_while(Member::is_starting)?;
        let is_multipv = |name: &String| name == "MultiPV";
        let declared = self.engine.options.iter().any(|option| is_multipv(&option.name));
        if declared && !self.options.options.iter().any(|(name, _)| is_multipv(name)) {
            self.engine.set_option("MultiPV", Some(&MOST_CANDIDATES.to_string()));
        }
        self.engine.prepare(Instant::now());
        self.wait_while(Member::is_preparing)
    }

    /// Whether the engine ends when it gets `movetime`, as GPSShogi does.
    fn ends_at_movetime(&mut self) -> bool {
        let now = Instant::now();
        let task = Task {
            nodes: None,
            position: Position::default(),
            side: Color::Black,
            go: Limit::MoveTime(TRIAL_MS).go(),
            since: now,
            budget: None,
            margin: None,
        };
        self.engine.search(&task, now);
        self.stop_at = Some(now + TRIAL_PATIENCE);
        let ended = self.wait_while(Member::is_asked).is_err();
        self.stop_at = None;
        ended
    }

    fn wait_while(&mut self, busy: fn(&Member) -> bool) -> Result<(), JoinError> {
        loop {
            // the engine may have failed to start
            self.check_engine()?;
            if !busy(&self.engine) {
                return Ok(());
            }
            self.next()?;
        }
    }

    /// Waits for an event or a deadline. Passes output of the engine on; returns an event of the server.
    fn next(&mut self) -> Result<Option<Event>, JoinError> {
        let deadline = [self.stop_at, self.login_until, self.engine.deadline()].into_iter().flatten().min();
        let event = wait(&self.events, deadline);
        let now = Instant::now();
        let event = match event {
            Some(Event::Member(_, process, output)) => {
                self.engine.on_output(process, output, now);
                None
            }
            event => event,
        };
        if self.stop_at.take_if(|at| now >= *at).is_some() {
            self.engine.stop(now);
        }
        self.engine.check_deadline(now);
        Ok(event)
    }

    /// Whether the engine has answered since the last call.
    fn check_engine(&mut self) -> Result<bool, JoinError> {
        let mut answered = false;
        for event in std::mem::take(&mut self.engine.events) {
            match event {
                MemberEvent::Fault { fault, .. } => return Err(JoinError::Engine(fault)),
                MemberEvent::Answered => answered = true,
                MemberEvent::Line | MemberEvent::Checkmate(_) | MemberEvent::Note(_) => {}
            }
        }
        Ok(answered)
    }

    fn run(&mut self, server: &mut TcpStream) -> Result<(), JoinError> {
        let options = self.options;
        let refused = || JoinError::Refused(options.name.clone());
        self.login_until = Some(Instant::now() + LOGIN_TIME);
        let mut block: Option<Vec<String>> = None;
        loop {
            let event = self.next()?;
            let logged_in = self.login_until.is_none();
            if self.login_until.is_some_and(|until| Instant::now() >= until) {
                return Err(JoinError::NoAnswer { server: options.server.clone() });
            }
            if self.check_engine()? {
                self.answer(server)?;
            }
            let text = match event {
                Some(Event::Gui(ReadLine::Text(text), _)) => text,
                Some(Event::GuiClosed) => return if logged_in { Ok(()) } else { Err(refused()) },
                _ => continue,
            };
            match (&mut block, text.trim_end()) {
                (_, "LOGOUT") => return Ok(()),
                (_, "LOGIN:incorrect") if !logged_in => return Err(refused()),
                (_, text) if text.starts_with("LOGIN:") && text.ends_with(" OK") => self.login_until = None,
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
            }
        }
    }

    fn ask(&mut self, question: Question) {
        let now = Instant::now();
        let time_ms = Some(question.time_ms).filter(|ms| *ms > 0);
        let time_ms = time_ms.map(|ms| ms.saturating_sub(self.options.margin_ms).max(1));
        let go = match &self.options.go {
            Some(go) => Go::parse(go),
            None => time_ms.map_or(Go { infinite: true, ..Go::default() }, |ms| (self.limit)(ms).go()),
        };
        // `go infinite` needs a `stop`
        let default_ms = go.infinite.then_some(NO_LIMIT_MS);
        let budget = time_ms.or(default_ms).map(Duration::from_millis);
        let task = Task {
            nodes: None,
            position: Position { start: Some(question.position.to_sfen()), ..Position::default() },
            side: question.position.side(),
            go,
            since: now,
            budget,
            margin: Some(Duration::ZERO),
        };
        // a newer question replaces one that is not answered
        self.engine.release(now);
        self.engine.search(&task, now);
        self.stop_at = budget.map(|budget| now + budget);
        self.question = Some(question);
    }

    /// Sends the candidates; that of `bestmove` comes first.
    fn answer(&mut self, server: &mut TcpStream) -> Result<(), JoinError> {
        let Some(Question { position, .. }) = self.question.take() else { return Ok(()) };
        self.stop_at = None;
        let result = self.engine.result();
        let best = match result.best.as_deref().unwrap_or_default() {
            "(none)" | "" => "resign",
            best => best,
        };
        let start = Some(position.to_sfen());
        let (board, _) = Board::new(position.game(), &Position { start, ..Position::default() });
        let why = match best {
            "win" if board.checks_moves() && !board.may_declare() => Some("which is not valid"),
            best if is_move(best) && (!board.is_legal(best) || position.csa_of_usi(best).is_none()) => {
                Some("which is illegal")
            }
            _ => None,
        };
        if let Some(why) = why {
            return Err(JoinError::Engine(text!(
                "it played '{}', {why} in the position {}",
                quoted(best),
                position.to_sfen()
            )));
        }
        let candidate = |best: &str, score, comment| Candidate { best: best.to_owned(), score, comment };
        let mut candidates: Vec<Candidate> = Vec::new();
        if is_move(best) {
            candidates.extend(self.engine.lines.best_known().map(|(best, score, line)| {
                let comment = line.depth.map_or_else(String::new, |depth| format!("depth {depth}"));
                candidate(best, centipawns(score), comment)
            }));
            candidates.retain(|c| board.is_legal(&c.best));
            candidates.sort_by_key(|c| c.best != best);
        }
        if candidates.first().is_none_or(|c| c.best != best) {
            // the score of the best line is the nearest substitute for a line of the move
            let score = candidates.first().map_or(0.0, |c| c.score);
            let comment = if is_move(best) { "no line for this move" } else { "" };
            candidates.insert(0, candidate(best, score, comment.to_owned()));
        }
        let lines: Vec<String> = candidates.iter().filter_map(|c| c.to_line(&position)).take(MOST_CANDIDATES).collect();
        // an empty line ends a shorter list
        let end = if lines.len() < MOST_CANDIDATES { "\n" } else { "" };
        server.write_all(format!("{}\n{end}", lines.join("\n")).as_bytes())?;
        Ok(())
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
