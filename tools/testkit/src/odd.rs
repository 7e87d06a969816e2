//! Valid inputs with odd contents: ties, one class, one game, one score, extreme ratings and plies, endings that
//! contradict
//! the record, many engines. Every command that computes from them must end by itself, with the same bytes for 1 and 8
//! threads, finite numbers, counts that add up, and intervals that hold their estimates.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use evalcurve_calibration::types::Color;
use evalcurve_fit::calibration::Score;
use evalcurve_rules::log::{Header, LoggedLine, LoggedScore, LoggedVote};
use evalcurve_rules::{Options, Rule, Voter};
use evalcurve_words::random::Stream;
use serde::Serialize;
use serde_json::Value;

const KEY: u64 = 0x6f64_6420;

/// What to test.
#[derive(Debug, Clone)]
pub struct OddOptions {
    /// The program `evalcurve`.
    pub program: PathBuf,
    /// This program, whose scripted engine is the member of councils.
    pub testkit: PathBuf,
    pub seed: u64,
    /// Inputs.
    pub cases: u64,
    /// The most engines of an input.
    pub engines: usize,
    /// An empty folder for inputs and outputs; those of a case with a problem stay.
    pub folder: PathBuf,
}

/// What was found.
#[derive(Debug, Clone, Default, Serialize)]
pub struct OddReport {
    pub cases: u64,
    pub runs: u64,
    /// Runs by command and exit code.
    pub exits: BTreeMap<String, u64>,
    /// Calibration files that were written.
    pub calibrations: u64,
    /// What did not hold, with the case.
    pub problems: Vec<String>,
}

fn pick<T: Copy>(stream: &mut Stream, all: &[T]) -> T {
    all[stream.below(all.len())]
}

/// A sample table. The same seed and case give the same bytes.
pub fn table(seed: u64, case: u64, most_engines: usize) -> String {
    let mut stream = Stream::new(&[KEY, seed, case, 0]);
    let engines = pick(&mut stream, &[1, 2, 3, 8, 40, most_engines]).min(most_engines);
    let games = pick(&mut stream, &[1, 2, 30, 150]).min(1 + 30_000 / engines);
    let (rows, results, scores) = (pick(&mut stream, &[1, 3]), stream.below(10), stream.below(14));
    let (ratings, plies) =
        (stream.below(5), pick(&mut stream, &[[1, 1], [0, 0], [1, 300], [10_000, 10_000], [0, 20_000]]));
    let mut out = String::from("engine,opponent,score_cp,result,game,ply,color,rating,opponent_rating,termination\n");
    for engine in 0..engines {
        for game in 0..games {
            let other = if engines > 1 { (engine + 1 + stream.below(engines - 1)) % engines } else { engine + 1 };
            // a hidden strength of the position, which the good results follow
            let lead = stream.below(4_001) as i64 - 2_000;
            let chance = 1.0 / (1.0 + libm::exp(-(lead as f64) / 600.0));
            let won = (stream.below(1 << 20) as f64) < chance * f64::from(1 << 20);
            let result = match results {
                0 => "0.5",
                1 => "1",
                2 => "0",
                3 => pick(&mut stream, &["0", "0.5", "1"]),
                4 if won => "0",
                _ if won => "1",
                4 => "1",
                _ => "0",
            };
            let color = pick(&mut stream, &["black", "white"]);
            let rating = |stream: &mut Stream| match ratings {
                0 => String::new(),
                1 => "1500".to_owned(),
                2 => pick(stream, &["-1000", "10000"]).to_owned(),
                3 => pick(stream, &["", "2500.25", "0"]).to_owned(),
                _ => stream.below(4_000).to_string(),
            };
            let own = [rating(&mut stream), rating(&mut stream)];
            let ending =
                pick(&mut stream, &["resignation", "draw", "repetition", "checkmate", "max_moves", "interrupted", ""]);
            for row in 0..rows {
                let score = match scores {
                    0 => 0,
                    1 => 37,
                    2 => pick(&mut stream, &[-1, 1]),
                    3 => pick(&mut stream, &[i64::from(i32::MAX), -i64::from(i32::MAX), 0]),
                    4 => pick(&mut stream, &[32_000, -32_000, 100_000]),
                    5 => 10_i64.pow(stream.below(10) as u32) * pick(&mut stream, &[-1, 1]),
                    6 => lead,
                    7..10 => lead / 600 * 600,
                    _ => lead + stream.below(601) as i64 - 300,
                };
                let ply = plies[0] + stream.below(plies[1] - plies[0] + 1) + row;
                let [own, others] = &own;
                let _ = writeln!(
                    out,
                    "e{engine},e{other},{score},{result},g{engine}-{game},{},{color},{own},{others},{ending}",
                    ply.min(20_000)
                );
            }
        }
    }
    out
}

