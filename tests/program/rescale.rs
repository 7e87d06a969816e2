//! `evalcurve rescale`: only scores change, and only if their scale is known.

use std::fs;

use serde_json::Value;

use crate::formats::{hcpe, hcpe3, psv, truth};
use crate::support::{Folder, Ran, root};

/// The same positions as plain text of chess.
fn plain(count: u32) -> String {
    let entry = |(i, score, won, white): (u32, i16, bool, bool)| {
        let (side, result) = (if white { "w" } else { "b" }, if won { 1 } else { -1 });
        let ply = 10 + i % 90;
        format!("fen 4k3/8/8/8/8/8/8/4K2R {side} K - 0 1\r\nmove e1e2\nscore {score}\nply {ply}\nresult {result}\ne\n")
    };
    truth(count).map(entry).collect()
}

/// The same as a table, in quotes and with a column between.
fn table(count: u32) -> String {
    let row = |(i, score, won, _): (u32, i16, bool, bool)| {
        format!("\"g{i}\",Suisho,\"a, \"\"b\"\"\",{score},{},{}\r\n", i % 150, if won { 1 } else { 0 })
    };
    "game,engine,note,score_cp,ply,result\r\n".to_owned() + &truth(count).map(row).collect::<String>()
}

/// The scores of a file, which ends with what is left without them.
fn scores(name: &str, bytes: &[u8]) -> (Vec<i32>, Vec<u8>) {
    let short = |bytes: &[u8]| i32::from(i16::from_le_bytes(bytes.try_into().unwrap()));
    let (mut found, mut rest) = (Vec::new(), Vec::new());
    match name {
        "a.hcpe" | "a.psv" => {
            for record in bytes.chunks(if name == "a.hcpe" { 38 } else { 40 }) {
                found.push(short(&record[32..34]));
                rest.extend_from_slice(&record[..32]);
                rest.extend_from_slice(&record[34..]);
            }
        }
        "a.hcpe3" => {
            let mut at = 0;
            while at < bytes.len() {
                let moves = usize::from(u16::from_le_bytes([bytes[at + 32], bytes[at + 33]]));
                rest.extend_from_slice(&bytes[at..at + 36]);
                at += 36;
                for _ in 0..moves {
                    let length = 6 + 4 * usize::from(u16::from_le_bytes([bytes[at + 4], bytes[at + 5]]));
                    // a move that was not searched has no score
                    let from = if length > 6 { 4 } else { 2 };
                    if length > 6 {
                        found.push(short(&bytes[at + 2..at + 4]));
                    }
                    rest.extend_from_slice(&bytes[at..at + 2]);
                    rest.extend_from_slice(&bytes[at + from..at + length]);
                    at += length;
                }
            }
        }
        _ => {
            let (mark, place) = if name == "a.plain" { (' ', 1) } else { (',', 4) };
            for line in String::from_utf8(bytes.to_vec()).unwrap().split_inclusive('\n') {
                let is_score = if name == "a.plain" { line.starts_with("score") } else { line.starts_with('"') };
                let mut cells: Vec<&str> = line.split(mark).collect();
                if is_score {
                    found.push(cells.remove(place).trim().parse().unwrap());
                }
                rest.extend_from_slice(cells.join("|").as_bytes());
            }
        }
    }
    (found, rest)
}

const EVERY: [&str; 2] = ["--window", "1"];

