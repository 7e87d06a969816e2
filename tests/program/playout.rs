//! `evalcurve-lab theory playout`.

use serde_json::Value;

use crate::support::{Folder, root};

fn json(folder: &Folder, arguments: &[&str]) -> Value {
    serde_json::from_str(&folder.good(&[&["theory", "playout"], arguments, &["--json"]].concat()).out).unwrap()
}

#[test]
fn the_centre_of_tic_tac_toe_is_best() {
    let folder = Folder::new();
    let document = json(&folder, &["tic-tac-toe", "--exact", "--playouts", "20000"]);
    let game = &document["games"][0];
    let best = &game["moves"][0];
    assert_eq!(best["move"], "b2");
    let (rate, error) = (best["win_rate"].as_f64().unwrap(), best["error_95"].as_f64().unwrap());
    // twice the 95% error is four standard errors
    assert!((rate - best["exact_expected_outcome"].as_f64().unwrap()).abs() < 2.05 * error);
    // X wins 737 of 1260 at random
    assert!((game["exact_chances"][0].as_f64().unwrap() - 737.0 / 1260.0).abs() < 1e-8);
}

#[test]
fn threads_do_not_change_a_number() {
    let folder = Folder::new();
    let of = |threads: &str, seed: &str| {
        let arguments = ["theory", "playout", "hex:4", "--heuristic", "higher-order", "--noise", "0.2", "--all"];
        folder.good(&[&arguments[..], &["--playouts", "2000", "--threads", threads, "--seed", seed]].concat()).out
    };
    assert_eq!(of("1", "1"), of("3", "1"));
    assert_ne!(of("1", "1"), of("1", "2"));
}

#[test]
fn invalid_games_and_moves_are_refused() {
    let folder = Folder::new();
    let run = |arguments: &[&str]| folder.run(&[&["theory", "playout"], arguments].concat()).ends(2);
    run(&["chess"]).says(&["tic-tac-toe", "bent-y:5:4"]);
    run(&["hex:99"]).says(&["1 to 26"]);
    run(&["hex:3", "--moves", "a1,a1"]).says(&["'a1' is not a legal move"]);
    run(&["tic-tac-toe", "--moves", "a1,a2,b1,b2,c1"]).says(&["the game is over"]);
    run(&["hex:3", "--noise", "-1"]);
    run(&["hex:4", "--exact"]).says(&["16 open moves"]);
    run(&[]);
}

/// The documented commands draw the committed figures.
#[test]
fn the_committed_figures_are_reproducible() {
    let folder = Folder::new();
    let committed = |name: &str| std::fs::read(root().join("plots/published").join(name));
    let figure_4 = committed("raiko-2006-figure-4.svg").unwrap();
    folder.good(&["theory", "playout", "--playouts", "200000", "--pattern-graph", "raiko-2006-figure-4.svg"]);
    assert!(folder.read("raiko-2006-figure-4.svg") == figure_4, "draw it again by commands/lab/playouts.md");
    let arguments = ["theory", "playout", "y:13", "bent-y:5:4", "--heuristic", "all-moves-as-first"];
    folder.good(&[&arguments[..], &["--playouts", "1000000", "--plot", "raiko-2006-figure-3.svg"]].concat());
    let figure_3 = committed("raiko-2006-figure-3.svg").unwrap();
    assert!(folder.read("raiko-2006-figure-3.svg") == figure_3, "draw it again by commands/lab/playouts.md");
}
