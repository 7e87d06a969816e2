//! Decisions of a council without games: it votes on one position after the other.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use super::opening::{OpeningError, openings};
use super::tournament::{Openings, Tournament};
use evalcurve_council::usi::{Go, Position};
use evalcurve_council::{Board, EngineConfig, Failure, Game, Player};

/// Reads positions from a file: SFEN, `startpos moves …`, moves, FEN or EPD, one per line, or PGN, one per game, each
/// after each of these numbers of moves. Gives the positions of each line or game, in the order of play; without
/// numbers, and where there are fewer moves than any of them, its last position. The second list says what was not
/// used and why.
///
/// # Errors
/// The file cannot be read, or has no position.
pub fn positions(game: Game, file: &Path, plies: &[u32]) -> Result<(Vec<Vec<Position>>, Vec<String>), OpeningError> {
    let openings_of =
        Openings { file: Some(file.to_owned()), plies: plies.iter().max().copied(), ..Openings::default() };
    let list = openings(&Tournament { game, openings: openings_of, ..Tournament::default() })?;
    let plies: BTreeSet<usize> = plies.iter().map(|plies| *plies as usize).collect();
    let games = list.openings.into_iter().map(|last| {
        let reached = plies.range(..=last.moves.len());
        let positions =
            reached.map(|plies| Position { start: last.start.clone(), moves: last.moves[..*plies].to_vec() });
        let positions: Vec<Position> = positions.collect();
        if positions.is_empty() { vec![last] } else { positions }
    });
    Ok((games.collect(), list.problems))
}

/// Lets a council vote on the positions of games. `done` is called after each position.
///
/// # Errors
/// The council ends, or it does not answer within `patience`.
pub fn vote(
    council: &EngineConfig,
    game: Game,
    games: &[Vec<Position>],
    movetime: Duration,
    patience: Duration,
    mut done: impl FnMut(),
) -> Result<(), Failure> {
    let mut player = Player::start(council)?;
    for positions in games {
        player.new_game()?;
        for position in positions {
            let (board, _) = Board::new(game, position);
            let go = Go { movetime_ms: Some(movetime.as_millis() as u64), ..Go::default() };
            player.search(position.clone(), board.side(), go, patience)?;
            done();
        }
    }
    player.quit();
    Ok(())
}
