//! What the GUI asks of a server: a position, and a search of it.

use std::time::Instant;

use evalcurve_calibration::types::Color;
use evalcurve_engine::board::position::{Position, STARTPOS};
use evalcurve_engine::board::{Board, Game, MOST_QUOTED, minishogi};
use evalcurve_engine::clock::{NO_CLOCK_MS, millis};
use evalcurve_engine::usi::{self, Go};
use evalcurve_words::text::shortened;

use super::message::{Candidate, is_move};

/// Time for the answer if the GUI sent `stop` before the program was asked.
const STOPPED_MS: u64 = 1_000;

/// A position that the program can be asked about.
#[derive(Debug, Clone)]
pub(super) struct Setup {
    pub position: Position,
    /// Knows the legal moves, if the position is one of a game that it knows.
    board: Board,
}

impl Setup {
    /// Reads the position of a `position` command, and says what is wrong with it although the program can be asked.
    ///
    /// `game` is the game of `position startpos`. Other positions show by the size of their board what they are; of a
    /// game with unknown rules, no move is checked.
    ///
    /// # Errors
    /// Says what cannot be read. There is nothing then that the program could be asked.
    pub(crate) fn read(game: Game, given: &usi::Position) -> Result<(Self, Option<String>), String> {
        let own = if game == Game::Minishogi { minishogi::START } else { STARTPOS };
        let text = given.start.as_deref().unwrap_or(own);
        let Some(start) = Position::from_sfen(text) else {
            let shown = shortened(text, MOST_QUOTED);
            return Err(format!(
                "the position '{shown}' cannot be read; write `position sfen BOARD SIDE HANDS NUMBER`"
            ));
        };
        let game = if game == Game::OtherUsi { game } else { start.game() };
        let position = (1..).zip(&given.moves).try_fold(start, |position, (number, usi)| {
            position.play(usi).ok_or_else(|| {
                let shown = shortened(usi, MOST_QUOTED);
                format!(
                    "move {number} of the position, '{shown}', cannot be played; write moves as 7g7f, 8h2b+ or B*5e"
                )
            })
        })?;
        let start = Some(text.to_owned());
        let (board, problem) = Board::new(game, &usi::Position { start, moves: given.moves.clone() });
        Ok((Self { position, board }, problem.map(|problem| problem.to_string())))
    }

    /// Reads a line of the program's answer.
    ///
    /// # Errors
    /// Says what is wrong with the line: it cannot be read, or its move or declaration is illegal.
    pub(crate) fn candidate(&self, line: &str) -> Result<Candidate, String> {
        let candidate = Candidate::parse(line, &self.position)?;
        if self.board.checks_moves() {
            let written = line.split([',', '$']).next().unwrap_or_default().trim();
            match candidate.best.as_str() {
                "win" if !self.board.may_declare() => {
                    return Err(format!("'{written}' is no valid declaration in this position (27-point rule)"));
                }
                best if is_move(best) && !self.board.is_legal(best) => {
                    return Err(format!("'{written}' is illegal in this position"));
                }
                _ => {}
            }
        }
        Ok(candidate)
    }
}

/// A `go` command with its position.
#[derive(Debug, Clone)]
pub(super) struct Search {
    /// The command; `stop` and `ponderhit` take `infinite` and `ponder` from it.
    pub go: Go,
    /// `None` if it cannot be read.
    pub setup: Option<Setup>,
    /// When its clock started.
    since: Instant,
    /// The GUI has sent `stop`.
    pub stopped: bool,
}

impl Search {
    /// A search whose clock starts at `now`.
    pub(crate) fn new(go: Go, setup: Option<Setup>, now: Instant) -> Self {
        Self { go, setup, since: now, stopped: false }
    }

    /// Whether its answer waits for `stop` or `ponderhit`.
    pub(crate) fn is_held(&self) -> bool {
        self.go.is_open()
    }

    /// `stop`: the GUI waits for the answer. Returns whether the search was one during the opponent's time.
    pub(crate) fn stop(&mut self) -> bool {
        self.stopped = true;
        self.go.infinite = false;
        std::mem::take(&mut self.go.ponder)
    }

    /// `ponderhit`: the clock starts at `now`. Returns false if the search is not one during the opponent's time.
    pub(crate) fn ponder_hit(&mut self, now: Instant) -> bool {
        let pondered = std::mem::take(&mut self.go.ponder);
        if pondered {
            self.since = now;
        }
        pondered
    }

