//! The sample table as Parquet or CSV, by polars.
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
//! | source, line | text, integer | file (or archive and member) and line of the score |
//! | reply_cp | integer | the opponent's score of the next position, in its own view; absent if no sample has it |
//! | chess | boolean | all games are chess; absent if they are not |
//! | declared_win, declared_draw, declared_loss | integer | declared by the engine, permille; absent if nowhere |
//! | material | integer | 9Q + 5R + 3B + 3N + P of both sides, empty if not counted; absent if no sample has it |
//!
//! Reading needs `engine`, a score and `result`. The other columns may be missing, and all may have other names and
//! units, so that the output of any tool can be calibrated ([`columns`]). Without `game`, each row counts as a game.

pub mod columns;
mod frame;
mod read;

use std::path::Path;

use thiserror::Error;

use crate::sample::{GameInfo, Sample, SampleTable};
use crate::text::shortened;
pub use columns::{Columns, Role, ScoreUnit};
use frame::column;
pub use read::{MOST_PLY, TableOptions, TableReader, looks_like};

/// Why a sample table cannot be read or written.
#[derive(Debug, Error)]
pub enum TableError {
    /// The file name does not end in `.parquet` or `.csv`.
    #[error("{0}: a sample table ends in .parquet or .csv")]
    Ending(String),
    /// A required column is missing.
    #[error("{file}: no column '{column}'; a table needs engine, score_cp and result (found: {found}); {remedy}")]
    Missing {
        /// The file.
        file: String,
        /// The column.
        column: String,
        /// What the user can do.
        remedy: String,
        /// The existing columns.
        found: String,
    },
    /// A column has an unsupported type.
    #[error(
        "{file}: column '{column}' has the type {kind}; write it as 32- or 64-bit integers, floats, booleans or text \
         (DOUBLE in SQL, .astype(\"float64\") in pandas), or ignore it with --column ROLE="
    )]
    Type {
        /// The file.
        file: String,
        /// The column.
        column: String,
        /// Its type.
        kind: String,
    },
    /// The file cannot be written.
    #[error(transparent)]
    Write(#[from] crate::whole_file::WriteError),
    /// The file is larger than what is read.
    #[error("{file}: {found} {what}; a table may have at most {most}; split it, or sample fewer positions")]
    Limit {
        /// The file.
        file: String,
        /// What there is too much of.
        what: &'static str,
        /// How much there is.
        found: u64,
        /// How much there may be.
        most: u64,
    },
    /// The file cannot be opened or parsed.
    #[error("{file}: {message}")]
    File {
        /// The file.
        file: String,
        /// The cause.
        message: String,
    },
}

/// Largest number of characters that a message quotes.
const MOST_QUOTED: usize = 200;

impl TableError {
    /// A file that cannot be read, with the first line of the cause. Further lines are advice on calls of polars.
    fn damaged(file: &str, cause: impl std::fmt::Display) -> Self {
        let message = shortened(cause.to_string().lines().next().unwrap_or_default(), MOST_QUOTED);
        Self::File { file: file.to_owned(), message }
    }
}

fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case(ending))
}

/// Whether the file name is that of a sample table.
pub fn is_table(path: &Path) -> bool {
    has_ending(path, "parquet") || has_ending(path, "csv")
}

/// Writes the table completely or not at all. The file name ends in `.parquet` or `.csv`.
///
/// # Errors
/// [`TableError`] for another ending or a file that cannot be written.
pub fn write(table: &SampleTable, path: &Path, threads: usize) -> Result<(), TableError> {
    let file = path.to_string_lossy().into_owned();
    if !is_table(path) {
        return Err(TableError::Ending(file));
    }
    let rows = &table.samples;
    let game = |s: &Sample| -> &GameInfo { &table.games[s.game as usize] };
    let ids: Vec<String> = table.games.iter().map(|g| format!("{:016x}", g.id)).collect();
    let times: Vec<Option<String>> = table.games.iter().map(|g| g.start_time.map(|t| t.to_string())).collect();
    let text = |name, value: &dyn Fn(&Sample) -> u32| column(name, rows.iter().map(|s| table.names.get(value(s))));
    let integer = |name, value: &dyn Fn(&Sample) -> i32| column(name, rows.iter().map(value));
    let rating = |name, side: &dyn Fn(&Sample) -> usize| column(name, rows.iter().map(|s| game(s).ratings[side(s)]));
    let mut columns = vec![
        column("game", rows.iter().map(|s| ids[s.game as usize].as_str())),
        text("engine", &|s| s.engine),
        text("opponent", &|s| s.opponent),
        column("color", rows.iter().map(|s| s.color.as_str())),
        integer("ply", &|s| s.ply as i32),
        integer("window", &|s| s.window as i32),
        integer("score_cp", &|s| s.score_cp),
        column("mate", rows.iter().map(|s| s.mate)),
        column("result", rows.iter().map(|s| s.outcome.value())),
        column("termination", rows.iter().map(|s| game(s).termination.as_str())),
        rating("rating", &|s| s.color.index()),
        rating("opponent_rating", &|s| s.color.opponent().index()),
        column("start_time", rows.iter().map(|s| times[s.game as usize].as_deref())),
        text("time_control", &|s| game(s).time_control),
        text("source", &|s| game(s).source),
        column("line", rows.iter().map(|s| s.line as i64)),
    ];
    // analyses and training data have no replies
    if rows.iter().any(|s| s.reply_cp.is_some()) {
        columns.insert(7, column("reply_cp", rows.iter().map(|s| s.reply_cp)));
    }
    if table.bradley_terry {
        let at = columns.len() - 4;
        columns.insert(at, column("bradley_terry", rows.iter().map(|_| true)));
    }
    if table.chess {
        columns.push(column("chess", rows.iter().map(|_| true)));
    }
    if rows.iter().any(|s| s.declared.is_some()) {
        for (place, name) in ["declared_win", "declared_draw", "declared_loss"].into_iter().enumerate() {
            let rate = |s: &Sample| s.declared.map(|rates| i32::from(<[u16; 3]>::from(rates)[place]));
            columns.push(column(name, rows.iter().map(rate)));
        }
    }
    // most tables have no material
    if rows.iter().any(|s| s.material.is_some()) {
        columns.push(column("material", rows.iter().map(|s| s.material.map(i32::from))));
    }
    let mut bytes = Vec::new();
    frame::write(columns, rows.len(), has_ending(path, "parquet"), threads, &mut bytes)
        .map_err(|message| TableError::File { file, message })?;
    crate::whole_file::write(path, &bytes)?;
    Ok(())
}
