//! `evalcurve analyse --html`, `--annotate` and `--graph`, with scripted engines.

use serde_json::Value;

use crate::support::{Folder, csv, root};

fn engine(name: &str, seed: u32, more: &str) -> String {
    let program = evalcurve_testkit::program();
    format!("name={name} \"{program}\" scripted-engine --repeatable --seed={seed} {more}")
}

/// The first game of a file of this project, whose first player has this name.
fn shogi(folder: &Folder, name: &str) {
    let text = std::fs::read_to_string(root().join("data/selfplay/Fairy-Stockfish+sekirei.csa")).unwrap();
    let game = text.split_inclusive("\n/\n").next().unwrap();
    // the summary names the players, too
    let lines = game.lines().filter(|line| !line.starts_with("'summary")).map(|line| format!("{line}\n"));
    folder.write("game.csa", lines.collect::<String>().replace("N+Fairy-Stockfish", &format!("N+{name}")));
}

const CHESS: &str = "[White \"W\"]\n[Black \"B\"]\n[Result \"1-0\"]\n\n1. e4 {[%clk 0:05:00]} e5 2. Nf3 Nc6 3. Bb5 a6 \
                     4. Bxc6 dxc6 5. O-O f6 1-0\n";

/// The data that the script of a page has.
fn data(page: &str) -> Value {
    let from = page.split("<script type=\"application/json\" id=\"game\">").nth(1).unwrap();
    serde_json::from_str(from.split("</script>").next().unwrap()).unwrap()
}

#[test]
fn a_page_holds_the_game_and_loads_nothing() {
    let folder = Folder::new();
    shogi(&folder, "</script><b onload='x'>&amp;\"");
    let engines = [engine("A", 1, ""), engine("<i>B</i>", 2, "")];
    let run = |language: &str, html: &str| {
        let arguments = ["analyse", "game.csa", "--engine", &engines[0], "--engine", &engines[1], "--limit=nodes=9"];
        folder.good(&[&arguments[..], &["--html", html, "--lang", language, "--json"]].concat()).document()
    };
    let found = run("en", "en.html");
    let page = folder.text("en.html");
    let game = &found["whole_games"][0];
    let plies = game["moves"].as_u64().unwrap() as usize;
    let data = data(&page);
    assert_eq!(data["positions"].as_array().unwrap().len(), plies + 1);
    assert_eq!(data["positions"][0]["p"], "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1");
    // what a position says is what the document says, and rates are of one side
    let rates = game["engines"][0]["win_rates"].as_array().unwrap();
    for (position, rate) in data["positions"].as_array().unwrap().iter().zip(rates) {
        let said = &position["e"][0];
        assert_eq!(said.is_null(), rate.is_null());
        if let Some(rate) = rate.as_f64() {
            assert!((said[0][0].as_f64().unwrap() / 100.0 - rate).abs() < 1e-3);
            assert!(said[0][1].as_f64() <= said[0][0].as_f64() && said[0][0].as_f64() <= said[0][2].as_f64());
        }
    }
    // scores are random, so that nothing can be seen, and no move is blamed
    assert!(game["costly"].as_array().unwrap().is_empty());
    for search in found["searches"].as_array().unwrap() {
        assert_eq!((&search["hides_mistakes"], &search["deeper"]), (&true.into(), &"nodes 72".into()), "{search}");
    }
    for page in [&page, &{
        run("ja", "ja.html");
        folder.text("ja.html")
    }] {
        assert!(!page.contains("<b onload") && !page.contains("<i>B") && page.contains("&lt;i&gt;B"));
        assert_eq!(page.matches("</script>").count(), 2);
        for foreign in ["src=", "url(", "@import", "<link", "fetch("] {
            assert!(!page.contains(foreign), "{foreign}");
        }
    }
    let japanese = folder.text("ja.html");
    assert!(page.contains("is assumed") && japanese.contains("仮定") && japanese.contains("▲"));
    // a page that is mailed says nothing of this computer
    assert!(!page.contains(&*folder.at("").to_string_lossy()));
    // without engines left running, the same bytes again; what exists is not replaced
    folder.run(&["analyse", "game.csa", "--engine", &engines[0], "--html", "en.html"]).ends(2).says(&["--force"]);
    let again = run("en", "again.html");
    assert_eq!((folder.text("again.html"), again["whole_games"][0]["costly"].clone()), (page, game["costly"].clone()));
    assert!(!folder.at("en.html.journal").exists());
}

