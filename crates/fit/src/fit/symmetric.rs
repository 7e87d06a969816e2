//! Symmetric matrices: Cholesky's factor, the closed form for two rows, and arrows.

use std::sync::Arc;

pub(crate) type Matrix = [[f64; 2]; 2];

/// The inverse of a symmetric positive definite matrix, `None` of any other.
pub(crate) fn inverse(m: &Matrix) -> Option<Matrix> {
    let [[a, b], [_, c]] = *m;
    let determinant = a * c - b * b;
    // the product bounds what rounding alone can leave of a zero determinant
    if !(a > 0.0 && c > 0.0 && determinant > 1e-14 * a * c && determinant.is_finite()) {
        return None;
    }
    Some([[c / determinant, -b / determinant], [-b / determinant, a / determinant]])
}

/// The matrix itself where it is positive definite, else with its diagonal raised until it is.
fn convex(m: &Matrix) -> Matrix {
    let [[a, b], [_, c]] = *m;
    if inverse(m).is_some() {
        return *m;
    }
    let lowest = 0.5 * (a + c) - (0.25 * (a - c) * (a - c) + b * b).sqrt();
    let shift = -lowest + 1e-3 * a.abs().max(c.abs()).max(f64::MIN_POSITIVE);
    [[a + shift, b], [b, c + shift]]
}

/// M⁻¹ v for a symmetric positive definite matrix, given by its rows; `None` for any other.
pub fn solve(matrix: &[impl AsRef<[f64]>], v: &[f64]) -> Option<Vec<f64>> {
    let mut square = Square::zero(v.len());
    for (i, row) in matrix.iter().enumerate().take(v.len()) {
        row.as_ref().iter().enumerate().take(i + 1).for_each(|(j, value)| square.add(i, j, *value));
    }
    Some(square.cholesky()?.solve(v))
}

/// vᵀ M⁻¹ v, likewise.
pub fn inverse_form(matrix: &[Vec<f64>], v: &[f64]) -> Option<f64> {
    Some(solve(matrix, v)?.iter().zip(v).map(|(a, b)| a * b).sum())
}

/// A symmetric matrix, stored as its lower triangle, or a lower triangular one.
#[derive(Debug, Clone, PartialEq)]
pub struct Square {
    size: usize,
    entries: Vec<f64>,
}

impl Square {
    pub fn zero(size: usize) -> Self {
        Self { size, entries: vec![0.0; size * size] }
    }

    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// An entry on or below the diagonal.
    pub fn at(&self, row: usize, column: usize) -> f64 {
        self.entries[row * self.size + column]
    }

    /// Adds to an entry; of two mirrored entries the lower one is stored.
    pub fn add(&mut self, row: usize, column: usize, value: f64) {
        let (row, column) = (row.max(column), row.min(column));
        self.entries[row * self.size + column] += value;
    }

    /// L M Lᵀ, with the rows of L given.
    pub(crate) fn transformed(&self, rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let entry = |i: usize, j: usize| self.at(i.max(j), i.min(j));
        let product = |a: &[f64], b: &[f64]| -> f64 {
            let pairs = (0..self.size).flat_map(|i| (0..self.size).map(move |j| (i, j)));
            pairs.map(|(i, j)| a[i] * entry(i, j) * b[j]).sum()
        };
        let lower = |i: usize, j: usize| product(&rows[i.max(j)], &rows[i.min(j)]);
        (0..rows.len()).map(|i| (0..rows.len()).map(|j| lower(i, j)).collect()).collect()
    }

    /// A matrix of two rows.
    pub(crate) fn two(m: &Matrix) -> Self {
        Self { size: 2, entries: m.as_flattened().to_vec() }
    }

    /// The two rows of a matrix of that size.
    pub(crate) fn to_two(&self) -> Option<Matrix> {
        match *self.entries.as_slice() {
            [a, _, b, c] => Some([[a, b], [b, c]]),
            _ => None,
        }
    }

    /// The lower factor L of L Lᵀ, `None` where the matrix is not positive definite.
    ///
    /// Row by row. The sums of a row run along its columns side by side, each in the order of its terms, so that the
    /// processor need not wait for one addition before it begins the next.
    pub fn cholesky(&self) -> Option<Cholesky> {
        self.clone().into_factor(&self.diagonal())
    }