#[test]
fn only_scores_change() {
    let folder = Folder::new();
    let files = [
        ("a.hcpe", hcpe(4_000)),
        ("a.psv", psv(4_000)),
        ("a.hcpe3", hcpe3(4_000)),
        ("a.plain", plain(4_000).into_bytes()),
        ("a.csv", table(4_000).into_bytes()),
    ];
    for (name, bytes) in &files {
        folder.write(name, bytes);
        let out = format!("out-{name}");
        let ran = folder.good(&[&["rescale", name, "--to-scale", "300", "--out", &out, "--json"], &EVERY[..]].concat());
        let document: Value = serde_json::from_str(&ran.out).unwrap();
        let teacher = &document["teachers"][0];
        let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{name}: {document:#}"));
        let (before, after) = (&teacher["before"], &teacher["after"]);
        let within = |estimate: &Value, wanted: f64| {
            number(&estimate["interval"][0]) <= wanted && wanted <= number(&estimate["interval"][1])
        };
        assert!(within(before, 600.0) && within(after, 300.0), "{name}: {document:#}");
        let (old, rest) = scores(name, bytes);
        let (new, new_rest) = scores(name, &folder.read(&format!("{out}/{name}")));
        assert_eq!(rest, new_rest, "{name}");
        let factor = 300.0 / number(&teacher["scale"]["value"]);
        for (old, new) in old.iter().zip(&new) {
            let exact = f64::from(*old) * factor;
            assert!((exact - f64::from(*new)).abs() < 0.5 + 1e-4, "{name}: {old} became {new}, not {exact}");
        }
        assert_eq!(document["files"][0]["positions"], old.len(), "{name}");
        assert_eq!(leftovers(&folder, &out), [name.to_string()], "{name}");
    }
    // the same bytes with any number of threads
    for (name, _) in &files {
        let out = format!("one-{name}");
        folder.good(&[&["rescale", name, "--to-scale", "300", "--out", &out, "--threads", "1"], &EVERY[..]].concat());
        assert_eq!(folder.read(&format!("{out}/{name}")), folder.read(&format!("out-{name}/{name}")), "{name}");
    }
    let ran =
        folder.good(&[&["rescale", "a.psv", "--to-scale", "300", "--out", "ja", "--lang", "ja"], &EVERY[..]].concat());
    assert!(ran.out.contains("データの 1/w1"), "{}", ran.out);
}

fn leftovers(folder: &Folder, name: &str) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder.at(name)) else { return Vec::new() };
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// The reader of nnue-pytorch gave the text of the games in binpack (tests/oracle/binpack.cpp).
#[test]
fn binpack_has_the_positions_that_its_own_reader_gives() {
    let folder = Folder::new();
    for name in ["random.binpack", "random.plain"] {
        folder.write(name, fs::read(root().join("tests/oracle").join(name)).unwrap());
    }
    let rows = |name: &str, file: &str| {
        let arguments = ["sample", name, "--annotator", "X", "--window", "1", "--out", file];
        folder.good(&arguments);
        let text = folder.text(file);
        let (head, rows) = crate::support::csv(&text);
        let at = |name: &str| head.iter().position(|h| h == name).unwrap();
        let wanted = ["color", "ply", "score_cp", "result"].map(at);
        rows.iter().map(|row| wanted.map(|i| row[i].clone())).collect::<Vec<_>>()
    };
    let mut both = [rows("random.binpack", "a.csv"), rows("random.plain", "b.csv")];
    both.iter_mut().for_each(|rows| rows.sort());
    assert_eq!(both[0].len(), 182);
    assert_eq!(both[0], both[1]);
}

#[test]
fn mates_stay_and_large_scores_are_clipped_below_them() {
    let folder = Folder::new();
    let mut bytes = hcpe(3_000);
    for (record, score) in bytes.chunks_exact_mut(38).zip([30_000i16, -30_000, 5_000, -5_000, 20_000, 19_999, i16::MIN])
    {
        record[32..34].copy_from_slice(&score.to_le_bytes());
    }
    folder.write("a.hcpe", bytes);
    let ran =
        folder.good(&[&["rescale", "a.hcpe", "--to-scale", "6000", "--out", "out", "--json"], &EVERY[..]].concat());
    let document: Value = serde_json::from_str(&ran.out).unwrap();
    let file = &document["files"][0];
    let (new, _) = scores("a.hcpe", &folder.read("out/a.hcpe"));
    assert_eq!(new[..7], [30_000, -30_000, 19_999, -19_999, 20_000, 19_999, -32_768]);
    let clipped = new[..].iter().filter(|score| score.abs() == 19_999).count();
    assert_eq!((&file["mates"], file["clipped"].as_u64()), (&Value::from(4), Some(clipped as u64)), "{document:#}");
}

fn refused(folder: &Folder, arguments: &[&str], words: &[&str]) -> Ran {
    let ran = folder.run(&[&["rescale", "--out", "refused"], arguments, &EVERY[..]].concat());
    assert!(leftovers(folder, "refused").is_empty(), "{arguments:?}");
    ran.says(words)
}

