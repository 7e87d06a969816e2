//! Plays a tournament: a queue of pairs, and workers that play them.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use evalcurve_calibration::types::{Color, Outcome, Termination};
use evalcurve_engine::usi::{Launch, Position, engines_are_stopping};
use evalcurve_engine::{EngineConfig, Failure, FailureKind, Game, Limit, Player, disobeys, instead_of, time_per_move};
use evalcurve_words::language::Text;
use evalcurve_words::text;
use thiserror::Error;

use super::game::{PlayedGame, Seat, play};
use super::opening::{OpeningError, openings};
use super::problem::MOST_PAIRS;
use super::record::{self, Header};
use super::standings::{Encounter, Standings};
use super::store::{Append, GameRow, Store, StoreError};
use super::tournament::Tournament;

/// What may differ between two runs of one tournament.
#[derive(Debug, Clone, Default)]
pub struct RunOptions {
    /// Delete the games that are in the folder.
    pub restart: bool,
    /// Stop when one engine has crashed or moved illegally in so many of its games in a row.
    pub most_crashes: Option<u32>,
    /// Append the record of each game to this file, too.
    pub append_to: Option<PathBuf>,
}

/// Why a tournament cannot be played.
#[derive(Debug, Error, evalcurve_words::language::ToText)]
pub enum PlayError {
    /// There are no openings.
    #[error(transparent)]
    Opening(#[from] OpeningError),
    /// The folder cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// An engine crashes or moves illegally in one game after the other.
    #[error(
        "engine '{name}' failed in {games} games in a row: {detail}; correct its table [[engine]], and delete the \
         games with `force`"
    )]
    Crashes {
        name: String,
        /// Number of games in a row.
        games: u32,
        /// What happened in the last one, with its last words.
        detail: Text,
    },
    /// An engine does not start.
    #[error("engine '{name}' {failure}; try it in a terminal, and correct its table [[engine]]")]
    Engine { name: String, failure: Failure },
    /// An engine does not obey its limit.
    #[error("engine '{name}' {why}")]
    Limit { name: String, why: Text },
}

/// Two games from one opening.
#[derive(Debug, Clone, Copy)]
struct Job {
    /// From 1, over all encounters.
    pair: u32,
    /// From 1.
    round: u32,
    encounter: usize,
    engines: (usize, usize),
}

/// Plays a tournament in a folder, or the games that are missing there. `observe` gets the standings at the beginning
/// and after every pair, and at the beginning what is odd about openings and engines.
///
/// # Errors
/// The openings or the folder cannot be used, or an engine does not start at all.
pub fn run(
    tournament: &Tournament,
    folder: &Path,
    options: &RunOptions,
    mut observe: impl FnMut(&Standings, &[String]),
) -> Result<Standings, PlayError> {
    if !tournament.is_unbounded() {
        return run_pairs(tournament, folder, options, &mut observe);
    }
    let (mut tournament, mut options) = (Tournament { pairs: FIRST_PAIRS, ..tournament.clone() }, options.clone());
    loop {
        let standings = run_pairs(&tournament, folder, &options, &mut observe)?;
        let decided = standings.encounters.iter().all(Encounter::is_over);
        if decided || engines_are_stopping() || tournament.pairs >= MOST_PAIRS {
            return Ok(standings);
        }
        tournament.pairs = (2 * tournament.pairs).min(MOST_PAIRS);
        options.restart = false;
    }
}

/// A sequential test without a number of pairs begins with so many, and doubles them while it is undecided.
const FIRST_PAIRS: u32 = 500;

fn run_pairs(
    tournament: &Tournament,
    folder: &Path,
    options: &RunOptions,
    observe: &mut impl FnMut(&Standings, &[String]),
) -> Result<Standings, PlayError> {
    let mut list = openings(tournament)?;
    let mut store = Store::open(folder, tournament, options.restart)?;
    let mut standings = Standings::new(tournament, &store.rows);
    let (openings, pairs) = (list.different, tournament.pairs);
    if openings < pairs as usize {
        list.problems.push(format!(
            "{openings} different openings for {pairs} pairs: openings are played again, and engines with fixed limits \
             repeat their games"
        ));
    }
    observe(&standings, &list.problems);
    let jobs = jobs(tournament, &store.rows);
    let decided: Vec<AtomicBool> = standings.encounters.iter().map(|e| AtomicBool::new(e.is_over())).collect();
    let is_open = |job: &Job| !decided[job.encounter].load(Ordering::Relaxed);
    if jobs.iter().any(is_open) {
        let problems = try_engines(tournament)?;
        observe(&standings, &problems);
    }
    let bound = tournament.affinity.as_ref().map_or(&[][..], |processors| &processors.0);
    let free = || if bound.is_empty() { processors() } else { bound.len() };
    let workers = tournament.concurrency.unwrap_or_else(free).max(1);
    let mut append = options.append_to.as_deref().map(Append::open).transpose()?;
    let queue = Mutex::new(jobs.iter());
    let stop = AtomicBool::new(false);
    // a worker waits until its pair is taken: a test that decides stops all but the pairs that have begun
    let (sender, finished) = sync_channel(0);
    let mut crashes = Crashes::default();
    let result: Result<(), PlayError> = thread::scope(|scope| {
        for worker in 0..workers.min(jobs.len()) {
            let engines = engines_of(tournament, bound.get(worker).copied());
            let (sender, queue, stop, list) = (sender.clone(), &queue, &stop, &list.openings);
            scope.spawn(move || {
                let next = || {
                    let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
                    queue.by_ref().find(|job| is_open(job) && !stop.load(Ordering::Relaxed)).copied()
                };
                work(tournament, &engines, list, next, &sender);
            });
        }
        drop(sender);
        for pair in finished {
            let appended = append.as_mut().map_or(Ok(()), |append| append.add(&pair));
            let stored = appended.and_then(|()| store.add(pair)).map_err(PlayError::from);
            let crashed = |()| crashes.add(store.rows.last_chunk(), options.most_crashes);
            if let Err(error) = stored.and_then(crashed) {
                stop.store(true, Ordering::Relaxed);
                return Err(error);
            }
            if let Some(pair) = store.rows.last_chunk() {
                standings.add(pair);
            }
            for (flag, encounter) in decided.iter().zip(&standings.encounters) {
                flag.store(encounter.is_over(), Ordering::Relaxed);
            }
            observe(&standings, &[]);
        }
        Ok(store.sort()?)
    });
    result?;
    Ok(standings)
}

