//! Normal random numbers by the ziggurat method, as functions of their key.

use std::sync::LazyLock;

use evalcurve_words::random::{GOLDEN, mix};

const LAYERS: usize = 256;
/// Start of the tail and area of a layer for 256 layers (Doornik, *An improved ziggurat method to generate
/// normal random samples*, 2005, table 1).
const TAIL: f64 = 3.654_152_885_361_009;
const AREA: f64 = 4.928_673_233_974_655e-3;

/// The edges of the layers, and the density there.
pub(super) struct Ziggurat {
    x: [f64; LAYERS + 1],
    y: [f64; LAYERS + 1],
}

static TABLES: LazyLock<Ziggurat> = LazyLock::new(|| {
    let bell = |x: f64| libm::exp(-0.5 * x * x);
    let (mut x, mut y) = ([0.0; LAYERS + 1], [1.0; LAYERS + 1]);
    // the lowest layer contains the tail: its edge is that of a box of the same area
    x[0] = AREA / bell(TAIL);
    x[1] = TAIL;
    y[0] = 0.0;
    y[1] = bell(TAIL);
    for i in 2..LAYERS {
        y[i] = y[i - 1] + AREA / x[i - 1];
        x[i] = (-2.0 * libm::log(y[i])).sqrt();
    }
    Ziggurat { x, y }
});

impl Ziggurat {
    /// The tables, computed once.
    pub(super) fn get() -> &'static Self {
        &TABLES
    }

    /// A standard normal number as a function of 64 uniform bits (the ziggurat of Marsaglia and Tsang, 2000). If one
    /// word is not enough, further words are mixed from it.
    #[inline(always)]
    pub(super) fn draw(&self, bits: u64) -> f64 {
        let layer = (bits & 0xFF) as usize;
        let x = signed_unit(bits) * self.x[layer];
        if x.abs() < self.x[layer + 1] { x } else { self.edge(bits) }
    }

    /// Draws outside the boxes: from the tail and the wedges under the density.
    #[cold]
    #[inline(never)]
    fn edge(&self, bits: u64) -> f64 {
        let mut word = bits;
        let mut next = || {
            word = mix(word.wrapping_add(GOLDEN));
            word
        };
        let mut bits = bits;
        loop {
            let layer = (bits & 0xFF) as usize;
            let x = signed_unit(bits) * self.x[layer];
            if x.abs() < self.x[layer + 1] {
                return x;
            }
            if layer == 0 {
                loop {
                    let (a, b) = (-libm::log(open_unit(next())) / TAIL, -libm::log(open_unit(next())));
                    if 2.0 * b > a * a {
                        return if x < 0.0 { -(TAIL + a) } else { TAIL + a };
                    }
                }
            }
            let height = self.y[layer] + open_unit(next()) * (self.y[layer + 1] - self.y[layer]);
            if height < libm::exp(-0.5 * x * x) {
                return x;
            }
            bits = next();
        }
    }
}

/// In [-1, 1), from the upper 52 bits.
#[inline(always)]
fn signed_unit(bits: u64) -> f64 {
    f64::from_bits((bits >> 12) | 0x4000_0000_0000_0000) - 3.0
}

/// In (0, 1).
fn open_unit(bits: u64) -> f64 {
    ((bits >> 11) as f64 + 0.5) * (1.0 / (1u64 << 53) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use evalcurve_fit::normal::cdf;
    use evalcurve_words::random;

    #[test]
    fn draws_follow_the_normal_distribution() {
        let ziggurat = Ziggurat::get();
        let n = 2_000_000u64;
        let edges = [-5.0, -4.0, -3.7, -3.0, -2.0, -1.0, -0.3, 0.0, 0.1, 0.7, 1.5, 2.5, 3.5, 3.66, 4.2];
        let mut below = [0u64; 15];
        let mut moments = [0.0; 4];
        for i in 0..n {
            let x = ziggurat.draw(random::bits(&[5, i]));
            edges.iter().zip(&mut below).for_each(|(e, count)| *count += u64::from(x < *e));
            moments.iter_mut().enumerate().for_each(|(k, sum)| *sum += libm::pow(x, k as f64 + 1.0));
        }
        for (edge, count) in edges.iter().zip(below) {
            let p = cdf(*edge);
            let error = (p * (1.0 - p) / n as f64).sqrt();
            assert!((count as f64 / n as f64 - p).abs() < 4.0 * error, "below {edge}: {count} of {n}, {p}");
        }
        // means 0, 1, 0, 3 with variances 1, 2, 15, 96
        for (sum, (mean, variance)) in moments.iter().zip([(0.0, 1.0), (1.0, 2.0), (0.0, 15.0), (3.0, 96.0f64)]) {
            assert!((sum / n as f64 - mean).abs() < 4.0 * (variance / n as f64).sqrt(), "{moments:?}");
        }
    }

    #[test]
    fn the_layers_have_equal_areas() {
        let z = Ziggurat::get();
        assert!((z.x[0] * z.y[1] - AREA).abs() < 1e-15);
        for i in 1..LAYERS {
            assert!((z.x[i] * (z.y[i + 1] - z.y[i]) - AREA).abs() < 1e-9, "layer {i}");
        }
    }
}
