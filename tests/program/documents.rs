//! The commands that documents show do what the documents say: each is run, in the order of its page, and prints the
//! text below it where its inputs ship. Inputs and engines that do not ship have stand-ins of the same names, which are
//! scripts of a Unix shell.

use std::path::{Path, PathBuf};

use rayon::prelude::*;

use crate::docs::documents;
use crate::models::people_table;
use crate::support::{Folder, csv, csv_text, project_data, root};

/// Commands that this test does not run, by their page, what they begin with, and why.
const NOT_RUN: [(&str, &str, &str); 28] = [
    ("README.ja.md", "council my.toml --prepare", "thousands of positions, as in README.md"),
    ("data/README.md", "analyse", "minutes of three engines"),
    ("data/experiments/chess-council/README.md", "council", "hours of engines"),
    ("data/experiments/chess-council/README.md", "play", "thousands of games"),
    ("data/experiments/equal-time/README.md", "play", "thousands of games"),
    ("data/experiments/learned-weights/README.md", "council", "hours of engines"),
    ("data/experiments/minishogi-council/README.md", "play", "thousands of games"),
    ("data/experiments/shogi-council/README.md", "play", "thousands of games"),
    ("docs/council.md", "council my.toml --prepare", "thousands of positions, as in README.md"),
    ("docs/council.md", "council examples/shogi.toml", "an engine that Debian has not"),
    ("docs/council.md", "council chess.toml", "a council of the reader; tests of councils teach one"),
    ("commands/lab/protocol.md", "join", "waits for the server above it"),
    ("docs/engine-authors.md", "rescale small.binpack", "a file of 15 MB; tests of rescale read others"),
    ("docs/engine-authors.md", "proxy", "an engine of the reader"),
    ("docs/ja/council.md", "council my.toml --prepare", "thousands of positions, as in README.md"),
    ("docs/ja/gui.md", "council shogi-council.toml --prepare", "thousands of positions, as in README.md"),
    ("docs/ja/windows.md", "serve-page", "needs the built page; tests of serve-page have one"),
    ("docs/page.md", "serve-page", "needs the built page; tests of serve-page have one"),
    ("docs/windows.md", "serve-page", "needs the built page; tests of serve-page have one"),
    ("docs/people.md", "calibrate lichess_db", "a month of lichess"),
    ("docs/people.md", "analyse lichess_db", "thousands of positions"),
    ("docs/ja/play.md", "play -engine", "engines of the reader"),
    ("docs/play.md", "play -engine", "engines of the reader"),
    ("docs/play.md", "play test.toml", "a tournament of the reader"),
    ("commands/lab/playouts.md", "theory playout y:13", "minutes"),
    ("docs/tables.md", "calibrate evals.parquet", "a table of another program"),
    ("docs/tables.md", "calibrate with-results.jsonl", "a script in Python makes the log"),
    ("commands/lab/theory.md", "simulate --figures", "minutes"),
];

/// A command of a document.
#[derive(Debug)]
struct Shown {
    /// Its arguments, without the program.
    words: Vec<String>,
    /// The file that takes what it prints.
    into: Option<String>,
    /// What the document says that it prints.
    prints: String,
}

