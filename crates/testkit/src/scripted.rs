//! An engine for tests that plays by a script: legal moves, known scores, and faults on order.

use std::io::{self, BufReader, Read, Write};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use evalcurve_core::random;
use evalcurve_core::types::Color;
use evalcurve_council::board::{Board, Game};
use evalcurve_council::usi::{FromGui, Go, Line, LineReader, Position, Protocol};

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fault {
    /// It ends before it greets.
    CrashAtStart,
    /// It ends while it thinks.
    Crash,
    /// It does nothing more, not even `quit`.
    Hang,
    /// It answers long after its time.
    Slow,
    /// It plays a move that is illegal.
    Illegal,
    /// It writes nonsense between its lines.
    Garbage,
    /// It writes bytes that are no UTF-8.
    NotUtf8,
    /// It writes a line of 10 MB.
    LongLine,
    /// It answers without a score.
    NoInfo,
    /// It resigns.
    Resign,
    /// It declares a win that does not hold.
    Win,
    /// It closes its output and lives on.
    Close,
    /// It does not hear `stop`.
    IgnoreStop,
}

impl Fault {
    /// All faults.
    pub const ALL: [Self; 13] = [
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
    ];

    /// Its name on the command line.
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
        }
    }

    /// The fault of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|f| f.as_str() == name)
    }
}

/// The script.
#[derive(Debug, Clone)]
pub struct Script {
    /// The game.
    pub game: Game,
    /// The name that it gives itself.
    pub name: String,
    /// What moves, scores and faults are drawn from.
    pub seed: u64,
    /// Moves that it plays where they are legal; the first that is.
    pub prefer: Vec<String>,
    /// Its score, or the first word of it: `30`, `mate 5`; drawn within ±600 where none is given.
    pub score: Option<String>,
    /// How long it thinks unless it is told to take less.
    pub think: Duration,
    /// Faults and how often, in 0..=1, each is met: a start for the first of them, a search for the others.
    pub faults: Vec<(Fault, f64)>,
    /// Lines by MultiPV.
    pub lines: usize,
    /// A file that gets the time of every answer, in nanoseconds since 1970, for measuring what comes after it.
    pub stamps: Option<PathBuf>,
}

/// How a script came to an early end.
#[derive(Debug, thiserror::Error)]
pub enum Ended {
    /// By a fault that was ordered.
    #[error("the script says {}", .0.as_str())]
    Fault(Fault),
    /// By a GUI that went away.
    #[error("cannot write: {0}")]
    Output(#[from] io::Error),
}

/// Plays the script until `quit` or the end of the input.
///
/// # Errors
/// A fault was ordered that ends it, or nobody reads.
pub fn play(script: &Script, input: impl Read + Send + 'static, output: impl Write) -> Result<(), Ended> {
    let (sender, orders) = channel();
    thread::spawn(move || {
        let mut lines = LineReader::new(BufReader::new(input));
        while let Ok(Some(line)) = lines.read() {
            if let Line::Text(text) = line
                && sender.send(FromGui::parse(&text)).is_err()
            {
                return;
            }
        }
    });
    let mut player = Player { script, orders, output, position: Position::even(), searches: 0, start: start_number() };
    if player.meets(Fault::CrashAtStart) {
        return Err(Ended::Fault(Fault::CrashAtStart));
    }
    player.run()
}

/// Makes the draws of every start its own: with the same draws a crash would come back for ever.
fn start_number() -> u64 {
    u64::from(std::process::id())
}

struct Player<'a, W> {
    script: &'a Script,
    orders: Receiver<FromGui>,
    output: W,
    position: Position,
    searches: u64,
    start: u64,
}

