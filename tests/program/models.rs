//! All models, from `--model` to `winrate`.

use evalcurve::fit::ModelKind;
use serde_json::Value;

use crate::support::{Folder, csv, csv_text, engine, root, warnings};

/// Samples of generated games with ratings that vary from game to game.
fn rated_samples() -> Folder {
    let folder = Folder::new();
    folder.generate("games.csa", &["--games", "400", "--draws", "0.15"]);
    folder.good(&["sample", "games.csa", "--out", "plain.csv"]);
    let (mut head, mut rows) = csv(&folder.text("plain.csv"));
    let column = |name: &str| head.iter().position(|h| h == name).unwrap();
    let (game, color, own, other) = (column("game"), column("color"), column("rating"), column("opponent_rating"));
    for row in &mut rows {
        let black = 2500 + 40 * (row[game].bytes().map(u32::from).sum::<u32>() % 11);
        let (mine, theirs) = if row[color] == "black" { (black, 2700) } else { (2700, black) };
        row[own] = mine.to_string();
        row[other] = theirs.to_string();
    }
    // the ratings are no longer those of the games
    let made = head.iter().position(|name| name == "bradley_terry").unwrap();
    head.remove(made);
    rows.iter_mut().for_each(|row| drop(row.remove(made)));
    folder.write("samples.csv", csv_text(&head, &rows));
    folder
}

/// The first value of `winrate --json`.
fn first(folder: &Folder, arguments: &[&str]) -> Value {
    let out = folder.good(&[&["winrate"], arguments, &["--json"]].concat()).out;
    let document: Value = serde_json::from_str(&out).unwrap();
    document["values"][0].clone()
}

/// The values of `--model` for records without material.
fn models() -> Vec<String> {
    let kinds = ModelKind::calibrations().filter(|kind| !kind.needs().material);
    kinds.map(|kind| kind.as_str().replace('_', "-")).collect()
}

#[test]
fn the_documentation_names_every_model() {
    let text = std::fs::read_to_string(root().join("docs/method.md")).unwrap();
    // the plain sigmoids have a section of their own, not a row of the table
    for kind in ModelKind::calibrations().filter(|kind| kind.method().is_none()) {
        let name = kind.as_str().replace('_', "-");
        assert!(text.contains(&format!("| `{name}` |")), "docs/method.md has no row for {name}");
    }
}

#[test]
fn every_model_goes_from_samples_to_win_rates() {
    let folder = rated_samples();
    for model in models().iter().map(String::as_str) {
        let document = folder.document(&["calibrate", "samples.csv", "--model", model, "--out", model, "--no-plots"]);
        let word = model.replace('-', "_");
        assert_eq!(document["model"], word);
        for name in ["A", "B", "C"] {
            let found = engine(&document, name);
            assert!(found["error"].is_null() && found["warnings"].as_array().unwrap().is_empty(), "{model}: {found:#}");
            let file = found["calibration"].as_str().unwrap();
            let calibration = folder.json(file);
            assert_eq!(calibration["model"]["method"], word);
            // the file has the scores of the model, which is better than the mean result
            let scores = &calibration["proper_scores"];
            let loss = |value: &Value| value["value"].as_f64().unwrap();
            assert!(loss(&scores["log_loss"]) < loss(&scores["baselines"]["constant"]), "{model} {name}: {scores:#}");
            assert_eq!(found["proper_scores"]["log_loss"]["value"], scores["log_loss"]["value"]);
            // win rates increase, and the inverse gives the scores
            let rate = |score: &str| first(&folder, &[file, score])["win_rate"].as_f64().unwrap();
            let rates = ["-600", "-150", "0", "150", "600"].map(rate);
            assert!(
                rates.windows(2).all(|w| w[0] < w[1] || (model == "isotonic" && w[0] <= w[1])),
                "{model}: {rates:?}"
            );
            if model != "isotonic" {
                let back = first(&folder, &[file, "--inverse", &rates[3].to_string()]);
                let score = back["score_cp"].as_f64().unwrap();
                assert!((score - 150.0).abs() < 0.01, "{model} {name}: {score}");
            }
        }
    }
}

#[test]
fn the_situation_affects_the_models_that_use_it() {
    let folder = rated_samples();
    for model in ["strength", "phase", "wdl", "maximum-likelihood"] {
        folder.good(&["calibrate", "samples.csv", "--model", model, "--out", model, "--no-plots", "--quiet"]);
    }
    let rate = |arguments: &[&str]| first(&folder, arguments)["win_rate"].as_f64().unwrap();
    let strength = "strength/A.json";
    let w3 = folder.json(strength)["model"]["w3"].as_f64().unwrap();
    let logit = |p: f64| (p / (1.0 - p)).ln();
    let [even, better] = ["0", "173.717792761"].map(|d| logit(rate(&[strength, "200", "--rating-difference", d])));
    // 173.7 Elo points are one logit
    assert!((better - even - w3).abs() < 1e-6, "{even} {better} {w3}");
    assert_eq!(rate(&[strength, "200"]), rate(&["--rating-difference=0", strength, "200"]));
    let [early, late] = ["30", "150"].map(|ply| rate(&["phase/A.json", "200", "--ply", ply]));
    assert!(early != late);
    assert!(rate(&["wdl/A.json", "200", "--ply", "30"]) != rate(&["wdl/A.json", "200", "--ply", "150"]));
    for (file, flag) in [
        ("maximum-likelihood/A.json", "--rating-difference"),
        ("strength/A.json", "--ply"),
        ("wdl/A.json", "--material"),
    ] {
        folder.run(&["winrate", file, "200", flag, "40"]).ends(2).says(&[flag, "does not use it", "--model"]);
    }
    folder.run(&["winrate", strength, "200", "--rating-difference"]).ends(2).says(&["--rating-difference"]);
    // targets that cannot hold the model are refused, and what is lost is reported
    folder.run(&["export", "wdl/A.json", "--to", "ponanza"]).ends(2).says(&["wdl", "expects a sigmoid"]);
    assert!(folder.good(&["export", strength, "--to", "ponanza"]).out.contains("strength, between equals"));
}

