//! What the searches that a rule asks for take.

use super::super::log::{Ballots, Header, LoggedCost, LoggedLine, vote_finder};
use super::super::{Decision, Reason, Rule};
use super::Cost;

/// The sums over decisions.
#[derive(Debug, Default)]
pub(super) struct Costs {
    decisions: usize,
    /// Decisions whose voters all reported nodes.
    counted: usize,
    nodes: f64,
    total_ms: f64,
    wall_ms: f64,
    /// A vote has no time.
    unknown: bool,
}

impl Costs {
    /// Adds the searches that a rule asks for before a decision: the votes, in a second round the moves that are not
    /// yet judged, and a longer search. Of the second round of a voter a share counts, that of the moves asked for.
    pub(super) fn add(
        &mut self,
        header: &Header,
        line: &LoggedLine,
        rule: Rule,
        ballots: &Ballots<'_>,
        decision: &Decision,
    ) {
        let find = vote_finder(&line.votes);
        let first = rule.needs().judged.then(|| ballots.clone().first_round());
        let asked =
            first.and_then(|ballots| Some(ballots.decide(header, &rule).ok()?.needs_search)).unwrap_or_default();
        let handed = decision.carried_by.filter(|_| decision.reason == Reason::SearchedOn);
        let (mut nodes, mut total, mut walls) = (Some(0.0), 0.0, [0.0_f64; 3]);
        for (place, voter) in header.voters.iter().enumerate() {
            let Some(vote) = find(&voter.name) else { continue };
            self.unknown |= vote.best.is_some() && vote.time_ms.is_none();
            let judged = vote.judged.iter().filter(|m| asked.iter().any(|&a| ballots.names.name(a) == m.best)).count();
            let share = if vote.judged.is_empty() { 0.0 } else { judged as f64 / vote.judged.len() as f64 };
            let vote_cost = LoggedCost { nodes: vote.nodes, time_ms: vote.time_ms.unwrap_or(0) };
            let deeper = vote.deeper.as_ref().filter(|_| handed == Some(place));
            let deeper = deeper.map(|deeper| LoggedCost { nodes: deeper.nodes, time_ms: deeper.time_ms });
            let second = vote.second.filter(|_| judged > 0);
            for (wall, cost, share) in [(0, Some(vote_cost), 1.0), (1, second, share), (2, deeper, 1.0)] {
                let Some(cost) = cost else { continue };
                nodes = nodes.zip(cost.nodes).map(|(sum, n)| sum + share * n as f64);
                let ms = share * cost.time_ms as f64;
                total += ms;
                walls[wall] = walls[wall].max(ms);
            }
        }
        self.decisions += 1;
        self.counted += usize::from(nodes.is_some());
        self.nodes += nodes.unwrap_or(0.0);
        self.total_ms += total;
        self.wall_ms += walls.iter().sum::<f64>();
    }

    /// The means; `None` if some vote has no time.
    pub(super) fn mean(&self) -> Option<Cost> {
        let n = self.decisions as f64;
        (self.decisions > 0 && !self.unknown).then(|| Cost {
            nodes: (self.counted == self.decisions).then(|| self.nodes / n),
            total_ms: self.total_ms / n,
            wall_ms: self.wall_ms / n,
        })
    }
}
