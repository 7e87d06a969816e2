//! The table of results, one row per game, as this program writes it.

use std::collections::HashSet;

use csv::{ByteRecord, ErrorKind};
use evalcurve_calibration::types::{Color, Outcome, Termination};
use evalcurve_words::text::{plain_types, shortened};
use serde::{Deserialize, Serialize};

use crate::play::record::{self, Claim};
use crate::play::tournament::Tournament;

/// A finished game, as `results.csv` has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GameRow {
    /// Number of the pair in the tournament, from 1.
    pub pair: u32,
    /// 1, or 2 with colours swapped.
    pub game: u8,
    /// The first engine of the encounter.
    pub player: String,
    /// The second engine of the encounter.
    pub opponent: String,
    /// Number of the opening, from 1.
    pub opening: u32,
    /// The colour of the player.
    pub colour: Color,
    /// The result for the player.
    pub result: Outcome,
    /// Why the game ended.
    pub termination: String,
    /// What happened, for faults.
    pub detail: String,
    /// Moves played, those of the opening included.
    pub plies: u32,
    /// Moves of the opening, which no engine searched.
    pub opening_plies: u32,
    /// A number for the start position and the moves: games with the same one are the same game.
    pub moves: u64,
    /// The time that the player used for its moves.
    pub player_ms: u64,
    /// The time that the opponent used for its moves.
    pub opponent_ms: u64,
    /// The processor time of the player in the game, with that of everything that it started; `None` where the system
    /// does not tell it.
    pub player_cpu_ms: Option<u64>,
    /// The same of the opponent.
    pub opponent_cpu_ms: Option<u64>,
    /// Where the record of the game begins in the file of records, in bytes.
    pub from: u64,
    /// The byte after the record.
    pub to: u64,
}

impl GameRow {
    /// The place of the encounter among the encounters of the tournament.
    pub(crate) fn encounter(&self, encounters: usize) -> usize {
        (self.pair.saturating_sub(1) as usize) % encounters.max(1)
    }

    /// Why the game ended.
    pub fn termination(&self) -> Termination {
        self.termination.parse().unwrap_or(Termination::Unknown)
    }

    /// What the record of the game must say, too.
    fn claim(&self) -> Claim<'_> {
        let winner = match self.result {
            Outcome::Win => Some(self.colour),
            Outcome::Loss => Some(self.colour.opponent()),
            Outcome::Draw => None,
        };
        let names = match self.colour {
            Color::Black => [&*self.player, &*self.opponent],
            Color::White => [&*self.opponent, &*self.player],
        };
        let (termination, round) = (self.termination(), (self.opening, u32::from(self.game)));
        Claim { names, winner, termination, plies: self.plies, round }
    }

    /// What the row says otherwise than the tournament, whose pairs have fixed places, or than the record of the game.
    pub(super) fn problem(&self, tournament: &Tournament, record: &str) -> Option<String> {
        let encounters = tournament.encounters();
        if let Some(&(first, second)) = encounters.get(self.encounter(encounters.len())) {
            let [first, second] = [first, second].map(|place| tournament.engines[place].name.as_str());
            let (pair, round) = (self.pair, self.pair.saturating_sub(1) / encounters.len() as u32 + 1);
            if (self.player.as_str(), self.opponent.as_str(), self.opening) != (first, second, round) {
                return Some(format!("pair {pair} is that of '{first}' and '{second}' with opening {round}"));
            }
        }
        let (read, written) = (self.termination(), &self.termination);
        if read.to_string() != *written {
            return Some(format!("termination is '{}': not a word for the end of a game", shortened(written, QUOTED)));
        }
        record::difference(tournament.game, &self.claim(), record)
    }
}

/// The columns.
const HEAD: &str = "pair,game,player,opponent,opening,colour,result,termination,detail,\
                    plies,opening_plies,moves,player_ms,opponent_ms,player_cpu_ms,opponent_cpu_ms,from,to";

fn columns() -> ByteRecord {
    HEAD.split(',').collect::<Vec<_>>().into()
}

/// The longest value of a table that a message quotes, in characters.
const QUOTED: usize = 200;

/// What this program did not write in a table of results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TableError {
    /// The line, from 1.
    pub line: u64,
    pub problem: String,
}

