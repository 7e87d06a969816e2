//! The session: a GUI, the members, and one thread that processes the events of both.

use std::io::{BufReader, Read, Write};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender};
use std::time::{Duration, Instant};

use evalcurve_engine::board::{Board, quoted};
use evalcurve_engine::usi::{FromGui, Go, LineReader, Position, ReadLine};
use evalcurve_engine::{EngineConfig, Event, GUI_LINE_BYTES, Member, MemberEvent, Task, events, forward, wait};
use evalcurve_rules::Rule;
use evalcurve_rules::log::Header;
use evalcurve_words::language::{Language, Text};
use evalcurve_words::text;

use super::config::Config;
use super::follow_up::main_share;
use super::held::{HELD_BYTES, Held};
use super::meter::Meter;
use super::output::Style;
use super::search::Search;
use super::vote_log::{GameProgress, VoteLog, session_id};
use super::{SessionError, clock, output};

/// How often the GUI gets new lines during a search.
pub(super) const SHOW_EVERY: Duration = Duration::from_millis(500);

/// How long members have to end after `quit`.
const QUIT_TIME: Duration = Duration::from_millis(500);

/// How long a council goes on at most after the end of the GUI's input, to get ready and to finish a search.
const LONGEST_END: Duration = Duration::from_secs(600);

/// Creates the members of a configuration. Their output arrives as events.
pub(super) fn members(config: &Config, events: &SyncSender<Event>) -> Vec<Member> {
    let member = |(place, engine): (usize, &EngineConfig)| {
        let events = events.clone();
        let listener = Arc::new(move |process, output| events.send(Event::Member(place, process, output)).is_ok());
        Member::new(engine.clone(), config.restarts, listener)
    };
    config.engines.iter().enumerate().map(member).collect()
}

/// Processes output until no member is busy, or it is time.
pub(super) fn wait_until(members: &mut [Member], events: &Receiver<Event>, until: Instant, busy: fn(&Member) -> bool) {
    while members.iter().any(busy) && Instant::now() < until {
        let next = members.iter().filter_map(|m| m.deadline()).chain([until]).min().unwrap_or(until);
        let event = wait(events, Some(next));
        let now = Instant::now();
        if let Some(Event::Member(place, process, output)) = event {
            members[place].on_output(process, output, now);
        }
        for member in members.iter_mut() {
            member.check_deadline(now);
            member.events.retain(|event| matches!(event, MemberEvent::Fault { .. }));
        }
    }
}

/// Runs a council for a GUI until the GUI sends `quit`, or until its input ends and all that it asked for is answered.
/// Each decision is written to `output` at once.
///
/// # Errors
/// The log cannot be opened, or `output` cannot be written. A log that cannot be written any more is an error at the
/// end.
pub fn run(config: Config, input: impl Read + Send + 'static, output: impl Write) -> Result<(), SessionError> {
    let log = config.log.as_deref().map(VoteLog::open).transpose()?;
    let (sender, receiver) = events();
    let members = members(&config, &sender);
    forward(LineReader::with_limit(BufReader::new(input), GUI_LINE_BYTES), sender, |line| {
        line.map_or(Event::GuiClosed, |(line, at)| Event::Gui(line, at))
    });
    Session::new(config, members, output, log).run(&receiver)
}

pub(super) struct Session<W> {
    pub(super) config: Config,
    /// Members in the order of the configuration.
    pub(super) members: Vec<Member>,
    pub(super) header: Header,
    output: W,
    pub(super) log: Option<VoteLog>,
    /// What the members spend, if there is a log.
    pub(super) meter: Meter,
    /// The GUI plays Chess960 (`UCI_Chess960`).
    pub(super) chess960: bool,
    /// What the GUI wants to see.
    pub(super) style: Style,
    /// When the GUI sent a greeting that has not been answered.
    greeting: Option<Instant>,
    /// What the members get ready for.
    preparing: Preparing,
    /// The members have been ready once.
    was_ready: bool,
    /// Lines of the GUI that wait for the greeting or for the members.
    held: Held,
    /// When to end at the latest; set at the end of the GUI's input.
    leave_by: Option<Instant>,
    position: Position,
    pub(super) search: Option<Search>,
    games: u64,
    pub(super) game: GameProgress,
    /// Nodes of the budget that earlier moves of this game saved.
    saved: u64,
    session_id: String,
    output_error: Option<std::io::Error>,
    log_error: Option<SessionError>,
}

