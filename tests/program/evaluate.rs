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
    folder.run(&["calibrate", &data, "--forecasts", "f.csv", "--out", "c"]).ends(2).says(&["cannot be used with"]);
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
    folder.run(&["evaluate", "old/A.json", "new.csa", "--tolerance", "0%"]).ends(2).says(&["a tolerance of 0% is not"]);
    folder
        .good(&["evaluate", "old", "old.csa"])
        .says(&["old/A.json was made from these very samples", "old/B.json was"]);
    folder.write("second/A.json", folder.read("old/A.json"));
    let out = folder.good(&["evaluate", "old/A.json", "second/A.json", "new.csa"]).out;
    for line in ["1 A ", "2 A ", "1: old/A.json", "2: second/A.json"] {
        assert!(out.lines().any(|l| l.starts_with(line)), "{line}: {out}");
    }
}

/// Forecasts of two models for games of two samples each: `mine` is bold, `theirs` knows the truth less well.
fn forecasts(mine: &mut String, theirs: &mut String) {
    mine.push_str("game,ply,result,win_rate\n");
    theirs.push_str("ply,result,win_rate,game\n");
    for game in 0..400_u32 {
        for ply in [40, 41] {
            let ahead = (game + ply) % 2 == 0;
            // three of four games end as the sign says
            let result = u32::from(ahead == (game % 8 < 6));
            let (bold, vague) = if ahead { (0.95, 0.6) } else { (0.05, 0.4) };
            *mine += &format!("g{game},{ply},{result},{bold}\n");
            *theirs += &format!("{ply},{result},{vague},g{game}\n");
        }
    }
}

#[test]
fn forecasts_of_any_model_are_judged() {
    let folder = Folder::new();
    let (mut mine, mut theirs) = (String::new(), String::new());
    forecasts(&mut mine, &mut theirs);
    // the rows of the other table in another order: game and ply tell which is which
    let mut lines: Vec<&str> = theirs.lines().collect();
    lines[1..].reverse();
    folder.write("mine.csv", mine);
    folder.write("theirs.csv", lines.join("\n") + "\n");
    let tables = ["evaluate", "--forecasts", "mine.csv", "--forecasts", "theirs.csv"];
    let document = folder.document(&[&tables[..], &["--figures", "out"]].concat());
    assert_eq!(document["format"], "evalcurve-forecasts");
    let [mine, theirs] = [0, 1].map(|i| &document["models"][i]);
    assert_eq!((&mine["name"], &theirs["name"], &mine["games"]), (&"mine".into(), &"theirs".into(), &400.into()));
    let loss = |right: f64| -0.75 * right.ln() - 0.25 * (1.0 - right).ln();
    for (model, right, slope) in
        [(mine, 0.95_f64, 3.0_f64.ln() / 19.0_f64.ln()), (theirs, 0.6, 3.0_f64.ln() / 1.5_f64.ln())]
    {
        let value = |name: &str| model[name]["value"].as_f64().unwrap();
        assert!((value("log_loss") - loss(right)).abs() < 1e-8, "{model:#}");
        assert!((value("brier") - (0.75 * (1.0 - right).powi(2) + 0.25 * right.powi(2))).abs() < 1e-8, "{model:#}");
        assert!((value("slope") - slope).abs() < 1e-6, "{model:#}");
        assert!((value("discrimination") - 0.0625).abs() < 1e-8 && (value("uncertainty") - 0.25).abs() < 1e-8);
    }
    assert_eq!((&mine["verdict"], &theirs["verdict"]), (&"too bold".into(), &"too cautious".into()));
    let pair = &document["differences"][0];
    assert_eq!((&pair["samples"], &pair["p"]), (&800.into(), &pair["p_holm"]));
    assert!((pair["log_loss"]["value"].as_f64().unwrap() - loss(0.95) + loss(0.6)).abs() < 1e-8, "{pair}");
    for file in ["out/mine-reliability.svg", "out/theirs-reliability.png", "out/mine-reliability.csv"] {
        assert!(!folder.read(file).is_empty(), "{file}");
    }
    let ran = folder.good(&[&tables[..], &["--threads", "1"]].concat());
    assert!(ran.out.contains("1,600 rows read = 1,600 used + 0 skipped"), "{}", ran.out);
    assert!(ran.out.lines().any(|line| line.starts_with("mine - theirs") && line.ends_with("theirs")), "{}", ran.out);
    assert_eq!(folder.document(&[&tables[..], &["--threads", "3"]].concat()), folder.document(&tables));
}

/// The forecasts that `fit` writes are judged as `fit` judges them, from CSV and from Parquet.
#[test]
fn own_forecasts_come_back() {
    let data = project_data("selfplay");
    let folder = Folder::new();
    let fit = ["calibrate", "--dry-run", &data, "--mate-threshold", "auto", "--engine", "sekirei", "--forecasts"];
    let document = folder.document(&[&fit[..], &["a.csv"]].concat());
    folder.good(&[&fit[..], &["a.parquet"]].concat());
    let expected = &document["engines"][0]["proper_scores"];
    let judged =
        ["a.csv", "a.parquet"].map(|file| folder.document(&["evaluate", "--forecasts", file])["models"][0].clone());
    assert_eq!(judged[0], judged[1]);
    for name in ["log_loss", "brier", "slope", "miscalibration", "ece"] {
        let value = |of: &Value| of[name]["value"].as_f64().unwrap();
        let (found, expected) = (value(&judged[0]), value(expected));
        assert!((found - expected).abs() < 1e-6 * expected.max(1e-2), "{name}: {found} is not {expected}");
    }
}

#[test]
fn tables_of_forecasts_that_cannot_be_used_say_why() {
    let folder = Folder::new();
    folder.write("none.csv", "game,result\na,1\n");
    folder.write("no-result.csv", "game,win_rate\na,0.5\n");
    folder.write("both.csv", "model,win_rate,win_rate_b,result\nx,0.5,0.4,1\n");
    folder.write(
        "bad.csv",
        "game,win,draw,loss,result\na,0.5,0.1,0.4,1\nb,0.5,0.1,0.1,0\nc,50,10,40,0\nd,0.2,0.2,0.6,0\n",
    );
    for (arguments, message) in [
        (vec!["--forecasts", "none.csv"], "none.csv: no column 'win_rate'; a table of forecasts needs win_rate"),
        (vec!["--forecasts", "no-result.csv"], "no-result.csv: no column 'result'; it says who won"),
        (vec!["--forecasts", "both.csv"], "the models are named by the column 'model' and by win_rate_NAME"),
        (vec!["--forecasts", "missing.csv"], "missing.csv"),
        (vec!["--forecasts", "none.csv", "games.csa"], "cannot be used with"),
        (vec![], "no calibration"),
    ] {
        let ran = folder.run(&[&["evaluate"][..], &arguments].concat());
        assert!(ran.code == Some(2) && ran.err.contains(message), "{arguments:?}: {}", ran.err);
    }
    let ran = folder.good(&["evaluate", "--forecasts", "bad.csv"]);
    assert!(ran.out.contains("4 rows read = 2 used + 2 skipped"), "{}", ran.out);
    assert!(
        ran.err.contains("bad.csv:3: bad win rate: the row needs wins, draws and losses that sum to 1"),
        "{}",
        ran.err
    );
}
