//! The meaning of table columns: their names, the unit of scores, the words for results.

use std::collections::BTreeMap;

use super::source::{CellKind, Cells};
use evalcurve_calibration::CP_PER_LOGIT;
use evalcurve_calibration::logistic::logit;
use evalcurve_calibration::types::{Color, Outcome};
use evalcurve_records::record::ANNOUNCED_MATE_CP;
use evalcurve_words::language::Text;
use evalcurve_words::text;
use strum::{Display, EnumString, IntoStaticStr, VariantArray, VariantNames};

/// What a column holds. The words are those of options.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, EnumString, IntoStaticStr, VariantArray, VariantNames,
)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum Role {
    /// The engine that gave the score.
    Engine,
    /// The score, in the view of the engine.
    Score,
    /// The result of the game.
    Result,
    /// A name that identifies the game.
    Game,
    /// The opponent of the engine.
    Opponent,
    /// The colour of the engine.
    Color,
    /// The ply: the number of the move played in the position.
    Ply,
    /// The window, from 0.
    Window,
    /// The opponent's score of the next position, in its own view.
    ReplyCp,
    /// The share of wins that the engine declared, in permille.
    DeclaredWin,
    /// The share of draws that it declared.
    DeclaredDraw,
    /// The share of losses that it declared.
    DeclaredLoss,
    /// The material on the board.
    Material,
    /// Whether the game is chess.
    Chess,
    /// Whether the score is a mate.
    Mate,
    /// How the game ended.
    Termination,
    /// How its scores end, as [`GameEnd`](evalcurve_records::sample::GameEnd) writes them.
    ScoreEnd,
    /// The hash of its start position and moves, 16 hexadecimal digits.
    MovesHash,
    /// Of the comments of the game that are scores or look like scores, percent that were not read.
    Unread,
    /// The rating of the engine.
    Rating,
    /// The rating of the opponent.
    OpponentRating,
    /// Whether the ratings were made from the results of these games.
    BradleyTerry,
    /// When the game began.
    StartTime,
    TimeControl,
    /// The player of the black pieces, where the engine does not play.
    Black,
    /// The player of the white pieces.
    White,
    /// The file of the game.
    Source,
    /// The line of the score in the file.
    Line,
}

impl Role {
    pub const ALL: &[Self] = <Self as VariantArray>::VARIANTS;

    /// The word in options.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// What its cells should hold.
    pub(super) fn kind(self) -> CellKind {
        match self {
            Self::Score
            | Self::Result
            | Self::Ply
            | Self::Window
            | Self::Material
            | Self::Unread
            | Self::DeclaredWin
            | Self::DeclaredDraw
            | Self::DeclaredLoss
            | Self::Rating
            | Self::OpponentRating
            | Self::Line => CellKind::Number,
            Self::Mate | Self::BradleyTerry | Self::Chess => CellKind::Flag,
            _ => CellKind::Text,
        }
    }

    /// The names of a column with this role, in order of precedence.
    fn names(self) -> impl Iterator<Item = &'static str> {
        (self == Self::Score).then_some("score_cp").into_iter().chain([self.as_str()])
    }
}

/// The columns that the user assigned to roles.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Columns(BTreeMap<Role, String>);

impl Columns {
    /// Assigns a column to a role; with an empty name the role has no column.
    pub fn set(&mut self, role: Role, name: &str) {
        self.0.insert(role, name.to_owned());
    }

    /// The name that the user gave for this role.
    pub fn given(&self, role: Role) -> Option<&str> {
        self.0.get(&role).map(String::as_str)
    }

    /// The column of this role among `existing` columns.
    pub fn find<'a>(&'a self, role: Role, existing: &[&str]) -> Option<&'a str> {
        match self.given(role) {
            Some(name) => existing.contains(&name).then_some(name),
            None => role.names().find(|name| existing.contains(name)),
        }
    }
}

/// The unit of the scores of a table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Display, EnumString, VariantNames)]
#[strum(serialize_all = "lowercase")]
#[non_exhaustive]
pub enum ScoreUnit {
    /// Hundredths of a pawn.
    #[default]
    Centipawn,
    Pawn,
    /// Win rates from 0 to 1.
    WinRate,
    /// Win rates from 0 to 100.
    Percent,
}

impl ScoreUnit {
    /// A description of a score of this unit, for messages.
    pub(super) fn wanted(self) -> Text {
        match self {
            Self::Centipawn => text!("a number of centipawns"),
            Self::Pawn => text!("a number of pawns"),
            Self::WinRate => text!("a win rate from 0 to 1"),
            Self::Percent => text!("a win rate from 0 to 100"),
        }
    }

    /// A score in centipawns, and whether it is a mate; `None` if the value is not a score of this unit.
    ///
    /// A win rate p becomes 600 ln(p / (1 - p)), see [`CP_PER_LOGIT`]. 0 and 1 have no logit: they become mates of
    /// ±[`ANNOUNCED_MATE_CP`].
    pub fn centipawns(self, value: f64) -> Option<(i32, bool)> {
        let cp = match self {
            Self::Centipawn => value,
            Self::Pawn => 100.0 * value,
            Self::WinRate | Self::Percent => {
                let p = if self == Self::Percent { value / 100.0 } else { value };
                match p {
                    0.0 => return Some((-ANNOUNCED_MATE_CP, true)),
                    1.0 => return Some((ANNOUNCED_MATE_CP, true)),
                    p if p > 0.0 && p < 1.0 => CP_PER_LOGIT * logit(p),
                    _ => return None,
                }
            }
        };
        (cp.abs() <= f64::from(i32::MAX)).then(|| (cp.round() as i32, false))
    }
}

