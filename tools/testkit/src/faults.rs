//! Faults on purpose: every call of a whole command that reads or writes a file fails once, or is the one at which the
//! command is killed. Afterwards each file is the old one or the new one, and a message names the file that failed.
//!
//! A small library in C (`faults.c`) is preloaded into the program and counts its calls. It works on Linux only.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufRead, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use evalcurve_engine::usi::{LineReader, ReadLine};
use evalcurve_words::random;
use rayon::prelude::*;
use serde::Serialize;

/// The source of the library that makes calls fail.
const SHIM: &str = include_str!("faults.c");

/// A page, and a calibration for members.
const PAGE: &str = include_str!("../../../web/page.html");
const CALIBRATION: &str = include_str!("../../../data/calibrations/sjaakii.json");

/// The calls that can fail.
const CALLS: [&str; 8] = ["create", "open", "read", "write", "flush", "rename", "truncate", "folder"];

/// The calls at which a command is killed: those that change files.
const CHANGES: [&str; 5] = ["create", "write", "flush", "rename", "truncate"];

/// A longer wait for a line of a council counts as a hang.
const HANG: Duration = Duration::from_secs(60);

/// What to test.
#[derive(Debug, Clone)]
pub struct FaultOptions {
    /// The program `evalcurve`.
    pub program: PathBuf,
    /// This program, whose scripted engines play.
    pub testkit: PathBuf,
    /// Every how many calls one fails.
    pub every: u64,
    /// Kills of each command.
    pub kills: u64,
    /// The commands by name; all if empty.
    pub scenes: Vec<String>,
}

/// The result for one command.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SceneReport {
    /// Calls of a whole run that can fail.
    pub calls: u64,
    /// Runs in which a call failed.
    pub faults: u64,
    /// Those that ended with exit code 2 and a message that names the file.
    pub errors: u64,
    /// Those that ended well: the call did not matter, or the message says what was left out.
    pub passed_over: u64,
    /// Runs that were killed at a call.
    pub kills: u64,
    /// Kills that left a temporary file, which the next run removed.
    pub cleaned: u64,
    /// Runs in which the call did not come.
    pub not_reached: u64,
    /// Runs that broke a promise.
    pub problems: u64,
    /// Descriptions of the first problems.
    pub notes: Vec<String>,
}

