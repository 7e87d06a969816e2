//! Exported source code, compiled and run, gives the numbers of `winrate`; wins, draws and losses in `winrate`.

use std::process::Command;

use serde_json::Value;

use crate::material::games;
use crate::support::{Folder, csv};

const SCORES: [f64; 7] = [-9_000.0, -700.0, -35.5, 0.0, 100.0, 412.0, 9_999.0];
const STAGES: [u32; 4] = [1, 30, 58, 200];

/// Standard output of a command in the folder, as rows of numbers.
fn numbers(folder: &Folder, program: &str, arguments: &[&str]) -> Vec<Vec<f64>> {
    let ran = Command::new(program).args(arguments).current_dir(folder.at("")).output().unwrap();
    assert!(ran.status.success(), "{program} {arguments:?}: {}", String::from_utf8_lossy(&ran.stderr));
    let text = String::from_utf8(ran.stdout).unwrap();
    text.lines().map(|l| l.split_whitespace().map(|n| n.parse().unwrap()).collect()).collect()
}

/// The situation of a model: the name of its argument and option.
fn stage_of(file: &Value) -> Option<&'static str> {
    match (file["model"]["kind"].as_str(), file["model"]["stage"].as_str()) {
        (Some("phase"), _) | (_, Some("ply")) => Some("ply"),
        (_, Some("material")) => Some("material"),
        _ => None,
    }
}

/// The win rate, and where they are separate wins, draws and losses, of each score at each stage by `winrate`.
fn expected(folder: &Folder, file: &str, stage: Option<&str>) -> Vec<Vec<f64>> {
    let scores = SCORES.map(|s| s.to_string());
    let mut rows = Vec::new();
    for at in STAGES {
        let option = stage.map(|name| [format!("--{name}"), at.to_string()]);
        let mut arguments = vec!["winrate", file, "--json"];
        arguments.extend(scores.iter().map(String::as_str));
        arguments.extend(option.iter().flatten().map(String::as_str));
        let document: Value = serde_json::from_str(&folder.good(&arguments).out).unwrap();
        for value in document["values"].as_array().unwrap() {
            let mut row = vec![value["win_rate"].as_f64().unwrap()];
            let share = |name: &str| value["wdl"][name]["value"].as_f64();
            row.extend(["win", "draw", "loss"].into_iter().filter_map(share));
            rows.push(row);
        }
    }
    rows
}

#[track_caller]
fn agrees(what: &str, found: &[Vec<f64>], wanted: &[Vec<f64>]) {
    assert_eq!(found.len(), wanted.len(), "{what}");
    for (row, want) in found.iter().zip(wanted) {
        assert_eq!(row.len(), want.len(), "{what}: {row:?} {want:?}");
        assert!(row.iter().zip(want).all(|(f, w)| (f - w).abs() < 1e-9), "{what}: {row:?} {want:?}");
    }
}

