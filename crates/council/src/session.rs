//! The session: a GUI on one side, members on the other, and one thread that waits for whoever speaks next.

use std::io::{BufReader, Read, Write};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use super::board::Board;
use super::config::Config;
use super::deliberate::Thought;
use super::engine::EngineMember;
use super::member::{Member, News, Task};
use super::votes::{Course, VoteFile};
use super::{clock, say, second};
use crate::usi::{FromGui, Go, Heard, Line, LineReader, Position, Protocol};
use evalcurve_core::rule::log::Header;

/// Lines that may wait for the session. An engine that writes without end waits here, not in memory.
const WAITING: usize = 4096;

/// How often a GUI is told of better lines while members think.
pub(super) const SHOW_EVERY: Duration = Duration::from_millis(500);

/// How long members have to leave before they are made to.
const FAREWELL: Duration = Duration::from_millis(500);

/// Something that happened.
#[derive(Debug)]
pub(super) enum Event {
    /// A line of the GUI, and when it came.
    Gui(Line, Instant),
    /// The GUI's end.
    GuiGone,
    /// Something from a member: its place, the number of its process, what it wrote.
    Member(usize, u64, Heard),
}

/// Starts the members of a configuration. What they write comes as events.
pub(super) fn members(config: &Config, events: &SyncSender<Event>) -> Vec<Box<dyn Member>> {
    let member = |(place, engine): (usize, &super::EngineConfig)| -> Box<dyn Member> {
        let events = events.clone();
        let listener = Arc::new(move |life, heard| events.send(Event::Member(place, life, heard)).is_ok());
        Box::new(EngineMember::new(engine.clone(), config.restarts, listener))
    };
    config.engines.iter().enumerate().map(member).collect()
}

/// The channel of a session.
pub(super) fn events() -> (SyncSender<Event>, Receiver<Event>) {
    sync_channel(WAITING)
}

/// Runs a council for a GUI until the GUI says `quit` or its input ends. Lines go to `output`, each decision at once.
///
/// # Errors
/// The log cannot be opened, or `output` cannot be written.
pub fn run(config: Config, input: impl Read + Send + 'static, output: impl Write) -> Result<(), super::SessionError> {
    let log = config.log.as_deref().map(VoteFile::open).transpose()?;
    let (sender, receiver) = events();
    let members = members(&config, &sender);
    thread::spawn(move || {
        let mut lines = LineReader::new(BufReader::new(input));
        while let Ok(Some(line)) = lines.read() {
            if sender.send(Event::Gui(line, Instant::now())).is_err() {
                return;
            }
        }
        let _ = sender.send(Event::GuiGone);
    });
    Session::new(config, members, output, log).run(&receiver)
}

pub(super) struct Session<W> {
    pub(super) config: Config,
    /// Members in the order of the configuration.
    pub(super) members: Vec<Box<dyn Member>>,
    pub(super) header: Header,
    output: W,
    pub(super) log: Option<VoteFile>,
    /// The words of the GUI.
    pub(super) protocol: Protocol,
    /// Lines that the GUI wants.
    pub(super) lines: usize,
    /// When the GUI asked for options that are still to come.
    greeting: Option<Instant>,
    /// The GUI waits for `readyok`.
    readying: bool,
    position: Position,
    pub(super) thought: Option<Thought>,
    pub(super) serial: u64,
    pub(super) games: u64,
    pub(super) course: Course,
    pub(super) session_id: String,
    broken: Option<std::io::Error>,
}

impl<W: Write> Session<W> {
    fn new(config: Config, members: Vec<Box<dyn Member>>, output: W, log: Option<VoteFile>) -> Self {
        let header = Header::new(config.game.as_str(), config.rule, &config.voters(), &config.rule_options());
        Self {
            protocol: config.game.protocol(),
            lines: 1,
            header,
            members,
            output,
            log,
            greeting: None,
            readying: false,
            position: Position::even(),
            thought: None,
            serial: 0,
            games: 0,
            course: Course::default(),
            session_id: super::votes::session_id(),
            broken: None,
            config,
        }
    }

