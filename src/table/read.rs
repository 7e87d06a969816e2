//! Reads tables into one sample table, one by one: shards from several machines, or the output of another tool.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::columns::{self, Columns, ResultWord, Role, ScoreUnit};
use super::source::{CellKind, Cells, Source};
use super::{MOST_QUOTED, TableError};
use crate::language::Text;
use crate::record::{SkipReason, StartTime};
use crate::sample::collect::{PositionCount, Problem};
use crate::sample::{GameInfo, Sample, SampleTable};
use crate::text::shortened;
use crate::types::{Color, Declared, Outcome, Termination};
use crate::{say, text};

/// Largest plausible material: a queen on each square.
const MOST_MATERIAL: u16 = 9 * 64;

/// Largest plausible ply. The longest possible games of chess and shogi are shorter, and models fit every ply.
pub const MOST_PLY: u32 = 20_000;

/// Problems of each kind that are reported for one file.
const SHOWN: u64 = 20;

/// A game, and the engine that annotates it, if it is not one of the players.
type GameKey = (u64, Option<u32>);

/// How tables are read.
#[derive(Debug, Clone, Default)]
pub struct TableOptions {
    /// The columns with other names.
    pub columns: Columns,
    /// The unit of scores.
    pub unit: ScoreUnit,
    /// The engine of tables without a column for it.
    pub engine: Option<String>,
    /// Number of threads.
    pub threads: usize,
}

