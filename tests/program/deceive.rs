//! Data that deceive: games of known truth in which scores have the wrong sign, end the game, were cut, are pawns or
//! noise. The wrong constants that follow are named, and cost the verdict; docs/testing.md has the rates.

use std::collections::BTreeMap;

use evalcurve_testkit::attack::{Attack, csv};
use serde_json::Value;

use crate::support::{Folder, engine, root, warnings};

/// A data set of equal engines of 400 centipawns to a logit, with a change.
fn simulated(engines: usize, games: u32, seed: u64, change: impl FnOnce(&mut Attack)) -> Folder {
    let mut attack = Attack::clean(engines, games, seed);
    change(&mut attack);
    let folder = Folder::new();
    folder.write("t.csv", csv(&attack.samples(0)));
    folder
}

fn fit(folder: &Folder, options: &[&str]) -> Value {
    folder.document(&[&["calibrate", "--dry-run", "t.csv", "--bands", "0"], options].concat())
}

/// The joint constant 1/w1.
fn constant(document: &Value, name: &str) -> f64 {
    1.0 / engine(document, name)["models"]["joint"]["w1"].as_f64().unwrap()
}

const KINDS: [&str; 4] = ["mixed_signs", "adjudicated", "cut_scores", "score_unit"];

#[test]
fn clean_data_are_not_suspected() {
    let changes: [fn(&mut Attack); 4] = [
        |_| (),
        // an engine that misjudges whole games
        |attack| attack.engines[0].noise = 3.0,
        |attack| (attack.rated, attack.optimism, attack.coin) = (true, 0.3, 0.02),
        |attack| attack.engines[1].constant = 4000.0,
    ];
    for (seed, change) in (60..).zip(changes) {
        let folder = simulated(4, 300, seed, change);
        let document = fit(&folder, &[]);
        for name in ["A", "B", "C", "D"] {
            for kind in KINDS {
                assert!(warnings(engine(&document, name), kind).is_empty(), "{seed} {name} {kind}");
            }
        }
        // nothing to turn
        assert_eq!(fit(&folder, &["--signs", "auto"])["engines"], document["engines"], "{seed}");
    }
}

#[test]
fn games_with_the_wrong_sign_are_found_and_turned() {
    for (share, seed, as_white) in [(0.1, 71, false), (0.2, 72, false), (0.35, 73, false), (0.3, 74, true)] {
        let folder = simulated(4, 300, seed, |attack| {
            (attack.inverted, attack.inverted_as_white) = (share, as_white);
        });
        let document = fit(&folder, &[]);
        let texts = warnings(engine(&document, "A"), "mixed_signs");
        assert_eq!(texts.len(), 1, "{share}: {:#}", engine(&document, "A")["warnings"]);
        assert!(texts[0].contains(" games, such as t.csv:") && texts[0].contains("--signs auto"), "{}", texts[0]);
        assert_eq!(texts[0].contains(", mostly as white;"), as_white, "{}", texts[0]);
        let signs = &engine(&document, "A")["signs"];
        let [low, high] = [0, 1].map(|end| signs["interval"][end].as_f64().unwrap());
        let true_share = if as_white { share / 2.0 } else { share };
        assert!(low <= true_share + 0.02 && true_share <= high + 0.02, "{share}: {signs}");
        let ran = folder.good(&["calibrate", "--dry-run", "t.csv", "--bands", "0"]);
        assert!(
            ran.out.lines().any(|l| l.starts_with("A ") && l.ends_with("odd signs: see the warning")),
            "{}",
            ran.out
        );
        for other in ["B", "C", "D"] {
            assert!(warnings(engine(&document, other), "mixed_signs").is_empty());
        }
        let turned = fit(&folder, &["--signs", "auto"]);
        assert!(warnings(engine(&turned, "A"), "mixed_signs").is_empty());
        let [before, after] = [&document, &turned].map(|document| constant(document, "A"));
        assert!(before > 1.2 * 400.0 && (310.0..510.0).contains(&after), "{share}: {before} {after}");
        let note = turned["notes"][0].as_str().unwrap();
        assert!(note.starts_with("A: the sign of its scores was turned in "), "{note}");
    }
}