/// What the members get ready for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Preparing {
    /// They are not getting ready.
    No,
    /// For `isready`: the GUI waits for `readyok`.
    Readyok,
    /// For the first search of a GUI that did not send `isready`.
    Search,
}

impl<W: Write> Session<W> {
    fn new(config: Config, members: Vec<Member>, output: W, log: Option<VoteLog>) -> Self {
        let header = Header::new(config.game.as_str(), config.rule, &config.voters(), &config.rule_options());
        Self {
            chess960: false,
            style: Style {
                scale_cp: config.score_scale_cp(),
                protocol: config.game.protocol(),
                verbose: config.verbose,
                lines: 1,
                of_members: false,
                language: Language::English,
            },
            header,
            members,
            output,
            log,
            meter: Meter::default(),
            greeting: None,
            preparing: Preparing::No,
            was_ready: false,
            held: Held::default(),
            leave_by: None,
            position: Position::default(),
            search: None,
            games: 0,
            game: GameProgress::default(),
            saved: 0,
            session_id: session_id(),
            output_error: None,
            log_error: None,
            config,
        }
    }

    fn run(mut self, events: &Receiver<Event>) -> Result<(), SessionError> {
        let now = Instant::now();
        self.members.iter_mut().for_each(|member| member.start(now));
        self.update(now);
        while self.output_error.is_none() && !self.has_ended(Instant::now()) {
            let event = wait(events, self.next_deadline());
            if event.is_some_and(|event| !self.on_event(event, Instant::now())) {
                break;
            }
            self.update(Instant::now());
        }
        if self.greeting.take().is_some() {
            // some programs send only the greeting and `quit`, to read the name
            self.greet();
        }
        if self.leave_by.is_some() && self.output_error.is_none() {
            self.decide(Instant::now());
        }
        self.quit_members(events);
        match self.output_error {
            Some(source) if source.kind() != std::io::ErrorKind::BrokenPipe => Err(SessionError::Output { source }),
            // the games went on, and the exit code says that their decisions are not all in the log
            _ => self.log_error.map_or(Ok(()), Err),
        }
    }

    /// Sends `quit` to every member and waits for their ends. Dropping a member ends a process that is still running.
    fn quit_members(&mut self, events: &Receiver<Event>) {
        self.members.iter_mut().for_each(|m| m.quit());
        // a member that floods its output must not prolong the wait
        wait_until(&mut self.members, events, Instant::now() + QUIT_TIME, |m| !m.is_gone());
    }

    fn next_deadline(&self) -> Option<Instant> {
        let of_members = self.members.iter().filter_map(|m| m.deadline());
        let of_search = self.search.iter().flat_map(|search| {
            let stop = self.stop_at(search).filter(|_| !search.members_stopped);
            let show = (search.has_news && search.follow_up.is_none()).then_some(search.shown + SHOW_EVERY);
            [search.deadline, stop, show].into_iter().flatten()
        });
        of_members.chain(of_search).chain(self.greeting_deadline()).chain(self.leave_by).min()
    }

    fn greeting_deadline(&self) -> Option<Instant> {
        self.greeting.map(|at| at + Duration::from_millis(self.config.time.options_ms))
    }

    /// When to send `stop` to the members, so that the slowest of them answers before the deadline.
    pub(super) fn stop_at(&self, search: &Search) -> Option<Instant> {
        let slowest = self.members.iter().filter(|m| m.is_asked()).map(|m| m.stop_time).max()?;
        let deadline = search.deadline?;
        let whole = deadline.saturating_duration_since(search.task.since);
        // members get at least half of the time, however slowly they stop
        deadline.checked_sub(slowest.min(whole / 2))
    }

    pub(super) fn write(&mut self, text: &str) {
        if let Err(e) = self.output.write_all(text.as_bytes()).and_then(|()| self.output.flush()) {
            self.output_error = Some(e);
        }
    }

    pub(super) fn write_line(&mut self, text: &str) {
        self.write(&format!("{text}\n"));
    }

    /// Sends a text to the GUI as `info string`.
    pub(super) fn info(&mut self, text: &str) {
        self.write_line(&format!("info string {}", output::one_line(text)));
    }

    /// Sends what is to be said of a member.
    fn info_of(&mut self, place: usize, text: &Text) {
        let text = text.text(self.style.language);
        self.info(&format!("{}: {text}", self.config.engines[place].name));
    }

