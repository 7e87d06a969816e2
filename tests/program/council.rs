//! `evalcurve council` from the point of view of a GUI. The members are scripted engines that fail on demand.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use evalcurve_testkit::program as testkit;
use serde_json::{Value, json};

use crate::interface::snapshot;
use crate::support::{Folder, csv, root};

/// Far longer than a working council needs.
const PATIENCE: Duration = Duration::from_secs(60);

/// The table of a member in a configuration: TOML literals, so that Windows paths stay as they are.
pub(crate) fn member(name: &str, arguments: &[&str], more: &str) -> String {
    let arguments: Vec<String> = ["scripted-engine"].iter().chain(arguments).map(|a| format!("'{a}'")).collect();
    format!("[[engine]]\nname = '{name}'\ncommand = '{}'\nargs = [{}]\n{more}\n", testkit(), arguments.join(", "))
}

/// A calibration with p = 1 / (1 + exp(-x / constant + 0.4)): 0.4 are the opponents, whom the council does not see.
pub(crate) fn calibration(constant: f64) -> String {
    let file = std::fs::read_to_string(root().join("data/published/gikou.json")).unwrap();
    let mut json: Value = serde_json::from_str(&file).unwrap();
    let method = json["model"]["method"].as_str().unwrap().to_owned();
    for place in ["/model".to_owned(), format!("/models/{method}")] {
        let model = json.pointer_mut(&place).unwrap();
        model["w1"] = (1.0 / constant).into();
        model["w2"] = 0.4.into();
    }
    json.to_string()
}

/// A council of two: A plays 7g7f for +80, B 2g2f for +60 on a scale that is worth more.
fn council_of_two(folder: &Folder) {
    folder.write("a.json", calibration(1200.0));
    folder.write("b.json", calibration(600.0));
    let a = member("A", &["--prefer", "7g7f", "--score", "80"], "calibration = 'a.json'\nrole = 'leader'");
    let b = member("B", &["--prefer", "2g2f", "--score", "60"], "calibration = 'b.json'");
    folder.write("council.toml", format!("log = 'votes.jsonl'\n{a}{b}"));
}

/// A GUI whose engine is the program.
pub(crate) struct Gui {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    log: Vec<String>,
}

impl Gui {
    pub(crate) fn new(folder: &Folder, arguments: &[&str]) -> Self {
        let mut child = folder
            .command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (sender, lines) = channel();
        let out = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || out.lines().map_while(Result::ok).try_for_each(|l| sender.send(l)));
        let input = child.stdin.take();
        Self { child, input, lines, log: Vec::new() }
    }

    pub(crate) fn send(&mut self, line: &str) {
        self.log.push(format!("> {line}"));
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }

    /// Reads lines up to the first that starts with a word.
    #[track_caller]
    pub(crate) fn until(&mut self, word: &str) -> String {
        loop {
            let line = match self.lines.recv_timeout(PATIENCE) {
                Ok(line) => line,
                Err(_) => panic!("no '{word}' after\n{}", self.log.join("\n")),
            };
            self.log.push(line.clone());
            if line.starts_with(word) {
                return line;
            }
        }
    }

    #[track_caller]
    pub(crate) fn ready(&mut self, protocol: &str) {
        self.send(protocol);
        self.until(&format!("{protocol}ok"));
        self.send("isready");
        self.until("readyok");
        self.send(&format!("{protocol}newgame"));
    }

    #[track_caller]
    pub(crate) fn best(&mut self, position: &str, go: &str) -> String {
        self.send(&format!("position {position}"));
        self.send(go);
        self.until("bestmove")
    }

    /// Whether any line so far contains a text.
    pub(crate) fn got(&self, word: &str) -> bool {
        self.log.iter().any(|l| l.contains(word))
    }

    /// All lines so far; those to the program begin with `> `.
    #[cfg(unix)]
    pub(crate) fn log(&self) -> &[String] {
        &self.log
    }

    #[track_caller]
    pub(crate) fn quit(mut self) -> Vec<String> {
        self.send("quit");
        self.input = None;
        assert!(self.child.wait().unwrap().success());
        std::mem::take(&mut self.log)
    }
}

