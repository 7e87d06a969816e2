//! How many games an interval of a given width needs.

use serde::Serialize;

use crate::file::Calibration;

/// Games for an interval of a given width.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct GamesNeeded {
    /// Half of the wanted interval as a share of w1: 0.05 for ±5%.
    pub share: f64,
    /// Half of the interval now, as a share of w1.
    pub share_now: f64,
    /// Games in all, about.
    pub games: u64,
    /// Games to add; 0 where the interval is narrow enough.
    pub more: u64,
}

impl GamesNeeded {
    /// About how many games like these make the interval of w1 reach from -`share` to +`share` of it, given w1 and the
    /// half-width of its interval by `games` games.
    ///
    /// The variance of w1 falls with the number of games G as 1/G: an interval with the half-width h needs
    /// G (h / (share · w1))² games. Games of another kind (longer, more even, with more samples) need another number.
    /// `None` for a share or a w1 that is not positive.
    pub fn of_slope((w1, half): (f64, f64), games: u64, share: f64) -> Option<Self> {
        let share_now = half / w1;
        let needed = games as f64 * (share_now / share) * (share_now / share);
        // 2^53, beyond which numbers of games are no longer exact
        if !(share > 0.0 && w1 > 0.0 && needed.is_finite() && needed < 9e15) {
            return None;
        }
        let needed = needed.ceil() as u64;
        Some(Self { share, share_now, games: needed, more: needed.saturating_sub(games) })
    }
}

impl Calibration {
    /// About how many games like these make the interval of the chosen model's slope reach from -`share` to +`share` of
    /// it; `None` for a model without a slope, or where the number of games is not known.
    pub fn games_needed(&self, share: f64) -> Option<GamesNeeded> {
        let games = self.models.get(&self.model.kind)?.games?;
        GamesNeeded::of_slope(self.slope()?, games, share)
    }
}