/// A table in which several engines score the same positions: all alike, all opposed, one of them constant.
pub fn judged(seed: u64, case: u64) -> String {
    let mut stream = Stream::new(&[KEY, seed, case, 3]);
    let (engines, games) = (pick(&mut stream, &[2, 3, 9]), pick(&mut stream, &[1, 2, 40, 120]));
    let (positions, kinds, results) = (pick(&mut stream, &[1, 4]), stream.below(5), stream.below(4));
    let mut out = String::from("engine,score_cp,result,game,ply,color\n");
    for game in 0..games {
        let lead = stream.below(2_001) as i64 - 1_000;
        let won = (stream.below(2_001) as i64) < lead + 1_000;
        let result = match results {
            0 => "0.5",
            1 => "1",
            _ if won => "1",
            _ => "0",
        };
        for ply in (0..positions).map(|position| 31 + 10 * position) {
            for engine in 0..engines {
                let score = match (kinds, engine) {
                    (0, _) => lead,
                    (1, 0) | (2, _) => 0,
                    (3, 0) => -lead,
                    (4, 0) => pick(&mut stream, &[30_000, -30_000]),
                    _ => lead + stream.below(401) as i64 - 200,
                };
                // some engines leave positions out
                if kinds < 3 || stream.below(4) > 0 {
                    let _ = writeln!(out, "e{engine},{score},{result},g{game},{ply},black");
                }
            }
        }
    }
    out
}

/// CSA records whose endings contradict the side to move, the summary, or each other.
pub fn records(seed: u64, case: u64) -> String {
    let mut stream = Stream::new(&[KEY, seed, case, 1]);
    let mut out = String::new();
    for game in 0..pick(&mut stream, &[1, 2, 60]) {
        let plies = pick(&mut stream, &[0, 1, 2, 40, 41, 400]);
        let _ = write!(
            out,
            "V2.2\nN+a{}\nN-b{}\n$START_TIME:2020/01/01 00:{:02}:00\nPI\n+\n",
            game % 3,
            game % 2,
            game % 60
        );
        for ply in 0..plies {
            let (sign, moves) = if ply % 2 == 0 { ('+', ["5958OU", "5859OU"]) } else { ('-', ["5152OU", "5251OU"]) };
            let score = stream.below(2_001) as i64 - 1_000;
            let _ = write!(out, "{sign}{}\nT1\n'** {score} +5958OU\n", moves[ply / 2 % 2]);
        }
        let end = pick(
            &mut stream,
            &["%TORYO", "%SENNICHITE", "%TSUMI", "%KACHI", "%TIME_UP", "%CHUDAN", "%TORYO\n%KACHI", ""],
        );
        let (a, b) = (game % 3, game % 2);
        let summary = match stream.below(5) {
            0 => String::new(),
            1 => format!("'summary:toryo:a{a} win:b{b} lose\n"),
            2 => format!("'summary:sennichite:a{a} draw:b{b} draw\n"),
            3 => format!("'summary:time up:a{a} lose:b{b} win\n"),
            _ => format!("'summary:tsumi:b{b} win:a{a} lose\n"),
        };
        let _ = write!(out, "{end}\n{summary}/\n");
    }
    out
}