#[test]
fn auto_chooses_one_model_for_all_and_reports_the_scores() {
    let folder = rated_samples();
    let document = folder.document(&["calibrate", "samples.csv", "--model", "auto", "--no-plots"]);
    // the records follow a sigmoid, and the ratings are random
    assert_eq!(document["choice"]["model"], "maximum_likelihood", "{:#}", document["choice"]);
    let candidates = document["choice"]["candidates"].as_array().unwrap();
    let of = |name: &str| candidates.iter().find(|c| c["model"] == name).unwrap();
    assert!(of("strength")["log_loss"]["value"].is_number());
    assert!(of("shared_600")["behind_best"]["value"].as_f64().unwrap() > 0.0);
    let file = folder.json(engine(&document, "A")["calibration"].as_str().unwrap());
    assert!(file["models"]["isotonic"]["points"].is_array() && file["models"]["beta"]["covariance"].is_array());
    // ratings made from these very games are not considered
    let own = folder.document(&["fit", "games.csa", "--model", "auto"]);
    let strength = own["choice"]["candidates"].as_array().unwrap().iter().find(|c| c["model"] == "strength").unwrap();
    assert!(strength["not_considered"].as_str().unwrap().contains("no ratings"), "{strength:#}");
    let out = folder.good(&["fit", "games.csa", "--model", "auto"]).out;
    assert!(out.contains("* maximum_likelihood"), "{out}");
}

#[test]
fn a_model_is_not_scored_where_that_is_not_wanted() {
    let folder = rated_samples();
    let document = folder.document(&["calibrate", "samples.csv", "--folds", "0", "--no-plots"]);
    let found = engine(&document, "A");
    assert!(found["proper_scores"].is_null());
    assert!(folder.json(found["calibration"].as_str().unwrap())["proper_scores"].is_null());
    folder.run(&["fit", "samples.csv", "--folds", "1"]).ends(2).says(&["--folds", "2 or more"]);
}

/// Losses on time at scores of ±10,000 halve the plain sigmoid's slope. The lapse rate explains them, the warning says
/// in which games they are, and these games can be left out.
#[test]
fn losses_on_time_are_lapses() {
    let folder = Folder::new();
    let truth = ["--engine", "A:0.004:0.0", "--engine", "B:0.006:-0.4"];
    let games = ["--games", "1000", "--plies", "150", "--draws", "0.4", "--time-losses", "0.01"];
    folder.generate("games.pgn", &[&truth[..], &games].concat());
    let calibrate = |model: &str, terminations: &str| {
        let options = ["--mate-threshold", "31000", "--min-samples", "300", "--no-plots", "--force", "--out", model];
        let how = ["calibrate", "games.pgn", "--model", model, "--terminations", terminations];
        folder.document(&[&how[..], &options].concat())
    };
    let plain_slope =
        |document: &Value, name: &str| engine(document, name)["maximum_likelihood"]["w1"].as_f64().unwrap();
    let all = calibrate("lapse", "played");
    for (name, w1) in [("A", 0.004), ("B", 0.006)] {
        let plain = plain_slope(&all, name);
        let lapse = folder.json(&format!("lapse/{name}.json"))["model"]["w1"].as_f64().unwrap();
        assert!(plain < 0.6 * w1, "{name}: {plain}");
        assert!((lapse / w1 - 1.0).abs() < 0.15, "{name}: {lapse}");
        let text = warnings(engine(&all, name), "methods_disagree").concat();
        assert!(text.contains("of the samples whose games ended by time up"), "{text}");
        assert!(text.contains("--terminations board"), "{text}");
    }
    let board = calibrate("maximum-likelihood", "board");
    let of = |document: &Value, what: &str| document["games"][what].as_u64().unwrap();
    let left_out = folder.text("games.pgn").matches("time forfeit").count() as u64;
    assert!(left_out > 5 && of(&all, "used") - of(&board, "used") == left_out, "{left_out}");
    for (name, w1) in [("A", 0.004), ("B", 0.006)] {
        let plain = plain_slope(&board, name);
        assert!((plain / w1 - 1.0).abs() < 0.15, "{name}: {plain}");
    }
    folder.run(&["inspect", "games.pgn", "--terminations", "toryo"]).ends(2).says(&["'toryo' is not a termination"]);
}
