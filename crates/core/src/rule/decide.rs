//! One decision: announced mates first, then the rule, then the tie rule.

use std::cmp::Reverse;

use super::decision::{Decision, Reason, TieBroken};
use super::definition::{Columns, Definition, Needs};
use super::measured::{Measured, score_of};
use super::options::{Options, RuleError, TieRule};
use super::rules::{Majority, Rule};
use super::vote::{Move, Role, Vote, Voter, better};
use super::win_rate::logit;
use super::{likelihood, tally};
use crate::calibration::Score;

/// Decides the votes of one position by a rule.
///
/// `votes` holds one vote per voter, in the same order; `None` is an abstention. Call [`check`](super::check) once
/// before the first decision.
///
/// # Errors
/// If every voter abstains, or if the slices differ in length.
pub fn decide(
    rule: Rule,
    voters: &[Voter<'_>],
    votes: &[Option<Vote<'_>>],
    options: &Options<'_>,
) -> Result<Decision, RuleError> {
    if voters.len() != votes.len() {
        return Err(RuleError::Lengths { voters: voters.len(), votes: votes.len() });
    }
    let all: Vec<Measured<'_>> = voters
        .iter()
        .zip(votes)
        .enumerate()
        .filter_map(|(i, (voter, vote))| vote.as_ref().map(|vote| Measured::new(i, voter, vote, options)))
        .collect();
    if all.is_empty() {
        return Err(RuleError::NoVotes);
    }
    let ballot = Ballot { rule, voters, options, all: &all, votes: all.iter().collect() };
    let mut decision = ballot.decide();
    for m in &all {
        decision.win_rates[m.index] = m.win_rate;
    }
    decision.agreeing = all.iter().filter(|m| m.vote.best == decision.chosen).map(|m| m.index).collect();
    Ok(decision)
}

/// What one voter thinks of the moves that it has scored.
struct Judge {
    weight: f64,
    /// The logits of the second round, of its vote and its list.
    scored: Vec<(Move, f64)>,
    /// The logit of a move that it has not scored, and for which it voted for a better one: `gap` below the lowest of
    /// its vote and its list, as in a pool.
    other: f64,
}

impl Judge {
    fn new<R: Definition>(m: &Measured<'_>, gap: f64) -> Self {
        Self {
            weight: R::weight(m.voter.weight, m.voter.role),
            scored: m.all_win_rates().into_iter().map(|(m, p)| (m, logit(p))).filter(|(_, l)| !l.is_nan()).collect(),
            other: m.logits().iter().map(|(_, logit)| *logit).fold(f64::INFINITY, f64::min) - gap,
        }
    }

    fn logit(&self, m: Move) -> Option<f64> {
        self.scored.iter().find(|(other, _)| *other == m).map(|(_, logit)| *logit)
    }

    /// The mean logit of a move over all voters, with their weights.
    fn mean(judges: &[Self], m: Move) -> Option<f64> {
        let (sum, total) = judges.iter().fold((0.0, 0.0), |(sum, total), judge| {
            (sum + judge.weight * judge.logit(m).unwrap_or(judge.other), total + judge.weight)
        });
        (total > 0.0).then(|| sum / total)
    }
}

/// The votes of one position, ready for a rule.
pub struct Ballot<'a> {
    pub(super) rule: Rule,
    pub(super) voters: &'a [Voter<'a>],
    pub(super) options: &'a Options<'a>,
    /// All votes, in the order of the voters.
    pub(super) all: &'a [Measured<'a>],
    /// The votes that the rule chooses from, at least one: with mates on, those that announce no mate.
    pub(super) votes: Vec<&'a Measured<'a>>,
}

