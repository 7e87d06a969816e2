//! Time management: what a `go` command leaves for the council.

use std::time::Duration;

use evalcurve_calibration::types::Color;
use evalcurve_engine::clock::NO_CLOCK_MS;
use evalcurve_engine::usi::{Go, Protocol};

use super::config::TimePolicy;

/// In UCI, one part in so many of the clock is left after every move. Without it, a long increment leaves `margin-ms`
/// after each move, and the first delay beyond that loses the game.
const LEFT_IN_UCI: u64 = 4;

/// The time from a `go` command to the council's move: what the GUI gives, minus the margin. `None` for `go infinite`,
/// which only `stop` ends.
///
/// Byoyomi and increment are used in full, the main time up to its share in the policy. In USI they come on top of the
/// main time. In UCI the increment comes after the move: the main time is all there is until then.
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
        match go.clock.byoyomi_ms.unwrap_or(0) {
            // a clock at 0 that has not lost the game does not count
            0 if protocol == Protocol::Uci && main > 0 => (share + increment).min(main - main / LEFT_IN_UCI),
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
    fn in_uci_the_increment_comes_after_the_move() {
        let ms = |text: &str| {
            let left = budget(&Go::parse(text), Color::White, Protocol::Uci, &policy());
            left.map(|left| left.as_millis() as u64).unwrap()
        };
        assert_eq!(ms("btime 9000 wtime 1500 winc 2000"), 1_075);
        assert_eq!(ms("btime 9000 wtime 60000 winc 2000"), 16_950);
        assert_eq!(ms("btime 9000 wtime 8000"), 1_950);
        assert_eq!(ms("btime 9000 wtime 8 winc 100"), 5);
        assert_eq!(ms("btime 9000 wtime 1000 movestogo 1"), 200);
        assert_eq!(ms("btime 0 wtime 0 winc 100"), 75);
        // a game that goes on for ever never has less than a sixth of its increment left after a move
        for increment in [100, 200, 2_000, 20_000] {
            let mut left_ms = 60_000 + increment;
            for _ in 0..1_000 {
                left_ms -= ms(&format!("wtime {left_ms} winc {increment}"));
                assert!(left_ms > increment / 6, "{left_ms} {increment}");
                left_ms += increment;
            }
        }
    }
}
