//! exp, log and log1p of many numbers at once, and the logistic function with them.
//!
//! The formulas are those of fdlibm (Sun Microsystems 1993) without branches, so that the compiler computes several
//! numbers side by side. Only additions, multiplications, divisions and bits are used, never a fused operation: the
//! same bits on every machine, and those of the crate `libm`. The error is below 1 ulp (`tests/oracle/vector.py`).

#![allow(clippy::excessive_precision, reason = "constants have the digits of their source")]

/// Numbers of a block: as many as fit into the nearest cache with all that is computed of them.
pub(crate) const BLOCK: usize = 256;

/// 1.5 · 2^52: what is added to it is rounded to an integer, which the lowest bits hold.
const ROUND: f64 = 6_755_399_441_055_744.0;
/// ln 2 in two parts, the first with zeros at its end.
const LN2: [f64; 2] = [6.931_471_803_691_238_164_90e-1, 1.908_214_929_270_587_700_02e-10];
/// Below it exp is less than any normal number, and counts as 0.
const LEAST: f64 = -708.0;

/// exp of a number that is not above 0.
#[inline(always)]
fn exp_of(x: f64) -> f64 {
    const P: [f64; 5] = [
        1.666_666_666_666_660_190_37e-1,
        -2.777_777_777_701_559_338_42e-3,
        6.613_756_321_437_934_361_17e-5,
        -1.653_390_220_546_525_153_9e-6,
        4.138_136_797_057_238_460_39e-8,
    ];
    // a NaN stays one
    let within = if x < LEAST { LEAST } else { x };
    let rounded = within * std::f64::consts::LOG2_E + ROUND;
    let n = rounded - ROUND;
    let (high, low) = (within - n * LN2[0], n * LN2[1]);
    let r = high - low;
    let t = r * r;
    let c = r - t * (P[0] + t * (P[1] + t * (P[2] + t * (P[3] + t * P[4]))));
    let y = 1.0 + (r * c / (2.0 - c) - low + high);
    let power = f64::from_bits((rounded.to_bits() << 52).wrapping_add(1.0f64.to_bits()));
    if x < LEAST { 0.0 } else { y * power }
}

/// log(1 + f) + k ln 2 for 1 + f between √½ and √2; `c` is what rounding took from f.
#[inline(always)]
fn log_of(f: f64, k: f64, c: f64) -> f64 {
    const LG: [f64; 7] = [
        6.666_666_666_666_735_13e-1,
        3.999_999_999_940_941_908e-1,
        2.857_142_874_366_239_149e-1,
        2.222_219_843_214_978_396e-1,
        1.818_357_216_161_805_012e-1,
        1.531_383_769_920_937_332e-1,
        1.479_819_860_511_658_591e-1,
    ];
    let half = 0.5 * f * f;
    let s = f / (2.0 + f);
    let z = s * s;
    let w = z * z;
    let odd = w * (LG[1] + w * (LG[3] + w * LG[5]));
    let even = z * (LG[0] + w * (LG[2] + w * (LG[4] + w * LG[6])));
    s * (half + (even + odd)) + (k * LN2[1] + c) - half + f + k * LN2[0]
}

/// log(1 + x) of a number from 0 to 1.
#[inline(always)]
fn log1p_of(x: f64) -> f64 {
    /// The high word of √2 - 1, from which 1 + x is halved.
    const HALVED: f64 = f64::from_bits(0x3fda_827a_0000_0000);
    let u = 1.0 + x;
    let is_large = x >= HALVED;
    let c = (x - (u - 1.0)) / u;
    let (f, k, c) = if is_large { (0.5 * u - 1.0, 1.0, c) } else { (x, 0.0, 0.0) };
    log_of(f, k, c)
}

/// log of a normal number above 0.
#[inline(always)]
fn log_at(x: f64) -> f64 {
    /// The high words of 1 and of √½.
    const ONE: u64 = 0x3ff0_0000_0000_0000;
    const ROOT: u64 = 0x3fe6_a09e_0000_0000;
    /// 2^52, whose lowest bits are an integer.
    const INTEGER: f64 = 4_503_599_627_370_496.0;
    let shifted = x.to_bits().wrapping_add(ONE - ROOT);
    let k = f64::from_bits((shifted >> 52) | INTEGER.to_bits()) - (INTEGER + 1023.0);
    let f = f64::from_bits((shifted & 0x000f_ffff_ffff_ffff) + ROOT) - 1.0;
    log_of(f, k, 0.0)
}

