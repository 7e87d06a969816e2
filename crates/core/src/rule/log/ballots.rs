//! The votes of a line as rules take them.

use super::{Header, Line, LoggedMove, LoggedVote, LoggedVoter};
use crate::calibration::Score;
use crate::rule::tally::draw_key;
use crate::rule::{Decision, Move, Options, Rule, RuleError, Vote, decide};

/// The moves of one line by number: the order in which they were met.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MoveNames<'a>(Vec<&'a str>);

impl<'a> MoveNames<'a> {
    /// The number of a move; the same text gets the same number.
    pub fn number(&mut self, text: &'a str) -> Move {
        let place = self.0.iter().position(|&known| known == text).unwrap_or_else(|| {
            self.0.push(text);
            self.0.len() - 1
        });
        Move(place as u32)
    }

    /// The text of a move; empty for one that was never numbered.
    pub fn name(&self, m: Move) -> &'a str {
        self.0.get(m.0 as usize).copied().unwrap_or_default()
    }
}

/// The votes of a line as rules take them.
#[derive(Debug, Clone, Default)]
pub struct Ballots<'a> {
    /// The moves by number.
    pub names: MoveNames<'a>,
    lists: Vec<Vec<(Move, Score)>>,
    votes: Vec<Option<(Move, &'a LoggedVote)>>,
    searched: Vec<(Move, Score)>,
    draw_key: u64,
}

impl<'a> Ballots<'a> {
    /// The votes of a line in the order of the header's voters.
    pub fn new(header: &Header, line: &'a Line) -> Self {
        let mut names = MoveNames::default();
        let mut moves = |list: &'a [LoggedMove]| -> Vec<(Move, Score)> {
            list.iter().map(|m| (names.number(&m.best), m.score.0)).collect()
        };
        let of = |voter: &LoggedVoter| line.votes.iter().find(|v| v.voter == voter.name);
        let lists = header.voters.iter().map(|v| moves(of(v).map_or(&[][..], |v| &v.list))).collect();
        let searched = moves(&line.searched);
        let votes = header
            .voters
            .iter()
            .map(|voter| of(voter).and_then(|vote| Some((names.number(vote.best.as_deref()?), vote))))
            .collect();
        Self { names, lists, votes, searched, draw_key: draw_key(&line.game_id, line.ply) }
    }

    /// The votes, one a voter.
    pub fn votes(&self) -> Vec<Option<Vote<'_>>> {
        let vote = |(place, vote): (usize, &Option<(Move, &'a LoggedVote)>)| {
            vote.map(|(best, logged)| Vote {
                best,
                score: logged.score.map(|s| s.0),
                bound: logged.bound,
                list: &self.lists[place],
                win_rate: logged.win_rate,
                standardized: None,
            })
        };
        self.votes.iter().enumerate().map(vote).collect()
    }

    /// The header's options with what belongs to this line.
    pub fn options<'b>(&'b self, header: &Header) -> Options<'b> {
        Options { draw_key: self.draw_key, searched: &self.searched, ..header.options() }
    }

    /// Decides the line by a rule.
    ///
    /// # Errors
    /// Nobody voted.
    pub fn decide(&self, header: &Header, rule: Rule) -> Result<Decision, RuleError> {
        decide(rule, &header.voters(), &self.votes(), &self.options(header))
    }
}
