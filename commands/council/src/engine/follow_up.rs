//! Follow-up searches before a decision: one member searches some moves to break a tie (Sato 2013, eq. 2.35) or as the
//! chooser of 3-Hirn (eq. 4.1), or every member judges the moves of the others (cross-examination).

use std::time::{Duration, Instant};

use evalcurve_calibration::Score;
use evalcurve_engine::clock::millis;
use evalcurve_engine::usi::Go;
use evalcurve_engine::{SearchResult, Task};
use evalcurve_rules::log::{LoggedCost, LoggedDeeper, LoggedMove, LoggedScore};
use evalcurve_rules::{Role, Rule, TieRule};

use super::config::Config;

/// The share of the time per move that is reserved for follow-up searches if the rule can need them. Measured with
/// three chess engines: from a quarter to two fifths the moves are equally good, below and without it worse
/// (docs/experiments.md).
const SHARE: f64 = 0.3;

/// A shorter search is not worth it.
const SHORTEST: Duration = Duration::from_millis(20);

/// Moves that one or all members search one by one. All members search their next move at the same time.
#[derive(Debug, Clone, Default)]
pub(super) struct FollowUp {
    /// The results of all members for the position itself, and for the moves that they judged.
    pub results: Vec<SearchResult>,
    searches: Vec<Examination>,
    /// Scores of a single searcher, from the council's point of view.
    pub searched: Vec<LoggedMove>,
    /// It is the longer search of one member.
    pub deeper: bool,
    /// The nodes of each search, in place of the limits of the members.
    pub nodes: Option<u64>,
    /// When its searches must end, if that is before the decision is due.
    pub until: Option<Instant>,
}

/// The moves that one member searches.
#[derive(Debug, Clone)]
struct Examination {
    /// The member, by position in the configuration.
    by: usize,
    /// The move that is being searched.
    current: Option<String>,
    /// The moves still to search, the next one last.
    remaining: Vec<String>,
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
    if config.rule == Rule::Budget {
        return budget.mul_f64(config.budget.first);
    }
    let needed = searcher(config).is_some() || config.rule.needs().judged;
    if needed { budget.mul_f64(1.0 - SHARE) } else { budget }
}

impl FollowUp {
    /// A search of some moves by each of some members; `None` if there are none.
    pub(crate) fn new(
        results: Vec<SearchResult>,
        searches: impl IntoIterator<Item = (usize, Vec<String>)>,
    ) -> Option<Self> {
        let examination = |(by, mut moves): (usize, Vec<String>)| {
            moves.reverse();
            Some(Examination { by, current: Some(moves.pop()?), remaining: moves })
        };
        let searches: Vec<Examination> = searches.into_iter().filter_map(examination).collect();
        (!searches.is_empty()).then(|| Self { results, searches, ..Self::default() })
    }

    /// A longer search of the position itself by one member.
    pub(crate) fn deeper(results: Vec<SearchResult>, by: usize) -> Self {
        let searches = vec![Examination { by, current: Some(String::new()), remaining: Vec::new() }];
        Self { results, searches, deeper: true, ..Self::default() }
    }

    /// How many searches there are.
    pub(crate) fn searches(&self) -> u64 {
        self.searches.iter().map(|s| 1 + s.remaining.len() as u64).sum()
    }

    /// The tasks of the members for their current moves: the position after it, with an equal share of the time that is
    /// left. None if too little is left.
    pub(crate) fn tasks(&self, task: &Task, now: Instant, deadline: Option<Instant>) -> Vec<(usize, Task)> {
        let deadline = self.until.or(deadline);
        let rounds = 1 + self.searches.iter().map(|s| s.remaining.len()).max().unwrap_or(0) as u32;
        let share = deadline.map(|deadline| deadline.saturating_duration_since(now) / rounds);
        if share.is_some_and(|share| share < SHORTEST) {
            return Vec::new();
        }
        let of = |search: &Examination| {
            let nodes = self.nodes;
            let mut task = Task { since: now, margin: Some(Duration::ZERO), nodes, ..task.clone() };
            let asked = search.current.clone()?;
            if !self.deeper {
                task.position.moves.push(asked);
                task.side = task.side.opponent();
            }
            if let Some(share) = share {
                task.budget = Some(share);
                task.go = limited(&task.go, share);
            }
            Some((search.by, task))
        };
        self.searches.iter().filter_map(of).collect()
    }

    /// Leaves out the members that have ended: their last scores are not those of further moves.
    pub(crate) fn leave(&mut self, has_ended: impl Fn(usize) -> bool) {
        for search in self.searches.iter_mut().filter(|search| has_ended(search.by)) {
            search.current = None;
            search.remaining.clear();
        }
    }

