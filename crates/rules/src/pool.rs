//! Pools: the value of a move is its mean over the lists of all voters, so a move that no voter ranks first may win.

use super::decision::{Decision, Reason};
use super::definition::Ballot;
use super::vote::{Move, Voter};
use super::win_rate::win_rate;

/// The scale on which a mean is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    WinRate,
    /// Logits: a logarithmic opinion pool, Π p^w normalised.
    Logit,
}

/// A voter in a pool.
#[derive(Debug, Clone)]
pub struct Pooled {
    /// The moves it scored with their logits, best first, each move once; not empty.
    pub list: Vec<(Move, f64)>,
    /// Its weight, above 0.
    pub weight: f64,
}

/// Every move of the lists with its weighted mean, in order of first occurrence.
///
/// A list holds its voter's best moves, so a move that is missing from it is worse than those in it. It counts as `gap`
/// logits below the lowest of the list, which is the d of the model of the optimal rule (LFICS 2016-12). With lists of
/// one move a pool is therefore nearly a majority: give the voters MultiPV.
pub fn pool(voters: &[Pooled], gap: f64, scale: Scale) -> Vec<(Move, f64)> {
    let mut moves: Vec<Move> = Vec::new();
    for &(m, _) in voters.iter().flat_map(|v| &v.list) {
        if !moves.contains(&m) {
            moves.push(m);
        }
    }
    let total: f64 = voters.iter().map(|v| v.weight).sum();
    let on_scale = |logit: f64| match scale {
        Scale::WinRate => win_rate(logit),
        Scale::Logit => logit,
    };
    let of = |voter: &Pooled, m: Move| {
        let listed = voter.list.iter().find(|(other, _)| *other == m).map(|&(_, logit)| logit);
        on_scale(listed.unwrap_or_else(|| lowest(&voter.list) - gap))
    };
    let mean = |m: Move| voters.iter().map(|v| v.weight * of(v, m)).sum::<f64>() / total;
    moves.into_iter().map(|m| (m, mean(m))).collect()
}

fn lowest(list: &[(Move, f64)]) -> f64 {
    list.iter().map(|&(_, logit)| logit).fold(f64::INFINITY, f64::min)
}

/// The Bradley-Terry strength of a voter relative to the strongest: 10^((R - max R)/400). It is 0.56 for 100 Elo points
/// less and 0.32 for 200.
#[inline]
pub(crate) fn strength_weight(rating: f64, strongest: f64) -> f64 {
    libm::pow(10.0, (rating - strongest) / 400.0)
}

impl Ballot<'_> {
    /// The move with the largest mean over the lists of the voters that have win rates.
    pub(super) fn pooled(&self, scale: Scale, weight: impl Fn(&Voter<'_>) -> f64) -> Decision {
        let voters: Vec<Pooled> = self
            .votes
            .iter()
            .map(|m| Pooled { list: m.logits(), weight: weight(m.voter) })
            .filter(|voter| voter.weight > 0.0 && !voter.list.is_empty())
            .collect();
        let mut candidates = pool(&voters, self.options.gap, scale);
        let sound = |c: Move| !self.votes.iter().any(|m| m.refutes(c));
        if self.mates && candidates.iter().any(|(c, _)| sound(*c)) {
            candidates.retain(|(c, _)| sound(*c));
        }
        if candidates.is_empty() {
            return self.by_majority();
        }
        let (moves, values): (Vec<Move>, Vec<f64>) = candidates.iter().copied().unzip();
        let (place, tie, needs_search) = self.first(&moves, &values);
        let carried_by = self.votes.iter().find(|m| m.vote.best == moves[place]).map(|m| m.index);
        let mut decision = self.decision(moves[place], carried_by, Reason::LargestValue);
        for m in &self.votes {
            decision.values[m.index] = candidates.iter().find(|(c, _)| *c == m.vote.best).map(|&(_, value)| value);
        }
        Decision { candidates, tie, needs_search, ..decision }
    }
}
