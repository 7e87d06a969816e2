//! Tables read into one, a file after the other: shards from many machines, or the output of another tool.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs::File;
use std::io::Read;
use std::path::Path;

use polars::prelude::{
    ArrowDataType, Column, CsvEncoding, CsvParseOptions, CsvReadOptions, DataFrame, DataType, ParallelStrategy,
    ParquetReader, SerReader,
};

use super::TableError;
use super::columns::{self, Columns, ResultWord, Role, ScoreUnit};
use crate::record::{SkipReason, StartTime};
use crate::sample::collect::{PositionCount, Problem};
use crate::sample::{GameInfo, Sample, SampleTable};
use crate::types::{Color, Outcome, Termination};

/// A queen on each square: what is more is no count of material.
const MOST_MATERIAL: u16 = 9 * 64;

/// Problems of each kind that are told of one file.
const SHOWN: u64 = 20;

/// How tables are read.
#[derive(Debug, Clone, Default)]
pub struct TableOptions {
    /// Columns by other names.
    pub columns: Columns,
    /// The unit of scores.
    pub unit: ScoreUnit,
    /// The engine, where a table has no column for it.
    pub engine: Option<String>,
    /// Threads at work.
    pub threads: usize,
}

/// Adds tables to one, file by file.
#[derive(Debug)]
pub struct TableReader<'a> {
    table: &'a mut SampleTable,
    options: TableOptions,
    /// Games by identity.
    known: HashMap<u64, u32>,
    /// Samples of the files before this one, where a game, a side and a window tell them apart.
    before: HashSet<(u64, Color, u32)>,
    /// What was odd, in the order of reading.
    pub problems: Vec<Problem>,
    /// Files without a column for games, whose rows count as independent.
    pub without_games: Vec<String>,
    /// The rows of all files.
    pub count: PositionCount,
}

/// Does a file that begins so hold a table? Parquet by its first bytes; CSV by a first line that names the columns
/// which must be there.
pub fn looks_like(head: &[u8], options: &TableOptions) -> bool {
    if head.starts_with(b"PAR1") {
        return true;
    }
    let first = head.split(|&b| b == b'\n').next().unwrap_or(head);
    let Ok(line) = std::str::from_utf8(first) else { return false };
    let cells: Vec<&str> = split(line).collect();
    let has = |role| options.columns.find(role, &cells).is_some();
    has(Role::Score) && has(Role::Result) && (has(Role::Engine) || options.engine.is_some())
}

/// Types of Parquet that polars was built for here; it panics at others.
fn is_read(kind: &ArrowDataType) -> bool {
    use ArrowDataType::{
        Boolean, Dictionary, Float32, Float64, Int32, Int64, LargeUtf8, Null, UInt32, UInt64, Utf8, Utf8View,
    };
    match kind {
        Null | Boolean | Int32 | Int64 | UInt32 | UInt64 | Float32 | Float64 | Utf8 | LargeUtf8 | Utf8View => true,
        Dictionary(_, values, _) => matches!(**values, Utf8 | LargeUtf8 | Utf8View),
        _ => false,
    }
}

fn split(line: &str) -> impl Iterator<Item = &str> {
    let separator = char::from(separator(line));
    line.trim_start_matches('\u{feff}').trim_end().split(separator).map(|cell| cell.trim_matches('"'))
}

/// What stands between the cells: of comma, tab and semicolon the most frequent.
fn separator(line: &str) -> u8 {
    let count = |wanted: u8| line.bytes().filter(|&b| b == wanted).count();
    // of equals the last counts
    [b';', b'\t', b','].into_iter().max_by_key(|&b| count(b)).unwrap_or(b',')
}

impl<'a> TableReader<'a> {
    /// Rows go into `table`, behind what it holds.
    pub fn new(table: &'a mut SampleTable, options: TableOptions) -> Self {
        let known = table.games.iter().zip(0..).map(|(g, i)| (g.id, i)).collect();
        let key = |s: &Sample| Some((table.games.get(s.game as usize)?.id, s.color, s.window));
        let before = table.samples.iter().filter_map(key).collect();
        Self {
            table,
            options,
            known,
            before,
            problems: Vec::new(),
            without_games: Vec::new(),
            count: PositionCount::default(),
        }
    }