#[test]
fn scores_of_the_record_need_no_engine_and_calibrations_set_the_scale() {
    let folder = Folder::new();
    shogi(&folder, "Fairy-Stockfish");
    let files = root().join("data/calibrations");
    let with = [
        "analyse",
        "game.csa",
        "--calibrations",
        files.to_str().unwrap(),
        "--html",
        "a.html",
        "--graph",
        "g.svg",
        "--json",
    ];
    let found = folder.good(&with).document();
    let engines = found["whole_games"][0]["engines"].as_array().unwrap();
    assert_eq!(engines.len(), 2);
    for (engine, (name, side)) in engines.iter().zip([("Fairy-Stockfish", "black"), ("sekirei", "white")]) {
        assert_eq!((engine["engine"].as_str(), engine["side"].as_str()), (Some(name), Some(side)));
        assert_eq!(engine["assumed"], false);
    }
    let page = folder.text("a.html");
    assert!(!page.contains("assumed") && page.contains("95% intervals of the calibrations"));
    assert!(folder.text("g.svg").starts_with("<svg") && folder.read("g.png").starts_with(b"\x89PNG"));
    let without = folder.good(&["analyse", "game.csa", "--html", "b.html"]);
    assert!(without.err.contains("no calibration of 'sekirei'"), "{}", without.err);
    // a folder in which a run that did not end left its journal
    std::fs::create_dir(folder.at("c")).unwrap();
    std::fs::copy(files.join("sekirei.json"), folder.at("c/sekirei.json")).unwrap();
    folder.write("c/analysed.parquet.journal", "{}\n");
    let left = folder.good(&["analyse", "game.csa", "--calibrations", "c", "--html", "d.html"]);
    assert!(!left.err.contains("no calibration of 'sekirei'"), "{}", left.err);
    // no scores, no page
    let plain: String =
        folder.text("game.csa").lines().filter(|l| !l.starts_with("'**")).map(|l| format!("{l}\n")).collect();
    folder.write("plain.csa", plain);
    folder.run(&["analyse", "plain.csa", "--html", "c.html"]).ends(2).says(&["--engine"]);
    folder.run(&["analyse", "game.csa", "--annotate", "x"]).ends(2).says(&["--engine"]);
}

#[test]
fn several_games_have_an_index() {
    let folder = Folder::new();
    folder.write("games.pgn", CHESS.to_owned() + "\n" + &CHESS.replace("\"W\"", "\"W2\""));
    let one = engine("C", 1, "--game=chess depth=1");
    folder.run(&["analyse", "games.pgn", "--engine", &one, "--html", "x.html"]).ends(2).says(&["2 games"]);
    let found = folder.good(&["analyse", "games.pgn", "--engine", &one, "--html", "pages", "--json"]).document();
    assert_eq!(found["pages"].as_array().unwrap().len(), 3);
    let index = folder.text("pages/index.html");
    assert!(index.contains("game-1.html") && index.contains("W2 – B"));
    let data = data(&folder.text("pages/game-2.html"));
    assert_eq!(
        (&data["chess"], &data["positions"][1]["m"], &data["positions"][9]["u"]),
        (&true.into(), &"1. e4".into(), &"e1g1".into())
    );
    // an illegal move ends a game, and no other
    folder.write("illegal.pgn", CHESS.replace("Bxc6", "Bxc7"));
    folder.run(&["analyse", "illegal.pgn", "games.pgn", "--engine", &one, "--html", "more"]).ends(0).says(&["Bc7"]);
    folder.run(&["analyse", "illegal.pgn", "--engine", &one, "--html", "none"]).ends(2).says(&["no game"]);
}

