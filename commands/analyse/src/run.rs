//! Searches positions with every engine on several processes.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use evalcurve_engine::usi::{Position, engines_are_stopping};
use evalcurve_engine::{
    Board, EngineConfig, Failure, FailureKind, Game, Limit, Player, ignored, instead_of, time_per_move,
};
use evalcurve_words::language::Text;
use evalcurve_words::text;
use thiserror::Error;

use super::answer::{Answer, Reason, Value};
use super::journal::{Journal, JournalError};

#[derive(Debug, Clone)]
pub struct Search {
    pub game: Game,
    /// The engines, each with a limit. An engine without a name gets the one that it reports.
    pub engines: Vec<EngineConfig>,
    /// Searches at the same time; each has its own process of every engine. `None`: one for each processor.
    pub processes: Option<usize>,
    /// How long an engine may take longer than its limit says. Without a time in the limit, this is all of its time.
    pub patience: Duration,
    /// Start an engine anew for every position: some keep more from search to search than a new game clears.
    pub fresh: bool,
    /// After so many failures in a row an engine is given up.
    pub most_failures: usize,
    /// And after so many crashes in a row.
    pub most_crashes: usize,
    /// Where the answers are kept until the end of the analysis.
    pub journal: PathBuf,
    /// Drop the answers of an earlier run.
    pub restart: bool,
}

impl Default for Search {
    fn default() -> Self {
        Self {
            game: Game::Shogi,
            engines: Vec::new(),
            processes: None,
            patience: Duration::from_secs(30),
            fresh: false,
            most_failures: 5,
            most_crashes: 5,
            journal: PathBuf::from("analysed.journal"),
            restart: false,
        }
    }
}

/// Why an analysis cannot be made.
#[derive(Debug, Error, evalcurve_words::language::ToText)]
pub enum AnalyseError {
    /// The journal cannot be used.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// An engine does not start.
    #[error("engine '{name}' {failure}; try it in a terminal, and correct its command")]
    Engine {
        /// The name, or the command.
        name: String,
        failure: Failure,
    },
    /// Two engines would be one in the table.
    #[error("two engines have the name '{0}'; give each its own with name=…")]
    SameName(String),
}

/// One engine's answers.
#[derive(Debug, Clone)]
pub struct Searched {
    pub name: String,
    pub limit: Option<Limit>,
    /// The answers, in the order of the positions; fewer than positions if it was given up.
    pub answers: Vec<Answer>,
    /// Why it was given up.
    pub given_up: Option<GivenUp>,
}

/// Why an engine is not asked any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GivenUp {
    /// Several failures in a row; the last one, and a limit that it obeys if none of its answers counted.
    Failures(Text),
    /// It does not obey its limit, or gives no answer at all, and a limit that it obeys. None of its answers count.
    Limit(Text),
}

impl GivenUp {
    /// The reason alone.
    pub fn why(&self) -> &Text {
        match self {
            Self::Failures(why) | Self::Limit(why) => why,
        }
    }

    fn push(&mut self, more: &Text) {
        match self {
            Self::Failures(why) | Self::Limit(why) => why.push(more),
        }
    }
}

/// Answers after which it is looked whether an engine obeys its limit; with fewer positions, after
/// [`LEAST_ANSWERS`] at the end. One search alone may have been short: a forced move, a draw on the board.
const ENOUGH_ANSWERS: usize = 8;
const LEAST_ANSWERS: usize = 3;

/// How far an analysis is.
#[derive(Debug, Clone)]
pub struct Status {
    /// Positions that every engine has answered, or will not.
    pub positions: usize,
    /// The last number of positions at which it was asked whether they are enough.
    pub checked: usize,
    pub searches: usize,
    /// The engines that are still asked, by number.
    pub asked: Vec<usize>,
}

