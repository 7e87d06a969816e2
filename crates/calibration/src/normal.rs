//! The normal distribution, computed by the error function of `libm`.

use std::f64::consts::FRAC_1_SQRT_2;

pub use crate::quantile::{Z_95, quantile_95, student_quantile};

/// Φ(x), the probability of a standard normal number below `x`; accurate in the lower tail.
#[inline]
pub fn cdf(x: f64) -> f64 {
    0.5 * libm::erfc(-x * FRAC_1_SQRT_2)
}

/// ln Φ(x), without underflow.
#[inline]
pub fn ln_cdf(x: f64) -> f64 {
    if x > -20.0 {
        libm::log(cdf(x))
    } else {
        // Abramowitz and Stegun 26.2.12, accurate to 1e-11 in this range; erfc underflows at -38
        let r = 1.0 / (x * x);
        let series = 1.0 - r * (1.0 - 3.0 * r * (1.0 - 5.0 * r * (1.0 - 7.0 * r * (1.0 - 9.0 * r))));
        -0.5 * x * x - libm::log(-x) - HALF_LN_TAU + libm::log(series)
    }
}

/// ln √(2π).
const HALF_LN_TAU: f64 = 0.918_938_533_204_672_7;

/// The probability that a standard normal number is at least as far from 0 as `x`, on either side.
pub fn two_sided(x: f64) -> f64 {
    libm::erfc(x.abs() * FRAC_1_SQRT_2)
}

/// The normal number that is as far out as Student's t with these degrees of freedom (Wallace 1959): its probability is
/// right within 0.0003 from 9 degrees of freedom on.
pub fn of_student(t: f64, degrees: f64) -> f64 {
    (8.0 * degrees + 1.0) / (8.0 * degrees + 3.0) * (degrees * libm::log1p(t * t / degrees)).sqrt()
}

/// Φ⁻¹(p); `None` unless 0 < p < 1.
pub fn quantile(p: f64) -> Option<f64> {
    if !(p > 0.0 && p < 1.0) {
        return None;
    }
    if p > 0.5 {
        return quantile(1.0 - p).map(|x| -x);
    }
    // Φ(-40) is 0 in f64, so the root is in this range; 80 halvings reach the last bit
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
        // scipy.stats.norm.cdf, pdf, ppf and logcdf, scipy 1.17
        for (x, p) in [
            (1.0, 0.841_344_746_068_542_9),
            (FRAC_1_SQRT_2, 0.760_249_938_906_523_8),
            (-3.0, 0.001_349_898_031_630_094_6),
            (0.0, 0.5),
        ] {
            assert!((cdf(x) - p).abs() < 1e-15, "{x}");
            assert!((two_sided(x) - 2.0 * cdf(-x.abs())).abs() < 1e-15, "{x}");
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
        // the logarithm does not underflow where erfc does
        for (x, expected) in [
            (-8.0, -35.013_437_159_914_62),
            (-20.0, -203.917_155_371_097_2),
            (-40.0, -804.608_442_013_753_3),
            (1.0, -0.172_753_779_023_449_95),
        ] {
            assert!((ln_cdf(x) - expected).abs() < 1e-11, "{x}: {}", ln_cdf(x));
        }
    }
}