    fn diagonal(&self) -> Vec<f64> {
        (0..self.size).map(|i| self.at(i, i)).collect()
    }

    /// The same; `sizes` are those of which the entries of the diagonal may be what is left after rounding.
    fn into_factor(mut self, sizes: &[f64]) -> Option<Cholesky> {
        let k = self.size;
        let mut columns = Self::zero(k);
        let mut first = vec![0; k];
        let mut dots = vec![0.0; k];
        for i in 0..k {
            first[i] = (0..i).find(|&j| self.at(i, j) != 0.0).unwrap_or(i);
            dots[..=i].fill(0.0);
            for j in first[i]..i {
                let entry = (self.at(i, j) - dots[j]) / self.at(j, j);
                add_times(&mut dots[j + 1..i], entry, &columns.entries[j * k + j + 1..][..i - j - 1]);
                dots[i] += entry * entry;
                self.entries[i * k + j] = entry;
                columns.entries[j * k + i] = entry;
            }
            let rest = self.at(i, i) - dots[i];
            // what is left of a zero by rounding is not positive
            let positive = rest > 1e-13 * sizes[i].abs() && rest.is_finite();
            self.entries[i * k + i] = positive.then(|| rest.sqrt())?;
        }
        Some(Cholesky { rows: self, columns, first })
    }

    /// The factor of the matrix with its diagonal raised by as little as makes it positive definite, by powers of ten.
    /// Each entry is raised by its own size: parameters of other units are not held fast.
    pub(crate) fn raised_cholesky(&self) -> Option<Cholesky> {
        let sizes: Vec<f64> = self.diagonal().iter().map(|size| size.abs()).collect();
        let least = sizes.iter().fold(f64::MIN_POSITIVE, |m, size| m.max(*size)) * 1e-9;
        (-6..=9).find_map(|power| {
            let mut raised = self.clone();
            sizes.iter().enumerate().for_each(|(i, size)| raised.add(i, i, size.max(least) * 10f64.powi(power)));
            raised.cholesky()
        })
    }
}

/// The second derivatives of a loss.
pub(crate) trait Curvature: Clone {
    fn add_all(&mut self, other: &Self);

    fn scaled(self, factor: f64) -> Self;

    /// The Newton step -H⁻¹g of this Hessian and whether it is positive definite. One that is not has its diagonal
    /// raised until it is; `None` where no finite step comes of that.
    fn newton_step(&self, gradient: &[f64]) -> Option<(Vec<f64>, bool)>;

    /// The inverse, or that of the matrix with its diagonal raised until it is positive definite.
    fn raised_inverse(&self) -> Option<Square>;
}

impl Curvature for Square {
    fn add_all(&mut self, other: &Self) {
        self.entries.iter_mut().zip(&other.entries).for_each(|(a, b)| *a += b);
    }

    fn scaled(mut self, factor: f64) -> Self {
        self.entries.iter_mut().for_each(|e| *e *= factor);
        self
    }

    fn newton_step(&self, gradient: &[f64]) -> Option<(Vec<f64>, bool)> {
        let (step, is_bowl) = match (self.to_two(), gradient) {
            // the closed form: most searches are for the two parameters of the sigmoid
            (Some(m), &[g0, g1]) => {
                let plain = inverse(&m);
                let h = plain.or_else(|| inverse(&convex(&m)))?;
                let step = vec![-(h[0][0] * g0 + h[0][1] * g1), -(h[1][0] * g0 + h[1][1] * g1)];
                (step, plain.is_some())
            }
            _ => {
                let plain = self.cholesky();
                let is_bowl = plain.is_some();
                let factor = plain.or_else(|| self.raised_cholesky())?;
                (factor.solve(gradient).iter().map(|s| -s).collect(), is_bowl)
            }
        };
        step.iter().all(|s| s.is_finite()).then_some((step, is_bowl))
    }

    fn raised_inverse(&self) -> Option<Self> {
        if let Some(m) = self.to_two() {
            return inverse(&convex(&m)).map(|m| Self::two(&m));
        }
        Some(self.cholesky().or_else(|| self.raised_cholesky())?.inverse())
    }
}

/// The product of two vectors.
#[inline(never)] // callers in crates that are not optimised get the optimised one
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Adds a multiple of `by` to `sums`.
#[inline(never)] // as above
pub fn add_times(sums: &mut [f64], factor: f64, by: &[f64]) {
    sums.iter_mut().zip(by).for_each(|(sum, by)| *sum += factor * by);
}

