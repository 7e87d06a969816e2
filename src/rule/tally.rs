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
    /// Its move.
    pub chosen: Move,
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
    // one pass, and no branch that depends on the values but that of a tie: simulations decide millions of times a second
    let (mut top, mut next, mut chosen) = (f64::NEG_INFINITY, f64::NEG_INFINITY, Move(u32::MAX));
    for (&own, &value) in moves.iter().zip(values) {
        let (above, other) = (value > top, own != chosen);
        // the larger of two moves goes on, the smaller may be the largest of those that do not
        let left = if above { top } else { value };
        next = if other & (left > next) { left } else { next };
        (top, chosen) = if above { (value, own) } else { (top, chosen) };
    }
    // as `bar` has it; where the largest is infinite, or there is none, the long way goes by it
    if next >= top - SAME * top.abs().max(1.0) || !top.is_finite() {
        return slowly(moves, values, tie);
    }
    let bar = bar(values);
    let voter = values.iter().position(|v| *v >= bar)?;
    Some(Top { voter, chosen, tied: 1 })
}

/// [`largest`] where there may be ties, infinite values or none.
#[cold]
fn slowly(moves: &[Move], values: &[f64], tie: Tie) -> Option<Top> {
    let bar = bar(values);
    let holds = |i: &usize| values.get(*i).is_some_and(|v| *v >= bar);
    let first = (0..moves.len()).find(holds)?;
    if (0..moves.len()).filter(holds).any(|i| moves[i] != moves[first]) {
        Some(broken(moves, values, tie, first))
    } else {
        Some(Top { voter: first, chosen: moves[first], tied: 1 })
    }
}

/// Several moves have the largest value, and `first` is the first voter with one.
fn broken(moves: &[Move], values: &[f64], tie: Tie, first: usize) -> Top {
    let all = tied(moves, values);
    let count = all.clone().count();
    let voter = match tie {
        Tie::Leader(leader) => leader.and_then(|m| all.clone().find(|&i| moves[i] == m)),
        Tie::Draw(bits) => all.clone().nth(((u128::from(bits) * count as u128) >> 64) as usize),
    };
    let voter = voter.unwrap_or(first);
    Top { voter, chosen: moves[voter], tied: count }
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
