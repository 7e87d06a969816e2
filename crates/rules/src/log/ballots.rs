//! The votes of a log line in the form that rules take.

use std::collections::HashMap;

use evalcurve_calibration::Score;

use super::{Header, LoggedLine, LoggedMove, LoggedVote, LoggedVoter, plies_before};
use crate::definition::Judge;
use crate::measured::Measured;
use crate::tally::draw_key;
use crate::{Decision, DecisionRule, Move, Options, Rule, RuleError, Vote, decide};

/// Up to this number of items a scan is faster than a map; beyond it a map keeps the time linear.
const FEW: usize = 32;

/// Returns a function that finds the vote of a voter by name.
pub(crate) fn vote_finder<'a>(votes: &'a [LoggedVote]) -> impl Fn(&str) -> Option<&'a LoggedVote> {
    // of several votes of one voter, the first one counts
    let map: Option<HashMap<&str, &LoggedVote>> =
        (votes.len() > FEW).then(|| votes.iter().rev().map(|v| (v.voter.as_str(), v)).collect());
    move |name| match &map {
        Some(map) => map.get(name).copied(),
        None => votes.iter().find(|v| v.voter == name),
    }
}

/// The moves of one line, numbered in order of first occurrence.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MoveNames<'a> {
    names: Vec<&'a str>,
    /// The numbers of the moves, once there are many.
    numbers: HashMap<&'a str, u32>,
}

impl<'a> MoveNames<'a> {
    /// The number of a move; equal texts have equal numbers.
    pub fn number(&mut self, text: &'a str) -> Move {
        let known = match self.names.len() > FEW {
            true => self.numbers.get(text).copied(),
            false => self.names.iter().position(|&known| known == text).map(|place| place as u32),
        };
        Move(known.unwrap_or_else(|| {
            let number = self.names.len() as u32;
            self.names.push(text);
            if self.names.len() > FEW {
                let from = self.numbers.len();
                self.numbers.extend(self.names[from..].iter().copied().zip(from as u32..));
            }
            number
        }))
    }

    /// The text of a move; empty for an unknown number.
    pub fn name(&self, m: Move) -> &'a str {
        self.names.get(m.0 as usize).copied().unwrap_or_default()
    }
}

/// The votes of a log line in the form that rules take.
#[derive(Debug, Clone, Default)]
pub struct Ballots<'a> {
    pub names: MoveNames<'a>,
    lists: Vec<Vec<(Move, Score)>>,
    judged: Vec<Vec<(Move, Score)>>,
    votes: Vec<Option<(Move, &'a LoggedVote)>>,
    deeper: Vec<Option<Move>>,
    searched: Vec<(Move, Score)>,
    draw_key: u64,
    ply: u32,
    material: Option<u32>,
}

