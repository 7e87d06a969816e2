//! Decisions of a council without games: it votes on one position after the other.

use std::time::{Duration, Instant};

use evalcurve_engine::usi::Go;
use evalcurve_engine::{Board, EngineConfig, Failure, Game, Player, VotedGame};

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