    /// Adds the rows of a Parquet or CSV file, told apart by content.
    ///
    /// # Errors
    /// [`TableError`] for a file that cannot be read or lacks a column. Single bad rows are passed over and told.
    pub fn read(&mut self, path: &Path) -> Result<(), TableError> {
        let file = path.to_string_lossy().into_owned();
        let error = |message: String| TableError::File { file: file.clone(), message };
        let mut head = Vec::new();
        File::open(path)
            .and_then(|open| open.take(1 << 16).read_to_end(&mut head))
            .map_err(|e| error(e.to_string()))?;
        let parquet = head.starts_with(b"PAR1");
        let threads = self.options.threads.max(1);
        let frame = if parquet {
            let open = File::open(path).map_err(|e| error(e.to_string()))?;
            let strategy = if threads > 1 { ParallelStrategy::Auto } else { ParallelStrategy::None };
            let mut reader = ParquetReader::new(open);
            let names = reader.schema().map_err(|e| error(e.to_string()))?;
            let there: Vec<&str> = names.iter_names().map(|name| name.as_str()).collect();
            // other columns may have types that polars was not built for
            let roles = Role::ALL.into_iter();
            let wanted: BTreeSet<&str> = roles.filter_map(|role| self.options.columns.find(role, &there)).collect();
            self.require(&file, &there)?;
            for (name, field) in names.iter().filter(|(name, _)| wanted.contains(name.as_str())) {
                if !is_read(&field.dtype) {
                    let kind = format!("{:?}", field.dtype);
                    return Err(TableError::Type { file: file.clone(), column: name.to_string(), kind });
                }
            }
            let wanted = wanted.into_iter().map(str::to_owned).collect();
            reader.with_columns(Some(wanted)).read_parallel(strategy).finish()
        } else {
            let first = String::from_utf8_lossy(head.split(|&b| b == b'\n').next().unwrap_or(&head)).into_owned();
            let there: Vec<&str> = split(&first).collect();
            self.require(&file, &there)?;
            let parse = CsvParseOptions::default()
                .with_separator(separator(&first))
                .with_encoding(CsvEncoding::LossyUtf8)
                .with_truncate_ragged_lines(true);
            CsvReadOptions::default()
                .with_n_threads(Some(threads))
                .with_infer_schema_length(Some(0))
                .with_parse_options(parse)
                .try_into_reader_with_file_path(Some(path.to_owned()))
                .and_then(SerReader::finish)
        };
        let frame = frame.map_err(|e| error(e.to_string()))?;
        let cells = self.cells(&frame).map_err(|e| error(e.to_string()))?;
        self.rows(&cells, &file, if parquet { 1 } else { 2 });
        Ok(())
    }

    /// The columns that must be there, and those that the user named.
    fn require(&self, file: &str, there: &[&str]) -> Result<(), TableError> {
        for role in Role::ALL {
            let needed = match role {
                Role::Score | Role::Result => true,
                Role::Engine => self.options.engine.is_none(),
                _ => false,
            };
            let given = self.options.columns.given(role).filter(|name| !name.is_empty());
            if (needed || given.is_some()) && self.options.columns.find(role, there).is_none() {
                let word = role.as_str();
                let remedy = match (given, role) {
                    (Some(_), _) => format!("--column {word}=… must name one of these"),
                    (None, Role::Engine) => {
                        "name it by --column engine=NAME, or give all rows one engine by --annotator".to_owned()
                    }
                    (None, _) => format!("name it by --column {word}=NAME"),
                };
                return Err(TableError::Missing {
                    file: file.to_owned(),
                    column: given.unwrap_or(if role == Role::Score { "score_cp" } else { word }).to_owned(),
                    remedy,
                    found: there.join(", "),
                });
            }
        }
        Ok(())
    }

    fn cells(&self, frame: &DataFrame) -> Result<Cells, polars::prelude::PolarsError> {
        let names: Vec<&str> = frame.get_column_names().iter().map(|n| n.as_str()).collect();
        let mut columns = BTreeMap::new();
        for role in Role::ALL {
            let Some(name) = self.options.columns.find(role, &names) else { continue };
            let column = frame.column(name)?;
            let kind = column.dtype();
            let number = kind.is_primitive_numeric();
            let as_number = matches!(
                role,
                Role::Score
                    | Role::Result
                    | Role::Ply
                    | Role::Window
                    | Role::Material
                    | Role::Rating
                    | Role::OpponentRating
                    | Role::Line
            );
            let cell = match kind {
                DataType::String => column.clone(),
                _ if as_number && number => column.cast(&DataType::Float64)?,
                // a flag may be a number
                _ if role == Role::Mate => column.cast(&DataType::Boolean)?.cast(&DataType::String)?,
                _ => column.cast(&DataType::String)?,
            };
            columns.insert(role, cell);
        }
        Ok(Cells { height: frame.height(), columns })
    }

