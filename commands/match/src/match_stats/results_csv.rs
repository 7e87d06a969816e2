//! Results of matches from a CSV table, with the counts of a match or one game per row.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use csv::{ReaderBuilder, StringRecord, Trim};
use evalcurve_calibration::types::Outcome;
use evalcurve_records::csv_text::{self, first_line, line_of, separator};
use evalcurve_records::record::find::{Entry, SourceError, find};
use evalcurve_words::language::Text;
use evalcurve_words::text::{shortened, shown_path};
use thiserror::Error;

use super::counts::Wdl;
use super::results::{Match, Matches};
use super::spent::Spent;

/// Why a table cannot be read.
#[derive(Debug, Error, evalcurve_words::language::ToText)]
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
    /// Reads a CSV file: cells between commas, tabs or semicolons, those with separators in quotes; UTF-8, UTF-16,
    /// Shift_JIS or EUC-JP.
    ///
    /// # Errors
    /// [`CsvError`] if it cannot be read.
    pub fn read(path: &Path) -> Result<Self, CsvError> {
        let shown = shown_path(path);
        let text = csv_text::read(path).map_err(|problem| CsvError { place: shown.clone(), problem })?;
        Ok(Self::parse(&text, &shown))
    }

    /// Parses the text of a CSV file; `path` is its name in messages.
    pub fn parse(text: &str, path: &str) -> Self {
        let mut reader = ReaderBuilder::new();
        reader.flexible(true).trim(Trim::All).delimiter(separator(first_line(text)));
        let mut reader = reader.from_reader(text.as_bytes());
        // reading from memory cannot fail, and the text is UTF-8
        let header = reader.headers().cloned().unwrap_or_default();
        let rows = reader.into_records().flatten().filter(|row| row.len() > 1 || row.get(0) != Some(""));
        let rows = rows.map(|row| (line_of(&row, text), row)).collect();
        Self { path: path.to_owned(), header, rows }
    }

    /// Whether it has one game per row, with the opening that makes two of them a pair.
    pub fn has_pairs(&self) -> bool {
        ["player", "opponent", "result", "opening"].iter().all(|column| self.find(column).is_some())
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
}

/// What a column holds: the reason for which a row without it is skipped, and words.
type Wanted = (&'static str, &'static str);

const PLAYER: Wanted = ("bad_player", "a player's name");
const GAMES: Wanted = ("bad_count", "a number of games (0 to 1,000,000,000)");
const RESULT: Wanted = ("bad_result", "a result: 1, 0.5 or 0");

/// The cell of a row, converted by `parse`; else the reason, and what is wrong with the cell.
fn cell<'a, T>(
    row: &'a StringRecord,
    column: usize,
    (reason, words): Wanted,
    parse: impl Fn(&'a str) -> Option<T>,
) -> Result<T, (&'static str, String)> {
    let value = row.get(column).unwrap_or_default();
    parse(value).ok_or_else(|| (reason, format!("'{}' is not {words}", shortened(value, MOST_QUOTED))))
}

/// Characters of a cell that a message quotes.
const MOST_QUOTED: usize = 80;
/// Largest number of games in a cell. The sums over the largest file then fit.
const MOST_GAMES: u64 = 1_000_000_000;