/// The file says what was done, and the samples that are written have the signs that were used.
#[test]
fn turned_signs_are_recorded() {
    let folder = simulated(3, 200, 75, |attack| attack.inverted = 0.2);
    folder.good(&["sample", "t.csv", "--signs", "auto", "--out", "s.csv"]);
    let options = ["calibrate", "t.csv", "--no-plots", "--out", "out", "--signs", "auto"];
    folder.good(&options).says(&["A: the sign of its scores was turned in "]);
    let file: Value = serde_json::from_str(&folder.text("out/A.json")).unwrap();
    let filters: Vec<&str> = file["sampling"]["filters"].as_array().unwrap().iter().flat_map(Value::as_str).collect();
    assert_eq!(filters[0], "signs auto");
    assert!(filters[1].starts_with("sign turned in ") && filters[1].ends_with(" games"), "{filters:?}");
    let again = folder.document(&["calibrate", "--dry-run", "s.csv", "--bands", "0"]);
    assert!(warnings(engine(&again, "A"), "mixed_signs").is_empty());
    let turned = fit(&folder, &["--signs", "auto"]);
    assert!((constant(&again, "A") - constant(&turned, "A")).abs() < 1e-6);
}

#[test]
fn games_that_the_scores_ended_are_found() {
    for (limit, games, seed, harms) in [(300.0, 300, 81, true), (600.0, 300, 82, true), (2000.0, 300, 83, false)] {
        let folder = simulated(4, games, seed, |attack| attack.adjudicated = Some(limit));
        let document = fit(&folder, &[]);
        for name in ["A", "B", "C", "D"] {
            let one = engine(&document, name);
            let texts = warnings(one, "adjudicated");
            assert_eq!(texts.len(), usize::from(harms), "{limit} {name}: {:#}", one["warnings"]);
            if harms {
                let found = &one["adjudicated"];
                assert_eq!(found["threshold_cp"], limit as u32, "{found}");
                assert!(found["factor"].as_f64().is_none_or(|factor| factor > 1.05), "{found}");
            }
        }
        let said = folder
            .good(&["calibrate", "--dry-run", "t.csv", "--bands", "0"])
            .out
            .contains("odd scores: see the warning");
        assert_eq!(said, harms);
    }
}

/// Games of real engines, in which whoever sees itself 600 behind resigns in place of a move: no record has that score.
#[test]
fn resignations_at_scores_that_nobody_records_are_found() {
    let folder = Folder::new();
    let files = ["Fairy-Stockfish+sekirei.csa", "sekirei+Fairy-Stockfish.csa"];
    for file in files {
        let mut resigned = String::new();
        let text = std::fs::read_to_string(root().join("data/selfplay").join(file)).unwrap();
        for game in text.split_inclusive("\n/\n") {
            let (mut kept, mut side, mut from) = (String::new(), 1, 0);
            for line in game.lines() {
                if line.len() == 7 && (line.starts_with('+') || line.starts_with('-')) {
                    (side, from) = (if line.starts_with('+') { 1 } else { -1 }, kept.len());
                }
                let score = line.strip_prefix("'** ").and_then(|rest| rest.split(' ').next()?.parse::<i32>().ok());
                if score.is_some_and(|score| side * score <= -600) {
                    kept.truncate(from);
                    kept += "%TORYO\n/\n";
                    break;
                }
                kept += &format!("{line}\n");
            }
            resigned += &kept;
        }
        folder.write(&format!("resigned/{file}"), &resigned);
        folder.write(&format!("played/{file}"), &text);
    }
    let [played, resigned] =
        ["played", "resigned"].map(|records| folder.document(&["calibrate", "--dry-run", "--bands", "0", records]));
    for name in ["Fairy-Stockfish", "sekirei"] {
        assert!(warnings(engine(&played, name), "adjudicated").is_empty(), "{name}");
    }
    let one = engine(&resigned, "Fairy-Stockfish");
    assert_eq!(warnings(one, "adjudicated").len(), 1, "{}", one["adjudicated"]);
    assert!(one["adjudicated"]["reversed"].as_f64().is_some_and(|share| share > 0.1), "{}", one["adjudicated"]);
}

