//! A member that is an engine: a child process that uses USI or UCI.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use evalcurve_words::language::{Text, ToText};
use evalcurve_words::text;
use evalcurve_words::text::shortened;

use super::clock;
use super::config::{EngineConfig, Limit};
use super::config_file::nearest;
use super::info_lines::InfoLines;
use super::task::{FailureKind, MemberEvent, SearchResult, Task};
use crate::usi::{
    EngineOutput, FromEngine, OptionSpec, Process, Processes, Protocol, ReadLine, first_word, set_option,
};

/// Remarks to report per search; further ones are dropped.
const MOST_NOTES: u32 = 5;

/// Options of an engine that are known to the GUI; further ones are ignored.
const MOST_OPTIONS: usize = 500;

/// The longest line that declares an option; longer ones are ignored.
const OPTION_BYTES: usize = 4096;

/// Characters that a message quotes of a line.
const MOST_REMARK: usize = 80;

/// The longest habitual delay that is taken off an engine's clock.
const MOST_OVERHEAD: Duration = Duration::from_secs(2);

/// Receives a member's output, with the number of the process that wrote it. Returns false to receive no more.
pub type Listener = Arc<dyn Fn(u64, EngineOutput) -> bool + Send + Sync>;

/// A member of a council. A session calls its functions from one thread; none of them blocks.
pub struct Member {
    config: EngineConfig,
    listener: Listener,
    process: Option<Process>,
    /// Counts processes, so that late output of an old process is not attributed to the new one.
    process_number: u64,
    /// The processor time of its processes that have ended.
    ended_time: Duration,
    phase: Phase,
    restarts: u32,
    restarts_left: u32,
    /// The name that it reports.
    pub own_name: Option<String>,
    /// Its options; empty before its greeting ends.
    pub options: Vec<OptionSpec>,
    /// Options that were ignored.
    options_ignored: u64,
    /// The last line of its process that is not one of the protocol.
    remark: String,
    /// What it has to report since the last look.
    pub events: Vec<MemberEvent>,
    /// Options that the GUI has set, in order.
    set: Vec<(String, Option<String>)>,
    /// Lines to send at the end of the search; those that set an option, with its name.
    queued: Vec<(Option<String>, String)>,
    /// Send `isready` as soon as possible.
    wants_ready: bool,
    /// It has been ready at least once.
    pub was_ready: bool,
    in_game: bool,
    /// The current task, started or not.
    task: Option<Task>,
    /// The lines of its search.
    pub lines: InfoLines,
    /// The answer to the current task, or the last lines of a process that failed.
    result: SearchResult,
    /// There are lines that `result` does not contain.
    has_new_lines: bool,
    notes: u32,
    /// How much longer than allowed its answers take.
    overhead: Duration,
    /// How long its answers take after `stop`.
    pub stop_time: Duration,
}

/// How long an engine that did not answer has to answer the greeting of the other protocol.
const OTHER_GREETING: Duration = Duration::from_millis(1_000);

#[derive(Debug, Clone, Copy, PartialEq)]
enum Phase {
    /// There is no process.
    Down,
    Starting {
        until: Instant,
        /// Whether it did not answer, and was greeted in the other protocol to learn what it is.
        other: bool,
    },
    /// It has greeted and waits for `isready`.
    Greeted,
    Preparing {
        until: Instant,
        new: bool,
    },
    /// It is ready.
    Idle,
    Searching {
        since: Instant,
        stopped: Option<Instant>,
        /// The time that it was given.
        allowed: Option<Duration>,
        /// When it is to be stopped if its own limit is a time and it has not answered.
        overdue: Option<Instant>,
        /// Whether the council still waits for the answer.
        wanted: bool,
        ponder: bool,
        /// Whether it was asked for a mate in USI. Else `checkmate` is no answer: the GUI waits for a move.
        mate: bool,
    },
    Leaving,
}

