//! What defines a rule: the trait that every file in `rules` implements, and the votes that it works on.

use std::cmp::{Ordering, Reverse};

use evalcurve_calibration::Score;

use super::decision::{Decision, Reason, TieBroken};
use super::measured::{Measured, score_of};
use super::options::{Options, Stakes, TieRule};
use super::vote::{Move, Role, Vote, Voter, better};
use super::win_rate::logit;
use super::{likelihood, tally};

/// A rule of the list. To add one, write a file in `rules` that implements this trait, and add its line to the list in
/// `rules/mod.rs`; a rule of your own program implements [`DecisionRule`].
///
/// Most rules define [`Self::values`]: one value per vote, the largest of which wins. A council calls it with the votes
/// of one position; a simulation calls the same function for many positions. A rule that looks at more than one number
/// per vote overrides [`Self::decide`] instead and sets `lists`, `chooser` or `deeper` in [`Self::NEEDS`], so that
/// simulations refuse it.
pub trait Definition: Sized {
    /// The name in configurations, options and vote logs.
    const NAME: &'static str;
    /// Which move wins, as the end of "adopts …".
    const SUMMARY: &'static str;
    /// The value of voter i's vote. `docs/rules.md` explains the symbols.
    const FORMULA: &'static str;
    /// Where the rule comes from.
    const SOURCE: &'static str;
    /// What the rule needs beyond moves. A vote that lacks it takes no part.
    const NEEDS: Needs;
    /// Whether announced mates outrank the rule by default: true for rules that look for the best score, false for
    /// those that count votes, trust one voter, or look for the smallest score.
    const MATES: bool;
    /// Whether the rule only compares win rates with each other. A simulation then passes logits in their place, which
    /// have the same order and need no exponential function.
    const WIN_RATE_ORDER_ONLY: bool = false;
    /// What the rule adds up for a move, by each voter with its weight, if weights can be learned for it: from
    /// these sums.
    const ADDS_UP: Option<fn(&Judge, Move) -> f64> = None;

    /// The weight of a vote, from the weight that the voter was given and its role.
    #[inline(always)]
    fn weight(given: Option<f64>, role: Role) -> f64 {
        let _ = (given, role);
        1.0
    }

    /// Writes the value of each vote; NaN for a vote that has none.
    ///
    /// Simulations call this in their innermost loop: no allocation, and no branch that depends on the votes.
    #[inline(always)]
    fn values(votes: &Columns<'_>, values: &mut [f64]) {
        let _ = votes;
        values.fill(f64::NAN);
    }

    /// Decides the votes of one position. By default the vote with the largest of [`Self::values`] wins, or the
    /// majority if no vote has a value.
    fn decide(ballot: &Ballot<'_>) -> Decision {
        ballot.by_value::<Self>(Reason::LargestValue)
    }

    /// Whether the outstanding votes can no longer change the decision, so that a council may stop early.
    fn is_settled(pending: &Pending<'_>) -> bool {
        let _ = pending;
        false
    }
}

/// What [`decide`](super::decide()) decides by: a [`Rule`](super::Rule) of the list, a type of your own, or a closure
/// by [`by_value`].
///
/// ```
/// use evalcurve_calibration::Score;
/// use evalcurve_rules::{Columns, DecisionRule, Move, Needs, Options, Vote, Voter, decide};
///
/// /// The move with the second largest score.
/// struct Modest;
///
/// impl DecisionRule for Modest {
///     fn name(&self) -> &'static str {
///         "modest"
///     }
///
///     fn needs(&self) -> Needs {
///         Needs { scores: true, ..Needs::NOTHING }
///     }
///
///     fn values(&self, votes: &Columns<'_>, values: &mut [f64]) {
///         let best = votes.scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
///         let modest = |&score: &f64| if score < best { score } else { f64::MIN };
///         values.iter_mut().zip(votes.scores).for_each(|(value, score)| *value = modest(score));
///     }
/// }
///
/// let voters = ["A", "B", "C"].map(Voter::member);
/// let votes = [(1, 90.0), (2, 20.0), (3, 60.0)].map(|(best, cp)| Some(Vote::new(Move(best), Score::Cp(cp))));
/// assert_eq!(decide(&Modest, &voters, &votes, &Options::default())?.chosen, Move(3));
/// # Ok::<(), evalcurve_rules::RuleError>(())
/// ```
pub trait DecisionRule {
    /// The name in explanations and errors.
    fn name(&self) -> &'static str;

