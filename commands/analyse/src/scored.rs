//! Analysis: engines score positions of other people's games, and are calibrated by the results of these games.
//!
//! The result of a sample is that of its game, the score is in the view of the side to move, and the engine is an
//! annotator, not a player. So a calibration forecasts the side to move when the players of the records go on, and
//! between equals if the players are equal: the model knows their rating difference.
//!
//! Positions are searched in an order that depends on the seed alone, and at growing numbers of positions the engines
//! are calibrated. So an analysis that stops when the constants are known well enough stops at the same position on
//! every machine, if the engines have fixed nodes or depths.

use std::collections::BTreeMap;
use std::time::Duration;

use evalcurve_app::calibrate::{CalibrateOptions, EngineResult, calibrate};
use evalcurve_engine::{Game, Limit, usi};
use evalcurve_records::record::ANNOUNCED_MATE_CP;
use evalcurve_records::sample::{NameId, Positions, Sample, SampleTable};
use evalcurve_tables::Values;
use evalcurve_words::random;

use crate::{AnalyseError, Answer, Outcome, Position, Search, Searched, Status, Value};

/// How to analyse records.
#[derive(Debug, Clone, Default)]
pub struct Analyse {
    /// The engines and how they are driven. Their game is that of the records.
    pub search: Search,
    /// The most positions.
    pub positions: Option<usize>,
    /// Stop when the intervals of all constants are within this share of them.
    pub target: Option<f64>,
    /// How constants are fitted; its sampling has the seed of the order of positions.
    pub calibrate: CalibrateOptions,
}

/// A constant on the way.
#[derive(Debug, Clone, PartialEq)]
pub struct Running {
    /// The engine.
    pub name: String,
    /// The constant.
    pub constant: f64,
    /// How far the further end of its interval is from it, as a share of it; `None` if it is not known.
    pub within: Option<f64>,
}

/// What became of the positions of one engine.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Counts {
    /// Positions that were given to the engine.
    pub positions: usize,
    /// With a score in centipawns.
    pub scored: usize,
    pub mates: usize,
    /// Without an answer that counts, by reason.
    pub failed: BTreeMap<&'static str, usize>,
    /// Not asked, because the engine was given up.
    pub not_asked: usize,
    pub first_failure: Option<String>,
}

/// The result of an analysis.
#[derive(Debug)]
pub struct Analysis {
    /// The samples, mates marked.
    pub table: SampleTable,
    /// What the searches gave besides the score, in the order of the samples.
    pub details: Vec<Details>,
    /// The searches, in the order of the positions.
    pub outcome: Outcome,
    /// By engine, in the order of the engines.
    pub counts: Vec<Counts>,
    /// The calibrations, engines by name.
    pub results: Vec<EngineResult>,
    /// Positions that were drawn.
    pub drawn: usize,
    /// Whether all constants are known as well as the target says; `None` without a target.
    pub reached: Option<bool>,
}

/// What a search gave besides the score.
#[derive(Debug, Clone, Default)]
pub struct Details {
    limit: String,
    best: String,
    mate_in: Option<i32>,
    depth: Option<u32>,
    nodes: Option<u64>,
    /// Only with a limit in time: under another it is a matter of the machine, and not of the search.
    time_ms: Option<u64>,
    lines: String,
}

/// A drawn position: its place in the table of positions, and how it is reached.
struct Drawn {
    sample: Sample,
    position: Position,
}

