//! A table of [`likelihood::log_ratio`]. The optimal rule needs it for every vote, and its logarithms and error
//! functions would take most of the time of a simulation.

use evalcurve_rules::likelihood;

/// Steps of the table and its half width in standard deviations.
const STEPS: usize = 512;
const HALF_WIDTH: f64 = 10.0;

/// Upper bound of the interpolation error: h²/8 times the largest second derivative in x/s, which is below 1 for ln Φ.
pub(super) const TOLERANCE: f64 = (2.0 * HALF_WIDTH / STEPS as f64) * (2.0 * HALF_WIDTH / STEPS as f64) / 8.0 + 1e-9;

/// ln(Gx Ey / Gy Ex) of an engine as a function of V - A.
#[derive(Debug, Clone)]
pub(super) struct RatioTable {
    gap: f64,
    noise: f64,
    per_step: f64,
    /// The value at each step, and the difference to the next.
    steps: Vec<[f64; 2]>,
}

impl RatioTable {
    pub(super) fn new(gap: f64, noise: f64) -> Self {
        let step = 2.0 * HALF_WIDTH * noise / STEPS as f64;
        let at = |k: usize| (k as f64) * step - HALF_WIDTH * noise;
        let value = |k| likelihood::log_ratio(at(k), 0.0, gap, noise);
        let steps = (0..STEPS).map(|k| [value(k), value(k + 1) - value(k)]).collect();
        Self { gap, noise, per_step: 1.0 / step, steps }
    }

    /// Within [`TOLERANCE`] of [`Self::exact`].
    #[inline(always)]
    pub(super) fn near(&self, above_best: f64) -> f64 {
        let place = above_best * self.per_step + (STEPS / 2) as f64;
        let at = place as u32; // a negative number becomes 0
        match self.steps.get(at as usize) {
            Some(&[value, growth]) if place >= 0.0 => value + growth * (place - f64::from(at)),
            _ => self.exact(above_best),
        }
    }

    #[cold]
    pub(super) fn exact(&self, above_best: f64) -> f64 {
        likelihood::log_ratio(above_best, 0.0, self.gap, self.noise)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_of_the_table_is_within_tolerance() {
        for (gap, noise) in [(1.0, 1.0), (1.0, 0.1), (0.3, 3.0), (5.0, 1.0)] {
            let table = RatioTable::new(gap, noise);
            for k in -13_000..13_000 {
                let v = f64::from(k) * 1e-3 * noise;
                let off = (table.near(v) - table.exact(v)).abs();
                assert!(off <= TOLERANCE, "gap {gap}, noise {noise}, V - A = {v}: error {off}");
            }
        }
    }
}
