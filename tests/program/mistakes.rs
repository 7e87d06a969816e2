//! Damaged inputs, wrong names and impossible options: the rest is used, and the message has the remedy.

use std::fs;

use serde_json::json;

use crate::support::{Folder, problems, root};

/// A table of 200 games of the engine Gikou-5820k.
fn table() -> String {
    let mut text = "game,engine,ply,score_cp,result\n".to_owned();
    for i in 0..200 {
        let score = (i * 37) % 801 - 400;
        let result = match (i * 61) % 100 - score / 10 {
            0..45 => "0.5",
            n if n < 50 => "1",
            _ => "0",
        };
        text += &format!("g{i},Gikou-5820k,{},{score},{result}\n", 20 + i % 150);
    }
    text
}

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("good.csv", table());
    folder
}

/// polars panics on this file; the panic cost the other inputs, and printed a backtrace.
#[test]
fn a_damaged_parquet_file_costs_that_file_only() {
    let folder = folder();
    folder.write("damaged.parquet", fs::read(root().join("tests/program/damaged.parquet")).unwrap());
    let document = folder.document(&["inspect", "damaged.parquet", "good.csv"]);
    assert_eq!(document["games"]["used"], 200);
    assert_eq!(document["files"]["refused"]["unreadable"], 1);
    assert_eq!(problems(&document, "unreadable"), ["damaged.parquet:0"]);
    folder.run(&["inspect", "damaged.parquet"]).ends(2).says(&["damaged.parquet: the file is damaged; write it again"]);
    folder.run(&["inspect", "damaged.parquet", "good.csv", "--strict"]).ends(1).says(&["damaged.parquet"]);
}

/// A table with too many rows or columns costs that table only, whatever its size.
#[test]
fn a_table_has_a_limit_of_rows_and_columns() {
    let folder = folder();
    folder.write("wide.csv", "column,".repeat(4_999) + "column\n");
    folder.write("long.csv", "score_cp\n".to_owned() + &"1\n".repeat(20_000_001));
    let document = folder.document(&["inspect", "wide.csv", "good.csv", "long.csv"]);
    assert_eq!(document["games"]["used"], 200);
    assert_eq!(problems(&document, "unreadable"), ["wide.csv:0", "long.csv:0"]);
    let wide = "wide.csv: 5,000 columns; a table may have at most 4,096; split it";
    folder.run(&["inspect", "wide.csv"]).ends(2).says(&[wide]);
    folder
        .run(&["inspect", "long.csv"])
        .ends(2)
        .says(&["long.csv: 20,000,001 rows; a table may have at most 20,000,000"]);
    // all rows are counted; of a file that is too large no byte is read
    folder.write("longer.csv", "score_cp\n".to_owned() + &"1\n".repeat(20_000_007));
    folder.run(&["inspect", "longer.csv"]).ends(2).says(&["longer.csv: 20,000,007 rows; a table may have"]);
    // such a file takes no space here
    #[cfg(unix)]
    {
        folder.write("large.csv", "engine,score_cp,result\nA,1,1\n");
        std::fs::File::options().write(true).open(folder.at("large.csv")).unwrap().set_len((4 << 30) + 1).unwrap();
        folder
            .run(&["inspect", "large.csv"])
            .ends(2)
            .says(&["4,294,967,297 bytes; a table may have at most 4,294,967,296"]);
    }
}

/// Every prefix and every changed byte of a Parquet file is an error or a table, never a panic.
#[test]
fn no_damage_to_a_parquet_file_ends_the_program() {
    let folder = folder();
    folder.good(&["sample", "good.csv", "--out", "good.parquet"]);
    let good = folder.read("good.parquet");
    let footer = good.len() - 600.min(good.len());
    for (i, at) in (footer..good.len()).step_by(11).enumerate() {
        let mut bytes = good.clone();
        bytes[at] ^= 0x55;
        folder.write(&format!("in/{i}.parquet"), bytes);
    }
    folder.write("in/cut.parquet", &good[..good.len() / 2]);
    let ran = folder.good(&["inspect", "in", "--json"]);
    assert!(ran.document()["files"]["refused"]["unreadable"].as_u64().unwrap() > 0);
}

