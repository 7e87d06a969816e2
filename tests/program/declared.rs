//! Wins, draws and losses that engines declare: from records to the diagnosis, and in councils.

use serde_json::{Value, json};

use crate::council::{Gui, calibration, member};
use crate::material::games;
use crate::support::{Folder, csv, engine};

/// Games with rates beside each score: those of 1 / (1 + exp(-score in pawns / scale)), a tenth of them draws.
fn declaring(count: u64, scale: f64) -> String {
    let declare = |part: &str| {
        let (score, rest) = part.split_once('/')?;
        let rate = 1.0 / (1.0 + (-score.parse::<f64>().ok()? / scale).exp());
        let win = (900.0 * rate).round() as u32;
        Some(format!("{score}/{}", rest.replacen("1s", &format!("1s, wdl={win} 100 {}", 900 - win), 1)))
    };
    let text = games(count);
    text.split('{').map(|part| declare(part).unwrap_or_else(|| part.to_owned())).collect::<Vec<_>>().join("{")
}

fn declared(document: &Value) -> &[Value] {
    document["right"]["declared"].as_array().unwrap()
}

#[test]
fn declared_rates_are_judged_beside_the_calibration() {
    let folder = Folder::new();
    folder.write("bold.pgn", declaring(300, 0.1));
    folder.write("apt.pgn", declaring(300, 0.7));
    folder.write("none.pgn", games(300));
    let bold = folder.document(&["diagnose", "bold.pgn", "--from-ply", "1"]);
    let apt = folder.document(&["diagnose", "apt.pgn", "--from-ply", "1"]);
    let of = |document: &Value, of: &str, what: &str| declared(document)[0][of][what]["value"].as_f64().unwrap();
    assert_eq!(declared(&bold).iter().map(|d| d["engine"].as_str().unwrap()).collect::<Vec<_>>(), ["A", "B"]);
    // the forecasts of the calibration do not depend on the declared rates
    assert_eq!(declared(&bold)[0]["calibrated"], declared(&apt)[0]["calibrated"]);
    assert!(of(&bold, "declared", "log_loss") > of(&apt, "declared", "log_loss") + 0.05);
    let slope = declared(&bold)[0]["declared"]["slope"]["interval"].as_array().unwrap();
    assert!(slope[1].as_f64().unwrap() < 1.0, "{}", declared(&bold)[0]);
    let ends = declared(&bold)[0]["difference"]["interval"].as_array().unwrap();
    assert!(ends[0].as_f64().unwrap() > 0.0, "{ends:?}");
    let seen = declared(&apt)[0]["draws_seen"].as_f64().unwrap();
    let excess = declared(&apt)[0]["draws"]["value"].as_f64().unwrap();
    assert!((excess - (0.1 - seen)).abs() < 1e-6, "{excess} {seen}");
    let out = folder.good(&["diagnose", "bold.pgn", "--from-ply", "1"]).out;
    let words = out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("W/D/L that A declares: log loss "), "{out}");
    assert!(words.contains("the calibration is better (difference "), "{out}");
    assert!(folder.text("evalcurve-out/diagnosis.html").contains("Declared wins, draws and losses"));
    let none = folder.document(&["diagnose", "none.pgn", "--from-ply", "1"]);
    assert!(declared(&none).is_empty());
    assert!(!folder.text("evalcurve-out/diagnosis.html").contains("Declared wins, draws and losses"));
}

#[test]
fn tables_keep_declared_rates_and_the_game() {
    let folder = Folder::new();
    folder.write("games.pgn", declaring(60, 0.7));
    for table in ["samples.csv", "samples.parquet"] {
        folder.good(&["sample", "games.pgn", "--from-ply", "1", "--out", table]);
        let of = |input: &str| declared(&folder.document(&["diagnose", input, "--from-ply", "1"])).to_vec();
        assert_eq!(of(table), of("games.pgn"), "{table}");
        let document = folder.document(&["calibrate", "--dry-run", table]);
        assert!(engine(&document, "A")["proper_scores"]["baselines"]["lichess"].is_object(), "{table}");
    }
    let (head, rows) = csv(&folder.text("samples.csv"));
    let column = |name: &str| head.iter().position(|h| h == name).unwrap();
    let rates = ["declared_win", "declared_draw", "declared_loss"].map(|name| rows[0][column(name)].parse::<u32>());
    assert_eq!(rates.into_iter().map(Result::unwrap).sum::<u32>(), 1_000);
    assert_eq!(rows[0][column("chess")], "true");
    // shogi among chess: the baselines of neither game alone
    folder.generate("games.csa", &["--games", "60"]);
    let document = folder.document(&["calibrate", "--dry-run", "samples.csv", "games.csa", "--from-ply", "1"]);
    assert!(engine(&document, "A")["proper_scores"]["baselines"]["lichess"].is_null());
}

#[test]
fn a_member_votes_by_the_rates_that_it_declares() {
    let folder = Folder::new();
    folder.write("a.json", calibration(1200.0));
    for (rates, best, win_rate) in [([700, 200, 100], "2g2f", 0.8), ([100, 200, 700], "7g7f", 0.2)] {
        let score = format!("60 wdl {} {} {}", rates[0], rates[1], rates[2]);
        let a = member("A", &["--prefer", "7g7f", "--score", "80"], "calibration = 'a.json'");
        let b = member("B", &["--prefer", "2g2f", "--score", &score], "calibration = 'declared'");
        folder.write("council.toml", format!("log = 'votes-{best}.jsonl'\n{a}{b}"));
        let checked = folder.run(&["council", "council.toml", "--check"]);
        assert!(checked.out.contains("B: it declares W/D/L, and votes by them"), "{}", checked.out);
        let mut gui = Gui::new(&folder, &["council", "council.toml"]);
        gui.ready("usi");
        let answer = gui.best("startpos", "go byoyomi 1000");
        assert!(answer.starts_with(&format!("bestmove {best}")), "{answer}");
        gui.quit();
        let log = folder.text(&format!("votes-{best}.jsonl"));
        let line: Value = serde_json::from_str(log.lines().nth(1).unwrap()).unwrap();
        assert_eq!((&line["votes"][1]["wdl"], &line["votes"][1]["win_rate"]), (&json!(rates), &json!(win_rate)));
        assert_eq!((&line["votes"][0]["wdl"], &line["votes"][0]["win_rate"]), (&Value::Null, &Value::Null));
        folder.good(&["replay", &format!("votes-{best}.jsonl")]);
    }
}

#[test]
fn a_member_without_rates_is_reported() {
    let folder = Folder::new();
    folder.write("council.toml", member("B", &[], "calibration = 'declared'"));
    let words = ["B: its calibration is \"declared\", but it declares no W/D/L", "UCI_ShowWDL = true"];
    folder.run(&["council", "council.toml", "--check"]).ends(1).says(&words);
    let rule = "rule = 'cross-examination'\n".to_owned();
    folder.write("council.toml", rule + &member("B", &[], "calibration = 'declared'"));
    folder.run(&["council", "council.toml", "--check"]).ends(2).says(&[
        "council.toml:6: engine 'B' votes by declared rates, and rule cross-examination compares scores of a second",
        "write the path of its calibration file, or choose another rule",
    ]);
}
