//! Tables with other scores: every other cell stays.

use std::io::{self, BufRead, Write};
use std::ops::Range;
use std::path::Path;

use evalcurve_records::csv_text::separator;
use evalcurve_records::record::SkipReason;
use evalcurve_records::record::encoding::is_utf_16;
use evalcurve_tables::columns::{Columns, Role, is_true, mate};
use evalcurve_tables::{CellKind, TableError, cells_of, edit_parquet, read_row};

use crate::packed::{NewScore, Rescored};

/// The score of a row, and what its scale depends on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ScoreCell<'a> {
    /// The engine that gave the score; empty without a column.
    pub engine: &'a str,
    /// The number of the move.
    pub ply: Option<u32>,
    /// The score in centipawns.
    pub score_cp: f64,
    /// Whether the row says that it is a mate.
    pub mate: bool,
}

/// The new score of a cell; `None` for an engine without a scale.
pub(crate) type Map<'a> = dyn Fn(ScoreCell<'_>) -> Option<NewScore<f64>> + Sync + 'a;

/// Where the cells of a row are that matter here.
struct Places {
    engine: Option<usize>,
    opponent: Option<usize>,
    ply: Option<usize>,
    mate: Option<usize>,
    score: Option<usize>,
    reply: Option<usize>,
}

impl Places {
    fn of(columns: &Columns, names: &[&str]) -> Self {
        let place = |role| {
            let name = columns.find(role, names)?;
            names.iter().position(|n| *n == name)
        };
        Self {
            engine: place(Role::Engine),
            opponent: place(Role::Opponent),
            ply: place(Role::Ply),
            mate: place(Role::Mate),
            score: place(Role::Score),
            reply: place(Role::ReplyCp),
        }
    }
}

/// A cell without spaces and quotes around it.
fn content(cell: &[u8]) -> &[u8] {
    let cell = cell.trim_ascii();
    cell.strip_prefix(b"\"").and_then(|cell| cell.strip_suffix(b"\"")).unwrap_or(cell).trim_ascii()
}

fn text(cell: &[u8]) -> &str {
    std::str::from_utf8(content(cell)).unwrap_or_default()
}

/// Copies a CSV table with other scores, row by row. Cells that are no score stay, and are counted as damaged.
///
/// # Errors
/// The table cannot be read or written, or has no column of scores.
pub(crate) fn rescore_csv(
    from: &mut dyn BufRead,
    to: &mut dyn Write,
    columns: &Columns,
    map: &Map<'_>,
) -> io::Result<Rescored> {
    let wrong = |problem: &str| Err(io::Error::new(io::ErrorKind::InvalidData, problem));
    let (mut row, mut ranges, mut line) = (Vec::new(), Vec::new(), 0);
    line += read_row(from, &mut row)?;
    if is_utf_16(&row) {
        return wrong("UTF-16 text; save the table as UTF-8");
    }
    let start = row.len() - row.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&row).len();
    let separator = separator(&String::from_utf8_lossy(&row));
    cells_of(&row[start..], 1, separator, &mut ranges)?;
    let names: Vec<&str> = ranges.iter().map(|range| text(&row[start..][range.clone()])).collect();
    let places = Places::of(columns, &names);
    if places.score.is_none() {
        return wrong("no column of scores; name it with `column` score=NAME");
    }
    to.write_all(&row)?;
    let mut found = Rescored { bytes: row.len() as u64, ..Rescored::default() };
    loop {
        let lines = read_row(from, &mut row)?;
        if lines == 0 {
            return Ok(found);
        }
        found.bytes += row.len() as u64;
        cells_of(&row, line + 1, separator, &mut ranges)?;
        let cell = |place: Option<usize>| place.and_then(|at| ranges.get(at)).map_or(&[][..], |r| &row[r.clone()]);
        let ply = text(cell(places.ply)).parse().ok();
        let is_mate = is_true(text(cell(places.mate)));
        let of_engine = [(places.score, cell(places.engine), is_mate), (places.reply, cell(places.opponent), false)];
        let mut changed: Vec<(Range<usize>, String)> = Vec::new();
        for (place, engine, mate_cell) in of_engine {
            let is_reply = place == places.reply && place.is_some() && place != places.score;
            let Some(range) = place.and_then(|at| ranges.get(at)).cloned() else { continue };
            let number = content(&row[range.clone()]);
            let Some(old) = text(number).parse::<f64>().ok().filter(|x| x.is_finite()) else {
                match mate(text(number)) {
                    Some(_) => drop(found.count(NewScore::Mate, 0.0)),
                    None if number.is_empty() && (is_reply || row.trim_ascii().is_empty()) => {}
                    None => found.damage(SkipReason::NoScores, line + 1),
                }
                continue;
            };
            let cell = ScoreCell { engine: text(engine), ply, score_cp: old, mate: mate_cell };
            let Some(new) = map(cell) else {
                found.damage(SkipReason::AnalysisWithoutEngine, line + 1);
                continue;
            };
            let mut counts = Rescored::default();
            let new = counts.count(new, old);
            if !is_reply {
                found.positions += 1;
                found.mates += counts.mates;
            }
            found.clipped += counts.clipped;
            if counts.mates == 0 {
                let at = range.start + offset_in(&row[range], number);
                changed.push((at..at + number.len(), like(new, text(number))));
            }
        }
        changed.sort_by_key(|(range, _)| range.start);
        let mut copied = 0;
        for (range, new) in changed {
            to.write_all(&row[copied..range.start])?;
            to.write_all(new.as_bytes())?;
            copied = range.end;
        }
        to.write_all(&row[copied..])?;
        line += lines;
    }
}