/// Games of real engines, ended after three moves in a row at which the loser is 600 behind.
#[test]
fn a_rule_with_moves_in_a_row_is_found_in_real_games() {
    let folder = Folder::new();
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/data/selfplay/");
    let files = ["Fairy-Stockfish+sekirei.csa", "sekirei+Fairy-Stockfish.csa"].map(|file| format!("{data}{file}"));
    folder.good(&["sample", &files[0], &files[1], "--window=1", "--out", "all.csv", "--quiet"]);
    let text = folder.text("all.csv");
    let (head, rows) = text.split_once('\n').unwrap();
    let column = |name: &str| head.split(',').position(|column| column == name).unwrap();
    let (game, color, score, result) = (column("game"), column("color"), column("score_cp"), column("result"));
    let mut games: BTreeMap<&str, Vec<Vec<&str>>> = BTreeMap::new();
    for row in rows.lines() {
        let cells: Vec<&str> = row.split(',').collect();
        games.entry(cells[game]).or_default().push(cells);
    }
    let mut ended = format!("{head}\n");
    for rows in games.values_mut() {
        let mut behind = BTreeMap::from([("black", 0), ("white", 0)]);
        let end = rows.iter().position(|row| {
            let run = behind.get_mut(row[color]).unwrap();
            *run = if row[score].parse::<i32>().unwrap() <= -600 { *run + 1 } else { 0 };
            *run == 3
        });
        if let Some(end) = end {
            let loser = rows[end][color];
            rows.truncate(end + 1);
            rows.iter_mut().for_each(|row| row[result] = if row[color] == loser { "0" } else { "1" });
        }
        rows.iter().for_each(|row| ended += &(row.join(",") + "\n"));
    }
    folder.write("t.csv", ended);
    // how the scores of the whole games end is not how these end
    let cut = ["--column", "score_end="];
    let [played, document] = ["all.csv", "t.csv"]
        .map(|file| folder.document(&[&["calibrate", "--dry-run", file, "--bands", "0"][..], &cut].concat()));
    for name in ["Fairy-Stockfish", "sekirei"] {
        assert!(warnings(engine(&played, name), "adjudicated").is_empty(), "{name}");
        assert_eq!(warnings(engine(&document, name), "adjudicated").len(), 1, "{name}");
        let threshold = engine(&document, name)["adjudicated"]["threshold_cp"].as_u64().unwrap();
        assert!((500..=700).contains(&threshold), "{name}: {threshold}");
    }
}

#[test]
fn cut_scores_are_named_and_left_out() {
    let folder = simulated(4, 400, 91, |attack| attack.clip = Some(600.0));
    let document = fit(&folder, &[]);
    for name in ["A", "B", "C", "D"] {
        let one = engine(&document, name);
        let texts = warnings(one, "cut_scores");
        assert!(texts.len() == 1 && texts[0].contains("are exactly ±600"), "{:#}", one["warnings"]);
        let (w1, error) = (1.0 / constant(&document, name), &one["models"]["joint"]["standard_errors"][0]);
        // within 2.6 standard errors of the truth, where the plain sigmoid of all scores is 20% off
        assert!((w1 - 1.0 / 400.0).abs() < 2.6 * error.as_f64().unwrap(), "{name}: {w1} {error}");
    }
    let ran = folder.run(&["calibrate", "t.csv", "--no-plots", "--out", "out"]).ends(0);
    assert!(ran.out.contains("odd scores: see the warning"), "{}", ran.out);
    let file: Value = serde_json::from_str(&folder.text("out/A.json")).unwrap();
    assert!(file["doubts"].as_array().unwrap().contains(&Value::from("cut_scores")));
    let filters = file["sampling"]["filters"][0].as_str().unwrap();
    assert!(filters.ends_with(" scores of ±600 left out"), "{filters}");
}

#[test]
fn pawns_beside_centipawns_are_refused_with_the_remedy() {
    let folder = simulated(4, 200, 95, |attack| attack.pawns = true);
    let ran = folder.run(&["calibrate", "t.csv", "--no-plots", "--out", "out"]).ends(0);
    let ran = ran.says(&["A: its scores are pawns beside centipawns: ", "--score-unit \"A=pawn\""]);
    assert!(ran.out.contains("none for A, for the reasons below"), "{}", ran.out);
    assert!(!folder.at("out/A.json").exists() && folder.at("out/B.json").exists());
    let mended = fit(&folder, &["--score-unit", "A=pawn"]);
    assert!(warnings(engine(&mended, "A"), "score_unit").is_empty());
    // the table holds whole pawns
    assert!((280.0..560.0).contains(&constant(&mended, "A")), "{}", constant(&mended, "A"));
    folder
        .run(&["calibrate", "--dry-run", "t.csv", "--score-unit", "A=inch"])
        .ends(2)
        .says(&["'inch' is not a unit of scores"]);
}

