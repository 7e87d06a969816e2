//! `evalcurve play`, with scripted engines.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use evalcurve::random;
use serde_json::Value;

use crate::council::member;
use crate::support::Folder;
use crate::support::Ran;
use crate::support::root;

/// A tournament of two scripted engines that fail at random, but in the same games at the same moves every time.
/// They think `think_ms` about each move.
fn tournament(game: &str, pairs: u32, think_ms: u32, faults: &[&str]) -> String {
    let program = evalcurve_testkit::program().replace('\\', "\\\\");
    let engine = |name: &str, seed: u32| {
        let fixed = ["scripted-engine", "--game", game, "--repeatable"];
        let mut args: Vec<String> = fixed.iter().map(|a| (*a).to_owned()).collect();
        args.extend([format!("--think-ms={think_ms}"), format!("--seed={seed}")]);
        args.extend(faults.iter().map(|fault| format!("--fault={fault}")));
        let args: Vec<String> = args.iter().map(|a| format!("\"{a}\"")).collect();
        format!(
            "[[engine]]\nname = \"{name}\"\ncommand = \"{program}\"\nargs = [{}]\nlimit = {{ nodes = 10 }}\n",
            args.join(", ")
        )
    };
    format!(
        "game = \"{game}\"\npairs = {pairs}\nmax-plies = 40\npatience-ms = 8000\n[openings]\nplies = 4\n{}{}",
        engine("甲", 1),
        engine("B", 2)
    )
}

/// The same engine twice, without chance: every pair is one game, and a test of strength must not decide by it.
#[test]
fn pairs_that_are_one_game_decide_nothing() {
    let folder = Folder::new();
    folder.write("t.toml", tournament("shogi", 50, 0, &[]).replace("--seed=2", "--seed=1"));
    let run = |more: &[&str]| folder.run(&[&["play", "t.toml", "--sprt", "0:200", "--json"][..], more].concat());
    let read = |ran: Ran| -> Value { serde_json::from_str(&ran.out).unwrap() };
    let found = read(run(&["--out", "twins"]).ends(3));
    let test = &found["sprt"][0];
    assert_eq!((&test["decision"], &test["idle"]["same_game_pairs"]), (&"continue".into(), &50.into()), "{found:#}");
    let text = folder.run(&["play", "t.toml", "--sprt", "0:200", "--out", "twins"]).ends(3);
    let words = text.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("both games of all 50 pairs have the same moves, which tells nothing"), "{words}");
    // two openings over and over
    folder.write("o.sfen", "startpos moves 7g7f\nstartpos moves 2g2f\n");
    let repeats = tournament("shogi", 80, 0, &[]).replace("\nplies = 4", "\nfile = 'o.sfen'");
    folder.write("t.toml", repeats);
    let found = read(run(&["--out", "repeats"]).ends(3));
    assert_eq!(found["sprt"][0]["idle"]["repeated_pairs"], 50, "{found:#}");
}

const FAULTS: [&str; 6] = ["crash=0.01", "illegal=0.01", "resign=0.01", "close=0.002", "garbage=0.05", "no-info=0.05"];

/// The results without the times, and the records.
fn outcome(folder: &Folder, out: &str, records: &str) -> (Vec<String>, String) {
    let results = folder.text(&format!("{out}/results.csv"));
    let times: Vec<bool> = results.lines().next().unwrap().split(',').map(|column| column.ends_with("_ms")).collect();
    assert_eq!(times.iter().filter(|is_time| **is_time).count(), 4);
    let rows = results.lines().map(|line| {
        // a detail holds no commas here
        let cells: Vec<&str> = line.split(',').collect();
        cells.iter().enumerate().filter(|(at, _)| !times[*at]).map(|(_, cell)| *cell).collect::<Vec<_>>().join(",")
    });
    (rows.collect(), folder.text(&format!("{out}/{records}")))
}

