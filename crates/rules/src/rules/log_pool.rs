use crate::decision::Decision;
use crate::definition::{Ballot, Definition, Judge, Needs};
use crate::pool::Scale;
use crate::vote::{Move, Role};

/// The largest mean logit over the lists of all voters.
#[derive(Debug, Clone, Copy)]
pub struct LogPool;

impl Definition for LogPool {
    const NAME: &'static str = "log-pool";
    const SUMMARY: &'static str = "the move with the largest mean logit over the lists of all voters";
    const FORMULA: &'static str = "mean of V_j(m), for every listed move m";
    const SOURCE: &'static str = "logarithmic opinion pool";
    const NEEDS: Needs = Needs { win_rates: true, lists: true, ..Needs::NOTHING };
    const MATES: bool = true;
    const ADDS_UP: Option<fn(&Judge, Move) -> f64> = Some(Judge::listed);

    fn weight(given: Option<f64>, _: Role) -> f64 {
        given.unwrap_or(1.0)
    }

    fn decide(ballot: &Ballot<'_>) -> Decision {
        ballot.pooled(Scale::Logit, |voter| Self::weight(voter.weight, voter.role))
    }
}
