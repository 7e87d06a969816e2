//! The bounds of Sato (2013, "An Analysis of Voting Algorithm in Games", theorems 3 and 4), as printed and as corrected
//! here.
//!
//! n voters choose move k with probability π_k, independently. Theorem 3 is for n - 1 ≤ |M|, theorem 4 for |M| ≤ n - 1.
//! Π_b should be at most the probability that m wins alone, and Π_w at least the probability that no other move has
//! more votes. **As printed, neither holds in general**: i voters choose m with probability C(n,i) π_m^i (1-π_m)^(n-i),
//! and the probability that j of the rest agree on k is given as C(n-i,j) π_k^j (1-π_k-π_m)^(n-i-j), which is already
//! the joint probability that none of them chooses m. The factor (1-π_m)^(n-i) is therefore applied twice. In addition,
//! Π_w subtracts a sum over all moves that could be ahead, which may exceed the probability that any is ahead, and
//! includes ties (j = i).
//!
//! The corrected ("mended") bounds use the joint probability without the second factor. Π_w subtracts only moves that
//! are ahead (j > i), divided by the number of moves that can be ahead at once, ⌊(n-i)/(i+1)⌋.

/// The theorem for n voters and |M| moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Theorem {
    /// n - 1 ≤ |M|.
    Three = 3,
    /// |M| ≤ n - 1.
    Four = 4,
}

impl Theorem {
    /// Theorem 3 if it applies, else theorem 4. At |M| = n - 1 both apply, and this is theorem 3.
    pub fn for_council(voters: usize, moves: usize) -> Self {
        if voters <= moves.saturating_add(1) { Self::Three } else { Self::Four }
    }

    /// 3 or 4.
    pub fn number(self) -> u8 {
        self as u8
    }
}

/// Bounds for one move.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// Π_b, which should be at most the probability of winning alone.
    pub lower: f64,
    /// Π_w, which should be at least the probability of winning or being tied.
    pub upper: f64,
}

/// Terms of both forms, for n voters and one move.
struct Terms<'a> {
    n: usize,
    own: f64,
    others: Vec<f64>,
    choose: &'a dyn Fn(usize, usize) -> f64,
}

impl Terms<'_> {
    /// C(n,i) π_m^i.
    fn votes(&self, i: usize) -> f64 {
        (self.choose)(self.n, i) * power(self.own, i)
    }

    /// (1 - π_m)^(n-i).
    fn none_else(&self, i: usize) -> f64 {
        power(1.0 - self.own, self.n - i)
    }

    /// Σ_j≥from C(n-i,j) Σ_k≠m π_k^j (1-π_k-π_m)^(n-i-j): eq. 3.28, summed.
    fn agreed(&self, i: usize, from: usize) -> f64 {
        let rest = self.n - i;
        let pair = |j: usize| -> f64 {
            let each = |&p: &f64| power(p, j) * power((1.0 - p - self.own).max(0.0), rest - j);
            (self.choose)(rest, j) * self.others.iter().map(each).sum::<f64>()
        };
        (from..=rest).map(pair).sum()
    }
}