impl Drop for Gui {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Removes times and versions, which vary, and the lines during the search, whose number depends on the machine.
fn without_times(lines: &[String]) -> String {
    let mut text = String::new();
    for (i, line) in lines.iter().enumerate() {
        let last = lines.get(i + 1).is_some_and(|next| next.starts_with("bestmove"));
        if line.starts_with("info depth") && !last {
            continue;
        }
        let mut words: Vec<&str> = line.split(' ').collect();
        if words.first() == Some(&"info")
            && let Some(at) = words.iter().position(|w| *w == "time")
        {
            words[at + 1] = "T";
        }
        if line.contains(" ms of all members, ") {
            (words[2], words[4]) = ("T", "T");
        }
        if line.starts_with("id author") {
            words.truncate(3);
        }
        text += &words.join(" ");
        text.push('\n');
    }
    text
}

#[test]
fn a_dialogue_with_a_gui() {
    let folder = Folder::new();
    council_of_two(&folder);
    let mut gui = Gui::new(&folder, &["council", "council.toml"]);
    // on a busy machine, members may start later than `usiok`, which then lacks their options
    gui.send("isready");
    gui.until("readyok");
    gui.log.clear();
    gui.send("usi");
    gui.until("usiok");
    gui.send("setoption name USI_Ponder value true");
    gui.send("setoption name USI_Hash value 256");
    gui.send("setoption name E2_Style value Risky");
    gui.send("setoption name E2_Threads value 9999");
    gui.send("setoption name E7_Threads value 1");
    gui.send("isready");
    gui.until("readyok");
    gui.send("usinewgame");
    gui.best("startpos", "go btime 60000 wtime 60000 byoyomi 10000");
    // a ponder hit, and an interrupted ponder
    gui.send("position startpos moves 2g2f 3c3d");
    gui.send("go ponder btime 60000 wtime 60000 byoyomi 10000");
    gui.send("ponderhit");
    gui.until("bestmove");
    gui.send("position startpos moves 2g2f 3c3d 7g7f 8c8d");
    gui.send("go ponder btime 60000 wtime 60000 byoyomi 10000");
    gui.send("stop");
    gui.until("bestmove");
    gui.send("setoption name Rule value majority");
    gui.best("sfen lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1", "go nodes 1000");
    gui.send("gameover win");
    let log = gui.quit();
    // the lines of an interrupted ponder depend on how far it got
    let at = log.iter().position(|l| l == "> stop").unwrap();
    let end = at + log[at..].iter().position(|l| l.starts_with("bestmove")).unwrap();
    let lines: Vec<String> =
        log.iter().enumerate().filter(|(i, _)| *i <= at || *i > end).map(|(_, l)| l.clone()).collect();
    snapshot("council-dialogue.txt", &without_times(&lines));
    // and the log replays to the same decisions
    let replayed = folder.good(&["replay", "votes.jsonl", "--json"]);
    assert!(replayed.out.contains("\"decisions\": 4"), "{}", replayed.out);
    assert!(replayed.out.contains("\"ends\": 1"), "{}", replayed.out);
}

/// The ends of games in a log, without the session in their ids.
fn ends(folder: &Folder) -> Vec<(String, Value)> {
    let log = folder.text("votes.jsonl");
    let lines = log.lines().map(|l| serde_json::from_str::<Value>(l).unwrap());
    let number = |l: &Value| l["game_id"].as_str().unwrap().rsplit('-').next().unwrap().to_owned();
    lines.filter(|l| l.get("end").is_some()).map(|l| (number(&l), json!([l["end"], l["side"], l["ply"]]))).collect()
}

#[test]
fn the_log_has_the_results_that_the_gui_reports() {
    let folder = Folder::new();
    council_of_two(&folder);
    let mut gui = Gui::new(&folder, &["council", "council.toml"]);
    gui.ready("usi");
    // no move has been played yet
    gui.send("gameover win");
    gui.send("usinewgame");
    gui.best("startpos", "go nodes 1000");
    gui.best("startpos moves 2g2f 3c3d", "go nodes 1000");
    // the opponent resigns while the council waits for another move
    gui.send("position startpos moves 2g2f 3c3d 7g7f 8c8d");
    gui.send("go ponder nodes 1000");
    gui.send("stop");
    gui.until("bestmove");
    gui.send("gameover win");
    gui.send("gameover lose");
    // a GUI that does not announce the game
    gui.best("startpos moves 7g7f", "go nodes 1000");
    gui.send("gameover lose");
    gui.send("usinewgame");
    gui.best("startpos moves 2g2f", "go nodes 1000");
    gui.send("gameover interrupted");
    gui.send("usinewgame");
    gui.best("startpos moves 6g6f", "go nodes 1000");
    gui.send("gameover draw");
    gui.send("usinewgame");
    gui.best("startpos", "go nodes 1000");
    gui.quit();
    let ended = |game: &str, end: Value| (game.to_owned(), end);
    assert_eq!(
        ends(&folder),
        [
            ended("2", json!(["win", "black", 3])),
            ended("3", json!(["loss", "white", 2])),
            ended("5", json!(["draw", "white", 2])),
        ]
    );
    folder.good(&["replay", "votes.jsonl", "--strict"]);
    // an interrupted ponder gives no sample, nor does a game without a result
    folder.good(&["sample", "votes.jsonl", "--from-ply", "1", "--window", "1", "--out", "table.csv"]);
    let (head, rows) = csv(&folder.text("table.csv"));
    let at = |name: &str| head.iter().position(|h| h == name).unwrap();
    let mut found: Vec<[&str; 5]> =
        rows.iter().map(|r| ["engine", "color", "ply", "score_cp", "result"].map(|n| r[at(n)].as_str())).collect();
    found.sort_unstable();
    let of = |engine, score| {
        [("black", "1", "1.0"), ("black", "3", "1.0"), ("white", "2", "0.0"), ("white", "2", "0.5")]
            .map(|(color, ply, result)| [engine, color, ply, score, result])
    };
    assert_eq!(found, [of("A", "80"), of("B", "60")].concat());
    let document = folder.document(&["inspect", "votes.jsonl", "--from-ply", "1"]);
    assert_eq!(document["games"]["skipped"], json!({ "unknown_result": 4 }));
}

#[test]
fn a_council_votes_on_positions_without_a_game() {
    let folder = Folder::new();
    council_of_two(&folder);
    folder.write("positions.txt", "startpos\nstartpos moves 7g7f 3c3d\n\nstartpos moves 1a1b\n");
    let on = |more: &[&str]| folder.run(&[&["council", "council.toml", "--positions", "positions.txt"], more].concat());
    on(&[]).ends(2).says(&["a member has no limit of its own", "--movetime MS"]);
    let voted = on(&["--movetime", "300"]).ends(0).says(&["positions.txt:4: "]);
    assert!(voted.out.starts_with("2 of 2 positions voted on, of 2 games or lines; not used: 1"), "{}", voted.out);
    let replayed: Value = serde_json::from_str(&folder.good(&["replay", "votes.jsonl", "--json"]).out).unwrap();
    assert_eq!((&replayed["replay"]["decisions"], &replayed["replay"]["games"]), (&json!(2), &json!(2)));
    // two positions of the second line, one of the first, which is shorter
    let config = std::fs::read_to_string(folder.at("council.toml")).unwrap();
    folder.write("council.toml", config.replace("'votes.jsonl'", "'more.jsonl'"));
    let voted = on(&["--movetime", "300", "--plies", "2,1"]).ends(0);
    assert!(voted.out.starts_with("3 of 3 positions voted on, of 2 games or lines"), "{}", voted.out);
    let replayed: Value = serde_json::from_str(&folder.good(&["replay", "more.jsonl", "--json"]).out).unwrap();
    assert_eq!((&replayed["replay"]["decisions"], &replayed["replay"]["games"]), (&json!(3), &json!(2)));
    // and the end of a line that is shorter than all
    let voted = on(&["--movetime", "300", "--plies", "40"]).ends(0);
    assert!(voted.out.starts_with("2 of 2 positions voted on, of 2 games or lines"), "{}", voted.out);
    let help = folder.good(&["council", "--help"]).out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(help.contains("and if the line has fewer moves than each of these, at its end"), "{help}");
    assert!(
        help.contains("Exit codes: 0 success; 1 --init, --check or --prepare found an error in a member"),
        "{help}"
    );
    folder.write("council.toml", config.replace("log = 'votes.jsonl'", ""));
    on(&["--movetime", "300"]).ends(2).says(&["there is no vote log; write log ="]);
    // engines that do not start
    let missing = "[[engine]]\nname = 'X'\ncommand = 'no-such-engine'\ncalibration = 'a.json'\n";
    folder.write("council.toml", format!("log = 'none.jsonl'\n{missing}"));
    on(&["--movetime", "300"]).ends(1).says(&["no member voted on 2 of 2 positions", "--check"]);
}

/// Members that answer their first search only: one by time, one by nodes.
#[cfg(unix)]
#[test]
fn a_silent_member_does_not_hold_up_the_positions() {
    let folder = Folder::new();
    folder.write(
        "silent.sh",
        "while read -r w r; do case $w in usi) echo usiok;; isready) echo readyok;; \
         go) n=$((n+1)); [ $n = 1 ] || exec sleep 1000; echo bestmove 7g7f;; quit) exit;; esac; done",
    );
    folder.write("positions.txt", "startpos\n".repeat(3));
    let since = std::time::Instant::now();
    for limit in ["movetime-ms = 50", "nodes = 9"] {
        let member = "[[engine]]\nname = 'S'\ncommand = 'sh'\nargs = ['silent.sh']\nstop-patience-ms = 200";
        folder.write("c.toml", format!("rule = 'majority'\nlog = 'v.jsonl'\n{member}\nlimit = {{ {limit} }}\n"));
        let voted = folder.good(&["council", "c.toml", "--positions", "positions.txt"]);
        assert!(voted.out.starts_with("3 of 3 positions voted on"), "{}", voted.out);
        assert!(since.elapsed() < PATIENCE, "{limit}");
    }
    assert!(folder.text("v.jsonl").contains("no answer within 200 ms after stop"));
}

#[test]
fn a_council_without_members_says_so_and_does_not_play() {
    let folder = Folder::new();
    let missing = "[[engine]]\nname = 'X'\ncommand = 'no-such-engine'\ncalibration = 'none'\n";
    for (game, protocol, no_move) in [("shogi", "usi", "resign"), ("chess", "uci", "(none)")] {
        folder.write("c.toml", format!("game = '{game}'\nrule = 'majority'\n{missing}"));
        let mut gui = Gui::new(&folder, &["council", "c.toml"]);
        gui.ready(protocol);
        assert!(gui.got("no member could be started, so the council plays no move"), "{:#?}", gui.log);
        assert_eq!(gui.best("startpos", "go movetime 300"), format!("bestmove {no_move}"));
        gui.quit();
    }
}

#[test]
fn options_reach_the_member_that_they_name() {
    let folder = Folder::new();
    council_of_two(&folder);
    let mut gui = Gui::new(&folder, &["council", "council.toml"]);
    gui.ready("usi");
    gui.send("setoption name E2_Threads value 9999");
    gui.until("info string option 'Threads' is '9999'; write a whole number from 1 to 512");
    gui.send("setoption name E3_Threads value 1");
    gui.until("info string there is no member 3");
    gui.send("setoption name Rule value 3-hirn");
    gui.until("info string rule 3-hirn: it needs one chooser");
    gui.send("setoption name Leader value C");
    gui.until("info string there is no member 'C'");
    // one vote each: the leader decides
    gui.send("setoption name Rule value majority");
    for (leader, m) in [("B", "2g2f"), ("A", "7g7f")] {
        gui.send(&format!("setoption name Leader value {leader}"));
        assert!(gui.best("startpos", "go btime 0 wtime 0 byoyomi 1000").starts_with(&format!("bestmove {m}")));
    }
    assert!(gui.got("option name Leader type combo default A var none var A var B"));
    assert!(gui.got("option name E1_Threads type spin default 1 min 1 max 512"));
    assert!(gui.got("option name E2_Style type combo default Normal var Solid var Normal var Risky"));
    gui.quit();
}

#[test]
fn the_check_sees_fields_that_differ_where_they_are_compared() {
    let folder = Folder::new();
    council_of_two(&folder);
    folder.write("b.json", calibration(600.0).replace("0.4", "-0.8"));
    let checked = folder.good(&["council", "council.toml", "--check"]);
    // weaker opponents are no reason for a warning where they do not count
    assert!(!checked.err.contains("weaker"), "{}", checked.err);
    assert!(checked.out.contains("B: it met weaker opponents than A did (1.20 logits)"), "{}", checked.out);
    let config = std::fs::read_to_string(folder.at("council.toml")).unwrap();
    folder.write("council.toml", format!("reading = 'field'\n{config}"));
    folder.good(&["council", "council.toml", "--check"]).says(&["B: reading = \"field\"", "1.20 logits more than A"]);
}

#[test]
fn an_infinite_search_waits_for_stop() {
    let folder = Folder::new();
    council_of_two(&folder);
    let mut gui = Gui::new(&folder, &["council", "council.toml"]);
    gui.ready("usi");
    gui.send("position startpos");
    gui.send("go infinite");
    gui.send("isready");
    gui.until("readyok");
    assert!(!gui.got("bestmove"));
    gui.send("stop");
    assert_eq!(gui.until("bestmove"), "bestmove 2g2f");
    gui.quit();
}

#[test]
fn the_end_of_the_input_ends_the_council() {
    let folder = Folder::new();
    let hang = member("A", &["--fault", "hang"], "");
    folder.write("council.toml", format!("rule = 'majority'\n{hang}"));
    let mut gui = Gui::new(&folder, &["council", "council.toml"]);
    gui.ready("usi");
    gui.send("position startpos");
    gui.send("go infinite");
    gui.input = None;
    assert!(gui.child.wait().unwrap().success());
}

/// Like `evalcurve council council.toml < commands.txt`: the program that writes the commands waits for no answer.
#[test]
fn commands_from_a_file_are_answered_in_their_order() {
    let folder = Folder::new();
    council_of_two(&folder);
    let answers = |commands: &str| {
        let ran = folder.run_with(&["council", "council.toml"], commands.as_bytes()).ends(0);
        let is_answer = |line: &&str| ["usiok", "readyok", "bestmove"].iter().any(|word| line.starts_with(word));
        (ran.out.lines().filter(is_answer).map(str::to_owned).collect::<Vec<_>>(), ran.out)
    };
    let head = "usi\nisready\nusinewgame\nposition startpos\n";
    for go in ["go movetime 2000", "go btime 0 wtime 0 byoyomi 2000", "go nodes 10", "go infinite\nstop", "go infinite"]
    {
        let (found, out) = answers(&format!("{head}{go}\n"));
        assert_eq!(found, ["usiok", "readyok", "bestmove 2g2f"], "{go}: {out}");
        assert!(out.contains("[X] 7g7f") && out.contains("option name E2_Style"), "{go}: {out}");
    }
    // neither `usi` nor `isready`
    assert_eq!(answers("position startpos\ngo movetime 2000\n").0, ["bestmove 2g2f"]);
    // options are set after `usiok`, when they are known; every `isready` has its answer
    let (found, out) = answers(
        "usi\nsetoption name E2_Threads value 9999\nsetoption name Rule value majority\nisready\nisready\n\
         position startpos\ngo movetime 2000\n",
    );
    assert_eq!(found, ["usiok", "readyok", "readyok", "bestmove 7g7f"], "{out}");
    assert!(out.contains("usiok\ninfo string option 'Threads' is '9999'"), "{out}");
}

/// The engine needs some time until it is ready, and says how much time it gets then.
#[cfg(unix)]
#[test]
fn the_clock_of_a_search_starts_when_the_members_are_ready() {
    let folder = Folder::new();
    let engine = |seconds: &str| {
        format!(
            "while read -r line; do case $line in\nusi) echo usiok;;\nisready) sleep {seconds}; echo readyok;;\n\
             go*) echo $line >> go.txt; echo info depth 1 score cp 1 pv 7g7f; echo bestmove 7g7f;;\nquit) exit;;\n\
             esac; done\n"
        )
    };
    folder.write("engine.sh", engine("1"));
    let member = "[[engine]]\nname = 'A'\ncommand = 'sh'\nargs = ['engine.sh']\ndirectory = '.'\n";
    folder.write("council.toml", format!("rule = 'majority'\n{member}"));
    for head in ["usi\nisready\n", "usi\n", ""] {
        let commands = format!("{head}position startpos\ngo movetime 900\n");
        let ran = folder.run_with(&["council", "council.toml"], commands.as_bytes()).ends(0);
        assert!(ran.out.contains("[O] 7g7f (+1) A") && ran.out.ends_with("bestmove 7g7f\n"), "{head:?}: {}", ran.out);
        let given: u64 = folder.text("go.txt").trim().rsplit(' ').next().unwrap().parse().unwrap();
        assert!((700..900).contains(&given), "{head:?}: {given}");
        std::fs::remove_file(folder.at("go.txt")).unwrap();
    }
    // `quit` does not wait
    folder.write("engine.sh", engine("1000"));
    let since = std::time::Instant::now();
    let commands = b"usi\nisready\nposition startpos\ngo movetime 900\nquit\n";
    let ran = folder.run_with(&["council", "council.toml"], commands).ends(0);
    assert!(ran.out.contains("usiok") && !ran.out.contains("readyok") && !ran.out.contains("bestmove"), "{}", ran.out);
    assert!(since.elapsed() < PATIENCE / 2);
    // and at the end of the input, the council waits for a member once, however often it may be restarted
    folder.write("council.toml", format!("rule = 'majority'\nrestarts = 1000000\n{member}ready-ms = 300\n"));
    let ran = folder.run_with(&["council", "council.toml"], &commands[..commands.len() - 5]).ends(0);
    assert!(ran.out.contains("A: no readyok within 300 ms; it is not started again"), "{}", ran.out);
    assert!(ran.out.contains("\nreadyok\n") && ran.out.contains("resign: no member could be started"), "{}", ran.out);
    // a search that waits for a silent member ends with its time
    folder.write("engine.sh", engine("0").replace("go*) ", "go*) sleep 1000; "));
    folder.write("council.toml", format!("rule = 'majority'\n{member}"));
    let ran = folder.run_with(&["council", "council.toml"], &commands[..commands.len() - 5]).ends(0);
    assert!(ran.out.contains(": no member voted; a legal move") && since.elapsed() < PATIENCE, "{}", ran.out);
}

/// The engine ignores the end of its input and some signals, and has a child that does so too.
#[cfg(unix)]
#[test]
fn signals_stop_the_engines_and_their_children() {
    use std::os::unix::process::ExitStatusExt;
    use std::process::Command;
    let alive = |id: &str| {
        let found = Command::new("ps").args(["-o", "stat=", "-p", id]).output().unwrap();
        let state = String::from_utf8_lossy(&found.stdout).trim().to_owned();
        !state.is_empty() && !state.starts_with('Z')
    };
    // tests that run in the background of a shell ignore SIGINT, and so does a council that they start
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|l| u64::from_str_radix(l.strip_prefix("SigIgn:")?.trim(), 16).ok());
    for (name, number) in [("TERM", 15), ("HUP", 1), ("INT", 2)] {
        if ignored.unwrap_or(0) >> (number - 1) & 1 == 1 {
            continue;
        }
        let folder = Folder::new();
        folder.write(
            "engine.sh",
            "trap '' HUP INT TERM\nsleep 1000 &\necho $$ $! > ids\nwhile read -r line; do case $line in\n\
             usi) echo usiok;;\nisready) echo readyok;;\nesac; done\nsleep 1000\n",
        );
        let engine = "[[engine]]\nname = 'A'\ncommand = 'sh'\nargs = ['engine.sh']\ndirectory = '.'\n";
        folder.write("council.toml", format!("rule = 'majority'\n{engine}"));
        let mut gui = Gui::new(&folder, &["council", "council.toml"]);
        gui.ready("usi");
        let ids = folder.text("ids");
        let ids: Vec<&str> = ids.split_whitespace().collect();
        assert!(ids.len() == 2 && ids.iter().all(|id| alive(id)), "{ids:?}");
        assert!(
            Command::new("kill").args([&format!("-{name}"), &gui.child.id().to_string()]).status().unwrap().success()
        );
        assert_eq!(gui.child.wait().unwrap().signal(), Some(number));
        let until = std::time::Instant::now() + PATIENCE;
        while ids.iter().any(|id| alive(id)) {
            assert!(std::time::Instant::now() < until, "SIG{name} leaves {ids:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// One engine declares far too many options, some of them with an escape sequence.
#[cfg(unix)]
#[test]
fn options_of_an_engine_are_limited() {
    let folder = Folder::new();
    folder.write(
        "engine.sh",
        "read -r line\nawk 'BEGIN { for (i = 0; i < 300000; i++) print \"option name O\" i \"\\033[31m type check\" \
         }'\necho usiok\nwhile read -r line; do case $line in\nisready) echo readyok;;\nquit) exit;;\nesac; \
         done\n",
    );
    let engine = "[[engine]]\nname = 'A'\ncommand = 'sh'\nargs = ['engine.sh']\ndirectory = '.'\n";
    folder.write("council.toml", format!("rule = 'majority'\n{engine}"));
    let mut gui = Gui::new(&folder, &["council", "council.toml"]);
    gui.ready("usi");
    let options = gui.log.iter().filter(|line| line.starts_with("option name E1_")).count();
    assert!(options <= 500, "{options}");
    assert!(!gui.got("\u{1b}"));
    assert!(gui.got("info string A: 299500 options ignored"), "{:?}", gui.log.last());
    gui.quit();
}

/// The council hands `UCI_Chess960` on to its members and writes castling as the king taking its rook.
#[test]
fn chess960_castling_takes_the_rook() {
    let folder = Folder::new();
    let engine = |name: &str| member(name, &["--game", "chess", "--prefer", "g1h1", "--name", name], "");
    folder.write("council.toml", format!("game = 'chess'\nrule = 'majority'\n{}{}", engine("A"), engine("B")));
    let mut gui = Gui::new(&folder, &["council", "council.toml"]);
    gui.ready("uci");
    assert!(gui.got("option name UCI_Chess960 type check default false"), "{:#?}", gui.log);
    // X-FEN: K is the right of the rook on h1, next to its king
    let start = "fen r3k3/8/8/8/8/8/8/6KR w Kq - 0 1";
    gui.best(start, "go movetime 500");
    assert!(gui.got("set the option UCI_Chess960"), "{:#?}", gui.log);
    gui.send("setoption name UCI_Chess960 value true");
    gui.send("isready");
    gui.until("readyok");
    assert!(gui.best(start, "go movetime 500").starts_with("bestmove g1h1"), "{:#?}", gui.log);
    assert!(gui.best("startpos moves e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 e1h1", "go movetime 500").len() > 12);
    assert!(!gui.got("illegal"), "{:#?}", gui.log);
    gui.quit();
}

/// Engines write castling in two ways: both are one move, in the notation of the GUI.
#[test]
fn votes_for_castling_are_votes_for_one_move() {
    let folder = Folder::new();
    let engine = |name: &str, best: &str| member(name, &["--game", "chess", "--prefer", best], "");
    let members = [engine("A", "d2d3"), engine("B", "e1h1"), engine("C", "e1g1")].concat();
    folder.write("council.toml", format!("game = 'chess'\nrule = 'majority'\n{members}"));
    let mut gui = Gui::new(&folder, &["council", "council.toml"]);
    gui.ready("uci");
    let castles = "startpos moves e2e4 e7e5 g1f3 b8c6 f1c4 f8c5";
    assert_eq!(gui.best(castles, "go movetime 1000"), "bestmove e1g1", "{:#?}", gui.log);
    gui.quit();
}

/// One working member beside one with each fault: its move is played, and the fault is reported.
#[test]
fn every_fault_leaves_the_others() {
    let folder = Folder::new();
    let faults = [
        ("crash-at-start", "ended during its start"),
        ("crash", "ended during its search"),
        ("hang", "no answer within 200 ms after stop"),
        ("illegal", "played 9i1a+, which is illegal"),
        ("win", "declared a win that is not valid"),
        ("resign", "[-] bad abstains"),
        ("long-line", "a line of 10000000 bytes was discarded"),
        ("garbage", "bad"),
        ("not-utf8", "bad"),
        ("no-info", "[X] 2g2f bad"),
        ("ignore-stop", "bad"),
        ("slow", "[-] bad abstains"),
        #[cfg(unix)]
        ("close", "ended during its search"),
    ];
    for (fault, message) in faults {
        let bad = member("bad", &["--prefer", "2g2f", "--fault", fault], "stop-patience-ms = 200");
        let good = member("good", &["--prefer", "7g7f", "--score", "100"], "role = 'leader'");
        folder.write("council.toml", format!("rule = 'majority'\nrestarts = 1\n{bad}{good}"));
        let mut gui = Gui::new(&folder, &["council", "council.toml"]);
        gui.ready("usi");
        let position = "startpos";
        assert_eq!(gui.best(position, "go btime 0 wtime 0 byoyomi 1000"), "bestmove 7g7f", "{fault}");
        // a fault after the move is reported before the next one
        assert!(gui.best(position, "go btime 0 wtime 0 byoyomi 1000").starts_with("bestmove 7g7f"), "{fault}");
        assert!(gui.got(message), "{fault}: {:#?}", gui.log);
        gui.quit();
    }
}

#[test]
fn without_votes_a_legal_move_is_played() {
    let folder = Folder::new();
    let bad = member("bad", &["--fault", "crash"], "");
    let missing = "[[engine]]\nname = 'missing'\ncommand = 'no-such-engine-anywhere'\n";
    folder.write("council.toml", format!("rule = 'optimistic'\nrestarts = 1\n{bad}{missing}"));
    let mut gui = Gui::new(&folder, &["council", "council.toml"]);
    gui.ready("usi");
    assert!(gui.got("cannot start 'no-such-engine-anywhere'"));
    // it sent a line with a move before it crashed
    let best = gui.best("startpos", "go btime 0 wtime 0 byoyomi 1000");
    assert!(best.len() > "bestmove ".len() && best != "bestmove resign", "{best}");
    assert!(gui.got("no member voted"), "{:#?}", gui.log);
    // mated: Black's king at 1i, gold at 1h protected
    assert_eq!(gui.best("sfen 4k4/9/9/9/9/9/8p/8g/8K b - 1", "go nodes 5"), "bestmove resign");
    gui.quit();
}

#[test]
fn all_resign_and_the_council_resigns() {
    let folder = Folder::new();
    let a = member("A", &["--fault", "resign"], "");
    let b = member("B", &["--fault", "resign"], "");
    folder.write("council.toml", format!("rule = 'majority'\n{a}{b}"));
    let mut gui = Gui::new(&folder, &["council", "council.toml"]);
    gui.ready("usi");
    assert_eq!(gui.best("startpos", "go movetime 1000"), "bestmove resign");
    assert!(gui.got("2 of 2 members resign"));
    gui.quit();
    // UCI has no resignation, and `(none)` would be an illegal move
    let a = member("A", &["--game", "chess", "--fault", "resign"], "");
    folder.write("council.toml", format!("game = 'chess'\nrule = 'majority'\n{a}"));
    let mut gui = Gui::new(&folder, &["council", "council.toml"]);
    gui.ready("uci");
    let best = gui.best("startpos", "go movetime 1000");
    assert!(!best.contains("(none)") && gui.got("no member voted"), "{:#?}", gui.log);
    gui.quit();
}

#[test]
fn a_proven_mate_beats_every_win_rate() {
    let folder = Folder::new();
    folder.write("a.json", calibration(1200.0));
    let a = member("A", &["--prefer", "7g7f", "--score", "9000"], "calibration = 'a.json'");
    let b = member("B", &["--prefer", "2g2f", "--score", "mate 5"], "calibration = 'a.json'");
    let c = member("C", &["--prefer", "5g5f", "--score", "30000"], "calibration = 'none'\nmate-threshold = 29000");
    folder.write("council.toml", format!("{a}{b}{c}"));
    let mut gui = Gui::new(&folder, &["council", "council.toml"]);
    gui.ready("usi");
    gui.send("setoption name MultiPV value 2");
    assert_eq!(gui.best("startpos", "go movetime 1000"), "bestmove 2g2f");
    assert!(gui.got("info multipv 1 ") && gui.got("info multipv 2 ") && !gui.got("info multipv 3 "));
    assert!(gui.got("score mate 5 pv 2g2f"), "{:#?}", gui.log);
    assert!(gui.got("[X] 5g5f 1.000 (mate +) C") || gui.got("[X] 5g5f (mate +) C"), "{:#?}", gui.log);
    // a line for each member, in the order of the configuration
    gui.send("setoption name MemberLines value true");
    assert_eq!(gui.best("startpos", "go movetime 1000"), "bestmove 2g2f");
    for line in ["info string multipv 1: A 7g7f 99.9%", "info string multipv 2: B 2g2f 100.0%"] {
        assert!(gui.got(line), "{line}: {:#?}", gui.log);
    }
    assert!(gui.got("info multipv 3 "), "{:#?}", gui.log);
    gui.quit();
}

/// The chooser of 3-Hirn scores the positions after both moves, the strongest member those after the tied moves.
#[test]
fn follow_up_searches() {
    let folder = Folder::new();
    let a = |name| member(name, &["--prefer", "7g7f"], "");
    let b = |name| member(name, &["--prefer", "2g2f"], "");
    let c = member("C", &["--prefer", "5g5f", "--score", "40"], "role = 'chooser'\nstrength = 2000");
    for (head, members, message) in [
        ("rule = '3-hirn'", [a("A"), b("B")].concat(), "3-hirn: 2g2f"),
        ("rule = 'majority'\ntie = 'strongest'", [a("A"), a("A2"), b("B"), b("B2")].concat(), "(broken by"),
    ] {
        folder.write("council.toml", format!("log = 'votes.jsonl'\n{head}\n{members}{c}"));
        let mut gui = Gui::new(&folder, &["council", "council.toml"]);
        gui.ready("usi");
        gui.best("startpos", "go btime 0 wtime 0 byoyomi 9000");
        assert!(gui.got(message), "{:#?}", gui.log);
        gui.quit();
        let log = folder.text("votes.jsonl");
        let line: Value = serde_json::from_str(log.lines().last().unwrap()).unwrap();
        let searched = line["searched"].as_array().unwrap_or_else(|| panic!("{line}"));
        // +40 for the opponent after the move is -40 for the council
        assert!(searched.len() == 2 && searched.iter().all(|s| s["score"] == -40), "{line}");
    }
    folder.good(&["replay", "votes.jsonl"]);
}

/// Members judge the moves of the others, unless all agree.
#[test]
fn cross_examination() {
    let folder = Folder::new();
    folder.write("a.json", calibration(600.0));
    let voter = |name, best, score| member(name, &["--prefer", best, "--score", score], "calibration = 'a.json'");
    let head = "log = 'votes.jsonl'\nrule = 'cross-examination'\n";
    let members = [voter("A", "7g7f", "40"), voter("B", "2g2f", "10"), voter("C", "2g2f", "-20")];
    folder.write("council.toml", head.to_owned() + &members.concat());
    let mut gui = Gui::new(&folder, &["council", "council.toml"]);
    gui.ready("usi");
    gui.best("startpos", "go btime 0 wtime 0 byoyomi 9000");
    gui.best("startpos", "go nodes 100");
    gui.quit();
    let log = folder.text("votes.jsonl");
    let lines: Vec<Value> = log.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2);
    for line in lines {
        // the scripted engine gives every position the same score, in the opponent's view
        let expected = [("2g2f", -40), ("7g7f", -10), ("7g7f", 20)];
        for (vote, (best, score)) in line["votes"].as_array().unwrap().iter().zip(expected) {
            assert_eq!(vote["judged"], serde_json::json!([{ "move": best, "score": score }]), "{line:#}");
        }
        // 7g7f: 40, -10, 20; 2g2f: -40, 10, -20
        assert_eq!(line["decision"]["move"], "7g7f", "{line:#}");
    }
    let replayed: Value = serde_json::from_str(&folder.good(&["replay", "votes.jsonl", "--json"]).out).unwrap();
    assert_eq!(replayed["replay"]["logged"]["same"], 2, "{replayed:#}");
    // agreement needs no second round
    folder.write(
        "council.toml",
        head.replace("votes", "agreed") + &[&members[1], &members[2]].map(String::as_str).concat(),
    );
    let mut gui = Gui::new(&folder, &["council", "council.toml"]);
    gui.ready("usi");
    assert_eq!(gui.best("startpos", "go movetime 900"), "bestmove 2g2f");
    gui.quit();
    assert!(!folder.text("agreed.jsonl").contains("\"judged\""));
}

/// Members judge the moves in question, the leader searches on where the judges are in doubt, and all of it is counted.
#[test]
fn a_budget_is_spent_in_stages() {
    let folder = Folder::new();
    folder.write("a.json", calibration(600.0));
    let voter = |name, best, score| member(name, &["--prefer", best, "--score", score], "calibration = 'a.json'");
    let members = [voter("A", "7g7f", "40"), voter("B", "2g2f", "10"), voter("C", "2g2f", "-20")];
    let played = |log: &str, budget: &str, members: &str, go: &str| -> (Value, bool) {
        let head = format!("log = '{log}.jsonl'\nrule = 'budget'\n[budget]\n{budget}\n");
        folder.write("council.toml", head + members);
        let mut gui = Gui::new(&folder, &["council", "council.toml"]);
        gui.ready("usi");
        gui.best("startpos", go);
        let counted = gui.got(" ms of all members, ");
        gui.quit();
        let text = folder.text(&format!("{log}.jsonl"));
        (serde_json::from_str(text.lines().nth(1).unwrap()).unwrap(), counted)
    };
    let (clock, nodes) = ("go btime 0 wtime 0 byoyomi 9000", "go btime 60000 wtime 60000");
    for (log, budget, go) in [("clock", "doubt = 9.0", clock), ("nodes", "nodes = 3000\ndoubt = 9.0", nodes)] {
        let (line, counted) = played(log, budget, &members.concat(), go);
        assert!(counted, "{line:#}");
        let votes = line["votes"].as_array().unwrap();
        let judged: Vec<_> = votes.iter().map(|vote| vote["judged"][0]["move"].as_str().unwrap()).collect();
        assert_eq!(judged, ["2g2f", "7g7f", "7g7f"], "{line:#}");
        for vote in votes {
            assert_eq!((&vote["nodes"], &vote["second"]["nodes"]), (&10.into(), &10.into()), "{line:#}");
        }
        // of equal members the first one searches on
        assert_eq!((&votes[0]["deeper"]["move"], votes[1].get("deeper")), (&"7g7f".into(), None), "{line:#}");
        assert_eq!((&line["decision"]["reason"], &line["played"]), (&"searched_on".into(), &"7g7f".into()));
        let document: Value =
            serde_json::from_str(&folder.good(&["replay", &format!("{log}.jsonl"), "--json"]).out).unwrap();
        assert_eq!(document["replay"]["logged"]["same"], 1, "{document:#}");
        let of = |name: &str, document: &Value| {
            let rules = document["replay"]["rules"].as_array().unwrap();
            rules.iter().find(|rule| rule["rule"] == name).unwrap()["cost"]["nodes"].clone()
        };
        assert_eq!(["majority", "cross-examination", "budget"].map(|name| of(name, &document)), [30.0, 60.0, 70.0]);
        // without doubt the judges decide, without a second round the votes do
        for (stakes, cost) in [("0.5,0.9,1,0", 60.0), ("0.5,0.9,0,0", 30.0)] {
            let run =
                folder.good(&["replay", &format!("{log}.jsonl"), "--rule", "budget", "--stakes", stakes, "--json"]);
            assert_eq!(of("budget", &serde_json::from_str(&run.out).unwrap()), cost, "{stakes}");
        }
    }
    // agreement ends the search, unless the game is open
    let agreed = members[1..].concat();
    let (line, _) = played("agreed", "doubt = 9.0", &agreed, clock);
    assert_eq!((&line["played"], line["votes"][0].get("deeper")), (&"2g2f".into(), None), "{line:#}");
    let (line, _) = played("open", "doubt = 9.0\nagreed = 0.9", &agreed, clock);
    assert_eq!(line["votes"][0]["deeper"]["move"], "2g2f", "{line:#}");
    let refused = |text: &str, message: &str| {
        folder.write("council.toml", text);
        let run = folder.run(&["council", "council.toml", "--check"]);
        assert!(run.err.contains(message), "{}", run.err);
    };
    let limited = voter("A", "7g7f", "40") + "limit = { nodes = 9 }\n";
    refused(&format!("rule = 'budget'\n[budget]\nnodes = 9\n{limited}"), "engine 'A' has a limit, and the budget");
    refused(&format!("rule = 'majority'\n[budget]\nfirst = 1\n{limited}"), "the table budget is for rule budget");
    refused(&format!("rule = 'budget'\n[budget]\nclose = -1\n{limited}"), "council.toml:2: close is -1; give a number");
}

/// Its last score is not that of the moves which it would have judged next.
#[cfg(unix)]
#[test]
fn a_member_that_ends_while_it_judges_scores_no_further_move() {
    let folder = Folder::new();
    folder.write("a.json", calibration(600.0));
    // it votes, judges one move, and ends
    folder.write(
        "ends.sh",
        "n=0\nwhile read -r word rest; do case $word in usi) echo usiok;; isready) echo readyok;; quit) exit;;\n\
         go) n=$((n+1)); echo info depth 1 score cp 77 pv 7g7f; echo bestmove 7g7f; [ $n = 2 ] && exit;; esac; done\n",
    );
    let ends = "[[engine]]\nname = 'E'\ncommand = 'sh'\nargs = ['ends.sh']\ncalibration = 'a.json'\n".to_owned();
    let voter =
        |name, best| member(name, &["--prefer", best, "--score", "10", "--think-ms", "300"], "calibration = 'a.json'");
    let head = "log = 'votes.jsonl'\nrule = 'cross-examination'\nrestarts = 0\n".to_owned();
    folder.write("council.toml", head + &ends + &voter("A", "2g2f") + &voter("B", "3g3f"));
    let mut gui = Gui::new(&folder, &["council", "council.toml"]);
    gui.ready("usi");
    gui.best("startpos", "go btime 0 wtime 0 byoyomi 9000");
    gui.quit();
    let line: Value = serde_json::from_str(folder.text("votes.jsonl").lines().nth(1).unwrap()).unwrap();
    let votes = line["votes"].as_array().unwrap().iter();
    let lengths: Vec<_> = votes.map(|vote| vote["judged"].as_array().map_or(0, Vec::len)).collect();
    assert_eq!(lengths, [1, 2, 2], "{line:#}");
}

/// Every judged move costs every member a search.
#[test]
fn most_judged_moves() {
    let folder = Folder::new();
    folder.write("a.json", calibration(600.0));
    let voter = |name, best, score| member(name, &["--prefer", best, "--score", score], "calibration = 'a.json'");
    let members = [("A", "7g7f", "40"), ("B", "2g2f", "10"), ("C", "6g6f", "-20"), ("D", "1g1f", "-50")];
    let members = members.map(|(name, best, score)| voter(name, best, score)).concat();
    // the moves of the other three; with three judged moves, that of D is left out
    for (most, key, judged) in [(4, "most-judged = 4\n", [3, 3, 3, 3]), (3, "", [2, 2, 2, 3])] {
        folder.write("council.toml", format!("log = '{most}.jsonl'\nrule = 'cross-examination'\n{key}{members}"));
        let mut gui = Gui::new(&folder, &["council", "council.toml"]);
        gui.ready("usi");
        gui.best("startpos", "go btime 0 wtime 0 byoyomi 9000");
        gui.quit();
        let log = folder.text(&format!("{most}.jsonl"));
        let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines[0]["most_judged"], most);
        let votes = lines[1]["votes"].as_array().unwrap();
        let lengths: Vec<_> = votes.iter().map(|vote| vote["judged"].as_array().unwrap().len()).collect();
        assert_eq!(lengths, judged, "{log}");
    }
    folder.write("council.toml", format!("rule = 'cross-examination'\nmost-judged = 1\n{members}"));
    let run = folder.run(&["council", "council.toml", "--check"]);
    assert!(run.err.contains("the number of judged moves is 1; give 2 or more"), "{}", run.err);
}

#[test]
fn early_agreement_stops_the_others() {
    let folder = Folder::new();
    let a = member("A", &["--prefer", "7g7f"], "");
    let b = member("B", &["--prefer", "7g7f"], "");
    let slow = member("C", &["--prefer", "2g2f", "--think-ms", "50000"], "");
    folder.write("council.toml", format!("rule = 'majority'\nearly-stop = true\n{a}{b}{slow}"));
    let mut gui = Gui::new(&folder, &["council", "council.toml"]);
    gui.ready("usi");
    // without a clock, only the agreement ends the search before C has searched for 50 s
    assert_eq!(gui.best("startpos", "go depth 9"), "bestmove 7g7f");
    assert!(gui.got("[X] 2g2f"), "{:#?}", gui.log);
    gui.quit();
}

#[test]
fn chess_by_uci() {
    let folder = Folder::new();
    folder.write("a.json", calibration(600.0));
    let chess = |prefer, score| ["--game", "chess", "--prefer", prefer, "--score", score];
    let a = member("A", &chess("e2e4", "30"), "calibration = 'a.json'");
    let b = member("B", &chess("d2d4", "20"), "calibration = 'a.json'");
    let c = member("C", &["--game", "chess", "--fault", "illegal"], "calibration = 'a.json'");
    folder.write("council.toml", format!("game = 'chess'\n{a}{b}{c}"));
    let mut gui = Gui::new(&folder, &["council", "council.toml"]);
    gui.ready("uci");
    assert_eq!(gui.best("startpos", "go wtime 5000 btime 5000 winc 100 binc 100"), "bestmove e2e4");
    let castle = "fen 4k3/8/8/8/8/8/8/4K2R w K - 0 1";
    assert!(gui.best(castle, "go movetime 500").starts_with("bestmove "));
    let mated = "fen rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3";
    assert_eq!(gui.best(mated, "go depth 3"), "bestmove (none)");
    assert!(gui.got("score cp 14 pv e2e4"), "{:#?}", gui.log);
    gui.quit();
}

/// In USI, byoyomi and increment come on top of the main time. In UCI the clock is all there is until the flag.
#[test]
fn the_clock_is_that_of_the_protocol() {
    let endless = ["--think-ms=60000", "--game"];
    // after `stop` the answer is there at once; a busy machine needs a little
    for (protocol, game, go, from_ms, until_ms) in [
        ("uci", "chess", "go btime 1500 wtime 1500 binc 2000 winc 2000", 700, 1_500),
        ("uci", "chess", "go btime 900 wtime 900 binc 1000 winc 1000", 400, 900),
        ("usi", "shogi", "go btime 1500 wtime 1500 binc 2000 winc 2000", 1_800, 3_500),
        ("usi", "shogi", "go btime 0 wtime 0 byoyomi 1500", 1_000, 1_500),
    ] {
        let folder = Folder::new();
        let both = ["A", "B"].map(|name| member(name, &[&endless[..], &[game]].concat(), ""));
        folder.write("council.toml", format!("game = '{game}'\nrule = 'majority'\n{}", both.concat()));
        let mut gui = Gui::new(&folder, &["council", "council.toml"]);
        gui.ready(protocol);
        let since = Instant::now();
        gui.best("startpos", go);
        let took_ms = since.elapsed().as_millis();
        assert!((from_ms..until_ms).contains(&took_ms), "{go}: {took_ms} ms");
        gui.quit();
    }
}

/// A member ends with every `go`, and takes long to start again. The other one has answered.
#[cfg(unix)]
#[test]
fn a_member_that_dies_costs_the_council_no_time() {
    let folder = Folder::new();
    let script = "[ -e started ] && sleep 8; : > started\nwhile read -r word rest; do case $word in usi) echo usiok;; \
                  isready) echo readyok;; go) exit 1;; quit) exit;; esac; done";
    folder.write("dies.sh", script);
    let dies = "[[engine]]\nname = 'dies'\ncommand = 'sh'\nargs = ['dies.sh']\ndirectory = '.'\n";
    let good = member("good", &["--prefer", "7g7f", "--think-ms=100"], "");
    folder.write("council.toml", format!("rule = 'majority'\n{dies}{good}"));
    let mut gui = Gui::new(&folder, &["council", "council.toml"]);
    gui.ready("usi");
    // the second search begins while the member is still starting
    for _ in 0..2 {
        let since = Instant::now();
        let best = gui.best("startpos", "go btime 60000 wtime 60000 binc 5000 winc 5000");
        assert_eq!(best, "bestmove 7g7f");
        assert!(since.elapsed() < Duration::from_secs(5), "{:?}", since.elapsed());
    }
    assert!(gui.got("dies: ended during its search; started again"), "{:#?}", gui.log);
    gui.quit();
}

/// The calibrations are from games against stronger opponents (offset 0.4); the GUI sees the win rate between equals.
#[test]
fn a_fair_start_is_worth_nothing() {
    let folder = Folder::new();
    folder.write("a.json", calibration(1200.0));
    folder.write("b.json", calibration(600.0));
    let a = member("A", &["--prefer", "7g7f", "--score", "0"], "calibration = 'a.json'");
    let b = member("B", &["--prefer", "7g7f", "--score", "-3"], "calibration = 'b.json'");
    folder.write("council.toml", format!("{a}{b}"));
    let mut gui = Gui::new(&folder, &["council", "council.toml"]);
    gui.ready("usi");
    assert_eq!(gui.best("startpos", "go nodes 1000"), "bestmove 7g7f");
    assert!(gui.got("score cp 0 pv 7g7f"), "{:#?}", gui.log);
    gui.quit();
}

/// Like `ssh host engine`: a command that starts an engine. Blanks and kanji in all paths.
#[cfg(unix)]
#[test]
fn a_remote_member() {
    let folder = Folder::new();
    folder.write("将棋 合議/エンジン 1/x", "");
    let shell = format!(
        "[[engine]]\nname = '遠い 仲間'\ncommand = 'sh'\nargs = ['-c', 'echo \"motd: welcome\"; exec \"$0\" \
         scripted-engine --prefer 7g7f', '{}']\ndirectory = 'エンジン 1'\nenvironment = {{ LANG = 'C' }}\n",
        testkit()
    );
    std::os::unix::fs::symlink(testkit(), folder.at("将棋 合議/エンジン 1/思考 部")).unwrap();
    let near =
        "[[engine]]\nname = '近い'\ncommand = 'エンジン 1/思考 部'\nargs = ['scripted-engine', '--prefer', '7g7f']\n";
    folder.write("将棋 合議/合議.toml", format!("rule = 'majority'\nlog = '投票.jsonl'\n{shell}{near}"));
    let mut gui = Gui::new(&folder, &["council", "将棋 合議/合議.toml"]);
    gui.ready("usi");
    assert_eq!(gui.best("startpos", "go movetime 2000"), "bestmove 7g7f");
    assert!(gui.got("遠い 仲間"));
    gui.quit();
    assert!(folder.text("将棋 合議/投票.jsonl").contains("遠い 仲間"));
}

#[cfg(unix)]
#[test]
fn without_arguments_it_is_the_council_beside_it() {
    let folder = Folder::new();
    council_of_two(&folder);
    std::fs::rename(folder.at("council.toml"), folder.at("evalcurve.toml")).unwrap();
    // a hard link has its own path; across file systems, a copy is needed
    let program = folder.at("evalcurve");
    let own = env!("CARGO_BIN_EXE_evalcurve");
    std::fs::hard_link(own, &program).or_else(|_| std::fs::copy(own, &program).map(|_| ())).unwrap();
    let mut child = std::process::Command::new(&program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"usi\n").unwrap();
    let out = child.wait_with_output().unwrap();
    assert!(out.status.success());
    let text = String::from_utf8(out.stdout).unwrap();
    assert!(text.starts_with("id name evalcurve council\n") && text.ends_with("usiok\n"), "{text}");
}

/// Copies of the program are several engines: each reads the file of its own name, and that may be a proxy.
#[cfg(unix)]
#[test]
fn without_arguments_it_is_the_proxy_beside_it() {
    let folder = Folder::new();
    council_of_two(&folder);
    std::fs::rename(folder.at("council.toml"), folder.at("evalcurve.toml")).unwrap();
    folder.write("calibrations/a.json", calibration(1200.0));
    let program = folder.at("将棋 proxy.v1");
    let own = env!("CARGO_BIN_EXE_evalcurve");
    std::fs::hard_link(own, &program).or_else(|_| std::fs::copy(own, &program).map(|_| ())).unwrap();
    std::fs::create_dir(folder.at("engine")).unwrap();
    let script = format!("#!/bin/sh\npwd > here.txt\nexec '{}' scripted-engine --score 80 \"$@\"\n", testkit());
    folder.write("engine/run", script);
    std::fs::set_permissions(folder.at("engine/run"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let run = |toml: &str| {
        folder.write("将棋 proxy.v1.toml", toml);
        let mut command = std::process::Command::new(&program);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        // a program that ends at once closes the pipe
        let _ = stdin.write_all(b"usi\nisready\nposition startpos\ngo movetime 100\n");
        let mut out = String::new();
        while stdout.read_line(&mut out).unwrap() > 0 && !out.contains("bestmove") {}
        drop(stdin);
        let ended = child.wait_with_output().unwrap();
        (ended.status.code(), out, String::from_utf8(ended.stderr).unwrap())
    };
    let table = "[proxy]\nengine = 'engine/run'\nargs = ['--prefer', '7g7f']\ncalibration = 'calibrations/a.json'\n";
    let (code, out, err) = run(&format!("{table}wdl = true\n"));
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains(" score cp 40 wdl 517 0 483") && out.contains("bestmove 7g7f"), "{out}");
    assert!(folder.text("engine/here.txt").trim_end().ends_with("/engine"));
    let (code, _, err) = run(&format!("{table}wdll = true\n"));
    assert!(code == Some(2) && err.contains("将棋 proxy.v1.toml:5: unknown field 'wdll'"), "{err}");
}

#[test]
fn errors_in_configurations_have_a_line_and_a_remedy() {
    let folder = Folder::new();
    let engine = member("A", &[], "");
    let cases: &[(String, &str)] = &[
        (format!("rule = 'majority'\n{engine}colour = 1\n"), "c.toml:7: unknown field 'colour'"),
        (
            format!("\nrule = 'majorty'\n{engine}"),
            "c.toml:2: invalid value 'majorty', expected one of 'majority', 'weighted'",
        ),
        (
            format!("rule = 'majority'\ngame = 'go'\n{engine}"),
            "c.toml:2: invalid value 'go', expected one of 'shogi', 'minishogi', 'chess'",
        ),
        ("rule = \n".to_owned(), "c.toml:1: "),
        ("rule = 'majority'\n".to_owned(), "c.toml: there is no engine; add a table [[engine]]"),
        (engine.clone(), "c.toml:1: engine 'A' has no calibration, and rule winrate-optimistic compares win rates"),
        (format!("rule = 'majority'\n{engine}{engine}"), "c.toml:8: two engines have the name 'A'"),
        (format!("rule = 'majority'\n{engine}limit = {{ nodes = 1, depth = 2 }}\n"), "c.toml:7: a limit is one number"),
        (
            format!("rule = 'majority'\n{engine}limit = {{ node = 1 }}\n"),
            "c.toml:7: 'node' is not a valid limit; write one of",
        ),
        (format!("rule = 'majority'\n{engine}calibration = 'none.json'\n"), "c.toml:7: the calibration of 'A': "),
        (format!("rule = 'majority'\n{engine}directory = 'nowhere'\n"), "c.toml:7: there is no folder '"),
        (
            format!("rule = 'majority'\n{engine}role = 'boss'\n"),
            "c.toml:7: invalid value 'boss', expected one of 'member'",
        ),
        (
            format!("rule = 'majority'\n{engine}mate-threshold = -5.0\n"),
            "c.toml:7: -5 is not valid; write a number of centipawns above 0 (in the line mate-threshold",
        ),
        (
            "rule = 'majority'\n[[engine]]\nname = 'A'\ncommand = './no/engine'\n".to_owned(),
            "c.toml:4: there is no file '",
        ),
        (format!("rule = 'majority'\ngap = -1.0\n{engine}"), "c.toml:2: the gap d is -1; give a number above 0"),
        (format!("rule = 'majority'\nmost-judged = 1\n{engine}"), "c.toml:2: the number of judged moves is 1; give 2"),
        (format!("rule = 'majority'\n{engine}weight = -1.0\n"), "c.toml:7: the weight of A is -1; give a number of 0"),
        (
            format!("rule = 'majority'\n[time]\noptions-ms = 99999\n{engine}"),
            "c.toml:3: options-ms is 99999; write at most 1900",
        ),
        (
            format!("rule = 'majority'\nname = \"A\\nbestmove resign\"\n{engine}"),
            "c.toml:2: the name \"A\\nbestmove resign\" cannot be displayed",
        ),
        (format!("rule = 'majority'\n{engine}options = {{ A = \"\\u001b[31m\" }}\n"), "c.toml:7: an option contains a"),
        (format!("rule = 'majority'\n{engine}login = 'a'\n"), "c.toml:3: engine 'A' has a login but does not listen"),
        (
            "rule = 'majority'\n[[engine]]\nname = 'A'\nlisten = 'here'\n".to_owned(),
            "c.toml:4: 'here' is not an address; write ADDRESS:PORT",
        ),
        (
            "rule = 'majority'\n[[engine]]\nname = 'A'\nlisten = '127.0.0.1:0'\npassword-file = 'none'\n".to_owned(),
            "c.toml:3: there is no file '",
        ),
        (format!("rule = '3-hirn'\n{engine}"), "c.toml:1: rule 3-hirn: it needs one chooser"),
        (format!("rule = 'majority'\n[time]\nshare = 2.0\n{engine}"), "c.toml:3: share is 2; write a number above 0"),
    ];
    for (text, message) in cases {
        folder.write("c.toml", text);
        folder.run(&["council", "c.toml"]).ends(2).says(&[message]);
    }
    folder
        .run(&["council", "nothing.toml"])
        .ends(2)
        .says(&["nothing.toml: cannot read the configuration", "no such file"]);
    // Shift_JIS, as old editors on Windows save it; options of any command may come from a file, too
    folder.write("sjis.toml", b"rule = 'majority' # \x8b\x5a\n");
    for arguments in [&["council", "sjis.toml"][..], &["play", "sjis.toml"], &["inspect", "--config", "sjis.toml"]] {
        folder
            .run(arguments)
            .ends(2)
            .says(&["sjis.toml: cannot read the configuration", "save it in the encoding UTF-8"]);
    }
}

#[test]
fn check_reports_what_does_not_fit() {
    let folder = Folder::new();
    folder.write("a.json", calibration(1200.0));
    let a = member(
        "A",
        &[],
        "calibration = 'a.json'\nlimit = { nodes = 100 }\noptions = { Threads = 2, Depth = 3, Style = 'Bold' }",
    );
    folder.write("council.toml", a);
    let ran = folder.run(&["council", "council.toml", "--check"]).ends(1).says(&[
        "A: option 'Style' is 'Bold'; write one of Solid, Normal, Risky",
        "A: it declares no option 'Depth'",
        "A: it searches on 2 threads, so that its moves are not the same every time although its limit is nodes 100; \
         set the option \"Threads\" = 1",
        "A: its calibration was made at 5 s a move, but its limit here is nodes 100",
        "A: its calibration is for",
    ]);
    assert!(ran.out.contains("A: it plays "), "{}", ran.out);
    let ran = folder.run(&["council", "council.toml", "--check", "--lang", "ja"]).ends(1).says(&[
        "A: オプション 'Style' が 'Bold' です。Solid, Normal, Risky のどれかを書いてください",
        "A: オプション 'Depth' はありません",
        "2 スレッドで探索するので、毎回同じ手になりません",
        "A: 較正の思考時間は 5 s a move ですが、設定は nodes 100 です",
    ]);
    assert!(ran.out.contains("を指しました") && !ran.err.contains("its "), "{}{}", ran.out, ran.err);
    let crash = member("A", &["--fault", "crash-at-start"], "");
    folder.write("council.toml", format!("rule = 'majority'\n{crash}"));
    folder.run(&["council", "council.toml", "--check"]).ends(1).says(&["A: ended during its start"]);
}

/// The fit leaves out mates, which count among the samples drawn.
#[test]
fn check_counts_the_samples_of_the_fit() {
    let folder = Folder::new();
    let mut json: Value = serde_json::from_str(&calibration(1200.0)).unwrap();
    let method = json["model"]["method"].as_str().unwrap().to_owned();
    folder.write("council.toml", member("A", &[], "calibration = 'a.json'"));
    for (fitted, drawn, warned) in [(245, 287, true), (299, 400, true), (300, 300, false)] {
        json["models"][&method]["samples"] = fitted.into();
        json["provenance"]["samples"] = drawn.into();
        folder.write("a.json", json.to_string());
        let ran = folder.good(&["council", "council.toml", "--check"]);
        let warning = format!("A: its calibration comes from only {fitted} samples; use at least 300");
        assert_eq!((ran.err.contains(&warning), ran.err.contains("comes from")), (warned, warned), "{}", ran.err);
    }
}

/// UCI has no byoyomi: an engine that plays chess gets every limit in words that it knows.
#[test]
fn check_gives_chess_engines_limits_of_uci() {
    let folder = Folder::new();
    let chess = |name, more| member(name, &["--game", "chess"], more);
    let members = [chess("A", ""), chess("B", "limit = { byoyomi-ms = 300 }"), chess("C", "limit = { depth = 3 }")];
    folder.write("council.toml", format!("game = 'chess'\nrule = 'majority'\n{}", members.concat()));
    let ran = folder.good(&["council", "council.toml", "--check"]);
    for name in ["A", "B", "C"] {
        assert!(ran.out.contains(&format!("{name}: it plays ")), "{}\n{}", ran.out, ran.err);
    }
    assert!(!ran.err.contains("calibration"), "a majority needs none: {}", ran.err);
    folder.write("other.toml", format!("game = 'chess'\n{}", chess("A", "calibration = 'none'")));
    let ran = folder.run(&["council", "other.toml", "--check"]);
    ran.ends(2).says(&["rule winrate-optimistic: it compares win rates, and no voter has a calibration"]);
    let mut gui = Gui::new(&folder, &["council", "council.toml"]);
    gui.ready("uci");
    gui.best("startpos", "go btime 0 wtime 0 byoyomi 1000");
    gui.best("startpos", "go btime 9000 wtime 9000 byoyomi 1000");
    assert!(!gui.got("abstains"), "{:#?}", gui.log);
    gui.quit();
}

/// Random faults at random times in both games. An answer may be late by as much as other tests keep this machine busy;
/// docs/testing.md has a longer run, alone, without this grace.
#[test]
fn twenty_games_of_failing_members() {
    for (game, games) in [("shogi", "16"), ("chess", "4")] {
        let arguments = format!("torture --game {game} --games {games} --jobs 4 --moves 4 --time-ms 1200 --rate 0.05");
        let grace = ["--grace-ms", "20000"];
        let ran = std::process::Command::new(testkit()).args(arguments.split(' ')).args(grace).output().unwrap();
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stdout));
        let report: Value = serde_json::from_slice(&ran.stdout).unwrap();
        assert_eq!(report["illegal"], 0);
        if game == "shogi" {
            assert!(report["faults"].as_u64().unwrap() > 0, "{report}");
        }
    }
}

/// Among the lies is `checkmate 7g7f`, which is an answer to `go mate` alone.
#[test]
fn a_member_that_lies_costs_no_answer() {
    let folder = Folder::new();
    let members = member("L", &["--fault=lie"], "") + &member("M", &["--fault=flood"], "");
    folder.write("council.toml", format!("rule = 'majority'\n{members}"));
    let mut gui = Gui::new(&folder, &["council", "council.toml"]);
    gui.ready("usi");
    gui.best("startpos", "go btime 0 wtime 0 byoyomi 1000");
    gui.best("startpos moves 7g7f", "go movetime 500");
    gui.quit();
}

/// A chess engine answers `usi` at once, but not with `usiok`.
#[cfg(unix)]
#[test]
fn a_chess_engine_in_a_council_of_shogi_is_recognised() {
    let folder = Folder::new();
    let script = "echo Stockfish 16; while read -r line; do echo \"Unknown command: \'$line\'. Type help\"; done";
    folder.write("stockfish.sh", script);
    folder.write("c.toml", "rule = 'majority'\n[[engine]]\nname = 'S'\ncommand = 'sh'\nargs = ['stockfish.sh']\n");
    let ran = folder.run(&["council", "c.toml", "--check"]).ends(1);
    assert!(ran.err.contains("if it is an engine for chess, write game = \"chess\""), "{}{}", ran.out, ran.err);
    // most engines ignore what they do not know
    folder.write("silent.sh", "while read -r line; do case \"$line\" in uci) echo uciok;; esac; done");
    let silent = "[[engine]]\nname = 'E'\ncommand = 'sh'\nargs = ['silent.sh']\nstart-ms = 300\n";
    folder.write("silent.toml", format!("rule = 'majority'\n{silent}"));
    let ran = folder.run(&["council", "silent.toml", "--check"]).ends(1);
    assert!(ran.err.contains("it answered 'uciok' to uci: if it is an engine for chess"), "{}{}", ran.out, ran.err);
}

/// The result of a PGN game goes into the vote log with the decisions on its positions.
#[test]
fn votes_on_positions_keep_the_result_of_the_game() {
    let folder = Folder::new();
    let program = evalcurve_testkit::program();
    let member = format!(
        "[[engine]]\nname = 'A'\ncommand = '{program}'\nargs = ['scripted-engine', '--game', 'chess']\n\
         limit = {{ nodes = 9 }}\n"
    );
    folder.write("c.toml", format!("game = 'chess'\nrule = 'majority'\nlog = 'v.jsonl'\n{member}"));
    let game = |result: &str, moves: &str| format!("[Event \"x\"]\n[Result \"{result}\"]\n\n{moves} {result}\n\n");
    let games = [game("1-0", "1. e4 e5 2. Nf3"), game("0-1", "1. d4 d5"), game("1/2-1/2", "1. c4"), game("*", "1. f4")];
    folder.write("games.pgn", games.concat());
    folder.good(&["council", "c.toml", "--positions", "games.pgn", "--plies", "1,2"]);
    let lines: Vec<Value> = folder.text("v.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let decisions = lines.iter().filter(|line| !line["votes"].is_null()).count();
    let ends: Vec<_> = lines.iter().filter(|line| !line["end"].is_null()).collect();
    assert_eq!((decisions, ends.len()), (6, 3), "{lines:#?}");
    // the last decision was for White after two plies, for Black after one
    for (end, expected) in ends.iter().zip([("win", "white", 3), ("loss", "white", 3), ("draw", "black", 2)]) {
        assert_eq!(
            (&end["end"], &end["side"], &end["ply"]),
            (&expected.0.into(), &expected.1.into(), &expected.2.into())
        );
        assert!(lines.iter().any(|line| !line["votes"].is_null() && line["game_id"] == end["game_id"]));
    }
    // White won the first game and lost the second; the last has no result
    let read = folder.document(&["inspect", "v.jsonl", "--from-ply", "1", "--window", "1"]);
    assert_eq!(
        (&read["games"]["read"], &read["games"]["skipped"]["unknown_result"]),
        (&4.into(), &1.into()),
        "{read:#}"
    );
}
