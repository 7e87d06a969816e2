//! Results of matches from a CSV table, with the counts of a match or one game per row.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use csv::{ReaderBuilder, StringRecord, Trim};
use thiserror::Error;

use super::counts::Wdl;
use super::results::{Match, Matches};
use evalcurve_core::types::Outcome;

/// Why a table cannot be read.
#[derive(Debug, Error)]
#[error("{place}: {problem}")]
pub struct CsvError {
    /// The file, and the line from 1 if one is to blame.
    pub place: String,
    /// The value, and what was expected.
    pub problem: String,
}

/// A CSV table with a header.
#[derive(Debug, Clone, Default)]
pub struct Table {
    path: String,
    header: StringRecord,
    /// Line from 1, and the cells.
    rows: Vec<(u64, StringRecord)>,
}

impl Table {
    /// Reads a CSV file: UTF-8, commas, a header, cells with commas in quotes.
    ///
    /// # Errors
    /// [`CsvError`] if it cannot be read.
    pub fn read(path: &Path) -> Result<Self, CsvError> {
        let shown = path.to_string_lossy().replace('\\', "/");
        let text = std::fs::read_to_string(path)
            .map_err(|error| CsvError { place: shown.clone(), problem: error.to_string() })?;
        Ok(Self::parse(&text, &shown))
    }

    /// Parses the text of a CSV file; `path` is its name in messages.
    pub fn parse(text: &str, path: &str) -> Self {
        let text = text.trim_start_matches('\u{feff}');
        let mut reader = ReaderBuilder::new().flexible(true).trim(Trim::All).from_reader(text.as_bytes());
        // reading from memory cannot fail, and the text is UTF-8
        let header = reader.headers().cloned().unwrap_or_default();
        let rows = reader.into_records().flatten().filter(|row| row.len() > 1 || row.get(0) != Some(""));
        let rows = rows.map(|row| (line_of(&row, text), row)).collect();
        Self { path: path.to_owned(), header, rows }
    }

    fn find(&self, column: &str) -> Option<usize> {
        self.header.iter().position(|c| c.eq_ignore_ascii_case(column))
    }

    /// The index of a required column.
    ///
    /// # Errors
    /// [`CsvError`] if it is missing.
    pub fn column(&self, column: &'static str) -> Result<usize, CsvError> {
        let problem = || {
            format!(
                "no column '{column}'; a table of results has player, opponent and either wins, draws, losses or \
                 result (1, 0.5, 0), and may have opening"
            )
        };
        self.find(column).ok_or_else(|| CsvError { place: self.path.clone(), problem: problem() })
    }

    /// The cell of a row, converted by `parse`.
    fn cell<T>(
        &self,
        (line, row): &(u64, StringRecord),
        column: usize,
        wanted: &'static str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<T, CsvError> {
        let value = row.get(column).unwrap_or_default();
        parse(value).ok_or_else(|| CsvError {
            place: format!("{}:{line}", self.path),
            problem: format!("'{value}' is not {wanted}"),
        })
    }
}