impl Analyse {
    /// Lets the engines score the positions that were drawn from records, see
    /// [`SamplingOptions::unscored`](evalcurve_records::sample::SamplingOptions). `observe` sees how far the analysis
    /// is, and the constants at the last number of positions at which they were fitted.
    ///
    /// # Errors
    /// [`AnalyseError`]: an engine does not start, or the journal cannot be used.
    pub fn run(
        &self,
        table: &SampleTable,
        positions: &Positions,
        mut observe: impl FnMut(&Status, &[Running], usize),
    ) -> Result<Analysis, AnalyseError> {
        let mut drawn = self.drawn(table, positions);
        let all = drawn.len();
        drawn.truncate(self.positions.unwrap_or(usize::MAX));
        let positions: Vec<Position> = drawn.iter().map(|one| one.position.clone()).collect();
        let game = if table.chess { Game::Chess } else { Game::Shogi };
        let search = Search { game, ..self.search.clone() };
        let running = std::cell::RefCell::new(Vec::new());
        let reached = std::cell::Cell::new(self.target.map(|_| false));
        let is_enough = |upto: usize, engines: &[Searched]| {
            let Some(target) = self.target else { return false };
            let (mut samples, _) = samples(table, &drawn[..upto], engines, game);
            let options = CalibrateOptions { bands: 0, folds: None, ..self.calibrate.clone() };
            let found = constants(&calibrate(&mut samples, &options));
            let asked = |name: &str| engines.iter().any(|e| e.name == name && e.given_up.is_none());
            let wanted = engines.iter().filter(|engine| engine.given_up.is_none()).count();
            let known =
                found.iter().filter(|one| asked(&one.name) && one.within.is_some_and(|within| within <= target));
            let enough = wanted > 0 && known.count() == wanted;
            running.replace(found);
            reached.set(Some(enough));
            enough
        };
        let outcome =
            search.run(&positions, is_enough, |status| observe(status, &running.borrow(), positions.len()))?;
        // where nobody was left to ask, all were to be searched
        let is_over = outcome.engines.iter().all(|engine| engine.given_up.is_some());
        let wanted = if is_over { positions.len() } else { outcome.positions };
        drawn.truncate(outcome.positions);
        let (mut table, details) = samples(table, &drawn, &outcome.engines, game);
        let results = calibrate(&mut table, &self.calibrate);
        let counts = outcome.engines.iter().map(|engine| counts(engine, wanted, &table)).collect();
        Ok(Analysis { table, details, outcome, counts, results, drawn: all, reached: reached.get() })
    }

    /// The drawn positions in the order of the searches, which the seed and the games decide.
    fn drawn(&self, table: &SampleTable, positions: &Positions) -> Vec<Drawn> {
        let seed = self.calibrate.sampling.seed;
        let drawn = table.samples.iter().filter_map(|sample| {
            let game = table.game(sample)?;
            let (start, moves) = positions.of(game, sample)?;
            let position = usi::Position { start: start.map(str::to_owned), moves: moves.to_vec() };
            let key = random::bits(&[seed, game.id, u64::from(sample.ply), u64::from(sample.window)]);
            Some((key, Drawn { sample: *sample, position }))
        });
        let mut drawn: Vec<(u64, Drawn)> = drawn.collect();
        drawn.sort_by_key(|(key, _)| *key);
        drawn.into_iter().map(|(_, drawn)| drawn).collect()
    }
}

/// The constants of calibrated engines.
fn constants(results: &[EngineResult]) -> Vec<Running> {
    let constant = |result: &EngineResult| {
        let found = result.calibration.as_ref()?.constant()?;
        let within = found.interval.map(|[low, high]| (high / found.value - 1.0).max(1.0 - low / found.value));
        Some(Running { name: result.name.clone(), constant: found.value, within })
    };
    results.iter().filter_map(constant).collect()
}