/// The table of some games.
pub(super) fn csv_text(rows: &[GameRow], with_head: bool) -> String {
    let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
    for row in rows {
        // writing to memory does not fail
        let _ = writer.serialize(row);
    }
    let rows = writer.into_inner().unwrap_or_default();
    let head = if with_head { format!("{HEAD}\n") } else { String::new() };
    head + &String::from_utf8_lossy(&rows)
}

/// The games of a table. The end of a run in the middle of a write leaves an incomplete row at the end, or the first
/// game of a pair without the second. They are left out, and nothing else is. A row that ends where the records end,
/// whose length is given, is complete: only its line break is missing.
///
/// # Errors
/// The first line that is not as this program writes it. The rows have their lines.
pub(super) fn whole_pairs(text: &[u8], length: Option<u64>) -> Result<Vec<(u64, GameRow)>, TableError> {
    let mut reader = csv::ReaderBuilder::new().flexible(true).has_headers(false).from_reader(text);
    let mut records: Vec<ByteRecord> = Vec::new();
    for record in reader.byte_records() {
        records.push(record.map_err(|e| TableError { line: 1, problem: e.to_string() })?);
    }
    let Some((head, mut rest)) = records.split_first() else { return Ok(Vec::new()) };
    let columns = columns();
    if *head != columns {
        let found = head.iter().map(String::from_utf8_lossy).collect::<Vec<_>>().join(",");
        let problem = format!("the columns are '{}', and not '{HEAD}'", shortened(&found, QUOTED));
        return Err(TableError { line: 1, problem });
    }
    // a row ends with a number: a line break in its last cell is one of a text that has no end
    let breaks = |record: &ByteRecord| record.iter().next_back().is_some_and(|cell| cell.ends_with(b"\n"));
    if let Some((last, before)) = rest.split_last()
        && (!text.ends_with(b"\n") || last.len() < columns.len() && breaks(last))
        && !row(last).is_ok_and(|row| Some(row.to) == length)
    {
        rest = before;
    }
    let mut rows: Vec<(u64, GameRow)> = Vec::new();
    for record in rest {
        let line = record.position().map_or(1, csv::Position::line);
        rows.push((line, row(record).map_err(|problem| TableError { line, problem })?));
    }
    rows.truncate(rows.len() - usize::from(rows.len() % 2 == 1 && rows.last().is_some_and(|(_, row)| row.game == 1)));
    check_pairs(&rows)?;
    Ok(rows)
}

/// The game of a row, or why it has no game.
fn row(record: &ByteRecord) -> Result<GameRow, String> {
    let columns = columns();
    if record.len() != columns.len() {
        return Err(format!("the row has {} cells instead of {}", record.len(), columns.len()));
    }
    let row: GameRow = record.deserialize(Some(&columns)).map_err(|error| match error.kind() {
        ErrorKind::Deserialize { err, .. } => {
            let at = err.field().and_then(|at| usize::try_from(at).ok()).unwrap_or_default();
            let [column, cell] = [columns.get(at), record.get(at)]
                .map(|text| shortened(&String::from_utf8_lossy(text.unwrap_or_default()), QUOTED));
            format!("{column} is '{cell}': {}", plain_types(&err.kind().to_string()))
        }
        _ => error.to_string(),
    })?;
    if row.from > row.to {
        return Err(format!("from is {} and to is {}, so that the record ends before it begins", row.from, row.to));
    }
    Ok(row)
}

/// Two rows that follow each other are the games of a pair, no pair occurs twice, and each game has its own record.
fn check_pairs(rows: &[(u64, GameRow)]) -> Result<(), TableError> {
    let mut known = HashSet::new();
    for pair in rows.chunks(2) {
        let (line, first) = &pair[0];
        let second = pair.get(1).map(|(_, row)| (row.pair, row.game));
        let problem = if first.game != 1 || second != Some((first.pair, 2)) {
            format!("game {} of pair {} is not in two lines with the other game of this pair", first.game, first.pair)
        } else if !known.insert(first.pair) {
            format!("pair {} is there twice", first.pair)
        } else {
            continue;
        };
        return Err(TableError { line: *line, problem });
    }
    let mut in_file: Vec<&(u64, GameRow)> = rows.iter().collect();
    in_file.sort_by_key(|(_, row)| (row.from, row.to));
    match in_file.windows(2).find(|two| two[1].1.from < two[0].1.to) {
        Some(two) => {
            let problem = format!("the record from byte {} is a part of another game, too", two[1].1.from);
            Err(TableError { line: two[1].0, problem })
        }
        None => Ok(()),
    }
}