/// Names of the option for the number of threads: most engines, GPSShogi, Toga.
const THREADS: [&str; 3] = ["Threads", "Thread", "Number of Threads"];

impl Member {
    pub fn new(config: EngineConfig, restarts: u32, listener: Listener) -> Self {
        Self {
            config,
            listener,
            process: None,
            process_number: 0,
            ended_time: Duration::ZERO,
            phase: Phase::Down,
            restarts,
            restarts_left: restarts,
            own_name: None,
            options: Vec::new(),
            options_ignored: 0,
            remark: String::new(),
            events: Vec::new(),
            set: Vec::new(),
            queued: Vec::new(),
            wants_ready: false,
            was_ready: false,
            in_game: false,
            task: None,
            lines: InfoLines::default(),
            result: SearchResult::default(),
            has_new_lines: false,
            notes: 0,
            overhead: Duration::ZERO,
            stop_time: Duration::from_millis(10),
        }
    }

    fn send(&self, line: impl Into<String>) {
        if let Some(process) = &self.process {
            process.send(line);
        }
    }

    /// Sends a line now, or at the end of the search. Of several that wait with the same value, or with values of the
    /// same `option`, the last one counts.
    fn send_or_queue(&mut self, option: Option<&str>, line: String) {
        if !matches!(self.phase, Phase::Searching { .. }) {
            return self.send(line);
        }
        self.queued.retain(|(name, queued)| *queued != line && (option.is_none() || name.as_deref() != option));
        self.queued.push((option.map(str::to_owned), line));
    }

    /// Ends the process and starts another, unless it has failed too often.
    fn fail(&mut self, kind: FailureKind, what: &Text, now: Instant) {
        let was_ready = self.wants_ready || !matches!(self.phase, Phase::Starting { .. } | Phase::Greeted);
        if let Phase::Searching { wanted: false, .. } = self.phase {
            // the council no longer waits for this search
            self.lines = InfoLines::default();
        }
        if self.restarts_left == 0 {
            self.end();
            let fault = match self.restarts {
                0 => text!("{what}; it is not started again"),
                _ => text!("{what}; it has failed too often"),
            };
            self.events.push(MemberEvent::Fault { kind, what: what.clone(), fault });
            return;
        }
        self.end_process();
        self.phase = Phase::Down;
        self.queued.clear();
        self.restarts_left -= 1;
        self.wants_ready = was_ready;
        let fault = text!("{what}; started again, {} left", self.restarts_left);
        self.events.push(MemberEvent::Fault { kind, what: what.clone(), fault });
        self.start(now);
    }

    fn end_process(&mut self) {
        let Some(process) = self.process.take() else { return };
        self.ended_time += Processes::now().and_then(|now| process.processor_time(&now)).unwrap_or_default();
    }

    /// The processor time of its processes so far, with that of everything that they started.
    pub fn processor_time(&self, now: &Processes) -> Duration {
        let running = self.process.as_ref().and_then(|process| process.processor_time(now));
        self.ended_time + running.unwrap_or_default()
    }

    fn begin_preparing(&mut self, now: Instant) {
        let new = self.phase == Phase::Greeted;
        if new {
            let configured = self.config.options.iter().map(|(n, v)| (n.as_str(), Some(v.as_str())));
            let from_gui = self.set.iter().map(|(n, v)| (n.as_str(), v.as_deref()));
            for (name, value) in configured.chain(from_gui) {
                self.send(set_option(name, value.filter(|v| !v.is_empty())));
            }
        }
        self.wants_ready = false;
        self.send("isready");
        self.phase = Phase::Preparing { until: now + Duration::from_millis(self.config.ready_ms), new };
    }

