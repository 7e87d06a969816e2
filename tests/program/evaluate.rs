//! `evalcurve evaluate`, `calibrate --forecasts`, and games in the rows of a table.

use evalcurve_testkit::attack::{Attack, Simulated, csv as csv_of};
use serde_json::Value;

use crate::support::{Folder, csv, project_data};

/// The column of a CSV text with this name.
fn column(text: &str, name: &str) -> Vec<String> {
    let (head, rows) = csv(text);
    let at = head.iter().position(|h| h == name).unwrap_or_else(|| panic!("no {name} in {head:?}"));
    rows.into_iter().map(|row| row[at].clone()).collect()
}

#[test]
fn forecasts_are_those_that_the_scores_judge() {
    let data = project_data("selfplay");
    let folder = Folder::new();
    let options = [
        "calibrate",
        "--dry-run",
        &data,
        "--mate-threshold",
        "auto",
        "--bands",
        "0",
        "--forecasts",
        "out/forecasts.csv",
    ];
    let document = folder.document(&options);
    let text = folder.text("out/forecasts.csv");
    let numbers = |name: &str| column(&text, name).iter().map(|x| x.parse().unwrap()).collect::<Vec<f64>>();
    let (p, y, names) = (numbers("win_rate"), numbers("result"), column(&text, "engine"));
    let folds = numbers("fold");
    assert!(folds.iter().all(|fold| (1.0..=5.0).contains(fold)) && folds.contains(&1.0) && folds.contains(&5.0));
    let mut seen = 0;
    for engine in document["engines"].as_array().unwrap() {
        let Some(expected) = engine["proper_scores"]["log_loss"]["value"].as_f64() else { continue };
        let rows: Vec<usize> = (0..p.len()).filter(|&i| names[i] == engine["name"].as_str().unwrap()).collect();
        assert_eq!(rows.len() as u64, engine["fitted"].as_u64().unwrap());
        let loss = |&i: &usize| -(y[i] * p[i].ln() + (1.0 - y[i]) * (1.0 - p[i]).ln());
        let mean = rows.iter().map(loss).sum::<f64>() / rows.len() as f64;
        assert!((mean / expected - 1.0).abs() < 1e-6, "{}: {mean} is not {expected}", engine["name"]);
        seen += 1;
    }
    assert!(seen >= 4, "{seen} engines");
    // a game is in one fold
    let games = column(&text, "game");
    let mut fold_of = std::collections::BTreeMap::new();
    games.iter().zip(&folds).for_each(|(game, fold)| assert_eq!(fold_of.entry(game).or_insert(fold), &fold));

    let ran = folder.run(&options);
    assert!(ran.code == Some(2) && ran.err.contains("out/forecasts.csv: the file exists"), "{}", ran.err);
    let ran = folder.run(&["calibrate", "--dry-run", &data, "--forecasts", "out.txt"]);
    assert!(ran.code == Some(2) && ran.err.contains("must end in .parquet or .csv"), "{}", ran.err);
    folder.good(&["calibrate", "--dry-run", &data, "--mate-threshold", "auto", "--forecasts", "out.parquet"]);
    assert!(folder.read("out.parquet").starts_with(b"PAR1"));
}

#[test]
fn a_calibration_is_judged_on_new_games() {
    let folder = Folder::new();
    let games = |file: &str, seed: &str, more: &[&str]| {
        folder.generate(file, &[&["--games", "1500", "--seed", seed], more].concat());
    };
    games("old.csa", "1", &[]);
    games("new.csa", "2", &[]);
    let fit = ["--model", "maximum-likelihood", "--no-plots", "--out", "old"];
    folder.good(&[&["calibrate", "old.csa"], &fit[..]].concat());
    let document = folder.document(&["evaluate", "old/A.json", "old/B.json", "new.csa"]);
    assert_eq!(document["format"], "evalcurve-evaluation");
    for (engine, name) in document["engines"].as_array().unwrap().iter().zip(["A", "B"]) {
        assert_eq!(engine["name"], name);
        // the games have the w1 and w2 of those that the file was made from
        let slope = &engine["slope"];
        let (low, high) = (slope["interval"][0].as_f64().unwrap(), slope["interval"][1].as_f64().unwrap());
        assert!(low < 1.05 && high > 0.95 && high - low < 0.4, "{slope}");
        assert!(engine["against_constant"]["interval"][1].as_f64().unwrap() < 0.0, "{engine:#}");
        assert!(engine["reliability"].as_array().unwrap().len() > 3);
    }
    let ran = folder.good(&["evaluate", "old/A.json", "new.csa"]);
    assert!(ran.out.contains("verdict") && ran.out.lines().any(|line| line.starts_with("A ")), "{}", ran.out);

    // a calibration with twice the slope is too bold
    let text = folder.text("old/A.json");
    let w1 = folder.json("old/A.json")["models"]["maximum_likelihood"]["w1"].as_f64().unwrap();
    let bold = text.replace(&format!("\"w1\": {w1}"), &format!("\"w1\": {:.9}", 2.0 * w1));
    assert_ne!(bold, text);
    folder.write("bold.json", bold);
    let document = folder.document(&["evaluate", "bold.json", "new.csa"]);
    assert_eq!(document["engines"][0]["verdict"], "too bold");

    for (arguments, message) in [
        (vec!["evaluate", "new.csa"], "no calibration: give the file of an engine"),
        (vec!["evaluate", "old/A.json"], "no games: give records or a sample table after the calibration"),
        (vec!["evaluate", "old/A.json", "new.csa", "--alias", "A=Z"], "no engine of the games matches 'A'; nearest: "),
    ] {
        let ran = folder.run(&arguments);
        assert!(ran.code == Some(2) && ran.err.contains(message), "{arguments:?}: {}", ran.err);
    }
}

