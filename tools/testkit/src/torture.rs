//! Games against a council whose members fail at random. Checks that every move is legal and in time, and that no
//! process or descriptor remains.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use std::{fs, io};

use evalcurve_calibration::{Calibration, FittedModel};
use evalcurve_engine::board::{Board, Game};
use evalcurve_engine::usi::{EngineOutput, FromEngine, Launch, Position, Process, Protocol, ReadLine, SpawnError};
use evalcurve_fit::fit::Method;
use evalcurve_rules::Rule;
use evalcurve_words::random;
use rayon::prelude::*;
use serde::Serialize;

use crate::scripted::Fault;

/// The file with the calibration of every member, for rules that need one.
const CALIBRATION: &str = "calibration.json";

/// More memory than this, in KiB, counts as a queue beyond its bound: the largest is 512 lines of 64 KiB.
const MEMORY_KIB: u64 = 64 << 10;

/// Members per council.
const MEMBERS: u64 = 3;

/// A longer wait counts as a hang.
const HANG: Duration = Duration::from_secs(30);

/// What to test.
#[derive(Debug, Clone)]
pub struct TortureOptions {
    /// This program, which is the council and its members.
    pub program: PathBuf,
    /// The game.
    pub game: Game,
    /// Chess is Chess960, from its starting positions.
    pub chess960: bool,
    /// Games.
    pub games: u64,
    /// Games per council process.
    pub session_games: u64,
    /// Councils at the same time.
    pub jobs: usize,
    /// Moves of the council per game.
    pub moves: u32,
    /// The seed of faults and commands.
    pub seed: u64,
    /// The time per move; a third of it is the margin of the council.
    pub time: Duration,
    /// An answer counts as late only this long after its time: for machines with other work.
    pub grace: Duration,
    /// The rate of each fault per search of a member.
    pub rate: f64,
}

/// The result.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct TortureReport {
    /// Games started.
    pub games: u64,
    /// Moves requested.
    pub moves: u64,
    /// Illegal moves, except resignations.
    pub illegal: u64,
    /// Answers after their time.
    pub late: u64,
    /// Answers that did not arrive.
    pub hangs: u64,
    /// Games that the council resigned.
    pub resignations: u64,
    /// Faults of members that the council reported.
    pub faults: u64,
    /// Moves without a vote.
    pub ways_out: u64,
    /// Descriptors at the end of a session beyond those that the members need (Linux).
    pub leaked_descriptors: u64,
    /// Zombies at the end of a session (Linux).
    pub zombies: u64,
    /// Members that outlived their council (Linux).
    pub orphans: u64,
    /// Councils that ended with an error.
    pub bad_endings: u64,
    /// Councils that used too much memory (Linux).
    pub too_large: u64,
    /// The most memory of a council, in KiB (Linux).
    pub largest_kib: u64,
    /// The most that a council grew after the first quarter of its games, in KiB (Linux).
    pub growth_kib: u64,
    /// The latest answer, in milliseconds before its deadline.
    pub closest_ms: Option<i64>,
    /// Descriptions of the first problems.
    pub notes: Vec<String>,
}

impl TortureReport {
    /// Whether every move was legal and in time, and no process or descriptor remained.
    pub fn is_clean(&self) -> bool {
        let bad = [
            self.illegal,
            self.late,
            self.hangs,
            self.leaked_descriptors,
            self.zombies,
            self.orphans,
            self.bad_endings,
            self.too_large,
        ];
        bad.iter().all(|&n| n == 0) && self.moves > 0
    }

    fn add(mut self, other: Self) -> Self {
        self.games += other.games;
        self.moves += other.moves;
        self.illegal += other.illegal;
        self.late += other.late;
        self.hangs += other.hangs;
        self.resignations += other.resignations;
        self.faults += other.faults;
        self.ways_out += other.ways_out;
        self.leaked_descriptors += other.leaked_descriptors;
        self.zombies += other.zombies;
        self.orphans += other.orphans;
        self.bad_endings += other.bad_endings;
        self.too_large += other.too_large;
        self.largest_kib = self.largest_kib.max(other.largest_kib);
        self.growth_kib = self.growth_kib.max(other.growth_kib);
        self.closest_ms = self.closest_ms.into_iter().chain(other.closest_ms).min();
        other.notes.into_iter().for_each(|text| self.note(text));
        self
    }

