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
    // sums, not means, so that pools of results are exact
    let mut pools: Vec<(usize, usize, f64, f64)> = Vec::new();
    let mut push = |mut here: (usize, usize, f64, f64)| {
        while let Some(&(first, _, before, mass)) = pools.last() {
            // before/mass >= here/weight, without division
            if before * here.3 < here.2 * mass {
                break;
            }
            here = (first, here.1, before + here.2, mass + here.3);
            pools.pop();
        }
        pools.push(here);
    };
    let mut values = values.into_iter();
    let Some(mut last) = values.next() else { return pools };
    let mut here = (0, 0, last.0, last.1);
    for (i, (sum, weight)) in (1..).zip(values) {
        // values that do not rise share a pool whatever is before them
        if last.0 * weight < sum * last.1 {
            push(here);
            here = (i, i, sum, weight);
        } else {
            here = (here.0, i, here.2 + sum, here.3 + weight);
        }
        last = (sum, weight);
    }
    push(here);
    pools
}