    fn run(mut self, events: &Receiver<Event>) -> Result<(), super::SessionError> {
        let now = Instant::now();
        for place in 0..self.members.len() {
            let news = self.members[place].start(now);
            self.learn(place, news, now);
        }
        loop {
            let event = match self.next_deadline() {
                Some(at) => events.recv_timeout(at.saturating_duration_since(Instant::now())),
                None => events.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            let now = Instant::now();
            match event {
                Ok(Event::Gui(Line::Text(text), at)) => {
                    if !self.gui(&text, at, now) {
                        break;
                    }
                }
                Ok(Event::Gui(Line::TooLong(bytes), _)) => {
                    self.tell(&format!("a line of {bytes} bytes was thrown away"))
                }
                Ok(Event::Member(place, life, heard)) => {
                    let news = self.members.get_mut(place).map(|m| m.hear(life, heard, now)).unwrap_or_default();
                    self.learn(place, news, now);
                }
                Ok(Event::GuiGone) | Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {}
            }
            self.tick(Instant::now());
            if self.broken.is_some() {
                break;
            }
        }
        if self.greeting.take().is_some() {
            // whoever asks for no more than the name gets it
            self.greet();
        }
        self.leave(events);
        match self.broken {
            Some(source) if source.kind() != std::io::ErrorKind::BrokenPipe => {
                Err(super::SessionError::Output { source })
            }
            _ => Ok(()),
        }
    }

    /// Bids every member farewell; those that do not leave are ended when they are dropped.
    fn leave(&mut self, events: &Receiver<Event>) {
        self.members.iter_mut().for_each(|m| m.quit());
        let until = Instant::now() + FAREWELL;
        while !self.members.iter().all(|m| m.is_gone()) {
            let left = until.saturating_duration_since(Instant::now());
            // one that writes without end would be heard for ever
            if left.is_zero() {
                break;
            }
            match events.recv_timeout(left) {
                Ok(Event::Member(place, life, heard)) => {
                    if let Some(member) = self.members.get_mut(place) {
                        member.hear(life, heard, Instant::now());
                    }
                }
                Ok(_) => {}
                Err(_) => break,
            }
        }
    }

    fn next_deadline(&self) -> Option<Instant> {
        let of_members = self.members.iter().filter_map(|m| m.deadline());
        let of_thought = self.thought.iter().flat_map(|t| {
            let stop = self.stop_at(t).filter(|_| !t.all_told);
            let show = (t.unseen && t.second.is_none()).then_some(t.shown + SHOW_EVERY);
            [t.deadline, stop, show].into_iter().flatten()
        });
        let greeting = self.greeting.map(|at| at + Duration::from_millis(self.config.time.options_ms));
        of_members.chain(of_thought).chain(greeting).min()
    }

    /// When members are told to stop, so that the slowest of them answers before the deadline.
    pub(super) fn stop_at(&self, thought: &Thought) -> Option<Instant> {
        let slowest = self.members.iter().filter(|m| m.is_asked()).map(|m| m.stop_time()).max()?;
        let deadline = thought.deadline?;
        let whole = deadline.saturating_duration_since(thought.task.since);
        // half of the time is the members', however slow they stop
        deadline.checked_sub(slowest.min(whole / 2))
    }

    pub(super) fn style(&self) -> say::Style {
        say::Style { scale_cp: self.config.score_scale_cp, protocol: self.protocol, lines: self.lines }
    }

    pub(super) fn say(&mut self, text: &str) {
        let text = format!("{text}\n");
        self.write(&text);
    }

    pub(super) fn write(&mut self, text: &str) {
        if let Err(e) = self.output.write_all(text.as_bytes()).and_then(|()| self.output.flush()) {
            self.broken = Some(e);
        }
    }

    pub(super) fn tell(&mut self, text: &str) {
        self.say(&format!("info string {}", say::one_line(text)));
    }

    /// A line of the GUI; false where it is the last.
    fn gui(&mut self, text: &str, at: Instant, now: Instant) -> bool {
        match FromGui::parse(text) {
            FromGui::Greeting(protocol) => {
                self.protocol = protocol;
                self.greeting = Some(at);
            }
            FromGui::IsReady if self.thought.is_some() => self.say("readyok"),
            FromGui::IsReady => {
                self.readying = true;
                for place in 0..self.members.len() {
                    let news = self.members[place].prepare(now);
                    self.learn(place, news, now);
                }
            }
            FromGui::SetOption { name, value } => self.set_option(&name, value.as_deref()),
            FromGui::NewGame => {
                self.begin_game();
                self.members.iter_mut().for_each(|m| m.new_game());
            }
            FromGui::Position(position) => self.position = position,
            FromGui::Go(go) => self.go(go, at, now),
            FromGui::PonderHit => self.ponder_hit(at, now),
            FromGui::Stop => {
                if let Some(thought) = &mut self.thought {
                    thought.stopped = true;
                    // a GUI throws the answer to an interrupted ponder away, and its clock runs: no waiting
                    let patience = if thought.task.go.ponder { Duration::ZERO } else { self.patience() };
                    if let Some(thought) = &mut self.thought {
                        let until = at + patience;
                        thought.deadline = Some(thought.deadline.map_or(until, |d| d.min(until)));
                    }
                    self.stop_all(now);
                }
            }
            FromGui::GameOver(result) => {
                self.members.iter_mut().for_each(|m| m.game_over(&result));
                let end = self.course.end(self.game_id(), &result);
                self.write_log(|log, _| end.map_or(Ok(()), |end| log.write_end(&end)));
            }
            FromGui::Quit => return false,
            FromGui::Other(text) if text.is_empty() => {}
            FromGui::Other(text) => self.tell(&format!("not understood: {text}")),
        }
        true
    }

    fn begin_game(&mut self) {
        self.games += 1;
        self.course = Course::default();
    }

    /// What the game is called in the log.
    pub(super) fn game_id(&self) -> String {
        format!("{}-{}", self.session_id, self.games)
    }

    /// Writes to the log, where there is one, and gives it up where that fails.
    pub(super) fn write_log(&mut self, write: impl FnOnce(&mut VoteFile, &Header) -> std::io::Result<()>) {
        if let Some(log) = &mut self.log
            && let Err(e) = write(log, &self.header)
        {
            self.log = None;
            self.tell(&format!("the log cannot be written: {e}; it is given up"));
        }
    }

    /// How long the slowest member that thinks may take after `stop`.
    fn patience(&self) -> Duration {
        let asked = self.members.iter().zip(&self.config.engines).filter(|(m, _)| m.is_asked());
        Duration::from_millis(asked.map(|(_, e)| e.stop_patience_ms).max().unwrap_or(0))
    }

    pub(super) fn stop_all(&mut self, now: Instant) {
        self.members.iter_mut().for_each(|m| m.stop(now));
        if let Some(thought) = &mut self.thought {
            thought.all_told = true;
        }
    }

    fn go(&mut self, go: Go, at: Instant, now: Instant) {
        if self.thought.is_some() {
            // no GUI does this; the newer order counts
            self.decide(now);
        }
        if self.course.over {
            // a GUI that announces no game
            self.begin_game();
        }
        let (board, problem) = Board::new(self.config.game, &self.position);
        if let Some(problem) = problem {
            self.tell(&problem);
        }
        self.serial += 1;
        let open = go.is_open();
        let budget = clock::budget(&go, board.side(), &self.config.time);
        let margin = Duration::from_millis(self.config.time.margin_ms).min(budget.map_or(Duration::MAX, |b| b / 3));
        let task = Task {
            serial: self.serial,
            position: self.position.clone(),
            side: board.side(),
            since: at,
            budget: budget.filter(|_| !open).map(|b| second::first_share(&self.config, b)),
            margin: margin + budget.map_or(Duration::ZERO, |b| b - second::first_share(&self.config, b)),
            go,
        };
        let deadline = task.budget.map(|b| at + b);
        let last_deadline = budget.filter(|_| !open).map(|b| at + b);
        let none_to_play = board.checks_moves() && board.legal_moves().is_empty();
        if !none_to_play {
            self.members.iter_mut().for_each(|m| m.think(&task, now));
        }
        self.thought = Some(Thought {
            task,
            board,
            deadline,
            stopped: false,
            all_told: false,
            shown: at,
            unseen: false,
            answered: false,
            faults: Vec::new(),
            checkmate: None,
            last_deadline,
            second: None,
        });
    }

    fn ponder_hit(&mut self, at: Instant, now: Instant) {
        let Some(thought) = &mut self.thought else { return };
        if !thought.task.go.ponder {
            return;
        }
        thought.task.go.ponder = false;
        thought.task.since = at;
        let budget = clock::budget(&thought.task.go, thought.task.side, &self.config.time);
        let budget = budget.filter(|_| !thought.task.go.infinite);
        thought.task.budget = budget.map(|b| second::first_share(&self.config, b));
        thought.deadline = thought.task.budget.map(|b| at + b);
        thought.last_deadline = budget.map(|b| at + b);
        let task = thought.task.clone();
        self.members.iter_mut().for_each(|m| m.ponder_hit(&task, now));
    }

    /// Takes in what a member's event meant.
    fn learn(&mut self, place: usize, news: Vec<News>, now: Instant) {
        let name = self.config.engines.get(place).map(|e| e.name.clone()).unwrap_or_default();
        for n in news {
            match n {
                News::Greeted | News::Ready => {}
                News::Line => {
                    if let Some(thought) = &mut self.thought {
                        thought.unseen = true;
                    }
                }
                News::Answered => {
                    if let Some(thought) = &mut self.thought {
                        thought.answered = true;
                    }
                    self.check_answer(place, now);
                }
                News::Checkmate(answer) => {
                    if let Some(thought) = &mut self.thought {
                        let solved = |a: &str| a != "nomate" && a != "timeout" && a != "notimplemented";
                        let rank = |a: &str| (solved(a), a == "nomate", a == "timeout");
                        let found = solved(&answer);
                        if thought.checkmate.as_deref().is_none_or(|known| rank(&answer) > rank(known)) {
                            thought.checkmate = Some(answer);
                        }
                        if found {
                            self.stop_all(now);
                        }
                    }
                }
                News::Note(text) => self.tell(&format!("{name}: {text}")),
                News::Fault(text) => {
                    self.tell(&format!("{name}: {text}"));
                    if let Some(thought) = &mut self.thought {
                        thought.faults.push((place, say::one_line(&text)));
                    }
                }
            }
        }
    }

    /// A member whose answer is no move of this position is started again: it may have lost the game's thread.
    fn check_answer(&mut self, place: usize, now: Instant) {
        let Some(thought) = &self.thought else { return };
        // a search of the position after a move is for its score
        if thought.second.is_some() {
            return;
        }
        let Some(member) = self.members.get_mut(place) else { return };
        let best = member.opinion().best.clone().unwrap_or_default();
        let word = matches!(best.as_str(), "resign" | "win" | "(none)" | "0000" | "");
        let declares = best == "win" && !thought.board.may_declare();
        if (word && !declares) || thought.board.is_legal(&best) {
            return;
        }
        let why = match declares {
            true => "declared a win that does not hold".to_owned(),
            false => format!("played {}, which is illegal", best.escape_debug()),
        };
        let news = member.refuse(&why, now);
        self.learn(place, news, now);
    }

    /// Everything that time or the last event has made due.
    fn tick(&mut self, now: Instant) {
        for place in 0..self.members.len() {
            let news = self.members[place].tick(now);
            self.learn(place, news, now);
        }
        if let Some(at) = self.greeting {
            let late = now >= at + Duration::from_millis(self.config.time.options_ms);
            if late || !self.members.iter().any(|m| m.is_starting()) {
                self.greeting = None;
                self.greet();
            }
        }
        if self.readying && !self.members.iter().any(|m| m.is_preparing()) {
            self.readying = false;
            self.say("readyok");
        }
        self.deliberate(now);
    }
}
