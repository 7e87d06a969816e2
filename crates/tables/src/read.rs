//! Reads tables into one sample table, one by one: shards from several machines, or the output of another tool.

use std::collections::{BTreeMap, HashMap, HashSet};

use evalcurve_calibration::types::{Color, Outcome};
use evalcurve_records::record::{GameHash, OddityKind, SkipReason};
use evalcurve_records::sample::alias::matches_glob;
use evalcurve_records::sample::collect::{PositionCount, Problem, ProblemKind};
use evalcurve_records::sample::{Duplicates, Sample, SampleTable};
use evalcurve_words::language::Text;
use evalcurve_words::text;
use evalcurve_words::text::shortened;

use super::columns::{Columns, Role, ScoreUnit};
use super::copies::{Copies, drop_copies};
use super::duplicates::{Removed, TableFile, settle};
use super::game::{self, GameKey, KnownGame, Sides, key};
use super::row::{Row, engine, game_id, parse};
use super::source::Source;
use super::two_games::split;
use super::{MOST_QUOTED, TableError};

/// Largest plausible material: a queen on each square.
const MOST_MATERIAL: u16 = 9 * 64;

/// Largest line number: a float holds larger ones only roughly.
const MOST_LINE: f64 = 9_007_199_254_740_992.0;

/// Percent of the comments of games that may be unread, as in the report of `sample`: prose has numbers, too.
const MOST_UNREAD: u64 = 5;

/// Problems of each kind that are reported for one file.
const SHOWN: u64 = 20;

#[derive(Debug, Clone, Default)]
pub struct TableOptions {
    /// The columns with other names.
    pub columns: Columns,
    /// The unit of scores, of all engines or of those that a glob names; the last that fits counts.
    pub units: Vec<(Option<String>, ScoreUnit)>,
    /// The engine of tables without a column for it.
    pub engine: Option<String>,
    /// Leave rows of earlier plies out, if their ply is known.
    pub from_ply: Option<u32>,
    /// Leave rows of drawn games out.
    pub drop_draws: bool,
    /// What makes two games one. In a table, equal rows stand for equal moves.
    pub duplicates: Duplicates,
}

impl TableOptions {
    /// The unit of an engine's scores.
    pub(super) fn unit(&self, engine: &str) -> ScoreUnit {
        let fits = |of: &Option<String>| of.as_ref().is_none_or(|glob| matches_glob(glob, engine));
        self.units.iter().rev().find(|(of, _)| fits(of)).map_or_else(ScoreUnit::default, |(_, unit)| *unit)
    }
}

/// Adds tables to a sample table, file by file.
#[derive(Debug)]
pub struct TableReader<'a> {
    table: &'a mut SampleTable,
    options: TableOptions,
    /// Games by identity.
    known: HashMap<GameKey, KnownGame>,
    files: Vec<TableFile>,
    /// The contents of the files whose samples have no keys.
    contents: HashSet<u64>,
    /// Problems, in the order of reading.
    pub problems: Vec<Problem>,
    /// Files without a column for games, whose rows count as independent.
    pub without_games: Vec<String>,
    /// Counts of the rows of all files.
    pub count: PositionCount,
    /// Games that are copies of others, and do not count.
    pub copies: u64,
}

