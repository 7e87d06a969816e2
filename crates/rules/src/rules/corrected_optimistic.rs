use crate::definition::{Columns, Definition, Needs};
use crate::win_rate::lower_bound;

/// The largest lower bound of a win rate, which corrects the winner's curse.
#[derive(Debug, Clone, Copy)]
pub struct CorrectedOptimistic;

impl Definition for CorrectedOptimistic {
    const NAME: &'static str = "corrected-optimistic";
    const SUMMARY: &'static str = "the move with the largest win rate after correction for the winner's curse";
    const FORMULA: &'static str = "V_i - c √(s_i² + e_i²)";
    const SOURCE: &'static str = "this project";
    const NEEDS: Needs = Needs { logits: true, standard_errors: true, ..Needs::NOTHING };
    const MATES: bool = true;

    #[inline(always)]
    fn values(votes: &Columns<'_>, values: &mut [f64]) {
        for (value, (logit, error)) in values.iter_mut().zip(votes.logits.iter().zip(votes.standard_errors)) {
            *value = lower_bound(*logit, *error, votes.caution);
        }
    }
}
