//! The logistic function, its inverse, and the likelihood of a result at a logit.

/// 1/(1 + exp(-z)), without overflow.
#[inline]
pub fn logistic(z: f64) -> f64 {
    let e = libm::exp(-z.abs());
    let near = 1.0 / (1.0 + e);
    if z >= 0.0 { near } else { e * near }
}

/// The logistic function at z and all that fits need of it, from one `exp`, without overflow.
#[derive(Debug, Clone, Copy)]
pub struct Logistic {
    /// 1/(1 + exp(-z)).
    pub p: f64,
    /// 1 - p, without cancellation.
    pub q: f64,
    /// -ln p.
    pub minus_log_p: f64,
    /// -ln(1 - p).
    pub minus_log_q: f64,
}

/// ln of the least normal double.
const LN_LEAST: f64 = -708.396_418_532_264_1;

/// ln(p / (1 - p)) of a share, finite also for 0 and 1.
#[inline]
pub fn logit(share: f64) -> f64 {
    let share = share.clamp(f64::MIN_POSITIVE, 1.0);
    libm::log(share) - libm::log1p(-share).max(LN_LEAST)
}

/// The interval of a share from its half on the logit: it lies between 0 and 1.
pub fn share_interval(share: f64, half: f64) -> [f64; 2] {
    [logit(share) - half, logit(share) + half].map(logistic)
}

impl Logistic {
    /// The function at a logit of any size.
    #[inline]
    pub fn at(z: f64) -> Self {
        // exp(-|z|) lies in [0, 1]: large scores underflow to 0, which is right, and never overflow
        let e = libm::exp(-z.abs());
        let near = 1.0 / (1.0 + e);
        let far = e * near;
        let log = libm::log1p(e);
        if z >= 0.0 {
            Self { p: near, q: far, minus_log_p: log, minus_log_q: z + log }
        } else {
            Self { p: far, q: near, minus_log_p: log - z, minus_log_q: log }
        }
    }
}

/// Negative log likelihood in nats of a result (1, 0.5 or 0) at a logit; a draw counts half of either side.
#[inline]
pub fn log_loss(logit: f64, result: f64) -> f64 {
    let at = Logistic::at(logit);
    result * at.minus_log_p + (1.0 - result) * at.minus_log_q
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_logit_is_finite_and_inverts_the_function() {
        assert_eq!((logit(0.0), logit(1.0)), (LN_LEAST, -LN_LEAST));
        assert!(logit(f64::NAN).is_nan());
        for z in [-30.0, -1.5, 0.0, 0.25, 7.0] {
            assert_eq!(logistic(z), Logistic::at(z).p);
            assert!((logit(logistic(z)) - z).abs() < 1e-9, "{z}");
        }
    }
}