/// Whether a flag is set.
pub fn is_true(text: &str) -> bool {
    text.eq_ignore_ascii_case("true") || text == "1"
}

/// Parses a mate that is written instead of a number, such as `#3`, `-M5`, `mate -7`. Returns whether the engine wins.
pub fn mate(text: &str) -> Option<bool> {
    fn sign(text: &str) -> (bool, &str) {
        match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        }
    }
    let (negative, rest) = sign(text.trim());
    let number = ["mate", "Mate", "#", "M"].into_iter().find_map(|word| rest.strip_prefix(word))?.trim_start();
    let (number_negative, digits) = sign(number);
    digits.bytes().all(|b| b.is_ascii_digit()).then_some(negative == number_negative)
}

/// A result as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ResultWord {
    /// The outcome for the engine.
    Own(Outcome),
    /// The colour of the winner.
    Winner(Color),
}

/// Parses a result: `1`, `0.5`, `0`, win, draw, loss, W, D, L; or `1-0`, `0-1`, `1/2-1/2` with White first, as in PGN.
pub(super) fn result(text: &str) -> Option<ResultWord> {
    let text = text.trim();
    if let Ok(number) = text.parse::<f64>() {
        return outcome(number).map(ResultWord::Own);
    }
    Some(match text.to_ascii_lowercase().as_str() {
        "win" | "won" | "w" => ResultWord::Own(Outcome::Win),
        "draw" | "drawn" | "d" | "1/2" | "1/2-1/2" | "0.5-0.5" | "½" | "½-½" => ResultWord::Own(Outcome::Draw),
        "loss" | "lose" | "lost" | "l" => ResultWord::Own(Outcome::Loss),
        "1-0" | "white" => ResultWord::Winner(Color::White),
        "0-1" | "black" => ResultWord::Winner(Color::Black),
        _ => return None,
    })
}

/// The outcome in a cell that says it for the side of its row: 1, 0.5, 0, win, draw, loss.
pub fn own_result(cells: &dyn Cells, row: usize) -> Option<Outcome> {
    match cells.number(row) {
        Some(number) => outcome(number),
        None => match result(cells.text(row)?)? {
            ResultWord::Own(outcome) => Some(outcome),
            ResultWord::Winner(_) => None,
        },
    }
}

/// The outcome with the value 1, 0.5 or 0.
pub(super) fn outcome(number: f64) -> Option<Outcome> {
    [Outcome::Win, Outcome::Draw, Outcome::Loss].into_iter().find(|o| o.value() == number)
}

/// Parses a colour: black, b, sente, 先手; white, w, gote, 後手.
pub(super) fn color(text: &str) -> Option<Color> {
    match text.trim().to_ascii_lowercase().as_str() {
        "black" | "b" | "sente" | "先手" => Some(Color::Black),
        "white" | "w" | "gote" | "後手" => Some(Color::White),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_become_centipawns() {
        assert_eq!(ScoreUnit::Centipawn.centipawns(-120.4), Some((-120, false)));
        assert_eq!(ScoreUnit::Pawn.centipawns(1.5), Some((150, false)));
        // 600 ln 3
        assert_eq!(ScoreUnit::WinRate.centipawns(0.75), Some((659, false)));
        assert_eq!(ScoreUnit::Percent.centipawns(25.0), Some((-659, false)));
        assert_eq!(ScoreUnit::WinRate.centipawns(0.5), Some((0, false)));
        assert_eq!(ScoreUnit::WinRate.centipawns(1.0), Some((100_000, true)));
        assert_eq!(ScoreUnit::Percent.centipawns(0.0), Some((-100_000, true)));
        for (unit, value) in [
            (ScoreUnit::WinRate, 75.0),
            (ScoreUnit::WinRate, -0.1),
            (ScoreUnit::Percent, 101.0),
            (ScoreUnit::Centipawn, f64::NAN),
            (ScoreUnit::Centipawn, 1e12),
            (ScoreUnit::WinRate, f64::NAN),
        ] {
            assert_eq!(unit.centipawns(value), None, "{unit} {value}");
        }
    }

    #[test]
    fn results_and_mates_have_many_words() {
        assert_eq!(result("1.0"), Some(ResultWord::Own(Outcome::Win)));
        assert_eq!(result("Draw"), Some(ResultWord::Own(Outcome::Draw)));
        assert_eq!(result("L"), Some(ResultWord::Own(Outcome::Loss)));
        assert_eq!(result("1-0"), Some(ResultWord::Winner(Color::White)));
        assert_eq!(result("1/2-1/2"), Some(ResultWord::Own(Outcome::Draw)));
        assert_eq!((result("-1"), result("2"), result("*"), result("")), (None, None, None, None));
        assert_eq!(
            (mate("#3"), mate("-M5"), mate("mate -7"), mate("#-2")),
            (Some(true), Some(false), Some(false), Some(false))
        );
        assert_eq!((mate("M"), mate("12"), mate("many")), (Some(true), None, None));
        assert_eq!((color("先手"), color("W"), color("red")), (Some(Color::Black), Some(Color::White), None));
    }

    #[test]
    fn columns_have_default_names() {
        let there = ["player", "cp", "result", "score"];
        let mut columns = Columns::default();
        assert_eq!((columns.find(Role::Engine, &there), columns.find(Role::Score, &there)), (None, Some("score")));
        columns.set(Role::Engine, "player");
        columns.set(Role::Score, "cp");
        columns.set(Role::Result, "");
        assert_eq!(
            (columns.find(Role::Engine, &there), columns.find(Role::Score, &there)),
            (Some("player"), Some("cp"))
        );
        assert_eq!(columns.find(Role::Result, &there), None);
        assert!(Role::ALL.iter().all(|role| role.as_str().parse() == Ok(*role)));
    }
}
