//! Damaged, foreign and odd files: no panic, and no game lost without a report.

use serde_json::{Value, json};

use crate::same_bytes::{gzip, pack, zip, zst};
use crate::support::{Folder, csv, names, problems, project_data, root};

fn games(folder: &Folder, count: u32) -> Vec<String> {
    folder.games(count, &["--plies", "100"])
}

/// The line of the move with this ply in `text`, from 1, and the text with an invalid move at that place.
fn break_move(text: &str, ply: usize) -> (u64, String) {
    let is_move = |line: &str| line.len() == 7 && (line.starts_with('+') || line.starts_with('-'));
    let at = text.lines().enumerate().filter(|(_, l)| is_move(l)).nth(ply - 1).expect("a move").0;
    let lines: Vec<&str> = text.lines().enumerate().map(|(i, l)| if i == at { "+9Z58OU" } else { l }).collect();
    (at as u64 + 1, lines.join("\n") + "\n")
}

fn skipped(document: &Value) -> &Value {
    &document["games"]["skipped"]
}

#[test]
fn a_broken_move_costs_only_its_game() {
    let folder = Folder::new();
    let games = games(&folder, 6);
    let (line, broken) = break_move(&games[2], 40);
    let text = [games[..2].join("/\n"), broken, games[3..].join("/\n")].join("/\n");
    folder.write("six games.csa", &text);
    let at = line + (games[..2].join("/\n") + "/\n").lines().count() as u64;

    let document = folder.document(&["inspect", "six games.csa"]);
    assert_eq!(document["games"], json!({ "read": 6, "used": 5, "skipped": { "broken_move": 1 } }));
    assert_eq!(problems(&document, "broken_move"), [format!("six games.csa:{at}")]);

    let place = format!("six games.csa:{at}: broken move: '+9Z58OU'");
    folder.good(&["inspect", "six games.csa"]).says(&[&place]);
    folder.run(&["inspect", "six games.csa", "--strict"]).ends(1).says(&["error: ", &place, "--strict"]);
    // damage in the last of many small files
    folder.write("many/0.csa", &games[0]);
    folder.write("many/9.csa", break_move(&games[1], 1).1);
    folder.run(&["calibrate", "many", "--strict", "--threads", "8"]).ends(1).says(&["many/9.csa:"]);
    assert!(!folder.at("evalcurve-out").exists());
}

#[test]
fn games_before_the_cut_of_an_archive_are_kept() {
    let (folder, games) = before_the_cut();
    let text = games.join("/\n");
    folder.write("g.csa.gz", gzip(text.as_bytes()));
    folder.write("g.csa.zst", zst(text.as_bytes()));
    let many = games.chunks(90).enumerate().map(|(i, g)| (format!("{i}.csa"), g.join("/\n"))).collect::<Vec<_>>();
    folder.write("g.zip", zip(many.iter().map(|(name, text)| (name.clone(), text.as_bytes()))));
    check_cuts(&folder, &[("g.csa.gz", true), ("g.csa.zst", true), ("g.zip", true)]);
}

#[test]
#[ignore = "needs xz"]
fn games_before_the_cut_of_an_archive_are_kept_with_xz() {
    let (folder, _) = before_the_cut();
    pack(&folder, "xz", &["-1", "-k", "one.csa"]);
    check_cuts(&folder, &[("one.csa.xz", true)]);
}

/// The list of members is at the end of a 7z: nothing can be read without it.
#[test]
#[ignore = "needs 7z"]
fn a_cut_archive_is_reported_with_7z() {
    let (folder, _) = before_the_cut();
    pack(&folder, "7z", &["a", "-mx=1", "g.7z", "one.csa"]);
    check_cuts(&folder, &[("g.7z", false)]);
}

/// 900 games, enough for several blocks of every packer, also in one file.
fn before_the_cut() -> (Folder, Vec<String>) {
    let folder = Folder::new();
    let games = folder.games(900, &[]);
    folder.write("one.csa", games.join("/\n"));
    (folder, games)
}

