use crate::definition::{Columns, Definition, Needs};

/// The largest win rate.
#[derive(Debug, Clone, Copy)]
pub struct WinRateOptimistic;

impl Definition for WinRateOptimistic {
    const NAME: &'static str = "winrate-optimistic";
    const SUMMARY: &'static str = "the move with the largest win rate";
    const FORMULA: &'static str = "p_i";
    const SOURCE: &'static str = "勝率楽観 in Takeuchi 2018, section 3";
    const NEEDS: Needs = Needs { win_rates: true, ..Needs::NOTHING };
    const MATES: bool = true;
    const WIN_RATE_ORDER_ONLY: bool = true;

    #[inline(always)]
    fn values(votes: &Columns<'_>, values: &mut [f64]) {
        values.copy_from_slice(votes.win_rates);
    }
}
