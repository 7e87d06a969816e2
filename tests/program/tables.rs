//! Tables of samples: what their rows say does not depend on the order of rows and files, and no row is lost.

use std::collections::BTreeMap;

use evalcurve_testkit::attack::{Attack, csv as attack_csv};
use serde_json::{Value, json};

use crate::support::{Folder, csv, csv_text, problems};

/// The sample table of these inputs, without the places of the samples.
fn sampled(folder: &Folder, inputs: &[&str]) -> String {
    folder.good(&[&["sample"], inputs, &["--out", "out.csv", "--force", "-q"]].concat());
    let (mut head, mut rows) = csv(&folder.text("out.csv"));
    assert_eq!(head[head.len() - 2..], ["source", "line"]);
    head.truncate(head.len() - 2);
    rows.iter_mut().for_each(|row| row.truncate(head.len()));
    csv_text(&head, &rows)
}

/// The counts of the rows of tables.
fn rows(document: &Value) -> &Value {
    &document["positions"]["table"]
}

const HEAD: &str = "game,engine,opponent,color,window,ply,score_cp,result";

/// Games of A and B: the rows of A with ratings and times, those of B, and those of A with other scores.
fn write_files(folder: &Folder) {
    let mut files = [format!("{HEAD},rating,opponent_rating,start_time\n"), format!("{HEAD}\n"), format!("{HEAD}\n")];
    for i in 0..200 {
        let (score, won) = ((i * 37) % 801 - 400, (i * 61) % 100 < 50 + ((i * 37) % 801 - 400) / 10);
        let (own, other) = (u8::from(won), u8::from(!won));
        files[0] += &format!("g{i},A,B,black,0,40,{score},{own},{},{},2020-01-{:02}\n", 1500 + i, 1400, 1 + i % 28);
        files[1] += &format!("g{i},B,A,white,0,41,{},{other}\n", -score);
        files[2] += &format!("g{i},A,B,black,0,40,{},{own}\n", score + 300);
    }
    for (name, text) in ["a.csv", "b.csv", "c.csv"].into_iter().zip(files) {
        folder.write(name, text);
    }
}

/// The first row of a game made it: with the file of B first, the games had neither ratings nor times.
#[test]
fn the_order_of_tables_has_no_effect() {
    let folder = Folder::new();
    write_files(&folder);
    let table = sampled(&folder, &["a.csv", "b.csv"]);
    assert_eq!(table, sampled(&folder, &["b.csv", "a.csv"]));
    assert!(table.contains(",1523.0,1400.0,2020-01-24,") && !table.contains("bradley_terry"), "{table}");
    // c.csv contradicts a.csv
    let table = sampled(&folder, &["a.csv", "b.csv", "c.csv"]);
    for inputs in [["c.csv", "b.csv", "a.csv"], ["b.csv", "c.csv", "a.csv"], ["a.csv", "c.csv", "b.csv"]] {
        assert_eq!(table, sampled(&folder, &inputs), "{inputs:?}");
        let document = folder.document(&[&["inspect"], &inputs[..]].concat());
        assert_eq!(rows(&document), &json!({ "read": 600, "used": 400, "skipped": { "duplicate": 200 } }));
    }
    // all windows are from one of the two, and the message names it
    for inputs in [["a.csv", "c.csv"], ["c.csv", "a.csv"]] {
        let differ = "c.csv:2: duplicate: 200 rows of games and windows that another input has, too, are skipped; \
                      200 windows have other values in a.csv, which counts";
        folder.good(&[&["inspect"], &inputs[..]].concat()).says(&[differ]);
    }
    // a table that says more counts, and a table as of chess
    let with_material = |text: String| {
        text.replacen('\n', ",material,chess\n", 1).replace(",1\n", ",1,40,true\n").replace(",0\n", ",0,,true\n")
    };
    folder.write("more.csv", with_material(folder.text("c.csv")));
    for inputs in [["a.csv", "more.csv"], ["more.csv", "a.csv"]] {
        folder.good(&[&["sample"], &inputs[..], &["--out", "more-out.csv"], &["--force"]].concat());
        let table = folder.text("more-out.csv");
        assert!(table.matches(",40\n").count() > 50 && table.contains(",chess,material"), "{inputs:?} {table}");
        folder
            .good(&[&["inspect"], &inputs[..]].concat())
            .says(&["a.csv:2: duplicate: 200 rows", "in more.csv, which"]);
    }
    let same = folder.good(&["inspect", "a.csv", "a.csv"]).says(&["a.csv:2: duplicate: 200 rows of games"]);
    assert!(!same.err.contains("other values"), "{}", same.err);
}

