use crate::decision::Decision;
use crate::definition::{Ballot, Definition, Needs};
use crate::vote::Role;

/// Cross-examination where it matters: it ends where votes agree, judges the moves in question only, and hands what is
/// left of the time to one voter where the judges are in doubt ([`Stakes`](crate::Stakes)).
#[derive(Debug, Clone, Copy)]
pub struct Budget;

impl Definition for Budget {
    const NAME: &'static str = "budget";
    const SUMMARY: &'static str =
        "the agreed move, or else the best judged of those in question, or else the move of one longer search";
    const FORMULA: &'static str = "mean of V_j(m_i) over all voters j, for moves in question";
    const SOURCE: &'static str = "this project";
    const NEEDS: Needs = Needs { win_rates: true, judged: true, deeper: true, ..Needs::NOTHING };
    const MATES: bool = true;

    fn weight(given: Option<f64>, _: Role) -> f64 {
        given.unwrap_or(1.0)
    }

    fn decide(ballot: &Ballot<'_>) -> Decision {
        ballot.staged::<Self>()
    }
}
