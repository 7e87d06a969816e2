//! The random numbers of one play-out.

use crate::random;

/// A stream of random numbers that depends on its keys alone: the n-th number is [`random::mix`] of the state that the
/// keys give plus n steps of SplitMix64.
#[derive(Debug, Clone)]
pub struct Stream {
    state: u64,
}

impl Stream {
    /// The stream of these keys.
    pub fn new(keys: &[u64]) -> Self {
        Self { state: random::bits(keys) }
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        random::mix(self.state)
    }

    /// A number in `0..n`, uniform up to a bias of n/2⁶⁴; 0 where `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.bits()) * n as u128) >> 64) as usize
    }

    /// A number in [0, 1) with 53 random bits.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }
}
