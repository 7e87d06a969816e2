//! `evalcurve analyse`, with scripted engines on games of this project.

use std::process::{Command, Stdio};
use std::time::Duration;

use evalcurve::random;
use serde_json::Value;

use crate::support::{Folder, csv, names, root};

/// A folder with the first games of a file of this project.
fn with_games(count: usize) -> Folder {
    let text = std::fs::read_to_string(root().join("data/selfplay/Fairy-Stockfish+sekirei.csa")).unwrap();
    let games: Vec<&str> = text.split_inclusive("\n/\n").take(count).collect();
    assert_eq!(games.len(), count);
    let folder = Folder::new();
    folder.write("games.csa", games.concat());
    folder
}

/// A scripted engine as `--engine` gets it.
fn engine(name: &str, seed: u32, faults: &[&str], more: &str) -> String {
    let faults: String = faults.iter().map(|fault| format!(" --fault={fault}")).collect();
    let program = evalcurve_testkit::program();
    format!("name={name} \"{program}\" scripted-engine --repeatable --seed={seed}{faults} {more}")
}

/// Runs an analysis with one JSON document.
fn analyse(folder: &Folder, engines: &[String], more: &[&str]) -> Value {
    let mut arguments = vec!["analyse", "games.csa", "--json", "--limit=nodes=10"];
    arguments.extend(engines.iter().flat_map(|engine| ["--engine", engine]));
    folder.good(&[&arguments[..], more].concat()).document()
}

/// That all positions of an engine are counted.
fn add_up(engine: &Value) -> u64 {
    let failed: u64 = engine["failed"].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum();
    let of = |key: &str| engine[key].as_u64().unwrap();
    assert_eq!(of("scored") + of("mates") + failed + of("not_asked"), of("positions"), "{engine}");
    failed
}

#[test]
fn engines_score_positions_of_others() {
    let folder = with_games(12);
    let engines = [engine("A", 1, &[], ""), engine("B", 2, &[], "option.MultiPV=2 depth=3")];
    let found = analyse(&folder, &engines, &["--positions", "30", "--out", "a.csv", "--multipv", "2"]);
    assert_eq!((found["positions"].as_u64(), found["samples"].as_u64()), (Some(30), Some(60)));
    let (head, rows) = csv(&folder.text("a.csv"));
    assert_eq!(rows.len(), 60);
    let cell = |row: &Vec<String>, name: &str| row[head.iter().position(|h| h == name).unwrap()].replace('"', "");
    // the same draw as of scored records, with the results of the games
    folder.good(&["sample", "games.csa", "--out", "s.csv", "--from-ply", "1", "--window", "1"]);
    let (own_head, own_rows) = csv(&folder.text("s.csv"));
    let own = |row: &Vec<String>, name: &str| row[own_head.iter().position(|h| h == name).unwrap()].clone();
    let mut checked = 0;
    for row in &rows {
        assert!(["A", "B"].contains(&cell(row, "engine").as_str()) && cell(row, "opponent").is_empty());
        let players = [cell(row, "black"), cell(row, "white")];
        assert!(players.contains(&"sekirei".to_owned()) && players.contains(&"Fairy-Stockfish".to_owned()));
        assert_eq!(cell(row, "limit"), if cell(row, "engine") == "A" { "nodes 10" } else { "depth 3" });
        assert!(!cell(row, "best_move").is_empty());
        let same = |other: &&Vec<String>| ["game", "ply"].iter().all(|key| own(other, key) == cell(row, key));
        if let Some(scored) = own_rows.iter().find(same) {
            checked += 1;
            for key in ["color", "result", "termination"] {
                assert_eq!(own(scored, key), cell(row, key), "{key}");
            }
            let player = if cell(row, "color") == "black" { &players[0] } else { &players[1] };
            assert_eq!((own(scored, "engine"), own(scored, "rating")), (player.clone(), cell(row, "rating")));
        }
    }
    assert!(checked > 40, "{checked}");
    assert!(folder.read_if_any("a.csv.journal").is_empty());
    // every command reads it
    let read = folder.run(&["inspect", "a.csv", "--json"]).document();
    assert_eq!(names(&read), ["A", "B"]);
    folder
        .run(&["analyse", "games.csa", "--engine", &engines[0], "--out", "a.csv"])
        .ends(2)
        .says(&["a.csv", "--force"]);
}