#[test]
fn the_games_of_one_player_are_one_set_of_pages() {
    let folder = Folder::new();
    std::fs::copy(root().join("data/selfplay/Fairy-Stockfish+sekirei.csa"), folder.at("games.csa")).unwrap();
    let arguments = ["analyse", "games.csa", "--player", "seki*", "--html", "pages/"];
    let found = folder.good(&[&arguments[..], &["--json"]].concat()).document();
    let review = &found["review"];
    let (mistakes, games) = (review["mistakes"].as_array().unwrap(), review["games"].as_array().unwrap());
    assert!(mistakes.len() > 3 && mistakes.windows(2).all(|two| two[0]["cost"].as_f64() >= two[1]["cost"].as_f64()));
    // what is said of the games adds up, and each mistake is a move of this player
    let sum = |of: &Value| of.as_array().unwrap().iter().map(|one| one["mistakes"].as_u64().unwrap()).sum::<u64>();
    assert_eq!([sum(&review["games"]), sum(&review["phases"])], [mistakes.len() as u64; 2]);
    assert!(games.len() > 1 && games.iter().all(|game| game["sides"].as_array().unwrap().len() == 1));
    let index = folder.text("pages/index.html");
    for mistake in mistakes {
        let rate = |at: usize| mistake["win_rates"][at].as_f64().unwrap();
        assert!((rate(0) - rate(1) - mistake["cost"].as_f64().unwrap()).abs() < 1e-9, "{mistake}");
        assert_eq!(mistake["verdict"], if mistake["cost"].as_f64() >= Some(0.2) { "blunder" } else { "mistake" });
    }
    // a page opens at its worst mistake
    let first = folder.text(&format!("pages/{}", mistakes[0]["page"].as_str().unwrap().split('#').next().unwrap()));
    assert_eq!(data(&first)["open"], mistakes[0]["ply"]);
    assert!(first.contains(&format!("data-ply=\"{}\"", mistakes[0]["ply"])));
    for mistake in &mistakes[..3] {
        let page = mistake["page"].as_str().unwrap();
        assert!(index.contains(&format!("href=\"{page}\"")), "{page}");
        let game = games.iter().find(|game| game["game"] == mistake["game"]).unwrap();
        let mark = if game["sides"][0] == "black" { "+" } else { "-" };
        assert!(mistake["move"].as_str().unwrap().starts_with(mark), "{mistake}");
    }
    assert!(folder.text("pages/game-01.html").contains("href=\"index.html\""));
    let text = folder.good(&[&arguments[..], &["--force"]].concat()).out;
    assert!(text.contains("mistakes in") && text.contains("phase of the game"), "{text}");
    folder.run(&["analyse", "games.csa", "--player", "nobody"]).ends(2).says(&["sekirei ("]);
}

/// A file in the view of White is read as the reader of samples reads it.
#[test]
fn the_view_of_scores_is_found() {
    let folder = Folder::new();
    let game = |i: u32, of_white: bool| {
        let moves = (0..40_u32).map(|ply| {
            let san = ["Nf3", "Nf6", "Ng1", "Ng8"][ply as usize % 4];
            let white_ahead = !i.is_multiple_of(3);
            let sign = if white_ahead == (of_white || ply.is_multiple_of(2)) { '+' } else { '-' };
            format!("{san} {{{sign}{}.{:02}/9 1s}}", 1 + ply / 20, 10 + i % 7)
        });
        let result = if i.is_multiple_of(3) { "0-1" } else { "1-0" };
        let moves = moves.collect::<Vec<_>>().join(" ");
        format!("[White \"W{i}\"]\n[Black \"B\"]\n[Round \"{i}\"]\n\n{moves} {result}\n\n")
    };
    let rates = |of_white: bool, more: &[&str]| {
        let name = format!("{of_white}{}.pgn", more.last().unwrap_or(&"0"));
        folder.write(&name, (0..30).map(|i| game(i, of_white)).collect::<String>());
        let pages = format!("{name}.pages");
        let run = folder.good(&[&["analyse", &name, "--html", &pages, "--json"][..], more].concat());
        let found = run.document();
        let of = |engine: usize| found["whole_games"][1]["engines"][engine]["win_rates"].clone();
        [of(0), of(1)]
    };
    let right = rates(false, &[]);
    assert!(right[0].as_array().unwrap().iter().filter_map(Value::as_f64).all(|rate| rate > 0.5));
    assert_eq!(rates(true, &[]), right);
    assert_eq!(rates(true, &["--view", "white"]), right);
    assert_ne!(rates(true, &["--view", "mover"]), right);
    folder.run(&["analyse", "true0.pgn", "--html", "again"]).ends(0).says(&["read in White's view"]);
}