/// The result of an analysis.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Positions that were searched: the first ones of those that were given.
    pub positions: usize,
    pub engines: Vec<Searched>,
    /// What is odd about the engines.
    pub notes: Vec<Text>,
    /// Searches by this run; the others were in the journal.
    pub searches: usize,
    /// Time that the engines of this run took for them, over all processes.
    pub engine_time: Duration,
    /// Time from the first to the last search of this run.
    pub time: Duration,
}

/// The number of positions at which it is first asked whether these are enough.
const FIRST_CHECK: usize = 200;

/// The next number of positions to ask at: 20% more.
fn next_check(positions: usize) -> usize {
    positions + positions / 5
}

/// One engine during an analysis.
struct Seat {
    searched: Searched,
    key: u64,
    /// Answers that came before those of earlier positions.
    answers: Vec<Option<Answer>>,
    /// Failures in a row at the end of `searched.answers`, and crashes among the last of them.
    failures: usize,
    crashes: usize,
    /// Depth and nodes of its first searches without a mate.
    reported: Vec<(Option<u32>, Option<u64>)>,
}

impl Seat {
    /// Gives the engine up if it does not obey its limit, by at least so many answers.
    fn check_limit(&mut self, least: usize) {
        let why = self.searched.limit.filter(|_| self.reported.len() >= least);
        if let Some(why) = why.and_then(|limit| ignored(limit, self.reported.iter().copied())) {
            self.searched.answers.clear();
            self.searched.given_up = Some(GivenUp::Limit(why));
        }
    }

    /// Takes the answers that follow those that are there, up to the failure with which the engine is given up.
    fn advance(&mut self, most_failures: usize, most_crashes: usize) {
        while self.searched.given_up.is_none()
            && let Some(answer) = self.answers.get_mut(self.searched.answers.len()).and_then(Option::take)
        {
            match &answer {
                Answer::Scored(scored) => {
                    (self.failures, self.crashes) = (0, 0);
                    if matches!(scored.value, Value::Cp(_)) && self.reported.len() < ENOUGH_ANSWERS {
                        self.reported.push((scored.depth, scored.nodes));
                        if self.reported.len() == ENOUGH_ANSWERS {
                            self.check_limit(ENOUGH_ANSWERS);
                            if self.searched.given_up.is_some() {
                                return;
                            }
                        }
                    }
                }
                Answer::Failed(failed) => {
                    self.failures += 1;
                    self.crashes = if failed.reason == Reason::Crashed { self.crashes + 1 } else { 0 };
                    if self.failures >= most_failures || self.crashes >= most_crashes {
                        // what the engine itself said is in parentheses
                        let end = failed.detail.find(" (").unwrap_or(failed.detail.len());
                        let (what, said) = failed.detail.split_at(end);
                        let mut why = Text::word(what.to_owned());
                        why.push(&Text::same(said));
                        self.searched.given_up = Some(GivenUp::Failures(why));
                    }
                }
            }
            self.searched.answers.push(answer);
        }
    }

    /// The positions that it has answered; all of them once it is given up.
    fn done(&self) -> usize {
        if self.searched.given_up.is_some() { self.answers.len() } else { self.searched.answers.len() }
    }
}

/// The searches that no answer is known of, in their order: positions and engines.
fn jobs(positions: usize, seats: &[Seat]) -> Vec<(usize, usize)> {
    let is_open = |(position, engine): &(usize, usize)| {
        let seat = &seats[*engine];
        *position >= seat.searched.answers.len() && seat.answers[*position].is_none()
    };
    let of_position = |position| (0..seats.len()).map(move |engine| (position, engine));
    (0..positions).flat_map(of_position).filter(is_open).collect()
}

/// When it is asked whether the positions are enough.
struct Checks {
    /// How many positions there are.
    positions: usize,
    /// The number of positions at the last question.
    checked: usize,
    next: usize,
}