/// Cuts archives of `one.csa`, which keep the games before the cut or lose all.
fn check_cuts(folder: &Folder, kinds: &[(&str, bool)]) {
    folder.good(&["sample", "one.csa", "--out", "whole.csv"]);
    let whole = csv(&folder.text("whole.csv")).1;
    for &(kind, keeps) in kinds {
        let bytes = folder.read(kind);
        let mut before = 0;
        for cut in [20, 100, bytes.len() / 2, bytes.len() * 9 / 10, bytes.len() - 1] {
            let name = format!("cut-{kind}");
            folder.write(&name, &bytes[..cut]);
            for threads in ["1", "2"] {
                let ran = folder.run(&["inspect", &name, "--json", "--threads", threads]).ends(0);
                let document = ran.document();
                let used = document["games"]["used"].as_u64().unwrap();
                let label = format!("{kind} cut at {cut} of {}: {}", bytes.len(), document["games"]);
                assert!(skipped(&document).as_object().unwrap().is_empty(), "{label}");
                assert_eq!(document["files"]["refused"]["unreadable"], 1, "{label}");
                assert_eq!(problems(&document, "unreadable").len(), 1, "{label}");
                assert!(used >= before && used <= 900, "{label}");
                if cut >= bytes.len() / 2 {
                    // half of the bytes hold about half of the games, minus those in one buffer of the decoder
                    assert!(used >= if keeps { 400 } else { 0 }, "{label}");
                }
                if threads == "2" {
                    before = used;
                }
            }
            folder.run(&["inspect", &name, "--strict"]).ends(1).says(&[&name, "unreadable"]);
        }
        if keeps {
            // the games that were read give the same samples as in the whole archive
            folder.write("half.bin", &bytes[..bytes.len() / 2]);
            folder.good(&["sample", "half.bin", "--out", "half.csv", "--force"]);
            let cells = |row: &Vec<String>| [&row[0], &row[1], &row[3], &row[4], &row[6]].map(Clone::clone);
            let all: std::collections::BTreeSet<_> = whole.iter().map(cells).collect();
            assert!(csv(&folder.text("half.csv")).1.iter().all(|row| all.contains(&cells(row))), "{kind}");
        }
    }
}

#[test]
fn a_damaged_member_does_not_hide_the_others() {
    let folder = Folder::new();
    let games = games(&folder, 3);
    let packed = gzip(games[1].as_bytes());
    let mut archive = tar::Builder::new(Vec::new());
    for (name, bytes) in
        [("a.csa", games[0].as_bytes()), ("b.csa.gz", &packed[..packed.len() / 2]), ("c.csa", games[2].as_bytes())]
    {
        let mut header = tar::Header::new_ustar();
        header.set_size(bytes.len() as u64);
        archive.append_data(&mut header, name, bytes).unwrap();
    }
    folder.write("games.tar", archive.into_inner().unwrap());
    let document = folder.document(&["inspect", "games.tar"]);
    assert_eq!(document["games"]["used"], 2);
    assert_eq!(problems(&document, "unreadable"), ["games.tar/b.csa.gz:0"]);
}

/// Lines that end with CR alone are those that end with LF, with the same numbers, in every block of a long file.
#[test]
fn lines_may_end_with_cr_alone() {
    let folder = Folder::new();
    // more than one block of 1 MiB
    let games = folder.games(900, &[]).join("/\n");
    let (_, broken) = break_move(&games, 90_000);
    assert!(broken.len() > 3 << 20, "{}", broken.len());
    folder.write("lf/a.csa", &broken);
    folder.write("cr/a.csa", broken.replace('\n', "\r"));
    folder.write("cr.csa.gz", gzip(broken.replace('\n', "\r").as_bytes()));
    let mut documents = ["lf/a.csa", "cr/a.csa", "cr.csa.gz"].map(|path| folder.document(&["inspect", path]));
    assert_eq!(problems(&documents[0], "broken_move").len(), 1);
    for document in &mut documents {
        let line = document["problems"][0]["line"].clone();
        document["problems"] = line;
    }
    for key in ["games", "files", "problems", "engines"] {
        assert_eq!(documents[0][key], documents[1][key], "{key}");
        assert_eq!(documents[0][key], documents[2][key], "{key}");
    }
}

