//! Training data, tables of other tools, and dialogue logs.

use serde_json::{Value, json};

use crate::same_bytes::{gzip, zst};
use crate::support::{Folder, engine, names, problems};

/// The start position as hcp and as packed sfen (cshogi 1.1.0).
const START: [[u8; 32]; 2] = [
    [
        0x58, 0xa4, 0x49, 0x21, 0x0c, 0xd7, 0x57, 0x21, 0x7e, 0x8e, 0x4d, 0x21, 0x2c, 0xaf, 0x42, 0x78, 0x14, 0xc2,
        0xab, 0x10, 0x9e, 0x4d, 0x21, 0x2c, 0xd7, 0x5f, 0x21, 0x3e, 0x8e, 0x49, 0x21, 0x0c,
    ],
    [
        0x58, 0xa4, 0x51, 0x22, 0x0c, 0xeb, 0x67, 0x22, 0x7e, 0x96, 0x53, 0x22, 0x1c, 0xaf, 0x44, 0x78, 0x24, 0xc2,
        0x2b, 0x11, 0x9e, 0x53, 0x22, 0x1c, 0xeb, 0x6f, 0x22, 0x3e, 0x96, 0x51, 0x22, 0x0c,
    ],
];

/// Positions with a known truth: the side to move wins with probability 1 / (1 + exp(-score / 600)).
pub(crate) fn truth(count: u32) -> impl Iterator<Item = (u32, i16, bool, bool)> {
    let mut state = 12_345u64;
    let mut unit = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / (1u64 << 24) as f64
    };
    (0..count).map(move |i| {
        let score = (unit() - 0.5) * 4_000.0;
        let won = unit() < 1.0 / (1.0 + (-score / 600.0).exp());
        (i, score.round() as i16, won, unit() < 0.5)
    })
}

pub(crate) fn hcpe(count: u32) -> Vec<u8> {
    let record = |(_, score, won, white): (u32, i16, bool, bool)| {
        let mut bytes = START[0].to_vec();
        bytes[0] |= u8::from(white);
        bytes.extend(score.to_le_bytes());
        bytes.extend([0, 0, if won == white { 2 } else { 1 }, 0]);
        bytes
    };
    truth(count).flat_map(record).collect()
}

pub(crate) fn psv(count: u32) -> Vec<u8> {
    let record = |(i, score, won, white): (u32, i16, bool, bool)| {
        let mut bytes = START[1].to_vec();
        bytes[0] |= u8::from(white);
        bytes.extend(score.to_le_bytes());
        // the ply decreases from record to record, so no two records are from one game
        let ply = (60_000 - i % 60_000) as u16;
        bytes.extend([0, 0]);
        bytes.extend(ply.to_le_bytes());
        bytes.extend([if won { 1 } else { 0xff }, 0]);
        bytes
    };
    truth(count).flat_map(record).collect()
}

pub(crate) fn hcpe3(count: u32) -> Vec<u8> {
    let game = |(_, score, won, white): (u32, i16, bool, bool)| {
        let mut bytes = START[0].to_vec();
        bytes[0] |= u8::from(white);
        bytes.extend([1, 0, if won == white { 2 } else { 1 }, 0, 7, 1]);
        bytes.extend(score.to_le_bytes());
        bytes.extend([1, 0, 7, 1, 1, 0]);
        bytes
    };
    truth(count).flat_map(game).collect()
}

/// The counts of positions of one format, which must add up.
fn positions(document: &Value, format: &str) -> (u64, u64) {
    let count = &document["positions"][format];
    let skipped: u64 = count["skipped"].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum();
    let (read, used) = (count["read"].as_u64().unwrap(), count["used"].as_u64().unwrap());
    assert_eq!(read, used + skipped, "{format}: {count}");
    (read, used)
}

const EVERY_ONE: [&str; 4] = ["--annotator", "X", "--window", "1"];

