//! The quantiles that 95% intervals are made with.

/// The normal quantile of a two-sided 95% interval.
pub const Z_95: f64 = 1.959_963_984_540_054;

/// The quantile of Student's t with `degrees` of freedom that belongs to the normal quantile `z`, by the expansion of
/// Cornish and Fisher (Abramowitz and Stegun 26.7.5): exact to 1e-5 from 10 degrees on, too small below 4.
pub fn student_quantile(z: f64, degrees: f64) -> f64 {
    let v = degrees.max(1.0);
    let s = z * z;
    let terms = [
        (s + 1.0) / 4.0,
        ((5.0 * s + 16.0) * s + 3.0) / 96.0,
        (((3.0 * s + 19.0) * s + 17.0) * s - 15.0) / 384.0,
        ((((79.0 * s + 776.0) * s + 1482.0) * s - 1920.0) * s - 945.0) / 92_160.0,
    ];
    z * terms.iter().rev().fold(0.0, |sum, term| (sum + term) / v) + z
}

/// The quantile of 95% intervals whose variance was estimated from this many games: Student's t with one degree of
/// freedom less.
pub fn quantile_95(games: u64) -> f64 {
    student_quantile(Z_95, games as f64 - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_student_are_those_of_tables() {
        // scipy.stats.t.ppf(0.975, degrees)
        let table = [(10.0, 2.228_138_852), (29.0, 2.045_229_642), (99.0, 1.984_216_952), (1e9, 1.959_963_987)];
        for (degrees, expected) in table {
            let found = student_quantile(Z_95, degrees);
            assert!((found - expected).abs() < 1e-5, "{degrees}: {found}");
        }
    }
}
