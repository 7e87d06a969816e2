//! Engines that cannot be calibrated, and warnings.

use serde_json::{Value, json};

use crate::support::{Folder, csv, csv_text, engine, names, project_data, warnings};

/// The sample table of generated records after `change` was applied to every row: `(score_cp, result, color, engine)`.
fn edited(folder: &Folder, more: &[&str], mut change: impl FnMut(&mut Row)) {
    folder.generate("games.csa", &[&["--games", "600", "--force"], more].concat());
    folder.good(&["sample", "games.csa", "--out", "plain.csv", "--force"]);
    let (head, mut rows) = csv(&folder.text("plain.csv"));
    let column = |name: &str| head.iter().position(|h| h == name).unwrap();
    let (engine, score, result, mate) = (column("engine"), column("score_cp"), column("result"), column("mate"));
    for cells in &mut rows {
        let mut row = Row {
            engine: cells[engine].clone(),
            score: cells[score].parse().unwrap(),
            result: cells[result].clone(),
            mate: cells[mate] == "true",
        };
        change(&mut row);
        cells[score] = row.score.to_string();
        cells[result] = row.result;
    }
    folder.write("samples.csv", csv_text(&head, &rows));
}

struct Row {
    engine: String,
    score: i64,
    result: String,
    mate: bool,
}

fn kinds(engine: &Value) -> Vec<&str> {
    engine["warnings"].as_array().unwrap().iter().map(|w| w["kind"].as_str().unwrap()).collect()
}

#[test]
fn an_engine_that_won_every_game_has_its_own_error() {
    let folder = Folder::new();
    edited(&folder, &[], |row| {
        if row.engine == "B" {
            row.result = "1.0".to_owned();
        }
    });
    let document = folder.document(&["calibrate", "samples.csv", "--out", "out", "--no-plots"]);
    let winner = engine(&document, "B");
    assert!(winner["error"].as_str().unwrap().contains("is a win"), "{winner:#}");
    assert!(winner["calibration"].is_null() && !folder.at("out/B.json").exists());
    for name in ["A", "C"] {
        assert!(engine(&document, name)["error"].is_null());
        assert!(folder.at(&format!("out/{name}.json")).exists());
    }
    // ... and in the table
    let out = folder.good(&["calibrate", "--dry-run", "samples.csv"]).out;
    assert!(out.lines().any(|l| l.starts_with("B ") && l.contains("not calibrated: every one")), "{out}");
}

#[test]
fn nothing_calibrated_is_exit_code_1() {
    let folder = Folder::new();
    // A won every game and the others lost every game, so no engine has both results
    edited(&folder, &[], |row| row.result = if row.engine == "A" { "1.0" } else { "0.0" }.to_owned());
    let ran = folder.run(&["calibrate", "samples.csv", "--out", "out", "--no-plots", "--json"]).ends(1);
    let document = ran.document();
    assert_eq!(names(&document), ["A", "B", "C"]);
    for one in document["engines"].as_array().unwrap() {
        let error = one["error"].as_str().unwrap_or_else(|| panic!("no error: {one:#}"));
        assert!(error.contains(if one["name"] == "A" { "is a win" } else { "is a loss" }), "{}: {error}", one["name"]);
        assert!(one["calibration"].is_null());
    }
    ran.says(&["no engine could be calibrated"]);
    assert!(!folder.at("out").exists());
}