/// Compiles and runs the exported code of a calibration in these languages.
fn check_code(folder: &Folder, file: &str, languages: &[&str]) {
    let document = folder.json(file);
    let stage = stage_of(&document);
    let wanted = expected(folder, file, stage);
    let wdl = wanted[0].len() == 4;
    let pass = stage.map_or("x", |_| "x, s");
    let list = |values: &[String]| values.join(", ");
    let (scores, stages) = (list(&SCORES.map(|s| format!("{s:?}"))), list(&STAGES.map(|s| format!("{s}.0"))));
    let export = |to: &str, name: &str| folder.write(name, folder.good(&["export", file, "--to", to]).out);

    if languages.contains(&"python") {
        export("python", "win_rate.py");
        let more = if wdl { format!(", *win_rate.win_draw_loss({pass})") } else { String::new() };
        let main = format!(
            "import win_rate\nfor s in [{stages}]:\n    for x in [{scores}]:\n        \
             print(*map(repr, [win_rate.win_rate({pass}){more}]))\n"
        );
        folder.write("main.py", main);
        agrees(file, &numbers(folder, "python3", &["-B", "main.py"]), &wanted);
    }
    if languages.contains(&"rust") {
        export("rust", "win_rate.rs");
        let more = if wdl { format!("let (w, d, l) = win_rate::win_draw_loss({pass});") } else { String::new() };
        let print = if wdl { "println!(\"{p:?} {w:?} {d:?} {l:?}\");" } else { "println!(\"{p:?}\");" };
        let main = format!(
            "#![deny(warnings)]\nmod win_rate;\nfn main() {{\n    for s in [{stages}] {{\n        \
             let _: f64 = s;\n        \
             for x in [{scores}] {{\n            let p = win_rate::win_rate({pass});\n            {more}\n            \
             {print}\n        }}\n    }}\n}}\n"
        );
        folder.write("main.rs", main);
        numbers(folder, "rustc", &["--edition", "2021", "-o", "main-rust", "main.rs"]);
        agrees(file, &numbers(folder, &folder.at("main-rust").to_string_lossy(), &[]), &wanted);
    }
    if languages.contains(&"c") {
        export("c-header", "win_rate.h");
        let more = if wdl {
            format!("double w, d, l; win_draw_loss({pass}, &w, &d, &l); printf(\" %.17g %.17g %.17g\", w, d, l);")
        } else {
            String::new()
        };
        let main = format!(
            "#include <stdio.h>\n#include \"win_rate.h\"\nint main(void) {{\n    double stages[] = {{{stages}}};\n    \
             double scores[] = {{{scores}}};\n    for (int i = 0; i < 4; i++) for (int j = 0; j < 7; j++) {{\n        \
             double s = stages[i], x = scores[j]; (void)s;\n        \
             printf(\"%.17g\", win_rate({pass})); {more}\n        \
             printf(\"\\n\");\n    }}\n    return 0;\n}}\n"
        );
        folder.write("main.c", main);
        numbers(folder, "cc", &["-Wall", "-Wextra", "-Werror", "-o", "main-c", "main.c", "-lm"]);
        agrees(file, &numbers(folder, &folder.at("main-c").to_string_lossy(), &[]), &wanted);
    }
    if wdl && languages.contains(&"c++") {
        export("stockfish", "win_rate.inc");
        let main = format!(
            "#include <algorithm>\n#include <cmath>\n#include <cstdio>\n#include <string>\n\
             enum PieceType {{ PAWN, KNIGHT, BISHOP, ROOK, QUEEN }};\n\
             struct Position {{\n    int stage;\n    \
             template<PieceType T> int count() const {{ return T == PAWN ? stage : 0; }}\n    \
             int game_ply() const {{ return stage; }}\n}};\n#include \"win_rate.inc\"\nint main() {{\n    \
             for (int s : {{{stages}}}) for (double x : {{{scores}}}) {{\n        const Position pos{{s}};\n        \
             const double w = win_rate(x, pos), l = win_rate(-x, pos), d = 1 - w - l;\n        \
             std::printf(\"%.17g %.17g %.17g %.17g\\n\", w + d / 2, w, d, l);\n    }}\n}}\n",
            stages = list(&STAGES.map(|s| s.to_string())),
        );
        folder.write("main.cpp", main);
        numbers(folder, "c++", &["-std=c++17", "-Wall", "-Wextra", "-Werror", "-o", "main-cpp", "main.cpp"]);
        agrees(file, &numbers(folder, &folder.at("main-cpp").to_string_lossy(), &[]), &wanted);
    }
}

const ALL: [&str; 6] = ["--from-ply", "1", "--window", "10", "--no-plots", "--quiet"];

/// Calibrates by several models and checks their code in these languages.
fn check_models(languages: &[&str]) -> Folder {
    let folder = Folder::new();
    folder.write("games.pgn", games(300));
    for model in ["wdl-material", "wdl", "maximum-likelihood", "lapse", "joint", "phase"] {
        let fit = ["calibrate", "games.pgn", "--model", model, "--out", model, "--force"];
        folder.good(&[&fit[..], &ALL].concat());
        check_code(&folder, &format!("{model}/A.json"), languages);
    }
    folder
}

#[test]
#[ignore = "needs cc"]
fn exported_code_gives_the_numbers_of_winrate_with_cc() {
    check_models(&["c"]);
}

