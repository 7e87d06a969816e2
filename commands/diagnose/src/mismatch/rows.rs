//! How well a scale compares engines: the mismatch M² of samples on it.

use std::collections::BTreeMap;

/// Number of quantile bins of the pooled values in [`scale_mismatch`].
const QUANTILE_BINS: usize = 20;

/// Cells of an engine with fewer samples than this are left out of [`scale_mismatch`].
pub(crate) const MIN_CELL: u64 = 5;

/// One sample for [`scale_mismatch`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct MismatchRow {
    /// Which engine gave the score; any numbering.
    pub(crate) engine: usize,
    /// The score on the scale under test (a transform of centipawns). Rows with NaN are left out.
    pub(crate) value: f64,
    /// The result for the engine: 1, 0.5 or 0, or relative to an expectation.
    pub(crate) result: f64,
}

/// How far equal values on a common scale are from meaning equal results.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Mismatch {
    /// M², unbiased and therefore negative at times; square of a result.
    pub(crate) m_squared: f64,
    /// √max(0, M²), in units of the result.
    pub(crate) m: f64,
    /// Number of quantile bins with at least one cell.
    pub(crate) bins_used: usize,
    /// Number of samples N in the cells used.
    pub(crate) samples: u64,
}

/// The scale mismatch M² of a transform over engines; `None` where no engine has 5 samples in any bin.
///
/// The pooled values are cut into 20 quantile bins t; cells (engine e, bin t) with fewer than 5 samples are left
/// out; ȳ_e and ȳ are the mean results of cell and bin, n_e and n their counts, N the total after that, s² the
/// bin's sample variance (ddof 1):
///
/// M² = Σ_t n/N Σ_e n_e/n [ (ȳ_e - ȳ)² - s²(1/n_e - 1/n) ].
///
/// The term of s² subtracts what sampling alone adds, so that M² is 0 on average where the scale is good.
/// Equal values always share a bin, with the edges of `pandas.qcut`; the order of the rows does not matter.
pub(crate) fn scale_mismatch(rows: &Sorted) -> Option<Mismatch> {
    let edges = rows.quantile_edges();

    let (mut weighted, mut samples, mut bins_used) = (0.0, 0u64, 0);
    let mut rest = rows.0.as_slice();
    for t in 0..QUANTILE_BINS {
        // bin t ends with the last value that its upper edge does not lie below
        let end = edges.get(t).map_or(rest.len(), |edge| rest.partition_point(|r| r.value <= *edge));
        let (bin, tail) = rest.split_at(end);
        rest = tail;
        if let Some((n, spread)) = bin_mismatch(bin) {
            weighted += n as f64 * spread;
            samples += n;
            bins_used += 1;
        }
    }
    if samples == 0 {
        return None;
    }
    let m_squared = weighted / samples as f64;
    Some(Mismatch { m_squared, m: m_squared.max(0.0).sqrt(), bins_used, samples })
}

/// The rows with a value, sorted by all columns, so that the order of sums does not depend on the order of the input.
pub(crate) struct Sorted(Vec<MismatchRow>);

impl Sorted {
    pub(crate) fn new(rows: &[MismatchRow]) -> Self {
        let mut sorted: Vec<MismatchRow> = rows.iter().filter(|r| !r.value.is_nan()).copied().collect();
        sorted.sort_unstable_by(|a, b| {
            a.value.total_cmp(&b.value).then(a.engine.cmp(&b.engine)).then(a.result.total_cmp(&b.result))
        });
        Self(sorted)
    }

    /// The upper edges of all quantile bins but the last: bin t holds the values that lie above edge t - 1 and not
    /// above edge t.
    pub(crate) fn quantile_edges(&self) -> Vec<f64> {
        let last = self.0.len().saturating_sub(1);
        (1..QUANTILE_BINS).filter_map(|j| Some(self.0.get(j * last / QUANTILE_BINS)?.value)).collect()
    }
}