/// A file counts as one with games only if it holds one.
#[test]
fn a_file_without_games_has_a_warning() {
    let folder = Folder::new();
    folder.write("in/a.csa", &games(&folder, 1)[0]);
    folder.write("in/version.csa", "V2.2\n");
    let document = folder.document(&["inspect", "in/a.csa", "in/version.csa"]);
    assert_eq!(document["files"], json!({ "read": 1, "refused": { "no_games": 1 } }));
    let warning = "in/version.csa: no games: the file holds no game; it may be cut off";
    let ran = folder.good(&["inspect", "in/version.csa"]).says(&[warning]);
    assert!(ran.out.contains("0 with games; passed over: 1 no games"), "{}", ran.out);
    folder.good(&["inspect", "in/a.csa", "in/version.csa", "--strict"]);
    folder.run(&["match-stats", "in/version.csa"]).ends(1).says(&["in/version.csa: no games: the file holds no game"]);
}

#[test]
fn other_files_are_ignored() {
    let folder = Folder::new();
    let games = games(&folder, 4);
    folder.write("in/棋譜 その一/先手 対 後手.csa", games[..2].join("/\n"));
    folder.write("in/b.csa", &games[2]);
    folder.write("in/empty.csa", "");
    folder.write("in/README.md", "# Games\n\nSome games: + and - and %.\n");
    let junk: Vec<u8> = (0..100_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    folder.write("in/junk.bin", &junk);
    folder.write("in/junk.csa", &junk[..3]);
    folder.write("in/.hidden.csa", &games[3]);
    let document = folder.document(&["inspect", "in"]);
    assert_eq!(document["games"], json!({ "read": 3, "used": 3, "skipped": {} }));
    assert_eq!(document["files"], json!({ "read": 2, "refused": { "empty": 1, "unknown_format": 3 } }));
    folder.good(&["inspect", "in", "--strict"]);

    // kanji and spaces in paths, a glob, and the source column
    folder.good(&["sample", "in/棋譜 その一/先手 対 後手.csa", "--out", "表 一.csv"]);
    assert!(folder.text("表 一.csv").contains("in/棋譜 その一/先手 対 後手.csa"));
    let document = folder.document(&["inspect", "in/棋譜*/*.csa"]);
    assert_eq!(document["games"]["used"], 2);

    // only other files
    folder.run(&["calibrate", "in/README.md", "--out", "o"]).ends(1).says(&["no engine has a single sample"]);
    folder.run(&["calibrate", "--dry-run", "in/empty.csa"]).ends(1);
}

/// Of other files in a folder there is no word.
#[test]
fn records_in_utf_16_and_what_is_on_standard_input_have_their_reason() {
    let folder = Folder::new();
    let utf_16 = |text: &str| format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let record = utf_16(&games(&folder, 1)[0]);
    folder.write("in/a.csa", &record);
    folder.write("in/notes.txt", utf_16("notes"));
    let reason = "unreadable: UTF-16 text; save the record as UTF-8 or Shift_JIS";
    let ran = folder.good(&["inspect", "in"]).says(&[&format!("in/a.csa: {reason}")]);
    assert!(!ran.err.contains("notes.txt"), "{}", ran.err);
    folder.run_with(&["inspect", "-"], &record).ends(0).says(&[&format!("-: {reason}")]);
    folder.run_with(&["inspect", "-"], b"notes").ends(0).says(&["-: unknown format: not a record"]);
}

/// A user who gets nothing learns what to do.
#[test]
fn a_note_says_why_there_is_no_sample() {
    let folder = Folder::new();
    let game = |result: &str, comment: &str| {
        format!("[White \"A\"]\n[Black \"B\"]\n[Result \"{result}\"]\n\n1. e4{comment} e5{comment} {result}\n")
    };
    folder.write("short.pgn", game("1-0", " {+0.30/12 1s}"));
    folder.write("bare.pgn", game("1-0", ""));
    folder.write("open.pgn", game("*", " {+0.30/12 1s}"));
    std::fs::create_dir(folder.at("empty")).unwrap();
    for (input, note) in [
        ("short.pgn", "all scores of these games are before ply 30"),
        ("bare.pgn", "these games have no scores that are read"),
        ("open.pgn", "these games have no result"),
        ("empty", "there is no file in these folders"),
    ] {
        folder.run(&["calibrate", "--dry-run", input]).ends(1).says(&[note, "no engine has a single sample"]);
        let ran = folder.good(&["inspect", input]).says(&[note]);
        assert!(!ran.out.contains("engine"), "{}", ran.out);
        let notes = folder.document(&["inspect", input])["notes"].clone();
        assert!(notes[0].as_str().unwrap().starts_with(note), "{notes}");
    }
    let filtered = ["calibrate", "--dry-run", "short.pgn", "--from-ply", "1", "--where", "score_cp > 1000"];
    folder.run(&filtered).ends(1).says(&["no sample passes the filters"]);
    folder.good(&["inspect", "short.pgn", "--from-ply", "1", "--quiet"]);
    // it may be that such a game is not used
    folder.write("odd.pgn", game("1-0", " {+99999999999999.00/9 1s}"));
    let ran = folder.good(&["inspect", "odd.pgn"]);
    assert!(ran.out.contains("odd     1 unreadable score (the rest of these games is read)"), "{}", ran.out);
}

#[cfg(unix)]
#[test]
#[ignore = "needs a user who may not read every file, so not root"]
fn a_file_without_read_permission_is_reported_as_user() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let games = games(&folder, 2);
    folder.write("in/a.csa", &games[0]);
    folder.write("in/b.csa", &games[1]);
    std::fs::set_permissions(folder.at("in/b.csa"), std::fs::Permissions::from_mode(0o000)).unwrap();
    let document = folder.document(&["inspect", "in"]);
    assert_eq!(document["games"]["used"], 1);
    assert_eq!(problems(&document, "unreadable"), ["in/b.csa:0"]);
}