    /// The time for the answer in milliseconds, of a question that is sent at `now`; `default_ms` if `go` gives none.
    ///
    /// The program does not learn of `ponderhit`. During the opponent's time, it therefore has the time of the move to
    /// come, so that its answer is in time whenever the opponent moves.
    pub(crate) fn time_ms(&self, side: Color, default_ms: u64, now: Instant) -> u64 {
        if self.go.infinite {
            return default_ms;
        }
        let used_ms = if self.go.ponder { 0 } else { millis(now.saturating_duration_since(self.since)) };
        let left_ms = time_of(&self.go, side, default_ms).saturating_sub(used_ms).max(1);
        if self.stopped { left_ms.min(STOPPED_MS) } else { left_ms }
    }
}

/// Milliseconds for one move: what `go` gives, or a thirtieth of the clock plus increment and byoyomi. Never 0, since a
/// question with time 0 has no time limit; `default_ms` if `go` gives no time.
fn time_of(go: &Go, side: Color, default_ms: u64) -> u64 {
    let clock = &go.clock;
    let ms = if let Some(ms) = go.movetime_ms {
        ms
    } else if !clock.given() {
        return default_ms;
    } else if clock.is_empty(side) {
        NO_CLOCK_MS
    } else {
        let (main, increment) = clock.own(side);
        (main / 30).saturating_add(increment).saturating_add(clock.byoyomi_ms.unwrap_or(0))
    };
    ms.max(1)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn each_game_has_its_initial_position_and_its_rules() {
        let read = |game, text: &str| Setup::read(game, &usi::Position::parse(text)).unwrap();
        let (shogi, _) = read(Game::Shogi, "startpos moves 7g7f");
        assert_eq!(shogi.position.to_sfen(), "lnsgkgsnl/1r5b1/ppppppppp/9/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL w - 1");
        let (small, _) = read(Game::Minishogi, "startpos moves 5d5c");
        assert_eq!(small.position.to_sfen(), "rbsgk/4p/P4/5/KGSBR w - 1");
        assert!(small.candidate("-1213FU,5").is_ok() && small.candidate("-1214FU,5").is_err());
        // the board shows the game
        let (small, problem) = read(Game::Shogi, "sfen rbsgk/4p/5/P4/KGSBR b - 1");
        assert!(problem.is_none() && small.candidate("+5452FU,5").is_err());
        // the same board by other rules
        let (other, problem) = read(Game::OtherUsi, "startpos moves 7g7e");
        assert!(problem.is_none() && other.candidate("-3335FU,5").is_ok());
    }

    /// A question with time 0 has no time limit: no `go` with clocks may become one, even if the clocks are empty.
    #[test]
    fn every_clock_leaves_a_time() {
        let time = |text: &str, side| time_of(&Go::parse(text), side, 7_000);
        assert_eq!(time("btime 60000 wtime 30000 binc 100 winc 200", Color::Black), 2_100);
        assert_eq!(time("btime 60000 wtime 30000 binc 100 winc 200", Color::White), 1_200);
        assert_eq!(time("btime 0 wtime 0 byoyomi 900", Color::White), 900);
        assert_eq!(time("movetime 400", Color::Black), 400);
        assert_eq!(time("nodes 4000", Color::Black), 7_000);
        // some GUIs send empty clocks if there is no clock
        assert_eq!(time("btime 0 wtime 0 byoyomi 0", Color::Black), 1_000);
        assert_eq!(time("btime 0 wtime 5000", Color::Black), 1_000);
        // a thirtieth of the clock is less than a millisecond
        assert_eq!(time("btime 20 wtime 5000", Color::Black), 1);
        assert_eq!(time("movetime 0", Color::White), 1);
    }

    /// A search that waits while the program answers another question has less time then.
    #[test]
    fn waiting_takes_time() {
        let start = Instant::now();
        let after = |ms| start + Duration::from_millis(ms);
        let search = |text: &str| Search::new(Go::parse(text), None, start);
        let time = |search: &Search, ms| search.time_ms(Color::Black, 7_000, after(ms));
        let byoyomi = search("btime 0 wtime 0 byoyomi 3000");
        assert_eq!([0, 400, 4_000].map(|ms| time(&byoyomi, ms)), [3_000, 2_600, 1]);
        // the clock does not run yet
        let mut ponder = search("ponder btime 0 wtime 0 byoyomi 3000");
        let mut infinite = search("infinite");
        assert_eq!((time(&infinite, 400), infinite.ponder_hit(after(400)), infinite.is_held()), (7_000, false, true));
        assert_eq!(time(&ponder, 400), 3_000);
        assert!(ponder.is_held() && ponder.ponder_hit(after(400)) && !ponder.is_held());
        assert_eq!(time(&ponder, 500), 2_900);
        assert_eq!((infinite.stop(), ponder.stop(), search("ponder").stop()), (false, false, true));
        assert_eq!((infinite.is_held(), time(&infinite, 400), time(&ponder, 500)), (false, 1_000, 1_000));
        assert_eq!(time(&ponder, 3_000), 400);
    }
}