impl<'a> Ballots<'a> {
    /// The votes of a line in the order of the header's voters.
    pub fn new(header: &Header, line: &'a LoggedLine) -> Self {
        let mut names = MoveNames::default();
        let mut moves = |list: &'a [LoggedMove]| -> Vec<(Move, Score)> {
            list.iter().map(|m| (names.number(&m.best), m.score.0)).collect()
        };
        let find = vote_finder(&line.votes);
        let of = |voter: &LoggedVoter| find(&voter.name);
        let lists = header.voters.iter().map(|v| moves(of(v).map_or(&[][..], |v| &v.list))).collect();
        let judged = header.voters.iter().map(|v| moves(of(v).map_or(&[][..], |v| &v.judged))).collect();
        let searched = moves(&line.searched);
        let deeper = |v| of(v).and_then(|vote| Some(names.number(&vote.deeper.as_ref()?.best)));
        let deeper = header.voters.iter().map(deeper).collect();
        let votes = header
            .voters
            .iter()
            .map(|voter| of(voter).and_then(|vote| Some((names.number(vote.best.as_deref()?), vote))))
            .collect();
        Self {
            names,
            lists,
            judged,
            votes,
            deeper,
            searched,
            draw_key: draw_key(&line.game_id, line.ply),
            // the line counts from the position that the GUI sends, calibrations from the start of the game
            ply: line.ply.saturating_add(plies_before(&line.position)),
            material: line.material,
        }
    }

    /// The votes, one per voter.
    pub fn votes(&self) -> Vec<Option<Vote<'_>>> {
        let vote = |(place, vote): (usize, &Option<(Move, &'a LoggedVote)>)| {
            vote.map(|(best, logged)| Vote {
                best,
                score: logged.score.map(|s| s.0),
                bound: logged.bound,
                list: &self.lists[place],
                judged: &self.judged[place],
                deeper: self.deeper[place],
                win_rate: logged.win_rate,
                standardized: None,
            })
        };
        self.votes.iter().enumerate().map(vote).collect()
    }

    /// The number of the move to be made, from the start of the game.
    pub fn ply(&self) -> u32 {
        self.ply
    }

    /// The options of the header, with the draw key and the searched moves of this line.
    pub fn options<'b>(&'b self, header: &Header) -> Options<'b> {
        let situation = header.situation(Some(self.ply), self.material);
        Options { draw_key: self.draw_key, searched: &self.searched, situation, ..header.options() }
    }

    /// Calls a function with each vote, ready for comparison.
    fn measured<T>(&self, header: &Header, f: impl Fn(&Measured<'_>) -> Option<T>) -> Vec<T> {
        let (voters, votes, options) = (header.voters(), self.votes(), self.options(header));
        let present = voters.iter().zip(&votes).enumerate().filter_map(|(i, (r, v))| Some((i, r, v.as_ref()?)));
        present.filter_map(|(i, voter, vote)| f(&Measured::new(i, voter, vote, &options))).collect()
    }

    /// The logits of the votes as voter, move, logit. Bounds and mates are left out.
    pub fn exact_logits(&self, header: &Header) -> Vec<(usize, Move, f64)> {
        self.measured(header, |m| Some((m.index, m.vote.best, m.exact_logit()?)))
    }

    /// The win rates of the moves that one voter scored: in the second round, as its own move, or in its list.
    pub fn win_rates(&self, header: &Header, voter: &str) -> Vec<(Move, f64)> {
        self.measured(header, |m| (m.voter.name == voter).then(|| m.all_win_rates())).concat()
    }

    /// The moves of the votes that announce no mate and have what the rule compares, and what it adds up for each of
    /// them by each of these voters, by its place in the header.
    pub fn judgements(&self, header: &Header, rule: Rule) -> (Vec<Move>, Vec<(usize, Vec<f64>)>) {
        let open = |m: &Measured<'_>| (m.win_rate.is_some() || !rule.needs_win_rates()) && m.proven().is_none();
        let mut moves: Vec<Move> = self.measured(header, |m| open(m).then_some(m.vote.best));
        moves.sort_unstable();
        moves.dedup();
        let values = |m: &Measured<'_>| -> Vec<f64> {
            let (judge, value) = (Judge::new(m, 1.0, header.gap), rule.adds_up().unwrap_or(Judge::vote));
            moves.iter().map(|&best| value(&judge, best)).collect()
        };
        let values = self.measured(header, |m| open(m).then(|| (m.index, values(m))));
        (moves, values)
    }

    /// The same votes before a second round and a longer search.
    pub(crate) fn first_round(mut self) -> Self {
        self.judged.iter_mut().for_each(Vec::clear);
        self.deeper.fill(None);
        self
    }

    /// Decides the line by a rule.
    ///
    /// # Errors
    /// If no voter voted.
    pub fn decide(&self, header: &Header, rule: &dyn DecisionRule) -> Result<Decision, RuleError> {
        decide(rule, &header.voters(), &self.votes(), &self.options(header))
    }
}