#[test]
fn an_unclosed_quote_costs_that_table_only() {
    let folder = folder();
    let long = "x".repeat(100_000);
    folder.write("quote.csv", format!("game,engine,score_cp,result\ng1,E,\"12,1\ng2,{long},5,0\n"));
    let document = folder.document(&["inspect", "quote.csv", "good.csv"]);
    assert_eq!(document["games"]["used"], 200);
    assert_eq!(problems(&document, "unreadable"), ["quote.csv:0"]);
    let ran = folder.run(&["inspect", "quote.csv"]).ends(2).says(&["the quote in line 2 is never closed"]);
    assert!(ran.err.len() < 300 && !ran.err.contains("infer_schema_length"), "{}", ran.err);
    // a quote that is closed is a cell, with commas and line breaks
    folder.write("closed.csv", "game,engine,score_cp,result\n\"g,1\",\"E\nF\",12,1\n");
    assert_eq!(folder.document(&["inspect", "closed.csv"])["games"]["used"], 1);
}

/// `--model wdl` fits every ply up to the largest.
#[test]
fn plies_have_a_limit() {
    let folder = Folder::new();
    let text = table().replace("g7,Gikou-5820k,27,", "g7,Gikou-5820k,4294967295,");
    folder.write("ply.csv", text.replace("g8,Gikou-5820k,28,", "g8,Gikou-5820k,20000,"));
    let document =
        folder.document(&["calibrate", "--dry-run", "ply.csv", "--model", "wdl", "--folds", "0", "--bands", "0"]);
    assert_eq!(document["positions"]["table"]["skipped"]["bad_ply"], 1);
    assert_eq!(document["positions"]["table"]["used"], 199);
}

#[test]
fn tables_have_limits() {
    let folder = Folder::new();
    let columns: String = (0..5_000).map(|i| format!(",c{i}")).collect();
    folder.write("wide.csv", format!("engine,score_cp,result{columns}\n"));
    folder.run(&["inspect", "wide.csv"]).ends(2).says(&["5,003 columns", "at most 4,096", "split it"]);
    let columns: String = (0..3_000).map(|i| format!(",c{i}")).collect();
    folder.write("other.csv", format!("engine{columns}\n"));
    let ran = folder.run(&["inspect", "other.csv"]).ends(2).says(&["no column 'score_cp'"]);
    assert!(ran.err.len() < 600, "{}", ran.err);
}

#[test]
fn numbers_of_options_are_checked() {
    let folder = folder();
    for (arguments, words) in [
        (["calibrate", "good.csv", "--folds", "999999999"], ["--folds", "999999999", "at most 100 folds"]),
        (["calibrate", "good.csv", "--threads", "20000"], ["--threads", "20000", "up to 1024"]),
        (["simulate", "--noise=1,1", "--threads", "20000"], ["--threads", "20000", "up to 1024"]),
        (["calibrate", "good.csv", "--min-samples", "many"], ["--min-samples", "many", "expected a whole number"]),
        (["calibrate", "good.csv", "--where", "rating > x"], ["--where", "'x'", "is not a number"]),
        (["theory", "bounds", "--map=m", "--moves=99999"], ["--moves", "99999", "2..=1000"]),
        (["theory", "bounds", "--map=m", "--most-voters=999"], ["--most-voters", "999", "1..=200"]),
        (["theory", "playout", "hex:3", "--rounds=99999"], ["--rounds", "99999", "1..=10000"]),
        (["match-stats", "423-8-569", "--sprt", "5:0"], ["SPRT", "5 and 0", "less than the second"]),
        (["match-stats", "423-8-569", "--sprt=0:5", "--alpha=0.5"], ["SPRT", "0.5", "below 0.5"]),
    ] {
        let ran = folder.run(&arguments).ends(2).says(&words);
        assert!(!ran.err.contains("invalid digit") && ran.out.is_empty(), "{}{}", ran.err, ran.out);
    }
}