    /// Returns false after `quit`.
    fn on_event(&mut self, event: Event, now: Instant) -> bool {
        match event {
            Event::Gui(ReadLine::Text(text), at) => return self.on_gui_line(&text, at, now),
            Event::Gui(ReadLine::TooLong(bytes), _) => self.info(&format!("a line of {bytes} bytes was discarded")),
            Event::Member(place, process, output) => {
                if let Some(member) = self.members.get_mut(place) {
                    member.on_output(process, output, now);
                }
            }
            Event::GuiClosed => self.on_gui_closed(now),
        }
        true
    }

    /// Processes a line from the GUI, or holds it until the lines before it can be answered; returns false after
    /// `quit`, which never waits.
    fn on_gui_line(&mut self, text: &str, at: Instant, now: Instant) -> bool {
        let order = FromGui::parse(text);
        if order == FromGui::Quit {
            return false;
        }
        if !self.is_waiting() {
            self.obey(order, text, at, now);
        } else if !self.held.add(text) {
            let (bytes, most) = (text.len(), HELD_BYTES);
            self.info(&format!("a line of {bytes} bytes was discarded: {most} bytes wait until the members are ready"));
        }
        true
    }

    /// Whether what the GUI sends has to wait for `usiok` or for the members.
    fn is_waiting(&self) -> bool {
        self.greeting.is_some() || self.preparing != Preparing::No
    }

    /// The GUI's input has ended: the council finishes what it was asked for, and starts no member again.
    fn on_gui_closed(&mut self, now: Instant) {
        self.leave_by = Some(now + LONGEST_END);
        self.members.iter_mut().for_each(|member| member.restart_no_more());
    }

    /// Whether the GUI's input has ended and nothing is left to answer, or it takes too long.
    fn has_ended(&self, now: Instant) -> bool {
        self.leave_by.is_some_and(|by| now >= by || (!self.is_waiting() && self.search.is_none()))
    }

    /// Whether no member has ever been ready: it would be chance that plays.
    pub(super) fn has_no_member(&self) -> bool {
        !self.members.iter().any(|member| member.was_ready)
    }

    fn prepare(&mut self, what: Preparing, now: Instant) {
        self.preparing = what;
        self.members.iter_mut().for_each(|member| member.prepare(now));
    }

    fn obey(&mut self, order: FromGui, text: &str, at: Instant, now: Instant) {
        match order {
            FromGui::Greeting(protocol) => {
                self.style.protocol = protocol;
                self.greeting = Some(at);
            }
            FromGui::IsReady if self.search.is_some() => self.write_line("readyok"),
            FromGui::IsReady => self.prepare(Preparing::Readyok, now),
            FromGui::SetOption { name, value } => self.set_option(&name, value.as_deref()),
            FromGui::NewGame => {
                self.end_search(now);
                self.begin_game();
                self.members.iter_mut().for_each(|m| m.new_game(now));
            }
            FromGui::Position(position) => self.position = position,
            FromGui::Go(_) if !self.was_ready => {
                self.held.put_back(text);
                self.prepare(Preparing::Search, now);
            }
            FromGui::Go(go) => self.go(go, at, now),
            FromGui::PonderHit => self.ponder_hit(at, now),
            FromGui::Stop => self.stop(at, now),
            FromGui::GameOver(result) => {
                // before the decision of a search that this ends: it is not played
                let end = self.game.end(self.game_id(), &result);
                self.end_search(now);
                self.members.iter_mut().for_each(|m| m.game_over(&result));
                if let Some(end) = end {
                    self.write_log(|log, _| log.write_end(&end));
                }
            }
            FromGui::Other(text) if !text.is_empty() => self.info(&format!("unknown command: {text}")),
            FromGui::Other(_) | FromGui::Quit => {}
        }
    }

    fn begin_game(&mut self) {
        self.games += 1;
        self.game = GameProgress::default();
        self.saved = 0;
    }

    /// The nodes of all members for this move: those of the budget, and a quarter of what earlier moves saved.
    fn nodes(&self) -> Option<u64> {
        let nodes = self.config.budget.nodes.filter(|_| self.config.rule == Rule::Budget)?.get();
        Some(nodes.saturating_add(self.saved / 4))
    }

    /// Keeps what a move left of the budget for later moves, or takes from it what the move was given more.
    pub(super) fn save(&mut self, given: Option<u64>, spent: u64) {
        let (Some(given), Some(nodes)) = (given, self.config.budget.nodes) else { return };
        let more = given.saturating_sub(nodes.get());
        self.saved = self.saved.saturating_sub(more).saturating_add(given.saturating_sub(spent));
    }

