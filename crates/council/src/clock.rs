//! Time management: what a `go` command leaves for the council, and what each member gets of it.

use std::time::Duration;

use super::config::{Limit, TimePolicy};
use crate::usi::{Go, Protocol};
use evalcurve_core::types::Color;

/// The time per move if all clocks in a `go` command are empty.
pub(super) const NO_CLOCK_MS: u64 = 1_000;

/// The time from a `go` command to the council's move: what the GUI gives, minus the margin. `None` for `go infinite`,
/// which only `stop` ends.
///
/// Byoyomi and increment are used in full, the main time up to its share in the policy.
pub(super) fn budget(go: &Go, side: Color, protocol: Protocol, policy: &TimePolicy) -> Option<Duration> {
    // in UCI, the number counts moves
    let mate = go.mate.as_deref().filter(|_| protocol == Protocol::Usi);
    let mate_ms = || mate.and_then(|mate| mate.parse().ok());
    let limit_ms = if let Some(ms) = go.movetime_ms {
        ms
    } else if go.clock.given() && go.clock.is_empty(side) {
        NO_CLOCK_MS
    } else if go.clock.given() {
        let (main, increment) = go.clock.own(side);
        let share = (main as f64 * policy.share) as u64;
        // without byoyomi, running out of main time loses the game
        match go.clock.byoyomi_ms.unwrap_or(0) {
            0 => (share + increment).min(main + increment),
            byoyomi => share + byoyomi,
        }
    } else if let Some(ms) = mate_ms() {
        ms
    } else if go.infinite || go.mate.as_deref() == Some("infinite") {
        return None;
    } else {
        return Some(Duration::from_millis(policy.longest_ms));
    };
    // of a very short time, most is left for the search
    let margin_ms = policy.margin_ms.min(limit_ms / 4);
    Some(Duration::from_millis(limit_ms.saturating_sub(margin_ms)))
}

/// A duration in whole milliseconds.
pub(super) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// The `go` command for a member: its own limit, or the GUI's command with `used` taken off the clock of the side to
/// move. A limit of moves does not apply to the search for a mate.
///
/// `left` is how long the council can wait for the answer.
pub(super) fn member_go(go: &Go, side: Color, limit: Option<Limit>, used: Duration, left: Option<Duration>) -> Go {
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

    fn policy() -> TimePolicy {
        TimePolicy { margin_ms: 50, share: 0.25, ..TimePolicy::default() }
    }

    fn budget_ms(text: &str, side: Color) -> Option<u64> {
        budget(&Go::parse(text), side, Protocol::Usi, &policy()).map(|d| d.as_millis() as u64)
    }

    #[test]
    fn budgets_stay_within_what_the_gui_gives() {
        assert_eq!(budget_ms("btime 0 wtime 0 byoyomi 1000", Color::Black), Some(950));
        assert_eq!(budget_ms("btime 0 wtime 0 byoyomi 100", Color::Black), Some(75));
        assert_eq!(budget_ms("btime 40000 wtime 8000 byoyomi 1000", Color::White), Some(2_950));
        assert_eq!(budget_ms("btime 40000 wtime 8000", Color::White), Some(1_950));
        assert_eq!(budget_ms("btime 1000 wtime 100 binc 0 winc 2000", Color::White), Some(1_975));
        assert_eq!(budget_ms("movetime 500", Color::White), Some(450));
        assert_eq!(budget_ms("infinite", Color::White), None);
        assert_eq!(budget_ms("nodes 100", Color::White), Some(600_000));
        assert_eq!(budget_ms("btime 0 wtime 0", Color::Black), Some(950));
        assert_eq!(budget_ms("mate 60000", Color::Black), Some(59_950));
        assert_eq!(budget_ms("mate 400", Color::Black), Some(350));
        assert_eq!(budget_ms("mate infinite", Color::Black), None);
        let moves = budget(&Go::parse("mate 5"), Color::White, Protocol::Uci, &policy());
        assert_eq!(moves, Some(Duration::from_secs(600)));
    }

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