fn with_terms<T>(voters: usize, probabilities: &[f64], m: usize, body: impl FnOnce(&Terms<'_>) -> T) -> Option<T> {
    let own = *probabilities.get(m)?;
    let others = probabilities.iter().enumerate().filter(|(k, _)| *k != m).map(|(_, p)| *p).collect();
    let mut log_factorials = vec![0.0; voters + 1];
    for k in 1..=voters {
        log_factorials[k] = log_factorials[k - 1] + libm::log(k as f64);
    }
    let choose = |n: usize, k: usize| libm::exp(log_factorials[n] - log_factorials[k] - log_factorials[n - k]);
    Some(body(&Terms { n: voters, own, others, choose: &choose }))
}

/// Π_b and Π_w of move `m` exactly as the theorem prints them; `None` for an unknown move.
pub fn printed(theorem: Theorem, voters: usize, probabilities: &[f64], m: usize) -> Option<Bounds> {
    let (n, half) = (voters, voters / 2);
    with_terms(n, probabilities, m, |t| {
        let binomial = |i: usize| t.votes(i) * t.none_else(i);
        let braces = |i: usize| binomial(i) * (1.0 - t.agreed(i, i));
        match theorem {
            Theorem::Three => {
                let from = |first: usize| -> f64 {
                    let all: f64 = (first..=n).map(binomial).sum();
                    all - (first..=half).map(|i| binomial(i) * t.agreed(i, i)).sum::<f64>()
                };
                Bounds { lower: from(2), upper: from(1) }
            }
            Theorem::Four => {
                let start = (n.max(1) - 1) / probabilities.len();
                Bounds {
                    lower: (half + 1..=n).map(binomial).sum::<f64>() + (start + 2..=half).map(braces).sum::<f64>(),
                    // the printed sum starts at ⌊n/2⌋, so its first term is counted twice
                    upper: (half..=n).map(binomial).sum::<f64>() + (start + 1..=half).map(braces).sum::<f64>(),
                }
            }
        }
    })
}

/// Bounds of move `m` that hold for every n and π; `None` for an unknown move.
pub fn mended(voters: usize, probabilities: &[f64], m: usize) -> Option<Bounds> {
    let (n, half) = (voters, voters / 2);
    with_terms(n, probabilities, m, |t| {
        let majority: f64 = (half + 1..=n).map(|i| t.votes(i) * t.none_else(i)).sum();
        // Boole: the probability that any move has i votes or more is at most the sum over the moves
        let alone = |i: usize| t.votes(i) * (t.none_else(i) - t.agreed(i, i)).max(0.0);
        let ahead = |i: usize| {
            let at_once = (n - i) / (i + 1);
            if at_once == 0 { 0.0 } else { t.agreed(i, i + 1) / at_once as f64 }
        };
        let not_beaten = |i: usize| t.votes(i) * (t.none_else(i) - ahead(i)).max(0.0);
        Bounds {
            lower: majority + (1..=half).map(alone).sum::<f64>(),
            upper: (majority + (1..=half).map(not_beaten).sum::<f64>()).min(1.0),
        }
    })
}

fn power(base: f64, exponent: usize) -> f64 {
    if exponent == 0 { 1.0 } else { libm::pow(base, exponent as f64) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plurality::{Tie, plurality_of_alike};
    use evalcurve_words::random;

    const PI: [f64; 6] = [0.3, 0.2, 0.2, 0.1, 0.1, 0.1];

    #[test]
    fn the_printed_theorem_fails_in_the_known_case() {
        let of = |m| printed(Theorem::for_council(5, 6), 5, &PI, m).unwrap();
        assert_eq!(format!("{:.4}", of(0).lower), "0.4122");
        assert_eq!(format!("{:.4}", of(1).upper), "0.1441");
        assert!(of(3).upper < 0.0, "{}", of(3).upper);
        assert!(printed(Theorem::Three, 5, &PI, 6).is_none());
    }

    #[test]
    fn two_moves_and_theorem_four_are_the_binomial() {
        // eq. 3.39: with two moves only more than half wins; scipy.stats.binom.sf(4, 9, 0.6)
        let bounds = printed(Theorem::Four, 9, &[0.6, 0.4], 0).unwrap();
        assert!((bounds.lower - 0.73343232).abs() < 1e-12);
        // the first sum starts one term early: C(9,4) .6^4 .4^5 too much
        assert!((bounds.upper - 0.73343232 - 126.0 * 0.1296 * 0.01024).abs() < 1e-12);
    }

    #[test]
    fn mended_bounds_hold_for_drawn_distributions() {
        let mut nearest = [f64::INFINITY; 2];
        for case in 0..400u64 {
            let moves = 2 + random::below(9, &[case, 0]) as usize;
            let voters = 1 + random::below(14, &[case, 1]) as usize;
            let skew = 1.0 + 3.0 * random::unit(&[case, 2]);
            let raw: Vec<f64> = (0..moves as u64).map(|k| libm::pow(random::unit(&[case, 3, k]), skew)).collect();
            let sum: f64 = raw.iter().sum();
            let pi: Vec<f64> = raw.iter().map(|p| p / sum).collect();
            let exact = plurality_of_alike(voters, &pi, Tie::Worst).unwrap();
            for (m, exact) in exact.iter().enumerate() {
                let bounds = mended(voters, &pi, m).unwrap();
                let gaps = [exact.strict - bounds.lower, bounds.upper - exact.strict_or_tied];
                assert!(gaps.iter().all(|g| *g > -1e-9), "{voters} voters, move {m} of {pi:?}: {bounds:?} {exact:?}");
                (0..2).for_each(|i| nearest[i] = nearest[i].min(gaps[i]));
            }
        }
        assert!(nearest.iter().all(|g| *g < 1e-3), "no bound is close, so the test has no power: {nearest:?}");
    }
}