#[test]
fn nothing_is_written_if_the_scale_is_not_known() {
    let folder = Folder::new();
    let mut inverted = hcpe(4_000);
    inverted.chunks_exact_mut(38).for_each(|record| record[36] ^= 3);
    folder.write("inverted.hcpe", inverted);
    refused(&folder, &["inverted.hcpe", "--to-scale", "600"], &["data: "]).ends(1);
    let mut zero = hcpe(4_000);
    zero.chunks_exact_mut(38).for_each(|record| record[32..34].fill(0));
    folder.write("zero.hcpe", zero);
    refused(&folder, &["zero.hcpe", "--to-scale", "600"], &["zero.hcpe: no position has a score"]).ends(1);
    folder.write("few.hcpe", hcpe(10));
    refused(&folder, &["few.hcpe", "--to-scale", "600"], &["10 game(s), 30 needed"]).ends(1);
    // a calibration that the results contradict, and one that they do not
    folder.write("a.hcpe", hcpe(4_000));
    let file = |name: &str| root().join("data/published").join(name).to_str().unwrap().to_owned();
    let [wrong, right] = ["yaneuraou.json", "gikou.json"].map(file);
    let at_600 = folder.good(&["winrate", &right, "--inverse", "0.75"]).out;
    let ran =
        refused(&folder, &["a.hcpe", "--to-scale", "600", "--calibration", &wrong], &["do not have the scale of"]);
    ran.ends(1);
    folder.generate("few-games.csa", &["--games", "4"]);
    refused(&folder, &["few-games.csa", "--to-scale", "600"], &["neither training data (hcpe, "]).ends(2);
    assert!(!at_600.is_empty());
}

#[test]
fn wrong_uses_say_what_to_do() {
    let folder = Folder::new();
    folder.write("a.hcpe", hcpe(4_000));
    folder.write("other/a.hcpe", hcpe(4_000));
    let scale = ["--to-scale", "600"];
    refused(&folder, &["a.hcpe", "--to-scale", "0"], &["0 is not a scale; give the centipawns for one logit"]).ends(2);
    refused(&folder, &["a.hcpe", "--to-scale", "x"], &["--to-scale"]).ends(2);
    refused(&folder, &[&["a.hcpe", "other/a.hcpe"], &scale[..]].concat(), &["would both become refused/a.hcpe"])
        .ends(2);
    refused(&folder, &[&["none.hcpe"], &scale[..]].concat(), &["none.hcpe: no such file"]).ends(2);
    refused(&folder, &[&["a.hcpe", "--teacher", "x"], &scale[..]].concat(), &["write NAME=FILE"]).ends(2);
    refused(&folder, &[&["a.hcpe", "--score-unit", "pawn"], &scale[..]].concat(), &["only centipawns"]).ends(2);
    refused(&folder, &[&["a.hcpe", "--model", "isotonic"], &scale[..]].concat(), &["no slope for all scores"]).ends(1);
    let itself = [&["rescale", "a.hcpe", "--out", "."], &scale[..], &EVERY[..]].concat();
    folder.run(&itself).ends(2).says(&["would replace a.hcpe, which is read"]);
    let again = [&["rescale", "a.hcpe", "--out", "out"], &scale[..], &EVERY[..]].concat();
    folder.good(&again);
    folder.run(&again).ends(2).says(&["out/a.hcpe: the file exists; choose another folder with --out, or --force"]);
    folder.good(&[&again[..], &["--force"]].concat());
    // folders keep their names, and other files are named
    folder.write("pool/b/c.hcpe", hcpe(4_000));
    folder.write("pool/readme.md", "# data");
    let ran = folder.good(&[&["rescale", "pool", "--out", "new", "--json"], &scale[..], &EVERY[..]].concat());
    let document: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(document["problems"][0]["source"], "pool/readme.md", "{document:#}");
    assert_eq!(leftovers(&folder, "new"), ["b"]);
    assert_eq!(folder.read("new/b/c.hcpe").len(), 38 * 4_000);
}

#[test]
fn records_that_cannot_be_read_stay() {
    let folder = Folder::new();
    let mut bytes = hcpe(4_000);
    bytes[38 * 10 + 36] = 99;
    bytes.extend([1, 2, 3]);
    folder.write("a.hcpe", &bytes);
    let mut text = plain(4_000).replacen("result -1", "result 7", 1);
    text += "fen 8/8";
    folder.write("a.plain", &text);
    let run = |name: &str, more: &[&str]| {
        folder.run(&[&["rescale", name, "--to-scale", "300", "--out", "out", "--force"], more, &EVERY[..]].concat())
    };
    run("a.hcpe", &[])
        .ends(0)
        .says(&["illegal result at byte 380, which stays as it is", "broken record at byte 152000"]);
    let new = folder.read("out/a.hcpe");
    assert_eq!((&new[38 * 10..38 * 11], &new[152_000..]), (&bytes[38 * 10..38 * 11], &[1, 2, 3][..]));
    run("a.plain", &[]).ends(0).says(&["illegal result at byte ", "broken record at byte "]);
    assert!(folder.text("out/a.plain").ends_with("\ne\nfen 8/8"));
    run("a.hcpe", &["--strict"]).ends(1);
}