/// U+009B begins a command to a terminal as ESC [ does, and U+202E reverses what follows.
const UNSAFE: &str = "x\u{9b}31m\u{202e}\u{2028}y";

/// Samples of an engine with this name.
fn samples_of(name: &str) -> String {
    let row = |i: i32| {
        let score = (i * 37) % 801 - 400;
        format!("g{i},\"{name}\",{score},{}\n", u8::from((i * 61) % 100 < 50 + score / 10))
    };
    "game,engine,score_cp,result\n".to_owned() + &(0..300).map(row).collect::<String>()
}

/// serde escapes only what JSON asks for.
#[test]
fn documents_hold_no_control_characters() {
    let folder = Folder::new();
    folder.write("esc.csv", samples_of(UNSAFE));
    folder.write("ms.csv", format!("player,opponent,wins,draws,losses\n{UNSAFE},B,10,2,5\n"));
    folder.good(&["calibrate", "esc.csv", "--no-plots", "--out", "out", "--force", "-q"]);
    let file = std::fs::read_dir(folder.at("out")).unwrap().next().unwrap().unwrap().file_name();
    std::fs::rename(folder.at("out").join(file), folder.at("e.json")).unwrap();
    for (arguments, pointer) in [
        (&["inspect", "esc.csv"][..], "/engines/0/name"),
        (&["calibrate", "--dry-run", "esc.csv"], "/engines/0/name"),
        (&["plot", "--points", "esc.csv"], "/engines/0/name"),
        (&["calibrate", "esc.csv", "--no-plots", "--out", "out"], "/engines/0/name"),
        (&["winrate", "e.json", "100"], "/engine"),
        (&["compare", "e.json", "e.json"], "/old_engine"),
        (&["match-stats", "ms.csv"], "/systems/0/player"),
    ] {
        let ran = folder.good(&[arguments, &["--json"]].concat());
        assert!(!ran.out.chars().any(|c| UNSAFE.contains(c) && !c.is_ascii()), "{arguments:?}: {}", ran.out);
        let document: Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!(document.pointer(pointer), Some(&json!(UNSAFE)), "{arguments:?}: {document:#}");
    }
}

/// Without colours, the rows of both engines were those of Black, and one of them had the rating of the other.
#[test]
fn names_tell_engines_apart_where_no_row_has_a_colour() {
    let folder = Folder::new();
    let head = "game,engine,opponent,window,ply,score_cp,result,rating,opponent_rating\n";
    let rows_of = |own: &str, other: &str, ratings: [u32; 2]| -> String {
        let ([rating, opponent], ply) = (ratings, if own == "A" { 40 } else { 41 });
        let row = |i: i32| format!("g{i},{own},{other},0,{ply},{},{},{rating},{opponent}\n", i * 7 % 300 - 150, i % 2);
        (0..60).map(row).collect()
    };
    let both = [rows_of("Z", "A", [2000, 1500]), rows_of("A", "Z", [1500, 2000])];
    folder.write("z.csv", format!("{head}{}", both[0]));
    folder.write("a.csv", format!("{head}{}", both[1]));
    folder.write("both.csv", format!("{head}{}", both.concat()));
    let table = sampled(&folder, &["both.csv"]);
    for inputs in [["a.csv", "z.csv"], ["z.csv", "a.csv"]] {
        assert!(sampled(&folder, &inputs) == table, "{inputs:?}");
    }
    let (head, lines) = csv(&table);
    let at = |name: &str| head.iter().position(|column| column == name).unwrap();
    assert_eq!(lines.len(), 120);
    for line in &lines {
        let rating = if line[at("engine")] == "Z" { "2000.0" } else { "1500.0" };
        assert_eq!((line[at("rating")].as_str(), line[at("color")].as_str()), (rating, ""), "{line:?}");
    }
    // rows without a colour are those of a table with colours, or the other side of its games
    let with_color = |file: &str| folder.text(file).replace("engine,", "engine,color,");
    folder.write("colored.csv", with_color("z.csv").replace(",Z,", ",Z,white,"));
    folder.write("empty.csv", with_color("both.csv").replace(",A,Z,", ",A,,Z,").replace(",Z,A,", ",Z,,A,"));
    for inputs in [["colored.csv", "empty.csv"], ["empty.csv", "colored.csv"]] {
        let lines = csv(&sampled(&folder, &inputs)).1;
        assert_eq!(lines.len(), 120);
        for line in &lines {
            let color = if line[at("engine")] == "Z" { "white" } else { "black" };
            assert_eq!(line[at("color")], color, "{line:?}");
        }
    }
    // and again from the sample table, which has a column for colours, but no colours
    folder.write("again.csv", &table);
    assert!(sampled(&folder, &["again.csv"]) == table);
    let split = folder.run(&["plot", "--points", "both.csv", "--by", "color", "--min-bin", "1"]);
    assert!(!split.out.contains("white"), "{}", split.out);
}

