//! The words that every room shares: colour, outcome, termination, win rate.
//!
//! Inside evalcurve every score and every outcome is in **the view of the side to move**, which is the
//! engine that gave the score: plus means that this engine expects to win.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The score written for a mate that a record announces without a number ("詰み=先手勝ち"), as floodgate clips its own.
pub const ANNOUNCED_MATE_CP: i32 = 100_000;

/// A side by the name that its game gives it. In shogi Black (先手) moves first, in chess White does; nothing here
/// depends on who began.
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

/// How a game ended for one side. A draw counts half of a win (Takeuchi 2018, section 4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// 0.
    Loss,
    /// 0.5.
    Draw,
    /// 1.
    Win,
}

impl Outcome {
    /// 0, 0.5 or 1.
    pub fn value(self) -> f64 {
        match self {
            Self::Loss => 0.0,
            Self::Draw => 0.5,
            Self::Win => 1.0,
        }
    }

    /// The same ending seen by the other side.
    pub fn reversed(self) -> Self {
        match self {
            Self::Loss => Self::Win,
            Self::Draw => Self::Draw,
            Self::Win => Self::Loss,
        }
    }

    /// A result for Black as one for `side`; and back again, since turning it twice changes nothing.
    #[inline]
    pub fn in_view_of(self, side: Color) -> Self {
        if side == Color::Black { self } else { self.reversed() }
    }
}

/// Why a game ended, as the record says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Termination {
    /// 投了: the side to move resigned.
    Resignation,
    /// 詰み: the side to move is checkmated.
    Checkmate,
    /// Flag fall.
    TimeUp,
    /// 入玉宣言勝ち: the side to move declared a win by entering king.
    Declaration,
    /// A declaration that did not hold; whoever declared loses.
    IllegalDeclaration,
    /// An illegal move, 打ち歩詰め and 王手回避漏れ among them.
    IllegalMove,
    /// 千日手.
    Repetition,
    /// 連続王手の千日手: whoever gave the checks loses.
    PerpetualCheck,
    /// 持将棋.
    Impasse,
    /// The ply limit of the match was reached.
    MaxMoves,
    /// A draw by agreement or by a rule that the record does not name.
    Draw,
    /// A disconnected or crashed player.
    Abnormal,
    /// 中断: stopped before the end.
    Interrupted,
    /// Decided by the match runner.
    Adjudication,
    /// The record does not say.
    Unknown,
}

impl Termination {
    /// All terminations, in the order of declaration.
    pub const ALL: [Self; 15] = [
        Self::Resignation,
        Self::Checkmate,
        Self::TimeUp,
        Self::Declaration,
        Self::IllegalDeclaration,
        Self::IllegalMove,
        Self::Repetition,
        Self::PerpetualCheck,
        Self::Impasse,
        Self::MaxMoves,
        Self::Draw,
        Self::Abnormal,
        Self::Interrupted,
        Self::Adjudication,
        Self::Unknown,
    ];

    /// The word used in the sample table and in filters.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Resignation => "resignation",
            Self::Checkmate => "checkmate",
            Self::TimeUp => "time_up",
            Self::Declaration => "declaration",
            Self::IllegalDeclaration => "illegal_declaration",
            Self::IllegalMove => "illegal_move",
            Self::Repetition => "repetition",
            Self::PerpetualCheck => "perpetual_check",
            Self::Impasse => "impasse",
            Self::MaxMoves => "max_moves",
            Self::Draw => "draw",
            Self::Abnormal => "abnormal",
            Self::Interrupted => "interrupted",
            Self::Adjudication => "adjudication",
            Self::Unknown => "unknown",
        }
    }

    /// The termination of that word, `None` where no termination has it.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|t| t.as_str() == word)
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
    fn terminations_have_words_of_their_own() {
        for t in Termination::ALL {
            assert_eq!(Termination::parse(t.as_str()), Some(t));
        }
        assert_eq!(Termination::parse("toryo"), None);
    }
}
