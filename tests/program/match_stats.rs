//! `evalcurve match-stats`.

use serde_json::Value;

use crate::support::{Folder, root};

fn json(folder: &Folder, arguments: &[&str]) -> Value {
    serde_json::from_str(&folder.good(&[arguments, &["--json"]].concat()).out).unwrap()
}

fn near(value: &Value, expected: f64, tolerance: f64) -> bool {
    value.as_f64().is_some_and(|v| (v - expected).abs() <= tolerance)
}

#[test]
fn three_councils_are_compared_as_in_takeuchi_section_4_3() {
    let folder = Folder::new();
    let results = ["match-stats", "勝率楽観=423-8-569", "単純楽観=409-6-585", "多数決=362-34-604"];
    let ran = folder.good(&results);
    for words in ["勝率楽観", "0.4270 [0.397, 0.458]", "-51.1 [-73.0, -29.6]", "0 after Bonferroni", "each at 0.0167"]
    {
        assert!(ran.out.contains(words), "{words}\n{}", ran.out);
    }
    let document = json(&folder, &results);
    let comparisons = document["comparisons"].as_array().unwrap();
    assert_eq!(comparisons.len(), 3);
    let majority = &comparisons[1];
    assert_eq!((&majority["first"], &majority["second"]), (&Value::from("勝率楽観"), &Value::from("多数決")));
    assert!(near(&majority["p"], 0.020, 5e-4) && near(&majority["half_draws_p"], 0.029, 5e-4));
    assert!(near(&majority["bonferroni_p"], 0.059, 5e-4));
    assert!(near(&comparisons[2]["p"], 0.096, 5e-4) && near(&comparisons[2]["half_draws_p"], 0.131, 5e-4));
}

/// A row counts for both of its players where all met, in either order of the names.
#[test]
fn totals_of_a_round_robin_have_all_games_of_each_player() {
    let folder = Folder::new();
    let games = |file: &str| -> Vec<(String, u64, u64)> {
        let document = json(&folder, &["match-stats", file]);
        let of = |row: &Value| {
            (row["player"].as_str().unwrap().to_owned(), row["games"].as_u64().unwrap(), row["wins"].as_u64().unwrap())
        };
        document["totals"].as_array().unwrap().iter().map(of).collect()
    };
    let table = root().join("data/published/takeuchi-2018-table-1.csv");
    let found = games(&table.to_string_lossy());
    assert_eq!(found.iter().map(|(_, games, _)| games).collect::<Vec<_>>(), [&3_000; 4], "{found:?}");
    assert!(found.contains(&("YaneuraOu".to_owned(), 3_000, 1_004 + 294)), "{found:?}");
    folder.write("both.csv", "player,opponent,wins,draws,losses\na,b,5,0,3\nb,a,2,0,6\nb,c,1,0,0\n");
    assert!(games("both.csv").contains(&("b".to_owned(), 17, 3 + 2 + 1)));
    folder.write("mirror.csv", "player,opponent,wins,draws,losses\na,b,5,0,3\nb,a,3,0,5\nb,c,1,0,0\n");
    assert!(games("mirror.csv").contains(&("b".to_owned(), 9, 4)));
    // systems against one opponent: it has no sum of its own
    folder.write("systems.csv", "player,opponent,wins,draws,losses\na,c,5,0,3\nb,c,3,0,5\n");
    assert_eq!(games("systems.csv"), []);
}

#[test]
fn power_and_games_needed() {
    let folder = Folder::new();
    let document = json(&folder, &["match-stats", "--power", "0.427:0.379", "--games", "1000"]);
    assert!(near(&document["power"]["power"], 0.59, 0.005), "{document}");
    assert_eq!(document["power"]["needed"].as_array().unwrap().len(), 2);
    let corrected = json(&folder, &["match-stats", "--power", "0.427:0.379", "--games", "1000", "--comparisons", "3"]);
    assert!(near(&corrected["power"]["power"], 0.418, 0.001), "{corrected}");
    folder.run(&["match-stats", "--power", "0.5:0.5"]).ends(2).says(&["no number of games"]);
    folder.run(&["match-stats", "--power", "x"]).ends(2);
}