/// Rows of two files with empty cells for the game were the same games.
#[test]
fn rows_without_a_game_are_games_of_their_own() {
    let folder = Folder::new();
    for (name, shift) in [("a.csv", 0), ("b.csv", 1)] {
        let row = |i: i32| format!(",A,black,0,{},{}\n", i * 7 % 300 - 150 + shift, i % 2);
        folder.write(
            name,
            "game,engine,color,window,score_cp,result\n".to_owned() + &(0..50).map(row).collect::<String>(),
        );
    }
    let document = folder.document(&["inspect", "a.csv", "b.csv", "a.csv"]);
    assert_eq!(rows(&document), &json!({ "read": 150, "used": 100, "skipped": { "duplicate": 50 } }));
    assert_eq!(document["games"]["used"], 100);
}

/// `error: forged` was at the beginning of a line of standard error.
#[test]
fn a_name_makes_no_message_of_its_own() {
    let folder = Folder::new();
    folder.write("nl.csv", samples_of("A\nerror: forged"));
    for arguments in
        [&["calibrate", "--dry-run", "nl.csv"][..], &["inspect", "nl.csv"], &["calibrate", "nl.csv", "--no-plots"]]
    {
        let ran = folder.run(arguments);
        let lines: Vec<&str> = ran.err.lines().chain(ran.out.lines()).collect();
        assert!(lines.iter().any(|line| line.contains("forged")), "{arguments:?}: {}{}", ran.out, ran.err);
        assert!(!lines.iter().any(|line| line.starts_with("error: forged")), "{arguments:?}: {}{}", ran.out, ran.err);
    }
}