/// GPSShogi won nearly every game against these four. Engines with losses only get an error; the others are calibrated.
#[test]
fn one_sided_games_calibrate_those_who_have_both_results() {
    let data = project_data("selfplay/versus-strong");
    let folder = Folder::new();
    let document = folder.document(&["calibrate", &data, "--out", "out", "--min-samples", "20", "--no-plots"]);
    assert_eq!(names(&document), ["Fairy-Stockfish", "GPSShogi", "sekirei", "sjaakii", "zshogi"]);
    let mut one_sided = 0;
    for one in document["engines"].as_array().unwrap() {
        let rate = one["win_rate"].as_f64().unwrap();
        let only = if rate == 0.0 { Some("is a loss") } else { (rate == 1.0).then_some("is a win") };
        assert_eq!(one["error"].is_string(), only.is_some(), "{one:#}");
        // a slope that may be 0 is fitted, but not written
        let warnings = one["warnings"].as_array().unwrap();
        let refused = warnings.iter().any(|warning| warning["kind"] == "slope_may_be_zero");
        assert_eq!(one["calibration"].is_null(), only.is_some() || refused, "{one:#}");
        if let Some(word) = only {
            assert!(one["error"].as_str().unwrap().contains(word), "{}", one["error"]);
            one_sided += 1;
        }
    }
    assert!(one_sided > 0, "no engine has one result only: the test shows nothing any more");
}

#[test]
fn a_winner_of_every_game_does_not_prevent_other_calibrations() {
    let data = project_data("selfplay");
    let folder = Folder::new();
    let (even, strong) = (format!("{data}/*.csa"), format!("{data}/versus-strong/*Fairy-Stockfish*"));
    let document = folder.document(&["calibrate", &even, &strong, "--out", "out", "--no-plots"]);
    assert_eq!(names(&document), ["Fairy-Stockfish", "GPSShogi", "sekirei", "sjaakii", "zshogi"]);
    for one in document["engines"].as_array().unwrap() {
        let winner = one["name"] == "GPSShogi";
        assert_eq!(one["error"].as_str().is_some_and(|e| e.contains("is a win")), winner, "{one:#}");
        assert_eq!(one["calibration"].is_null(), winner);
    }
}

#[test]
fn too_few_samples_are_an_error_that_names_the_option() {
    let folder = Folder::new();
    folder.generate("games.csa", &["--games", "60"]);
    let ran = folder.run(&["calibrate", "--dry-run", "games.csa", "--min-samples", "101", "--json"]).ends(1);
    for one in ran.document()["engines"].as_array().unwrap() {
        let error = one["error"].as_str().unwrap();
        assert!(error.starts_with("100 sample") && error.contains("101"), "{error}");
    }
    folder.good(&["calibrate", "--dry-run", "games.csa", "--min-samples", "100"]);
    // the table mentions them in one line
    let ran = folder.run(&["calibrate", "--dry-run", "games.csa", "--min-samples", "101"]).ends(1);
    assert!(
        ran.out.contains(
            "3 engines with fewer than 101 samples (--min-samples) or 30 games (--min-games) are not calibrated:"
        ),
        "{}",
        ran.out
    );
    // with what is too few of each: of 60 games among three players, each has 40
    for (options, few) in [
        (&["--min-samples", "101"][..], "100 samples"),
        (&["--min-games", "41"], "40 games"),
        (&["--min-games", "41", "--min-samples", "101"], "40 games and 100 samples"),
    ] {
        let ran = folder.run(&[&["calibrate", "--dry-run", "games.csa"], options].concat()).ends(1);
        let words: Vec<&str> = ran.out.split_whitespace().collect();
        let list = words.join(" ").split_once("not calibrated: ").unwrap().1.to_owned();
        let each: Vec<&str> = list.split(", ").collect();
        assert!(each.len() == 3 && each.iter().all(|one| one.ends_with(&format!(" {few}"))), "{}", ran.out);
    }
}

