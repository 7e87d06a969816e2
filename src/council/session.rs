//! The session: a GUI on one side, members on the other, and one thread that waits for whoever speaks next.

use std::io::{BufReader, Read, Write};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use super::config::Config;
use super::decide::Voice;
use super::engine::EngineMember;
use super::member::{Member, News, Task};
use super::votes::VoteFile;
use super::{clock, decide, say};
use crate::council::board::Board;
use crate::rule::log::{Header, Line as LogLine};
use crate::rule::{Rule, TieRule};
use crate::usi::{FromGui, Go, Heard, Line, LineReader, OptionKind, OptionSpec, Position, Protocol};

/// Lines that may wait for the session. An engine that writes without end waits here, not in memory.
const WAITING: usize = 4096;

/// How often a GUI is told of better lines while members think.
const SHOW_EVERY: Duration = Duration::from_millis(500);

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

/// A thought of the council.
struct Thought {
    task: Task,
    board: Board,
    /// When the decision must be out; none for `infinite` and `ponder` before `stop` and `ponderhit`.
    deadline: Option<Instant>,
    /// The GUI said `stop`.
    stopped: bool,
    /// All members were told to stop.
    all_told: bool,
    shown: Instant,
    /// A line came that was not shown.
    unseen: bool,
    faults: Vec<(usize, String)>,
    checkmate: Option<String>,
}

struct Session<W> {
    config: Config,
    /// Members in the order of the configuration.
    members: Vec<Box<dyn Member>>,
    header: Header,
    output: W,
    log: Option<VoteFile>,
    /// The words of the GUI.
    protocol: Protocol,
    /// When the GUI asked for options that are still to come.
    greeting: Option<Instant>,
    /// The GUI waits for `readyok`.
    readying: bool,
    position: Position,
    thought: Option<Thought>,
    serial: u64,
    games: u64,
    session_id: String,
    broken: Option<std::io::Error>,
}

impl<W: Write> Session<W> {
    fn new(config: Config, members: Vec<Box<dyn Member>>, output: W, log: Option<VoteFile>) -> Self {
        let header = Header::new(config.game.as_str(), config.rule, &config.voters(), &config.rule_options());
        Self {
            protocol: config.game.protocol(),
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
            match events.recv_timeout(until.saturating_duration_since(Instant::now())) {
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
            let show = t.unseen.then_some(t.shown + SHOW_EVERY);
            [t.deadline, stop, show].into_iter().flatten()
        });
        let greeting = self.greeting.map(|at| at + Duration::from_millis(self.config.time.options_ms));
        of_members.chain(of_thought).chain(greeting).min()
    }

    /// When members are told to stop, so that the slowest of them answers before the deadline.
    fn stop_at(&self, thought: &Thought) -> Option<Instant> {
        let slowest = self.members.iter().filter(|m| m.is_asked()).map(|m| m.stop_time()).max()?;
        let deadline = thought.deadline?;
        let whole = deadline.saturating_duration_since(thought.task.since);
        // half of the time is the members', however slow they stop
        deadline.checked_sub(slowest.min(whole / 2))
    }

    fn say(&mut self, text: &str) {
        let text = format!("{text}\n");
        self.write(&text);
    }

    fn write(&mut self, text: &str) {
        if let Err(e) = self.output.write_all(text.as_bytes()).and_then(|()| self.output.flush()) {
            self.broken = Some(e);
        }
    }

