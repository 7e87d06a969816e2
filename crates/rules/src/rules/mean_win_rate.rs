use crate::decision::Decision;
use crate::definition::{Ballot, Definition, Judge, Needs};
use crate::pool::Scale;
use crate::vote::{Move, Role};
use crate::win_rate::win_rate;

/// The largest mean win rate over the lists of all voters.
#[derive(Debug, Clone, Copy)]
pub struct MeanWinRate;

impl Definition for MeanWinRate {
    const NAME: &'static str = "mean-winrate";
    const SUMMARY: &'static str = "the move with the largest mean win rate over the lists of all voters";
    const FORMULA: &'static str = "mean of p_j(m), for every listed move m";
    const SOURCE: &'static str = "linear opinion pool";
    const NEEDS: Needs = Needs { win_rates: true, lists: true, ..Needs::NOTHING };
    const MATES: bool = true;
    const ADDS_UP: Option<fn(&Judge, Move) -> f64> = Some(|judge, m| win_rate(judge.listed(m)));

    fn weight(given: Option<f64>, _: Role) -> f64 {
        given.unwrap_or(1.0)
    }

    fn decide(ballot: &Ballot<'_>) -> Decision {
        ballot.pooled(Scale::WinRate, |voter| Self::weight(voter.weight, voter.role))
    }
}