#[test]
#[ignore = "needs c++"]
fn exported_code_gives_the_numbers_of_winrate_with_cxx() {
    check_models(&["c++"]);
}

#[test]
#[ignore = "needs python3"]
fn exported_code_gives_the_numbers_of_winrate_with_python3() {
    check_models(&["python"]);
}

#[test]
fn exported_code_gives_the_numbers_of_winrate() {
    let folder = check_models(&["rust"]);
    // what a target cannot hold is refused with the remedy
    let fit = ["calibrate", "games.pgn", "--model", "isotonic", "--out", "isotonic", "--force"];
    folder.good(&[&fit[..], &ALL].concat());
    folder.run(&["export", "isotonic/A.json", "--to", "rust"]).ends(2).says(&["list of points", "another --model"]);
    folder.run(&["export", "lapse/A.json", "--to", "stockfish"]).ends(2).says(&["lapse", "--model"]);
    folder.run(&["export", "wdl/A.json", "--to", "cobol"]).ends(2).says(&["not a target", "c-header"]);
    // a normalisation of four numbers is that of the stage
    let undo =
        |numbers: &str| folder.run(&["export", "wdl/A.json", "--to", "stockfish", "--undo-normalization", numbers]);
    let plain = folder.good(&["export", "wdl/A.json", "--to", "stockfish"]).out;
    let value = |text: &str| -> f64 {
        let line = text.lines().find(|l| l.contains("NormalizeToPawnValue")).unwrap();
        line.split(['=', ';']).nth(1).unwrap().trim().parse().unwrap()
    };
    let doubled = undo("200").ends(0).out;
    assert!((value(&doubled) - 2.0 * value(&plain)).abs() <= 1.0, "{plain}{doubled}");
    assert!(undo("-13.5,40.9,-36.8,386.8").ends(0).out.contains("-13.5, 40.9, -36.8, 386.8"));
    undo("3;4").ends(2).says(&["'3;4' is not a pawn value", "highest power first"]);
    undo("-5").ends(2).says(&["the pawn value is -5"]);
}

