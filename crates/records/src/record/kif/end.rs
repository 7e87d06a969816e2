//! The end of a game in a KIF record.

use evalcurve_calibration::types::{Color, Outcome, Termination};

/// A termination and the winner.
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
    Draw,
    Unknown,
}

/// Words in place of a move. Of two words with the same beginning the longer comes first.
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
    ("千日手", Termination::Repetition, Winner::Draw),
    ("持将棋", Termination::Impasse, Winner::Draw),
    ("最大手数", Termination::MaxMoves, Winner::Draw),
    ("引き分け", Termination::Draw, Winner::Draw),
    ("中断", Termination::Interrupted, Winner::Unknown),
    ("封じ手", Termination::Interrupted, Winner::Unknown),
    ("不詰", Termination::Unknown, Winner::Unknown),
];

impl End {
    /// The end in place of a move; `None` if the text is not an end.
    pub(super) fn of_word(text: &str) -> Option<Self> {
        let found = WORDS.iter().find(|(word, ..)| text.starts_with(word));
        found.map(|&(_, termination, winner)| Self { termination, winner })
    }

    /// The end of a まで line, given without its まで: `115手で先手の勝ち`, `52手で先手の反則負け`,
    /// `150手で時間切れにより後手の勝ち`, `96手で千日手`.
    pub(super) fn of_until(text: &str) -> Self {
        let has = |word: &str| text.contains(word);
        let side =
            [("先手の", Color::Black), ("下手の", Color::Black), ("後手の", Color::White), ("上手の", Color::White)]
                .into_iter()
                .find(|(word, _)| has(word))
                .map(|(_, color)| color);
        let winner = match side {
            Some(color) if has("負け") || has("敗") => Winner::Is(color.opponent()),
            Some(color) if has("勝") => Winner::Is(color),
            _ => Winner::Unknown,
        };
        let by_word = WORDS.iter().find(|(word, ..)| *word != "詰" && has(word));
        match by_word {
            Some(&(_, termination, _)) if winner != Winner::Unknown => Self { termination, winner },
            Some(&(_, termination, winner @ (Winner::Draw | Winner::Unknown))) => Self { termination, winner },
            Some(&(_, termination, _)) => Self { termination, winner: Winner::Unknown },
            // only the winner: a resignation
            None if winner != Winner::Unknown => Self { termination: Termination::Resignation, winner },
            None => Self { termination: Termination::Unknown, winner },
        }
    }

    /// The outcome for Black, given the side to move at the end.
    pub(super) fn black_outcome(self, to_move: Color) -> Option<Outcome> {
        let winner = match self.winner {
            Winner::ToMove => to_move,
            Winner::Waiting => to_move.opponent(),
            Winner::Is(color) => color,
            Winner::Draw => return Some(Outcome::Draw),
            Winner::Unknown => return None,
        };
        Some(Outcome::Win.in_view_of(winner))
    }
}
