//! The sample table as columns and as files of CSV, or of Parquet by polars, with the feature `parquet`.
//!
//! | column | type | meaning |
//! |---|---|---|
//! | game | text | identity of the game, 16 hexadecimal digits; samples of one game are not independent |
//! | engine, opponent | text | the engine that gave the score, and its opponent |
//! | color | text | `black` or `white`: the side of the engine |
//! | ply, window | integer | number of the move played in the position, and of its window |
//! | score_cp | integer | centipawns in the view of the engine |
//! | mate | boolean | whether the score is a mate, by the record or by the mate threshold of the engine |
//! | result | float | the result for the engine: 1, 0.5 or 0 |
//! | termination | text | how the game ended |
//! | rating, opponent_rating | float | as the record gives them; Bradley-Terry if no record has any |
//! | bradley_terry | boolean | the ratings were made from the results of these games; absent if they were not |
//! | start_time, time_control | text | ISO 8601; as the record writes it |
//! | black, white | text | the players, where the engine does not play; absent if it plays everywhere |
//! | source, line | text, integer | file (or archive and member) and line of the score |
//! | reply_cp | integer | the opponent's score of the next position, in its own view; absent if no sample has it |
//! | chess | boolean | all games are chess; absent if they are not |
//! | declared_win, declared_draw, declared_loss | integer | declared by the engine, permille; absent if nowhere |
//! | material | integer | 9Q + 5R + 3B + 3N + P of both sides, empty if not counted; absent if no sample has it |
//!
//! Reading needs `engine`, a score and `result`. The other columns may be missing, and all may have other names and
//! units, so that the output of any tool can be calibrated ([`columns`]). Without `game`, each row counts as a game.
//!
//! A table can also hold games: PGN text in a column `movetext`, with the tags in columns of their names, or whole
//! records of any format in a column `record`.

pub mod columns;
mod copies;
mod csv_table;
mod duplicates;
mod file;
#[cfg(feature = "parquet")]
mod frame;
#[cfg(not(feature = "parquet"))]
#[path = "no_frame.rs"]
mod frame;
mod game;
mod games;
mod lines;
#[cfg(feature = "parquet")]
mod pages;
mod read;
mod row;
mod source;
mod two_games;

use std::fmt::Display;
use std::path::Path;

pub use columns::{Columns, Role, ScoreUnit, own_result};
pub use csv_table::{CsvTable, looks_like_csv, to_csv};
use evalcurve_records::sample::{GameInfo, Sample, SampleTable};
use evalcurve_words::language::{Text, ToText};
use evalcurve_words::text::{shortened, thousands};
use evalcurve_words::whole_file::WriteError;
use evalcurve_words::{display_text, text};
pub use file::{is_parquet, looks_like, read, read_games, write, write_columns};
pub use frame::edit_parquet;
#[cfg(feature = "parquet")]
pub use frame::is_in_polars;
pub use games::games;
pub use lines::{cells_of, read_row};
pub use read::{TableOptions, TableReader, holds_samples};
pub use row::{MOST_PLY, game_id};
pub use source::{CellKind, Cells, Source, Values};

/// Largest size of the header of a CSV file in bytes.
pub const MOST_HEADER: u64 = 1 << 16;

/// Largest numbers of rows and columns of a file.
const MOST_ROWS: usize = 20_000_000;
const MOST_COLUMNS: usize = 4_096;

/// Largest number of characters that a message quotes.
const MOST_QUOTED: usize = 200;

/// Why a sample table cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub struct TableError {
    /// The name of the file, which begins the message; none if the problem says it.
    pub file: Option<String>,
    /// What is wrong.
    pub problem: Text,
}

impl ToText for TableError {
    fn to_text(&self) -> Text {
        match &self.file {
            Some(file) => self.problem.about(&Text::same(file)),
            None => self.problem.clone(),
        }
    }
}

display_text!(TableError);

impl From<WriteError> for TableError {
    fn from(error: WriteError) -> Self {
        Self { file: None, problem: error.to_text() }
    }
}

impl TableError {
    /// What is wrong with a file.
    pub fn new(file: &str, problem: Text) -> Self {
        Self { file: Some(file.to_owned()), problem }
    }

    /// A file that cannot be read, with the first line of the cause. Further lines are advice on calls of polars.
    pub fn damaged(file: &str, cause: impl Display) -> Self {
        Self::new(file, first_line(cause))
    }
}

fn first_line(cause: impl Display) -> Text {
    Text::same(shortened(cause.to_string().lines().next().unwrap_or_default(), MOST_QUOTED))
}

/// Refuses a file with more of something than is read.
fn at_most(file: &str, what: &'static str, found: usize, most: usize) -> Result<(), TableError> {
    if found <= most {
        return Ok(());
    }
    let (found, most, what) = (thousands(found as u64), thousands(most as u64), Text::word(what));
    let problem = text!("{found} {what}; a table may have at most {most}; split it, or sample fewer positions");
    Err(TableError::new(file, problem))
}

/// The refusal of Parquet in a build without polars.
fn no_parquet() -> Text {
    text!(
        "this build reads and writes no Parquet tables; use CSV, give it the table itself, as read by pandas, \
         polars, pyarrow or DuckDB, or use the program evalcurve"
    )
}

fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case(ending))
}

/// Whether the file name is that of a sample table.
pub fn is_table(path: &Path) -> bool {
    has_ending(path, "parquet") || has_ending(path, "csv")
}

