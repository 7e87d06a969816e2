//! Conditions on the columns of the sample table, for example `ply >= 90 and opponent = "Gikou*"`.
//!
//! ```text
//! expression = condition { "and" condition }
//! condition  = column op value
//! op         = "=" | "==" | "!=" | "<" | "<=" | ">" | ">="
//! value      = word | '"' any '"' | "'" any "'"
//! ```
//!
//! Text is only compared with = and !=, as a glob (`*`, `?`) or several (`"Gikou*|Apery"`). A sample without the value,
//! for example a rating that the record does not give, is neither inside nor outside: it is left out.

use std::fmt;

use evalcurve_calibration::types::Termination;
use strum::{EnumString, IntoStaticStr, VariantNames};

use super::alias::matches_glob;
use super::{GameInfo, Names, Sample};
use crate::record::StartTime;

/// A column that a condition may name. The names are those of the sample table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum Column {
    /// The identity of the game in hexadecimal.
    Game,
    /// The engine that gave the score.
    Engine,
    /// The opponent of the engine.
    Opponent,
    /// The side of the engine.
    Color,
    /// The ply of the position.
    Ply,
    /// The window, from 0.
    Window,
    /// The score in centipawns.
    ScoreCp,
    /// The material on the board.
    Material,
    /// Whether the score is a mate.
    Mate,
    /// The result for the engine.
    Result,
    /// The reason why the game ended.
    Termination,
    /// The rating of the engine.
    Rating,
    /// The rating of the opponent.
    OpponentRating,
    /// The rating minus the rating of the opponent.
    RatingGap,
    /// The time when the game began.
    StartTime,
    TimeControl,
    /// The file of the game.
    Source,
    /// The line of the score in the file.
    Line,
}

/// The names of all columns.
pub const COLUMNS: &[&str] = Column::VARIANTS;

/// Conditions joined by `and`.
#[derive(Debug, Clone, PartialEq)]
pub struct Expression {
    text: String,
    conditions: Vec<Condition>,
}

/// A mistake in an expression, and its position.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}, at character {position} of '{text}'\n  {text}\n  {caret}", caret = caret(text, *position))]
pub struct ExpressionError {
    pub text: String,
    /// The position of the mistake, in characters from 1.
    pub position: usize,
    /// The mistake and its remedy.
    pub problem: String,
}

fn caret(text: &str, position: usize) -> String {
    // a kanji takes two columns of a terminal
    let before: usize = text.chars().take(position.saturating_sub(1)).map(|c| if c.is_ascii() { 1 } else { 2 }).sum();
    " ".repeat(before) + "^"
}

/// One comparison of a column with a value.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    column: Column,
    op: Op,
    value: Value,
    /// Compare a missing name as an empty one. Otherwise a sample without the name is left out.
    compares_missing: bool,
}

/// A value that a column is compared with.
#[derive(Debug, Clone, PartialEq)]
enum Value {
    Number(f64),
    /// Globs, one of which matches.
    Text(Vec<String>),
    Flag(bool),
    Time(StartTime),
}

/// The value of a column for one sample.
enum Cell<'a> {
    Number(f64),
    Text(&'a str),
    Game(u64),
    Flag(bool),
    Time(StartTime),
}

/// How a condition compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString)]
pub enum Op {
    /// `=`
    #[strum(serialize = "=", serialize = "==")]
    Equal,
    /// `!=`
    #[strum(serialize = "!=", serialize = "<>")]
    NotEqual,
    /// `<`
    #[strum(serialize = "<")]
    Less,
    /// `<=`
    #[strum(serialize = "<=")]
    LessOrEqual,
    /// `>`
    #[strum(serialize = ">")]
    Greater,
    /// `>=`
    #[strum(serialize = ">=")]
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
    /// Parses an expression.
    ///
    /// # Errors
    /// [`ExpressionError`] with the position of the first mistake: an unknown column or operator, a value that the
    /// column cannot have, something other than `and` between conditions.
    pub fn parse(text: &str) -> Result<Self, ExpressionError> {
        let mut parser = Parser { text, tokens: tokens(text)?.into_iter() };
        let mut conditions = vec![parser.condition()?];
        loop {
            match parser.next() {
                (Token::End, _) => break,
                (Token::Word(word), _) if word.eq_ignore_ascii_case("and") => conditions.push(parser.condition()?),
                (_, position) => {
                    let problem = "conditions are joined by 'and' only; for 'or' use two expressions";
                    return Err(error(text, position, problem));
                }
            }
        }
        Ok(Self { text: text.trim().to_owned(), conditions })
    }

    /// The conditions, all of which must hold.
    pub fn conditions(&self) -> &[Condition] {
        &self.conditions
    }