#[test]
fn a_missing_path_is_a_usage_error() {
    let folder = Folder::new();
    for command in ["calibrate", "inspect", "plot"] {
        folder.run(&[command, "nowhere/games.csa"]).ends(2).says(&["nowhere/games.csa", "no such file"]);
        folder.run(&[command, "nowhere/*.csa"]).ends(2).says(&["nowhere/*.csa", "no file matches"]);
        folder.run(&[command]).ends(2).says(&["PATH"]);
    }
    folder.write("my games/b c.csa", "");
    folder
        .run(&["inspect", "my", "games/b", "c.csa"])
        .ends(2)
        .says(&["my: no such file or folder; put a path with blanks in double quotes: \"my games/b c.csa\""]);
    folder.run(&["calibrate", "--dry-run", "nowhere.parquet"]).ends(2).says(&["nowhere.parquet"]);
    folder.write("broken.parquet", "PAR1 and nothing else");
    folder.run(&["calibrate", "--dry-run", "broken.parquet"]).ends(2).says(&["broken.parquet"]);
    folder.write("columns.csv", "engine,score_cp\nE,1\n");
    folder.run(&["calibrate", "--dry-run", "columns.csv"]).ends(2).says(&["columns.csv", "no column 'result'"]);
}

/// Excel in Japan saves CSV as Shift_JIS, "CSV UTF-8" with a byte order mark, and "Unicode text" as UTF-16 with tabs;
/// in half of Europe it separates by semicolons.
#[test]
fn tables_of_spreadsheets_are_read() {
    let folder = Folder::new();
    let encoded = |text: &str| {
        let gikou = |bytes: &[u8]| text.split("GIKOU").map(str::as_bytes).collect::<Vec<_>>().join(bytes);
        let utf_16 = format!("\u{feff}{}", text.replace("GIKOU", "技巧").replace(',', "\t"));
        [
            ("utf8", gikou("技巧".as_bytes())),
            (
                "bom",
                gikou("技巧".as_bytes()).into_iter().fold(b"\xEF\xBB\xBF".to_vec(), |all, b| [&all[..], &[b]].concat()),
            ),
            ("sjis", gikou(b"\x8b\x5a\x8d\x49")),
            ("euc", gikou(b"\xb5\xbb\xb9\xaa")),
            ("utf16", utf_16.encode_utf16().flat_map(u16::to_le_bytes).collect()),
            ("semicolons", text.replace("GIKOU", "技巧").replace(',', ";").into_bytes()),
        ]
    };
    let samples = "engine,score_cp,result\r\nGIKOU,100,1\r\nGIKOU,-50,0\r\nA,30,1\r\nA,-30,0\r\n";
    let results = "player,opponent,wins,draws,losses\r\nGIKOU,A,12,1,7\r\nB,A,9,1,10\r\n";
    let scores = "name,score\r\nGIKOU,100\r\n";
    let gikou = root().join("data/published/gikou.json");
    let gikou = gikou.to_str().unwrap();
    let rate = serde_json::from_str::<serde_json::Value>(&folder.good(&["winrate", gikou, "100", "--json"]).out);
    let rate = rate.unwrap()["values"][0]["win_rate"].as_f64().unwrap();
    for ((name, samples), (results, scores)) in
        encoded(samples).into_iter().zip(encoded(results).into_iter().zip(encoded(scores)))
    {
        folder.write("samples.csv", samples);
        let document = folder.document(&["inspect", "samples.csv"]);
        assert_eq!(names(&document), ["A", "技巧"], "{name}");
        assert_eq!(document["games"]["used"], 4, "{name}");
        folder.write("results.csv", results.1);
        let out = folder.good(&["match-stats", "results.csv", "--json"]).out;
        let document: serde_json::Value = serde_json::from_str(&out).unwrap();
        assert_eq!(document["systems"][0]["player"], "技巧", "{name}");
        assert_eq!(document["rows"], serde_json::json!({ "read": 2, "used": 2, "skipped": {}, "refused": {} }));
        folder.write("scores.csv", scores.1);
        let out = folder.good(&["winrate", gikou, "--csv", "scores.csv"]).out;
        assert!(out.replace(['\t', ';'], ",").ends_with(&format!("技巧,100,{rate:.6}\n")), "{name}: {out}");
    }
    folder.write("aliases.txt", b"A = \x8b\x5a\x8d\x49\r\n");
    folder.write("samples.csv", samples.replace("GIKOU", "技巧"));
    assert_eq!(names(&folder.document(&["inspect", "samples.csv", "--alias", "@aliases.txt"])), ["技巧"]);
}