    /// Writes the value of each vote, the largest of which wins; NaN for a vote that has none.
    fn values(&self, votes: &Columns<'_>, values: &mut [f64]);

    /// What the rule needs beyond moves. A vote that lacks it takes no part, and other columns are empty.
    fn needs(&self) -> Needs {
        Needs::NOTHING
    }

    /// Whether announced mates outrank the rule, unless [`Options::mates`](super::Options) says it.
    fn mates(&self) -> bool {
        true
    }

    /// The weight of a vote, from the weight that the voter was given and its role.
    fn weight(&self, given: Option<f64>, role: Role) -> f64 {
        let _ = role;
        given.unwrap_or(1.0)
    }

    /// Decides the votes of one position. A rule that looks at more than [`Columns`] has, such as lists, overrides
    /// this.
    fn decide(&self, ballot: &Ballot<'_>) -> Decision {
        ballot.decide_by_value(self)
    }
}

/// A closure as a rule: it writes the value of each vote, the largest of which wins.
///
/// ```
/// use evalcurve_calibration::Score;
/// use evalcurve_rules::{Move, Needs, Options, Vote, Voter, by_value, decide};
///
/// let needs = Needs { scores: true, ..Needs::NOTHING };
/// let lowest = by_value("lowest", needs, |votes, values| {
///     values.iter_mut().zip(votes.scores).for_each(|(value, score)| *value = -score);
/// });
/// let votes = [(1, 80.0), (2, 30.0)].map(|(best, cp)| Some(Vote::new(Move(best), Score::Cp(cp))));
/// assert_eq!(decide(&lowest, &["A", "B"].map(Voter::member), &votes, &Options::default())?.chosen, Move(2));
/// # Ok::<(), evalcurve_rules::RuleError>(())
/// ```
pub fn by_value<F: Fn(&Columns<'_>, &mut [f64])>(name: &'static str, needs: Needs, values: F) -> impl DecisionRule {
    struct ByValue<F>(&'static str, Needs, F);
    impl<F: Fn(&Columns<'_>, &mut [f64])> DecisionRule for ByValue<F> {
        fn name(&self) -> &'static str {
            self.0
        }

        fn values(&self, votes: &Columns<'_>, values: &mut [f64]) {
            (self.2)(votes, values);
        }

        fn needs(&self) -> Needs {
            self.1
        }
    }
    ByValue(name, needs, values)
}

/// What a rule needs beyond the moves voted for. Each of the first eight is a column of [`Columns`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Needs {
    pub scores: bool,
    /// Standardised scores.
    pub standardized: bool,
    /// Calibrated win rates.
    pub win_rates: bool,
    /// Logits of win rates.
    pub logits: bool,
    /// Standard errors of logits.
    pub standard_errors: bool,
    /// Log likelihood ratios. They depend on the logits, the noise and the gap.
    pub log_ratios: bool,
    pub ratings: bool,
    /// What every voter thinks of every move that was voted for: a second round of searches.
    pub judged: bool,
    /// The voters' lists of moves (MultiPV).
    pub lists: bool,
    /// One voter with the role of chooser, and two advisers.
    pub chooser: bool,
    /// A further search of the position by one voter.
    pub deeper: bool,
}

impl Needs {
    /// Nothing but moves.
    pub const NOTHING: Self = Self {
        scores: false,
        standardized: false,
        win_rates: false,
        logits: false,
        standard_errors: false,
        log_ratios: false,
        ratings: false,
        judged: false,
        lists: false,
        chooser: false,
        deeper: false,
    };

    /// Whether a vote has the numbers that the rule needs.
    fn met_by(self, vote: &Measured<'_>) -> bool {
        (!self.scores || vote.score.is_some())
            && (!self.standardized || vote.standardized().is_some())
            && (!self.any_win_rate() || vote.win_rate.is_some())
            && (!self.ratings || vote.voter.strength.is_some())
    }

    /// Whether one move and its value per voter are enough, so that the rule can be simulated.
    pub const fn can_be_simulated(self) -> bool {
        !self.lists && !self.chooser && !self.deeper
    }

    /// Whether win rates are needed in any form, so that voters need calibrations.
    pub(crate) const fn any_win_rate(self) -> bool {
        self.win_rates || self.logits || self.standard_errors || self.log_ratios || self.judged
    }
}

