//! Which limit an engine obeys: engines answer `go` in their own ways, and some end.

use std::time::{Duration, Instant};

use super::board::{Board, Game, quoted};
use super::config::{EngineConfig, Limit};
use super::player::{Failure, Player};
use crate::usi::{Position, Protocol};
use evalcurve_core::language::{Text, ToText};
use evalcurve_core::text;

/// How long an engine may take to `usiok` and to `readyok` when it is tried.
const START_MS: u64 = 10_000;
const READY_MS: u64 = 20_000;

/// How long a trial move may take, with a limit of time beyond it.
const PATIENCE: Duration = Duration::from_secs(5);

/// Limits to try, the most useful first.
const LIMITS: [Limit; 4] = [Limit::MoveTime(200), Limit::Byoyomi(200), Limit::Depth(6), Limit::Nodes(20_000)];

/// What an engine did with the limits that were tried.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Trial {
    /// The first limit that it obeyed; `None` if it obeyed none.
    pub limit: Option<Limit>,
    /// What it did with those before, or why it could not be tried.
    pub failures: Vec<Text>,
}

/// Starts an engine and lets it search with one limit after another, two moves with each, until it obeys one.
pub fn try_limits(engine: &EngineConfig, game: Game) -> Trial {
    let mut trial = Trial::default();
    let usable =
        LIMITS.into_iter().filter(|limit| game.protocol() == Protocol::Usi || !matches!(limit, Limit::Byoyomi(_)));
    for limit in usable {
        let tried = EngineConfig { start_ms: START_MS, ready_ms: READY_MS, limit: Some(limit), ..engine.clone() };
        let mut player = match Player::start(&tried) {
            Ok(player) => player,
            Err(failure) => {
                trial.failures.push(failure.to_text());
                return trial;
            }
        };
        match time_per_move(&mut player, game, limit) {
            Ok(_) => {
                trial.failures.extend(drops_otherwise(&mut player, game, limit));
                return Trial { limit: Some(limit), ..trial };
            }
            Err(why) => trial.failures.push(why.about(&Text::same(limit.to_string()))),
        }
    }
    trial
}

/// Shogi with a pawn in hand, in which only drops are legal.
const ONLY_DROPS: &str = "sfen 1r6k/9/9/9/9/9/p8/9/K8 b P 1";

/// What an engine answers that writes drops with another sign than USI: it loses its first game with a drop.
fn drops_otherwise(player: &mut Player, game: Game, limit: Limit) -> Option<Text> {
    if game != Game::Shogi {
        return None;
    }
    let position = Position::parse(ONLY_DROPS);
    let (board, _) = Board::new(game, &position);
    let patience = PATIENCE + limit.time().unwrap_or_default();
    let best = player.search(position, board.side(), limit.go(), patience).ok()?.best?;
    best.contains('@').then(|| {
        text!(
            "it answered '{}': in USI that drop has a *; put a program between that turns @ into * and back",
            quoted(&best)
        )
    })
}

/// How long a running engine takes for a move at a limit: the mean of two.
///
/// # Errors
/// What it did instead of moving.
pub fn time_per_move(player: &mut Player, game: Game, limit: Limit) -> Result<Duration, Text> {
    player.new_game().map_err(|failure| failure.to_text())?;
    let patience = PATIENCE + limit.time().unwrap_or_default();
    let mut position = Position::default();
    let since = Instant::now();
    for _ in 0..2 {
        let (board, _) = Board::new(game, &position);
        let found = player.search(position.clone(), board.side(), limit.go(), patience);
        let best = found.map_err(|failure: Failure| failure.to_text())?.best.unwrap_or_default();
        if !board.is_legal(&best) {
            return Err(text!("it answered '{}', which is no legal move", quoted(&best)));
        }
        position.moves.push(best);
    }
    Ok(since.elapsed() / 2)
}