/// Scores are counted in records; a sample table holds samples.
#[test]
fn a_sample_table_has_samples() {
    let folder = folder();
    let out = folder.good(&["inspect", "good.csv"]).out;
    assert!(out.contains("\nsamples 200\n") && !out.contains("scored positions"), "{out}");
    folder.generate("games.csa", &["--games", "30"]);
    let out = folder.good(&["inspect", "games.csa", "good.csv"]).out;
    assert!(out.contains(" scored positions and 0 book moves; "), "{out}");
}

#[test]
fn wrong_names_have_the_nearest() {
    let folder = folder();
    let nearest = "no engine matches 'Gikuo'; nearest: Gikou-5820k";
    for command in ["inspect", "calibrate", "constant"] {
        folder.run(&[command, "good.csv", "--engine", "Gikuo"]).ends(2).says(&[nearest]);
    }
    folder.good(&["inspect", "good.csv", "--engine", "Gikuo", "--engine", "Gikou*"]).says(&["--engine", nearest]);
    folder
        .good(&["inspect", "good.csv", "--alias", "Gikuo = X"])
        .says(&["--alias: no player matches 'Gikuo'; nearest: Gikou"]);
    folder.good(&["inspect", "good.csv", "--mate-threshold", "Gikuo=3000"]).says(&["--mate-threshold", nearest]);
    let ran = folder.good(&["inspect", "good.csv", "--engine", "Gikou*", "--alias", "Gikou* = X", "--engine", "X"]);
    assert!(!ran.err.contains("--alias"), "{}", ran.err);
}

/// A filter was ignored where the inputs are calibration files.
#[test]
fn engines_are_chosen_among_calibration_files() {
    let folder = Folder::new();
    let engines = ["Star_1:0.002:0", "Star_2:0.003:0", "Other:0.002:0"].map(|engine| ["--engine", engine]);
    folder.generate("games.csa", &[&["--games", "300"][..], &engines.concat()].concat());
    folder.good(&["calibrate", "games.csa", "--out", "out", "--no-plots", "--bands", "0"]);
    let files = ["out/Other.json", "out/Star_1.json", "out/Star_2.json"];
    let run = |command: &str, more: &[&str]| folder.run(&[&[command], &files[..], more].concat());
    let listed = run("constant", &["--engine", "Star*"]).ends(0).out;
    assert!(listed.contains("Star_1") && listed.contains("Star_2") && !listed.contains("Other"), "{listed}");
    // one engine is shown with its curve
    let one = run("constant", &["--engine", "Other", "--engine", "Nix"]).ends(0);
    let one = one.says(&["--engine: no engine matches 'Nix'"]);
    assert!(one.out.contains("1/w1 = ") && !one.out.contains("Star"), "{}", one.out);
    run("plot", &["--engine", "Star*", "--out", "p"]).ends(0);
    let drawn = ["Star_1", "Star_2", "Other"].map(|name| folder.at(&format!("p/{name}-curve.svg")).exists());
    assert_eq!(drawn, [true, true, false]);
    for command in ["constant", "plot"] {
        run(command, &["--engine", "Nix"]).ends(2).says(&["no engine matches 'Nix'; nearest: "]);
        for filter in [["--alias", "A = B"], ["--where", "ply > 3"], ["--terminations", "board"]] {
            run(command, &filter).ends(2).says(&[filter[0], "a calibration file has no samples to filter"]);
        }
    }
}