#[test]
fn faults_cost_positions_and_then_the_engine() {
    let folder = with_games(20);
    let faults = ["crash=0.05", "illegal=0.05", "no-info=0.05", "flood=0.02", "lie=0.05", "garbage=0.1"];
    let engines = [
        engine("faulty", 1, &faults, ""),
        engine("crashes", 2, &["crash=1"], ""),
        engine("hangs", 3, &["hang=1"], ""),
        engine("sound", 4, &[], ""),
    ];
    let more = ["--positions", "60", "--patience", "1", "--out", "a.csv", "--processes", "2"];
    let found = analyse(&folder, &engines, &more);
    let by_name = |name: &str| found["engines"].as_array().unwrap().iter().find(|e| e["engine"] == name).unwrap();
    let failed: Vec<u64> = ["faulty", "crashes", "hangs", "sound"].map(|name| add_up(by_name(name))).into();
    assert!(failed[0] > 3 && failed[0] < 40, "{found}");
    // an engine that never answers is not waited for again
    assert_eq!(failed[1..], [5, 0, 0]);
    assert_eq!(by_name("faulty")["given_up"], Value::Null);
    for (name, why, left) in [("crashes", "ended during its search", 55), ("hangs", "no move within 1000 ms with", 60)]
    {
        let engine = by_name(name);
        let said = engine["given_up"].as_str().unwrap();
        assert!(said.starts_with(why) && said.ends_with("; it obeyed no other limit that was tried"), "{engine}");
        assert_eq!(engine["not_asked"], left);
    }
    assert_eq!(by_name("sound")["scored"], 60);
    let reasons: Vec<&String> = by_name("faulty")["failed"].as_object().unwrap().keys().collect();
    assert_eq!(reasons, ["crashed", "illegal_move", "no_score"]);
    // a wrong command ends the analysis at once
    let wrong = ["analyse", "games.csa", "--engine", "no/such/engine"];
    folder.run(&wrong).ends(2).says(&["no/such/engine", "cannot start"]);
    folder.run(&["analyse", "games.csa", "--engine", "e", "--limit", "10"]).ends(2).says(&["'10'", "nodes=10k"]);
}

/// A script reports 10 nodes whatever it is asked for, and the depth that it is asked for.
#[test]
fn an_engine_that_does_not_obey_its_limit_is_not_calibrated() {
    let folder = with_games(20);
    let says = "searches 10 nodes where 20,000 were asked: it does not know `go nodes`; use depth=";
    let [bad, good] = [engine("bad", 1, &[], "nodes=20k"), engine("good", 2, &[], "depth=7")];
    let positions = ["games.csa", "--positions", "30", "--out", "a.csv"];
    let alone = folder.run(&[&["analyse", "--engine", &bad][..], &positions].concat()).ends(1);
    alone.says(&["bad: ", says]);
    assert!(folder.read_if_any("a.csv").is_empty() && folder.read_if_any("a.csv.journal").is_empty());
    // the other engine is used
    let both = folder.good(&[&["analyse", "--json", "--engine", &bad, "--engine", &good][..], &positions].concat());
    let found = both.document();
    let [bad_one, good_one] = [&found["engines"][0], &found["engines"][1]];
    assert_eq!((&bad_one["given_up"], &bad_one["scored"]), (&says.into(), &0.into()), "{found}");
    assert_eq!((&good_one["given_up"], &good_one["scored"]), (&Value::Null, &30.into()), "{found}");
    folder.run(&["constant", "--engine", &bad]).ends(1).says(&[says]);
    let play = format!(
        "pairs = 1\n[[engine]]\nname = 'bad'\ncommand = '{program}'\nargs = ['scripted-engine']\n\
         limit = {{ nodes = 20000 }}\n[[engine]]\nname = 'good'\ncommand = '{program}'\nargs = ['scripted-engine']\n\
         limit = {{ depth = 7 }}\n",
        program = evalcurve_testkit::program()
    );
    folder.write("t.toml", &play);
    folder.run(&["play", "t.toml"]).ends(2).says(&["engine 'bad' ", says]);
    folder.write("c.toml", play.replace("pairs = 1\n", "rule = 'majority'\n"));
    folder.run(&["council", "c.toml", "--check"]).ends(1).says(&["bad: searches 10 nodes where 20,000 were asked"]);
    folder.run(&["council", "c.toml", "--prepare"]).ends(2).says(&[says]);
}