fn start(folder: &Folder, out: &str) -> Child {
    let mut command = folder.command(&["play", "t.toml", "--out", out, "--concurrency", "3"]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Ends a run at once, or by the signal of `kill`, which lets it end its engines.
fn kill(child: &mut Child, gently: bool) {
    if gently && cfg!(unix) {
        // it may end in this moment
        let _ = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    } else {
        child.kill().unwrap();
    }
    child.wait().unwrap();
}

/// Plays a tournament without interruption, and again with kills at random moments. Both must end the same.
fn compare_with_kills(game: &str, pairs: u32, kills: u64) {
    let folder = Folder::new();
    // a game takes long enough that a moment that comes late, on a busy machine, is still one of the tournament
    folder.write("t.toml", tournament(game, pairs, 3, &FAULTS));
    let whole = folder.good(&["play", "t.toml", "--out", "whole", "--json", "--concurrency", "2"]);
    let document: Value = serde_json::from_str(&whole.out).unwrap();
    assert_eq!(document["games"]["played"], 2 * pairs);
    let mut interrupted = 0;
    let finished = || folder.read_if_any("killed/results.csv").iter().filter(|byte| **byte == b'\n').count() as u64;
    for number in 0..kills {
        let keys = [u64::from(pairs), number];
        // some games of this run, and then a moment that is anything: at the start, in a game, while a file is written;
        // the games that are left are enough for the runs that are left
        let left = (2 * u64::from(pairs)).saturating_sub(finished());
        let target = finished() + random::below((left / (kills - number + 2)).max(1), &[keys[0], keys[1], 1]);
        let mut child = start(&folder, "killed");
        while child.try_wait().unwrap().is_none() && finished() < target {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(random::below(40, &keys)));
        if child.try_wait().unwrap().is_none() {
            interrupted += 1;
            kill(&mut child, number % 2 == 0);
        }
    }
    eprintln!("{interrupted} of {kills} runs were interrupted");
    assert!(interrupted > kills / 2, "only {interrupted} of {kills} runs were interrupted");
    let killed = folder.good(&["play", "t.toml", "--out", "killed", "--json"]);
    let records = if game == "chess" { "games.pgn" } else { "games.csa" };
    let (expected, found) = (outcome(&folder, "whole", records), outcome(&folder, "killed", records));
    assert_eq!(expected.0, found.0);
    assert_eq!(expected.1, found.1, "the records differ");
    assert_eq!(expected.0.len() as u32, 2 * pairs + 1);
    // the same table, apart from the time and the folder
    let without = |text: &str| {
        let mut document: Value = serde_json::from_str(text).unwrap();
        for key in ["thinking_seconds", "processor_seconds"] {
            assert!(document[key].is_object(), "{document}");
            document[key] = Value::Null;
        }
        for key in ["ms_per_move", "cpu_ms_per_move", "equal_time"] {
            document["systems"][0][key] = Value::Null;
        }
        document["folder"] = Value::Null;
        document
    };
    assert_eq!(without(&whole.out), without(&killed.out));
    // the faults are those of the games, and the reader finds the same games
    let faults = document["faults"].as_object().unwrap().values();
    let lost: u64 = faults.map(|f| f["crashes"].as_u64().unwrap() + f["illegal"].as_u64().unwrap()).sum();
    assert!(lost > u64::from(pairs) / 4, "{lost} games were lost by faults");
    let again: Value = serde_json::from_str(&folder.good(&["match-stats", "whole/results.csv", "--json"]).out).unwrap();
    for key in ["wins", "draws", "losses", "pentanomial"] {
        assert_eq!(again["systems"][0][key], document["systems"][0][key], "{key}");
    }
    let read = folder.document(&["inspect", &format!("whole/{records}")]);
    assert_eq!(read["games"]["read"], 2 * pairs);
}

#[test]
fn interrupted_tournaments_end_the_same() {
    compare_with_kills("shogi", 20, 6);
    compare_with_kills("chess", 20, 6);
}

/// `cargo test --release --test program play:: -- --ignored --nocapture`: some minutes.
#[test]
#[ignore = "1,000 games take minutes"]
fn a_thousand_games_survive_twenty_kills() {
    compare_with_kills("shogi", 500, 20);
}

#[test]
fn five_by_five_shogi_is_played() {
    let folder = Folder::new();
    folder.write("t.toml", tournament("minishogi", 5, 0, &[]));
    let ran = folder.good(&["play", "t.toml"]);
    assert!(ran.out.contains("10 of 10 games in t-games"), "{}", ran.out);
    // the folder's own files are no records, and its table knows the pairs
    let ran = folder.good(&["match-stats", "t-games"]);
    let note = "note: t-games/results.csv holds the pairs of games of one opening; `match-stats t-games/results.csv`";
    assert!(ran.err.starts_with(note) && ran.err.lines().count() == 1, "{}", ran.err);
    for arguments in [&["match-stats", "t-games", "--paired"][..], &["match-stats", "t-games/results.csv"]] {
        let ran = folder.good(arguments);
        assert!(ran.err.is_empty() && ran.out.contains("pairs"), "{}{}", ran.out, ran.err);
    }
    // fewer pairs than were played
    let again = folder.good(&["play", "t.toml", "--pairs", "2"]).out;
    assert!(again.contains("\n10 games in t-games"), "{again}");
    let read = folder.document(&["inspect", "t-games"]);
    assert_eq!(read["games"]["read"], 10);
    // some are mates in the opening
    let skipped: Vec<&String> = read["games"]["skipped"].as_object().unwrap().keys().collect();
    assert!(skipped.iter().all(|reason| *reason == "no_scores_in_windows"), "{skipped:?}");
}

#[test]
fn an_engine_that_hangs_loses_on_time_and_the_tournament_goes_on() {
    let folder = Folder::new();
    let text = tournament("shogi", 3, 0, &["hang=0.1"]).replace("patience-ms = 8000", "patience-ms = 700");
    folder.write("t.toml", &text);
    let ran = folder.good(&["play", "t.toml"]);
    assert!(ran.out.contains("6 of 6 games") && ran.out.contains("on time"), "{}", ran.out);
    let results = folder.text("t-games/results.csv");
    assert!(results.contains(",time_up,no move within 700 ms,"), "{results}");
    let read = folder.text("t-games/games.csa");
    assert!(read.contains("%TIME_UP\n'") && read.contains("'summary:time up:"), "{read}");
}

#[test]
fn mistakes_in_a_tournament_name_the_remedy() {
    let folder = Folder::new();
    let good = tournament("shogi", 1, 0, &[]);
    for (from, to, line, what) in [
        ("limit = { nodes = 10 }", "", ":7: ", "has no limit; write limit = { nodes = N }"),
        ("game = \"shogi\"", "game = \"other-usi\"", ":1: ", "rules of game = \"other-usi\" are unknown"),
        ("pairs = 1", "pears = 1", ":2", "pears"),
        ("pairs = 1", "pairs = 0", ":2: ", "pairs is 0"),
        ("pairs = 1", "pairs = 1\nconcurrency = 0", ":3: ", "concurrency is 0; write how many games"),
        ("]\nplies = 4", "]\nstart = 0", ":6: ", "start is 0; write the number of the first opening"),
        ("]\nplies = 4", "]\nfile = \"none.sfen\"", ":6: ", "cannot read the openings"),
        ("nodes = 10", "seconds = 10", "", "'seconds' is not a valid limit"),
        ("[openings]", "[sprt]\nelo0 = 5\nelo1 = 0\n[openings]", ":5: ", "SPRT bounds 5 and 0"),
        ("[openings]", "[adjudication]\nwin-rate = 0.9\nmoves = 3\n[openings]", ":10: ", "needs the calibration"),
        ("\"--repeatable\"", "\"--fault=crash-at-start\"", "", "ended during its start"),
    ] {
        assert!(good.contains(from), "{from}");
        folder.write("t.toml", good.replace(from, to));
        folder.run(&["play", "t.toml"]).ends(2).says(&[what, line]);
    }
    folder.write("t.toml", &good);
    folder.good(&["play", "t.toml", "--quiet"]);
    folder.write("t.toml", good.replace("nodes = 10", "nodes = 11"));
    folder.run(&["play", "t.toml"]).ends(2).says(&["limit was \"nodes 10\", and is \"nodes 11\"", "--force"]);
    folder.good(&["play", "t.toml", "--quiet", "--force"]);
}

#[test]
fn a_folder_whose_table_was_changed_keeps_its_games() {
    let folder = Folder::new();
    folder.write("t.toml", tournament("chess", 2, 0, &[]));
    folder.good(&["play", "t.toml"]);
    let (results, records) = (folder.text("t-games/results.csv"), folder.text("t-games/games.pgn"));
    let again = ["play", "t.toml", "--pairs", "1"];
    std::fs::remove_file(folder.at("t-games/results.csv")).unwrap();
    folder.run(&again).ends(2).says(&["t-games/games.pgn: the games from byte 0 to byte", "--force"]);
    for (text, expected) in [
        (results.replace(',', ";"), "t-games/results.csv:1: the columns are 'pair;game;"),
        (results.replacen("\n1,2,", "\nx,2,", 1), "t-games/results.csv:3: pair is 'x': "),
    ] {
        folder.write("t-games/results.csv", &text);
        folder.run(&again).ends(2).says(&[expected, "--force"]);
        assert_eq!(folder.text("t-games/results.csv"), text);
    }
    assert_eq!(folder.text("t-games/games.pgn"), records);
    folder.write("t-games/results.csv", &results);
    folder.good(&again);
    assert_eq!((folder.text("t-games/results.csv"), folder.text("t-games/games.pgn")), (results, records));
}

#[test]
fn two_games_do_not_share_a_folder() {
    let folder = Folder::new();
    // it plays for minutes
    folder.write("t.toml", tournament("shogi", 1_000, 50, &[]));
    folder.write("chess.toml", tournament("chess", 1, 0, &[]));
    let mut first = start(&folder, "out");
    while !folder.at("out/results.csv").exists() && first.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let ran = folder.run(&["play", "chess.toml", "--out", "out", "--force"]);
    kill(&mut first, false);
    ran.ends(2).says(&["is in use by another run of evalcurve"]);
    assert!(folder.at("out/results.csv").exists() && !folder.at("out/games.pgn").exists());
    // the lock ends with its run, however that ends
    folder.good(&["play", "chess.toml", "--out", "out", "--force"]);
    assert!(folder.at("out/games.pgn").exists() && !folder.at("out/games.csa").exists());
}

#[test]
fn a_sequential_test_stops_the_games() {
    let folder = Folder::new();
    // one engine loses by illegal moves
    let text = tournament("chess", 400, 0, &[]);
    let worse = text.replacen("\"--seed=2\"", "\"--seed=2\", \"--fault=illegal=0.5\"", 1);
    assert_ne!(text, worse);
    folder.write("t.toml", &worse);
    let run = |out: &str, concurrency: &str| -> Value {
        let arguments = ["play", "t.toml", "--out", out, "--sprt", "0:50", "--json", "--concurrency", concurrency];
        serde_json::from_str(&folder.good(&arguments).out).unwrap()
    };
    let (one, several) = (run("one", "1"), run("several", "3"));
    assert_eq!(one["sprt"][0]["decision"], "accept_h1");
    assert_eq!(one["sprt"], several["sprt"], "the decision depends on the number of workers");
    let games = one["games"]["played"].as_u64().unwrap();
    let decided = 2 * one["sprt"][0]["decided_after_pairs"].as_u64().unwrap();
    // the next pair may have begun
    assert!((decided..=decided + 2).contains(&games) && games < 200, "{decided} {games}");
}

/// Without a number of pairs the test goes on until it decides; the exit code says how, and the state is printed.
/// The command that goes on has the path as far as it can be written.
#[cfg(unix)]
#[test]
fn a_path_that_is_no_text_is_played() {
    use std::os::unix::ffi::OsStrExt;
    let folder = Folder::new();
    folder.write("t.toml", tournament("chess", 1, 0, &[]));
    let path = std::ffi::OsStr::from_bytes(b"\xff.toml");
    std::fs::rename(folder.at("t.toml"), folder.at("").join(path)).unwrap();
    let ran = folder.command(&["play", "--out", "out", "-q"]).arg(path).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}

#[test]
fn a_sequential_test_has_as_many_pairs_as_it_needs() {
    let folder = Folder::new();
    let text = tournament("chess", 1, 0, &[]).replace("pairs = 1\n", "");
    // slightly worse, so that 50 pairs cannot decide between these bounds
    let worse = text.replacen("\"--seed=2\"", "\"--seed=2\", \"--fault=illegal=0.02\"", 1);
    assert!(text != worse && !text.contains("pairs"));
    folder.write("t.toml", worse.replace("limit = {", "options = { Hsah = 16 }\nlimit = {"));
    let play = |out: &str, more: &[&str]| folder.run(&[&["play", "t.toml", "--out", out], more].concat());
    let narrow = ["--sprt", "0:20", "--report-every", "20"];
    let ran = play("h1", &narrow).ends(0);
    let games = folder.text("h1/results.csv").lines().count() - 1;
    assert!(games > 100 && ran.out.contains(&format!("\n{games} games in h1\n")), "{games} {}", ran.out);
    assert!(
        ran.out.contains("SPRT of 0 against 20 logistic Elo") && ran.out.contains("H1 accepted after"),
        "{}",
        ran.out
    );
    // without a terminal, a report after every 20 pairs, in parts that fit
    let reports = ran.err.matches("SPRT 甲 – B: LLR ").count();
    assert!(reports >= 2 && reports <= games / 40, "{reports} {games} {}", ran.err);
    for word in ["甲 against B: ", "Elo +", "nElo +", "LOS ", "pairs 0-"] {
        assert!(ran.err.contains(word), "{word}: {}", ran.err);
    }
    assert!(ran.err.contains("甲: it declares no option 'Hsah'"), "{}", ran.err);
    play("h0", &["--sprt", "350:400"]).ends(1);
    let ran = play("open", &["--sprt", "0:20", "--pairs", "3"]).ends(3);
    assert!(ran.out.contains("undecided: play on") && ran.out.contains("6 of 6 games"), "{}", ran.out);
    assert!(
        play("open", &["--sprt", "0:20", "--pairs", "3", "--elo-model", "normalized"])
            .out
            .contains("20 normalised Elo")
    );
    let ran = play("keys", &[]).err;
    assert!(ran.is_empty() || !ran.contains("did you mean"), "{ran}");
    folder.write("t.toml", "piars = 3\n".to_owned() + &text);
    play("keys", &[]).ends(2).says(&["t.toml:1: unknown field 'piars'", "did you mean 'pairs'?"]);
}

/// Ctrl-C leaves a last table and the command that goes on.
#[cfg(unix)]
#[test]
fn a_signal_leaves_the_table_and_the_command() {
    let folder = Folder::new();
    folder.write("t.toml", tournament("chess", 5000, 1, &[]));
    let arguments = ["play", "t.toml", "--concurrency", "2", "--report-every", "0"];
    let Some(mut command) = folder.heeding_signals(&arguments) else { return };
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    while folder.read_if_any("t-games/results.csv").iter().filter(|byte| **byte == b'\n').count() < 5 {
        std::thread::sleep(Duration::from_millis(5));
        assert!(child.try_wait().unwrap().is_none());
    }
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let ended = child.wait_with_output().unwrap();
    let err = String::from_utf8_lossy(&ended.stderr);
    assert!(err.contains("甲 against B: ") && err.contains("  Elo "), "{err}");
    let goes_on =
        "games are stored; the same command goes on: evalcurve play t.toml --concurrency 2 --report-every 0\n";
    assert!(err.ends_with(goes_on), "{err}");
}

#[test]
fn engines_on_several_threads_do_not_repeat_their_games() {
    let folder = Folder::new();
    let one = tournament("chess", 1, 0, &[]);
    folder.write("one.toml", &one);
    let ran = folder.good(&["play", "one.toml"]);
    assert!(!ran.err.contains("threads"), "{}", ran.err);
    folder.write("two.toml", one.replacen("limit =", "options = { Threads = 2 }\nlimit =", 1));
    folder.good(&["play", "two.toml"]).says(&[
        "warning: 甲: it searches on 2 threads, so that its moves are not the same every time although its limit is \
         nodes 10",
    ]);
}

#[cfg(unix)]
#[test]
fn a_first_configuration_has_engines_with_blanks_in_their_paths() {
    let folder = Folder::new();
    folder.write("私の エンジン/x", "");
    std::os::unix::fs::symlink(evalcurve_testkit::program(), folder.at("私の エンジン/思考 部")).unwrap();
    let path = folder.at("私の エンジン/思考 部").to_string_lossy().into_owned();
    let quoted = "\"私の エンジン/思考 部\" scripted-engine --prefer \"7g7f\"";
    let init = ["council", "c.toml", "--init"];
    for (missing, named) in
        [("no/engine", "'no/engine'"), ("./私の エンジン/ない", "'./私の'"), ("./no such -x", "'./no'")]
    {
        folder.run(&[&init[..], &[&path, missing]].concat()).ends(2).says(&["there is no file", named]);
    }
    folder
        .run(&[&init[..], &["\"engine"]].concat())
        .ends(2)
        .says(&["a double quote is missing in the command: \"engine"]);
    folder.run(&[&init[..], &[" "]].concat()).ends(2).says(&["a command is empty"]);
    assert!(!folder.at("c.toml").exists());
    let ran = folder.run(&[&init[..], &[&path, "私の エンジン/思考 部", quoted, "on-path -x"]].concat()).ends(1);
    ran.says(&[
        "思考 部: ended during its start",
        "on-path: cannot start 'on-path'",
        "on-path made no move at any limit",
    ]);
    let text = folder.text("c.toml");
    assert_eq!(text.matches(&format!("command = \"{path}\"\n")).count(), 3, "{text}");
    assert_eq!(text.matches("args = ").count(), 2, "{text}");
    assert!(text.contains("args = [\"scripted-engine\", \"--prefer\", \"7g7f\"]\n"), "{text}");
    assert!(text.contains("name = \"思考 部 3\"") && text.contains("command = \"on-path\"\nargs = [\"-x\"]"), "{text}");
}

/// Engines end at `go movetime`, never answer `go nodes`, or are none; `--init` says so and takes a limit that works.
#[cfg(unix)]
#[test]
fn a_first_configuration_has_limits_that_the_engines_obey() {
    let folder = Folder::new();
    let engine = |go: &str| {
        format!(
            "#!/bin/sh\nwhile read -r w k r; do case $w in usi) echo usiok;; isready) echo readyok;; \
             position) case \"$k $r\" in *7g7f*) m=3c3d;; *) m=7g7f;; esac;; go) {go};; quit) exit;; esac; done\n"
        )
    };
    let answers = "echo bestmove $m";
    for (name, text) in [
        ("good", engine(answers)),
        ("dies", engine(&format!("case $k in nodes) echo broken >&2; exit 1;; *) {answers};; esac"))),
        ("lies", engine(&format!("case $k in btime) {answers};; *) echo bestmove 1a1b;; esac"))),
        ("signs", engine(answers).replace("*7g7f*)", "*K8*) m=P@5e;; *7g7f*)")),
        ("sheusi", engine(answers)),
        ("shell", "#!/bin/sh\necho GNU Shell 1.0\nwhile read -r w; do :; done\n".to_owned()),
    ] {
        use std::os::unix::fs::PermissionsExt;
        folder.write(name, text);
        std::fs::set_permissions(folder.at(name), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let start = std::time::Instant::now();
    let ran = folder.run(&["council", "c.toml", "--init", "./good", "./dies", "./lies", "./signs", "./shell"]).ends(1);
    assert!(start.elapsed() < Duration::from_secs(60));
    let text = folder.text("c.toml");
    // by the number of processors
    let ms = text.split_once("byoyomi-ms = ").unwrap().1.split_once(' ').unwrap().0;
    assert!((20..=200).contains(&ms.parse::<u32>().unwrap()), "{text}");
    ran.says(&[
        "dies: nodes 20000: ended during its search (broken)",
        &format!("lies: movetime {ms} ms: it answered '1a1b', which is no legal move"),
        "signs: it answered 'P@5e': in USI that drop has a *",
        "shell: no usiok within 10000 ms, and no uciok: it is no engine for USI or UCI; it wrote 'GNU Shell 1.0'",
        "shell made no move at any limit; correct its table before --prepare; perhaps one of these is meant: sheusi",
    ]);
    let limits: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("limit = ")).collect();
    let starts = ["{ nodes = ", "{ depth = ", "{ byoyomi-ms = ", "{ nodes = "];
    assert!(text.contains("# it made no move at any limit\n# limit = "), "{text}");
    folder.run(&["council", "c.toml", "--prepare"]).ends(2).says(&["c.toml", "engine 'shell' has no limit"]);
    assert!(limits.len() == 4 && limits.iter().zip(starts).all(|(limit, start)| limit.starts_with(start)), "{text}");
}

/// A member that a shell runs.
#[cfg(unix)]
fn in_shell(name: &str, script: String) -> String {
    format!("[[engine]]\nname = '{name}'\ncommand = 'sh'\nargs = ['-c', '{script}']\nlimit = {{ nodes = 10 }}\n")
}

/// An engine that breaks off in the first pair alone. With `replays` its pair is played again, and says so.
#[cfg(unix)]
#[test]
fn a_pair_that_breaks_off_is_played_again() {
    let folder = Folder::new();
    let engine = format!("{} scripted-engine --game chess --think-ms 0", evalcurve_testkit::program());
    let crashes = "while read -r line; do case $line in go*) n=$((n+1)); \
                   if [ $n -gt 2 ] && rm crash-once 2>&-; then exit; fi;; esac; echo $line; done";
    let (good, bad) = (in_shell("good", format!("exec {engine}")), in_shell("bad", format!("{crashes} | {engine}")));
    let bad = bad.replace("command = 'sh'", "command = 'sh'\ndirectory = '.'");
    for (replays, ends, said) in [(0, 1, 0), (2, 0, 1)] {
        folder.write("crash-once", "");
        folder.write(
            "t.toml",
            format!("game = 'chess'\npairs = 2\nconcurrency = 1\nmax-plies = 20\nreplays = {replays}\n{good}{bad}"),
        );
        folder.good(&["play", "t.toml", "--quiet", "--force"]);
        let results = folder.text("t-games/results.csv");
        let count = |word: &str| results.matches(word).count();
        assert_eq!((results.lines().count(), count(",abnormal,")), (5, ends), "{results}");
        assert_eq!(count("(pair played again: 1)"), said, "{results}");
    }
}

/// A member that crashes in every game, after the two moves of the trial, ends the preparation by its own name.
#[cfg(unix)]
#[test]
fn a_member_that_crashes_ends_the_preparation() {
    let folder = Folder::new();
    let engine = format!("{} scripted-engine --game chess --think-ms 0", evalcurve_testkit::program());
    let crashes = "while read -r line; do case $line in go*) n=$((n+1)); \
                   if [ $n -gt 2 ]; then echo boom >&2; exit; fi;; esac; echo $line; done";
    let (good, bad) = (in_shell("good", format!("exec {engine}")), in_shell("bad", format!("{crashes} | {engine}")));
    folder.write("c.toml", format!("game = 'chess'\n{good}{bad}"));
    let ran = folder.run(&["council", "c.toml", "--prepare", "--by-playing"]).ends(2);
    ran.says(&["200 games take about ", " min; ", "engine 'bad' failed in 2 games in a row: ", "boom"]);
    // a pair for each processor
    assert!(folder.text("c-games/results.csv").lines().count() < 100);
}

/// As sjaakii does, the member writes drops with @: legal until its first drop, and illegal in every game.
#[cfg(unix)]
#[test]
fn a_member_that_plays_illegal_moves_ends_the_preparation() {
    let folder = Folder::new();
    let engine = format!("{} scripted-engine --think-ms 0", evalcurve_testkit::program());
    let signs = format!(
        "{engine} --seed 2 | while read -r line; do case $line in *[A-Z]\\**) \
                         rest=${{line#*\\*}}; echo \"${{line%%\\**}}@$rest\";; *) echo \"$line\";; esac; done"
    );
    let (good, bad) = (in_shell("good", format!("exec {engine}")), in_shell("signs", signs));
    folder.write("c.toml", format!("game = 'shogi'\n{good}{bad}"));
    let ran = folder.run(&["council", "c.toml", "--prepare", "--by-playing"]).ends(2);
    ran.says(&["engine 'signs' failed in 2 games in a row: illegal move ", "drops are written with *"]);
    assert!(folder.text("c-games/results.csv").lines().count() < 100);
}

/// A folder with a council of two calibrated members, which can learn weights.
fn lesson() -> Folder {
    let folder = Folder::new();
    let calibration = std::fs::read(root().join("data/calibrations/sjaakii.json")).unwrap();
    folder.write("a.json", &calibration);
    let member = |name: &str, seed: u32| {
        format!(
            "[[engine]]\nname = '{name}'\ncommand = '{}'\nargs = ['scripted-engine', '--think-ms', '0', \
             '--seed', '{seed}', '--repeatable']\nlimit = {{ nodes = 10 }}\ncalibration = 'a.json'\n",
            evalcurve_testkit::program()
        )
    };
    folder.write("c.toml", "rule = 'cross-examination'\n".to_owned() + &member("one", 1) + &member("two", 2));
    folder
}

/// Weights were learned from 439 of 1,000 votes, without a word, where the disk had no room for the others.
#[cfg(unix)]
#[test]
fn a_lesson_that_cannot_be_written_is_not_learned_from() {
    let folder = lesson();
    let text = folder.text("c.toml");
    let program = folder.command(&["council", "c.toml", "--prepare", "--teach", "one"]);
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -f 100; exec \"$@\"", "sh"]).env("LC_ALL", "C");
    command.arg(program.get_program()).args(program.get_args()).current_dir(folder.at(""));
    let ran = command.output().unwrap();
    let err = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(2), "{err}");
    assert!(err.contains("c-votes.jsonl: only ") && err.contains(" of 1000 votes could be written"), "{err}");
    assert!(folder.text("c.toml") == text && !folder.at("c-weights.json").exists());
    // what was written is used by the next run
    let before = folder.text("c-votes.jsonl").lines().count();
    folder.good(&["council", "c.toml", "--prepare", "--teach", "one"]);
    assert!(before > 50 && folder.at("c-weights.json").exists(), "{before}");
}

