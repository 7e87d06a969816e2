use crate::definition::{Columns, Definition, Needs};

/// The largest standardised score.
#[derive(Debug, Clone, Copy)]
pub struct StandardizedOptimistic;

impl Definition for StandardizedOptimistic {
    const NAME: &'static str = "standardized-optimistic";
    const SUMMARY: &'static str = "the move with the largest standardised score";
    const FORMULA: &'static str = "(x_i - mean_i)/sd_i";
    const SOURCE: &'static str = "Takeuchi 2018, section 4.2.1 (which advises against it)";
    const NEEDS: Needs = Needs { standardized: true, ..Needs::NOTHING };
    const MATES: bool = true;

    #[inline(always)]
    fn values(votes: &Columns<'_>, values: &mut [f64]) {
        values.copy_from_slice(votes.standardized);
    }
}