/// Why the test cannot start.
#[derive(Debug, thiserror::Error)]
pub enum FaultError {
    /// Files of the test cannot be written, or a program cannot be started.
    #[error("{0}; build the program with `cargo build --release`, and set TMPDIR to a folder that can be written")]
    Io(#[from] io::Error),
    /// A command fails without a fault.
    #[error("{0}: the command fails without a fault: {1}")]
    Sound(&'static str, String),
    /// There is no such command.
    #[error("no command is called '{0}'; the commands are {1}")]
    Unknown(String, String),
    /// The library cannot be built.
    #[error("cc cannot build the library that makes calls fail: {0}")]
    Shim(String),
}

/// How a command uses its files.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    /// Every file is replaced as a whole.
    Whole,
    /// A tournament: files grow, and the next run continues.
    Play,
    /// A council: the vote log grows.
    Council,
    /// A lesson: the vote log grows, the other files are replaced as a whole.
    Lesson,
    /// A server, which goes on after a fault and writes nothing.
    Server,
}

impl Kind {
    fn has_votes(self) -> bool {
        matches!(self, Self::Council | Self::Lesson)
    }
}

/// A command with the files that it finds.
struct Scene {
    name: &'static str,
    kind: Kind,
    /// Makes the old files, from the records `before.csa`.
    before: &'static str,
    /// The command, with the records `games.csa`; `~` is a blank within a word.
    command: &'static str,
}

/// The commands that write files.
const SCENES: [Scene; 14] = [
    Scene {
        name: "calibrate",
        kind: Kind::Whole,
        before: "calibrate before.csa --out out --plots out --threads 1",
        command: "calibrate games.csa --out out --plots out --force --threads 1",
    },
    Scene {
        name: "sample",
        kind: Kind::Whole,
        before: "sample before.csa --out out.csv --threads 1",
        command: "sample games.csa --out out.csv --force --threads 1",
    },
    Scene {
        name: "sample-parquet",
        kind: Kind::Whole,
        before: "sample before.csa --out out.parquet --threads 1",
        command: "sample games.csa --out out.parquet --force --threads 1",
    },
    Scene {
        name: "curve",
        kind: Kind::Whole,
        before: "curve before.csa --out out.csv --threads 1",
        command: "curve games.csa --out out.csv --force --threads 1",
    },
    Scene {
        name: "diagnose",
        kind: Kind::Whole,
        before: "diagnose before.csa --out out --data --threads 1",
        command: "diagnose games.csa --out out --data --force --threads 1",
    },
    Scene {
        name: "plot",
        kind: Kind::Whole,
        before: "plot before.csa --out out --data --threads 1",
        command: "plot games.csa --out out --data --threads 1",
    },
    Scene {
        name: "simulate",
        kind: Kind::Whole,
        before: "simulate --noise 1,2,2 --trials 50 --votes votes.jsonl --threads 1",
        command: "simulate --noise 1,1,2 --trials 100 --votes votes.jsonl --force --threads 1",
    },
    Scene {
        name: "compare",
        kind: Kind::Whole,
        before: "calibrate before.csa --out out --no-plots --threads 1",
        command: "compare out/A.json out/C.json --summary summary.md",
    },
    Scene {
        name: "init",
        kind: Kind::Whole,
        before: "sample before.csa --out other.csv --threads 1",
        command: "council new.toml --init --game chess one two",
    },
    Scene {
        name: "play",
        kind: Kind::Play,
        before: "play before.toml --out out --concurrency 1",
        command: "play games.toml --out out --concurrency 1",
    },
    Scene { name: "council", kind: Kind::Council, before: "council council.toml", command: "council council.toml" },
    Scene {
        name: "annotate",
        kind: Kind::Whole,
        before: "analyse few.csa --engine sh~engine.sh --limit nodes=9 --processes 1 --annotate out",
        command: "analyse few.csa --engine sh~engine.sh --limit nodes=10 --processes 1 --annotate out --force",
    },
    Scene {
        name: "teach",
        kind: Kind::Lesson,
        before: "council lesson.toml --prepare --teach A",
        command: "council lesson.toml --prepare --teach A",
    },
    Scene {
        name: "serve-page",
        kind: Kind::Server,
        before: "sample before.csa --out other.csv --threads 1",
        command: "serve-page before.csa games.csa other.csv --page page.html",
    },
];

/// Votes of the lesson that are still to be cast.
const VOTES_LEFT: usize = 30;

/// The most calls of one kind that fail in a server, which does not say how many there are.
const SERVER_CALLS: u64 = 12;

/// A call that fails: what, its number, and how.
#[derive(Debug, Clone, Copy)]
struct Fault {
    what: &'static str,
    number: u64,
    how: &'static str,
}

impl Fault {
    /// Lets all calls succeed and counts them.
    const NONE: Self = Self { what: "nothing", number: 1, how: "once" };
}

/// The files of a folder by their paths in it.
type Files = BTreeMap<String, Vec<u8>>;

/// How a run ended.
struct Ran {
    code: Option<i32>,
    /// Everything it printed.
    text: String,
    /// The paths of the calls that failed, in the folder, or `standard output`.
    hits: Vec<String>,
    /// Calls by name.
    calls: BTreeMap<String, u64>,
    /// A council gave all its moves.
    whole_dialogue: bool,
}

/// What a run broke, or how it ended well.
enum Verdict {
    NotReached,
    Error,
    PassedOver,
    Killed { cleaned: bool },
}

/// The means of a test.
struct Bench<'a> {
    options: &'a FaultOptions,
    folder: PathBuf,
    shim: PathBuf,
}