#[test]
fn winrate_prints_wins_draws_and_losses() {
    let folder = Folder::new();
    folder.write("games.pgn", games(300));
    let all = ["--from-ply", "1", "--window", "10", "--no-plots", "--quiet"];
    for model in ["wdl-material", "maximum-likelihood"] {
        folder.good(&[&["calibrate", "games.pgn", "--model", model, "--out", model][..], &all].concat());
    }
    let (wdl, sigmoid) = ("wdl-material/A.json", "maximum-likelihood/A.json");
    let document = |arguments: &[&str]| -> Value { serde_json::from_str(&folder.good(arguments).out).unwrap() };
    let value = &document(&["winrate", wdl, "100", "--material", "58", "--json"])["values"][0];
    let share = |name: &str| value["wdl"][name]["value"].as_f64().unwrap();
    assert!((share("win") + share("draw") + share("loss") - 1.0).abs() < 1e-12);
    assert!((share("win") + 0.5 * share("draw") - value["win_rate"].as_f64().unwrap()).abs() < 1e-12);
    for name in ["win", "draw", "loss"] {
        let ends = &value["wdl"][name]["interval"];
        let (low, high) = (ends[0].as_f64().unwrap(), ends[1].as_f64().unwrap());
        assert!(0.0 < low && low < share(name) && share(name) < high && high < 1.0, "{name} {ends}");
    }
    let out = folder.good(&["winrate", wdl, "100", "--material", "58"]).out;
    assert!(out.contains("\twin 0.") && out.contains("\tdraw 0.") && out.contains("\tloss 0."), "{out}");

    // one constant for the whole model is read at the stage of the pawn value, and has an interval
    let constant = &document(&["constant", wdl, "--json"])["engines"][0];
    let (score, ends) = (constant["constant"].as_f64().unwrap(), &constant["interval"]);
    assert!(ends[0].as_f64().unwrap() < score && score < ends[1].as_f64().unwrap(), "{constant}");
    let at = format!("{score}");
    let rate =
        document(&["winrate", wdl, &at, "--material", "58", "--json"])["values"][0]["win_rate"].as_f64().unwrap();
    assert!((rate - 1.0 / (1.0 + (-1.0_f64).exp())).abs() < 1e-9, "{rate}");

    // what a model does with material beyond its games, and without any, is said
    folder.good(&["winrate", wdl, "100", "--material", "900"]).says(&["--material 900 counts as 7"]);
    folder.good(&["winrate", wdl, "100"]).says(&["without --material", "the middle of"]);
    assert_eq!(folder.good(&["winrate", wdl, "100", "--material", "58"]).err, "");

    // permille sum to 1000; a mate leaves no draws
    let out = folder.good(&["winrate", wdl, "100", "-100", "mate3", "--wdl"]).out;
    let rows: Vec<Vec<u16>> = out
        .lines()
        .map(|l| l.split('\t').nth(1).unwrap().split(' ').map(|n| n.parse::<u16>().unwrap()).collect())
        .collect();
    assert!(rows.iter().all(|r| r.len() == 3 && r.iter().sum::<u16>() == 1000), "{out}");
    assert_eq!((rows[0][0], rows[0][2]), (rows[1][2], rows[1][0]));
    assert_eq!(rows[2], [1000, 0, 0]);
    folder
        .run(&["winrate", sigmoid, "100", "--wdl"])
        .ends(2)
        .says(&["does not separate draws", "--model joint, wdl-material or wdl"]);

    // standard input; what is no score is reported with its line
    let ran = folder.run_with(&["winrate", wdl, "-"], b"100 -40\r\nhello\n\nmate2 \x8b\x5a\n").ends(0);
    assert_eq!(ran.out.lines().count(), 3);
    let ran = ran.says(&["line 2: 'hello' is not a score", "3 scores used, 2 words left out"]);
    assert_eq!(ran.out.lines().next().unwrap(), folder.good(&["winrate", wdl, "100"]).out.trim_end());
    folder.run(&["winrate", wdl]).ends(2).says(&["no scores", "--csv"]);

    // several files are columns
    let out = folder.good(&["winrate", wdl, sigmoid, "100", "0"]).out;
    let last: Vec<&str> = out.lines().last().unwrap().split_whitespace().collect();
    assert_eq!(last, ["0", "0.5000", "0.5000"], "{out}");
    let both = document(&["winrate", wdl, sigmoid, "100", "--material", "30", "--json"]);
    assert_eq!(both["calibrations"].as_array().unwrap().len(), 2);
    folder.run(&["winrate", wdl, "none.json", "100"]).ends(2).says(&["none.json"]);

    // a column of a table, with the material of each row
    folder.write("evals.csv", "move,eval,material\ne4,100,58\nd4,x,58\n\"a, b\",-50,20\nlast,10\n");
    let ran = folder.good(&["winrate", wdl, "--csv", "evals.csv", "--column", "eval"]);
    let (head, rows) = csv(&ran.out);
    assert_eq!(head, ["move", "eval", "material", "win_rate", "win", "draw", "loss"]);
    assert_eq!(rows[0][3], format!("{:.6}", value["win_rate"].as_f64().unwrap()));
    assert_eq!(rows[1][3..], ["", "", "", ""]);
    let low = &document(&["winrate", wdl, "-50", "--material", "20", "--json"])["values"][0];
    assert!(ran.out.contains(&format!("\"a, b\",-50,20,{:.6},", low["win_rate"].as_f64().unwrap())), "{}", ran.out);
    ran.says(&["evals.csv, line 3: 'x' is not a score", "3 scores converted, 1 rows not"]);
    folder.run(&["winrate", wdl, "--csv", "evals.csv"]).ends(2).says(&["no column 'score'", "move, eval, material"]);
}

