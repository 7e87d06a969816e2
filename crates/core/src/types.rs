//! Types that the whole program shares: color, outcome and termination.
//!
//! Inside evalcurve every score and every outcome is in **the view of the side to move**, which is the engine that gave
//! the score: a positive score means that this engine expects to win.

use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

/// The score written for a mate that a record announces without a number ("詰み=先手勝ち"), as floodgate clips its
/// scores.
pub const ANNOUNCED_MATE_CP: i32 = 100_000;

/// A side by its name in the game. In shogi Black (先手) moves first, in chess White does; nothing here depends on the
/// order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Display, IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
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
        self.into()
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

/// Why a game ended, according to the record.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Display, EnumString, IntoStaticStr, VariantArray,
)]
#[strum(serialize_all = "snake_case")]
pub enum Termination {
    /// 投了: the side to move resigned.
    Resignation,
    /// 詰み: the side to move is checkmated.
    Checkmate,
    /// Loss on time.
    TimeUp,
    /// 入玉宣言勝ち: the side to move declared a win by entering king.
    Declaration,
    /// A false declaration; the side that declared loses.
    IllegalDeclaration,
    /// An illegal move, including 打ち歩詰め and 王手回避漏れ.
    IllegalMove,
    /// 千日手.
    Repetition,
    /// 連続王手の千日手: the side that gave the checks loses.
    PerpetualCheck,
    /// 持将棋.
    Impasse,
    /// The ply limit of the match was reached.
    MaxMoves,
    /// A draw by agreement or by a rule that the record does not name.
    Draw,
    /// A player disconnected or crashed.
    Abnormal,
    /// 中断: stopped before the end.
    Interrupted,
    /// Decided by the match runner.
    Adjudication,
    /// The record gives no reason.
    Unknown,
}

impl Termination {
    /// All terminations, in the order of declaration.
    pub const ALL: &[Self] = Self::VARIANTS;

    /// The word used in the sample table and in filters.
    pub fn as_str(self) -> &'static str {
        self.into()
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
    fn every_termination_has_a_word() {
        for &t in Termination::ALL {
            assert_eq!(t.as_str().parse(), Ok(t));
        }
        assert!("toryo".parse::<Termination>().is_err());
    }
}
