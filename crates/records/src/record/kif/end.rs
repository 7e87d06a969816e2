//! How a KIF record says that a game ended.

use evalcurve_core::types::{Color, Outcome, Termination};

/// An end and who won.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct End {
    pub(super) termination: Termination,
    winner: Winner,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Winner {
    ToMove,
    Waiting,
    Is(Color),
    Nobody,
    Unknown,
}

/// What stands in place of a move. The longer of two words that begin alike comes first.
const WORDS: &[(&str, Termination, Winner)] = &[
    ("投了", Termination::Resignation, Winner::Waiting),
    ("詰み", Termination::Checkmate, Winner::Waiting),
    ("詰", Termination::Checkmate, Winner::Waiting),
    ("切れ負け", Termination::TimeUp, Winner::Waiting),
    ("時間切れ", Termination::TimeUp, Winner::Waiting),
    ("反則負け", Termination::IllegalMove, Winner::Waiting),
    ("反則勝ち", Termination::IllegalMove, Winner::ToMove),
    ("入玉勝ち", Termination::Declaration, Winner::ToMove),
    ("勝ち宣言", Termination::Declaration, Winner::ToMove),
    ("不戦敗", Termination::Abnormal, Winner::Waiting),
    ("不戦勝", Termination::Abnormal, Winner::ToMove),
    ("千日手", Termination::Repetition, Winner::Nobody),
    ("持将棋", Termination::Impasse, Winner::Nobody),
    ("最大手数", Termination::MaxMoves, Winner::Nobody),
    ("引き分け", Termination::Draw, Winner::Nobody),
    ("中断", Termination::Interrupted, Winner::Unknown),
    ("封じ手", Termination::Interrupted, Winner::Unknown),
    ("不詰", Termination::Unknown, Winner::Unknown),
];

impl End {
    /// The end that stands in place of a move; `None` where the text is none.
    pub(super) fn of_word(text: &str) -> Option<Self> {
        let found = WORDS.iter().find(|(word, ..)| text.starts_with(word));
        found.map(|&(_, termination, winner)| Self { termination, winner })
    }

    /// The end of a まで line, given from behind its まで on: `115手で先手の勝ち`, `52手で先手の反則負け`,
    /// `150手で時間切れにより後手の勝ち`, `96手で千日手`.
    pub(super) fn of_until(text: &str) -> Self {
        let says = |word: &str| text.contains(word);
        let side =
            [("先手の", Color::Black), ("下手の", Color::Black), ("後手の", Color::White), ("上手の", Color::White)]
                .into_iter()
                .find(|(word, _)| says(word))
                .map(|(_, color)| color);
        let winner = match side {
            Some(color) if says("負け") || says("敗") => Winner::Is(color.opponent()),
            Some(color) if says("勝") => Winner::Is(color),
            _ => Winner::Unknown,
        };
        let by_word = WORDS.iter().find(|(word, ..)| *word != "詰" && says(word));
        match by_word {
            Some(&(_, termination, _)) if winner != Winner::Unknown => Self { termination, winner },
            Some(&(_, termination, winner @ (Winner::Nobody | Winner::Unknown))) => Self { termination, winner },
            Some(&(_, termination, _)) => Self { termination, winner: Winner::Unknown },
            // nothing but who won: a resignation
            None if winner != Winner::Unknown => Self { termination: Termination::Resignation, winner },
            None => Self { termination: Termination::Unknown, winner },
        }
    }

    /// The result for Black, given the side to move at the end.
    pub(super) fn black_outcome(self, to_move: Color) -> Option<Outcome> {
        let winner = match self.winner {
            Winner::ToMove => to_move,
            Winner::Waiting => to_move.opponent(),
            Winner::Is(color) => color,
            Winner::Nobody => return Some(Outcome::Draw),
            Winner::Unknown => return None,
        };
        Some(if winner == Color::Black { Outcome::Win } else { Outcome::Loss })
    }
}