/// `cmd` and PowerShell pass globs on; every command that reads files expands them.
#[test]
fn every_command_expands_globs() {
    let folder = folder();
    folder.generate("games.csa", &["--games", "300", "--engine", "A:0.002:0", "--engine", "B:0.003:0"]);
    folder.good(&["calibrate", "games.csa", "--out", "out", "--no-plots", "--bands", "0"]);
    folder.write("votes.jsonl", crate::replay::LOG);
    for (arguments, names) in [
        (&["constant", "out/*.json"][..], &["A ", "B "][..]),
        (&["evaluate", "out/?.json", "game*.csa", "--bands", "2"], &["A ", "B "]),
        (&["winrate", "out/*.json", "300"], &[" A", " B"]),
        (&["winrate", "out/A.json", "out/[B].json", "300"], &[" A", " B"]),
        (&["export", "out/A*.json", "--to", "ponanza"], &[]),
        (&["compare", "out/A*.json", "out/[A].json"], &["A"]),
        (&["replay", "vot*.jsonl"], &[]),
    ] {
        let out = folder.good(arguments).out;
        assert!(!out.is_empty() && names.iter().all(|name| out.contains(name)), "{arguments:?}: {out}");
    }
    let several = "out/*.json: 2 files match; give one";
    folder.run(&["export", "out/*.json", "--to", "json"]).ends(2).says(&[several]);
    folder.run(&["compare", "out/*.json", "out/A.json"]).ends(2).says(&[several]);
    folder.run(&["winrate", "none*.json", "300"]).ends(2).says(&["none*.json: no file matches"]);
    folder.run(&["theory", "estimate", "none*.jsonl"]).ends(2).says(&["none*.jsonl: no file matches"]);
}

#[test]
fn wrong_files_are_named() {
    let folder = folder();
    folder.write("note.txt", "hello\n");
    folder.run(&["calibrate", "note.txt", "--out", "out"]).ends(1).says(&["note.txt: unknown format", "--format"]);
    folder.run(&["winrate", "note.txt", "300"]).ends(2).says(&["note.txt: not a calibration file", "calibrate"]);
    folder.write("c.toml", "annotator = \"C:\\Users\\me\"\n");
    folder
        .run(&["calibrate", "--dry-run", "good.csv", "--config", "c.toml"])
        .ends(2)
        .says(&["c.toml", "single quotes"]);
    folder.run(&["council", "c.toml"]).ends(2).says(&["c.toml:1", "single quotes"]);
    folder.write("long.toml", format!("annotator = \"{}\n", "x".repeat(100_000)));
    for arguments in [["calibrate", "good.csv", "--config=long.toml"], ["council", "long.toml", "--check"]] {
        let ran = folder.run(&arguments).ends(2).says(&["long.toml"]);
        assert!(ran.err.len() < 1_000, "{} bytes", ran.err.len());
    }
}

/// Who asks for Japanese gets the messages of the first ten minutes in Japanese, too.
#[test]
fn messages_are_in_japanese() {
    let folder = folder();
    folder.write("note.txt", "hello\n");
    folder.write("bad.csv", "game,engine,score_cp,result\ng,E,many,1\n");
    folder.write("missing-column.csv", "engine,result\nE,1\n");
    for (arguments, code, words) in [
        (&["inspect", "nothere.csa"][..], 2, "ファイルもフォルダもありません"),
        (
            &["calibrate", "note.txt", "--out", "out"],
            1,
            "note.txt: 不明な形式: evalcurve が読める形式の棋譜ではありません",
        ),
        (&["inspect", "bad.csv"], 0, "bad.csv:2: 不正な評価値: 'many' はセンチポーンの数ではない"),
        (
            &["calibrate", "--dry-run", "good.csv", "--engine", "Gikuo"],
            2,
            "'Gikuo' に合うエンジンがありません。近い名前: Gikou-5820k",
        ),
        (&["inspect", "good.csv", "--alias", "Gikuo = X"], 0, "--alias: 'Gikuo' に合う対局者がありません"),
        (
            &["calibrate", "--dry-run", "good.csv", "--min-samples", "many"],
            2,
            "値として使えません: 整数を書いてください",
        ),
        (&["calibrate", "--dry-run", "good.csv", "--folds", "1"], 2, "当てはめに使っていない対局で採点します"),
        (&["calibrate", "--dry-run", "good.csv", "--model", "best"], 2, "(使える値: least-squares, "),
        (
            &["calibrate", "--dry-run", "good.csv", "--min-sample", "30"],
            2,
            "'--min-sample' というオプションはありません。近いもの: --min-samples",
        ),
        (&["calibrate", "--dry-run", "missing-column.csv", "good.csv"], 0, "列 'score_cp' がありません"),
    ] {
        let ran = folder.run(&[arguments, &["--lang", "ja"]].concat()).ends(code).says(&[words]);
        // the locale gives way to the option
        assert!(!ran.err.contains("no engine matches") && !ran.err.contains("unknown format"), "{}", ran.err);
    }
    let table = folder.run(&[
        "calibrate",
        "--dry-run",
        "good.csv",
        "--lang",
        "ja",
        "--min-samples",
        "1000",
        "--min-games",
        "1000",
    ]);
    assert!(table.out.contains("較正しない 1 エンジン"), "{}", table.out);
}