/// What games of the members say, with the time of the council and where each has a machine of its own.
#[test]
fn a_council_pays_or_not() {
    let folder = lesson();
    let table = folder.text("c.toml").replace("calibration = 'a.json'", "");
    let tables: Vec<&str> = table.split("[[engine]]").skip(1).collect();
    let longer = |table: &str| table.replacen("'\n", ", time of all'\n", 1).replace("nodes = 10", "nodes = 40");
    let members: String = tables.iter().map(|table| format!("[[engine]]{table}[[engine]]{}", longer(table))).collect();
    folder.write(
        "c-pays.toml",
        "game = 'shogi'\n[[engine]]\nname = 'Council'\ncouncil = 'c.toml'\n".to_owned() + &members,
    );
    folder.write("c.toml", folder.text("c.toml").replacen("rule", "name = 'Council'\nrule", 1));
    std::fs::create_dir(folder.at("c-pays-games")).unwrap();
    // wins of 40 games of the council against both members, with their own limits and with its time
    let said = |own: usize, longer: usize, [ms, cpu_ms]: [u32; 2], code: i32| {
        let mut rows = "pair,game,player,opponent,opening,colour,result,plies,opening_plies,player_ms,opponent_ms,\
                        player_cpu_ms,opponent_cpu_ms\n"
            .to_owned();
        for (opponent, wins) in [("one", own), ("two", own), ("one, time of all", longer), ("two, time of all", longer)]
        {
            for game in 0..40 {
                let result = if game < wins { "win" } else { "loss" };
                let (pair, half, colour) = (game / 2 + 1, game % 2 + 1, ["black", "white"][game % 2]);
                rows += &format!(
                    "{pair},{half},Council,\"{opponent}\",{pair},{colour},{result},100,0,{ms},1000,{cpu_ms},1000\n"
                );
            }
        }
        folder.write("c-pays-games/results.csv", rows);
        folder.run(&["council", "c.toml", "--check"]).ends(code).out
    };
    let out = said(36, 4, [1_100, 1_100], 0);
    assert!(out.contains("With the council's time, one alone is ahead: +382 "), "{out}");
    assert!(out.contains("Where each member has a machine of its own, the council is ahead: the best member"), "{out}");
    let out = said(4, 4, [1_100, 1_100], 0);
    assert!(out.contains("With its own limit, too, one alone is ahead: +382 "), "{out}");
    let out = said(20, 20, [1_100, 1_100], 3);
    assert!(out.contains("These games cannot tell whether the council pays: the best member with its time, "), "{out}");
    assert!(out.contains("Where each member has a machine of its own, these games cannot tell: the best "), "{out}");
    let out = said(36, 36, [2_500, 1_100], 0);
    assert!(out.contains("has -382 [-∞, -208] Elo against the council, which takes 2.5 times as long "), "{out}");
    assert!(out.contains("The council is ahead of each of its members with the same time; the best, "), "{out}");
    // members that did not get the time of the council show nothing
    let out = said(36, 36, [1_100, 2_500], 3);
    assert!(out.contains("one, has -382 [-∞, -208] Elo in 40 games against it, in 0.40 times its time."), "{out}");
}