/// 技巧 by Python 3's codecs shift_jis, euc_jp and utf_8.
#[test]
fn one_name_in_four_encodings_is_one_engine() {
    let folder = Folder::new();
    let bom = b"\xEF\xBB\xBF";
    let encodings: [(&str, &[u8], &[u8]); 4] = [
        ("sjis", b"", b"\x8b\x5a\x8d\x49"),
        ("euc", b"", b"\xb5\xbb\xb9\xaa"),
        ("utf8", b"", b"\xe6\x8a\x80\xe5\xb7\xa7"),
        ("bom", bom, b"\xe6\x8a\x80\xe5\xb7\xa7"),
    ];
    let games = folder.games(8, &["--engine", "GIKOU:0.0026:0.16", "--engine", "Other:0.002:0"]);
    for (pair, (name, head, gikou)) in games.chunks(2).zip(encodings) {
        let mut bytes = head.to_vec();
        let text = pair.join("/\n");
        let mut parts = text.split("GIKOU");
        bytes.extend_from_slice(parts.next().unwrap().as_bytes());
        for part in parts {
            bytes.extend_from_slice(gikou);
            bytes.extend_from_slice(part.as_bytes());
        }
        folder.write(&format!("in/{name}.csa"), &bytes);
    }
    let document = folder.document(&["inspect", "in", "--strict"]);
    assert_eq!(document["games"], json!({ "read": 8, "used": 8, "skipped": {} }));
    assert_eq!(names(&document), ["Other", "技巧"]);
    assert_eq!(document["engines"][1]["games"], 8);
    // the calibration and its file have the name
    let document =
        folder.document(&["calibrate", "in", "--min-samples", "10", "--min-games", "8", "--no-plots", "--force"]);
    let file = document["engines"][1]["calibration"].as_str().unwrap();
    assert_eq!(file, "evalcurve-out/技巧.json");
    assert_eq!(folder.json(file)["engine"]["name"], "技巧");
    // in PGN other bytes than UTF-8 can also be Latin letters
    let [sjis, euc, latin] = [&b"\x8b\x5a\x8d\x49"[..], b"\xb5\xbb\xb9\xaa", b"M\xf6ller"].map(|name| {
        let moves = b"\"]\n[Result \"1-0\"]\n\n1. e4 {+0.30/9 1s} e5 {-0.20/9 1s} 1-0\n";
        folder.write("one.pgn", [b"[White \"", name, b"\"]\n[Black \"", name, moves].concat());
        names(&folder.document(&["inspect", "one.pgn", "--from-ply", "1"])).concat()
    });
    assert_eq!([sjis, euc, latin], ["技巧", "技巧", "Möller"]);
}