/// Two engines whose scores differ by a factor, in two files and in one table.
#[test]
fn each_teacher_has_its_scale() {
    let folder = Folder::new();
    folder.write("a.hcpe", hcpe(4_000));
    let mut twice = hcpe(4_000);
    for record in twice.chunks_exact_mut(38) {
        let score = 2 * i16::from_le_bytes([record[32], record[33]]);
        record[32..34].copy_from_slice(&score.to_le_bytes());
    }
    folder.write("b.hcpe", twice);
    for name in ["a", "b"] {
        let file = format!("{name}.hcpe");
        let fit = ["calibrate", &file, "--annotator", name, "--model", "maximum-likelihood", "--no-plots"];
        folder.good(&[&fit, &EVERY[..]].concat());
    }
    let teachers = ["--teacher", "a*=evalcurve-out/a.json", "--teacher", "b*=evalcurve-out/b.json"];
    let all = ["rescale", "a.hcpe", "b.hcpe", "--to-scale", "300", "--out", "out", "--json"];
    let document: Value = serde_json::from_str(&folder.good(&[&all[..], &teachers, &EVERY].concat()).out).unwrap();
    assert_eq!(document["teachers"].as_array().map(Vec::len), Some(2), "{document:#}");
    let [(a, _), (b, _)] = ["a", "b"].map(|name| scores("a.hcpe", &folder.read(&format!("out/{name}.hcpe"))));
    assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() <= 1), "{document:#}");
    // tables name their engines
    let of_b = |line: &str| line.replace("Suisho", "B").replace("\"g", "\"h") + "\n";
    let mixed = table(3_000) + &table(3_000).lines().skip(1).map(of_b).collect::<String>();
    folder.write("mixed.csv", mixed);
    let document: Value = serde_json::from_str(
        &folder.good(&["rescale", "mixed.csv", "--to-scale", "300", "--out", "tables", "--json"]).out,
    )
    .unwrap();
    assert_eq!(document["teachers"].as_array().map(Vec::len), Some(2), "{document:#}");
}

/// Parquet is written anew, with the same columns and the scores that CSV has.
#[test]
fn parquet_and_csv_get_the_same_scores() {
    let folder = Folder::new();
    folder.write("a.csv", table(4_000));
    folder.good(&["sample", "a.csv", "--out", "a.parquet"]);
    folder.good(&["sample", "a.csv", "--out", "b.csv"]);
    for (name, out) in [("a.parquet", "one"), ("b.csv", "two")] {
        folder.good(&["rescale", name, "--to-scale", "300", "--out", out]);
    }
    folder.good(&["sample", "one/a.parquet", "--out", "back.csv"]);
    let scores = |name: &str| {
        let text = folder.text(name);
        let (head, rows) = crate::support::csv(&text);
        let at = head.iter().position(|h| h == "score_cp").unwrap();
        rows.iter().map(|row| row[at].clone()).collect::<Vec<_>>()
    };
    assert_eq!(scores("back.csv").len(), 4_000);
    assert_eq!(scores("back.csv"), scores("two/b.csv"));
    assert_ne!(scores("b.csv"), scores("two/b.csv"));
}

/// The scale by ply: slopes of 1/300 and 1/900 at the two ends.
#[test]
fn a_scale_can_depend_on_the_ply() {
    let folder = Folder::new();
    let mut bytes = psv(40_000);
    for (record, i) in bytes.chunks_exact_mut(40).zip(0u16..) {
        let ply = 20 + i % 100;
        let old = f64::from(i16::from_le_bytes([record[32], record[33]]));
        // 1/w1 = 600 of the data becomes 1 / (1/300 … 1/900)
        let w1 = 1.0 / 300.0 + f64::from(i % 100) / 99.0 * (1.0 / 900.0 - 1.0 / 300.0);
        let score = (old / (600.0 * w1)) as i16;
        record[32..34].copy_from_slice(&score.to_le_bytes());
        record[36..38].copy_from_slice(&ply.to_le_bytes());
    }
    folder.write("a.psv", bytes);
    let run = |model: &str, out: &str| -> Value {
        let all = ["rescale", "a.psv", "--to-scale", "600", "--model", model, "--out", out, "--json"];
        serde_json::from_str(&folder.good(&[&all[..], &EVERY].concat()).out).unwrap()
    };
    let constant = run("maximum-likelihood", "one");
    let stages = constant["teachers"][0]["stages"].as_array().unwrap();
    let scale = |i: usize| stages[i]["scale"]["value"].as_f64().unwrap();
    assert!(stages.len() == 3 && scale(0) < 400.0 && scale(2) > 600.0, "{constant:#}");
    let gain = &constant["teachers"][0]["gain_by_ply"]["interval"][0];
    assert!(gain.as_f64().unwrap() > 0.0, "{constant:#}");
    let by_ply = run("phase", "two");
    assert_eq!(by_ply["teachers"][0]["model"], "phase");
    let after = run_again(&folder);
    let even = |i: usize| after["teachers"][0]["stages"][i]["scale"]["value"].as_f64().unwrap();
    assert!((0..3).all(|i| (even(i) / 600.0 - 1.0).abs() < 0.1), "{after:#}");
}