    fn rows(&mut self, cells: &Cells, file: &str, first_line: u64) {
        if !cells.has(Role::Game) {
            self.without_games.push(file.to_owned());
        }
        self.count.read += cells.height as u64;
        let file_key = self.table.names.intern(file);
        // a table of one's own making without these columns tells no two samples apart
        let told_apart = [Role::Game, Role::Color, Role::Window].into_iter().all(|role| cells.has(role));
        let first_sample = self.table.samples.len();
        let mut told: BTreeMap<&'static str, u64> = BTreeMap::new();
        let mut duplicates: Option<(u64, u64)> = None;
        let mut last: Option<(u64, u32)> = None;
        for row in 0..cells.height {
            let row_line = row as u64 + first_line;
            let parsed = match self.parse(cells, row) {
                Ok(parsed) => parsed,
                Err(bad) => {
                    *self.count.skipped.entry(bad.kind).or_default() += 1;
                    let told = told.entry(bad.kind).or_default();
                    *told += 1;
                    if *told <= SHOWN {
                        let value = format!("'{}' is not {}; the row is passed over", bad.value, bad.wanted);
                        let source = file.to_owned();
                        self.problems.push(Problem { source, line: row_line, kind: bad.kind, value, strict: true });
                    }
                    continue;
                }
            };
            let id = match cells.text(Role::Game, row).filter(|game| !game.is_empty()) {
                Some(text) => game_id(text),
                None => crate::random::bits(&[u64::from(file_key), row as u64]),
            };
            let count =
                |role| cells.number(role, row).filter(|n| *n >= 0.0 && *n <= f64::from(u32::MAX)).unwrap_or(0.0);
            let window = count(Role::Window) as u32;
            if told_apart && self.before.contains(&(id, parsed.color, window)) {
                *self.count.skipped.entry(SkipReason::Duplicate.as_str()).or_default() += 1;
                duplicates.get_or_insert((row_line, 0)).1 += 1;
                continue;
            }
            let names = &mut self.table.names;
            let engine = match (&self.options.engine, cells.text(Role::Engine, row)) {
                (_, Some(name)) => names.intern(name),
                (Some(name), None) => names.intern(name),
                (None, None) => names.intern(""),
            };
            let opponent = cells.text(Role::Opponent, row).filter(|name| !name.is_empty());
            let slot = match last {
                Some((same, slot)) if same == id => slot,
                _ => match self.known.get(&id) {
                    Some(&slot) => slot,
                    None => {
                        let slot = self.table.games.len() as u32;
                        let info = self.game(cells, row, id, &parsed, engine, opponent, file);
                        self.table.games.push(info);
                        self.known.insert(id, slot);
                        slot
                    }
                },
            };
            last = Some((id, slot));
            let opponent = self.table.names.intern(opponent.unwrap_or(""));
            let mate = |text: &str| text.eq_ignore_ascii_case("true") || text == "1";
            let line = cells.number(Role::Line, row).filter(|n| *n >= 0.0).map_or(row_line, |n| n as u64);
            self.table.samples.push(Sample {
                game: slot,
                engine,
                opponent,
                color: parsed.color,
                ply: count(Role::Ply) as u32,
                window,
                score_cp: parsed.score_cp,
                mate: parsed.mate || cells.text(Role::Mate, row).is_some_and(mate),
                outcome: parsed.outcome,
                material: cells
                    .number(Role::Material, row)
                    .filter(|n| (0.0..=f64::from(MOST_MATERIAL)).contains(n))
                    .map(|n| n as u16),
                line,
            });
        }
        self.count.used += (self.table.samples.len() - first_sample) as u64;
        if told_apart {
            for sample in &self.table.samples[first_sample..] {
                let game = self.table.games.get(sample.game as usize);
                self.before.extend(game.map(|game| (game.id, sample.color, sample.window)));
            }
        }
        if let Some((line, rows)) = duplicates {
            self.problems.push(Problem {
                source: file.to_owned(),
                line,
                kind: SkipReason::Duplicate.as_str(),
                value: format!("{rows} rows of games and windows that were read before are passed over"),
                strict: false,
            });
        }
    }

