//! Decisions of a council without games: it votes on one position after the other.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use super::opening::{OpeningError, openings_of_whole_games};
use super::tournament::{Openings, Tournament};
use evalcurve_council::usi::{Go, Position};
use evalcurve_council::{Board, EngineConfig, Failure, Game, Player};

/// Positions of one line or game, in the order of play.
#[derive(Debug, Clone, PartialEq)]
pub struct VotedGame {
    pub positions: Vec<Position>,
    /// How the game ended, as `gameover` tells a council that did not play it; `None` if that is unknown.
    pub result: Option<&'static str>,
}

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

/// How many times as long as the longest position before it, and how much longer in any case, a position may take if
/// all members have their own limits: a member that falls silent at a number of nodes does not hold up every position.
const TIMES_LONGEST: u32 = 20;
const AND_MORE: Duration = Duration::from_secs(5);

/// How much longer than its time a council may take.
const PATIENCE: Duration = Duration::from_secs(600);

/// Lets a council vote on the positions of games, each for `movetime`; without it, members with their own limits get at
/// most `longest`. `done` is called after each position.
///
/// # Errors
/// The council ends, or it does not answer within ten minutes beyond this time.
pub fn vote(
    council: &EngineConfig,
    game: Game,
    games: &[VotedGame],
    movetime: Option<Duration>,
    longest: Duration,
    mut done: impl FnMut(),
) -> Result<(), Failure> {
    let mut player = Player::start(council)?;
    let mut taken: Option<Duration> = None;
    for VotedGame { positions, result } in games {
        player.new_game()?;
        for position in positions {
            let (board, _) = Board::new(game, position);
            let usual = taken.map_or(longest, |taken| longest.min(TIMES_LONGEST * taken + AND_MORE));
            let time = movetime.unwrap_or(usual);
            let go = Go { movetime_ms: Some(time.as_millis() as u64), ..Go::default() };
            let since = Instant::now();
            player.search(position.clone(), board.side(), go, time + PATIENCE)?;
            // one that a silent member held up says nothing about the next
            taken = taken.max(Some(since.elapsed()).filter(|taken| *taken < time / 2));
            done();
        }
        if let Some(result) = result {
            player.game_over(result);
        }
    }
    player.quit();
    Ok(())
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
