//! The likelihood of the votes of a position in the model of LFICS, over all best moves and values of A.

use evalcurve_fit::normal::cdf;

use super::Ballot;

/// A table of Φ, which is needed about a thousand times per position, and the nodes of integrals over A.
pub(super) struct Normal {
    table: Vec<f64>,
    /// Standard deviations from the estimate of A by all values, and the density there.
    nodes: [(f64, f64); NODES],
}

const NODES: usize = 25;

const HALF_WIDTH: f64 = 8.5;
const PER_UNIT: f64 = 512.0;

impl Normal {
    pub(super) fn new() -> Self {
        let steps = (2.0 * HALF_WIDTH * PER_UNIT) as usize;
        let table = (0..=steps + 1).map(|k| cdf(k as f64 / PER_UNIT - HALF_WIDTH)).collect();
        let node = |k: usize| 0.5 * (k as f64 - (NODES / 2) as f64);
        Self { table, nodes: std::array::from_fn(|k| (node(k), libm::exp(-0.5 * node(k) * node(k)))) }
    }

    fn cdf(&self, x: f64) -> f64 {
        let place = (x + HALF_WIDTH) * PER_UNIT;
        let at = place as usize;
        match self.table.get(at..at + 2) {
            Some(&[a, b]) if place >= 0.0 => a + (b - a) * (place - at as f64),
            _ if x > 0.0 => 1.0,
            _ => cdf(x),
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Parameters {
    pub gap: f64,
    pub noise: Vec<f64>,
    pub candidates: usize,
}

/// ln of the probability density of the votes, up to a constant, with a flat prior for A.
///
/// If h is the best move, a vote for it with value V has the density Gx(V) Ey^(n-1) / s, and one for another move Gy(V)
/// Ex Ey^(n-2) / s, with x = (V - A)/s, y = x + d/s (LFICS 2016-12, appendix, for each move separately). Each of the n
/// candidates is equally likely to be the best, including those without a vote.
pub(super) fn log_density(ballot: &Ballot, p: &Parameters, normal: &Normal) -> f64 {
    let n = p.candidates;
    let mut moves: Vec<u32> = Vec::new();
    for (_, m, _) in ballot {
        if !moves.contains(m) {
            moves.push(*m);
        }
    }
    let unvoted = n.saturating_sub(moves.len());
    // move, value, 1/s and d/s of each vote
    let votes: Vec<_> = ballot.iter().map(|(i, m, v)| (*m, *v, 1.0 / p.noise[*i], p.gap / p.noise[*i])).collect();
    let precision: f64 = votes.iter().map(|(_, _, by, _)| by * by).sum();
    let width = 1.0 / precision.sqrt();
    let mut terms = Vec::with_capacity(moves.len() + 1);
    let hypotheses = moves.iter().map(|m| (Some(*m), 1.0)).chain((unvoted > 0).then_some((None, unvoted as f64)));
    for (best, count) in hypotheses {
        let shifted = |m: u32, v: f64| if Some(m) == best { v } else { v + p.gap };
        let centre = votes.iter().map(|&(m, v, by, _)| by * by * shifted(m, v)).sum::<f64>() / precision;
        let apart: f64 = votes.iter().map(|&(m, v, by, _)| (by * (shifted(m, v) - centre)).powi(2)).sum();
        let at_node = |&(t, density): &(f64, f64)| {
            let a = centre + width * t;
            let mut product = density;
            for &(m, v, by, gap) in &votes {
                let x = (v - a) * by;
                let ey = normal.cdf(x + gap);
                let last = if Some(m) == best { ey } else { normal.cdf(x) };
                product *= last * power(ey, n - 2);
            }
            product
        };
        let integral: f64 = normal.nodes.iter().map(at_node).sum();
        terms.push(libm::log(count * integral) - 0.5 * apart);
    }
    let top = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = terms.iter().map(|t| libm::exp(t - top)).sum();
    let scales: f64 = ballot.iter().map(|(i, ..)| libm::log(p.noise[*i])).sum();
    top + libm::log(sum) + libm::log(width) - scales - libm::log(n as f64)
}

/// ln n!/(n - m)! for m different moves in a ballot: the number of ways to identify them with the n candidates. The
/// moves of a ballot have no labels, while [`log_density`] is that of labelled ones.
pub(super) fn log_labellings(moves: usize, candidates: usize) -> f64 {
    (0..moves).map(|k| libm::log(candidates.saturating_sub(k) as f64)).sum()
}

fn power(base: f64, exponent: usize) -> f64 {
    (0..exponent).fold(1.0, |product, _| product * base)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With A integrated out, the density of one vote's value is flat, and the moves' probabilities add up to 1.
    #[test]
    fn the_density_of_one_vote_is_flat_and_normalised() {
        let normal = Normal::new();
        let p = Parameters { gap: 0.8, noise: vec![1.1, 0.7], candidates: 4 };
        let flat: Vec<f64> = [-2.0, 0.0, 3.0].iter().map(|v| log_density(&vec![(0, 0, *v)], &p, &normal)).collect();
        assert!(flat.iter().all(|l| (l - flat[0]).abs() < 1e-6), "{flat:?}");
        // ∫ over the second value of the sum over its moves gives the density of the first vote again
        let step = 0.05;
        let mut sum = 0.0;
        for k in -200..200 {
            let v = f64::from(k) * step;
            for m in 0..4 {
                sum += step * libm::exp(log_density(&vec![(0, 0, 0.0), (1, m, v)], &p, &normal));
            }
        }
        let one = libm::exp(flat[0]) * (2.0 * std::f64::consts::PI).sqrt();
        let two = sum;
        // the nodes are 0.5 apart, and constants of the normal density are left out: one √(2π) per value
        assert!((two / one - 1.0).abs() < 1e-4, "{two} {one}");
    }
}