/// Tests every command. `None` with a message on standard error if the system is not Linux.
///
/// # Errors
/// The test cannot start. The report contains the problems of the commands.
pub fn faults(options: &FaultOptions) -> Result<Option<BTreeMap<&'static str, SceneReport>>, FaultError> {
    if !cfg!(target_os = "linux") {
        eprintln!("SKIPPED: calls can be made to fail on Linux only");
        return Ok(None);
    }
    let names = SCENES.iter().map(|scene| scene.name).collect::<Vec<_>>();
    if let Some(unknown) = options.scenes.iter().find(|name| !names.contains(&name.as_str())) {
        return Err(FaultError::Unknown(unknown.clone(), names.join(", ")));
    }
    let folder = std::env::temp_dir().join(format!("evalcurve-faults-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let folder = folder.canonicalize()?;
    let bench = Bench { options, shim: build_shim(&folder)?, folder };
    let wanted = |scene: &&Scene| options.scenes.is_empty() || options.scenes.iter().any(|name| name == scene.name);
    let result: Result<BTreeMap<_, _>, FaultError> =
        SCENES.iter().filter(wanted).map(|scene| Ok((scene.name, bench.scene(scene)?))).collect();
    let _ = fs::remove_dir_all(&bench.folder);
    result.map(Some)
}

fn build_shim(folder: &Path) -> Result<PathBuf, FaultError> {
    let (source, library) = (folder.join("faults.c"), folder.join("faults.so"));
    fs::write(&source, SHIM)?;
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let built = Command::new(compiler).args(["-shared", "-fPIC", "-O1", "-o"]).args([&library, &source]).output()?;
    match built.status.success() {
        true => Ok(library),
        false => Err(FaultError::Shim(String::from_utf8_lossy(&built.stderr).into_owned())),
    }
}

impl Bench<'_> {
    fn scene(&self, scene: &Scene) -> Result<SceneReport, FaultError> {
        let base = self.folder.join(scene.name);
        fs::create_dir_all(&base)?;
        self.inputs(scene, &base)?;
        let sound = |arguments: &str, folder: &Path| {
            let ran = self.run(scene, arguments, folder, Fault::NONE)?;
            match ran.code {
                Some(0 | 1 | 3) if ran.whole_dialogue => Ok(ran),
                _ => Err(FaultError::Sound(scene.name, ran.text)),
            }
        };
        sound(scene.before, &base)?;
        match scene.kind {
            Kind::Lesson => self.shorten_lesson(&base)?,
            Kind::Server => return self.server(scene, &base),
            _ => {}
        }
        let old = files(&base)?;
        let whole = self.folder.join(format!("{}-whole", scene.name));
        write_files(&whole, &old)?;
        let ran = sound(scene.command, &whole)?;
        let new = files(&whole)?;
        let case = Case { bench: self, scene, old, new, code: ran.code };
        let count = |what: &str| ran.calls.get(what).copied().unwrap_or(0);
        let mut all = Vec::new();
        for what in CALLS {
            for number in 1..=count(what) {
                for how in if what == "write" { &["once", "half"][..] } else { &["once", "on"] } {
                    all.push(Fault { what, number, how });
                }
            }
        }
        let mut cases: Vec<Fault> = all.iter().step_by(self.options.every.max(1) as usize).copied().collect();
        let changes: Vec<Fault> = CHANGES
            .iter()
            .flat_map(|what| (1..=count(what)).map(|number| Fault { what, number, how: "kill" }))
            .collect();
        // in an order of chance, so that few kills are of all kinds
        let kill = |i: u64| changes[random::below(changes.len() as u64, &[7, i]) as usize];
        cases.extend((0..if changes.is_empty() { 0 } else { self.options.kills }).map(kill));
        let verdicts: Vec<(Fault, Result<Verdict, String>)> = cases
            .into_par_iter()
            .enumerate()
            .map(|(i, fault)| {
                let folder = self.folder.join(format!("{}-{i}", scene.name));
                let verdict = write_files(&folder, &case.old).map_err(|e| e.to_string());
                let verdict = verdict.and_then(|()| case.verdict(&folder, fault));
                let _ = fs::remove_dir_all(&folder);
                (fault, verdict)
            })
            .collect();
        let mut report = SceneReport { calls: CALLS.iter().map(|what| count(what)).sum(), ..SceneReport::default() };
        for (fault, verdict) in verdicts {
            match verdict {
                Ok(Verdict::NotReached) => report.not_reached += 1,
                Ok(Verdict::Error) => report.errors += 1,
                Ok(Verdict::PassedOver) => report.passed_over += 1,
                Ok(Verdict::Killed { cleaned }) => {
                    report.kills += 1;
                    report.cleaned += u64::from(cleaned);
                }
                Err(problem) => {
                    report.problems += 1;
                    if report.notes.len() < 20 {
                        report.notes.push(format!("{}:{}:{}: {problem}", fault.what, fault.number, fault.how));
                    }
                }
            }
        }
        report.faults = report.errors + report.passed_over;
        Ok(report)
    }

    /// Writes what the commands read.
    fn inputs(&self, scene: &Scene, folder: &Path) -> io::Result<()> {
        if matches!(scene.kind, Kind::Whole | Kind::Server) {
            for (name, games, seed, engines) in [
                ("before.csa", "60", "1", ["A", "C"]),
                ("games.csa", "60", "2", ["A", "B"]),
                ("few.csa", "2", "3", ["A", "B"]),
            ] {
                let mut command = Command::new(&self.options.testkit);
                command.args(["generate", "--games", games, "--seed", seed, "--out"]).arg(folder.join(name));
                let truths = engines.iter().zip(["0.002:0.1", "0.004:-0.1"]);
                command.args(truths.map(|(engine, truth)| format!("--engine={engine}:{truth}")));
                command.stderr(Stdio::null()).status()?;
            }
        }
        let testkit = self.options.testkit.to_string_lossy().into_owned();
        let engine = |name: &str, seed: u32| {
            format!(
                "[[engine]]\nname = \"{name}\"\ncommand = '{testkit}'\nargs = [\"scripted-engine\", \"--repeatable\", \
                 \"--think-ms=0\", \"--seed={seed}\"]\nlimit = {{ nodes = 10 }}\n"
            )
        };
        let engines = engine("A", 1) + &engine("B", 2);
        for (name, pairs) in [("before.toml", 1), ("games.toml", 3)] {
            let head = format!("game = \"shogi\"\npairs = {pairs}\nmax-plies = 12\n[openings]\nplies = 4\n");
            fs::write(folder.join(name), head + &engines)?;
        }
        let head = "game = \"shogi\"\nrule = \"majority\"\nlog = \"votes.jsonl\"\n";
        fs::write(folder.join("council.toml"), head.to_owned() + &engines)?;
        fs::write(folder.join("page.html"), PAGE)?;
        fs::write(
            folder.join("engine.sh"),
            format!("exec '{testkit}' scripted-engine --repeatable --think-ms=0 --seed=1\n"),
        )?;
        fs::write(folder.join("judge.json"), CALIBRATION)?;
        let judged = engines.replace("limit =", "calibration = \"judge.json\"\nlimit =");
        fs::write(folder.join("lesson.toml"), "game = \"shogi\"\nrule = \"cross-examination\"\n".to_owned() + &judged)
    }

    /// The files of a lesson that was stopped before its last votes.
    fn shorten_lesson(&self, folder: &Path) -> io::Result<()> {
        let log = folder.join("lesson-votes.jsonl");
        let text = fs::read_to_string(&log)?;
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        fs::write(&log, lines[..lines.len().saturating_sub(VOTES_LEFT)].concat())?;
        fs::remove_file(folder.join("lesson-weights.json"))?;
        let config = folder.join("lesson.toml");
        let text = fs::read_to_string(&config)?;
        fs::write(
            config,
            text.lines().filter(|line| !line.starts_with("weights")).map(|l| l.to_owned() + "\n").collect::<String>(),
        )
    }

    /// Lets calls of a server fail while clients ask it.
    fn server(&self, scene: &Scene, base: &Path) -> Result<SceneReport, FaultError> {
        let old = files(base)?;
        let mut report = SceneReport::default();
        for what in ["open", "read", "folder"] {
            for (number, how) in (1..=SERVER_CALLS).flat_map(|number| ["once", "on"].map(|how| (number, how))) {
                let fault = Fault { what, number, how };
                let verdict = self.serve(scene, base, fault)?;
                let unchanged = files(base)? == old;
                match verdict {
                    Ok(true) if unchanged => report.passed_over += 1,
                    Ok(false) if unchanged => report.not_reached += 1,
                    other => {
                        report.problems += 1;
                        let text = other.err().unwrap_or_else(|| "a file has changed".to_owned());
                        report.notes.push(format!("{what}:{number}:{how}: {text}"));
                    }
                }
            }
        }
        report.faults = report.passed_over;
        (report.errors, report.calls) = (report.passed_over, report.faults);
        Ok(report)
    }

    /// Whether the fault came; the error says what a client got that it must not get.
    fn serve(&self, scene: &Scene, folder: &Path, fault: Fault) -> io::Result<Result<bool, String>> {
        let report = folder.with_extension("report");
        let _ = fs::remove_file(&report);
        let mut command = self.command(scene.command, folder, fault, &report);
        let mut child = command.stdout(Stdio::piped()).spawn()?;
        let mut url = String::new();
        child.stdout.take().map_or(Ok(0), |out| io::BufReader::new(out).read_line(&mut url))?;
        let is_hit = || fs::read_to_string(&report).is_ok_and(|text| text.contains("fault "));
        let verdict = match url.trim().strip_prefix("http://").map(|url| url.trim_end_matches('/')) {
            Some(host) => {
                let all = visit(host, folder, false).and_then(|()| visit(host, folder, false));
                let reached = is_hit();
                let whole = reached && fault.how == "once";
                let all = all.and_then(|()| if whole { visit(host, folder, true) } else { Ok(()) });
                match child.try_wait()? {
                    Some(status) => Err(format!("it ended: {status}")),
                    None => all.map(|()| reached),
                }
            }
            // it cannot begin
            None => {
                let output = child.wait_with_output()?;
                let text = String::from_utf8_lossy(&output.stderr).into_owned();
                return Ok(match output.status.code() {
                    Some(2) if is_hit() && !text.contains("panicked") => Ok(true),
                    code => Err(format!("exit code {code:?}: {text}")),
                });
            }
        };
        child.kill()?;
        child.wait()?;
        Ok(verdict)
    }

    fn command(&self, arguments: &str, folder: &Path, fault: Fault, report: &Path) -> Command {
        let mut command = Command::new(&self.options.program);
        command.args(arguments.split_whitespace().map(|word| word.replace('~', " "))).current_dir(folder);
        command.env("LC_ALL", "C").env("LD_PRELOAD", &self.shim);
        command.env("EVALCURVE_FAULT", format!("{}:{}:{}", fault.what, fault.number, fault.how));
        command.env("EVALCURVE_FAULT_UNDER", folder).env("EVALCURVE_FAULT_REPORT", report);
        command.stdin(Stdio::null()).stderr(Stdio::piped());
        command
    }

    /// Runs a command in a folder with a fault.
    fn run(&self, scene: &Scene, arguments: &str, folder: &Path, fault: Fault) -> io::Result<Ran> {
        let report = folder.with_extension("report");
        let _ = fs::remove_file(&report);
        let mut command = self.command(arguments, folder, fault, &report);
        command.stdout(Stdio::piped());
        let (output, whole_dialogue) = match scene.kind {
            Kind::Council => dialogue(command.stdin(Stdio::piped()).spawn()?)?,
            Kind::Whole | Kind::Play | Kind::Lesson | Kind::Server => (command.output()?, true),
        };
        let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        let lines = fs::read_to_string(&report).unwrap_or_default();
        let _ = fs::remove_file(&report);
        let mut ran =
            Ran { code: output.status.code(), text, hits: Vec::new(), calls: BTreeMap::new(), whole_dialogue };
        for line in lines.lines() {
            let mut words = line.splitn(3, ' ');
            let (word, what, rest) = (words.next(), words.next().unwrap_or_default(), words.next().unwrap_or_default());
            match word {
                Some("fault") => {
                    let inside = Path::new(rest).strip_prefix(folder).unwrap_or(Path::new(rest));
                    ran.hits.push(inside.to_string_lossy().into_owned());
                }
                Some("calls") => drop(ran.calls.insert(what.to_owned(), rest.parse().unwrap_or(0))),
                _ => {}
            }
        }
        Ok(ran)
    }
}

