//! A scripted engine for tests: legal moves, known scores, and faults on demand.

use std::io::{self, BufReader, Read, Write};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use evalcurve_calibration::types::Color;
use evalcurve_engine::board::{Board, Game};
use evalcurve_engine::usi::{FromGui, Go, LineReader, Position, Protocol, ReadLine};
use evalcurve_words::random;

/// A fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fault {
    /// It ends before its greeting.
    CrashAtStart,
    /// It ends during a search.
    Crash,
    /// It stops reacting, even to `quit`.
    Hang,
    /// It answers long after its time.
    Slow,
    /// It plays an illegal move.
    Illegal,
    /// It writes invalid lines between the valid ones.
    Garbage,
    /// It writes invalid UTF-8.
    NotUtf8,
    /// It writes a line of 10 MB.
    LongLine,
    /// It answers without a score.
    NoInfo,
    /// It resigns.
    Resign,
    /// It declares a win that is not valid.
    Win,
    /// It closes its output and keeps running.
    Close,
    /// It ignores `stop`.
    IgnoreStop,
    /// It writes lines as fast as it can, some of them as long as a line may be.
    Flood,
    /// It lies: scores, depths and ranks that no engine has, and moves that do not exist.
    Lie,
    /// It ignores `quit` and the end of its input, for a minute.
    IgnoreQuit,
    /// It starts a process that outlives it by a minute and has its output open.
    Children,
}

impl Fault {
    /// All faults.
    pub const ALL: [Self; 17] = [
        Self::CrashAtStart,
        Self::Crash,
        Self::Hang,
        Self::Slow,
        Self::Illegal,
        Self::Garbage,
        Self::NotUtf8,
        Self::LongLine,
        Self::NoInfo,
        Self::Resign,
        Self::Win,
        Self::Close,
        Self::IgnoreStop,
        Self::Flood,
        Self::Lie,
        Self::IgnoreQuit,
        Self::Children,
    ];

    /// The name on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::CrashAtStart => "crash-at-start",
            Self::Crash => "crash",
            Self::Hang => "hang",
            Self::Slow => "slow",
            Self::Illegal => "illegal",
            Self::Garbage => "garbage",
            Self::NotUtf8 => "not-utf8",
            Self::LongLine => "long-line",
            Self::NoInfo => "no-info",
            Self::Resign => "resign",
            Self::Win => "win",
            Self::Close => "close",
            Self::IgnoreStop => "ignore-stop",
            Self::Flood => "flood",
            Self::Lie => "lie",
            Self::IgnoreQuit => "ignore-quit",
            Self::Children => "children",
        }
    }

    /// Whether it happens at the start of the engine, and not in a search.
    pub fn is_at_start(self) -> bool {
        matches!(self, Self::CrashAtStart | Self::IgnoreQuit | Self::Children)
    }

    /// The fault with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|f| f.as_str() == name)
    }
}

/// The script.
#[derive(Debug, Clone)]
pub struct Script {
    /// The game.
    pub game: Game,
    /// The name that it reports.
    pub name: String,
    /// The seed of moves, scores and faults.
    pub seed: u64,
    /// The moves that it prefers: it plays the first of them that is legal.
    pub prefer: Vec<String>,
    /// Its score: `30`, `mate 5`, or `material`, with pawns of 100. Random within ±600 if none is given.
    pub score: Option<String>,
    /// How long it searches, unless `go` gives less time.
    pub think: Duration,
    /// Faults with their rates in 0..=1, per start or per search.
    pub faults: Vec<(Fault, f64)>,
    /// The nodes that it reports.
    pub nodes: u64,
    /// The number of lines (MultiPV).
    pub lines: usize,
    /// Faults depend on the position alone, so that the same games have the same faults.
    pub repeatable: bool,
    /// A file to append the time of every answer to, in nanoseconds since 1970, for measurements.
    pub stamps: Option<PathBuf>,
}