/// A line of a shell as words, and the file behind `>`. A comment ends it, or an explanation three blanks away.
fn split(line: &str) -> (Vec<String>, Option<String>) {
    let line = line.split("   ").next().unwrap();
    let (mut words, mut word, mut quote): (Vec<String>, Option<String>, Option<char>) = (Vec::new(), None, None);
    for c in line.chars() {
        match (quote, c) {
            (None, '#') if word.is_none() => break,
            (None, ' ') => words.extend(word.take()),
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (Some(open), _) if c == open => quote = None,
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    let into = words.iter().position(|w| w == ">").map(|at| words.split_off(at).swap_remove(1));
    (words, into)
}

/// The commands of a document that call the program, in blocks that say nothing else. In a console, and in the block
/// after a single command, there is what they print.
fn commands(text: &str) -> Vec<Shown> {
    let mut found: Vec<Shown> = Vec::new();
    let mut alone = false;
    for block in text.split("```").skip(1).step_by(2) {
        let (kind, body) = block.split_once('\n').unwrap();
        if kind == "text" && std::mem::take(&mut alone) {
            body.clone_into(&mut found.last_mut().unwrap().prints);
            continue;
        }
        if !matches!(kind, "" | "sh" | "console" | "text") {
            continue;
        }
        let before = found.len();
        // a line that ends with a backslash goes on
        let joined = body.split("\\\n").map(str::trim_start).collect::<Vec<_>>().join("");
        for line in joined.lines() {
            let line = line.trim_start_matches("$ ");
            // the command says which program has it
            let command = line.strip_prefix("evalcurve ").or_else(|| line.strip_prefix("evalcurve-lab "));
            if let Some(command) = command {
                let (words, into) = split(command);
                found.push(Shown { words, into, prints: String::new() });
            } else if kind == "console" && found.len() > before {
                found.last_mut().unwrap().prints += &format!("{line}\n");
            }
        }
        alone = kind == "sh" && found.len() == before + 1 && body.lines().count() == 1;
    }
    found
}

/// What of the project a word of a command names, from its root.
fn shipped(word: &str) -> Option<&str> {
    let below = ["data", "examples", "tests"].iter().any(|f| word == *f || word.starts_with(&format!("{f}/")));
    (below && root().join(word).exists()).then_some(word)
}

/// Copies a file or a folder of the project.
fn copy(folder: &Folder, name: &str) {
    let from = root().join(name);
    if from.is_dir() {
        for entry in std::fs::read_dir(from).unwrap() {
            copy(folder, &format!("{name}/{}", entry.unwrap().file_name().to_str().unwrap()));
        }
    } else if !folder.at(name).exists() {
        folder.write(name, std::fs::read(from).unwrap());
    }
}

/// Players of the generated games, with names that documents use.
const PLAYERS: [&str; 10] = [
    "--engine",
    "Starbound:0.004:0.2",
    "--engine",
    "Gikou:0.003:-0.3",
    "--engine",
    "エンジン名:0.002:0",
    "--engine",
    "NAME:0.002:0",
    "--engine",
    "Stockfish 18102108:0.01:0",
];

/// Paul Morphy's game at the opera, 1858, by two players of a document.
const OPERA_GAME: &str = "[White \"Smith, J\"]\n[Black \"jsmith\"]\n[Result \"1-0\"]\n\n1. e4 e5 2. Nf3 d6 3. d4 Bg4 \
    4. dxe5 Bxf3 5. Qxf3 dxe5 6. Bc4 Nf6 7. Qb3 Qe7 8. Nc3 c6 9. Bg5 b5 10. Nxb5 cxb5 11. Bxb5+ Nbd7 12. O-O-O Rd8 \
    13. Rxd7 Rxd7 14. Rd1 Qe6 15. Bxd7+ Nxd7 16. Qb8+ Nxb8 17. Rd8# 1-0\n";

/// Writes what a command reads and the project does not ship: from the folder of real records, or made up. Whether it
/// made something up.
fn stand_in(folder: &Folder, word: &str, few: bool, records: Option<&Path>) -> bool {
    let count = if few { "3" } else { "600" };
    let games = |name: &str, more: &[&str]| folder.generate(name, &[&PLAYERS[..], more].concat());
    let real = records.map(|records| match word {
        "floodgate-2016.tar.zst" => records.join("floodgate-2016-dev.tar.zst"),
        name => records.join("pgn").join(name),
    });
    if folder.at(word).exists() {
        return false;
    }
    if let Some(real) = real.filter(|real| real.is_file()) {
        folder.write(word, std::fs::read(real).unwrap());
        return false;
    }
    match word {
        // a player's games have legal moves
        "kifu/" if few => {
            let game = std::fs::read_to_string(root().join("tests/oracle/sekirei+zshogi.kif")).unwrap();
            std::fs::create_dir_all(folder.at(word)).unwrap();
            folder.write(
                "kifu/mine.kif",
                game.replace("先手：sekirei", "先手：NAME").replace("後手：zshogi", "後手：名前"),
            );
        }
        "mine.pgn" => folder.write(word, OPERA_GAME),
        "mine.csv" | "theirs.csv" => {
            let model = if word == "mine.csv" { "lapse" } else { "joint" };
            let games = project_data("selfplay");
            folder.good(&["calibrate", "--dry-run", &games, "--model", model, "--forecasts", word]);
        }
        "floodgate-2016.tar.zst" | "2016.tar.zst" | "2017.tar.zst" => {
            let mut tar = tar::Builder::new(zstd::Encoder::new(Vec::new(), 1).unwrap());
            games("games.csa", &["--games", "600", "--seed", if word == "2017.tar.zst" { "2" } else { "1" }]);
            tar.append_path_with_name(folder.at("games.csa"), "games.csa").unwrap();
            // those have no legal moves
            tar.append_dir_all("selfplay", root().join("data/selfplay")).unwrap();
            std::fs::remove_file(folder.at("games.csa")).unwrap();
            folder.write(word, tar.into_inner().unwrap().finish().unwrap());
        }
        "games/" | "new-games/" | "kifu/" | "examples/tournament-games" => {
            std::fs::create_dir_all(folder.at(word)).unwrap();
            games(&format!("{}/all.csa", word.trim_end_matches('/')), &["--games", count]);
        }
        "game.kif" => {
            let games = std::fs::read_to_string(root().join("tests/oracle/sekirei+zshogi.kif")).unwrap();
            folder.write(word, format!("先手：{}", games.split("先手：").nth(1).unwrap()));
        }
        "scored.csa" | "game.pgn" => games(word, &["--games", "1"]),
        "games.pgn" | "TCEC_Season_13_-_Superfinal.pgn" => games(word, &["--games", count, "--draws", "0.5"]),
        "samples.parquet" => drop(folder.good(&["sample", &project_data("selfplay"), "--out", word])),
        "lichess.parquet" => {
            folder.write("people.csv", people_table("Stockfish", 3_000));
            folder.good(&["sample", "people.csv", "--out", word]);
        }
        "votes.jsonl" => folder.write(word, log_of_a_reader().replace("\"GPSShogi\"", "\"Strong\"")),
        "first.jsonl" | "second.jsonl" | "odd.jsonl" => folder.write(word, log_of_a_reader()),
        name if name.starts_with("data/experiments/") && name.ends_with(".jsonl") => {
            let name = name.trim_start_matches("data/experiments/").trim_end_matches(".jsonl");
            folder.write(word, log(name));
        }
        "evals.csv" | "one-engine.csv" | "rates.csv" => {
            let made = format!("made-{word}");
            folder.good(&["sample", &project_data("selfplay"), "--out", &made]);
            let (mut head, mut rows) = csv(&folder.text(&made));
            let names: &[_] = match word {
                "evals.csv" => &[("engine", "player"), ("score_cp", "cp"), ("game", "game_id")],
                "rates.csv" => &[("score_cp", "p")],
                _ => &[("engine", "player")],
            };
            if word == "rates.csv" {
                let at = head.iter().position(|name| name == "score_cp").unwrap();
                let rate = |cp: &str| 1.0 / (1.0 + (-cp.parse::<f64>().unwrap() / 600.0).exp());
                rows.iter_mut().for_each(|row| row[at] = rate(&row[at]).to_string());
            }
            for name in &mut head {
                if let Some((_, to)) = names.iter().find(|(from, _)| from == name) {
                    (*to).clone_into(name);
                }
            }
            folder.write(word, csv_text(&head, &rows));
        }
        "evalcurve-out/" | "evalcurve-out/Gikou.json" => {
            games("their.csa", &["--games", "600"]);
            folder.good(&["calibrate", "their.csa", "--no-plots"]);
        }
        "MyEngine.json" => {
            games("its.pgn", &["--games", "300", "--draws", "0.5"]);
            folder.good(&[
                "calibrate",
                "its.pgn",
                "--model",
                "wdl-material",
                "--window=1",
                "--no-plots",
                "--out",
                "its",
            ]);
            std::fs::copy(folder.at("its/NAME.json"), folder.at(word)).unwrap();
        }
        "released/A.json" | "evalcurve-out/A.json" => copy_to(folder, "data/calibrations/zshogi.json", word),
        "t.csv" => drop(folder.good(&["sample", &project_data("selfplay"), "--out", word])),
        _ => return false,
    }
    true
}

/// A vote log of an experiment.
fn log(name: &str) -> String {
    let packed = root().join(format!("data/experiments/{name}.jsonl.zst"));
    String::from_utf8(zstd::decode_all(std::fs::File::open(packed).unwrap()).unwrap()).unwrap()
}

/// Five hundred decisions, which are learned from and estimated in a third of the time of all.
fn log_of_a_reader() -> String {
    log("learned-weights/shogi").split_inclusive('\n').take(501).collect()
}

fn copy_to(folder: &Folder, from: &str, to: &str) {
    folder.write(to, std::fs::read(root().join(from)).unwrap());
}

/// Engines with the names of real ones, which answer as engines do.
fn engines(folder: &Folder) {
    use std::os::unix::fs::PermissionsExt;
    let program = evalcurve_testkit::program();
    let shogi = ["ENGINE", "fairy-stockfish", "gpsusi", "sekirei"].map(|name| (name, "shogi"));
    let chess = ["ethereal-chess", "glaurung", "stockfish", "toga2"].map(|name| (name, "chess"));
    for (seed, (name, game)) in shogi.into_iter().chain(chess).enumerate() {
        let seed = format!("--seed {seed}");
        let answers =
            format!("scripted-engine --game {game} --name {name} {seed} --think-ms 1 --nodes 100000 --score material");
        let name = format!("bin/{name}");
        folder.write(&name, format!("#!/bin/sh\nexec '{program}' {answers}\n"));
        std::fs::set_permissions(folder.at(&name), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
}

/// What is wrong with the commands of a page that `runs` names. Commands whose inputs are made up print something else.
fn wrong_commands(page: &Path, text: &str, records: Option<&Path>, runs: impl Fn(&str) -> bool) -> Vec<String> {
    let japanese = page.starts_with("docs/ja") || page.ends_with("README.ja.md");
    let folder = Folder::new();
    engines(&folder);
    let (mut wrong, mut real) = (Vec::new(), true);
    for mut command in commands(text) {
        let line = command.words.join(" ");
        if !runs(&line) {
            continue;
        }
        for word in &mut command.words {
            // a path of Windows
            if ["evalcurve-out", "data"].iter().any(|folder| word.starts_with(&format!("{folder}\\"))) {
                *word = word.replace('\\', "/");
            }
            if let Some(name) = shipped(word) {
                copy(&folder, name);
            }
            // every position of a page of a game is searched
            real &= !stand_in(&folder, word, page.ends_with("game-pages.md"), records);
        }
        let words = command.words.iter().map(String::as_str).chain(["--lang", if japanese { "ja" } else { "en" }]);
        let ran = folder.run(&words.collect::<Vec<_>>());
        let mut printed = ran.out.lines();
        let missing =
            command.prints.lines().filter(|l| real && !l.is_empty() && *l != "…").find(|l| !printed.any(|p| p == *l));
        // the games that stand in ended by their scores, and leave no option
        let code = if records.is_none() && line == "thresholds games.pgn" { 3 } else { 0 };
        if ran.code != Some(code) {
            wrong.push(format!("{}: {line}: {:?}\n{}", page.display(), ran.code, ran.err));
        } else if let Some(missing) = missing {
            wrong.push(format!("{}: {line}: no {missing:?} in\n{}", page.display(), ran.out));
        }
        if let Some(into) = command.into {
            folder.write(&into, ran.out);
        }
    }
    wrong
}

#[test]
fn the_commands_of_the_documents_do_what_they_say() {
    let mut left = NOT_RUN.to_vec();
    let is_page = |page: &Path| !page.starts_with("tests") && !page.starts_with("fuzz");
    let pages: Vec<_> = documents().into_iter().filter(|(page, _)| is_page(page)).collect();
    for (page, text) in &pages {
        let all = commands(text);
        left.retain(|(name, start, _)| {
            page != Path::new(name) || !all.iter().any(|command| command.words.join(" ").starts_with(start))
        });
    }
    // a page has a folder of its own, so that pages can be read side by side
    let runs = |page: &Path, line: &str| {
        !NOT_RUN.iter().any(|(name, start, _)| page == Path::new(name) && line.starts_with(start))
    };
    let wrong_of = |(page, text): &(PathBuf, String)| wrong_commands(page, text, None, |line| runs(page, line));
    // some commands wait for engines and clocks
    let threads = rayon::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
    let wrong: Vec<String> = threads.install(|| pages.par_iter().flat_map_iter(wrong_of).collect());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(left.is_empty(), "no such commands: {left:?}");
}

/// What documents show of records that the project does not ship.
#[test]
#[ignore = "needs EVALCURVE_RECORDS"]
fn real_records_give_what_the_documents_show() {
    let records = std::env::var_os("EVALCURVE_RECORDS").expect("EVALCURVE_RECORDS names the folder with the records");
    let mut wrong = Vec::new();
    let mut pages = 0;
    for (page, text) in documents() {
        let of_records = |line: &str| line.contains("floodgate-2016.tar.zst") || line.contains("TCEC_");
        if commands(&text).iter().any(|command| of_records(&command.words.join(" "))) {
            pages += 1;
            let runs =
                |line: &str| !line.starts_with("analyse") && (of_records(line) || line.contains("evalcurve-out/"));
            wrong.extend(wrong_commands(&page, &text, Some(Path::new(&records)), runs));
        }
    }
    assert!(pages >= 4, "{pages} pages");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
