//! The sample table as Parquet or CSV, by polars.
//!
//! | column | type | meaning |
//! |---|---|---|
//! | game | text | identity of the game, 16 hexadecimal digits; samples of one game are not independent |
//! | engine, opponent | text | who gave the score, and whom it played |
//! | color | text | `black` or `white`: the engine's side |
//! | ply, window | integer | number of the move played in the position, and of its window |
//! | score_cp | integer | centipawns in the engine's view |
//! | mate | boolean | a mate, by the record's word or by the engine's threshold |
//! | result | float | the game's result for the engine: 1, 0.5 or 0 |
//! | termination | text | how the game ended |
//! | rating, opponent_rating | float | as the record gives them, else empty |
//! | start_time, time_control | text | ISO 8601; as the record writes it |
//! | source, line | text, integer | file (or archive and member) and line of the score |
//! | material | integer | 9Q + 5R + 3B + 3N + P of both sides, empty where it was not counted; absent where no sample has it |
//!
//! Reading needs `engine`, a score and `result`; the other columns may be missing, have other names and other units, so
//! that the output of any tool can be calibrated ([`columns`]). Without `game` every row counts as a game of its own.

pub mod columns;
mod read;

use std::path::Path;

use polars::prelude::{
    Column, CsvWriter, DataFrame, IntoColumn, NamedFrom, ParquetCompression, ParquetWriter, PolarsError, SerWriter,
    Series,
};
use thiserror::Error;

use crate::sample::{Sample, SampleTable};
pub use columns::{Columns, Role, ScoreUnit};
pub use read::{TableOptions, TableReader, looks_like};

/// Rows in a row group of Parquet: fixed, so that the bytes do not depend on the machine.
const ROW_GROUP: usize = 1 << 17;

/// A sample table that cannot be read or written.
#[derive(Debug, Error)]
pub enum TableError {
    /// Neither `.parquet` nor `.csv`.
    #[error("{0}: a sample table ends in .parquet or .csv")]
    Ending(String),
    /// A column that must be there is not.
    #[error("{file}: no column '{column}'; a table needs engine, score_cp and result (found: {found}); {remedy}")]
    Missing {
        /// The file.
        file: String,
        /// The column.
        column: String,
        /// What can be done about it.
        remedy: String,
        /// What there is.
        found: String,
    },
    /// A column of a type that is not read.
    #[error(
        "{file}: column '{column}' has the type {kind}; write it as 32- or 64-bit integers, floats, booleans or text \
         (DOUBLE in SQL, .astype(\"float64\") in pandas), or pass it over by --column ROLE="
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
    /// The file cannot be opened or parsed.
    #[error("{file}: {message}")]
    File {
        /// The file.
        file: String,
        /// Why.
        message: String,
    },
}

/// Is this path a sample table by its ending?
pub fn is_table(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("parquet") || e.eq_ignore_ascii_case("csv"))
}

/// The table as a data frame, a row a sample.
///
/// # Errors
/// None in practice: polars refuses columns of unequal length, and these are equal.
pub fn to_frame(table: &SampleTable) -> Result<DataFrame, PolarsError> {
    let rows = &table.samples;
    let game = |s: &Sample| &table.games[s.game as usize];
    let name = |id| table.names.get(id);
    fn text<'a>(column: &str, values: impl Iterator<Item = &'a str>) -> Column {
        Series::new(column.into(), values.collect::<Vec<_>>()).into_column()
    }
    let ids: Vec<String> = table.games.iter().map(|g| format!("{:016x}", g.id)).collect();
    let times: Vec<Option<String>> = table.games.iter().map(|g| g.start_time.map(|t| t.to_string())).collect();
    let number = |column: &str, value: &dyn Fn(&Sample) -> i64| {
        Series::new(column.into(), rows.iter().map(value).collect::<Vec<i64>>()).into_column()
    };
    let small = |column: &str, value: &dyn Fn(&Sample) -> i32| {
        Series::new(column.into(), rows.iter().map(value).collect::<Vec<i32>>()).into_column()
    };
    let rating = |column: &str, side: &dyn Fn(&Sample) -> usize| {
        let values: Vec<Option<f64>> = rows.iter().map(|s| game(s).ratings[side(s)]).collect();
        Series::new(column.into(), values).into_column()
    };
    let mut columns = vec![
        text("game", rows.iter().map(|s| ids[s.game as usize].as_str())),
        text("engine", rows.iter().map(|s| name(s.engine))),
        text("opponent", rows.iter().map(|s| name(s.opponent))),
        text("color", rows.iter().map(|s| s.color.as_str())),
        small("ply", &|s| s.ply as i32),
        small("window", &|s| s.window as i32),
        small("score_cp", &|s| s.score_cp),
        Series::new("mate".into(), rows.iter().map(|s| s.mate).collect::<Vec<bool>>()).into_column(),
        Series::new("result".into(), rows.iter().map(|s| s.outcome.value()).collect::<Vec<f64>>()).into_column(),
        text("termination", rows.iter().map(|s| game(s).termination.as_str())),
        rating("rating", &|s| s.color.index()),
        rating("opponent_rating", &|s| s.color.opponent().index()),
        Series::new("start_time".into(), rows.iter().map(|s| times[s.game as usize].as_deref()).collect::<Vec<_>>())
            .into_column(),
        text("time_control", rows.iter().map(|s| name(game(s).time_control))),
        text("source", rows.iter().map(|s| name(game(s).source))),
        number("line", &|s| s.line as i64),
    ];
    // most tables have none, and other games than chess never
    if rows.iter().any(|s| s.material.is_some()) {
        let material: Vec<Option<i32>> = rows.iter().map(|s| s.material.map(i32::from)).collect();
        columns.push(Series::new("material".into(), material).into_column());
    }
    DataFrame::new(rows.len(), columns)
}

/// Writes the table whole or not at all; the ending chooses Parquet (zstd) or CSV.
///
/// # Errors
/// [`TableError`] for another ending or a file that cannot be written.
pub fn write(table: &SampleTable, path: &Path, threads: usize) -> Result<(), TableError> {
    let file = path.to_string_lossy().into_owned();
    if !is_table(path) {
        return Err(TableError::Ending(file));
    }
    let error = |message: String| TableError::File { file: file.clone(), message };
    let mut frame = to_frame(table).map_err(|e| error(e.to_string()))?;
    let mut bytes = Vec::new();
    if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("parquet")) {
        ParquetWriter::new(&mut bytes)
            .with_compression(ParquetCompression::Zstd(None))
            .with_row_group_size(Some(ROW_GROUP))
            .set_parallel(threads > 1)
            .finish(&mut frame)
            .map_err(|e| error(e.to_string()))?;
    } else {
        CsvWriter::new(&mut bytes).n_threads(threads).finish(&mut frame).map_err(|e| error(e.to_string()))?;
    }
    crate::whole_file::write(path, &bytes)?;
    Ok(())
}