/// Why a script ended early.
#[derive(Debug, thiserror::Error)]
pub enum Ended {
    /// A fault of the script.
    #[error("the script contains the fault {}", .0.as_str())]
    Fault(Fault),
    /// The GUI no longer reads.
    #[error("cannot write: {0}")]
    Output(#[from] io::Error),
}

/// Plays the script until `quit` or the end of the input.
///
/// # Errors
/// A fault of the script ends it, or the output cannot be written.
pub fn play(script: &Script, input: impl Read + Send + 'static, output: impl Write) -> Result<(), Ended> {
    let (sender, orders) = channel();
    thread::spawn(move || {
        let mut lines = LineReader::new(BufReader::new(input));
        while let Ok(Some(line)) = lines.read() {
            if let ReadLine::Text(text) = line
                && sender.send(FromGui::parse(&text)).is_err()
            {
                return;
            }
        }
    });
    let mut player = Player {
        script,
        orders,
        output,
        position: Position::default(),
        chess960: false,
        searches: 0,
        start: if script.repeatable { 0 } else { start_number() },
    };
    if player.has(Fault::CrashAtStart) {
        return Err(Ended::Fault(Fault::CrashAtStart));
    }
    if player.has(Fault::Children) {
        start_child(&script.name)?;
    }
    let ignores_quit = player.has(Fault::IgnoreQuit);
    let ended = player.run();
    if ignores_quit {
        thread::sleep(LINGER);
    }
    ended
}

/// How long a process that ignores its end runs on.
const LINGER: Duration = Duration::from_secs(60);

/// Starts a process that outlives this one.
fn start_child(name: &str) -> Result<(), Ended> {
    let mut child = std::process::Command::new(std::env::current_exe()?);
    child.args(["scripted-engine", "--fault=ignore-quit", &format!("--name={name}")]);
    child.stdin(std::process::Stdio::null()).spawn()?;
    Ok(())
}

/// Gives every start its own random numbers; otherwise a crash would repeat after every restart.
fn start_number() -> u64 {
    u64::from(std::process::id())
}

struct Player<'a, W> {
    script: &'a Script,
    orders: Receiver<FromGui>,
    output: W,
    position: Position,
    chess960: bool,
    searches: u64,
    start: u64,
}