/// A game with a date alone does not tell whether it began before a time of day.
#[test]
fn a_time_of_day_needs_the_time_of_the_game() {
    let folder = Folder::new();
    let times = ["2016-04-01", "2016-04-01T09:00:00", "2016-04-01T11:00:00", "2016-03-31", ""];
    let rows: String = times.iter().enumerate().map(|(i, time)| format!("g{i},E,100,1,{time}\n")).collect();
    folder.write("times.csv", format!("game,engine,score_cp,result,start_time\n{rows}"));
    let used = |condition: &str| {
        let document = folder.document(&["inspect", "times.csv", "--where", condition]);
        assert_eq!(document["games"]["read"], 5);
        document["games"]["used"].as_u64().unwrap()
    };
    assert_eq!(used("start_time < \"2016-04-01 10:00\""), 1);
    assert_eq!(used("start_time > \"2016-04-01 10:00\""), 1);
    assert_eq!(used("start_time <= 2016-04-01"), 4);
}

/// A signal that ends the program while it writes leaves no temporary file.
#[cfg(unix)]
#[test]
fn signals_leave_no_temporary_files() {
    use std::os::unix::process::ExitStatusExt;
    use std::process::Stdio;

    let folder = Folder::new();
    folder.generate("games.csa", &["--games", "300"]);
    let temporary = || -> Vec<String> {
        ["out", "out/plots"]
            .iter()
            .filter_map(|path| fs::read_dir(folder.at(path)).ok())
            .flat_map(|entries| entries.flatten().map(|e| e.file_name().to_string_lossy().into_owned()))
            .filter(|name| name.ends_with(".tmp"))
            .collect()
    };
    for signal in ["-TERM", "-INT", "-HUP"] {
        // the program may end before a file that was seen is complete, or the system may look too late
        let ended = (0..50).any(|_| {
            let arguments = ["calibrate", "games.csa", "--out", "out", "--bands", "0", "--folds", "0"];
            let Some(mut command) = folder.heeding_signals(&arguments) else { return true };
            let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            while temporary().is_empty() {
                if child.try_wait().unwrap().is_some() {
                    return false;
                }
            }
            let id = child.id().to_string();
            let _ = std::process::Command::new("kill").args([signal, &id]).stderr(Stdio::null()).status().unwrap();
            let status = child.wait().unwrap();
            assert_eq!(temporary(), Vec::<String>::new(), "{signal}");
            status.signal().is_some()
        });
        assert!(ended, "no run was ended by {signal} while it wrote");
    }
}

