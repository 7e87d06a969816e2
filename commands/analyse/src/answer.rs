//! What an engine answers for a position, or why there is no answer that counts.

use evalcurve_calibration::Score;
use evalcurve_calibration::types::Declared;
use evalcurve_engine::{Board, SearchResult};
use evalcurve_words::text::{printable, shortened};
use serde::{Deserialize, Serialize};

/// The answer to one position, as the journal holds it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// A score and a move.
    Scored(Scored),
    /// No answer that counts.
    Failed(Failed),
}

/// A score in the view of the side to move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Value {
    /// Centipawns.
    Cp(i32),
    /// A mate in this many plies for the side to move; 0 plies where the engine does not say.
    Wins(u32),
    /// The same against the side to move.
    Loses(u32),
}

impl Value {
    /// `None` for a number of centipawns that no table holds.
    fn new(score: Score) -> Option<Self> {
        match score {
            Score::Cp(cp) => (cp.abs() <= f64::from(i32::MAX)).then_some(Self::Cp(cp as i32)),
            Score::Mate { wins: true, plies } => Some(Self::Wins(plies.unwrap_or(0))),
            Score::Mate { wins: false, plies } => Some(Self::Loses(plies.unwrap_or(0))),
        }
    }
}

/// What an engine found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scored {
    pub value: Value,
    /// The move that it would play, or `resign` or `win`.
    pub best: String,
    /// The shares of wins, draws and losses that it declared, in permille.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared: Option<[u16; 3]>,
    /// Depth in plies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u64>,
    /// From the command to the answer, in microseconds.
    pub time_us: u64,
    /// Its best moves with their scores, if it reports several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<(String, Value)>,
}

impl Scored {
    /// The declared shares.
    pub fn declared(&self) -> Option<Declared> {
        self.declared.and_then(|shares| Declared::try_from(shares).ok())
    }
}

/// Why an answer does not count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failed {
    /// The kind, which reports count.
    pub reason: Reason,
    /// What the engine said or did.
    pub detail: String,
}

/// Kinds of failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The engine ended, did not start or did not get ready.
    Crashed,
    /// It did not answer in time.
    NoAnswer,
    IllegalMove,
    /// It gave no score, or only a bound.
    NoScore,
}

impl Reason {
    /// The word in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Crashed => "crashed",
            Self::NoAnswer => "no_answer",
            Self::IllegalMove => "illegal_move",
            Self::NoScore => "no_score",
        }
    }
}

/// Characters of a detail.
const MOST_DETAIL: usize = 200;

impl Answer {
    /// An answer that does not count.
    pub(crate) fn failed(reason: Reason, detail: &str) -> Self {
        Self::Failed(Failed { reason, detail: printable(&shortened(detail, MOST_DETAIL), '\u{fffd}') })
    }

    /// Judges the result of a search on a board.
    pub(crate) fn of(result: &SearchResult, board: &Board) -> Self {
        let best = result.best.as_deref().unwrap_or_default();
        if !matches!(best, "resign" | "win") && !board.is_legal(best) {
            return Self::failed(Reason::IllegalMove, &format!("bestmove {best}"));
        }
        let value = match (result.score, result.bound) {
            (Some(score), None) => Value::new(score),
            (Some(_), Some(_)) => {
                return Self::failed(Reason::NoScore, "every score was only a bound; of YaneuraOu set PvInterval to 0");
            }
            (None, _) => None,
        };
        let Some(value) = value else {
            return Self::failed(Reason::NoScore, &format!("bestmove {best} without a score"));
        };
        let line = |(text, score): &(String, Score)| Some((text.clone(), Value::new(*score)?));
        Self::Scored(Scored {
            value,
            best: best.to_owned(),
            declared: result.declared.map(<[u16; 3]>::from),
            depth: result.depth,
            nodes: result.nodes,
            time_us: result.time.map_or(0, |time| u64::try_from(time.as_micros()).unwrap_or(u64::MAX)),
            lines: result.list.iter().filter(|(text, _)| board.is_legal(text)).filter_map(line).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evalcurve_engine::Game;
    use evalcurve_engine::usi::Position;
    use evalcurve_rules::Bound;

    #[test]
    fn only_exact_scores_of_legal_moves_count() {
        let (board, _) = Board::new(Game::Shogi, &Position::default());
        let of = |best: &str, score: Option<Score>, bound| {
            let result = SearchResult { best: Some(best.to_owned()), score, bound, ..SearchResult::default() };
            match Answer::of(&result, &board) {
                Answer::Scored(scored) => Ok(scored.value),
                Answer::Failed(failed) => Err(failed.reason),
            }
        };
        let cp = |cp| Some(Score::Cp(cp));
        assert_eq!(of("7g7f", cp(-30.0), None), Ok(Value::Cp(-30)));
        assert_eq!(of("7g7f", Some(Score::Mate { wins: true, plies: Some(3) }), None), Ok(Value::Wins(3)));
        assert_eq!(of("resign", Some(Score::Mate { wins: false, plies: None }), None), Ok(Value::Loses(0)));
        assert_eq!(of("7g7e", cp(30.0), None), Err(Reason::IllegalMove));
        assert_eq!(of("7g7f", cp(30.0), Some(Bound::Upper)), Err(Reason::NoScore));
        assert_eq!(of("7g7f", cp(1e300), None), Err(Reason::NoScore));
        assert_eq!(of("7g7f", None, None), Err(Reason::NoScore));
        assert_eq!(of("", cp(30.0), None), Err(Reason::IllegalMove));
    }
}