fn name(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

fn count(text: &str) -> Option<u64> {
    text.parse().ok().filter(|n| *n <= MOST_GAMES)
}

fn outcome(text: &str) -> Option<Outcome> {
    match text.to_ascii_lowercase().as_str() {
        "1" | "1.0" | "win" => Some(Outcome::Win),
        "0.5" | ".5" | "1/2" | "draw" => Some(Outcome::Draw),
        "0" | "0.0" | "loss" => Some(Outcome::Loss),
        _ => None,
    }
}

/// The matches of all tables of results under `paths`: files and globs. See [`matches_of`].
///
/// # Errors
/// [`SourceError`] for a path that does not exist. Tables that cannot be read are counted and left out.
pub fn read_tables(paths: &[PathBuf]) -> Result<Matches, SourceError> {
    let mut all = Matches::default();
    for Entry { path, display, problem, .. } in find(paths)? {
        let Some(path) = path else { continue };
        let unread = |problem| Err(CsvError { place: display.clone(), problem });
        let read = problem.map_or_else(|| Table::read(&path), unread);
        match read.and_then(|table| matches_of(&table)) {
            Ok(matches) => all.append(matches),
            Err(error) => all.refuse("unreadable", &error.place, Text::same(error.problem)),
        }
    }
    Ok(all)
}

/// The columns of a table of results.
struct ResultColumns {
    player: usize,
    opponent: usize,
    counts: Counts,
}

enum Counts {
    /// Wins, draws and losses of a match.
    Match([usize; 3]),
    /// The result of one game, and perhaps its opening and its times.
    Game { result: usize, opening: Option<usize>, times: Option<[usize; 6]> },
}

/// The columns of `play` for the time of a game.
const TIMES: [&str; 6] = ["plies", "opening_plies", "player_ms", "opponent_ms", "player_cpu_ms", "opponent_cpu_ms"];

/// A row: the players, the games, and the outcome and opening if it is one game.
struct ResultRow<'a> {
    player: &'a str,
    opponent: &'a str,
    games: Wdl,
    of_opening: Option<(&'a str, Outcome)>,
    spent: Option<Spent>,
}

impl ResultColumns {
    fn of(table: &Table) -> Result<Self, CsvError> {
        let (player, opponent) = (table.column("player")?, table.column("opponent")?);
        let counts = match table.find("wins") {
            Some(wins) => Counts::Match([wins, table.column("draws")?, table.column("losses")?]),
            None => {
                let times: Vec<usize> = TIMES.iter().filter_map(|column| table.find(column)).collect();
                Counts::Game {
                    result: table.column("result")?,
                    opening: table.find("opening"),
                    times: times.try_into().ok(),
                }
            }
        };
        Ok(Self { player, opponent, counts })
    }

    /// A row, or the reason why it cannot be used and what is wrong.
    fn row<'a>(&self, row: &'a StringRecord) -> Result<ResultRow<'a>, (&'static str, String)> {
        let player = cell(row, self.player, PLAYER, name)?;
        let opponent = cell(row, self.opponent, PLAYER, name)?;
        if player == opponent {
            return Err(("same_player", format!("'{}' plays itself", shortened(player, MOST_QUOTED))));
        }
        let mut read = ResultRow { player, opponent, games: Wdl::default(), of_opening: None, spent: None };
        match self.counts {
            Counts::Match(columns) => {
                let [wins, draws, losses] = columns.map(|column| cell(row, column, GAMES, count));
                read.games = Wdl::new(wins?, draws?, losses?);
            }
            Counts::Game { result, opening, times } => {
                let outcome = cell(row, result, RESULT, outcome)?;
                read.games.add(outcome);
                let opening = opening.and_then(|column| row.get(column)).filter(|opening| !opening.is_empty());
                read.of_opening = opening.map(|opening| (opening, outcome));
                // a time that is no number is an unknown one
                let cells = times.map(|columns| columns.map(|column| row.get(column).and_then(count)));
                read.spent = cells.and_then(|[plies, opening, player, opponent, player_cpu, opponent_cpu]| {
                    Some(Spent {
                        plies: plies?.saturating_sub(opening?),
                        wall_ms: [player?, opponent?],
                        cpu_ms: player_cpu.zip(opponent_cpu).map(|(player, opponent)| [player, opponent]),
                    })
                });
            }
        }
        Ok(read)
    }
}

/// The matches of a table, in its order and view. Rows of the same player and opponent are added up. Two games of one
/// opening between two players are a pair, in the order of the table. A row with an invalid cell is counted and left
/// out.
///
/// # Errors
/// [`CsvError`] for a missing column.
pub fn matches_of(table: &Table) -> Result<Matches, CsvError> {
    let columns = ResultColumns::of(table)?;
    let mut matches = Matches::default();
    let mut known: HashMap<(&str, &str), usize> = HashMap::new();
    // the outcome of the first game of each pair
    let mut unpaired: BTreeMap<(usize, &str), Outcome> = BTreeMap::new();
    for (line, row) in &table.rows {
        matches.read += 1;
        let row = match columns.row(row) {
            Ok(row) => row,
            Err((reason, problem)) => {
                matches.skip(reason, &table.path, *line, &format!("{problem}; the row is skipped"));
                continue;
            }
        };
        matches.used += 1;
        let (player, opponent) = (row.player, row.opponent);
        let index = *known.entry((player, opponent)).or_insert(matches.list.len());
        if index == matches.list.len() {
            let (player, opponent) = (player.to_owned(), opponent.to_owned());
            matches.list.push(Match { player, opponent, spent: Some(Spent::default()), ..Match::default() });
        }
        let entry = &mut matches.list[index];
        entry.games += row.games;
        entry.unpaired += row.games.games();
        entry.spent = entry.spent.zip(row.spent).map(|(a, b)| a.and(b));
        if let Some((opening, outcome)) = row.of_opening {
            entry.openings.entry(opening.to_owned()).or_default().add(outcome);
            match unpaired.remove(&(index, opening)) {
                Some(first) => {
                    entry.pairs.add(first, outcome);
                    entry.unpaired -= 2;
                }
                None => drop(unpaired.insert((index, opening), outcome)),
            }
        }
    }
    for of in &mut matches.list {
        if of.openings.values().map(Wdl::games).sum::<u64>() < of.games.games() {
            of.openings.clear();
        }
    }
    Ok(matches)
}

