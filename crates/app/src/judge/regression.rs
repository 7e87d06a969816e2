//! Logistic regression with any number of columns, clustered by game, and Wald tests of its coefficients.

use evalcurve_fit::fit::{LinearRow, inverse_form, regress};
use evalcurve_words::language::Text;
use evalcurve_words::text;

/// The rows of a regression: columns, result and game of each.
#[derive(Debug, Clone, Default)]
pub struct Rows {
    width: usize,
    values: Vec<f64>,
    results: Vec<f64>,
    games: Vec<u64>,
}

/// Coefficients with their covariance.
#[derive(Debug, Clone, PartialEq)]
pub struct Regression {
    /// One coefficient per column, in the logit of the result.
    pub coefficients: Vec<f64>,
    /// Their covariance, clustered by game.
    pub covariance: Vec<Vec<f64>>,
    /// Number of rows.
    pub samples: u64,
    pub games: u64,
}

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

impl Rows {
    /// Creates an empty table of `width` columns.
    pub fn new(width: usize) -> Self {
        Self { width, ..Self::default() }
    }

    /// Adds a row. `values` beyond the width are dropped, missing ones are 0. The result is 1, 0.5 or 0.
    pub fn push(&mut self, values: &[f64], result: f64, game: u64) {
        let given = values.iter().copied().chain(std::iter::repeat(0.0));
        self.values.extend(given.take(self.width));
        self.results.push(result);
        self.games.push(game);
    }

    /// Fits p = 1/(1 + exp(-Σ β_j x_j)) by maximum likelihood; a result of 0.5 counts as half a win and half a loss.
    ///
    /// The covariance is clustered by game as in [`evalcurve_fit::fit::fit`].
    ///
    /// # Errors
    /// The columns do not determine the coefficients, or a combination of them separates wins from losses; or there are
    /// too few games for the covariance.
    pub fn fit(&self) -> Result<Regression, Text> {
        let (k, n) = (self.width, self.results.len());
        let undetermined = || {
            text!(
                "the samples do not determine {columns} coefficients: groups may be too small, or of one result only",
                columns = k
            )
        };
        if k == 0 || n <= k {
            return Err(undetermined());
        }
        let values = || self.values.chunks_exact(k);
        // columns of very different size (scores and groups) are scaled to the same size
        let square = |j: usize| values().map(|x| x[j] * x[j]).sum::<f64>();
        let scale: Vec<f64> = (0..k).map(|j| (square(j) / n as f64).sqrt()).collect();
        if scale.iter().any(|s| !(s.is_finite() && *s > 0.0)) {
            return Err(undetermined());
        }
        let row = |((x, result), game): ((&[f64], &f64), &u64)| {
            let scaled = x.iter().zip(&scale).enumerate().filter(|(_, (x, _))| **x != 0.0);
            let features: Vec<(u32, f64)> = scaled.map(|(j, (x, s))| (j as u32, x / s)).collect();
            LinearRow { game: *game, result: *result, offset: 0.0, features }
        };
        let rows: Vec<_> = values().zip(&self.results).zip(&self.games).map(row).collect();
        let found = regress(&rows, &vec![0.0; k]).map_err(|_| undetermined())?;
        let mut games = self.games.clone();
        games.sort_unstable();
        games.dedup();
        let games = games.len() as u64;
        let too_few = || text!("{games} games are too few for {columns} coefficients: add games", columns = k);
        let covariance = found.covariance().filter(|_| games > k as u64).ok_or_else(too_few)?;
        let unscaled = |(i, row): (usize, Vec<f64>)| -> Vec<f64> {
            row.iter().zip(&scale).map(|(v, s)| v / (s * scale[i])).collect()
        };
        Ok(Regression {
            coefficients: found.at.iter().zip(&scale).map(|(b, s)| b / s).collect(),
            covariance: covariance.into_iter().enumerate().map(unscaled).collect(),
            samples: n as u64,
            games,
        })
    }
}

impl Regression {
    /// Tests that the coefficients of some columns are all 0; `None` if their covariance is singular.
    pub fn wald(&self, columns: &[usize]) -> Option<Wald> {
        let value = |c: &usize| self.coefficients.get(*c).copied();
        let beta: Vec<f64> = columns.iter().map(value).collect::<Option<_>>()?;
        let row = |c: &usize| {
            let row = self.covariance.get(*c)?;
            columns.iter().map(|d| row.get(*d).copied()).collect::<Option<Vec<f64>>>()
        };
        let covariance: Vec<Vec<f64>> = columns.iter().map(row).collect::<Option<_>>()?;
        wald(&beta, &covariance)
    }
}

/// Tests that values with this covariance are all 0; `None` if it is singular or there is no value.
pub fn wald(values: &[f64], covariance: &[Vec<f64>]) -> Option<Wald> {
    if values.is_empty() {
        return None;
    }
    let statistic = inverse_form(covariance, values)?;
    let df = values.len() as u32;
    statistic.is_finite().then(|| Wald { statistic, df, p: chi_squared_tail(statistic, df) })
}

/// The probability that chi-squared with `df` degrees of freedom is larger than `x`: Q(df/2, x/2), the regularised
/// upper incomplete gamma function, by its series or its continued fraction (Press et al., *Numerical recipes*, 6.2).
pub fn chi_squared_tail(x: f64, df: u32) -> f64 {
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
    use evalcurve_calibration::types::Outcome;
    use evalcurve_fit::fit::{FitOptions, Method, Observation, fit};

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

    #[test]
    fn two_columns_equal_the_fit_of_the_sigmoid() {
        let observations: Vec<Observation> = (0..900u64)
            .map(|i| {
                let score_cp = (i as i32 * 37) % 2001 - 1000;
                let luck = (i * 7919 % 1000) as i32 * 2 - 1000;
                let outcome = match score_cp / 2 + luck {
                    s if s > 40 => Outcome::Win,
                    s if s < -40 => Outcome::Loss,
                    _ => Outcome::Draw,
                };
                Observation { game: i / 3, score_cp, outcome }
            })
            .collect();
        let mut rows = Rows::new(2);
        observations.iter().for_each(|o| rows.push(&[f64::from(o.score_cp), -1.0], o.outcome.value(), o.game));
        let (ours, theirs) =
            (rows.fit().unwrap(), fit(Method::MaximumLikelihood, &observations, &FitOptions::default()).unwrap());
        assert!((ours.coefficients[0] / theirs.sigmoid.w1 - 1.0).abs() < 1e-9);
        assert!((ours.coefficients[1] - theirs.sigmoid.w2).abs() < 1e-9);
        for i in 0..2 {
            for j in 0..2 {
                assert!((ours.covariance[i][j] / theirs.covariance[i][j] - 1.0).abs() < 1e-7, "{i} {j}");
            }
        }
        assert_eq!((ours.samples, ours.games), (900, 300));
    }

    #[test]
    fn what_is_not_determined_is_an_error() {
        let mut same = Rows::new(2);
        let mut split = Rows::new(2);
        for i in 0..40 {
            same.push(&[1.0, 2.0], f64::from(i % 2), i as u64);
            split.push(&[1.0, f64::from(i)], if i < 20 { 0.0 } else { 1.0 }, i as u64);
        }
        for undetermined in [same, split] {
            assert!(undetermined.fit().unwrap_err().to_string().contains("do not determine 2 coefficients"));
        }
        assert!(Rows::new(0).fit().is_err());
    }
}