impl<W: Write> Player<'_, W> {
    /// Whether a fault occurs in this search.
    fn has(&self, fault: Fault) -> bool {
        let rate = self.script.faults.iter().find(|(f, _)| *f == fault).map_or(0.0, |(_, rate)| *rate);
        let draw = random::unit(&[self.script.seed, self.start, self.searches, fault as u64]);
        draw < rate
    }

    fn send(&mut self, text: &str) -> Result<(), Ended> {
        self.output.write_all(format!("{text}\n").as_bytes())?;
        Ok(self.output.flush()?)
    }

    fn run(&mut self) -> Result<(), Ended> {
        while let Ok(order) = self.orders.recv() {
            match order {
                FromGui::Greeting(protocol) => {
                    let name = format!("id name {}\nid author the script", self.script.name);
                    self.send(&name)?;
                    self.send("option name Threads type spin default 1 min 1 max 512")?;
                    self.send("option name Style type combo default Normal var Solid var Normal var Risky")?;
                    self.send("option name MultiPV type spin default 1 min 1 max 600")?;
                    if self.script.game == Game::Chess {
                        self.send("option name UCI_Chess960 type check default false")?;
                    }
                    self.send(protocol.greeting_done())?;
                }
                FromGui::IsReady => self.send("readyok")?,
                FromGui::Position(position) => self.position = position,
                FromGui::SetOption { name, value } if name == "UCI_Chess960" => {
                    self.chess960 = value.as_deref() == Some("true");
                }
                FromGui::Go(go) => match self.search(&go)? {
                    true => {}
                    false => return Ok(()),
                },
                FromGui::Quit => return Ok(()),
                _ => {}
            }
        }
        Ok(())
    }

    /// Returns false after `quit`.
    fn search(&mut self, go: &Go) -> Result<bool, Ended> {
        self.searches += 1;
        if self.script.repeatable {
            let line = self.position.line(self.script.protocol());
            self.start = random::bits(&line.bytes().map(u64::from).collect::<Vec<u64>>());
            self.searches = 0;
        }
        let (board, _) = match self.chess960 {
            true => Board::chess960(&self.position),
            false => Board::new(self.script.game, &self.position),
        };
        let mut think = self.script.think;
        let protocol = self.script.game.protocol();
        let given = given_ms(go, board.side(), protocol);
        if let Some(ms) = given {
            think = think.min(Duration::from_millis(ms));
        }
        if self.has(Fault::Slow) {
            think += Duration::from_secs(3);
        }
        let moment = random::unit(&[self.script.seed, self.start, self.searches, 99]);
        let first = think.mul_f64(moment);
        let ignore_stop = self.has(Fault::IgnoreStop) || self.has(Fault::Slow);
        let begun = Instant::now();
        let best = self.best(&board);
        if !self.has(Fault::NoInfo) {
            self.info(&board, &best, go.depth.unwrap_or(1))?;
        }
        let effort = go.nodes.is_some() || go.depth.is_some() || go.mate.is_some();
        // a UCI engine without any limit that it knows searches until `stop`
        let mut open = go.is_open() || (protocol == Protocol::Uci && given.is_none() && !effort);
        let early = self.wait(begun + first, open && first.is_zero(), ignore_stop, &mut open)?;
        if early == Wait::Quit {
            return Ok(false);
        }
        self.fail_midway()?;
        if early == Wait::TimeUp || open {
            match self.wait(begun + think, open, ignore_stop, &mut open)? {
                Wait::Quit => return Ok(false),
                Wait::TimeUp | Wait::Stop => {}
            }
        }
        let answer = if self.has(Fault::Illegal) {
            "9i1a+".to_owned()
        } else if self.has(Fault::Resign) {
            "resign".to_owned()
        } else if self.has(Fault::Win) {
            "win".to_owned()
        } else {
            best
        };
        if let Some(path) = &self.script.stamps {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let mut file = std::fs::File::options().create(true).append(true).open(path)?;
            file.write_all(format!("{}\n", now.as_nanos()).as_bytes())?;
        }
        self.send(&format!("bestmove {answer}"))?;
        Ok(true)
    }

    fn fail_midway(&mut self) -> Result<(), Ended> {
        if self.has(Fault::Crash) {
            return Err(Ended::Fault(Fault::Crash));
        }
        if self.has(Fault::Hang) {
            // only a kill ends this, or the end of the program that started it
            let parent = parent_id();
            while parent_id() == parent {
                thread::sleep(Duration::from_secs(1));
            }
        }
        if self.has(Fault::Close) {
            close_output();
            thread::sleep(Duration::from_secs(60));
            return Err(Ended::Fault(Fault::Close));
        }
        if self.has(Fault::Garbage) {
            for i in 0..20 {
                let keys = [self.script.seed, self.searches, 7, i];
                let words = [
                    "info",
                    "score",
                    "cp",
                    "mate",
                    "pv",
                    "bestmov",
                    "-",
                    "\u{1b}[31m",
                    "string",
                    "99999999999999",
                    "\t",
                ];
                let text: Vec<&str> = (0..random::below(9, &keys))
                    .map(|k| words[random::below(words.len() as u64, &[keys[0], keys[1], keys[3], k]) as usize])
                    .collect();
                self.send(&text.join(" "))?;
            }
        }
        if self.has(Fault::Flood) {
            let until = Instant::now() + Duration::from_millis(200);
            let long = [
                format!("info string {}\n", "x".repeat(60_000)),
                format!("info score cp 1 pv{}\n", " 7g7f".repeat(12_000)),
                format!("info multipv 600 score cp 1 upperbound pv{}\n", " a".repeat(30_000)),
                format!("option name A type combo{}\n", " var a".repeat(10_000)),
            ];
            let text = "info depth 1 nodes 10 score cp 1 pv 7g7f\n".repeat(100) + &long.concat();
            while Instant::now() < until {
                self.output.write_all(text.as_bytes())?;
            }
        }
        if self.has(Fault::Lie) {
            for line in [
                "info depth -5 multipv 4000000000 nodes 99999999999999999999 score cp 1 pv 7g7f",
                "info depth 999999999 seldepth 1 score cp 99999999999999999999 pv 1a1a 9i9i",
                "info depth 9 score mate 0 pv bestmove resign",
                "info depth 9 score mate -9999999999 lowerbound upperbound wdl 5000 -3 x pv",
                "info depth 9 score cp NaN score cp inf score cp -0 pv 0000 (none) resign win",
                "option name Late type spin default 1",
                "readyok",
                "usiok",
                "uciok",
                "checkmate 7g7f",
            ] {
                self.send(line)?;
            }
        }
        if self.has(Fault::NotUtf8) {
            self.output
                .write_all(b"info string \xff\xfe\x80 \x83\x8d\nid name \xc0\xaf\ninfo depth \xf5 score cp 1\xff\n")?;
        }
        if self.has(Fault::LongLine) {
            let part = [b'x'; 100_000];
            for _ in 0..100 {
                self.output.write_all(&part)?;
            }
            self.send("")?;
        }
        Ok(())
    }

    fn best(&self, board: &Board) -> String {
        let preferred = self.script.prefer.iter().find(|m| board.is_legal(m)).cloned();
        let drawn = || {
            let mut moves = board.legal_moves();
            moves.sort_unstable();
            let at = random::below(moves.len() as u64, &[self.script.seed, u64::from(board.ply())]);
            moves.get(at as usize).cloned()
        };
        preferred.or_else(drawn).unwrap_or_else(|| self.script.game.protocol().no_move().to_owned())
    }

    fn info(&mut self, board: &Board, best: &str, depth: u64) -> Result<(), Ended> {
        let drawn = random::below(1201, &[self.script.seed, u64::from(board.ply()), 1]) as i64 - 600;
        let score = match &self.script.score {
            Some(text) if text.starts_with("mate ") => text.clone(),
            Some(text) if text == "material" => format!("cp {}", 100 * material(&board.text().unwrap_or_default())),
            Some(text) => format!("cp {text}"),
            None => format!("cp {drawn}"),
        };
        let nodes = self.script.nodes;
        if self.script.lines <= 1 {
            return self.send(&format!("info depth {depth} nodes {nodes} score {score} pv {best}"));
        }
        let others = board.legal_moves().into_iter().filter(|m| m != best);
        let moves: Vec<String> = std::iter::once(best.to_owned()).chain(others).take(self.script.lines).collect();
        for (i, m) in moves.iter().enumerate() {
            let score = if i == 0 { score.clone() } else { format!("cp {}", drawn.min(0) - 50 * i as i64) };
            self.send(&format!("info multipv {} depth {depth} nodes {nodes} score {score} pv {m}", i + 1))?;
        }
        Ok(())
    }

    /// Waits until a time, or until `stop` if the search is open; `ponderhit` closes it.
    fn wait(&mut self, until: Instant, wait_open: bool, ignore_stop: bool, open: &mut bool) -> Result<Wait, Ended> {
        let mut waits_open = wait_open && *open;
        loop {
            let order = match waits_open {
                true => self.orders.recv().map_err(|_| RecvTimeoutError::Disconnected),
                false => self.orders.recv_timeout(until.saturating_duration_since(Instant::now())),
            };
            match order {
                Ok(FromGui::Stop) if !ignore_stop => {
                    *open = false;
                    return Ok(Wait::Stop);
                }
                Ok(FromGui::PonderHit) => {
                    *open = false;
                    waits_open = false;
                }
                Ok(FromGui::IsReady) => self.send("readyok")?,
                Ok(FromGui::Quit) | Err(RecvTimeoutError::Disconnected) => return Ok(Wait::Quit),
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) => return Ok(Wait::TimeUp),
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Wait {
    TimeUp,
    Stop,
    Quit,
}

/// The time that a `go` command gives for this move. Like real UCI engines, a script that plays chess ignores `byoyomi`
/// and empty clocks.
fn given_ms(go: &Go, side: Color, protocol: Protocol) -> Option<u64> {
    let (time, increment) = match side {
        Color::Black => (go.clock.btime_ms, go.clock.binc_ms),
        Color::White => (go.clock.wtime_ms, go.clock.winc_ms),
    };
    let (time, byoyomi) = match protocol {
        Protocol::Usi => (time, go.clock.byoyomi_ms),
        Protocol::Uci => (time.filter(|ms| *ms > 0), None),
    };
    let of_clock = || Some(time? / 40 + increment.unwrap_or(0) + byoyomi.unwrap_or(0));
    go.movetime_ms.or_else(of_clock)
}

/// The process that started this one; 0 where that is unknown.
fn parent_id() -> u32 {
    #[cfg(unix)]
    return std::os::unix::process::parent_id();
    #[cfg(not(unix))]
    return 0;
}

/// Closes standard output.
fn close_output() {
    #[cfg(unix)]
    if let Ok(null) = std::fs::File::options().write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdout(&null);
    }
}

impl Script {
    /// A script without faults.
    pub fn new(game: Game, seed: u64) -> Self {
        Self {
            game,
            name: format!("Script {seed}"),
            seed,
            prefer: Vec::new(),
            score: None,
            think: Duration::from_millis(1),
            faults: Vec::new(),
            nodes: 10,
            lines: 1,
            repeatable: false,
            stamps: None,
        }
    }

    /// Its protocol.
    pub fn protocol(&self) -> Protocol {
        self.game.protocol()
    }
}

/// The material of the side to move less that of the other, in pawns, of a position in SFEN or FEN.
fn material(text: &str) -> i64 {
    let mut words = text.split(' ');
    let (board, side, hand) =
        (words.next().unwrap_or_default(), words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let is_shogi = board.matches('/').count() == 8;
    let value = |piece: char| match piece.to_ascii_lowercase() {
        'p' => 1,
        'l' | 'n' => 3,
        'b' if !is_shogi => 3,
        's' | 'r' if !is_shogi || piece.eq_ignore_ascii_case(&'s') => 5,
        'g' => 6,
        'b' | 'r' => 8,
        'q' => 9,
        _ => 0,
    };
    let of_first = |pieces: &str| {
        let (mut sum, mut times) = (0, 0);
        for c in pieces.chars() {
            match c.to_digit(10) {
                Some(digit) => times = 10 * times + i64::from(digit),
                None => {
                    let sign = if c.is_ascii_uppercase() { 1 } else { -1 };
                    sum += sign * value(c) * times.max(1);
                    times = 0;
                }
            }
        }
        sum
    };
    // the digits of the board are empty squares
    let pieces: String = board.chars().filter(|c| !c.is_ascii_digit()).collect();
    let first = of_first(&pieces) + if is_shogi { of_first(hand) } else { 0 };
    if (side == "b") == is_shogi { first } else { -first }
}