/// A Parquet file with other scores, as bytes, and what was changed.
///
/// # Errors
/// [`TableError`] for a file that cannot be read, or has no column of scores.
pub(crate) fn rescore_parquet(
    path: &Path,
    columns: &Columns,
    map: &Map<'_>,
    threads: usize,
) -> Result<(Vec<u8>, Rescored), TableError> {
    let file = path.to_string_lossy().into_owned();
    let damaged = |problem| TableError::new(&file, problem);
    let mut found = Rescored { bytes: std::fs::metadata(path).map_or(0, |m| m.len()), ..Rescored::default() };
    let bytes = edit_parquet(path, threads, |table| {
        let names = table.names();
        let name = |role| columns.find(role, &names).map(str::to_owned);
        let Some(score) = name(Role::Score) else {
            return Err(TableError::damaged(&file, "no column of scores; name it with `column` score=NAME"));
        };
        let pairs =
            [(Some(score), name(Role::Engine), name(Role::Mate)), (name(Role::ReplyCp), name(Role::Opponent), None)];
        let ply = name(Role::Ply);
        let mut edited = Vec::new();
        for (number, (score, engine, mates)) in pairs.into_iter().enumerate() {
            let Some(score) = score else { continue };
            let cells = |name: &Option<String>, kind| {
                name.as_ref().map(|name| table.cells(name, kind)).transpose().map_err(damaged)
            };
            let scores = table.cells(&score, CellKind::Number).map_err(damaged)?;
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
            let new = (0..table.height()).map(&mut of_row).collect();
            found.clipped += counts.clipped;
            if number == 0 {
                found = Rescored { bytes: found.bytes, ..counts };
            }
            edited.push((score.clone(), new));
        }
        Ok(edited)
    })?;
    Ok((bytes, found))
}

/// Where a part of a cell begins in it.
fn offset_in(cell: &[u8], part: &[u8]) -> usize {
    (part.as_ptr() as usize).saturating_sub(cell.as_ptr() as usize).min(cell.len())
}

/// A number with as many decimals as another has.
fn like(number: f64, old: &str) -> String {
    let decimals = old.split_once('.').map_or(0, |(_, decimals)| decimals.len().min(9));
    let text = format!("{number:.decimals$}");
    let is_zero = text.bytes().all(|b| matches!(b, b'-' | b'0' | b'.'));
    if is_zero { text.trim_start_matches('-').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn double(cell: ScoreCell<'_>) -> Option<NewScore<f64>> {
        match cell {
            ScoreCell { engine: "C", .. } => None,
            ScoreCell { mate: true, .. } => Some(NewScore::Mate),
            ScoreCell { score_cp, .. } if score_cp.abs() > 1_000.0 => Some(NewScore::Mate),
            ScoreCell { score_cp, .. } if score_cp.abs() > 400.0 => Some(NewScore::Clipped(score_cp.signum() * 800.0)),
            ScoreCell { score_cp, .. } => Some(NewScore::Scaled(2.0 * score_cp)),
        }
    }

    fn rescored(table: &str) -> (String, Rescored) {
        let mut out = Vec::new();
        let found = rescore_csv(&mut table.as_bytes(), &mut out, &Columns::default(), &double).unwrap();
        assert_eq!(found.bytes, table.len() as u64);
        (String::from_utf8(out).unwrap(), found)
    }

    #[test]
    fn only_scores_change() {
        let table = "\u{feff}engine;result; score_cp ;note;opponent;reply_cp;mate\r\n\
                     A;1; 12 ;\"a; \"\"b\"\"\nc 12\";B;-3;\r\n\r\n\
                     B;0;\"-7.25\";;A;;0\r\nA;0;500;x;B;;\nA;1;30000;;;;\nA;1;#3;;;;\n\
                     A;1;5;;;;true\nC;1;5;;;;\nA;1;?;;;;";
        let (out, found) = rescored(table);
        let wanted = table
            .replace("; 12 ;", "; 24 ;")
            .replace("B;-3;", "B;-6;")
            .replace("-7.25", "-14.50")
            .replace(";500;", ";800;");
        assert_eq!(out, wanted);
        assert_eq!((found.positions, found.mates, found.clipped, found.damaged), (6, 3, 1, 2));
        assert_eq!(found.first_damaged, [(SkipReason::AnalysisWithoutEngine, 10), (SkipReason::NoScores, 11)]);
    }

    #[test]
    fn numbers_keep_their_decimals() {
        assert_eq!(["7", "-7.0", "0.123"].map(|old| like(-0.04, old)), ["0", "0.0", "-0.040"]);
    }

    #[test]
    fn tables_without_scores_and_open_quotes_are_refused() {
        let error = |table: &[u8]| {
            let read = rescore_csv(&mut &table[..], &mut Vec::new(), &Columns::default(), &double);
            read.unwrap_err().to_string()
        };
        assert!(error(b"engine,result\nA,1\n").contains("no column of scores"));
        assert!(error(b"\xFF\xFEe\0").contains("UTF-16"));
        let open = [b"engine,score_cp\nA,\"".to_vec(), b"x\n".repeat(1 << 20)].concat();
        assert!(error(&open).contains("is never closed"));
    }
}