/// Adds tables to a sample table, file by file.
#[derive(Debug)]
pub struct TableReader<'a> {
    table: &'a mut SampleTable,
    pub(super) options: TableOptions,
    /// Games by identity.
    known: HashMap<GameKey, u32>,
    /// Samples of the earlier files, which game, side and window identify.
    before: HashSet<(GameKey, Color, u32)>,
    /// Problems, in the order of reading.
    pub problems: Vec<Problem>,
    /// Files without a column for games, whose rows count as independent.
    pub without_games: Vec<String>,
    /// Counts of the rows of all files.
    pub count: PositionCount,
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
        let known = table.samples.iter().filter_map(|s| Some((key(table, s)?, s.game))).collect();
        let before = table.samples.iter().filter_map(|s| Some((key(table, s)?, s.color, s.window))).collect();
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

    /// Adds the rows of a table, whose name is for messages and for the source of its samples.
    ///
    /// # Errors
    /// [`TableError`] for a table that lacks a column or has one of an unsupported type. Single bad rows are reported
    /// and skipped.
    pub fn add(&mut self, table: &dyn Source, name: &str) -> Result<(), TableError> {
        self.require(name, &table.names())?;
        let row = self.columns(table).map_err(|message| TableError::damaged(name, message))?;
        self.rows(row, table, name);
        Ok(())
    }

    /// Checks that the required columns exist, and those that the user named.
    pub(super) fn require(&self, file: &str, existing: &[&str]) -> Result<(), TableError> {
        let columns = &self.options.columns;
        let given = |role: Role| columns.given(role).filter(|name| !name.is_empty());
        let is_missing = |role: Role| given(role).is_some() && columns.find(role, existing).is_none();
        let roles = [missing(&self.options, existing), Role::ALL.iter().copied().find(|role| is_missing(*role))];
        let Some(role) = roles.into_iter().flatten().min() else { return Ok(()) };
        let word = role.as_str();
        let remedy = match (given(role), role) {
            (Some(_), _) => {
                text!("--column {word}=… must name one of these", "--column {word}=… にこの中の列を指定してください")
            }
            (None, Role::Engine) => text!(
                "name it with --column engine=NAME, or give all rows one engine with --annotator",
                "--column engine=列名 で指定するか、全行のエンジンを --annotator で指定してください"
            ),
            (None, _) => text!("name it with --column {word}=NAME", "--column {word}=列名 で指定してください"),
        };
        Err(TableError::Missing {
            file: file.to_owned(),
            column: given(role).unwrap_or(if role == Role::Score { "score_cp" } else { word }).to_owned(),
            remedy,
            found: shortened(&existing.join(", "), MOST_QUOTED),
        })
    }

    fn columns<'t>(&self, table: &'t dyn Source) -> Result<Row<'t>, String> {
        let names = table.names();
        let mut columns = BTreeMap::new();
        for &role in Role::ALL {
            let kind = match role {
                Role::Score
                | Role::Result
                | Role::Ply
                | Role::Window
                | Role::Material
                | Role::DeclaredWin
                | Role::DeclaredDraw
                | Role::DeclaredLoss
                | Role::Rating
                | Role::OpponentRating
                | Role::Line => CellKind::Number,
                Role::Mate | Role::BradleyTerry | Role::Chess => CellKind::Flag,
                _ => CellKind::Text,
            };
            if let Some(name) = self.options.columns.find(role, &names) {
                columns.insert(role, table.cells(name, kind)?);
            }
        }
        Ok(Row { columns, row: 0 })
    }

    fn rows(&mut self, mut row: Row<'_>, table: &dyn Source, file: &str) {
        if !row.has(Role::Game) {
            self.without_games.push(file.to_owned());
        }
        self.count.read += table.height() as u64;
        // by content: the identity of a row, and with it its fold, must not depend on the order of the files
        let number = |row: &Row<'_>, role| row.number(role).map_or(0, f64::to_bits);
        let content = |row: &mut Row<'_>, key: u64, index: usize| {
            row.row = index;
            crate::random::bits(&[key, number(row, Role::Score), number(row, Role::Result)])
        };
        let without_game = !row.has(Role::Game);
        let file_key = (0..table.height()).filter(|_| without_game).fold(0, |key, index| content(&mut row, key, index));
        // without these columns, equal keys do not mean equal samples
        let has_keys = [Role::Game, Role::Color, Role::Window].into_iter().all(|role| row.has(role));
        let first_sample = self.table.samples.len();
        let mut chess = false;
        let mut shown: BTreeMap<&'static str, u64> = BTreeMap::new();
        let mut duplicates: Option<(u64, u64)> = None;
        let mut last: Option<(GameKey, u32)> = None;
        for index in 0..table.height() {
            row.row = index;
            let row_line = index as u64 + table.first_line();
            let parsed = match self.parse(&row) {
                Ok(parsed) => parsed,
                Err(bad) => {
                    *self.count.skipped.entry(bad.kind).or_default() += 1;
                    let shown = shown.entry(bad.kind).or_default();
                    *shown += 1;
                    if *shown <= SHOWN {
                        let value = Text::of(|language| {
                            let (value, wanted) = (&bad.value, bad.wanted.text(language));
                            say!(
                                language,
                                "'{value}' is not {wanted}; the row is skipped",
                                "'{value}' は{wanted}ではないので、この行を除きます"
                            )
                        });
                        let source = file.to_owned();
                        self.problems.push(Problem { source, line: row_line, kind: bad.kind, value, strict: true });
                    }
                    continue;
                }
            };
            let id = match row.name(Role::Game) {
                Some(text) => game_id(text),
                None => crate::random::bits(&[file_key, index as u64]),
            };
            let window = row.number_up_to(Role::Window, u32::MAX).unwrap_or(0.0) as u32;
            let engine = row.text(Role::Engine).or(self.options.engine.as_deref()).unwrap_or_default();
            let engine = self.table.names.intern(engine);
            let opponent = row.name(Role::Opponent).map(|name| self.table.names.intern(name));
            // in a table with opponents, an engine without one annotates the game of others
            let annotator = (opponent.is_none() && row.has(Role::Opponent)).then_some(engine);
            let key = (id, annotator);
            if has_keys && self.before.contains(&(key, parsed.color, window)) {
                *self.count.skipped.entry(SkipReason::Duplicate.as_str()).or_default() += 1;
                duplicates.get_or_insert((row_line, 0)).1 += 1;
                continue;
            }
            let game = match last {
                Some((same, game)) if same == key => game,
                _ => *self.known.entry(key).or_insert_with(|| {
                    let info = game_info(self.table, &row, key, &parsed, engine, opponent, file);
                    self.table.games.push(info);
                    self.table.games.len() as u32 - 1
                }),
            };
            last = Some((key, game));
            let is_true = |text: &str| text.eq_ignore_ascii_case("true") || text == "1";
            self.table.bradley_terry |= row.text(Role::BradleyTerry).is_some_and(is_true);
            let line = row.number(Role::Line).filter(|n| *n >= 0.0).map_or(row_line, |n| n as u64);
            let opponent = opponent.unwrap_or_else(|| self.table.names.intern(""));
            let material = row.number_up_to(Role::Material, MOST_MATERIAL.into()).map(|n| n as u16);
            chess |= material.is_some() || row.text(Role::Chess).is_some_and(is_true);
            self.table.samples.push(Sample {
                game,
                engine,
                opponent,
                color: parsed.color,
                ply: parsed.ply,
                window,
                score_cp: parsed.score_cp,
                reply_cp: row.number(Role::ReplyCp).and_then(|cp| self.options.unit.centipawns(cp)).map(|(cp, _)| cp),
                declared: row.declared(),
                mate: parsed.mate || row.text(Role::Mate).is_some_and(is_true),
                outcome: parsed.outcome,
                material,
                line,
            });
        }
        if self.table.samples.len() > first_sample {
            // of several inputs, all must be chess
            self.table.chess = chess && (first_sample == 0 || self.table.chess);
        }
        self.count.used += (self.table.samples.len() - first_sample) as u64;
        if has_keys {
            for sample in &self.table.samples[first_sample..] {
                self.before.extend(key(self.table, sample).map(|key| (key, sample.color, sample.window)));
            }
        }
        if let Some((line, rows)) = duplicates {
            self.problems.push(Problem {
                source: file.to_owned(),
                line,
                kind: SkipReason::Duplicate.as_str(),
                value: text!(
                    "{rows} rows of games and windows that were read before are skipped",
                    "既に読んだ対局と区間の {rows} 行を除きます"
                ),
                strict: false,
            });
        }
    }

    /// Parses the required columns of a row.
    fn parse(&self, row: &Row<'_>) -> Result<Parsed, BadRow> {
        let bad = |role, kind, wanted| BadRow { kind, value: row.shown(role), wanted };
        if self.options.engine.is_none() && row.name(Role::Engine).is_none() {
            return Err(bad(Role::Engine, "bad_engine", text!("a name", "名前")));
        }
        let unit = self.options.unit;
        let score = match row.number(Role::Score) {
            Some(number) => unit.centipawns(number),
            None => row.text(Role::Score).and_then(columns::mate).map(|wins| {
                let size = crate::record::ANNOUNCED_MATE_CP;
                (if wins { size } else { -size }, true)
            }),
        };
        let Some((score_cp, mate)) = score else {
            return Err(bad(Role::Score, "bad_score", unit.wanted()));
        };
        let color = row.name(Role::Color).map(|text| {
            columns::color(text).ok_or_else(|| bad(Role::Color, "bad_color", text!("black or white", "black か white")))
        });
        let color = color.transpose()?;
        let result = match row.number(Role::Result) {
            Some(number) => columns::outcome(number).map(ResultWord::Own),
            None => row.text(Role::Result).and_then(columns::result),
        };
        let outcome = match (result, color) {
            (Some(ResultWord::Own(outcome)), _) => outcome,
            (Some(ResultWord::Winner(winner)), Some(color)) if winner == color => Outcome::Win,
            (Some(ResultWord::Winner(_)), Some(_)) => Outcome::Loss,
            (Some(ResultWord::Winner(_)), None) => {
                let wanted = text!(
                    "a result for the engine, because the row has no colour (--column color=NAME)",
                    "エンジンから見た結果(行に手番がない。--column color=列名)"
                );
                return Err(bad(Role::Result, "bad_result", wanted));
            }
            (None, _) => {
                let wanted = text!(
                    "1, 0.5, 0, win, draw, loss, W, D, L, 1-0, 0-1 or 1/2-1/2",
                    "結果(1, 0.5, 0, win, draw, loss, W, D, L, 1-0, 0-1, 1/2-1/2)"
                );
                return Err(bad(Role::Result, "bad_result", wanted));
            }
        };
        let ply = row.number(Role::Ply).filter(|ply| *ply >= 0.0).unwrap_or(0.0);
        if ply > f64::from(MOST_PLY) {
            return Err(bad(Role::Ply, "bad_ply", text!("a ply up to 20000", "20000 までの手数")));
        }
        Ok(Parsed { score_cp, mate, color: color.unwrap_or(Color::Black), outcome, ply: ply as u32 })
    }
}