/// A file knows the strengths of its players: other opponents are another field, not another scale.
#[test]
fn strengths_of_the_file_tell_another_field_from_another_scale() {
    let folder = Folder::new();
    let mut attack = Attack::clean(6, 1000, 41);
    attack.engines.iter_mut().zip([0.0, 1.5, 1.0, -0.5, -1.0, -1.5]).for_each(|(engine, s)| engine.strength = s);
    folder.write("old.csv", csv_of(&attack.samples(0)));
    // the first engine meets only the strong ones
    let strong = |s: &Simulated| s.players.iter().all(|player| *player < 3);
    let new: Vec<Simulated> = attack.samples(1).into_iter().filter(strong).collect();
    folder.write("new.csv", csv_of(&new));
    folder.good(&["calibrate", "old.csv", "--bands", "0", "--no-plots", "--out", "old"]);
    let file = folder.json("old/A.json");
    let judged = |changed: Value| -> Value {
        folder.write("A.json", changed.to_string());
        folder.document(&["evaluate", "A.json", "new.csv"])["engines"][0].clone()
    };
    let engine = judged(file.clone());
    assert_eq!((&engine["verdict"], &engine["known_opponents"]), (&"no error seen".into(), &engine["samples"]));
    let inside = |name: &str, value: f64| {
        let [low, high] = [0, 1].map(|i| engine[name]["interval"][i].as_f64().unwrap());
        assert!(low < value && value < high && high - low < 1.0, "{name}: {}", engine[name]);
    };
    inside("scale", 1.0);
    inside("shift", 0.0);
    let mut unknown = file.clone();
    unknown["provenance"]["opponents"].as_array_mut().unwrap().iter_mut().for_each(|o| o["strength"] = Value::Null);
    let engine = judged(unknown);
    assert_eq!(engine["known_opponents"], 0);
    assert!(engine["shift"]["interval"][1].as_f64().unwrap() < 0.0, "{engine:#}");
    let mut bold = file;
    for model in [&["model"][..], &["models", "joint"]] {
        let model = model.iter().fold(&mut bold, |value, key| &mut value[*key]);
        model["w1"] = (2.0 * model["w1"].as_f64().unwrap()).into();
    }
    assert_eq!(judged(bold)["verdict"], "too bold");
}

/// Games with evaluations, as the rows of a CSV table with the tags in columns, and as PGN.
fn lichess_like() -> (String, String) {
    let (mut table, mut pgn) =
        ("White,Black,Result,WhiteElo,BlackElo,UTCDate,Opening,movetext\n".to_owned(), String::new());
    for game in 0..60 {
        let (result, sign) = [("1-0", 1), ("0-1", -1), ("1/2-1/2", 0)][game % 3];
        let moves = ["Nf3", "Nf6", "Ng1", "Ng8"];
        let one = |ply: usize| {
            let number =
                if ply.is_multiple_of(2) { format!("{}.", ply / 2 + 1) } else { format!("{}...", ply / 2 + 1) };
            let eval = f64::from(sign * (ply as i32 % 30)) / 10.0 + (game % 7) as f64 / 10.0;
            format!("{number} {} {{ [%eval {eval:.2}] }}", moves[ply % 4])
        };
        let movetext = (0..90).map(one).collect::<Vec<_>>().join(" ");
        let (white, black, date) =
            (format!("w{game}"), format!("b{}", game % 5), format!("2024-02-{:02}", game % 28 + 1));
        table += &format!("{white},{black},{result},1700,1650,{date},\"A, B\",\"{movetext} {result}\"\n");
        for (tag, value) in [("White", &white), ("Black", &black), ("UTCDate", &date)] {
            pgn += &format!("[{tag} \"{value}\"]\n");
        }
        pgn += &format!("[Result \"{result}\"]\n[WhiteElo \"1700\"]\n[BlackElo \"1650\"]\n\n{movetext} {result}\n\n");
    }
    (table, pgn)
}