/// The table of an analysis of all positions, and that of the annotated record, have the same scores.
#[test]
fn annotated_records_are_read_back_to_the_same_samples() {
    let folder = Folder::new();
    shogi(&folder, "Fairy-Stockfish");
    let kif = "手合割：平手\n先手：a\n後手：b\n手数----指手---------消費時間--\n   1 ７六歩(77)\n   2 ３四歩(33)\n   3 \
               ２二角成(88)\n   4 同　銀(31)\n   5 ５五角打\n   6 投了\n";
    folder.write("game.kif", kif);
    folder.write("game.pgn", CHESS);
    for (file, forms) in [
        ("game.csa", &["shogihome", "shogigui", "floodgate"][..]),
        ("game.kif", &["shogihome", "shogigui"]),
        ("game.pgn", &["shogihome"]),
    ] {
        let game = if file.ends_with("pgn") { "--game=chess" } else { "" };
        let one = engine("E", 3, game);
        let all = [
            "--engine",
            &one,
            "--limit=nodes=9",
            "--every-move",
            "--from-ply=2",
            "--target=100%",
            "--positions=9999",
            "-q",
        ];
        let _ = folder.run(&[&["analyse", file, "--out", "t.csv", "--force"][..], &all].concat());
        let expected = scores(&folder.text("t.csv"));
        assert!(expected.len() > 3, "{file}");
        for form in forms {
            let into = format!("{file}-{form}");
            folder.good(&[
                "analyse",
                file,
                "--engine",
                &one,
                "--limit=nodes=9",
                "--annotate",
                &into,
                "--comments",
                form,
                "-q",
            ]);
            let annotated = format!("{into}/{file}");
            let mut read = vec!["sample", &annotated, "--window=1", "--from-ply=2", "--out=s.csv", "--force"];
            if *form != "floodgate" {
                read.push("--annotator=E");
            }
            folder.good(&read);
            let mut found = scores(&folder.text("s.csv"));
            // the position after the last move is in the record, too
            found.retain(|(ply, _)| Some(ply) <= expected.iter().map(|(ply, _)| ply).max());
            let same = |(a, b): (&(u32, i32), &(u32, i32))| {
                a == b || (*form == "floodgate" && a.1.abs().min(b.1.abs()) >= 30_000)
            };
            assert!(
                found.len() == expected.len() && found.iter().zip(&expected).all(same),
                "{into}\n{found:?}\n{expected:?}"
            );
        }
    }
}