/// The sample table of the answers, in the order of records, with what the searches gave besides.
fn samples(positions: &SampleTable, drawn: &[Drawn], engines: &[Searched], game: Game) -> (SampleTable, Vec<Details>) {
    let mut table = SampleTable {
        names: positions.names.clone(),
        games: positions.games.clone(),
        bradley_terry: positions.bradley_terry,
        chess: positions.chess,
        ..SampleTable::default()
    };
    let unnamed = table.names.intern("");
    let mut details: BTreeMap<(NameId, u64, u32, u32), Details> = BTreeMap::new();
    for searched in engines {
        let engine = table.names.intern(&searched.name);
        for (one, answer) in drawn.iter().zip(&searched.answers) {
            let Answer::Scored(scored) = answer else { continue };
            let (score_cp, mate_in) = match scored.value {
                Value::Cp(cp) => (cp, None),
                Value::Wins(plies) => (ANNOUNCED_MATE_CP, Some(plies as i32)),
                Value::Loses(plies) => (-ANNOUNCED_MATE_CP, Some(-(plies as i32))),
            };
            let Some(id) = table.games.get(one.sample.game as usize).map(|game| game.id) else { continue };
            let material = (game == Game::Chess).then(|| {
                let (board, _) = evalcurve_engine::Board::new(game, &one.position);
                board.material().and_then(|material| u16::try_from(material).ok())
            });
            table.samples.push(Sample {
                engine,
                opponent: unnamed,
                score_cp,
                declared: scored.declared(),
                mate: mate_in.is_some(),
                material: material.flatten(),
                ..one.sample
            });
            let in_time = matches!(searched.limit, Some(Limit::MoveTime(_) | Limit::Byoyomi(_)));
            let line = |(text, value): &(String, Value)| match value {
                Value::Cp(cp) => format!("{text} {cp}"),
                Value::Wins(plies) => format!("{text} mate {plies}"),
                Value::Loses(plies) => format!("{text} mate -{plies}"),
            };
            let more = Details {
                limit: searched.limit.map_or_else(String::new, |limit| limit.to_string()),
                best: scored.best.clone(),
                mate_in: mate_in.filter(|plies| *plies != 0),
                depth: scored.depth,
                nodes: scored.nodes,
                time_ms: in_time.then_some(scored.time_us / 1_000),
                lines: scored.lines.iter().map(line).collect::<Vec<_>>().join("; "),
            };
            details.insert((engine, id, one.sample.ply, one.sample.window), more);
        }
    }
    table.sort();
    let of = |sample: &Sample| {
        let id = table.game(sample).map_or(0, |game| game.id);
        details.get(&(sample.engine, id, sample.ply, sample.window)).cloned().unwrap_or_default()
    };
    let details = table.samples.iter().map(of).collect();
    (table, details)
}

/// What became of the first positions with one engine, mates as the table has them.
fn counts(searched: &Searched, positions: usize, table: &SampleTable) -> Counts {
    let mut counts =
        Counts { positions, not_asked: positions - searched.answers.len().min(positions), ..Counts::default() };
    for answer in &searched.answers {
        if let Answer::Failed(failed) = answer {
            *counts.failed.entry(failed.reason.as_str()).or_default() += 1;
            counts.first_failure.get_or_insert_with(|| failed.detail.clone());
        }
    }
    let own = table.samples.iter().filter(|sample| table.names.get(sample.engine) == searched.name);
    let (mates, scored): (Vec<&Sample>, Vec<&Sample>) = own.partition(|sample| sample.mate);
    (counts.mates, counts.scored) = (mates.len(), scored.len());
    counts
}

impl Counts {
    /// Positions without an answer that counts.
    pub fn failures(&self) -> usize {
        self.failed.values().sum()
    }
}

impl Analysis {
    /// The columns of the table besides those of samples.
    pub fn columns(&self) -> Vec<(&'static str, Values<'_>)> {
        let all = &self.details;
        let text = |of: fn(&Details) -> &String| {
            Values::Text(all.iter().map(|d| Some(of(d).as_str()).filter(|text| !text.is_empty())).collect())
        };
        let number = |of: &dyn Fn(&Details) -> Option<u64>| {
            Values::Integer(all.iter().map(|d| of(d).and_then(|n| i32::try_from(n).ok())).collect())
        };
        let mut columns = vec![
            ("limit", text(|d| &d.limit)),
            ("best_move", text(|d| &d.best)),
            ("mate_in", Values::Integer(all.iter().map(|d| d.mate_in).collect())),
            ("depth", number(&|d| d.depth.map(u64::from))),
            ("nodes", number(&|d| d.nodes)),
        ];
        if all.iter().any(|d| d.time_ms.is_some()) {
            columns.push(("time_ms", number(&|d| d.time_ms)));
        }
        if all.iter().any(|d| !d.lines.is_empty()) {
            columns.push(("lines", text(|d| &d.lines)));
        }
        columns
    }

    /// See [`Searched::mean_time`].
    pub fn mean_time(&self, engine: usize) -> Option<Duration> {
        self.outcome.engines.get(engine)?.mean_time()
    }
}
