//! Chess records: what chess users know in place of what shogi users know.

use evalcurve_testkit::attack::{Attack, Draws, csv};

use crate::material::games;
use crate::support::{Folder, engine, problems, warnings};

#[test]
fn baselines_are_those_of_the_game() {
    let folder = Folder::new();
    folder.write("games.pgn", games(300));
    folder.generate("games.csa", &["--games", "300"]);
    for (file, has, lacks) in [("games.pgn", "lichess", "shared_600"), ("games.csa", "shared_600", "lichess")] {
        let document = folder.document(&["calibrate", "--dry-run", file, "--from-ply", "1"]);
        let baselines = &engine(&document, "A")["proper_scores"]["baselines"];
        assert!(baselines[has].is_object() && baselines[lacks].is_null(), "{file}: {:#}", engine(&document, "A"));
        // a table that cannot be read, or has no rows, makes no other game of it
        folder.write("broken.csv", "engine,score_cp,result\n\"A,1,1\n");
        folder.write("empty.csv", "engine,score_cp,result\n");
        for more in ["broken.csv", "empty.csv"] {
            let document = folder.document(&["calibrate", "--dry-run", file, more, "--from-ply", "1"]);
            assert!(engine(&document, "A")["proper_scores"]["baselines"][has].is_object(), "{more}");
        }
        let out = folder.good(&["calibrate", "--dry-run", file, "--from-ply", "1", "--wide"]).out;
        assert_eq!(out.contains(" lichess "), file == "games.pgn", "{out}");
    }
}

#[test]
fn a_name_in_chess_and_shogi_is_two_engines() {
    let folder = Folder::new();
    folder.write("games.pgn", games(300));
    folder.generate("games.csa", &["--games", "300"]);
    let fit = |files: &[&str]| {
        folder.document(&[&["calibrate", "--dry-run"][..], files, &["--from-ply", "1", "--bands", "0"]].concat())
    };
    for (records, table) in [("games.pgn", "chess.csv"), ("games.csa", "shogi.csv")] {
        folder.good(&["sample", records, "--from-ply", "1", "--out", table]);
    }
    for [of_chess, of_shogi] in [["games.pgn", "games.csa"], ["chess.csv", "shogi.csv"], ["chess.csv", "games.csa"]] {
        let both = fit(&[of_chess, of_shogi]);
        assert_eq!(problems(&both, "same_name").len(), 2, "{:#}", both["problems"]);
        let (chess, shogi) = (fit(&[of_chess]), fit(&[of_shogi]));
        for name in ["A", "B"] {
            let own = format!("{name} (chess)");
            assert_eq!(engine(&both, &own)["models"], engine(&chess, name)["models"]);
            assert_eq!(engine(&both, name)["models"], engine(&shogi, name)["models"]);
        }
    }
    // a table of the same games is chess, too, though it does not say so
    let table = folder.text("chess.csv");
    let columns: Vec<&str> = table.lines().next().unwrap().split(',').collect();
    let told = ["material", "chess"].map(|name| columns.iter().position(|column| *column == name));
    let silent = |line: &str| {
        let cells = line.split(',').enumerate().filter(|(i, _)| !told.contains(&Some(*i)));
        cells.map(|(_, cell)| cell).collect::<Vec<_>>().join(",") + "\n"
    };
    folder.write("silent.csv", table.lines().map(silent).collect::<String>());
    let same = fit(&["chess.csv", "silent.csv"]);
    assert_eq!((problems(&same, "same_name").len(), &same["engines"]), (0, &fit(&["chess.csv"])["engines"]));
}

/// Draws at any score are no results that follow no score.
#[test]
fn draws_are_named_and_do_not_pass_for_lapses() {
    let folder = Folder::new();
    let mut attack = Attack::clean(4, 360, 2);
    attack.draws = Draws::Anywhere(0.3);
    folder.write("games.csv", csv(&attack.samples(0)));
    let ran = folder.good(&["calibrate", "games.csv", "--bands", "0", "--no-plots", "--out", "out"]);
    let said = ran.out + &ran.err;
    assert!(!said.contains("follow no score") && !said.contains("does not fit"), "{said}");
    assert!(said.contains("of the results are draws") && said.contains("the model wdl fits draws"), "{said}");
    let model = &folder.json("out/A.json")["model"];
    let number = |name: &str| model[name].as_f64().unwrap();
    assert!((number("drawn") - 0.3).abs() < 0.06 && 2.0 * number("lapse") - number("drawn") < 0.05, "{model}");
}