/// Declares functions whose loops run with the widest instructions of the processor. The bits are the same as with
/// others: nothing is fused or added up in another order.
macro_rules! wide {
    ($($(#[$doc:meta])* $name:ident($($arg:ident: &mut $kind:ty),+; $($read:ident: &$of:ty),*) $body:block)+) => {
        $($(#[$doc])*
        pub(crate) fn $name($($arg: &mut $kind,)+ $($read: &$of),*) {
            struct Loops<'a>($(&'a mut $kind,)+ $(&'a $of),*);
            impl pulp::WithSimd for Loops<'_> {
                type Output = ();
                // a closure would be a function of its own, with the instructions that every processor has
                #[inline(always)]
                fn with_simd<S: pulp::Simd>(self, _: S) {
                    let Self($($arg,)+ $($read),*) = self;
                    $body
                }
            }
            pulp::Arch::new().dispatch(Loops($($arg,)+ $($read),*));
        })+
    };
}
pub(crate) use wide;

wide! {
    /// exp of each number, none of which is above 0.
    exp(x: &mut [f64];) {
        x.iter_mut().for_each(|x| *x = exp_of(*x));
    }

    /// log of each number, all of which are normal and above 0.
    log(x: &mut [f64];) {
        x.iter_mut().for_each(|x| *x = log_at(*x));
    }

    /// 1/(1 + exp(-z)) of each number.
    logistic(z: &mut [f64];) {
        z.iter_mut().for_each(|z| *z = sides(*z, exp_of(-z.abs())).0);
    }

    /// Writes p, q and e of [`Logistics`].
    both(p: &mut [f64], q: &mut [f64], e: &mut [f64]; z: &[f64]) {
        for (((p, q), e), z) in p.iter_mut().zip(q).zip(e).zip(z) {
            *e = exp_of(-z.abs());
            (*p, *q) = sides(*z, *e);
        }
    }

    /// Writes the losses of [`Logistics::losses`].
    losses(losses: &mut [f64]; z: &[f64], e: &[f64], results: &[f64]) {
        for (((loss, z), result), e) in losses.iter_mut().zip(z).zip(results).zip(e) {
            let log = log1p_of(*e);
            // ln(1 + e^-z) where z is above 0, and so on: no cancellation
            let (to_win, to_loss) = if *z >= 0.0 { (log, z + log) } else { (log - z, log) };
            *loss = result * to_win + (1.0 - result) * to_loss;
        }
    }
}

/// 1/(1 + exp(-z)) and the rest to 1, without cancellation; `e` is exp(-|z|).
#[inline(always)]
fn sides(z: f64, e: f64) -> (f64, f64) {
    let near = 1.0 / (1.0 + e);
    let far = e * near;
    if z >= 0.0 { (near, far) } else { (far, near) }
}

/// Adds a few numbers to as many sums.
#[inline]
pub(crate) fn add_all<const N: usize>(sums: &mut [f64; N], more: [f64; N]) {
    sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
}

/// The logistic function at up to [`BLOCK`] logits.
pub(crate) struct Logistics {
    /// 1/(1 + exp(-z)).
    pub p: [f64; BLOCK],
    /// 1 - p, without cancellation.
    pub q: [f64; BLOCK],
    /// exp(-|z|).
    e: [f64; BLOCK],
}

impl Logistics {
    pub(crate) fn new() -> Self {
        Self { p: [0.0; BLOCK], q: [0.0; BLOCK], e: [0.0; BLOCK] }
    }

    /// Computes p and q.
    pub(crate) fn at(&mut self, z: &[f64]) {
        both(&mut self.p, &mut self.q, &mut self.e, z);
    }

    /// Writes -result ln p - (1 - result) ln q of the logits and results that [`Logistics::at`] saw last.
    pub(crate) fn losses(&self, z: &[f64], results: &[f64], losses: &mut [f64]) {
        self::losses(losses, z, &self.e, results);
    }
}

/// Writes 1/(1 + exp(z)) in place of each logit z, the probability of a loss, and -ln of that of a win.
pub fn losses_of_wins(z: &mut [f64], losses: &mut [f64]) {
    let mut block = Logistics::new();
    for (z, losses) in z.chunks_mut(BLOCK).zip(losses.chunks_mut(BLOCK)) {
        block.at(z);
        block.losses(z, &[1.0; BLOCK][..z.len()], losses);
        z.copy_from_slice(&block.q[..z.len()]);
    }
}

#[cfg(test)]
mod tests {
    use evalcurve_calibration::logistic::{Logistic, log_loss};
    use proptest::prelude::*;

    use super::*;

    /// Distance in units of the last place.
    fn ulps(a: f64, b: f64) -> u64 {
        a.to_bits().abs_diff(b.to_bits())
    }

    /// Values of mpmath (`tests/oracle/vector.py`): an argument and the nearest double to the function there.
    #[test]
    fn errors_are_below_one_ulp_of_mpmath() {
        let Some(text) = crate::fit::oracle::of_repository("tests/oracle/vector.csv") else { return };
        let mut seen = [0; 3];
        for line in text.lines().skip(1) {
            let cells: Vec<&str> = line.split(',').collect();
            let bits = |i: usize| f64::from_bits(u64::from_str_radix(cells[i], 16).unwrap());
            let (of, which): (fn(f64) -> f64, usize) = match cells[0] {
                "exp" => (exp_of, 0),
                "log" => (log_at, 1),
                _ => (log1p_of, 2),
            };
            seen[which] += 1;
            assert!(ulps(of(bits(1)), bits(2)) <= 1, "{line}: {:x}", of(bits(1)).to_bits());
        }
        assert!(seen.iter().all(|n| *n > 500), "{seen:?}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]
        #[test]
        fn the_bits_are_those_of_libm(
            z in -708.0f64..0.0, near in -2.0f64..0.0, share in 0.0f64..1.0, power in 0i32..1000,
        ) {
            for x in [z, near] {
                prop_assert_eq!(exp_of(x).to_bits(), libm::exp(x).to_bits(), "exp({})", x);
            }
            prop_assert_eq!(log1p_of(share).to_bits(), libm::log1p(share).to_bits(), "log1p({})", share);
            for x in [share, share * 2f64.powi(-power)].into_iter().filter(|x| x.is_normal()) {
                prop_assert_eq!(log_at(x).to_bits(), libm::log(x).to_bits(), "log({})", x);
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1_000))]
        #[test]
        fn a_block_is_the_function_of_each(z in prop::collection::vec(-800.0f64..800.0, 1..BLOCK), half in 0u8..3) {
            let results = vec![f64::from(half) / 2.0; z.len()];
            let (mut block, mut losses) = (Logistics::new(), [0.0; BLOCK]);
            block.at(&z);
            block.losses(&z, &results, &mut losses);
            for (i, z) in z.iter().enumerate() {
                let (one, loss) = (Logistic::at(*z), log_loss(*z, results[i]));
                // beyond ±708 what is left of 1 is 0 here
                prop_assert!((block.p[i] - one.p).abs() < 1e-300 && (block.q[i] - one.q).abs() < 1e-300, "{}", z);
                prop_assert!((losses[i] - loss).abs() < 1e-300, "{}", z);
            }
        }
    }

    #[test]
    fn ends_and_what_is_no_number() {
        assert_eq!((exp_of(0.0), exp_of(-1e9), exp_of(f64::NEG_INFINITY)), (1.0, 0.0, 0.0));
        assert!(exp_of(f64::NAN).is_nan() && log1p_of(f64::NAN).is_nan());
        assert_eq!((log1p_of(0.0), log_at(1.0)), (0.0, 0.0));
        assert_eq!(log1p_of(1.0).to_bits(), std::f64::consts::LN_2.to_bits());
    }
}