    /// Starts the current task if it is outstanding and can be started.
    fn begin_task(&mut self, now: Instant) {
        let Some(task) = self.task.clone() else { return };
        if self.phase != Phase::Idle || self.result.best.is_some() {
            return;
        }
        let ponder = task.go.ponder;
        let limit = task.nodes.map(Limit::Nodes).or(self.config.limit);
        if ponder && limit.is_some() && task.margin.is_some() {
            // a limit of the configuration does not apply to the opponent's time
            return;
        }
        let elapsed = now.saturating_duration_since(task.since);
        let left = task.budget.map(|b| b.saturating_sub(elapsed));
        let go = match task.margin {
            Some(margin) => {
                let used = elapsed + margin + self.overhead;
                clock::member_go(&task.go, task.side, limit, used, left)
            }
            None => task.go.clone(),
        };
        let allowed_ms = go.movetime_ms.or_else(|| {
            let clock = &go.clock;
            (clock.btime_ms.unwrap_or(0) == 0 && clock.wtime_ms.unwrap_or(0) == 0).then_some(clock.byoyomi_ms)?
        });
        let allowed = allowed_ms.filter(|_| !ponder).map(Duration::from_millis);
        // within a council, whose own clock may be much longer
        let own_time = task.margin.is_some() && limit.is_some_and(|limit| limit.time().is_some());
        self.result = self.result();
        self.has_new_lines = false;
        // in one piece, which wakes the engine once
        let position = task.position.line(self.config.protocol);
        self.send(format!("{position}\n{}", go.line(self.config.protocol, task.side)));
        self.lines = InfoLines::default();
        self.notes = 0;
        self.phase = Phase::Searching {
            since: now,
            stopped: None,
            allowed,
            overdue: allowed.filter(|_| own_time).map(|allowed| now + allowed + self.stop_patience()),
            wanted: true,
            ponder,
            mate: go.mate.is_some() && self.config.protocol == Protocol::Usi,
        };
    }

    /// Updates the engine's habitual delays: they rise at once and fall slowly.
    fn measure_delay(&mut self, since: Instant, stopped: Option<Instant>, allowed: Option<Duration>, at: Instant) {
        let update =
            |known: &mut Duration, measured: Duration| *known = measured.max(*known * 7 / 8).min(MOST_OVERHEAD);
        if let Some(stopped) = stopped {
            update(&mut self.stop_time, at.saturating_duration_since(stopped));
        } else if let Some(allowed) = allowed {
            update(&mut self.overhead, at.saturating_duration_since(since).saturating_sub(allowed));
        }
    }

    /// The search has ended: sends what was queued for this moment.
    fn after_search(&mut self, now: Instant) {
        self.phase = Phase::Idle;
        for (_, line) in std::mem::take(&mut self.queued) {
            self.send(line);
        }
        if self.wants_ready {
            self.begin_preparing(now);
        } else {
            self.begin_task(now);
        }
    }

    /// Passes over a line that means nothing now: an engine that floods must not take the council's time. Returns
    /// whether it did, and counts options.
    fn passes_over(&mut self, text: &str) -> bool {
        match (first_word(text).0, self.phase) {
            ("info", Phase::Searching { wanted, .. }) => !wanted,
            ("option", Phase::Starting { .. }) => {
                let too_many = self.options.len() >= MOST_OPTIONS || text.len() > OPTION_BYTES;
                self.options_ignored += u64::from(too_many);
                too_many
            }
            ("info" | "option", _) => true,
            _ => false,
        }
    }