/// The game of a sample.
fn key(table: &SampleTable, sample: &Sample) -> Option<GameKey> {
    let game = table.game(sample)?;
    let annotates = table.names.get(sample.opponent).is_empty() && !game.players.contains(&sample.engine);
    Some((game.id, annotates.then_some(sample.engine)))
}

/// The game of a row.
fn game_info(
    table: &mut SampleTable,
    row: &Row<'_>,
    (id, annotator): GameKey,
    parsed: &Parsed,
    engine: u32,
    opponent: Option<u32>,
    file: &str,
) -> GameInfo {
    let (own, other) = (parsed.color.index(), parsed.color.opponent().index());
    // without an opponent the engine has both sides: with an empty name, all engines would seem to have met one player
    let mut players = [engine; 2];
    players[other] = opponent.unwrap_or(engine);
    if annotator.is_some() {
        players = [table.names.intern(""); 2];
    }
    let rating = |role| row.number(role).filter(|r| r.is_finite());
    let mut ratings = [None; 2];
    ratings[own] = rating(Role::Rating);
    ratings[other] = rating(Role::OpponentRating);
    GameInfo {
        id,
        players,
        ratings,
        start_time: row.text(Role::StartTime).and_then(StartTime::parse),
        time_control: table.names.intern(row.text(Role::TimeControl).unwrap_or_default()),
        termination: row.text(Role::Termination).and_then(|word| word.parse().ok()).unwrap_or(Termination::Unknown),
        black_outcome: parsed.outcome.in_view_of(parsed.color),
        source: table.names.intern(row.text(Role::Source).unwrap_or(file)),
        line: 0,
    }
}