impl Checks {
    /// Tells how far the searches are. Returns how many positions are enough, once they are or no engine is left.
    fn look(
        &mut self,
        seats: &[Seat],
        searches: usize,
        is_enough: &mut impl FnMut(usize, &[Searched]) -> bool,
        observe: &mut impl FnMut(&Status),
    ) -> Option<usize> {
        let done = seats.iter().map(Seat::done).min().unwrap_or(self.positions);
        let of = |seat: &Seat| seat.searched.given_up.is_none();
        let asked = (0..seats.len()).filter(|engine| of(&seats[*engine])).collect();
        observe(&Status { positions: done, checked: self.checked, searches, asked });
        while done >= self.next && self.next > self.checked {
            let upto: Vec<Searched> = seats.iter().map(|seat| seat.searched.first(self.next)).collect();
            if is_enough(self.next, &upto) {
                return Some(self.next);
            }
            (self.checked, self.next) = (self.next, next_check(self.next).min(self.positions));
        }
        // nobody is left to ask
        seats.iter().all(|seat| seat.searched.given_up.is_some()).then(|| {
            let most = seats.iter().map(|seat| seat.searched.answers.len()).max();
            most.unwrap_or(0)
        })
    }
}

impl Search {
    /// Searches the positions in their order. At growing numbers of positions `is_enough` is asked, with the answers of
    /// all engines to those positions, whether they are enough; `observe` sees how far the analysis is.
    ///
    /// # Errors
    /// An engine does not start at all, or the journal cannot be used.
    pub fn run(
        &self,
        positions: &[Position],
        mut is_enough: impl FnMut(usize, &[Searched]) -> bool,
        mut observe: impl FnMut(&Status),
    ) -> Result<Outcome, AnalyseError> {
        let mut journal = Journal::open(&self.journal, self.restart)?;
        let (own_names, notes) = self.try_engines()?;
        let names = self.names(&own_names)?;
        let keys: Vec<u64> = positions.iter().map(key).collect();
        let mut seats = self.seats(names, &own_names, &keys, &journal);
        drop(std::mem::take(&mut journal.answers));
        for (engine, seat) in self.engines.iter().zip(&mut seats) {
            if seat.answers.iter().all(Option::is_none) && seat.searched.answers.is_empty() {
                seat.searched.given_up = positions.first().and_then(|position| self.is_mute(engine, position));
            }
        }

        let jobs = jobs(positions.len(), &seats);
        let given_up: Vec<AtomicBool> = seats.iter().map(|s| AtomicBool::new(s.searched.given_up.is_some())).collect();
        let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
        let take = || loop {
            if stop.load(Ordering::Relaxed) {
                return None;
            }
            let job = *jobs.get(next.fetch_add(1, Ordering::Relaxed))?;
            if !given_up[job.1].load(Ordering::Relaxed) {
                return Some(job);
            }
        };
        let processes = self.processes.unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from)).max(1);
        let (sender, answers) = channel();
        let began = Instant::now();
        let mut checks = Checks { positions: positions.len(), checked: 0, next: FIRST_CHECK.min(positions.len()) };
        let (mut searches, mut engine_time, mut enough) = (0, Duration::ZERO, None);
        thread::scope(|scope| {
            for _ in 0..processes.min(jobs.len()) {
                let (sender, take) = (sender.clone(), &take);
                scope.spawn(move || self.work(positions, take, &sender));
            }
            drop(sender);
            let mut run = || {
                enough = checks.look(&seats, 0, &mut is_enough, &mut observe);
                while enough.is_none() {
                    let Ok((position, engine, answer, time)) = answers.recv() else { break };
                    let seat: &mut Seat = &mut seats[engine];
                    journal.add(seat.key, keys[position], &answer)?;
                    searches += 1;
                    engine_time += time;
                    seat.answers[position] = Some(answer);
                    seat.advance(self.most_failures, self.most_crashes);
                    given_up[engine].store(seat.searched.given_up.is_some(), Ordering::Relaxed);
                    enough = checks.look(&seats, searches, &mut is_enough, &mut observe);
                }
                Ok(())
            };
            let result = run();
            stop.store(true, Ordering::Relaxed);
            result
        })
        .map_err(AnalyseError::Journal)?;
        let positions = enough.unwrap_or(positions.len());
        for (engine, seat) in self.engines.iter().zip(&mut seats) {
            if seat.searched.given_up.is_none() && seat.reported.len() < ENOUGH_ANSWERS {
                seat.check_limit(LEAST_ANSWERS);
            }
            let counts = seat.searched.answers.iter().any(|answer| matches!(answer, Answer::Scored(_)));
            if let Some(given_up) = seat.searched.given_up.as_mut().filter(|_| !counts && !engines_are_stopping()) {
                given_up.push(&instead_of(engine, self.game));
            }
        }
        let engines = seats.iter().map(|seat| seat.searched.first(positions)).collect();
        Ok(Outcome { positions, engines, notes, searches, engine_time, time: began.elapsed() })
    }

    /// The engines with the answers that the journal has.
    fn seats(&self, names: Vec<String>, own_names: &[String], keys: &[u64], journal: &Journal) -> Vec<Seat> {
        let engines = self.engines.iter().zip(names).zip(own_names);
        let mut seats: Vec<Seat> =
            engines.map(|((engine, name), own)| seat(engine, name, own, keys, journal)).collect();
        seats.iter_mut().for_each(|seat| seat.advance(self.most_failures, self.most_crashes));
        seats
    }

    /// Starts every engine once: a wrong command is an error. Returns the names, and what is odd.
    fn try_engines(&self) -> Result<(Vec<String>, Vec<Text>), AnalyseError> {
        let (mut names, mut notes): (Vec<String>, Vec<Text>) = (Vec::new(), Vec::new());
        for engine in &self.engines {
            let shown =
                if engine.name.is_empty() { engine.launch.command.to_string_lossy() } else { (&engine.name).into() };
            let fail = |failure| AnalyseError::Engine { name: shown.clone().into_owned(), failure };
            let player = Player::start(engine).map_err(fail)?;
            let own = player.own_name().map(str::trim).filter(|name| !name.is_empty());
            let name = if engine.name.is_empty() { own.unwrap_or(&shown).to_owned() } else { engine.name.clone() };
            notes.extend(player.not_repeatable().map(|why| why.about(&Text::same(&name))));
            player.quit();
            names.push(name);
        }
        Ok((names, notes))
    }

    /// Whether an engine gives no answer to the first position, nor to the initial one: before all others wait for it.
    fn is_mute(&self, engine: &EngineConfig, position: &Position) -> Option<GivenUp> {
        let limit = engine.limit?;
        let (board, _) = Board::new(self.game, position);
        let mut player = Player::for_game(None, engine).ok()?;
        let found = player.search(position.clone(), board.side(), limit.go(), self.patience_of(engine));
        let late = found.err().filter(|failure| failure.kind() == FailureKind::Late);
        if late.is_none() {
            player.quit();
        }
        let late = late?;
        let mut again = Player::start(engine).ok()?;
        let obeys = time_per_move(&mut again, self.game, limit).is_ok();
        again.quit();
        let limit = limit.to_string();
        (!obeys).then(|| GivenUp::Limit(text!("{late} with the limit {limit} (`patience`)")))
    }

    /// How long an answer may take.
    fn patience_of(&self, engine: &EngineConfig) -> Duration {
        self.patience.saturating_add(engine.limit.and_then(Limit::time).unwrap_or_default())
    }

    /// The names of the engines, with their limits where one engine has several.
    fn names(&self, own: &[String]) -> Result<Vec<String>, AnalyseError> {
        let has_several = |name: &String| own.iter().filter(|other| *other == name).count() > 1;
        let name = |(engine, name): (&EngineConfig, &String)| match engine.limit.filter(|_| has_several(name)) {
            Some(limit) => format!("{name} {limit}"),
            None => name.clone(),
        };
        let names: Vec<String> = self.engines.iter().zip(own).map(name).collect();
        let twice = (1..names.len()).find(|i| names[..*i].contains(&names[*i]));
        twice.map_or(Ok(()), |i| Err(AnalyseError::SameName(names[i].clone())))?;
        Ok(names)
    }

    /// Searches until there is nothing left, or until this program ends.
    fn work(
        &self,
        positions: &[Position],
        take: impl Fn() -> Option<(usize, usize)>,
        sender: &Sender<(usize, usize, Answer, Duration)>,
    ) {
        let mut players: Vec<Option<Player>> = self.engines.iter().map(|_| None).collect();
        while let Some((position, engine)) = take() {
            let began = Instant::now();
            let answer = self.search(&positions[position], &self.engines[engine], &mut players[engine]);
            // an engine that a signal ended has not failed
            if engines_are_stopping() || sender.send((position, engine, answer, began.elapsed())).is_err() {
                break;
            }
        }
        players.into_iter().flatten().for_each(Player::quit);
    }

    /// Lets an engine search a position as the first of a new game. It is started if it does not run.
    fn search(&self, position: &Position, engine: &EngineConfig, player: &mut Option<Player>) -> Answer {
        let (board, _) = Board::new(self.game, position);
        let go = engine.limit.map(Limit::go).unwrap_or_default();
        let patience = self.patience_of(engine);
        let mut ask = || -> Result<_, Failure> {
            // one that has ended since its last answer is started again
            let mut ready = Player::for_game(player.take(), engine)?;
            let result = ready.search(position.clone(), board.side(), go.clone(), patience)?;
            *player = if self.fresh { None } else { Some(ready) };
            Ok(result)
        };
        match ask() {
            Ok(result) => Answer::of(&result, &board),
            Err(late) if late.kind() == FailureKind::Late => Answer::failed(Reason::NoAnswer, &late.to_string()),
            Err(why) => Answer::failed(Reason::Crashed, &why.to_string()),
        }
    }
}