    fn on_line(&mut self, text: &str, at: Instant, now: Instant) {
        if let Phase::Searching { since, .. } = self.phase
            && at < since
        {
            // a late line or a second answer of the search before
            return;
        }
        if self.passes_over(text) {
            return;
        }
        match (FromEngine::parse(text, self.config.protocol), self.phase) {
            (said, Phase::Starting { other, .. }) => self.on_greeting(said, text, other, now),
            (FromEngine::Ready, Phase::Preparing { new, .. }) => {
                self.phase = Phase::Idle;
                self.was_ready = true;
                if new && self.in_game {
                    self.send(self.config.protocol.new_game());
                }
                self.begin_task(now);
            }
            (FromEngine::Info(info), Phase::Searching { wanted: true, .. }) => {
                let first = info.multipv.unwrap_or(1) == 1;
                if self.lines.add(info, self.config.mate_threshold_cp) {
                    self.has_new_lines = true;
                    self.events.extend(first.then_some(MemberEvent::Line));
                }
            }
            (FromEngine::BestMove(best), Phase::Searching { since, stopped, allowed, wanted, .. }) => {
                self.measure_delay(since, stopped, allowed, at);
                if wanted {
                    self.has_new_lines = false;
                    self.result = self.lines.result(Some(&best));
                    self.result.time = Some(at.saturating_duration_since(since));
                    self.events.push(MemberEvent::Answered);
                }
                self.after_search(now);
            }
            (FromEngine::Checkmate(answer), Phase::Searching { since, stopped, allowed, wanted, mate: true, .. }) => {
                self.measure_delay(since, stopped, allowed, at);
                if wanted {
                    // an answer, but not a vote; the session checks its moves
                    self.has_new_lines = false;
                    self.result = SearchResult { best: Some(String::new()), ..SearchResult::default() };
                    self.events.push(MemberEvent::Checkmate(answer));
                }
                self.after_search(now);
            }
            (FromEngine::Other, _) => self.note_remark(text),
            _ => {}
        }
    }

    /// A line of an engine that was greeted, or that was greeted in the `other` protocol, too.
    fn on_greeting(&mut self, said: FromEngine, text: &str, other: bool, now: Instant) {
        let other_protocol = self.config.protocol.other();
        match said {
            FromEngine::Name(name) => self.own_name = Some(name),
            FromEngine::Option(option) => self.options.push(option),
            FromEngine::Greeted if other && text.trim() == other_protocol.greeting_done() => {
                self.wrong_game(text, other_protocol.greeting(), now);
            }
            FromEngine::Greeted => {
                self.phase = Phase::Greeted;
                let unknown: Vec<MemberEvent> = self.unknown_options().map(MemberEvent::Note).collect();
                self.events.extend(unknown);
                if self.options_ignored > 0 {
                    self.events.push(MemberEvent::Note(text!(
                        "{} options ignored: an engine may declare {MOST_OPTIONS} in lines of {OPTION_BYTES} bytes",
                        self.options_ignored
                    )));
                }
                if self.wants_ready {
                    self.begin_preparing(now);
                }
            }
            FromEngine::Other if text.to_lowercase().contains("unknown command") => {
                self.wrong_game(text, self.config.protocol.greeting(), now);
            }
            FromEngine::Other => self.note_remark(text),
            _ => {}
        }
    }