/// Begins an analysis into killed.csv so many times, and ends it some milliseconds after its next answer is written,
/// politely or not. Returns how often it had not ended by itself.
fn kill(folder: &Folder, engines: &[String], more: &[&str], times: u64, after: impl Fn(u64) -> u64) -> u32 {
    let mut arguments = vec!["analyse", "--limit=nodes=10", "-q"];
    arguments.extend(more);
    arguments.extend(engines.iter().flat_map(|engine| ["--engine", engine]));
    let mut interrupted = 0;
    let answered = || folder.at("killed.csv.journal").metadata().map_or(0, |data| data.len());
    for number in 0..times {
        // its first line holds no answer
        let before = answered().max(60);
        let mut child = folder.command(&arguments).stdin(Stdio::null()).spawn().unwrap();
        while child.try_wait().unwrap().is_none() && answered() <= before {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(after(number)));
        interrupted += u32::from(child.try_wait().unwrap().is_none());
        if cfg!(unix) && number % 2 == 0 {
            let _ = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
        } else {
            child.kill().unwrap();
        }
        child.wait().unwrap();
    }
    interrupted
}

/// An analysis that is killed again and again ends with the same bytes as one that is not, on any number of processes.
#[test]
fn kills_and_processes_change_nothing() {
    let folder = with_games(20);
    let faults = ["crash=0.03", "illegal=0.05", "no-info=0.05"];
    let engines = [engine("A", 1, &faults, "--think-ms=8"), engine("B", 2, &faults, "--think-ms=8")];
    let whole = analyse(&folder, &engines, &["--positions", "120", "--out", "whole.csv", "--processes", "1"]);
    analyse(&folder, &engines, &["--positions", "120", "--out", "three.parquet", "--processes", "3"]);
    analyse(&folder, &engines, &["--positions", "120", "--out", "three.csv", "--processes", "3"]);
    assert_eq!(folder.text("whole.csv"), folder.text("three.csv"));
    let arguments = ["games.csa", "--positions=120", "--processes=1", "--out=killed.csv"];
    let interrupted = kill(&folder, &engines, &arguments, 8, |number| random::below(200, &[number]));
    assert!(interrupted > 0);
    if folder.read_if_any("killed.csv").is_empty() {
        // what the killed runs found is not searched again
        let rest = analyse(&folder, &engines, &["--positions", "120", "--out", "killed.csv"]);
        assert!(rest["searches"].as_u64() < whole["searches"].as_u64(), "{rest}");
    }
    assert_eq!(folder.text("whole.csv"), folder.text("killed.csv"));
}

/// 1,000 positions of the program with engines that crash, hang, lie and flood; 20 kills give the same bytes.
#[test]
#[ignore = "takes minutes"]
fn a_thousand_positions_with_faults_and_twenty_kills() {
    let folder = Folder::new();
    let faults = ["crash=0.02", "hang=0.002", "illegal=0.02", "no-info=0.02", "flood=0.01", "lie=0.02", "garbage=0.05"];
    let engines = [
        engine("A", 1, &faults, "--think-ms=3"),
        engine("B", 2, &faults, "--think-ms=3"),
        engine("crashes", 3, &["crash=1"], ""),
        engine("hangs", 4, &["hang=1"], ""),
        engine("sound", 5, &[], ""),
    ];
    let positions = ["--positions=1000", "--patience=1", "--processes=2"];
    let begun = std::time::Instant::now();
    let mut arguments = vec!["analyse", "--json", "--limit=nodes=10", "--out=whole.csv"];
    arguments.extend(engines.iter().flat_map(|engine| ["--engine", engine]));
    let whole = folder.good(&[&arguments[..], &positions].concat()).document();
    let time = begun.elapsed();
    let failed: Vec<u64> = whole["engines"].as_array().unwrap().iter().map(add_up).collect();
    println!("{:#}", whole["engines"]);
    assert!(whole["engines"].as_array().unwrap().iter().all(|e| e["positions"] == 1_000));
    assert!(failed[..2].iter().all(|n| (40..150).contains(n)) && failed[2..] == [5, 5, 0], "{failed:?}");
    // together they would be half of the time of the whole
    let after = |number| 100 + random::below(time.as_millis() as u64 / 20 - 100, &[number]);
    let interrupted = kill(&folder, &engines, &[&positions[..], &["--out=killed.csv"]].concat(), 20, after);
    println!("{interrupted} kills, {time:?} without");
    assert_eq!(interrupted, 20);
    arguments[3] = "--out=killed.csv";
    let rest = folder.good(&[&arguments[..], &positions].concat()).document();
    assert!(rest["searches"].as_u64() < whole["searches"].as_u64(), "{rest}");
    assert_eq!(folder.text("whole.csv"), folder.text("killed.csv"));
}

