//! Several tests at once.

/// Corrects p values for multiple tests, in the given order (Holm, *A simple sequentially rejective multiple test
/// procedure*, 1979): never larger than those of Bonferroni, with the same guarantee.
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

/// Which of some p values are significant together; those that are not known are not.
pub fn significant(p: &[Option<f64>], level: f64) -> Vec<bool> {
    let mut corrected = holm(&p.iter().flatten().copied().collect::<Vec<_>>()).into_iter();
    p.iter().map(|p| p.and_then(|_| corrected.next()).is_some_and(|p| p <= level)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holm_by_hand() {
        let corrected = holm(&[0.04, 0.01, 0.03, 0.5]);
        for (found, expected) in corrected.iter().zip([0.09, 0.04, 0.09, 0.5]) {
            assert!((found - expected).abs() < 1e-12, "{corrected:?}");
        }
        assert!(holm(&[]).is_empty());
    }

    #[test]
    fn holm_divides_the_level_by_what_is_left() {
        let chances = [Some(0.03), None, Some(0.01), Some(0.04)];
        assert_eq!(significant(&chances, 0.05), [false, false, true, false]);
        assert_eq!(significant(&[Some(0.03), Some(0.01), Some(0.02)], 0.06), [true, true, true]);
    }
}
