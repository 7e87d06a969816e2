//! What an engine gets of a `go` command.

use std::time::Duration;

use evalcurve_calibration::types::Color;

use super::config::Limit;
use crate::usi::Go;

/// The time per move if all clocks in a `go` command are empty.
pub const NO_CLOCK_MS: u64 = 1_000;

/// A duration in whole milliseconds.
pub fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// The `go` command for a member: its own limit, or the GUI's command with `used` taken off the clock of the side to
/// move. A limit of moves does not apply to the search for a mate.
///
/// `left` is how long the council can wait for the answer.
pub(crate) fn member_go(go: &Go, side: Color, limit: Option<Limit>, used: Duration, left: Option<Duration>) -> Go {
    let mut used_ms = millis(used);
    if let Some(limit) = limit.filter(|_| go.mate.is_none()) {
        let left_ms = left.map(|left| millis(left).max(1));
        return Go { search_moves: go.search_moves.clone(), ..limit.within(left_ms).go() };
    }
    let mut go = go.clone();
    go.movetime_ms = go.movetime_ms.map(|ms| ms.saturating_sub(used_ms).max(1));
    let clock = &mut go.clock;
    let (main, increment) = match side {
        Color::Black => (&mut clock.btime_ms, &mut clock.binc_ms),
        Color::White => (&mut clock.wtime_ms, &mut clock.winc_ms),
    };
    // byoyomi first: a member that uses all of it must not exceed the council's
    for (from, least) in [(&mut clock.byoyomi_ms, 1), (main, 0), (increment, 0)] {
        if let Some(ms) = from {
            let taken = used_ms.min(ms.saturating_sub(least));
            *ms -= taken;
            used_ms -= taken;
        }
    }
    go
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usi::Protocol;

    #[test]
    fn members_get_less_than_the_council() {
        let sent = |text: &str, side, used| {
            member_go(&Go::parse(text), side, None, Duration::from_millis(used), Some(Duration::from_millis(400)))
                .line(Protocol::Usi, side)
        };
        assert_eq!(
            sent("btime 5000 wtime 6000 byoyomi 1000", Color::Black, 60),
            "go btime 5000 wtime 6000 byoyomi 940"
        );
        assert_eq!(sent("btime 5000 wtime 6000", Color::White, 60), "go btime 5000 wtime 5940");
        assert_eq!(sent("btime 50 wtime 6000 binc 100", Color::Black, 60), "go btime 0 wtime 6000 binc 90");
        assert_eq!(sent("btime 5000 wtime 6000 byoyomi 50", Color::White, 60), "go btime 5000 wtime 5989 byoyomi 1");
        assert_eq!(sent("movetime 500", Color::White, 60), "go movetime 440");
        assert_eq!(sent("nodes 500", Color::White, 60), "go nodes 500");
        let limited = |limit| {
            let go = Go::parse("btime 0 wtime 0 byoyomi 500");
            member_go(&go, Color::Black, Some(limit), Duration::from_millis(60), Some(Duration::from_millis(400)))
                .line(Protocol::Usi, Color::Black)
        };
        assert_eq!(limited(Limit::Nodes(4000)), "go nodes 4000");
        assert_eq!(limited(Limit::MoveTime(4000)), "go movetime 400");
        assert_eq!(limited(Limit::Byoyomi(100)), "go btime 0 wtime 0 byoyomi 100");
        let go = Go::parse("mate 5000");
        let mate = member_go(&go, Color::Black, Some(Limit::Nodes(4000)), Duration::from_millis(60), None);
        assert_eq!(mate, go);
    }
}