#[test]
fn the_three_formats_of_training_data_agree() {
    let folder = Folder::new();
    let mut fits = Vec::new();
    for (format, bytes) in [("hcpe", hcpe(4_000)), ("psv", psv(4_000)), ("hcpe3", hcpe3(4_000))] {
        // the name does not matter
        folder.write("data.bin", bytes);
        let document = folder.document(&[&["calibrate", "--dry-run", "data.bin"], &EVERY_ONE[..]].concat());
        assert_eq!(positions(&document, format), (4_000, 4_000), "{:#}", document["positions"]);
        assert_eq!(names(&document), ["X"]);
        let x = engine(&document, "X");
        assert_eq!((&x["games"], &x["samples"]), (&json!(4_000), &json!(4_000)), "{format}");
        let w1 = x["maximum_likelihood"]["w1"].as_f64().unwrap();
        assert!((w1 * 600.0 - 1.0).abs() < 0.1, "{format}: {w1}");
        fits.push(x["maximum_likelihood"]["w1"].clone());
    }
    assert!(fits.iter().all(|w1| *w1 == fits[0]), "{fits:?}");
}

#[test]
fn the_draw_does_not_depend_on_threads_or_archives() {
    let folder = Folder::new();
    // more than one block that is read independently
    for (format, bytes) in [("hcpe", hcpe(70_000)), ("psv", psv(70_000)), ("hcpe3", hcpe3(50_000))] {
        let read = |name: &str, bytes: &[u8], threads: &str| {
            folder.write(&format!("{name}/data"), bytes);
            let path = format!("{name}/data");
            let more = ["--annotator", "X", "--window", "20", "--threads", threads, "--force"];
            folder.good(&[&["sample", &path, "--out", "s.csv"], &more[..]].concat());
            folder.text("s.csv").replace(&path, "")
        };
        let one = read("plain", &bytes, "1");
        let expected = bytes.len()
            / if format == "hcpe3" {
                46
            } else if format == "psv" {
                40
            } else {
                38
            }
            / 20;
        // HCPE3 draws game by game, and these games have one position each
        let drawn = one.lines().count() as f64 - 1.0;
        assert!(
            (drawn / expected as f64 - 1.0).abs() < if format == "hcpe3" { 0.1 } else { 0.001 },
            "{format}: {drawn}"
        );
        for threads in ["1", "2", "7"] {
            assert!(read("plain", &bytes, threads) == one, "{format}, {threads} threads");
            assert!(read("gz", &gzip(&bytes), threads) == one, "{format}.gz, {threads} threads");
            assert!(read("zst", &zst(&bytes), threads) == one, "{format}.zst, {threads} threads");
        }
        let other = folder.good(&[
            "sample",
            "plain/data",
            "--out",
            "o.csv",
            "--annotator",
            "X",
            "--seed",
            "7",
            "--window",
            "20",
            "--force",
        ]);
        assert!(folder.text("o.csv") != one, "{}", other.out);
    }
}

#[test]
fn a_file_of_which_little_is_drawn_is_reported_with_its_remedy() {
    let folder = Folder::new();
    folder.write("small.hcpe", hcpe(4_000));
    let ran = folder.good(&["inspect", "small.hcpe", "--annotator", "X"]);
    assert!(ran.err.contains("only 40 of 4,000 positions were drawn") && ran.err.contains("--window"), "{}", ran.err);
    let ran = folder.good(&[&["inspect", "small.hcpe"], &EVERY_ONE[..]].concat());
    assert!(!ran.err.contains("only"), "{}", ran.err);
}

#[test]
fn training_data_given_twice_counts_once_in_any_order() {
    let folder = Folder::new();
    for (format, bytes, cut) in [("hcpe", hcpe(70_000), 38 * 60_000), ("psv", psv(70_000), 40 * 60_000)] {
        folder.write("whole", &bytes);
        folder.write("copy", &bytes);
        folder.write("cut", &bytes[..cut]);
        let options = ["--annotator", "X", "--window", "20", "--force", "--json"];
        let samples = |names: &[&str]| {
            folder.good(&[&["sample"], names, &["--out", "s.csv"], &options[..]].concat());
            let document = folder.document(&[&["inspect"], names, &options[..4]].concat());
            let (read, used) = positions(&document, format);
            let again = document["positions"][format]["skipped"]["duplicate"].as_u64().unwrap_or(0);
            let text = folder.text("s.csv").replace("copy", "whole").replace("cut", "whole");
            assert_eq!(text.lines().count() as u64, used + 1, "{document:#}");
            (read, used, again, text)
        };
        let (read, used, again, once) = samples(&["whole"]);
        assert_eq!((read, again), (70_000, 0), "{format}");
        for names in [["whole", "copy", "cut"], ["cut", "whole", "copy"], ["copy", "cut", "whole"]] {
            let all = samples(&names);
            assert_eq!((all.0, all.1), (200_000, used), "{format}");
            // 3,500 of the copy and 3,000 of the truncated file, at most one more or less for truncated games
            assert!(all.2.abs_diff(6_500) <= 4, "{format}: {}", all.2);
            assert!(all.3 == once, "{format}: {names:?}");
        }
    }
}

