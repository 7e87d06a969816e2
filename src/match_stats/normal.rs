//! The normal distribution, by the error function of `libm`.

use std::f64::consts::SQRT_2;

/// Φ(x), the probability of a standard normal number below `x`; accurate in the lower tail.
pub fn cdf(x: f64) -> f64 {
    0.5 * libm::erfc(-x / SQRT_2)
}

/// The probability of a standard normal number at least as far from 0 as `x`, on either side.
pub fn two_sided(x: f64) -> f64 {
    libm::erfc(x.abs() / SQRT_2)
}

/// Φ⁻¹(p); `None` unless 0 < p < 1.
pub fn quantile(p: f64) -> Option<f64> {
    if !(p > 0.0 && p < 1.0) {
        return None;
    }
    if p > 0.5 {
        return quantile(1.0 - p).map(|x| -x);
    }
    // Φ(-40) is 0 in f64, so that the root lies inside; 80 halvings reach the last bit
    let (mut low, mut high) = (-40.0, 0.0);
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        if cdf(middle) < p {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(0.5 * (low + high))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_scipy() {
        // scipy.stats.norm.cdf and ppf, scipy 1.17
        for (x, p) in [(1.0, 0.841_344_746_068_542_9), (-3.0, 0.001_349_898_031_630_094_6), (0.0, 0.5)] {
            assert!((cdf(x) - p).abs() < 1e-15, "{x}");
        }
        for (p, x) in
            [(0.975, 1.959_963_984_540_054), (0.05, -1.644_853_626_951_472_7), (1e-12, -7.034_483_825_301_131)]
        {
            let got = quantile(p).unwrap();
            assert!((got - x).abs() < 1e-9, "{p}: {got}");
        }
        assert_eq!(quantile(0.0), None);
        assert_eq!(quantile(1.0), None);
        assert_eq!(quantile(f64::NAN), None);
    }
}
