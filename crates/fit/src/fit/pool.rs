//! Isotonic regression by pooling adjacent violators (PAV; Ayer, Brunk, Ewing, Reid and Silverman, Annals of
//! Mathematical Statistics 1955).

/// A pool of neighbouring values and the mean of what was pooled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pool {
    /// Index of the first pooled value.
    pub first: usize,
    /// Index of the last one.
    pub last: usize,
    /// Sum of the weights.
    pub weight: f64,
    /// Weighted mean.
    pub mean: f64,
}

/// The non-decreasing sequence of least Σ weight (fit - mean)², as pools of equal fit. `(sum, weight)` of each
/// value in ascending order of the values; weights must not be 0.
pub fn pool_adjacent_violators(values: impl IntoIterator<Item = (f64, f64)>) -> Vec<Pool> {
    let pool = |(first, last, sum, weight): (usize, usize, f64, f64)| Pool { first, last, weight, mean: sum / weight };
    pooled(values).into_iter().map(pool).collect()
}

/// The first and the last index, the sum and the weight of each pool.
pub(crate) fn pooled(values: impl IntoIterator<Item = (f64, f64)>) -> Vec<(usize, usize, f64, f64)> {
    let values = values.into_iter();
    // sums, not means, so that pools of results are exact
    let mut pools: Vec<(usize, usize, f64, f64)> = Vec::with_capacity(values.size_hint().1.unwrap_or(0));
    for (i, (sum, weight)) in values.enumerate() {
        let mut here = (i, i, sum, weight);
        while let Some(&(first, _, before, mass)) = pools.last() {
            // before/mass >= here/weight, without division
            if before * here.3 < here.2 * mass {
                break;
            }
            here = (first, here.1, before + here.2, mass + here.3);
            pools.pop();
        }
        pools.push(here);
    }
    pools
}
