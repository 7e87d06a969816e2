//! Types that the whole program shares: color, outcome and termination.
//!
//! Inside evalcurve every score and every outcome is in **the view of the side to move**, which is the engine that gave
//! the score: a positive score means that this engine expects to win.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The score written for a mate that a record announces without a number ("詰み=先手勝ち"), as floodgate clips its
/// scores.
pub const ANNOUNCED_MATE_CP: i32 = 100_000;

/// A side by its name in the game. In shogi Black (先手) moves first, in chess White does; nothing here depends on the
/// order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Color {
    /// 先手; the Black pieces of chess.
    Black,
    /// 後手; the White pieces of chess.
    White,
}

impl Color {
    /// The other side.
    pub fn opponent(self) -> Self {
        match self {
            Self::Black => Self::White,
            Self::White => Self::Black,
        }
    }

    /// 0 for Black, 1 for White.
    pub fn index(self) -> usize {
        self as usize
    }

    /// `black` or `white`, as in the sample table.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Black => "black",
            Self::White => "white",
        }
    }
}

impl fmt::Display for Color {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How a game ended for one side. A draw counts as half a win (Takeuchi 2018, section 4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Result 0.
    Loss,
    /// Result 0.5.
    Draw,
    /// Result 1.
    Win,
}

impl Outcome {
    /// The result: 0, 0.5 or 1.
    pub fn value(self) -> f64 {
        match self {
            Self::Loss => 0.0,
            Self::Draw => 0.5,
            Self::Win => 1.0,
        }
    }

    /// The outcome for the other side.
    pub fn reversed(self) -> Self {
        match self {
            Self::Loss => Self::Win,
            Self::Draw => Self::Draw,
            Self::Win => Self::Loss,
        }
    }

    /// Turns an outcome for Black into one for `side`, and back again.
    #[inline]
    pub fn in_view_of(self, side: Color) -> Self {
        if side == Color::Black { self } else { self.reversed() }
    }
}

/// The rates of wins, draws and losses that an engine declares itself (`info … wdl 512 300 188`), in permille and from
/// its own point of view.
///
/// The rates share one word of ten bits each, because every sample has room for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "[u16; 3]", into = "[u16; 3]")]
pub struct Declared(NonZeroU32);

/// Three numbers that are not rates of wins, draws and losses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("wdl {0} {1} {2} is not valid; write wins, draws and losses in permille, which sum to 1000")]
pub struct NotDeclared(u16, u16, u16);

/// How far the sum of declared rates may be from 1000: engines round each of them.
const ROUNDING: u32 = 2;

impl TryFrom<[u16; 3]> for Declared {
    type Error = NotDeclared;

    fn try_from([win, draw, loss]: [u16; 3]) -> Result<Self, NotDeclared> {
        let [w, d, l] = [win, draw, loss].map(u32::from);
        let sums = (w + d + l).abs_diff(1_000) <= ROUNDING;
        let word = NonZeroU32::new(w << 20 | d << 10 | l).filter(|_| sums);
        word.map(Self).ok_or(NotDeclared(win, draw, loss))
    }
}

impl From<Declared> for [u16; 3] {
    fn from(Declared(word): Declared) -> Self {
        [20, 10, 0].map(|shift| (word.get() >> shift & 0x3ff) as u16)
    }
}

impl fmt::Display for Declared {
    /// `512 300 188`, as engines write it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [win, draw, loss] = <[u16; 3]>::from(*self);
        write!(f, "{win} {draw} {loss}")
    }
}

impl Declared {
    /// Reads the three words after `wdl`; `None` if they are no rates.
    pub fn parse(words: [&[u8]; 3]) -> Option<Self> {
        let [win, draw, loss] = words.map(|word| {
            let digits = std::str::from_utf8(word).ok().filter(|word| word.bytes().all(|b| b.is_ascii_digit()));
            digits?.parse::<u16>().ok()
        });
        Self::try_from([win?, draw?, loss?]).ok()
    }

    /// The rates from the point of view of the other side.
    #[must_use]
    pub fn reversed(self) -> Self {
        let [win, draw, loss] = <[u16; 3]>::from(self);
        // the sum stays the same, so this is never an error
        Self::try_from([loss, draw, win]).unwrap_or(self)
    }

    /// The shares of wins, draws and losses, which sum to 1.
    pub fn shares(self) -> [f64; 3] {
        let shares = <[u16; 3]>::from(self).map(f64::from);
        let sum: f64 = shares.iter().sum();
        shares.map(|share| share / sum)
    }

