//! Conditions over the columns of the sample table, as users write them: `ply >= 90 and opponent = "Gikou*"`.
//!
//! ```text
//! expression = condition { "and" condition }
//! condition  = column op value
//! op         = "=" | "==" | "!=" | "<" | "<=" | ">" | ">="
//! value      = word | '"' any '"' | "'" any "'"
//! ```
//!
//! Text is compared by = and != alone, as a glob (`*`, `?`). A sample without the value, for instance a rating that the
//! record does not give, is neither inside nor outside: it is left out.

use std::fmt;

use super::alias::matches_glob;
use super::{GameInfo, Names, Sample};
use crate::record::StartTime;
use evalcurve_core::types::Termination;

/// The columns that a condition may name, as in the sample table; `rating_gap` is rating less opponent_rating.
pub const COLUMNS: [&str; 18] = [
    "game",
    "engine",
    "opponent",
    "color",
    "ply",
    "window",
    "score_cp",
    "material",
    "mate",
    "result",
    "termination",
    "rating",
    "opponent_rating",
    "rating_gap",
    "start_time",
    "time_control",
    "source",
    "line",
];

/// Conditions joined by `and`.
#[derive(Debug, Clone, PartialEq)]
pub struct Expression {
    text: String,
    conditions: Vec<Condition>,
}

/// What is wrong with an expression, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}, at character {position} of '{text}'\n  {text}\n  {caret}", caret = caret(text, *position))]
pub struct ExpressionError {
    /// The expression.
    pub text: String,
    /// Where in it, in characters from 1.
    pub position: usize,
    /// What, with the remedy.
    pub problem: String,
}

fn caret(text: &str, position: usize) -> String {
    // a kanji takes two columns of a terminal
    let before: usize = text.chars().take(position.saturating_sub(1)).map(|c| if c.is_ascii() { 1 } else { 2 }).sum();
    " ".repeat(before) + "^"
}

