use crate::definition::{Columns, Definition, Needs};
use crate::likelihood;

/// The move that makes all votes likeliest (最善合議).
#[derive(Debug, Clone, Copy)]
pub struct Optimal;

impl Definition for Optimal {
    const NAME: &'static str = "optimal";
    const SUMMARY: &'static str = "the move that makes all votes likeliest, in a model with normal noise";
    const FORMULA: &'static str = "log likelihood of all votes if m_i is the best move";
    const SOURCE: &'static str = "LFICS 2016-12, appendix";
    const NEEDS: Needs = Needs { log_ratios: true, ..Needs::NOTHING };
    const MATES: bool = true;

    #[inline(always)]
    fn values(votes: &Columns<'_>, values: &mut [f64]) {
        likelihood::log_likelihood(votes.moves, votes.log_ratios, values);
    }
}