/// Shares in groups, for example adoption rates of engines by rule: a table with the columns `group`, `name` and
/// `share`.
///
/// # Errors
/// [`CsvError`] for a missing column, or a share that is not between 0 and 1: without it, the others would mislead.
pub fn shares_of(table: &Table) -> Result<Vec<(String, String, f64)>, CsvError> {
    let columns = (table.column("group")?, table.column("name")?, table.column("share")?);
    let share = |text: &str| text.parse().ok().filter(|s: &f64| (0.0..=1.0).contains(s));
    let row = |(line, row): &(u64, StringRecord)| {
        let read = || {
            let group = cell(row, columns.0, ("bad_name", "a group's name"), name)?;
            let name = cell(row, columns.1, ("bad_name", "a name"), name)?;
            let share = cell(row, columns.2, ("bad_share", "a share between 0 and 1"), share)?;
            Ok((group.to_owned(), name.to_owned(), share))
        };
        let place = format!("{}:{line}", table.path);
        read().map_err(|(_, problem): (&str, String)| CsvError { place, problem })
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
        assert_eq!((counts.read, games.read, counts.list[0].unpaired), (1, 4, 4));
    }

    #[test]
    fn bad_rows_are_skipped_with_line_and_value() {
        let problems = |text| {
            let matches = matches_of(&Table::parse(text, "t.csv")).unwrap();
            assert_eq!(matches.read, matches.used + matches.skipped.values().sum::<u64>());
            let problems: Vec<String> = matches.problems.iter().map(ToString::to_string).collect();
            (matches.used, problems.join("\n"))
        };
        let result = "t.csv:3: bad result: '2' is not a result: 1, 0.5 or 0; the row is skipped";
        assert_eq!(problems("player,opponent,result\nA,B,1\nA,B,2\nA,B,0\n"), (2, result.to_owned()));
        let games = "t.csv:2: bad count: '-2' is not a number of games (0 to 1,000,000,000); the row is skipped";
        assert_eq!(problems("player,opponent,wins,draws,losses\nA,B,1,-2,0\n"), (0, games.to_owned()));
        let itself = "t.csv:2: same player: 'A' plays itself; the row is skipped";
        assert_eq!(problems("player,opponent,wins,draws,losses\nA,A,5,5,5\nA,B,1,0,0\n"), (1, itself.to_owned()));
        // blank lines and CRLF count; a cell may hold a line end
        let (_, problem) = problems("player,opponent,result\r\n\r\n  \r\nA,B,1\r\nA,B,x\r\n");
        assert!(problem.starts_with("t.csv:5: bad result: 'x'"), "{problem}");
        let (_, problem) = problems("player,opponent,result\n\"A\nA\",B,1\n\n\nA,B,x\n");
        assert!(problem.starts_with("t.csv:6: bad result: 'x'"), "{problem}");
        assert!(problems("player;opponent;result\nA;;1\nA;B\n").1.contains("a player's name"));
        let long = format!("player,opponent,result\nA,B,{}\n", "x".repeat(1_000_000));
        assert!(problems(&long).1.len() < 200);
    }

    #[test]
    fn tables_that_cannot_be_read_say_why() {
        let message = |text| {
            let read = matches_of(&Table::parse(text, "t.csv"));
            read.unwrap_err().to_string()
        };
        assert!(message("player,opponent\nA,B\n").contains("no column 'result'"));
        assert!(message("player,opponent,wins,losses\nA,B,1,1\n").contains("no column 'draws'"));
        assert!(message("").contains("no column 'player'"));
        let shares = |text| shares_of(&Table::parse(text, "t.csv"));
        let error = shares("group,name,share\nA,B,1.5\n").unwrap_err().to_string();
        assert_eq!(error, "t.csv:2: '1.5' is not a share between 0 and 1");
        assert_eq!(shares("group,name,share\nA,B,.5\n").unwrap()[0].2, 0.5);
    }
}
