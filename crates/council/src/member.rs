//! What the session asks of a member, whatever kind it is, and what it learns from it.

use std::time::{Duration, Instant};

use crate::usi::{Go, Heard, OptionSpec, Position};
use evalcurve_core::calibration::Score;
use evalcurve_core::rule::Bound;
use evalcurve_core::types::Color;

/// Something to think about.
#[derive(Debug, Clone)]
pub struct Task {
    /// Different for every task of a session.
    pub serial: u64,
    /// The position.
    pub position: Position,
    /// Who is to move.
    pub side: Color,
    /// What the GUI asked for.
    pub go: Go,
    /// When the clock of this move began to run.
    pub since: Instant,
    /// How long the council can wait for an answer; `None`: until it says `stop`.
    pub budget: Option<Duration>,
    /// What of the GUI's time the council keeps for itself.
    pub margin: Duration,
}

/// What a member thinks of a position.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Opinion {
    /// What it plays: a move as the protocol writes it, `resign`, `win`, or anything else that it said; `None` while it
    /// thinks.
    pub best: Option<String>,
    /// The answer that it expects.
    pub ponder: Option<String>,
    /// Its score, of the last exact line; of a bound where there is no exact line.
    pub score: Option<Score>,
    /// Whether the score is a bound.
    pub bound: Option<Bound>,
    /// The line behind the score.
    pub pv: Vec<String>,
    /// Its best moves with their scores in its own order, where it gave several.
    pub list: Vec<(String, Score)>,
    /// Plies searched.
    pub depth: Option<u32>,
    /// Nodes searched.
    pub nodes: Option<u64>,
    /// From the order to the answer.
    pub time: Option<Duration>,
}

/// What came of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum News {
    /// Its options are known.
    Greeted,
    /// It can think.
    Ready,
    /// It thinks differently from before.
    Line,
    /// It answered the current task.
    Answered,
    /// It answered `go mate`.
    Checkmate(String),
    /// Something odd, in words.
    Note(String),
    /// It failed, in words; it was ended, and starts again unless it has failed too often.
    Fault(String),
}

/// A voice in a council. The session calls these from one thread; none of them blocks.
pub trait Member {
    /// Starts it. `Greeted` follows.
    fn start(&mut self, now: Instant) -> Vec<News>;

    /// Its options; empty before `Greeted`.
    fn options(&self) -> &[OptionSpec];

    /// The name that it gives itself.
    fn own_name(&self) -> Option<&str>;

    /// Sets an option, now and after every restart.
    fn set_option(&mut self, name: &str, value: Option<&str>);

    /// Makes it ready. `Ready` or a fault follows; at once where it has been given up.
    fn prepare(&mut self, now: Instant) -> Vec<News>;

    /// A new game begins: its restarts count from nothing.
    fn new_game(&mut self);

    /// Thinks as soon as it can. `Answered` or a fault follows.
    fn think(&mut self, task: &Task, now: Instant);

    /// The expected answer was played: the task, without `ponder` now.
    fn ponder_hit(&mut self, task: &Task, now: Instant);

    /// Asks for the answer to the current task.
    fn stop(&mut self, now: Instant);

    /// The council has decided: whatever it still says of the current task does not matter.
    fn release(&mut self, now: Instant);

    /// Its answer cannot be used: it abstains from this task and is started again.
    fn refuse(&mut self, why: &str, now: Instant) -> Vec<News>;

    /// `gameover …`
    fn game_over(&mut self, result: &str);

    /// Something that it wrote; `life` is that of the process that wrote it.
    fn hear(&mut self, life: u64, heard: Heard, now: Instant) -> Vec<News>;

    /// When it wants to be woken.
    fn deadline(&self) -> Option<Instant>;

    /// Wakes it.
    fn tick(&mut self, now: Instant) -> Vec<News>;

    /// Whether it owes an answer to the current task.
    fn is_asked(&self) -> bool;

    /// Whether it is being made ready.
    fn is_preparing(&self) -> bool;

    /// Whether it is being started.
    fn is_starting(&self) -> bool;

    /// What it thinks of the current task.
    fn opinion(&self) -> &Opinion;

    /// How long its answer took after `stop`, at worst.
    fn stop_time(&self) -> Duration;

    /// Asks it to leave. It is made to when it is dropped.
    fn quit(&mut self);

    /// Whether it has left.
    fn is_gone(&self) -> bool;
}
