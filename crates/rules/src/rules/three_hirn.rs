use evalcurve_calibration::Score;

use crate::decision::{Decision, Reason};
use crate::definition::{Ballot, Definition, Needs};
use crate::measured::score_of;
use crate::vote::{Role, better};

/// Two advisers and a chooser: the move of the advisers that the chooser scores higher.
#[derive(Debug, Clone, Copy)]
pub struct ThreeHirn;

impl Definition for ThreeHirn {
    const NAME: &'static str = "3-hirn";
    const SUMMARY: &'static str = "the move of two advisers that the chooser scores higher";
    const FORMULA: &'static str = "the chooser's score of m_i";
    const SOURCE: &'static str = "Althöfer; Sato 2013, eq. 4.1";
    const NEEDS: Needs = Needs { chooser: true, ..Needs::NOTHING };
    const MATES: bool = false;

    fn decide(ballot: &Ballot<'_>) -> Decision {
        let chooser = ballot.all.iter().find(|m| m.voter.role == Role::Chooser);
        let mut advisers = ballot.votes.iter().filter(|m| m.voter.role != Role::Chooser);
        let (first, second) = match (advisers.next(), advisers.next()) {
            (Some(first), Some(second)) => (first, second),
            // one adviser, or the chooser alone
            (one, _) => {
                let only = one.unwrap_or(&ballot.votes[0]);
                return ballot.decision(only.vote.best, Some(only.index), Reason::Adviser);
            }
        };
        let moves = [first.vote.best, second.vote.best];
        let [f1, f2] = moves.map(|m| score_of(m, chooser, ballot.options.searched));
        let (by, reason, needs_search) = match (f1, f2) {
            _ if moves[0] == moves[1] => (first, Reason::Adviser, Vec::new()),
            (Some(f1), Some(f2)) if better(f1, f2) => (first, Reason::Chooser, Vec::new()),
            (Some(f1), Some(f2)) if better(f2, f1) => (second, Reason::Chooser, Vec::new()),
            // H3(p) takes the second adviser if f1 - f2 = 0
            (Some(_), Some(_)) => (second, Reason::Adviser, Vec::new()),
            // the chooser's list holds its best moves, so a move missing from it is no better
            (Some(_), None) => (first, Reason::Chooser, Vec::new()),
            (None, Some(_)) => (second, Reason::Chooser, Vec::new()),
            (None, None) => (second, Reason::Adviser, moves.to_vec()),
        };
        let mut decision = ballot.decision(by.vote.best, Some(by.index), reason);
        for (m, score) in [(first, f1), (second, f2)] {
            decision.values[m.index] = score.and_then(|score| match score {
                Score::Cp(cp) => Some(cp),
                Score::Mate { .. } => None,
            });
        }
        Decision { needs_search, ..decision }
    }
}
