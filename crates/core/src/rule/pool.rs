//! Pools: the value of a move is a mean over the lists of all voters, so that a move which is nobody's first may win.

use super::vote::Move;
use super::winrate::win_rate;

/// Over what the mean is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Win rates.
    WinRate,
    /// Logits: a logarithmic opinion pool, Π p^w normalised.
    Logit,
}

/// A voter in a pool: its moves with their logits, and its weight.
#[derive(Debug, Clone, Copy)]
pub struct Pooled<'a> {
    /// The moves that it scored, best first, no move twice; not empty.
    pub list: &'a [(Move, f64)],
    /// Not negative.
    pub weight: f64,
}

/// Every move of the lists with its weighted mean, in the order in which they were met.
///
/// A list holds its voter's best moves, so a move that is missing from it is worse than those in it. It counts as `gap`
/// logits below the lowest of the list: the d by which the model of the optimal consultation puts all other moves below the
/// best (LFICS 2016-12). With lists of one move the pool is thus nearly a majority: give the voters MultiPV.
pub fn pool(voters: &[Pooled<'_>], gap: f64, scale: Scale) -> Vec<(Move, f64)> {
    let mut moves: Vec<Move> = Vec::new();
    for &(m, _) in voters.iter().flat_map(|v| v.list) {
        if !moves.contains(&m) {
            moves.push(m);
        }
    }
    let total: f64 = voters.iter().map(|v| v.weight).sum();
    let on_scale = |logit: f64| match scale {
        Scale::WinRate => win_rate(logit),
        Scale::Logit => logit,
    };
    let of = |voter: &Pooled<'_>, m: Move| {
        let listed = voter.list.iter().find(|(other, _)| *other == m).map(|&(_, logit)| logit);
        on_scale(listed.unwrap_or_else(|| lowest(voter.list) - gap))
    };
    let mean = |m: Move| voters.iter().map(|v| v.weight * of(v, m)).sum::<f64>() / total;
    moves.into_iter().map(|m| (m, mean(m))).collect()
}

fn lowest(list: &[(Move, f64)]) -> f64 {
    list.iter().map(|&(_, logit)| logit).fold(f64::INFINITY, f64::min)
}

/// The weight of a voter among others by its rating: its Bradley-Terry strength as a part of the strongest's,
/// 10^((R - max R)/400). With 100 points less it counts 0.56, with 200 less 0.32.
#[inline]
pub fn strength_weight(rating: f64, strongest: f64) -> f64 {
    libm::pow(10.0, (rating - strongest) / 400.0)
}
