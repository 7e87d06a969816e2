//! The likelihood of a result where a share of the results follows no score: P = low + (1 - low - high) σ(z).
//!
//! Wichmann and Hill, *The psychometric function: I. Fitting, sampling, and goodness of fit*, Perception &
//! Psychophysics
//! 2001.

use evalcurve_calibration::logistic::Logistic;

/// Negative log likelihood of one result in nats, with its derivatives by (z, low, high).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Point {
    pub loss: f64,
    pub first: [f64; 3],
    pub second: [[f64; 3]; 3],
}

/// Largest derivative that is passed on; 1/P overflows where a score contradicts the result by hundreds of logits.
const LARGEST: f64 = 1e150;

impl Point {
    /// At a logit z, with the shares of games won (`low`) and lost (`high`) whatever the score. `result` is 1, 0.5 or
    /// 0.
    pub fn at(z: f64, [low, high]: [f64; 2], result: f64) -> Self {
        let Logistic { p, q, minus_log_p, minus_log_q } = Logistic::at(z);
        let slope = 1.0 - low - high;
        // both without cancellation
        let (win, loss) = (low + slope * p, high + slope * q);
        let (to_win, to_loss) = (result / win.max(1.0 / LARGEST), (1.0 - result) / loss.max(1.0 / LARGEST));
        // first and second derivatives by P
        let by = to_loss - to_win;
        let curvature = (to_win / win.max(1.0 / LARGEST) + to_loss / loss.max(1.0 / LARGEST)).min(LARGEST);
        let of = [slope * p * q, q, -p];
        let mut first = of.map(|d| by * d);
        let mut second = of.map(|a| of.map(|b| curvature * a * b));
        let cross = by * -p * q;
        second[0][0] += by * slope * p * q * (q - p);
        second[0][1..].iter_mut().for_each(|entry| *entry += cross);
        second[1..].iter_mut().for_each(|row| row[0] += cross);
        let loss = if low == 0.0 && high == 0.0 {
            // stable where P rounds to 0 or 1
            first[0] = (1.0 - result) * p - result * q;
            second[0][0] = p * q;
            result * minus_log_p + (1.0 - result) * minus_log_q
        } else {
            -(result * libm::log(win) + (1.0 - result) * libm::log(loss))
        };
        Self { loss, first, second }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_are_those_of_the_loss() {
        for result in [0.0, 0.5, 1.0] {
            for at in [[-3.0, 0.02, 0.05], [0.3, 0.01, 0.01], [6.0, 0.1, 0.003], [1.0, 0.0, 0.0]] {
                let point = |at: [f64; 3]| Point::at(at[0], [at[1], at[2]], result);
                let here = point(at);
                // one-sided where a share is 0
                let inner = if at[1] == 0.0 { 1 } else { 3 };
                for i in 0..inner {
                    let shifted = |h: f64| {
                        let mut to = at;
                        to[i] += h;
                        point(to)
                    };
                    let (up, down) = (shifted(1e-6), shifted(-1e-6));
                    let slope = (up.loss - down.loss) / 2e-6;
                    assert!((slope - here.first[i]).abs() < 1e-5 * slope.abs().max(1.0), "{at:?} {i}");
                    for j in 0..inner {
                        let slope = (up.first[j] - down.first[j]) / 2e-6;
                        assert!((slope - here.second[i][j]).abs() < 1e-4 * slope.abs().max(1.0), "{at:?} {i} {j}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_contradiction_by_hundreds_of_logits_stays_finite() {
        for low in [0.0, 1e-3] {
            let point = Point::at(-900.0, [low, low], 1.0);
            assert!(point.loss.is_finite() && point.first.iter().all(|d| d.is_finite()), "{point:?}");
            assert!(point.second.iter().flatten().all(|d| d.is_finite()), "{point:?}");
        }
    }
}
