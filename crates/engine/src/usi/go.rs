//! The `go` command: how long and how deep an engine searches.

use evalcurve_calibration::types::Color;

use super::Protocol;
use super::words::Words;

/// The clocks of both sides in a `go` command, in milliseconds.
///
/// `b` is the side that moves first in shogi (Black) and the black pieces in chess.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Clock {
    /// Black's remaining time.
    pub btime_ms: Option<u64>,
    /// White's remaining time.
    pub wtime_ms: Option<u64>,
    /// Black's increment per move.
    pub binc_ms: Option<u64>,
    /// White's increment per move.
    pub winc_ms: Option<u64>,
    /// Time per move once the main time is used up (秒読み).
    pub byoyomi_ms: Option<u64>,
    /// Chess: moves until the next time control.
    pub moves_to_go: Option<u64>,
}

impl Clock {
    /// Whether the `go` command contains any clock.
    pub fn given(&self) -> bool {
        *self != Self::default()
    }

    /// The remaining time and the increment of a side, in milliseconds; 0 if the `go` command omits them.
    pub fn own(&self, side: Color) -> (u64, u64) {
        let (time, increment) = match side {
            Color::Black => (self.btime_ms, self.binc_ms),
            Color::White => (self.wtime_ms, self.winc_ms),
        };
        (time.unwrap_or(0), increment.unwrap_or(0))
    }

    /// Whether a side has no time at all: no remaining time, no increment and no byoyomi. Some GUIs send this when a
    /// game has no clock.
    pub fn is_empty(&self, side: Color) -> bool {
        self.own(side) == (0, 0) && self.byoyomi_ms.unwrap_or(0) == 0
    }
}

/// The limits of a `go` command; several may be given.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Go {
    /// Search during the opponent's time, until `ponderhit` or `stop`.
    pub ponder: bool,
    /// Search until `stop`.
    pub infinite: bool,
    /// The time of both sides.
    pub clock: Clock,
    /// Time for this move, in milliseconds.
    pub movetime_ms: Option<u64>,
    /// Nodes to search.
    pub nodes: Option<u64>,
    /// Plies to search.
    pub depth: Option<u64>,
    /// Search for a mate: `infinite`, or milliseconds in USI and moves in UCI.
    pub mate: Option<String>,
    /// Search only these moves.
    pub search_moves: Vec<String>,
}

impl Go {
    /// Parses what follows the word `go`. Unknown words and invalid numbers are ignored; a negative time is 0.
    pub fn parse(text: &str) -> Self {
        let mut go = Self::default();
        let mut words = Words::new(text);
        while let Some(word) = words.next() {
            match word {
                "ponder" => go.ponder = true,
                "infinite" => go.infinite = true,
                "mate" => go.mate = Some(words.next().unwrap_or("infinite").to_owned()),
                "searchmoves" => {
                    words.each_matching(|word| !is_keyword(word), |word| go.search_moves.push(word.to_owned()));
                }
                _ => {
                    if let Some((_, number)) = go.numbers().into_iter().find(|(name, _)| *name == word) {
                        *number = words.value::<i64>().map(|value| u64::try_from(value).unwrap_or(0));
                    }
                }
            }
        }
        go
    }

