//! One decision: what each vote is worth by the rule, which is largest, and how ties and mates go.

use super::decision::{Decision, Reason, TieBroken};
use super::kind::{Rule, TieRule};
use super::measured::{Measured, score_of};
use super::options::{Options, RuleError};
use super::pool::{Pooled, Scale, pool, strength_weight};
use super::vote::{Move, Role, Vote, Voter, better};
use super::winrate::lower_bound;
use super::{likelihood, tally};
use crate::calibration::Score;

/// Decides the votes of one position by a rule.
///
/// `votes` holds one vote a voter, in the same order; `None` abstains. Call [`check`](super::check) once before the first decision.
///
/// # Errors
/// Nobody voted, or the slices do not fit each other.
pub fn decide(
    rule: Rule,
    voters: &[Voter<'_>],
    votes: &[Option<Vote<'_>>],
    options: &Options<'_>,
) -> Result<Decision, RuleError> {
    if voters.len() != votes.len() {
        return Err(RuleError::Lengths { voters: voters.len(), votes: votes.len() });
    }
    let measured: Vec<Measured<'_>> = voters
        .iter()
        .zip(votes)
        .enumerate()
        .filter_map(|(i, (voter, vote))| vote.as_ref().map(|vote| Measured::new(i, voter, vote)))
        .collect();
    if measured.is_empty() {
        return Err(RuleError::NobodyVoted);
    }
    let ballot = Ballot { rule, voters, options, all: &measured };
    let mut decision = ballot.decide();
    decision.win_rates = vec![None; voters.len()];
    for m in &measured {
        decision.win_rates[m.index] = m.win_rate;
    }
    decision.agreeing = measured.iter().filter(|m| m.vote.best == decision.chosen).map(|m| m.index).collect();
    Ok(decision)
}

/// The votes of a position under a rule.
struct Ballot<'a> {
    rule: Rule,
    voters: &'a [Voter<'a>],
    options: &'a Options<'a>,
    all: &'a [Measured<'a>],
}

impl<'a> Ballot<'a> {
    fn decide(&self) -> Decision {
        let all: Vec<&Measured<'_>> = self.all.iter().collect();
        if !self.mates() {
            return self.by_rule(&all);
        }
        if let Some(decision) = self.best_mate(&all, true) {
            return decision;
        }
        let open: Vec<&Measured<'_>> = all.iter().copied().filter(|m| m.proven().is_none()).collect();
        match open.is_empty() {
            false => self.by_rule(&open),
            true => self.best_mate(&all, false).unwrap_or_else(|| self.by_rule(&all)),
        }
    }

