//! Wald tests: whether some parameters of a fit are all 0.

use super::linear::Regression;
use super::symmetric::inverse_form;

/// A Wald test: that some coefficients are all 0.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Wald {
    /// βᵀ V⁻¹ β of the tested coefficients.
    pub statistic: f64,
    /// Number of coefficients: the degrees of freedom of chi-squared.
    pub df: u32,
    /// Probability of a statistic at least this large if all are 0.
    pub p: f64,
}

impl Regression {
    /// Tests that the coefficients of some columns are all 0; `None` if their covariance is singular.
    pub fn wald(&self, columns: &[usize]) -> Option<Wald> {
        let all = self.covariance()?;
        let beta: Vec<f64> = columns.iter().map(|c| self.at.get(*c).copied()).collect::<Option<_>>()?;
        let row = |c: &usize| columns.iter().map(|d| all[*c][*d]).collect();
        let covariance: Vec<Vec<f64>> = columns.iter().map(row).collect();
        wald(&beta, &covariance)
    }
}

/// Tests that values with this covariance are all 0; `None` if it is singular or there is no value.
pub fn wald(values: &[f64], covariance: &[Vec<f64>]) -> Option<Wald> {
    let df = values.len() as u32;
    let statistic = inverse_form(covariance, values).filter(|statistic| statistic.is_finite() && df > 0)?;
    Some(Wald { statistic, df, p: chi_squared_tail(statistic, df) })
}

/// The probability that chi-squared with `df` degrees of freedom is larger than `x`: Q(df/2, x/2), the regularised
/// upper incomplete gamma function, by its series or its continued fraction (Press et al., *Numerical recipes*, 6.2).
fn chi_squared_tail(x: f64, df: u32) -> f64 {
    if x.is_nan() || x <= 0.0 || df == 0 {
        return 1.0;
    }
    let (a, x) = (0.5 * f64::from(df), 0.5 * x);
    let front = libm::exp(a * libm::log(x) - x - libm::lgamma(a));
    if x < a + 1.0 {
        let (mut term, mut sum, mut n) = (1.0 / a, 1.0 / a, a);
        while term > sum * 1e-17 {
            n += 1.0;
            term *= x / n;
            sum += term;
        }
        return (1.0 - front * sum).max(0.0);
    }
    // Lentz's method
    let tiny = 1e-300;
    let mut b = x + 1.0 - a;
    let (mut c, mut d) = (1.0 / tiny, 1.0 / b);
    let mut h = d;
    for i in 1..500 {
        let an = -f64::from(i) * (f64::from(i) - a);
        b += 2.0;
        d = an * d + b;
        c = b + an / c;
        d = 1.0 / if d.abs() < tiny { tiny } else { d };
        c = if c.abs() < tiny { tiny } else { c };
        h *= d * c;
        if (d * c - 1.0).abs() < 1e-16 {
            break;
        }
    }
    (front * h).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chi_squared_agrees_with_scipy() {
        // scipy.stats.chi2.sf(x, df)
        for (x, df, p) in [
            (3.841458820694124, 1, 0.05),
            (0.5, 1, 0.479_500_122_186_953_5),
            (5.991464547107979, 2, 0.05),
            (12.0, 7, 0.100_558_868_508_358_78),
            (100.0, 4, 9.836_624_224_615_988e-21),
            (1.0, 10, 0.999_827_884_370_044_2),
            (30.0, 22, 0.118_464_411_529_014_99),
        ] {
            let found = chi_squared_tail(x, df);
            assert!((found / p - 1.0).abs() < 1e-9, "{x} {df}: {found:e} {p:e}");
        }
        assert_eq!(chi_squared_tail(0.0, 3), 1.0);
        assert_eq!(chi_squared_tail(f64::NAN, 3), 1.0);
        assert_eq!(chi_squared_tail(1e9, 3), 0.0);
    }
}
