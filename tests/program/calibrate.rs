//! From records with known w1 and w2 to calibrations.

use serde_json::Value;

use crate::support::{Folder, csv, engine, names, root};

/// Engines with different scales and offsets, and with both signs of w2.
const TRUTH: [(&str, f64, f64); 3] = [("Fine", 0.0008, 0.5), ("Middle", 0.0015, 0.2), ("Wide", 0.003, -0.3)];

fn truth() -> Vec<String> {
    TRUTH.iter().flat_map(|(name, w1, w2)| ["--engine".to_owned(), format!("{name}:{w1}:{w2}")]).collect()
}

fn generate(folder: &Folder, more: &[&str]) {
    let truth = truth();
    let arguments: Vec<&str> = truth.iter().map(String::as_str).chain(more.iter().copied()).collect();
    folder.generate("games.csa", &arguments);
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// The rows that the first run shows in both languages are what its command prints.
#[test]
fn the_first_run_prints_what_the_readme_shows() {
    let folder = Folder::new();
    let data = root().join("data/selfplay");
    for (readme, heading, language) in
        [("README.md", "## First run", "en"), ("README.ja.md", "## まず動かしてみる", "ja")]
    {
        let text = std::fs::read_to_string(root().join(readme)).unwrap();
        let section = text.split_once(heading).unwrap().1;
        let shown = section.split_once("```text\n").unwrap().1.split_once("```").unwrap().0;
        let command = section.lines().find_map(|line| line.strip_prefix("cargo run --release --locked -- ")).unwrap();
        let mut arguments: Vec<&str> = command.split(' ').collect();
        let given = [("data/selfplay", data.to_str().unwrap()), ("data/calibrations", "out"), ("plots", "plots")];
        for (option, value) in given {
            *arguments.iter_mut().find(|argument| **argument == option).unwrap() = value;
        }
        let ran = folder.good(&[&arguments[..], &["--force", "--lang", language]].concat());
        let missing: Vec<&str> =
            shown.lines().filter(|line| !ran.out.lines().any(|printed| printed == *line)).collect();
        assert!(shown.lines().count() == 4 && missing.is_empty(), "{readme}: {missing:?} are not in {}", ran.out);
    }
}

/// The constant of one engine is that of the run with all engines, with or without a calibration file.
#[test]
fn the_constant_is_that_of_the_calibration() {
    let folder = Folder::new();
    folder.generate("games.csa", &["--games", "300", "--engine", "A:0.002:0", "--engine", "技巧:0.003:0"]);
    folder.good(&["calibrate", "games.csa", "--out", "out", "--no-plots"]);
    let constant = |arguments: &[&str]| -> f64 {
        let out = folder.good(&[&["constant", "--json"], arguments].concat()).out;
        serde_json::from_str::<Value>(&out).unwrap()["engines"][0]["constant"].as_f64().unwrap()
    };
    let of_file = constant(&["out/技巧.json"]);
    let of_records = constant(&["games.csa", "--engine", "技巧"]);
    // the file rounds its parameters
    assert!((of_file / of_records - 1.0).abs() < 1e-7, "{of_file} {of_records}");
    let ran = folder.good(&["constant", "games.csa", "--engine", "技巧", "--out", "p", "--lang", "en"]);
    let shown = format!("1/w1 = {:.0} [", of_file);
    for word in [shown.as_str(), "技巧", " 0.5 ┤", "●", "p/技巧-curve.png"] {
        assert!(ran.out.contains(word), "{word}: {}", ran.out);
    }
    assert!(folder.at("p/技巧-curve.png").exists());
    let both = folder.good(&["constant", "games.csa", "--lang", "ja"]).out;
    // the head, two engines, and how to see one of them
    assert_eq!(both.lines().count(), 4, "{both}");
}

/// The number that a GUI asks for comes first; nothing that must not be used is printed.
#[test]
fn the_constant_is_for_the_gui() {
    let folder = Folder::new();
    folder.generate("games.csa", &["--games", "300", "--engine", "A:0.002:0", "--engine", "技巧:0.003:0"]);
    let ran = folder.good(&["constant", "games.csa", "--engine", "技巧", "--out", "p", "--lang", "ja"]);
    let number = ran.out.lines().next().unwrap().strip_prefix("ShogiHome の勝率換算係数: ").unwrap();
    let exported = folder.good(&["export", "p/技巧.json", "--to", "shogihome"]).out;
    assert!(exported.contains(&format!("\"coefficientInSigmoid\": {number}\n")), "{number}: {exported}");
    assert!(ran.out.ends_with("p/技巧.json\np/技巧-curve.png\n"), "{}", ran.out);
    assert!(
        folder
            .good(&["constant", "p/技巧.json"])
            .out
            .starts_with(&format!("ShogiHome's win rate coefficient: {number}\n"))
    );
    // nothing is written unasked, and a legend says what points and line are
    let before = std::fs::read_dir(folder.at("")).unwrap().count();
    let plain = folder.good(&["constant", "games.csa", "--engine", "技巧", "--lang", "ja"]).out;
    assert!(plain.contains("● この対局での勝率   · 互角の相手に対する勝率\n"), "{plain}");
    assert_eq!(std::fs::read_dir(folder.at("")).unwrap().count(), before);
    // the number alone, and those of a folder of calibration files
    assert_eq!(folder.good(&["constant", "p", "-q"]).out, format!("{number}\n"));
    folder.good(&["calibrate", "games.csa", "--out", "out", "--quiet"]);
    let both = folder.good(&["constant", "out", "--quiet"]).out;
    assert!(both.lines().count() == 2 && both.contains(&format!("技巧\t{number}\n")), "{both}");
    let drawn = folder.good(&["plot", "out", "--out", "drawn"]).out;
    assert!(drawn.contains("drawn/sigmoids.svg") && drawn.contains("drawn/技巧-curve.svg"), "{drawn}");
    // records beside them are records
    folder.write("mixed/A.json", folder.read("out/A.json"));
    folder.write("mixed/games.csa", folder.read("games.csa"));
    assert!(folder.good(&["constant", "mixed"]).out.contains("技巧"));

    folder.generate("few.csa", &["--games", "25"]);
    let ran = folder.run(&["constant", "few.csa", "--engine", "A"]).ends(1);
    assert!(
        ran.out.is_empty() && ran.err.contains("calibrated: A: 17 game(s), 30 needed: add games, or set --min-games")
    );
    let noise = ["--games", "80", "--engine", "A:0.00005:0", "--engine", "B:0.00005:0", "--seed", "2"];
    folder.generate("noise.csa", &noise);
    let ran = folder.run(&["constant", "noise.csa", "--engine", "A", "--out", "noise"]).ends(1);
    assert!(ran.out.contains("1/w1 = – (") && !ran.out.contains("ShogiHome"), "{}", ran.out);
    assert!(
        ran.err
            .contains("no engine could be calibrated: A: the calibration forecasts unseen games worse than a constant"),
        "{}",
        ran.err
    );
    assert!(!folder.at("noise/A.json").exists());
    folder.run(&["constant", "noise.csa", "-q", "--engine", "A"]).ends(1).says(&["worse than a constant"]);
}

/// A file of another run in the folder has no common scale with those of this one.
#[test]
fn files_of_another_run_are_named() {
    let folder = Folder::new();
    folder.generate("old.csa", &["--games", "100", "--engine", "A:0.002:0", "--engine", "B:0.003:0"]);
    folder.generate("new.csa", &["--games", "100", "--engine", "A:0.002:0", "--engine", "C:0.003:0"]);
    let run = |arguments: &[&str]| folder.good(&[&["calibrate", "--no-plots", "--out", "out"], arguments].concat()).err;
    assert!(!run(&["old.csa"]).contains("also holds"));
    assert!(!run(&["old.csa", "--engine", "A"]).contains("also holds"), "one engine of the same run");
    let err = run(&["new.csa"]);
    assert!(err.contains("warning: out also holds B.json, which another run made from other games"), "{err}");
}

/// The table beside a figure has the points that `plot --points` prints.
#[test]
fn figures_have_their_numbers_beside_them() {
    let folder = Folder::new();
    folder.generate("games.csa", &["--games", "400", "--engine", "A:0.002:0", "--engine", "B:0.003:0"]);
    let arguments = ["plot", "games.csa", "--data", "--min-bin", "20", "--out", "p"];
    folder.good(&[&arguments[..], &["--bin", "200"]].concat());
    let points = folder.text("p/curves.csv").lines().filter(|line| line.contains(",point,")).count();
    let printed = folder.good(&["plot", "--points", "games.csa", "--min-bin", "20", "--bands", "0"]).out;
    // points beyond the axis are clipped
    assert!(points > 8 && points < printed.lines().count(), "{points} of {printed}");
    folder.good(&[&arguments[..], &["--bin", "quantile"]].concat());
    let quantile = folder.text("p/A-curve.csv");
    assert!(quantile.lines().filter(|line| line.contains("A,point,")).count() >= 8, "{quantile}");
    assert!(folder.text("p/A-curve.svg").contains("about the same number of positions"));
    for name in ["sigmoids", "standardized-curves", "histograms", "B-curve"] {
        assert!(folder.text(&format!("p/{name}.csv")).lines().count() > 5, "{name}");
    }
}

#[test]
fn intervals_of_both_methods_contain_the_truth() {
    for (seed, draws, mates) in [("1", "0", "0"), ("2", "0.2", "0"), ("3", "0.05", "0.1")] {
        let folder = Folder::new();
        generate(&folder, &["--games", "3000", "--seed", seed, "--draws", draws, "--mates", mates]);
        let document = folder.document(&["calibrate", "--dry-run", "games.csa"]);
        assert_eq!(names(&document), ["Fine", "Middle", "Wide"]);
        for (name, w1, w2) in TRUTH {
            let found = engine(&document, name);
            assert_eq!(found["draws"].as_u64().unwrap() > 0, draws != "0", "{name} seed {seed}");
            for method in ["least_squares", "maximum_likelihood"] {
                let fit = &found[method];
                let label = format!("{name} by {method}, seed {seed}: {fit:#}");
                let error = |i: usize| number(&fit["covariance"][i][i]).sqrt();
                // An inverted point of view gives w1 < 0; an inverted sign of w2 is 15 standard errors from the truth.
                assert!(number(&fit["w1"]) > 0.0 && number(&fit["w2"]) * w2 > 0.0, "{label}");
                // Four standard errors: one in 16,000 fits is farther away, and these seeds are fixed.
                assert!((number(&fit["w1"]) - w1).abs() < 4.0 * error(0), "{label}");
                assert!((number(&fit["w2"]) - w2).abs() < 4.0 * error(1), "{label}");
                // ... and small enough to distinguish the engines.
                assert!(error(0) < w1 / 10.0 && error(1) < 0.08, "{label}");
                let [low, high] = [0, 1].map(|i| number(&fit["w1_interval"][i]));
                assert!(low < number(&fit["w1"]) && number(&fit["w1"]) < high, "{label}");
                assert!((high - low - 2.0 * 1.96 * error(0)).abs() < 0.1 * error(0), "{label}");
            }
        }
    }
}

#[test]
fn mates_are_excluded_and_counted() {
    let folder = Folder::new();
    generate(&folder, &["--games", "900", "--mates", "0.1"]);
    folder.good(&["sample", "games.csa", "--out", "samples.csv"]);
    let (head, rows) = csv(&folder.text("samples.csv"));
    let column = |name: &str| head.iter().position(|h| h == name).unwrap();
    let (score, mate, of) = (column("score_cp"), column("mate"), column("engine"));
    let document = folder.document(&["calibrate", "--dry-run", "games.csa"]);
    for (name, ..) in TRUTH {
        let own: Vec<_> = rows.iter().filter(|r| r[of] == name).collect();
        // `generate` writes mates as ±30000, and no other score is that large
        let mates = own.iter().filter(|r| r[score].trim_start_matches('-') == "30000").count();
        assert_eq!(own.iter().filter(|r| r[mate] == "true").count(), mates);
        // a tenth of the positions of decided games
        assert!((0.06..0.14).contains(&(mates as f64 / own.len() as f64)), "{mates} of {}", own.len());
        let found = engine(&document, name);
        assert_eq!(found["samples"], own.len());
        assert_eq!(found["mates"], mates);
        assert_eq!(found["wrong_sided_mates"], 0);
        assert_eq!(found["fitted"], own.len() - mates);
        assert_eq!(found["maximum_likelihood"]["samples"], own.len() - mates);
        assert_eq!(found["standardization"]["samples"], own.len() - mates);
        assert_eq!(found["standardization_with_mates"]["samples"], own.len());
    }
    // with a threshold above them they are ordinary scores
    let kept = folder.document(&["calibrate", "--dry-run", "games.csa", "--mate-threshold", "Fine=30001"]);
    assert_eq!(engine(&kept, "Fine")["mates"], 0);
    assert_eq!(engine(&kept, "Wide")["mates"], engine(&document, "Wide")["mates"]);
}

#[test]
fn the_document_has_its_shape_and_the_files_are_used() {
    let folder = Folder::new();
    generate(&folder, &["--games", "900", "--seed", "2"]);
    let document = folder.document(&["calibrate", "games.csa", "--out", "out"]);
    assert_eq!(document["games"], serde_json::json!({ "read": 900, "used": 900, "skipped": {} }));
    for (name, ..) in TRUTH {
        let found = engine(&document, name);
        for count in ["games", "samples", "mates"] {
            assert!(found[count].is_u64(), "{count}: {found:#}");
        }
        for method in ["least_squares", "maximum_likelihood"] {
            assert!(found[method]["w1"].is_f64() && found[method]["w2"].is_f64(), "{found:#}");
            assert_eq!(found[method]["covariance"][0][1], found[method]["covariance"][1][0]);
            assert!((number(&found[method]["ponanza"]) * number(&found[method]["w1"]) - 1.0).abs() < 1e-6);
        }
        assert!(found["standardization"]["mean"].is_f64() && found["standardization"]["sd"].is_f64());
        assert!(found["warnings"].as_array().unwrap().is_empty());
        assert!(found["error"].is_null());

        let file = found["calibration"].as_str().unwrap();
        assert_eq!(file, format!("out/{name}.json"));
        let written = folder.json(file);
        assert_eq!(written["format"], "evalcurve-calibration");
        assert_eq!(written["version"], 1);

        // against its opponents the win rate is that of the chosen fit, between equals that of w2 = 0
        let [w1, w2, lapse] = ["w1", "w2", "lapse"].map(|name| number(&written["model"][name]));
        let field = written["model"].get("field_w1").map_or(w1, number);
        // the log odds of the expected result, where draws have a width
        let width = written["model"].get("draw_width").map_or(0.0, number).cosh();
        let odds = |u: f64| u + (u.exp() + width).ln() - (1.0 + width * u.exp()).ln();
        for score in [-700.0, 0.0, 250.0] {
            for (reading, slope, offset) in [(&["--field"][..], field, w2), (&[][..], w1, 0.0)] {
                let score_text = score.to_string();
                let out = folder.good(&[&["winrate", file, &score_text, "--json"], reading].concat()).out;
                let rate = number(&serde_json::from_str::<Value>(&out).unwrap()["values"][0]["win_rate"]);
                let expected = lapse + (1.0 - 2.0 * lapse) / (1.0 + (-odds(slope * score - offset)).exp());
                assert!((rate - expected).abs() < 1e-6, "{name} at {score}: {rate}, not {expected}");
            }
        }
        for target in ["ponanza", "shogihome", "dlshogi", "shogi-gougi-yaml", "json"] {
            assert!(!folder.good(&["export", file, "--to", target]).out.trim().is_empty(), "{target}");
        }
    }
    let plots = std::fs::read_dir(folder.at("out/plots")).unwrap().count();
    assert!(plots >= 6, "{plots} plots");
}

#[test]
fn the_sample_table_has_its_columns_and_fits_as_the_records_do() {
    let folder = Folder::new();
    generate(&folder, &["--games", "600", "--mates", "0.05"]);
    let columns = [
        "game",
        "engine",
        "opponent",
        "color",
        "ply",
        "window",
        "score_cp",
        "mate",
        "result",
        "termination",
        "rating",
        "opponent_rating",
        "source",
        "line",
    ];
    for table in ["samples.csv", "samples.parquet"] {
        folder.good(&["sample", "games.csa", "--out", table]);
    }
    let (head, rows) = csv(&folder.text("samples.csv"));
    let missing: Vec<_> = columns.iter().filter(|c| !head.iter().any(|h| h == *c)).collect();
    assert!(missing.is_empty(), "{missing:?} missing in {head:?}");
    assert!(!rows.is_empty() && rows.iter().all(|r| r.len() == head.len()));
    // Parquet: the schema is in the footer, and the length of the footer precedes the closing magic number.
    let parquet = folder.read("samples.parquet");
    assert!(parquet.starts_with(b"PAR1") && parquet.ends_with(b"PAR1"));
    let end = parquet.len() - 8;
    let length = u32::from_le_bytes(parquet[end..end + 4].try_into().unwrap()) as usize;
    let footer = String::from_utf8_lossy(&parquet[end - length..end]).into_owned();
    for column in columns {
        assert!(footer.contains(column), "{column} missing in the Parquet schema");
    }

    let records = folder.document(&["calibrate", "--dry-run", "games.csa"]);
    for table in ["samples.csv", "samples.parquet"] {
        let from_table = folder.document(&["calibrate", "--dry-run", table]);
        assert_eq!(from_table["engines"], records["engines"], "{table}");
        assert_eq!(from_table["games"], records["games"], "{table}");
    }
}

#[test]
fn samples_in_two_inputs_count_once() {
    let folder = Folder::new();
    generate(&folder, &["--games", "300"]);
    folder.good(&["sample", "games.csa", "--out", "samples.csv"]);
    folder.good(&["sample", "games.csa", "--engine", "Fine", "--out", "fine.parquet"]);
    folder.good(&["sample", "games.csa", "--where", "engine != Fine", "--out", "others.csv"]);
    let once = folder.document(&["calibrate", "--dry-run", "games.csa"]);
    for inputs in [["games.csa", "samples.csv"], ["samples.csv", "fine.parquet"], ["fine.parquet", "others.csv"]] {
        let document = folder.document(&[&["calibrate", "--dry-run"], &inputs[..]].concat());
        assert_eq!(document["engines"], once["engines"], "{inputs:?}");
        assert_eq!(document["games"]["used"], 300, "{inputs:?}");
        let reported = document["problems"].as_array().unwrap().iter().any(|p| p["kind"] == "duplicate");
        assert_eq!(reported, inputs != ["fine.parquet", "others.csv"], "{inputs:?}: {:#}", document["problems"]);
    }
    // --strict accepts duplicates
    folder
        .good(&["calibrate", "--dry-run", "games.csa", "samples.csv", "--strict"])
        .says(&["samples.csv:2: duplicate: 1500 rows"]);
}

/// Bins are [200k, 200(k+1)), also below zero: -1 is in bin -1, not in bin 0.
#[test]
fn bins_close_on_the_left() {
    let folder = Folder::new();
    let scores = [-201, -200, -199, -1, 0, 199, 200];
    let mut table = "game,engine,score_cp,result\n".to_owned();
    for (game, score) in scores.iter().enumerate() {
        table += &format!("{game},E,{score},{}\n", if *score < 0 { 0 } else { 1 });
    }
    folder.write("samples.csv", table);
    let out = folder.good(&["plot", "--points", "samples.csv", "--min-bin", "1"]).out;
    let (head, rows) = csv(&out);
    assert_eq!(head[..6], ["engine", "bin", "mean_score", "wins", "draws", "losses"]);
    let found: Vec<String> = rows.iter().map(|r| r[1..6].join(",")).collect();
    assert_eq!(found, ["-2,-201.000,0,0,1", "-1,-133.333,0,0,3", "0,99.500,2,0,0", "1,200.000,1,0,0"]);
}

/// Two engines that analyse the same games: the records of the second are no duplicates, and the positions compare the
/// scales of the two.
#[test]
fn two_annotators_share_positions() {
    let folder = Folder::new();
    let head = "game,engine,opponent,color,ply,window,score_cp,result\n";
    let table = |engine: &str, scale: f64| {
        let row = |game: u32, window: u32| {
            // a position worth -2 to 2 logits; the result agrees in about three quarters of the games
            let position = f64::from((game * 7 + window * 3) % 41) / 10.0 - 2.0;
            let result = u8::from(position + f64::from((game * 13) % 31) / 10.0 - 1.5 > 0.0);
            let cp = (scale * position) as i32;
            format!("{:016x},{engine},,black,{},{window},{cp},{result}\n", game + 1, 30 + 60 * window)
        };
        head.to_owned() + &(0..200).flat_map(|game| (0..3).map(move |window| row(game, window))).collect::<String>()
    };
    folder.write("x.csv", table("X", 600.0));
    folder.write("y.csv", table("Y", 1500.0));
    let options = ["--min-samples", "300", "--no-plots", "--force", "--json", "--out", "both"];
    let one = folder.good(&[&["calibrate", "x.csv", "y.csv"], &options[..]].concat());
    let files = ["both/X.json", "both/Y.json"].map(|name| folder.json(name));
    for file in &files {
        assert_eq!(file["field"]["fitted_together"], 2, "{file}");
    }
    let w1 = |i: usize| files[i]["model"]["w1"].as_f64().unwrap();
    assert!((w1(0) / w1(1) / 2.5 - 1.0).abs() < 0.1, "{} {}", w1(0), w1(1));
    assert!(!one.err.contains("no other engine scored"), "{}", one.err);
    folder.good(&[&["calibrate", "y.csv", "x.csv"], &options[..]].concat());
    assert_eq!(["both/X.json", "both/Y.json"].map(|name| folder.json(name)["model"].clone()), {
        files.map(|file| file["model"].clone())
    });
    let again = folder.document(&["inspect", "x.csv", "x.csv"]);
    assert_eq!(again["positions"]["table"]["skipped"]["duplicate"], 600);
}

/// A file that cannot be replaced leaves all files as they are, and a run without results makes no folder.
#[test]
fn calibrations_are_written_all_or_none() {
    let folder = Folder::new();
    generate(&folder, &["--games", "600"]);
    folder.write("out/Wide.json", "{}");
    let calibrate = ["calibrate", "games.csa", "--out", "out", "--no-plots", "--bands", "0"];
    folder.run(&calibrate).ends(2).says(&["out/Wide.json: the file exists"]);
    assert_eq!(std::fs::read_dir(folder.at("out")).unwrap().count(), 1);
    folder.good(&[&calibrate[..], &["--force"]].concat());
    // calibrations of an earlier run are replaced
    folder.good(&calibrate);
    assert_eq!(std::fs::read_dir(folder.at("out")).unwrap().count(), 3);
    std::fs::create_dir(folder.at("empty")).unwrap();
    folder.run(&["calibrate", "empty", "--out", "none"]).ends(1);
    folder.run(&["calibrate", "empty", "--out", "none", "--plots", "plots"]).ends(1);
    assert!(!folder.at("none").exists() && !folder.at("plots").exists());
}

/// The histograms, whose axis ends at 10,000, ended the command before its table.
#[test]
fn a_figure_without_anything_within_its_axis_is_left_out() {
    let folder = Folder::new();
    let row = |i: i32| {
        let score = (i * 37) % 8_001 - 4_000;
        let far = if score < 0 { score - 10_100 } else { score + 10_100 };
        format!("g{i},E,{far},{}\n", u8::from((i * 61) % 100 < 50 + score / 100))
    };
    folder.write("far.csv", "game,engine,score_cp,result\n".to_owned() + &(0..600).map(row).collect::<String>());
    let ran = folder.good(&["calibrate", "far.csv", "--out", "out"]).says(&["histograms: left out", "±10000"]);
    assert!(ran.out.contains("written 1 calibration file"), "{}", ran.out);
    assert!(folder.at("out/plots/sigmoids.svg").exists() && !folder.at("out/plots/histograms.svg").exists());
    folder.good(&["plot", "far.csv", "--out", "plots"]).says(&["histograms: left out"]);
    folder.good(&["diagnose", "far.csv", "--out", "page"]);
}

/// "Does not fit: see the warning" has a warning.
#[test]
fn what_does_not_fit_is_explained() {
    let folder = Folder::new();
    let mut text = "game,engine,opponent,color,ply,window,score_cp,mate,result\n".to_owned();
    for game in 0..600 {
        // small scores are right, and large ones mean nothing
        let score: i32 = [-900, -300, 300, 900][game % 4];
        let won = if score.abs() > 500 { game % 8 < 4 } else { (score > 0) == (game % 10 < 9) };
        text += &format!("g{game},A,B{},black,40,0,{score},false,{}\n", game % 5, u8::from(won));
    }
    folder.write("odd.csv", text);
    let model = ["--model", "maximum-likelihood", "--bands", "0", "--no-plots", "--force"];
    let document = folder.document(&[&["calibrate", "odd.csv", "--out", "out"][..], &model].concat());
    let engine = &document["engines"][0];
    let file = folder.json("out/A.json");
    let doubts = file["doubts"].as_array().unwrap();
    assert!(doubts.contains(&"miscalibrated".into()), "{engine:#}");
    let kinds: Vec<&str> = engine["warnings"].as_array().unwrap().iter().map(|w| w["kind"].as_str().unwrap()).collect();
    let unexplained = doubts.iter().map(|d| d.as_str().unwrap()).filter(|d| *d != "wide_interval");
    unexplained.for_each(|doubt| assert!(kinds.contains(&doubt), "{doubt}: {kinds:?}"));
}