impl Ballot<'_> {
    fn decide(mut self) -> Decision {
        if self.mates() {
            if let Some(decision) = self.best_mate(true) {
                return decision;
            }
            let open: Vec<_> = self.votes.iter().copied().filter(|m| m.proven().is_none()).collect();
            if !open.is_empty() {
                self.votes = open;
            } else if let Some(decision) = self.best_mate(false) {
                return decision;
            }
        }
        self.rule.decide(&self)
    }

    /// The best of the proven wins, or of the proven losses; the tie rule decides between equal ones.
    fn best_mate(&self, wins: bool) -> Option<Decision> {
        let mates = self.votes.iter().filter_map(|m| m.proven().filter(|p| p.0 == wins).map(|(_, score)| (*m, score)));
        let best = mates.clone().map(|(_, score)| score).reduce(|a, b| if better(b, a) { b } else { a })?;
        let top: Vec<&Measured<'_>> = mates.filter(|(_, score)| !better(best, *score)).map(|(m, _)| m).collect();
        let reason = if wins { Reason::ProvenWin } else { Reason::OnlyLosses };
        let decision = self.largest(&top, &vec![0.0; top.len()], reason);
        Some(Decision { values: vec![None; self.voters.len()], ..decision })
    }

    /// The vote with the largest of [`Definition::values`]; by majority if no vote has a value.
    pub(super) fn by_value<R: Definition>(&self, reason: Reason) -> Decision {
        let Options { gap, caution, best, .. } = *self.options;
        let votes: Vec<&Measured<'_>> = self.votes.iter().copied().filter(|m| m.has(R::NEEDS)).collect();
        let column = |needed: bool, number: &dyn Fn(&Measured<'_>) -> Option<f64>| -> Vec<f64> {
            votes.iter().filter(|_| needed).map(|m| number(m).unwrap_or(f64::NAN)).collect()
        };
        let Needs { scores, standardized, win_rates, logits, standard_errors, log_ratios, ratings, judged, .. } =
            R::NEEDS;
        let moves: Vec<Move> = votes.iter().map(|m| m.vote.best).collect();
        let logits = column(logits || log_ratios, &|m| m.logit());
        let best = best.unwrap_or_else(|| likelihood::estimated_best(&moves, &logits, gap));
        let log_ratio = |m: &Measured<'_>| Some(likelihood::log_ratio(m.logit()?, best, gap, m.noise(self.options)));
        let judges: Vec<Judge> = votes.iter().filter(|_| judged).map(|m| Judge::new::<R>(m, gap)).collect();
        let columns = Columns {
            moves: &moves,
            weights: &column(true, &|m| Some(R::weight(m.voter.weight, m.voter.role))),
            scores: &column(scores, &|m| m.raw()),
            standardized: &column(standardized, &|m| m.standardized()),
            win_rates: &column(win_rates, &|m| m.win_rate),
            logits: &logits,
            standard_errors: &column(standard_errors, &|m| Some(m.standard_error(self.options))),
            log_ratios: &column(log_ratios, &log_ratio),
            ratings: &column(ratings, &|m| m.voter.strength),
            judged: &column(judged, &|m| Judge::mean(&judges, m.vote.best)),
            caution,
        };
        let mut values = vec![f64::NAN; votes.len()];
        R::values(&columns, &mut values);
        let (votes, values): (Vec<_>, Vec<_>) = votes.into_iter().zip(values).filter(|(_, v)| !v.is_nan()).unzip();
        match votes.is_empty() {
            true => self.by_majority(),
            false => self.largest(&votes, &values, reason),
        }
    }

    /// The moves that are to be judged in a second round of searches: those that were voted for, if there are several
    /// and some voter has not judged one of them. The move with the highest mean comes first; of equal ones, that with
    /// the highest logit of any voter.
    pub(super) fn unjudged<R: Definition>(&self) -> Vec<Move> {
        let votes: Vec<&Measured<'_>> = self.votes.iter().copied().filter(|m| m.has(R::NEEDS)).collect();
        let judges: Vec<Judge> = votes.iter().map(|m| Judge::new::<R>(m, self.options.gap)).collect();
        let mut moves: Vec<Move> = Vec::new();
        for m in votes.iter().map(|m| m.vote.best) {
            if !moves.contains(&m) {
                moves.push(m);
            }
        }
        moves.sort_by_cached_key(|&m| {
            let mean = Judge::mean(&judges, m).unwrap_or(f64::NEG_INFINITY);
            let highest = judges.iter().filter_map(|judge| judge.logit(m)).fold(f64::NEG_INFINITY, f64::max);
            // before a second round, moves with equally many votes differ by rounding errors only
            Reverse([mean, highest].map(|logit| (logit * 1e9) as i64))
        });
        moves.truncate(self.options.most_judged);
        let known = |m: &Move| judges.iter().all(|judge| judge.logit(*m).is_some());
        if moves.len() < 2 || moves.iter().all(known) {
            return Vec::new();
        }
        moves
    }

    /// The move of most voters, where no vote has what the rule compares.
    pub(super) fn by_majority(&self) -> Decision {
        self.by_value::<Majority>(Reason::NoValues)
    }

    /// A decision without values and ties.
    pub(super) fn decision(&self, chosen: Move, carried_by: Option<usize>, reason: Reason) -> Decision {
        let none = vec![None; self.voters.len()];
        Decision {
            rule: self.rule,
            chosen,
            carried_by,
            agreeing: Vec::new(),
            values: none.clone(),
            win_rates: none,
            candidates: Vec::new(),
            reason,
            tie: None,
            needs_search: Vec::new(),
        }
    }

    /// Whether announced mates outrank the rule.
    pub(super) fn mates(&self) -> bool {
        self.options.mates.unwrap_or(self.rule.mates_by_default())
    }

    /// The vote with the largest value, by the tie rule if there are several. `votes` is not empty and no value is NaN.
    fn largest(&self, votes: &[&Measured<'_>], values: &[f64], reason: Reason) -> Decision {
        let moves: Vec<Move> = votes.iter().map(|m| m.vote.best).collect();
        let (place, tie, needs_search) = self.first(&moves, values);
        let mut decision = self.decision(moves[place], Some(votes[place].index), reason);
        for (m, &value) in votes.iter().zip(values) {
            decision.values[m.index] = Some(value);
        }
        Decision { tie, needs_search, ..decision }
    }

    /// The place of the largest value, how a tie was broken, and the moves to search in order to break it better.
    pub(super) fn first(&self, moves: &[Move], values: &[f64]) -> (usize, Option<TieBroken>, Vec<Move>) {
        let tied: Vec<Move> = tally::tied(moves, values).map(|i| moves[i]).collect();
        let place = |tie| tally::largest(moves, values, tie).unwrap_or(0);
        let leader = self.all.iter().find(|m| m.voter.role == Role::Leader).map(|m| m.vote.best);
        let by_leader = tally::Tie::Leader(leader);
        if tied.len() < 2 {
            return (place(by_leader), None, Vec::new());
        }
        let (by, tie, needs_search) = match self.options.tie {
            TieRule::Leader => (TieRule::Leader, by_leader, Vec::new()),
            TieRule::Draw => {
                let bits = tally::draw_bits(self.options.seed, self.options.draw_key);
                (TieRule::Draw, tally::Tie::Draw(bits), Vec::new())
            }
            TieRule::Strongest => match self.best_by_strongest(&tied) {
                Some(m) => (TieRule::Strongest, tally::Tie::Leader(Some(m)), Vec::new()),
                None => (TieRule::Leader, by_leader, tied.clone()),
            },
        };
        (place(tie), Some(TieBroken { by, moves: tied }), needs_search)
    }

    /// The move that the strongest voter scores highest (Sato 2013, eq. 2.35), the first of equals.
    ///
    /// The score comes from the moves searched on request or from the voter's list. A list holds the voter's best
    /// moves, so a move that is missing from it is no better than those in it. `None` if no move has a score.
    fn best_by_strongest(&self, moves: &[Move]) -> Option<Move> {
        let rated = self.all.iter().filter_map(|m| Some((m, m.voter.strength?)));
        let strongest = rated.reduce(|a, b| if b.1 > a.1 { b } else { a }).map(|(m, _)| m);
        let score = |m| score_of(m, strongest, self.options.searched);
        let scored = moves.iter().filter_map(|&m| Some((m, score(m)?)));
        scored.reduce(|a: (Move, Score), b| if better(b.1, a.1) { b } else { a }).map(|(m, _)| m)
    }
}
