//! Gauss-Legendre quadrature on [0, 1].

/// Nodes and weights that integrate every polynomial below degree 2·`nodes` over [0, 1] exactly.
pub(super) fn unit_interval(nodes: usize) -> Vec<(f64, f64)> {
    let n = nodes.max(1);
    let mut found = vec![(0.0, 0.0); n];
    for i in 0..n.div_ceil(2) {
        // Newton's method from the usual starting point (Abramowitz and Stegun, 22.16.6)
        let mut x = libm::cos(std::f64::consts::PI * (i as f64 + 0.75) / (n as f64 + 0.5));
        let mut slope = 1.0;
        for _ in 0..100 {
            let (mut before, mut p) = (1.0, x);
            for k in 2..=n {
                let k = k as f64;
                (before, p) = (p, ((2.0 * k - 1.0) * x * p - (k - 1.0) * before) / k);
            }
            slope = n as f64 * (x * p - before) / (x * x - 1.0);
            let step = p / slope;
            x -= step;
            if step.abs() < 1e-15 {
                break;
            }
        }
        let weight = 1.0 / ((1.0 - x * x) * slope * slope);
        found[i] = ((1.0 - x) / 2.0, weight);
        found[n - 1 - i] = ((1.0 + x) / 2.0, weight);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_are_integrated_exactly() {
        for nodes in 1..40 {
            let rule = unit_interval(nodes);
            for degree in 0..2 * nodes {
                let sum: f64 = rule.iter().map(|(x, w)| w * libm::pow(*x, degree as f64)).sum();
                let exact = 1.0 / (degree as f64 + 1.0);
                assert!((sum - exact).abs() < 2e-14, "{nodes} nodes, degree {degree}: {sum} for {exact}");
            }
        }
    }
}
