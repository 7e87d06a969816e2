//! Logistic regression with any number of columns, clustered by game, and Wald tests of its coefficients.

use crate::language::Text;

/// Maximum number of Newton steps.
const MOST_STEPS: usize = 60;

/// The search has converged if the last step moves the logit of a typical row by no more than this.
const STEP_TOLERANCE: f64 = 1e-9;

/// The rows of a regression: columns, result and game of each.
#[derive(Debug, Clone, Default)]
pub struct Rows {
    width: usize,
    values: Vec<f64>,
    results: Vec<f64>,
    games: Vec<u64>,
}

/// Why a regression failed.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum RegressionError {
    /// The columns do not determine the coefficients, or a combination of them separates wins from losses.
    #[error("the samples do not determine {columns} coefficients: groups may be too small, or of one result only")]
    Undetermined {
        /// Number of columns.
        columns: usize,
    },
    /// There are too few games for the covariance of the coefficients.
    #[error("{games} games are too few for {columns} coefficients: add games")]
    TooFewGames {
        /// Number of games.
        games: u64,
        /// Number of columns.
        columns: usize,
    },
}

impl RegressionError {
    /// The message in every language.
    pub fn words(&self) -> Text {
        let japanese = match self {
            Self::Undetermined { columns } => {
                format!("標本から {columns} 個の係数が決まりません: 群が小さすぎるか、結果が一種類です")
            }
            Self::TooFewGames { games, columns } => {
                format!("{columns} 個の係数に {games} 局では足りません: 対局を増やしてください")
            }
        };
        Text::both(self.to_string(), japanese)
    }
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
    /// Number of games.
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

    fn iter(&self) -> impl Iterator<Item = (&[f64], f64)> {
        self.values.chunks_exact(self.width.max(1)).zip(self.results.iter().copied())
    }

    /// Fits p = 1/(1 + exp(-Σ β_j x_j)) by maximum likelihood; a result of 0.5 counts as half a win and half a loss.
    ///
    /// The covariance is c·A⁻¹BA⁻¹, clustered by game as in [`crate::fit::fit`], with c = G/(G-1)·(n-1)/(n-k).
    ///
    /// # Errors
    /// [`RegressionError`].
    pub fn fit(&self) -> Result<Regression, RegressionError> {
        let k = self.width;
        let undetermined = RegressionError::Undetermined { columns: k };
        let n = self.results.len();
        if k == 0 || n <= k {
            return Err(undetermined);
        }
        let mut beta = vec![0.0; k];
        let mut here = self.evaluate(&beta);
        let mut bread = None;
        for _ in 0..MOST_STEPS {
            let inverse = inverse(&here.hessian).ok_or(undetermined)?;
            let step: Vec<f64> = inverse.iter().map(|row| -dot(row, &here.gradient)).collect();
            // root mean square change of the logits; it does not vanish if a coefficient diverges
            let size = (self.iter().map(|(x, _)| dot(x, &step)).map(|z| z * z).sum::<f64>() / n as f64).sqrt();
            if size <= STEP_TOLERANCE {
                bread = Some(inverse);
                break;
            }
            let mut length = 1.0;
            loop {
                let next: Vec<f64> = beta.iter().zip(&step).map(|(b, s)| b + length * s).collect();
                let there = self.evaluate(&next);
                // near the minimum, differences of the loss are rounding errors
                if there.loss < here.loss || size < 1e-4 {
                    (beta, here) = (next, there);
                    break;
                }
                length *= 0.5;
                if length < 1e-6 {
                    return Err(undetermined);
                }
            }
        }
        let bread = bread.ok_or(undetermined)?;
        let (meat, games) = self.meat(&beta);
        if games <= k as u64 {
            return Err(RegressionError::TooFewGames { games, columns: k });
        }
        let (g, n) = (games as f64, n as f64);
        let c = g / (g - 1.0) * (n - 1.0) / (n - k as f64);
        let covariance = sandwich(&bread, &meat, c);
        Ok(Regression { coefficients: beta, covariance, samples: self.results.len() as u64, games })
    }

    fn evaluate(&self, beta: &[f64]) -> Evaluation {
        let k = self.width;
        let mut e = Evaluation { loss: 0.0, gradient: vec![0.0; k], hessian: vec![vec![0.0; k]; k] };
        for (x, y) in self.iter() {
            let z = dot(x, beta);
            let small = libm::exp(-z.abs());
            let p = (if z >= 0.0 { 1.0 } else { small }) / (1.0 + small);
            e.loss += libm::log1p(small) + if z >= 0.0 { z } else { 0.0 } - y * z;
            let (first, second) = (p - y, p * (1.0 - p));
            for i in 0..k {
                if x[i] == 0.0 {
                    continue;
                }
                e.gradient[i] += first * x[i];
                for j in 0..=i {
                    e.hessian[i][j] += second * x[i] * x[j];
                }
            }
        }
        for i in 0..k {
            for j in i + 1..k {
                e.hessian[i][j] = e.hessian[j][i];
            }
        }
        e
    }