/// In how many of its last games each engine has crashed.
#[derive(Default)]
struct Crashes(HashMap<String, u32>);

impl Crashes {
    /// Counts the games of a pair. Fails at the given number.
    fn add(&mut self, pair: Option<&[GameRow; 2]>, most: Option<u32>) -> Result<(), PlayError> {
        for row in pair.into_iter().flatten() {
            let failed = matches!(row.termination(), Termination::Abnormal | Termination::IllegalMove);
            let crashed = failed.then_some(row.result == Outcome::Loss);
            for (name, is_player) in [(&row.player, true), (&row.opponent, false)] {
                let count = self.0.entry(name.clone()).or_default();
                *count = if crashed == Some(is_player) { *count + 1 } else { 0 };
                if Some(*count) == most {
                    let detail = match row.termination() {
                        Termination::IllegalMove if row.detail.contains('@') => {
                            text!("illegal move {}; in USI drops are written with *, such as P*5e", row.detail)
                        }
                        Termination::IllegalMove => text!("illegal move {}", row.detail),
                        _ => Text::same(&*row.detail),
                    };
                    return Err(PlayError::Crashes { name: name.clone(), games: *count, detail });
                }
            }
        }
        Ok(())
    }
}

/// How long the games of a tournament take, from two moves of each engine at its limit. An engine with a clock is left
/// out.
///
/// # Errors
/// An engine does not start, or gives no legal move at its limit.
pub fn estimate(tournament: &Tournament) -> Result<Duration, PlayError> {
    let mut times = Vec::new();
    for engine in &tournament.engines {
        let Some(limit) = engine.limit else { continue };
        let fail = |failure| PlayError::Engine { name: engine.name.clone(), failure };
        let mut player = Player::start(engine).map_err(fail)?;
        let time = time_per_move(&mut player, tournament.game, limit);
        let unusable = |why| fail(Failure::new(FailureKind::Unusable, text!("does not obey {limit}: {why}")));
        times.push(time.map_err(unusable)?);
        player.quit();
    }
    let games = 2 * tournament.pairs * tournament.encounters().len() as u32;
    let workers = tournament.concurrency.unwrap_or_else(processors).max(1);
    let per_move = times.iter().sum::<Duration>() / times.len().max(1) as u32;
    Ok(per_move.saturating_mul(games.saturating_mul(usual_plies(tournament.game))) / workers as u32)
}

/// Moves of a game between engines, about.
fn usual_plies(game: Game) -> u32 {
    if game == Game::Minishogi { 40 } else { 120 }
}

fn processors() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// The pairs that are missing, one opening after another, so that all encounters advance together.
fn jobs(tournament: &Tournament, rows: &[GameRow]) -> Vec<Job> {
    let done: HashSet<u32> = rows.iter().map(|row| row.pair).collect();
    let encounters = tournament.encounters();
    let all = (1..=tournament.pairs).flat_map(|round| {
        let of_round = encounters.iter().enumerate();
        of_round.map(move |(encounter, engines)| (round, encounter, *engines))
    });
    let jobs = (1..).zip(all).map(|(pair, (round, encounter, engines))| Job { pair, round, encounter, engines });
    jobs.filter(|job| !done.contains(&job.pair)).collect()
}