    /// The id of the game in the log.
    pub(super) fn game_id(&self) -> String {
        format!("{}-{}", self.session_id, self.games)
    }

    /// Writes to the log, if there is one. A log that cannot be written is closed.
    pub(super) fn write_log(&mut self, write: impl FnOnce(&mut VoteLog, &Header) -> Result<(), SessionError>) {
        if let Some(log) = &mut self.log
            && let Err(error) = write(log, &self.header)
        {
            self.log = None;
            self.info(&format!("{error}; logging stops"));
            self.log_error = Some(error);
        }
    }

    pub(super) fn stop_all(&mut self, now: Instant) {
        self.members.iter_mut().for_each(|m| m.stop(now));
        if let Some(search) = &mut self.search {
            search.members_stopped = true;
        }
    }

    /// `stop`
    fn stop(&mut self, at: Instant, now: Instant) {
        let Some(search) = &mut self.search else { return };
        search.stopped = true;
        let asked = self.members.iter().zip(&self.config.engines).filter(|(member, _)| member.is_asked());
        let slowest_ms = asked.map(|(_, engine)| engine.stop_patience_ms).max().unwrap_or(0);
        // a GUI ignores the answer to an interrupted ponder, and its clock runs: answer at once
        let until = at + Duration::from_millis(if search.task.go.ponder { 0 } else { slowest_ms });
        search.deadline = Some(search.deadline.map_or(until, |d| d.min(until)));
        self.stop_all(now);
    }

    /// Sets the deadlines of a search whose clock started at `at`.
    fn set_deadlines(&self, search: &mut Search, budget: Option<Duration>, at: Instant) {
        search.task.since = at;
        search.task.budget = budget.map(|b| main_share(&self.config, b));
        search.deadline = search.task.budget.map(|b| at + b);
        search.last_deadline = budget.map(|b| at + b);
    }

    /// Ends a search that a newer command has overtaken, for example a ponder at the end of a game. Its decision must
    /// not come later, as the answer to something else.
    fn end_search(&mut self, now: Instant) {
        if self.search.is_some() {
            self.decide(now);
        }
    }

    fn go(&mut self, go: Go, at: Instant, now: Instant) {
        self.end_search(now);
        if self.game.over {
            // the GUI does not send `usinewgame`
            self.begin_game();
        }
        let (mut board, fault) = match self.chess960 {
            true => Board::chess960(&self.position),
            false => Board::new(self.config.game, &self.position),
        };
        let mut problem = fault.map(|fault| fault.to_string());
        if board.king_takes_rook() && !self.chess960 {
            problem = Some("the position has castling rights of Chess960; set the option UCI_Chess960".to_owned());
        }
        problem.into_iter().chain(board.search_only(&go.search_moves)).for_each(|problem| self.info(&problem));
        let side = board.side();
        let open = go.is_open();
        let budget = clock::budget(&go, side, self.style.protocol, &self.config.time);
        let margin = Duration::from_millis(self.config.time.margin_ms).min(budget.map_or(Duration::MAX, |b| b / 3));
        let follow_up_time = budget.map_or(Duration::ZERO, |b| b - main_share(&self.config, b));
        let position = self.position.clone();
        let nodes = self.nodes().filter(|_| !open || go.ponder);
        // a first look by all members
        let first = |nodes: u64| (nodes as f64 * self.config.budget.first / self.members.len() as f64).max(1.0) as u64;
        let margin = Some(margin + follow_up_time);
        let task = Task { position, side, go, since: at, budget: None, nodes: nodes.map(first), margin };
        let mut search = Search {
            task,
            board,
            deadline: None,
            last_deadline: None,
            stopped: false,
            members_stopped: false,
            shown: at,
            has_news: false,
            answered: false,
            faults: Vec::new(),
            checkmate: None,
            follow_up: None,
            nodes,
        };
        self.set_deadlines(&mut search, budget.filter(|_| !open), at);
        if !search.board.checks_moves() || !search.board.legal_moves().is_empty() {
            self.members.iter_mut().for_each(|m| m.search(&search.task, now));
        }
        self.search = Some(search);
    }

    fn ponder_hit(&mut self, at: Instant, now: Instant) {
        let Some(mut search) = self.search.take_if(|search| search.task.go.ponder) else { return };
        search.task.go.ponder = false;
        let budget = clock::budget(&search.task.go, search.task.side, self.style.protocol, &self.config.time);
        let infinite = search.task.go.infinite;
        self.set_deadlines(&mut search, budget.filter(|_| !infinite), at);
        self.members.iter_mut().for_each(|m| m.ponder_hit(&search.task, now));
        self.search = Some(search);
    }