/// Adds a multiple of v vᵀ to a matrix, given row by row.
#[inline(never)] // as above
pub fn add_squares(sums: &mut [f64], factor: f64, v: &[f64]) {
    sums.chunks_exact_mut(v.len().max(1)).zip(v).for_each(|(row, a)| add_times(row, factor * a, v));
}

/// The factor L of a positive definite matrix L Lᵀ.
#[derive(Debug, Clone)]
pub struct Cholesky {
    rows: Square,
    /// the same below the diagonal, by columns
    columns: Square,
    /// the column of the first entry of each row
    first: Vec<usize>,
}

impl Cholesky {
    pub(crate) fn size(&self) -> usize {
        self.rows.size
    }

    /// The x of L Lᵀ x = right.
    pub fn solve(&self, right: &[f64]) -> Vec<f64> {
        let (mut x, k) = (right.to_vec(), right.len());
        let mut dots = vec![0.0; k];
        for i in 0..k {
            x[i] = (x[i] - dots[i]) / self.rows.at(i, i);
            // the rows below a zero at the beginning of `right` have nothing to add
            if x[i] != 0.0 {
                add_times(&mut dots[i + 1..], x[i], &self.columns.entries[i * k + i + 1..(i + 1) * k]);
            }
        }
        for i in (0..k).rev() {
            x[i] /= self.rows.at(i, i);
            let (value, first) = (x[i], self.first[i]);
            add_times(&mut x[first..i], -value, &self.rows.entries[i * k + first..i * k + i]);
        }
        x
    }

    /// The inverse of L Lᵀ, its lower triangle.
    pub(crate) fn inverse(&self) -> Square {
        let k = self.size();
        let mut inverse = Square::zero(k);
        for j in 0..k {
            let mut unit = vec![0.0; k];
            unit[j] = 1.0;
            let column = self.solve(&unit);
            for (i, value) in column.iter().enumerate().skip(j) {
                inverse.entries[i * k + j] = *value;
            }
        }
        inverse
    }
}

/// Where an [`Arrow`] has entries beside its diagonal and its tail.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Pattern {
    /// where the columns of each leading row begin, and the end
    pub starts: Vec<usize>,
    /// columns of the tail, ascending in each row
    pub columns: Vec<u32>,
}

impl Pattern {
    /// The entries of a leading row.
    pub(crate) fn of(&self, row: usize) -> std::ops::Range<usize> {
        self.starts[row]..self.starts[row + 1]
    }
}

/// A symmetric matrix whose leading rows have entries on the diagonal and with the last rows, the tail, only.
#[derive(Debug, Clone)]
pub(crate) struct Arrow {
    pub pattern: Arc<Pattern>,
    pub diagonal: Vec<f64>,
    /// the entries of the pattern
    pub edges: Vec<f64>,
    pub tail: Square,
}

impl Arrow {
    /// The factor of the matrix, `None` where it is not positive definite.
    pub(crate) fn factor(&self) -> Option<ArrowFactor> {
        let mut rest = self.tail.clone();
        for (row, d) in self.diagonal.iter().enumerate() {
            if !(*d > 0.0 && d.is_finite()) {
                return None;
            }
            let range = self.pattern.of(row);
            let (columns, edges) = (&self.pattern.columns[range.clone()], &self.edges[range]);
            for (a, (&i, x)) in columns.iter().zip(edges).enumerate().filter(|(_, (_, x))| **x != 0.0) {
                let (by, at) = (x / d, i as usize * rest.size);
                columns[..=a].iter().zip(edges).for_each(|(&j, y)| rest.entries[at + j as usize] -= by * y);
            }
        }
        let tail = rest.into_factor(&self.tail.diagonal())?;
        let Self { pattern, diagonal, edges, .. } = self;
        Some(ArrowFactor { pattern: Arc::clone(pattern), diagonal: diagonal.clone(), edges: edges.clone(), tail })
    }