    /// The win rate: a draw counts half.
    pub fn win_rate(self) -> f64 {
        // one division of whole numbers, so that 700 200 100 is 0.8 and nothing near it
        let [win, draw, loss] = <[u16; 3]>::from(self).map(f64::from);
        (2.0 * win + draw) / (2.0 * (win + draw + loss))
    }
}

/// Declares [`Termination`] with its words.
macro_rules! terminations {
    ($($(#[$doc:meta])+ $name:ident = $word:literal),+ $(,)?) => {
        /// Why a game ended, according to the record.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Termination {
            $($(#[$doc])+ $name),+
        }

        impl Termination {
            /// All terminations, in the order of declaration.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// The word used in the sample table and in filters.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $word),+ }
            }
        }
    };
}

terminations! {
    /// 投了: the side to move resigned.
    Resignation = "resignation",
    /// 詰み: the side to move is checkmated.
    Checkmate = "checkmate",
    /// Loss on time.
    TimeUp = "time_up",
    /// 入玉宣言勝ち: the side to move declared a win by entering king.
    Declaration = "declaration",
    /// A false declaration; the side that declared loses.
    IllegalDeclaration = "illegal_declaration",
    /// An illegal move, including 打ち歩詰め and 王手回避漏れ.
    IllegalMove = "illegal_move",
    /// 千日手.
    Repetition = "repetition",
    /// 連続王手の千日手: the side that gave the checks loses.
    PerpetualCheck = "perpetual_check",
    /// 持将棋.
    Impasse = "impasse",
    /// The ply limit of the match was reached.
    MaxMoves = "max_moves",
    /// A draw by agreement or by a rule that the record does not name.
    Draw = "draw",
    /// A player disconnected or crashed.
    Abnormal = "abnormal",
    /// 中断: stopped before the end.
    Interrupted = "interrupted",
    /// Decided by the match runner.
    Adjudication = "adjudication",
    /// The record gives no reason.
    Unknown = "unknown",
}

/// A word that names no termination.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no such termination")]
pub struct UnknownTermination;

impl FromStr for Termination {
    type Err = UnknownTermination;

    fn from_str(word: &str) -> Result<Self, UnknownTermination> {
        Self::ALL.iter().copied().find(|t| t.as_str() == word).ok_or(UnknownTermination)
    }
}

impl fmt::Display for Termination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_reverse_and_count() {
        assert_eq!(Outcome::Win.reversed(), Outcome::Loss);
        assert_eq!(Outcome::Draw.reversed(), Outcome::Draw);
        assert_eq!(Outcome::Win.value() + Outcome::Win.reversed().value(), 1.0);
    }

    #[test]
    fn declared_rates_sum_to_a_thousand() {
        let parse = |text: &str| {
            let words: Vec<&[u8]> = text.split(' ').map(str::as_bytes).collect();
            Declared::parse(words.try_into().unwrap())
        };
        let rates = parse("512 300 188").unwrap();
        assert_eq!((<[u16; 3]>::from(rates), rates.to_string().as_str()), ([512, 300, 188], "512 300 188"));
        assert_eq!((rates.win_rate(), rates.reversed().to_string().as_str()), (0.662, "188 300 512"));
        // 333 + 333 + 333 = 999: each of them is rounded
        assert!((parse("333 333 333").unwrap().win_rate() - 0.5).abs() < 1e-12);
        for bad in
            ["512 300 189x", "512 300 18", "512 300 192", "-1 1 1000", "99999 0 0", "1000 1000 0", "+512 300 188"]
        {
            assert_eq!(parse(bad), None, "{bad}");
        }
        for ends in ["1000 0 0", "0 1000 0", "0 0 1000", "1002 0 0", "0 0 998"] {
            assert_eq!(parse(ends).map(|rates| rates.to_string()).as_deref(), Some(ends));
        }
        assert_eq!(size_of::<Option<Declared>>(), 4);
        let json = serde_json::to_string(&rates).unwrap();
        assert_eq!((json.as_str(), serde_json::from_str(&json).ok()), ("[512,300,188]", Some(rates)));
        let error = serde_json::from_str::<Declared>("[512,300,0]").unwrap_err().to_string();
        assert!(error.starts_with("wdl 512 300 0 is not valid; write wins, draws and losses in permille"), "{error}");
    }

    #[test]
    fn every_termination_has_a_word() {
        for &t in Termination::ALL {
            assert_eq!(t.as_str().parse(), Ok(t));
        }
        assert!("toryo".parse::<Termination>().is_err());
    }
}
