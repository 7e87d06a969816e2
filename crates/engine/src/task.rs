//! What a session asks of a member, and what the member reports.

use std::time::{Duration, Instant};

use evalcurve_calibration::Score;
use evalcurve_calibration::types::{Color, Declared};
use evalcurve_rules::Bound;
use evalcurve_rules::log::{LoggedCost, LoggedDeeper};
use evalcurve_words::language::Text;

use crate::usi::{Go, Position};

/// A position to search.
#[derive(Debug, Clone)]
pub struct Task {
    /// The position to search.
    pub position: Position,
    /// The side to move.
    pub side: Color,
    /// The GUI's command.
    pub go: Go,
    /// When the clock of this move started.
    pub since: Instant,
    /// How long the council can wait for an answer; `None`: until it sends `stop`.
    pub budget: Option<Duration>,
    /// Nodes that the council gives it, in place of its own limit and of the clock.
    pub nodes: Option<u64>,
    /// The part of the GUI's time that the council reserves for itself; `None`: the member gets the command as it is.
    pub margin: Option<Duration>,
}

/// The result of an engine's search.
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
    /// The rates of wins, draws and losses that the engine declared with the score.
    pub declared: Option<Declared>,
    /// The line of the score.
    pub pv: Vec<String>,
    /// The best moves with their scores, in the member's own order, if it reports several.
    pub list: Vec<(String, Score)>,
    /// Moves of other members with the scores of follow-up searches.
    pub judged: Vec<(String, Score)>,
    /// What these follow-up searches took.
    pub second: Option<LoggedCost>,
    /// Its move after a longer search.
    pub deeper: Option<LoggedDeeper>,
    /// Search depth in plies.
    pub depth: Option<u32>,
    /// The deepest line that was looked at, in plies.
    pub seldepth: Option<u32>,
    pub nodes: Option<u64>,
    /// Nodes a second, as the engine counts them.
    pub nps: Option<u64>,
    /// The time from the command to the answer.
    pub time: Option<Duration>,
}

impl SearchResult {
    /// Nodes of its search and of its follow-up searches.
    pub fn all_nodes(&self) -> u64 {
        let second = self.second.and_then(|cost| cost.nodes);
        let deeper = self.deeper.as_ref().and_then(|deeper| deeper.nodes);
        [self.nodes, second, deeper].into_iter().flatten().fold(0, u64::saturating_add)
    }

    /// The time of its search and of its follow-up searches.
    pub fn all_time(&self) -> Duration {
        let second_ms = self.second.map_or(0, |cost| cost.time_ms);
        let deeper_ms = self.deeper.as_ref().map_or(0, |deeper| deeper.time_ms);
        self.time.unwrap_or_default().saturating_add(Duration::from_millis(second_ms.saturating_add(deeper_ms)))
    }
}

/// Something that a member reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MemberEvent {
    /// Its search result has changed.
    Line,
    /// It has answered the current task.
    Answered,
    /// It has answered `go mate`.
    Checkmate(String),
    /// A remark about its output.
    Note(Text),
    /// It has failed. It was ended, and is restarted unless it has failed too often, as `fault` says.
    Fault { kind: FailureKind, what: Text, fault: Text },
}

/// How an engine has failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FailureKind {
    /// There is no such program, or no such working directory.
    NotFound,
    /// The system does not start it: no permission, or it is no program. Or its line names none.
    NotStarted,
    /// It ended, or closed its output.
    Ended,
    /// It did not greet or was not ready in the time of its configuration.
    NotReady,
    /// It did not answer a search in time.
    Late,
    /// The position or one of its moves is not of the game, so that it was not asked.
    Position,
    /// It answers, but not as asked: as an engine of another game, with an illegal move, or not at its limit.
    Unusable,
}
