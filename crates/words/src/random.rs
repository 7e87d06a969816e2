//! A counter-based random generator: each draw is a pure function of its keys.
//!
//! The finaliser of SplitMix64 (Steele, Lea and Flood, *Fast splittable pseudorandom number
//! generators*, OOPSLA 2014) is applied to the running state after each key. The same keys
//! give the same number on every machine, regardless of earlier draws and the number of threads.

/// The default seed: the year and month of Takeuchi's paper.
pub const DEFAULT_SEED: u64 = 201_806;

/// The step of SplitMix64: 2⁶⁴ over the golden ratio, rounded down, which makes it odd.
pub const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// The finaliser of SplitMix64: a bijection of 64-bit words that mixes every bit into every other.
#[inline]
pub fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// 64 uniform bits that depend only on the keys.
#[inline]
pub fn bits(keys: &[u64]) -> u64 {
    keys.iter().fold(GOLDEN, |state, &key| next(state, key))
}

/// Draws with a common prefix of keys: `Prefix::new(&[a, b]).below(n, c)` is a faster `below(n, &[a, b, c])`.
#[derive(Debug, Clone, Copy)]
pub struct Prefix(u64);

impl Prefix {
    /// Creates a prefix from all keys but the last.
    #[inline]
    pub fn new(keys: &[u64]) -> Self {
        Self(bits(keys))
    }

    /// Same as [`below`] with `last` as the last key.
    #[inline]
    pub fn below(self, n: u64, last: u64) -> u64 {
        self.below_mixed(n, mixed(last))
    }

    /// The same with the last key as [`mixed`] returns it: many prefixes share the work on their last keys.
    #[inline]
    pub fn below_mixed(self, n: u64, last: u64) -> u64 {
        scaled(self.bits_mixed(last), n)
    }

    /// Same as [`unit()`] with a last key as [`mixed`] returns it.
    #[inline]
    pub fn unit_mixed(self, last: u64) -> f64 {
        fraction(self.bits_mixed(last))
    }

    #[inline]
    fn bits_mixed(self, last: u64) -> u64 {
        mix(self.0.wrapping_add(GOLDEN) ^ last)
    }
}

/// A key for `Prefix::below_mixed` and `Prefix::unit_mixed`.
#[inline]
pub fn mixed(key: u64) -> u64 {
    mix(key.wrapping_add(GOLDEN))
}

fn next(state: u64, key: u64) -> u64 {
    mix(state.wrapping_add(GOLDEN) ^ mixed(key))
}

fn scaled(bits: u64, n: u64) -> u64 {
    ((u128::from(bits) * u128::from(n)) >> 64) as u64
}

/// A number in `0..n`, uniform up to a bias of n/2⁶⁴; 0 if `n` is 0.
#[inline]
pub fn below(n: u64, keys: &[u64]) -> u64 {
    scaled(bits(keys), n)
}

fn fraction(bits: u64) -> f64 {
    (bits >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// A number in [0, 1) with 53 random bits.
pub fn unit(keys: &[u64]) -> f64 {
    fraction(bits(keys))
}

/// A standard normal number from two uniform numbers in [0, 1) (Box and Muller, *A note on the generation of random
/// normal deviates*, 1958).
pub fn normal(u: f64, v: f64) -> f64 {
    // 1 - u is never 0
    (-2.0 * libm::log(1.0 - u)).sqrt() * libm::cos(std::f64::consts::TAU * v)
}

/// A stream of random numbers that depends only on its keys, for many draws: the n-th number is [`mix`] of the state of
/// the keys plus n steps of SplitMix64.
#[derive(Debug, Clone)]
pub struct Stream {
    state: u64,
}

impl Stream {
    /// Creates the stream of these keys.
    pub fn new(keys: &[u64]) -> Self {
        Self { state: bits(keys) }
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GOLDEN);
        mix(self.state)
    }

    /// A number in `0..n`, uniform up to a bias of n/2⁶⁴; 0 if `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        scaled(self.bits(), n as u64) as usize
    }

    /// A number in [0, 1) with 53 random bits.
    pub fn unit(&mut self) -> f64 {
        fraction(self.bits())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_answers_hold_on_every_platform() {
        // `mix` against the reference SplitMix64: the first outputs of seed 0 are mix(k * GOLDEN).
        assert_eq!(mix(GOLDEN), 0xE220_A839_7B1D_CDAF);
        assert_eq!(mix(GOLDEN.wrapping_mul(2)), 0x6E78_9E6A_A1B9_65F4);
        let mut stream = Stream { state: 0 };
        assert_eq!([stream.bits(), stream.bits()], [0xE220_A839_7B1D_CDAF, 0x6E78_9E6A_A1B9_65F4]);
    }

    #[test]
    fn two_uniform_numbers_make_a_normal_one() {
        // sqrt(2 ln 2) cos(pi / 2) and sqrt(2 ln 4) cos(pi)
        assert!(normal(0.5, 0.25).abs() < 1e-15);
        assert!((normal(0.75, 0.5) + 1.665_109_222_315_395_5).abs() < 1e-15);
        assert_eq!(normal(0.0, 0.0), 0.0);
        assert!(normal(1.0 - f64::EPSILON / 2.0, 0.0).is_finite());
    }

    #[test]
    fn draws_are_uniform_and_depend_on_every_key() {
        let mut counts = [0u32; 7];
        for i in 0..70_000 {
            counts[below(7, &[42, i, 0]) as usize] += 1;
        }
        // 10,000 expected, standard deviation 93.
        assert!(counts.iter().all(|&c| (9_600..10_400).contains(&c)), "{counts:?}");
        assert_ne!(bits(&[1, 2]), bits(&[2, 1]));
        assert_ne!(bits(&[1]), bits(&[1, 0]));
        assert_eq!(below(0, &[1]), 0);
        assert_eq!(Prefix::new(&[42, 3]).below(1000, 7), below(1000, &[42, 3, 7]));
    }
}
