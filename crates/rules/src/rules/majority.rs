use crate::definition::{Columns, Definition, Needs, Pending};
use crate::tally;

/// The move with the most votes.
#[derive(Debug, Clone, Copy)]
pub struct Majority;

impl Definition for Majority {
    const NAME: &'static str = "majority";
    const SUMMARY: &'static str = "the move with the most votes";
    const FORMULA: &'static str = "Σ_j [m_i = m_j]";
    const SOURCE: &'static str = "Obata et al. 2011; Sato 2013, eq. 2.5, 2.27";
    const NEEDS: Needs = Needs::NOTHING;
    const MATES: bool = false;

    #[inline(always)]
    fn values(votes: &Columns<'_>, values: &mut [f64]) {
        tally::support(votes.moves, votes.weights, values);
    }

    fn is_settled(pending: &Pending<'_>) -> bool {
        pending.has_unbeatable_support(Self::weight)
    }
}