/// Refuses to write a table under a name before there is one.
///
/// # Errors
/// [`TableError`] for another ending, and for Parquet in a build without it.
pub fn check_name(path: &Path) -> Result<(), TableError> {
    let refused = |problem| Err(TableError::new(&path.to_string_lossy(), problem));
    match is_table(path) {
        false => refused(text!("a table ends in .parquet or .csv")),
        true if cfg!(not(feature = "parquet")) && has_ending(path, "parquet") => refused(no_parquet()),
        true => Ok(()),
    }
}

/// The colour of a sample, if anything says it.
pub fn color(game: &GameInfo, sample: &Sample) -> Option<&'static str> {
    (!game.without_colors).then_some(sample.color.as_str())
}

/// Calls `use_columns` with the columns of the table and their names.
///
/// `every`: also the columns that only some tables need, so that the parts of one sample have the same columns.
pub fn with_columns<T>(
    table: &SampleTable,
    every: bool,
    use_columns: impl FnOnce(Vec<(&'static str, Values<'_>)>) -> T,
) -> T {
    let rows = &table.samples;
    let game = |s: &Sample| -> &GameInfo { &table.games[s.game as usize] };
    let ids: Vec<String> = table.games.iter().map(|g| format!("{:016x}", g.id)).collect();
    let times: Vec<Option<String>> = table.games.iter().map(|g| g.start_time.map(|t| t.to_string())).collect();
    let text =
        |value: &dyn Fn(&Sample) -> u32| Values::Text(rows.iter().map(|s| Some(table.names.get(value(s)))).collect());
    let words = |value: &dyn Fn(&Sample) -> Option<&'static str>| Values::Text(rows.iter().map(value).collect());
    let integer = |value: &dyn Fn(&Sample) -> Option<i32>| Values::Integer(rows.iter().map(value).collect());
    let rating =
        |side: &dyn Fn(&Sample) -> usize| Values::Float(rows.iter().map(|s| game(s).ratings[side(s)]).collect());
    let mut columns = vec![
        ("game", Values::Text(rows.iter().map(|s| Some(ids[s.game as usize].as_str())).collect())),
        ("engine", text(&|s| s.engine)),
        ("opponent", text(&|s| s.opponent)),
        ("color", words(&|s| color(game(s), s))),
        ("ply", integer(&|s| Some(s.ply as i32))),
        ("window", integer(&|s| Some(s.window as i32))),
        ("score_cp", integer(&|s| Some(s.score_cp))),
        ("mate", Values::Flag(rows.iter().map(|s| s.mate).collect())),
        ("result", Values::Float(rows.iter().map(|s| Some(s.outcome.value())).collect())),
        ("termination", words(&|s| Some(game(s).termination.as_str()))),
        ("rating", rating(&|s| s.color.index())),
        ("opponent_rating", rating(&|s| s.color.opponent().index())),
        ("start_time", Values::Text(rows.iter().map(|s| times[s.game as usize].as_deref()).collect())),
        ("time_control", text(&|s| game(s).time_control)),
        ("source", text(&|s| game(s).source)),
        ("line", Values::Long(rows.iter().map(|s| s.line as i64).collect())),
    ];
    // analyses and training data have no replies
    if every || rows.iter().any(|s| s.reply_cp.is_some()) {
        columns.insert(7, ("reply_cp", integer(&|s| s.reply_cp)));
    }
    if every || table.bradley_terry {
        let at = columns.len() - 4;
        columns.insert(at, ("bradley_terry", Values::Flag(vec![table.bradley_terry; rows.len()])));
    }
    if every || table.chess {
        columns.push(("chess", Values::Flag(vec![table.chess; rows.len()])));
    }
    if every || rows.iter().any(|s| s.declared.is_some()) {
        for (place, name) in ["declared_win", "declared_draw", "declared_loss"].into_iter().enumerate() {
            let rate = |s: &Sample| s.declared.map(|rates| i32::from(<[u16; 3]>::from(rates)[place]));
            columns.push((name, integer(&rate)));
        }
    }
    let player = |side: usize| {
        let name = |s: &Sample| {
            let players = game(s).players;
            let known = table.annotates(s) && players[0] != players[1];
            known.then(|| table.names.get(players[side])).filter(|name| !name.is_empty())
        };
        Values::Text(rows.iter().map(name).collect())
    };
    if every || rows.iter().any(|s| table.annotates(s) && game(s).players[0] != game(s).players[1]) {
        columns.extend([("black", player(0)), ("white", player(1))]);
    }
    // the evidence of the whole game: whether its scores ended it, and whether another one is its copy
    let ends: Vec<Option<String>> = table.games.iter().map(|g| g.end.map(|end| end.to_string())).collect();
    let moves: Vec<Option<String>> = table.games.iter().map(|g| g.moves.map(|hash| format!("{hash:016x}"))).collect();
    for (name, of_games) in [("moves_hash", &moves), ("score_end", &ends)] {
        if every || rows.iter().any(|s| of_games[s.game as usize].is_some()) {
            let values = rows.iter().map(|s| of_games[s.game as usize].as_deref()).collect();
            let after = columns.iter().position(|(name, _)| *name == "termination").map_or(0, |at| at + 1);
            columns.insert(after, (name, Values::Text(values)));
        }
    }
    if every || rows.iter().any(|s| game(s).unread > 0) {
        columns.push(("unread", integer(&|s| Some(game(s).unread.into()))));
    }
    // most tables have no material
    if every || rows.iter().any(|s| s.material.is_some()) {
        columns.push(("material", integer(&|s| s.material.map(i32::from))));
    }
    use_columns(columns)
}