/// sjaakii writes mates as 16000 minus the plies; its evaluations are much smaller.
#[test]
fn mates_under_the_threshold_are_named_and_found() {
    let data = project_data("selfplay");
    let folder = Folder::new();
    folder.good(&["sample", &data, "--engine", "sjaakii", "--out", "samples.csv"]);
    let (head, rows) = csv(&folder.text("samples.csv"));
    let column = head.iter().position(|h| h == "score_cp").unwrap();
    let sizes = rows.iter().map(|r| r[column].parse::<i64>().unwrap().abs());
    let (mates, evaluations): (Vec<i64>, Vec<i64>) = sizes.partition(|s| (15_000..=16_000).contains(s));
    let (low, high) = (mates.iter().min().unwrap(), mates.iter().max().unwrap());
    let largest = evaluations.iter().max().unwrap();
    assert!(mates.len() > 50 && *largest < 10_000, "{} mates, then {largest}", mates.len());

    let fixed = folder.document(&["calibrate", "--dry-run", &data]);
    let sjaakii = engine(&fixed, "sjaakii");
    let texts = warnings(sjaakii, "mates_under_threshold");
    assert_eq!(texts.len(), 1, "{:#}", sjaakii["warnings"]);
    let spike = format!("{} samples make a spike at ±{low} to ±{high} under the mate threshold 20000", mates.len());
    assert!(texts[0].starts_with(&spike) && texts[0].contains("--mate-threshold \"sjaakii=10000\""), "{texts:?}");
    assert_eq!(sjaakii["mates"], 0);
    for one in fixed["engines"].as_array().unwrap().iter().filter(|e| e["name"] != "sjaakii") {
        assert!(warnings(one, "mates_under_threshold").is_empty(), "{}: {:#}", one["name"], one["warnings"]);
    }
    for options in [["--mate-threshold", "auto"], ["--mate-threshold", "sjaakii=10000"]] {
        let found = folder.document(&[&["calibrate", "--dry-run", &data], &options[..]].concat());
        let sjaakii = engine(&found, "sjaakii");
        assert!(warnings(sjaakii, "mates_under_threshold").is_empty(), "{options:?}");
        assert_eq!(sjaakii["mate_threshold"], 10_000, "{options:?}");
        assert_eq!(sjaakii["mates"], mates.len(), "{options:?}");
        assert_eq!(sjaakii["largest_cp_left"], *largest, "{options:?}");
    }
    // a table that marks them keeps what was found
    folder.good(&["sample", &data, "--engine", "sjaakii", "--mate-threshold", "auto", "--out", "marked.csv"]);
    let found = folder.document(&["calibrate", "--dry-run", "marked.csv"]);
    let sjaakii = engine(&found, "sjaakii");
    assert!(warnings(sjaakii, "mates_under_threshold").is_empty(), "{:#}", sjaakii["warnings"]);
    assert_eq!((&sjaakii["mate_threshold"], &sjaakii["mates"]), (&json!(10_000), &json!(mates.len())));
    let all = format!("sjaakii: all {} samples are mates, which a fit leaves out: raise --mate-threshold", rows.len());
    folder.run(&["calibrate", "--dry-run", "marked.csv", "--mate-threshold", "0"]).ends(1).says(&[&all]);
}

/// Large scores that results contradict flatten maximum likelihood; the warning gives their share, and `lapse` allows
/// for them.
#[test]
fn results_that_follow_no_score_are_named_as_lapses() {
    let folder = Folder::new();
    let mut turned = 0;
    // A exaggerates decided positions, and every twelfth of these ends the other way round
    edited(&folder, &["--seed", "5"], |row| {
        if row.engine == "A" && !row.mate && row.score.abs() > 1_000 && row.result != "0.5" {
            row.score *= 4;
            turned += 1;
            if turned % 12 == 0 {
                row.result = if row.score > 0 { "0.0" } else { "1.0" }.to_owned();
            }
        }
    });
    let fit = |model: &str| folder.document(&["calibrate", "--dry-run", "samples.csv", "--model", model]);
    let plain = fit("maximum-likelihood");
    let texts = warnings(engine(&plain, "A"), "methods_disagree");
    assert!(texts.len() == 1 && texts[0].contains("follow no score"), "{texts:?}");
    let document = fit("lapse");
    let lapse = engine(&document, "A");
    let flat = lapse["maximum_likelihood"]["w1"].as_f64().unwrap();
    let model = &lapse["models"]["lapse"];
    let (steep, share) = (model["w1"].as_f64().unwrap(), model["lapse"].as_f64().unwrap());
    assert!(steep > 3.0 * flat, "{flat} {steep}");
    // beyond 1,000 a fifth of the games end otherwise, by the truth of the invented games and the twelfth turned round
    assert!((0.1..0.25).contains(&share), "{share}");
    let loss = |document: &Value| engine(document, "A")["proper_scores"]["log_loss"]["value"].as_f64().unwrap();
    assert!(loss(&document) < loss(&plain) - 0.02, "{} {}", loss(&document), loss(&plain));
}