/// A lesson that was stopped goes on where it was, and not with votes of another configuration.
#[test]
fn a_stopped_lesson_goes_on() {
    let folder = lesson();
    let teach = ["council", "c.toml", "--prepare", "--teach", "one"];
    let mut stopped = folder.command(&teach).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let votes = || folder.read_if_any("c-votes.jsonl").iter().filter(|&&byte| byte == b'\n').count();
    let since = std::time::Instant::now();
    while votes() < 20 && since.elapsed() < Duration::from_secs(120) {
        std::thread::sleep(Duration::from_millis(5));
    }
    stopped.kill().unwrap();
    stopped.wait().unwrap();
    let before = votes();
    assert!((20..900).contains(&before), "{before}");
    // the member is another one now
    let text = folder.text("c.toml");
    folder.write("c.toml", text.replace("nodes = 10", "nodes = 20"));
    folder.run(&teach).ends(2).says(&["c-votes.jsonl has votes of another configuration", "--force"]);
    folder.write("c.toml", &text);
    folder.good(&teach);
    let log = folder.text("c-votes.jsonl");
    let lines: Vec<Value> = log.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let positions: Vec<&str> = lines.iter().filter_map(|line| line["position"].as_str()).collect();
    let different: std::collections::BTreeSet<&str> = positions.iter().copied().collect();
    assert_eq!((positions.len(), different.len()), (1_000, 1_000));
    assert!(folder.text("c.toml").contains("weights = \"c-weights.json\""));
    // all votes are there: it only learns again
    folder.good(&teach);
    assert_eq!(folder.text("c-votes.jsonl"), log);
}

