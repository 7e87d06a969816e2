//! Split curves, conditions over the columns of the sample table, and bootstrap intervals.

use serde_json::Value;

use crate::support::{Folder, csv, engine};

/// White wins as if its scores were 200 centipawns larger. The samples of a game share its result.
fn table(folder: &Folder) {
    let mut text = String::from("game,engine,opponent,color,ply,window,score_cp,result\n");
    let mut state = 1u64;
    let mut uniform = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as f64 / (1u64 << 31) as f64
    };
    for game in 0..3000 {
        let white = game % 2;
        let score = (uniform() - 0.5) * 3000.0;
        let p = 1.0 / (1.0 + (-0.002 * (score + 200.0 * f64::from(white))).exp());
        let result = u8::from(uniform() < p);
        for window in 0..2 {
            let (color, ply) = (["black", "white"][white as usize], 40 + 60 * window);
            let noise = (uniform() - 0.5) * 100.0;
            text += &format!("{game:016x},A,B,{color},{ply},{window},{:.0},{result}\n", score + noise);
        }
    }
    folder.write("samples.csv", text);
}

#[test]
fn a_split_is_found_reported_and_drawn() {
    let folder = Folder::new();
    table(&folder);
    let ran = folder.good(&["plot", "--points", "samples.csv", "--by", "color", "--by", "ply >= 90", "--min-bin", "1"]);
    let (head, rows) = csv(&ran.out);
    assert_eq!(head[..4], ["engine", "split", "group", "bin"]);
    for split in ["color", "ply >= 90"] {
        let own: Vec<_> = rows.iter().filter(|r| r[1] == split).collect();
        let counted: u64 = own.iter().flat_map(|r| &r[5..8]).map(|n| n.parse::<u64>().unwrap()).sum();
        assert_eq!(counted, 6000, "{split}");
    }
    let ran = ran.says(&["A by color: the curves split (p < 0.001", "A by ply >= 90: no split seen"]);
    assert!(ran.err.contains("as against black, scores lack white +"), "{}", ran.err);

    let ran = folder.good(&["plot", "--points", "samples.csv", "--by", "color", "--json"]);
    let document: Value = serde_json::from_str(&ran.out).unwrap();
    let split = &document["splits"][0];
    assert_eq!((&split["splits"], &split["groups"][0]["label"]), (&Value::Bool(true), &Value::from("black")));
    let shift = &split["groups"][1]["shift"];
    let [cp, low, high] = ["cp", "low", "high"].map(|k| shift[k].as_f64().unwrap());
    assert!(low < 200.0 && 200.0 < high && low < cp && cp < high && low > 50.0, "{shift}");

    let ran = folder.good(&["plot", "samples.csv", "--by", "color", "--out", "plots"]);
    assert_eq!(ran.out.trim(), "plots/A-by-color.svg and .png");
    let svg = folder.text("plots/A-by-color.svg");
    assert!(svg.contains("A by color: curves split") && svg.contains("black") && svg.contains("white"));
}

#[test]
fn errors_in_conditions_have_a_position() {
    let folder = Folder::new();
    table(&folder);
    folder.run(&["plot", "--points", "samples.csv", "--by", "ply >= 90 and plyy < 3"]).ends(2).says(&[
        "'plyy' is not a column",
        "at character 15",
        "opponent_rating",
        "^",
    ]);
    folder.run(&["plot", "--points", "samples.csv", "--by", "phaze"]).ends(2).says(&["neither phase, color"]);
    folder
        .run(&["calibrate", "--dry-run", "samples.csv", "--where", "color = red"])
        .ends(2)
        .says(&["expected one of black, white"]);
}

#[test]
fn samples_are_filtered_by_conditions() {
    let folder = Folder::new();
    table(&folder);
    let count = |condition: &str| {
        let document =
            folder.document(&["calibrate", "--dry-run", "samples.csv", "--bands", "0", "--where", condition]);
        document["engines"][0]["samples"].as_u64().unwrap()
    };
    assert_eq!(count("color = white"), 3000);
    assert_eq!(count("color = white and ply < 90"), 1500);
    assert_eq!(count("score_cp >= 0") + count("score_cp < 0"), 6000);
    // samples without a rating are removed
    folder.run(&["calibrate", "--dry-run", "samples.csv", "--where", "rating > 0", "--quiet"]);
}