/// Calls `use_row` with each row and its number, from 0, where the row has the columns of some roles.
fn each_row(
    table: &dyn Source,
    columns: &Columns,
    roles: &[Role],
    mut use_row: impl FnMut(&Row<'_>, usize),
) -> Result<(), Text> {
    let names = table.names();
    for rows in table.parts() {
        let named = roles.iter().filter_map(|role| Some((*role, columns.find(*role, &names)?)));
        let cells = named.map(|(role, name)| Ok((role, table.part(name, role.kind(), &rows)?)));
        let mut row = Row { columns: cells.collect::<Result<_, Text>>()?, row: 0 };
        for index in rows.clone() {
            row.row = index - rows.start;
            use_row(&row, index);
        }
    }
    Ok(())
}

/// The first required role without a column.
fn missing(options: &TableOptions, existing: &[&str]) -> Option<Role> {
    let required = [Role::Engine, Role::Score, Role::Result];
    let needed = required.into_iter().filter(|role| *role != Role::Engine || options.engine.is_none());
    needed.into_iter().find(|role| options.columns.find(*role, existing).is_none())
}

/// Whether a table with these columns holds samples.
pub fn holds_samples(names: &[&str], options: &TableOptions) -> bool {
    missing(options, names).is_none()
}

impl<'a> TableReader<'a> {
    /// Makes a reader that appends rows to `table`.
    pub fn new(table: &'a mut SampleTable, options: TableOptions) -> Self {
        let recorded = |s: &Sample| Some((key(table, s)?, KnownGame { index: s.game, sides: Sides::Recorded }));
        let known = table.samples.iter().filter_map(recorded).collect();
        Self {
            table,
            options,
            known,
            files: Vec::new(),
            contents: HashSet::new(),
            problems: Vec::new(),
            without_games: Vec::new(),
            count: PositionCount::default(),
            copies: 0,
        }
    }

    /// Adds the rows of a table, whose name is for messages and for the source of its samples.
    ///
    /// # Errors
    /// [`TableError`] for a table that lacks a column or has one of an unsupported type. Single bad rows are reported
    /// and skipped.
    pub fn add(&mut self, table: &dyn Source, name: &str) -> Result<(), TableError> {
        self.require(name, &table.names())?;
        self.rows(table, name).map_err(|problem| TableError::new(name, problem))
    }

    /// Gives the samples without a colour that of their engine, where other rows or a record of the game say it. Then
    /// removes samples that are in another input, too. Call it after the last table.
    pub fn finish(&mut self) {
        for game in self.known.values().filter(|game| game.sides == Sides::Open) {
            if let Some(game) = self.table.games.get_mut(game.index as usize) {
                game.without_colors = true;
            }
        }
        for sample in &mut self.table.samples {
            let Some(game) = self.table.games.get(sample.game as usize) else { continue };
            let has_opponent = !self.table.names.get(sample.opponent).is_empty();
            let plays = |color: Color| has_opponent && game.players[color.index()] == sample.engine;
            if !plays(sample.color) && plays(sample.color.opponent()) {
                sample.color = sample.color.opponent();
            }
        }
        let files = std::mem::take(&mut self.files);
        let records = files.first().map_or(self.table.samples.len(), |file| file.samples.start);
        for (place, name, own) in split(self.table, &files, records) {
            let value = text!("{name} plays chess and another game: in chess it counts as '{own}'");
            let source = files.get(place).map_or_else(String::new, |file| file.name.clone());
            self.problems.push(Problem { source, line: 0, kind: OddityKind::SameName.into(), value, is_error: false });
        }
        let mut chess: Vec<bool> = (records > 0).then_some(self.table.chess).into_iter().collect();
        for (file, removed) in files.iter().zip(settle(self.table, &files)) {
            if file.samples.len() as u64 > removed.rows {
                chess.push(file.chess);
            }
            self.report_duplicates(&removed, &file.name);
        }
        if self.options.duplicates == Duplicates::ByMoves {
            self.drop_copies(records);
        }
        if !chess.is_empty() {
            // of several inputs, all must be chess
            self.table.chess = chess.into_iter().all(|is_chess| is_chess);
        }
    }

    /// Checks that the required columns exist, and those that the user named.
    fn require(&self, file: &str, existing: &[&str]) -> Result<(), TableError> {
        let columns = &self.options.columns;
        if columns.given(Role::Score).is_none() && ["score_cp", "score"].iter().all(|name| existing.contains(name)) {
            let problem = text!(
                "both score_cp and score are columns; choose with `column` score=score_cp or `column` score=score"
            );
            return Err(TableError::new(file, problem));
        }
        let given = |role: Role| columns.given(role).filter(|name| !name.is_empty());
        let is_missing = |role: Role| given(role).is_some() && columns.find(role, existing).is_none();
        let roles = [missing(&self.options, existing), Role::ALL.iter().copied().find(|role| is_missing(*role))];
        let Some(role) = roles.into_iter().flatten().min() else { return Ok(()) };
        let word = role.as_str();
        let remedy = match (given(role), role) {
            (Some(_), _) => {
                text!("`column` {word}=… must name one of these")
            }
            (None, Role::Engine) => {
                text!("name it with `column` engine=NAME, or give all rows one engine with `annotator`")
            }
            (None, _) => text!("name it with `column` {word}=NAME"),
        };
        let column = given(role).unwrap_or(if role == Role::Score { "score_cp" } else { word });
        let found = shortened(&existing.join(", "), MOST_QUOTED);
        Err(TableError::new(
            file,
            text!("no column '{column}'; a table needs engine, score_cp and result (found: {found}); {remedy}"),
        ))
    }

    fn rows(&mut self, table: &dyn Source, file: &str) -> Result<(), Text> {
        let columns = &self.options.columns;
        let has = |role| columns.find(role, &table.names()).is_some();
        // by content: the identity of a row without a game, and with it its fold, must not depend on the order of the
        // files
        let mut file_key = 0;
        each_row(table, columns, &[Role::Score, Role::Result], |row, _| {
            let [score, result] = [Role::Score, Role::Result].map(|role| row.number(role).map_or(0, f64::to_bits));
            file_key = evalcurve_words::random::bits(&[file_key, score, result]);
        })?;
        if !has(Role::Game) {
            self.table.rows_as_games = true;
            self.without_games.push(file.to_owned());
        }
        // without these columns, equal keys do not mean equal samples
        let has_keys = [Role::Game, Role::Color, Role::Window].into_iter().all(has);
        if !has_keys {
            let mut hash = GameHash::default();
            each_row(table, columns, Role::ALL, |row, _| row.add_to(&mut hash))?;
            if !self.contents.insert(hash.digest()) {
                let rows = table.height() as u64;
                self.count.read += rows;
                let value = text!("the file has the same rows as another; its {rows} rows are skipped");
                self.skip(SkipReason::Duplicate, rows, (file, 0), value);
                return Ok(());
            }
        }
        let first_sample = self.table.samples.len();
        self.table.samples.reserve(table.height());
        let (mut chess, mut unread) = (false, 0);
        let mut shown: BTreeMap<&'static str, u64> = BTreeMap::new();
        let mut lines = Vec::new();
        let mut done = 0;
        let read = each_row(table, columns, Role::ALL, |row, index| {
            done += 1;
            let row_line = table.line(index);
            let parsed = match parse(row, &self.options) {
                Ok(parsed) => parsed,
                Err(bad) => {
                    *self.count.skipped.entry(bad.kind).or_default() += 1;
                    let shown = shown.entry(bad.kind).or_default();
                    *shown += 1;
                    if *shown <= SHOWN {
                        let (value, wanted) = (&bad.value, &bad.wanted);
                        let value = text!("'{value}' is not {wanted}; the row is skipped");
                        let (source, kind) = (file.to_owned(), ProblemKind::Other(bad.kind));
                        self.problems.push(Problem { source, line: row_line, kind, value, is_error: true });
                    }
                    return;
                }
            };
            let is_early = row.has(Role::Ply) && self.options.from_ply.is_some_and(|from| parsed.ply < from);
            let is_dropped = self.options.drop_draws && parsed.outcome == Outcome::Draw;
            if is_early || is_dropped {
                let reason = if is_dropped { SkipReason::Draw } else { SkipReason::Filtered };
                *self.count.skipped.entry(reason.as_str()).or_default() += 1;
                return;
            }
            let id = match row.name(Role::Game) {
                Some(text) => game_id(text),
                None => evalcurve_words::random::bits(&[file_key, index as u64]),
            };
            let engine = self.table.names.intern(engine(row, &self.options));
            let opponent = row.name(Role::Opponent).map(|name| self.table.names.intern(name));
            // in a table with opponents, an engine without one annotates the game of others
            let annotator = (opponent.is_none() && row.has(Role::Opponent)).then_some(engine);
            let key = (id, annotator);
            let (info, sides) = game::of_row(&mut self.table.names, row, key, &parsed, (engine, opponent), file);
            let games = &mut self.table.games;
            let new = || {
                games.push(info.clone());
                KnownGame { index: games.len() as u32 - 1, sides }
            };
            unread += u64::from(info.unread);
            let known = self.known.entry(key).or_insert_with(new);
            let game = known.index;
            if let Some(joined) = self.table.games.get_mut(game as usize) {
                game::join(joined, &mut known.sides, &info, sides, &self.table.names);
            }
            if has_keys {
                lines.push(row_line);
            }
            self.table.bradley_terry |= row.is_true(Role::BradleyTerry);
            let line = row.number(Role::Line).filter(|n| (0.0..=MOST_LINE).contains(n)).map_or(row_line, |n| n as u64);
            let opponent = opponent.unwrap_or_else(|| self.table.names.intern(""));
            let material = row.number_up_to(Role::Material, MOST_MATERIAL.into()).map(|n| n as u16);
            chess |= material.is_some() || row.is_true(Role::Chess);
            self.table.samples.push(Sample {
                game,
                engine,
                opponent,
                color: parsed.color,
                ply: parsed.ply,
                window: parsed.window,
                score_cp: parsed.score_cp,
                reply_cp: row
                    .number(Role::ReplyCp)
                    .and_then(|cp| self.options.unit(row.name(Role::Opponent).unwrap_or_default()).centipawns(cp))
                    .map(|(cp, _)| cp),
                declared: row.declared(),
                mate: parsed.mate || row.is_true(Role::Mate),
                outcome: parsed.outcome,
                material,
                line,
            });
        });
        if let Err(problem) = read {
            if done == 0 {
                return Err(problem);
            }
            let rows = (table.height() - done) as u64;
            let value = text!("{rows} rows from here on cannot be read and are skipped: {problem}");
            self.skip(SkipReason::BrokenRecord, rows, (file, table.line(done)), value);
        }
        self.count.read += table.height() as u64;
        let samples = first_sample..self.table.samples.len();
        self.count.used += samples.len() as u64;
        let unread = unread / samples.len().max(1) as u64;
        if unread >= MOST_UNREAD {
            let value = text!(
                "in the games of these rows {unread}% of what looks like a score was not read when they were sampled; \
                 sample the records again, and read its message on comments"
            );
            let (source, kind) = (file.to_owned(), OddityKind::UnreadComment.into());
            self.problems.push(Problem { source, line: 0, kind, value, is_error: false });
        }
        self.files.push(TableFile { name: file.to_owned(), samples, lines, chess });
        Ok(())
    }

    /// Counts rows that are skipped, with a problem if there are any.
    fn skip(&mut self, kind: SkipReason, rows: u64, (file, line): (&str, u64), value: Text) {
        if rows > 0 {
            *self.count.skipped.entry(kind.as_str()).or_default() += rows;
            let (source, is_error) = (file.to_owned(), kind == SkipReason::BrokenRecord);
            self.problems.push(Problem { source, line, kind: kind.into(), value, is_error });
        }
    }

    /// Removes the games that have the rows of another one, with a problem. The samples of tables begin at `from`.
    fn drop_copies(&mut self, from: usize) {
        let Some(Copies { games, rows, file, line }) = drop_copies(self.table, from) else { return };
        self.count.used -= rows;
        let value = text!(
            "{games} games ({rows} rows) have the moves of another game, or its engines, plies, scores and results; it \
             counts once (`duplicates` by-identity: every game counts)"
        );
        self.copies = games;
        self.skip(SkipReason::SameMoves, rows, (&file, line), value);
    }

    /// Counts what was removed of a file, with a problem.
    fn report_duplicates(&mut self, removed: &Removed, file: &str) {
        let (rows, differ) = (removed.rows, removed.differ);
        self.count.used -= rows;
        let mut value = text!("{rows} rows of games and windows that another input has, too, are skipped");
        if differ > 0 {
            let files: Vec<&str> = removed.instead.iter().map(String::as_str).collect();
            let files = shortened(&files.join(", "), MOST_QUOTED);
            value.push(&text!("; {differ} windows have other values in {files}, which counts: remove the wrong file"));
        }
        self.skip(SkipReason::Duplicate, rows, (file, removed.line), value);
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::*;
    use crate::{CellKind, Cells, CsvTable};

    /// Two parts of two rows. The engines of the second one cannot be read.
    #[derive(Debug)]
    struct HalfDamaged(CsvTable);

    impl Source for HalfDamaged {
        fn names(&self) -> Vec<&str> {
            self.0.names()
        }

        fn height(&self) -> usize {
            self.0.height()
        }

        fn parts(&self) -> Vec<Range<usize>> {
            vec![0..2, 2..4]
        }

        fn cells(&self, name: &str, kind: CellKind) -> Result<Box<dyn Cells + '_>, Text> {
            self.0.cells(name, kind)
        }

        fn part(&self, name: &str, kind: CellKind, rows: &Range<usize>) -> Result<Box<dyn Cells + '_>, Text> {
            if name == "engine" && rows.start > 0 { Err(Text::same("damaged")) } else { self.cells(name, kind) }
        }
    }

    #[test]
    fn rows_before_a_damaged_part_are_used() {
        let text = format!("engine,score_cp,result,game,color,window\n{}", "A,1,1,A,black,1\n".repeat(4));
        let (mut table, file) = (SampleTable::default(), CsvTable::read(text.as_bytes(), "file").unwrap());
        let mut reader = TableReader::new(&mut table, TableOptions::default());
        reader.add(&HalfDamaged(file), "file").unwrap();
        assert_eq!((reader.count.read, reader.count.used, reader.count.skipped["broken_record"]), (4, 2, 2));
        let problem = &reader.problems[0];
        assert_eq!((problem.line, problem.is_error, reader.problems.len()), (3, true, 1));
        assert!(problem.value.to_string().starts_with("2 rows from here on cannot be read"), "{}", problem.value);
    }
}
