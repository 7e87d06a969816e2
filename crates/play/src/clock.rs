//! The clock of one side: what `go` says, and how long a move may take.

use evalcurve_core::types::Color;
use evalcurve_council::usi::{Clock, Go};
use evalcurve_council::{EngineConfig, Limit, TimeControl};

/// The time of one side in a game.
#[derive(Debug, Clone)]
pub(crate) struct SideClock {
    limit: Option<Limit>,
    control: Option<TimeControl>,
    /// Main time that is left.
    left_ms: u64,
    /// Moves until the main time is added again.
    moves_left: Option<u64>,
    patience_ms: u64,
}

impl SideClock {
    pub(crate) fn new(engine: &EngineConfig, patience_ms: u64) -> Self {
        let left_ms = engine.clock.map_or(0, |clock| clock.main_ms);
        let moves_left = engine.clock.map(|clock| clock.moves).filter(|moves| *moves > 0);
        Self { limit: engine.limit, control: engine.clock, left_ms, moves_left, patience_ms }
    }

    /// The command for a move of this side.
    pub(crate) fn go(&self, side: Color, opponent: &Self) -> Go {
        if let Some(limit) = self.limit {
            return limit.go();
        }
        let Some(own) = self.control else {
            // a council whose members have their own limits
            return Go { movetime_ms: Some(self.patience_ms), ..Go::default() };
        };
        // an opponent without a clock: engines expect one
        let (theirs, their_left) = opponent.control.map_or((own, self.left_ms), |clock| (clock, opponent.left_ms));
        let (mine, other) = (self.left_ms, their_left);
        let some = |ms: u64| (ms > 0).then_some(ms);
        let (black, white, binc, winc) = match side {
            Color::Black => (mine, other, own.increment_ms, theirs.increment_ms),
            Color::White => (other, mine, theirs.increment_ms, own.increment_ms),
        };
        let clock = Clock {
            btime_ms: Some(black),
            wtime_ms: Some(white),
            binc_ms: some(binc),
            winc_ms: some(winc),
            byoyomi_ms: some(own.byoyomi_ms),
            moves_to_go: self.moves_left,
        };
        Go { clock, ..Go::default() }
    }

    /// The time for the next move, its increment included; `None` if the limit is not a time.
    pub(crate) fn available_ms(&self) -> Option<u64> {
        match (self.limit, self.control) {
            (Some(Limit::MoveTime(ms) | Limit::Byoyomi(ms)), _) => Some(ms),
            (None, Some(clock)) => {
                Some(self.left_ms.saturating_add(clock.increment_ms).saturating_add(clock.byoyomi_ms))
            }
            _ => None,
        }
    }

    /// Takes the time of a move off the clock.
    pub(crate) fn moved(&mut self, used_ms: u64) {
        if let Some(clock) = self.control {
            self.left_ms = self.left_ms.saturating_add(clock.increment_ms).saturating_sub(used_ms);
            self.moves_left = self.moves_left.map(|moves| moves - 1);
            if self.moves_left == Some(0) {
                self.moves_left = Some(clock.moves);
                self.left_ms = self.left_ms.saturating_add(clock.main_ms);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evalcurve_council::usi::Protocol;

    fn side(main_ms: u64, increment_ms: u64, byoyomi_ms: u64) -> SideClock {
        let clock = Some(TimeControl { main_ms, increment_ms, byoyomi_ms, moves: 0 });
        SideClock::new(&EngineConfig { clock, ..EngineConfig::default() }, 9_000)
    }

    #[test]
    fn clocks_run_down_and_get_their_increments() {
        let (mut own, other) = (side(1_000, 100, 0), side(2_000, 0, 0));
        assert_eq!(own.go(Color::White, &other).line(Protocol::Uci, Color::White), "go btime 2000 wtime 1000 winc 100");
        assert_eq!(own.available_ms(), Some(1_100));
        own.moved(700);
        assert_eq!(own.available_ms(), Some(500));
        own.moved(900);
        assert_eq!(own.available_ms(), Some(100));
    }

    #[test]
    fn main_time_is_added_after_so_many_moves() {
        let clock = Some(TimeControl { main_ms: 1_000, increment_ms: 10, byoyomi_ms: 0, moves: 2 });
        let mut own = SideClock::new(&EngineConfig { clock, ..EngineConfig::default() }, 9_000);
        let line = |clock: &SideClock| clock.go(Color::White, &side(2_000, 0, 0)).line(Protocol::Uci, Color::White);
        assert_eq!(line(&own), "go btime 2000 wtime 1000 winc 10 movestogo 2");
        own.moved(400);
        assert_eq!(line(&own), "go btime 2000 wtime 610 winc 10 movestogo 1");
        own.moved(600);
        assert_eq!(line(&own), "go btime 2000 wtime 1020 winc 10 movestogo 2");
        assert_eq!(clock.map(|clock| clock.to_string()).as_deref(), Some("2/1+0.01"));
    }

    #[test]
    fn byoyomi_follows_main_time() {
        let mut own = side(1_000, 0, 500);
        let none = SideClock::new(&EngineConfig { limit: Some(Limit::Depth(3)), ..EngineConfig::default() }, 9_000);
        let line = |clock: &SideClock| clock.go(Color::Black, &none).line(Protocol::Usi, Color::Black);
        assert_eq!(line(&own), "go btime 1000 wtime 1000 byoyomi 500");
        assert_eq!(own.available_ms(), Some(1_500));
        own.moved(1_200);
        assert_eq!((own.available_ms(), line(&own).as_str()), (Some(500), "go btime 0 wtime 0 byoyomi 500"));
        assert_eq!((none.available_ms(), line(&none).as_str()), (None, "go depth 3"));
        let council = SideClock::new(&EngineConfig { is_council: true, ..EngineConfig::default() }, 9_000);
        assert_eq!((council.available_ms(), line(&council).as_str()), (None, "go movetime 9000"));
    }
}