/// Starts every engine once: a wrong command must not lose all its games, and one that does not obey its limit must not
/// play under the name of that limit. Returns what is odd about them.
fn try_engines(tournament: &Tournament) -> Result<Vec<String>, PlayError> {
    let mut problems = Vec::new();
    for engine in &tournament.engines {
        let fail = |failure| PlayError::Engine { name: engine.name.clone(), failure };
        let mut player = Player::start(engine).map_err(fail)?;
        if let Some(limit @ (Limit::Nodes(_) | Limit::Depth(_))) = engine.limit.filter(|_| engine.council.is_none())
            && let Some(why) = disobeys(&mut player, tournament.game, limit)
        {
            let why = text!("{why}{}", instead_of(engine, tournament.game));
            return Err(PlayError::Limit { name: engine.name.clone(), why });
        }
        let odd = player.not_repeatable().into_iter().chain(player.unknown_options());
        problems.extend(odd.map(|why| format!("{}: {why}", engine.name)));
        player.quit();
    }
    Ok(problems)
}

/// The engines, bound to a processor: `taskset` becomes the engine.
fn engines_of(tournament: &Tournament, processor: Option<usize>) -> Vec<EngineConfig> {
    let mut engines = tournament.engines.clone();
    for Launch { command, args, .. } in engines.iter_mut().map(|engine| &mut engine.launch) {
        if let Some(number) = processor {
            let own = std::mem::replace(command, "taskset".into());
            args.splice(0..0, ["-c".into(), number.to_string().into(), own]);
        }
    }
    engines
}

type FinishedPair = [(GameRow, String); 2];

/// Plays pairs until there are no more, or until this program ends.
fn work(
    tournament: &Tournament,
    engines: &[EngineConfig],
    openings: &[Position],
    next: impl Fn() -> Option<Job>,
    finished: &SyncSender<FinishedPair>,
) {
    let mut seats: Vec<Seat<'_>> = engines.iter().map(Seat::new).collect();
    while let Some(job) = next() {
        let mut again = 0;
        let pair = loop {
            let pair = play_pair(tournament, openings, job, &mut seats);
            let broken = |row: &GameRow| matches!(row.termination(), Termination::Abnormal | Termination::TimeUp);
            let broken = pair.iter().flatten().any(|(row, _)| broken(row));
            if !tournament.keep_engines || broken {
                seats.iter_mut().for_each(Seat::leave);
            }
            if !broken || again == tournament.replays || engines_are_stopping() {
                break pair;
            }
            again += 1;
        };
        // an engine that a signal ended has not lost
        let Some(mut pair) = pair.filter(|_| !engines_are_stopping()) else { return };
        if again > 0 {
            pair[0].0.detail = format!("{} (pair played again: {again})", pair[0].0.detail).trim().to_owned();
        }
        if finished.send(pair).is_err() {
            return;
        }
    }
    seats.iter_mut().for_each(Seat::leave);
}

fn play_pair(tournament: &Tournament, openings: &[Position], job: Job, seats: &mut [Seat<'_>]) -> Option<FinishedPair> {
    let opening = openings.get((job.round as usize - 1) % openings.len().max(1))?;
    let (first, second) = job.engines;
    // the player has the side that moves first in the first game
    let starts = if tournament.game == Game::Chess { Color::White } else { Color::Black };
    let mut games = [(1, starts), (2, starts.opponent())].into_iter().map(|(game, colour)| {
        let players = if colour == Color::Black { [first, second] } else { [second, first] };
        let played = play(tournament, opening, two(seats, players)?)?;
        let header = Header { tournament, players, round: (job.round, game) };
        let record = record::write(&header, &played);
        Some((row(tournament, job, game, colour, &played), record))
    });
    let (one, other) = (games.next()??, games.next()??);
    Some([one, other])
}

/// Two different seats.
fn two<'s, 'e>(seats: &'s mut [Seat<'e>], [a, b]: [usize; 2]) -> Option<[&'s mut Seat<'e>; 2]> {
    seats.get_disjoint_mut([a, b]).ok()
}

/// A number for the start position and the moves of a game.
fn moves_of(played: &PlayedGame) -> u64 {
    let texts = played.start.iter().chain(played.moves.iter().map(|made| &made.text));
    let bytes = texts.flat_map(|text| text.bytes().chain([b' ']));
    bytes.fold(0, |hash, byte| evalcurve_words::random::mix(hash ^ (u64::from(byte) + 1)))
}

fn row(tournament: &Tournament, job: Job, game: u32, colour: Color, played: &PlayedGame) -> GameRow {
    let name = |place: usize| tournament.engines[place].name.clone();
    let cpu_ms = |side: Color| Some(played.processor_time?[side.index()].as_millis() as u64);
    GameRow {
        pair: job.pair,
        game: game as u8,
        player: name(job.engines.0),
        opponent: name(job.engines.1),
        opening: job.round,
        colour,
        result: match played.end.winner {
            None => Outcome::Draw,
            Some(winner) if winner == colour => Outcome::Win,
            Some(_) => Outcome::Loss,
        },
        termination: played.end.termination.to_string(),
        detail: played.end.detail.clone(),
        plies: played.moves.len() as u32,
        opening_plies: played.moves.iter().filter(|played| played.search.is_none()).count() as u32,
        moves: moves_of(played),
        player_ms: played.time[colour.index()].as_millis() as u64,
        opponent_ms: played.time[colour.opponent().index()].as_millis() as u64,
        player_cpu_ms: cpu_ms(colour),
        opponent_cpu_ms: cpu_ms(colour.opponent()),
        from: 0,
        to: 0,
    }
}