/// A record comes out whole, with comments in its good games; the bad one is named, and the original stays.
#[test]
fn annotation_adds_and_takes_nothing_away() {
    let folder = Folder::new();
    let good = "V2.2\nN+a\nN-b\nPI\n+\n+7776FU\nT1\n'*#評価値=7\n'*#エンジン=Old\n-3334FU\nT1\n%TORYO\n/\n";
    let bad = good.replace("-3334FU", "-3334XX");
    let text = [good, &bad, good, good].concat();
    folder.write("in/four.csa", &text);
    folder.write("in/note.txt", "no record");
    let one = engine("E", 1, "");
    let run = |more: &[&str]| {
        folder.run(&[&["analyse", "in", "--engine", &one, "--limit=nodes=9", "--annotate"][..], more].concat())
    };
    let says = ["in/four.csa:23: broken move", "1 games or files are not annotated"];
    for quiet in [&["out"][..], &["again", "-q"]] {
        run(quiet).ends(1).says(&says);
        let out = folder.text(&format!("{}/four.csa", quiet[0]));
        let lines: Vec<&str> = out.lines().filter(|line| !line.starts_with("'*#")).collect();
        let before: Vec<&str> = text.lines().filter(|line| !line.starts_with("'*#")).collect();
        assert_eq!(lines, before);
        assert_eq!((out.matches("エンジン=Old").count(), out.matches("エンジン=E\n").count()), (4, 9));
    }
    let found = run(&["json", "--json"]).ends(1).document();
    assert_eq!(found["not_annotated"].as_array().unwrap().len(), 1);
    assert_eq!((&found["games"]["read"], &found["games"]["used"]), (&5.into(), &3.into()));
    // the folder of the records, by its name and by links
    #[cfg(unix)]
    std::os::unix::fs::symlink("in", folder.at("link")).unwrap();
    std::fs::create_dir(folder.at("hard")).unwrap();
    std::fs::hard_link(folder.at("in/four.csa"), folder.at("hard/four.csa")).unwrap();
    for into in ["in", if cfg!(unix) { "link" } else { "in" }, "hard"] {
        run(&[into, "--force"]).ends(2).says(&["four.csa: cannot replace the file: this command reads it"]);
    }
    assert_eq!(folder.text("in/four.csa"), text);
    // nothing at all
    folder.write("in/four.csa", bad + "\n");
    run(&["none"]).ends(2).says(&["no game"]);
}

