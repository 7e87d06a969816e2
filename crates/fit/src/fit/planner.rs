//! How many games the interval of a fit needs.

use evalcurve_calibration::GamesNeeded;

use super::plain::Fit;

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
