//! `go`: how long and how deep an engine may think.

use std::fmt;
use std::str::SplitWhitespace;

use super::Protocol;
use evalcurve_core::types::Color;

/// The clocks of both sides, as `go` gives them. Times in milliseconds.
///
/// `b` is the side to move at the start in shogi (Black) and the black pieces in chess.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Clock {
    /// Black's remaining time.
    pub btime_ms: Option<u64>,
    /// White's remaining time.
    pub wtime_ms: Option<u64>,
    /// Added to Black's clock after every move.
    pub binc_ms: Option<u64>,
    /// Added to White's clock after every move.
    pub winc_ms: Option<u64>,
    /// Time for every move once the clock is empty (秒読み).
    pub byoyomi_ms: Option<u64>,
    /// Chess: moves until the clock is filled again.
    pub moves_to_go: Option<u64>,
}

impl Clock {
    /// Whether `go` named any of them.
    pub fn given(&self) -> bool {
        *self != Self::default()
    }

    /// Remaining time and increment of a side, milliseconds; what `go` does not name is 0.
    pub fn own(&self, side: Color) -> (u64, u64) {
        let (time, increment) = match side {
            Color::Black => (self.btime_ms, self.binc_ms),
            Color::White => (self.wtime_ms, self.winc_ms),
        };
        (time.unwrap_or(0), increment.unwrap_or(0))
    }

    /// Whether a side has no time at all: neither a clock nor an increment nor byoyomi. It is how some GUIs say that there
    /// is no clock.
    pub fn is_empty(&self, side: Color) -> bool {
        self.own(side) == (0, 0) && self.byoyomi_ms.unwrap_or(0) == 0
    }
}

/// What `go` asks for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Go {
    /// Think in the opponent's time, until `ponderhit` or `stop`.
    pub ponder: bool,
    /// Think until `stop`.
    pub infinite: bool,
    /// The clocks.
    pub clock: Clock,
    /// Time for this move, milliseconds.
    pub movetime_ms: Option<u64>,
    /// Nodes to search.
    pub nodes: Option<u64>,
    /// Plies to search.
    pub depth: Option<u64>,
    /// Look for a mate: `infinite`, or milliseconds in USI and moves in UCI.
    pub mate: Option<String>,
    /// Look at these moves only.
    pub search_moves: Vec<String>,
}

impl Go {
    /// Reads what follows the word `go`. Words that it does not know, and numbers that are none, are passed over;
    /// a negative time is an empty clock.
    pub fn parse(text: &str) -> Self {
        let mut go = Self::default();
        let mut words = text.split_whitespace().peekable();
        while let Some(word) = words.next() {
            let mut number = || -> Option<u64> {
                let value = words.peek()?.parse::<i64>().ok()?;
                words.next();
                Some(u64::try_from(value).unwrap_or(0))
            };
            match word {
                "ponder" => go.ponder = true,
                "infinite" => go.infinite = true,
                "btime" => go.clock.btime_ms = number(),
                "wtime" => go.clock.wtime_ms = number(),
                "binc" => go.clock.binc_ms = number(),
                "winc" => go.clock.winc_ms = number(),
                "byoyomi" => go.clock.byoyomi_ms = number(),
                "movestogo" => go.clock.moves_to_go = number(),
                "movetime" => go.movetime_ms = number(),
                "nodes" => go.nodes = number(),
                "depth" => go.depth = number(),
                "mate" => go.mate = Some(words.next().unwrap_or("infinite").to_owned()),
                "searchmoves" => {
                    while let Some(m) = words.next_if(|w| !is_keyword(w)) {
                        go.search_moves.push(m.to_owned());
                    }
                }
                _ => {}
            }
        }
        go
    }

    /// The line to send to an engine that uses a protocol, starting with `go`; `side` is the side to move.
    ///
    /// UCI has no byoyomi, and its engines ignore the word. Without main time, byoyomi is a time per move; with main
    /// time, it is available on top of the clock at every move, like an increment that is credited in advance.
    pub fn line(&self, protocol: Protocol, side: Color) -> String {
        let mut go = self.clone();
        let byoyomi = go.clock.byoyomi_ms.take_if(|_| protocol == Protocol::Uci).filter(|ms| *ms > 0);
        match (byoyomi, self.clock.own(side)) {
            (None, _) => {}
            (Some(byoyomi), (0, increment)) => {
                go.clock = Clock::default();
                go.movetime_ms.get_or_insert(byoyomi.saturating_add(increment));
            }
            (Some(byoyomi), _) => {
                let Clock { btime_ms, wtime_ms, binc_ms, winc_ms, .. } = &mut go.clock;
                for ms in [btime_ms, wtime_ms, binc_ms, winc_ms] {
                    *ms = Some(ms.unwrap_or(0).saturating_add(byoyomi));
                }
            }
        }
        go.to_string()
    }

    /// Whether nothing but `stop` ends the search.
    pub fn is_open(&self) -> bool {
        self.infinite || self.ponder
    }
}

fn is_keyword(word: &str) -> bool {
    let words: SplitWhitespace<'_> =
        "ponder infinite btime wtime binc winc byoyomi movestogo movetime nodes depth mate searchmoves"
            .split_whitespace();
    words.into_iter().any(|w| w == word)
}

impl fmt::Display for Go {
    /// The line that an engine gets, from `go` on.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("go")?;
        if self.ponder {
            f.write_str(" ponder")?;
        }
        let Clock { btime_ms, wtime_ms, binc_ms, winc_ms, byoyomi_ms, moves_to_go } = self.clock;
        let numbers = [
            ("btime", btime_ms),
            ("wtime", wtime_ms),
            ("byoyomi", byoyomi_ms),
            ("binc", binc_ms),
            ("winc", winc_ms),
            ("movestogo", moves_to_go),
            ("movetime", self.movetime_ms),
            ("nodes", self.nodes),
            ("depth", self.depth),
        ];
        for (word, value) in numbers {
            if let Some(value) = value {
                write!(f, " {word} {value}")?;
            }
        }
        if let Some(mate) = &self.mate {
            write!(f, " mate {mate}")?;
        }
        if self.infinite {
            f.write_str(" infinite")?;
        }
        if !self.search_moves.is_empty() {
            write!(f, " searchmoves {}", self.search_moves.join(" "))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_read_and_written_again() {
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
            assert_eq!(Go::parse(&go.to_string()[2..]), go, "{text}");
        }
        assert_eq!(Go::parse("btime 0 wtime 0 byoyomi 100").to_string(), "go btime 0 wtime 0 byoyomi 100");
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
    fn a_side_has_its_own_time() {
        let clock = Go::parse("btime 5000 winc 20").clock;
        assert_eq!((clock.own(Color::Black), clock.own(Color::White)), ((5000, 0), (0, 20)));
        assert!(!clock.is_empty(Color::Black) && !clock.is_empty(Color::White));
        let clock = Go::parse("btime 0 wtime 10").clock;
        assert!(clock.is_empty(Color::Black) && !clock.is_empty(Color::White));
        assert!(!Go::parse("btime 0 wtime 0 byoyomi 10").clock.is_empty(Color::Black));
    }

    #[test]
    fn nonsense_is_passed_over() {
        let go = Go::parse("btime -30 wtime x nodes depth 5 what");
        assert_eq!((go.clock.btime_ms, go.clock.wtime_ms, go.nodes, go.depth), (Some(0), None, None, Some(5)));
    }
}