/// The votes of one position as columns with one entry per vote, in the order of the voters. Voters that abstain are
/// left out, and a column that the rule does not need is empty.
#[derive(Debug, Clone, Copy)]
pub struct Columns<'a> {
    /// The moves voted for.
    pub moves: &'a [Move],
    /// The weights that [`Definition::weight`] gives.
    pub weights: &'a [f64],
    /// Scores in centipawns; a mate is infinite.
    pub scores: &'a [f64],
    /// Scores in standard deviations from the voter's mean.
    pub standardized: &'a [f64],
    /// Win rates in 0..=1.
    pub win_rates: &'a [f64],
    /// Logits of the win rates.
    pub logits: &'a [f64],
    /// Standard errors of the logits: noise of the voter and error of its calibration.
    pub standard_errors: &'a [f64],
    /// Log likelihood ratio of each vote if its move is the best; see
    /// [`log_ratio`](super::likelihood::log_ratio).
    pub log_ratios: &'a [f64],
    pub ratings: &'a [f64],
    /// Mean logit of the move of each vote over all voters.
    pub judged: &'a [f64],
    /// How many standard errors to subtract, from [`Options::caution`](super::Options).
    pub caution: f64,
}

/// A decision that some voters have not yet voted on.
#[derive(Debug, Clone, Copy)]
pub struct Pending<'a> {
    pub voters: &'a [Voter<'a>],
    /// The votes so far, one per voter.
    pub votes: &'a [Option<Move>],
    /// The voters that may still vote.
    pub outstanding: &'a [usize],
    /// The move that the votes so far choose.
    pub chosen: Move,
    /// The voter that carries it.
    pub carried_by: Option<usize>,
    /// The number of the move from the start of the game, for weights by phase.
    pub ply: Option<u32>,
}

impl Pending<'_> {
    /// Whether the weight of the chosen move exceeds that of any other move and all outstanding votes together.
    pub(crate) fn has_unbeatable_support(&self, weight: impl Fn(Option<f64>, Role) -> f64) -> bool {
        let of = |i: usize| self.voters.get(i).map(|v| v.at(self.ply)).map_or(0.0, |v| weight(v.weight, v.role));
        let support = |m: Move| -> f64 { (0..self.votes.len()).filter(|&i| self.votes[i] == Some(m)).map(of).sum() };
        let others = self.votes.iter().flatten().filter(|&&m| m != self.chosen);
        let second = others.map(|&m| support(m)).fold(0.0, f64::max);
        let to_come: f64 = self.outstanding.iter().map(|&i| of(i)).sum();
        support(self.chosen) > second + to_come
    }
}

/// A function over the type of a rule, for [`Rule::visit`](super::Rule::visit).
pub trait Visitor {
    /// What the function returns.
    type Output;

    /// Calls the function for the rule `R`.
    fn visit<R: Definition>(self) -> Self::Output;
}

/// What one voter thinks of the moves that it has scored.
pub struct Judge {
    weight: f64,
    /// The move that it voted for.
    best: Move,
    /// The logits of its vote and its list.
    listed: Vec<(Move, f64)>,
    /// The logits of the second round, of its vote and its list.
    scored: Vec<(Move, f64)>,
    /// The logit of a move that it has not scored, and for which it voted for a better one: `gap` below the lowest of
    /// its vote and its list, as in a pool.
    other: f64,
}

impl Judge {
    pub(super) fn new(m: &Measured<'_>, weight: f64, gap: f64) -> Self {
        let listed = m.logits();
        Self {
            weight,
            best: m.vote.best,
            scored: m.all_win_rates().into_iter().map(|(m, p)| (m, logit(p))).filter(|(_, l)| !l.is_nan()).collect(),
            other: listed.iter().map(|(_, logit)| *logit).fold(f64::INFINITY, f64::min) - gap,
            listed,
        }
    }

    fn of_rule<R: Definition>(m: &Measured<'_>, gap: f64) -> Self {
        Self::new(m, R::weight(m.voter.weight, m.voter.role), gap)
    }

    fn logit(&self, m: Move) -> Option<f64> {
        self.scored.iter().find(|(other, _)| *other == m).map(|(_, logit)| *logit)
    }

    /// 1 for the move that it voted for, 0 for others.
    pub(super) fn vote(&self, m: Move) -> f64 {
        f64::from(u8::from(self.best == m))
    }

    /// The logit of a move of its list, or that of moves that are not in it.
    pub(super) fn listed(&self, m: Move) -> f64 {
        self.listed.iter().find(|(other, _)| *other == m).map_or(self.other, |(_, logit)| *logit)
    }

    /// The logit that counts for a move, scored or not.
    pub(super) fn of(&self, m: Move) -> f64 {
        self.logit(m).unwrap_or(self.other)
    }

