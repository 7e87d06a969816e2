//! `evalcurve-lab theory` and `evalcurve-lab simulate`: the numbers of the papers, and simulated councils.

use serde_json::Value;

use crate::support::{Folder, Ran};

fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {}", ran.out))
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// π = (.3, .2, .2, .1, .1, .1), n = 5: where theorem 3 of Sato (2013) fails.
#[test]
fn bounds_are_compared_with_exact_values() {
    let folder = Folder::new();
    let table = folder.good(&["theory", "bounds", "--voters", "5", "--probabilities", ".3,.2,.2,.1,.1,.1"]).out;
    for figure in ["theorem 3", "0.4122     FAILS", "0.2981", "0.1441     FAILS", "0.3027", "-0.2287     FAILS"] {
        assert!(table.contains(figure), "no {figure} in\n{table}");
    }
    let args = ["theory", "bounds", "--voters", "5", "--probabilities", ".3,.2,.2,.1,.1,.1", "--json"];
    let first = &json(&folder.good(&args))["moves"][0];
    assert_eq!(first["printed"]["lower_holds"], false);
    assert!(number(&first["mended"]["lower"]) <= number(&first["alone"]) + 1e-12);
}

#[test]
fn pluralities_have_weights_ties_and_values() {
    let folder = Folder::new();
    let args = ["--voters", "1,4", "--weights", "1.5,1", "--probabilities", ".6,.3,.1", "--probabilities", ".4,.4,.2"];
    let run = |more: &[&str]| json(&folder.good(&[&["theory", "plurality", "--json"][..], &args, more].concat()));
    let sum = |d: &Value| d["moves"].as_array().unwrap().iter().map(|m| number(&m["wins"])).sum::<f64>();
    for tie in ["leader", "random"] {
        assert!((sum(&run(&["--tie", tie])) - 1.0).abs() < 1e-12, "{tie}");
    }
    assert!(sum(&run(&["--tie", "worst"])) < 1.0);
    let verdict = &run(&["--values", "1,0,-2", "--original", "2"])["verdict"];
    assert!((number(&verdict["voters"][1]["improvement"]) - 0.4).abs() < 1e-12);
    assert!((number(&verdict["voters"][1]["reduction"]) - 0.4).abs() < 1e-12);
    let wrong = folder.run(&["theory", "plurality", "--voters", "3", "--probabilities", ".5,.4"]).ends(2);
    assert!(wrong.err.contains("add up to 0.9"), "{}", wrong.err);
}

/// Φ(1/√2) for one engine; .669 and .654 for the majority of three over three moves by its tie rules.
#[test]
fn simulations_match_known_rates_for_any_number_of_threads() {
    let folder = Folder::new();
    let run = |threads: &str, noise: &str, candidates: &str| {
        let args = ["--noise", noise, "--candidates", candidates, "--trials", "400000", "--threads", threads, "--json"];
        folder.good(&[&["simulate"][..], &args].concat())
    };
    let one = run("1", "1,1.5,1.5", "3");
    assert_eq!(one.out, run("3", "1,1.5,1.5", "3").out);
    let near = |rate: &Value, exact: f64| {
        let (value, error) = (number(&rate["rate"]), number(&rate["standard_error"]));
        // the third digit of .669 and .654 is rounded
        assert!((value - exact).abs() < 4.0 * error + 0.0005, "{value} ± {error} for {exact}");
    };
    let document = json(&one);
    for (rule, exact) in document["rules"].as_array().unwrap().iter().zip([0.669, 0.654]) {
        assert_eq!(rule["rule"], "majority");
        near(&rule["best_move"], exact);
    }
    near(&json(&run("2", "1", "2"))["engines"][0]["best_move"], 0.7602);
    let wrong = folder.run(&["simulate", "--noise", "1,1", "--sync", "1:3:0.5"]).ends(2);
    assert!(wrong.err.contains("engines 1 and 3"), "{}", wrong.err);
    let wrong = folder.run(&["simulate", "--noise", "1,1", "--rule", "loudest"]).ends(2);
    assert!(wrong.err.contains("winrate-optimistic"), "{}", wrong.err);
}

