use crate::definition::{Columns, Definition, Needs};

/// The largest score.
#[derive(Debug, Clone, Copy)]
pub struct Optimistic;

impl Definition for Optimistic {
    const NAME: &'static str = "optimistic";
    const SUMMARY: &'static str = "the move with the largest score";
    const FORMULA: &'static str = "x_i";
    const SOURCE: &'static str = "Sugiyama et al. 2011; 単純楽観 in Takeuchi 2018";
    const NEEDS: Needs = Needs { scores: true, ..Needs::NOTHING };
    const MATES: bool = true;

    #[inline(always)]
    fn values(votes: &Columns<'_>, values: &mut [f64]) {
        values.copy_from_slice(votes.scores);
    }
}