/// A scene with what it looks like before and after.
struct Case<'a> {
    bench: &'a Bench<'a>,
    scene: &'a Scene,
    old: Files,
    new: Files,
    code: Option<i32>,
}

impl Case<'_> {
    /// Runs the command with a fault and judges what it left; the error says what is wrong.
    fn verdict(&self, folder: &Path, fault: Fault) -> Result<Verdict, String> {
        let run =
            |fault| self.bench.run(self.scene, self.scene.command, folder, fault).map_err(|error| error.to_string());
        let ran = run(fault)?;
        let Some(hit) = ran.hits.first() else { return Ok(Verdict::NotReached) };
        let describe = |text: &str| format!("{hit}: {text}; exit code {:?}: {}", ran.code, ran.text.trim_end());
        let problem = |text: &str| Err(describe(text));
        let found = files(folder).map_err(|error| error.to_string())?;
        let killed = fault.how == "kill";
        if killed && ran.code.is_some() {
            return problem("not killed");
        }
        if !killed && !matches!(ran.code, Some(0..=3)) || ran.text.contains("panicked") {
            return problem("a crash");
        }
        let litter: Vec<&String> =
            found.keys().filter(|name| !self.old.contains_key(*name) && !self.new.contains_key(*name)).collect();
        if let Some(name) = litter.iter().find(|name| !(is_journal(name) || killed && is_temporary(name))) {
            return problem(&format!("{name} is left"));
        }
        // an input that cannot be read is left out, and what is written is of the rest
        let is_named = |hit: &String| self.old.contains_key(hit) && names_file(&ran.text, hit);
        let input_left_out = ran.code != Some(2) && ran.hits.iter().any(is_named);
        self.look_at(&found, killed, input_left_out).map_err(|text| describe(&text))?;
        let is_done = self.scene.kind == Kind::Whole && found == self.new;
        let goes_on = self.scene.kind != Kind::Whole || found.keys().any(|name| is_journal(name));
        if !is_done && (killed || goes_on) {
            let again = run(Fault::NONE)?;
            let after = files(folder).map_err(|error| error.to_string())?;
            if again.code != self.code || !again.whole_dialogue {
                return problem(&format!("the next run ends with {:?}: {}", again.code, again.text));
            }
            self.look_at_next(&after).map_err(|text| describe(&format!("after the next run: {text}")))?;
        }
        if killed {
            return Ok(Verdict::Killed { cleaned: !litter.is_empty() });
        }
        if ran.code == Some(2) {
            let outputs = self.new.keys().chain(self.old.keys());
            let is_named = |hit: &String| match hit.as_str() {
                // the message names the file that it would have become
                temporary if is_temporary(temporary) => outputs.clone().any(|name| names_file(&ran.text, name)),
                hit => names_file(&ran.text, hit),
            };
            // of several at the same time, one
            return if ran.hits.iter().any(is_named) {
                Ok(Verdict::Error)
            } else {
                problem("the message does not name the file")
            };
        }
        if self.scene.kind == Kind::Whole && !input_left_out && (found != self.new || ran.code != self.code) {
            return problem("nothing is reported, and the files are not the new ones");
        }
        Ok(Verdict::PassedOver)
    }

    /// Every file is the old one or the new one, or if it grows, the old one with whole lines after it.
    fn look_at(&self, found: &Files, killed: bool, input_left_out: bool) -> Result<(), String> {
        for (name, old) in &self.old {
            let grows = self.scene.kind != Kind::Whole;
            match found.get(name) {
                None => return Err(format!("{name} is gone")),
                // what a tournament has is put into order at its end
                Some(now)
                    if grows
                        && !now.starts_with(old)
                        && name != "out/settings.json"
                        && self.new.get(name).map(|new| steady(name, new)) != Some(steady(name, now)) =>
                {
                    return Err(format!("{name} lost something"));
                }
                Some(now) if self.scene.kind.has_votes() && name.ends_with("votes.jsonl") && !killed => {
                    whole_lines(now)?;
                }
                _ => {}
            }
        }
        if !matches!(self.scene.kind, Kind::Whole | Kind::Lesson) {
            return Ok(());
        }
        for (name, now) in found.iter().filter(|(name, _)| !name.ends_with("votes.jsonl")) {
            let known = [self.old.get(name), self.new.get(name)].contains(&Some(now));
            if !(known || is_temporary(name) || is_journal(name) || input_left_out && is_whole(name, now)) {
                return Err(format!("{name} is neither the old file nor the new one, but {} bytes", now.len()));
            }
        }
        Ok(())
    }

    /// The next run without a fault repairs everything.
    fn look_at_next(&self, found: &Files) -> Result<(), String> {
        let steady = |files: &Files| -> Files {
            files.iter().map(|(name, bytes)| (name.clone(), steady(name, bytes))).collect()
        };
        let (mut expected, mut found) = (steady(&self.new), steady(found));
        if self.scene.kind.has_votes() {
            // votes have their times
            let log = found.keys().find(|name| name.ends_with("votes.jsonl")).cloned().unwrap_or_default();
            whole_lines(&found.remove(&log).unwrap_or_default())?;
            expected.remove(&log);
            if self.scene.kind == Kind::Council {
                return Ok(());
            }
        }
        match found.iter().find(|(name, bytes)| expected.get(*name) != Some(bytes)) {
            Some((name, bytes)) => Err(format!("{name} differs: {}", String::from_utf8_lossy(bytes))),
            None if found.len() < expected.len() => Err("a file is missing".to_owned()),
            None => Ok(()),
        }
    }
}

