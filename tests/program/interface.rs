//! The command line interface.

use std::fs;

use evalcurve_app::report::text::columns;

use crate::support::{Folder, root};

/// The commands that the help lists.
fn commands(folder: &Folder) -> Vec<String> {
    listed(&folder.good(&["--help"]).out, "Calibrate:")
}

/// The commands of a help from a heading on.
fn listed(overview: &str, heading: &str) -> Vec<String> {
    let list = overview.lines().skip_while(|l| *l != heading).take_while(|l| *l != "Options:");
    let commands = list.filter(|l| l.starts_with("  ")).filter_map(|l| l.split_whitespace().next());
    commands.map(str::to_owned).collect()
}

/// Compares `text` with a file in `tests/program/snapshots`, or writes that file for `cargo xtask bless`.
#[track_caller]
pub(crate) fn snapshot(name: &str, text: &str) {
    let path = root().join("tests/program/snapshots").join(name);
    if std::env::var("EVALCURVE_BLESS").is_ok_and(|v| v == "1") {
        fs::write(path, text).unwrap();
        return;
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert!(text == expected, "{name} is not what the snapshot holds (`cargo xtask bless` rewrites it):\n{text}");
}

/// The tables of commands in both languages are those of the help; `cargo xtask bless` writes them.
#[test]
fn the_documentation_has_the_list_of_commands() {
    let folder = Folder::new();
    for (language, head, path, program) in [
        ("en", "| command | what it does |\n", "docs/commands.md", "evalcurve"),
        ("en", "| command of the lab | what it does |\n", "docs/commands.md", "evalcurve-lab"),
        ("ja", "| コマンド | 内容 |\n", "docs/ja/commands.md", "evalcurve"),
        ("ja", "| 実験用のコマンド | 内容 |\n", "docs/ja/commands.md", "evalcurve-lab"),
    ] {
        let is_lab = program == "evalcurve-lab";
        let run = |arguments: &[&str]| match is_lab {
            true => folder.lab(arguments).out,
            false => folder.good(arguments).out,
        };
        let overview = run(&["--lang", language, "--help"]);
        let mut table = format!("{head}|---|---|\n");
        let own = listed(&run(&["--help"]), if is_lab { "Councils and matches:" } else { "Calibrate:" });
        // both programs have these
        let shared = |command: &&String| is_lab && ["completions", "man", "schema"].contains(&command.as_str());
        for command in own.iter().filter(|command| !shared(command)) {
            let about = overview.lines().find_map(|line| line.strip_prefix(&format!("  {command} "))).unwrap().trim();
            let help = run(&[command, "-h"]);
            let usage = help.lines().find_map(|line| line.strip_prefix(&format!("Usage: {program}"))).unwrap();
            // the program of Windows has its ending in it
            let usage = usage.trim_start_matches(".exe").trim_start();
            let usage = usage.replace(" [OPTIONS]", "").replace("...", "…").replace(['<', '>'], "").replace('|', "\\|");
            table += &format!("| `{usage}` | {about} |\n");
        }
        let docs = fs::read_to_string(root().join(path)).unwrap();
        let (before, rest) = docs.split_once(head).unwrap();
        let (found, after) = rest.split_once("\n\n").unwrap();
        if std::env::var("EVALCURVE_BLESS").is_ok_and(|v| v == "1") {
            fs::write(root().join(path), format!("{before}{table}\n{after}")).unwrap();
            continue;
        }
        assert_eq!(format!("{head}{found}\n"), table, "`cargo xtask bless` writes {path}");
    }
}

#[test]
fn every_command_shows_examples() {
    let folder = Folder::new();
    let overview = folder.good(&["--help"]).out;
    assert!(overview.contains("Examples:") && overview.contains("Exit codes:"), "{overview}");
    let headings = overview.lines().skip_while(|l| *l != "Calibrate:").take_while(|l| *l != "Options:");
    assert_eq!(headings.filter(|l| l.ends_with(':')).count(), 5, "{overview}");
    let commands = commands(&folder);
    assert!(commands.len() >= 20 && commands[..2] == ["calibrate", "constant"], "{commands:?}");
    for command in &commands {
        let help = folder.good(&[command, "--help"]).out;
        let (_, examples) = help.split_once("Examples:\n").unwrap_or_else(|| panic!("no examples in {command} --help"));
        assert!(examples.contains(&format!("  evalcurve {command}")), "{command}: {examples}");
    }
    assert!(folder.good(&["--version"]).out.starts_with("evalcurve 0."));
    folder.run(&[]).ends(2);
    folder.run(&["calibrat"]).ends(2).says(&["calibrat", "calibrate"]);
    folder.run(&["calibrate", "--dry-run", "games", "--no-such-option"]).ends(2).says(&["--no-such-option"]);
    folder.run(&["calibrate", "--dry-run", "games", "--window", "0"]).ends(2).says(&["--window"]);
    folder.run(&["calibrate", "--dry-run", "games", "--mate-threshold", "E=high"]).ends(2).says(&["'high'", "auto"]);
}

/// Before the command and after it, also where the command has no option of this name.
#[test]
fn every_command_takes_a_language() {
    let folder = Folder::new();
    for command in &commands(&folder) {
        assert!(folder.good(&[command, "--help"]).out.contains("--lang <LANG>"), "{command}");
    }
    for arguments in [["--lang", "ja", "calibrate", "none"], ["calibrate", "none", "--lang", "ja"]] {
        folder.run(&arguments).ends(2).says(&["none: ファイルもフォルダもありません"]);
    }
    folder.run(&["--lang", "ja", "winrate", "none.json", "1"]).ends(2);
    folder.run(&["--lang", "fr", "calibrate", "none"]).ends(2).says(&["'fr'", "--lang"]);
}

/// Some GUIs register an executable only: without its configuration, it says what is missing.
#[test]
fn a_gui_learns_that_the_configuration_is_missing() {
    let folder = Folder::new();
    // the path in Shift_JIS
    let commands = b"usi\nsetoption name EvalDir value C:\\\x8f\xab\x8a\xfb\nisready\nusinewgame\nposition startpos\n\
                     go btime 0 wtime 0\nquit\n";
    let ran = folder.run_with(&[], commands).ends(0);
    let lines: Vec<&str> = ran.out.lines().collect();
    assert!(lines[0].starts_with("id name evalcurve") && lines.contains(&"usiok") && lines.contains(&"readyok"));
    assert!(lines.iter().any(|l| l.starts_with("info string evalcurve.toml is missing: put")), "{}", ran.out);
    assert_eq!(lines.last(), Some(&"bestmove resign"));
    folder.run_with(&[], b"hello\n").ends(2);
}

/// Whether a paragraph at the left margin goes on in the next line, although its first word fits in this one.
fn is_broken(line: &str, next: &str, width: usize) -> bool {
    let is_prose = |line: &str| line.starts_with(|c: char| !c.is_whitespace()) && !line.ends_with(':');
    let first = next.split(' ').next().unwrap_or_default();
    is_prose(line) && is_prose(next) && line.chars().count() + 1 + first.chars().count() <= width
}

/// `-h` fits on a screen, and no text is wider than the terminal or squeezed into a column of single words.
#[test]
fn help_fits_the_terminal() {
    let folder = Folder::new();
    let theory = ["playout", "plurality", "bounds", "estimate"].map(|name| vec!["theory", name]);
    let commands = commands(&folder);
    let commands = commands.iter().map(|name| vec![name.as_str()]).chain(theory).chain([Vec::new()]);
    for command in commands {
        for (width, screen) in [(80, 64), (100, 54)] {
            for help in ["-h", "--help"] {
                let arguments: Vec<&str> = command.iter().copied().chain([help]).collect();
                let ran = folder.command(&arguments).env("COLUMNS", width.to_string()).output().unwrap();
                let text = String::from_utf8(ran.stdout).unwrap();
                let shown = format!("evalcurve {} at {width} columns", arguments.join(" "));
                let lines: Vec<&str> = text.lines().collect();
                let wide = lines.iter().find(|line| line.chars().count() > width && !line.starts_with("Usage:"));
                assert_eq!(wide, None, "{shown}");
                let far = |line: &&&str| line.chars().take_while(|c| *c == ' ').count() > width / 2;
                assert_eq!(lines.iter().find(far), None, "{shown}");
                let broken = lines.windows(2).find(|pair| is_broken(pair[0], pair[1], width));
                assert_eq!(broken, None, "{shown}: a line ends before it is full");
                assert!(help == "--help" || lines.len() <= screen, "{shown}: {} lines", lines.len());
            }
        }
    }
    let usual = folder.good(&["calibrate", "-h"]).out;
    let all = folder.good(&["calibrate", "--help"]).out;
    for (option, is_usual) in [("--engine", true), ("--model", true), ("--out", true), ("--seed", false)] {
        assert!(usual.contains(option) == is_usual && all.contains(option), "{option}");
    }
}

/// The published YaneuraOu of Takeuchi 2018, table 2: w1 0.002895, w2 0.1613 by least squares.
fn published(folder: &Folder) {
    fs::copy(root().join("data/published/yaneuraou.json"), folder.at("y.json")).unwrap();
}

#[test]
fn negative_scores_are_not_flags() {
    let folder = Folder::new();
    published(&folder);
    // by Python 3: 1 / (1 + math.exp(-0.002895 * x)) for x = -120, 300; with + 0.1613 for --field
    for arguments in [vec!["winrate", "y.json", "--", "-120"], vec!["winrate", "y.json", "-120"]] {
        let out = folder.good(&arguments).out;
        assert_eq!(out.split('\t').nth(1).map(|r| &r[..6]), Some("0.4140"), "{arguments:?}: {out}");
    }
    let out = folder.good(&["winrate", "y.json", "-120", "300", "mate5", "mate-4"]).out;
    let rates: Vec<&str> = out.lines().map(|l| l.split('\t').nth(1).unwrap()).collect();
    assert_eq!(rates, ["0.4140", "0.7044", "1.0000", "0.0000"]);
    let out = folder.good(&["winrate", "y.json", "--field", "-120", "300"]).out;
    let rates: Vec<&str> = out.lines().map(|l| l.split('\t').nth(1).unwrap()).collect();
    assert_eq!(rates, ["0.3755", "0.6698"]);
    folder.run(&["winrate", "y.json"]).ends(2);
    folder.run(&["winrate", "y.json", "3oo"]).ends(2).says(&["'3oo' is not a score in centipawns"]);
    folder.run(&["winrate", "y.json", "NaN"]).ends(2);
    folder.run(&["winrate", "y.json", "300", "--invers"]).ends(2).says(&["--invers"]);
    folder.run(&["winrate", "none.json", "300"]).ends(2).says(&["none.json"]);
    folder.write(
        "wrong.json",
        fs::read_to_string(folder.at("y.json")).unwrap().replace("\"version\": 1", "\"version\": 3"),
    );
    folder.run(&["winrate", "wrong.json", "300"]).ends(2).says(&["wrong.json", "version"]);
}

#[test]
fn inverse_is_the_inverse() {
    let folder = Folder::new();
    published(&folder);
    let json =
        |arguments: &[&str]| -> serde_json::Value { serde_json::from_str(&folder.good(arguments).out).expect("JSON") };
    for rate in ["0.05", "0.5", "0.75", "0.99"] {
        for there in
            [["winrate", "y.json", "--inverse", rate, "--json"], ["winrate", "y.json", rate, "--inverse", "--json"]]
        {
            let score = json(&there)["values"][0]["score_cp"].as_f64().unwrap();
            let back = json(&["winrate", "y.json", &score.to_string(), "--json"]);
            let found = back["values"][0]["win_rate"].as_f64().unwrap();
            assert!((found - rate.parse::<f64>().unwrap()).abs() < 1e-9, "{rate} became {found}");
        }
    }
    // even chances: 0 between equals, w2 / w1 against the opponents
    assert_eq!(folder.good(&["winrate", "y.json", "--inverse", "0.5"]).out, "0.5\t0\n");
    assert_eq!(folder.good(&["winrate", "y.json", "--inverse", "--field", "0.5"]).out, "0.5\t56\n");
    for rate in ["0", "1", "1.5", "-0.1"] {
        folder.run(&["winrate", "y.json", "--inverse", rate]).ends(2).says(&["between 0 and 1"]);
    }
}

#[test]
fn completions_and_manual_pages_are_there() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = folder.good(&["completions", shell]).out;
        for word in ["calibrate", "mate-threshold", "winrate"] {
            assert!(script.contains(word), "{word} missing for {shell}");
        }
    }
    folder.run(&["completions", "cmd"]).ends(2).says(&["powershell"]);
    let page = folder.good(&["man"]).out;
    assert!(page.contains(".TH evalcurve 1") && page.contains("Exit codes"), "{page}");
    folder.good(&["man", "--out", "man"]);
    for command in commands(&folder) {
        assert!(folder.at(&format!("man/evalcurve-{command}.1")).exists(), "{command}");
    }
}