#[test]
fn games_in_the_rows_of_a_table_are_read() {
    let folder = Folder::new();
    let (table, pgn) = lichess_like();
    folder.write("games.csv", &table);
    folder.write("games.pgn", &pgn);
    let sample = |input: &str, out: &str| {
        // every game has the same moves
        let options = ["--annotator", "Stockfish", "--duplicates", "by-identity", "--out", out];
        folder.good(&[&["sample", input][..], &options].concat())
    };
    let ran = sample("games.csv", "rows.csv");
    assert!(ran.out.contains("60 read = 60 used"), "{}", ran.out);
    sample("games.pgn", "file.csv");
    let (rows, file) = (folder.text("rows.csv"), folder.text("file.csv"));
    for name in ["game", "engine", "color", "ply", "score_cp", "result", "rating", "start_time", "termination"] {
        let (rows, file) = (column(&rows, name), column(&file, name));
        assert!(rows.len() > 150 && rows == file, "{name}");
    }
    // a line is a row
    let lines: Vec<u64> = column(&rows, "line").iter().map(|line| line.parse().unwrap()).collect();
    assert!(lines.iter().all(|line| (1..=60).contains(line)));
    assert!(column(&rows, "source").iter().all(|source| source.ends_with("games.csv")));

    // in a folder, among other files, and with damaged rows
    let damaged = table.replacen("1. Nf3", "1. what?", 1) + "w,b,1-0,1,1,2024-01-01,x,\n";
    folder.write("all/games.csv", damaged);
    let document = folder.document(&[
        "sample",
        "all",
        "--annotator",
        "Stockfish",
        "--duplicates",
        "by-identity",
        "--out",
        "all.csv",
    ]);
    let games = &document["games"];
    assert_eq!((games["read"].as_u64(), games["used"].as_u64()), (Some(61), Some(59)), "{games}");
    let problems = document["problems"].as_array().unwrap();
    assert!(problems.iter().any(|p| p["line"] == 1) && problems.iter().any(|p| p["line"] == 61), "{problems:?}");
}

/// For a CI: the exit code, the games of the fit, and two files of one name.
#[test]
fn a_ci_gets_an_exit_code() {
    let folder = Folder::new();
    for (file, seed, w1) in [("old.csa", "1", "0.002"), ("new.csa", "2", "0.002"), ("moved.csa", "3", "0.004")] {
        let truth = format!("A:{w1}:0");
        folder.generate(file, &["--games", "3000", "--seed", seed, "--engine", &truth, "--engine", "B:0.002:0"]);
    }
    folder.generate("few.csa", &["--games", "40", "--seed", "4", "--engine", "A:0.002:0", "--engine", "B:0.002:0"]);
    folder.good(&["calibrate", "old.csa", "--no-plots", "--out", "old", "--quiet"]);
    let evaluate =
        |file: &str, tolerance: &str| folder.run(&["evaluate", "old/A.json", file, "--tolerance", tolerance]);
    assert!(!evaluate("new.csa", "25").ends(0).err.contains("from these very samples"));
    evaluate("moved.csa", "25").ends(1);
    evaluate("few.csa", "10").ends(3);
    folder.good(&["evaluate", "old/A.json", "moved.csa"]);
    folder
        .run(&["evaluate", "old/A.json", "new.csa", "--tolerance", "0"])
        .ends(2)
        .says(&["a tolerance of 0% is not valid"]);
    folder
        .good(&["evaluate", "old", "old.csa"])
        .says(&["old/A.json was made from these very samples", "old/B.json was"]);
    folder.write("second/A.json", folder.read("old/A.json"));
    let out = folder.good(&["evaluate", "old/A.json", "second/A.json", "new.csa"]).out;
    for line in ["1 A ", "2 A ", "1: old/A.json", "2: second/A.json"] {
        assert!(out.lines().any(|l| l.starts_with(line)), "{line}: {out}");
    }
}