/// One rating of 10^18 changed the calibration of its engine and of all others.
/// The limit of the system on the size of files (SIGXFSZ) is an error like a full disk.
#[cfg(unix)]
#[test]
fn files_beyond_the_limit_of_the_system_leave_nothing() {
    let folder = folder();
    folder.generate("games.csa", &["--games", "200"]);
    for arguments in ["calibrate games.csa --no-plots --quiet --out out", "sample games.csa --quiet --out out/s.csv"] {
        let _ = fs::create_dir(folder.at("out"));
        let mut command = std::process::Command::new("sh");
        command.args(["-c", "ulimit -f 1; exec \"$@\"", "sh"]);
        let program = folder.command(&arguments.split(' ').collect::<Vec<_>>());
        command.arg(program.get_program()).args(program.get_args()).current_dir(folder.at(""));
        let ran = command.output().unwrap();
        let err = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(2), "{arguments}: {err}");
        assert!(err.contains("cannot write the file: File too large") && err.contains("ulimit -f"), "{err}");
        assert_eq!(fs::read_dir(folder.at("out")).unwrap().count(), 0, "{arguments}: {err}");
    }
}

#[test]
fn ratings_have_limits() {
    let folder = Folder::new();
    let mut text = "game,engine,opponent,color,score_cp,result,rating,opponent_rating\n".to_owned();
    for (i, rating) in
        ["1e18", "-1e308", "1e6", "inf", "-1000.5", "-1000", "10000", "1500", "", "nan", "?"].iter().enumerate()
    {
        text += &format!("g{i},A,B,black,{},1,{rating},1400\n", 10 * i);
    }
    text += "own,A,B,black,10,1,1500,-1e9\nmade,A,B,black,10,1,1500,1400\n";
    folder.write("rating.csv", text);
    let document = folder.document(&["inspect", "rating.csv"]);
    assert_eq!(document["positions"]["table"]["skipped"], json!({ "bad_rating": 6 }));
    assert_eq!(document["positions"]["table"]["used"], 7);
    folder.good(&["inspect", "rating.csv"]).says(&[
        "rating.csv:2: bad rating: '1e18' is not a rating from -1000 to 10000",
        "leave the cell empty if it is unknown",
    ]);
    // ratings made from results have mean 0, so that those of weak players are below 0
    let made = "game,engine,score_cp,result,rating,bradley_terry\n1,A,1,1,-1500,true\n2,A,1,1,-10001,true\n";
    folder.write("made.csv", made);
    let document = folder.document(&["inspect", "made.csv"]);
    assert_eq!(document["positions"]["table"]["skipped"], json!({ "bad_rating": 1 }));
}

/// The message on a file that is no calibration read it whole.
#[test]
fn calibrations_and_configurations_have_limits() {
    let folder = folder();
    for (name, size) in [("big.json", 3_000_000_000), ("big.toml", 20_000_000)] {
        fs::File::create(folder.at(name)).unwrap().set_len(size).unwrap();
    }
    folder
        .run(&["winrate", "big.json", "1"])
        .ends(2)
        .says(&["big.json: larger than 64 MiB, so not a calibration file"]);
    let ran = folder.run(&["calibrate", "--dry-run", "good.csv", "--config", "big.toml"]).ends(2);
    ran.says(&["big.toml: cannot read the configuration: it is larger than 16 MiB"]);
    folder.run(&["winrate", "good.csv", "1"]).ends(2).says(&["good.csv: not a calibration file"]);
    #[cfg(target_os = "linux")]
    for name in ["zero.json", "zero.toml", "zero.csv"] {
        std::os::unix::fs::symlink("/dev/zero", folder.at(name)).unwrap();
    }
    #[cfg(target_os = "linux")]
    {
        folder.run(&["winrate", "zero.json", "1"]).ends(2).says(&["zero.json: larger than 64 MiB"]);
        folder
            .run(&["calibrate", "--dry-run", "good.csv", "--config", "zero.toml"])
            .ends(2)
            .says(&["zero.toml: cannot read"]);
        folder
            .run(&["calibrate", "--dry-run", "zero.csv"])
            .ends(1)
            .says(&["zero.csv: unreadable: it is a device, a pipe or a socket"]);
        assert_eq!(folder.document(&["inspect", "zero.csv", "good.csv"])["games"]["used"], 200);
        folder.run(&["match-stats", "zero.csv"]).ends(2).says(&["zero.csv: unreadable: it is a device, a pipe or"]);
    }
}

