//! Rankings and stacks against statsmodels and scipy; see `tests/oracle/judges.py`.

use evalcurve_calibration::types::Outcome;
use serde_json::Value;

use super::together::{Correlations, Weights};
use super::*;

const FORECASTS: &str = include_str!("../../../../tests/oracle/judges.csv");
const EXPECTED: &str = include_str!("../../../../tests/oracle/judges.expected.json");

fn forecasts() -> Shared {
    let mut rows = FORECASTS.lines();
    let names: Vec<String> = rows.next().unwrap().split(',').skip(2).map(str::to_owned).collect();
    let mut out = Shared { forecasts: vec![Vec::new(); names.len()], names, plies: Vec::new() };
    for fields in rows.map(|row| row.split(',').collect::<Vec<_>>()) {
        let outcome = match fields[1] {
            "1" => Outcome::Win,
            "0.5" => Outcome::Draw,
            _ => Outcome::Loss,
        };
        out.plies.push(30);
        for (list, logit) in out.forecasts.iter_mut().zip(&fields[2..]) {
            list.push(Forecast { game: fields[0].parse().unwrap(), logit: logit.parse().unwrap(), outcome });
        }
    }
    out
}

fn close(what: &str, ours: f64, theirs: &Value) {
    let theirs = theirs.as_f64().unwrap();
    assert!((ours - theirs).abs() < 1e-6 * theirs.abs().max(1e-3), "{what}: {ours:e} here, {theirs:e} there");
}

#[test]
fn rankings_and_stacks_agree_with_statsmodels_and_scipy() {
    let expected: Value = serde_json::from_str(EXPECTED).unwrap();
    let shared = forecasts();
    let pairs = pairs(&shared.forecasts).unwrap();
    let theirs = expected["pairs"].as_array().unwrap();
    assert_eq!(pairs.len(), theirs.len());
    for (ours, theirs) in pairs.iter().zip(theirs) {
        let what = format!("{} {}", ours.better, ours.worse);
        close(&what, ours.difference.value, &theirs["difference"]);
        close(&what, ours.difference.standard_error().unwrap(), &theirs["standard_error"]);
        close(&what, ours.p, &theirs["p"]);
        close(&what, ours.p_corrected, &theirs["p_holm"]);
    }
    let everywhere: Vec<usize> = (0..shared.positions()).collect();
    let all: Vec<usize> = (0..shared.names.len()).collect();
    let Weights { weights, constant } = Weights::fit(&shared, &all, &everywhere).unwrap();
    let theirs = expected["weights"].as_array().unwrap();
    assert!(weights.contains(&0.0) && weights.iter().filter(|w| **w > 0.0).count() > 1, "{weights:?}");
    weights.iter().zip(theirs).for_each(|(ours, theirs)| close("weight", *ours, theirs));
    close("constant", constant, &expected["constant"]);
    let correlations = Correlations::new(&shared);
    for theirs in expected["correlations"].as_array().unwrap() {
        let place = |key: &str| theirs[key].as_u64().unwrap() as usize;
        let given: Vec<usize> =
            theirs["given"].as_array().unwrap().iter().map(|e| e.as_u64().unwrap() as usize).collect();
        let ours = correlations.given_others(place("first"), place("second"), &given).unwrap();
        close(&format!("{theirs}"), ours.value, &theirs["value"]);
    }
}