/// A vote log: ties, one voter, nobody, declared certainties, long games.
pub fn votes(seed: u64, case: u64) -> serde_json::Result<String> {
    let mut stream = Stream::new(&[KEY, seed, case, 2]);
    let names: Vec<String> = (0..pick(&mut stream, &[1, 2, 3, 20])).map(|number| format!("v{number}")).collect();
    let voters: Vec<Voter<'_>> = names.iter().map(|name| Voter::member(name)).collect();
    let rule = pick(&mut stream, &[Rule::Majority, Rule::Optimistic]);
    let mut out = serde_json::to_string(&Header::new("shogi", rule, &voters, &Options::default()))? + "\n";
    let (scores, decisions) = (stream.below(4), pick(&mut stream, &[1, 3, 200]));
    for decision in 0..decisions {
        let mut vote = |name: &String| LoggedVote {
            voter: name.clone(),
            best: Some(pick(&mut stream, &["7g7f", "2g2f", "5i5h"]).to_owned()),
            score: match scores {
                0 => Some(LoggedScore(Score::Cp(0.0))),
                1 => Some(LoggedScore(Score::Cp(pick(&mut stream, &[2e9, -2e9])))),
                _ => None,
            },
            win_rate: (scores > 1).then(|| pick(&mut stream, &[0.0, 1.0, 0.5])),
            ..LoggedVote::default()
        };
        let votes: Vec<LoggedVote> = names.iter().map(&mut vote).collect();
        let line = LoggedLine {
            game_id: format!("g{}", decision % 7),
            ply: pick(&mut stream, &[1, 2, 10_000]),
            position: "startpos".to_owned(),
            side: pick(&mut stream, &[Color::Black, Color::White]),
            material: None,
            time_ms: decision as u64,
            votes: if stream.below(10) == 0 { Vec::new() } else { votes },
            searched: Vec::new(),
            decision: None,
            played: "7g7f".to_owned(),
            faults: Vec::new(),
        };
        out += &(serde_json::to_string(&line)? + "\n");
    }
    Ok(out)
}

/// Runs the commands over all inputs.
///
/// # Errors
/// Inputs cannot be written, or the program does not start.
pub fn run(options: &OddOptions) -> io::Result<OddReport> {
    let mut report = OddReport::default();
    for case in 0..options.cases {
        let folder = options.folder.join(format!("case-{case}"));
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("t.csv"), table(options.seed, case, options.engines))?;
        fs::write(folder.join("r.csa"), records(options.seed, case))?;
        fs::write(folder.join("v.jsonl"), votes(options.seed, case)?)?;
        fs::write(folder.join("j.csv"), judged(options.seed, case))?;
        fs::write(folder.join("p.txt"), "startpos\nstartpos moves 7g7f 3c3d\n")?;
        let before = report.problems.len();
        report.cases += 1;
        Case { options, folder: &folder, case, report: &mut report }.run()?;
        if report.problems.len() == before {
            fs::remove_dir_all(&folder)?;
        }
    }
    Ok(report)
}

struct Case<'a> {
    options: &'a OddOptions,
    folder: &'a Path,
    case: u64,
    report: &'a mut OddReport,
}