#[test]
fn plots_of_wins_draws_and_losses() {
    let folder = Folder::new();
    folder.write("games.pgn", games(300));
    let all = ["--from-ply", "1", "--window", "10", "--no-plots", "--quiet"];
    for model in ["wdl-material", "mle"] {
        folder.good(&[&["calibrate", "games.pgn", "--model", model, "--out", model][..], &all].concat());
    }
    let out = folder.good(&["plot", "wdl-material/A.json", "--out", "plots"]).out;
    for (name, words) in [
        ("A-wdl", ["draw", "at material 58"]),
        ("A-wdl-parameters", ["a and b by material", "spread"]),
        ("A-wdl-contours", ["win 95%", "loss 5%"]),
    ] {
        assert!(out.contains(&format!("plots/{name}.svg")), "{out}");
        let svg = folder.text(&format!("plots/{name}.svg"));
        assert!(words.iter().all(|word| svg.contains(word)), "{name}");
        assert!(folder.read(&format!("plots/{name}.png")).starts_with(b"\x89PNG"));
    }
    // a file has no samples to show
    assert!(!out.contains("A-wdl-wins"), "{out}");
    let out = folder.good(&["plot", "mle/A.json", "--out", "others"]).out;
    assert!(!out.contains("wdl"), "{out}");
    let records = ["games.pgn", "--from-ply", "1", "--window=1", "--model", "wdl-material"];
    let out = folder.good(&[&["plot", "--data", "--out", "seen"][..], &records].concat()).out;
    for (name, word) in [("A-wdl-wins", "share of wins"), ("B-wdl-draws", "share of draws"), ("B-wdl-contours", "50%")]
    {
        assert!(out.contains(&format!("seen/{name}.svg")), "{out}");
        assert!(folder.text(&format!("seen/{name}.svg")).contains(word), "{name}");
        let (head, rows) = csv(&folder.text(&format!("seen/{name}.csv")));
        assert_eq!(head, ["line", "series", "x", "y", "low", "high"]);
        assert_eq!(rows.iter().any(|row| row[1] == "seen"), !name.ends_with("contours"), "{name}");
    }
    let out = folder.good(&[&["calibrate", "--plots", "same", "--out", "files"][..], &records].concat()).out;
    assert!(out.contains("plots to same"), "{out}");
    assert_eq!(folder.text("same/A-wdl-wins.svg"), folder.text("seen/A-wdl-wins.svg"));
}

#[test]
fn compare_of_models_that_separate_draws() {
    let folder = Folder::new();
    folder.write("old.pgn", games(300));
    // the new version prints half of the old one's scores
    let text = games(300);
    let halved = text.split('{').map(|part| match part.split_once('/') {
        Some((score, rest)) if score.parse::<f64>().is_ok() => {
            format!("{:+.2}/{rest}", 0.5 * score.parse::<f64>().unwrap())
        }
        _ => part.to_owned(),
    });
    folder.write("new.pgn", halved.collect::<Vec<_>>().join("{"));
    let all = ["--from-ply", "1", "--window", "10", "--no-plots", "--quiet", "--model", "wdl-material"];
    for name in ["old", "new"] {
        let input = format!("{name}.pgn");
        folder.good(&[&["calibrate", &input, "--out", name][..], &all].concat());
    }
    let ran = folder.run(&["compare", "old/A.json", "new/A.json", "--summary", "ci/summary.md"]).ends(1);
    assert!(ran.out.contains("at material 58; a is the score") && ran.out.contains("a changed by -50"), "{}", ran.out);
    let summary = folder.text("ci/summary.md");
    assert!(summary.contains("## Scale of A: the scale moved") && summary.contains("| a | "), "{summary}");
    // appended, so that a page has all comparisons
    folder.run(&["compare", "old/A.json", "new/A.json", "--quiet", "--summary", "ci/summary.md"]).ends(1);
    assert_eq!(folder.text("ci/summary.md"), summary.repeat(2));
    // in internal units nothing has moved
    let undo = ["--undo-normalization", "100", "--undo-normalization", "200"];
    let document: Value = serde_json::from_str(
        &folder.run(&[&["compare", "old/A.json", "new/A.json", "--json", "--tolerance", "60"][..], &undo].concat()).out,
    )
    .unwrap();
    for change in document["changes"].as_array().unwrap() {
        assert!(change["change_percent"]["value"].as_f64().unwrap().abs() < 3.0, "{change}");
    }
    folder
        .run(&[&["compare", "old/A.json", "new/A.json"][..], &undo, &undo[..2]].concat())
        .ends(2)
        .says(&["--undo-normalization is given 3 times"]);
}
