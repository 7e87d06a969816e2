//! Splits and the bootstrap against statsmodels, scipy and numpy; see `tests/oracle/splits.py`.

use evalcurve_calibration::Sigmoid;
use evalcurve_calibration::types::{Color, Outcome, Termination};
use evalcurve_fit::fit::{BootstrapOptions, FitData, Method, Observation, Wald};
use evalcurve_records::sample::{GameInfo, Sample, SampleTable, by_engine};
use serde_json::Value;

use crate::calibrate::{CalibrateOptions, observation};
use crate::judge::split::{Split, split_curves};

/// The text of a file of the repository; `None` in a package, which does not hold it.
fn of_repository(path: &str) -> Option<String> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.join("tests/oracle").is_dir().then(|| std::fs::read_to_string(root.join(path)).unwrap())
}

fn table(samples: &str) -> SampleTable {
    let mut table = SampleTable::default();
    let empty = table.names.intern("");
    for line in samples.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let (id, engine) = (fields[0].parse().unwrap(), table.names.intern(fields[1]));
        let outcome = match fields[6] {
            "1" => Outcome::Win,
            "0.5" => Outcome::Draw,
            _ => Outcome::Loss,
        };
        if table.games.last().is_none_or(|g| g.id != id) {
            table.games.push(GameInfo {
                id,
                players: [engine, empty],
                ratings: [None; 2],
                start_time: None,
                time_control: empty,
                termination: Termination::Resignation,
                black_outcome: outcome,
                without_colors: false,
                source: empty,
                line: 1,
                end: None,
                moves: None,
                unread: 0,
            });
        }
        table.samples.push(Sample {
            game: table.games.len() as u32 - 1,
            engine,
            opponent: empty,
            color: Color::Black,
            ply: fields[3].parse().unwrap(),
            window: 0,
            score_cp: fields[4].parse().unwrap(),
            reply_cp: None,
            declared: None,
            mate: fields[5] == "1",
            material: None,
            outcome,
            line: 1,
        });
    }
    table
}

fn close(what: &str, ours: f64, theirs: &Value) {
    let theirs = theirs.as_f64().unwrap();
    assert!((ours - theirs).abs() <= 1e-6 * theirs.abs(), "{what}: {ours:e} here, {theirs:e} there");
}

fn close_tests(what: &str, ours: Wald, theirs: &Value) {
    close(what, ours.statistic, &theirs["statistic"]);
    close(what, ours.p, &theirs["p"]);
    assert_eq!(u64::from(ours.df), theirs["df"].as_u64().unwrap(), "{what}");
}

#[test]
fn tests_and_shifts_of_splits_agree_with_statsmodels_to_six_digits() {
    let Some(samples) = of_repository("tests/oracle/observations.csv") else { return };
    let expected: Value = serde_json::from_str(&of_repository("tests/oracle/splits.expected.json").unwrap()).unwrap();
    let splits = ["phase", "ply >= 90"].map(|s| Split::parse(s).unwrap());
    let found = split_curves(&table(&samples), &splits, &CalibrateOptions::default());
    assert_eq!(found.len(), 6);
    for split in &found {
        let theirs = &expected[split.engine.as_str()]["by"][split.by.as_str()];
        let what = format!("{} by {}", split.engine, split.by);
        let test = split.test.as_ref().unwrap_or_else(|e| panic!("{what}: {e}"));
        assert_eq!(split.groups.len(), theirs["groups"].as_array().unwrap().len(), "{what}");
        close_tests(&what, test.any, &theirs["any"]);
        close_tests(&what, test.slopes, &theirs["slopes"]);
        for (group, shift) in split.groups[1..].iter().zip(theirs["shifts"].as_array().unwrap()) {
            let ours = group.shift.unwrap();
            close(&what, ours.cp, &shift["cp"]);
            close(&what, ours.low, &shift["low"]);
            close(&what, ours.high, &shift["high"]);
        }
    }
}

#[test]
fn the_bootstrap_agrees_with_scipy_and_numpy_to_six_digits() {
    let Some(samples) = of_repository("tests/oracle/observations.csv") else { return };
    let expected: Value = serde_json::from_str(&of_repository("tests/oracle/splits.expected.json").unwrap()).unwrap();
    let table = table(&samples);
    for engine in by_engine(&table) {
        let policy = CalibrateOptions::default().mate_policy;
        let observations: Vec<Observation> =
            engine.samples.iter().filter_map(|s| observation(&table, s, policy, 3000)).collect();
        let ours = FitData::new(&observations).bootstrap(&BootstrapOptions {
            resamples: 200,
            seed: 7,
            bin_cp: 200,
            sigmoids: true,
        });
        let theirs = &expected[engine.name]["bootstrap"];
        let pair = |what: &str, (low, high): (f64, f64), theirs: &Value| {
            close(what, low, &theirs[0]);
            close(what, high, &theirs[1]);
        };
        pair("bin", ours.bins[&0], &theirs["bin_0"]);
        for method in Method::ALL {
            let (curves, theirs) = (ours.fit(method).unwrap(), &theirs[method.as_str()]);
            let what = format!("{} by {method}", engine.name);
            assert_eq!(curves.failed, 0, "{what}");
            pair(&what, curves.interval(|s| s.w1).unwrap(), &theirs["w1"]);
            pair(&what, curves.interval(|s| s.w2).unwrap(), &theirs["w2"]);
            // the win rate rises with the logit, between whose order statistics theirs are interpolated
            let (low, high) = curves.interval(|s| s.logit(300.0)).unwrap();
            let rate = |logit: f64| Sigmoid { w1: 0.0, w2: -logit }.win_rate(0.0);
            pair(&what, (rate(low), rate(high)), &theirs["win_rate_300"]);
        }
    }
}