#[test]
fn bootstrap_intervals_accompany_the_others() {
    let folder = Folder::new();
    folder.generate("games.csa", &["--games", "600"]);
    let run = |threads: &str, bands: &str| {
        folder.document(&["calibrate", "--dry-run", "games.csa", "--threads", threads, "--bands", bands])
    };
    let (one, two) = (run("1", "300"), run("2", "300"));
    assert_eq!(one, two);
    let fit = &engine(&one, "A")["maximum_likelihood"];
    let number = |v: &Value| v.as_f64().unwrap();
    for key in ["w1_interval", "w2_interval"] {
        let (sandwich, bootstrap) = (&fit[key], &fit["bootstrap"][key]);
        let width = |v: &Value| number(&v[1]) - number(&v[0]);
        let ratio = width(bootstrap) / width(sandwich);
        assert!((0.7..1.4).contains(&ratio), "{key}: {sandwich} {bootstrap}");
    }
    assert_eq!(fit["bootstrap"]["resamples"], 300);
    // the planner: the interval shrinks with the square root of the number of games
    let half = (number(&fit["w1_interval"][1]) - number(&fit["w1"])) / number(&fit["w1"]);
    let games = number(&fit["games"]) * (half / 0.05).powi(2);
    assert!((number(&fit["games_for_5_percent"]["games"]) / games - 1.0).abs() < 0.01);
    assert!(engine(&run("1", "0"), "A")["maximum_likelihood"]["bootstrap"].is_null());

    let (head, rows) = csv(&folder.good(&["plot", "--points", "games.csa", "--min-bin", "20"]).out);
    let column = |name: &str| head.iter().position(|h| h == name).unwrap();
    let (low, rate, high) = (column("band_low"), column("win_rate"), column("band_high"));
    assert!(rows.len() > 5);
    for row in rows {
        let rate: f64 = row[rate].parse().unwrap();
        if row[low].is_empty() {
            // all games of the bin ended alike, which no resample can vary
            assert!(row[high].is_empty() && (rate == 0.0 || rate == 1.0), "{row:?}");
            continue;
        }
        let [low, high] = [low, high].map(|c| row[c].parse::<f64>().unwrap());
        assert!(low <= rate && rate <= high && low < high, "{row:?}");
    }
}

#[test]
fn bands_are_drawn_and_the_same_for_any_number_of_threads() {
    let folder = Folder::new();
    folder.generate("games.csa", &["--games", "300"]);
    let draw = |threads: &str, bands: &str, out: &str| {
        folder.good(&["plot", "games.csa", "--threads", threads, "--bands", bands, "--min-bin", "20", "--out", out]);
        ["A-curve", "sigmoids", "curves"].map(|name| folder.text(&format!("{out}/{name}.svg")))
    };
    let (one, two, none) = (draw("1", "100", "one"), draw("2", "100", "two"), draw("1", "0", "none"));
    assert_eq!(one, two);
    assert!(one[2].contains("by bootstrap over games") && !none[2].contains("bootstrap"));
    // fitted lines have the intervals of their parameters
    for i in [0, 1] {
        assert!(one[i] == none[i] && one[i].contains("95% intervals clustered by game"), "{i}");
    }
}

/// Engines have samples, but no bin has as many as a point needs.
#[test]
fn a_curve_without_points_has_a_reason() {
    let folder = Folder::new();
    table(&folder);
    let reason = "no bin of 200 cp has 2000 samples (--bin, --min-bin)";
    for more in [&["--json"][..], &["--by", "color"], &["--by", "color", "--json"], &[]] {
        folder
            .good(&[&["plot", "--points", "samples.csv", "--min-bin", "2000", "--bands", "0"], more].concat())
            .says(&[reason]);
    }
    let ran = folder.good(&["plot", "--points", "samples.csv", "--min-bin", "20", "--bands", "0"]);
    assert!(!ran.err.contains("no bin"), "{}", ran.err);
    // 56 samples of White: two points
    let all = folder.text("samples.csv");
    let few = all.lines().enumerate().filter(|(i, line)| *i <= 112 || line.contains("black"));
    folder.write("few.csv", few.map(|(_, line)| line.to_owned() + "\n").collect::<String>());
    let ran = folder.run(&["plot", "few.csv", "--by", "color"]).ends(1);
    let ran = ran.says(&["nothing to draw: no two parts have 3 points of at least 20 samples; --min-bin makes"]);
    assert!(!ran.err.contains("no engine has enough samples"), "{}", ran.err);
    folder.good(&["plot", "few.csv", "--by", "color", "--min-bin", "10"]);
    folder.run(&["plot", "samples.csv", "--min-samples", "9000"]).ends(1).says(&["no engine has enough samples"]);
}