    /// Σ over games of s sᵀ, and the number of games.
    fn meat(&self, beta: &[f64]) -> (Matrix, u64) {
        let k = self.width;
        let mut order: Vec<usize> = (0..self.games.len()).collect();
        // a stable sort, for the same sums on every machine
        order.sort_by_key(|&i| self.games[i]);
        let mut meat = vec![vec![0.0; k]; k];
        let mut games = 0;
        for game in order.chunk_by(|&a, &b| self.games[a] == self.games[b]) {
            let mut s = vec![0.0; k];
            for &row in game {
                let x = &self.values[row * k..(row + 1) * k];
                let z = dot(x, beta);
                let small = libm::exp(-z.abs());
                let p = (if z >= 0.0 { 1.0 } else { small }) / (1.0 + small);
                s.iter_mut().zip(x).for_each(|(s, x)| *s += (p - self.results[row]) * x);
            }
            for i in 0..k {
                for j in 0..k {
                    meat[i][j] += s[i] * s[j];
                }
            }
            games += 1;
        }
        (meat, games)
    }
}

type Matrix = Vec<Vec<f64>>;

struct Evaluation {
    loss: f64,
    gradient: Vec<f64>,
    hessian: Matrix,
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
        let covariance: Matrix = columns.iter().map(row).collect::<Option<_>>()?;
        wald(&beta, &covariance)
    }
}

/// Tests that values with this covariance are all 0; `None` if it is singular or there is no value.
pub fn wald(values: &[f64], covariance: &[Vec<f64>]) -> Option<Wald> {
    if values.is_empty() {
        return None;
    }
    let statistic = dot(values, &multiply(&inverse(covariance)?, values));
    let df = values.len() as u32;
    statistic.is_finite().then(|| Wald { statistic, df, p: chi_squared_tail(statistic, df) })
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn multiply(m: &[Vec<f64>], v: &[f64]) -> Vec<f64> {
    m.iter().map(|row| dot(row, v)).collect()
}

/// c·bread·meat·bread, made symmetric.
fn sandwich(bread: &[Vec<f64>], meat: &[Vec<f64>], c: f64) -> Matrix {
    let product = |a: &[Vec<f64>], b: &[Vec<f64>]| -> Matrix {
        let column = |j: usize| b.iter().map(|row| row[j]).collect::<Vec<f64>>();
        let columns: Vec<Vec<f64>> = (0..b.len()).map(column).collect();
        a.iter().map(|row| columns.iter().map(|column| dot(row, column)).collect()).collect()
    };
    let whole = product(&product(bread, meat), bread);
    let k = whole.len();
    (0..k).map(|i| (0..k).map(|j| c * 0.5 * (whole[i][j] + whole[j][i])).collect()).collect()
}

/// The inverse of a symmetric positive definite matrix by Cholesky decomposition; `None` for other matrices.
fn inverse(m: &[Vec<f64>]) -> Option<Matrix> {
    let k = m.len();
    // scale columns of very different size (scores and groups) to the same size
    let scale: Vec<f64> = (0..k).map(|i| m[i][i].sqrt()).collect();
    if scale.iter().any(|s| s.is_nan() || *s <= 0.0 || s.is_infinite()) {
        return None;
    }
    let mut l = vec![vec![0.0; k]; k];
    for i in 0..k {
        for j in 0..=i {
            let sum = m[i][j] / (scale[i] * scale[j]) - dot(&l[i][..j], &l[j][..j]);
            if i == j {
                if sum.is_nan() || sum <= 1e-12 {
                    return None;
                }
                l[i][i] = sum.sqrt();
            } else {
                l[i][j] = sum / l[j][j];
            }
        }
    }
    // the inverse is symmetric, so its columns are its rows
    let column = |c: usize| {
        let mut y = vec![0.0; k];
        for i in 0..k {
            let unit = if i == c { 1.0 } else { 0.0 };
            y[i] = (unit - dot(&l[i][..i], &y[..i])) / l[i][i];
        }
        for i in (0..k).rev() {
            let above: f64 = (i + 1..k).map(|j| l[j][i] * y[j]).sum();
            y[i] = (y[i] - above) / l[i][i];
        }
        y.iter().zip(&scale).map(|(y, s)| y / (s * scale[c])).collect()
    };
    Some((0..k).map(column).collect())
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

/// Corrects p values for multiple tests, in the given order (Holm, *A simple sequentially rejective multiple test
/// procedure*, 1979).
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    let mut corrected = vec![1.0; p.len()];
    let mut largest = 0.0_f64;
    for (rank, &i) in order.iter().enumerate() {
        largest = largest.max(((p.len() - rank) as f64 * p[i]).min(1.0));
        corrected[i] = largest;
    }
    corrected
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::{FitOptions, Method, Observation, fit};
    use crate::types::Outcome;

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
    fn holm_by_hand() {
        let corrected = holm(&[0.04, 0.01, 0.03, 0.5]);
        for (found, expected) in corrected.iter().zip([0.09, 0.04, 0.09, 0.5]) {
            assert!((found - expected).abs() < 1e-12, "{corrected:?}");
        }
        assert!(holm(&[]).is_empty());
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
        assert_eq!(same.fit(), Err(RegressionError::Undetermined { columns: 2 }));
        assert_eq!(split.fit(), Err(RegressionError::Undetermined { columns: 2 }));
        assert!(Rows::new(0).fit().is_err());
    }
}
