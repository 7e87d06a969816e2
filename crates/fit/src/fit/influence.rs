//! How far each game pulls a fitted curve; covariances of fits that share games follow from this.

use evalcurve_calibration::logistic::Logistic;
use evalcurve_calibration::{Method, Sigmoid};

use super::counts::Observation;
use super::objective::{Objective, SCORE_SCALE};
use super::plain::FitData;
use super::search::Loss;
use super::symmetric::inverse;
use super::{least_squares, likelihood};

/// The influence of each game on the parameters (w1, w2) of one fit, to first order.
///
/// ψ_g = -A⁻¹ s_g, with A the Hessian of the summed loss and s_g the game's summed gradient, both at the fitted
/// parameters: leaving the game out moves them by about -ψ_g (Hampel, *The influence curve and its role in robust
/// estimation*, JASA 1974). Σ ψ_g ψ_gᵀ is the clustered covariance of [`super::fit`] without its factor c, and
/// Σ ψ_g φ_gᵀ with the influences φ of another fit on the same games their covariance.
#[derive(Debug, Clone, PartialEq)]
pub struct Influence {
    games: Vec<(u64, [f64; 2])>,
    samples: u64,
}

impl Influence {
    /// Each game with its ψ, by ascending game: per centipawn for w1, logits for w2.
    pub fn games(&self) -> &[(u64, [f64; 2])] {
        &self.games
    }

    /// Number of samples of the fit.
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// The influences on a number that changes by `gradient` · (dw1, dw2), by ascending game.
    pub fn on(&self, gradient: [f64; 2]) -> Vec<(u64, f64)> {
        let dot = |psi: &[f64; 2]| gradient[0] * psi[0] + gradient[1] * psi[1];
        self.games.iter().map(|(game, psi)| (*game, dot(psi))).collect()
    }
}

impl FitData<'_> {
    /// The influence of each game on a curve that was fitted to these samples by `method`; `None` where the loss has
    /// no curvature there, that is, where the curve was not fitted to them.
    pub fn influence(&self, method: Method, fitted: Sigmoid) -> Option<Influence> {
        let objective = Objective::from_counts(method, &self.counts);
        let at = [fitted.w1 * SCORE_SCALE, fitted.w2];
        let n = self.counts.samples();
        let hessian = objective.evaluate(&at)?.hessian.to_two()?;
        let bread = inverse(&hessian.map(|row| row.map(|h| h * n as f64)))?;
        let weight = match method {
            Method::LeastSquares => least_squares::weight,
            Method::MaximumLikelihood => likelihood::weight,
        };
        let gradient = |o: &Observation| {
            let x = f64::from(o.score_cp) / SCORE_SCALE;
            let Logistic { p, q, .. } = Logistic::at(at[0] * x - at[1]);
            let y = o.outcome.value();
            let d = weight(p, q) * ((1.0 - y) * p - y * q);
            [d * x, -d]
        };
        let mut games: Vec<(u64, [f64; 2])> = Vec::new();
        for run in self.grouped.observations().chunk_by(|a, b| a.game == b.game) {
            let Some(first) = run.first() else { continue };
            let mut s = [0.0; 2];
            for o in run {
                let g = gradient(o);
                s[0] += g[0];
                s[1] += g[1];
            }
            let a = -(bread[0][0] * s[0] + bread[0][1] * s[1]) / SCORE_SCALE;
            let b = -(bread[1][0] * s[0] + bread[1][1] * s[1]);
            games.push((first.game, [a, b]));
        }
        games.sort_unstable_by_key(|g| g.0);
        Some(Influence { games, samples: n })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::FitOptions;
    use evalcurve_calibration::types::Outcome;
    use evalcurve_words::random;

    fn observations() -> Vec<Observation> {
        (0..900u64)
            .map(|i| {
                let score_cp = (1600.0 * random::unit(&[1, i]) - 800.0) as i32;
                let p = 1.0 / (1.0 + (-0.003 * f64::from(score_cp) + 0.1).exp());
                let outcome = match random::unit(&[2, i / 3]) {
                    u if u < p - 0.05 => Outcome::Win,
                    u if u < p + 0.05 => Outcome::Draw,
                    _ => Outcome::Loss,
                };
                Observation { game: random::mix(i / 3), score_cp, outcome }
            })
            .collect()
    }

    #[test]
    fn influences_make_the_clustered_covariance() {
        let observations = observations();
        let data = FitData::new(&observations);
        for method in Method::ALL {
            let fit = data.fit(method, &FitOptions::default()).unwrap();
            let influence = data.influence(method, fit.sigmoid).unwrap();
            let (g, n) = (influence.games().len() as f64, influence.samples() as f64);
            assert_eq!(influence.games().len() as u64, fit.games);
            let c = g / (g - 1.0) * (n - 1.0) / (n - 2.0);
            for i in 0..2 {
                for j in 0..2 {
                    let sum: f64 = influence.games().iter().map(|(_, psi)| psi[i] * psi[j]).sum();
                    assert!((c * sum / fit.covariance[i][j] - 1.0).abs() < 1e-9, "{method} {i} {j}");
                }
            }
        }
    }

    #[test]
    fn leaving_a_game_out_moves_the_fit_by_its_influence() {
        let observations = observations();
        let data = FitData::new(&observations);
        for method in Method::ALL {
            let options = FitOptions::default();
            let whole = data.fit(method, &options).unwrap().sigmoid;
            for (game, psi) in data.influence(method, whole).unwrap().games().iter().step_by(37) {
                let rest: Vec<_> = observations.iter().filter(|o| o.game != *game).copied().collect();
                let without = FitData::new(&rest).fit(method, &options).unwrap().sigmoid;
                let moved = whole.w1 - without.w1;
                assert!((moved - psi[0]).abs() < 0.05 * psi[0].abs() + 2e-6, "{method} {moved:e} {:e}", psi[0]);
            }
        }
    }
}
