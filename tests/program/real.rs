//! Real records, which the project does not ship, in the folder given by EVALCURVE_RECORDS.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use crate::support::{Folder, csv, names, warnings};

/// The folder.
fn records() -> PathBuf {
    let folder = std::env::var_os("EVALCURVE_RECORDS").filter(|folder| !folder.is_empty());
    folder.expect("EVALCURVE_RECORDS names the folder with the records").into()
}

fn archive() -> String {
    records().join("floodgate-2016-dev.tar.zst").to_string_lossy().into_owned()
}

#[test]
#[ignore = "needs EVALCURVE_RECORDS"]
fn a_year_of_floodgate_adds_up() {
    let archive = archive();
    let folder = Folder::new();
    let document = folder.document(&["calibrate", &archive, "--min-samples", "300", "--no-plots", "--out", "out"]);
    let games = &document["games"];
    assert_eq!(games["read"], 9_862);
    assert_eq!(games["skipped"]["abnormal"], 550);
    let engines = document["engines"].as_array().unwrap();
    let mut written = 0;
    for engine in engines {
        let enough = engine["fitted"].as_u64().unwrap() >= 300;
        assert!(enough || engine["error"].is_string(), "{engine:#}");
        assert_eq!(engine["calibration"].is_null(), engine["error"].is_string(), "{engine:#}");
        if let Some(file) = engine["calibration"].as_str() {
            written += 1;
            folder.good(&["winrate", file, "0", "300", "-300"]);
        }
    }
    assert!(written >= 15, "{written} calibrations");
}

#[test]
#[ignore = "needs EVALCURVE_RECORDS"]
fn every_single_record_is_read_or_refused_with_a_reason() {
    let records = records();
    let folder = Folder::new();
    let mut files: Vec<PathBuf> = fs::read_dir(records.join("csa")).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    assert_eq!(files.len(), 71);
    let mut with_samples = 0;
    for file in &files {
        let document = folder.document(&["inspect", &file.to_string_lossy()]);
        let games = &document["games"];
        let refused = !document["files"]["refused"].as_object().unwrap().is_empty();
        assert!(games["read"].as_u64().unwrap() > 0 || refused, "{}: {document:#}", file.display());
        let samples: u64 = document["engines"].as_array().unwrap().iter().map(|e| e["samples"].as_u64().unwrap()).sum();
        assert_eq!(samples > 0, games["used"].as_u64().unwrap() > 0, "{}", file.display());
        with_samples += u64::from(samples > 0);
    }
    assert_eq!(with_samples, 39);
}

/// KIF and PGN of several programs: every file is read, and every game is used or skipped with a reason.
#[test]
#[ignore = "needs EVALCURVE_RECORDS"]
fn other_text_formats_are_read() {
    let records = records();
    let folder = Folder::new();
    for (kind, files, games) in [("pgn", 5, 768), ("kif", 13, 13)] {
        let document = folder.document(&["inspect", &records.join(kind).to_string_lossy()]);
        assert_eq!((&document["files"]["read"], &document["games"]["read"]), (&files.into(), &games.into()), "{kind}");
        let skipped: u64 =
            document["games"]["skipped"].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum();
        assert_eq!(document["games"]["used"].as_u64().unwrap() + skipped, games, "{kind}: {:#}", document["games"]);
        assert!(document["games"]["used"].as_u64().unwrap() > 0, "{kind}");
    }
}

