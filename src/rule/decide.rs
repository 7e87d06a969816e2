//! One decision: what each vote is worth by the rule, which is largest, and how ties and mates go.

use super::decision::{Decision, Reason, TieBroken};
use super::kind::{Rule, TieRule};
use super::vote::{Bound, Move, Role, Vote, Voter, better};
use super::{likelihood, pool, tally};
use crate::calibration::{Calibration, Score};

/// What a decision takes beside rule, voters and votes.
#[derive(Debug, Clone, Copy)]
pub struct Options<'a> {
    /// How ties are broken.
    pub tie: TieRule,
    /// Whether announced mates stand above the rule; `None`: [`Rule::mates_by_default`].
    pub mates: Option<bool>,
    /// d: how much better the best move is than the others, in logits, above 0. For [`Rule::Optimal`], and for moves that
    /// are missing from a list in the pools.
    pub gap: f64,
    /// s: the noise of a voter that has none of its own, in logits, above 0.
    pub noise: f64,
    /// A: the logit of the best move for [`Rule::Optimal`], where it is known; `None`: estimated from the votes.
    pub best: Option<f64>,
    /// How many standard errors [`Rule::CorrectedOptimistic`] takes off a logit, 0 or more.
    pub caution: f64,
    /// Seed of drawn ties.
    pub seed: u64,
    /// What makes this position's draw its own; see [`tally::draw_key`](super::tally::draw_key).
    pub draw_key: u64,
    /// Moves searched on request: by the strongest voter for a tie, by the chooser for 3-Hirn.
    /// See [`Decision::needs_search`].
    pub searched: &'a [(Move, Score)],
}

impl Default for Options<'_> {
    /// Ties to the leader; d = 0.3 and s = 2 d (the figure of LFICS 2016-12 with equal voters).
    fn default() -> Self {
        Self {
            tie: TieRule::Leader,
            mates: None,
            gap: 0.3,
            noise: 0.6,
            best: None,
            caution: 1.0,
            seed: 0,
            draw_key: 0,
            searched: &[],
        }
    }
}

/// Why a rule cannot decide, or could never decide with these voters.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RuleError {
    /// All abstained.
    #[error("nobody voted; play a move of your own, or ask the voters again")]
    NobodyVoted,
    /// The slices do not fit.
    #[error("{votes} votes for {voters} voters; give one a voter, None for whoever abstains")]
    Lengths {
        /// Voters given.
        voters: usize,
        /// Votes given.
        votes: usize,
    },
    /// A number is out of its range.
    #[error("{what} is {value}; give {range}")]
    Range {
        /// Which number.
        what: String,
        /// Its value.
        value: f64,
        /// What it may be.
        range: &'static str,
    },
    /// A rule needs what no voter, or a named one, has.
    #[error("rule {rule}: {problem}; {remedy}")]
    Needs {
        /// The rule.
        rule: Rule,
        /// What is missing.
        problem: String,
        /// What to do about it.
        remedy: &'static str,
    },
}

/// Checks once, before the first decision, that the rule can work with these voters.
///
/// # Errors
/// A weight, noise or option out of range; two leaders; no win rates for a rule that compares them; no standardisation, no
/// rating, no chooser where the rule or the tie rule needs one.
pub fn check(rule: Rule, voters: &[Voter<'_>], options: &Options<'_>) -> Result<(), RuleError> {
    let range = |what: String, value: f64, good: bool, range| {
        if good { Ok(()) } else { Err(RuleError::Range { what, value, range }) }
    };
    for voter in voters {
        let of = |what| format!("the {what} of {}", voter.name);
        if let Some(w) = voter.weight {
            range(of("weight"), w, w >= 0.0 && w.is_finite(), "a number from 0")?;
        }
        if let Some(s) = voter.noise {
            range(of("noise"), s, s > 0.0 && s.is_finite(), "a number above 0, in logits")?;
        }
        if let Some(r) = voter.strength {
            range(of("strength"), r, r.is_finite(), "a rating in Elo points")?;
        }
    }
    let Options { gap, noise, caution, .. } = *options;
    range("the gap d".into(), gap, gap > 0.0 && gap.is_finite(), "a number above 0, in logits")?;
    range("the noise s".into(), noise, noise > 0.0 && noise.is_finite(), "a number above 0, in logits")?;
    range("the caution".into(), caution, caution >= 0.0 && caution.is_finite(), "a number from 0")?;

    let needs = |problem: &str, remedy| Err(RuleError::Needs { rule, problem: problem.to_owned(), remedy });
    let count = |role| voters.iter().filter(|v| v.role == role).count();
    if count(Role::Leader) > 1 {
        return needs("two voters are the leader", "make one of them a member");
    }
    if rule == Rule::ThreeHirn && (count(Role::Chooser) != 1 || voters.len() < 3) {
        return needs("it takes one chooser and two advisers", "give one voter the role chooser");
    }
    if rule == Rule::StandardizedOptimistic
        && !voters.iter().any(|v| v.calibration.is_some_and(|c| c.standardization.is_some()))
    {
        return needs("no voter has a calibration with mean and sd", "calibrate the engines, or take another rule");
    }
    let rated = voters.iter().any(|v| v.strength.is_some());
    if matches!(rule, Rule::Strongest | Rule::StrengthPool) && !rated {
        return needs("no voter has a rating", "give the voters their strength in Elo points");
    }
    if options.tie == TieRule::Strongest && !rated {
        return needs(
            "no voter has a rating for the tie rule strongest",
            "give the voters their strength, or take leader",
        );
    }
    Ok(())
}

/// What is known of one vote.
pub(super) struct Measured<'a> {
    /// The voter's place.
    pub index: usize,
    pub voter: &'a Voter<'a>,
    pub vote: &'a Vote<'a>,
    /// With sentinel scores read as mates, by the voter's calibration.
    pub score: Option<Score>,
    /// In 0..=1.
    pub win_rate: Option<f64>,
}

