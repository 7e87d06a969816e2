//! Scores that are not evaluations, or in another unit: detected, and reported with the engine and the remedy.

use crate::support::{Folder, engine, warnings};

/// Writes a table of one engine. `score` gives the score of a sample from its number and its logit.
fn table(folder: &Folder, score: impl Fn(u32, f64) -> String) {
    let mut text = String::from("game,engine,color,ply,score_cp,result\n");
    for i in 0..600u32 {
        let logit = f64::from(i * 37 % 601) / 100.0 - 3.0;
        let luck = f64::from(i * 7919 % 1000) / 1000.0;
        let result = u8::from(luck < 1.0 / (1.0 + (-logit).exp()));
        let color = ["black", "white"][(i % 2) as usize];
        text += &format!("{i},A,{color},{},{},{result}\n", 30 + i % 100, score(i, logit));
    }
    folder.write("samples.csv", text);
}

#[track_caller]
fn reported(folder: &Folder, kind: &str, parts: &[&str]) {
    let document = folder.document(&["inspect", "samples.csv"]);
    let texts = warnings(engine(&document, "A"), kind);
    assert_eq!(texts.len(), 1, "{:#}", engine(&document, "A")["warnings"]);
    for part in parts {
        assert!(texts[0].contains(part), "no '{part}' in {}", texts[0]);
    }
    // the text output names the engine, in `calibrate` too
    folder.good(&["inspect", "samples.csv"]).says(&["warning: A: ", texts[0]]);
    let ran = folder.run(&["calibrate", "samples.csv", "--out", "out", "--no-plots"]).says(&["warning: A: ", texts[0]]);
    assert!(matches!(ran.code, Some(0 | 1)));
}

#[test]
fn centipawns_raise_no_warning() {
    let folder = Folder::new();
    table(&folder, |_, logit| format!("{:.0}", logit * 500.0));
    let document = folder.document(&["inspect", "samples.csv"]);
    assert_eq!(engine(&document, "A")["warnings"], serde_json::json!([]));
}

#[test]
fn other_units_are_named() {
    let folder = Folder::new();
    let rate = |logit: f64| 1.0 / (1.0 + (-logit).exp());
    table(&folder, |_, logit| format!("{:.3}", rate(logit)));
    reported(&folder, "score_unit", &["from 0 to 1", "win rates", "600 ln(p / (1 - p))"]);
    table(&folder, |_, logit| format!("{:.1}", 100.0 * rate(logit)));
    reported(&folder, "score_unit", &["win rates in percent"]);
    table(&folder, |_, logit| format!("{:.2}", 5.0 * logit));
    reported(&folder, "score_unit", &["look like pawns"]);
}

#[test]
fn large_scores_that_contradict_the_result_are_lapses_and_no_wrong_sign() {
    let folder = Folder::new();
    let contradicted = |share: u32| {
        move |i: u32, logit: f64| {
            // the result of `table`, whose luck is known
            let wins = f64::from(i * 7919 % 1000) / 1000.0 < 1.0 / (1.0 + (-logit).exp());
            if i.is_multiple_of(share) {
                format!("{}", if wins { -9000 } else { 9000 })
            } else {
                format!("{:.0}", logit * 500.0)
            }
        }
    };
    // two of 600 change maximum likelihood by half, but not the default: without them it is 409
    table(&folder, contradicted(300));
    let document = folder.document(&["calibrate", "--dry-run", "samples.csv"]);
    let one = engine(&document, "A");
    assert!(one["maximum_likelihood"]["ponanza"].as_f64().is_some_and(|constant| constant > 600.0), "{one:#}");
    let constants = folder.good(&["constant", "samples.csv", "--json"]).out;
    let constants: serde_json::Value = serde_json::from_str(&constants).unwrap();
    let constant = constants["engines"][0]["constant"].as_f64().unwrap();
    assert!((350.0..450.0).contains(&constant), "{constants:#}");
    assert!(warnings(one, "many_lapses").is_empty());
    // one in six: the results are of no use as they are
    table(&folder, contradicted(6));
    reported(&folder, "many_lapses", &["% of the results follow no score", "--terminations board"]);
    assert!(folder.good(&["calibrate", "--dry-run", "samples.csv"]).out.contains("does not fit"));
}

#[test]
fn zeros_of_book_moves_are_found() {
    let folder = Folder::new();
    table(&folder, |i, logit| if i % 100 < 20 { "0".to_owned() } else { format!("{:.0}", logit * 500.0) });
    reported(&folder, "book_zeros", &["exactly 0", "moves from a book", "--where \"score_cp != 0\""]);
    // the remedy works
    let document = folder.document(&["inspect", "samples.csv", "--where", "score_cp != 0"]);
    assert!(warnings(engine(&document, "A"), "book_zeros").is_empty());
    table(&folder, |_, _| "0".to_owned());
    reported(&folder, "all_scores_zero", &["every score is 0"]);
}

#[test]
fn a_threshold_among_evaluations_is_found() {
    let folder = Folder::new();
    table(&folder, |_, logit| format!("{:.0}", logit * 8000.0));
    reported(&folder, "threshold_in_evaluations", &["20000 cuts through evaluations", "--mate-threshold \"A=CP\""]);
    let document = folder.document(&["inspect", "samples.csv", "--mate-threshold", "A=30000"]);
    assert!(warnings(engine(&document, "A"), "threshold_in_evaluations").is_empty());
}

#[test]
fn mates_of_the_wrong_sign_are_found() {
    let folder = Folder::new();
    // mates of the side that is ahead, written as losses
    table(&folder, |i, logit| {
        if i % 10 == 0 && logit.abs() > 1.0 {
            format!("{:.0}", -31_000.0 * logit.signum())
        } else {
            format!("{:.0}", logit * 500.0)
        }
    });
    reported(&folder, "mates_inverted", &["wrong-sided", "sign of mates looks inverted"]);
}