    /// What a row must have.
    fn parse(&self, cells: &Cells, row: usize) -> Result<Parsed, BadRow> {
        let value = |role| cells.shown(role, row);
        let bad = |role, kind, wanted| BadRow { kind, value: value(role), wanted };
        if self.options.engine.is_none() && cells.text(Role::Engine, row).is_none_or(|name| name.is_empty()) {
            return Err(bad(Role::Engine, "bad_engine", "a name"));
        }
        let unit = self.options.unit;
        let score = match cells.number(Role::Score, row) {
            Some(number) => unit.centipawns(number),
            None => cells.text(Role::Score, row).and_then(columns::mate).map(|wins| {
                let size = crate::record::ANNOUNCED_MATE_CP;
                (if wins { size } else { -size }, true)
            }),
        };
        let Some((score_cp, mate)) = score else {
            return Err(bad(Role::Score, "bad_score", unit.wanted()));
        };
        let color = match cells.text(Role::Color, row) {
            None => None,
            Some("") => None,
            Some(text) => match columns::color(text) {
                Some(color) => Some(color),
                None => return Err(bad(Role::Color, "bad_color", "black or white")),
            },
        };
        let result = match cells.number(Role::Result, row) {
            Some(number) => columns::outcome(number).map(ResultWord::Own),
            None => cells.text(Role::Result, row).and_then(columns::result),
        };
        let outcome = match (result, color) {
            (Some(ResultWord::Own(outcome)), _) => outcome,
            (Some(ResultWord::Winner(winner)), Some(color)) => {
                if winner == color {
                    Outcome::Win
                } else {
                    Outcome::Loss
                }
            }
            (Some(ResultWord::Winner(_)), None) => {
                let wanted = "a result for the engine, since the row has no colour (--column color=NAME)";
                return Err(bad(Role::Result, "bad_result", wanted));
            }
            (None, _) => {
                return Err(bad(
                    Role::Result,
                    "bad_result",
                    "1, 0.5, 0, win, draw, loss, W, D, L, 1-0, 0-1 or 1/2-1/2",
                ));
            }
        };
        Ok(Parsed { score_cp, mate, color: color.unwrap_or(Color::Black), outcome })
    }

    #[allow(clippy::too_many_arguments)]
    fn game(
        &mut self,
        cells: &Cells,
        row: usize,
        id: u64,
        parsed: &Parsed,
        engine: u32,
        opponent: Option<&str>,
        file: &str,
    ) -> GameInfo {
        let names = &mut self.table.names;
        let (own, other) = (parsed.color.index(), parsed.color.opponent().index());
        // two players without a name of the second would be rated as if they had met
        let mut players = [engine; 2];
        if let Some(opponent) = opponent {
            players[other] = names.intern(opponent);
        }
        let rating = |role| cells.number(role, row).filter(|r| r.is_finite());
        let mut ratings = [None; 2];
        ratings[own] = rating(Role::Rating);
        ratings[other] = rating(Role::OpponentRating);
        GameInfo {
            id,
            players,
            ratings,
            start_time: cells.text(Role::StartTime, row).and_then(StartTime::parse),
            time_control: names.intern(cells.text(Role::TimeControl, row).unwrap_or_default()),
            termination: cells
                .text(Role::Termination, row)
                .and_then(|word| word.parse().ok())
                .unwrap_or(Termination::Unknown),
            black_outcome: parsed.outcome.in_view_of(parsed.color),
            source: match cells.text(Role::Source, row) {
                Some(source) => names.intern(source),
                None => names.intern(file),
            },
            line: 0,
        }
    }
}

/// What a row must have, read.
struct Parsed {
    score_cp: i32,
    mate: bool,
    color: Color,
    outcome: Outcome,
}

/// A row that is no sample.
struct BadRow {
    kind: &'static str,
    value: String,
    wanted: &'static str,
}

/// The columns of a file by role, each as numbers or as text.
struct Cells {
    height: usize,
    columns: BTreeMap<Role, Column>,
}

impl Cells {
    fn has(&self, role: Role) -> bool {
        self.columns.contains_key(&role)
    }

    fn number(&self, role: Role, row: usize) -> Option<f64> {
        let column = self.columns.get(&role)?;
        match column.dtype() {
            DataType::Float64 => column.f64().ok()?.get(row),
            _ => column.str().ok()?.get(row)?.trim().parse().ok(),
        }
    }

    fn text(&self, role: Role, row: usize) -> Option<&str> {
        self.columns.get(&role)?.str().ok()?.get(row)
    }

    fn shown(&self, role: Role, row: usize) -> String {
        let number = || self.number(role, row).map(|n| n.to_string());
        self.text(role, row).map(str::to_owned).or_else(number).unwrap_or_default().chars().take(60).collect()
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