/// The same 30 positions in three formats, and 10,000 positions without scores.
#[test]
#[ignore = "needs EVALCURVE_RECORDS"]
fn training_data_agrees_or_is_refused() {
    let records = records();
    let folder = Folder::new();
    let sample = |format: &str| records.join(format!("packed/rshogi-psv_to_hcpe3_yaneuraou_sample.{format}"));
    let mut tables = Vec::new();
    for format in ["psv", "hcpe", "hcpe3"] {
        let path = sample(format).to_string_lossy().into_owned();
        folder.good(&["sample", &path, "--annotator", "X", "--window", "1", "--out", "s.csv", "--force"]);
        let (head, mut rows) = csv(&folder.text("s.csv"));
        let column = |name: &str| head.iter().position(|h| h == name).unwrap();
        rows.sort_by_key(|row| row[column("line")].parse::<u32>().unwrap());
        let cells: Vec<_> =
            rows.iter().map(|row| ["color", "score_cp", "result"].map(|name| row[column(name)].clone())).collect();
        assert_eq!(cells.len(), 30);
        tables.push(cells);
    }
    assert_eq!(tables[0], tables[1]);
    assert_eq!(tables[0], tables[2]);

    let folder_of_all = records.join("packed").to_string_lossy().into_owned();
    let document = folder.document(&["inspect", &folder_of_all, "--annotator", "X", "--window", "1"]);
    let count = |format: &str, field: &str| document["positions"][format][field].as_u64().unwrap();
    assert_eq!((count("hcpe", "read"), count("hcpe", "used")), (10_030, 30));
    assert_eq!(document["positions"]["hcpe"]["skipped"]["all_scores_zero"], 10_000);
    assert_eq!(document["files"]["refused"]["all_scores_zero"], 1);
    let zero = records.join("packed/floodgate-10000-evals-all-zero.hcpe").to_string_lossy().into_owned();
    folder.run(&["calibrate", &zero, "--annotator", "X", "--no-plots"]).ends(1).says(&["written without scores"]);

    // truncated at any byte, or any one byte changed
    for format in ["psv", "hcpe", "hcpe3"] {
        let bytes = fs::read(sample(format)).unwrap();
        let more = ["--annotator", "X", "--window", "1", "--json"];
        for i in 0..40usize {
            let at = (i * 31 + i * bytes.len() / 40) % bytes.len();
            folder.write("cut", &bytes[..at]);
            let cut = folder.run(&[&["inspect", "cut", "--format", format], &more[..]].concat()).ends(0).document();
            let whole = (at / (bytes.len() / 30)) as u64;
            assert_eq!(cut["positions"][format]["used"].as_u64().unwrap_or(0), whole, "{format} cut at {at}");
            let mut changed = bytes.clone();
            changed[at] = changed[at].wrapping_add(77);
            folder.write("cut", changed);
            let read = folder.run(&[&["inspect", "cut"], &more[..]].concat()).ends(0).document();
            assert!(read["positions"][format]["used"].as_u64().unwrap() >= 29, "{format} changed at {at}: {read:#}");
        }
    }
}

#[test]
#[ignore = "needs EVALCURVE_RECORDS"]
fn truncation_never_panics() {
    let records = records();
    let folder = Folder::new();
    let mut files = Vec::new();
    for name in ["gps-1-Nanoha.csa", "saito-apery-20150314.sjis.csa", "shogihome-e2e-scenario-27.csa", "uchifuzume.csa"]
    {
        files.push(records.join("csa").join(name));
    }
    for file in files {
        let bytes = fs::read(&file).unwrap();
        for i in 0..12usize {
            // spread over the file, at odd offsets
            let cut = (bytes.len() * i / 12 + i * 7).min(bytes.len());
            folder.write("cut.csa", &bytes[..cut]);
            // `run` fails after a panic, `document` if games do not add up
            folder.run(&["inspect", "cut.csa", "--json"]).ends(0).document();
            folder.write("cut.csa", &bytes[cut..]);
            folder.run(&["inspect", "cut.csa", "--json", "--verify"]).ends(0).document();
        }
    }
    // the archive itself
    let bytes = fs::read(records.join("floodgate-2016-dev.tar.zst")).unwrap();
    for i in 0..6 {
        let cut = bytes.len() / 40 * i + i;
        folder.write("cut.tar.zst", &bytes[..cut]);
        folder.run(&["inspect", "cut.tar.zst", "--json"]).ends(0).document();
    }
}