/// A file without the times that differ from run to run.
fn steady(name: &str, bytes: &[u8]) -> Vec<u8> {
    if !name.ends_with("results.csv") {
        return bytes.to_vec();
    }
    let text = String::from_utf8_lossy(bytes);
    let times: Vec<bool> =
        text.lines().next().unwrap_or_default().split(',').map(|name| name.ends_with("_ms")).collect();
    let row = |line: &str| {
        let cells = line.split(',').enumerate();
        cells.filter(|(at, _)| times.get(*at) != Some(&true)).map(|(_, cell)| cell.to_owned() + ",").collect::<String>()
            + "\n"
    };
    text.lines().map(row).collect::<String>().into_bytes()
}

/// Whether each line of a vote log is a whole document. After a kill, the next session ends the broken line.
fn whole_lines(log: &[u8]) -> Result<(), String> {
    if !log.is_empty() && !log.ends_with(b"\n") {
        return Err("the vote log ends within a line".to_owned());
    }
    let broken = |line: &&[u8]| serde_json::from_slice::<serde_json::Value>(line).is_err();
    let lines: Vec<&[u8]> = log.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
    for line in lines.iter().copied().filter(broken) {
        // a line that a killed session left is nothing but the beginning of one
        if line.windows(2).any(|pair| pair == b"}{") {
            return Err(format!("two lines in one: {}", String::from_utf8_lossy(line)));
        }
    }
    let torn = lines.iter().copied().filter(broken).count();
    if torn > 1 { Err(format!("{torn} broken lines")) } else { Ok(()) }
}