/// Numbers as people write them are refused with what to write.
#[test]
fn numbers_have_a_hint() {
    let folder = Folder::new();
    folder.generate("games.csa", &["--games", "100"]);
    folder.good(&["calibrate", "games.csa", "--out", "out", "--no-plots", "--quiet"]);
    let winrate = |arguments: &[&str]| folder.run(&[&["winrate", "out/A.json"], arguments].concat());
    for (value, message) in [
        ("５００", "'５００' is not a score in centipawns; write 500"),
        ("300点", "write 300"),
        ("1,200", "write 1200"),
        ("75%", "'75%' is not a score in centipawns; for the score of a win rate: --inverse 0.75"),
    ] {
        winrate(&[value]).ends(2).says(&[message]);
    }
    winrate(&["--inverse", "７５％"]).ends(2).says(&["'７５％' is not a win rate between 0 and 1; write 0.75"]);
    winrate(&["1.00"]).ends(0).says(&["1.00 counts as centipawns; of a score in pawns, write 100"]);
    assert!(winrate(&["1", "150.5", "-20"]).ends(0).err.is_empty());
    folder
        .run(&["calibrate", "--dry-run", "games.csa", "--bands", "５０"])
        .ends(2)
        .says(&["expected a whole number; write 50"]);
    let ran = folder.run(&["calibrate", "--dry-run", "games.csa", "--bands", "1,000", "--lang", "ja"]).ends(2);
    ran.says(&["'1,000' は '--bands <N>' の値として使えません", "1000 と書いてください"]);
    let fit =
        |engine: &str| folder.run(&["calibrate", "--dry-run", "games.csa", "--bands", "0", "--engine", engine]).ends(2);
    fit("Ｂ").says(&["no engine matches 'Ｂ'; nearest: B"]);
    fit("A,B").says(&["no engine matches 'A,B'; give one name at a time, and the option once for each"]);
}

/// What cannot be read has a way on.
#[test]
fn records_without_a_use_say_what_to_do() {
    let folder = Folder::new();
    folder.write("a.rar", b"Rar!\x1a\x07\x01\x00\x00");
    folder.good(&["inspect", "a.rar"]).says(&["a.rar: unknown format: a RAR archive, which evalcurve does not unpack"]);
    folder.write("plain.pgn", "[White \"A\"]\n[Black \"B\"]\n[Result \"1-0\"]\n\n1. e4 e5 2. Qh5 Ke7 3. Qxe5# 1-0\n");
    let ran = folder.run(&["calibrate", "plain.pgn", "--no-plots"]).ends(1);
    ran.says(&["let an engine score them: `evalcurve analyse GAMES --engine \"COMMAND nodes=20k\"`"]);
    folder
        .run(&["diagnose", "plain.pgn", "--out", "d.html"])
        .ends(2)
        .says(&["--out d.html: it names a folder", "--out d\n"]);
    assert!(!folder.at("d.html").exists());
    folder.run(&["play", "-engines", "cmd=x"]).ends(2).says(&["'-engines': options begin with two dashes"]);
    // a long folder is named once, and no reason is parted from its count
    let long = "a_folder_with_a_very_long_name/and_another_one_in_it/and_a_third";
    for i in 0..3 {
        folder.write(&format!("{long}/{i}.csa"), "V2.2\nN+A\nN-B\nPI\n+\n+7776FU,T1\n'** x\n+0000ZZ\n%TORYO\n");
    }
    let ran = folder.good(&["inspect", long]);
    assert_eq!(ran.err.matches(long).count(), 1, "{}", ran.err);
    assert!(ran.err.contains("warning: …/1.csa:"), "{}", ran.err);
}
