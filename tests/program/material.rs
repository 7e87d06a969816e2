//! The material of PGN games: counted on request, stored in tables, and used by the model `wdl-material`.

use serde_json::Value;

use crate::support::{Folder, csv, csv_text, problems, root};

/// A game of random moves, with castling, and the material before each of them (python-chess 1.11.2).
const MOVES: &str = "c3 Nf6 g4 Nxg4 Qc2 Nxf2 d3 c5 Kxf2 a6 b4 e6 Qb2 g6 bxc5 Bxc5+ Be3 Qf6+ Kg3 Qxf1 Bxc5 Qxb1 \
                     Qxb7 Bxb7 Rxb1 Bxh1 Kf4 Bb7 Rxb7 h6 Rb1 f5 e3 Ra7 Bxa7 a5 Bxb8 O-O a4 Rxb8 c4 Rb4 Rc1 Rxa4 \
                     Rb1 d6 Rb2 Kf8 Kg3 Ke7 Nh3 Rxc4 Ra2 Rc7 Rg2 e5 Re2 Ra7 Rg2 e4";
const MATERIAL: [u16; 60] = [
    78, 78, 78, 78, 77, 77, 76, 76, 76, 73, 73, 73, 73, 73, 73, 72, 71, 71, 71, 71, 68, 65, 62, 61, 52, 43, 38, 38, 38,
    35, 35, 35, 35, 35, 35, 30, 30, 27, 27, 27, 24, 24, 24, 24, 23, 23, 23, 23, 23, 23, 23, 23, 22, 22, 22, 22, 22, 22,
    22, 22,
];

/// Moves that both spellings are read of. Games whose moves are spelled otherwise are no copies of each other.
const LONG: [(&str, &str); 10] = [
    ("c3", "c2c3"),
    ("g4", "g2g4"),
    ("d3", "d2d3"),
    ("c5", "c7c5"),
    ("a6", "a7a6"),
    ("b4", "b2b4"),
    ("e6", "e7e6"),
    ("g6", "g7g6"),
    ("h6", "h7h6"),
    ("e3", "e2e3"),
];

/// Games of those moves. The less material is left, the rarer draws are and the more often a pawn wins.
pub(crate) fn games(count: u64) -> String {
    let mut state = 7u64;
    let mut unit = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / (1u64 << 24) as f64
    };
    let mut text = String::new();
    for round in 0..count {
        let strength = 6.0 * (unit() - 0.5);
        let result = match strength + 2.0 * (unit() - 0.5) {
            x if x > 1.0 => "1-0",
            x if x < -1.0 => "0-1",
            _ => "1/2-1/2",
        };
        text += &format!("[White \"A\"]\n[Black \"B\"]\n[Round \"{round}\"]\n[Result \"{result}\"]\n\n");
        for (i, san) in MOVES.split_whitespace().enumerate() {
            let long = LONG.iter().zip(0..).find(|((short, _), bit)| *short == san && round >> bit & 1 == 1);
            let san = long.map_or(san, |((_, long), _)| *long);
            let white = if i % 2 == 0 { 1.0 } else { -1.0 };
            // the less material is left, the more a score means
            let noise = f64::from(MATERIAL[i]) / 20.0 * (unit() - 0.5);
            let number = if i % 2 == 0 { format!("{}. ", i / 2 + 1) } else { String::new() };
            text += &format!("{number}{san} {{{:+.2}/12 1s}}\n", white * (strength + noise));
        }
        text += &format!("{result}\n\n");
    }
    text
}

