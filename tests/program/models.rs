//! Models beside the plain sigmoids, from `--model` to `winrate`.

use serde_json::Value;

use crate::support::{Folder, csv, csv_text, engine};

/// Samples of generated games, with ratings that differ from game to game.
fn rated_samples() -> Folder {
    let folder = Folder::new();
    folder.generate("games.csa", &["--games", "400", "--draws", "0.15"]);
    folder.good(&["sample", "games.csa", "--out", "plain.csv"]);
    let (head, mut rows) = csv(&folder.text("plain.csv"));
    let column = |name: &str| head.iter().position(|h| h == name).unwrap();
    let (game, color, own, other) = (column("game"), column("color"), column("rating"), column("opponent_rating"));
    for row in &mut rows {
        let black = 2500 + 40 * (row[game].bytes().map(u32::from).sum::<u32>() % 11);
        let (mine, theirs) = if row[color] == "black" { (black, 2700) } else { (2700, black) };
        row[own] = mine.to_string();
        row[other] = theirs.to_string();
    }
    folder.write("samples.csv", csv_text(&head, &rows));
    folder
}

/// What `winrate --json` says of the first value.
fn first(folder: &Folder, arguments: &[&str]) -> Value {
    let out = folder.good(&[&["winrate"], arguments, &["--json"]].concat()).out;
    let document: Value = serde_json::from_str(&out).unwrap();
    document["values"][0].clone()
}

const MODELS: [&str; 8] =
    ["least-squares", "maximum-likelihood", "strength", "strength-shared", "phase", "isotonic", "beta", "wdl"];

#[test]
fn every_model_goes_from_samples_to_win_rates() {
    let folder = rated_samples();
    for model in MODELS {
        let document = folder.document(&["calibrate", "samples.csv", "--model", model, "--out", model, "--no-plots"]);
        let word = model.replace('-', "_");
        assert_eq!(document["model"], word);
        for name in ["A", "B", "C"] {
            let found = engine(&document, name);
            assert!(found["error"].is_null() && found["warnings"].as_array().unwrap().is_empty(), "{model}: {found:#}");
            let file = found["calibration"].as_str().unwrap();
            let calibration = folder.json(file);
            assert_eq!(calibration["model"]["method"], word);
            // the file says how the model did, and that it beats no model at all
            let scores = &calibration["proper_scores"];
            let loss = |value: &Value| value["value"].as_f64().unwrap();
            assert!(loss(&scores["log_loss"]) < loss(&scores["baselines"]["constant"]), "{model} {name}: {scores:#}");
            assert_eq!(found["proper_scores"]["log_loss"]["value"], scores["log_loss"]["value"]);
            // win rates rise, and go back to their scores
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
fn the_situation_moves_the_models_that_know_it() {
    let folder = rated_samples();
    for model in ["strength", "phase", "wdl", "maximum-likelihood"] {
        folder.good(&["calibrate", "samples.csv", "--model", model, "--out", model, "--no-plots", "--quiet"]);
    }
    let rate = |arguments: &[&str]| first(&folder, arguments)["win_rate"].as_f64().unwrap();
    let strength = "strength/A.json";
    let w3 = folder.json(strength)["model"]["w3"].as_f64().unwrap();
    let logit = |p: f64| (p / (1.0 - p)).ln();
    let [even, better] = ["0", "173.717792761"].map(|d| logit(rate(&[strength, "200", "--rating-difference", d])));
    // 173.7 points are a logit
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
        folder.run(&["winrate", file, "200", flag, "40"]).ends(2).says(&[flag, "knows nothing of it", "--model"]);
    }
    folder.run(&["winrate", strength, "200", "--rating-difference"]).ends(2).says(&["--rating-difference"]);
    // what targets cannot hold is said
    folder.run(&["export", "wdl/A.json", "--to", "ponanza"]).ends(2).says(&["wdl", "expects a sigmoid"]);
    assert!(folder.good(&["export", strength, "--to", "ponanza"]).out.contains("strength, between equals"));
}

#[test]
fn auto_chooses_one_model_for_all_and_says_how() {
    let folder = rated_samples();
    let document = folder.document(&["calibrate", "samples.csv", "--model", "auto", "--no-plots"]);
    // the truth of the records is a sigmoid, and the ratings are invented
    assert_eq!(document["choice"]["model"], "maximum_likelihood", "{:#}", document["choice"]);
    let candidates = document["choice"]["candidates"].as_array().unwrap();
    let of = |name: &str| candidates.iter().find(|c| c["model"] == name).unwrap();
    assert!(of("strength")["log_loss"]["value"].is_number());
    assert!(of("shared_600")["behind_best"]["value"].as_f64().unwrap() > 0.0);
    let file = folder.json(engine(&document, "A")["calibration"].as_str().unwrap());
    assert!(file["models"]["isotonic"]["points"].is_array() && file["models"]["beta"]["covariance"].is_array());
    // ratings made from these very games are no rivals
    let own = folder.document(&["fit", "games.csa", "--model", "auto"]);
    let strength = own["choice"]["candidates"].as_array().unwrap().iter().find(|c| c["model"] == "strength").unwrap();
    assert!(strength["not_considered"].as_str().unwrap().contains("no ratings"), "{strength:#}");
    let out = folder.good(&["fit", "games.csa", "--model", "auto"]).out;
    assert!(out.contains("* maximum_likelihood"), "{out}");
}

#[test]
fn a_model_is_not_judged_where_that_is_not_wanted() {
    let folder = rated_samples();
    let document = folder.document(&["calibrate", "samples.csv", "--folds", "0", "--no-plots"]);
    let found = engine(&document, "A");
    assert!(found["proper_scores"].is_null());
    assert!(folder.json(found["calibration"].as_str().unwrap())["proper_scores"].is_null());
    folder.run(&["fit", "samples.csv", "--folds", "1"]).ends(2).says(&["--folds", "2 or more"]);
}