#[test]
fn no_escape_codes_outside_a_terminal() {
    let folder = Folder::new();
    folder.generate("games.csa", &["--games", "60"]);
    folder.write("noise.csv", "engine,score_cp,result\nE\u{1b}[31m,0,1\nE\u{1b}[31m,x,1\n");
    let commands: [&[&str]; 5] = [
        &["calibrate", "--dry-run", "games.csa"],
        &["inspect", "games.csa", "nowhere"],
        &["calibrate", "--dry-run", "noise.csv"],
        &["calibrate", "--help"],
        &["calibrate", "--dry-run", "games.csa", "--frm-ply", "3"],
    ];
    for arguments in commands {
        for no_color in [None, Some("1")] {
            let mut command = folder.command(arguments);
            if let Some(value) = no_color {
                command.env("NO_COLOR", value);
            }
            let out = command.output().unwrap();
            for bytes in [out.stdout, out.stderr] {
                assert!(!bytes.contains(&0x1b), "{arguments:?}: {}", String::from_utf8_lossy(&bytes));
            }
        }
    }
}

#[test]
fn quiet_prints_errors_only() {
    let folder = Folder::new();
    folder.generate("games.csa", &["--games", "60"]);
    let ran = folder.good(&["calibrate", "--dry-run", "games.csa", "--quiet"]);
    assert_eq!((ran.out.as_str(), ran.err.as_str()), ("", ""));
    let ran = folder.run(&["calibrate", "--dry-run", "games.csa", "--quiet", "--min-samples", "1000"]).ends(1);
    assert!(ran.out.is_empty() && ran.err.starts_with("error: ") && ran.err.lines().count() == 1, "{}", ran.err);
}