/// A row that is used, skipped or read twice without a word is lost.
#[test]
fn every_row_is_counted_once() {
    let folder = Folder::new();
    let game = "V2\nN+A\nN-B\nPI\n+\n+7776FU\n'** 30\n-3334FU\n'** -10\n%TORYO\n";
    folder.write("record.csv", format!("record\n\"{game}\"\n\"V2.2\n\"\n\"\"\nno record\n"));
    let document = folder.document(&["inspect", "record.csv"]);
    assert_eq!(document["games"]["read"], 4);
    assert_eq!(document["games"]["skipped"]["no_moves"], 3);
    folder.good(&["inspect", "record.csv", "--from-ply", "1"]).says(&["record.csv:2: no moves: the text of the row"]);

    let head = "game,engine,color,window,ply,score_cp,result";
    let windows = ["4294967295", "3000000000", "-1", "inf", "20001", "20000", "0", "nan", "x", ""];
    let lines: String = windows.iter().enumerate().map(|(i, w)| format!("g{i},A,black,{w},1,1,1\n")).collect();
    folder.write("win.csv", format!("{head}\n{lines}"));
    let document = folder.document(&["inspect", "win.csv"]);
    assert_eq!(rows(&document), &json!({ "read": 10, "used": 5, "skipped": { "bad_window": 5 } }));
    folder.good(&["inspect", "win.csv"]).says(&["win.csv:2: bad window: '4294967295' is not a window from 0 to 20000"]);

    let ids = ["ABCDEFABCDEFABCD", "abcdefabcdefabcd", "+bcdefabcdefabcd", "0bcdefabcdefabcd"];
    let lines: String = ids.iter().map(|id| format!("{id},A,1,1\n")).collect();
    folder.write("hex.csv", format!("game,engine,score_cp,result\n{lines}"));
    assert_eq!(folder.document(&["inspect", "hex.csv"])["games"]["used"], 4);

    // without windows, only a whole file is recognised
    folder.write("games.csv", "game,engine,score_cp,result\ng1,A,1,1\ng2,A,2,0\n");
    folder.write("more.csv", "game,engine,score_cp,result\ng1,A,1,1\ng3,A,2,0\n");
    folder.write("none.csv", "engine,score_cp,result\nA,1,1\nA,2,0\n");
    for name in ["games.csv", "none.csv"] {
        let document = folder.document(&["inspect", name, name]);
        assert_eq!(rows(&document), &json!({ "read": 4, "used": 2, "skipped": { "duplicate": 2 } }), "{name}");
        folder.good(&["inspect", name, name]).says(&["the file has the same rows as another; its 2 rows are skipped"]);
    }
    let document = folder.document(&["inspect", "games.csv", "more.csv"]);
    assert_eq!(
        (rows(&document), &document["games"]["used"]),
        (&json!({ "read": 4, "used": 4, "skipped": {} }), &json!(3))
    );
}

/// The message was that of a library, "expected 2 rows, actual 5 rows".
#[test]
fn stray_quotes_and_blank_lines_have_lines() {
    let folder = Folder::new();
    let quote = "is not one of a pair around a cell; put the whole cell in quotes and write each \" in it as \"\"";
    let head = "engine,score_cp,result,note";
    for (name, rows, line) in [
        ("q1.csv", "A\"x,10,1,\nB,20,0,\nB,21,0,\nC\"y,30,1,\nD,5,1,\n", 2),
        ("q3.csv", "A,10,1,5\" board\nB,20,0,\nB,21,0,ok\nC,30,1,6\" board\nD,5,1,\n", 2),
        ("uq1.csv", "A,9,1,ok\nA,10,1,\"5 in\nB,20,0,\nC,30,1,\"6 in\nD,5,1,\n", 3),
    ] {
        folder.write(name, format!("{head}\n{rows}"));
        folder.run(&["inspect", name]).ends(2).says(&[&format!("{name}: the quote in line {line} {quote}")]);
    }
    // within one line
    folder.write("one.csv", format!("{head}\nA,10,1,5\" x 6\"\nB,20,0,\n"));
    assert_eq!(folder.document(&["inspect", "one.csv"])["games"]["used"], 2);
    folder.write("blank.csv", "engine,score_cp,result\nA,10,1\n\n\r\nA,x,1\n\"A\nB\",3,1\nA,y,1\n\n");
    let document = folder.document(&["inspect", "blank.csv"]);
    assert_eq!(rows(&document), &json!({ "read": 4, "used": 2, "skipped": { "bad_score": 2 } }));
    assert_eq!(problems(&document, "bad_score"), ["blank.csv:5", "blank.csv:8"]);
    folder.write("good.csv", "engine,score_cp,result\nA,10,1\n\nA,20,0\n\n");
    folder.good(&["inspect", "good.csv", "--strict"]);
}