    /// The mean logit of a move over all voters, with their weights.
    fn mean(judges: &[Self], m: Move) -> Option<f64> {
        let (sum, total) = judges
            .iter()
            .fold((0.0, 0.0), |(sum, total), judge| (sum + judge.weight * judge.of(m), total + judge.weight));
        (total > 0.0).then(|| sum / total)
    }
}

/// Whether these moves need no second round: fewer than two, or each scored by every voter that has a weight.
fn is_judged(judges: &[Judge], moves: &[Move]) -> bool {
    let known = |m: &Move| judges.iter().all(|judge| judge.weight == 0.0 || judge.logit(*m).is_some());
    moves.len() < 2 || moves.iter().all(known)
}

/// The votes of one position, ready for a rule.
pub struct Ballot<'a> {
    pub(super) rule: &'static str,
    /// Announced mates outrank the rule.
    pub(super) mates: bool,
    pub(super) voters: &'a [Voter<'a>],
    pub(super) options: &'a Options<'a>,
    /// All votes, in the order of the voters.
    pub(super) all: &'a [Measured<'a>],
    /// The votes that the rule chooses from, at least one: with mates on, those that announce no mate.
    pub(super) votes: Vec<&'a Measured<'a>>,
}

impl Ballot<'_> {
    /// The decision of a rule, after the mates that outrank it.
    pub(super) fn decided_by(mut self, rule: &dyn DecisionRule) -> Decision {
        if self.mates {
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
        rule.decide(&self)
    }

    /// The votes that the rule chooses from, at least one, with the place of each voter. Votes that announce a mate are
    /// not among them where mates outrank the rule.
    pub fn votes(&self) -> impl Iterator<Item = (usize, &Voter<'_>, &Vote<'_>)> {
        self.votes.iter().map(|m| (m.index, m.voter, m.vote))
    }

    /// The decision for the vote of the voter at this place; by majority if there is no such vote.
    pub fn adopt(&self, voter: usize) -> Decision {
        let vote = self.votes.iter().find(|m| m.index == voter);
        vote.map_or_else(|| self.by_majority(), |m| self.decision(m.vote.best, Some(voter), Reason::LargestValue))
    }

    /// The decision for the vote with the largest of [`DecisionRule::values`]; by majority if no vote has a value.
    pub fn decide_by_value(&self, rule: &(impl DecisionRule + ?Sized)) -> Decision {
        let values = |votes: &Columns<'_>, values: &mut [f64]| rule.values(votes, values);
        self.valued(rule.needs(), &|given, role| rule.weight(given, role), &values, Reason::LargestValue)
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
        self.valued(R::NEEDS, &R::weight, &R::values, reason)
    }

    fn valued(
        &self,
        needs: Needs,
        weight: &dyn Fn(Option<f64>, Role) -> f64,
        values_of: &dyn Fn(&Columns<'_>, &mut [f64]),
        reason: Reason,
    ) -> Decision {
        let Options { gap, caution, best, .. } = *self.options;
        let votes: Vec<&Measured<'_>> = self.votes.iter().copied().filter(|m| needs.met_by(m)).collect();
        let column = |needed: bool, number: &dyn Fn(&Measured<'_>) -> Option<f64>| -> Vec<f64> {
            votes.iter().filter(|_| needed).map(|m| number(m).unwrap_or(f64::NAN)).collect()
        };
        let Needs { scores, standardized, win_rates, logits, standard_errors, log_ratios, ratings, judged, .. } = needs;
        let weight = |m: &Measured<'_>| weight(m.voter.weight, m.voter.role);
        let moves: Vec<Move> = votes.iter().map(|m| m.vote.best).collect();
        let logits = column(logits || log_ratios, &|m| m.logit());
        let best = best.unwrap_or_else(|| likelihood::estimated_best(&moves, &logits, gap));
        let log_ratio = |m: &Measured<'_>| Some(likelihood::log_ratio(m.logit()?, best, gap, m.noise(self.options)));
        let judges: Vec<Judge> = votes.iter().filter(|_| judged).map(|m| Judge::new(m, weight(m), gap)).collect();
        let columns = Columns {
            moves: &moves,
            weights: &column(true, &|m| Some(weight(m))),
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
        values_of(&columns, &mut values);
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
        let votes: Vec<&Measured<'_>> = self.votes.iter().copied().filter(|m| R::NEEDS.met_by(m)).collect();
        let judges: Vec<Judge> = votes.iter().map(|m| Judge::of_rule::<R>(m, self.options.gap)).collect();
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
        if is_judged(&judges, &moves) { Vec::new() } else { moves }
    }

    /// The decision of a budget: where votes agree or nothing is at stake, at once; else by the judged moves in
    /// question; and where these are close, by the longer search of the voter that counts most. A score that was not
    /// asked for does not count, so that a log with more of them decides the same.
    pub(super) fn staged<R: Definition>(&self) -> Decision {
        let Stakes { agreed, decided, close, doubt } = self.options.stakes;
        let votes: Vec<&Measured<'_>> = self.votes.iter().copied().filter(|m| R::NEEDS.met_by(m)).collect();
        let Some(expert) = self.expert::<R>() else { return self.by_majority() };
        let judges = || votes.iter().map(|m| Judge::of_rule::<R>(m, self.options.gap));
        // the judges before and after a second round
        let first: Vec<_> = judges().map(|judge| Judge { scored: judge.listed.clone(), ..judge }).collect();
        let second: Vec<_> = judges().collect();
        let rate = votes.iter().filter_map(|m| m.win_rate).sum::<f64>() / votes.len() as f64;
        let sure = rate.max(1.0 - rate);
        let mut moves: Vec<(Move, f64)> = Vec::new();
        for m in votes.iter().map(|m| m.vote.best) {
            if !moves.iter().any(|(known, _)| *known == m) {
                moves.push((m, Judge::mean(&first, m).unwrap_or(f64::NEG_INFINITY)));
            }
        }
        if moves.len() > 1 && sure >= decided {
            return self.by_majority();
        }
        // the means of moves with equally many votes are equal before a second round: their own voters tell them apart
        let highest = |m: Move| {
            let own = votes.iter().filter(|other| other.vote.best == m).filter_map(|other| other.logit());
            own.fold(f64::NEG_INFINITY, f64::max)
        };
        let top = moves.iter().map(|(m, _)| highest(*m)).fold(f64::NEG_INFINITY, f64::max);
        let mut asked: Vec<Move> = moves.iter().map(|(m, _)| *m).filter(|&m| top - highest(m) < close).collect();
        asked.sort_by(|&a, &b| highest(b).total_cmp(&highest(a)));
        asked.truncate(self.options.most_judged);
        let judged = is_judged(&second, &asked);
        if asked.len() > 1 && judged {
            moves = asked.iter().map(|&m| (m, Judge::mean(&second, m).unwrap_or(f64::NEG_INFINITY))).collect();
        }
        moves.sort_by(|a, b| b.1.total_cmp(&a.1));
        let of = |m: &Measured<'_>| moves.iter().find(|(known, _)| *known == m.vote.best).map(|(_, mean)| *mean);
        let (kept, values): (Vec<_>, Vec<_>) = votes.iter().filter_map(|&m| Some((m, of(m)?))).unzip();
        let decision = self.largest(&kept, &values, Reason::LargestValue);
        if !judged {
            return Decision { needs_search: asked, ..decision };
        }
        let open = moves.get(1).map_or(sure < agreed, |(_, next)| moves[0].1 - next < doubt);
        match expert.vote.deeper {
            _ if !open || doubt == 0.0 || votes.len() < 2 => decision,
            Some(deeper) => self.decision(deeper, Some(expert.index), Reason::SearchedOn),
            None => Decision { hand_over: Some(expert.index), ..decision },
        }
    }

    /// The voter with the largest weight that has what the rule compares; of equal ones the leader, then the strongest.
    fn expert<R: Definition>(&self) -> Option<&Measured<'_>> {
        let rank = |m: &Measured<'_>| {
            let Voter { weight, role, strength, .. } = *m.voter;
            [R::weight(weight, role), f64::from(u8::from(role == Role::Leader)), strength.unwrap_or(f64::NEG_INFINITY)]
        };
        let votes = self.votes.iter().copied().filter(|m| R::NEEDS.met_by(m));
        votes.reduce(|a, b| if rank(b).partial_cmp(&rank(a)) == Some(Ordering::Greater) { b } else { a })
    }

    /// The move of most voters, where no vote has what the rule compares.
    pub(super) fn by_majority(&self) -> Decision {
        let moves: Vec<Move> = self.votes.iter().map(|m| m.vote.best).collect();
        let mut support = vec![0.0; moves.len()];
        tally::support(&moves, &vec![1.0; moves.len()], &mut support);
        self.largest(&self.votes, &support, Reason::NoValues)
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
            hand_over: None,
        }
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
