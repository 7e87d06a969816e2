//! How many games an interval of a given width needs.

use serde::Serialize;

use super::Fit;

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
    /// About how many games like these make the interval of w1 reach from -`share` to +`share` of it, from the half-width
    /// of its interval by `games` games.
    ///
    /// The variance of w1 falls with the number of games G as 1/G: an interval with the half-width h needs
    /// G (h / (share · w1))² games. Games of another kind (longer, more even, with more samples) need another number.
    /// `None` for a share or a w1 that is not positive.
    pub(crate) fn of_slope((w1, half): (f64, f64), games: u64, share: f64) -> Option<Self> {
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

impl Fit {
    /// About how many games like these make the interval of w1 reach from -`share` to +`share` of it.
    pub fn games_needed(&self, share: f64) -> Option<GamesNeeded> {
        let half = self.quantile * self.standard_errors()[0];
        GamesNeeded::of_slope((self.sigmoid.w1, half), self.games, share)
    }
}

#[cfg(test)]
mod tests {
    use crate::fit::{Fit, Method, Sigmoid};

    #[test]
    fn a_tenth_of_the_width_needs_a_hundred_times_the_games() {
        let fit = Fit {
            method: Method::MaximumLikelihood,
            sigmoid: Sigmoid { w1: 0.002, w2: 0.0 },
            // ± 0.0004, a fifth of w1, with z = 2
            covariance: [[4e-8, 0.0], [0.0, 1.0]],
            samples: 300,
            games: 100,
            passes: 3,
            mean_loss: 0.5,
            quantile: 2.0,
        };
        let needed = fit.games_needed(0.02).unwrap();
        assert!((needed.share_now - 0.2).abs() < 1e-12);
        assert!((10_000..=10_001).contains(&needed.games) && needed.more == needed.games - 100, "{needed:?}");
        assert_eq!(fit.games_needed(0.5).unwrap().more, 0);
        assert_eq!(fit.games_needed(0.0), None);
        assert_eq!(fit.games_needed(f64::NAN), None);
    }
}