    /// The factor of the matrix with what is not positive in it raised: a leading row to the size of its entry, or of
    /// its gradient if that is larger, so that its step is not longer than one; the tail as
    /// [`Square::raised_cholesky`] does. Rows that are positive keep their Newton steps.
    fn raised(&self, gradient: &[f64]) -> Option<ArrowFactor> {
        let all = || self.diagonal.iter().copied().chain(self.tail.diagonal()).map(f64::abs);
        let least = all().fold(f64::MIN_POSITIVE, f64::max) * 1e-9;
        let mut raised = self.clone();
        let not_positive = raised.diagonal.iter_mut().zip(gradient).filter(|(d, _)| **d <= 0.0);
        not_positive.for_each(|(d, g)| *d = d.abs().max(g.abs()).max(least));
        let with_tail = |power: i32| {
            let mut raised = raised.clone();
            let by = |size: f64| size.abs().max(least) * 10f64.powi(power);
            (0..self.tail.size).for_each(|i| raised.tail.add(i, i, by(self.tail.at(i, i))));
            raised.factor()
        };
        raised.factor().or_else(|| (-6..=9).find_map(with_tail))
    }
}

impl Curvature for Arrow {
    fn add_all(&mut self, other: &Self) {
        self.diagonal.iter_mut().zip(&other.diagonal).for_each(|(a, b)| *a += b);
        self.edges.iter_mut().zip(&other.edges).for_each(|(a, b)| *a += b);
        self.tail.add_all(&other.tail);
    }

    fn scaled(mut self, factor: f64) -> Self {
        self.diagonal.iter_mut().chain(&mut self.edges).for_each(|e| *e *= factor);
        self.tail = self.tail.scaled(factor);
        self
    }

    fn newton_step(&self, gradient: &[f64]) -> Option<(Vec<f64>, bool)> {
        let plain = self.factor();
        let is_bowl = plain.is_some();
        let factor = plain.or_else(|| self.raised(gradient))?;
        let step: Vec<f64> = factor.solve(gradient).iter().map(|s| -s).collect();
        step.iter().all(|s| s.is_finite()).then_some((step, is_bowl))
    }

    fn raised_inverse(&self) -> Option<Square> {
        None
    }
}

/// The factor of an arrow: what is left of the tail when the leading rows are eliminated.
#[derive(Debug, Clone)]
pub(crate) struct ArrowFactor {
    pattern: Arc<Pattern>,
    pub diagonal: Vec<f64>,
    edges: Vec<f64>,
    pub tail: Cholesky,
}

impl ArrowFactor {
    /// The entries of a leading row, with their columns of the tail.
    pub(crate) fn edges(&self, row: usize) -> impl Iterator<Item = (usize, f64)> {
        let range = self.pattern.of(row);
        let columns = self.pattern.columns[range.clone()].iter();
        columns.zip(&self.edges[range]).map(|(column, value)| (*column as usize, *value))
    }