/// Without a path the positions are those of the program, and `constant` tells the constant of a command.
#[test]
fn the_program_has_positions_of_both_games() {
    let folder = Folder::new();
    for game in ["shogi", "chess"] {
        let one = engine("M", 1, &[], &format!("--score=material --think-ms=0 --game={game} depth=1"));
        let (out, game) = (format!("{game}.csv"), ["--game", game]);
        let arguments = ["analyse", "--engine", &one, "--positions", "300", "--out", &out, "--json"];
        let found = folder.good(&[&arguments[..], &game].concat()).document();
        assert_eq!((found["positions"].as_u64(), add_up(&found["engines"][0])), (Some(300), 0));
        assert!(found["drawn"].as_u64() >= Some(5_000), "{}", found["drawn"]);
        let (head, rows) = csv(&folder.text(&out));
        let column = |name: &str| head.iter().position(|h| h == name).unwrap();
        let (rating, ply) = (column("rating"), column("ply"));
        assert!(rows.iter().all(|row| !row[rating].is_empty() && row[ply].parse::<u32>().unwrap() >= 17));
        let ran = folder.good(&[&["constant", "--engine", &one, "--json"][..], &game].concat());
        let ran: Value = serde_json::from_str(&ran.out).unwrap();
        let [low, high] = [0, 1].map(|i| ran["engines"][0]["interval"][i].as_f64().unwrap());
        assert!(0.0 < low && high < 1.5 * low, "{ran}");
    }
    folder.run(&["constant"]).ends(2).says(&["--engine"]);
    folder.run(&["constant", "--engine", "no/such/engine"]).ends(2).says(&["no/such/engine", "cannot start"]);
    folder.run(&["analyse", "games", "--game", "chess", "--engine", "e"]).ends(2).says(&["--game"]);
}

#[test]
fn chess_is_analysed_too() {
    let folder = Folder::new();
    let game = |round: u32, result: &str| {
        format!(
            "[Event \"x\"]\n[Round \"{round}\"]\n[White \"W\"]\n[Black \"B\"]\n[WhiteElo \"2000\"]\n\
             [BlackElo \"1900\"]\n\
             [Result \"{result}\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 \
             7. Bb3 d6 {result}\n\n"
        )
    };
    folder.write("games.pgn", (1..=6).map(|round| game(round, ["1-0", "0-1"][round as usize % 2])).collect::<String>());
    let one = engine("C", 1, &[], "--game=chess depth=1");
    let arguments = ["analyse", "games.pgn", "--engine", &one, "--from-ply", "1", "--every-move", "--out", "a.csv"];
    let found = folder.good(&[&arguments[..], &["--positions", "1000", "--json"]].concat()).document();
    assert_eq!((found["positions"].as_u64(), add_up(&found["engines"][0])), (Some(84), 0));
    let (head, rows) = csv(&folder.text("a.csv"));
    let cell = |row: &Vec<String>, name: &str| row[head.iter().position(|h| h == name).unwrap()].replace('"', "");
    for row in rows {
        let white = cell(&row, "color") == "white";
        assert_eq!(white, cell(&row, "ply").parse::<u32>().unwrap() % 2 == 1);
        assert_eq!(cell(&row, "rating"), if white { "2000.0" } else { "1900.0" });
        assert_eq!((cell(&row, "chess"), cell(&row, "material")), ("true".to_owned(), "78".to_owned()));
    }
}
