//! A member that is an engine: a child process that speaks USI or UCI.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::clock;
use super::config::{EngineConfig, Limit};
use super::member::{Member, News, Opinion, Task};
use super::opinion::Lines;
use crate::usi::{FromEngine, Heard, Line, OptionSpec, Process, Protocol, SetOption};

/// Oddities of one search that are told; the rest is counted in silence.
const MOST_NOTES: u32 = 5;

/// The longest delay that is taken off an engine's clock as its habit.
const MOST_OVERHEAD: Duration = Duration::from_secs(2);

/// Where a member's process hands what it writes: the number of its life, and what it wrote.
pub(super) type Listener = Arc<dyn Fn(u64, Heard) -> bool + Send + Sync>;

pub(super) struct EngineMember {
    config: EngineConfig,
    listener: Listener,
    process: Option<Process>,
    /// Counts processes, so that the last words of an old one are not taken for those of the new one.
    life: u64,
    phase: Phase,
    restarts: u32,
    restarts_left: u32,
    own_name: Option<String>,
    options: Vec<OptionSpec>,
    /// Options that the GUI set, in its order.
    set: Vec<(String, Option<String>)>,
    /// Orders that wait for the end of a search.
    later: Vec<String>,
    /// Make it ready as soon as that can be.
    wants_ready: bool,
    in_game: bool,
    /// The task that is asked of it, begun or not.
    task: Option<Task>,
    lines: Lines,
    opinion: Opinion,
    notes: u32,
    /// How much later than told it answers, by its habit.
    overhead: Duration,
    stop_time: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Phase {
    /// No process.
    Down,
    Starting {
        until: Instant,
    },
    /// It has greeted and waits.
    Greeted,
    Preparing {
        until: Instant,
        new: bool,
    },
    /// It is ready.
    Idle,
    Thinking {
        since: Instant,
        stopped: Option<Instant>,
        /// What it was told to take.
        told: Option<Duration>,
        /// Whether the council still waits for the answer.
        wanted: bool,
        ponder: bool,
    },
    Leaving,
}

impl EngineMember {
    pub fn new(config: EngineConfig, restarts: u32, listener: Listener) -> Self {
        Self {
            config,
            listener,
            process: None,
            life: 0,
            phase: Phase::Down,
            restarts,
            restarts_left: restarts,
            own_name: None,
            options: Vec::new(),
            set: Vec::new(),
            later: Vec::new(),
            wants_ready: false,
            in_game: false,
            task: None,
            lines: Lines::default(),
            opinion: Opinion::default(),
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

    /// Ends the process and, unless it has failed too often, starts another.
    fn fail(&mut self, what: &str, now: Instant) -> Vec<News> {
        let was_ready = self.wants_ready || !matches!(self.phase, Phase::Starting { .. } | Phase::Greeted);
        if let Phase::Thinking { wanted: false, .. } = self.phase {
            // the council has gone on without it
            self.lines = Lines::default();
        }
        self.process = None;
        self.phase = Phase::Down;
        self.later.clear();
        if self.restarts_left == 0 {
            let again = if self.restarts == 0 { "it is not started again" } else { "it has failed too often" };
            self.task = None;
            self.wants_ready = false;
            return vec![News::Fault(format!("{what}; {again}"))];
        }
        self.restarts_left -= 1;
        self.wants_ready = was_ready;
        let mut news = vec![News::Fault(format!("{what}; started again, {} left", self.restarts_left))];
        news.extend(self.start(now));
        news
    }

    fn begin_preparing(&mut self, now: Instant) {
        let new = self.phase == Phase::Greeted;
        if new {
            let configured = self.config.options.iter().map(|(n, v)| (n.as_str(), Some(v.as_str())));
            let from_gui = self.set.iter().map(|(n, v)| (n.as_str(), v.as_deref()));
            for (name, value) in configured.chain(from_gui) {
                self.send(SetOption { name, value: value.filter(|v| !v.is_empty()) }.to_string());
            }
        }
        self.wants_ready = false;
        self.send("isready");
        self.phase = Phase::Preparing { until: now + Duration::from_millis(self.config.ready_ms), new };
    }

    /// Begins the task that waits, if there is one and it can be begun.
    fn begin_task(&mut self, now: Instant) {
        let Some(task) = self.task.clone() else { return };
        if self.phase != Phase::Idle || self.opinion.best.is_some() {
            return;
        }
        let ponder = task.go.ponder;
        if ponder && self.config.limit.is_some() {
            // its own limit knows nothing of the opponent's time
            return;
        }
        let used = now.saturating_duration_since(task.since) + task.margin + self.overhead;
        let left = task.budget.map(|b| b.saturating_sub(now.saturating_duration_since(task.since)));
        let go = clock::order(&task.go, task.side, self.config.limit, used, left);
        let told = go.movetime_ms.or_else(|| {
            let clock = &go.clock;
            (clock.btime_ms.unwrap_or(0) == 0 && clock.wtime_ms.unwrap_or(0) == 0).then_some(clock.byoyomi_ms)?
        });
        self.lines = Lines::default();
        self.notes = 0;
        self.send(task.position.line(self.config.protocol));
        self.send(go.line(self.config.protocol, task.side));
        self.phase = Phase::Thinking {
            since: now,
            stopped: None,
            told: told.filter(|_| !ponder).map(Duration::from_millis),
            wanted: true,
            ponder,
        };
    }

    /// Learns from the time of an answer.
    fn learn(&mut self, since: Instant, stopped: Option<Instant>, told: Option<Duration>, at: Instant) {
        if let Some(stopped) = stopped {
            let took = at.saturating_duration_since(stopped);
            // quick to fear, slow to trust
            self.stop_time = took.max(self.stop_time * 7 / 8).min(MOST_OVERHEAD);
        } else if let Some(told) = told {
            let late = at.saturating_duration_since(since).saturating_sub(told);
            self.overhead = late.max(self.overhead * 7 / 8).min(MOST_OVERHEAD);
        }
    }

    /// The search has ended; what waited for that is done.
    fn after_search(&mut self, now: Instant) {
        self.phase = Phase::Idle;
        for line in std::mem::take(&mut self.later) {
            self.send(line);
        }
        if self.wants_ready {
            self.begin_preparing(now);
        } else {
            self.begin_task(now);
        }
    }

    fn note(&mut self, text: String) -> Vec<News> {
        self.notes += 1;
        if self.notes > MOST_NOTES { Vec::new() } else { vec![News::Note(text)] }
    }

    fn line(&mut self, text: &str, at: Instant, now: Instant) -> Vec<News> {
        match (FromEngine::parse(text, self.config.protocol), self.phase) {
            (FromEngine::Name(name), Phase::Starting { .. }) => self.own_name = Some(name),
            (FromEngine::Option(option), Phase::Starting { .. }) => self.options.push(option),
            (FromEngine::Greeted, Phase::Starting { .. }) => {
                self.phase = Phase::Greeted;
                if self.wants_ready {
                    self.begin_preparing(now);
                }
                return vec![News::Greeted];
            }
            (FromEngine::Ready, Phase::Preparing { new, .. }) => {
                self.phase = Phase::Idle;
                if new && self.in_game {
                    self.send(self.config.protocol.new_game());
                }
                self.begin_task(now);
                return vec![News::Ready];
            }
            (FromEngine::Info(info), Phase::Thinking { wanted: true, .. }) => {
                let first = info.multipv.unwrap_or(1) == 1;
                if self.lines.add(info, self.config.mate_threshold_cp) {
                    self.opinion = self.lines.opinion(None);
                    if first {
                        return vec![News::Line];
                    }
                }
            }
            (FromEngine::BestMove(best), Phase::Thinking { since, stopped, told, wanted, .. }) => {
                self.learn(since, stopped, told, at);
                if wanted {
                    self.opinion = self.lines.opinion(Some(&best));
                    self.opinion.time = Some(at.saturating_duration_since(since));
                }
                self.after_search(now);
                if wanted {
                    return vec![News::Answered];
                }
            }
            (FromEngine::Checkmate(answer), Phase::Thinking { wanted, .. }) => {
                if wanted {
                    // an answer, though no vote
                    self.opinion = Opinion { best: Some(String::new()), ..Opinion::default() };
                }
                self.after_search(now);
                if wanted {
                    return vec![News::Checkmate(answer)];
                }
            }
            _ => {}
        }
        Vec::new()
    }
}

impl Member for EngineMember {
    fn start(&mut self, now: Instant) -> Vec<News> {
        self.life += 1;
        self.options.clear();
        let (life, listener) = (self.life, Arc::clone(&self.listener));
        match Process::start(&self.config.launch, move |heard| listener(life, heard)) {
            Ok(process) => {
                process.send(self.config.protocol.greeting());
                self.process = Some(process);
                self.phase = Phase::Starting { until: now + Duration::from_millis(self.config.start_ms) };
                Vec::new()
            }
            Err(e) => {
                self.phase = Phase::Down;
                // a program that is not there will not be there in a moment
                self.restarts_left = 0;
                self.wants_ready = false;
                self.task = None;
                vec![News::Fault(e.to_string())]
            }
        }
    }

    fn options(&self) -> &[OptionSpec] {
        &self.options
    }

    fn own_name(&self) -> Option<&str> {
        self.own_name.as_deref()
    }

    fn set_option(&mut self, name: &str, value: Option<&str>) {
        let line = SetOption { name, value }.to_string();
        self.set.retain(|(n, _)| n != name);
        // a button is pressed once, not again at every restart
        if value.is_some() {
            self.set.push((name.to_owned(), value.map(str::to_owned)));
        }
        match self.phase {
            Phase::Idle | Phase::Preparing { .. } => self.send(line),
            Phase::Thinking { .. } => self.later.push(line),
            Phase::Greeted if value.is_none() => self.send(line),
            Phase::Down | Phase::Starting { .. } | Phase::Greeted | Phase::Leaving => {}
        }
    }

    fn prepare(&mut self, now: Instant) -> Vec<News> {
        match self.phase {
            Phase::Greeted | Phase::Idle => self.begin_preparing(now),
            Phase::Starting { .. } | Phase::Thinking { .. } => self.wants_ready = true,
            Phase::Down if self.restarts_left > 0 => {
                self.restarts_left -= 1;
                self.wants_ready = true;
                return self.start(now);
            }
            Phase::Down | Phase::Preparing { .. } | Phase::Leaving => {}
        }
        Vec::new()
    }

    fn new_game(&mut self) {
        self.in_game = true;
        self.restarts_left = self.restarts;
        let line = self.config.protocol.new_game().to_owned();
        match self.phase {
            Phase::Idle => self.send(line),
            Phase::Thinking { .. } => self.later.push(line),
            _ => {}
        }
    }

    fn think(&mut self, task: &Task, now: Instant) {
        self.task = None;
        self.opinion = Opinion::default();
        match self.phase {
            Phase::Down | Phase::Leaving => return,
            Phase::Greeted => self.begin_preparing(now),
            _ => {}
        }
        self.task = Some(task.clone());
        self.begin_task(now);
    }

    fn ponder_hit(&mut self, task: &Task, now: Instant) {
        if self.task.is_none() {
            return;
        }
        self.task = Some(task.clone());
        if let Phase::Thinking { ponder, .. } = &mut self.phase
            && *ponder
        {
            *ponder = false;
            self.send("ponderhit");
        } else {
            self.begin_task(now);
        }
    }

    fn stop(&mut self, now: Instant) {
        if let Phase::Thinking { stopped: stopped @ None, .. } = &mut self.phase {
            *stopped = Some(now);
            self.send("stop");
        } else if !matches!(self.phase, Phase::Thinking { wanted: true, .. }) {
            // not begun, and now it never will be
            self.task = None;
        }
    }

    fn release(&mut self, now: Instant) {
        self.stop(now);
        self.task = None;
        if let Phase::Thinking { wanted, .. } = &mut self.phase {
            *wanted = false;
        }
    }

    fn refuse(&mut self, why: &str, now: Instant) -> Vec<News> {
        self.task = None;
        self.fail(why, now)
    }

    fn game_over(&mut self, result: &str) {
        self.in_game = false;
        // UCI has no such word
        if self.config.protocol == Protocol::Usi && !matches!(self.phase, Phase::Down | Phase::Starting { .. }) {
            let line = format!("gameover {result}");
            if matches!(self.phase, Phase::Thinking { .. }) {
                self.later.push(line);
            } else {
                self.send(line);
            }
        }
    }

    fn hear(&mut self, life: u64, heard: Heard, now: Instant) -> Vec<News> {
        if life != self.life || self.process.is_none() {
            return Vec::new();
        }
        match heard {
            Heard::Line(Line::Text(text), at) => self.line(&text, at, now),
            Heard::Line(Line::TooLong(bytes), _) => self.note(format!("a line of {bytes} bytes was thrown away")),
            Heard::Closed(_) if self.phase == Phase::Leaving => {
                self.process = None;
                self.phase = Phase::Down;
                Vec::new()
            }
            Heard::Closed(closed) => {
                let place = match self.phase {
                    Phase::Starting { .. } => "ended at its start",
                    Phase::Preparing { .. } => "ended while it got ready",
                    Phase::Thinking { .. } => "ended while it thought",
                    _ => "ended",
                };
                let words = closed.last_words;
                let what = if words.is_empty() { place.to_owned() } else { format!("{place} ({words})") };
                self.fail(&what, now)
            }
        }
    }

    fn deadline(&self) -> Option<Instant> {
        match self.phase {
            Phase::Starting { until } | Phase::Preparing { until, .. } => Some(until),
            Phase::Thinking { stopped: Some(at), .. } => Some(at + Duration::from_millis(self.config.stop_patience_ms)),
            _ => None,
        }
    }

    fn tick(&mut self, now: Instant) -> Vec<News> {
        if self.deadline().is_none_or(|until| now < until) {
            return Vec::new();
        }
        match self.phase {
            Phase::Starting { .. } => {
                let word = self.config.protocol.greeting_done();
                self.fail(&format!("no {word} within {} ms", self.config.start_ms), now)
            }
            Phase::Preparing { .. } => self.fail(&format!("no readyok within {} ms", self.config.ready_ms), now),
            _ => self.fail(&format!("no answer within {} ms after stop", self.config.stop_patience_ms), now),
        }
    }

    fn is_asked(&self) -> bool {
        match self.phase {
            Phase::Thinking { wanted, .. } => wanted || self.task.is_some(),
            Phase::Down | Phase::Leaving => false,
            _ => self.task.is_some() && self.opinion.best.is_none(),
        }
    }

    fn is_preparing(&self) -> bool {
        self.wants_ready || matches!(self.phase, Phase::Preparing { .. })
    }

    fn is_starting(&self) -> bool {
        matches!(self.phase, Phase::Starting { .. })
    }

    fn opinion(&self) -> &Opinion {
        &self.opinion
    }

    fn stop_time(&self) -> Duration {
        self.stop_time
    }

    fn quit(&mut self) {
        if self.process.is_some() {
            self.send("stop");
            self.send("quit");
            self.phase = Phase::Leaving;
        }
    }

    fn is_gone(&self) -> bool {
        self.process.is_none()
    }
}

impl Limit {
    /// The limit in words.
    pub fn words(self) -> String {
        match self {
            Self::Nodes(n) => format!("nodes {n}"),
            Self::Depth(n) => format!("depth {n}"),
            Self::MoveTime(ms) => format!("movetime {ms} ms"),
            Self::Byoyomi(ms) => format!("byoyomi {ms} ms"),
        }
    }
}