#[test]
fn material_goes_from_records_to_win_rates() {
    let folder = Folder::new();
    folder.write("games.pgn", games(300));
    let all = ["--from-ply", "1", "--window", "10"];
    // without the option
    folder.good(&[&["sample", "games.pgn", "--out", "plain.csv"][..], &all].concat());
    assert!(!csv(&folder.text("plain.csv")).0.contains(&"material".to_owned()));

    folder.good(&[&["sample", "games.pgn", "--material", "--out", "samples.csv"][..], &all].concat());
    let (head, mut rows) = csv(&folder.text("samples.csv"));
    let at = |name: &str| head.iter().position(|h| h == name).unwrap();
    let (ply, material) = (at("ply"), at("material"));
    assert_eq!(rows.len(), 300 * 12);
    for row in &rows {
        let ply: usize = row[ply].parse().unwrap();
        assert_eq!(row[material], MATERIAL[ply - 1].to_string(), "ply {ply}");
    }
    // the other columns are the same
    let (_, plain) = csv(&folder.text("plain.csv"));
    let without: Vec<Vec<String>> = rows.iter().map(|row| row[..row.len() - 1].to_vec()).collect();
    assert_eq!((material, plain), (head.len() - 1, without));

    let fit = |input: &str, out: &str, more: &[&str]| {
        let arguments =
            [&["calibrate", input, "--model", "wdl-material", "--out", out, "--no-plots"][..], more].concat();
        folder.document(&arguments)
    };
    let document = fit("games.pgn", "out", &all);
    assert_eq!(document["model"], "wdl_material");
    let file = folder.json("out/A.json");
    let model = &file["model"];
    assert_eq!(
        (&model["kind"], &model["method"], &model["stage"]),
        (&"wdl".into(), &"wdl_material".into(), &"material".into())
    );
    assert_eq!((&model["from_stage"], &model["to_stage"]), (&22.into(), &78.into()));
    assert!(file["models"]["wdl_material"]["covariance"].is_array());
    // Parquet and CSV preserve it
    folder.good(&[&["sample", "games.pgn", "--material", "--out", "samples.parquet"][..], &all].concat());
    for table in ["samples.csv", "samples.parquet"] {
        fit(table, table.rsplit('.').next().unwrap(), &[]);
    }
    assert_eq!((&folder.json("csv/A.json")["model"], &folder.json("parquet/A.json")["model"]), (model, model));
    // the same score means more with less material
    let rate = |more: &[&str]| -> f64 {
        let out = folder.good(&[&["winrate", "out/A.json", "150"][..], more].concat()).out;
        out.split('\t').nth(1).unwrap().trim().parse().unwrap()
    };
    assert!(rate(&["--material", "24"]) > rate(&["--material", "76"]) + 0.005, "{model:#}");
    folder.run(&["winrate", "out/A.json", "150", "--ply", "30"]).ends(2).says(&["--ply", "does not use it"]);
    // the file's model decides what is counted
    let judged = |more: &[&str]| -> Value {
        let more = [&["evaluate", "out/A.json", "games.pgn"][..], more, &all].concat();
        folder.document(&more)["engines"][0].clone()
    };
    let of_table = &folder.document(&["evaluate", "out/A.json", "samples.csv"])["engines"][0];
    assert_eq!(of_table["log_loss"], judged(&[])["log_loss"]);
    let ran = folder.run(&["evaluate", "out/A.json", "plain.csv"]).ends(2);
    ran.says(&["out/A.json: its model, wdl material, goes by the material", "a table with the column material"]);
    // by ply, whether or not the table has material
    folder.good(&["calibrate", "samples.csv", "--model", "wdl", "--out", "ply", "--no-plots", "--quiet"]);
    assert_eq!(folder.json("ply/A.json")["model"]["stage"], "ply");

    // a condition requests it as well; for a table without the column the message explains how to get it
    let few =
        folder.document(&[&["calibrate", "--dry-run", "games.pgn", "--where", "material < 30"][..], &all].concat());
    let some = rows.iter().filter(|row| row[material].parse::<u16>().unwrap() < 30).count() as u64;
    let samples: u64 = few["engines"].as_array().unwrap().iter().map(|e| e["samples"].as_u64().unwrap()).sum();
    assert!(samples == some && some > 0, "{samples} {some}");
    let ran = folder.run(&["calibrate", "--dry-run", "plain.csv", "--model", "wdl-material"]).ends(1);
    let words: Vec<&str> = ran.out.split_whitespace().collect();
    assert!(words.windows(2).any(|pair| pair == ["with", "--material,"]), "{}", ran.out);
    // cells without a count are empty
    rows[0][material] = "many".to_owned();
    folder.write("odd.csv", csv_text(&head, &rows));
    fit("odd.csv", "odd", &[]);
    let samples = |file: &str| folder.json(file)["models"]["wdl_material"]["samples"].as_u64().unwrap();
    assert_eq!(samples("odd/A.json") + samples("odd/B.json") + 1, samples("out/A.json") + samples("out/B.json"));
}