#[derive(Debug, Clone, PartialEq)]
enum Condition {
    Number(Number, Op, f64),
    /// A glob, and whether it is to match.
    Text(Text, String, bool),
    Mate(bool),
    Time(Op, StartTime),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Number {
    Ply,
    Window,
    Score,
    Material,
    Result,
    Rating,
    OpponentRating,
    RatingGap,
    Line,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Text {
    Game,
    Engine,
    Opponent,
    Color,
    Termination,
    TimeControl,
    Source,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Op {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Op {
    fn holds<T: PartialOrd>(self, a: T, b: T) -> bool {
        match self {
            Self::Equal => a == b,
            Self::NotEqual => a != b,
            Self::Less => a < b,
            Self::LessOrEqual => a <= b,
            Self::Greater => a > b,
            Self::GreaterOrEqual => a >= b,
        }
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Expression {
    /// Reads an expression.
    ///
    /// # Errors
    /// [`ExpressionError`] with the place of the first thing that is wrong: an unknown column or operator, a value that
    /// the column cannot have, something other than `and` between conditions.
    pub fn parse(text: &str) -> Result<Self, ExpressionError> {
        let mut parser = Parser { text, tokens: tokens(text)?.into_iter().peekable() };
        let mut conditions = vec![parser.condition()?];
        while let Some(joint) = parser.tokens.next() {
            match joint.kind {
                Kind::Word(word) if word.eq_ignore_ascii_case("and") => conditions.push(parser.condition()?),
                _ => {
                    let problem = "conditions are joined by 'and' alone; for 'or' use two expressions";
                    return Err(error(text, joint.position, problem));
                }
            }
        }
        Ok(Self { text: text.trim().to_owned(), conditions })
    }

    /// Does a condition ask for the material, which is counted only where somebody asks?
    pub fn names_material(&self) -> bool {
        self.conditions.iter().any(|c| matches!(c, Condition::Number(Number::Material, ..)))
    }

    /// Whether a sample of a game meets every condition; `None` where it lacks a value that one asks for.
    pub fn holds(&self, names: &Names, game: &GameInfo, sample: &Sample) -> Option<bool> {
        let mut all = true;
        for condition in &self.conditions {
            all &= condition.holds(names, game, sample)?;
        }
        Some(all)
    }
}

impl Condition {
    fn holds(&self, names: &Names, game: &GameInfo, sample: &Sample) -> Option<bool> {
        let rating = |own: bool| {
            let color = if own { sample.color } else { sample.color.opponent() };
            game.ratings[color.index()]
        };
        let not_empty = |name: u32| Some(names.get(name)).filter(|n| !n.is_empty());
        Some(match self {
            Self::Mate(wanted) => sample.mate == *wanted,
            Self::Time(op, limit) => {
                // a day stands for all of its seconds
                let of = |t: StartTime| (t.year, t.month, t.day, limit.time.and(t.time));
                op.holds(of(game.start_time?), of(*limit))
            }
            Self::Number(column, op, value) => {
                let found = match column {
                    Number::Ply => f64::from(sample.ply),
                    Number::Window => f64::from(sample.window),
                    Number::Score => f64::from(sample.score_cp),
                    Number::Material => f64::from(sample.material?),
                    Number::Result => sample.outcome.value(),
                    Number::Rating => rating(true)?,
                    Number::OpponentRating => rating(false)?,
                    Number::RatingGap => rating(true)? - rating(false)?,
                    Number::Line => sample.line as f64,
                };
                op.holds(found, *value)
            }
            Self::Text(column, glob, wanted) => {
                let id;
                let found = match column {
                    Text::Game => {
                        id = format!("{:016x}", game.id);
                        &id
                    }
                    Text::Engine => not_empty(sample.engine)?,
                    Text::Opponent => not_empty(sample.opponent)?,
                    Text::Color => sample.color.as_str(),
                    Text::Termination => game.termination.as_str(),
                    Text::TimeControl => not_empty(game.time_control)?,
                    Text::Source => not_empty(game.source)?,
                };
                matches_glob(glob, found) == *wanted
            }
        })
    }
}

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    Word(String),
    Quoted(String),
    Op(Op),
}

#[derive(Debug, Clone, PartialEq)]
struct Token {
    kind: Kind,
    /// in characters from 1
    position: usize,
}

fn error(text: &str, position: usize, problem: impl Into<String>) -> ExpressionError {
    ExpressionError { text: text.to_owned(), position, problem: problem.into() }
}

fn tokens(text: &str) -> Result<Vec<Token>, ExpressionError> {
    let chars: Vec<char> = text.chars().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        let position = at + 1;
        let kind = match c {
            c if c.is_whitespace() => {
                at += 1;
                continue;
            }
            '"' | '\'' => {
                let inner: String = chars.iter().skip(at + 1).take_while(|i| **i != c).collect();
                let length = inner.chars().count();
                if chars.get(at + 1 + length) != Some(&c) {
                    return Err(error(text, position, format!("the {c} is never closed")));
                }
                at += length + 2;
                Kind::Quoted(inner)
            }
            '=' | '!' | '<' | '>' => {
                let run: String = chars.iter().skip(at).take_while(|c| "=!<>".contains(**c)).collect();
                at += run.len();
                let op = match run.as_str() {
                    "=" | "==" => Op::Equal,
                    "!=" | "<>" => Op::NotEqual,
                    "<" => Op::Less,
                    "<=" => Op::LessOrEqual,
                    ">" => Op::Greater,
                    ">=" => Op::GreaterOrEqual,
                    _ => return Err(error(text, position, format!("'{run}' is no operator; use = != < <= > >="))),
                };
                Kind::Op(op)
            }
            _ => {
                let ends = |c: &char| c.is_whitespace() || "=!<>\"'".contains(*c);
                let word: String = chars.iter().skip(at).take_while(|c| !ends(c)).collect();
                at += word.chars().count();
                Kind::Word(word)
            }
        };
        found.push(Token { kind, position });
    }
    Ok(found)
}

struct Parser<'a> {
    text: &'a str,
    tokens: std::iter::Peekable<std::vec::IntoIter<Token>>,
}

impl Parser<'_> {
    fn end(&self) -> usize {
        self.text.chars().count() + 1
    }

    fn condition(&mut self) -> Result<Condition, ExpressionError> {
        let text = self.text;
        let end = self.end();
        let columns = || COLUMNS.join(", ");
        let (column, position) = match self.tokens.next() {
            Some(Token { kind: Kind::Word(word), position }) => (word, position),
            Some(Token { position, .. }) => {
                return Err(error(text, position, format!("a condition begins with a column, one of {}", columns())));
            }
            None => {
                return Err(error(
                    text,
                    end,
                    format!("a condition is missing; write COLUMN OP VALUE, a column is one of {}", columns()),
                ));
            }
        };
        if !COLUMNS.contains(&column.as_str()) {
            return Err(error(text, position, format!("'{column}' is no column; the columns are {}", columns())));
        }
        let (op, op_position) = match self.tokens.next() {
            Some(Token { kind: Kind::Op(op), position }) => (op, position),
            Some(Token { position, .. }) => {
                return Err(error(text, position, format!("after {column} comes one of = != < <= > >=")));
            }
            None => return Err(error(text, end, format!("after {column} comes one of = != < <= > >="))),
        };
        let (value, place) = match self.tokens.next() {
            Some(Token { kind: Kind::Word(value) | Kind::Quoted(value), position }) => (value, position),
            Some(Token { position, .. }) => return Err(error(text, position, "a value is missing here")),
            None => return Err(error(text, end, "a value is missing here")),
        };
        let number = |column| match value.parse::<f64>() {
            Ok(x) if x.is_finite() => Ok(Condition::Number(column, op, x)),
            _ => Err(error(text, place, format!("'{value}' is no number"))),
        };
        let same = || match op {
            Op::Equal => Ok(true),
            Op::NotEqual => Ok(false),
            _ => Err(error(text, op_position, format!("{column} is text: compare it with = or !="))),
        };
        let named = |column| Ok(Condition::Text(column, value.clone(), same()?));
        let one_of = |column, words: &[&str]| {
            if words.iter().any(|w| matches_glob(&value, w)) {
                Ok(Condition::Text(column, value.clone(), same()?))
            } else {
                Err(error(text, place, format!("'{value}' is no value of it; use one of {}", words.join(", "))))
            }
        };
        match column.as_str() {
            "game" => named(Text::Game),
            "engine" => named(Text::Engine),
            "opponent" => named(Text::Opponent),
            "color" => one_of(Text::Color, &["black", "white"]),
            "ply" => number(Number::Ply),
            "window" => number(Number::Window),
            "score_cp" => number(Number::Score),
            "material" => number(Number::Material),
            "mate" => match value.as_str() {
                "true" | "1" => Ok(Condition::Mate(same()?)),
                "false" | "0" => Ok(Condition::Mate(!same()?)),
                _ => Err(error(text, place, format!("'{value}' is neither true nor false"))),
            },
            "result" => number(Number::Result),
            "termination" => {
                one_of(Text::Termination, &Termination::ALL.iter().map(|t| t.as_str()).collect::<Vec<_>>())
            }
            "rating" => number(Number::Rating),
            "opponent_rating" => number(Number::OpponentRating),
            "rating_gap" => number(Number::RatingGap),
            "start_time" => match StartTime::parse(&value) {
                Some(time) => Ok(Condition::Time(op, time)),
                None => Err(error(text, place, format!("'{value}' is no date; write for example 2016-04-01"))),
            },
            "time_control" => named(Text::TimeControl),
            "source" => named(Text::Source),
            "line" => number(Number::Line),
            _ => Err(error(text, position, format!("'{column}' is no column; the columns are {}", columns()))),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::sample::SampleTable;
    use evalcurve_core::types::{Color, Outcome};

    fn table() -> SampleTable {
        let mut table = SampleTable::default();
        let [black, white, control, file] = ["技巧", "Apery 2", "300+10F", "a.csa"].map(|n| table.names.intern(n));
        table.games.push(GameInfo {
            id: 0xabc,
            players: [black, white],
            ratings: [Some(3000.0), None],
            start_time: StartTime::parse("2016-12-30 01:00:01"),
            time_control: control,
            termination: Termination::Resignation,
            black_outcome: Outcome::Win,
            source: file,
            line: 1,
        });
        table.samples.push(Sample {
            game: 0,
            engine: black,
            opponent: white,
            color: Color::Black,
            ply: 95,
            window: 1,
            score_cp: -120,
            mate: false,
            material: None,
            outcome: Outcome::Win,
            line: 99,
        });
        table
    }

    fn holds(text: &str) -> Option<bool> {
        let table = table();
        Expression::parse(text).unwrap_or_else(|e| panic!("{e}")).holds(
            &table.names,
            &table.games[0],
            &table.samples[0],
        )
    }

    #[test]
    fn every_column_is_read() {
        for (text, expected) in [
            ("ply >= 90", true),
            ("ply>=90 and ply<95", false),
            ("window == 1 and score_cp = -120", true),
            ("engine = 技*", true),
            ("opponent = \"Apery 2\" AND color != white", true),
            ("opponent='Apery'", false),
            ("mate = false and result = 1", true),
            ("mate != false", false),
            ("termination = resignation", true),
            ("rating > 2999.5", true),
            ("start_time >= 2016-12-30", true),
            ("start_time = 2016-12-30", true),
            ("start_time < 2016-12-30T01:00:01", false),
            ("time_control = 300*", true),
            ("source != a.csa", false),
            ("line <= 99", true),
            ("game = 0000000000000abc", true),
        ] {
            assert_eq!(holds(text), Some(expected), "{text}");
        }
        // a rating that the record does not give
        assert_eq!(holds("rating_gap > 0"), None);
        assert_eq!(holds("ply < 90 and opponent_rating < 100"), None);
        for column in COLUMNS {
            let error = Expression::parse(&format!("{column} =")).unwrap_err();
            assert_eq!((error.problem.as_str(), error.position), ("a value is missing here", column.len() + 3));
        }
    }

    #[test]
    fn errors_have_place_and_remedy() {
        for (text, position, part) in [
            ("", 1, "write COLUMN OP VALUE"),
            ("plyy > 3", 1, "'plyy' is no column; the columns are game, engine,"),
            ("ply > 3 and", 12, "a condition is missing"),
            ("ply > 3 or ply < 1", 9, "joined by 'and'"),
            ("ply => 3", 5, "'=>' is no operator"),
            ("ply 3", 5, "one of = != <"),
            ("ply > many", 7, "'many' is no number"),
            ("ply > inf", 7, "'inf' is no number"),
            ("engine < a", 8, "compare it with = or !="),
            ("color = red", 9, "black, white"),
            ("termination = toryo", 15, "resignation, checkmate"),
            ("技巧 = 1", 1, "'技巧' is no column"),
            ("engine = 技巧 ply", 13, "joined by 'and'"),
            ("engine = 'Apery", 10, "never closed"),
            ("start_time > soon", 14, "2016-04-01"),
            ("= 3", 1, "begins with a column"),
        ] {
            let error = Expression::parse(text).unwrap_err();
            assert_eq!(error.position, position, "{text}: {error}");
            assert!(error.problem.contains(part), "{text}: {error}");
        }
        let shown = Expression::parse("engine = 技巧 ply").unwrap_err().to_string();
        assert!(shown.ends_with("\n  engine = 技巧 ply\n                ^"), "{shown}");
    }

    proptest! {
        #[test]
        fn no_text_panics(text in any::<String>()) {
            let _ = Expression::parse(&text);
        }

        #[test]
        fn near_misses_do_not_panic(text in "(ply|engine|mate|and|=|<|>|!|\"| |'|3|技){0,12}") {
            if let Ok(read) = Expression::parse(&text) {
                prop_assert_eq!(Expression::parse(&read.to_string()), Ok(read));
            }
        }
    }
}