#[test]
fn damaged_training_data_costs_the_damaged_records() {
    let folder = Folder::new();
    let mut bytes = hcpe(300);
    bytes[38 * 10 + 36] = 99;
    bytes[38 * 20 + 1] ^= 0xff;
    bytes.extend([1, 2, 3]);
    folder.write("bad.hcpe", &bytes);
    let document = folder.document(&[&["inspect", "bad.hcpe"], &EVERY_ONE[..]].concat());
    assert_eq!(positions(&document, "hcpe"), (301, 298));
    let skipped = &document["positions"]["hcpe"]["skipped"];
    assert_eq!(*skipped, json!({ "illegal_result": 1, "broken_position": 1, "broken_record": 1 }));
    assert_eq!(problems(&document, "illegal_result"), ["bad.hcpe:11"]);
    assert_eq!(problems(&document, "broken_position"), ["bad.hcpe:21"]);
    let ran = folder.good(&[&["inspect", "bad.hcpe"], &EVERY_ONE[..]].concat());
    assert!(ran.out.contains("scores  300 scored positions"), "{}", ran.out);
    ran.says(&[
        "byte 99 at byte 416 is not 0, 1 or 2",
        "3 bytes are left at byte 11400, but a record of hcpe has 38",
        "every record counts as a game",
        "(--window); --from-ply does not apply",
    ]);
    folder.run(&["inspect", "bad.hcpe", "--strict", "--annotator", "X"]).ends(1);
    // without the name of the engine
    let document = folder.document(&["inspect", "bad.hcpe"]);
    assert_eq!(positions(&document, "hcpe"), (301, 0));
    folder.run(&["calibrate", "--dry-run", "bad.hcpe"]).ends(1).says(&["--annotator NAME"]);
    // cut or changed anywhere: the other records are read
    for (format, whole) in [("hcpe", hcpe(40)), ("psv", psv(40)), ("hcpe3", hcpe3(40))] {
        let size = whole.len() / 40;
        for at in (0..whole.len()).step_by(whole.len() / 23) {
            folder.write("cut", &whole[..at]);
            let document = folder
                .run(&[&["inspect", "cut", "--json", "--format", format], &EVERY_ONE[..]].concat())
                .ends(0)
                .document();
            if at > 0 {
                assert_eq!(positions(&document, format).1, (at / size) as u64, "{format} cut at {at}");
            }
            let mut changed = whole.clone();
            changed[at] ^= 0xff;
            folder.write("cut", changed);
            let document = folder.run(&[&["inspect", "cut", "--json"], &EVERY_ONE[..]].concat()).ends(0).document();
            assert!(positions(&document, format).1 >= 39, "{format} changed at {at}: {:#}", document["positions"]);
        }
    }
}

#[test]
fn training_data_without_scores_is_refused() {
    let folder = Folder::new();
    let mut bytes = hcpe(500);
    bytes.chunks_exact_mut(38).for_each(|record| record[32..34].fill(0));
    folder.write("zero.hcpe", bytes);
    let ran = folder.run(&[&["calibrate", "zero.hcpe", "--json", "--no-plots"], &EVERY_ONE[..]].concat()).ends(1);
    let document = ran.document();
    assert_eq!(positions(&document, "hcpe"), (500, 0));
    assert_eq!(document["files"]["refused"], json!({ "all_scores_zero": 1 }));
    folder
        .run(&[&["calibrate", "--dry-run", "zero.hcpe"], &EVERY_ONE[..]].concat())
        .ends(1)
        .says(&["written without scores"]);
}

