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
//!
//! Reading needs `engine`, `score_cp` and `result`; the other columns may be missing. Without `game` every row counts
//! as a game of its own.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::path::Path;

use polars::prelude::{
    Column, CsvReadOptions, CsvWriter, DataFrame, DataType, IntoColumn, NamedFrom, ParallelStrategy,
    ParquetCompression, ParquetReader, ParquetWriter, PolarsError, SerReader, SerWriter, Series,
};
use thiserror::Error;

use super::collect::Problem;
use super::{GameInfo, Sample, SampleTable};
use crate::record::{SkipReason, StartTime};
use crate::types::{Color, Outcome, Termination};

/// Rows in a row group of Parquet: fixed, so that the bytes do not depend on the machine.
const ROW_GROUP: usize = 1 << 17;

/// A sample table that cannot be read or written.
#[derive(Debug, Error)]
pub enum TableError {
    /// Neither `.parquet` nor `.csv`.
    #[error("{0}: a sample table ends in .parquet or .csv")]
    Ending(String),
    /// A column that must be there is not.
    #[error("{file}: no column '{column}'; a sample table needs engine, score_cp and result (found: {found})")]
    Missing {
        /// The file.
        file: String,
        /// The column.
        column: &'static str,
        /// What there is.
        found: String,
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
    let columns = vec![
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

/// Rows read into a table, with what was wrong with the others.
#[derive(Debug, Default)]
pub struct TableRead {
    /// Rows met.
    pub rows: u64,
    /// Rows that were passed over.
    pub rows_skipped: u64,
    /// The first of them.
    pub problems: Vec<Problem>,
    /// The table has no `game` column, so that samples count as independent.
    pub no_games: bool,
}

/// Adds the rows of a Parquet or CSV file to `table`.
///
/// # Errors
/// [`TableError`] for a file that cannot be read or lacks a column. Single bad rows are passed over and told.
pub fn read_into(table: &mut SampleTable, path: &Path, threads: usize) -> Result<TableRead, TableError> {
    let file = path.to_string_lossy().into_owned();
    let error = |message: String| TableError::File { file: file.clone(), message };
    let parquet = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("parquet"));
    let frame = if parquet {
        let open = File::open(path).map_err(|e| error(e.to_string()))?;
        let strategy = if threads > 1 { ParallelStrategy::Auto } else { ParallelStrategy::None };
        ParquetReader::new(open).read_parallel(strategy).finish()
    } else {
        CsvReadOptions::default()
            .with_n_threads(Some(threads.max(1)))
            .with_infer_schema_length(Some(0))
            .try_into_reader_with_file_path(Some(path.to_owned()))
            .and_then(SerReader::finish)
    };
    let frame = frame.map_err(|e| error(e.to_string()))?;
    Rows::new(&frame, &file)?.read_into(table, &file, if parquet { 1 } else { 2 })
}

/// The columns of a frame, each as the type that the table wants; `None` where a cell cannot be read so.
struct Rows {
    height: usize,
    engine: Column,
    score: Column,
    result: Column,
    game: Option<Column>,
    opponent: Option<Column>,
    color: Option<Column>,
    ply: Option<Column>,
    window: Option<Column>,
    mate: Option<Column>,
    termination: Option<Column>,
    ratings: [Option<Column>; 2],
    start_time: Option<Column>,
    time_control: Option<Column>,
    source: Option<Column>,
    line: Option<Column>,
}

impl Rows {
    fn new(frame: &DataFrame, file: &str) -> Result<Self, TableError> {
        let found = frame.get_column_names().iter().map(|n| n.as_str()).collect::<Vec<_>>().join(", ");
        let cast = |column: &Column, kind: &DataType| {
            column.cast(kind).map_err(|e| TableError::File { file: file.to_owned(), message: e.to_string() })
        };
        let optional = |name: &str, kind: DataType| match frame.column(name) {
            Ok(column) => cast(column, &kind).map(Some),
            Err(_) => Ok(None),
        };
        let needed = |name: &'static str, kind: DataType| {
            optional(name, kind)?.ok_or_else(|| TableError::Missing {
                file: file.to_owned(),
                column: name,
                found: found.clone(),
            })
        };
        let mate = match frame.column("mate") {
            Ok(column) if *column.dtype() == DataType::String => Some(column.clone()),
            Ok(column) => Some(cast(&cast(column, &DataType::Boolean)?, &DataType::String)?),
            Err(_) => None,
        };
        Ok(Self {
            height: frame.height(),
            engine: needed("engine", DataType::String)?,
            score: needed("score_cp", DataType::Float64)?,
            result: needed("result", DataType::Float64)?,
            game: optional("game", DataType::String)?,
            opponent: optional("opponent", DataType::String)?,
            color: optional("color", DataType::String)?,
            ply: optional("ply", DataType::Int64)?,
            window: optional("window", DataType::Int64)?,
            mate,
            termination: optional("termination", DataType::String)?,
            ratings: [optional("rating", DataType::Float64)?, optional("opponent_rating", DataType::Float64)?],
            start_time: optional("start_time", DataType::String)?,
            time_control: optional("time_control", DataType::String)?,
            source: optional("source", DataType::String)?,
            line: optional("line", DataType::Int64)?,
        })
    }

    fn read_into(&self, table: &mut SampleTable, file: &str, first_line: u64) -> Result<TableRead, TableError> {
        let error = |e: PolarsError| TableError::File { file: file.to_owned(), message: e.to_string() };
        fn text(column: &Option<Column>) -> Result<Option<&polars::prelude::StringChunked>, PolarsError> {
            column.as_ref().map(|c| c.str()).transpose()
        }
        fn integer(column: &Option<Column>) -> Result<Option<&polars::prelude::Int64Chunked>, PolarsError> {
            column.as_ref().map(|c| c.i64()).transpose()
        }
        let engine = self.engine.str().map_err(error)?;
        let score = self.score.f64().map_err(error)?;
        let result = self.result.f64().map_err(error)?;
        let game = text(&self.game).map_err(error)?;
        let opponent = text(&self.opponent).map_err(error)?;
        let color = text(&self.color).map_err(error)?;
        let ply = integer(&self.ply).map_err(error)?;
        let window = integer(&self.window).map_err(error)?;
        let mate = text(&self.mate).map_err(error)?;
        let termination = text(&self.termination).map_err(error)?;
        let start_time = text(&self.start_time).map_err(error)?;
        let time_control = text(&self.time_control).map_err(error)?;
        let source = text(&self.source).map_err(error)?;
        let line = integer(&self.line).map_err(error)?;
        let rating = |side: usize, row: usize| {
            let cell = self.ratings[side].as_ref().and_then(|c| c.f64().ok()).and_then(|c| c.get(row));
            cell.filter(|r| r.is_finite())
        };

        let mut read = TableRead { rows: self.height as u64, no_games: game.is_none(), ..TableRead::default() };
        let mut known: HashMap<u64, u32> = table.games.iter().zip(0..).map(|(g, i)| (g.id, i)).collect();
        let file_key = table.names.intern(file);
        let mut last: Option<(u64, u32)> = None;
        // What other files gave already. A table of one's own making without these columns tells no two samples apart.
        let told_apart = game.is_some() && color.is_some() && window.is_some();
        let drawn = |s: &Sample| Some((table.games.get(s.game as usize)?.id, s.color, s.window));
        let before: HashSet<(u64, Color, u32)> =
            if told_apart { table.samples.iter().filter_map(drawn).collect() } else { HashSet::new() };
        let mut duplicates: Option<(u64, u64)> = None;
        let count = |cell: Option<i64>| cell.and_then(|n| u32::try_from(n).ok()).unwrap_or(0);
        for row in 0..self.height {
            let row_line = row as u64 + first_line;
            let mut bad = |column: &str, wanted: &str| {
                read.rows_skipped += 1;
                if read.problems.len() < 20 {
                    let value = format!("column '{column}' is not {wanted}; the row is passed over");
                    read.problems.push(Problem {
                        source: file.to_owned(),
                        line: row_line,
                        kind: "bad_row",
                        value,
                        strict: true,
                    });
                }
            };
            let Some(engine) = engine.get(row).filter(|e| !e.is_empty()) else {
                bad("engine", "a name");
                continue;
            };
            let Some(score_cp) = score.get(row).filter(|s| s.abs() <= f64::from(i32::MAX)) else {
                bad("score_cp", "a number of centipawns");
                continue;
            };
            let outcome = match result.get(row) {
                Some(1.0) => Outcome::Win,
                Some(0.5) => Outcome::Draw,
                Some(0.0) => Outcome::Loss,
                _ => {
                    bad("result", "1, 0.5 or 0");
                    continue;
                }
            };
            let color = match color.and_then(|c| c.get(row)) {
                Some("white") => Color::White,
                None | Some("black" | "") => Color::Black,
                Some(_) => {
                    bad("color", "black or white");
                    continue;
                }
            };
            let id = match game.map(|g| g.get(row).unwrap_or("")) {
                Some(text) => game_id(text),
                None => crate::random::bits(&[u64::from(file_key), row as u64]),
            };
            let row_window = count(window.and_then(|c| c.get(row)));
            if before.contains(&(id, color, row_window)) {
                read.rows_skipped += 1;
                duplicates.get_or_insert((row_line, 0)).1 += 1;
                continue;
            }
            let engine = table.names.intern(engine);
            let opponent = table.names.intern(opponent.and_then(|c| c.get(row)).unwrap_or(""));
            let slot = match last {
                Some((same, slot)) if same == id => slot,
                _ => *known.entry(id).or_insert_with(|| {
                    let (own, other) = (color.index(), color.opponent().index());
                    let mut players = [engine; 2];
                    players[other] = opponent;
                    let mut ratings = [None; 2];
                    ratings[own] = rating(0, row);
                    ratings[other] = rating(1, row);
                    let word = termination.and_then(|c| c.get(row)).unwrap_or("");
                    table.games.push(GameInfo {
                        id,
                        players,
                        ratings,
                        start_time: start_time.and_then(|c| c.get(row)).and_then(StartTime::parse),
                        time_control: table.names.intern(time_control.and_then(|c| c.get(row)).unwrap_or("")),
                        termination: Termination::parse(word).unwrap_or(Termination::Unknown),
                        black_outcome: if color == Color::Black { outcome } else { outcome.reversed() },
                        source: table.names.intern(source.and_then(|c| c.get(row)).unwrap_or(file)),
                        line: 0,
                    });
                    table.games.len() as u32 - 1
                }),
            };
            last = Some((id, slot));
            table.samples.push(Sample {
                game: slot,
                engine,
                opponent,
                color,
                ply: count(ply.and_then(|c| c.get(row))),
                window: row_window,
                score_cp: score_cp.round() as i32,
                mate: mate.and_then(|c| c.get(row)).is_some_and(|t| t.eq_ignore_ascii_case("true") || t == "1"),
                outcome,
                line: line.and_then(|c| c.get(row)).and_then(|n| u64::try_from(n).ok()).unwrap_or(row_line),
            });
        }
        if let Some((line, rows)) = duplicates {
            read.problems.push(Problem {
                source: file.to_owned(),
                line,
                kind: SkipReason::Duplicate.as_str(),
                value: format!("{rows} rows of games and windows that were read before are passed over"),
                strict: false,
            });
        }
        Ok(read)
    }
}

/// Our own identities are 16 hexadecimal digits; any other text is hashed.
fn game_id(text: &str) -> u64 {
    if text.len() == 16
        && let Ok(id) = u64::from_str_radix(text, 16)
    {
        return id;
    }
    let mut hash = crate::record::GameHash::default();
    hash.text(text);
    hash.finish(&[String::new(), String::new()], None)
}