    /// The x of A x = right.
    pub(crate) fn solve(&self, right: &[f64]) -> Vec<f64> {
        let n = self.diagonal.len();
        let mut tail = right[n..].to_vec();
        for (row, d) in self.diagonal.iter().enumerate() {
            let by = right[row] / d;
            self.edges(row).for_each(|(column, value)| tail[column] -= value * by);
        }
        let tail = self.tail.solve(&tail);
        let of = |row: usize| {
            let sum: f64 = self.edges(row).map(|(column, value)| value * tail[column]).sum();
            (right[row] - sum) / self.diagonal[row]
        };
        (0..n).map(of).chain(tail.iter().copied()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 4 engines with two parameters each and a shared one: an arrow.
    fn arrow() -> Square {
        let mut m = Square::zero(9);
        for e in 0..4 {
            m.add(2 * e, 2 * e, 3.0 + e as f64);
            m.add(2 * e + 1, 2 * e + 1, 2.0);
            m.add(2 * e + 1, 2 * e, 0.5);
            m.add(8, 2 * e, 0.3);
            m.add(8, 2 * e + 1, -0.2);
        }
        m.add(8, 8, 5.0);
        m
    }

    #[test]
    fn a_factor_solves_and_keeps_zeros() {
        let m = arrow();
        let factor = m.cholesky().unwrap();
        assert_eq!(factor.first, [0, 0, 2, 2, 4, 4, 6, 6, 0]);
        let right: Vec<f64> = (0..9).map(|i| f64::from(i) - 3.5).collect();
        let x = factor.solve(&right);
        let inverse = factor.inverse();
        for i in 0..9 {
            let entry = |m: &Square, j: usize| m.at(i.max(j), i.min(j));
            let back: f64 = (0..9).map(|j| entry(&m, j) * x[j]).sum();
            assert!((back - right[i]).abs() < 1e-12);
            let same: f64 = (0..9).map(|j| entry(&inverse, j) * right[j]).sum();
            assert!((same - x[i]).abs() < 1e-12);
        }
    }

    #[test]
    fn an_arrow_is_solved_as_the_whole_matrix() {
        let pattern = Pattern { starts: vec![0, 2, 3, 3, 5], columns: vec![0, 2, 1, 1, 2] };
        let mut tail = Square::zero(3);
        for (i, j, v) in [(0, 0, 4.0), (1, 1, 5.0), (2, 2, 6.0), (2, 0, 0.5), (2, 1, -1.0)] {
            tail.add(i, j, v);
        }
        let edges = vec![0.5, -1.0, 0.7, 0.3, 0.2];
        let mut arrow = Arrow { pattern: Arc::new(pattern), diagonal: vec![2.0, 3.0, 1.0, 0.5], edges, tail };
        let whole = |arrow: &Arrow| {
            let mut whole = Square::zero(7);
            for (row, d) in arrow.diagonal.iter().enumerate() {
                whole.add(row, row, *d);
                arrow
                    .pattern
                    .of(row)
                    .for_each(|e| whole.add(4 + arrow.pattern.columns[e] as usize, row, arrow.edges[e]));
            }
            (0..3).for_each(|i| (0..=i).for_each(|j| whole.add(4 + i, 4 + j, arrow.tail.at(i, j))));
            whole
        };
        let right = [1.0, -2.0, 3.0, 0.5, -0.7, 2.0, 0.1];
        let same = |arrow: &Arrow, whole: &Square, bowl: bool| {
            let (step, is_bowl) = arrow.newton_step(&right).unwrap();
            let expected = whole.cholesky().unwrap().solve(&right);
            assert_eq!(is_bowl, bowl);
            step.iter().zip(&expected).for_each(|(a, b)| assert!((a + b).abs() < 1e-9 * b.abs().max(1.0), "{a} {b}"));
        };
        same(&arrow, &whole(&arrow), true);
        // a row that is not positive gets the size of its gradient, or its own; the others keep theirs
        for (entry, size) in [(-1.0, 3.0), (-4.0, 4.0)] {
            arrow.diagonal[2] = entry;
            let mut raised = whole(&arrow);
            raised.add(2, 2, size - entry);
            same(&arrow, &raised, false);
        }
        // a tail that is not positive is raised by the least power of ten
        arrow.diagonal[2] = 1.0;
        arrow.tail.add(1, 1, -5.0);
        let raised = |power: i32| {
            let mut raised = whole(&arrow);
            let by = |size: f64| size.max(6e-9) * 10f64.powi(power);
            (0..3).for_each(|i| raised.add(4 + i, 4 + i, by(arrow.tail.at(i, i).abs())));
            raised.cholesky().map(|_| raised)
        };
        same(&arrow, &(-6..=9).find_map(raised).unwrap(), false);
    }

    #[test]
    fn matrices_that_are_not_positive_have_no_factor_until_raised() {
        let mut m = Square::zero(2);
        m.add(0, 0, 1.0);
        m.add(1, 0, 1.0);
        m.add(1, 1, 1.0);
        assert!(m.cholesky().is_none() && m.raised_cholesky().is_some());
        let mut nan = Square::zero(1);
        nan.add(0, 0, f64::NAN);
        assert!(nan.cholesky().is_none() && nan.raised_cholesky().is_none());
    }

    #[test]
    fn only_positive_definite_matrices_have_an_inverse() {
        assert_eq!(inverse(&[[2.0, 0.0], [0.0, 4.0]]), Some([[0.5, 0.0], [0.0, 0.25]]));
        for m in [[[0.0, 0.0], [0.0, 0.0]], [[1.0, 1.0], [1.0, 1.0]], [[-1.0, 0.0], [0.0, 1.0]], [[f64::NAN; 2]; 2]] {
            assert_eq!(inverse(&m), None);
        }
        assert!(inverse(&convex(&[[-1.0, 2.0], [2.0, 0.5]])).is_some());
    }
}
