//! Which limit an engine obeys: engines answer `go` in their own ways, and some end.

use std::time::{Duration, Instant};

use evalcurve_words::language::{Text, ToText};
use evalcurve_words::text;
use evalcurve_words::text::thousands;

use super::board::{Board, Game, quoted};
use super::config::{EngineConfig, Limit};
use super::player::{Failure, Player};
use super::task::SearchResult;
use crate::usi::{Position, Protocol};

/// How long an engine may take to `usiok` and to `readyok` when it is tried.
const START_MS: u64 = 10_000;
const READY_MS: u64 = 20_000;

/// How long a trial move may take at a limit.
pub fn trial_patience(limit: Limit) -> Duration {
    Duration::from_secs(5) + limit.time().unwrap_or_default()
}

/// Limits to try. First those that mean the same whatever else a machine does: a
/// calibration is of one limit, and members of a council share the processors.
fn limits(ms: u64) -> [Limit; 4] {
    [Limit::Nodes(20_000), Limit::Depth(6), Limit::MoveTime(ms), Limit::Byoyomi(ms)]
}

/// The time of a limit that is tried for its kind alone.
const TIME_MS: u64 = 200;

/// The limits to try that the protocol of a game has, with a time in milliseconds.
pub fn usable_limits(game: Game, ms: u64) -> impl Iterator<Item = Limit> {
    limits(ms).into_iter().filter(move |limit| game.protocol() == Protocol::Usi || !matches!(limit, Limit::Byoyomi(_)))
}

/// Starts an engine to try a limit.
///
/// # Errors
/// It does not start in time, or not at all.
pub fn start_to_try(engine: &EngineConfig, limit: Limit) -> Result<Player, Failure> {
    Player::start(&EngineConfig { start_ms: START_MS, ready_ms: READY_MS, limit: Some(limit), ..engine.clone() })
}

/// An engine that obeys a number of nodes reports at least this share of it. Of nine engines at 200 to 100,000 nodes
/// (2026-11-27) those that know `go nodes` report 1.0 to 5.5 times the number (Fairy-Stockfish, Stockfish 1.0, Glaurung
/// up to 2.0, zshogi up to 5.5 at 200), Ethereal 12, which does not know it, 1/33 of 200 and 1/20,000 of 100,000. The
/// last line of an engine may be that of the last depth which it finished.
const LEAST_SHARE: u64 = 20;

/// And at most so many times the number, plus [`SLACK_NODES`]. Sjaak II searches 319 times 5,000.
const MOST_TIMES: u64 = 10;

/// Nodes between two looks of an engine at its counter, at most.
const SLACK_NODES: u64 = 50_000;

/// What an engine did that does not obey its limit, from what it reported in searches without a mate; `None` if it
/// obeys in at least half of them, or reports no nodes or depths. Times are not compared: an engine may move early.
pub fn ignored(limit: Limit, searches: impl Iterator<Item = (Option<u32>, Option<u64>)>) -> Option<Text> {
    let (asked, depth) = match limit {
        Limit::Nodes(asked) => (asked, false),
        Limit::Depth(asked) => (asked, true),
        Limit::MoveTime(_) | Limit::Byoyomi(_) => return None,
    };
    let mut seen: Vec<u64> = searches.filter_map(|(d, nodes)| if depth { d.map(u64::from) } else { nodes }).collect();
    let obeys = |seen: u64| match depth {
        // Glaurung reports depth 2 at depth 1, all others what was asked
        true => seen.saturating_mul(2) >= asked && seen <= asked.saturating_mul(2).saturating_add(2),
        false => {
            let most = asked.saturating_mul(MOST_TIMES).saturating_add(SLACK_NODES);
            seen.saturating_mul(LEAST_SHARE) >= asked && seen <= most
        }
    };
    let outside = seen.iter().filter(|seen| !obeys(**seen)).count();
    if 2 * outside <= seen.len() {
        return None;
    }
    seen.sort_unstable();
    let (found, asked) = (thousands(seen[seen.len() / 2]), thousands(asked));
    Some(match depth {
        true => text!("searches to depth {found} where {asked} was asked: it does not know `go depth`"),
        false => text!("searches {found} nodes where {asked} were asked: it does not know `go nodes`"),
    })
}