/// Whether a file of a kind that has an end has one.
fn is_whole(name: &str, bytes: &[u8]) -> bool {
    match name.rsplit('.').next().unwrap_or_default() {
        "json" => serde_json::from_slice::<serde_json::Value>(bytes).is_ok(),
        "svg" => bytes.trim_ascii_end().ends_with(b"</svg>"),
        "html" => bytes.trim_ascii_end().ends_with(b"</html>"),
        "png" => bytes.windows(4).any(|chunk| chunk == b"IEND"),
        "parquet" => bytes.ends_with(b"PAR1"),
        _ => bytes.ends_with(b"\n"),
    }
}

fn is_temporary(name: &str) -> bool {
    name.rsplit('/').next().is_some_and(|name| name.starts_with(".evalcurve-") && name.ends_with(".tmp"))
}

/// Whether a file holds what engines said so far; the next run goes on with it and removes it.
fn is_journal(name: &str) -> bool {
    name.ends_with(".journal")
}

/// Whether a text names a file or folder.
fn names_file(text: &str, name: &str) -> bool {
    !name.is_empty() && text.contains(name)
}

/// All files below a folder.
fn files(folder: &Path) -> io::Result<Files> {
    fn walk(root: &Path, folder: &Path, found: &mut Files) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                walk(root, &path, found)?;
            } else {
                let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
                found.insert(name, fs::read(&path)?);
            }
        }
        Ok(())
    }
    let mut found = Files::new();
    walk(folder, folder, &mut found)?;
    Ok(found)
}