    fn note_remark(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.remark = shortened(text.trim(), MOST_REMARK);
        }
    }

    /// Fails, because what it answered to a greeting shows that it plays another game.
    fn wrong_game(&mut self, answer: &str, greeting: &str, now: Instant) {
        let game = match self.config.protocol {
            Protocol::Usi => "chess",
            Protocol::Uci => "shogi",
        };
        let what = text!(
            "it answered '{}' to {greeting}: if it is an engine for {game}, write game = \"{game}\" in the first line \
             of the configuration",
            shortened(answer.trim(), MOST_REMARK),
        );
        self.fail(FailureKind::Unusable, &what, now);
    }

    /// Why its moves are not the same every time although its limit is a number of nodes or a depth: several threads.
    /// Known once it has declared its options.
    pub fn not_repeatable(&self) -> Option<Text> {
        let limit = self.config.limit.filter(|limit| matches!(limit, Limit::Nodes(_) | Limit::Depth(_)))?;
        let is_threads = |name: &str| THREADS.iter().any(|known| known.eq_ignore_ascii_case(name));
        let spec = self.options.iter().find(|spec| is_threads(&spec.name))?;
        let set = self.config.options.iter().find(|(name, _)| name.eq_ignore_ascii_case(&spec.name));
        let threads: u32 = set.map(|(_, value)| value).or(spec.default.as_ref())?.parse().ok()?;
        (threads > 1).then(|| {
            let name = &spec.name;
            text!(
                "it searches on {threads} threads, so that its moves are not the same every time although its limit is \
                 {limit}; set the option \"{name}\" = 1"
            )
        })
    }

    /// What its configuration sets that it does not declare, with the nearest that it does. Known once it has declared
    /// its options.
    pub fn unknown_options(&self) -> impl Iterator<Item = Text> {
        // engines need not declare the options of USI itself
        let of_usi = |name: &str| matches!(name, "USI_Ponder" | "USI_Hash");
        let is_known = |name: &str| self.options.iter().any(|option| option.name.eq_ignore_ascii_case(name));
        let names = self.config.options.iter().map(|(name, _)| name.as_str());
        let unknown = names.filter(move |name| !is_known(name) && !of_usi(name));
        unknown.map(|name| {
            let options = || self.options.iter().map(|option| option.name.as_str());
            match nearest(name, options()) {
                Some(near) => text!("it declares no option '{name}'; nearest: {near}"),
                None => {
                    let known = options().collect::<Vec<_>>().join(", ");
                    text!("it declares no option '{name}'; its options are {known}")
                }
            }
        })
    }

    /// Starts its process.
    pub fn start(&mut self, now: Instant) {
        self.process_number += 1;
        self.options.clear();
        self.options_ignored = 0;
        self.remark.clear();
        let (number, listener) = (self.process_number, Arc::clone(&self.listener));
        match Process::start(&self.config.launch, move |output| listener(number, output)) {
            Ok(process) => {
                process.send(self.config.protocol.greeting());
                self.process = Some(process);
                let until = now + Duration::from_millis(self.config.start_ms);
                self.phase = Phase::Starting { until, other: false };
            }
            Err(e) => {
                self.phase = Phase::Down;
                // trying again would not help, also not in the next game
                self.restart_no_more();
                self.wants_ready = false;
                self.task = None;
                let kind = match e.kind() {
                    io::ErrorKind::NotFound => FailureKind::NotFound,
                    _ => FailureKind::NotStarted,
                };
                self.events.push(MemberEvent::Fault { kind, what: e.to_text(), fault: e.to_text() });
            }
        }
    }

    /// Sets an option, now and after every restart.
    pub fn set_option(&mut self, name: &str, value: Option<&str>) {
        self.set.retain(|(n, _)| n != name);
        // a button is pressed once, not again after a restart
        if value.is_some() {
            self.set.push((name.to_owned(), value.map(str::to_owned)));
        }
        match self.phase {
            // it gets the option before `isready`
            Phase::Greeted if value.is_some() => {}
            Phase::Down | Phase::Starting { .. } | Phase::Leaving => {}
            _ => self.send_or_queue(value.map(|_| name), set_option(name, value)),
        }
    }

    /// Sends `isready` as soon as possible, unless it has failed too often.
    pub fn prepare(&mut self, now: Instant) {
        match self.phase {
            Phase::Greeted | Phase::Idle => self.begin_preparing(now),
            Phase::Starting { .. } | Phase::Searching { .. } => self.wants_ready = true,
            Phase::Down if self.restarts_left > 0 => {
                self.restarts_left -= 1;
                self.wants_ready = true;
                self.start(now);
            }
            Phase::Down | Phase::Preparing { .. } | Phase::Leaving => {}
        }
    }

    /// From now on, its process is not started again.
    pub fn restart_no_more(&mut self) {
        (self.restarts, self.restarts_left) = (0, 0);
    }

    /// Starts a new game and resets the count of restarts. A member that had failed too often is started again.
    pub fn new_game(&mut self, now: Instant) {
        self.in_game = true;
        self.restarts_left = self.restarts;
        match self.phase {
            Phase::Idle | Phase::Searching { .. } => {
                self.send_or_queue(None, self.config.protocol.new_game().to_owned());
            }
            Phase::Down => self.prepare(now),
            Phase::Starting { .. } | Phase::Greeted | Phase::Preparing { .. } | Phase::Leaving => {}
        }
    }

    /// Searches as soon as possible. `Answered` or a fault follows.
    pub fn search(&mut self, task: &Task, now: Instant) {
        self.task = None;
        self.result = SearchResult::default();
        self.has_new_lines = false;
        match self.phase {
            Phase::Down | Phase::Leaving => return,
            Phase::Greeted => self.begin_preparing(now),
            _ => {}
        }
        self.task = Some(task.clone());
        self.begin_task(now);
    }

    /// The opponent played the expected move: continues with the task, now without `ponder`.
    pub fn ponder_hit(&mut self, task: &Task, now: Instant) {
        if self.task.is_none() {
            return;
        }
        self.task = Some(task.clone());
        if let Phase::Searching { ponder: ponder @ true, .. } = &mut self.phase {
            *ponder = false;
            self.send("ponderhit");
        } else {
            self.begin_task(now);
        }
    }

    /// Asks for the answer to the current task.
    pub fn stop(&mut self, now: Instant) {
        if let Phase::Searching { stopped: stopped @ None, .. } = &mut self.phase {
            *stopped = Some(now);
            self.send("stop");
        } else if !matches!(self.phase, Phase::Searching { wanted: true, .. }) {
            // the task was not started, and no longer needs to be
            self.task = None;
        }
    }

    /// Ends the current task: the council has decided, and any further answer is ignored.
    pub fn release(&mut self, now: Instant) {
        self.stop(now);
        self.task = None;
        if let Phase::Searching { wanted, .. } = &mut self.phase {
            *wanted = false;
        }
    }

    /// Rejects its answer: it abstains from this task and is restarted.
    pub fn refuse(&mut self, why: &str, now: Instant) {
        self.task = None;
        self.fail(FailureKind::Unusable, &Text::same(why), now);
    }

    /// Sends `gameover …`.
    pub fn game_over(&mut self, result: &str) {
        self.in_game = false;
        // UCI has no such command, but a council knows it in both protocols
        let knows = self.config.protocol == Protocol::Usi || self.config.council.is_some();
        if knows && !matches!(self.phase, Phase::Down | Phase::Starting { .. }) {
            self.send_or_queue(None, format!("gameover {result}"));
        }
    }

    /// Processes output; `process` is the number of the process that wrote it.
    pub fn on_output(&mut self, process: u64, output: EngineOutput, now: Instant) {
        if process != self.process_number || self.process.is_none() {
            return;
        }
        match output {
            EngineOutput::Line(ReadLine::Text(text), at) => self.on_line(&text, at, now),
            EngineOutput::Line(ReadLine::TooLong(bytes), _) => {
                self.notes += 1;
                if self.notes <= MOST_NOTES {
                    self.events.push(MemberEvent::Note(text!("a line of {bytes} bytes was discarded")));
                }
            }
            EngineOutput::Closed { .. } if self.phase == Phase::Leaving => {
                self.process = None;
                self.phase = Phase::Down;
            }
            EngineOutput::Closed { stderr } => {
                let mut what = match self.phase {
                    Phase::Starting { .. } => text!("ended during its start"),
                    Phase::Preparing { .. } => text!("ended before readyok"),
                    Phase::Searching { .. } => text!("ended during its search"),
                    _ => Text::same("ended"),
                };
                let last = if stderr.is_empty() { self.remark.clone() } else { stderr };
                if !last.is_empty() {
                    what.push(&Text::same(format!(" ({last})")));
                }
                self.fail(FailureKind::Ended, &what, now);
            }
        }
    }

    /// Whether its process has ended, even if something that it started holds its output.
    pub fn has_ended(&mut self) -> bool {
        self.process.as_mut().is_some_and(Process::has_ended)
    }

    /// Takes the end of its process for the end of its output.
    pub fn close(&mut self, now: Instant) {
        if let Some(stderr) = self.process.as_ref().map(Process::last_words) {
            self.on_output(self.process_number, EngineOutput::Closed { stderr }, now);
        }
    }

    fn stop_patience(&self) -> Duration {
        Duration::from_millis(self.config.stop_patience_ms)
    }

    /// When to call [`Member::check_deadline`].
    pub fn deadline(&self) -> Option<Instant> {
        match self.phase {
            Phase::Starting { until, .. } | Phase::Preparing { until, .. } => Some(until),
            Phase::Searching { stopped: Some(at), .. } => Some(at + self.stop_patience()),
            Phase::Searching { overdue, .. } => overdue,
            _ => None,
        }
    }

    /// Fails if the deadline has passed.
    pub fn check_deadline(&mut self, now: Instant) {
        if self.deadline().is_none_or(|until| now < until) {
            return;
        }
        let what = match self.phase {
            Phase::Starting { other: false, .. } => {
                // most engines ignore the greeting of the other game
                self.phase = Phase::Starting { until: now + OTHER_GREETING, other: true };
                self.send(self.config.protocol.other().greeting());
                return;
            }
            Phase::Starting { .. } => {
                let (done, other) =
                    (self.config.protocol.greeting_done(), self.config.protocol.other().greeting_done());
                let (ms, remark) = (self.config.start_ms, &self.remark);
                match remark.is_empty() {
                    true => text!("no {done} within {ms} ms"),
                    false => text!(
                        "no {done} within {ms} ms, and no {other}: it is no engine for USI or UCI; it wrote '{remark}'"
                    ),
                }
            }
            Phase::Preparing { .. } => text!("no {done} within {ms} ms", done = "readyok", ms = self.config.ready_ms),
            Phase::Searching { stopped: None, .. } => return self.stop(now),
            _ => {
                let what = text!("no answer within {ms} ms after stop", ms = self.config.stop_patience_ms);
                return self.fail(FailureKind::Late, &what, now);
            }
        };
        self.fail(FailureKind::NotReady, &what, now);
    }

    /// The search result for the current task.
    pub fn result(&self) -> SearchResult {
        // engines send lines much more often than anyone asks
        if self.has_new_lines { self.lines.result(None) } else { self.result.clone() }
    }

    /// Whether an answer to the current task is outstanding.
    pub fn is_asked(&self) -> bool {
        match self.phase {
            Phase::Searching { wanted, .. } => wanted || self.task.is_some(),
            Phase::Down | Phase::Leaving => false,
            _ => self.task.is_some() && self.result.best.is_none(),
        }
    }

    /// Whether its process is not ready, as after a restart.
    pub fn is_coming_back(&self) -> bool {
        matches!(self.phase, Phase::Starting { .. } | Phase::Greeted | Phase::Preparing { .. })
    }

    /// Whether `readyok` is outstanding.
    pub fn is_preparing(&self) -> bool {
        self.wants_ready || matches!(self.phase, Phase::Preparing { .. })
    }

    /// Whether the greeting is outstanding.
    pub fn is_starting(&self) -> bool {
        matches!(self.phase, Phase::Starting { .. })
    }

    /// Sends `quit`. Dropping the member ends its process.
    pub fn quit(&mut self) {
        if self.process.is_some() {
            self.send("stop");
            self.send("quit");
            self.phase = Phase::Leaving;
        }
    }

    /// Ends its process at once; it is not started again.
    pub fn end(&mut self) {
        self.end_process();
        self.phase = Phase::Down;
        self.restarts_left = 0;
        self.queued.clear();
        self.task = None;
        self.wants_ready = false;
    }

    /// Whether its process has ended.
    pub fn is_gone(&self) -> bool {
        self.process.is_none()
    }
}
