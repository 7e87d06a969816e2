//! What a session asks of a member, and what the member reports.

use std::time::{Duration, Instant};

use crate::usi::{EngineOutput, Go, OptionSpec, Position};
use evalcurve_core::calibration::Score;
use evalcurve_core::rule::Bound;
use evalcurve_core::types::Color;

/// A position to search.
#[derive(Debug, Clone)]
pub struct Task {
    /// The position.
    pub position: Position,
    /// The side to move.
    pub side: Color,
    /// The GUI's command.
    pub go: Go,
    /// When the clock of this move started.
    pub since: Instant,
    /// How long the council can wait for an answer; `None`: until it sends `stop`.
    pub budget: Option<Duration>,
    /// The part of the GUI's time that the council reserves for itself.
    pub margin: Duration,
}

/// The result of a member's search.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SearchResult {
    /// The answer: a move as the protocol writes it, `resign`, `win`, or any other word that the member sent; `None`
    /// during the search.
    pub best: Option<String>,
    /// The expected answer of the opponent.
    pub ponder: Option<String>,
    /// The score of the last exact line, or of a bound if there is no exact line.
    pub score: Option<Score>,
    /// Whether the score is a bound.
    pub bound: Option<Bound>,
    /// The line of the score.
    pub pv: Vec<String>,
    /// The best moves with their scores, in the member's own order, if it reports several.
    pub list: Vec<(String, Score)>,
    /// Search depth in plies.
    pub depth: Option<u32>,
    /// Nodes searched.
    pub nodes: Option<u64>,
    /// The time from the command to the answer.
    pub time: Option<Duration>,
}

/// Something that a member reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MemberEvent {
    /// Its options are known.
    Greeted,
    /// It is ready to search.
    Ready,
    /// Its search result has changed.
    Line,
    /// It has answered the current task.
    Answered,
    /// It has answered `go mate`.
    Checkmate(String),
    /// A remark about its output.
    Note(String),
    /// It has failed. It was ended, and is restarted unless it has failed too often.
    Fault(String),
}

/// A member of a council. A session calls these functions from one thread; none of them blocks.
pub trait Member {
    /// Starts it. `Greeted` follows.
    fn start(&mut self, now: Instant) -> Vec<MemberEvent>;

    /// Its options; empty before `Greeted`.
    fn options(&self) -> &[OptionSpec];

    /// The name that it reports.
    fn own_name(&self) -> Option<&str>;

    /// Sets an option, now and after every restart.
    fn set_option(&mut self, name: &str, value: Option<&str>);

    /// Sends `isready`. `Ready` or a fault follows, unless the member has failed too often.
    fn prepare(&mut self, now: Instant) -> Vec<MemberEvent>;

    /// Starts a new game and resets the count of restarts.
    fn new_game(&mut self);

    /// Searches as soon as possible. `Answered` or a fault follows.
    fn search(&mut self, task: &Task, now: Instant);

    /// The opponent played the expected move: continues with the task, now without `ponder`.
    fn ponder_hit(&mut self, task: &Task, now: Instant);

    /// Asks for the answer to the current task.
    fn stop(&mut self, now: Instant);

    /// Ends the current task: the council has decided, and any further answer is ignored.
    fn release(&mut self, now: Instant);

    /// Rejects its answer: it abstains from this task and is restarted.
    fn refuse(&mut self, why: &str, now: Instant) -> Vec<MemberEvent>;

    /// Sends `gameover …`.
    fn game_over(&mut self, result: &str);

    /// Processes output; `process` is the number of the process that wrote it.
    fn on_output(&mut self, process: u64, output: EngineOutput, now: Instant) -> Vec<MemberEvent>;

    /// When to call [`Member::check_deadline`].
    fn deadline(&self) -> Option<Instant>;

    /// Fails if the deadline has passed.
    fn check_deadline(&mut self, now: Instant) -> Vec<MemberEvent>;

    /// Whether an answer to the current task is outstanding.
    fn is_asked(&self) -> bool;

    /// Whether `readyok` is outstanding.
    fn is_preparing(&self) -> bool;

    /// Whether the greeting is outstanding.
    fn is_starting(&self) -> bool;

    /// The search result for the current task.
    fn result(&self) -> &SearchResult;

    /// How long its answers take after `stop`.
    fn stop_time(&self) -> Duration;

    /// Sends `quit`. Dropping the member ends its process.
    fn quit(&mut self);

    /// Whether its process has ended.
    fn is_gone(&self) -> bool;
}
