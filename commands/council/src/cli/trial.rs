//! The first limit that an engine obeys, for the members of a new council.

use std::time::Duration;

use evalcurve_engine::board::quoted;
use evalcurve_engine::usi::{Position, QuietClock};
use evalcurve_engine::{
    Board, EngineConfig, Game, Limit, Player, start_to_try, time_per_move, trial_patience, usable_limits,
};
use evalcurve_words::language::{Text, ToText};
use evalcurve_words::text;

/// What an engine did with the limits that were tried.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Trial {
    /// The first limit that it obeyed; `None` if it obeyed none.
    pub limit: Option<Limit>,
    /// The time that it takes for a search at that limit.
    pub time: Duration,
    /// What it did with those before, or why it could not be tried.
    pub failures: Vec<Text>,
}

/// Starts an engine and lets it search with one limit after another, two moves with each, until it obeys one. The limit
/// is such that a search of these positions takes about these milliseconds.
pub(crate) fn try_limits(engine: &EngineConfig, game: Game, positions: &[Position], ms: u64) -> Trial {
    let mut trial = Trial::default();
    for limit in usable_limits(game, ms) {
        let mut player = match start_to_try(engine, limit) {
            Ok(player) => player,
            Err(failure) => {
                trial.failures.push(failure.to_text());
                return trial;
            }
        };
        match time_per_move(&mut player, game, limit) {
            Ok(time) => {
                trial.failures.extend(drops_otherwise(&mut player, game, limit));
                let found = adapted(&mut player, game, limit, positions, Duration::from_millis(ms));
                let (limit, time) = found.unwrap_or((limit, time));
                return Trial { limit: Some(limit), time, ..trial };
            }
            Err(why) => trial.failures.push(why.about(&Text::same(limit.to_string()))),
        }
    }
    trial
}

/// The limit of this kind with which a search of these positions takes about a time, and the time that it takes with
/// the new game before it: some engines clear their memory for longer than they search. What else the machine does now
/// does not count.
fn adapted(
    player: &mut Player,
    game: Game,
    limit: Limit,
    positions: &[Position],
    wanted: Duration,
) -> Option<(Limit, Duration)> {
    let mut time = |limit: Limit| {
        let (since, mut searching) = (QuietClock::start(), Duration::ZERO);
        for position in positions {
            player.new_game().ok()?;
            let (board, _) = Board::new(game, position);
            let began = QuietClock::start();
            player.search(position.clone(), board.side(), limit.go(), trial_patience(limit)).ok()?;
            searching += began.elapsed();
        }
        let count = u32::try_from(positions.len()).ok()?.max(1);
        Some((searching / count, since.elapsed() / count))
    };
    match limit {
        Limit::Nodes(nodes) => {
            let factor = (wanted.as_secs_f64() / time(limit)?.0.as_secs_f64().max(1e-6)).min(MOST_MORE);
            let limit = Limit::Nodes(((nodes as f64 * factor) as u64 / 1_000).max(1) * 1_000);
            Some((limit, time(limit)?.1))
        }
        Limit::Depth(_) => {
            let mut found = (Limit::Depth(1), time(Limit::Depth(1))?.1);
            for depth in 2..=MOST_PLIES {
                let longer = time(Limit::Depth(depth)).filter(|(searching, _)| *searching <= wanted);
                let Some((_, whole)) = longer else { break };
                found = (Limit::Depth(depth), whole);
            }
            Some(found)
        }
        _ => Some((limit, time(limit)?.1)),
    }
}

/// The most times as many nodes as were tried, and the most plies, for engines that answer at once.
const MOST_MORE: f64 = 50.0;
const MOST_PLIES: u64 = 30;

/// Shogi with a pawn in hand, in which only drops are legal.
const ONLY_DROPS: &str = "sfen 1r6k/9/9/9/9/9/p8/9/K8 b P 1";

/// What an engine answers that writes drops with another sign than USI: it loses its first game with a drop.
fn drops_otherwise(player: &mut Player, game: Game, limit: Limit) -> Option<Text> {
    if game != Game::Shogi {
        return None;
    }
    let position = Position::parse(ONLY_DROPS);
    let (board, _) = Board::new(game, &position);
    let best = player.search(position, board.side(), limit.go(), trial_patience(limit)).ok()?.best?;
    best.contains('@').then(|| {
        text!(
            "it answered '{}': in USI that drop has a *; put a program between that turns @ into * and back",
            quoted(&best)
        )
    })
}
