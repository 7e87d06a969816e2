//! The arithmetic of votes over plain slices: what each voter's move is worth, and which voter is adopted.
//!
//! The slices hold those who vote; whoever abstains is left out of all of them. Nothing here allocates.

use super::vote::Move;
use crate::random;

/// Values that differ by less than this part of the largest are equal: sums of weights come in several orders.
const SAME: f64 = 1e-12;

/// V_ij of Sato 2013, eq. 2.5: 1 where two voters have the same move, else 0.
#[inline]
pub fn agreement(a: Move, b: Move) -> f64 {
    f64::from(u8::from(a == b))
}

/// The voting vector v = V w (Sato 2013, eq. 2.27): for each voter the weight of all who have its move.
///
/// Eq. 2.34 of the paper prints w_i in place of w_j; its example (eq. 2.28 to 2.32) has w_j, and so has this.
#[inline]
pub fn support(moves: &[Move], weights: &[f64], support: &mut [f64]) {
    for (sum, &own) in support.iter_mut().zip(moves) {
        *sum = 0.0;
        for (&other, &weight) in moves.iter().zip(weights) {
            *sum += weight * agreement(own, other);
        }
    }
}

/// How a tie is broken, with all that it takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tie {
    /// This move (the leader's) where it is among the tied, else the first in order.
    Leader(Option<Move>),
    /// One of the tied moves, each with the same chance, by these uniform bits.
    Draw(u64),
}

/// The voter whose move is adopted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Top {
    /// Its place in the slices: of all with the adopted move and the largest value the first.
    pub voter: usize,
    /// Different moves that have the largest value; 1 without a tie.
    pub tied: usize,
}

/// The voters with the largest value, one for each different move, in order; none where every value is NaN.
#[inline]
pub fn tied<'a>(moves: &'a [Move], values: &'a [f64]) -> impl Iterator<Item = usize> + Clone + 'a {
    // NaN gives way to every number
    let top = values.iter().copied().fold(f64::NAN, f64::max);
    let bar = if top.is_finite() { top - SAME * top.abs().max(1.0) } else { top };
    let holds = move |i: usize| values[i] >= bar;
    (0..moves.len().min(values.len()))
        .filter(move |&i| holds(i) && !(0..i).any(|earlier| moves[earlier] == moves[i] && holds(earlier)))
}

/// The voter with the largest value, ties broken; `None` where every value is NaN or there is none.
#[inline]
pub fn largest(moves: &[Move], values: &[f64], tie: Tie) -> Option<Top> {
    let all = tied(moves, values);
    let first = all.clone().next()?;
    let count = all.clone().count();
    let voter = match tie {
        _ if count == 1 => None,
        Tie::Leader(leader) => leader.and_then(|m| all.clone().find(|&i| moves[i] == m)),
        Tie::Draw(bits) => all.clone().nth(((u128::from(bits) * count as u128) >> 64) as usize),
    };
    Some(Top { voter: voter.unwrap_or(first), tied: count })
}

/// The bits of a drawn tie: a function of seed and key alone.
#[inline]
pub fn draw_bits(seed: u64, key: u64) -> u64 {
    random::bits(&[seed, key])
}

/// The key of a position's draw: its game and its ply. The same in a council and in a replay of its log.
pub fn draw_key(game: &str, ply: u32) -> u64 {
    // the bytes as keys of the mixer, eight at a time, the length first
    let mut keys = vec![u64::from(ply), game.len() as u64];
    keys.extend(game.as_bytes().chunks(8).map(|c| c.iter().fold(0u64, |word, &b| word << 8 | u64::from(b))));
    random::bits(&keys)
}
