//! What the columns of a table mean: their names, the unit of scores, the words of results.

use std::collections::BTreeMap;
use std::fmt;

use crate::fit::CP_PER_LOGIT;
use crate::record::ANNOUNCED_MATE_CP;
use crate::types::{Color, Outcome};

/// What a column is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Who gave the score.
    Engine,
    /// The score, in the engine's view.
    Score,
    /// The game's result.
    Result,
    /// What tells one game from another.
    Game,
    /// Whom the engine played.
    Opponent,
    /// The engine's colour.
    Color,
    /// Number of the move played in the position.
    Ply,
    /// Number of the window.
    Window,
    /// Material on the board.
    Material,
    /// Is the score a mate?
    Mate,
    /// How the game ended.
    Termination,
    /// The engine's rating.
    Rating,
    /// The opponent's.
    OpponentRating,
    /// When the game began.
    StartTime,
    /// Time control.
    TimeControl,
    /// File of the game.
    Source,
    /// Line of the score in it.
    Line,
}

impl Role {
    /// All roles.
    pub const ALL: [Self; 17] = [
        Self::Engine,
        Self::Score,
        Self::Result,
        Self::Game,
        Self::Opponent,
        Self::Color,
        Self::Ply,
        Self::Window,
        Self::Material,
        Self::Mate,
        Self::Termination,
        Self::Rating,
        Self::OpponentRating,
        Self::StartTime,
        Self::TimeControl,
        Self::Source,
        Self::Line,
    ];

    /// Its word in options.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Engine => "engine",
            Self::Score => "score",
            Self::Result => "result",
            Self::Game => "game",
            Self::Opponent => "opponent",
            Self::Color => "color",
            Self::Ply => "ply",
            Self::Window => "window",
            Self::Material => "material",
            Self::Mate => "mate",
            Self::Termination => "termination",
            Self::Rating => "rating",
            Self::OpponentRating => "opponent_rating",
            Self::StartTime => "start_time",
            Self::TimeControl => "time_control",
            Self::Source => "source",
            Self::Line => "line",
        }
    }

    /// The role of that word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == word)
    }

    /// Names that a column of this role has unless another is given, the first that is there.
    fn names(self) -> &'static [&'static str] {
        match self {
            Self::Score => &["score_cp", "score"],
            _ => std::slice::from_ref(match self {
                Self::Engine => &"engine",
                Self::Result => &"result",
                Self::Game => &"game",
                Self::Opponent => &"opponent",
                Self::Color => &"color",
                Self::Ply => &"ply",
                Self::Window => &"window",
                Self::Material => &"material",
                Self::Mate => &"mate",
                Self::Termination => &"termination",
                Self::Rating => &"rating",
                Self::OpponentRating => &"opponent_rating",
                Self::StartTime => &"start_time",
                Self::TimeControl => &"time_control",
                Self::Source => &"source",
                _ => &"line",
            }),
        }
    }
}

/// Which column has which role, where it is not the one of that name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Columns(BTreeMap<Role, String>);

impl Columns {
    /// Gives a role another column; an empty name leaves the role without one.
    pub fn set(&mut self, role: Role, name: &str) {
        self.0.insert(role, name.to_owned());
    }

    /// The name that the user gave for this role.
    pub fn given(&self, role: Role) -> Option<&str> {
        self.0.get(&role).map(String::as_str)
    }

    /// The column of this role among those that there are.
    pub fn find<'a>(&'a self, role: Role, there: &[&str]) -> Option<&'a str> {
        match self.given(role) {
            Some(name) => there.contains(&name).then_some(name),
            None => role.names().iter().copied().find(|name| there.contains(name)),
        }
    }
}

/// The unit of a table's scores.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ScoreUnit {
    /// Hundredths of a pawn.
    #[default]
    Centipawn,
    /// Pawns.
    Pawn,
    /// Win rates from 0 to 1.
    WinRate,
    /// Win rates from 0 to 100.
    Percent,
}

impl ScoreUnit {
    /// All units.
    pub const ALL: [Self; 4] = [Self::Centipawn, Self::Pawn, Self::WinRate, Self::Percent];

    /// Its word in options.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Centipawn => "centipawn",
            Self::Pawn => "pawn",
            Self::WinRate => "winrate",
            Self::Percent => "percent",
        }
    }

    /// What a score of this unit must be.
    pub(super) fn wanted(self) -> &'static str {
        match self {
            Self::Centipawn => "a number of centipawns",
            Self::Pawn => "a number of pawns",
            Self::WinRate => "a win rate from 0 to 1",
            Self::Percent => "a win rate from 0 to 100",
        }
    }

    /// A score in centipawns, and whether it is a mate.
    ///
    /// A win rate p becomes 600 ln(p / (1 - p)), see [`CP_PER_LOGIT`]. 0 and 1 have no logit: they are mates, of
    /// ±[`ANNOUNCED_MATE_CP`]. `None` for what is not of this unit.
    pub fn centipawns(self, value: f64) -> Option<(i32, bool)> {
        let cp = match self {
            Self::Centipawn => value,
            Self::Pawn => 100.0 * value,
            Self::WinRate | Self::Percent => {
                let p = if self == Self::Percent { value / 100.0 } else { value };
                match p {
                    0.0 => return Some((-ANNOUNCED_MATE_CP, true)),
                    1.0 => return Some((ANNOUNCED_MATE_CP, true)),
                    p if p > 0.0 && p < 1.0 => CP_PER_LOGIT * (libm::log(p) - libm::log1p(-p)),
                    _ => return None,
                }
            }
        };
        (cp.abs() <= f64::from(i32::MAX)).then(|| (cp.round() as i32, false))
    }
}

impl fmt::Display for ScoreUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A mate as programs write it instead of a number: `#3`, `-M5`, `mate -7`; is it a win?
pub(super) fn mate(text: &str) -> Option<bool> {
    let text = text.trim();
    let (negative, rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let rest = ["mate", "Mate", "#", "M"].into_iter().find_map(|word| rest.strip_prefix(word))?.trim_start();
    let (inner, digits) = match rest.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, rest.strip_prefix('+').unwrap_or(rest)),
    };
    let number = digits.bytes().all(|b| b.is_ascii_digit());
    number.then_some(negative == inner)
}

/// How a result is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ResultWord {
    /// For the engine.
    Own(Outcome),
    /// The winner.s colour.
    Winner(Color),
}

/// Reads `1`, `0.5`, `0`, win, draw, loss, W, D, L, and `1-0`, `0-1`, `1/2-1/2`, where the first is White's as in PGN.
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

/// 1, 0.5 or 0.
pub(super) fn outcome(number: f64) -> Option<Outcome> {
    [Outcome::Win, Outcome::Draw, Outcome::Loss].into_iter().find(|o| o.value() == number)
}

/// A colour by its words: black, b, sente, 先手; white, w, gote, 後手.
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
    fn columns_go_by_name_unless_told() {
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
        assert!(Role::ALL.into_iter().all(|role| Role::parse(role.as_str()) == Some(role)));
    }
}