fn write_files(folder: &Path, files: &Files) -> io::Result<()> {
    for (name, bytes) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap_or(folder))?;
        fs::write(path, bytes)?;
    }
    Ok(())
}

/// Asks a server for all that it has. Each answer is an error, cut off, or what is on disk; the last alone if `whole`.
fn visit(host: &str, folder: &Path, whole: bool) -> Result<(), String> {
    let get = |path: &str| -> Result<Option<Vec<u8>>, String> {
        let (status, body) = ask(host, path).map_err(|error| format!("{path}: {error}"))?;
        match (status, body) {
            (200, body) if body.is_some() || !whole => Ok(body),
            (404 | 409 | 500 | 503, _) if !whole => Ok(None),
            (status, _) => Err(format!("{path}: status {status}")),
        }
    };
    if let Some(page) = get("/")?
        && !String::from_utf8_lossy(&page).contains("</html>")
    {
        return Err("another page".to_owned());
    }
    let Some(list) = get("/records")? else { return Ok(()) };
    let list: serde_json::Value = serde_json::from_slice(&list).map_err(|error| error.to_string())?;
    let files = list["files"].as_array().map_or(&[][..], Vec::as_slice);
    if whole && files.len() != 3 {
        return Err(format!("{} files", files.len()));
    }
    for (number, file) in files.iter().enumerate() {
        let name = file["name"].as_str().unwrap_or_default();
        let found = get(&format!("/records/{}/{number}", list["list"].as_str().unwrap_or_default()))?;
        let on_disk = fs::read(folder.join(name)).map_err(|error| format!("{name}: {error}"))?;
        if found.is_some_and(|found| found != on_disk) {
            return Err(format!("{name} is not what is on disk"));
        }
    }
    Ok(())
}