#[test]
fn zeros_are_draw_scores() {
    let folder = Folder::new();
    // half of the scores of later moves are 0.00
    let mut i = 0;
    let text: Vec<String> = games(300)
        .split('{')
        .map(|part| match part.split_once('/') {
            Some((score, rest)) if score.parse::<f64>().is_ok() => {
                i += 1;
                format!("{}/{rest}", if i % 2 == 0 { "0.00" } else { score })
            }
            _ => part.to_owned(),
        })
        .collect();
    folder.write("games.pgn", text.join("{"));
    let document = folder.document(&["calibrate", "--dry-run", "games.pgn", "--from-ply", "1"]);
    assert_eq!(warnings(engine(&document, "A"), "book_zeros"), [""; 0]);
}

#[test]
fn a_comment_without_a_known_score_is_quoted() {
    let folder = Folder::new();
    let text = games(3).replace("/12 1s", " at depth 12").replace("{", "{eval ");
    folder.write("対局.pgn", &text);
    let ran = folder.run(&["inspect", "対局.pgn", "--json"]);
    let document = ran.document();
    assert_eq!(document["games"]["skipped"]["no_scores"], 3);
    let line = 1 + text[..text.find("{eval").unwrap()].matches('\n').count();
    assert_eq!(problems(&document, "unread_comment")[0], format!("対局.pgn:{line}"));
    let value = document["problems"][0]["value"].as_str().unwrap();
    for word in
        ["'eval ", "at depth 12' is not read as a score", "+0.98/25 11s", "fastchess", "OpenBench", "[%eval 0.25]"]
    {
        assert!(value.contains(word), "no {word} in {value}");
    }
    let ran = folder.run(&["inspect", "対局.pgn"]);
    assert!((ran.out + &ran.err).contains("known forms are"));
    // clocks, book moves and prose without numbers are no scores, and need no message
    folder
        .write("clocks.pgn", games(3).replace('{', "{[%clk 0:10:00] x").replace("[%clk 0:10:00] x", "[%clk 0:10:00]"));
    assert!(problems(&folder.run(&["inspect", "clocks.pgn", "--json"]).document(), "unread_comment").is_empty());
}

#[test]
fn a_table_tells_that_comments_were_not_read() {
    let folder = Folder::new();
    // every third score has a decimal comma
    let text = games(6);
    let parts = text.split('{').enumerate();
    let third: Vec<String> =
        parts.map(|(i, part)| if i % 3 == 1 { part.replacen('.', ",", 1) } else { part.to_owned() }).collect();
    folder.write("all.pgn", &text);
    folder.write("third.pgn", third.join("{"));
    for (name, said) in [("all", 0), ("third", 1)] {
        let (records, table) = (format!("{name}.pgn"), format!("{name}.csv"));
        folder.good(&["sample", &records, "--from-ply", "1", "--out", &table]);
        for input in [records, table.clone()] {
            let document = folder.run(&["inspect", &input, "--json"]).document();
            assert_eq!(problems(&document, "unread_comment").len(), said, "{input}: {document:#}");
        }
        assert_eq!(folder.text(&table).contains(",unread"), said > 0, "{name}");
    }
}

#[test]
fn all_positions_are_more_samples_of_the_same_games() {
    let folder = Folder::new();
    folder.write("games.pgn", games(300));
    let fit = |out: &str, more: &[&str]| {
        let arguments = ["calibrate", "games.pgn", "--from-ply", "1", "--out", out, "--no-plots", "--model", "mle"];
        folder.document(&[&arguments[..], more].concat());
        folder.json(&format!("{out}/A.json"))["models"]["maximum_likelihood"].clone()
    };
    let (few, all) = (fit("few", &[]), fit("all", &["--window=1"]));
    assert_eq!((&few["games"], &all["games"]), (&300.into(), &300.into()));
    // 30 moves of each side in each game
    assert_eq!(all["samples"], 9_000);
    assert!(few["samples"].as_u64().unwrap() <= 300);
    // the scores of a game differ little, so that thirty times as many make the interval hardly narrower
    let error =
        |fit: &serde_json::Value| fit["covariance"][0][0].as_f64().unwrap().sqrt() / fit["w1"].as_f64().unwrap();
    assert!(error(&all) > 0.3 * error(&few), "{} {}", error(&all), error(&few));
    let out = folder.good(&["calibrate", "--dry-run", "games.pgn", "--window=1", "--from-ply", "1"]).out;
    assert!(out.contains("every scored one from ply 1 on") && out.contains("those of a game are alike"), "{out}");
}