/// Mates of 327.67 pawns are no evaluations.
#[test]
fn pawns_with_mates_are_pawns() {
    let folder = simulated(3, 200, 96, |_| ());
    let text = folder.text("t.csv");
    let mut pawns = String::new();
    for (i, line) in text.lines().enumerate() {
        let mut cells: Vec<String> = line.split(',').map(str::to_owned).collect();
        for at in [6, 7] {
            if let Ok(cp) = cells[at].parse::<f64>() {
                cells[at] =
                    if i % 20 == 0 { format!("{}", 327.67 * cp.signum()) } else { format!("{:.2}", cp / 100.0) };
            }
        }
        pawns += &(cells.join(",") + "\n");
    }
    folder.write("t.csv", pawns);
    let document = fit(&folder, &[]);
    for name in ["A", "B", "C"] {
        assert!(warnings(engine(&document, name), "score_unit")[0].contains("look like pawns"));
    }
}

#[test]
fn noise_is_refused() {
    for seed in 97..100 {
        let folder = simulated(4, 200, seed, |attack| attack.noise = true);
        folder.run(&["calibrate", "t.csv", "--no-plots", "--out", "out", "--engine", "A"]).ends(1);
        assert!(!folder.at("out/A.json").exists());
        assert!(warnings(engine(&fit(&folder, &[]), "A"), "mixed_signs").is_empty());
    }
}

/// An engine in a table of others has the same constant, whichever command prints it.
#[test]
fn one_question_has_one_constant() {
    let folder = simulated(4, 200, 101, |attack| attack.engines[0].constant = 900.0);
    folder.good(&["calibrate", "t.csv", "--no-plots", "--out", "out", "--engine", "A"]);
    let file: Value = serde_json::from_str(&folder.text("out/A.json")).unwrap();
    let calibrated = 1.0 / file["model"]["w1"].as_f64().unwrap();
    let of = |options: &[&str]| -> f64 {
        let document: Value = serde_json::from_str(&folder.good(options).out).unwrap();
        document["engines"][0]["constant"].as_f64().unwrap()
    };
    for options in [&["constant", "t.csv", "--json", "--engine", "A"][..], &["constant", "out/A.json", "--json"]] {
        assert!((of(options) - calibrated).abs() < 1e-6 * calibrated, "{options:?}");
    }
    assert!((constant(&fit(&folder, &["--engine", "A"]), "A") - calibrated).abs() < 1e-6 * calibrated);
}

/// The rows of a table are drawn already.
#[test]
fn options_that_do_not_act_on_tables_are_named() {
    let folder = simulated(3, 100, 102, |attack| attack.draws = evalcurve_testkit::attack::Draws::Even(0.5));
    for (options, name) in [(&["--window", "20"][..], "--window")] {
        let written = ["calibrate", "--no-plots", "--out", "out"];
        for command in [&["calibrate", "--dry-run"][..], &written, &["constant"], &["inspect"]] {
            folder.run(&[command, &["t.csv"], options].concat()).says(&[name, "sample the records again"]);
        }
    }
    let samples = |options: &[&str]| engine(&fit(&folder, options), "A")["samples"].as_u64().unwrap();
    let all = samples(&[]);
    assert!(samples(&["--draws", "drop"]) < all && samples(&["--from-ply", "90"]) < all);
}

/// *Good* needs the evidence of 300 games, whatever the interval, and an interval.
#[test]
fn a_good_verdict_has_evidence() {
    let verdicts = |folder: &Folder, more: &[&str]| -> Vec<String> {
        let ran = folder.run(&[&["constant", "t.csv", "--json"], more].concat());
        let document: Value = serde_json::from_str(&ran.out).unwrap_or_default();
        let engines = document["engines"].as_array().cloned().unwrap_or_default();
        engines.iter().map(|engine| engine["verdict"].as_str().unwrap().to_owned()).collect()
    };
    let good = |all: &[String]| all.iter().filter(|verdict| *verdict == "good").count();
    let few = simulated(4, 250, 31, |_| ());
    assert_eq!(good(&verdicts(&few, &[])), 0);
    let many = simulated(4, 900, 32, |_| ());
    assert_eq!(good(&verdicts(&many, &[])), 4);
    // the rising curve has no interval
    assert_eq!(good(&verdicts(&many, &["--model", "isotonic"])), 0);
    // 1,500 games of which one is lost, with scores that say nothing
    let folder = Folder::new();
    let row = |i: u32| {
        let score = (i * 7_919 % 1_201) as i32 - 600;
        format!("g{i},A,B,black,{},{score},{}\n", 31 + i % 60, u8::from(i != 700))
    };
    let head = "game,engine,opponent,color,ply,score_cp,result\n";
    folder.write("t.csv", head.to_owned() + &(0..1_500).map(row).collect::<String>());
    assert_eq!(good(&verdicts(&folder, &[])), 0);
    let ran = folder.run(&["diagnose", "t.csv", "--bands", "0"]);
    assert!(!ran.out.starts_with("Fine"), "{}", ran.out);
}