    /// Records the results for the current moves; returns whether there are other moves.
    pub(crate) fn add(&mut self, result: impl Fn(usize) -> SearchResult) -> bool {
        let single = self.searches.len() == 1;
        for search in &mut self.searches {
            let found = result(search.by);
            let time_ms = found.time.map_or(0, millis);
            match self.results.get_mut(search.by).filter(|_| search.current.is_some()) {
                Some(own) if self.deeper => {
                    // a member that is late has said what it would play
                    own.deeper = found.best.or_else(|| found.pv.first().cloned()).map(|best| LoggedDeeper {
                        best,
                        score: found.score.map(LoggedScore),
                        nodes: found.nodes,
                        time_ms,
                    });
                    search.current = None;
                    continue;
                }
                Some(own) => {
                    let before = own.second.unwrap_or(LoggedCost { nodes: Some(0), time_ms: 0 });
                    let nodes = before.nodes.zip(found.nodes).map(|(before, more)| before.saturating_add(more));
                    own.second = Some(LoggedCost { nodes, time_ms: before.time_ms.saturating_add(time_ms) });
                }
                None => {}
            }
            if let (Some(searched), Some(score)) = (&search.current, found.score) {
                let score = for_mover(score);
                if single {
                    self.searched.push(LoggedMove { best: searched.clone(), score: LoggedScore(score) });
                }
                if let Some(own) = self.results.get_mut(search.by) {
                    own.judged.push((searched.clone(), score));
                }
            }
            search.current = search.remaining.pop();
        }
        self.searches.iter().any(|search| search.current.is_some())
    }
}

/// The limit of a follow-up search: a limit of depth or nodes stays, the position after a move being one ply nearer to
/// the end of the main search; any other is a share of the time.
fn limited(go: &Go, share: Duration) -> Go {
    match (go.depth, go.nodes) {
        (None, None) => Go { movetime_ms: Some(share.as_millis() as u64), ..Go::default() },
        (depth, nodes) => Go { depth: depth.map(|plies| plies.saturating_sub(1).max(1)), nodes, ..Go::default() },
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
    use evalcurve_calibration::types::Color;
    use evalcurve_engine::usi::Position;

    #[test]
    fn scores_turn_round() {
        let mated = Score::Mate { wins: false, plies: Some(0) };
        assert_eq!(for_mover(mated), Score::Mate { wins: true, plies: Some(1) });
        assert_eq!(for_mover(Score::Cp(30.0)), Score::Cp(-30.0));
    }

    fn found(cp: f64) -> SearchResult {
        SearchResult { score: Some(Score::Cp(cp)), ..SearchResult::default() }
    }

    #[test]
    fn moves_are_searched_in_order() {
        let mut search = FollowUp::new(Vec::new(), [(0, vec!["a".into(), "b".into()])]).unwrap();
        assert_eq!(search.searches[0].current.as_deref(), Some("a"));
        assert!(search.add(|_| found(5.0)));
        assert_eq!(search.searches[0].current.as_deref(), Some("b"));
        assert!(!search.add(|_| SearchResult::default()));
        assert_eq!(search.searched, [LoggedMove { best: "a".into(), score: LoggedScore(Score::Cp(-5.0)) }]);
        assert!(FollowUp::new(Vec::new(), [(0, Vec::new())]).is_none());
    }

    #[test]
    fn the_last_score_of_a_member_that_has_ended_is_not_that_of_further_moves() {
        let moves = |words: &[&str]| words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>();
        let both = [(0, moves(&["c", "d", "e"])), (1, moves(&["a", "b"]))];
        let mut search = FollowUp::new(vec![found(30.0), found(20.0)], both).unwrap();
        let task = Task {
            position: Position::default(),
            side: Color::Black,
            go: Go::default(),
            since: Instant::now(),
            budget: None,
            nodes: None,
            margin: None,
        };
        // the second member ends while it judges its first move, with a line
        let result = |by| found(by as f64);
        assert!(search.add(result));
        search.leave(|by| by == 1);
        let asked = |search: &FollowUp| search.tasks(&task, task.since, None).iter().map(|t| t.0).collect::<Vec<_>>();
        assert_eq!(asked(&search), [0]);
        assert!(search.add(result));
        assert_eq!(asked(&search), [0]);
        assert!(!search.add(result));
        let judged = |by: usize| search.results[by].judged.iter().map(|(m, _)| m.as_str()).collect::<Vec<_>>().join("");
        assert_eq!((judged(0), judged(1)), ("cde".to_owned(), "a".to_owned()));
        // as do tie and chooser searches
        let mut single = FollowUp::new(Vec::new(), [(0, moves(&["a", "b"]))]).unwrap();
        assert!(single.add(result));
        single.leave(|_| true);
        assert!(!single.add(result));
        assert_eq!(single.searched.len(), 1);
    }

    #[test]
    fn limits_of_depth_and_nodes_stay() {
        let share = Duration::from_secs(5);
        let depth = limited(&Go { depth: Some(7), ..Go::default() }, share);
        assert_eq!((depth.depth, depth.movetime_ms), (Some(6), None));
        let nodes = limited(&Go { nodes: Some(900), ..Go::default() }, share);
        assert_eq!((nodes.nodes, nodes.movetime_ms), (Some(900), None));
        let clock = limited(&Go { infinite: true, ..Go::default() }, share);
        assert_eq!(clock, Go { movetime_ms: Some(5_000), ..Go::default() });
    }

    #[test]
    fn all_members_judge_the_moves_of_the_others() {
        let moves = |words: &[&str]| words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>();
        let results = vec![found(30.0), found(20.0), SearchResult::default()];
        let searches = [(0, moves(&["b", "c"])), (1, moves(&["a"]))];
        let mut search = FollowUp::new(results, searches).unwrap();
        assert!(search.add(|by| found(by as f64)));
        // the second member has no further move, and the first one no answer
        assert!(!search.add(|_| SearchResult::default()));
        assert_eq!(search.results[0].judged, [("b".to_owned(), Score::Cp(-0.0))]);
        assert_eq!(search.results[1].judged, [("a".to_owned(), Score::Cp(-1.0))]);
        assert!(search.searched.is_empty() && search.results[2].judged.is_empty());
    }
}