#[test]
fn records_give_results_with_and_without_scores() {
    let folder = Folder::new();
    let game = |black: &str, white: &str, first: &str| format!("V2.2\nN+{black}\nN-{white}\nPI\n+\n+{first}\n%TORYO\n");
    // the second player resigns, so Black wins; openings 1 and 2 with colours swapped
    let games =
        [game("甲", "B", "7776FU"), game("B", "甲", "7776FU"), game("甲", "B", "2726FU"), game("B", "甲", "2726FU")];
    folder.write("games.csa", games.join("/\n"));
    let document = json(&folder, &["match-stats", "games.csa", "--paired", "--player", "甲", "--sprt", "-5:5"]);
    assert_eq!(document["games"]["used"], 4);
    let system = &document["systems"][0];
    assert_eq!((&system["player"], &system["wins"], &system["losses"]), (&Value::from("甲"), &2.into(), &2.into()));
    assert_eq!(system["pentanomial"], serde_json::json!([0, 0, 2, 0, 0]));
    assert!(system["sprt"]["llr"].as_f64().is_some_and(|llr| llr.abs() < 1e-6));
    let paired = |file: &str| folder.good(&["match-stats", file, "--paired"]).err;
    assert_eq!(paired("games.csa"), "");
    // one file for each colour: no successive games have swapped colours
    folder.write("apart.csa", [&*games[0], &games[2], &games[1], &games[3]].join("/\n"));
    let apart = paired("apart.csa");
    assert!(apart.starts_with("warning: --paired: 1 pairs") && apart.contains("2 games are in none"), "{apart}");
    let document = json(&folder, &["match-stats", "apart.csa", "--paired", "--player", "甲"]);
    assert_eq!(document["paired"], serde_json::json!({ "pairs": 1, "games_in_none": 2 }));
    // without --paired the games are not paired
    let document = json(&folder, &["match-stats", "games.csa"]);
    assert_eq!(document["systems"][0]["pentanomial"], Value::Null);
    folder.run(&["match-stats", "games.csa", "--player", "no such player"]).ends(2).says(&["no match"]);
}

/// A file in another format has a warning if it is named, not if it is in a folder.
#[test]
fn other_files_in_a_folder_are_only_counted() {
    let folder = Folder::new();
    folder.write("in/games.csa", "V2.2\nN+A\nN-B\nPI\n+\n+7776FU\n%TORYO\n");
    folder.write("in/README.md", "no game");
    folder.write("in/results.csv", "player,opponent,wins\n");
    let ran = folder.good(&["match-stats", "in"]);
    assert!(ran.err.is_empty() && ran.out.contains("passed over: 2 unknown format"), "{}{}", ran.out, ran.err);
    folder.good(&["match-stats", "in", "in/README.md"]).says(&["in/README.md: unknown format: not a record"]);
    folder.run_with(&["match-stats", "-"], b"no game").ends(1).says(&["-: unknown format: not a record"]);
}

#[test]
fn players_are_rated_on_one_scale() {
    let folder = Folder::new();
    let table = root().join("tests/oracle/ratings.csv");
    let table = table.to_str().unwrap();
    let ran = folder.good(&["match-stats", table, "--anchor", "A=2000"]);
    for words in ["8 players, 1,380 games, A fixed", "\n   1 H ", "2000.0  [2000, 2000]", "LOS next"] {
        assert!(ran.out.contains(words), "{words}\n{}", ran.out);
    }
    let document = json(&folder, &["match-stats", table, "--ratings"]);
    let players = document["ratings"][0]["players"].as_array().unwrap();
    let mean: f64 = players.iter().map(|p| p["elo"].as_f64().unwrap()).sum::<f64>() / players.len() as f64;
    assert!(mean.abs() < 1e-6 && players.len() == 8, "{mean}");
    folder.run(&["match-stats", table, "--anchor", "Z=1"]).ends(2).says(&["no player \"Z\""]);
    folder.run(&["match-stats", table, "--anchor", "A"]).ends(2).says(&["Stockfish=3500"]);
    folder.write("two.csv", "player,opponent,wins,draws,losses\nA,B,3,1,0\nX,Y,0,0,4\n");
    let ran = folder.good(&["match-stats", "two.csv", "--ratings"]);
    for words in ["no games join this group", "+∞]", "half a drawn game"] {
        assert!(ran.out.contains(words), "{words}\n{}", ran.out);
    }
}

