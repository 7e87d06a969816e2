use crate::decision::Decision;
use crate::definition::{Ballot, Definition, Needs};
use crate::pool::{Scale, strength_weight};
use crate::vote::Role;

/// The logarithmic pool with weights from the ratings of the voters.
#[derive(Debug, Clone, Copy)]
pub struct StrengthPool;

impl Definition for StrengthPool {
    const NAME: &'static str = "strength-pool";
    const SUMMARY: &'static str = "the move with the largest mean logit over all lists, with weights from ratings";
    const FORMULA: &'static str = "`log-pool` with weights w_j · 10^((R_j - max R)/400)";
    const SOURCE: &'static str = "this project";
    const NEEDS: Needs = Needs { win_rates: true, ratings: true, lists: true, ..Needs::NOTHING };
    const MATES: bool = true;

    fn weight(given: Option<f64>, _: Role) -> f64 {
        given.unwrap_or(1.0)
    }

    fn decide(ballot: &Ballot<'_>) -> Decision {
        let ratings = || ballot.voters.iter().filter_map(|v| v.strength);
        let (strongest, weakest) =
            (ratings().fold(f64::NEG_INFINITY, f64::max), ratings().fold(f64::INFINITY, f64::min));
        ballot.pooled(Scale::Logit, |voter| {
            // a voter without a rating counts as the weakest; if no voter has one, all count the same
            let rating = voter.strength.unwrap_or(weakest);
            let factor = if strongest.is_finite() { strength_weight(rating, strongest) } else { 1.0 };
            Self::weight(voter.weight, voter.role) * factor
        })
    }
}