#[test]
fn a_mixed_folder_is_read_by_content_and_a_format_can_be_forced() {
    let folder = Folder::new();
    folder.write("mixed/a.dat", psv(900));
    folder.generate("mixed/games.txt", &["--games", "40"]);
    folder.write("mixed/log.out", LOG);
    folder.good(&["sample", "mixed/games.txt", "--out", "mixed/table.csv"]);
    folder.write("mixed/notes.csv", "what,when\nnothing,today\n");
    let document = folder.document(&["inspect", "mixed", "--from-ply", "1"]);
    // the table contains the games a second time
    assert_eq!(document["positions"]["table"]["skipped"]["duplicate"], document["positions"]["table"]["read"]);
    assert_eq!(document["games"]["used"], 41, "{:#}", document["games"]);
    assert_eq!(document["files"]["refused"]["unknown_format"], 1);
    let scored = |name: &str| engine(&document, name)["samples"].as_u64().unwrap();
    assert!(scored("Black engine") == 1 && scored("White engine") == 1);
    // a log read as PGN contains no game
    let forced = folder.document(&["inspect", "mixed/log.out", "--format", "pgn"]);
    assert_eq!(forced["games"]["used"], 0);
    folder.run(&["inspect", "mixed", "--format", "xyz"]).ends(2).says(&["usi-log", "hcpe3", "table"]);
}

/// The help and the documentation follow the list of formats.
#[test]
fn help_and_documentation_agree_with_the_list_of_formats() {
    use evalcurve::record::FORMATS;
    let help = Folder::new().good(&["inspect", "--help"]).out;
    let words = help.split_whitespace().collect::<Vec<_>>().join(" ");
    let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
    assert!(words.contains(&format!("[possible values: {}, table]", names.join(", "))), "{help}");
    // the table has a row for each entry of the list, in its order, and no others
    let rows: Vec<&str> = include_str!("../../docs/formats.md")
        .lines()
        .skip_while(|line| *line != "## List of formats")
        .take_while(|line| !line.starts_with("## Files"))
        .filter(|line| {
            line.starts_with("| `") && !["| `--format`", "| `table`"].iter().any(|row| line.starts_with(row))
        })
        .collect();
    assert_eq!(rows.len(), FORMATS.len(), "docs/formats.md");
    for (row, format) in rows.iter().zip(FORMATS) {
        assert!(row.starts_with(&format!("| `{}` | {} | ", format.name, format.about)), "docs/formats.md: {row}");
    }
}

/// The vote log of a council of two in a number of games against an unnamed opponent: A is right at 1/w1 = 600, and the
/// scores of B are twice as large.
fn votes(games: u32) -> String {
    let mut text = String::from("{\"format\":\"evalcurve-votes\",\"version\":1,\"game\":\"shogi\",\"voters\":[]}\n");
    for (i, score, won, white) in truth(games) {
        let (side, ply) = if white { ("white", 40) } else { ("black", 41) };
        let vote = |name: &str, score: i16| json!({ "voter": name, "move": "7g7f", "score": score });
        for (ply, score) in [(ply, score), (ply + 100, score / 2)] {
            let votes = [vote("A", score), vote("B", score.saturating_mul(2))];
            let line = json!({ "game_id": i.to_string(), "ply": ply, "position": "startpos", "side": side, "time_ms": 1,
                               "votes": votes, "decision": null, "played": "7g7f" });
            text += &format!("{line}\n");
        }
        let end = if won { "win" } else { "loss" };
        text += &format!("{}\n", json!({ "game_id": i.to_string(), "end": end, "side": side, "ply": ply }));
    }
    text
}

