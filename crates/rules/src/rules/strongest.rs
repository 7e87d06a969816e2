use crate::definition::{Columns, Definition, Needs, Pending};

/// The vote of the strongest voter.
#[derive(Debug, Clone, Copy)]
pub struct Strongest;

impl Definition for Strongest {
    const NAME: &'static str = "strongest";
    const SUMMARY: &'static str = "the move of the voter with the highest rating";
    const FORMULA: &'static str = "R_i";
    const SOURCE: &'static str = "baseline";
    const NEEDS: Needs = Needs { ratings: true, ..Needs::NOTHING };
    const MATES: bool = false;

    #[inline(always)]
    fn values(votes: &Columns<'_>, values: &mut [f64]) {
        values.copy_from_slice(votes.ratings);
    }

    fn is_settled(pending: &Pending<'_>) -> bool {
        let rating = |i: usize| pending.voters.get(i).and_then(|v| v.strength);
        let best = pending.carried_by.and_then(rating);
        best.is_some() && pending.outstanding.iter().all(|&i| rating(i) < best)
    }
}
