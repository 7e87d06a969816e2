//! The samples whose mismatch is measured, and the bins that they are cut into.

/// Number of quantile bins of the pooled values.
const QUANTILE_BINS: usize = 20;

/// Cells of an engine with fewer samples than this are left out.
pub(crate) const MIN_CELL: u64 = 5;

/// One sample on a common scale.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct MismatchRow {
    /// Which engine gave the score; any numbering from 0.
    pub(crate) engine: usize,
    /// The score on the scale under test (a transform of centipawns), never NaN.
    pub(crate) value: f64,
    /// The result for the engine: 1, 0.5 or 0, or relative to an expectation.
    pub(crate) result: f64,
}

/// The upper edges of all quantile bins but the last: bin t holds the values that lie above edge t - 1 and not above
/// edge t. Equal values always share a bin.
pub(crate) fn quantile_edges(rows: &[MismatchRow]) -> Vec<f64> {
    let mut values: Vec<f64> = rows.iter().map(|row| row.value).collect();
    values.sort_unstable_by(f64::total_cmp);
    let last = values.len().saturating_sub(1);
    (1..QUANTILE_BINS).filter_map(|j| values.get(j * last / QUANTILE_BINS).copied()).collect()
}