    fn tell(&mut self, text: &str) {
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
                self.games += 1;
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
            FromGui::GameOver(result) => self.members.iter_mut().for_each(|m| m.game_over(&result)),
            FromGui::Quit => return false,
            FromGui::Other(text) if text.is_empty() => {}
            FromGui::Other(text) => self.tell(&format!("not understood: {text}")),
        }
        true
    }

    /// How long the slowest member that thinks may take after `stop`.
    fn patience(&self) -> Duration {
        let asked = self.members.iter().zip(&self.config.engines).filter(|(m, _)| m.is_asked());
        Duration::from_millis(asked.map(|(_, e)| e.stop_patience_ms).max().unwrap_or(0))
    }

    fn stop_all(&mut self, now: Instant) {
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
            budget: budget.filter(|_| !open),
            margin,
            go,
        };
        let deadline = task.budget.map(|b| at + b);
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
            faults: Vec::new(),
            checkmate: None,
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
        thought.task.budget = budget.filter(|_| !thought.task.go.infinite);
        thought.deadline = thought.task.budget.map(|b| at + b);
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
                News::Answered => self.check_answer(place, &name, now),
                News::Checkmate(answer) => {
                    if let Some(thought) = &mut self.thought {
                        let solved = |a: &str| a != "nomate" && a != "timeout" && a != "notimplemented";
                        let rank = |a: &str| (solved(a), a == "nomate", a == "timeout");
                        if thought.checkmate.as_deref().is_none_or(|known| rank(&answer) > rank(known)) {
                            thought.checkmate = Some(answer);
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
    fn check_answer(&mut self, place: usize, name: &str, now: Instant) {
        let Some(thought) = &self.thought else { return };
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
        let _ = name;
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

    fn deliberate(&mut self, now: Instant) {
        let Some(thought) = &self.thought else { return };
        let asked = self.members.iter().any(|m| m.is_asked());
        let open = thought.task.go.is_open() && !thought.stopped;
        let late = thought.deadline.is_some_and(|d| now >= d);
        if late || (!asked && !open) {
            self.decide(now);
            return;
        }
        let stop_at = self.stop_at(thought);
        let due = !thought.all_told && stop_at.is_some_and(|at| now >= at);
        if due || (!thought.all_told && !open && self.is_settled(now)) {
            self.stop_all(now);
        }
        let Some(thought) = &self.thought else { return };
        if thought.unseen && now >= thought.shown + SHOW_EVERY {
            self.show(now);
        }
    }

    fn is_settled(&self, now: Instant) -> bool {
        if !self.config.early_stop {
            return false;
        }
        let Some(thought) = &self.thought else { return false };
        let outstanding: Vec<usize> = (0..self.members.len()).filter(|&i| self.members[i].is_asked()).collect();
        if outstanding.is_empty() || outstanding.len() == self.members.len() {
            return false;
        }
        let (verdict, _) = self.verdict(thought, now, false);
        decide::is_settled(&self.config, &self.header, &verdict, &outstanding)
    }

    /// The decision as it would be now. `lines`: members that still think count with the first move of their last line.
    fn verdict(&self, thought: &Thought, now: Instant, lines: bool) -> (decide::Verdict, LogLine) {
        let fault = |place: usize| thought.faults.iter().rev().find(|(p, _)| *p == place).map(|(_, f)| f.as_str());
        let mut opinions: Vec<_> = self.members.iter().map(|m| m.opinion().clone()).collect();
        if lines {
            for opinion in opinions.iter_mut().filter(|o| o.best.is_none()) {
                opinion.best = opinion.pv.first().cloned();
            }
        }
        let voices: Vec<Voice<'_>> = opinions
            .iter()
            .zip(&self.config.engines)
            .enumerate()
            .map(|(place, (opinion, engine))| Voice {
                name: &engine.name,
                opinion,
                fault: fault(place).or_else(|| (opinion.best.is_none()).then_some("no answer in time")),
            })
            .collect();
        let line = LogLine {
            game_id: format!("{}-{}", self.session_id, self.games),
            ply: thought.board.ply(),
            position: thought
                .task
                .position
                .line(self.config.game.protocol())
                .trim_start_matches("position ")
                .to_owned(),
            side: thought.board.side(),
            time_ms: now.saturating_duration_since(thought.task.since).as_millis() as u64,
            votes: Vec::new(),
            searched: Vec::new(),
            decision: None,
            played: String::new(),
            faults: Vec::new(),
        };
        decide::verdict(&self.config, &self.header, &thought.board, &voices, line)
    }

    /// Tells the GUI how things stand.
    fn show(&mut self, now: Instant) {
        let Some(mut thought) = self.thought.take() else { return };
        thought.unseen = false;
        thought.shown = now;
        let (verdict, _) = self.verdict(&thought, now, true);
        let time = now.saturating_duration_since(thought.task.since);
        if let Some(line) = say::info_line(&verdict, time, self.config.score_scale_cp, self.protocol) {
            self.say(&line);
        }
        self.thought = Some(thought);
    }

    /// Decides with what there is, says so, and lets the members go.
    fn decide(&mut self, now: Instant) {
        let Some(thought) = self.thought.take() else { return };
        let (mut verdict, mut line) = self.verdict(&thought, now, false);
        let mut after = thought.board.clone();
        let follows = after.play(&verdict.played);
        verdict.ponder = verdict.ponder.filter(|p| follows && after.is_legal(p));
        let mates_wanted = thought.task.go.mate.is_some() && self.protocol == Protocol::Usi;
        let text = match (&thought.checkmate, mates_wanted) {
            (Some(answer), _) => format!("checkmate {answer}\n"),
            (None, true) => "checkmate timeout\n".to_owned(),
            _ => {
                let time = now.saturating_duration_since(thought.task.since);
                say::decision(&verdict, time, self.config.score_scale_cp, self.protocol)
            }
        };
        self.write(&text);
        self.members.iter_mut().for_each(|m| m.release(now));
        if mates_wanted {
            return;
        }
        line.faults = thought
            .faults
            .iter()
            .filter_map(|(place, text)| Some(format!("{}: {text}", self.config.engines.get(*place)?.name)))
            .chain(verdict.way_out.clone())
            .collect();
        if let Some(log) = &mut self.log
            && let Err(e) = log.write(&self.header, &line)
        {
            let text = format!("the log cannot be written: {e}; it is given up");
            self.log = None;
            self.tell(&text);
        }
    }

    /// `id`, the options of the council and of its members, and the word that ends them.
    fn greet(&mut self) {
        let mut text = format!("id name {}\nid author evalcurve {}\n", self.config.name, env!("CARGO_PKG_VERSION"));
        let combo = |name: &str, choices: Vec<String>, default: &str| OptionSpec {
            name: name.to_owned(),
            kind: OptionKind::Combo { choices },
            default: Some(default.to_owned()),
        };
        let rules = Rule::ALL.iter().map(|r| r.as_str().to_owned()).collect();
        let ties = TieRule::ALL.iter().map(|r| r.as_str().to_owned()).collect();
        let own = [
            combo("Rule", rules, self.header.rule.as_str()),
            combo("TieRule", ties, self.header.tie.as_str()),
            OptionSpec {
                name: "EarlyStop".to_owned(),
                kind: OptionKind::Check,
                default: Some(self.config.early_stop.to_string()),
            },
        ];
        own.iter().for_each(|o| text += &format!("{o}\n"));
        for (i, (member, engine)) in self.members.iter().zip(&self.config.engines).enumerate() {
            for option in member.options() {
                let mut shown = option.clone();
                shown.name = format!("E{}_{}", i + 1, option.name);
                if let Some((_, value)) = engine.options.iter().find(|(n, _)| *n == option.name) {
                    shown.default = Some(value.clone());
                }
                text += &format!("{shown}\n");
            }
        }
        text += self.protocol.greeting_done();
        self.say(&text);
    }

    fn set_option(&mut self, name: &str, value: Option<&str>) {
        let complaint = match (name, value) {
            ("Rule", Some(v)) => match Rule::parse(v) {
                Some(rule) => self.set_rule(rule, self.header.tie),
                None => Some(format!("there is no rule '{v}'")),
            },
            ("TieRule", Some(v)) => match TieRule::parse(v) {
                Some(tie) => self.set_rule(self.header.rule, tie),
                None => Some(format!("there is no tie rule '{v}'")),
            },
            ("EarlyStop", Some(v)) => {
                self.config.early_stop = v == "true";
                None
            }
            // of the protocol itself; every member may ponder unless its configuration says otherwise
            ("USI_Ponder" | "Ponder", Some(_)) => {
                for (member, engine) in self.members.iter_mut().zip(&self.config.engines) {
                    let own = engine.options.iter().any(|(n, _)| n == name);
                    if !own && (name == "USI_Ponder" || member.options().iter().any(|o| o.name == name)) {
                        member.set_option(name, value);
                    }
                }
                None
            }
            // one table for all: each member has its own in the configuration
            ("USI_Hash" | "Hash", _) => None,
            _ => self.set_member_option(name, value),
        };
        if let Some(complaint) = complaint {
            self.tell(&complaint);
        }
    }

    fn set_rule(&mut self, rule: Rule, tie: TieRule) -> Option<String> {
        let options = crate::rule::Options { tie, ..self.config.rule_options() };
        if let Err(e) = crate::rule::check(rule, &self.config.voters(), &options) {
            return Some(format!("{e}; {} stays", self.header.rule));
        }
        self.config.rule = rule;
        self.config.tie = tie;
        self.header = Header::new(self.config.game.as_str(), rule, &self.config.voters(), &options);
        if let Some(log) = &mut self.log {
            log.forget_header();
        }
        None
    }

    fn set_member_option(&mut self, name: &str, value: Option<&str>) -> Option<String> {
        let split = || {
            let (place, option) = name.strip_prefix('E')?.split_once('_')?;
            Some((place.parse::<usize>().ok()?.checked_sub(1)?, option))
        };
        let Some((place, option)) = split() else { return Some(format!("there is no option '{name}'")) };
        let Some(member) = self.members.get_mut(place) else {
            return Some(format!("there is no member {}", place + 1));
        };
        let spec = member.options().iter().find(|o| o.name == option).cloned();
        if let (Some(spec), Some(value)) = (spec, value)
            && let Err(e) = spec.check(value)
        {
            return Some(e);
        }
        member.set_option(option, value);
        None
    }
}