/// What to use in place of a limit that an engine does not obey: the first of another kind that it obeys, as the words
/// of an engine have it.
pub fn instead_of(engine: &EngineConfig, game: Game) -> Text {
    let kind = |limit: &Limit| std::mem::discriminant(limit);
    let other = |limit: &Limit| engine.limit.is_none_or(|own| kind(&own) != kind(limit));
    // depths are the same on every machine
    let mut limits: Vec<Limit> = usable_limits(game, TIME_MS).filter(other).collect();
    limits.sort_by_key(|limit| !matches!(limit, Limit::Depth(_)));
    let obeyed = limits.into_iter().find(|limit| {
        start_to_try(engine, *limit).is_ok_and(|mut player| {
            let obeys = time_per_move(&mut player, game, *limit).is_ok();
            player.quit();
            obeys
        })
    });
    match obeyed {
        Some(Limit::Depth(_)) => text!("; use depth="),
        Some(Limit::MoveTime(_)) => text!("; use movetime="),
        Some(Limit::Byoyomi(_)) => text!("; use byoyomi="),
        Some(Limit::Nodes(_)) => text!("; use nodes="),
        None => text!("; it obeyed no other limit that was tried"),
    }
}

/// How long a running engine takes for a move at a limit: the mean of two.
///
/// # Errors
/// What it did instead of moving, or that it does not obey the limit.
pub fn time_per_move(player: &mut Player, game: Game, limit: Limit) -> Result<Duration, Text> {
    let since = Instant::now();
    let reported = two_moves(player, game, limit)?;
    ignored(limit, reported.into_iter()).map_or(Ok(since.elapsed() / 2), Err)
}

/// What a running engine reports in two moves that does not obey the limit; `None` also if it does not move.
pub fn disobeys(player: &mut Player, game: Game, limit: Limit) -> Option<Text> {
    ignored(limit, two_moves(player, game, limit).ok()?.into_iter())
}

/// The depth and the nodes that an engine reported for a move.
type Reported = (Option<u32>, Option<u64>);

/// The depths and nodes of two moves from the initial position.
fn two_moves(player: &mut Player, game: Game, limit: Limit) -> Result<[Reported; 2], Text> {
    player.new_game().map_err(|failure| failure.to_text())?;
    let (mut position, mut reported) = (Position::default(), [(None, None); 2]);
    for reported in &mut reported {
        let (board, _) = Board::new(game, &position);
        let found = player.search(position.clone(), board.side(), limit.go(), trial_patience(limit));
        let SearchResult { best, depth, nodes, .. } = found.map_err(|failure: Failure| failure.to_text())?;
        *reported = (depth, nodes);
        let best = best.unwrap_or_default();
        if !board.is_legal(&best) {
            return Err(text!("it answered '{}', which is no legal move", quoted(&best)));
        }
        position.moves.push(best);
    }
    Ok(reported)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_obeyed_within_what_engines_do() {
        let said = |limit, seen: &[(u32, u64)]| {
            ignored(limit, seen.iter().map(|(depth, nodes)| (Some(*depth), Some(*nodes)))).map(|text| text.to_string())
        };
        // zshogi, Glaurung and Stockfish at 200 nodes, and one short search of three
        for seen in [&[(3, 1_097), (2, 391)][..], &[(2, 400)], &[(6, 200)], &[(1, 6), (9, 200), (9, 201)]] {
            assert_eq!(said(Limit::Nodes(200), seen), None);
        }
        let ethereal = [(1, 4), (1, 7), (1, 4), (6, 20_000)];
        let says = "searches 7 nodes where 20,000 were asked: it does not know `go nodes`";
        assert_eq!(said(Limit::Nodes(20_000), &ethereal).as_deref(), Some(says));
        assert!(said(Limit::Nodes(5_000), &[(11, 1_594_265)]).is_some_and(|text| text.contains("1,594,265")));
        // of depth only the depth counts
        assert_eq!(said(Limit::Depth(7), &[(7, 1), (8, 2)]), None);
        assert!(said(Limit::Depth(7), &[(1, 99_999)]).is_some_and(|text| text.contains("depth 1 where 7")));
        assert!(said(Limit::Depth(3), &[(30, 9)]).is_some());
        assert_eq!(said(Limit::MoveTime(7), &[(1, 1)]), None);
        assert_eq!(ignored(Limit::Nodes(7), [(None, None); 3].into_iter()), None);
    }
}
