//! A second look: moves that someone searches before a decision, for a tie (Sato 2013, eq. 2.35) or as the chooser of
//! 3-Hirn (eq. 4.1).

use std::time::{Duration, Instant};

use super::config::Config;
use super::member::{Opinion, Task};
use evalcurve_core::calibration::Score;
use evalcurve_core::rule::log::{LoggedMove, LoggedScore};
use evalcurve_core::rule::{Role, TieRule};

/// The share of a move's time that is kept for a second look, where the rule may want one.
const SHARE: f64 = 0.4;

/// Less than this is too short to search anything.
const SHORTEST: Duration = Duration::from_millis(20);

/// Moves that are searched one after the other.
#[derive(Debug, Clone)]
pub(super) struct Second {
    /// Who searches, by place.
    pub by: usize,
    /// What everybody thought of the position itself.
    pub opinions: Vec<Opinion>,
    /// The move that is searched now.
    pub current: String,
    /// Moves still to search, the next one last.
    left: Vec<String>,
    /// Scores in the view of the council.
    pub searched: Vec<LoggedMove>,
}

/// Who takes a second look by the rule of a configuration.
pub(super) fn searcher(config: &Config) -> Option<usize> {
    if config.rule.needs().chooser {
        return config.engines.iter().position(|e| e.role == Role::Chooser);
    }
    let rated = config.engines.iter().enumerate().filter_map(|(i, e)| Some((i, e.strength?)));
    let strongest = rated.reduce(|a, b| if b.1 > a.1 { b } else { a });
    strongest.filter(|_| config.tie == TieRule::Strongest).map(|(i, _)| i)
}

/// What members may take of a move's time.
pub(super) fn first_share(config: &Config, budget: Duration) -> Duration {
    if searcher(config).is_some() { budget.mul_f64(1.0 - SHARE) } else { budget }
}

impl Second {
    /// A look at some moves, one at least.
    pub fn new(by: usize, opinions: Vec<Opinion>, mut moves: Vec<String>) -> Option<Self> {
        moves.reverse();
        let current = moves.pop()?;
        Some(Self { by, opinions, current, left: moves, searched: Vec::new() })
    }

    /// The task of searching the current move: the position after it, with an even share of the time that is left. None
    /// where too little is left.
    pub fn task(&self, task: &Task, serial: u64, now: Instant, deadline: Option<Instant>) -> Option<Task> {
        let mut task = Task { serial, since: now, margin: Duration::ZERO, ..task.clone() };
        task.position.moves.push(self.current.clone());
        task.side = task.side.opponent();
        if let Some(deadline) = deadline {
            let left = deadline.saturating_duration_since(now) / (1 + self.left.len() as u32);
            let left = left.checked_sub(task.margin).filter(|left| *left >= SHORTEST)?;
            task.budget = Some(left);
            task.go = crate::usi::Go::default();
            task.go.movetime_ms = Some(left.as_millis() as u64);
        }
        Some(task)
    }

    /// Takes the answer for the current move; false where it was the last.
    pub fn take(&mut self, answer: &Opinion) -> bool {
        if let Some(score) = answer.score {
            self.searched.push(LoggedMove { best: self.current.clone(), score: LoggedScore(before(score)) });
        }
        match self.left.pop() {
            Some(next) => {
                self.current = next;
                true
            }
            None => false,
        }
    }
}

/// A score of the opponent after a move, in the view of whoever makes the move.
fn before(score: Score) -> Score {
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
        assert_eq!(before(mated), Score::Mate { wins: true, plies: Some(1) });
        assert_eq!(before(Score::Cp(30.0)), Score::Cp(-30.0));
    }

    #[test]
    fn moves_are_taken_in_their_order() {
        let mut second = Second::new(0, Vec::new(), vec!["a".into(), "b".into()]).unwrap();
        assert_eq!(second.current, "a");
        assert!(second.take(&Opinion { score: Some(Score::Cp(5.0)), ..Opinion::default() }));
        assert_eq!(second.current, "b");
        assert!(!second.take(&Opinion::default()));
        assert_eq!(second.searched, [LoggedMove { best: "a".into(), score: LoggedScore(Score::Cp(-5.0)) }]);
        assert!(Second::new(0, Vec::new(), Vec::new()).is_none());
    }
}