/// The required columns of a row.
struct Parsed {
    score_cp: i32,
    mate: bool,
    color: Color,
    outcome: Outcome,
    ply: u32,
}

/// Why a row is not a sample.
struct BadRow {
    kind: &'static str,
    value: String,
    wanted: Text,
}

/// The columns of a file by role, at one row.
struct Row<'t> {
    columns: BTreeMap<Role, Box<dyn Cells + 't>>,
    row: usize,
}

impl Row<'_> {
    fn has(&self, role: Role) -> bool {
        self.columns.contains_key(&role)
    }

    fn number(&self, role: Role) -> Option<f64> {
        self.columns.get(&role)?.number(self.row)
    }

    /// A number from 0 to `most`.
    fn number_up_to(&self, role: Role, most: u32) -> Option<f64> {
        self.number(role).filter(|n| (0.0..=f64::from(most)).contains(n))
    }

    fn text(&self, role: Role) -> Option<&str> {
        self.columns.get(&role)?.text(self.row)
    }

    /// The rates that the engine declared, if all three columns have them.
    fn declared(&self) -> Option<Declared> {
        let rate = |role| self.number_up_to(role, 1_000).map(|rate| rate.round() as u16);
        let [win, draw, loss] = [Role::DeclaredWin, Role::DeclaredDraw, Role::DeclaredLoss].map(rate);
        Declared::try_from([win?, draw?, loss?]).ok()
    }

    /// A text that is not empty.
    fn name(&self, role: Role) -> Option<&str> {
        self.text(role).filter(|name| !name.is_empty())
    }

    /// The beginning of a cell for messages.
    fn shown(&self, role: Role) -> String {
        let number = || self.number(role).map(|n| n.to_string());
        self.text(role).map(str::to_owned).or_else(number).unwrap_or_default().chars().take(60).collect()
    }
}

/// The identity of a game: 16 hexadecimal digits as they are, any other text by its hash.
pub fn game_id(text: &str) -> u64 {
    if text.len() == 16
        && let Ok(id) = u64::from_str_radix(text, 16)
    {
        return id;
    }
    let mut hash = crate::record::GameHash::default();
    hash.bytes(text.as_bytes());
    hash.finish(&[String::new(), String::new()], None)
}
