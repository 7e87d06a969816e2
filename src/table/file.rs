//! Tables as Parquet and CSV files.

use std::path::Path;

use super::columns::{Columns, is_true};
use super::csv_table::looks_like_csv;
use super::frame::{self, Frame, is_parquet};
use super::games::{game_columns, games};
use super::read::holds_samples;
use super::rescore::{Map, ScoreCell};
use super::source::{CellKind, Source};
use super::{
    Role, TableError, TableOptions, TableReader, Values, check_name, has_ending, with_columns, with_forecasts,
};
use crate::calibrate::EngineForecasts;
use crate::record::SkipReason;
use crate::record::packed::Rescored;
use crate::sample::{Rows, SampleTable};

/// Whether a file with this beginning is a table: Parquet by its first bytes, CSV by its header.
pub fn looks_like(head: &[u8], options: &TableOptions) -> bool {
    is_parquet(head) || looks_like_csv(head, options)
}

/// The games of a Parquet or CSV file that holds games instead of samples; `None` for another file.
///
/// # Errors
/// [`TableError`] for a file that cannot be read.
pub fn read_games(path: &Path, options: &TableOptions) -> Result<Option<Rows>, TableError> {
    let file = path.to_string_lossy().into_owned();
    let names = frame::names(path, &file)?;
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    if holds_samples(&names, options) || game_columns(&names).is_none() {
        return Ok(None);
    }
    let select = |names: &[&str]| Ok(game_columns(names).unwrap_or_default().into_iter().map(str::to_owned).collect());
    let frame = Frame::read(path, &file, options.threads.max(1), select)?;
    games(&frame, &file).map_err(|message| TableError::damaged(&file, message))
}

impl TableReader<'_> {
    /// Adds the rows of a Parquet or CSV file, distinguished by content.
    ///
    /// # Errors
    /// [`TableError`] for a file that cannot be read or lacks a column. Single bad rows are reported and skipped.
    pub fn read(&mut self, path: &Path) -> Result<(), TableError> {
        let file = path.to_string_lossy().into_owned();
        let frame = Frame::read(path, &file, self.options.threads.max(1), |names| {
            self.require(&file, names)?;
            let columns = &self.options.columns;
            Ok(Role::ALL.iter().filter_map(|role| columns.find(*role, names)).map(str::to_owned).collect())
        })?;
        self.add(&frame, &file)
    }
}

/// Writes the table completely or not at all. The file name ends in `.parquet` or `.csv`.
///
/// # Errors
/// [`TableError`] for another ending or a file that cannot be written.
pub fn write(table: &SampleTable, path: &Path, threads: usize) -> Result<(), TableError> {
    with_columns(table, false, |columns| write_columns(columns, path, threads))
}

/// Writes the table with further columns, which have a value for each sample.
///
/// # Errors
/// As [`write()`].
pub fn write_with(
    table: &SampleTable,
    further: Vec<(&str, Values<'_>)>,
    path: &Path,
    threads: usize,
) -> Result<(), TableError> {
    with_columns(table, false, |columns| write_columns(columns.into_iter().chain(further).collect(), path, threads))
}

/// Writes forecasts, as [`write()`] does.
///
/// # Errors
/// As [`write()`].
pub fn write_forecasts(
    table: &SampleTable,
    forecasts: &[EngineForecasts],
    path: &Path,
    threads: usize,
) -> Result<(), TableError> {
    with_forecasts(table, forecasts, |columns| write_columns(columns, path, threads))
}

/// A Parquet file with other scores, as bytes. The columns and their types stay; the file is compressed anew.
///
/// # Errors
/// [`TableError`] for a file that cannot be read, or has no column of scores.
pub fn rescore_parquet(
    path: &Path,
    columns: &Columns,
    map: &Map<'_>,
    threads: usize,
) -> Result<(Vec<u8>, Rescored), TableError> {
    let file = path.to_string_lossy().into_owned();
    let every = |names: &[&str]| Ok(names.iter().map(|name| (*name).to_owned()).collect());
    let mut frame = Frame::read(path, &file, threads, every)?;
    let names = frame.names();
    let name = |role| columns.find(role, &names).map(str::to_owned);
    let Some(score) = name(Role::Score) else {
        return Err(TableError::damaged(&file, "no column of scores; name it with `column` score=NAME"));
    };
    let pairs =
        [(Some(score), name(Role::Engine), name(Role::Mate)), (name(Role::ReplyCp), name(Role::Opponent), None)];
    let ply = name(Role::Ply);
    let mut found = Rescored { bytes: std::fs::metadata(path).map_or(0, |m| m.len()), ..Rescored::default() };
    for (number, (score, engine, mates)) in pairs.into_iter().enumerate() {
        let Some(score) = score else { continue };
        let damaged = |message: String| TableError::damaged(&file, message);
        let new: Vec<Option<f64>> = {
            let cells = |name: &Option<String>, kind| {
                name.as_ref().map(|name| frame.cells(name, kind)).transpose().map_err(damaged)
            };
            let scores = frame.cells(&score, CellKind::Number).map_err(damaged)?;
            let (engines, plies) = (cells(&engine, CellKind::Text)?, cells(&ply, CellKind::Number)?);
            let mates = cells(&mates, CellKind::Flag)?;
            let mut counts = Rescored::default();
            let mut of_row = |row: usize| {
                let score_cp = scores.number(row)?;
                let engine = engines.as_ref().and_then(|cells| cells.text(row)).unwrap_or_default();
                let ply = plies.as_ref().and_then(|cells| cells.number(row)).map(|ply| ply as u32);
                let mate = mates.as_ref().and_then(|cells| cells.text(row)).is_some_and(is_true);
                match map(ScoreCell { engine, ply, score_cp, mate }) {
                    Some(new) => Some(counts.count(new, score_cp)),
                    None => {
                        counts.damage(SkipReason::AnalysisWithoutEngine, row as u64 + 1);
                        Some(score_cp)
                    }
                }
            };
            let new = (0..frame.height()).map(&mut of_row).collect();
            found.clipped += counts.clipped;
            if number == 0 {
                found = Rescored { bytes: found.bytes, ..counts };
            }
            new
        };
        frame.replace(&score, &new).map_err(|message| TableError::damaged(&file, message))?;
    }
    let bytes = frame.into_parquet(threads).map_err(|message| TableError::damaged(&file, message))?;
    Ok((bytes, found))
}

fn write_columns(columns: Vec<(&str, Values<'_>)>, path: &Path, threads: usize) -> Result<(), TableError> {
    let file = path.to_string_lossy().into_owned();
    check_name(path)?;
    let mut bytes = Vec::new();
    frame::write(columns, has_ending(path, "parquet"), threads, &mut bytes)
        .map_err(|message| TableError::File { file, message })?;
    crate::whole_file::write(path, &bytes)?;
    Ok(())
}