#[test]
#[ignore = "needs EVALCURVE_RECORDS"]
fn a_folder_gives_what_its_games_in_the_archive_give() {
    let (records, archive) = (records(), archive());
    let folder = Folder::new();
    let tables: Vec<BTreeMap<String, Vec<Vec<String>>>> =
        [records.join("floodgate").to_string_lossy().into_owned(), archive]
            .iter()
            .map(|path| {
                folder.good(&["sample", path, "--out", "s.csv", "--force"]);
                let mut games: BTreeMap<String, Vec<Vec<String>>> = BTreeMap::new();
                for mut row in csv(&folder.text("s.csv")).1 {
                    // the source differs, the line within the record does not
                    let source = row.len() - 2;
                    row[source].clear();
                    games.entry(row[0].clone()).or_default().push(row);
                }
                games
            })
            .collect();
    assert!(tables[0].len() > 100, "{} games", tables[0].len());
    for (game, rows) in &tables[0] {
        assert_eq!(Some(rows), tables[1].get(game), "{game}");
    }
}

/// A single announced win that was lost dominates maximum likelihood; the tool names it on real records.
#[test]
#[ignore = "needs EVALCURVE_RECORDS"]
fn wrong_sided_mates_are_named_where_they_occur_only() {
    let archive = archive();
    let folder = Folder::new();
    let document =
        folder.document(&["calibrate", "--dry-run", &archive, "--mate-policy", "keep", "--min-samples", "100"]);
    assert!(names(&document).len() > 80);
    let (mut with, mut named) = (Vec::new(), Vec::new());
    for engine in document["engines"].as_array().unwrap() {
        if engine["fitted"].as_u64().unwrap() < 100 {
            continue;
        }
        let name = engine["name"].as_str().unwrap();
        if engine["wrong_sided_mates"].as_u64().unwrap() > 0 {
            with.push(name);
        }
        if warnings(engine, "methods_disagree").iter().any(|w| w.contains("wrong-sided mates")) {
            named.push(name);
        }
    }
    assert!(!with.is_empty());
    assert_eq!(with, named);
}

/// On floodgate's games of 2016 raw and standardised scores are not a common scale, and win rates by the engines' own
/// sigmoids are one within chance; a few wrong-sided mates dominate maximum likelihood if mates are kept.
#[test]
#[ignore = "needs EVALCURVE_RECORDS"]
fn floodgate_engines_share_win_rates_and_not_scores() {
    let archive = archive();
    let folder = Folder::new();
    let document = folder.document(&["diagnose", &archive, "--min-samples", "300", "--bands", "100", "--out", "out"]);
    let transforms = document["scale"]["mismatch"]["transforms"].as_array().unwrap();
    let of = |name: &str| transforms.iter().find(|t| t["transform"] == name).unwrap();
    let m = |name: &str| of(name)["m"].as_f64().unwrap();
    assert!((0.07..0.11).contains(&m("raw")), "{transforms:#?}");
    assert!((0.20..0.26).contains(&m("standardized")), "{transforms:#?}");
    for good in ["least_squares", "maximum_likelihood"] {
        assert!(of(good)["m_squared_interval"][0].as_f64().unwrap() <= 0.0, "{transforms:#?}");
    }
    let models = document["right"]["models"].as_array().unwrap();
    let loss = |name: &str| models.iter().find(|m| m["model"] == name).unwrap()["log_loss"]["value"].as_f64().unwrap();
    let order = ["maximum_likelihood", "least_squares", "shared_600", "shared_z"];
    assert!(order.windows(2).all(|w| loss(w[0]) <= loss(w[1]) + 1e-3), "{models:#?}");

    let kept = folder.document(&[
        "diagnose",
        &archive,
        "--min-samples",
        "50",
        "--bands",
        "20",
        "--mate-policy",
        "keep",
        "--out",
        "kept",
        "--engine",
        "sayapery_4c_4790K*",
        "--engine",
        "G_512_Cortex-A7_2c*",
    ]);
    let tables = kept["differ"].as_array().unwrap();
    assert_eq!(tables.len(), 2, "{tables:#?}");
    for table in tables {
        assert!(table["cause"].as_str().is_some_and(|why| why.contains("wrong-sided mates")), "{table:#}");
    }
}