    /// Processes what the members report; that can make a member report more.
    fn process_member_events(&mut self, now: Instant) {
        for place in 0..self.members.len() {
            while !self.members[place].events.is_empty() {
                for event in std::mem::take(&mut self.members[place].events) {
                    self.on_member_event(place, event, now);
                }
            }
        }
    }

    fn on_member_event(&mut self, place: usize, event: MemberEvent, now: Instant) {
        match event {
            MemberEvent::Line => self.search.iter_mut().for_each(|search| search.has_news = true),
            MemberEvent::Answered => {
                self.search.iter_mut().for_each(|search| search.answered = true);
                self.check_answer(place, now);
            }
            MemberEvent::Checkmate(answer) => self.on_checkmate(place, answer, now),
            MemberEvent::Note(text) => self.info_of(place, &text),
            MemberEvent::Fault { fault, .. } => {
                self.info_of(place, &fault);
                if let Some(search) = &mut self.search {
                    search.faults.push((place, output::one_line(&fault.to_string())));
                }
            }
        }
    }

    /// Stores the best answer to `go mate`: a mate, `nomate`, `timeout`, `notimplemented`. A mate ends the search; a
    /// member whose answer does not mate has lost track and is started again.
    fn on_checkmate(&mut self, place: usize, answer: String, now: Instant) {
        let Some(search) = &mut self.search else { return };
        let words = ["notimplemented", "timeout", "nomate"];
        let rank = |a: &str| words.iter().position(|word| *word == a).unwrap_or(words.len());
        let found = rank(&answer) == words.len();
        if found && !search.board.is_mated_after(answer.split_whitespace()) {
            let why = format!("answered checkmate {}, which is no mate", quoted(&answer));
            self.members[place].refuse(&why, now);
            return;
        }
        if search.checkmate.as_deref().is_none_or(|known| rank(&answer) > rank(known)) {
            search.checkmate = Some(answer);
        }
        if found {
            self.stop_all(now);
        }
    }

    /// Restarts a member whose answer is illegal: it may have lost track of the game.
    fn check_answer(&mut self, place: usize, now: Instant) {
        // follow-up searches are for scores only
        let Some(search) = self.search.as_ref().filter(|search| search.follow_up.is_none()) else { return };
        let member = &mut self.members[place];
        let result = member.result();
        let why = match result.best.as_deref().unwrap_or_default() {
            "win" if !search.board.may_declare() => "declared a win that is not valid".to_owned(),
            "resign" | "win" | "(none)" | "0000" | "" => return,
            best if search.board.is_legal(best) || search.board.leaves_out(best) => return,
            best => format!("played {}, which is illegal", quoted(best)),
        };
        member.refuse(&why, now);
    }

    /// Does everything that is due after an event or at a deadline.
    fn update(&mut self, now: Instant) {
        self.process_member_events(now);
        self.members.iter_mut().for_each(|member| member.check_deadline(now));
        self.process_member_events(now);
        self.answer_in_order(now);
        let endless = |search: &Search| search.deadline.is_none() && !search.stopped;
        if self.leave_by.is_some() && self.search.as_ref().is_some_and(endless) {
            self.stop(now, now);
        }
        self.update_search(now);
    }

    /// Answers the greeting and `isready` if they are due, and then obeys the lines that waited for it. The clock of
    /// a search that waited starts now.
    fn answer_in_order(&mut self, now: Instant) {
        loop {
            let greeting_due = self.greeting_deadline().is_some_and(|at| now >= at);
            if greeting_due || (self.greeting.is_some() && !self.members.iter().any(|m| m.is_starting())) {
                self.greeting = None;
                self.greet();
            }
            if self.preparing != Preparing::No && !self.members.iter().any(|m| m.is_preparing()) {
                if self.has_no_member() {
                    let text = text!("no member could be started, so the council plays no move: see the faults above");
                    self.info(&text.text(self.style.language));
                }
                if self.preparing == Preparing::Readyok {
                    self.write_line("readyok");
                }
                self.preparing = Preparing::No;
                if self.log.is_some() && !self.was_ready {
                    self.meter.start(&self.members);
                }
                self.was_ready = true;
            }
            if self.is_waiting() {
                return;
            }
            let Some(line) = self.held.take() else { return };
            self.obey(FromGui::parse(&line), &line, now, now);
        }
    }
}
