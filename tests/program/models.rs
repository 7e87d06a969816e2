//! All models, from `--model` to `winrate`.

use evalcurve::fit::ModelKind;
use evalcurve::random;
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
    for model in ["joint", "phase", "wdl", "maximum-likelihood"] {
        folder.good(&["calibrate", "samples.csv", "--model", model, "--out", model, "--no-plots", "--quiet"]);
    }
    let rate = |arguments: &[&str]| first(&folder, arguments)["win_rate"].as_f64().unwrap();
    let joint = "joint/A.json";
    let model = &folder.json(joint)["model"];
    let [w3, lapse, width] = ["w3", "lapse", "draw_width"].map(|name| model[name].as_f64().unwrap());
    // the logit of a win without draws, from the odds of the expected result
    let logit = |p: f64| {
        let odds = (p - lapse) / (1.0 - lapse - p);
        let half = width.cosh() * (odds - 1.0) / 2.0;
        (half + half.hypot(odds.sqrt())).ln()
    };
    let [even, better] = ["0", "173.717792761"].map(|d| logit(rate(&[joint, "200", "--rating-difference", d])));
    // 173.7 Elo points are one logit
    assert!((better - even - w3).abs() < 1e-6, "{even} {better} {w3}");
    assert_eq!(rate(&[joint, "200"]), rate(&["--rating-difference=0", joint, "200"]));
    let [early, late] = ["30", "150"].map(|ply| rate(&["phase/A.json", "200", "--ply", ply]));
    assert!(early != late);
    assert!(rate(&["wdl/A.json", "200", "--ply", "30"]) != rate(&["wdl/A.json", "200", "--ply", "150"]));
    for (file, flag) in
        [("maximum-likelihood/A.json", "--rating-difference"), ("joint/A.json", "--ply"), ("wdl/A.json", "--material")]
    {
        folder.run(&["winrate", file, "200", flag, "40"]).ends(2).says(&[flag, "does not use it", "--model"]);
    }
    folder.run(&["winrate", joint, "200", "--rating-difference"]).ends(2).says(&["--rating-difference"]);
    // games without ratings say nothing of a difference
    let unrated = root().join("data/calibrations/zshogi.json").display().to_string();
    let given = ["winrate", &unrated, "300", "--rating-difference", "400"];
    folder.run(&given).ends(2).says(&["--rating-difference: the games of zshogi have no ratings"]);
    // targets that cannot hold the model are refused, and what is lost is reported
    folder.run(&["export", "wdl/A.json", "--to", "ponanza"]).ends(2).says(&["wdl", "expects a sigmoid"]);
    assert!(folder.good(&["export", joint, "--to", "ponanza"]).out.contains("joint, between equals"));
}

#[test]
fn auto_chooses_one_model_for_all_and_reports_the_scores() {
    let folder = rated_samples();
    let document = folder.document(&["calibrate", "samples.csv", "--model", "auto", "--no-plots"]);
    // the records follow a sigmoid, and the ratings are random
    assert_eq!(document["choice"]["model"], "maximum_likelihood", "{:#}", document["choice"]);
    let candidates = document["choice"]["candidates"].as_array().unwrap();
    let of = |name: &str| candidates.iter().find(|c| c["model"] == name).unwrap();
    assert!(of("joint")["log_loss"]["value"].is_number());
    assert!(of("shared_600")["behind_best"]["value"].as_f64().unwrap() > 0.0);
    let file = folder.json(engine(&document, "A")["calibration"].as_str().unwrap());
    assert!(file["models"]["isotonic"]["points"].is_array() && file["models"]["lapse"]["covariance"].is_array());
    let out = folder.good(&["calibrate", "--dry-run", "games.csa", "--model", "auto"]).out;
    assert!(out.contains("* maximum_likelihood"), "{out}");
}

