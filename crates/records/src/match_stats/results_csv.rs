//! Results from a table: counts of a match a row, or one game a row.

use std::collections::BTreeMap;
use std::path::Path;

use thiserror::Error;

use super::counts::Wdl;
use super::results::{Match, Matches};
use evalcurve_core::types::Outcome;

/// A table that cannot be read.
#[derive(Debug, Error)]
pub enum CsvError {
    /// The file cannot be read.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// A column is missing.
    #[error(
        "{path}: no column '{column}'; a table of results has player, opponent and either wins, draws, losses or result \
         (1, 0.5, 0), and may have opening"
    )]
    Column {
        /// The file.
        path: String,
        /// The column.
        column: &'static str,
    },
    /// A cell cannot be read.
    #[error("{path}:{line}: '{value}' is not {wanted}")]
    Cell {
        /// The file.
        path: String,
        /// Line from 1.
        line: u64,
        /// The cell.
        value: String,
        /// What was expected.
        wanted: &'static str,
    },
}

/// A table: rows of cells with their line, columns by name.
#[derive(Debug, Clone, Default)]
pub struct Table {
    path: String,
    columns: Vec<String>,
    /// Line from 1, and the cells.
    rows: Vec<(u64, Vec<String>)>,
}

impl Table {
    /// Reads a CSV file: UTF-8, commas, a head, cells in quotes where they hold commas.
    ///
    /// # Errors
    /// [`CsvError::Io`].
    pub fn read(path: &Path) -> Result<Self, CsvError> {
        let shown = path.to_string_lossy().replace('\\', "/");
        let text = std::fs::read_to_string(path).map_err(|source| CsvError::Io { path: shown.clone(), source })?;
        Ok(Self::parse(&text, &shown))
    }

    /// The table of a text; `path` is its name in messages.
    pub fn parse(text: &str, path: &str) -> Self {
        let mut lines = (1..).zip(text.trim_start_matches('\u{feff}').lines());
        let columns = lines.next().map(|(_, head)| cells(head)).unwrap_or_default();
        let rows = lines.filter(|(_, l)| !l.trim().is_empty()).map(|(n, l)| (n, cells(l))).collect();
        Self { path: path.to_owned(), columns, rows }
    }

    fn find(&self, column: &str) -> Option<usize> {
        self.columns.iter().position(|c| c.eq_ignore_ascii_case(column))
    }

    /// The index of a column that must be there.
    ///
    /// # Errors
    /// [`CsvError::Column`].
    pub fn column(&self, column: &'static str) -> Result<usize, CsvError> {
        self.find(column).ok_or_else(|| CsvError::Column { path: self.path.clone(), column })
    }

    /// Rows with their line from 1.
    pub fn rows(&self) -> impl Iterator<Item = (u64, &[String])> {
        self.rows.iter().map(|(line, cells)| (*line, cells.as_slice()))
    }

    /// The cell of a row as something else.
    ///
    /// # Errors
    /// [`CsvError::Cell`].
    pub fn cell<T>(
        &self,
        (line, row): (u64, &[String]),
        column: usize,
        wanted: &'static str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<T, CsvError> {
        let value = row.get(column).map_or("", String::as_str);
        parse(value).ok_or_else(|| CsvError::Cell { path: self.path.clone(), line, value: value.to_owned(), wanted })
    }
}

/// The cells of a line; a cell in quotes may hold commas and doubled quotes.
fn cells(line: &str) -> Vec<String> {
    let (mut out, mut cell, mut quoted) = (Vec::new(), String::new(), false);
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                cell.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => out.push(std::mem::take(&mut cell).trim().to_owned()),
            c => cell.push(c),
        }
    }
    out.push(cell.trim().to_owned());
    out
}