/// A number for the start and the moves of a position.
fn key(position: &Position) -> u64 {
    let start = position.start.iter().flat_map(|text| text.bytes());
    let moves = position.moves.iter().flat_map(|text| text.bytes().chain([b' ']));
    digest(start.chain([b'|']).chain(moves))
}

/// A number for these bytes.
fn digest(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0, |hash, byte| evalcurve_words::random::mix(hash ^ (u64::from(byte) + 1)))
}

/// An engine with the answers that the journal has for these positions.
fn seat(engine: &EngineConfig, name: String, own_name: &str, keys: &[u64], journal: &Journal) -> Seat {
    let words =
        [engine.launch.command.as_os_str()].into_iter().chain(engine.launch.args.iter().map(|arg| arg.as_os_str()));
    let words: Vec<String> = words.map(|word| word.to_string_lossy().into_owned()).collect();
    let text = format!("{own_name}\n{words:?}\n{:?}\n{:?}", engine.options, engine.limit);
    let key = digest(text.bytes());
    let answers = keys.iter().map(|position| journal.answers.get(&(key, *position)).cloned()).collect();
    let searched = Searched { name, limit: engine.limit, answers: Vec::new(), given_up: None };
    Seat { searched, key, answers, failures: 0, crashes: 0, reported: Vec::new() }
}

impl Searched {
    /// Mean time of its searches by this run and those before, of those that count.
    pub fn mean_time(&self) -> Option<Duration> {
        let time = |answer: &Answer| match answer {
            Answer::Scored(scored) => Some(scored.time_us),
            Answer::Failed(_) => None,
        };
        let times: Vec<u64> = self.answers.iter().filter_map(time).collect();
        let mean = times.iter().sum::<u64>().checked_div(times.len() as u64)?;
        Some(Duration::from_micros(mean))
    }

    /// The same for the first positions only.
    fn first(&self, positions: usize) -> Self {
        let given_up = self.given_up.clone().filter(|_| self.answers.len() <= positions);
        let answers = self.answers.iter().take(positions).cloned().collect();
        Self { name: self.name.clone(), limit: self.limit, answers, given_up }
    }
}
