//! Positions from files, for a council that votes without playing.

use std::collections::BTreeSet;
use std::path::Path;

use evalcurve_engine::usi::Position;
use evalcurve_engine::{Game, VotedGame};

use super::opening::{OpeningError, openings_of_whole_games};
use super::tournament::{Openings, Tournament};

/// Reads positions from a file: SFEN, `startpos moves …`, moves, FEN or EPD, one per line, or PGN, one per game, each
/// after each of these numbers of moves. Gives the positions of each line or game, in the order of play; without
/// numbers, and where there are fewer moves than any of them, its last position with a legal move. The second list says
/// what was not used and why.
///
/// # Errors
/// The file cannot be read, or has no position.
pub fn positions(game: Game, file: &Path, plies: &[u32]) -> Result<(Vec<VotedGame>, Vec<String>), OpeningError> {
    let openings_of =
        Openings { file: Some(file.to_owned()), plies: plies.iter().max().copied(), ..Openings::default() };
    let list = openings_of_whole_games(&Tournament { game, openings: openings_of, ..Tournament::default() })?;
    let plies: BTreeSet<usize> = plies.iter().map(|plies| *plies as usize).collect();
    let results = list.results.into_iter().chain(std::iter::repeat(None));
    let games = list.openings.into_iter().zip(results).map(|(last, result)| {
        let reached = plies.range(..=last.moves.len());
        let positions =
            reached.map(|plies| Position { start: last.start.clone(), moves: last.moves[..*plies].to_vec() });
        let positions: Vec<Position> = positions.collect();
        VotedGame { positions: if positions.is_empty() { vec![last] } else { positions }, result }
    });
    Ok((games.collect(), list.problems))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn games_that_end_early_keep_their_positions() {
        let file = std::env::temp_dir().join(format!("evalcurve-votes-{}.txt", std::process::id()));
        std::fs::write(&file, "f2f3 e7e5 g2g4 d8h4\ne2e4 e7e5 g1f3 b8c6 f1b5\n7k/5Q2/6K1/8/8/8/8/8 b - - 0 1\n")
            .unwrap();
        let lengths = |plies: &[u32]| -> Vec<Vec<usize>> {
            let (games, problems) = positions(Game::Chess, &file, plies).unwrap();
            assert_eq!(problems.len(), 1, "{problems:?}");
            games.iter().map(|game| game.positions.iter().map(|p| p.moves.len()).collect()).collect()
        };
        // the first game ends with mate at ply 4
        assert_eq!(lengths(&[2, 4, 5]), [vec![2], vec![2, 4, 5]]);
        assert_eq!(lengths(&[]), [vec![3], vec![5]]);
        let _ = std::fs::remove_file(&file);
    }
}