#[test]
fn the_log_of_a_council_calibrates_its_members() {
    let folder = Folder::new();
    let text = votes(3_000);
    folder.write("votes.txt", &text);
    let document = folder.document(&["calibrate", "votes.txt", "--no-plots"]);
    assert_eq!(names(&document), ["A", "B"]);
    assert_eq!((&document["games"]["read"], &document["games"]["used"]), (&json!(6_000), &json!(6_000)));
    for (name, scale_cp) in [("A", 600.0), ("B", 1_200.0)] {
        // a decision after the end gives no sample
        assert_eq!(engine(&document, name)["samples"], 3_000);
        let found = 1.0 / folder.json(&format!("evalcurve-out/{name}.json"))["model"]["w1"].as_f64().unwrap();
        assert!((found / scale_cp - 1.0).abs() < 0.1, "{name}: {found}");
    }
    // the same with any number of threads, in blocks and from an archive
    let sampled = |name: &str, threads: &str| {
        folder.good(&["sample", name, "--threads", threads, "--force", "--out", "table.csv"]);
        folder.text("table.csv").replace(name, "")
    };
    assert!(text.len() > 1 << 20, "{}", text.len());
    let once = sampled("votes.txt", "1");
    assert_eq!(sampled("votes.txt", "3"), once);
    assert_eq!(once.lines().count(), 6_001);
    // two members are two engines, whose samples are of the same games and positions
    let games: std::collections::BTreeSet<&str> = once.lines().skip(1).map(|l| l.split(',').next().unwrap()).collect();
    assert_eq!(games.len(), 3_000);
    for name in ["A", "B"] {
        let field = &folder.json(&format!("evalcurve-out/{name}.json"))["field"];
        assert_eq!(field["fitted_together"], json!(2));
    }
    // --annotator does not rename members
    assert_eq!(names(&folder.document(&["inspect", "votes.txt", "--annotator", "X"])), ["A", "B"]);
    // the opponents have no names
    folder.run(&["match-stats", "votes.txt"]).says(&["does not name both players"]);
}

#[test]
fn a_log_of_a_council_without_its_header_can_be_forced() {
    let folder = Folder::new();
    let lines: Vec<String> = votes(2).lines().map(str::to_owned).collect();
    folder.write("part.jsonl", lines[1..].join("\n"));
    let refused = folder.document(&["inspect", "part.jsonl"]);
    assert_eq!(refused["files"]["refused"], json!({ "unknown_format": 1 }));
    let document = folder.document(&["inspect", "part.jsonl", "--format", "votes"]);
    assert_eq!(document["games"]["used"], 4);
    // without its end a game has no result
    folder.write("open.jsonl", lines[..lines.len() - 1].join("\n"));
    let document = folder.document(&["inspect", "open.jsonl"]);
    assert_eq!(
        (&document["games"]["used"], &document["games"]["skipped"]),
        (&json!(2), &json!({ "unknown_result": 2 }))
    );
    folder.write("later.jsonl", votes(2).replacen("\"version\":1", "\"version\":2", 1));
    let document = folder.document(&["inspect", "later.jsonl"]);
    let problem = document["problems"][0]["value"].as_str().unwrap();
    assert!(problem.contains("a vote log of version 2; this program reads version 1"), "{problem}");
}

const LOG: &str = "Black engine vs White engine start.\n1:position startpos\n1:info depth 3 score cp 120 pv 7g7f\n\
1:bestmove 7g7f\n2:position startpos moves 7g7f\n2:info depth 3 score cp -80 pv 3c3d\n2:bestmove 3c3d\n\
1:position startpos moves 7g7f 3c3d\n1:bestmove resign\nまで2手で後手の勝ち\n";

#[test]
fn a_log_gives_scores_and_the_result() {
    let folder = Folder::new();
    folder.write("match.log", LOG);
    folder.good(&["sample", "match.log", "--from-ply", "1", "--out", "s.csv"]);
    let (head, rows) = crate::support::csv(&folder.text("s.csv"));
    let cell = |row: &[String], name: &str| row[head.iter().position(|h| h == name).unwrap()].clone();
    let shown: Vec<Vec<String>> = rows
        .iter()
        .map(|row| ["engine", "color", "ply", "score_cp", "result", "termination"].map(|name| cell(row, name)).to_vec())
        .collect();
    assert_eq!(
        shown,
        [
            ["Black engine", "black", "1", "120", "0.0", "resignation"],
            ["White engine", "white", "2", "-80", "1.0", "resignation"]
        ]
    );
}

