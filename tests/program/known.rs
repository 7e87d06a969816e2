//! Engines by name, in a folder without files.

use serde_json::Value;

use crate::support::Folder;

#[test]
fn a_name_takes_the_place_of_a_file() {
    let folder = Folder::new();
    let ran = folder.good(&["winrate", "Stockfish 17", "80"]).says(&[
        "Stockfish 2024: all",
        "also stand for",
        "games of TCEC of 2024",
        "not from games of your own",
    ]);
    // as its makers say, +1.00 of that year is to win half; +0.80 is drawn or won
    let cells: Vec<&str> = ran.out.trim_end().split('\t').collect();
    let rate: f64 = cells[1].parse().unwrap();
    assert!(cells[0] == "80" && rate > 0.5 && rate < 0.75, "{}", ran.out);
    assert!(cells[2].starts_with('[') && cells[3].starts_with("elsewhere ["), "{}", ran.out);

    let json = folder.good(&["winrate", "known:stockfish-2024", "80", "--json"]).out;
    let document: Value = serde_json::from_str(&json).unwrap();
    let value = &document["values"][0];
    let ends = |name: &str| [0, 1].map(|end| value[name][end].as_f64().unwrap());
    let (own, elsewhere) = (ends("interval"), ends("elsewhere"));
    assert!(elsewhere[0] < own[0] && own[1] < elsewhere[1], "{value}");
    assert_eq!(format!("{:.4}", value["win_rate"].as_f64().unwrap()), cells[1]);

    folder.good(&["export", "Houdini 6.03", "--to", "lc0"]).says(&["Houdini 6.03: known from"]);
    folder.good(&["constant", "ストックフィッシュ 2024"]).says(&["games of TCEC"]);
    folder.good(&["plot", "Stockfish 2024", "known:LCZero 2024", "--out", "plots"]).says(&["LCZero 2024: all"]);
    assert!(folder.good(&["constant", "--known", "Houdini*"]).out.lines().count() > 3);
    let all = folder.good(&["constant", "--known"]).out;
    assert!(all.lines().count() > 300 && all.lines().all(|line| line.chars().count() <= 80), "{all}");
}

#[test]
fn what_is_no_name_is_refused_with_the_nearest() {
    let folder = Folder::new();
    let japanese = folder.run(&["winrate", "none.json", "3", "--lang", "ja"]).ends(2);
    japanese.says(&["none.json を読み込むことができません: "]);
    folder.run(&["winrate", "Stokfish 2024", "80"]).ends(2).says(&["no such file", "nearest: Stockfish 2024"]);
    folder.run(&["winrate", "known:nothing", "80"]).ends(2).says(&["no known engine matches 'nothing'"]);
    // a file of that name is read, whatever the table has
    folder.write("Stockfish 2024", "no calibration");
    folder.run(&["winrate", "Stockfish 2024", "80"]).ends(2).says(&["not a calibration file"]);
    folder.run(&["winrate", "absent.json", "80"]).ends(2).says(&["absent.json"]);
}

#[test]
fn a_council_refuses_a_known_engine() {
    let folder = Folder::new();
    folder.write(
        "c.toml",
        "rule = 'winrate-optimistic'\n[[engine]]\nname = 'A'\ncommand = 'x'\ncalibration = 'known:Stockfish 17'\n",
    );
    folder.run(&["council", "c.toml", "--check"]).says(&["c.toml:5", "at another limit, against other players"]);
}