/// Members score the positions of the program, and one that crashes twice in a row is named.
#[test]
fn members_are_calibrated_on_shared_positions() {
    let folder = Folder::new();
    let member = |name: &str, more: &str| {
        format!(
            "[[engine]]\nname = '{name}'\ncommand = '{}'\nargs = ['scripted-engine', '--think-ms', '0', \
             '--repeatable'{more}]\nlimit = {{ nodes = 10 }}\n",
            evalcurve_testkit::program()
        )
    };
    let (one, two) = (member("one", ", '--score', 'material'"), member("two", ", '--score', 'material'"));
    folder.write("c.toml", one.clone() + &two + &member("bad", ", '--fault', 'crash=1'"));
    let prepare = ["council", "c.toml", "--prepare", "--target", "40%"];
    folder.run(&prepare).ends(2).says(&["bad: given up after several failures in a row", "ended during"]);
    assert!(!folder.text("c.toml").contains("calibration"));
    // what the others answered is not searched again
    assert!(folder.text("c-positions.parquet.journal").lines().count() > 8);
    folder.write("c.toml", one + &two);
    let ran = folder.good(&prepare);
    assert!(ran.out.contains("centipawns per logit") && ran.out.contains("c-calibrations"), "{}", ran.out);
    ran.says(&["scoring about ", " positions takes about "]);
    let text = folder.text("c.toml");
    assert_eq!(text.matches("calibration = \"c-calibrations/").count(), 2, "{text}");
    let constant = |name: &str| {
        let path = format!("c-calibrations/{name}.json");
        let found: Value = serde_json::from_str(&folder.good(&["constant", &path, "--json"]).out).unwrap();
        found["engines"][0]["constant"].as_f64().unwrap()
    };
    // the same scores have the same constant
    assert!((constant("one") / constant("two") - 1.0).abs() < 1e-6);
    folder.write("m.toml", "game = 'minishogi'\n".to_owned() + &member("one", ""));
    folder.run(&["council", "m.toml", "--prepare"]).ends(2).says(&["shogi and chess only", "--by-playing"]);
}