#[test]
fn no_command_replaces_what_it_reads() {
    let folder = Folder::new();
    shogi(&folder, "Fairy-Stockfish");
    folder.good(&["sample", "game.csa", "--out", "s.csv", "--from-ply=1"]);
    let table = folder.text("s.csv");
    std::fs::hard_link(folder.at("s.csv"), folder.at("hard.csv")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("s.csv", folder.at("soft.csv")).unwrap();
    let links = if cfg!(unix) { vec!["s.csv", "./s.csv", "hard.csv", "soft.csv"] } else { vec!["s.csv", "hard.csv"] };
    for out in links {
        for command in [
            &["sample", "s.csv", "--force", "--out", out][..],
            &["calibrate", "--dry-run", "s.csv", "--force", "--forecasts", out],
        ] {
            folder.run(command).ends(2).says(&["cannot replace the file: this command reads it"]);
        }
    }
    // in a folder that is read, what is read stays, and what an earlier run wrote is written again
    folder.generate("more.csa", &["--games", "100", "--engine", "sekirei:0.002:0", "--engine", "Wide:0.003:0"]);
    for _ in 0..2 {
        folder.good(&["calibrate", ".", "--force", "--out", "c"]);
        assert!(folder.at("c/sekirei.json").exists());
    }
    folder.run(&["sample", ".", "--force", "--out", "s.csv"]).ends(2).says(&["this command reads it"]);
    folder.run(&["analyse", "game.csa", "--html", "game.csa.html"]).ends(0);
    std::fs::remove_file(folder.at("game.csa.html")).unwrap();
    std::fs::hard_link(folder.at("game.csa"), folder.at("page.html")).unwrap();
    folder.run(&["analyse", "game.csa", "--html", "page.html", "--force"]).ends(2).says(&["this command reads it"]);
    assert_eq!(folder.text("s.csv"), table);
}

/// Names that a folder cannot have differ in their folders: the records of two engines are not joined.
#[test]
fn engines_have_folders_of_their_own() {
    let folder = Folder::new();
    shogi(&folder, "Fairy-Stockfish");
    let [one, two] = ["a:b", "a?b"].map(|name| engine(name, 1, ""));
    let engines = ["--engine", &one, "--engine", &two, "--limit=nodes=9", "-q"];
    folder.good(&[&["analyse", "game.csa", "--annotate", "x"][..], &engines].concat());
    let of = |name: &str| {
        let found = folder.at("x").read_dir().unwrap().map(|entry| entry.unwrap().path().join("game.csa"));
        let texts: Vec<String> = found.map(|path| std::fs::read_to_string(path).unwrap()).collect();
        texts.iter().filter(|text| text.contains(&format!("*#エンジン={name}\n"))).count()
    };
    assert_eq!((folder.at("x").read_dir().unwrap().count(), of("a:b"), of("a?b")), (2, 1, 1));
}

/// Ply and score of each sample; the side is that of the ply.
fn scores(table: &str) -> Vec<(u32, i32)> {
    let (head, rows) = csv(table);
    let cell = |row: &Vec<String>, name: &str| row[head.iter().position(|h| h == name).unwrap()].replace('"', "");
    let mut all: Vec<(u32, i32)> = rows
        .iter()
        .map(|row| (cell(row, "ply").parse().unwrap(), cell(row, "score_cp").parse::<f64>().unwrap() as i32))
        .collect();
    all.sort_unstable();
    all
}

/// Where engines disagree, a table of positions that they scored says which was right in such conflicts.
#[test]
fn judges_say_whom_to_believe() {
    let folder = Folder::new();
    folder.write("game.pgn", CHESS);
    let table = root().join("data/analysed/chess.parquet");
    let table = table.to_str().unwrap();
    let engines = ["Stockfish", "Ethereal"].map(|name| engine(name, 1 + name.len() as u32, "--game=chess depth=1"));
    let run = |more: &[&str]| {
        let two = ["analyse", "game.pgn", "--engine", &engines[0], "--engine", &engines[1], "--judges", table];
        folder.run(&[&two[..], more].concat())
    };
    let found = run(&["--html", "game.html", "--json"]).ends(0).document();
    let game = &found["whole_games"][0];
    // the table calibrates its engines
    assert!(game["engines"].as_array().unwrap().iter().all(|engine| engine["assumed"] == false), "{game:#}");
    let disputes = game["disputes"].as_array().unwrap();
    assert!(!disputes.is_empty(), "{game:#}");
    for dispute in disputes {
        let rate = |which: usize| dispute["win_rates"][which].as_f64().unwrap();
        assert!(rate(0) - rate(1) >= 0.1, "{dispute}");
        let known = &dispute["known"];
        if known.is_null() {
            assert!(dispute["believe"].is_null(), "{dispute}");
            continue;
        }
        assert_eq!(known["engines"], dispute["engines"]);
        assert!(
            known["from"].as_f64().unwrap() <= rate(0) - rate(1) && known["positions"].as_u64() > Some(0),
            "{dispute}"
        );
    }
    assert!(folder.text("game.html").contains("the side to move scored"));
    let out = run(&[]).ends(0).out;
    assert!(
        out.contains("Whom to believe where the engines disagree") && out.contains("the side to move scored"),
        "{out}"
    );
    let out = run(&["--lang", "ja"]).ends(0).out;
    assert!(out.contains("どちらを信じるか") && out.contains("局面"), "{out}");

    // a file of positions, without games
    folder.write(
        "two.epd",
        "r1bqkbnr/pppp1ppp/2n5/1B2p3/4P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3 c9 \"1-0\";\n\
                             4k3/8/8/8/8/8/4P3/4K3 w - - 0 1 c9 \"1/2-1/2\";\n",
    );
    let two = ["analyse", "two.epd", "--engine", &engines[0], "--engine", &engines[1], "--judges", table, "--json"];
    let found = folder.good(&two).document();
    assert_eq!(found["whole_games"].as_array().unwrap().len(), 2);

    // names that the table does not have, one engine, and tables that cannot judge
    let other = engine("X", 5, "--game=chess depth=1");
    let pair = ["analyse", "game.pgn", "--engine", &engines[0], "--engine", &other];
    folder.run(&[&pair[..], &["--judges", table]].concat()).ends(0).says(&["nothing of X", "Ethereal", "name=NAME"]);
    folder.run(&["analyse", "game.pgn", "--judges", table]).ends(2).says(&["--engine"]);
    folder.write("one.csv", "engine,game,score,result\nA,g1,100,1\nA,g2,-50,0\n");
    let ran = folder.run(&[&pair[..], &["--judges", "one.csv"]].concat()).ends(2);
    ran.says(&["no two engines scored the same positions"]);
}
