//! Chooses one record when several files hold a game, and one game of copies under other names or another start time,
//! independent of the reading order.
//!
//! Engines that search a fixed number of nodes and use no openings play the same game again and again; that is one
//! piece
//! of information, however often it is recorded. A game is a copy if another one has its moves, its result and the
//! scores of each side that both score. Games with the same moves and other scores were searched anew, and both count.

use std::cmp::Reverse;
use std::collections::HashMap;

use evalcurve_core::types::Outcome;
use foldhash::fast::FixedState;

use crate::record::{Game, GameHash};

/// Fewest plies of a game that is compared: shorter ones can be equal by chance, out of an opening book.
pub const LEAST_PLIES: u32 = 20;

/// The moves of a game, and the scores of each side, as hashes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fingerprint {
    moves: u64,
    /// `None` for a side without scores.
    scores: Scores,
}

type Scores = [Option<u32>; 2];

impl Fingerprint {
    /// The fingerprint of a game of which the scores of the players or those of an analysis are used, or none at all.
    /// `None` for a short game, or without moves.
    pub(super) fn of(game: &Game, analysis: Option<bool>) -> Option<Self> {
        let mut scores = [None; 2];
        for score in game.scores.iter().filter(|score| Some(score.analysis) == analysis) {
            let hash: &mut GameHash = scores[score.color.index()].get_or_insert_default();
            hash.word(u64::from(score.ply) << 33 | u64::from(score.mate) << 32 | u64::from(score.score_cp as u32));
        }
        let scores = scores.map(|hash| hash.map(|hash| hash.digest() as u32));
        game.moves.filter(|_| game.plies >= LEAST_PLIES).map(|moves| Self { moves, scores })
    }
}

/// For each game, the index of the one that it is a copy of. Of copies the first with scores of both sides counts, or
/// else the first. An engine that annotates a game copies only its own annotations.
pub(super) fn copies(games: &[(Option<Fingerprint>, Outcome, Option<&str>)]) -> Vec<Option<usize>> {
    let moves = |index: &usize| games[*index].0.map(|print| (print.moves, games[*index].1, games[*index].2));
    let sides = |index: &usize| games[*index].0.map_or(0, |print| print.scores.iter().flatten().count());
    let mut order: Vec<usize> = (0..games.len()).filter(|index| games[*index].0.is_some()).collect();
    order.sort_unstable_by_key(|index| (moves(index), Reverse(sides(index)), *index));
    let mut originals = vec![None; games.len()];
    let mut counts: HashMap<Scores, usize, FixedState> = HashMap::default();
    for same in order.chunk_by(|a, b| moves(a) == moves(b)).filter(|same| same.len() > 1) {
        counts.clear();
        for &index in same {
            let Some(Fingerprint { scores, .. }) = games[index].0 else { continue };
            originals[index] = counts.get(&scores).copied();
            if originals[index].is_none() {
                let [black, white] = scores;
                for key in [scores, [black, None], [None, white]] {
                    counts.entry(key).or_insert(index);
                }
            }
        }
    }
    originals
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_have_the_moves_the_result_and_no_other_scores() {
        let game =
            |moves, black, white, outcome| (Some(Fingerprint { moves, scores: [black, white] }), outcome, None::<&str>);
        let (won, lost) = (Outcome::Win, Outcome::Loss);
        let games = [
            game(1, Some(5), None, won),
            game(1, Some(5), Some(6), won),
            game(1, Some(5), Some(7), won),
            game(1, None, Some(7), won),
            game(1, Some(5), Some(6), lost),
            game(2, Some(5), Some(6), won),
            game(1, Some(5), Some(6), won),
            (None, won, None),
            (None, won, None),
            game(3, None, None, won),
            game(3, None, None, won),
        ];
        let expected = [Some(1), None, None, Some(2), None, None, Some(1), None, None, None, Some(9)];
        assert_eq!(copies(&games), expected);
        let annotated = games.map(|(print, outcome, _)| (print, outcome, Some("x")));
        assert_eq!(copies(&[games[1], annotated[1], annotated[6]]), [None, None, Some(1)]);
    }
}