/// The same truth, written in five ways.
#[test]
fn tables_of_other_tools_are_calibrated() {
    let folder = Folder::new();
    let mut tables = vec!["engine,score_cp,result,game\n".to_owned()];
    tables.push("who\tpawns\tres\tg\n".to_owned());
    tables.push("engine;score;result;color;game\n".to_owned());
    tables.push("\u{feff}engine,score,result,game\n".to_owned());
    for (i, score, won, white) in truth(3_000) {
        let score = f64::from(score);
        tables[0] += &format!("E,{score},{},{i}\n", u8::from(won));
        tables[1] += &format!("E\t{}\t{}\t{i}\n", score / 100.0, if won { "W" } else { "L" });
        let pgn = if won == white { "1-0" } else { "0-1" };
        tables[2] += &format!("E;{score};{pgn};{};{i}\n", if white { "w" } else { "b" });
        let percent = 100.0 / (1.0 + (-score / 600.0).exp());
        tables[3] += &format!("E,{percent:.9},{},{i}\n", if won { "win" } else { "loss" });
    }
    let more: [&[&str]; 4] = [
        &[],
        &[
            "--column",
            "engine=who",
            "--column",
            "score=pawns",
            "--column",
            "result=res",
            "--column",
            "game=g",
            "--score-unit",
            "pawn",
        ],
        &[],
        &["--score-unit", "percent"],
    ];
    let mut found = Vec::new();
    for ((i, table), more) in (0..).zip(&tables).zip(more) {
        let name = format!("t{i}.csv");
        folder.write(&name, table);
        let document = folder.document(&[&["calibrate", "--dry-run", &name], more].concat());
        assert_eq!(positions(&document, "table"), (3_000, 3_000), "{name}");
        let e = engine(&document, "E");
        assert!((e["maximum_likelihood"]["w1"].as_f64().unwrap() * 600.0 - 1.0).abs() < 0.1, "{name}: {e:#}");
        found.push(e["maximum_likelihood"].clone());
    }
    assert!(found.iter().all(|fit| *fit == found[0]), "{found:#?}");
    // by content: without an extension, and in a folder
    folder.write("shards/part-0", &tables[0]);
    assert_eq!(folder.document(&["calibrate", "--dry-run", "shards/part-0"])["games"]["used"], 3_000);
    // shards fitted together give the same fit as the whole table
    let rows: Vec<&str> = tables[0].lines().skip(1).collect();
    for (i, part) in rows.chunks(1_000).enumerate() {
        folder.write(&format!("many/{i}.csv"), format!("engine,score_cp,result,game\n{}\n", part.join("\n")));
    }
    for paths in ["many", "many/*.csv"] {
        assert_eq!(
            engine(&folder.document(&["calibrate", "--dry-run", paths]), "E")["maximum_likelihood"],
            found[0],
            "{paths}"
        );
    }
}

#[test]
fn bad_rows_and_missing_columns_are_reported() {
    let folder = Folder::new();
    folder.write("b.csv", "engine,score_cp,result\nA,12,1\nA,x,1\n,5,0\nA,5,7\nA,#3,1,9,9\nA,3\nA,4,1-0\n");
    let document = folder.document(&["inspect", "b.csv"]);
    assert_eq!(positions(&document, "table"), (7, 2));
    assert_eq!(document["positions"]["table"]["skipped"], json!({ "bad_score": 1, "bad_engine": 1, "bad_result": 3 }));
    assert_eq!(problems(&document, "bad_result"), ["b.csv:5", "b.csv:7", "b.csv:8"]);
    folder
        .good(&["inspect", "b.csv"])
        .says(&["b.csv:3: bad score: 'x' is not a number of centipawns", "--column color=NAME"]);
    folder.run(&["inspect", "b.csv", "--strict"]).ends(1).says(&["b.csv:3"]);
    folder.write("c.csv", "player,cp,outcome\nA,1,1\n");
    folder.run(&["calibrate", "--dry-run", "c.csv"]).ends(2).says(&[
        "no column 'engine'",
        "found: player, cp, outcome",
        "--column engine=NAME",
    ]);
    let named = ["calibrate", "--dry-run", "c.csv", "--column", "engine=player", "--column", "score=cp"];
    folder.run(&named).ends(2).says(&["no column 'result'", "--column result=NAME"]);
    folder.run(&[&named[..], &["--column", "result=resultat"]].concat()).ends(2).says(&["no column 'resultat'"]);
    folder.run(&["calibrate", "--dry-run", "c.csv", "--column", "cp"]).ends(2).says(&["ROLE=NAME"]);
    let read = folder.document(&[
        "inspect",
        "c.csv",
        "--annotator",
        "Z",
        "--column",
        "score=cp",
        "--column",
        "result=outcome",
    ]);
    assert_eq!(names(&read), ["Z"]);
    folder.write("w.csv", "engine,score,result\nA,0,0\nA,1,1\nA,0.25,1\nA,1.5,1\n");
    let rates = folder.document(&["inspect", "w.csv", "--score-unit", "winrate"]);
    assert_eq!(engine(&rates, "A")["mates"], 2);
    assert_eq!(rates["positions"]["table"]["skipped"], json!({ "bad_score": 1 }));
}