#[test]
fn invalid_input_is_an_error() {
    let folder = Folder::new();
    folder.write("bad.csv", "player,opponent,wins,draws,losses\nA,B,1,x,0\n");
    folder.run(&["match-stats", "bad.csv"]).ends(2).says(&["bad.csv:2", "'x'", "a number of games"]);
    folder.write("cut.csv", "player,opponent\nA,B\n");
    folder.run(&["match-stats", "cut.csv"]).ends(2).says(&["cut.csv: unreadable: no column 'result'"]);
    folder.run(&["match-stats", "none.csv"]).ends(2).says(&["none.csv: no such file"]);
    folder.run(&["match-stats", "1-2"]).ends(2).says(&["423-8-569"]);
    folder.run(&["match-stats"]).ends(2);
    folder.run(&["match-stats", "1-2-3", "--sprt", "5:0"]).ends(2).says(&["must be less"]);
    folder.run(&["match-stats", "0-0-0"]).ends(1);
}

/// One bad cell costs its row, and one unreadable table costs that table.
#[test]
fn the_rest_of_the_tables_is_used() {
    let folder = Folder::new();
    folder.write("a.csv", "player,opponent,wins,draws,losses\nA,C,10,0,5\nB,C,x,0,5\n,C,1,1,1\nB,C,7,1,7\n");
    folder.write("b.csv", "player,opponent,result\nA,C,1\nA,C,2\n");
    folder.write("cut.csv", "player,opponent\nA,B\n");
    folder.write("quote.csv", "player,opponent,result\nA,\"B,1\n");
    let tables = ["match-stats", "a.csv", "b.csv", "cut.csv", "quote.csv"];
    let rows = serde_json::json!({
        "read": 6, "used": 3, "skipped": { "bad_count": 1, "bad_player": 1, "bad_result": 1 },
        "refused": { "unreadable": 2 },
    });
    let document = json(&folder, &tables);
    assert_eq!(document["rows"], rows);
    assert_eq!((&document["systems"][0]["wins"], &document["systems"][1]["wins"]), (&10.into(), &7.into()));
    // a glob, which shells on Windows leave to the program
    assert_eq!(json(&folder, &["match-stats", "*.csv"])["rows"], rows);
    let ran = folder.good(&tables).says(&["a.csv:3: bad count: 'x' is not a number of games", "the row is skipped"]);
    // of each kind some, and that there are more
    folder.write("many.csv", "player,opponent,result\n".to_owned() + &"A,B,x\n".repeat(200) + ",B,1\nA,B,1\n");
    let err = folder.good(&["match-stats", "many.csv"]).err;
    assert_eq!(err.matches("bad result: 'x'").count(), 3, "{err}");
    assert!(err.contains("many.csv:202: bad player: ''") && err.contains("further cases of 'bad result'"), "{err}");
    let line = "rows    6 read = 3 used + 3 skipped (1 bad count, 1 bad player, 1 bad result)\n\
                files   passed over: 2 unreadable\n";
    assert!(ran.out.starts_with(line), "{}", ran.out);
    let japanese = folder.good(&[&tables[..], &["--lang", "ja"]].concat()).out;
    assert!(japanese.contains("不正な対局者名") && japanese.contains("対象外: 読み込み不可 2"), "{japanese}");
}