#[test]
fn a_model_is_not_scored_where_that_is_not_wanted() {
    let folder = rated_samples();
    let document = folder.document(&["calibrate", "samples.csv", "--folds", "0", "--no-plots"]);
    let found = engine(&document, "A");
    assert!(found["proper_scores"].is_null());
    assert!(folder.json(found["calibration"].as_str().unwrap())["proper_scores"].is_null());
    folder.run(&["calibrate", "--dry-run", "samples.csv", "--folds", "1"]).ends(2).says(&["--folds", "2 or more"]);
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

/// What people of a rating make of a score in the generated games: w1 grows with the rating and the time.
fn people_w1(rating: f64, seconds: f64) -> f64 {
    0.002 * ((rating - 1_600.0) * 6e-4 + 0.1 * (seconds / 300.0).log2()).exp()
}

/// A table of games of people with known win rates, two positions each.
pub(crate) fn people_table(engine: &str, games: u64) -> String {
    let mut table = "engine,game,opponent,color,score,result,rating,opponent_rating,time_control\n".to_owned();
    for game in 0..games {
        let rating = 1_000 + random::below(1_200, &[game, 1]);
        let (control, seconds) =
            [("60+0", 60.0), ("300", 300.0), ("10分", 600.0)][random::below(3, &[game, 2]) as usize];
        let score = random::below(1_601, &[game, 3]) as i64 - 800;
        let logit = people_w1(rating as f64, seconds) * score as f64;
        let won = i64::from(random::unit(&[game, 4]) < 1.0 / (1.0 + (-logit).exp()));
        for (color, sign) in [("black", 1), ("white", -1)] {
            let result = if sign > 0 { won } else { 1 - won };
            table += &format!("{engine},g{game},,{color},{},{result},{rating},{rating},{control}\n", sign * score);
        }
    }
    table
}

#[test]
fn people_have_curves_by_rating_and_time() {
    let folder = Folder::new();
    folder.write("people.csv", people_table("E", 6_000));
    let fit = ["calibrate", "people.csv", "--model", "people"];
    folder.good(&[&fit[..], &["--out", "p", "--plots", "figures", "--quiet"]].concat());
    for (rating, control, seconds) in [("1100", "bullet", 60.0), ("1600", "300+0", 300.0), ("2100", "rapid", 600.0)] {
        let value = first(&folder, &["p/E.json", "200", "--rating", rating, "--control", control]);
        let real = 1.0 / (1.0 + (-200.0 * people_w1(rating.parse().unwrap(), seconds)).exp());
        let ends = &value["interval"];
        let (low, high) = (ends[0].as_f64().unwrap(), ends[1].as_f64().unwrap());
        let wide = high - low;
        // the interval is one of 95%, so twice as wide a one has the truth almost always
        assert!(
            low - 0.5 * wide < real && real < high + 0.5 * wide && wide < 0.1,
            "{rating} {control}: {value} {real}"
        );
    }
    // what the games do not say is not guessed
    let winrate = |more: &[&str]| folder.run(&[&["winrate", "p/E.json", "200"], more].concat());
    winrate(&["--rating", "2900"]).ends(2).says(&["--rating 2900: cannot tell"]);
    winrate(&["--control", "classical"]).ends(2).says(&["cannot tell", "60 to 600 seconds", "1800"]);
    winrate(&["--control", "fast"]).ends(2).says(&["'fast' is no time control", "180+2"]);
    winrate(&["--rating", "1500"]).ends(0).says(&["without --control", "the mean"]);
    winrate(&[]).ends(0).says(&["without --rating", "the mean"]);
    // source code has both arguments, and figures a line for each rating and control
    let code = folder.good(&["export", "p/E.json", "--to", "javascript"]).out;
    assert!(code.contains("export function win_rate(score_cp, rating, seconds) {"), "{code}");
    assert!(code.contains("Math.log1p(") && code.contains("nearest counts"), "{code}");
    folder.good(&["plot", "p/E.json", "--out", "plots"]);
    for place in ["plots", "figures"] {
        let [rates, scale] = ["people", "people-scale"].map(|name| folder.text(&format!("{place}/E-{name}.svg")));
        assert!(rates.contains("1600") && scale.contains("bullet") && scale.contains("rapid"), "{place}");
    }
    // models of another form have no use for the options, and games without ratings none for the model
    folder.good(&["calibrate", "people.csv", "--model", "mle", "--out", "m", "--no-plots", "--quiet"]);
    folder.run(&["winrate", "m/E.json", "1", "--rating", "9"]).ends(2).says(&[
        "--rating",
        "does not use it",
        "--model",
    ]);
    let without: String = people_table("E", 200)
        .lines()
        .map(|l| format!("{}\n", l.split(',').take(6).collect::<Vec<_>>().join(",")))
        .collect();
    folder.write("without.csv", without);
    let ran = folder.run(&["calibrate", "without.csv", "--model", "people", "--out", "w", "--no-plots"]);
    ran.says(&["ratings of both players", "take records with ratings"]);
}

#[test]
#[ignore = "needs node"]
fn exported_javascript_gives_the_numbers_of_winrate() {
    let folder = Folder::new();
    folder.write("people.csv", people_table("E", 2_000));
    folder.good(&["calibrate", "people.csv", "--model", "people", "--out", "p", "--no-plots", "--quiet"]);
    folder.write("win_rate.mjs", folder.good(&["export", "p/E.json", "--to", "javascript"]).out);
    let main = "import { win_rate } from './win_rate.mjs';\n\
                for (const x of [-700, 0, 35, 300]) for (const r of [1100, 1900]) for (const s of [60, 300]) \
                console.log(win_rate(x, r, s));\n";
    folder.write("main.mjs", main);
    let ran = std::process::Command::new("node").arg("main.mjs").current_dir(folder.at("")).output().unwrap();
    let found: Vec<f64> = String::from_utf8(ran.stdout).unwrap().lines().map(|l| l.parse().unwrap()).collect();
    let mut found = found.into_iter();
    for score in ["-700", "0", "35", "300"] {
        for rating in ["1100", "1900"] {
            for control in ["60", "300"] {
                let value = first(&folder, &["p/E.json", score, "--rating", rating, "--control", control]);
                let real = value["win_rate"].as_f64().unwrap();
                assert!((found.next().unwrap() - real).abs() < 1e-7, "{score} {rating} {control}");
            }
        }
    }
}