#[test]
fn games_with_equal_rows_are_copies() {
    let folder = Folder::new();
    let rows = |game: &str, scores: [i32; 4]| -> String {
        let row = |(i, score)| format!("{game},A,B,{},{score},1\n", 30 + 2 * i);
        (0..4).zip(scores).map(row).collect()
    };
    let head = "game,engine,opponent,ply,score_cp,result\n";
    let (distinct, alike) = ([10, 20, 30, 40], [10, 20, 20, 20]);
    // the first and the third are one game; too few different scores can be equal by chance, where copies are rare
    let others: String = (0..40).map(|i| rows(&format!("o{i}"), [10, 20, 30, 50 + 20 * i])).collect();
    let games = [rows("1", distinct), others, rows("3", distinct), rows("4", alike), rows("5", alike)];
    folder.write("t.csv", head.to_owned() + &games.concat());
    folder.write("u.csv", head.to_owned() + &rows("6", distinct));
    let document = folder.document(&["inspect", "t.csv", "u.csv"]);
    assert_eq!(positions(&document, "table"), (180, 172));
    assert_eq!(document["positions"]["table"]["skipped"], json!({ "same_moves": 8 }));
    assert_eq!(engine(&document, "A")["games"], 43);
    let all = folder.document(&["inspect", "t.csv", "u.csv", "--duplicates", "by-identity"]);
    assert_eq!(positions(&all, "table"), (180, 180));
    folder
        .good(&["inspect", "t.csv"])
        .says(&["1 games (4 rows) have the moves of another game, or its engines, plies, scores and results"]);
    // where they are frequent, games of few rows are copies as well
    let short = |game: &str| format!("{game},A,B,30,-70,0\n");
    let games = [rows("1", distinct), rows("2", distinct), short("3"), short("4"), rows("5", alike)];
    folder.write("v.csv", head.to_owned() + &games.concat());
    assert_eq!(positions(&folder.document(&["inspect", "v.csv"]), "table"), (14, 9));
}

/// `copy /b a.csa+b.csa all.csa`: editors on Windows begin each file with a byte order mark.
#[test]
fn joined_files_with_byte_order_marks_lose_nothing() {
    let folder = Folder::new();
    let csa = |first: &str| format!("\u{feff}N+甲\nN-乙\nPI\n+\n+{first}FU\n'** 30\n-3334FU\n%TORYO\n");
    let kif =
        |first: &str| format!("\u{feff}先手：甲\n後手：乙\n手数----指手---------消費時間--\n   1 {first}\n   2 投了\n");
    let pgn =
        |first: &str| format!("\u{feff}[White \"甲\"]\n[Black \"乙\"]\n[Result \"1-0\"]\n\n1. {first} e5 1-0\n\n");
    let all = [
        ("all.csa", ["7776", "2726", "6766"].map(csa).concat()),
        ("all.kif", ["７六歩(77)", "２六歩(27)", "６六歩(67)"].map(kif).concat()),
        ("all.pgn", ["e4", "d4", "c4"].map(pgn).concat()),
    ];
    for (file, text) in &all {
        folder.write(file, text);
        // lines of the classic Mac OS
        folder.write(&format!("cr-{file}"), text.replace('\n', "\r"));
    }
    for file in all.iter().flat_map(|(file, _)| [(*file).to_owned(), format!("cr-{file}")]) {
        let file = file.as_str();
        let ran = folder.good(&["match-stats", file, "--json"]);
        let document: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
        let games = document["systems"].as_array().unwrap().iter().map(|s| s["games"].as_u64().unwrap()).sum::<u64>();
        assert_eq!((&document["games"]["used"], games, &ran.err[..]), (&3.into(), 3, ""), "{file}\n{document:#}");
    }
}