/// The table has a, b and the draws at score 0, and the positions can be those of WDL_model.
#[test]
fn the_table_has_the_constants_of_wdl_model() {
    let folder = Folder::new();
    folder.write("games.pgn", games(300));
    let options = ["--window=1", "--from-ply", "1", "--model", "wdl-material", "--no-plots", "--out"];
    let ran = folder.good(&[&["calibrate", "games.pgn"][..], &options, &["out"]].concat());
    let at = ran.out.find("at material 58: a is the score that wins half of the games").expect("a title");
    let row = ran.out[at..].lines().find(|line| line.starts_with("A ")).unwrap();
    let export = folder.good(&["export", "out/A.json", "--to", "stockfish"]).out;
    let pawn = export.split("NormalizeToPawnValue = ").nth(1).unwrap().split(';').next().unwrap();
    let a: f64 = row.split_whitespace().nth(1).unwrap().parse().unwrap();
    assert!((a - pawn.parse::<f64>().unwrap()).abs() <= 0.51, "{row} {pawn}");
    let constant = folder.run(&["constant", "out/A.json"]).out;
    assert!(constant.contains(&format!("  at material 58, where a = {:.1} [", a)), "{constant}");
    assert!(folder.run(&["constant", "out"]).out.contains("models by material: at material 58\n"));
    let draws = folder.good(&["winrate", "out/A.json", "0", "--material", "58"]).out;
    let draw = draws.split("draw ").nth(1).unwrap().split(' ').next().unwrap();
    let shown: f64 = row.split(']').nth(2).unwrap().split_whitespace().next().unwrap().parse().unwrap();
    assert!((shown - draw.parse::<f64>().unwrap()).abs() < 0.00051, "{row} {draws}");
    // the same as its conditions
    let config = root().join("examples/wdl-model.toml").to_string_lossy().into_owned();
    let like = folder.document(&["calibrate", "games.pgn", "--config", &config, "--no-plots", "--out", "like"]);
    let conditions = ["score_cp <= 400", "score_cp >= -400", "material >= 17", "material <= 78", "ply <= 240"];
    let conditions = conditions.iter().flat_map(|condition| ["--where", condition]).collect::<Vec<_>>();
    let same = folder.document(&[&["calibrate", "games.pgn"][..], &options, &["same"], &conditions].concat());
    assert_eq!(like["model"], "wdl_material");
    assert_eq!(like["engines"][0]["models"], same["engines"][0]["models"]);
    assert_eq!(folder.document(&["calibrate", "--dry-run", "games.pgn"])["model"], "joint");
    // a curve says where it is read
    folder.good(&["plot", "out/A.json", "--out", "plots"]);
    assert!(folder.text("plots/A-curve.svg").contains("at material 50"), "{}", folder.text("plots/A-curve.svg"));
}

/// Games whose draws do not have the form of the model have a warning.
#[test]
fn a_misfit_of_the_draws_has_a_warning() {
    let folder = Folder::new();
    let has_warning = |games: String| {
        folder.write("games.pgn", games);
        let options =
            ["calibrate", "--dry-run", "games.pgn", "--window=1", "--from-ply", "1", "--model", "wdl-material"];
        let document = folder.document(&options);
        let warnings = document["engines"][0]["warnings"].as_array().unwrap();
        warnings.iter().any(|warning| warning["kind"] == "draws_misfit")
    };
    assert!(!has_warning(games(1000)));
    // in every second game those who are even do not draw, and those of whom one is better do
    let odd = |(i, game): (usize, &str)| {
        let scores = game.split('{').skip(1).map(|rest| rest.split('/').next().unwrap().parse::<f64>().unwrap());
        // those of Black in White's view
        let pawns: f64 =
            scores.enumerate().map(|(at, score)| if at % 2 == 0 { score } else { -score }).sum::<f64>() / 60.0;
        if i % 2 == 1 {
            return game.to_owned();
        }
        let result = if pawns.abs() > 1.0 { "1/2-1/2" } else { ["1-0", "0-1"][i / 2 % 2] };
        ["1/2-1/2", "1-0", "0-1"]
            .iter()
            .fold(game.to_owned(), |game, old| game.replace(old, "?!"))
            .replace("?!", result)
    };
    let all = games(1000).replace("[White", "\u{0}[White");
    assert!(has_warning(all.split('\u{0}').enumerate().map(odd).collect()));
}

#[test]
fn a_game_that_cannot_be_played_keeps_its_samples() {
    let folder = Folder::new();
    // the knight of the second game makes an impossible move
    let text = games(3).replacen("Nf6", "Nf7", 2).replacen("Nf7", "Nf6", 1);
    folder.write("games.pgn", &text);
    let line = 1 + text[..text.find("Round \"1\"").unwrap()].matches('\n').count() - 2;
    let all = ["--from-ply", "1", "--window", "10", "--force", "--out", "samples.csv"];
    let document = folder.document(&[&["sample", "games.pgn", "--material"][..], &all].concat());
    assert_eq!((&document["samples"], &document["games"]["used"]), (&36.into(), &3.into()));
    assert_eq!(problems(&document, "not_replayed"), [format!("games.pgn:{line}")]);
    assert!(document["problems"][0]["value"].as_str().unwrap().contains("ply 2: 'Nf7'"), "{document:#}");
    let (head, rows) = csv(&folder.text("samples.csv"));
    let material = head.iter().position(|h| h == "material").unwrap();
    assert_eq!(rows.iter().filter(|row| row[material].is_empty()).count(), 12);
    let ran = folder.good(&[&["sample", "games.pgn", "--material"][..], &all].concat());
    assert!(ran.out.contains("not replayed"), "{}", ran.out);
    folder
        .run(&[&["sample", "games.pgn", "--material", "--strict"][..], &all].concat())
        .ends(1)
        .says(&["not replayed", "Nf7"]);
    // without the option moves are not checked
    let document = folder.document(&[&["sample", "games.pgn"][..], &all].concat());
    assert!(document["problems"].as_array().unwrap().is_empty());
}
