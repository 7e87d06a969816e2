//! The arithmetic of votes over plain slices: the support of each move, and the vote with the largest value.
//!
//! Each slice has one entry per vote; abstentions are left out. Nothing here allocates.

use evalcurve_words::random;

use super::vote::Move;

/// Values that differ by less than this fraction of the largest are equal, because sums of weights depend on their
/// order.
const SAME: f64 = 1e-12;

/// One of two numbers, without a branch. Processors would mispredict half of the branches, and a loop over many
/// positions could not be vectorised.
#[inline(always)]
fn select(condition: bool, yes: f64, no: f64) -> f64 {
    let mask = u64::from(condition).wrapping_neg();
    f64::from_bits(yes.to_bits() & mask | no.to_bits() & !mask)
}

/// The voting vector v = V w (Sato 2013, eq. 2.27): for each voter the total weight of the voters with the same move.
///
/// Eq. 2.34 of the paper prints w_i instead of w_j. This function uses w_j, as does the example of the paper (eq. 2.28
/// to 2.32).
#[inline(always)]
pub fn support(moves: &[Move], weights: &[f64], support: &mut [f64]) {
    for (sum, &own) in support.iter_mut().zip(moves) {
        *sum = 0.0;
        for (&other, &weight) in moves.iter().zip(weights) {
            // weight times agreement(own, other), but also correct for an infinite weight
            *sum += select(own == other, weight, 0.0);
        }
    }
}

/// How a tie is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tie {
    /// This move (the leader's) if it is tied, else the first in order.
    Leader(Option<Move>),
    /// One of the tied moves with equal probability, by these uniform bits.
    Draw(u64),
}

/// The leading move of a position.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Leading {
    /// The adopted move.
    pub chosen: Move,
    /// Its value, the largest.
    pub top: f64,
    /// The largest value of another move; negative infinity if there is no other move.
    pub second: f64,
}

impl Leading {
    /// Whether another move has the same value; also true if all values are negative infinity.
    #[inline(always)]
    pub fn is_tied(&self) -> bool {
        self.second >= bar(self.top)
    }
}

#[inline(always)]
fn larger(a: f64, b: f64) -> f64 {
    // a number replaces NaN
    if b > a { b } else { a }
}

/// The smallest value that counts as the largest: rounding may have made it smaller.
#[inline(always)]
fn bar(top: f64) -> f64 {
    select(top.is_finite(), top - SAME * top.abs().max(1.0), top)
}

#[inline(always)]
fn top(values: &[f64]) -> f64 {
    values.iter().fold(f64::NEG_INFINITY, |top, &v| larger(top, v))
}

/// The move with the largest value. A tie goes to the leader's move if it is tied, else to the first in order. If every
/// value is NaN, the move is not that of any voter.
///
/// No branch depends on the values, so that a loop over positions can be vectorised.
#[inline(always)]
pub fn leading(moves: &[Move], values: &[f64], leader: Option<Move>) -> Leading {
    let top = top(values);
    let bar = bar(top);
    let (mut chosen, mut led) = (Move(u32::MAX), false);
    for (&m, &value) in moves.iter().zip(values).rev() {
        let holds = value >= bar;
        chosen = if holds { m } else { chosen };
        led |= holds & (Some(m) == leader);
    }
    let chosen = leader.filter(|_| led).unwrap_or(chosen);
    let other = |(&m, &value): (&Move, &f64)| select(m == chosen, f64::NEG_INFINITY, value);
    let second = moves.iter().zip(values).map(other).fold(f64::NEG_INFINITY, larger);
    Leading { chosen, top, second }
}

/// The voters with the largest value in order, one per move; empty if every value is NaN.
#[inline]
pub fn tied<'a>(moves: &'a [Move], values: &'a [f64]) -> impl Iterator<Item = usize> + Clone + 'a {
    let bar = bar(top(values));
    let holds = move |i: usize| values[i] >= bar;
    (0..moves.len().min(values.len()))
        .filter(move |&i| holds(i) && !(0..i).any(|earlier| moves[earlier] == moves[i] && holds(earlier)))
}

/// The voter whose move is adopted after ties are broken: the first with that move and the largest value. `None` if
/// every value is NaN or the slices are empty.
pub fn largest(moves: &[Move], values: &[f64], tie: Tie) -> Option<usize> {
    let mut all = tied(moves, values);
    match tie {
        Tie::Leader(leader) => {
            let chosen = leading(moves, values, leader).chosen;
            all.find(|&voter| moves[voter] == chosen)
        }
        Tie::Draw(bits) => {
            let count = all.clone().count();
            all.nth(((u128::from(bits) * count as u128) >> 64) as usize)
        }
    }
}

/// The bits of a drawn tie, a function of only the seed and the key.
#[inline]
pub(crate) fn draw_bits(seed: u64, key: u64) -> u64 {
    random::bits(&[seed, key])
}

/// The key of a position's draw, from its game and its ply. A council and a replay of its log get the same key.
pub(crate) fn draw_key(game: &str, ply: u32) -> u64 {
    // the length, then the bytes, eight per key
    let mut keys = vec![u64::from(ply), game.len() as u64];
    keys.extend(game.as_bytes().chunks(8).map(|c| c.iter().fold(0u64, |word, &b| word << 8 | u64::from(b))));
    random::bits(&keys)
}