/// The status and the body of an answer; no body if it is cut off.
fn ask(host: &str, path: &str) -> io::Result<(u16, Option<Vec<u8>>)> {
    let mut stream = TcpStream::connect(host)?;
    stream.set_read_timeout(Some(HANG))?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n")?;
    let mut all = Vec::new();
    // a server may close a connection that it gives up
    let _ = stream.read_to_end(&mut all);
    let Some(end) = all.windows(4).position(|bytes| bytes == b"\r\n\r\n") else { return Ok((503, None)) };
    let head = String::from_utf8_lossy(&all[..end]).to_lowercase();
    let status = head.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse::<usize>().ok());
    let body = all.split_off(end + 4);
    Ok((status, (length == Some(body.len())).then_some(body)))
}

/// Lets a council decide three times. Returns what it printed, and whether it gave every move.
fn dialogue(mut council: Child) -> io::Result<(Output, bool)> {
    let (sender, lines) = channel();
    let stdout = council.stdout.take();
    let reader = std::thread::spawn(move || {
        let Some(stdout) = stdout else { return };
        LineReader::new(io::BufReader::new(stdout)).forward(|line, _| match line {
            ReadLine::Text(text) => sender.send(text).is_ok(),
            ReadLine::TooLong(_) => true,
        });
    });
    let mut stdin = council.stdin.take();
    let mut printed = String::new();
    let steps = [
        ("usi\n", "usiok"),
        ("isready\n", "readyok"),
        ("usinewgame\nposition startpos\ngo nodes 10\n", "bestmove"),
        ("position startpos moves 7g7f\ngo nodes 10\n", "bestmove"),
        ("gameover win\nusinewgame\nposition startpos moves 2g2f 8c8d\ngo nodes 10\n", "bestmove"),
        ("gameover lose\nisready\n", "readyok"),
    ];
    let mut whole = true;
    'steps: for (order, answer) in steps {
        // a council that has ended does not read; the missing answer shows it
        let _ = stdin.as_mut().map(|stdin| stdin.write_all(order.as_bytes()));
        let until = Instant::now() + HANG;
        loop {
            let Ok(line) = lines.recv_timeout(until.saturating_duration_since(Instant::now())) else {
                whole = false;
                break 'steps;
            };
            let found = line.starts_with(answer);
            printed += &(line + "\n");
            if found {
                break;
            }
        }
    }
    let _ = stdin.as_mut().map(|stdin| stdin.write_all(b"quit\n"));
    drop(stdin);
    let mut output = council.wait_with_output()?;
    let _ = reader.join();
    printed.extend(lines.try_iter().map(|line| line + "\n"));
    output.stdout = printed.into_bytes();
    Ok((output, whole))
}