impl<'a> Measured<'a> {
    fn new(index: usize, voter: &'a Voter<'a>, vote: &'a Vote<'a>) -> Self {
        let score = vote.score.map(|s| classified(voter.calibration, s));
        let win_rate = vote.win_rate.or_else(|| Some(voter.calibration?.win_rate(score?))).filter(|p| !p.is_nan());
        Self { index, voter, vote, score, win_rate }
    }

    /// The score in centipawns; a mate is infinite.
    fn raw(&self) -> Option<f64> {
        match self.score? {
            Score::Cp(cp) => Some(cp),
            Score::Mate { wins, .. } => Some(if wins { f64::INFINITY } else { f64::NEG_INFINITY }),
        }
    }

    fn standardized(&self) -> Option<f64> {
        self.vote.standardized.or_else(|| {
            let standard = self.voter.calibration?.standardization?;
            Some((self.raw()? - standard.mean) / standard.sd)
        })
    }

    /// The log odds of the win rate, within the limits of [`pool::logit`].
    pub fn logit(&self) -> Option<f64> {
        self.win_rate.map(pool::logit)
    }

    /// s of the voter.
    pub fn noise(&self, options: &Options<'_>) -> f64 {
        self.voter.noise.unwrap_or(options.noise)
    }

    /// An announced mate that the vote proves: a lower bound proves a win, an upper bound a loss.
    fn proven(&self) -> Option<(bool, Score)> {
        match (self.score?, self.vote.bound) {
            (Score::Mate { wins: true, .. }, Some(Bound::Upper)) => None,
            (Score::Mate { wins: false, .. }, Some(Bound::Lower)) => None,
            (score @ Score::Mate { wins, .. }, _) => Some((wins, score)),
            _ => None,
        }
    }
}

/// A score with the engine's sentinel numbers read as mates.
pub(super) fn classified(calibration: Option<&Calibration>, score: Score) -> Score {
    match (score, calibration) {
        (Score::Cp(cp), Some(calibration)) => calibration.classify(cp),
        _ => score,
    }
}

/// Decides the votes of one position by a rule.
///
/// `votes` holds one vote a voter, in the same order; `None` abstains. Call [`check`] once before the first decision.
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
        let mates = self.options.mates.unwrap_or(self.rule.mates_by_default());
        let all: Vec<&Measured<'_>> = self.all.iter().collect();
        if !mates {
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
            Rule::CorrectedOptimistic => each(&|m| Some(m.logit()? - self.options.caution * m.noise(self.options))),
            Rule::Optimal => self.optimal(votes),
            Rule::MeanWinRate | Rule::LogPool | Rule::StrengthPool => self.supported(votes, Reason::NoValues, |_| 1.0),
            Rule::Strongest => each(&|m| m.voter.strength),
            Rule::ThreeHirn => self.supported(votes, Reason::NoValues, |_| 1.0),
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

    /// The largest of the values, ties broken by the tie rule. `votes` is not empty and no value is NaN.
    fn largest(&self, votes: &[&Measured<'_>], values: &[f64], reason: Reason) -> Decision {
        let moves: Vec<Move> = votes.iter().map(|m| m.vote.best).collect();
        let (place, tie, needs_search) = self.first(&moves, values);
        let mut all = vec![None; self.voters.len()];
        for (m, &value) in votes.iter().zip(values) {
            all[m.index] = Some(value);
        }
        Decision {
            rule: self.rule,
            chosen: moves[place],
            carried_by: Some(votes[place].index),
            agreeing: Vec::new(),
            values: all,
            win_rates: Vec::new(),
            candidates: Vec::new(),
            reason,
            tie,
            needs_search,
        }
    }

    /// The place of the largest value, how a tie was broken, and what should be searched to break it better.
    fn first(&self, moves: &[Move], values: &[f64]) -> (usize, Option<TieBroken>, Vec<Move>) {
        let tied: Vec<Move> = tally::tied(moves, values).map(|i| moves[i]).collect();
        let leader = self.all.iter().find(|m| m.voter.role == Role::Leader).map(|m| m.vote.best);
        let by_leader = tally::Tie::Leader(leader);
        let place = |tie| tally::largest(moves, values, tie).map_or(0, |top| top.voter);
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
    let calibration = voter.and_then(|m| m.voter.calibration);
    let own = voter.and_then(|m| m.score.map(|score| (m.vote.best, score)));
    let list = voter.map_or(&[][..], |m| m.vote.list);
    let known = |m: Move| {
        let found = searched.iter().chain(list).chain(own.iter()).find(|(other, _)| *other == m);
        found.map(|&(_, score)| classified(calibration, score))
    };
    let scored = moves.iter().filter_map(|&m| Some((m, known(m)?)));
    scored.reduce(|a, b| if better(b.1, a.1) { b } else { a }).map(|(m, _)| m)
}