#[test]
fn a_first_configuration_is_written_and_prepared() {
    let folder = Folder::new();
    let program = evalcurve_testkit::program();
    let command = |seed: u32| format!("{program} scripted-engine --game chess --think-ms 0 --seed {seed}");
    let (one, two) = (command(1), command(2));
    let init = ["council", "合議.toml", "--init", "--game", "chess", &one, &two];
    let ran = folder.good(&init);
    assert!(ran.out.contains("evalcurve council 合議.toml --prepare"), "{}", ran.out);
    assert!(ran.out.contains("with these limits --prepare takes about "), "{}", ran.out);
    let text = folder.text("合議.toml");
    assert!(text.contains("name = \"evalcurve-testkit\"") && text.contains("name = \"evalcurve-testkit 2\""), "{text}");
    folder.run(&init).ends(2).says(&["the file exists", "--force"]);
    folder.write("合議.toml", "old");
    folder.good(&[&init[..], &["--force"]].concat());
    assert_eq!(folder.text("合議.toml").lines().count(), text.lines().count());
    folder.run(&["council", "合議.toml", "--force"]).ends(2).says(&["--init|--prepare"]);
    // without calibrations, the rule cannot be used
    folder
        .run(&["council", "合議.toml", "--check"])
        .ends(2)
        .says(&["has no calibration", "evalcurve council 合議.toml --prepare calibrates the members"]);
    // the limits are by a measured speed
    let of_nodes = |nodes: u32| -> String {
        let of_line = |line: &str| match line.starts_with("limit = ") {
            true => format!("limit = {{ nodes = {nodes} }}\n"),
            false => format!("{line}\n"),
        };
        text.lines().map(of_line).collect()
    };
    folder.write("合議.toml", of_nodes(10));
    // scores that say nothing give no calibration, and the message says what to do
    let prepare = |pairs| ["council", "合議.toml", "--prepare", "--by-playing", "--pairs", pairs];
    // 30 games, two per pair
    folder
        .run(&prepare("14"))
        .ends(2)
        .says(&["a calibration needs 30 games of each member, and --pairs 14 gives 28; give --pairs 15 or more"]);
    assert!(!folder.at("合議-games").exists());
    let prepare = prepare("15");
    let ran = folder.run(&prepare).ends(2).says(&["there is no calibration of 'evalcurve-testkit'", "--pairs 30"]);
    assert!(ran.out.contains("evalcurve-testkit 2") && !ran.out.contains("--"), "{}", ran.out);
    assert_eq!(folder.text("合議-games/results.csv").lines().count(), 31);
    assert!(!folder.text("合議.toml").contains("calibration ="));
    // nor does the file of an earlier run count as one, which was made at another limit
    let earlier = std::fs::read(root().join("data/calibrations/sjaakii.json")).unwrap();
    folder.write("合議-calibrations/evalcurve-testkit.json", &earlier);
    folder.write("合議-calibrations/evalcurve-testkit_2.json", &earlier);
    folder.run(&prepare).ends(2).says(&["there is no calibration of 'evalcurve-testkit'"]);
    // the table is in the language of the command, too
    let japanese = folder.run(&[&prepare[..], &["--lang", "ja"]].concat()).ends(2).says(&["の較正がありません"]);
    assert!(japanese.out.contains("較正ファイルは保存していません"), "{}", japanese.out);
    // the games of another limit are not these games
    folder.write("合議.toml", of_nodes(11));
    let other =
        folder.run(&prepare).ends(2).says(&["合議-games: ", "was \"nodes 10\", and is \"nodes 11\"", "--force"]);
    assert!(!other.err.contains("--out"), "{}", other.err);
    let deleted = folder.run(&[&prepare[..], &["--force"]].concat()).ends(2);
    assert!(deleted.err.contains("there is no calibration of"), "{}", deleted.err);
    assert_eq!(folder.read("合議-calibrations/evalcurve-testkit.json"), earlier);
    assert!(!folder.text("合議.toml").contains("calibration ="));
    let without = text.replace("limit = ", "# limit = ");
    folder.write("c.toml", without);
    folder.run(&["council", "c.toml", "--prepare"]).ends(2).says(&["has no limit"]);
}