#[test]
fn windows_line_endings_change_nothing() {
    let folder = Folder::new();
    let text = games(&folder, 30).join("/\n");
    folder.write("games.csa", &text);
    folder.good(&["sample", "games.csa", "--out", "unix.csv"]);
    folder.write("games.csa", text.replace('\n', "\r\n"));
    folder.good(&["sample", "games.csa", "--out", "windows.csv", "--strict"]);
    assert_eq!(folder.text("windows.csv"), folder.text("unix.csv"));
    assert!(folder.text("unix.csv").lines().count() > 60);
}

#[test]
fn a_second_reader_agrees_on_the_moves() {
    let data = project_data("selfplay");
    let folder = Folder::new();
    let document = folder.document(&["inspect", &data]);
    let read = document["games"]["read"].as_u64().unwrap();
    assert!(read > 900, "{read} games");
    let out = folder.good(&["inspect", &data, "--verify", "--strict"]).out;
    let agreed = out.lines().find(|l| l.starts_with("moves ")).unwrap_or_else(|| panic!("nothing verified: {out}"));
    let agreed: String = agreed.chars().filter(char::is_ascii_digit).collect();
    assert_eq!(agreed, read.to_string(), "{out}");
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_is_not_an_error() {
    use std::io::Read;
    use std::process::Stdio;
    let folder = Folder::new();
    folder.generate("games.csa", &["--games", "600"]);
    let arguments = ["plot", "--points", "games.csa", "--bin", "1", "--min-bin", "1", "--json"];
    // more than any pipe holds, so that the program is still writing when the reader closes it
    assert!(folder.good(&arguments).out.len() > 300_000);
    let mut command = folder.command(&arguments);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut some = [0; 10];
    let mut out = child.stdout.take().unwrap();
    out.read_exact(&mut some).unwrap();
    drop(out);
    let mut err = String::new();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{err}");
    assert!(!err.contains("error"), "{err}");
}

#[test]
fn options_come_from_a_file_and_the_command_line_wins() {
    let folder = Folder::new();
    folder.generate("games.csa", &["--games", "60"]);
    folder.write("bad.toml", "min-samples = 10\nmin-sample = 3\n");
    folder.run(&["calibrate", "--dry-run", "games.csa", "--config", "bad.toml"]).ends(2).says(&[
        "bad.toml",
        "'min-sample'",
        "calibrate",
    ]);
    folder.write("broken.toml", "min-samples = = 3\n");
    folder
        .run(&["calibrate", "--dry-run", "games.csa", "--config", "broken.toml"])
        .ends(2)
        .says(&["broken.toml", "line 1"]);
    folder.run(&["calibrate", "--dry-run", "games.csa", "--config", "none.toml"]).ends(2).says(&["none.toml"]);
    folder.write("value.toml", "min-samples = \"many\"\n");
    folder
        .run(&["calibrate", "--dry-run", "games.csa", "--config", "value.toml"])
        .ends(2)
        .says(&["--min-samples", "many"]);

    folder
        .write("good.toml", "# few games\nseed = 7\nengine = [\"A\", \"B\"]\nmodel = \"least-squares\"\njson = true\n");
    let configured = folder.good(&["calibrate", "--dry-run", "games.csa", "--config", "good.toml"]).document();
    assert_eq!(configured["seed"], 7);
    assert_eq!(configured["model"], "least_squares");
    assert_eq!(names(&configured), ["A", "B"]);
    for arguments in [
        ["calibrate", "--dry-run", "games.csa", "--config", "good.toml", "--seed", "8"],
        ["calibrate", "--dry-run", "--seed", "8", "games.csa", "--config", "good.toml"],
    ] {
        let document = folder.good(&arguments).document();
        assert_eq!(document["seed"], 8, "{arguments:?}");
        assert_eq!(document["model"], "least_squares");
    }
}

#[test]
fn kif_and_ki2_give_the_same_samples_as_csa() {
    let path = project_data("selfplay/sekirei+zshogi.csa");
    let folder = Folder::new();
    let text = std::fs::read_to_string(path).unwrap();
    let games: Vec<&str> = text.split("\n/\n").take(5).collect();
    folder.write("games.csa", games.join("\n/\n"));
    // as tsshogi writes these games (tests/oracle/tsshogi.mjs)
    folder.write("games.kif", include_str!("../oracle/sekirei+zshogi.kif"));
    folder.write("games.ki2", include_str!("../oracle/sekirei+zshogi.ki2"));
    let samples = |name: &str| {
        folder.good(&["sample", name, "--out", "samples.csv", "--force"]);
        let (head, rows) = csv(&folder.text("samples.csv"));
        let of_the_file = |name: &str| ["source", "line"].contains(&name);
        let kept: Vec<usize> = (0..head.len()).filter(|&i| !of_the_file(&head[i])).collect();
        rows.into_iter().map(|row| kept.iter().map(|&i| row[i].clone()).collect()).collect::<Vec<Vec<String>>>()
    };
    let csa = samples("games.csa");
    assert!(csa.len() > 10, "{csa:?}");
    assert_eq!(samples("games.kif"), csa);
    assert_eq!(samples("games.ki2"), csa);
    // all three together count each game once
    let document = folder.document(&["inspect", "games.csa", "games.kif", "games.ki2"]);
    assert_eq!(document["games"], json!({ "read": 15, "used": 5, "skipped": { "duplicate": 10 } }));
}

#[test]
fn an_analysis_has_the_ratings_of_the_players() {
    let folder = Folder::new();
    let moves = ["７六歩(77)", "３四歩(33)", "２六歩(27)", "８四歩(83)"];
    let lines: String = (1..).zip(moves).map(|(n, m)| format!("{n} {m}\n*#評価値={}\n", n * 10)).collect();
    folder.write("a.kif", format!("先手：甲\n後手：乙\n{lines}5 投了\n"));
    folder.good(&["sample", "a.kif", "--annotator", "技巧", "--from-ply", "1", "--out", "samples.csv"]);
    let (head, rows) = csv(&folder.text("samples.csv"));
    let column = |name: &str| head.iter().position(|h| h == name).unwrap();
    assert!(!rows.is_empty());
    for row in rows {
        let rating = |name: &str| row[column(name)].parse::<f64>().unwrap();
        assert_eq!(row[column("engine")], "技巧");
        // Black resigned: it moves at odd plies
        let black = row[column("ply")].parse::<u32>().unwrap() % 2 == 1;
        assert_eq!(rating("rating") < rating("opponent_rating"), black, "{row:?}");
    }
}

/// With a table beside it, a link back to its folder was not counted.
#[cfg(unix)]
#[test]
fn links_beside_a_table_are_counted() {
    use std::os::unix::fs::symlink;
    let folder = Folder::new();
    folder.write("in/t.csv", "engine,score_cp,result\nA,10,1\n");
    folder.write("in/sub/a.csa", &games(&folder, 1)[0]);
    symlink("nowhere", folder.at("in/gone")).unwrap();
    symlink("..", folder.at("in/sub/up")).unwrap();
    let document = folder.document(&["inspect", "in"]);
    assert_eq!(document["games"]["used"], 2);
    assert_eq!(document["files"]["refused"], json!({ "unreadable": 2 }));
    let mut found = problems(&document, "unreadable");
    found.sort();
    assert_eq!(found, ["in/gone:0", "in/sub/up:0"]);
    folder.run(&["inspect", "in", "--strict"]).ends(1).says(&["unreadable"]);
}

/// A header of more than 4 KiB was no table in a folder, and one as a file.
#[test]
fn a_table_with_many_columns_is_one_in_a_folder() {
    let folder = Folder::new();
    let columns: String = (0..1_500).map(|n| format!(",column{n}")).collect();
    folder.write("in/t.csv", format!("engine{columns},score_cp,result\nA{},10,1\n", ",".repeat(1_500)));
    for path in ["in", "in/t.csv"] {
        let document = folder.document(&["inspect", path]);
        assert_eq!(document["games"]["used"], 1, "{path}: {document}");
    }
}

/// A pipe without a writer hung, also under the name of a table.
#[cfg(unix)]
#[test]
fn pipes_are_refused_also_as_tables() {
    let folder = Folder::new();
    folder.write("in/a.csa", &games(&folder, 1)[0]);
    let made = std::process::Command::new("mkfifo").arg(folder.at("in/t.csv")).status().unwrap();
    assert!(made.success());
    let document = folder.document(&["inspect", "in/*"]);
    assert_eq!((&document["games"]["used"], &document["files"]["refused"]["unreadable"]), (&json!(1), &json!(1)));
    let table = folder.run(&["inspect", "in/t.csv", "--format", "table"]);
    table.says(&["in/t.csv", "it is a device, a pipe or a socket; read it by standard input (-)"]);
}
