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
#[inline(always)]
pub fn support(moves: &[Move], weights: &[f64], support: &mut [f64]) {
    for (sum, &own) in support.iter_mut().zip(moves) {
        *sum = 0.0;
        for (&other, &weight) in moves.iter().zip(weights) {
            // weight times agreement(own, other), also where a weight is infinite
            *sum += if own == other { weight } else { 0.0 };
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

/// What counts as the largest value: the largest, or less by rounding alone. NaN where no value is a number.
#[inline(always)]
fn bar(values: &[f64]) -> f64 {
    // NaN gives way to every number
    let top = values.iter().fold(f64::NEG_INFINITY, |top, &v| if v > top { v } else { top });
    if top.is_finite() {
        top - SAME * top.abs().max(1.0)
    } else if values.contains(&top) {
        top
    } else {
        f64::NAN
    }
}

/// The voters with the largest value, one for each different move, in order; none where every value is NaN.
#[inline]
pub fn tied<'a>(moves: &'a [Move], values: &'a [f64]) -> impl Iterator<Item = usize> + Clone + 'a {
    let bar = bar(values);
    let holds = move |i: usize| values[i] >= bar;
    (0..moves.len().min(values.len()))
        .filter(move |&i| holds(i) && !(0..i).any(|earlier| moves[earlier] == moves[i] && holds(earlier)))
}

/// The voter with the largest value, ties broken; `None` where every value is NaN or there is none.
#[inline(always)]
pub fn largest(moves: &[Move], values: &[f64], tie: Tie) -> Option<Top> {
    // no branch depends on the values but that of a tie: simulations decide millions of times a second
    let bar = bar(values);
    let both = || moves.iter().zip(values).enumerate();
    let first = both().rev().fold(usize::MAX, |first, (i, (_, v))| if *v >= bar { i } else { first });
    let top = moves.get(first)?;
    let tie_found = both().fold(false, |found, (_, (m, v))| found | ((*v >= bar) & (m != top)));
    Some(if tie_found { broken(moves, values, tie, first) } else { Top { voter: first, tied: 1 } })
}

/// Several moves have the largest value, and `first` is the first voter with one.
#[cold]
fn broken(moves: &[Move], values: &[f64], tie: Tie, first: usize) -> Top {
    let all = tied(moves, values);
    let count = all.clone().count();
    let voter = match tie {
        Tie::Leader(leader) => leader.and_then(|m| all.clone().find(|&i| moves[i] == m)),
        Tie::Draw(bits) => all.clone().nth(((u128::from(bits) * count as u128) >> 64) as usize),
    };
    Top { voter: voter.unwrap_or(first), tied: count }
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
