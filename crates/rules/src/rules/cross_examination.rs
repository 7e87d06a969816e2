use crate::decision::{Decision, Reason};
use crate::definition::{Ballot, Columns, Definition, Judge, Needs};
use crate::vote::{Move, Role};

/// The largest mean logit after every voter has judged every move that was voted for.
#[derive(Debug, Clone, Copy)]
pub struct CrossExamination;

impl Definition for CrossExamination {
    const NAME: &'static str = "cross-examination";
    const SUMMARY: &'static str = "the move with the largest mean logit after all voters have judged all voted moves";
    const FORMULA: &'static str = "mean of V_j(m_i) over all voters j";
    const SOURCE: &'static str = "after GougiShogi (tttak 2017)";
    const NEEDS: Needs = Needs { win_rates: true, judged: true, ..Needs::NOTHING };
    const MATES: bool = true;
    const ADDS_UP: Option<fn(&Judge, Move) -> f64> = Some(Judge::of);

    fn weight(given: Option<f64>, _: Role) -> f64 {
        given.unwrap_or(1.0)
    }

    #[inline(always)]
    fn values(votes: &Columns<'_>, values: &mut [f64]) {
        values.copy_from_slice(votes.judged);
    }

    fn decide(ballot: &Ballot<'_>) -> Decision {
        let decision = ballot.by_value::<Self>(Reason::LargestValue);
        match ballot.unjudged::<Self>() {
            moves if moves.is_empty() => decision,
            moves => Decision { needs_search: moves, ..decision },
        }
    }
}