/// A slope by ply that forecasts no better, or that is not known at the ends, is not written either.
#[test]
fn a_scale_by_ply_that_the_results_do_not_show_is_refused() {
    let folder = Folder::new();
    let mut bytes = psv(6_000);
    for (record, i) in bytes.chunks_exact_mut(40).zip(0u16..) {
        record[36..38].copy_from_slice(&(20 + i * 7 % 100).to_le_bytes());
    }
    folder.write("a.psv", bytes);
    let all = ["rescale", "a.psv", "--to-scale", "600", "--out", "o"];
    folder.good(&[&all[..], &EVERY].concat());
    let ran = folder.run(&[&all[..], &EVERY, &["--model", "phase", "--force"]].concat()).ends(1);
    ran.says(&["its scores cannot be rescaled by ply: ", "leave --model out"]);
}

/// The scale of what was written by ply.
fn run_again(folder: &Folder) -> Value {
    let all = ["rescale", "two/a.psv", "--to-scale", "600", "--out", "three", "--json"];
    serde_json::from_str(&folder.good(&[&all[..], &EVERY].concat()).out).unwrap()
}

/// A scale that the user knows needs no results, and no games.
#[test]
fn a_known_scale_is_taken_as_it_is() {
    let folder = Folder::new();
    folder.write("a.hcpe", hcpe(20));
    folder.write("a.csv", table(20));
    let run = |name: &str, more: &[&str]| {
        folder.run(&[&["rescale", name, "--from-scale", "300", "--to-scale", "600", "--out", "o"], more].concat())
    };
    for name in ["a.hcpe", "a.csv"] {
        let document: Value = serde_json::from_str(&run(name, &["--json"]).ends(0).out).unwrap();
        assert_eq!(document["teachers"][0]["scale"]["value"], 300.0, "{document:#}");
        let (old, rest) = scores(name, &folder.read(name));
        let (new, new_rest) = scores(name, &folder.read(&format!("o/{name}")));
        assert_eq!(new, old.iter().map(|score| 2 * score).collect::<Vec<_>>(), "{name}");
        assert_eq!(rest, new_rest);
    }
    run("a.hcpe", &["--force", "--mate-threshold", "auto"]).ends(2).says(&["--mate-threshold auto looks at the data"]);
    run("a.hcpe", &["--force", "--calibration", "x.json"]).ends(2).says(&["cannot be used with"]);
    folder
        .run(&["rescale", "a.hcpe", "--from-scale", "0", "--to-scale", "600", "--out", "p"])
        .ends(2)
        .says(&["0 is not a scale"]);
}

/// Of a large file, the scale is fitted to evenly spread stretches; all of it is written.
#[test]
fn large_files_are_read_whole_once() {
    let folder = Folder::new();
    let part = hcpe(4_000);
    let bytes = part.repeat((136 << 20) / part.len() + 1);
    folder.write("a.hcpe", &bytes);
    let ran = folder.good(&["rescale", "a.hcpe", "--to-scale", "300", "--out", "o", "--json"]);
    let document: Value = serde_json::from_str(&ran.out).unwrap();
    let interval = &document["teachers"][0]["before"]["interval"];
    let [low, high] = [0, 1].map(|i| interval[i].as_f64().unwrap());
    assert!(low <= 615.0 && high >= 585.0, "{document:#}");
    assert_eq!(document["files"][0]["positions"].as_u64().unwrap() as usize, bytes.len() / 38);
    let (old, _) = scores("a.hcpe", &bytes[..38 * 4_000]);
    let (new, _) = scores("a.hcpe", &folder.read("o/a.hcpe")[..38 * 4_000]);
    let factor = 300.0 / document["teachers"][0]["scale"]["value"].as_f64().unwrap();
    assert!(old.iter().zip(&new).all(|(old, new)| (f64::from(*old) * factor - f64::from(*new)).abs() < 0.51));
}
