//! Rates of the model that have a closed form.

use evalcurve_fit::normal::cdf;

use crate::quadrature::unit_interval;

/// The rate at which one engine finds the best of `candidates` moves if the others are worth `gap` less:
/// ∫ φ(x) Φ(x + d/s)^(n-1) dx. For two moves Φ(d / (s √2)).
pub fn best_move_rate(noise: f64, candidates: usize, gap: f64) -> f64 {
    let step = gap / noise;
    over_noise(|x| density(x) * libm::pow(cdf(x + step), candidates.max(1) as f64 - 1.0))
}

/// The rate at which two independent engines vote for the same move: both for the best, or both for the same other
/// move.
pub fn agreement_rate(noise: [f64; 2], candidates: usize, gap: f64) -> f64 {
    let [a, b] = noise.map(|s| best_move_rate(s, candidates, gap));
    a * b + (1.0 - a) * (1.0 - b) / (candidates.max(2) as f64 - 1.0)
}

/// φ(x), the density of a standard normal number.
fn density(x: f64) -> f64 {
    libm::exp(-0.5 * x * x) * 0.398_942_280_401_432_7
}

/// ∫ f(x) dx over ±10, by 16 nodes on each half unit.
fn over_noise(f: impl Fn(f64) -> f64) -> f64 {
    let rule = unit_interval(16);
    (-20..20).map(|k| rule.iter().map(|(u, w)| 0.5 * w * f(0.5 * (f64::from(k) + u))).sum::<f64>()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plurality::{Tie, Voters, plurality};

    #[test]
    fn the_density_is_that_of_tables() {
        assert!((density(1.0) - 0.241_970_724_519_143_37).abs() < 1e-15);
    }

    /// Quadrature by scipy, and every assignment of moves (tests/oracle/theory.py).
    #[test]
    fn rates_agree_with_the_oracle() {
        let oracle: serde_json::Value =
            serde_json::from_str(include_str!("../../../../tests/oracle/theory.expected.json")).unwrap();
        let number = |v: &serde_json::Value| v.as_f64().unwrap();
        for single in oracle["best_move_rate"].as_array().unwrap() {
            let candidates = single["candidates"].as_u64().unwrap() as usize;
            let found = best_move_rate(number(&single["noise"]), candidates, number(&single["gap"]));
            assert!((found - number(&single["rate"])).abs() < 1e-11, "{found} {single}");
        }
        for council in oracle["majority"].as_array().unwrap() {
            let candidates = council["candidates"].as_u64().unwrap() as usize;
            let voter = |noise: &serde_json::Value| {
                let right = best_move_rate(number(noise), candidates, 1.0);
                let mut probabilities = vec![(1.0 - right) / (candidates as f64 - 1.0); candidates];
                probabilities[0] = right;
                Voters { count: 1, weight: 1.0, probabilities }
            };
            let voters: Vec<Voters> = council["noise"].as_array().unwrap().iter().map(voter).collect();
            for (tie, expected) in [Tie::Leader, Tie::Random].iter().zip(council["leader_drawn"].as_array().unwrap()) {
                let found = plurality(&voters, *tie).unwrap()[0].wins;
                assert!((found - number(expected)).abs() < 1e-10, "{tie:?} {found} {council}");
            }
        }
    }

    /// n = 2, s = 1, d = 1: Φ(1/√2).
    #[test]
    fn single_engines_have_their_known_rates() {
        assert!((best_move_rate(1.0, 2, 1.0) - 0.760_249_938_906_523_8).abs() < 1e-12);
        assert!((best_move_rate(3.0, 1, 1.0) - 1.0).abs() < 1e-12);
        assert!((best_move_rate(2.0, 5, 0.0) - 0.2).abs() < 1e-12);
        let right = best_move_rate(1.0, 2, 1.0);
        assert!((agreement_rate([1.0, 1.0], 2, 1.0) - (right * right + (1.0 - right) * (1.0 - right))).abs() < 1e-12);
    }
}