impl<W: Write> Player<'_, W> {
    /// Whether a fault is met in this search.
    fn meets(&self, fault: Fault) -> bool {
        let rate = self.script.faults.iter().find(|(f, _)| *f == fault).map_or(0.0, |(_, rate)| *rate);
        let draw = random::unit(&[self.script.seed, self.start, self.searches, fault as u64]);
        draw < rate
    }

    fn say(&mut self, text: &str) -> Result<(), Ended> {
        self.output.write_all(format!("{text}\n").as_bytes())?;
        Ok(self.output.flush()?)
    }

    fn run(&mut self) -> Result<(), Ended> {
        while let Ok(order) = self.orders.recv() {
            match order {
                FromGui::Greeting(protocol) => {
                    let name = format!("id name {}\nid author the script", self.script.name);
                    self.say(&name)?;
                    self.say("option name Threads type spin default 1 min 1 max 512")?;
                    self.say("option name Style type combo default Normal var Solid var Normal var Risky")?;
                    self.say("option name MultiPV type spin default 1 min 1 max 600")?;
                    self.say(protocol.greeting_done())?;
                }
                FromGui::IsReady => self.say("readyok")?,
                FromGui::Position(position) => self.position = position,
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

    /// False where it was told to quit.
    fn search(&mut self, go: &Go) -> Result<bool, Ended> {
        self.searches += 1;
        let (board, _) = Board::new(self.script.game, &self.position);
        let mut think = self.script.think;
        let protocol = self.script.game.protocol();
        let given = given_ms(go, board.side(), protocol);
        if let Some(ms) = given {
            think = think.min(Duration::from_millis(ms));
        }
        if self.meets(Fault::Slow) {
            think += Duration::from_secs(3);
        }
        let moment = random::unit(&[self.script.seed, self.start, self.searches, 99]);
        let first = think.mul_f64(moment);
        let ignore_stop = self.meets(Fault::IgnoreStop) || self.meets(Fault::Slow);
        let begun = Instant::now();
        let best = self.best(&board);
        if !self.meets(Fault::NoInfo) {
            self.info(&board, &best)?;
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
        let answer = if self.meets(Fault::Illegal) {
            "9i1a+".to_owned()
        } else if self.meets(Fault::Resign) {
            "resign".to_owned()
        } else if self.meets(Fault::Win) {
            "win".to_owned()
        } else {
            best
        };
        if let Some(path) = &self.script.stamps {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let mut file = std::fs::File::options().create(true).append(true).open(path)?;
            file.write_all(format!("{}\n", now.as_nanos()).as_bytes())?;
        }
        self.say(&format!("bestmove {answer}"))?;
        Ok(true)
    }

    fn fail_midway(&mut self) -> Result<(), Ended> {
        if self.meets(Fault::Crash) {
            return Err(Ended::Fault(Fault::Crash));
        }
        if self.meets(Fault::Hang) {
            // nothing but the end of its input wakes it, and whoever hangs does not see even that
            loop {
                thread::sleep(Duration::from_secs(3600));
            }
        }
        if self.meets(Fault::Close) {
            close_output();
            thread::sleep(Duration::from_secs(60));
            return Err(Ended::Fault(Fault::Close));
        }
        if self.meets(Fault::Garbage) {
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
                self.say(&text.join(" "))?;
            }
        }
        if self.meets(Fault::NotUtf8) {
            self.output
                .write_all(b"info string \xff\xfe\x80 \x83\x8d\nid name \xc0\xaf\ninfo depth \xf5 score cp 1\xff\n")?;
        }
        if self.meets(Fault::LongLine) {
            let part = [b'x'; 100_000];
            for _ in 0..100 {
                self.output.write_all(&part)?;
            }
            self.say("")?;
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

    fn info(&mut self, board: &Board, best: &str) -> Result<(), Ended> {
        let drawn = random::below(1201, &[self.script.seed, u64::from(board.ply()), 1]) as i64 - 600;
        let score = match &self.script.score {
            Some(text) if text.starts_with("mate") => text.clone(),
            Some(text) => format!("cp {text}"),
            None => format!("cp {drawn}"),
        };
        if self.script.lines <= 1 {
            return self.say(&format!("info depth 1 nodes 10 score {score} pv {best}"));
        }
        let others = board.legal_moves().into_iter().filter(|m| m != best);
        let moves: Vec<String> = std::iter::once(best.to_owned()).chain(others).take(self.script.lines).collect();
        for (i, m) in moves.iter().enumerate() {
            let score = if i == 0 { score.clone() } else { format!("cp {}", drawn.min(0) - 50 * i as i64) };
            self.say(&format!("info multipv {} depth 1 nodes 10 score {score} pv {m}", i + 1))?;
        }
        Ok(())
    }

    /// Waits for a time, or for `stop` where the search is open; a `ponderhit` closes it.
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
                Ok(FromGui::IsReady) => self.say("readyok")?,
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

/// Gives up standard output and lives on.
fn close_output() {
    #[cfg(unix)]
    if let Ok(null) = std::fs::File::options().write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdout(&null);
    }
}

/// The protocol of a script.
impl Script {
    /// A script without faults.
    pub fn new(game: Game, seed: u64) -> Self {
        Self {
            game,
            name: format!("Script {seed}"),
            seed,
            prefer: Vec::new(),
            score: None,
            think: Duration::from_millis(5),
            faults: Vec::new(),
            lines: 1,
            stamps: None,
        }
    }

    /// Which words it speaks.
    pub fn protocol(&self) -> Protocol {
        self.game.protocol()
    }
}