/// Without its games, a table does not say how narrow an interval may be.
#[test]
fn rows_without_games_are_never_good() {
    let folder = simulated(2, 900, 34, |_| ());
    let table = folder.text("t.csv");
    let of = |ran: &crate::support::Ran, verdict: &str| ran.out.matches(verdict).count();
    let calibrate = ["calibrate", "--dry-run", "t.csv", "--bands", "0"];
    assert_eq!(of(&folder.good(&calibrate), " good"), 2);
    folder.write("t.csv", table.replacen("game", "id", 1));
    let ran = folder.good(&calibrate).says(&["every row counts as a game"]);
    assert_eq!((of(&ran, " good"), of(&ran, "rough: see the warning")), (0, 2), "{}", ran.out);
    let ran = folder.good(&["constant", "t.csv", "--engine", "A"]);
    assert!(ran.out.contains("an interval that is too narrow"), "{}", ran.out);
}

/// Opponents that nobody knows leave the constant open, and hide no worse doubt.
#[test]
fn opponents_of_unknown_strength_are_named_after_what_is_worse() {
    let folder = simulated(2, 900, 34, |_| ());
    let text = folder.text("t.csv");
    let (head, rows) = text.split_once('\n').unwrap();
    let column = |name: &str| head.split(',').position(|column| column == name).unwrap();
    let (game, engine_at, opponent) = (column("game"), column("engine"), column("opponent"));
    let many = |most: usize| {
        let mut out = format!("{head}\n");
        for row in rows.lines() {
            let mut cells: Vec<String> = row.split(',').map(str::to_owned).collect();
            if cells[engine_at] == "A" {
                cells[opponent] = format!("P{}", cells[game]);
                out += &(cells.join(",") + "\n");
            }
        }
        folder.write("t.csv", out.lines().take(most).map(|line| format!("{line}\n")).collect::<String>());
        let document: Value = serde_json::from_str(&folder.run(&["constant", "t.csv", "--json"]).out).unwrap();
        assert_eq!(warnings(engine(&fit(&folder, &[]), "A"), "unknown_opponents").len(), 1);
        document["engines"][0]["verdict"].as_str().unwrap().to_owned()
    };
    assert_eq!([many(usize::MAX), many(100)], ["rough", "too few games"]);
}

/// The first line is the number for a GUI where the games tell it, and else what to do.
#[test]
fn the_first_line_is_honest() {
    let folder = simulated(2, 45, 33, |_| ());
    let ran = folder.run(&["constant", "t.csv", "--engine", "A"]);
    assert!(ran.out.starts_with("too few games to tell: until there are more, 600 is as good"), "{}", ran.out);
    assert!(ran.out.replace('\n', " ").contains("constant --engine COMMAND"), "{}", ran.out);
    // a constant whose interval is below 600
    let folder = simulated(2, 60, 35, |attack| attack.engines[0].constant = 200.0);
    let ran = folder.run(&["constant", "t.csv", "--engine", "A"]);
    assert!(ran.out.starts_with("too few games to tell; without its games"), "{}", ran.out);
    // one that comes without an interval
    let ran = folder.run(&["constant", &root().join("data/published/gikou.json").display().to_string()]);
    assert!(ran.out.starts_with("the file does not say how well its constant is known"), "{}", ran.out);
    let folder = simulated(2, 900, 34, |_| ());
    let ran = folder.good(&["constant", "t.csv", "--engine", "A"]);
    assert!(ran.out.starts_with("ShogiHome's win rate coefficient: "), "{}", ran.out);
}

/// The section of oddities calls nothing unusual only where its list is empty.
#[test]
fn the_answer_of_the_oddities_is_that_of_their_list() {
    for (games, seed, noise) in [(60, 41, true), (400, 42, true), (300, 43, false)] {
        let folder = simulated(3, games, seed, |attack| attack.noise = noise);
        let document = folder.run(&["diagnose", "t.csv", "--bands", "0", "--json"]).document();
        let shown = ["methods_disagree", "not_validated", "ratings_know_the_results"];
        let engines = document["engines"].as_array().unwrap().iter();
        let warned = engines
            .flat_map(|engine| engine["warnings"].as_array().unwrap())
            .any(|warning| !shown.contains(&warning["kind"].as_str().unwrap()));
        let text = folder.run(&["diagnose", "t.csv", "--bands", "0"]).out;
        assert_eq!(warned, !text.contains("nothing unusual found"), "{games} {seed}: {text}");
    }
}