/// A single wrong-sided mate dominates maximum likelihood, but not least squares; the warning names it.
#[test]
fn one_wrong_sided_mate_separates_the_methods() {
    let folder = Folder::new();
    let mut turned = 0;
    let fit = |policy: &str| {
        folder.document(&[
            "calibrate",
            "--dry-run",
            "samples.csv",
            "--mate-policy",
            policy,
            "--model",
            "maximum-likelihood",
        ])
    };
    edited(&folder, &["--mates", "0.05", "--seed", "5"], |_| {});
    let before = fit("keep");
    for name in ["A", "B", "C"] {
        assert!(kinds(engine(&before, name)).is_empty(), "{:#}", engine(&before, name)["warnings"]);
        assert_eq!(engine(&before, name)["wrong_sided_mates"], 0);
        assert!(engine(&before, name)["mates"].as_u64().unwrap() > 20);
    }
    edited(&folder, &["--mates", "0.05", "--seed", "5"], |row| {
        if row.mate && row.engine == "A" && row.result == "1.0" && turned == 0 {
            row.score = -row.score;
            turned += 1;
        }
    });
    assert_eq!(turned, 1);
    let after = fit("keep");
    let a = engine(&after, "A");
    assert_eq!(a["wrong_sided_mates"], 1);
    let texts = warnings(a, "methods_disagree");
    assert!(texts.len() == 1 && texts[0].contains("the 1 of ") && texts[0].contains("wrong-sided mates"), "{texts:?}");
    let slope = |method: &str| a[method]["w1"].as_f64().unwrap();
    assert!(slope("maximum_likelihood") < 0.8 * slope("least_squares"), "{a:#}");
    assert!((slope("least_squares") / 0.0015 - 1.0).abs() < 0.25, "{a:#}");
    for name in ["B", "C"] {
        // the sigmoid of standardised scores is fitted to all engines, so that baseline has moved
        let but_for_z = |document: &Value| {
            let mut own = engine(document, name).clone();
            own["proper_scores"]["baselines"]["shared_z"] = Value::Null;
            own
        };
        assert_eq!(but_for_z(&after), but_for_z(&before));
    }
    // excluded by default, and then there is no warning
    assert!(kinds(engine(&fit("exclude"), "A")).is_empty());
    // the sentence is also on standard error
    folder
        .good(&["calibrate", "--dry-run", "samples.csv", "--mate-policy", "keep"])
        .says(&["warning: A: w1 is", "wrong-sided mates"]);
}

#[test]
fn scores_that_are_all_zero_are_refused() {
    let folder = Folder::new();
    edited(&folder, &[], |row| row.score = 0);
    let ran = folder.run(&["calibrate", "samples.csv", "--out", "out", "--json"]).ends(1);
    for one in ran.document()["engines"].as_array().unwrap() {
        assert!(one["error"].as_str().unwrap().contains("scores are 0"), "{one:#}");
        assert_eq!(kinds(one), ["all_scores_zero"]);
    }
    folder.run(&["calibrate", "--dry-run", "samples.csv"]).ends(1).says(&["A: every score is 0"]);
}