    /// Whether a condition compares the material, which is counted only on request.
    pub fn names_material(&self) -> bool {
        self.conditions.iter().any(|c| c.column == Column::Material)
    }

    /// Whether a sample of a game meets every condition; `None` if it lacks a value that a condition compares.
    pub fn holds(&self, names: &Names, game: &GameInfo, sample: &Sample) -> Option<bool> {
        self.conditions.iter().try_fold(true, |all, c| Some(c.holds(names, game, sample)? && all))
    }
}

impl Condition {
    /// The text in `column` matches one of `globs`. A missing name is compared as an empty one.
    pub fn one_of(column: Column, globs: Vec<String>) -> Self {
        Self { column, op: Op::Equal, value: Value::Text(globs), compares_missing: true }
    }

    /// Whether a sample of a game meets the condition; `None` if it lacks the value.
    pub fn holds(&self, names: &Names, game: &GameInfo, sample: &Sample) -> Option<bool> {
        let one_of = |globs: &[String], text: &str| globs.iter().any(|g| matches_glob(g, text));
        Some(match (self.column.cell(names, game, sample)?, &self.value) {
            (Cell::Number(found), Value::Number(value)) => self.op.holds(found, *value),
            (Cell::Flag(found), Value::Flag(value)) => self.op.holds(found, *value),
            (Cell::Time(found), Value::Time(limit)) => {
                // a limit without a time of day compares whole days; one with a time needs the time of the game
                if limit.time.is_some() && found.time.is_none() {
                    return None;
                }
                let of = |t: StartTime| (t.year, t.month, t.day, limit.time.and(t.time));
                self.op.holds(of(found), of(*limit))
            }
            (Cell::Text(""), _) if !self.compares_missing => return None,
            (Cell::Text(found), Value::Text(globs)) => self.op.holds(one_of(globs, found), true),
            (Cell::Game(id), Value::Text(globs)) => self.op.holds(one_of(globs, &format!("{id:016x}")), true),
            _ => return None,
        })
    }
}

impl Column {
    fn cell<'a>(self, names: &'a Names, game: &GameInfo, sample: &Sample) -> Option<Cell<'a>> {
        let [own, other] = [sample.color, sample.color.opponent()].map(|color| game.ratings[color.index()]);
        Some(match self {
            Self::Game => Cell::Game(game.id),
            Self::Engine => Cell::Text(names.get(sample.engine)),
            Self::Opponent => Cell::Text(names.get(sample.opponent)),
            Self::Color if game.without_colors => return None,
            Self::Color => Cell::Text(sample.color.as_str()),
            Self::Ply => Cell::Number(sample.ply.into()),
            Self::Window => Cell::Number(sample.window.into()),
            Self::ScoreCp => Cell::Number(sample.score_cp.into()),
            Self::Material => Cell::Number(sample.material?.into()),
            Self::Mate => Cell::Flag(sample.mate),
            Self::Result => Cell::Number(sample.outcome.value()),
            Self::Termination => Cell::Text(game.termination.as_str()),
            Self::Rating => Cell::Number(own?),
            Self::OpponentRating => Cell::Number(other?),
            Self::RatingGap => Cell::Number(own? - other?),
            Self::StartTime => Cell::Time(game.start_time?),
            Self::TimeControl => Cell::Text(names.get(game.time_control)),
            Self::Source => Cell::Text(names.get(game.source)),
            Self::Line => Cell::Number(sample.line as f64),
        })
    }
}

/// A word of an expression, or its end.
enum Token {
    Word(String),
    Quoted(String),
    Op(Op),
    End,
}

fn error(text: &str, position: usize, problem: impl Into<String>) -> ExpressionError {
    ExpressionError { text: text.to_owned(), position, problem: problem.into() }
}

/// The words of an expression with their positions, in characters from 1.
fn tokens(text: &str) -> Result<Vec<(Token, usize)>, ExpressionError> {
    let chars: Vec<char> = text.chars().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        let position = at + 1;
        let run = |from: usize, goes_on: &dyn Fn(char) -> bool| -> String {
            chars.iter().skip(from).copied().take_while(|c| goes_on(*c)).collect()
        };
        let token =
            match c {
                c if c.is_whitespace() => {
                    at += 1;
                    continue;
                }
                '"' | '\'' => {
                    let inner = run(at + 1, &|i| i != c);
                    let length = inner.chars().count();
                    if chars.get(at + 1 + length) != Some(&c) {
                        return Err(error(text, position, format!("the {c} is never closed")));
                    }
                    at += length + 2;
                    Token::Quoted(inner)
                }
                '=' | '!' | '<' | '>' => {
                    let run = run(at, &|c| "=!<>".contains(c));
                    at += run.len();
                    Token::Op(run.parse().map_err(|_| {
                        error(text, position, format!("'{run}' is not an operator; use = != < <= > >="))
                    })?)
                }
                _ => {
                    let word = run(at, &|c| !c.is_whitespace() && !"=!<>\"'".contains(c));
                    at += word.chars().count();
                    Token::Word(word)
                }
            };
        found.push((token, position));
    }
    found.push((Token::End, chars.len() + 1));
    Ok(found)
}