/// The line of a row from 1. Its position may be that of line ends before it, which the reader skips.
fn line_of(row: &StringRecord, text: &str) -> u64 {
    let Some(position) = row.position() else { return 0 };
    let before = text.bytes().skip(position.byte() as usize).take_while(|b| matches!(b, b'\r' | b'\n'));
    position.line() + before.filter(|b| *b == b'\n').count() as u64
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

/// The matches of a table, in its order and view. Rows of the same player and opponent are added up. Two games of one
/// opening between two players are a pair, in the order of the table.
///
/// # Errors
/// [`CsvError`] for a missing column or an invalid cell.
pub fn matches_of(table: &Table) -> Result<Matches, CsvError> {
    let (player, opponent) = (table.column("player")?, table.column("opponent")?);
    let by_game = match table.find("wins") {
        Some(_) => None,
        None => Some((table.column("result")?, table.find("opening"))),
    };
    let mut matches = Matches::default();
    let mut known: HashMap<(String, String), usize> = HashMap::new();
    // the outcome of the first game of each pair
    let mut unpaired: BTreeMap<(usize, &str), Outcome> = BTreeMap::new();
    for row in &table.rows {
        let player = table.cell(row, player, "a player's name", name)?;
        let opponent = table.cell(row, opponent, "a player's name", name)?;
        let index = *known.entry((player.clone(), opponent.clone())).or_insert(matches.list.len());
        if index == matches.list.len() {
            matches.list.push(Match { player, opponent, ..Match::default() });
        }
        let entry = &mut matches.list[index];
        let mut counted = Wdl::default();
        if let Some((result, opening)) = by_game {
            let outcome = table.cell(row, result, "a result: 1, 0.5 or 0", outcome)?;
            counted.add(outcome);
            entry.unpaired += 1;
            if let Some(opening) = opening.and_then(|column| row.1.get(column)).filter(|o| !o.is_empty()) {
                match unpaired.remove(&(index, opening)) {
                    Some(first) => {
                        entry.pairs.add(first, outcome);
                        entry.unpaired -= 2;
                    }
                    None => drop(unpaired.insert((index, opening), outcome)),
                }
            }
        } else {
            let number = |column| table.cell(row, table.column(column)?, "a number of games", count);
            counted = Wdl::new(number("wins")?, number("draws")?, number("losses")?);
            entry.unpaired += counted.games();
        }
        entry.games += counted;
        matches.read += counted.games();
    }
    matches.used = matches.read;
    Ok(matches)
}

/// Shares in groups, for example adoption rates of engines by rule: a table with the columns `group`, `name` and
/// `share`.
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
    table.rows.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_games_give_the_same() {
        let counts = "source,player,opponent,wins,draws,losses\nx,\"A, B\",C,2,1,1\n";
        let games = "player,opponent,result,opening\n\"A, B\",C,1,o1\n\"A, B\",C,win,o2\n\
                     \"A, B\",C,0,o1\n\n\"A, B\",C,0.5,o2\n";
        let read = |text| matches_of(&Table::parse(text, "t.csv")).unwrap();
        let (counts, games) = (read(counts), read(games));
        assert_eq!((counts.list[0].games, counts.list[0].player.as_str()), (Wdl::new(2, 1, 1), "A, B"));
        assert_eq!(games.list[0].games, counts.list[0].games);
        assert_eq!((games.list[0].pairs.counts, games.list[0].unpaired), ([0, 0, 1, 1, 0], 0));
        assert!(games.list[0].is_paired() && !counts.list[0].is_paired());
        assert_eq!((counts.read, counts.list[0].unpaired), (4, 4));
    }

    #[test]
    fn errors_have_a_line_and_a_value() {
        let message = |text| matches_of(&Table::parse(text, "t.csv")).unwrap_err().to_string();
        assert!(message("player,opponent\nA,B\n").contains("no column 'result'"));
        assert!(message("").contains("no column 'player'"));
        assert_eq!(message("player,opponent,result\nA,B,1\nA,B,2\n"), "t.csv:3: '2' is not a result: 1, 0.5 or 0");
        assert_eq!(
            message("player,opponent,wins,draws,losses\nA,B,1,-2,0\n"),
            "t.csv:2: '-2' is not a number of games"
        );
        // blank lines and CRLF count; a cell may hold a line end
        assert!(message("player,opponent,result\r\n\r\n  \r\nA,B,1\r\nA,B,x\r\n").starts_with("t.csv:5: 'x'"));
        assert!(message("player,opponent,result\n\"A\nA\",B,1\n\n\nA,B,x\n").starts_with("t.csv:6: 'x'"));
        assert!(message("player,opponent,result\nA\n").contains("a player's name"));
        assert!(shares_of(&Table::parse("group,name,share\nA,B,1.5\n", "t.csv")).is_err());
        assert_eq!(shares_of(&Table::parse("group,name,share\nA,B,.5\n", "t")).unwrap()[0].2, 0.5);
    }
}