#[test]
fn an_inverted_sign_is_reported_and_not_corrected() {
    let folder = Folder::new();
    edited(&folder, &[], |row| {
        if row.engine == "C" {
            row.score = -row.score;
        }
    });
    let document = folder.document(&["calibrate", "--dry-run", "samples.csv"]);
    let turned = engine(&document, "C");
    let texts = warnings(turned, "sign_inverted");
    assert_eq!(texts.len(), 2, "{:#}", turned["warnings"]);
    assert!(texts[0].contains("as black") && texts[1].contains("as white"), "{texts:?}");
    assert!(turned["error"].as_str().unwrap().contains("w1"), "{}", turned["error"]);
    for name in ["A", "B"] {
        assert!(kinds(engine(&document, name)).is_empty());
        assert!(engine(&document, name)["error"].is_null());
    }
    folder.good(&["inspect", "samples.csv"]).says(&["C: sign looks inverted as black"]);
}

#[test]
fn foreign_files_are_not_replaced() {
    let folder = Folder::new();
    folder.generate("games.csa", &["--games", "60"]);
    folder.write("out/A.json", "{\"mine\": true}");
    folder.run(&["calibrate", "games.csa", "--out", "out", "--no-plots"]).ends(2).says(&["A.json", "--force"]);
    assert_eq!(folder.text("out/A.json"), "{\"mine\": true}");
    folder.good(&["calibrate", "games.csa", "--out", "out", "--no-plots", "--force"]);
    // evalcurve replaces its own files without --force
    folder.good(&["calibrate", "games.csa", "--out", "out", "--no-plots"]);
    folder.good(&["winrate", "out/A.json", "0"]);
    folder.good(&["sample", "games.csa", "--out", "s.csv"]);
    folder.run(&["sample", "games.csa", "--out", "s.csv"]).ends(2).says(&["s.csv", "--force"]);
}

/// Files that belong together are all old or all new, whatever prevents one of them.
#[test]
fn files_are_replaced_together() {
    let folder = Folder::new();
    folder.generate("games.csa", &["--games", "60"]);
    folder.good(&["calibrate", "games.csa", "--out", "out", "--no-plots"]);
    folder.write("out/A.json", "old");
    std::fs::remove_file(folder.at("out/B.json")).unwrap();
    std::fs::create_dir(folder.at("out/B.json")).unwrap();
    let again = ["calibrate", "games.csa", "--out", "out", "--force"];
    folder.run(&[&again[..], &["--no-plots"]].concat()).ends(2).says(&["B.json: it is a folder"]);
    assert_eq!(folder.text("out/A.json"), "old");
    std::fs::remove_dir(folder.at("out/B.json")).unwrap();
    folder.write("out/plots", "a file");
    folder.run(&again).ends(2).says(&["plots: cannot create the folder"]);
    assert_eq!(folder.text("out/A.json"), "old");
    folder.good(&["diagnose", "games.csa", "--out", "page"]);
    folder.write("page/diagnosis.html", "old");
    std::fs::remove_file(folder.at("page/diagnosis.json")).unwrap();
    std::fs::create_dir(folder.at("page/diagnosis.json")).unwrap();
    folder
        .run(&["diagnose", "games.csa", "--out", "page", "--force"])
        .ends(2)
        .says(&["diagnosis.json: it is a folder"]);
    assert_eq!(folder.text("page/diagnosis.html"), "old");
}

/// A link whose file is missing is still the user's.
#[test]
#[cfg(unix)]
fn links_are_not_replaced() {
    let folder = Folder::new();
    folder.generate("games.csa", &["--games", "60"]);
    std::fs::create_dir(folder.at("out")).unwrap();
    for name in ["s.csv", "out/A.json", "out/diagnosis.html"] {
        std::os::unix::fs::symlink("nowhere", folder.at(name)).unwrap();
    }
    for arguments in [
        &["sample", "games.csa", "--out", "s.csv"][..],
        &["calibrate", "games.csa", "--out", "out", "--no-plots"],
        &["diagnose", "games.csa", "--out", "out"],
    ] {
        folder.run(arguments).ends(2).says(&["the file exists", "--force"]);
    }
    for name in ["s.csv", "out/A.json", "out/diagnosis.html"] {
        assert!(folder.at(name).is_symlink(), "{name}");
    }
    folder.good(&["sample", "games.csa", "--out", "s.csv", "--force"]);
}
