use crate::definition::{Columns, Definition, Judge, Needs, Pending};
use crate::tally;
use crate::vote::{Move, Role};

/// The move with the largest sum of weights.
#[derive(Debug, Clone, Copy)]
pub struct Weighted;

/// The weight of a leader (Sato 2013, section 2.1).
const LEADER_WEIGHT: f64 = 1.5;

impl Definition for Weighted {
    const NAME: &'static str = "weighted";
    const SUMMARY: &'static str =
        "the move with the largest sum of weights (the leader has 1.5, others 1, unless given)";
    const FORMULA: &'static str = "Σ_j w_j [m_i = m_j]";
    const SOURCE: &'static str = "Sato 2013, eq. 2.27";
    const NEEDS: Needs = Needs::NOTHING;
    const MATES: bool = false;
    const ADDS_UP: Option<fn(&Judge, Move) -> f64> = Some(Judge::vote);

    #[inline(always)]
    fn weight(given: Option<f64>, role: Role) -> f64 {
        given.unwrap_or(if role == Role::Leader { LEADER_WEIGHT } else { 1.0 })
    }

    #[inline(always)]
    fn values(votes: &Columns<'_>, values: &mut [f64]) {
        tally::support(votes.moves, votes.weights, values);
    }

    fn is_settled(pending: &Pending<'_>) -> bool {
        pending.has_unbeatable_support(Self::weight)
    }
}