/// Samples n of a bin's cells and Σ_e n_e/n [ (ȳ_e - ȳ)² - s²(1/n_e - 1/n) ].
fn bin_mismatch(bin: &[MismatchRow]) -> Option<(u64, f64)> {
    // per engine: count, Σy
    let mut cells: BTreeMap<usize, (u64, f64)> = BTreeMap::new();
    for row in bin {
        let cell = cells.entry(row.engine).or_default();
        cell.0 += 1;
        cell.1 += row.result;
    }
    cells.retain(|_, cell| cell.0 >= MIN_CELL);
    let n: u64 = cells.values().map(|c| c.0).sum();
    if n == 0 {
        return None;
    }
    let count = n as f64;
    let mean = cells.values().map(|c| c.1).sum::<f64>() / count;
    let scatter: f64 =
        bin.iter().filter(|r| cells.contains_key(&r.engine)).map(|r| (r.result - mean) * (r.result - mean)).sum();
    let variance = scatter / (count - 1.0);
    let spread = cells
        .values()
        .map(|&(cell, sum)| {
            let cell = cell as f64;
            let gap = sum / cell - mean;
            cell / count * (gap * gap - variance * (1.0 / cell - 1.0 / count))
        })
        .sum();
    Some((n, spread))
}

#[cfg(test)]
mod tests {
    use super::*;
    use evalcurve_words::random;

    /// Two engines with p = logistic(value) and p = logistic(value - shift), by inversion of a counter-based draw.
    fn two_engines(shift: f64) -> Vec<MismatchRow> {
        (0..20_000u64)
            .map(|i| {
                let engine = (i % 2) as usize;
                let value = 4.0 * random::unit(&[1, i]) - 2.0;
                let p = 1.0 / (1.0 + libm::exp(-(value - shift * engine as f64)));
                let result = f64::from(u8::from(random::unit(&[2, i]) < p));
                MismatchRow { engine, value, result }
            })
            .collect()
    }

    #[test]
    fn mismatch_is_near_zero_on_a_good_scale_and_large_on_a_bad_one() {
        let good = scale_mismatch(&Sorted::new(&two_engines(0.0))).unwrap();
        assert_eq!((good.bins_used, good.samples), (20, 20_000));
        assert!(good.m_squared.abs() < 2e-4, "{good:?}");
        // the means differ by about 0.2 in the middle, so each is 0.1 off the pooled mean
        let bad = scale_mismatch(&Sorted::new(&two_engines(1.0))).unwrap();
        assert!((0.08..0.12).contains(&bad.m), "{bad:?}");
    }

    #[test]
    fn mismatch_of_a_worked_example() {
        // one bin only, since all values are equal; engine 0: 4 of 5, engine 1: 2 of 5, engine 2 too small
        let row = |engine, result| MismatchRow { engine, value: 3.0, result };
        let mut rows: Vec<_> = [1.0, 1.0, 1.0, 1.0, 0.0].into_iter().map(|y| row(0, y)).collect();
        rows.extend([1.0, 1.0, 0.0, 0.0, 0.0].into_iter().map(|y| row(1, y)));
        rows.push(row(2, 1.0));
        rows.push(MismatchRow { engine: 0, value: f64::NAN, result: 1.0 });
        let m = scale_mismatch(&Sorted::new(&rows)).unwrap();
        // ȳ = 0.6, s² = 2.4/9, M² = 0.04 - s²(1/5 - 1/10)
        assert!((m.m_squared - (0.04 - 2.4 / 9.0 * 0.1)).abs() < 1e-15);
        assert_eq!((m.bins_used, m.samples), (1, 10));
        assert_eq!(scale_mismatch(&Sorted::new(&[])), None);
        assert_eq!(scale_mismatch(&Sorted::new(&rows[..3])), None);
    }

    #[test]
    fn mismatch_does_not_depend_on_the_order() {
        for seed in 0..256 {
            let row = |i: u64| {
                let draw = |key: u64, below: u64| random::below(below, &[seed, i, key]);
                let (value, result) = (0.1 * (draw(2, 10) as f64 - 5.0), 0.5 * draw(3, 3) as f64);
                MismatchRow { engine: draw(1, 3) as usize, value, result }
            };
            let rows: Vec<MismatchRow> = (0..1 + random::below(299, &[seed])).map(row).collect();
            let mut keyed: Vec<_> = rows.iter().copied().enumerate().collect();
            keyed.sort_by_key(|(i, _)| random::bits(&[seed, *i as u64]));
            let shuffled: Vec<_> = keyed.into_iter().map(|(_, r)| r).collect();
            assert_eq!(scale_mismatch(&Sorted::new(&rows)), scale_mismatch(&Sorted::new(&shuffled)), "{seed}");
        }
    }
}