    /// The limits that are numbers, with their names, in the order in which they are written.
    fn numbers(&mut self) -> [(&'static str, &mut Option<u64>); 9] {
        let Clock { btime_ms, wtime_ms, binc_ms, winc_ms, byoyomi_ms, moves_to_go } = &mut self.clock;
        [
            ("btime", btime_ms),
            ("wtime", wtime_ms),
            ("byoyomi", byoyomi_ms),
            ("binc", binc_ms),
            ("winc", winc_ms),
            ("movestogo", moves_to_go),
            ("movetime", &mut self.movetime_ms),
            ("nodes", &mut self.nodes),
            ("depth", &mut self.depth),
        ]
    }

    /// Whether only `stop` or `ponderhit` ends the search.
    pub fn is_open(&self) -> bool {
        self.infinite || self.ponder
    }

    /// The line to send to an engine, starting with `go`; `side` is the side to move.
    pub fn line(&self, protocol: Protocol, side: Color) -> String {
        let mut go = self.clone();
        if protocol == Protocol::Uci {
            go.replace_byoyomi(side);
        }
        let mut line = String::from("go");
        if go.ponder {
            line += " ponder";
        }
        for (name, number) in go.numbers() {
            if let Some(value) = number {
                line += &format!(" {name} {value}");
            }
        }
        if let Some(mate) = &go.mate {
            line += &format!(" mate {mate}");
        }
        if go.infinite {
            line += " infinite";
        }
        if !go.search_moves.is_empty() {
            line += &format!(" searchmoves {}", go.search_moves.join(" "));
        }
        line
    }

    /// UCI has no byoyomi, and its engines ignore the word. Without main time, byoyomi is a time per move; with main
    /// time, it is available on top of the clock at every move, like an increment that is credited in advance.
    fn replace_byoyomi(&mut self, side: Color) {
        let Some(byoyomi) = self.clock.byoyomi_ms.take().filter(|ms| *ms > 0) else { return };
        match self.clock.own(side) {
            (0, increment) => {
                self.clock = Clock::default();
                self.movetime_ms.get_or_insert(byoyomi.saturating_add(increment));
            }
            _ => {
                let Clock { btime_ms, wtime_ms, binc_ms, winc_ms, .. } = &mut self.clock;
                for ms in [btime_ms, wtime_ms, binc_ms, winc_ms] {
                    *ms = Some(ms.unwrap_or(0).saturating_add(byoyomi));
                }
            }
        }
    }
}

fn is_keyword(word: &str) -> bool {
    let numbers = Go::default().numbers().map(|(name, _)| name);
    numbers.contains(&word) || ["ponder", "infinite", "mate", "searchmoves"].contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(go: &Go) -> String {
        go.line(Protocol::Usi, Color::Black)
    }

    #[test]
    fn every_form_round_trips() {
        for text in [
            "go btime 60000 wtime 50000 byoyomi 10000",
            "go ponder btime 60000 wtime 50000 binc 1000 winc 2000",
            "go movetime 500",
            "go nodes 4000",
            "go depth 7",
            "go infinite",
            "go mate 60000",
            "go wtime 1000 btime 2000 movestogo 40",
            "go depth 3 searchmoves 7g7f 2g2f",
        ] {
            let go = Go::parse(&text[2..]);
            assert_eq!(Go::parse(&written(&go)[2..]), go, "{text}");
        }
        assert_eq!(written(&Go::parse("btime 0 wtime 0 byoyomi 100")), "go btime 0 wtime 0 byoyomi 100");
        assert_eq!(Go::parse("mate").mate.as_deref(), Some("infinite"));
    }

    #[test]
    fn uci_engines_get_no_byoyomi() {
        let uci = |text: &str, side| Go::parse(text).line(Protocol::Uci, side);
        assert_eq!(uci("btime 0 wtime 0 byoyomi 950", Color::White), "go movetime 950");
        assert_eq!(uci("ponder btime 0 wtime 0 byoyomi 950 depth 3", Color::Black), "go ponder movetime 950 depth 3");
        assert_eq!(
            uci("btime 5000 wtime 0 byoyomi 1000", Color::Black),
            "go btime 6000 wtime 1000 binc 1000 winc 1000"
        );
        assert_eq!(uci("btime 5000 wtime 0 byoyomi 1000 winc 20", Color::White), "go movetime 1020");
        // empty clocks: the game has no clock
        assert_eq!(uci("btime 0 wtime 0 byoyomi 0", Color::White), "go btime 0 wtime 0");
        assert_eq!(uci("btime 50 wtime 60 winc 7", Color::White), "go btime 50 wtime 60 winc 7");
    }

    #[test]
    fn each_side_has_its_own_time() {
        let clock = Go::parse("btime 5000 winc 20").clock;
        assert_eq!((clock.own(Color::Black), clock.own(Color::White)), ((5000, 0), (0, 20)));
        assert!(!clock.is_empty(Color::Black) && !clock.is_empty(Color::White));
        let clock = Go::parse("btime 0 wtime 10").clock;
        assert!(clock.is_empty(Color::Black) && !clock.is_empty(Color::White));
        assert!(!Go::parse("btime 0 wtime 0 byoyomi 10").clock.is_empty(Color::Black));
    }

    #[test]
    fn invalid_words_are_ignored() {
        let go = Go::parse("btime -30 wtime x nodes depth 5 what");
        assert_eq!((go.clock.btime_ms, go.clock.wtime_ms, go.nodes, go.depth), (Some(0), None, None, Some(5)));
    }
}
