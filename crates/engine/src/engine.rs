//! An engine by its command, which answers for positions by their text.

use std::time::Duration;

use evalcurve_words::language::{Text, ToText};

use crate::usi::Position;
use crate::{Board, Failure, FailureKind, Game, Limit, Player, SearchResult, parse_engine};

/// How much longer than its limit of time a search may take, and how long one by nodes or depth.
const GRACE: Duration = Duration::from_secs(10);
const DAY: Duration = Duration::from_secs(24 * 3600);

/// A running engine. Dropping it ends the engine and everything that the engine started. A [`Player`] is the same with
/// a configuration, games and clocks.
pub struct Engine {
    player: Player,
    game: Game,
}

impl Engine {
    /// Starts an engine by one line, such as `stockfish option.Threads=1`: see [`parse_engine`].
    ///
    /// # Errors
    /// The line names no program, or as of [`Player::start`].
    pub fn start(command: &str, game: Game) -> Result<Self, Failure> {
        let config = parse_engine(command, game).map_err(|e| Failure::new(FailureKind::NotStarted, e.to_text()))?;
        Ok(Self { player: Player::for_game(None, &config)?, game })
    }

    /// Searches a position: `startpos moves e2e4`, an SFEN or FEN, or one with `moves`. The score is in the view of the
    /// side to move, which follows from the position.
    ///
    /// # Errors
    /// [`FailureKind::Position`] for a position or a move that is not of the game: the engine is not asked, and can be
    /// asked again. Else as of [`Player::search`].
    pub fn search(&mut self, position: &str, limit: Limit) -> Result<SearchResult, Failure> {
        let position = Position::parse(position);
        let (board, problem) = Board::new(self.game, &position);
        if let Some(problem) = problem.filter(|_| !board.checks_moves()) {
            return Err(Failure::new(FailureKind::Position, Text::same(problem.what)));
        }
        let patience = limit.time().map_or(DAY, |time| time.saturating_add(GRACE).min(DAY));
        self.player.search(position, board.side(), limit.go(), patience)
    }

    /// Sends `quit`, and ends the process if it does not end by itself.
    pub fn quit(self) {
        self.player.quit();
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_answers_for_texts() {
        let script = "while read w r; do case $w in uci) echo uciok;; isready) echo readyok;; quit) exit;; \
                      go) echo info depth 3 score cp -20 pv e7e5 g1f3; echo bestmove e7e5;; esac; done";
        let mut engine = Engine::start(&format!("sh -c \"{script}\" name=E"), Game::Chess).unwrap();
        let illegal = engine.search("startpos moves e2e5", Limit::Depth(3)).unwrap_err();
        let text = "move 1 of the position, 'e2e5', is illegal";
        assert_eq!((illegal.kind(), illegal.to_string()), (FailureKind::Position, text.to_owned()));
        assert_eq!(engine.search("8/8 w - - 0 1", Limit::Depth(3)).unwrap_err().kind(), FailureKind::Position);
        let found = engine.search("startpos moves e2e4", Limit::Depth(3)).unwrap();
        assert_eq!((found.best.as_deref(), found.pv.len()), (Some("e7e5"), 2));
        assert_eq!(found.score, Some(evalcurve_calibration::Score::Cp(-20.0)));
        engine.quit();
        let kind = |command: &str| Engine::start(command, Game::Chess).err().unwrap().kind();
        assert_eq!([kind("depth=7"), kind("no/such/engine")], [FailureKind::NotStarted, FailureKind::NotFound]);
    }
}
