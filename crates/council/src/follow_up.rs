//! Follow-up searches: one member searches some moves before a decision, to break a tie (Sato 2013, eq. 2.35) or as the
//! chooser of 3-Hirn (eq. 4.1).

use std::time::{Duration, Instant};

use super::config::Config;
use super::task::{SearchResult, Task};
use crate::usi::Go;
use evalcurve_core::calibration::Score;
use evalcurve_core::rule::log::{LoggedMove, LoggedScore};
use evalcurve_core::rule::{Role, TieRule};

/// The share of the time per move that is reserved for follow-up searches if the rule can need them.
const SHARE: f64 = 0.4;

/// A shorter search is not worth it.
const SHORTEST: Duration = Duration::from_millis(20);

/// Moves that one member searches one by one.
#[derive(Debug, Clone)]
pub(super) struct FollowUp {
    /// The member that searches, by position in the configuration.
    pub by: usize,
    /// The results of all members for the position itself.
    pub results: Vec<SearchResult>,
    /// The move that is being searched.
    pub current: String,
    /// The moves still to search, the next one last.
    remaining: Vec<String>,
    /// Scores from the council's point of view.
    pub searched: Vec<LoggedMove>,
}

/// The member that follow-up searches are for, if the configuration can need them.
pub(super) fn searcher(config: &Config) -> Option<usize> {
    if config.rule.needs().chooser {
        return config.engines.iter().position(|e| e.role == Role::Chooser);
    }
    let rated = config.engines.iter().enumerate().filter_map(|(i, e)| Some((i, e.strength?)));
    let strongest = rated.reduce(|a, b| if b.1 > a.1 { b } else { a });
    strongest.filter(|_| config.tie == TieRule::Strongest).map(|(i, _)| i)
}

/// The part of the time per move that is for the search of the position itself.
pub(super) fn main_share(config: &Config, budget: Duration) -> Duration {
    if searcher(config).is_some() { budget.mul_f64(1.0 - SHARE) } else { budget }
}

impl FollowUp {
    /// A search of some moves; `None` if there are none.
    pub fn new(by: usize, results: Vec<SearchResult>, mut moves: Vec<String>) -> Option<Self> {
        moves.reverse();
        let current = moves.pop()?;
        Some(Self { by, results, current, remaining: moves, searched: Vec::new() })
    }

    /// The task for the current move: the position after it, with an equal share of the time that is left. `None` if
    /// too little is left.
    pub fn task(&self, task: &Task, now: Instant, deadline: Option<Instant>) -> Option<Task> {
        let mut task = Task { since: now, margin: Duration::ZERO, ..task.clone() };
        task.position.moves.push(self.current.clone());
        task.side = task.side.opponent();
        if let Some(deadline) = deadline {
            let share = deadline.saturating_duration_since(now) / (1 + self.remaining.len() as u32);
            task.budget = Some(Some(share).filter(|share| *share >= SHORTEST)?);
            task.go = Go { movetime_ms: Some(share.as_millis() as u64), ..Go::default() };
        }
        Some(task)
    }

    /// Records the result for the current move; returns whether there is another move.
    pub fn add(&mut self, result: &SearchResult) -> bool {
        if let Some(score) = result.score {
            self.searched.push(LoggedMove { best: self.current.clone(), score: LoggedScore(for_mover(score)) });
        }
        match self.remaining.pop() {
            Some(next) => {
                self.current = next;
                true
            }
            None => false,
        }
    }
}

/// The opponent's score after a move, from the point of view of the player who makes the move.
fn for_mover(score: Score) -> Score {
    match score {
        Score::Cp(cp) => Score::Cp(-cp),
        Score::Mate { wins, plies } => Score::Mate { wins: !wins, plies: plies.map(|p| p.saturating_add(1)) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_turn_round() {
        let mated = Score::Mate { wins: false, plies: Some(0) };
        assert_eq!(for_mover(mated), Score::Mate { wins: true, plies: Some(1) });
        assert_eq!(for_mover(Score::Cp(30.0)), Score::Cp(-30.0));
    }

    #[test]
    fn moves_are_searched_in_order() {
        let mut search = FollowUp::new(0, Vec::new(), vec!["a".into(), "b".into()]).unwrap();
        assert_eq!(search.current, "a");
        assert!(search.add(&SearchResult { score: Some(Score::Cp(5.0)), ..SearchResult::default() }));
        assert_eq!(search.current, "b");
        assert!(!search.add(&SearchResult::default()));
        assert_eq!(search.searched, [LoggedMove { best: "a".into(), score: LoggedScore(Score::Cp(-5.0)) }]);
        assert!(FollowUp::new(0, Vec::new(), Vec::new()).is_none());
    }
}
