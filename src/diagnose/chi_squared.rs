//! The chi-squared distribution, for tests.

/// Terms of a series or continued fraction, at the most; both converge within about √a + 60 terms where they are used.
const MAX_TERMS: u32 = 20_000;

/// The probability that a chi-squared variable of `degrees` degrees of freedom is larger than `statistic`.
///
/// The regularised incomplete gamma function Q(degrees/2, statistic/2), by its series below a + 1 and by its
/// continued fraction above (Abramowitz and Stegun, *Handbook of mathematical functions*, 6.5.29 and 6.5.31). NaN for
/// 0 degrees and for a statistic that is none.
pub fn survival(statistic: f64, degrees: u64) -> f64 {
    if degrees == 0 || statistic.is_nan() {
        return f64::NAN;
    }
    let (a, x) = (0.5 * degrees as f64, 0.5 * statistic);
    if x <= 0.0 {
        return 1.0;
    }
    if x.is_infinite() {
        return 0.0;
    }
    let front = libm::exp(a * libm::log(x) - x - libm::lgamma(a));
    if x < a + 1.0 {
        // P = front · Σ x^k / (a (a+1) … (a+k))
        let (mut term, mut sum) = (1.0 / a, 1.0 / a);
        for k in 1..MAX_TERMS {
            term *= x / (a + f64::from(k));
            sum += term;
            if term < sum * 1e-17 {
                break;
            }
        }
        return (1.0 - front * sum).clamp(0.0, 1.0);
    }
    // Q = front · 1/(x+1-a - 1(1-a)/(x+3-a - 2(2-a)/(x+5-a - …))), by Lentz
    let tiny = f64::MIN_POSITIVE / f64::EPSILON;
    let mut b = x + 1.0 - a;
    let mut c = 1.0 / tiny;
    let mut d = 1.0 / b;
    let mut h = d;
    for k in 1..MAX_TERMS {
        let k = f64::from(k);
        let factor = -k * (k - a);
        b += 2.0;
        let away = |v: f64| if v.abs() < tiny { tiny } else { v };
        d = 1.0 / away(factor * d + b);
        c = away(b + factor / c);
        h *= d * c;
        if (d * c - 1.0).abs() < 1e-15 {
            break;
        }
    }
    (front * h).clamp(0.0, 1.0)
}

/// Holm's correction: p-values that keep the chance of one false alarm among all of them below their level, in the
/// order of the given ones (Holm, *A simple sequentially rejective multiple test procedure*, 1979).
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut corrected = vec![1.0; p_values.len()];
    let mut largest = 0.0f64;
    for (rank, &i) in order.iter().enumerate() {
        largest = largest.max(p_values[i] * (p_values.len() - rank) as f64);
        corrected[i] = largest.min(1.0);
    }
    corrected
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn survival_agrees_with_scipy() {
        // scipy.stats.chi2.sf
        for (statistic, degrees, expected) in [
            (3.841_458_820_694_124, 1, 0.049_999_999_999_999_89),
            (0.5, 1, 0.479_500_122_186_953_37),
            (5.991_464_547_107_979, 2, 0.05),
            (10.0, 2, 0.006_737_946_999_085_468),
            (60.0, 59, 0.439_247_456_660_294_13),
            (200.0, 86, 4.511_740_387_646_659e-11),
            (1500.0, 120, 6.327_894_604_579_635e-237),
            (1e-3, 7, 0.999_999_999_999_759_7),
        ] {
            let got = survival(statistic, degrees);
            assert!((got / expected - 1.0f64).abs() < 1e-9, "{statistic} {degrees}: {got:e} {expected:e}");
        }
        assert_eq!(survival(0.0, 3), 1.0);
        assert!(survival(1.0, 0).is_nan() && survival(f64::NAN, 1).is_nan());
        assert_eq!(survival(f64::INFINITY, 1), 0.0);
    }

    #[test]
    fn holm_by_hand() {
        // statsmodels.stats.multitest.multipletests(p, method="holm")
        let corrected = holm(&[0.01, 0.04, 0.03, 0.5]);
        for (got, expected) in corrected.iter().zip([0.04, 0.09, 0.09, 0.5]) {
            assert!((got - expected).abs() < 1e-12);
        }
        assert!(holm(&[]).is_empty());
    }
}