/// What remains in Latin letters are names and the words of statistics.
#[test]
fn tables_and_figures_in_japanese() {
    let folder = Folder::new();
    folder.write("results.csv", "player,opponent,wins,draws,losses\nA,C,423,8,569\nB,C,362,34,604\n");
    for (arguments, words) in [
        (
            &["results.csv", "--sprt", "0:5", "--plot", "rates.svg"][..],
            ["対局者", "符号 p", "H0 を採択: 5 未満", "差 [95%]"],
        ),
        (
            &["12-90-300-120-20", "--sprt", "0:5", "--elo-model", "normalized"],
            ["組 12-90", "正規化 Elo 0 対 5", "未決着", "(範囲 -2.944〜"],
        ),
        (&["--power", "0.427:0.379", "--games", "1000"], ["検出力", "1,000 局で", "59.0%", "80% には"]),
    ] {
        let ran = folder.good(&[&["match-stats", "--lang", "ja"], arguments].concat());
        for word in words {
            assert!(ran.out.contains(word), "{word}\n{}", ran.out);
        }
        for word in ["player", "games", "rate", "against", "pairs", " of ", "draws"] {
            assert!(!ran.out.contains(word), "{word}\n{}", ran.out);
        }
    }
    assert!(folder.text("rates.svg").contains("C に対する勝率"));
}

/// The documented commands draw the committed figures.
#[test]
fn published_tables_draw_the_published_figures() {
    let folder = Folder::new();
    let data = |name: &str| root().join("data/published").join(name).to_string_lossy().into_owned();
    let figure_6 = data("takeuchi-2018-figure-6.csv");
    folder.good(&["match-stats", &figure_6, "--plot", "takeuchi-2018-figure-6.svg"]);
    let shares = data("takeuchi-2018-table-6.csv");
    folder.good(&["match-stats", "--shares", &shares, "--plot", "takeuchi-2018-figure-7.svg"]);
    for name in ["takeuchi-2018-figure-6.svg", "takeuchi-2018-figure-7.svg"] {
        let committed = std::fs::read(root().join("plots/published").join(name)).unwrap();
        assert!(
            folder.read(name) == committed,
            "{name} differs; draw it again by the command in docs/match-statistics.md"
        );
    }
}

/// Match runners write the engine that is tested as White of the first game, whatever its name.
#[test]
fn the_tested_engine_is_white_of_the_first_game() {
    let folder = Folder::new();
    let game = |white: &str, black: &str, result: &str, first: &str| {
        format!("[White \"{white}\"]\n[Black \"{black}\"]\n[Result \"{result}\"]\n\n1. {first} {result}\n\n")
    };
    let games = [
        game("new", "base", "1-0", "e4"),
        game("base", "new", "1/2-1/2", "e4 e5"),
        game("new", "base", "1-0", "d4"),
        game("base", "new", "0-1", "d4 d5"),
    ];
    folder.write("games.pgn", games.concat());
    let document = json(&folder, &["match-stats", "games.pgn", "--sprt", "0:5"]);
    let system = &document["systems"][0];
    assert_eq!((&system["player"], &system["wins"], &system["losses"]), (&"new".into(), &3.into(), &0.into()));
    assert!(system["sprt"]["llr"].as_f64() > Some(0.0), "{system}");
    let of = |name: &str| json(&folder, &["match-stats", "games.pgn", "--player", name])["systems"][0]["wins"].clone();
    assert_eq!((of("new"), of("base")), (3.into(), 0.into()));
    let out = folder.good(&["match-stats", "games.pgn", "--paired", "--sprt", "0:5"]).out;
    assert!(out.contains("SPRT of 0 against 5 logistic Elo"), "{out}");
    // decimals, and nElo with its interval as fastchess has it: 1.96 · 800/ln 10 / sqrt(games)
    let system = &json(&folder, &["match-stats", "12-90-300-120-20"])["systems"][0];
    let half = 1.959_963_985 * 347.435_585_522_601_84 / (1084_f64).sqrt();
    let [low, high] = [0, 1].map(|i| system["normalized_elo_interval"][i].as_f64().unwrap());
    assert!((high - low - 2.0 * half).abs() < 1e-6, "{low} {high} {half}");
    let out = folder.good(&["match-stats", "12-90-300-120-20"]).out;
    assert!(out.contains("+14.8 [") && out.contains("nElo [95%]"), "{out}");
}