    /// The votes with the best of the proven wins (or losses), told apart by the tie rule.
    fn best_mate(&self, votes: &[&Measured<'_>], wins: bool) -> Option<Decision> {
        let mates = votes.iter().filter_map(|m| m.proven().filter(|p| p.0 == wins).map(|(_, score)| (*m, score)));
        let best = mates.clone().map(|(_, score)| score).reduce(|a, b| if better(b, a) { b } else { a })?;
        let top: Vec<&Measured<'_>> = mates.filter(|(_, score)| !better(best, *score)).map(|(m, _)| m).collect();
        let reason = if wins { Reason::ProvenWin } else { Reason::OnlyLosses };
        Some(self.largest(&top, &vec![0.0; top.len()], reason).without_values())
    }

    fn by_rule(&self, votes: &[&Measured<'_>]) -> Decision {
        let each = |value: &dyn Fn(&Measured<'_>) -> Option<f64>| self.valued(votes, value);
        match self.rule {
            Rule::Majority => self.supported(votes, Reason::LargestValue, |_| 1.0),
            Rule::Weighted => self.supported(votes, Reason::LargestValue, |m| {
                m.voter.weight.unwrap_or(if m.voter.role == Role::Leader { LEADER_WEIGHT } else { 1.0 })
            }),
            Rule::Optimistic => each(&|m| m.raw()),
            Rule::Pessimistic => each(&|m| m.raw().map(|x| -x)),
            Rule::StandardizedOptimistic => each(&|m| m.standardized()),
            Rule::WinRateOptimistic => each(&|m| m.win_rate),
            Rule::CorrectedOptimistic => each(&|m| {
                Some(lower_bound(m.logit()?, m.noise(self.options), m.calibration_error(), self.options.caution))
            }),
            Rule::Optimal => self.optimal(votes),
            Rule::MeanWinRate => self.pooled(votes, Scale::WinRate, false),
            Rule::LogPool => self.pooled(votes, Scale::Logit, false),
            Rule::StrengthPool => self.pooled(votes, Scale::Logit, true),
            Rule::Strongest => each(&|m| m.voter.strength),
            Rule::ThreeHirn => self.three_hirn(votes),
        }
    }

    /// The most weight behind a move.
    fn supported(&self, votes: &[&Measured<'_>], reason: Reason, weight: impl Fn(&Measured<'_>) -> f64) -> Decision {
        let moves: Vec<Move> = votes.iter().map(|m| m.vote.best).collect();
        let weights: Vec<f64> = votes.iter().map(|m| weight(m)).collect();
        let mut support = vec![0.0; votes.len()];
        tally::support(&moves, &weights, &mut support);
        self.largest(votes, &support, reason)
    }

    /// The largest value of those that have one; the move of most voters where none has.
    fn valued(&self, votes: &[&Measured<'_>], value: impl Fn(&Measured<'_>) -> Option<f64>) -> Decision {
        let (with, values): (Vec<_>, Vec<_>) =
            votes.iter().filter_map(|m| value(m).filter(|v| !v.is_nan()).map(|v| (*m, v))).unzip();
        match with.is_empty() {
            true => self.supported(votes, Reason::NoValues, |_| 1.0),
            false => self.largest(&with, &values, Reason::LargestValue),
        }
    }

    fn optimal(&self, votes: &[&Measured<'_>]) -> Decision {
        let with: Vec<&Measured<'_>> = votes.iter().copied().filter(|m| m.win_rate.is_some()).collect();
        let moves: Vec<Move> = with.iter().map(|m| m.vote.best).collect();
        let logits: Vec<f64> = with.iter().filter_map(|m| m.logit()).collect();
        let gap = self.options.gap;
        let best = self.options.best.unwrap_or_else(|| likelihood::estimated_best(&moves, &logits, gap));
        let ratios: Vec<f64> = with
            .iter()
            .zip(&logits)
            .map(|(m, &v)| likelihood::log_ratio(v, best, gap, m.noise(self.options)))
            .collect();
        let mut values = vec![0.0; with.len()];
        likelihood::log_likelihood(&moves, &ratios, &mut values);
        match with.is_empty() {
            true => self.supported(votes, Reason::NoValues, |_| 1.0),
            false => self.largest(&with, &values, Reason::LargestValue),
        }
    }

    /// The largest mean over the lists of those who have win rates.
    fn pooled(&self, votes: &[&Measured<'_>], scale: Scale, by_strength: bool) -> Decision {
        let rated = || self.voters.iter().filter_map(|v| v.strength);
        let (strongest, weakest) = (rated().fold(f64::NEG_INFINITY, f64::max), rated().fold(f64::INFINITY, f64::min));
        let weight = |m: &Measured<'_>| {
            let own = m.voter.weight.unwrap_or(1.0);
            // a voter without a rating counts as the weakest; where none has one, all count the same
            let strength = m.voter.strength.unwrap_or(weakest);
            if by_strength && strongest.is_finite() { own * strength_weight(strength, strongest) } else { own }
        };
        let lists: Vec<(f64, Vec<(Move, f64)>)> = votes.iter().map(|m| (weight(m), m.logits())).collect();
        let voters: Vec<Pooled<'_>> = lists
            .iter()
            .filter(|(weight, list)| *weight > 0.0 && !list.is_empty())
            .map(|(weight, list)| Pooled { list, weight: *weight })
            .collect();
        let mut candidates = pool(&voters, self.options.gap, scale);
        if self.mates() && candidates.iter().any(|(c, _)| !votes.iter().any(|m| m.refutes(*c))) {
            candidates.retain(|(c, _)| !votes.iter().any(|m| m.refutes(*c)));
        }
        if candidates.is_empty() {
            return self.supported(votes, Reason::NoValues, |_| 1.0);
        }
        let (moves, values): (Vec<Move>, Vec<f64>) = candidates.iter().copied().unzip();
        let (place, tie, needs_search) = self.first(&moves, &values);
        let mut all = vec![None; self.voters.len()];
        for m in votes {
            all[m.index] = candidates.iter().find(|(c, _)| *c == m.vote.best).map(|&(_, value)| value);
        }
        let carried_by = votes.iter().find(|m| m.vote.best == moves[place]).map(|m| m.index);
        self.decision(moves[place], carried_by, all, Reason::LargestValue, tie, needs_search)
            .with_candidates(candidates)
    }

    /// H3(p): the first adviser's move where the chooser scores it higher, else the second's (Sato 2013, eq. 4.1).
    fn three_hirn(&self, votes: &[&Measured<'_>]) -> Decision {
        let chooser = self.all.iter().find(|m| m.voter.role == Role::Chooser);
        let mut advisers = votes.iter().filter(|m| m.voter.role != Role::Chooser);
        let (first, second) = match (advisers.next(), advisers.next()) {
            (Some(first), Some(second)) => (first, second),
            // a single adviser, or nobody but the chooser
            (one, _) => {
                let m = one.or(votes.first());
                let (chosen, by) = m.map_or((self.all[0].vote.best, 0), |m| (m.vote.best, m.index));
                return self.decision(
                    chosen,
                    Some(by),
                    vec![None; self.voters.len()],
                    Reason::Adviser,
                    None,
                    Vec::new(),
                );
            }
        };
        let moves = [first.vote.best, second.vote.best];
        let [f1, f2] = moves.map(|m| score_of(m, chooser, self.options.searched));
        let mut values = vec![None; self.voters.len()];
        for (m, f) in [(first, f1), (second, f2)] {
            values[m.index] = f.and_then(|score| match score {
                Score::Cp(cp) => Some(cp),
                Score::Mate { .. } => None,
            });
        }
        let (by, reason, needs_search) = match (f1, f2) {
            _ if moves[0] == moves[1] => (first, Reason::Adviser, Vec::new()),
            (Some(f1), Some(f2)) if better(f1, f2) => (first, Reason::Chooser, Vec::new()),
            (Some(f1), Some(f2)) if better(f2, f1) => (second, Reason::Chooser, Vec::new()),
            (Some(_), Some(_)) => (second, Reason::Adviser, Vec::new()),
            // the chooser's list holds its best moves: the one that is missing is no better
            (Some(_), None) => (first, Reason::Chooser, Vec::new()),
            (None, Some(_)) => (second, Reason::Chooser, Vec::new()),
            (None, None) => (second, Reason::Adviser, moves.to_vec()),
        };
        self.decision(by.vote.best, Some(by.index), values, reason, None, needs_search)
    }

    fn decision(
        &self,
        chosen: Move,
        carried_by: Option<usize>,
        values: Vec<Option<f64>>,
        reason: Reason,
        tie: Option<TieBroken>,
        needs_search: Vec<Move>,
    ) -> Decision {
        Decision {
            rule: self.rule,
            chosen,
            carried_by,
            agreeing: Vec::new(),
            values,
            win_rates: Vec::new(),
            candidates: Vec::new(),
            reason,
            tie,
            needs_search,
        }
    }

    fn mates(&self) -> bool {
        self.options.mates.unwrap_or(self.rule.mates_by_default())
    }

    /// The largest of the values, ties broken by the tie rule. `votes` is not empty and no value is NaN.
    fn largest(&self, votes: &[&Measured<'_>], values: &[f64], reason: Reason) -> Decision {
        let moves: Vec<Move> = votes.iter().map(|m| m.vote.best).collect();
        let (place, tie, needs_search) = self.first(&moves, values);
        let mut all = vec![None; self.voters.len()];
        for (m, &value) in votes.iter().zip(values) {
            all[m.index] = Some(value);
        }
        self.decision(moves[place], Some(votes[place].index), all, reason, tie, needs_search)
    }

    /// The place of the largest value, how a tie was broken, and what should be searched to break it better.
    fn first(&self, moves: &[Move], values: &[f64]) -> (usize, Option<TieBroken>, Vec<Move>) {
        let tied: Vec<Move> = tally::tied(moves, values).map(|i| moves[i]).collect();
        let leader = self.all.iter().find(|m| m.voter.role == Role::Leader).map(|m| m.vote.best);
        let by_leader = tally::Tie::Leader(leader);
        let place = |tie| tally::largest(moves, values, tie).unwrap_or(0);
        if tied.len() < 2 {
            return (place(by_leader), None, Vec::new());
        }
        match self.options.tie {
            TieRule::Draw => {
                let bits = tally::draw_bits(self.options.seed, self.options.draw_key);
                (place(tally::Tie::Draw(bits)), Some(TieBroken { by: TieRule::Draw, moves: tied }), Vec::new())
            }
            TieRule::Strongest => match self.best_by_strongest(&tied) {
                // the first that has it is the leader of this tie
                Some(m) => (
                    place(tally::Tie::Leader(Some(m))),
                    Some(TieBroken { by: TieRule::Strongest, moves: tied }),
                    Vec::new(),
                ),
                None => (place(by_leader), Some(TieBroken { by: TieRule::Leader, moves: tied.clone() }), tied),
            },
            TieRule::Leader => (place(by_leader), Some(TieBroken { by: TieRule::Leader, moves: tied }), Vec::new()),
        }
    }

    /// Of these moves the best by the evaluation of the strongest voter (Sato 2013, eq. 2.35).
    fn best_by_strongest(&self, moves: &[Move]) -> Option<Move> {
        let rated = self.all.iter().filter_map(|m| Some((m, m.voter.strength?)));
        let strongest = rated.reduce(|a, b| if b.1 > a.1 { b } else { a }).map(|(m, _)| m);
        best_of(moves, strongest, self.options.searched)
    }
}

/// The weight of a leader (Sato 2013, section 2.1).
pub const LEADER_WEIGHT: f64 = 1.5;

/// Of these moves the one that a voter scores highest, by moves searched on request or by its list; the first of equals.
///
/// A list holds the voter's best moves, so one that is missing from it is no better than those in it: one of the
/// moves in the list is enough to tell. `None` where none of them is.
fn best_of(moves: &[Move], voter: Option<&Measured<'_>>, searched: &[(Move, Score)]) -> Option<Move> {
    let scored = moves.iter().filter_map(|&m| Some((m, score_of(m, voter, searched)?)));
    scored.reduce(|a, b| if better(b.1, a.1) { b } else { a }).map(|(m, _)| m)
}