impl Case<'_> {
    fn problem(&mut self, command: &str, text: &str) {
        let (seed, case) = (self.options.seed, self.case);
        self.report.problems.push(format!("--seed {seed}, case {case}: {command}: {text}"));
    }

    fn run(&mut self) -> io::Result<()> {
        for input in ["t.csv", "r.csa", "j.csv"] {
            let least = "--min-games 1 --min-samples 1 --from-ply 1";
            self.both(&format!("calibrate {input} {least} --json --no-plots --force --out OUT"))?;
            self.both(&format!("diagnose {input} {least} --bands 20 --data --force --json --out OUT"))?;
            self.both(&format!("thresholds {input} {least} --json"))?;
            self.both(&format!("inspect {input} --json"))?;
            self.both(&format!("plot {input} --from-ply 1 --points --json"))?;
            self.both(&format!("plot {input} --from-ply 1 --out OUT"))?;
            self.both(&format!("calibrate {input} {least} --model auto --json --no-plots --force --out calibrations"))?;
            let found = fs::read_dir(self.folder.join("calibrations")).into_iter().flatten().flatten();
            let mut files: Vec<String> = found.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
            files.sort();
            self.report.calibrations += files.len() as u64;
            for file in files.iter().take(3) {
                let file = format!("calibrations/{file}");
                self.both(&format!("evaluate {file} {input} --bands 20 --from-ply 1 --json"))?;
                self.both(&format!("compare {file} {file} --json"))?;
                self.both(&format!("winrate {file} --json -- 0 1 -1 37 -32000 100000 2147483647"))?;
                self.both(&format!("export {file} --to json"))?;
                self.council(&file)?;
            }
            let teacher = files.first().map_or("x.json".to_owned(), |file| format!("calibrations/{file}"));
            self.both(&format!("rescale {input} --to-scale 600 --force --json --out OUT"))?;
            self.both(&format!("rescale {input} --to-scale 600 --teacher e0={teacher} --force --json --out OUT"))?;
            let _ = fs::remove_dir_all(self.folder.join("calibrations"));
        }
        self.both("match-stats r.csa --json")?;
        self.both("analyse r.csa --html OUT --json")?;
        self.both("replay v.jsonl --json")
    }

    /// A council of two members with this calibration votes on positions.
    fn council(&mut self, calibration: &str) -> io::Result<()> {
        let testkit = self.options.testkit.display();
        let member = |number: u32| {
            format!(
                "[[engine]]\nname = \"m{number}\"\ncommand = '{testkit}'\nargs = [\"scripted-engine\", \
                 \"--repeatable\", \"--think-ms=0\", \"--seed={number}\"]\nlimit = {{ nodes = 10 }}\n\
                 calibration = \"{calibration}\"\n"
            )
        };
        let rule = "game = \"shogi\"\nrule = \"mean-winrate\"\nlog = \"votes.jsonl\"\n";
        fs::write(self.folder.join("c.toml"), rule.to_owned() + &member(1) + &member(2))?;
        self.both("council c.toml --positions p.txt")
    }

    /// Runs a command with 1 and with 8 threads.
    fn both(&mut self, command: &str) -> io::Result<()> {
        let name = command.split(' ').next().unwrap_or_default();
        let mut found = Vec::new();
        for threads in ["1", "8"] {
            let out = self.folder.join("out");
            let _ = fs::remove_dir_all(&out);
            let mut words: Vec<&str> =
                command.split(' ').map(|word| if word == "OUT" { "out" } else { word }).collect();
            if matches!(name, "calibrate" | "diagnose" | "thresholds" | "evaluate" | "rescale" | "inspect" | "plot") {
                words.extend(["--threads", threads]);
            }
            let ran = Command::new(&self.options.program)
                .args(words)
                .current_dir(self.folder)
                .env_remove("LANG")
                .env("LC_ALL", "C.UTF-8")
                .output()?;
            self.report.runs += 1;
            let said = String::from_utf8_lossy(&ran.stderr).into_owned();
            let code = ran.status.code();
            *self.report.exits.entry(format!("{name} {}", code.unwrap_or(-1))).or_default() += 1;
            if !matches!(code, Some(0..=3)) || said.contains("panicked") {
                self.problem(command, &format!("{:?}: {said}", ran.status));
            }
            if !command.contains("json") {
                let words =
                    |text: &str| text.split(|c: char| !c.is_alphanumeric()).any(|word| matches!(word, "NaN" | "inf"));
                if words(&String::from_utf8_lossy(&ran.stdout)) {
                    self.problem(command, "a number that is none");
                }
            } else if !ran.stdout.is_empty() {
                match serde_json::from_slice(&ran.stdout) {
                    Ok(document) => self.examine(command, &document),
                    Err(error) => self.problem(command, &format!("no JSON: {error}")),
                }
            }
            let files = files(&out);
            for (file, bytes) in &files {
                self.examine_file(command, file, bytes);
            }
            found.push((ran.stdout, files));
        }
        if found[0] != found[1] {
            self.problem(command, "other bytes with 8 threads");
        }
        Ok(())
    }

    fn examine_file(&mut self, command: &str, file: &str, bytes: &[u8]) {
        let text = String::from_utf8_lossy(bytes);
        if file.ends_with(".json") {
            match serde_json::from_str(&text) {
                Ok(document) => self.examine(&format!("{command}, {file}"), &document),
                Err(error) => self.problem(command, &format!("{file}: {error}")),
            }
        } else if file.ends_with(".csv") {
            let is_number =
                |cell: &str| ["nan", "inf", "-inf", "infinity", "-infinity"].contains(&&*cell.to_lowercase());
            if let Some(line) = text.lines().find(|line| line.split(',').any(is_number)) {
                self.problem(command, &format!("{file}: {line}"));
            }
        } else if (file.ends_with(".svg") || file.ends_with(".html"))
            && ["NaN\"", ">NaN", "NaN%", "NaN,", "NaN ", "inf\"", "inf,", ">inf", "inf%"]
                .iter()
                .any(|word| text.contains(word))
        {
            self.problem(command, &format!("{file}: a number that is none"));
        }
    }

    /// Counts add up, and intervals hold their estimates.
    fn examine(&mut self, command: &str, document: &Value) {
        if let Some(games) = document.get("games").filter(|games| games.get("skipped").is_some_and(Value::is_object)) {
            let count = |value: &Value| value.as_u64().unwrap_or(0);
            let skipped: u64 = games["skipped"].as_object().into_iter().flatten().map(|(_, n)| count(n)).sum();
            if count(&games["read"]) != count(&games["used"]) + skipped {
                self.problem(command, &format!("counts do not add up: {games}"));
            }
        }
        let mut wrong = Vec::new();
        intervals(document, "", &mut wrong);
        if let Some(first) = wrong.first() {
            self.problem(command, &format!("{} intervals do not hold their estimates: {first}", wrong.len()));
        }
    }
}