fn name(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

fn count(text: &str) -> Option<u64> {
    text.parse().ok().filter(|n| *n <= 1 << 48)
}

fn outcome(text: &str) -> Option<Outcome> {
    match text.to_ascii_lowercase().as_str() {
        "1" | "1.0" | "win" => Some(Outcome::Win),
        "0.5" | ".5" | "1/2" | "draw" => Some(Outcome::Draw),
        "0" | "0.0" | "loss" => Some(Outcome::Loss),
        _ => None,
    }
}

/// The matches of a table, in its own order and view: rows of the same player and opponent are added up. Games of one
/// opening between two players are a pair where there are two of them, in the table's order.
///
/// # Errors
/// [`CsvError`] for a missing column or a cell that cannot be read.
pub fn matches_of(table: &Table) -> Result<Matches, CsvError> {
    let (player, opponent) = (table.column("player")?, table.column("opponent")?);
    let by_game = match table.find("wins") {
        Some(_) => None,
        None => Some((table.column("result")?, table.find("opening"))),
    };
    let mut matches = Matches::default();
    let mut waiting: BTreeMap<(usize, String), Outcome> = BTreeMap::new();
    for row in table.rows() {
        let names = [player, opponent].map(|column| table.cell(row, column, "a player's name", name));
        let [player, opponent] = names;
        let (player, opponent) = (player?, opponent?);
        let known = matches.list.iter().position(|m| m.player == player && m.opponent == opponent);
        let index = known.unwrap_or(matches.list.len());
        if known.is_none() {
            matches.list.push(Match { player, opponent, ..Match::default() });
        }
        let mut counted = Wdl::default();
        let mut pair = None;
        if let Some((result, opening)) = by_game {
            let outcome = table.cell(row, result, "a result: 1, 0.5 or 0", outcome)?;
            counted.add(outcome);
            let opening = opening.and_then(|column| row.1.get(column)).filter(|o| !o.is_empty());
            if let Some(opening) = opening {
                let key = (index, opening.clone());
                match waiting.remove(&key) {
                    Some(first) => pair = Some((first, outcome)),
                    None => drop(waiting.insert(key, outcome)),
                }
            }
        } else {
            let number = |column| table.cell(row, table.column(column)?, "a number of games", count);
            counted = Wdl::new(number("wins")?, number("draws")?, number("losses")?);
        }
        let entry = &mut matches.list[index];
        entry.games += counted;
        match pair {
            Some((first, second)) => {
                entry.pairs.add(first, second);
                entry.unpaired -= 1;
            }
            None => entry.unpaired += counted.games(),
        }
        matches.read += counted.games();
    }
    matches.used = matches.read;
    Ok(matches)
}

/// Shares in groups, as adoption rates of engines by rule: a table with the columns `group`, `name` and `share`.
///
/// # Errors
/// [`CsvError`] for a missing column, or a share that is not between 0 and 1.
pub fn shares_of(table: &Table) -> Result<Vec<(String, String, f64)>, CsvError> {
    let columns = (table.column("group")?, table.column("name")?, table.column("share")?);
    let share = |text: &str| text.parse().ok().filter(|s: &f64| (0.0..=1.0).contains(s));
    let row = |row| {
        let group = table.cell(row, columns.0, "a group's name", name)?;
        let name = table.cell(row, columns.1, "a name", name)?;
        Ok((group, name, table.cell(row, columns.2, "a share between 0 and 1", share)?))
    };
    table.rows().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_games_give_the_same() {
        let counts = "source,player,opponent,wins,draws,losses\nx,\"A, B\",C,2,1,1\n";
        let games = "player,opponent,result,opening\n\"A, B\",C,1,o1\n\"A, B\",C,win,o2\n\"A, B\",C,0,o1\n\n\"A, B\",C,0.5,o2\n";
        let read = |text| matches_of(&Table::parse(text, "t.csv")).unwrap();
        let (counts, games) = (read(counts), read(games));
        assert_eq!((counts.list[0].games, counts.list[0].player.as_str()), (Wdl::new(2, 1, 1), "A, B"));
        assert_eq!(games.list[0].games, counts.list[0].games);
        assert_eq!((games.list[0].pairs.counts, games.list[0].unpaired), ([0, 0, 1, 1, 0], 0));
        assert!(games.list[0].is_paired() && !counts.list[0].is_paired());
        assert_eq!((counts.read, counts.list[0].unpaired), (4, 4));
    }

    #[test]
    fn what_cannot_be_read_is_told_with_its_line() {
        let message = |text| matches_of(&Table::parse(text, "t.csv")).unwrap_err().to_string();
        assert!(message("player,opponent\nA,B\n").contains("no column 'result'"));
        assert!(message("").contains("no column 'player'"));
        assert_eq!(message("player,opponent,result\nA,B,1\nA,B,2\n"), "t.csv:3: '2' is not a result: 1, 0.5 or 0");
        assert_eq!(
            message("player,opponent,wins,draws,losses\nA,B,1,-2,0\n"),
            "t.csv:2: '-2' is not a number of games"
        );
        assert!(message("player,opponent,result\nA\n").contains("a player's name"));
        assert!(shares_of(&Table::parse("group,name,share\nA,B,1.5\n", "t.csv")).is_err());
        assert_eq!(shares_of(&Table::parse("group,name,share\nA,B,.5\n", "t")).unwrap()[0].2, 0.5);
    }
}
