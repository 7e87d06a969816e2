//! Chooses one game of copies under other names or another start time, independent of the reading order.
//!
//! Engines that search a fixed number of nodes and use no openings play the same game again and again; that is one
//! piece of information, however often it is recorded, and whatever scores a new search gives. A game is a copy if
//! another one has its moves up to the end, its result, and scores of each side that it scores.

use evalcurve_calibration::types::Outcome;

/// Fewest plies of a game that is compared: shorter ones can be equal by chance, out of an opening book.
pub const LEAST_PLIES: u32 = 20;

/// The hash of the moves, the outcome for Black, and the engine that annotates the game.
pub type Moves<'a> = (Option<u64>, Outcome, Option<&'a str>);

/// For each game, with the sides that it scores, the index of the one that it is a copy of. Of copies the first with
/// scores of both sides counts, or else the first. An engine that annotates a game copies only its own annotations.
pub fn copies(games: &[(Moves<'_>, [bool; 2])]) -> Vec<Option<usize>> {
    let sides = |index: &usize| games[*index].1.iter().filter(|has| **has).count();
    let mut order: Vec<usize> = (0..games.len()).filter(|index| games[*index].0.0.is_some()).collect();
    order.sort_unstable_by_key(|index| (games[*index].0, std::cmp::Reverse(sides(index)), *index));
    let mut originals = vec![None; games.len()];
    let mut kept: Vec<usize> = Vec::new();
    for same in order.chunk_by(|a, b| games[*a].0 == games[*b].0).filter(|same| same.len() > 1) {
        kept.clear();
        for &index in same {
            let covers = |other: &&usize| games[index].1.iter().zip(games[**other].1).all(|(has, other)| !has || other);
            originals[index] = kept.iter().find(covers).copied();
            if originals[index].is_none() {
                kept.push(index);
            }
        }
    }
    originals
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_have_the_moves_and_the_result() {
        let (won, lost) = (Outcome::Win, Outcome::Loss);
        let game = |moves, black, white, outcome| ((Some(moves), outcome, None::<&str>), [black, white]);
        let games = [
            game(1, true, false, won),
            game(1, true, true, won),
            game(1, false, true, won),
            game(1, true, true, lost),
            game(2, true, false, won),
            game(2, false, true, won),
            game(2, true, false, won),
            ((None, won, None), [true; 2]),
            ((None, won, None), [true; 2]),
            game(3, false, false, won),
            game(3, false, false, won),
        ];
        let expected = [Some(1), None, Some(1), None, None, None, Some(4), None, None, None, Some(9)];
        assert_eq!(copies(&games), expected);
        let annotated = games.map(|((moves, outcome, _), sides)| ((moves, outcome, Some("x")), sides));
        assert_eq!(copies(&[games[1], annotated[1], annotated[0]]), [None, None, Some(1)]);
    }
}
