//! The same games give the same bytes for any layout on disk and any number of threads.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::Command;

use serde_json::Value;

use crate::support::{Folder, csv, csv_text, problems};

const GAMES: u32 = 400;

fn games(folder: &Folder) -> Vec<String> {
    folder.games(GAMES, &["--mates", "0.03", "--plies", "149"])
}

/// Output that must not depend on layout, order and threads: the table without sources, calibrations without inputs.
fn bytes(folder: &Folder, paths: &[&str], threads: &str, input: &[u8]) -> BTreeMap<String, String> {
    folder.run_with(&[&["sample"], paths, &["--threads", threads, "--out", "out/s.csv"]].concat(), input).ends(0);
    let options = ["--threads", threads, "--out", "out/c", "--no-plots", "--json"];
    let ran = folder.run_with(&[&["calibrate"], paths, &options].concat(), input).ends(0);
    let document = ran.document();
    assert_eq!(document["games"]["used"], GAMES, "{paths:?}: {}", document["games"]);
    let (mut head, mut rows) = csv(&folder.text("out/s.csv"));
    assert_eq!(head[head.len() - 2..], ["source", "line"]);
    head.truncate(head.len() - 2);
    for row in &mut rows {
        assert_eq!(row.len(), head.len() + 2, "{row:?}");
        row.truncate(head.len());
    }
    let mut found = BTreeMap::from([("samples".to_owned(), csv_text(&head, &rows))]);
    for entry in std::fs::read_dir(folder.at("out/c")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let mut calibration = folder.json(&format!("out/c/{name}"));
        let inputs = calibration["provenance"]["inputs"].take();
        assert!(inputs.is_array(), "{calibration:#}");
        found.insert(name, calibration.to_string());
    }
    assert_eq!(found.len(), 4);
    std::fs::remove_dir_all(folder.at("out")).unwrap();
    found
}

#[track_caller]
fn assert_same(found: &BTreeMap<String, String>, expected: &BTreeMap<String, String>, label: &str) {
    for (name, text) in expected {
        let differs = found[name].lines().zip(text.lines()).enumerate().find(|(_, (a, b))| a != b);
        assert!(found[name] == *text, "{label}: {name} differs at {differs:?}");
    }
}

fn tar(games: &[String], order: impl Iterator<Item = usize>) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    for i in order {
        let mut header = tar::Header::new_ustar();
        header.set_size(games[i].len() as u64);
        header.set_mode(0o644);
        archive.append_data(&mut header, format!("games/{i}.csa"), games[i].as_bytes()).unwrap();
    }
    archive.into_inner().unwrap()
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn zst(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 3).unwrap()
}