/// Pairs of `NAME` and `NAME_interval`, and of `value` or `constant` and `interval`.
fn intervals(value: &Value, path: &str, wrong: &mut Vec<String>) {
    match value {
        Value::Object(all) => {
            for (name, value) in all {
                let estimate = match name.strip_suffix("interval") {
                    Some("") => all.get("value").or_else(|| all.get("constant")),
                    Some(stem) => all.get(stem.trim_end_matches('_')),
                    None => None,
                };
                let ends = value.as_array().filter(|ends| ends.len() == 2);
                let ends = ends.and_then(|ends| Some((ends[0].as_f64()?, ends[1].as_f64()?)));
                if let Some((estimate, (low, high))) = estimate.and_then(Value::as_f64).zip(ends)
                    && !(low.min(high) - 1e-9 * low.abs() <= estimate && estimate <= high.max(low) + 1e-9 * high.abs())
                {
                    wrong.push(format!("{path}.{name}: {estimate} and [{low}, {high}]"));
                }
                intervals(value, &format!("{path}.{name}"), wrong);
            }
        }
        Value::Array(all) => {
            all.iter().enumerate().for_each(|(i, value)| intervals(value, &format!("{path}[{i}]"), wrong));
        }
        _ => {}
    }
}

/// The files of a folder, by their paths in it.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for path in fs::read_dir(&next).into_iter().flatten().flatten().map(|entry| entry.path()) {
            match fs::read(&path) {
                Ok(bytes) => {
                    drop(found.insert(path.strip_prefix(folder).unwrap_or(&path).display().to_string(), bytes))
                }
                Err(_) => folders.push(path),
            }
        }
    }
    found
}
