//! Exact values of uniform play-outs, by enumeration of all play-outs.

use thiserror::Error;

use super::game::Game;

/// Largest number of legal moves at the start: 11! sequences are 40 million.
const MOST_OPEN: usize = 11;

/// A position with too many play-outs for enumeration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error(
    "{open} open moves: every play-out is walked through up to {MOST_OPEN} only, beyond that play games out at random"
)]
pub struct ExactError {
    /// Legal moves.
    pub open: usize,
}

/// The limits of uniform play-outs.
#[derive(Debug, Clone, PartialEq)]
pub struct MoveChances {
    /// Probability that the side to move wins, draws and loses.
    pub chances: [f64; 3],
    /// By action: the expected-outcome value; `None` for an illegal one.
    pub expected_outcome: Vec<Option<f64>>,
    /// By action: the all-moves-as-first value.
    pub all_moves_as_first: Vec<Option<f64>>,
}

/// Probabilities of the results of uniform play-outs, and the values of the moves.
///
/// # Errors
/// If there are too many play-outs.
pub fn exact<G: Game>(game: &G) -> Result<MoveChances, ExactError> {
    let mut legal = Vec::new();
    game.legal(&mut legal);
    if legal.len() > MOST_OPEN {
        return Err(ExactError { open: legal.len() });
    }
    let none = || vec![(0.0, 0.0); game.actions()];
    let mut sums = Sums { chances: [0.0; 3], first: none(), any: none() };
    let mut path = Vec::new();
    walk(game, game, 1.0, &mut path, &mut sums);
    let rates = |sums: Vec<(f64, f64)>| sums.into_iter().map(|(n, x)| (n > 0.0).then(|| x / n)).collect();
    Ok(MoveChances { chances: sums.chances, expected_outcome: rates(sums.first), all_moves_as_first: rates(sums.any) })
}

struct Sums {
    chances: [f64; 3],
    /// Probability of the play-outs, and of their points, by first move and by any move of the side to move.
    first: Vec<(f64, f64)>,
    any: Vec<(f64, f64)>,
}

fn walk<G: Game>(start: &G, game: &G, probability: f64, own: &mut Vec<(bool, u16)>, sums: &mut Sums) {
    if let Some(outcome) = game.outcome_for(start.mover()) {
        sums.chances[2 - outcome as usize] += probability;
        let points = probability * outcome.value();
        let add = |(n, x): &mut (f64, f64)| {
            *n += probability;
            *x += points;
        };
        if let Some(slot) = own.first().and_then(|&(_, action)| sums.first.get_mut(usize::from(action))) {
            add(slot);
        }
        for &(_, action) in own.iter().filter(|(mine, _)| *mine) {
            if let Some(slot) = sums.any.get_mut(usize::from(action)) {
                add(slot);
            }
        }
        return;
    }
    let mut legal = Vec::new();
    game.legal(&mut legal);
    let share = probability / legal.len() as f64;
    let mine = game.mover() == start.mover();
    for action in legal {
        let mut next = game.clone();
        next.play(action);
        own.push((mine, action));
        walk(start, &next, share, own, sums);
        own.pop();
    }
}