    fn note(&mut self, text: String) {
        if self.notes.len() < 20 {
            self.notes.push(text);
        }
    }
}

/// Why the test cannot start.
#[derive(Debug, thiserror::Error)]
pub enum TortureError {
    /// The configurations cannot be written.
    #[error("cannot write the configuration: {0}; set TMPDIR to a folder that can be written")]
    Folder(#[from] io::Error),
    /// The council cannot be started.
    #[error(transparent)]
    Start(#[from] SpawnError),
}

/// Plays the games. Every council is a separate process.
///
/// # Errors
/// The configurations cannot be written, or the program cannot be started. The report contains the faults of the
/// council.
pub fn torture(options: &TortureOptions) -> Result<TortureReport, TortureError> {
    let folder = std::env::temp_dir().join(format!("evalcurve-torture-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let calibration = Calibration::from_model("M", Method::LeastSquares, FittedModel::sigmoid(0.002, 0.0));
    fs::write(folder.join(CALIBRATION), calibration.to_json().map_err(io::Error::other)?)?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(options.jobs).build().map_err(io::Error::other)?;
    // the open descriptors of a council whose members work, including inherited ones
    let sound = TortureOptions { rate: 0.0, games: 0, ..options.clone() };
    let mut needed = 0;
    let result = one_session(&sound, u64::MAX, &folder, &mut needed).and_then(|_| {
        let sessions = options.games.div_ceil(options.session_games);
        let reports = pool.install(|| {
            let all = (0..sessions).into_par_iter();
            all.map(|session| one_session(options, session, &folder, &mut needed.clone())).collect::<Vec<_>>()
        });
        reports.into_iter().try_fold(TortureReport::default(), |all, report| Ok(all.add(report?)))
    });
    let _ = fs::remove_dir_all(&folder);
    result
}

/// The configuration of a session. Each member has some of the faults.
fn configuration(options: &TortureOptions, session: u64, mark: &str) -> String {
    let ms = options.time.as_millis() as u64;
    let rules =
        [Rule::Majority, Rule::Weighted, Rule::Optimistic, Rule::Pessimistic, Rule::CrossExamination, Rule::Budget];
    let rule = rules[(session % rules.len() as u64) as usize];
    let calibration = if rule.needs_win_rates() { CALIBRATION } else { "none" };
    let mut text = format!(
        "game = \"{}\"\nrule = \"{}\"\nlog = \"votes-{session}.jsonl\"\nrestarts = 5\nearly-stop = {}\nlate = \"{}\"\n\
         [time]\nmargin-ms = {}\nlongest-ms = {ms}\n",
        options.game.as_str(),
        rule,
        session.is_multiple_of(3),
        ["abstain", "last-line"][(session / 4 % 2) as usize],
        ms / 3,
    );
    if rule == Rule::Budget {
        // every stage, by the clock or by nodes
        let nodes = if (session / 6).is_multiple_of(2) { "" } else { "nodes = 30000\n" };
        text += &format!("[budget]\n{nodes}agreed = 1.0\ndecided = 2.0\ndoubt = 9.0\n");
    }
    let program = options.program.to_string_lossy().replace('\\', "\\\\");
    for member in 0..MEMBERS {
        let seed = random::bits(&[options.seed, session, member]) >> 1;
        let mut args = vec![
            "scripted-engine".to_owned(),
            format!("--game={}", options.game.as_str()),
            format!("--name={mark}"),
            format!("--seed={seed}"),
            format!("--think-ms={}", random::below(ms / 4, &[seed, 1])),
            format!("--lines={}", 1 + random::below(3, &[seed, 2])),
        ];
        for fault in Fault::ALL {
            // half of the faults for each member, so that the others differ
            if random::below(2, &[seed, 3, fault as u64]) == 0 {
                // an engine starts once for many searches
                let times = if fault.is_at_start() && fault != Fault::CrashAtStart { 10.0 } else { 1.0 };
                args.push(format!("--fault={}={}", fault.as_str(), (options.rate * times).min(0.5)));
            }
        }
        let args: Vec<String> = args.iter().map(|a| format!("\"{a}\"")).collect();
        text += &format!(
            "[[engine]]\nname = \"M{member}\"\ncommand = \"{program}\"\nargs = [{}]\ncalibration = \"{calibration}\"\n\
             stop-patience-ms = {}\nstart-ms = 5000\n",
            args.join(", "),
            ms / 2
        );
    }
    text
}

/// A GUI and its council.
struct Gui<'a> {
    options: &'a TortureOptions,
    council: Process,
    output: Receiver<EngineOutput>,
    report: TortureReport,
    session: u64,
}

/// The council does not answer.
struct NoAnswer;

fn one_session(
    options: &TortureOptions,
    session: u64,
    folder: &Path,
    needed: &mut u64,
) -> Result<TortureReport, TortureError> {
    let mark = format!("torture-{}-{session}", std::process::id());
    let config = folder.join(format!("council-{session}.toml"));
    fs::write(&config, configuration(options, session, &mark))?;
    let launch = Launch {
        command: options.program.clone().into(),
        args: vec!["council".into(), config.into()],
        directory: None,
        environment: Vec::new(),
    };
    let (sender, output) = channel();
    let council = Process::start(&launch, move |line| sender.send(line).is_ok())?;
    let mut gui = Gui { options, council, output, report: TortureReport::default(), session };
    let played = gui.games();
    let pid = gui.council.id();
    if played.is_err() {
        gui.report.hangs += 1;
        gui.report.note(format!("session {session}: the council hangs"));
    } else {
        if options.games == 0 {
            *needed = descriptors(pid);
        }
        gui.look_for_leaks(pid, *needed);
        gui.look_at_memory(pid);
        gui.council.send("quit");
        let until = Instant::now() + HANG;
        let closed = loop {
            match gui.output.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(EngineOutput::Closed { stderr }) => break Some(stderr),
                Ok(EngineOutput::Line(..)) => {}
                Err(_) => break None,
            }
        };
        if closed.as_ref().is_none_or(|stderr| !stderr.is_empty()) {
            gui.report.bad_endings += 1;
            gui.report.note(format!("session {session}: ended with {closed:?} on standard error"));
        }
    }
    let Gui { council, mut report, .. } = gui;
    drop(council);
    let orphans = settles(|| processes_named(&mark));
    if orphans > 0 {
        report.orphans += orphans;
        report.note(format!("session {session}: {orphans} members are still running"));
    }
    Ok(report)
}

/// Waits until a count is 0, half a minute at most; what is left then. The system may be busy.
pub(crate) fn settles(mut count: impl FnMut() -> u64) -> u64 {
    let until = Instant::now() + Duration::from_secs(30);
    loop {
        let left = count();
        if left == 0 || Instant::now() > until {
            return left;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

impl Gui<'_> {
    fn next(&mut self, until: Instant) -> Result<Option<(String, Instant)>, NoAnswer> {
        match self.output.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(EngineOutput::Line(ReadLine::Text(text), at)) => {
                if text.starts_with("info string M") {
                    self.report.faults += 1;
                }
                if text.contains("no member voted") {
                    self.report.ways_out += 1;
                }
                Ok(Some((text, at)))
            }
            Ok(EngineOutput::Line(ReadLine::TooLong(_), _)) => Ok(Some((String::new(), Instant::now()))),
            Ok(EngineOutput::Closed { stderr }) => {
                self.report.note(format!("session {}: the council ended: {}", self.session, stderr));
                Err(NoAnswer)
            }
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(NoAnswer),
        }
    }

    fn wait_for(&mut self, word: &str) -> Result<(), NoAnswer> {
        let until = Instant::now() + HANG;
        loop {
            match self.next(until)? {
                Some((text, _)) if text == word => return Ok(()),
                Some(_) => {}
                None => return Err(NoAnswer),
            }
        }
    }

    fn games(&mut self) -> Result<(), NoAnswer> {
        let protocol = self.options.game.protocol();
        self.council.send(protocol.greeting());
        self.wait_for(protocol.greeting_done())?;
        if self.options.chess960 {
            self.council.send("setoption name UCI_Chess960 value true");
        }
        let first = self.session.saturating_mul(self.options.session_games);
        let games = self.options.games.saturating_sub(first).min(self.options.session_games);
        let mut early_kib = None;
        for game in 0..games {
            if game == games / 4 {
                early_kib = memory(self.council.id(), "VmRSS:");
            }
            self.report.games += 1;
            self.council.send("isready");
            self.wait_for("readyok")?;
            self.council.send(protocol.new_game());
            self.game(game)?;
        }
        let growth = early_kib.zip(memory(self.council.id(), "VmRSS:")).map(|(early, late)| late.saturating_sub(early));
        self.report.growth_kib = growth.unwrap_or(0);
        // starts all members that may still be restarted, before descriptors are counted
        self.council.send("isready");
        self.wait_for("readyok")
    }

    fn game(&mut self, game: u64) -> Result<(), NoAnswer> {
        let keys = |ply: u32, what: u64| [self.options.seed, self.session, game, u64::from(ply), what];
        let mut position = Position::default();
        let (mut board, _) = if self.options.chess960 {
            let number = random::below(960, &keys(0, 9)) as u32;
            position.start = Some(format!("{:#}", cozy_chess::Board::chess960_startpos(number)));
            Board::chess960(&position)
        } else {
            Board::new(self.options.game, &position)
        };
        let ply_keys: Vec<[[u64; 5]; 4]> =
            (0..2 * self.options.moves).map(|p| [keys(p, 0), keys(p, 1), keys(p, 2), keys(p, 3)]).collect();
        for ply in ply_keys {
            let mut moves = board.legal_moves();
            moves.sort_unstable();
            if moves.is_empty() {
                break;
            }
            let drawn = moves[random::below(moves.len() as u64, &ply[0]) as usize].clone();
            // the council plays the second move first, so that both colours occur
            let council_moves = position.moves.len() % 2 == (game % 2) as usize;
            let played = match council_moves {
                true => self.one_move(&position, &board, &ply)?,
                false => Some(drawn),
            };
            let Some(played) = played else { break };
            if !board.play(&played) {
                break;
            }
            position.moves.push(played);
        }
        let result = if game.is_multiple_of(2) { "win" } else { "lose" };
        self.council.send(format!("gameover {result}"));
        Ok(())
    }

    /// A move of the council; `None` if the game is over.
    fn one_move(
        &mut self,
        position: &Position,
        board: &Board,
        keys: &[[u64; 5]; 4],
    ) -> Result<Option<String>, NoAnswer> {
        let ms = self.options.time.as_millis() as u64;
        self.report.moves += 1;
        self.council.send(position.line(self.options.game.protocol()));
        // a decision without a clock (`stop`, a node limit) gets a fifth of a second for its way back
        let slack = Duration::from_millis(200);
        let patience = Duration::from_millis(ms / 2);
        let pause = Duration::from_millis(random::below(ms / 2, &keys[1]));
        let clock =
            |main_ms: u64, more_ms: u64| format!("btime {main_ms} wtime {main_ms} binc {more_ms} winc {more_ms}");
        let (go, allowed) = match (random::below(7, &keys[2]), self.options.game.protocol()) {
            (0, Protocol::Usi) => (format!("go btime {ms} wtime {ms} byoyomi {ms}"), self.options.time * 2),
            (1, Protocol::Usi) => (format!("go btime 0 wtime 0 byoyomi {ms}"), self.options.time),
            (3, Protocol::Usi) => (format!("go {}", clock(100, ms)), self.options.time),
            // the increment comes after the move
            (0, Protocol::Uci) => (format!("go {}", clock(ms, 2 * ms)), self.options.time),
            (1 | 3, Protocol::Uci) => (format!("go {}", clock(ms / 2, ms)), self.options.time / 2),
            (2, _) => (format!("go movetime {ms}"), self.options.time),
            (4, _) => ("go nodes 1000".to_owned(), self.options.time + slack),
            (5, _) => ("go infinite".to_owned(), patience + slack),
            (_, Protocol::Usi) => (format!("go ponder btime 0 wtime 0 byoyomi {ms}"), self.options.time),
            (_, Protocol::Uci) => (format!("go ponder {}", clock(ms, ms)), self.options.time),
        };
        let mut since = Instant::now();
        self.council.send(go.clone());
        let second = match go.as_str() {
            "go infinite" => Some("stop"),
            _ if go.starts_with("go ponder") => Some("ponderhit"),
            _ => None,
        };
        if let Some(order) = second {
            let until = since + pause;
            while let Some((text, _)) = self.next(until)? {
                if text.starts_with("bestmove") {
                    self.report.illegal += 1;
                    self.report.note(format!("session {}: an answer before {order}", self.session));
                    return Ok(None);
                }
            }
            since = Instant::now();
            self.council.send(order);
        }
        let until = since + HANG;
        let (best, at) = loop {
            let Some((text, at)) = self.next(until)? else { return Err(NoAnswer) };
            if let FromEngine::BestMove(best) = FromEngine::parse(&text, self.options.game.protocol()) {
                break (best.best, at);
            }
        };
        let left = allowed.as_millis() as i64 - at.saturating_duration_since(since).as_millis() as i64;
        self.report.closest_ms = Some(self.report.closest_ms.map_or(left, |c| c.min(left)));
        if left + (self.options.grace.as_millis() as i64) < 0 {
            self.report.late += 1;
            self.report.note(format!("session {}: {} ms late after {go}", self.session, -left));
        }
        if best == "resign" || (best == "win" && board.may_declare()) {
            self.report.resignations += 1;
            return Ok(None);
        }
        if !board.is_legal(&best) {
            self.report.illegal += 1;
            let line = position.line(self.options.game.protocol());
            self.report.note(format!("session {}: {best} is illegal in {line}", self.session));
            return Ok(None);
        }
        Ok(Some(best))
    }

    fn look_at_memory(&mut self, pid: u32) {
        let largest = memory(pid, "VmHWM:").unwrap_or(0);
        self.report.largest_kib = largest;
        if largest > MEMORY_KIB {
            self.report.too_large += 1;
            self.report.note(format!("session {}: {largest} KiB", self.session));
        }
    }

    /// Counts zombies, and open descriptors beyond those of a council whose members work.
    fn look_for_leaks(&mut self, pid: u32, needed: u64) {
        let leaked = settles(|| descriptors(pid).saturating_sub(needed));
        let zombies = settles(|| zombies_of(pid));
        if leaked + zombies > 0 {
            self.report.leaked_descriptors += leaked;
            self.report.zombies += zombies;
            self.report.note(format!("session {}: {leaked} descriptors too many, {zombies} zombies", self.session));
        }
    }
}

/// Open descriptors of a process; 0 if the system does not report them.
fn descriptors(pid: u32) -> u64 {
    fs::read_dir(format!("/proc/{pid}/fd")).map_or(0, |d| d.count() as u64)
}

/// A field of the memory of a process in KiB.
fn memory(pid: u32, field: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix(field)?.split_whitespace().next()?.parse().ok())
}

fn processes() -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .map(|e| e.path())
        .filter(|p| p.file_name().and_then(|n| n.to_str()).is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit())))
}

fn zombies_of(pid: u32) -> u64 {
    let is_zombie = |path: PathBuf| {
        let stat = fs::read_to_string(path.join("stat")).ok()?;
        // the name is in parentheses and may contain blanks
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
        Some(fields.next()? == "Z" && fields.next()? == pid.to_string())
    };
    processes().filter(|p| is_zombie(p.clone()) == Some(true)).count() as u64
}

/// Processes whose command line contains a word.
pub(crate) fn processes_named(word: &str) -> u64 {
    let holds = |path: &PathBuf| {
        let line = fs::read(path.join("cmdline")).unwrap_or_default();
        line.split(|&b| b == 0).any(|argument| argument == format!("--name={word}").as_bytes())
    };
    processes().filter(holds).count() as u64
}
