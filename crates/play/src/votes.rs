//! Decisions of a council without games: it votes on one position after the other.

use std::path::Path;
use std::time::Duration;

use super::opening::{OpeningError, openings};
use super::tournament::{Openings, Tournament};
use evalcurve_council::usi::{Go, Position};
use evalcurve_council::{Board, EngineConfig, Failure, Game, Player};

/// Reads positions from a file: SFEN, `startpos moves …`, moves, FEN or EPD, one per line, or PGN, one per game, each
/// after at most `plies` moves. The second list says what was not used and why.
///
/// # Errors
/// The file cannot be read, or has no position.
pub fn positions(game: Game, file: &Path, plies: Option<u32>) -> Result<(Vec<Position>, Vec<String>), OpeningError> {
    let openings_of = Openings { file: Some(file.to_owned()), plies, ..Openings::default() };
    let list = openings(&Tournament { game, openings: openings_of, ..Tournament::default() })?;
    Ok((list.openings, list.problems))
}

/// Lets a council vote on positions, each as a game of its own. `done` is called after each position.
///
/// # Errors
/// The council ends, or it does not answer within `patience`.
pub fn vote(
    council: &EngineConfig,
    game: Game,
    positions: &[Position],
    movetime: Duration,
    patience: Duration,
    mut done: impl FnMut(),
) -> Result<(), Failure> {
    let mut player = Player::start(council)?;
    for position in positions {
        player.new_game()?;
        let (board, _) = Board::new(game, position);
        let go = Go { movetime_ms: Some(movetime.as_millis() as u64), ..Go::default() };
        player.search(position.clone(), board.side(), go, patience)?;
        done();
    }
    player.quit();
    Ok(())
}