#[test]
fn columns_that_could_both_be_meant_are_refused() {
    let folder = Folder::new();
    folder.write("twice.csv", "engine,score_cp,result,score_cp\nA,10,1,-10\n");
    let twice = "twice.csv: columns 2 and 4 are both named 'score_cp'; rename or remove one of them";
    folder.run(&["inspect", "twice.csv"]).ends(2).says(&[twice]);
    folder.write("two.csv", "engine,score_cp,result,score\nA,10,1,-10\n");
    folder
        .run(&["inspect", "two.csv"])
        .ends(2)
        .says(&["two.csv: both score_cp and score are columns; choose with --col"]);
    for column in ["score=score", "score=score_cp"] {
        assert_eq!(folder.document(&["inspect", "two.csv", "--column", column])["games"]["used"], 1);
    }
    folder.write("cr.csv", "engine,score_cp,result\rA,10,1\r");
    folder.run(&["inspect", "cr.csv"]).ends(2).says(&["cr.csv: its lines end with CR alone", "LF or CRLF"]);
}

#[test]
fn a_table_can_come_by_standard_input() {
    let folder = Folder::new();
    let table = "engine,score_cp,result\n".to_owned() + &"A,10,1\nA,-20,0\n".repeat(2_000);
    for arguments in [&["inspect", "-", "--json"][..], &["inspect", "-", "--format", "table", "--json"]] {
        let document = folder.run_with(arguments, table.as_bytes()).ends(0).document();
        assert_eq!(rows(&document), &json!({ "read": 4_000, "used": 4_000, "skipped": {} }));
    }
    folder.run_with(&["inspect", "-", "--format", "table"], b"a,b\n").ends(2).says(&["-: no column 'engine'"]);
    folder.run_with(&["inspect", "-"], b"PAR1").ends(2).says(&["-: a Parquet table is read from a file only"]);
}

/// Warnings quote names whole.
#[test]
fn names_have_a_limit() {
    let folder = Folder::new();
    let (long, longest) = ("N".repeat(80_000), "竹".repeat(66) + "ab");
    folder.write(
        "long.csv",
        format!("engine,opponent,score_cp,result\n{long},B,1,1\nA,{longest}c,1,1\n{longest},B,1,1\n"),
    );
    let ran = folder.good(&["inspect", "long.csv"]).says(&["is not a name of at most 200 bytes"]);
    assert!(ran.err.len() < 2_000, "{}", ran.err);
    let document = folder.document(&["inspect", "long.csv"]);
    assert_eq!(rows(&document)["skipped"], json!({ "bad_engine": 1, "bad_opponent": 1 }));
    assert_eq!(crate::support::names(&document), [&longest]);
    let game = |name: &str| format!("V2\nN+{name}\nN-B\nPI\n+\n+7776FU\n'** 30\n-3334FU\n'** -10\n%TORYO\n");
    folder.write("long.csa", game(&long));
    folder.write("longest.csa", game(&longest));
    let document = folder.document(&["inspect", "long.csa", "longest.csa", "--from-ply", "1"]);
    assert_eq!(document["games"]["skipped"], json!({ "broken_record": 1 }));
    folder.good(&["inspect", "long.csa", "longest.csa", "--from-ply", "1"]).says(&["a name of 80000 bytes"]);
}

/// What the games of a sample table show is what the records show: the table has how their scores end, and their moves.
#[test]
fn a_sample_table_has_the_evidence_of_its_games() {
    let folder = Folder::new();
    let mut attack = Attack::clean(4, 200, 81);
    attack.adjudicated = Some(300.0);
    let every = attack.samples(0);
    folder.write("every.csv", attack_csv(&every));
    folder.write("games.pgn", pgn(&attack_csv(&every)));
    folder.good(&["sample", "games.pgn", "--out", "drawn.parquet"]);
    let of = |file: &str| {
        let document = folder.document(&["calibrate", "--dry-run", file, "--bands", "0"]);
        let engines = document["engines"].as_array().unwrap().clone();
        engines.into_iter().map(|e| ["name", "warnings", "adjudicated"].map(|key| e[key].clone())).collect()
    };
    let (records, table): (Vec<[Value; 3]>, Vec<[Value; 3]>) = (of("games.pgn"), of("drawn.parquet"));
    assert!(records.iter().any(|[.., adjudicated]| adjudicated["threshold_cp"].as_u64().is_some()), "{records:#?}");
    assert_eq!(records, table);
}