/// The members search until they are stopped. In UCI, the increment comes after the move that it is for.
#[test]
fn councils_keep_the_clock_of_both_protocols() {
    for game in ["chess", "shogi"] {
        let folder = Folder::new();
        let members = ["A", "B"].map(|name| member(name, &["--game", game, "--think-ms=60000"], ""));
        folder.write("council.toml", format!("game = '{game}'\nrule = 'majority'\n{}", members.concat()));
        let opponent = member("B", &["--game", game, "--think-ms=0"], "limit = { nodes = 10 }");
        let council = "[[engine]]\nname = 'council'\ncouncil = 'council.toml'\nclock = { increment-ms = 1200 }\n";
        folder
            .write("t.toml", format!("game = '{game}'\npairs = 1\nmax-plies = 12\nmargin-ms = 0\n{council}{opponent}"));
        folder.good(&["play", "t.toml"]);
        let results = folder.text("t-games/results.csv");
        assert_eq!((results.lines().count(), results.matches("max_moves").count()), (3, 2), "{results}");
    }
}

/// The words of fastchess for two scripted engines that play chess.
fn fastchess(more: &str) -> Vec<String> {
    let program = evalcurve_testkit::program();
    let fixed = "--game chess --repeatable --think-ms=0";
    let mut words: Vec<String> = vec!["play".into()];
    for (name, own) in [("甲", "--seed=1"), ("B", "--seed=2")] {
        let of_engine = more.split('|').nth(usize::from(name == "B")).unwrap_or_default().trim();
        words.extend(["-engine".into(), format!("cmd={program}"), format!("name={name}")]);
        words.push(format!("args=scripted-engine {fixed} {own} {of_engine}"));
    }
    let each = [
        "-each",
        "nodes=10",
        "tc=inf",
        "restart=on",
        "-rounds",
        "3",
        "-repeat",
        "-maxmoves",
        "20",
        "-concurrency",
        "1",
    ];
    words.extend(each.map(str::to_owned));
    words.extend(more.split('|').nth(2).unwrap_or_default().split_whitespace().map(str::to_owned));
    words
}