/// The reason why an engine is not calibrated is a sentence, which goes on in the next line.
#[test]
fn a_long_verdict_is_wrapped() {
    let folder = Folder::new();
    let rows: String = (0..43).map(|i| format!("g{i},E,{},1\n", 100 + i)).collect();
    folder.write("won.csv", format!("game,engine,score_cp,result\n{rows}"));
    for width in [80, 100] {
        let ran =
            folder.command(&["calibrate", "--dry-run", "won.csv"]).env("COLUMNS", width.to_string()).output().unwrap();
        let text = String::from_utf8(ran.stdout).unwrap();
        assert!(text.contains("not calibrated: every"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
    }
}

/// Rows leave columns out or go on in the next line, in both languages.
#[test]
fn tables_fit_the_terminal() {
    let folder = Folder::new();
    folder.write(
        "results.csv",
        "player,opponent,wins,draws,losses\nA player with a long name,C,423,8,569\nB,C,362,34,604\n",
    );
    let of_root = |path: &str| root().join(path).to_string_lossy().into_owned();
    let [games, strong, votes] =
        ["data/selfplay", "data/selfplay/versus-strong", "tests/oracle/votes.jsonl"].map(of_root);
    let [a, b] = ["zshogi", "zshogi_2k"].map(|name| of_root(&format!("data/calibrations/{name}.json")));
    for arguments in [
        &["calibrate", "--dry-run", &games][..],
        &["calibrate", "--dry-run", &games, "--wide"],
        &["thresholds", &games],
        &["compare", &a, &b],
        &["replay", &votes],
        &["match-stats", &strong],
        &["match-stats", &strong, "--ratings"],
        &["match-stats", "results.csv", "12-90-300-120-20", "--sprt", "0:5"],
    ] {
        for (width, language) in [(80, "en"), (100, "ja")] {
            let arguments = [arguments, &["--lang", language]].concat();
            let ran = folder.command(&arguments).env("COLUMNS", width.to_string()).output().unwrap();
            let width = if arguments.contains(&"--wide") { 150 } else { width };
            let text = String::from_utf8(ran.stdout).unwrap();
            let wide: Vec<&str> = text.lines().filter(|line| columns(line) > width).collect();
            assert!(text.lines().count() > 3 && wide.is_empty(), "{arguments:?}, {width} columns: {wide:#?}");
        }
    }
}

#[test]
fn tables_match_their_snapshots() {
    let folder = Folder::new();
    let engines =
        ["--engine", "Fine:0.0008:0.5", "--engine", "技巧:0.003:-0.3", "--engine", "A_long_name_of_an_engine:0.002:0"];
    folder.generate("games.csa", &[&engines[..], &["--games", "300", "--mates", "0.03"]].concat());
    let fit = folder.good(&["calibrate", "--dry-run", "games.csa"]);
    snapshot("fit.txt", &fit.out);
    snapshot("fit-messages.txt", &fit.err);
    snapshot("inspect.txt", &folder.good(&["inspect", "games.csa", "--mate-threshold", "auto"]).out);
    let schema = folder.good(&["schema"]).out;
    assert!(serde_json::from_str::<serde_json::Value>(&schema).is_ok());
    snapshot("schema-head.txt", &(schema.lines().take(20).collect::<Vec<_>>().join("\n") + "\n"));
}
