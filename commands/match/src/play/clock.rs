//! The clock of one side: what `go` says, and how long a move may take.

use evalcurve_calibration::types::Color;
use evalcurve_engine::usi::{Clock, Go, Protocol};
use evalcurve_engine::{EngineConfig, Limit, TimeControl};

/// The time of one side in a game.
///
/// In USI, byoyomi and increment come on top of what `btime` says. In UCI, `wtime` is all there is until the flag: it
/// has the increment from before the move, as in fastchess, and the next one comes after it.
#[derive(Debug, Clone)]
pub(crate) struct SideClock {
    limit: Option<Limit>,
    control: Option<TimeControl>,
    protocol: Protocol,
    /// Main time that is left, without the increment of the move.
    left_ms: u64,
    /// Moves until the main time is added again.
    moves_left: Option<u64>,
    patience_ms: u64,
}

impl SideClock {
    pub(crate) fn new(engine: &EngineConfig, patience_ms: u64) -> Self {
        let left_ms = engine.clock.map_or(0, |clock| clock.main_ms);
        let moves_left = engine.clock.map(|clock| clock.moves).filter(|moves| *moves > 0);
        Self { limit: engine.limit, control: engine.clock, protocol: engine.protocol, left_ms, moves_left, patience_ms }
    }

    /// What the clock shows before a move.
    fn shown_ms(&self) -> u64 {
        let increment_ms = self.control.filter(|_| self.protocol == Protocol::Uci).map_or(0, |c| c.increment_ms);
        self.left_ms.saturating_add(increment_ms)
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
        let mine = self.shown_ms();
        let (theirs, other) = opponent.control.map_or((own, mine), |clock| (clock, opponent.shown_ms()));
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
    use evalcurve_engine::CouncilConfig;

    fn side(main_ms: u64, increment_ms: u64, byoyomi_ms: u64) -> SideClock {
        let clock = Some(TimeControl { main_ms, increment_ms, byoyomi_ms, moves: 0 });
        SideClock::new(&EngineConfig { clock, ..EngineConfig::default() }, 9_000)
    }

    #[test]
    fn clocks_run_down_and_get_their_increments() {
        for (protocol, shown) in [(Protocol::Usi, [1_000, 400, 0]), (Protocol::Uci, [1_100, 500, 100])] {
            let mut own = SideClock { protocol, ..side(1_000, 100, 0) };
            let other = SideClock { protocol, ..side(2_000, 0, 0) };
            let line = |own: &SideClock| own.go(Color::White, &other).line(protocol, Color::White);
            for (move_ms, shown) in [700, 900, 100].into_iter().zip(shown) {
                assert_eq!(line(&own), format!("go btime 2000 wtime {shown} winc 100"));
                // in UCI, what the clock shows is all there is
                let more = if protocol == Protocol::Usi { 100 } else { 0 };
                assert_eq!(own.available_ms(), Some(shown + more));
                own.moved(move_ms);
            }
        }
    }

    #[test]
    fn main_time_is_added_after_so_many_moves() {
        let clock = Some(TimeControl { main_ms: 1_000, increment_ms: 10, byoyomi_ms: 0, moves: 2 });
        let engine = EngineConfig { clock, protocol: Protocol::Uci, ..EngineConfig::default() };
        let mut own = SideClock::new(&engine, 9_000);
        let line = |clock: &SideClock| clock.go(Color::White, &side(2_000, 0, 0)).line(Protocol::Uci, Color::White);
        assert_eq!(line(&own), "go btime 2000 wtime 1010 winc 10 movestogo 2");
        own.moved(400);
        assert_eq!(line(&own), "go btime 2000 wtime 620 winc 10 movestogo 1");
        own.moved(600);
        assert_eq!(line(&own), "go btime 2000 wtime 1030 winc 10 movestogo 2");
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
        let council =
            SideClock::new(&EngineConfig { council: Some(CouncilConfig::default()), ..EngineConfig::default() }, 9_000);
        assert_eq!((council.available_ms(), line(&council).as_str()), (None, "go movetime 9000"));
    }
}