struct Parser<'a> {
    text: &'a str,
    tokens: std::vec::IntoIter<(Token, usize)>,
}

impl Parser<'_> {
    fn next(&mut self) -> (Token, usize) {
        let text = self.text;
        self.tokens.next().unwrap_or_else(|| (Token::End, text.chars().count() + 1))
    }

    fn condition(&mut self) -> Result<Condition, ExpressionError> {
        let text = self.text;
        let columns = || COLUMNS.join(", ");
        let (name, position) = match self.next() {
            (Token::Word(word), position) => (word, position),
            (Token::End, end) => {
                let problem =
                    format!("a condition is missing; write COLUMN OP VALUE, with one of these columns: {}", columns());
                return Err(error(text, end, problem));
            }
            (_, position) => {
                return Err(error(text, position, format!("a condition begins with a column, one of {}", columns())));
            }
        };
        let Ok(column) = name.parse::<Column>() else {
            return Err(error(text, position, format!("'{name}' is not a column; the columns are {}", columns())));
        };
        let (op, op_position) = match self.next() {
            (Token::Op(op), position) => (op, position),
            (_, position) => return Err(error(text, position, format!("write one of = != < <= > >= after {name}"))),
        };
        let (word, position) = match self.next() {
            (Token::Word(value) | Token::Quoted(value), position) => (value, position),
            (_, position) => return Err(error(text, position, "a value is missing here")),
        };
        let wrong = |problem: String| Err(error(text, position, format!("'{word}' is not {problem}")));
        let value = match column {
            Column::Mate => match word.as_str() {
                "true" | "1" => Value::Flag(true),
                "false" | "0" => Value::Flag(false),
                _ => return wrong("true or false".to_owned()),
            },
            Column::StartTime => match StartTime::parse(&word) {
                Some(time) => Value::Time(time),
                None => return wrong("a date; write for example 2016-04-01".to_owned()),
            },
            Column::Game | Column::Engine | Column::Opponent | Column::TimeControl | Column::Source => {
                Value::Text(word.split('|').map(|glob| glob.trim().to_owned()).collect())
            }
            Column::Color | Column::Termination => {
                let terminations: Vec<&str> = Termination::ALL.iter().map(|t| t.as_str()).collect();
                let words = if column == Column::Color { &["black", "white"][..] } else { &terminations };
                if !words.iter().any(|w| matches_glob(&word, w)) {
                    return wrong(format!("a valid value; expected one of {}", words.join(", ")));
                }
                Value::Text(vec![word])
            }
            _ => match word.parse::<f64>() {
                Ok(x) if x.is_finite() => Value::Number(x),
                _ => return wrong("a number".to_owned()),
            },
        };
        if matches!(value, Value::Text(_) | Value::Flag(_)) && !matches!(op, Op::Equal | Op::NotEqual) {
            return Err(error(text, op_position, format!("{name} is text: compare it with = or !=")));
        }
        Ok(Condition { column, op, value, compares_missing: false })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::sample::SampleTable;
    use evalcurve_calibration::types::{Color, Outcome};

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
            without_colors: false,
            source: file,
            line: 1,
            end: None,
            moves: None,
            unread: 0,
        });
        table.samples.push(Sample {
            game: 0,
            engine: black,
            opponent: white,
            color: Color::Black,
            ply: 95,
            window: 1,
            score_cp: -120,
            reply_cp: None,
            declared: None,
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
            ("opponent = '技巧 | Apery*'", true),
            ("opponent != 技巧|Apery*", false),
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
            ("plyy > 3", 1, "'plyy' is not a column; the columns are game, engine,"),
            ("ply > 3 and", 12, "a condition is missing"),
            ("ply > 3 or ply < 1", 9, "joined by 'and'"),
            ("ply => 3", 5, "'=>' is not an operator"),
            ("ply 3", 5, "one of = != <"),
            ("ply > many", 7, "'many' is not a number"),
            ("ply > inf", 7, "'inf' is not a number"),
            ("engine < a", 8, "compare it with = or !="),
            ("color = red", 9, "black, white"),
            ("termination = toryo", 15, "resignation, checkmate"),
            ("技巧 = 1", 1, "'技巧' is not a column"),
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