pub(crate) fn zip<'a>(members: impl Iterator<Item = (String, &'a [u8])>) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let deflated = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
    for (name, bytes) in members {
        archive.start_file(name, deflated).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

/// Runs a packer in the folder.
#[track_caller]
pub(crate) fn pack(folder: &Folder, program: &str, arguments: &[&str]) {
    let out = Command::new(program).current_dir(folder.at("")).args(arguments).output();
    let out = out.unwrap_or_else(|e| panic!("{program}: {e}"));
    assert!(out.status.success(), "{program}: {}", String::from_utf8_lossy(&out.stderr));
}

/// Compares layouts of the same games, with several numbers of threads.
fn check_layouts(folder: &Folder, layouts: &[&str], expected: &BTreeMap<String, String>) {
    for layout in layouts {
        for threads in ["1", "2", "8"] {
            let found = bytes(folder, &[layout], threads, &[]);
            assert_same(&found, expected, &format!("{layout} with {threads} threads"));
        }
    }
}

#[test]
#[ignore = "needs xz"]
fn every_layout_and_number_of_threads_gives_the_same_bytes_with_xz() {
    let folder = Folder::new();
    let games = games(&folder);
    folder.write("one.csa", games.join("/\n"));
    folder.write("games.tar", tar(&games, 0..games.len()));
    let expected = bytes(&folder, &["one.csa"], "1", &[]);
    pack(&folder, "xz", &["-1", "-k", "one.csa", "games.tar"]);
    check_layouts(&folder, &["one.csa.xz", "games.tar.xz"], &expected);
}

#[test]
#[ignore = "needs 7z"]
fn every_layout_and_number_of_threads_gives_the_same_bytes_with_7z() {
    let folder = Folder::new();
    for (i, game) in games(&folder).iter().enumerate() {
        folder.write(&format!("folder/{i}.csa"), game);
    }
    let expected = bytes(&folder, &["folder"], "1", &[]);
    pack(&folder, "7z", &["a", "-mx=1", "games.7z", "folder"]);
    check_layouts(&folder, &["games.7z"], &expected);
}

#[test]
fn every_layout_and_number_of_threads_gives_the_same_bytes() {
    let folder = Folder::new();
    let games = games(&folder);
    let n = games.len();
    let shuffled = || (0..n).map(move |i| i * 7_919 % n);
    for (i, game) in games.iter().enumerate() {
        folder.write(&format!("folder/{i}.csa"), game);
        folder.write(&format!("shuffled/{:03}/{:x}.csa", i * 7_919 % n % 7, i * 104_729 % 65_537), game);
    }
    let concatenated = games.join("/\n");
    folder.write("one.csa", &concatenated);
    folder.write("one.csa.gz", gzip(concatenated.as_bytes()));
    folder.write("one.csa.zst", zst(concatenated.as_bytes()));
    let plain_tar = tar(&games, 0..n);
    let shuffled_tar = tar(&games, shuffled());
    folder.write("games.tar", &plain_tar);
    folder.write("shuffled.tar", &shuffled_tar);
    folder.write("games.tar.gz", gzip(&shuffled_tar));
    folder.write("games.tar.zst", zst(&plain_tar));
    folder.write("games.zip", zip(shuffled().map(|i| (format!("g/{i}.csa"), games[i].as_bytes()))));
    let backwards: String = games.iter().rev().cloned().collect::<Vec<_>>().join("/\n");
    folder.write("backwards.csa", backwards);

    let expected = bytes(&folder, &["folder"], "1", &[]);
    assert!(expected["samples"].lines().count() > 1_000);
    let layouts = [
        "folder",
        "shuffled",
        "one.csa",
        "backwards.csa",
        "one.csa.gz",
        "one.csa.zst",
        "games.tar",
        "shuffled.tar",
        "games.tar.gz",
        "games.tar.zst",
        "games.zip",
    ];
    check_layouts(&folder, &layouts, &expected);
    for threads in ["1", "2", "8"] {
        for (label, input) in [("text", concatenated.as_bytes()), ("tar", &plain_tar), ("gz", &gzip(&shuffled_tar))] {
            let found = bytes(&folder, &["-"], threads, input);
            assert_same(&found, &expected, &format!("{label} on standard input with {threads} threads"));
        }
    }
    // the files one by one, from the last to the first
    let mut paths: Vec<String> = (0..n).rev().map(|i| format!("folder/{i}.csa")).collect();
    let found = bytes(&folder, &paths.iter().map(String::as_str).collect::<Vec<_>>(), "8", &[]);
    assert_same(&found, &expected, "files given from the last to the first");
    // half of them in a separate archive
    paths.truncate(n / 2);
    let first_half = games[..n - paths.len()].join("/\n");
    folder.write("half.csa.gz", gzip(first_half.as_bytes()));
    paths.push("half.csa.gz".to_owned());
    let found = bytes(&folder, &paths.iter().map(String::as_str).collect::<Vec<_>>(), "2", &[]);
    assert_same(&found, &expected, "half files, half archive");
}

/// The same games with another seed: the comparison above would see a difference.
#[test]
fn another_seed_draws_other_positions() {
    let folder = Folder::new();
    folder.write("one.csa", games(&folder).join("/\n"));
    let table = |seed: &str| {
        folder.good(&["sample", "one.csa", "--seed", seed, "--out", "s.csv", "--force"]);
        folder.text("s.csv")
    };
    let first = table("1");
    assert_eq!(first, table("1"));
    let second = table("2");
    assert_eq!(first.lines().count(), second.lines().count());
    let same = first.lines().zip(second.lines()).filter(|(a, b)| a == b).count();
    // a side has 30 positions per window, so about one draw in 30 is the same
    assert!(same < first.lines().count() / 10, "{same} of {}", first.lines().count());
}

#[test]
fn a_duplicate_game_counts_once() {
    let folder = Folder::new();
    let games = games(&folder);
    folder.write("a/one.csa", games.join("/\n"));
    folder.write("b/copy.csa", games[5..8].join("/\n"));
    let once = bytes(&folder, &["a"], "2", &[]);
    for paths in [["a", "b"], ["b", "a"]] {
        assert_same(&bytes(&folder, &paths, "2", &[]), &once, &paths.join(" then "));
    }
    let document: Value = folder.document(&["inspect", "a", "b"]);
    assert_eq!(document["games"], serde_json::json!({ "read": 403, "used": 400, "skipped": { "duplicate": 3 } }));
    let found = problems(&document, "duplicate");
    assert_eq!(found.len(), 3);
    assert!(found[0].starts_with("b/copy.csa:"), "{found:?}");
    // an ordinary thing, which --strict lets pass
    folder.good(&["inspect", "a", "b", "--strict"]).says(&["b/copy.csa:", "duplicate: the game is also in a/one.csa"]);
}

#[test]
fn tables_give_the_same_bytes_in_any_order() {
    let folder = Folder::new();
    folder.generate("games.csa", &["--games", "200", "--plies", "149"]);
    folder.good(&["sample", "games.csa", "--out", "all.csv"]);
    let (head, rows) = csv(&folder.text("all.csv"));
    let at = |name: &str| head.iter().position(|n| n == name).unwrap();
    let (game, time) = (at("game"), at("start_time"));
    // with games and without, split within a game
    for left_out in [vec![time], vec![game, time]] {
        let keep = |row: &Vec<String>| -> Vec<String> {
            row.iter().enumerate().filter(|(i, _)| !left_out.contains(i)).map(|(_, cell)| cell.clone()).collect()
        };
        let head = keep(&head);
        let (first, second) = rows.split_at(rows.len() / 3 + 1);
        for (name, part) in [("a.csv", first), ("b.csv", second)] {
            folder.write(name, csv_text(&head, &part.iter().map(keep).collect::<Vec<_>>()));
        }
        let engines = |names: [&str; 2]| {
            let document = folder.document(&[&["calibrate", "--dry-run"], &names[..], &["--min-games", "1"]].concat());
            assert!(document["engines"][0]["maximum_likelihood"]["bootstrap"].is_object(), "{document:#}");
            document["engines"].clone()
        };
        assert_eq!(engines(["a.csv", "b.csv"]), engines(["b.csv", "a.csv"]), "without {left_out:?}");
    }
}

/// Figures and files of players of very different numbers of games.
#[test]
fn figures_are_the_same_on_any_number_of_threads() {
    let folder = Folder::new();
    folder.generate("games.csa", &["--games", "400", "--players", "12"]);
    let files = |threads: &str| {
        folder.good(&["calibrate", "games.csa", "--out", "out", "--force", "--threads", threads]);
        let entries = ["out", "out/plots"].map(|of| std::fs::read_dir(folder.at(of)).unwrap());
        let files = entries.into_iter().flatten().map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
        let found: BTreeMap<_, _> = files.map(|path| (path.clone(), std::fs::read(path).unwrap())).collect();
        std::fs::remove_dir_all(folder.at("out")).unwrap();
        found
    };
    let one = files("1");
    let named = |end: &str| one.keys().filter(|path| path.to_string_lossy().ends_with(end)).count();
    assert_eq!((named("-curve.svg"), named("-curve.png"), named(".json")), (12, 12, 12));
    for threads in ["2", "8"] {
        assert!(files(threads) == one, "{threads} threads");
    }
}
