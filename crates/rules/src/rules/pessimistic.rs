use crate::definition::{Columns, Definition, Needs};

/// The smallest score.
#[derive(Debug, Clone, Copy)]
pub struct Pessimistic;

impl Definition for Pessimistic {
    const NAME: &'static str = "pessimistic";
    const SUMMARY: &'static str = "the move with the smallest score";
    const FORMULA: &'static str = "-x_i";
    const SOURCE: &'static str = "LFICS 2016-12";
    const NEEDS: Needs = Needs { scores: true, ..Needs::NOTHING };
    const MATES: bool = false;

    #[inline(always)]
    fn values(votes: &Columns<'_>, values: &mut [f64]) {
        values.iter_mut().zip(votes.scores).for_each(|(value, score)| *value = -score);
    }
}