/// Records of simulated games: the moves of a fixed line, and the scores of both sides.
fn pgn(table: &str) -> String {
    let (head, rows) = csv(table);
    let at = |name: &str| head.iter().position(|h| h == name).unwrap();
    let mut games: BTreeMap<&str, Vec<&Vec<String>>> = BTreeMap::new();
    rows.iter().for_each(|row| games.entry(row[at("game")].as_str()).or_default().push(row));
    let mut text = String::new();
    for (number, (_, mut rows)) in games.into_iter().enumerate() {
        rows.sort_by_key(|row| row[at("ply")].parse::<u32>().unwrap());
        let is_white = |row: &&&Vec<String>| row[at("ply")].parse::<u32>().unwrap() % 2 == 1;
        let white = rows.iter().find(is_white).unwrap();
        let result = match white[at("result")].as_str() {
            "1" => "1-0",
            "0" => "0-1",
            _ => "1/2-1/2",
        };
        let (own, other) = (&white[at("engine")], &white[at("opponent")]);
        text += &format!("[White \"{own}\"]\n[Black \"{other}\"]\n[Round \"{number}\"]\n[Result \"{result}\"]\n\n");
        let last: u32 = rows.last().unwrap()[at("ply")].parse().unwrap();
        for ply in 1..=last {
            let white = ply % 2 == 1;
            // knights that go back and forth, the first moves other in each game
            let choice = if ply <= 20 { number >> ((ply - 1) / 2) & 1 } else { 0 };
            let san = match (white, (ply - 1) / 2 % 2, choice) {
                (true, 0, 0) => "Nf3",
                (true, 0, _) => "g1f3",
                (true, _, 0) => "Ng1",
                (true, ..) => "f3g1",
                (false, 0, _) => "Nf6",
                (false, ..) => "Ng8",
            };
            let number = if white { format!("{}. ", ply.div_ceil(2)) } else { String::new() };
            let score = rows.iter().find(|row| row[at("ply")] == ply.to_string());
            let comment = score.map_or_else(String::new, |row| {
                format!(" {{{:+.2}/12 1s}}", row[at("score_cp")].parse::<f64>().unwrap() / 100.0)
            });
            text += &format!("{number}{san}{comment}\n");
        }
        text += &format!("{result}\n\n");
    }
    text
}

/// Copies whose scores differ by a search anew are one game, unless the user says that the identities count; and what
/// is printed as used is what is used.
#[test]
fn near_copies_count_once() {
    let folder = Folder::new();
    let rows = attack_csv(&Attack::clean(2, 40, 5).samples(0));
    let (head, all) = csv(&rows);
    let at = |name: &str| head.iter().position(|h| h == name).unwrap();
    let copy = |number: i32| -> String {
        let changed = all.iter().enumerate().map(|(i, row)| {
            let mut row = row.clone();
            row[at("game")] = format!("{}-{number}", row[at("game")]);
            let near = row[at("score_cp")].parse::<i32>().unwrap() + number * (i as i32 % 3 - 1);
            row[at("score_cp")] = near.to_string();
            row.join(",") + "\n"
        });
        changed.collect()
    };
    folder.write("t.csv", head.join(",") + "\n" + &(0..4).map(copy).collect::<String>());
    let read = |more: &[&str]| folder.run(&[&["inspect", "t.csv", "--json"], more].concat()).document();
    let once = read(&[]);
    let games = all.iter().map(|row| &row[at("game")]).collect::<std::collections::BTreeSet<_>>().len();
    let used = once["games"]["used"].as_u64().unwrap() as usize;
    // games of two rows whose scores are all near 0 may be alike by chance
    assert!(once["games"]["read"] == 4 * games && (games..games * 5 / 4).contains(&used), "{once:#}");
    let said = once["problems"].as_array().unwrap().iter().any(|p| p.to_string().contains("--duplicates by-identity"));
    assert!(said, "{:#}", once["problems"]);
    let kept = read(&["--duplicates", "by-identity"]);
    assert_eq!(kept["games"]["used"], 4 * games, "{:#}", kept["games"]);
}