fn run_words(folder: &Folder, words: &[String], more: &[&str]) -> crate::support::Ran {
    let words: Vec<&str> = words.iter().map(String::as_str).chain(more.iter().copied()).collect();
    folder.run(&words)
}

/// The same games as by a file, in the folder and in the file of `-pgnout`.
#[test]
fn engines_come_from_the_command_in_the_words_of_fastchess() {
    let folder = Folder::new();
    folder.write("t.toml", tournament("chess", 3, 0, &[]).replace("]\nplies = 4", "]\nplies = 8"));
    folder.good(&["play", "t.toml"]);
    folder.write("all.pgn", "[Event \"old\"]\n\n*\n\n");
    let words = fastchess("||");
    let out = ["-pgnout", "file=all.pgn", "nodes=true"];
    let ran = run_words(&folder, &words, &out).ends(0);
    assert!(ran.out.contains("6 of 6 games in all-games"), "{}", ran.out);
    let records = folder.text("all-games/games.pgn");
    assert!(records == folder.text("t-games/games.pgn"), "other games: {records}");
    let appended = folder.text("all.pgn");
    assert!(appended == format!("[Event \"old\"]\n\n*\n\n{records}"), "{appended}");
    assert!(records.contains(", n=10, pv=\""), "{records}");
    // again, nothing is missing and nothing is added
    run_words(&folder, &words, &out).ends(0);
    assert!(folder.text("all.pgn") == appended, "games were added twice");
    run_words(&folder, &words, &["-pgnout", "file=all.pgn", "append=false"]).ends(0);
    assert_eq!(folder.text("all.pgn"), records);
    let japanese =
        run_words(&folder, &["play".to_owned(), "-engine".to_owned(), "cmd=x".to_owned()], &["--lang", "ja"]);
    japanese.ends(2).says(&["エンジン 'x' に制限がありません"]);
    folder.run(&["play"]).ends(2).says(&["--engine"]);
    folder.run(&["play", "-quick", "cmd=a", "cmd=b"]).ends(2).says(&["play has no -quick; leave it out"]);
    folder.run(&["play", "t.toml", "-engine", "cmd=x"]).ends(2).says(&["cannot be used with"]);
    let affinity = run_words(&folder, &words, &["--affinity", "0", "--concurrency", "2", "--out", "bound"]).ends(2);
    affinity.says(&[if cfg!(target_os = "linux") {
        "affinity has 1 processors for 2 games"
    } else {
        "on Linux alone"
    }]);
}

#[test]
fn scores_end_games_as_in_fastchess() {
    let folder = Folder::new();
    let play = |name: &str, more: &str| {
        let ran = run_words(&folder, &fastchess(more), &["-pgnout", &format!("file={name}.pgn")]);
        ran.ends(0);
        folder.text(&format!("{name}.pgn"))
    };
    let lost = play("lost", "--score=700|--score=-700|-resign movecount=2 score=600 -openings plies=0");
    assert_eq!(lost.matches("[Termination \"adjudication\"]").count(), 6, "{lost}");
    assert!(lost.matches("{-7.00/1, n=10, ").count() == 12, "B resigns at its second score: {lost}");
    for result in ["White wins by adjudication} 1-0", "Black wins by adjudication} 0-1"] {
        assert_eq!(lost.matches(result).count(), 3, "{lost}");
    }
    // the winner does not agree, so that two-sided rules end nothing
    let doubted = play("doubted", "--score=50|--score=-700|-resign movecount=2 score=600 twosided=true");
    assert_eq!(doubted.matches("adjudication").count(), 0, "{doubted}");
    // no earlier than the move
    let late = play("late", "--score=700|--score=-700|-resign movecount=2 score=600 movenumber=9 -openings plies=0");
    let plies: Vec<u32> = late
        .lines()
        .filter_map(|line| line.strip_prefix("[PlyCount \"")?.trim_end_matches("\"]").parse().ok())
        .collect();
    assert!(plies.len() == 6 && plies.iter().all(|plies| [18, 19].contains(plies)), "{plies:?}");
    let drawn = play("drawn", "--score=3|--score=-3|-draw movenumber=5 movecount=2 score=10");
    assert_eq!(drawn.matches("Draw by adjudication} 1/2-1/2").count(), 6, "{drawn}");
    let read = folder.document(&["inspect", "drawn.pgn"]);
    assert_eq!(read["games"]["read"], 6);
}

#[test]
fn chess960_is_played() {
    let folder = Folder::new();
    let words = fastchess("||-variant fischerandom -pgnout file=frc.pgn");
    run_words(&folder, &words, &[]).ends(0);
    let records = folder.text("frc.pgn");
    assert_eq!(records.matches("[Variant \"Chess960\"]\n[SetUp \"1\"]\n[FEN \"").count(), 6, "{records}");
    assert_eq!(folder.document(&["inspect", "frc.pgn"])["games"]["read"], 6);
    // a time control with moves
    let clock = fastchess("||");
    let clock: Vec<String> =
        clock.iter().map(|w| w.replace("nodes=10", "tc=3/0:02+0.05").replace("tc=inf", "")).collect();
    let clock: Vec<String> = clock.into_iter().filter(|word| !word.is_empty()).collect();
    run_words(&folder, &clock, &["-pgnout", "file=clock.pgn"]).ends(0);
    let records = folder.text("clock.pgn");
    assert!(records.contains("[TimeControl \"3/2+0.05\"]") && !records.contains("on time"), "{records}");
}

#[test]
fn a_test_may_be_of_another_elo() {
    let folder = Folder::new();
    for (more, expected) in [
        (&["-sprt", "elo0=0", "elo1=400", "model=bayesian"][..], "400 Bayesian Elo, alpha 0.05"),
        (&["-sprt", "elo0=0", "elo1=400", "alpha=0.1"], "400 normalised Elo, alpha 0.1"),
        (&["--sprt", "0:400"], "400 logistic Elo"),
    ] {
        let ran = run_words(&folder, &fastchess("||"), more);
        assert!(ran.out.contains(expected), "{}{}", ran.out, ran.err);
    }
    run_words(&folder, &fastchess("||"), &["-sprt", "elo0=3", "elo1=1"]).ends(2).says(&["SPRT bounds 3 and 1"]);
}
