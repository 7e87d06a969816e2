//! Time: what a `go` leaves the council, and what a member is told of it.

use std::time::Duration;

use super::config::{Limit, TimePolicy};
use crate::usi::Go;
use evalcurve_core::types::Color;

/// What a `go` with nothing but empty clocks is taken for.
pub(super) const NO_CLOCK_MS: u64 = 1_000;

/// How long the council may take from the order to its move: the time that the GUI gives, less the margin. `None` for
/// `go infinite`, which ends by `stop` alone.
///
/// Main time is not spent on one move: its share by the policy, and byoyomi and increment whole.
pub(super) fn budget(go: &Go, side: Color, policy: &TimePolicy) -> Option<Duration> {
    let limit_ms = if let Some(ms) = go.movetime_ms {
        ms
    } else if go.clock.given() && go.clock.is_empty(side) {
        NO_CLOCK_MS
    } else if go.clock.given() {
        let (main, increment) = go.clock.own(side);
        let byoyomi = go.clock.byoyomi_ms.unwrap_or(0);
        let share = (main as f64 * policy.share) as u64;
        // with byoyomi or an increment behind it, main time may run out; else it must not
        match byoyomi {
            0 => (share + increment).min(main + increment),
            _ => share + byoyomi,
        }
    } else if let Some(ms) = go.mate.as_deref().and_then(|m| m.parse().ok()).filter(|&ms: &u64| ms >= 1000) {
        ms
    } else if go.infinite || go.mate.as_deref() == Some("infinite") {
        return None;
    } else {
        return Some(Duration::from_millis(policy.longest_ms));
    };
    Some(Duration::from_millis(limit_ms.saturating_sub(margin_ms(limit_ms, policy))))
}

/// The margin; of very short times a quarter at most, so that something is left to think.
pub(super) fn margin_ms(limit_ms: u64, policy: &TimePolicy) -> u64 {
    policy.margin_ms.min(limit_ms / 4)
}

/// What a member is told: its own limit, or the GUI's order with `used` less on the clock of the side to move.
///
/// `left` is what the council can wait for.
pub(super) fn order(go: &Go, side: Color, limit: Option<Limit>, used: Duration, left: Option<Duration>) -> Go {
    let used_ms = u64::try_from(used.as_millis()).unwrap_or(u64::MAX);
    let left_ms = left.map(|d| u64::try_from(d.as_millis()).unwrap_or(u64::MAX).max(1));
    if let Some(limit) = limit {
        let limit = match (limit, left_ms) {
            (Limit::MoveTime(ms), Some(left)) => Limit::MoveTime(ms.min(left)),
            (Limit::Byoyomi(ms), Some(left)) => Limit::Byoyomi(ms.min(left)),
            _ => limit,
        };
        return Go { search_moves: go.search_moves.clone(), ..limit.go() };
    }
    let mut go = go.clone();
    go.movetime_ms = go.movetime_ms.map(|ms| ms.saturating_sub(used_ms).max(1));
    let clock = &mut go.clock;
    let mut owed = used_ms;
    let mut take = |from: &mut Option<u64>, keep: u64| {
        if let Some(ms) = from {
            let taken = owed.min(ms.saturating_sub(keep));
            *ms -= taken;
            owed -= taken;
        }
    };
    // byoyomi first: a member that plays to its very end must not play beyond the council's
    take(&mut clock.byoyomi_ms, 1);
    match side {
        Color::Black => {
            take(&mut clock.btime_ms, 0);
            take(&mut clock.binc_ms, 0);
        }
        Color::White => {
            take(&mut clock.wtime_ms, 0);
            take(&mut clock.winc_ms, 0);
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
        budget(&Go::parse(text), side, &policy()).map(|d| d.as_millis() as u64)
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
    }

    #[test]
    fn members_get_less_than_the_council() {
        let told = |text: &str, side, used| {
            order(&Go::parse(text), side, None, Duration::from_millis(used), Some(Duration::from_millis(400)))
                .to_string()
        };
        assert_eq!(
            told("btime 5000 wtime 6000 byoyomi 1000", Color::Black, 60),
            "go btime 5000 wtime 6000 byoyomi 940"
        );
        assert_eq!(told("btime 5000 wtime 6000", Color::White, 60), "go btime 5000 wtime 5940");
        assert_eq!(told("btime 50 wtime 6000 binc 100", Color::Black, 60), "go btime 0 wtime 6000 binc 90");
        assert_eq!(told("btime 5000 wtime 6000 byoyomi 50", Color::White, 60), "go btime 5000 wtime 5989 byoyomi 1");
        assert_eq!(told("movetime 500", Color::White, 60), "go movetime 440");
        assert_eq!(told("nodes 500", Color::White, 60), "go nodes 500");
        let limited = |limit| {
            let go = Go::parse("btime 0 wtime 0 byoyomi 500");
            order(&go, Color::Black, Some(limit), Duration::from_millis(60), Some(Duration::from_millis(400)))
                .to_string()
        };
        assert_eq!(limited(Limit::Nodes(4000)), "go nodes 4000");
        assert_eq!(limited(Limit::MoveTime(4000)), "go movetime 400");
        assert_eq!(limited(Limit::Byoyomi(100)), "go btime 0 wtime 0 byoyomi 100");
    }
}