#[test]
fn scales_change_only_raw_optimism() {
    let folder = Folder::new();
    let rules = "optimistic,standardized-optimistic,winrate-optimistic";
    let args = ["simulate", "--noise", "1,1.2,1.2", "--gain", "1,3,3", "--offset", "0,-1,2", "--spread", "1.5"];
    let ran =
        folder.good(&[&args[..], &["--candidates", "3", "--rule", rules, "--trials", "200000", "--json"]].concat());
    let document = json(&ran);
    let rate = |i: usize| number(&document["rules"][i]["best_move"]["rate"]);
    assert!(rate(0) + 0.01 < rate(1) && rate(0) + 0.01 < rate(2), "{}", ran.out);
}

/// The log of a simulated council replays without a difference, and the estimate recovers its parameters.
#[test]
fn the_parameters_of_a_simulated_log_are_recovered() {
    let folder = Folder::new();
    let model = ["simulate", "--noise", ".5,.7,.9", "--gap", ".6", "--candidates", "3", "--spread", ".8"];
    folder.good(&[&model[..], &["--sync", "2:3:.5", "--trials", "1500", "--votes", "votes.jsonl"]].concat());
    folder.good(&["replay", "votes.jsonl"]);
    let estimate = ["theory", "estimate", "votes.jsonl", "--candidates", "3", "--trials", "50000", "--json"];
    let found = json(&folder.good(&estimate));
    let near = |e: &Value, truth: f64| {
        let (value, error) = (number(&e["value"]), number(&e["standard_error"]));
        assert!((value - truth).abs() < 4.0 * error && error < 0.2 * truth, "{value} ± {error} for {truth}");
    };
    near(&found["gap"], 0.6);
    for (engine, truth) in found["engines"].as_array().unwrap().iter().zip([0.5, 0.7, 0.9]) {
        near(&engine["noise"], truth);
    }
    near(&found["pairs"][2]["synchronisation"], 0.5);
    assert!(folder.good(&["theory", "estimate", "votes.jsonl", "--candidates", "3"]).out.contains("noise of engine 1"));
    // the caution of the log counts: without any, the corrected rule is plain optimism
    let corrected = |found: &Value| {
        let rules = found["simulation"]["rules"].as_array().unwrap_or_else(|| panic!("{found}"));
        rules.iter().find(|r| r["rule"] == "corrected-optimistic").map(|r| r["best_move"].clone())
    };
    let header = folder.text("votes.jsonl");
    assert!(header.contains("\"caution\":2.0"), "{}", header.lines().next().unwrap_or_default());
    folder.write("bold.jsonl", header.replacen("\"caution\":2.0", "\"caution\":0.0", 1));
    let bold = estimate.map(|word| if word == "votes.jsonl" { "bold.jsonl" } else { word });
    let bold = json(&folder.good(&bold));
    assert!(corrected(&found).is_some() && corrected(&found) != corrected(&bold), "{found}");
    folder.write("few.jsonl", folder.text("votes.jsonl").lines().take(20).collect::<Vec<_>>().join("\n"));
    assert!(folder.run(&["theory", "estimate", "few.jsonl"]).ends(2).err.contains("100 are needed"));
}

#[test]
fn figures_are_written_and_are_the_same_every_time() {
    let folder = Folder::new();
    for name in ["a", "b"] {
        folder.good(&["simulate", "--figures", name, "--trials", "2000"]);
        folder.good(&["theory", "bounds", "--map", name, "--most-voters", "8"]);
    }
    let stems =
        ["best-move-2-candidates", "agreement-3-candidates", "synchronised-2-candidates", "many-engines", "scales"];
    for stem in stems.into_iter().chain(["calibration-error", "bounds-lower", "bounds-upper"]) {
        for ending in ["svg", "png"] {
            let read = |f: &str| folder.read(&format!("{f}/{stem}.{ending}"));
            assert_eq!(read("a"), read("b"), "{stem}.{ending}");
        }
    }
    assert!(folder.text("a/many-engines.csv").starts_with("line,x,rate,standard_error\n"));
}
