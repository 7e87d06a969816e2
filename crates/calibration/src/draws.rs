//! Wins, draws and losses at a logit: P(win) = σ(u - width), P(loss) = σ(-u - width), the rest draws.
//!
//! An ordinal logit, as Rao and Kupper (*Ties in paired-comparison experiments*, JASA 1967) have it for paired
//! comparisons. Of all games a share may follow no score; the functions here are those of the others.

use crate::logistic::Logistic;

/// The log odds of the expected result, a draw half a win: ln (W + D/2) - ln (L + D/2). It is u where the width is 0.
///
/// With c = cosh(width) the odds are eᵘ (eᵘ + c)/(1 + c eᵘ).
pub fn expected_logit(u: f64, width: f64) -> f64 {
    if width == 0.0 {
        return u;
    }
    let (c, far) = (libm::cosh(width), libm::exp(-u.abs()));
    (u.abs() + libm::log(1.0 + c * far) - libm::log(c + far)).copysign(u)
}

/// The derivatives of [`expected_logit`] by the logit and by the width.
pub fn expected_gradient(u: f64, width: f64) -> [f64; 2] {
    if width == 0.0 {
        return [1.0, 0.0];
    }
    let (c, far) = (libm::cosh(width), libm::exp(-u.abs()));
    let (near, beyond) = (1.0 / (1.0 + c * far), 1.0 / (c + far));
    [near + far * beyond, (libm::sinh(width) * (far * near - beyond)).copysign(-u)]
}

/// The logit at which the expected result is that of one logit without draws, σ(1) = .731, and its derivative by the
/// width.
pub fn unit_logit(width: f64) -> [f64; 2] {
    if width == 0.0 {
        return [1.0, 0.0];
    }
    // the positive root of v² - c(e - 1)v - e, with v = eᵘ
    let e = std::f64::consts::E;
    let half = 0.5 * libm::cosh(width) * (e - 1.0);
    let u = libm::log(half + (half * half + e).sqrt());
    let [by_u, by_width] = expected_gradient(u, width);
    [u, -by_width / by_u]
}

/// The shares of wins, draws and losses at a logit with their derivatives by it and by the width.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Shares {
    pub(crate) values: [f64; 3],
    pub(crate) by_logit: [f64; 3],
    pub(crate) by_width: [f64; 3],
}

impl Shares {
    pub(crate) fn at(u: f64, width: f64) -> Self {
        let (win, loss) = (Logistic::at(u - width), Logistic::at(-u - width));
        let (of_win, of_loss) = (win.p * win.q, loss.p * loss.q);
        Self {
            // 1 - W - L without cancellation
            values: [win.p, win.q * loss.q * -libm::expm1(-2.0 * width), loss.p],
            by_logit: [of_win, of_loss - of_win, -of_loss],
            by_width: [-of_win, of_win + of_loss, -of_loss],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::logistic::{logistic, logit};

    #[test]
    fn the_expected_result_is_wins_and_half_of_the_draws() {
        for (u, width) in [(0.0, 2.0), (0.7, 0.3), (-3.0, 5.0), (12.0, 5.0), (4.0, 0.0)] {
            let [win, draw, loss] = Shares::at(u, width).values;
            assert!((win + draw + loss - 1.0).abs() < 1e-15);
            assert!((expected_logit(u, width) - logit(win + 0.5 * draw)).abs() < 1e-9, "{u} {width}");
            let h = 1e-6;
            let slope = |of: &dyn Fn(f64) -> f64, at: f64| (of(at + h) - of(at - h)) / (2.0 * h);
            let [by_u, by_width] = expected_gradient(u, width);
            assert!((slope(&|u| expected_logit(u, width), u) - by_u).abs() < 1e-8, "{u} {width}");
            assert!((slope(&|w| expected_logit(u, w), width.max(1e-9)) - by_width).abs() < 1e-5, "{u} {width}");
        }
        // far out without overflow
        assert!((expected_logit(2000.0, 5.0) - (2000.0 - libm::log(libm::cosh(5.0)))).abs() < 1e-9);
        assert_eq!(expected_logit(-0.3, 0.0), -0.3);
    }

    #[test]
    fn one_logit_of_expected_result() {
        for width in [0.0, 0.4, 5.0] {
            let [u, by_width] = unit_logit(width);
            assert!((logistic(expected_logit(u, width)) - logistic(1.0)).abs() < 1e-15, "{width}");
            let slope = (unit_logit(width + 1e-6)[0] - u) / 1e-6;
            assert!((slope - by_width).abs() < 1e-5, "{width}: {slope} {by_width}");
        }
    }
}
