//! Which games are used, by how they ended.

use std::fmt;
use std::str::FromStr;

use evalcurve_calibration::types::Termination;

use super::Condition;
use super::expression::Column;

/// Endings whose result says nothing about any position: not used unless asked for.
const UNFINISHED: [Termination; 2] = [Termination::Abnormal, Termination::Interrupted];

/// Endings that the position did not decide.
const OFF_BOARD: [Termination; 6] = [
    Termination::TimeUp,
    Termination::IllegalMove,
    Termination::IllegalDeclaration,
    Termination::MaxMoves,
    Termination::Abnormal,
    Termination::Interrupted,
];

/// The endings of the games that are used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Terminations {
    /// As the user wrote them.
    words: String,
    list: Vec<Termination>,
}

impl Terminations {
    /// Whether games that ended in this way are used.
    pub fn contains(&self, termination: Termination) -> bool {
        self.list.contains(&termination)
    }

    /// The condition that a sample's game ended in one of these ways.
    pub fn condition(&self) -> Condition {
        let words = self.list.iter().map(|t| t.as_str().to_owned()).collect();
        Condition::one_of(Column::Termination, words)
    }

    /// Whether the position decided a game that ended in this way: not the clock, an illegal move, a crash or a limit
    /// of plies.
    pub fn is_on_board(termination: Termination) -> bool {
        !OFF_BOARD.contains(&termination)
    }
}

impl Default for Terminations {
    /// All games that were played to an end.
    fn default() -> Self {
        Self { words: "played".to_owned(), list: group("played").unwrap_or_default() }
    }
}

impl fmt::Display for Terminations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words)
    }
}

/// The endings of a group.
fn group(word: &str) -> Option<Vec<Termination>> {
    let except = |without: &[Termination]| Termination::ALL.iter().copied().filter(|t| !without.contains(t)).collect();
    match word {
        "all" => Some(Termination::ALL.to_vec()),
        "played" => Some(except(&UNFINISHED)),
        "board" => Some(except(&OFF_BOARD)),
        _ => None,
    }
}

impl FromStr for Terminations {
    type Err = String;

    /// Reads words separated by commas: terminations and the groups `all`, `played` and `board`.
    fn from_str(words: &str) -> Result<Self, String> {
        let mut list = Vec::new();
        for word in words.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            match (group(word), word.parse()) {
                (Some(group), _) => list.extend(group),
                (None, Ok(one)) => list.push(one),
                (None, Err(_)) => {
                    let known: Vec<&str> = Termination::ALL.iter().map(|t| t.as_str()).collect();
                    return Err(format!(
                        "'{word}' is not a termination; expected all, played, board, or some of {}",
                        known.join(", ")
                    ));
                }
            }
        }
        if list.is_empty() {
            return Err(
                "no termination given; expected all, played, board, or for example resignation,checkmate".into()
            );
        }
        list.sort_unstable();
        list.dedup();
        Ok(Self { words: words.to_owned(), list })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_groups_make_a_list() {
        let read = |words: &str| words.parse::<Terminations>().map(|t| t.list);
        assert_eq!(
            read("checkmate, resignation,checkmate"),
            Ok(vec![Termination::Resignation, Termination::Checkmate])
        );
        assert_eq!(read("all").map(|t| t.len()), Ok(Termination::ALL.len()));
        assert_eq!(read("played"), Ok(Terminations::default().list));
        let board: Terminations = "board,time_up".parse().unwrap();
        assert!(board.contains(Termination::TimeUp) && board.contains(Termination::Adjudication));
        assert!(!board.contains(Termination::MaxMoves) && !Terminations::is_on_board(Termination::MaxMoves));
        assert!(read("toryo").unwrap_err().starts_with("'toryo' is not a termination"));
        assert!(read(" , ").unwrap_err().starts_with("no termination given"));
    }
}
